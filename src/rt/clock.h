/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock: raw ticks of the processor's counter (trace/counter.h) where the kernel itself trusts it, else
 * CLOCK_MONOTONIC in nanoseconds. Ticks become seconds in the tools, from the clock points in the rank file. */
#ifndef FV_CLOCK_H
#define FV_CLOCK_H

#include "trace/counter.h"
#include "trace/format.h"

#include <stdbool.h>
#include <time.h>

extern bool fv_clock_tsc; /* the counter, FV_CLOCK_TSC; set once, by fv_clock_init() */

/* Chooses the clock: enum fv_clock_choice. Before anything else. */
void fv_clock_init(int wanted);

/* Ticks per second as far as known at start; 0: unknown. */
uint64_t fv_clock_nominal_hz(void);

/* Reads ticks and wall clock together; of a few tries the one that took least time. */
void fv_clock_point(struct fv_clock_point *out);

/* Not ordered against the instructions around it: that costs twice as much, and what it could shift is
 * a few nanoseconds. */
static inline uint64_t fv_ticks(void)
{
    struct timespec ts;

    if (FV_HAS_COUNTER && __builtin_expect(fv_clock_tsc, 1))
        return fv_counter();
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
