/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: ticks without instances (--sample=clock). An event of the thread's CPU time, or else a timer of its
 * user time (timer.h), signals SIGPROF, which debuggers pass on in silence, and which is the program's as soon as it
 * wants it: when it sets an action of its own, ticks end for good. While a thread blocks SIGPROF its clock stands
 * still, so that no tick of ours is ever pending: none ends sigsuspend() or ppoll(), shows in sigpending() or
 * signalfd(), is handed to sigwait(), or takes the place of the program's own.
 *
 * The event costs an interrupt more a tick, and a descriptor a thread. But the timer ends with ticks of the kernel
 * alone. Beside busy processes these come as a thread gets or loses its processor, and so in the same function again
 * and again: they may miss most of what it computes. */
#include "base/without.h"
#include "rt/next.h"
#include "rt/signals.h"
#include "sampler/sampler.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#if FV_SAMPLER_SIGNALS

#define RATE_MOST    1000u /* a second */
#define COST_MOST    200u  /* a tick costs this part of the time between two at most: 0.5 % */
#define MEASURE_EACH 64u

static unsigned every; /* so many of the kernel's ticks is one of ours */

/* ---- may it be done? ---- */

static bool is_sigprof_used(void)
{
    struct sigaction now;
    struct itimerval timer;

    return __sigaction(SIGPROF, NULL, &now) || now.sa_handler != SIG_DFL || getitimer(ITIMER_PROF, &timer) ||
           timer.it_value.tv_sec || timer.it_value.tv_usec;
}

/* Processors without ticks of the kernel: the timer would make them have some, and may end within a system call. */
static bool is_tickless(void)
{
    int fd = open("/sys/devices/system/cpu/nohz_full", O_RDONLY | O_CLOEXEC);
    char first = 0;

    if (fd < 0)
        return false;
    bool known = read(fd, &first, 1) == 1;
    close(fd);
    return known && first >= '0' && first <= '9';
}

enum fv_sampler_stop fv_clock_refusal(void)
{
    return is_sigprof_used() ? FV_SAMPLER_SIGPROF_USED : is_tickless() ? FV_SAMPLER_TICKLESS : FV_SAMPLER_GOES_ON;
}

/* ---- begin and end ---- */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What a tick costs here, once, by some that we send ourselves. The timer's end comes with an interrupt that the kernel
 * has anyway. */
static uint64_t cost_ns(struct fv_sampler *s)
{
    enum { TRIES = 15 };
    uint64_t ns[TRIES];

    s->rehearses = true;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t begin = now_ns();
        fv_timer_raise(SIGPROF);
        ns[i] = now_ns() - begin;
    }
    s->rehearses = false;
    s->tool_ticks = s->tool_ns = 0;
    s->record->tool_ticks = s->record->tool_ns = 0;
    return fv_ranked(ns, TRIES, TRIES / 2);
}

static uint64_t user_ns(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage)
               ? 0
               : (uint64_t)usage.ru_utime.tv_sec * 1000000000u + (uint64_t)usage.ru_utime.tv_usec * 1000u;
}

/* Once. */
static void choose_rate(struct fv_sampler *s, uint64_t jiffy_ns)
{
    if (__atomic_load_n(&every, __ATOMIC_RELAXED))
        return;
    uint64_t least_ns = COST_MOST * cost_ns(s);
    if (least_ns < 1000000000u / RATE_MOST)
        least_ns = 1000000000u / RATE_MOST;
    __atomic_store_n(&every, (unsigned)((least_ns + jiffy_ns - 1) / jiffy_ns), __ATOMIC_RELAXED);
}

static bool open_event(struct fv_sampler *s, uint64_t period_ns)
{
    s->clock_rests = false;
    s->record->by_event = !fv_without("clock_event") && fv_perf_open_clock(&s->tick, period_ns);
    if (s->record->by_event)
        fv_perf_enable(&s->tick);
    else
        fv_perf_close(&s->tick);
    return s->record->by_event;
}

bool fv_clock_open(struct fv_sampler *s)
{
    uint64_t jiffy_ns = 1000000000u / fv_timer_rate_max();

    choose_rate(s, jiffy_ns);
    s->record->rate = 1000000000u / (every * jiffy_ns);
    if (open_event(s, every * jiffy_ns))
        return true;
    if (!fv_timer_open(&s->timer, SIGPROF, 0, 0))
        return false;
    s->clock_ticks = 0;
    s->clock_begin_ns = user_ns();
    fv_timer_set(&s->timer, jiffy_ns / 2, every * jiffy_ns);
    return true;
}

/* The child of a vfork() has our memory and our descriptors, but is another thread. */
static bool is_own(const struct fv_sampler *s)
{
    return s->tick.fd >= 0 && (uint32_t)syscall(SYS_gettid) == s->thread->record->tid;
}

void fv_clock_pause(struct fv_sampler *s)
{
    fv_timer_pause(&s->timer);
    if (!s->clock_rests && is_own(s)) {
        fv_perf_disarm(&s->tick);
        s->clock_rests = true;
    }
}

void fv_clock_resume(struct fv_sampler *s)
{
    fv_timer_resume(&s->timer);
    if (s->clock_rests && is_own(s)) {
        s->clock_rests = false;
        fv_perf_enable(&s->tick);
    }
}

void fv_clock_renew(struct fv_sampler *s)
{
    if (s->tick.fd < 0 || s->clock_rests || !is_own(s) || fv_perf_is_ours(&s->tick))
        return;
    if (!fv_clock_open(s))
        s->record->stopped = FV_SAMPLER_NO_TIMER;
}

bool fv_clock_is_paused(const struct fv_sampler *s)
{
    return s->timer.paused || s->clock_rests;
}

/* The kernel charges whole ticks, on a busy machine too many to who computes all the time: what one stands for is
 * measured. */
static void measure_rate(struct fv_sampler *s)
{
    if (++s->clock_ticks % MEASURE_EACH)
        return;
    uint64_t ns = fv_minus(user_ns(), s->clock_begin_ns), rate = ns ? (s->clock_ticks * 1000000000u + ns / 2) / ns : 0;

    if (rate)
        s->record->rate = rate;
}

/* Not in step with anything, where there is a choice. User time grows by whole ticks of the kernel, so half a one is on
 * no edge. */
void fv_clock_on_tick(struct fv_sampler *s)
{
    measure_rate(s);
    if (every == 1)
        return; /* it repeats by itself */
    uint64_t jiffy_ns = 1000000000u / fv_timer_rate_max(), ticks = 1 + fv_sampler_random(s) % (2 * every - 1);

    fv_timer_set(&s->timer, ticks * jiffy_ns - jiffy_ns / 2, every * jiffy_ns);
}

void fv_clock_stop(struct fv_sampler *s, enum fv_sampler_stop why)
{
    if (!s->timer.open && s->tick.fd < 0)
        return;
    fv_timer_close(&s->timer);
    fv_perf_disarm(&s->tick); /* children may have its descriptor, too, and then it goes on when ours is closed */
    fv_perf_silence(&s->tick);
    fv_perf_close(&s->tick);
    s->record->stopped = why;
}

#endif
