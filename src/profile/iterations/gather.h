/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of iterations, gathered rank by rank: where each begins and ends on a rank, what it computed, called and waited
 * there; then means over ranks, and what long iterations have more than others. */
#ifndef FV_ITERATION_GATHER_H
#define FV_ITERATION_GATHER_H

#include "profile/iterations/extra.h"
#include "profile/iterations/iterations.h"
#include "profile/iterations/units.h"
#include "profile/build.h"

struct fv_iteration_gather *fv_iteration_gather_new(struct fv_build *build);
struct fv_iteration_symbols *fv_iteration_gather_symbols(struct fv_iteration_gather *gather);
void fv_iteration_gather_free(struct fv_iteration_gather *gather);

/* The next unit of fv_iterations, found as `of`, which it takes over. */
void fv_iteration_gather_unit(struct fv_iteration_gather *gather, uint32_t unit, const struct fv_unit *of);
/* The iterations of a rank. Its waiting comes after it, before the next rank. */
void fv_iteration_gather_rank(struct fv_iteration_gather *gather, uint32_t rank);
void fv_iteration_gather_wait(struct fv_iteration_gather *gather, uint32_t rank, uint32_t thread, double begin_s,
                              double wait_s, double preempted_s);
/* When all ranks were there: fills in the units, and makes fv_iterations.numbers. */
void fv_iteration_gather_judge(struct fv_iteration_gather *gather);
/* Once more, each rank: what is in long iterations. Then that of a unit, which becomes the caller's. */
void fv_iteration_gather_causes(struct fv_iteration_gather *gather, uint32_t rank);
struct fv_extra fv_iteration_gather_extra(struct fv_iteration_gather *gather, uint32_t unit);

#endif
