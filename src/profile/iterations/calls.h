/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a rank's main thread, one after the other, as far as its file has them: all calls of MPI by a trace;
 * else blocking collective calls, of which the wait log has all unless it was thinned. */
#ifndef FV_ITERATION_CALLS_H
#define FV_ITERATION_CALLS_H

#include "profile/build.h"

struct fv_iteration_call {
    uint32_t site; /* in fv_model.sites; FV_NONE: not known */
    double begin_s, end_s;
};
typedef void fv_iteration_call_fn(void *context, const struct fv_iteration_call *call);

/* What tests whether something has come is left out: how often that is asked says nothing of the program. */
void fv_iteration_calls(struct fv_build *build, uint32_t rank, bool traced, fv_iteration_call_fn *take, void *context);
/* The id of the rank's main thread. */
uint32_t fv_iteration_thread(const struct fv_model *model, uint32_t rank);

#endif
