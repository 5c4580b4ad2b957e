/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock: raw ticks of the processor's counter (trace/counter.h) where the kernel itself trusts it, else
 * CLOCK_MONOTONIC in nanoseconds. Ticks become seconds in the tools, from the clock points in the rank file. */
#ifndef FV_CLOCK_H
#define FV_CLOCK_H

#include "base/base.h"
#include "trace/counter.h"
#include "trace/format.h"

#include <stdbool.h>
#include <time.h>

extern FV_INSIDE uint8_t fv_clock_tsc; /* the counter, FV_CLOCK_TSC; set once, by fv_clock_init() */

/* Chooses the clock: enum fv_clock_choice. Before anything else. */
void fv_clock_init(int wanted);

/* Ticks per second as far as known at start; 0: unknown. */
uint64_t fv_clock_nominal_hz(void);

/* Reads ticks and wall clock together; of a few tries the one that took least time. */
void fv_clock_point(struct fv_clock_point *out);

/* Is it the counter, which fv_counter() reads? */
static inline bool fv_clock_is_counter(void)
{
    return FV_HAS_COUNTER && FV_LIKELY(fv_clock_tsc);
}
FV_COLD uint64_t fv_ticks_of_system(void); /* where it is not */

/* Not ordered against the instructions around it: that costs twice as much, and what it could shift is
 * a few nanoseconds. */
static inline uint64_t fv_ticks(void)
{
    return fv_clock_is_counter() ? fv_counter() : fv_ticks_of_system();
}

#endif
