/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes intervals of time differ, and what the longest of many would be: statistics of series, which know no file
 * and no clock. */
#ifndef FV_SHARES_H
#define FV_SHARES_H

#include <stddef.h>
#include <stdint.h>

/* the rest: all but the others */
enum fv_noise_source { FV_NOISE_PREEMPTED, FV_NOISE_BLOCKED, FV_NOISE_REST, FV_NOISE_SOURCES };

/* One interval: how long it took, and how much of that each source took, seconds. */
struct fv_noise_interval {
    double time_s;
    double source_s[FV_NOISE_REST];
    uint32_t rank; /* deviations are from the mean of the rank's own */
};

/* Of so many intervals, at least, shares are told. */
#define FV_SHARES_ENOUGH 30u

/* A part of the variance, and its bounds; all NAN: it is not known. */
struct fv_noise_share {
    double share, low, high;
};
/* Which part of the variance of the intervals' times T each source X has: Cov(X, T) / Var(T), which adds up to 1 over
 * all sources, the rest among them (a part may be negative). low to high: 95 % of 400 resamples of the intervals lie
 * between (the percentile bootstrap: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13); the
 * same for the same intervals, always. NAN of fewer than FV_SHARES_ENOUGH, and where they do not differ. By rank. */
void fv_shares_of(const struct fv_noise_interval *intervals, size_t count, struct fv_noise_share out[FV_NOISE_SOURCES]);

/* The expected value of the longest of `draws` independent draws from these values, smallest first, at least one: sum
 * of x[i] ((i/n)^draws - ((i-1)/n)^draws), i from 1 (the mean of the largest order statistic of the empirical
 * distribution: David and Nagaraja, Order Statistics, 2003, section 3.1). No more than their largest. */
double fv_expected_maximum(const double *sorted, size_t count, double draws);

#define FV_WARM_UP_LEAST 10
/* How many of the first intervals took longer than any of the second half, until the first one that did not: they warm
 * up. 0 of fewer than 10. */
size_t fv_warm_up(const double *times_s, size_t count);

#endif
