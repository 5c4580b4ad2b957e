/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the program's source files that the page's tables name, with some around them. */
#ifndef FV_PAGE_SOURCES_H
#define FV_PAGE_SOURCES_H

#include "tool/vec.h"
#include "tool/source_file.h"

#include <stdbool.h>
#include <stdint.h>

struct fv_page_source {
    const char *name; /* as debug information has it */
    uint32_t *lines;
    size_t count, room;
};
struct fv_page_sources {
    struct fv_arena arena;
    struct fv_index index;
    struct fv_page_source *items;
    size_t count, room;
};

void fv_page_sources_add(struct fv_page_sources *sources, const char *file, uint64_t line);
/* As JSON: { "files": [ { "name", "why": why it can not be read, or null, "changed": after the run began,
 * "parts": [ { "first": its number, "lines": [TEXT...] } ] } ], "left_out": files that were not read to the end,
 * because the page would be too large }. False: it could not be written. */
bool fv_page_sources_put(const struct fv_page_sources *sources, const struct fv_source_place *place,
                         int64_t run_began_s, FILE *out);
void fv_page_sources_release(struct fv_page_sources *sources);

#endif
