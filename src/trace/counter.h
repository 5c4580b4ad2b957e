/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor's own counter, which goes on at one pace whatever the processor does: the TSC of x86-64, the generic
 * timer of AArch64. Whether it is the same on all processors of a machine the kernel knows (rt/clock.c). */
#ifndef FV_COUNTER_H
#define FV_COUNTER_H

#include <stdint.h>

#if defined(__x86_64__)
#define FV_HAS_COUNTER    1
#define FV_COUNTER_SOURCE "tsc" /* what the kernel calls it, where its own clock is made of it */

/* __rdtsc(), without its header, which takes half of the time that a file of the library is compiled. */
static inline uint64_t fv_counter(void)
{
    return __builtin_ia32_rdtsc();
}

#elif defined(__aarch64__)
#define FV_HAS_COUNTER    1
#define FV_COUNTER_SOURCE "arch_sys_counter"

/* Not ordered against the instructions around it, like the TSC. */
static inline uint64_t fv_counter(void)
{
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

#else
#define FV_HAS_COUNTER 0

static inline uint64_t fv_counter(void)
{
    return 0;
}
#endif

#endif
