/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock for the runtime's rare paths. Not a pthread mutex: those may be interposed, by fvmpi itself
 * among others, and this one must work in a signal-free instant of any thread without libpthread state.
 * Critical sections are short, so waiting is yielding; and then sleeping, because yielding lets no thread run
 * whose real-time priority is lower. */
#ifndef FV_LOCK_H
#define FV_LOCK_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct fv_lock {
    uint32_t held; /* 0: by nobody; else by which thread, fv_lock_holder() */
};

/* Which thread this is. Two that are 256 GiB apart may share a number: then one of them only gives up
 * (fv_lock_is_free()) where it could have waited. */
static inline uint32_t fv_lock_holder(void)
{
    return (uint32_t)((uintptr_t)pthread_self() >> 6) | 1;
}

static inline void fv_lock_wait(unsigned tries)
{
    if (tries < 100) {
        sched_yield();
    } else {
        const struct timespec rest = { 0, 20000 };
        int saved = errno;

        syscall(SYS_nanosleep, &rest, NULL); /* the C library's is a cancellation point */
        errno = saved;
    }
}

/* False: it is held, perhaps by whom a signal handler has interrupted. */
static inline bool fv_try_lock(struct fv_lock *lock)
{
    uint32_t nobody = 0;

    return __atomic_compare_exchange_n(&lock->held, &nobody, fv_lock_holder(), false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static inline void fv_lock(struct fv_lock *lock)
{
    for (unsigned tries = 0; !fv_try_lock(lock); tries++)
        fv_lock_wait(tries);
}

static inline void fv_unlock(struct fv_lock *lock)
{
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

/* Can it be taken here, for as long as others' critical sections last? False at once in a signal handler that has
 * interrupted the holder, and after a second or so where a handler keeps the holder from going on: then what had to be
 * written is left out, and counted. */
static inline bool fv_lock_is_free(const struct fv_lock *lock)
{
    for (unsigned tries = 0; tries < 10000; tries++) {
        uint32_t held = __atomic_load_n(&lock->held, __ATOMIC_RELAXED);

        if (!held || held == fv_lock_holder())
            return !held;
        fv_lock_wait(tries);
    }
    return false;
}

/* What waits in fv_signals_hold(): not SIGTRAP, since the sampler's handler takes no lock, nor SIGBUS while it is ours
 * (rt/bus.c): a fault whose signal is blocked kills. */
extern uint64_t fv_signals_held;

/* Signals wait, those that cancel threads too, until fv_signals_go_on(): a handler that leaves by longjmp()
 * would leave a lock held for ever, and one that posts a semaphore would wait for what it has interrupted.
 * 0.1 us each: for rare paths. */
static inline uint64_t fv_signals_hold(void)
{
    uint64_t before = 0;

    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &fv_signals_held, &before, sizeof(before));
    return before;
}

static inline void fv_signals_go_on(uint64_t before)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/* Both, for a lock that is taken where signals may come. */
static inline uint64_t fv_lock_sigsave(struct fv_lock *lock)
{
    uint64_t signals = fv_signals_hold();

    fv_lock(lock);
    return signals;
}

static inline void fv_unlock_sigrestore(struct fv_lock *lock, uint64_t signals)
{
    fv_unlock(lock);
    fv_signals_go_on(signals);
}

#endif
