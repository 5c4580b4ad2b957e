/* A lock for the runtime's rare paths. Not a pthread mutex: those may be interposed, by fvmpi itself
 * among others, and this one must work in a signal-free instant of any thread without libpthread state.
 * Critical sections are short, so waiting is yielding; and then sleeping, because yielding lets no thread run
 * whose real-time priority is lower. */
#ifndef FV_LOCK_H
#define FV_LOCK_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct fv_lock {
    uint32_t held;
};

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

static inline void fv_lock(struct fv_lock *lock)
{
    for (unsigned tries = 0; __atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE); tries++)
        fv_lock_wait(tries);
}

/* False: it is held, perhaps by whom a signal handler has interrupted. */
static inline bool fv_try_lock(struct fv_lock *lock)
{
    return !__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE);
}

static inline void fv_unlock(struct fv_lock *lock)
{
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

/* May it be taken here? A signal handler may have interrupted its holder, which then goes on never: a lock that stays held is left
 * alone. */
static inline bool fv_lock_is_free(const struct fv_lock *lock)
{
    for (unsigned i = 0; i < 1000; i++) {
        if (!__atomic_load_n(&lock->held, __ATOMIC_RELAXED))
            return true;
        sched_yield();
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
