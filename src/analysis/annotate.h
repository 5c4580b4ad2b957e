/* SPDX-License-Identifier: BSD-3-Clause */
/* What the analysis found of each call, for an archive: a sink that passes records on, and adds to a call's
 * end how long it waited, for whom, and why (record.h: LEAVE). */
#ifndef FV_ANNOTATE_H
#define FV_ANNOTATE_H

#include "analysis/analysis.h"

struct fv_annotate {
    struct fv_sink sink; /* first: a sink is one of these */
    struct fv_sink *to;
    const struct fv_analysis *analysis;
    struct fv_annotate_thread {
        uint32_t line, step; /* line: FV_NONE: a rank without steps */
    } * threads;             /* by slot */
    size_t room;
};

/* The records must be those of the analysis, rank by rank. */
void fv_annotate_init(struct fv_annotate *annotate, const struct fv_analysis *analysis, struct fv_sink *to);
void fv_annotate_release(struct fv_annotate *annotate);

#endif
