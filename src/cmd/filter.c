/* SPDX-License-Identifier: BSD-3-Clause */
/* See filter.h. */
#include "cmd/filter.h"
#include "cmd/loader.h"
#include "symbols/lines.h"
#include "symbols/module_files.h"
#include "tool/vec.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (100u * 1024) /* bytes of the encoded list: a variable of the environment holds 128 KiB */

struct rule {
    bool include, mangled;
    char *pattern;
};
struct rules {
    struct rule *items;
    size_t count, room;
};
struct fv_filter {
    struct rules files, regions;
};

/* ---- the file ---- */

/* Words end at blanks that no backslash stands before; what follows a # is remark. */
struct words {
    const char *at;
    unsigned line;
    char *word;
    size_t used, room;
};

static void add(struct words *w, char c)
{
    FV_GROW(w->word, w->room, w->used + 2);
    w->word[w->used++] = c;
    w->word[w->used] = '\0';
}

/* NULL: there are no more. */
static const char *next_word(struct words *w)
{
    w->used = 0;
    for (;; w->at++) {
        if (*w->at == '#')
            w->at += strcspn(w->at, "\n");
        if (!isspace((unsigned char)*w->at))
            break;
        w->line += *w->at == '\n';
    }
    for (; *w->at && *w->at != '#' && !isspace((unsigned char)*w->at); w->at++) {
        if (*w->at == '\\' && w->at[1])
            add(w, *w->at++);
        add(w, *w->at);
    }
    return w->used ? w->word : NULL;
}

static bool is_end_of(const char *word, bool files)
{
    return !strcmp(word, files ? "SCOREP_FILE_NAMES_END" : "SCOREP_REGION_NAMES_END");
}

/* NULL, or why it is no block. */
static const char *read_block(struct words *w, struct rules *rules, bool files)
{
    bool known = false, include = false, mangled = false;
    const char *word;

    while ((word = next_word(w)) && !is_end_of(word, files)) {
        if (!strcmp(word, "EXCLUDE") || !strcmp(word, "INCLUDE")) {
            known = true;
            include = *word == 'I';
            mangled = false;
        } else if (!strcmp(word, "MANGLED") || !strcmp(word, "DEMANGLED")) {
            mangled = *word == 'M';
        } else if (!strncmp(word, "SCOREP_", 7)) {
            return "a block within a block";
        } else if (!known) {
            return "a name before EXCLUDE or INCLUDE";
        } else {
            FV_GROW(rules->items, rules->room, rules->count + 1);
            rules->items[rules->count++] = (struct rule){ include, mangled, strdup(word) };
        }
    }
    return word ? NULL : files ? "no SCOREP_FILE_NAMES_END" : "no SCOREP_REGION_NAMES_END";
}

struct fv_filter *fv_filter_parse(const char *text, char *why, size_t why_bytes)
{
    struct fv_filter *f = fv_xcalloc(1, sizeof(*f));
    struct words w = { .at = text, .line = 1 };
    const char *wrong = NULL, *word;

    while (!wrong && (word = next_word(&w))) {
        bool files = !strcmp(word, "SCOREP_FILE_NAMES_BEGIN");

        if (files || !strcmp(word, "SCOREP_REGION_NAMES_BEGIN"))
            wrong = read_block(&w, files ? &f->files : &f->regions, files);
        else
            wrong = "neither SCOREP_FILE_NAMES_BEGIN nor SCOREP_REGION_NAMES_BEGIN";
    }
    if (wrong) {
        snprintf(why, why_bytes, "line %u: %s", w.line, wrong);
        fv_filter_free(f);
        f = NULL;
    }
    free(w.word);
    return f;
}

static void release(struct rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        free(rules->items[i].pattern);
    free(rules->items);
}

void fv_filter_free(struct fv_filter *f)
{
    if (!f)
        return;
    release(&f->files);
    release(&f->regions);
    free(f);
}

/* ---- what it says ---- */

/* A function's name may be given without its parameters. */
static bool matches_name(const char *pattern, const char *name)
{
    char bare[1024];
    size_t length = strcspn(name, "(");

    if (!fnmatch(pattern, name, 0))
        return true;
    if (!name[length] || length >= sizeof(bare))
        return false;
    memcpy(bare, name, length);
    bare[length] = '\0';
    return !fnmatch(pattern, bare, 0);
}

/* A file's, without its directories. */
static bool matches_file(const char *pattern, const char *file)
{
    return !fnmatch(pattern, file, 0) || !fnmatch(pattern, fv_base_name(file), 0);
}

bool fv_filter_leaves_out(const struct fv_filter *f, const char *mangled, const char *name, const char *file)
{
    bool out = false;

    for (size_t i = 0; file && i < f->files.count; i++)
        if (matches_file(f->files.items[i].pattern, file))
            out = !f->files.items[i].include;
    if (out)
        return true; /* for good */
    for (size_t i = 0; i < f->regions.count; i++) {
        const struct rule *r = &f->regions.items[i];

        if (r->mangled ? !fnmatch(r->pattern, mangled, 0) : matches_name(r->pattern, name))
            out = !r->include;
    }
    return out;
}

