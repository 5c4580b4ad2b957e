/* SPDX-License-Identifier: BSD-3-Clause */
/* What the calls of a function that were kept say of a metric beyond mean and deviation: how they are distributed, and
 * whether they grow over the run. Kept are a random sample of all, of time_s, cpu_time_s and counted events. */
#ifndef FV_SAMPLES_SHAPE_H
#define FV_SAMPLES_SHAPE_H

#include "profile/samples/samples.h"

/* The metric of the kept calls, sorted, in *values, which grows; returns how many there are, 0 if it is not kept. */
size_t fv_sampled_values(const struct fv_samples *samples, const struct fv_sampled_function *sampled,
                         enum fv_metric metric, double **values, size_t *room);

/* Buckets by powers of two, of ns or counts: 0 is below one of these, i from 2^(i-1) on and below 2^i. */
#define FV_SAMPLED_BUCKETS 65
double fv_sampled_bucket_begin(enum fv_metric metric, unsigned bucket); /* in the metric's unit */
size_t fv_sampled_bucket(const double *sorted, size_t count, enum fv_metric metric, unsigned bucket);

/* The change from the first to the last of the calls that were kept, over the mean: 0.3 is 30 % of the mean more at the
 * end than at the beginning. The slope is that of the analysis of covariance, common to all contexts and threads, each
 * with its own mean, by least squares (Snedecor and Cochran, Statistical Methods, chapter 18):
 *
 *     b = Sxy / Sxx,  s^2 = (Syy - b Sxy) / (n - groups - 1),  change = b (last - first),  error = t s (last - first) /
 *     sqrt(Sxx)
 *
 * with sums of x: times of begin, y: the metric over its group's mean, each less its group's mean, and t the quantile
 * of Student's distribution that leaves out 1 % on both sides (Abramowitz and Stegun 26.7.5). Calls that follow each
 * other are alike where the machine changes its speed for a while, so that they are cut into up to 12 runs of each
 * group, and the error is at least that of runs as clusters (Liang and Zeger, Biometrika 73, 1986): t sqrt(sum of (sum
 * of x (y - b x) over a run)^2 k / (k - groups - 1)) (last - first) / Sxx, of k runs. It is significant if it is larger
 * than error, and medians of ten stretches of a group rise, or fall, one after the other: Mann and Kendall's statistic
 * of all groups is more than 3 deviations from 0 (Mann, Econometrica 13, 1945). Where the machine was slow for a while,
 * or once, they do not. */
struct fv_trend {
    double change, error; /* NAN: too few calls */
    bool significant;
};
struct fv_trend fv_sampled_trend(const struct fv_samples *samples, const struct fv_sampled_function *sampled,
                                 enum fv_metric metric);
/* A smaller one is not worth a sentence. */
#define FV_SAMPLED_TREND      0.1
#define FV_SAMPLED_TREND_TEXT 120 /* bytes that its words take at most */
/* "grows by 30 % of its mean over the run (+- 5.0 %)"; "": it does not, or nobody knows. Returns out. */
char *fv_sampled_trend_words(const struct fv_samples *samples, const struct fv_sampled_function *sampled, char *out,
                             size_t bytes);

#endif
