/* SPDX-License-Identifier: BSD-3-Clause */
/* The time that no one sets (CLOCK_MONOTONIC), for durations and deadlines. Async-signal-safe. */
#ifndef FV_NOW_H
#define FV_NOW_H

#include <stdint.h>
#include <time.h>

static inline int64_t fv_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline double fv_now_s(void)
{
    return (double)fv_now_ns() * 1e-9;
}

#endif
