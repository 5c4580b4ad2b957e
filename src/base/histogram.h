/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms of durations: eight buckets to each factor of two, so that a bucket is at most an eighth as wide as the
 * durations in it are long (of a few ticks: one tick). A histogram has only those octaves, of eight buckets each, in
 * which a duration fell: it takes no more room than its durations differ, and any duration has a bucket. Rejected:
 * buckets of powers of two (a percentile that may be half), a sketch that merges buckets (what was added before would
 * decide the error).
 *
 * Cells and locks have a coarser one of fixed size: FV_TIME_BUCKETS factors of two. What is made of the fine ones is in
 * tool/distribution.h. */
#ifndef FV_HISTOGRAM_H
#define FV_HISTOGRAM_H

#include <stdint.h>

#define FV_TIME_BUCKETS 32
#define FV_TIME_SHIFT   5 /* bucket of a duration: fv_log2_bucket(ticks >> FV_TIME_SHIFT), at most the last */

#define FV_OCTAVE_BUCKETS 8
#define FV_OCTAVES        62

/* Octave 0 are the durations below 8, one to a bucket; octave k > 0 is [2^(k+2), 2^(k+3)). */
static inline unsigned fv_octave(uint64_t duration)
{
    return duration < FV_OCTAVE_BUCKETS ? 0 : 61u - (unsigned)__builtin_clzll(duration);
}

static inline unsigned fv_octave_bucket(uint64_t duration, unsigned octave)
{
    return (unsigned)(octave ? duration >> (octave - 1) : duration) % FV_OCTAVE_BUCKETS;
}

/* The shortest duration of a bucket, and how many there are. */
static inline uint64_t fv_bucket_first(unsigned octave, unsigned bucket)
{
    return octave ? (uint64_t)(FV_OCTAVE_BUCKETS + bucket) << (octave - 1) : bucket;
}

static inline uint64_t fv_bucket_width(unsigned octave)
{
    return octave ? UINT64_C(1) << (octave - 1) : 1;
}

#endif
