/* SPDX-License-Identifier: BSD-3-Clause */
/* How much the calls of a function differ, by the moments of its instances, which are grouped by context and thread.
 *
 * Calls from two places may do different work: lookup(2000) here, lookup(60000) there, each always the same. All
 * instances in one heap would vary then, though no call differs from the next. So deviations are taken about the mean
 * of the context, divided by that mean, and the contexts weighed by their part of the function's CPU time:
 *
 *     within^2    = sum over contexts c of  w[c] * (s[c] / m[c])^2,  w[c] = CPU time of c by clock samples, over that
 *                 of all
 *
 * of each thread; the largest is taken. With m[c] the mean and s[c] the standard deviation of a thread's instances in
 * c. It is the coefficient of variation of a function with one context, or with several that have the same. What is
 * left is told apart:
 *
 *     by_caller^2 = variance of the contexts' means over the square of their mean, each context with its number of
 *     calls,
 *                   which is estimated by w[c] / m[c]; less what the deviations within make of it
 *     between^2   = variance over threads t of  sum over c of w[c] * m[c,t] / m[c],  likewise
 *
 * (The decomposition of a variance into within and between groups; Scheffe, The Analysis of Variance, 1959, section
 * 3.1.) Where no two threads share a context, `between` is of their means over all contexts. Both are 0 unless they are
 * more than chance makes of the deviations within in 19 of 20 cases. Groups with fewer than FV_SAMPLED_ENOUGH instances
 * count in proportion.
 *
 * A function varies if one call differs from the next, or one thread from another. One that differs by its caller alone
 * does not: its callers ask for different work, and are where to look. */
#ifndef FV_SAMPLES_VARIATION_H
#define FV_SAMPLES_VARIATION_H

#include "profile/samples/samples.h"

/* Instances of a context in a thread, and the context's weight. */
struct fv_variation_group {
    uint32_t context, rank, thread;
    double weight; /* not negative */
    const struct fv_sampled_stat *stat;
};
/* Groups by context, then by thread. FV_SAMPLED_ENOUGH degrees of freedom, and one, are what it takes to judge. Of
 * counted events the variance that counts of rare things have by chance alone (Poisson: their mean) is left out, and a
 * mean below 1 is no variation. */
struct fv_variation fv_variation_of(const struct fv_variation_group *groups, size_t count, enum fv_metric metric);

#endif
