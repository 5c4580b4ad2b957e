/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between the machines and environments of two sides, as it explains times that the program does not: each
 * fact and each variable of which the sides have other values. Values of several runs, nodes or ranks of a side stand
 * together. */
#ifndef FV_DIFF_FACTS_H
#define FV_DIFF_FACTS_H

#include "profile/profile.h"
#include "tool/vec.h"

extern const char *const fv_diff_fact_kinds[]; /* NULL behind the last */
enum { FV_DIFF_MACHINE, FV_DIFF_PLACEMENT, FV_DIFF_ENVIRONMENT };

/* A value that a side has. */
struct fv_diff_fact_value {
    unsigned kind;
    const char *name, *value; /* value NULL: a rank has no such variable */
};

struct fv_diff_fact {
    unsigned kind;
    const char *name;
    const char *value[2]; /* of A, of B; NULL: none has it */
};

/* Of a side; zeros at first. */
struct fv_diff_facts {
    struct fv_diff_fact_value *seen;
    size_t count, room;
    size_t unknown; /* runs that did not record any */
};

void fv_diff_facts_take(struct fv_diff_facts *facts, struct fv_arena *arena, const struct fv_model *model);
/* Those that differ, by kind and name; to be freed by free(). None where a run is not known. */
struct fv_diff_fact *fv_diff_facts_compare(struct fv_diff_facts sides[2], struct fv_arena *arena, size_t *count);

#endif
