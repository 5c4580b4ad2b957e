/* SPDX-License-Identifier: BSD-3-Clause */
/* The relations of a comparison (tool/relation.h): what fvmpi diff writes as JSON. */
#ifndef FV_DIFF_RELATIONS_H
#define FV_DIFF_RELATIONS_H

#include "diff/diff.h"
#include "tool/relation.h"
#include "tool/vec.h"

/* What their callbacks are given, with room for a row that is made. */
struct fv_diff_tables {
    const struct fv_diff *diff;
    struct fv_diff_changed {
        const struct fv_diff_metric_word *metric;
        struct fv_change by;
    } changed;
    char word[FV_WORD];
    struct fv_string text;
};

void fv_diff_tables_release(struct fv_diff_tables *tables);

/* In the order of JSON; NULL behind the last. */
extern const struct fv_relation *const fv_diff_relations[];
extern const struct fv_relation fv_diff_run_changes, fv_diff_functions, fv_diff_entries; /* of them */
#define FV_DIFF_SCHEMA "fvmpi-diff-2"

#endif
