/* Lines and inlined frames of one object, by libbfd: the only code that knows it. */
#ifndef FV_LINES_H
#define FV_LINES_H

#include "base/base.h"

struct fv_lines;
struct fv_line {
    const char *function, *file; /* NULL: not known; owned by libbfd until fv_lines_close() */
    unsigned line;
};

/* NULL: libbfd cannot read the file. */
struct fv_lines *fv_lines_open(const char *path);
/* Frames at an address, innermost first: where the code was inlined, and at last the function itself.
 * Returns their number, at most `room`; 0: nothing is known. */
size_t fv_lines_find(struct fv_lines *lines, uint64_t address, struct fv_line *out, size_t room);
void fv_lines_close(struct fv_lines *lines);

/* C++ (and Rust, D) names; malloc'ed. NULL: not mangled. */
char *fv_lines_demangle(const char *name);

#endif
