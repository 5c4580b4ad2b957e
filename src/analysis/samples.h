/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of the CPU clock in a trace (fvmpi run --trace --sample): what ranks did outside of calls of MPI. Each
 * becomes part of the steps: it lies between two calls of its line, and stands at the later one. So who goes along the
 * steps (graph.h) meets the samples of what he charges.
 *
 * A sample stands for the CPU time since the one before it. What takes no CPU time has none. */
#ifndef FV_ANALYSIS_SAMPLES_H
#define FV_ANALYSIS_SAMPLES_H

#include "analysis/sites.h"
#include "analysis/steps.h"
#include "analysis/tally.h"

struct fv_sample_stats {
    uint64_t count, cpu_ns; /* between calls */
    uint64_t elsewhere;     /* in calls of MPI, while recording was paused, or after the last that is known of the
                             * rank */
    uint64_t lost;          /* that the rank files count, but do not have */
    uint64_t damaged;       /* or missing where a file is damaged */
    uint64_t by_regions;    /* ranks of an archive without samples: pieces of regions stand for them */
};

/* Of this process's files, when the steps are complete and in order: into the steps, and out gets FV_TALLY_COMPUTED. */
void fv_samples_collect(struct fv_steps *steps, const struct fv_merge *merge, struct fv_tallies *out,
                        struct fv_sample_stats *stats);

/* Of each rank, whose tallies are all of this process, the largest of each kind keep their call paths; the others are
 * put together under node 0. So the first process gets no more than it can hold of any number of ranks, and always the
 * same. */
void fv_samples_thin(struct fv_tallies *tallies, uint32_t ranks);

/* One in the spill file, in place of a step; in the order of time. */
struct fv_sample {
    uint64_t ns;
    uint32_t step; /* of the call behind it */
    uint32_t node;
    uint64_t cpu_ns;
};

/* The samples of a line of this process between the call before a step and the step: fv_sample_next() until NULL. */
struct fv_sample_cursor {
    const struct fv_steps *steps;
    uint32_t line, step, next;
};
struct fv_sample_cursor fv_samples_before(const struct fv_steps *steps, uint32_t line, uint32_t step);
const struct fv_sample *fv_sample_next(struct fv_sample_cursor *cursor);

#endif
