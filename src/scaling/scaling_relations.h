/* SPDX-License-Identifier: BSD-3-Clause */
/* The relations of runs of several sizes (tool/relation.h): what fvmpi scaling writes as JSON and CSV. */
#ifndef FV_SCALING_RELATIONS_H
#define FV_SCALING_RELATIONS_H

#include "scaling/scaling.h"
#include "tool/relation.h"

/* What their callbacks are given, with room for a row that is made. */
struct fv_scaling_tables {
    const struct fv_scaling *scaling;
    struct fv_scaling_time {
        size_t ranks, threads;
        double time_s, ideal_s;
    } time;
};

/* In the order of JSON; NULL behind the last. */
extern const struct fv_relation *const fv_scaling_relations[];
extern const struct fv_relation fv_scaling_points, fv_scaling_parts; /* of them */
#define FV_SCALING_SCHEMA "fvmpi-scaling-1"

#endif
