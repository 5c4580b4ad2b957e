/* SPDX-License-Identifier: BSD-3-Clause */
/* Source files of the program, where they are now. */
#ifndef FV_SOURCE_FILE_H
#define FV_SOURCE_FILE_H

#include <stdio.h>
#include <sys/stat.h>

#define FV_SOURCE_PATH 4096

/* Files whose paths begin with the one are where the other says; NULL: where debug information has them. */
struct fv_source_place {
    const char *old_prefix, *new_prefix;
};

/* Opens the file that debug information calls so, if it is a regular one: nothing that may wait for ever, like a FIFO.
 * NULL: *why says it; path is where it was looked for. The caller closes it. */
FILE *fv_source_open(const struct fv_source_place *place, const char *file, char path[FV_SOURCE_PATH], struct stat *st,
                     const char **why);

/* A line of it to be shown: tabs become blanks, and nothing that a terminal would obey gets there. It stands in
 * *memory, of *room bytes, which grows; the caller frees it. */
char *fv_source_line(const char *text, char **memory, size_t *room);

#endif
