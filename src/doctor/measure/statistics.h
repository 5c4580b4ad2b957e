/* SPDX-License-Identifier: BSD-3-Clause */
/* What is made of measured series: no clock, no file, no thread. Times are ns; series are the caller's. */
#ifndef FV_MEASURE_STATISTICS_H
#define FV_MEASURE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The half-sample mode (Bickel and Fruehwirth, 2006): of all windows that hold half of the values the narrowest, the
 * half of that, and so on. It needs neither the width of a bin nor a model, and outliers do not move it. `sorted`:
 * smallest first, at least one. */
double fv_mode(const double *sorted, size_t count);

/* How values lie about their mode. */
struct fv_spread {
    uint64_t count;
    double mode, least, p50, p90, p99, p999, most;
};
/* Sorts the values. All zeros if there are none; p99 of fewer than 100 and p999 of fewer than 1000 are NAN. */
void fv_spread_of(double *values, size_t count, struct fv_spread *out);
/* From work done in spells of `fixed` ns to fixed + the time lost: what is missing of the most usual amount of work,
 * of spells with more than half of the most. So no time is below 0. In place. */
void fv_lost_of_work(double *work, size_t count, double fixed);

/* ---- gaps ---- */

/* A detour: the loop was away from `begin` on, for `length` more than its shortest turn. `delay`: of it, the thread was
 * ready to run without a processor. */
struct fv_gap {
    double begin, length, delay;
    uint32_t group; /* of gaps between two readings of /proc/interrupts */
};
struct fv_gap_group {
    uint32_t ticks, others; /* interrupts of the processor from reading to reading */
};

enum fv_gap_class { FV_GAP_PREEMPTED, FV_GAP_TICK, FV_GAP_INTERRUPT, FV_GAP_STEAL, FV_GAP_UNEXPLAINED, FV_GAP_CLASSES };
struct fv_gap_shares {
    double total;                    /* of all gaps */
    double by_class[FV_GAP_CLASSES]; /* their sum is the total */
    double interrupt_most;           /* an interrupt explains no more than that; 0: no interrupt was seen */
};
/* Charges each gap: first the run delay that was read behind it; what is left of the longest gaps of a group, one for
 * each interrupt that the processor had in it, to ticks and other interrupts by their numbers, each up to ten times
 * what an interrupt usually takes: the median of gaps that had one to themselves, or, if none had, of the longest gaps
 * of groups with one. Of what is left then, as much as was stolen. The remainder is unexplained. Gaps are by group. */
void fv_gap_shares_of(const struct fv_gap *gaps, size_t count, const struct fv_gap_group *groups, double stolen,
                      struct fv_gap_shares *out);

/* ---- periods ---- */

struct fv_period {
    double period;   /* ns */
    double first;    /* when the first of them would be, in [0, period) */
    double part;     /* of the gaps that are within a tenth of the period around it */
    double strength; /* length of the mean of the unit vectors of all phases: 1 where all keep it */
};
#define FV_PERIODS 3
/* Periods of what comes at these times (smallest first) in a span from 0 on, strongest first; those that keep one are
 * left out before the next is looked for. Found in the periodogram of the times: a peak counts that noise of the power
 * around it would have with a chance below 1e-4 in the whole spectrum, with at least 8 periods in the span, and a
 * strength of at least 0.25. Of multiples of a frequency the lowest that is nearly as strong. */
size_t fv_periods_of(const double *times, size_t count, double span, struct fv_period out[FV_PERIODS]);

/* ---- plateaus ---- */

struct fv_plateau {
    size_t first, count; /* points */
    double value;        /* their median */
};
/* Flat stretches of a curve of positive values, at least three points each, whose values differ by a fifth at most: the
 * curve is cut where constants fit its logarithm best, each further constant costing as much as `jump` once squared
 * (0.1: a step of about 10 %). Returns how many; at most `room`. */
size_t fv_plateaus_of(const double *values, size_t count, double jump, struct fv_plateau *out, size_t room);

#endif
