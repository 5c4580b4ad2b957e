/* SPDX-License-Identifier: BSD-3-Clause */
/* Ticks by a POSIX timer, without performance events: of the CPU time that the calling thread spends in user mode.
 *
 * Not CLOCK_THREAD_CPUTIME_ID: that one also ends while the kernel works for the thread, on the way into or
 * out of a wait, and before Linux 5.11, which is where perf events do not signal either, poll(),
 * epoll_wait(), select() and nanosleep() then fail with EINTR, with SA_RESTART, too. User time only grows at
 * a clock interrupt that finds the thread outside of system calls, and that is when this timer ends; where
 * the kernel accounts for time otherwise (CONFIG_VIRT_CPU_ACCOUNTING_GEN, on nohz_full processors), EINTR may
 * be seen. */
#ifndef FV_TIMER_H
#define FV_TIMER_H

#include "base/base.h"

#include <time.h>

struct fv_tick_timer {
    int id;
    bool open, paused;
    struct itimerspec was; /* paused: what it goes on with */
};

/* No more ticks than this come in a second of CPU time: those of the kernel's own clock. */
unsigned fv_timer_rate_max(void);
/* Of the calling thread: a first signal after so long (0: not yet), and then one each period. False: errno tells. */
bool fv_timer_open(struct fv_tick_timer *timer, int signal, uint64_t first_ns, uint64_t period_ns);
void fv_timer_close(struct fv_tick_timer *timer); /* any thread */
/* From the handler: the next tick is so far away. */
void fv_timer_set(const struct fv_tick_timer *timer, uint64_t first_ns, uint64_t period_ns);
/* No signal until it goes on, with the rest of its time. Either twice is once. */
void fv_timer_pause(struct fv_tick_timer *timer);
void fv_timer_resume(struct fv_tick_timer *timer);
/* A signal to the calling thread as if a timer of ours sent it, handled before this returns. */
void fv_timer_raise(int signal);
/* Is it a timer of ours that a signal with this siginfo_t comes from? */
bool fv_timer_is_source(const void *siginfo);

#endif
