/* SPDX-License-Identifier: BSD-3-Clause */
/* What long iterations have more than others at each call site, summed rank by rank while files are read. Which of it
 * is the cause is judged when call sites that look alike are one: a compiler may give each branch of a test of the rank
 * a call of its own. */
#ifndef FV_ITERATION_EXTRA_H
#define FV_ITERATION_EXTRA_H

#include "profile/iterations/iterations.h"

enum fv_extra_class { FV_EXTRA_NEITHER, FV_EXTRA_OTHER, FV_EXTRA_LONG, FV_EXTRA_CLASSES };

struct fv_extra_place;
struct fv_extra_of_rank;
struct fv_extra {
    uint32_t depth;                       /* of the unit (units.h) */
    uint64_t classes[FV_EXTRA_CLASSES];   /* iterations of each */
    size_t ranks;                         /* that are summed */
    struct fv_extra_place *places, *rank; /* by site: of all ranks, and of the present one; NULL: of none */
    size_t sites;
    uint32_t call, *nodes; /* the unit's site, and the paths of all sites, as recorded; owned */
    struct fv_extra_of_rank *by_rank;
    size_t by_rank_count, by_rank_room;
    uint32_t rank_most; /* number of the last that counts */
};

/* Where a call of the present rank is. */
struct fv_extra_iteration {
    size_t number;
    enum fv_extra_class of;
    double seconds;
};
/* The next call of the present rank: the time since the call before, and its own. */
void fv_extra_call(struct fv_extra *extra, uint32_t site, struct fv_extra_iteration in, double before_s, double call_s);
/* The rank has no more calls; false: it does not count. */
void fv_extra_end_rank(struct fv_extra *extra, uint32_t rank, bool counts);
/* Fills in the cause of a unit, unless none is known. `sites`: the numbers that recorded sites have now. */
void fv_extra_judge(const struct fv_extra *extra, const struct fv_model *model, const uint32_t *sites,
                    struct fv_iteration_unit *out);
void fv_extra_release(struct fv_extra *extra);

#endif
