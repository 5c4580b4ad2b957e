/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a rank's main thread, one after the other, as far as its file has them: all calls of MPI by a trace;
 * else blocking collective calls, of which the wait log has all, or the first ones if it was thinned. */
#ifndef FV_ITERATION_CALLS_H
#define FV_ITERATION_CALLS_H

#include "profile/iterations/twins.h"

/* Symbols stand for call sites by their number in fv_model.sites, then for all that are not known, then for frames: a
 * frame other than the innermost is entered where the call before did not come from it. So what is called in a loop has
 * one symbol in each iteration, also where it makes several calls at one call site. */
struct fv_iteration_symbols {
    uint32_t sites, count;    /* below `sites` are call sites, below `count` all */
    uint32_t *of_node, *node; /* by the tree's node, FV_NONE: it is none; by symbol less sites + 1 */
    uint8_t *asks;            /* by site: tests whether something has come */
    struct fv_twins twins;    /* those that look the same have one symbol, of the first */
};
struct fv_iteration_symbols fv_iteration_symbols(const struct fv_build *build, bool traced);
/* By these calls. True: symbols have changed (fv_twins_part()). */
bool fv_iteration_symbols_part(struct fv_iteration_symbols *symbols, const struct fv_model *model,
                               const struct fv_twin_calls *calls);
void fv_iteration_symbols_release(struct fv_iteration_symbols *symbols);

/* A call, or the begin of a frame: that has no length, and stands at the end of the call before. */
struct fv_iteration_call {
    uint32_t symbol;
    uint32_t site; /* FV_NONE: it is not known, or no call */
    double begin_s, end_s;
};
typedef void fv_iteration_call_fn(void *context, const struct fv_iteration_call *call);

/* What tests whether something has come is left out: how often that is asked says nothing of the program. */
void fv_iteration_calls(struct fv_build *build, uint32_t rank, bool traced, const struct fv_iteration_symbols *symbols,
                        fv_iteration_call_fn *take, void *context);
/* Which of these times, in order, lie within calls of the rank's main thread, by its trace. */
void fv_iteration_within_calls(struct fv_build *build, uint32_t rank, const double *times_s, size_t count,
                               bool *within);
/* The node of a path that is so deep, 0: outermost; or its innermost. */
uint32_t fv_iteration_node(const struct fv_model *model, uint32_t node, uint32_t depth);
/* How many blocking collective calls the log has without a gap, from the first on; UINT64_MAX: all. */
uint64_t fv_iteration_logged(const struct fv_build *build, uint32_t rank);
/* The id of the rank's main thread. */
uint32_t fv_iteration_thread(const struct fv_model *model, uint32_t rank);

#endif
