/* SPDX-License-Identifier: BSD-3-Clause */
/* What the interposers are made of (interposed.c, generated from rt/interposed.tbl). Locks and semaphores are tried
 * first: what is free costs no clock. Only what is not is waited for, by the function that the application called,
 * whose answer is the application's: a try says EBUSY also where the real lock says EDEADLK. A try that says EOWNERDEAD
 * has the lock. Any other answer of a try changes nothing, and the real function is asked again. A cancellation that
 * ends a wait unwinds through here without our noticing: nothing is left half done, the wait is not counted, and where
 * the thread waited stands in its state until its next wait or its end. */
#ifndef FV_INTERPOSED_H
#define FV_INTERPOSED_H

#include "rt/next.h"
#include "threads/sync.h"

#include <errno.h>

/* Until when a function waits. */
typedef const struct timespec fv_limit;

#define FV_NO_CLOCK (-1) /* pthread_mutex_timedlock() has none */

static inline bool fv_clock_is_known(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

/* Of read-write locks and semaphores an impossible limit is an error also when they are free: then there is
 * no try. */
static inline bool fv_limit_is_valid(clockid_t clock, fv_limit *until)
{
    return fv_clock_is_known(clock) && until->tv_nsec >= 0 && until->tv_nsec < 1000000000;
}

static inline bool fv_is_got(int err)
{
    return !err || err == EOWNERDEAD;
}

/* Is an object of this kind held by who got it? */
static inline bool fv_is_held(unsigned kind)
{
    return kind != FV_SYNC_SEM;
}

static inline void fv_sync_got(struct fv_sync *s, const volatile void *object, unsigned kind, unsigned operation,
                               struct fv_call_place site)
{
    if (fv_is_held(kind))
        fv_sync_acquired(s, object, kind, operation, site);
    else
        fv_sync_counted(s, object, kind, operation, site);
}

static inline enum fv_sync_end fv_how_ended(int err, unsigned kind)
{
    return !fv_is_got(err) ? FV_SYNC_FAILED : fv_is_held(kind) ? FV_SYNC_GOT_LOCK : FV_SYNC_GOT;
}

/* ---- mutexes (locks.c) ---- */

int fv_mutex_wait(struct fv_sync *s, pthread_mutex_t *mutex, clockid_t clock, fv_limit *until,
                  struct fv_call_place site);
int fv_mutex_lock_robust(struct fv_sync *s, pthread_mutex_t *mutex, clockid_t clock, fv_limit *until,
                         struct fv_call_place site);

static inline bool fv_mutex_is_robust(const pthread_mutex_t *mutex)
{
#if defined(__GLIBC__)
    return mutex->__data.__kind & 16;
#else
    return (void)mutex, false;
#endif
}

static inline unsigned fv_mutex_operation(fv_limit *until)
{
    return until ? FV_SYNC_TIMED : FV_SYNC_LOCK;
}

static inline int fv_mutex_lock(struct fv_sync *s, pthread_mutex_t *mutex, clockid_t clock, fv_limit *until,
                                struct fv_call_place site)
{
    if (FV_UNLIKELY(fv_mutex_is_robust(mutex)))
        return fv_mutex_lock_robust(s, mutex, clock, until, site);
    int err = fv_next.pthread_mutex_trylock(mutex);
    if (FV_UNLIKELY(!fv_is_got(err)))
        return fv_mutex_wait(s, mutex, clock, until, site);
    fv_sync_acquired(s, mutex, FV_SYNC_MUTEX, fv_mutex_operation(until), site);
    return err;
}

/* ---- semaphores ---- */

/* Not 0: it is not free. errno of a try that the application did not make is not the application's. */
static inline int fv_semaphore_try(sem_t *semaphore)
{
    pthread_testcancel(); /* as sem_wait() does, waiting or not */
    int saved = errno, result = fv_next.sem_trywait(semaphore);
    if (result)
        errno = saved;
    return result;
}

/* ---- waits.c ---- */

struct fv_sync_cond_wait {
    struct fv_sync_wait wait;
    struct fv_sync_hold hold; /* of the mutex */
    struct fv_sync_trace_hold traced;
};
struct fv_sync_cond_wait fv_sync_cond_begin(struct fv_sync *s, const void *cond, const void *mutex, unsigned operation,
                                            struct fv_call_place site);
void fv_sync_cond_end(const struct fv_sync_cond_wait *w, int err);

struct fv_sync_barrier_wait {
    struct fv_sync_wait wait;
    bool is_noted; /* as the one that comes last */
};
struct fv_sync_barrier_wait fv_sync_barrier_begin(struct fv_sync *s, const pthread_barrier_t *barrier,
                                                  struct fv_call_place site);
void fv_sync_barrier_end(const struct fv_sync_barrier_wait *w, int err);

/* ---- lives.c ---- */

struct fv_sync_join_wait {
    struct fv_sync *s;
    struct fv_sync_wait wait;
    struct fv_thread_life *life; /* NULL: it had not begun */
    pthread_t thread;
    uint64_t created; /* of the thread, as lives.c knows it */
    uintptr_t routine;
    struct fv_call_place site;
    unsigned operation;
};
struct fv_sync_join_wait fv_sync_join_begin(struct fv_sync *s, pthread_t thread, unsigned operation,
                                            struct fv_call_place site);
void fv_sync_join_end(const struct fv_sync_join_wait *j, int err);

#endif
