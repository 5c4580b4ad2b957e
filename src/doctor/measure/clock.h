/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of the measurements: the processor's counter where the kernel trusts it and it never changes its pace, else
 * CLOCK_MONOTONIC. Reading it is a part of what is measured, so it is inline. */
#ifndef FV_MEASURE_CLOCK_H
#define FV_MEASURE_CLOCK_H

#include "base/now.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct fv_doctor;
struct fv_measure_clock {
    bool is_tsc;
    double tick_ns;
};
/* Takes 20 ms where it is the counter. */
void fv_measure_clock_init(struct fv_doctor *doctor, struct fv_measure_clock *out);

static inline uint64_t fv_measure_ticks(const struct fv_measure_clock *clock)
{
#if defined __x86_64__ || defined __i386__
    if (clock->is_tsc)
        return __builtin_ia32_rdtsc();
#endif
    (void)clock;
    return fv_now_ns();
}

#endif
