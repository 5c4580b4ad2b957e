/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programmer wrote a loop with. Neither machine code nor debug information says it, so it is read in the
 * source file, as that is now: in the first lines of the loop, and the last one. */
#ifndef FV_LOOP_KINDS_H
#define FV_LOOP_KINDS_H

#include <stdbool.h>
#include <stddef.h>

enum fv_loop_kind {
    FV_LOOP_UNKNOWN, /* there is no such file, or no word in it */
    FV_LOOP_FOR,
    FV_LOOP_WHILE,
    FV_LOOP_DO_WHILE,
    FV_LOOP_DO, /* Fortran's, with a counter or without, ... */
    FV_LOOP_DO_TEST,
    FV_LOOP_DO_CONCURRENT,
    FV_LOOP_ARRAY, /* ... of an expression of parts of arrays */
    FV_LOOP_KINDS
};
/* As columns have them; NULL behind the last, FV_LOOP_UNKNOWN is left out: kind - 1. */
extern const char *const fv_loop_kind_words[];

/* Of a loop by its lines, NULL where there is none: the one above the first, which is no other loop's, the first one,
 * the next, and the last. */
struct fv_loop_text {
    const char *above, *first, *next, *last;
    bool has_inner; /* the first one is also that of a loop within it */
};
enum fv_loop_kind fv_loop_kind_of(const struct fv_loop_text *text, bool is_fortran);

struct fv_loops;
/* Sets the kind of each. */
void fv_loop_kinds_find(struct fv_loops *loops);

#endif
