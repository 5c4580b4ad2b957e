/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that blocks its signals and waits for all of them would get our samples: one of the time before
 * is pending then. They are taken and thrown away here, the application gets what is its own. Only while
 * something is sampled. signalfd() is not covered; nor a SIGTRAP of
 * the application's that finds one of ours pending: the kernel keeps one. A SIGPROF of ours is not pending in the first
 * place, unless the thread blocks it in another way than sigmask.c sees. */
#include "base/lock.h"
#include "rt/next.h"
#include "sampler/sampler.h"

#include <errno.h>
#include <time.h>

#if FV_SAMPLER_SIGNALS && defined(PIC)

static bool is_concerned(const sigset_t *set)
{
    return fv_sampler_samples() && set && (sigismember(set, SIGTRAP) == 1 || sigismember(set, SIGPROF) == 1);
}

static struct timespec until(const struct timespec *timeout)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += timeout->tv_sec;
    at.tv_nsec += timeout->tv_nsec;
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    return at;
}

static struct timespec left(const struct timespec *at)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    now.tv_sec = at->tv_sec - now.tv_sec;
    now.tv_nsec = at->tv_nsec - now.tv_nsec;
    if (now.tv_nsec < 0) {
        now.tv_nsec += 1000000000;
        now.tv_sec--;
    }
    return now.tv_sec < 0 ? (struct timespec){ 0 } : now;
}

static bool is_ours(int signal, const siginfo_t *info)
{
    return (signal == SIGTRAP || signal == SIGPROF) && fv_sampler_sent(info);
}

/* As sigtimedwait(), without what is ours. */
static int wait_for_own(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    struct timespec at = { 0 }, rest = { 0 };
    siginfo_t got;
    int signal;

    if (timeout) {
        rest = *timeout;
        at = until(timeout);
    }
    while (is_ours(signal = FV_NEXT(sigtimedwait)(set, &got, timeout ? &rest : NULL), &got))
        if (timeout)
            rest = left(&at);
    if (signal > 0 && info)
        *info = got;
    return signal;
}

FV_PUBLIC int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    return is_concerned(set) ? wait_for_own(set, info, timeout) : FV_NEXT(sigtimedwait)(set, info, timeout);
}

FV_PUBLIC int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return is_concerned(set) ? wait_for_own(set, info, NULL) : FV_NEXT(sigwaitinfo)(set, info);
}

FV_PUBLIC int sigwait(const sigset_t *set, int *signal)
{
    int saved = errno, got;

    if (!is_concerned(set))
        return FV_NEXT(sigwait)(set, signal);
    while ((got = wait_for_own(set, NULL, NULL)) < 0 && errno == EINTR)
        ;
    if (got < 0)
        got = -errno;
    errno = saved;
    if (got < 0)
        return -got;
    *signal = got;
    return 0;
}

#endif
