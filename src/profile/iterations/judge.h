/* SPDX-License-Identifier: BSD-3-Clause */
/* What the times of iterations say: a trend, a period, outliers, and a slowest rank that changes. Nothing is said of
 * fewer than FV_JUDGE_LEAST iterations, nor of what is within the noise: each rule stands with its threshold below. */
#ifndef FV_JUDGE_H
#define FV_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FV_JUDGE_LEAST 20

struct fv_iteration_times {
    double mean_s, p50_s, p95_s, longest_s;
    size_t longest;         /* index */
    double first_s, last_s; /* medians of the first tenth and the last; NAN: too few iterations */
    bool is_trend;          /* ... and the tenths between go the same way */
    double grown_s;         /* of a trend: what iterations are longer than first_s */
    size_t step;            /* of a trend: from this index on they take another time; 0: it is gradual */
    uint32_t period;        /* one in so many iterations is long; 0: there is no period */
    uint32_t phase;         /* the first of them */
    double factor;          /* how many times as long as the median of the others; of a step, of those before */
    double period_s;        /* what they are longer, together ... */
    double typical_s;       /* ... and if each were as long as their median */
    bool is_exact;          /* the period is no work of preemption */
    double limit_s;         /* from which on an iteration is long; NAN: too few iterations */
    size_t outliers;        /* long ones that are of no period */
    double outliers_s;      /* what they are longer than the median, together */
};

/* Trend: Kendall's tau of the medians of ten parts is 0.8 or more, and the last differs from the first by a quarter of
 * the smaller, and three times the spread. Or, which goes before, a step: medians before and behind differ by half of
 * the smaller, at most three of ten on a side are beyond three of ten on the other, and the third deciles of each
 * side's halves differ by at most a quarter of it.
 * Long: half as long again as the median, and five times the spread (1.4826 times the median deviation) above it.
 * Period: seven of ten of its iterations are long, and seven of ten long ones are of it; of 2 to 4 iterations, medians
 * that differ by that much. It is exact if it comes six times, and seven of ten are as much longer without preemption.
 */
struct fv_iteration_times fv_judge_times(const double *seconds, size_t count);
/* The same of iterations whose time without preemption is known: of a period that this hides, too. */
struct fv_iteration_times fv_judge_disturbed(const double *seconds, const double *undisturbed, size_t count);

struct fv_moving_load {
    bool moves;
    double every;       /* iterations from one change of the slowest rank to the next, on average */
    uint32_t ranks;     /* that were the slowest for a twentieth of the iterations or more */
    double lost_s;      /* of all ranks: the imbalance of the iterations beyond that of the sums */
    double imbalance_s; /* ... all of it */
    bool is_fixed;      /* seven of ten changes come after as many iterations as most, or a tenth more or less */
};

/* load: of each iteration, of each rank, seconds. The slowest rank moves if the imbalance of iterations is a tenth of
 * their time, at least twice that of the sums over all, and the slowest rank changes three times or more, and not half
 * as often as by chance. seconds: what iterations took. */
struct fv_moving_load fv_judge_load(const float *load, size_t ranks, const double *seconds, size_t count);

#endif
