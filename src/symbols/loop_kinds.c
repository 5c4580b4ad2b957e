/* SPDX-License-Identifier: BSD-3-Clause */
/* See loop_kinds.h. */
#include "symbols/loop_kinds.h"
#include "symbols/loops.h"
#include "tool/source_file.h"
#include "tool/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const fv_loop_kind_words[] = {
    "for", "while", "do-while", "do", "do while", "do concurrent", "array", NULL
};

/* ---- words of a line ---- */

static bool is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind what stands there and is no code: a text, or a remark within the line. */
static const char *behind_text(const char *p, bool is_fortran)
{
    const char quote = *p, *end;

    if (!is_fortran && !strncmp(p, "/*", 2))
        return (end = strstr(p + 2, "*/")) != NULL ? end + 2 : p + strlen(p);
    if (quote != '"' && quote != '\'')
        return p;
    for (p++; *p && *p != quote; p++)
        p += !is_fortran && *p == '\\' && p[1];
    return *p ? p + 1 : p;
}

/* Where the word ends that the line has outside of texts and remarks; NULL: it has none. */
static const char *behind_word(const char *line, const char *word, bool is_fortran)
{
    const char *remark = is_fortran ? "!" : "//";
    size_t length = strlen(word);

    for (const char *p = line ? line : ""; *p;) {
        bool begins = p == line || !is_part(p[-1]);
        const char *behind = begins ? behind_text(p, is_fortran) : p; /* 1'000 has no text */

        if (behind != p) {
            p = behind;
            continue;
        }
        if (!strncmp(p, remark, strlen(remark)))
            return NULL;
        if (begins && !strncasecmp(p, word, length) && !is_part(p[length]))
            return p + length;
        p++;
    }
    return NULL;
}

static bool goes_on_with(const char *p, char c)
{
    while (p && isspace((unsigned char)*p))
        p++;
    return p && *p == c;
}

static bool is_directive(const char *line)
{
    while (line && isspace((unsigned char)*line))
        line++;
    return line && (*line == '#' || !strncmp(line, "!$", 2));
}

/* ---- of a loop ---- */

/* Several loops on a line are not told apart. */
static enum fv_loop_kind alone(enum fv_loop_kind kind, const char *rest)
{
    return behind_word(rest, "for", false) || behind_word(rest, "while", false) ? FV_LOOP_UNKNOWN : kind;
}

static enum fv_loop_kind kind_of_c(const struct fv_loop_text *text)
{
    const char *first = is_directive(text->first) ? text->next : text->first, *behind;
    const bool ends_so = behind_word(text->last, "while", false) != NULL,
               is_within = behind_word(text->above, "do", false) != NULL;

    if (text->has_inner) /* whose first line that is */
        return ends_so && is_within ? FV_LOOP_DO_WHILE : FV_LOOP_UNKNOWN;
    if (goes_on_with(behind = behind_word(first, "for", false), '('))
        return alone(FV_LOOP_FOR, behind);
    /* the end of a loop is all that is known of it if its code is on that line */
    if (ends_so && (behind_word(first, "do", false) || goes_on_with(first, '}')))
        return FV_LOOP_DO_WHILE;
    if (goes_on_with(behind = behind_word(first, "while", false), '('))
        return alone(FV_LOOP_WHILE, behind);
    return ends_so && is_within ? FV_LOOP_DO_WHILE : FV_LOOP_UNKNOWN;
}

/* Behind the `do` of a line that begins a loop. */
static const char *behind_do(const char *line)
{
    return behind_word(line, "end", true) ? NULL : behind_word(line, "do", true);
}

/* "a(:, j) = 0": whole arrays look like single numbers. */
static bool is_of_array(const char *line)
{
    const char *equals = line ? strchr(line, '=') : NULL,
               *colon = equals ? memchr(line, ':', (size_t)(equals - line)) : NULL;

    return colon && memchr(line, '(', (size_t)(colon - line));
}

/* Code of a loop may begin behind its own line, or, as it was moved there, in front of it. */
static enum fv_loop_kind kind_of_fortran(const struct fv_loop_text *text)
{
    const char *first = is_directive(text->first) ? text->next : text->first, *own = behind_do(first);

    if (text->has_inner)
        own = behind_do(text->above);
    else if (!own && !behind_word(first, "end", true)) {
        own = behind_do(text->above);
        if (!own && !fv_same_text(first, text->last))
            own = behind_do(text->next);
    }
    if (!own)
        return is_of_array(first) && fv_same_text(first, text->last) ? FV_LOOP_ARRAY : FV_LOOP_UNKNOWN;
    if (behind_word(own, "while", true))
        return FV_LOOP_DO_TEST;
    return behind_word(own, "concurrent", true) ? FV_LOOP_DO_CONCURRENT : FV_LOOP_DO;
}

