/* SPDX-License-Identifier: BSD-3-Clause */
/* See page_sources.h. */
#include "views/page/page_sources.h"
#include "tool/json_stream.h"

#include <stdlib.h>
#include <string.h>

#define AROUND 8                   /* lines before and behind one that is named */
#define MOST   (UINT32_C(2) << 20) /* bytes of all lines */

void fv_page_sources_add(struct fv_page_sources *sources, const char *file, uint64_t line)
{
    if (!file || !*file || !line || line > UINT32_MAX - AROUND)
        return;
    uint32_t at = FV_INTERN_NAME(sources->index, sources->items, sources->count, sources->room, &sources->arena, file);
    struct fv_page_source *of = &sources->items[at]; /* they moved, perhaps */

    if (of->count && of->lines[of->count - 1] == line)
        return;
    FV_GROW(of->lines, of->room, of->count + 1);
    of->lines[of->count++] = (uint32_t)line;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The lines of a file that are near one that is named, in parts. False: the page has no room for more. */
static bool put_lines(const struct fv_page_source *of, FILE *in, struct fv_json *json, size_t *left)
{
    char *text = NULL, *memory = NULL;
    size_t bytes = 0, room = 0, next = 0;
    bool in_part = false, fits = true;

    for (uint32_t number = 1; fits && next < of->count && getline(&text, &bytes, in) >= 0; number++) {
        while (next < of->count && of->lines[next] + AROUND < number)
            next++;
        if (next == of->count || of->lines[next] > number + AROUND) {
            if (in_part) {
                fv_json_end(json);
                fv_json_end(json);
            }
            in_part = false;
            continue;
        }
        const char *line = fv_source_line(text, &memory, &room);
        size_t length = strlen(line);

        fits = length < *left;
        *left -= fits ? length : 0;
        if (!fits)
            break;
        if (!in_part) {
            fv_json_object(json, NULL);
            fv_json_unsigned(json, "first", number);
            fv_json_array(json, "lines");
            in_part = true;
        }
        fv_json_string(json, NULL, line);
    }
    if (in_part) {
        fv_json_end(json);
        fv_json_end(json);
    }
    free(text);
    free(memory);
    return fits;
}

/* A page is given away, and the names of files come from the program's debug information, which may be anybody's: what
 * is no source file by its name stays where it is. */
static bool is_source(const char *name)
{
    static const char *const suffixes[] = { "c",   "h",   "C",   "H",   "cc",  "cpp", "cxx", "c++", "hh",  "hpp",
                                            "hxx", "ipp", "tcc", "inl", "f",   "F",   "for", "FOR", "f77", "F77",
                                            "f90", "F90", "f95", "F95", "f03", "F03", "f08", "F08", "f18", "F18",
                                            "ftn", "inc", "s",   "S",   "asm", "py",  "pyx", "cu",  "cuh", "rs",
                                            "go",  "d",   "jl",  "m",   "adb", "ads", "pas" };
    const char *base = strrchr(name, '/'), *dot = strrchr(base ? base : name, '.');

    for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(*suffixes); i++)
        if (!strcmp(dot + 1, suffixes[i]))
            return true;
    return false;
}

static bool put_file(const struct fv_page_source *of, const struct fv_source_place *place, int64_t run_began_s,
                     struct fv_json *json, size_t *left)
{
    char path[FV_SOURCE_PATH];
    const char *why = "it is no source file by its name";
    struct stat st;
    FILE *in = is_source(of->name) ? fv_source_open(place, of->name, path, &st, &why) : NULL;
    bool whole = true;

    qsort(of->lines, of->count, sizeof(*of->lines), by_number);
    fv_json_object(json, NULL);
    fv_json_string(json, "name", of->name);
    fv_json_string(json, "why", in ? NULL : why);
    fv_json_bool(json, "changed", in && (int64_t)st.st_mtim.tv_sec > run_began_s);
    fv_json_array(json, "parts");
    if (in) {
        whole = put_lines(of, in, json, left);
        fclose(in);
    }
    fv_json_end(json);
    fv_json_end(json);
    return whole;
}

bool fv_page_sources_put(const struct fv_page_sources *sources, const struct fv_source_place *place,
                         int64_t run_began_s, FILE *out)
{
    struct fv_json json = { .out = out };
    size_t left = MOST, left_out = 0;

    fv_json_object(&json, NULL);
    fv_json_array(&json, "files");
    for (size_t i = 0; i < sources->count; i++)
        left_out += !put_file(&sources->items[i], place, run_began_s, &json, &left);
    fv_json_end(&json);
    fv_json_unsigned(&json, "left_out", left_out);
    fv_json_end(&json);
    return !json.failed;
}

void fv_page_sources_release(struct fv_page_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        free(sources->items[i].lines);
    free(sources->items);
    fv_index_release(&sources->index);
    fv_arena_release(&sources->arena);
}