/* ---- of a program ---- */

static void put_byte(struct fv_string *out, unsigned value)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    fv_string_add(out, "%c", digits[value & 63]);
}

/* Five bits a digit, lowest first; the sixth says that there are more. */
static void put_number(struct fv_string *out, uint64_t value)
{
    for (; value >= 32; value >>= 5)
        put_byte(out, (unsigned)(value & 31) | 32);
    put_byte(out, (unsigned)value);
}

static bool is_left_out(const struct fv_filter *f, const struct fv_elf_symbol *s, const char *file)
{
    char *name = fv_lines_demangle(s->name);
    bool out = fv_filter_leaves_out(f, s->name, name ? name : s->name, file);

    free(name);
    return out;
}

/* Without its own debug information, in an object that has some, a function is in a file without a name. */
static const char *file_of(const struct fv_elf_symbol *s, struct fv_lines *lines)
{
    struct fv_code_line line[16];
    size_t count = lines ? fv_lines_find(lines, s->begin, line, sizeof(line) / sizeof(*line)) : 0;

    return !lines ? NULL : count && line[count - 1].file ? line[count - 1].file : "";
}

/* Functions of other objects, of which it holds inlined copies: by name. */
static void encode_imports(const struct fv_filter *f, struct fv_elf *elf, struct fv_string *out)
{
    fv_elf_imports(elf);
    for (size_t i = 0; i < elf->symbol_count; i++)
        if (!strpbrk(elf->symbols[i].name, ",=;") && is_left_out(f, &elf->symbols[i], elf->has_lines ? "" : NULL))
            fv_string_add(out, "%s+%s", out->used ? "," : "", elf->symbols[i].name);
}

/* NAME=, then the distances of the functions' begins, encoded. */
static void encode_object(const struct fv_filter *f, const char *path, const char *name, struct fv_string *out)
{
    struct fv_elf elf;
    uint64_t last = 0;
    bool any = false;

    if (fv_elf_open(&elf, path))
        return;
    fv_elf_symbols(&elf);
    struct fv_lines *lines = f->files.count && elf.has_lines ? fv_lines_open(path, path) : NULL;
    for (size_t i = 0; i < elf.symbol_count; i++) {
        const struct fv_elf_symbol *s = &elf.symbols[i];

        if (s->begin <= last || !is_left_out(f, s, file_of(s, lines)))
            continue;
        if (!any)
            fv_string_add(out, "%s%s=", out->used ? "," : "", name);
        any = true;
        put_number(out, s->begin - last);
        last = s->begin;
    }
    encode_imports(f, &elf, out);
    if (lines)
        fv_lines_close(lines);
    fv_elf_close(&elf);
}

static bool is_beside(const char *path, const char *program)
{
    const char *slash = strrchr(program, '/');

    return path && slash && !strncmp(path, program, (size_t)(slash - program) + 1) &&
           !strpbrk(fv_base_name(path), ",=;");
}

/* NULL: errno tells. */
static char *read_text(const char *path)
{
    enum { MOST_TEXT = 16 << 20 };
    FILE *in = fopen(path, "re");
    char *text = in ? malloc(MOST_TEXT + 1) : NULL;
    size_t bytes = text ? fread(text, 1, MOST_TEXT + 1, in) : 0;
    int error = !text || ferror(in) ? errno : bytes > MOST_TEXT || memchr(text, '\0', bytes) ? EFBIG : 0;

    if (in)
        fclose(in);
    if (error) {
        free(text);
        errno = error;
        return NULL;
    }
    text[bytes] = '\0';
    return text;
}

int fv_filter_encode(const char *filter, const char *program, char **out)
{
    struct fv_string list = { 0 };
    struct fv_libraries libraries = { 0 };
    char why[160], *text = read_text(filter);
    int error = errno;
    char *whole = program ? realpath(program, NULL) : NULL;
    struct fv_filter *f = text ? fv_filter_parse(text, why, sizeof(why)) : NULL;
    int err = f ? 0 : text ? -FV_EINVAL : -FV_EIO;

    *out = NULL;
    if (!f)
        fv_log("%s: %s; give a filter file in Score-P's format, see share/doc/functions.md", filter,
               text             ? why
               : error == EFBIG ? "not a text, or larger than 16 MiB"
                                : strerror(error));
    fv_string_clear(&list);
    if (f && whole) {
        encode_object(f, whole, ".", &list);
        if (!fv_loader_scan(whole, &libraries))
            for (size_t i = 0; i < libraries.count; i++)
                if (is_beside(libraries.items[i].path, whole))
                    encode_object(f, libraries.items[i].path, fv_base_name(libraries.items[i].path), &list);
        fv_libraries_release(&libraries);
    }
    if (!err && list.used > MOST) {
        fv_log("%s: leaves out more functions than can be named; leave out whole files when you compile (fvcc "
               "--fv:exclude)",
               filter);
        err = -FV_EINVAL;
    }
    fv_filter_free(f);
    free(text);
    free(whole);
    if (err)
        free(list.text);
    else
        *out = list.text;
    return err;
}