enum fv_loop_kind fv_loop_kind_of(const struct fv_loop_text *text, bool is_fortran)
{
    return is_fortran ? kind_of_fortran(text) : kind_of_c(text);
}

/* ---- files ---- */

struct lines {
    char **items; /* [0]: none */
    size_t count, room;
    bool is_fixed; /* Fortran's old form */
};

static void read_lines(struct lines *out, const char *file, size_t count)
{
    const struct fv_source_place here = { NULL, NULL };
    char path[FV_SOURCE_PATH];
    struct stat st;
    const char *why;
    FILE *in = fv_source_open(&here, file, path, &st, &why);
    char *line = NULL;
    size_t room = 0;

    const char *end = strrchr(file, '.');
    out->is_fixed = end && (!strcasecmp(end, ".f") || !strcasecmp(end, ".for"));
    FV_GROW(out->items, out->room, 1);
    out->items[0] = NULL;
    out->count = 1;
    while (in && out->count <= count && getline(&line, &room, in) >= 0) {
        FV_GROW(out->items, out->room, out->count + 1);
        out->items[out->count++] = line;
        line = NULL;
        room = 0;
    }
    free(line);
    if (in)
        fclose(in);
}

static void release_lines(struct lines *l)
{
    for (size_t i = 1; i < l->count; i++)
        free(l->items[i]);
    free(l->items);
    *l = (struct lines){ 0 };
}

static bool is_fortran(const char *file)
{
    const char *end = strrchr(file, '.');

    return end && (end[1] == 'f' || end[1] == 'F') &&
           (!end[2] || isdigit((unsigned char)end[2]) || end[2] == 'o' || end[2] == 'p' || end[2] == 'O' ||
            end[2] == 'P');
}

/* In fixed form a letter in the first column makes a line a remark. */
static const char *line_at(const struct lines *l, uint32_t number)
{
    const char *line = number < l->count ? l->items[number] : NULL;

    return line && l->is_fixed && strchr("Cc*!", *line) && *line ? NULL : line;
}

static int by_file(const void *a, const void *b)
{
    const struct fv_loop *x = *(struct fv_loop *const *)a, *y = *(struct fv_loop *const *)b;

    return strcmp(x->file, y->file);
}

/* The last line that any loop in the first one's file needs. */
static size_t last_line(struct fv_loop *const *items, size_t count)
{
    size_t last = 0;

    for (size_t i = 0; i < count && !strcmp(items[i]->file, items[0]->file); i++) {
        last = items[i]->last_line > last ? items[i]->last_line : last;
        last = items[i]->first_line + 1 > last ? items[i]->first_line + 1 : last;
    }
    return last;
}

/* Does another one begin on its first line, within it? */
static bool has_inner(const struct fv_loops *loops, const struct fv_loop *l)
{
    for (const struct fv_loop *at = l + 1; at < loops->items + loops->count && at->function == l->function; at++)
        if (at->parent != FV_NONE && &loops->items[at->parent] == l && at->first_line == l->first_line &&
            fv_same_text(at->file, l->file))
            return true;
    return false;
}

static struct fv_loop_text text_of(const struct fv_loops *loops, const struct fv_loop *l, const struct lines *lines)
{
    const struct fv_loop *around = l->parent == FV_NONE ? NULL : &loops->items[l->parent];
    const bool is_above = around && fv_same_text(around->file, l->file) && around->first_line + 1 == l->first_line;

    return (struct fv_loop_text){ .above = is_above ? NULL : line_at(lines, l->first_line - 1),
                                  .first = line_at(lines, l->first_line),
                                  .next = line_at(lines, l->first_line + 1),
                                  .last = line_at(lines, l->last_line),
                                  .has_inner = has_inner(loops, l) };
}

void fv_loop_kinds_find(struct fv_loops *loops)
{
    struct fv_loop **items = fv_xcalloc(loops->count, sizeof(*items));
    struct lines lines = { 0 };
    size_t count = 0;

    for (size_t i = 0; i < loops->count; i++)
        if (loops->items[i].file && loops->items[i].first_line)
            items[count++] = &loops->items[i];
    if (count)
        qsort(items, count, sizeof(*items), by_file);
    for (size_t i = 0; i < count; i++) {
        struct fv_loop *l = items[i];

        if (!i || strcmp(items[i - 1]->file, l->file)) {
            release_lines(&lines);
            read_lines(&lines, l->file, last_line(items + i, count - i));
        }
        const struct fv_loop_text text = text_of(loops, l, &lines);
        l->kind = fv_loop_kind_of(&text, is_fortran(l->file));
    }
    release_lines(&lines);
    free(items);
}
