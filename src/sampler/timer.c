/* SPDX-License-Identifier: BSD-3-Clause */
/* See timer.h. The kernel's own calls, because the C library knows neither the clock nor, in older versions,
 * the thread to be signalled; and because a handler may make them. */
#include "sampler/timer.h"
#include "base/thread_clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OWN_USER_TIME fv_thread_clock(0, FV_THREAD_USER)
#define NOTIFY_THREAD 4 /* SIGEV_THREAD_ID */

static char tag; /* its address tells our timers */

/* struct sigevent of the kernel. */
struct event {
    void *value;
    int signal, notify, thread;
    int unused[11];
};

unsigned fv_timer_rate_max(void)
{
    struct timespec tick;

    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) || tick.tv_sec || tick.tv_nsec <= 0)
        return 100;
    return (unsigned)(1000000000 / tick.tv_nsec);
}

static struct timespec as_timespec(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
}

static bool set_time(const struct fv_tick_timer *timer, uint64_t first_ns, uint64_t period_ns, struct itimerspec *old)
{
    const struct itimerspec when = { .it_value = as_timespec(first_ns), .it_interval = as_timespec(period_ns) };

    return timer->open && !syscall(SYS_timer_settime, timer->id, 0, &when, old);
}

void fv_timer_set(const struct fv_tick_timer *timer, uint64_t first_ns, uint64_t period_ns)
{
    set_time(timer, first_ns, period_ns, NULL);
}

/* Fails in the child of a vfork(), which has our memory and not the timer: then nothing has changed. */
void fv_timer_pause(struct fv_tick_timer *timer)
{
    struct itimerspec was;

    if (timer->paused || !set_time(timer, 0, 0, &was))
        return;
    timer->was = was;
    timer->paused = true;
}

void fv_timer_resume(struct fv_tick_timer *timer)
{
    if (timer->paused && timer->open && !syscall(SYS_timer_settime, timer->id, 0, &timer->was, NULL))
        timer->paused = false;
}

bool fv_timer_open(struct fv_tick_timer *timer, int signal, uint64_t first_ns, uint64_t period_ns)
{
    struct event event = {
        .value = &tag, .signal = signal, .notify = NOTIFY_THREAD, .thread = (int)syscall(SYS_gettid)
    };

    timer->paused = false;
    timer->open = !syscall(SYS_timer_create, OWN_USER_TIME, &event, &timer->id);
    set_time(timer, first_ns, period_ns, NULL);
    return timer->open;
}

void fv_timer_raise(int signal)
{
    siginfo_t info = { .si_signo = signal, .si_code = SI_TIMER };

    info.si_value.sival_ptr = &tag;
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), signal, &info);
}

void fv_timer_close(struct fv_tick_timer *timer)
{
    if (timer->open)
        syscall(SYS_timer_delete, timer->id);
    timer->open = false;
}

bool fv_timer_is_source(const void *siginfo)
{
    const siginfo_t *info = siginfo;

    return info->si_code == SI_TIMER && info->si_value.sival_ptr == &tag;
}
