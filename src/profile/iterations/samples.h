/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of the CPU clock in a trace, by iteration: which function long iterations compute in more than others. Those
 * within calls of MPI do not count: ranks may wait there. */
#ifndef FV_ITERATION_SAMPLES_H
#define FV_ITERATION_SAMPLES_H

#include "profile/iterations/iterations.h"
#include "profile/build.h"
#include "profile/profile.h"

struct fv_iteration_span {
    double begin_s, end_s;
    bool is_long;
};

/* Adds the samples of a rank's thread in these spans, which are by time. */
void fv_iteration_samples_read(struct fv_build *build, uint32_t rank, uint32_t thread, uint32_t unit,
                               const struct fv_iteration_span *spans, size_t count);
/* The program's function whose samples are most of all those of long iterations alone: its excess times the part that
 * the excess is of its samples. A frame of it; NULL: none has half of the excess, or there are too few samples. The
 * path is the caller's, to be released, and has the frame. */
const struct fv_frame *fv_iteration_sampled(const struct fv_profile *profile, uint32_t unit, struct fv_path *path);

#endif
