/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines and inlined frames of one object, from its debug information. elfutils' libdw reads it where the build has
 * that, else libbfd, which does not know all forms: indexed addresses of DWARF 5, -gsplit-dwarf, -flto. Nothing is
 * fetched from a network. */
#ifndef FV_LINES_H
#define FV_LINES_H

#include "base/base.h"

struct fv_lines;
struct fv_code_line {
    const char *function, *file; /* NULL: not known; owned by the reader until fv_lines_close() */
    unsigned line;
};

/* NULL: the file cannot be read. `program` is the object itself, where `path` is its separate debug file; else the
 * same, or NULL. */
struct fv_lines *fv_lines_open(const char *path, const char *program);
/* Frames at an address, innermost first: where the code was inlined, and at last the function itself.
 * Returns their number, at most `room`; 0: nothing is known. */
size_t fv_lines_find(struct fv_lines *lines, uint64_t address, struct fv_code_line *out, size_t room);
/* Is debug information of addresses that were looked up not readable? Then what it is, and what to do about it, for a
 * note. */
bool fv_lines_unread(const struct fv_lines *lines, char *out, size_t bytes);
void fv_lines_close(struct fv_lines *lines);

/* C++ (and Rust, D) names; malloc'ed. NULL: not mangled. */
char *fv_lines_demangle(const char *name);

#endif
