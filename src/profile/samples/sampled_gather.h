/* What the construction of sampled functions shares: sampled.c reads, sampled_judge.c says what it means,
 * sampled_context.c finds what a frame belongs to. */
#ifndef FV_SAMPLED_GATHER_H
#define FV_SAMPLED_GATHER_H

#include "profile/build.h"

/* Events counted in the instances of a record of INSTANCES. */
struct fv_gather_counts {
    uint32_t thread;
    uint64_t index;
    struct fv_event_counts of;
};

struct fv_gather {
    struct fv_build *build;
    struct fv_samples *out;
    struct fv_index by_node; /* of out->items */
    uint32_t *by_place;      /* these, when all are read, by parent, module and offset */
    /* of the present rank */
    unsigned event_of[FV_METRIC_EVENTS]; /* in the model; FV_METRIC_EVENTS: none, or it is not counted */
    struct fv_gather_counts *counts;
    size_t count_count, count_room;
    struct fv_index counts_by_record;
};

/* When all contexts are there: makes by_place. */
void fv_gather_order(struct fv_gather *gather);
/* The context that a frame is of: called from the same place, of the functions that begin before it the
 * nearest; NULL. */
struct fv_sampled *fv_gather_context(const struct fv_gather *gather, const struct fv_node *frame);
/* When all is read: which functions vary; puts them, their parts and instances in order. */
void fv_gather_judge(struct fv_gather *gather);

#endif
