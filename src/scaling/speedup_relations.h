/* SPDX-License-Identifier: BSD-3-Clause */
/* The relations of runs on several numbers of threads (tool/relation.h): what fvmpi stacks DIR DIR... writes as JSON
 * and CSV. */
#ifndef FV_SPEEDUP_RELATIONS_H
#define FV_SPEEDUP_RELATIONS_H

#include "scaling/speedup.h"
#include "tool/relation.h"

/* What their callbacks are given. */
struct fv_speedup_tables {
    const struct fv_speedup *speedup;
};

/* In the order of JSON; NULL behind the last. */
extern const struct fv_relation *const fv_speedup_relations[];
extern const struct fv_relation fv_speedup_curves;           /* rows: struct fv_alone_point */
extern const struct fv_relation fv_throughput_points;        /* rows: struct fv_throughput_point */
extern const struct fv_relation fv_throughput_curve;         /* rows: struct fv_throughput_alone */
extern const struct fv_relation *const fv_throughput_shares; /* of them: rows are struct fv_throughput_share */
extern const struct fv_relation fv_speedup_points;           /* of them: rows are struct fv_speedup_point */
#define FV_STACKS_SCHEMA "fvmpi-stacks-1"

#endif
