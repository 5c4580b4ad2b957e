/* SPDX-License-Identifier: BSD-3-Clause */
/* How durations are distributed, as far as a histogram tells it (base/histogram.h): how many were in each bucket.
 * Buckets of several histograms may overlap, because the clocks of hosts differ: nothing is put into buckets a second
 * time. */
#ifndef FV_DISTRIBUTION_H
#define FV_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

/* So many durations between two bounds, seconds. */
struct fv_bucket {
    double from_s, to_s, count;
};

/* Begins as zeros. */
struct fv_distribution {
    struct fv_bucket *buckets; /* by from_s */
    size_t count, room;
    double total;
};

/* One octave of a histogram whose unit are so many seconds. */
void fv_distribution_add_octave(struct fv_distribution *to, unsigned octave, const uint64_t *counts, double unit_s);
void fv_distribution_add(struct fv_distribution *to, const struct fv_distribution *from);

/* The shortest duration that a part of `share` of all does not exceed: an estimate that is off by the width of the
 * bucket that it lies in at most. `min_s` and `max_s` are of all durations. NAN: there are none. */
double fv_distribution_quantile(const struct fv_distribution *of, double share, double min_s, double max_s);

void fv_distribution_release(struct fv_distribution *distribution);

#endif
