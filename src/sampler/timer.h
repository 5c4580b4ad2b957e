/* Ticks by a POSIX timer, where performance events are refused: of the CPU time that the calling thread
 * spends in user mode, signalled as SIGTRAP.
 *
 * Not CLOCK_THREAD_CPUTIME_ID: that one also ends while the kernel works for the thread, on the way into or
 * out of a wait, and before Linux 5.11, which is where perf events do not signal either, poll(),
 * epoll_wait(), select() and nanosleep() then fail with EINTR, with SA_RESTART, too. User time only grows at
 * a clock interrupt that finds the thread outside of system calls, and that is when this timer ends; where
 * the kernel accounts for time otherwise (CONFIG_VIRT_CPU_ACCOUNTING_GEN, on nohz_full processors), EINTR may
 * be seen. Not SIGPROF: profilers have it, and SIGTRAP is shared with the application already. */
#ifndef FV_TIMER_H
#define FV_TIMER_H

#include "base/base.h"

struct fv_tick_timer {
    int id;
    bool open;
};

/* No more ticks than this come in a second of CPU time: those of the kernel's own clock. */
unsigned fv_timer_rate_max(void);
/* False: errno tells. */
bool fv_timer_open(struct fv_tick_timer *timer, uint64_t period_ns);
void fv_timer_close(struct fv_tick_timer *timer);
/* From the handler: the next tick is so far away. */
void fv_timer_set_period(const struct fv_tick_timer *timer, uint64_t period_ns);
/* Is it a timer of ours that a SIGTRAP with this siginfo_t comes from? */
bool fv_timer_is_source(const void *siginfo);

#endif
