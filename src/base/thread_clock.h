/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of the CPU time of a thread, as clock_gettime() and timer_create() take them: the kernel's CPUCLOCK_PROF,
 * _VIRT and _SCHED with CPUCLOCK_PERTHREAD_MASK (posix-timers.h). */
#ifndef FV_THREAD_CLOCK_H
#define FV_THREAD_CLOCK_H

#include <stdint.h>
#include <time.h>

enum fv_thread_time {
    FV_THREAD_TICKED = 4, /* by the kernel's ticks */
    FV_THREAD_USER = 5,   /* of these in user mode */
    FV_THREAD_CPU = 6     /* exact */
};

/* Of a thread of this process; tid 0: of the calling one. */
static inline clockid_t fv_thread_clock(uint32_t tid, enum fv_thread_time time)
{
    return (clockid_t)(~tid << 3 | (uint32_t)time);
}

#endif
