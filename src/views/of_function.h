/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a relation that are of one function: those that name it, or a call path that leads through it, and in a tree
 * all that is below these. */
#ifndef FV_OF_FUNCTION_H
#define FV_OF_FUNCTION_H

#include "views/flat.h"

struct fv_of_function {
    const char *name; /* NULL: all rows are wanted */
    const struct fv_flat *flat;
    size_t columns[5], count; /* that name functions; none: the relation has no functions to choose by */
    size_t id, parent;        /* of a tree; SIZE_MAX: it is none */
    uint64_t *wanted;         /* ids of rows that were */
    size_t wanted_count, wanted_room;
};
/* The flat form must outlive it. */
void fv_of_function_init(struct fv_of_function *of, const struct fv_flat *flat, const char *name);
/* Row by row, in the relation's order. */
bool fv_of_function_has(struct fv_of_function *of, void *subject, const struct fv_flat_row *row);
void fv_of_function_release(struct fv_of_function *of);

#endif
