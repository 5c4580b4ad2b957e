/* A lock for the runtime's rare paths. Not a pthread mutex: those may be interposed, by fvmpi itself
 * among others, and this one must work in a signal-free instant of any thread without libpthread state.
 * Critical sections are short, so waiting is yielding. */
#ifndef FV_LOCK_H
#define FV_LOCK_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct fv_lock {
    uint32_t held;
};

static inline void fv_lock(struct fv_lock *lock)
{
    while (__atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE))
        sched_yield();
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

#endif
