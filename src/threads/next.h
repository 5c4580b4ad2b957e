/* The functions that ours stand in front of: the C library's, or those of another library that interposes
 * them, too. */
#ifndef FV_NEXT_H
#define FV_NEXT_H

#include "base/base.h"

#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#if __has_include(<threads.h>)
#include <threads.h>
#define FV_HAVE_C11 1
#endif

/* Until when a function waits. */
typedef const struct timespec fv_limit;

/* Of read-write locks and semaphores an impossible limit is an error also when they are free: then there is
 * no try. */
static inline bool fv_limit_is_valid(clockid_t clock, fv_limit *until)
{
    return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && until->tv_nsec >= 0 &&
           until->tv_nsec < 1000000000;
}

#define FV_NEXT_FUNCTIONS(X)                                                                                 \
    X(pthread_mutex_lock)                                                                                    \
    X(pthread_mutex_trylock)                                                                                 \
    X(pthread_mutex_timedlock)                                                                               \
    X(pthread_mutex_clocklock)                                                                               \
    X(pthread_mutex_unlock)                                                                                  \
    X(pthread_mutex_init)                                                                                    \
    X(pthread_mutex_destroy)                                                                                 \
    X(pthread_rwlock_rdlock)                                                                                 \
    X(pthread_rwlock_tryrdlock)                                                                              \
    X(pthread_rwlock_timedrdlock)                                                                            \
    X(pthread_rwlock_clockrdlock)                                                                            \
    X(pthread_rwlock_wrlock)                                                                                 \
    X(pthread_rwlock_trywrlock)                                                                              \
    X(pthread_rwlock_timedwrlock)                                                                            \
    X(pthread_rwlock_clockwrlock)                                                                            \
    X(pthread_rwlock_unlock)                                                                                 \
    X(pthread_rwlock_init)                                                                                   \
    X(pthread_rwlock_destroy)                                                                                \
    X(pthread_spin_lock)                                                                                     \
    X(pthread_spin_trylock)                                                                                  \
    X(pthread_spin_unlock)                                                                                   \
    X(pthread_spin_init)                                                                                     \
    X(pthread_spin_destroy)                                                                                  \
    X(pthread_cond_wait)                                                                                     \
    X(pthread_cond_timedwait)                                                                                \
    X(pthread_cond_clockwait)                                                                                \
    X(pthread_cond_signal)                                                                                   \
    X(pthread_cond_broadcast)                                                                                \
    X(pthread_cond_init)                                                                                     \
    X(pthread_cond_destroy)                                                                                  \
    X(pthread_barrier_wait)                                                                                  \
    X(pthread_barrier_init)                                                                                  \
    X(pthread_barrier_destroy)                                                                               \
    X(sem_wait)                                                                                              \
    X(sem_trywait)                                                                                           \
    X(sem_timedwait)                                                                                         \
    X(sem_clockwait)                                                                                         \
    X(sem_post)                                                                                              \
    X(sem_init)                                                                                              \
    X(sem_destroy)                                                                                           \
    X(pthread_join)                                                                                          \
    X(pthread_tryjoin_np)                                                                                    \
    X(pthread_timedjoin_np)                                                                                  \
    X(pthread_clockjoin_np)                                                                                  \
    X(pthread_once)

/* C11's, in which the C library calls its own functions. */
#if FV_HAVE_C11
#define FV_NEXT_C11(X)                                                                                       \
    X(mtx_lock)                                                                                              \
    X(mtx_trylock)                                                                                           \
    X(mtx_timedlock)                                                                                         \
    X(mtx_unlock)                                                                                            \
    X(mtx_init)                                                                                              \
    X(mtx_destroy)                                                                                           \
    X(cnd_wait)                                                                                              \
    X(cnd_timedwait)                                                                                         \
    X(cnd_signal)                                                                                            \
    X(cnd_broadcast)                                                                                         \
    X(cnd_init)                                                                                              \
    X(cnd_destroy)                                                                                           \
    X(thrd_join)                                                                                             \
    X(call_once)
#else
#define FV_NEXT_C11(X)
#endif

struct fv_next {
#define FV_NEXT_POINTER(name) __typeof__(name) *name;
    FV_NEXT_FUNCTIONS(FV_NEXT_POINTER)
    FV_NEXT_C11(FV_NEXT_POINTER)
#undef FV_NEXT_POINTER
};
extern struct fv_next fv_next;

/* Finds them all. Any thread, more than once. */
void fv_next_find(void);

/* They may be needed before our constructor has run: by other libraries' constructors. */
#define FV_NEXT(name) ((FV_UNLIKELY(!fv_next.name) ? fv_next_find() : (void)0), fv_next.name)

#endif
