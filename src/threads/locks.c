/* Mutexes, read-write locks, spin locks. Each is tried first: what is free costs no clock. Only what is not
 * is waited for, by the function that the application called, whose answer is the application's: a try says
 * EBUSY also where the real lock says EDEADLK. A try that says EOWNERDEAD has the lock. Any other answer of a
 * try changes nothing, and the real function is asked again. */
#include "threads/next.h"
#include "threads/sync.h"

#include <errno.h>

static bool is_got(int err)
{
    return !err || err == EOWNERDEAD;
}

static void ended(const struct fv_sync_wait *w, int err)
{
    fv_sync_wait_end(w, is_got(err) ? FV_SYNC_GOT_LOCK : FV_SYNC_FAILED);
}

/* ---- mutexes ---- */

#define NO_CLOCK (-1) /* pthread_mutex_timedlock() has none */

/* What the application asked for; `until` NULL: no limit. */
static int ask(pthread_mutex_t *mutex, clockid_t clock, fv_limit *until)
{
    if (!until)
        return fv_next.pthread_mutex_lock(mutex);
    return clock == NO_CLOCK ? fv_next.pthread_mutex_timedlock(mutex, until)
                             : fv_next.pthread_mutex_clocklock(mutex, clock, until);
}

static unsigned operation_of(fv_limit *until)
{
    return until ? FV_SYNC_TIMED : FV_SYNC_LOCK;
}

static FV_COLD int wait_mutex(struct fv_sync *s, pthread_mutex_t *mutex, clockid_t clock, fv_limit *until,
                              struct fv_site site)
{
    struct fv_sync_wait w = fv_sync_wait_begin(s, mutex, FV_SYNC_MUTEX, operation_of(until), site);
    int err = ask(mutex, clock, until);

    ended(&w, err);
    return err;
}

/* glibc's try (2.36) leaves a robust mutex that nobody can recover locked for ever. So these are not tried,
 * but looked at; who comes in between is waited for unseen. */
static bool is_robust(const pthread_mutex_t *mutex)
{
#if defined(__GLIBC__)
    return mutex->__data.__kind & 16;
#else
    return (void)mutex, false;
#endif
}

static FV_COLD int lock_robust(struct fv_sync *s, pthread_mutex_t *mutex, clockid_t clock, fv_limit *until,
                               struct fv_site site)
{
#if defined(__GLIBC__)
    const unsigned mask = 0x3fffffff; /* FUTEX_TID_MASK: 0 when it is free, or its owner has died */
    unsigned owner = (unsigned)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & mask;

    if (owner && owner != s->thread->record->tid) /* itself, if it is recursive or checks */
        return wait_mutex(s, mutex, clock, until, site);
#endif
    int err = ask(mutex, clock, until);
    if (is_got(err))
        fv_sync_acquired(s, mutex, FV_SYNC_MUTEX, operation_of(until), site);
    else
        fv_sync_refused(s, mutex, FV_SYNC_MUTEX, operation_of(until), site);
    return err;
}

static inline int lock_mutex(struct fv_sync *s, pthread_mutex_t *mutex, clockid_t clock, fv_limit *until,
                             struct fv_site site)
{
    if (FV_UNLIKELY(is_robust(mutex)))
        return lock_robust(s, mutex, clock, until, site);
    int err = fv_next.pthread_mutex_trylock(mutex);
    if (FV_UNLIKELY(!is_got(err)))
        return wait_mutex(s, mutex, clock, until, site);
    fv_sync_acquired(s, mutex, FV_SYNC_MUTEX, operation_of(until), site);
    return err;
}

FV_PUBLIC int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_mutex_lock)(mutex);
    return lock_mutex(s, mutex, NO_CLOCK, NULL, FV_CALL_SITE());
}

FV_PUBLIC int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct fv_sync *s = fv_sync_enter();
    int err = FV_NEXT(pthread_mutex_trylock)(mutex);

    if (FV_LIKELY(s && is_got(err)))
        fv_sync_acquired(s, mutex, FV_SYNC_MUTEX, FV_SYNC_TRY, FV_CALL_SITE());
    else if (s)
        fv_sync_refused(s, mutex, FV_SYNC_MUTEX, FV_SYNC_TRY, FV_CALL_SITE());
    return err;
}

FV_PUBLIC int pthread_mutex_timedlock(pthread_mutex_t *mutex, fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_mutex_timedlock)(mutex, until);
    return lock_mutex(s, mutex, NO_CLOCK, until, FV_CALL_SITE());
}

FV_PUBLIC int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();
    bool known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; /* others are an error, free or not */

    if (FV_UNLIKELY(!s || !known))
        return FV_NEXT(pthread_mutex_clocklock)(mutex, clock, until);
    return lock_mutex(s, mutex, clock, until, FV_CALL_SITE());
}

FV_PUBLIC int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    uint64_t now = fv_sync_releasing();
    int err = FV_NEXT(pthread_mutex_unlock)(mutex);

    if (FV_UNLIKELY(now) && !err)
        fv_sync_released(mutex, now);
    return err;
}

FV_PUBLIC int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    fv_sync_retire(mutex, FV_SYNC_MUTEX);
    return FV_NEXT(pthread_mutex_init)(mutex, attributes);
}

FV_PUBLIC int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    int err = FV_NEXT(pthread_mutex_destroy)(mutex);

    if (!err)
        fv_sync_retire(mutex, FV_SYNC_MUTEX);
    return err;
}

/* ---- read-write locks ---- */

static FV_COLD int wait_rwlock_rdlock(struct fv_sync *s, pthread_rwlock_t *lock, struct fv_site site)
{
    struct fv_sync_wait w = fv_sync_wait_begin(s, lock, FV_SYNC_RWLOCK, FV_SYNC_READ, site);
    int err = fv_next.pthread_rwlock_rdlock(lock);

    ended(&w, err);
    return err;
}

FV_PUBLIC int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_rwlock_rdlock)(lock);
    if (FV_UNLIKELY(fv_next.pthread_rwlock_tryrdlock(lock)))
        return wait_rwlock_rdlock(s, lock, FV_CALL_SITE());
    fv_sync_acquired(s, lock, FV_SYNC_RWLOCK, FV_SYNC_READ, FV_CALL_SITE());
    return 0;
}

FV_PUBLIC int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    struct fv_sync *s = fv_sync_enter();
    int err = FV_NEXT(pthread_rwlock_tryrdlock)(lock);

    if (FV_LIKELY(s && !err))
        fv_sync_acquired(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TRY_READ, FV_CALL_SITE());
    else if (s)
        fv_sync_refused(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TRY_READ, FV_CALL_SITE());
    return err;
}

FV_PUBLIC int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_site site = FV_CALL_SITE();

    if (FV_UNLIKELY(!s || !fv_limit_is_valid(CLOCK_REALTIME, until)))
        return FV_NEXT(pthread_rwlock_timedrdlock)(lock, until);
    if (FV_LIKELY(!fv_next.pthread_rwlock_tryrdlock(lock))) {
        fv_sync_acquired(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TIMED_READ, site);
        return 0;
    }
    struct fv_sync_wait w = fv_sync_wait_begin(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TIMED_READ, site);
    int err = fv_next.pthread_rwlock_timedrdlock(lock, until);
    ended(&w, err);
    return err;
}

FV_PUBLIC int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_site site = FV_CALL_SITE();

    if (FV_UNLIKELY(!s || !fv_limit_is_valid(clock, until)))
        return FV_NEXT(pthread_rwlock_clockrdlock)(lock, clock, until);
    if (FV_LIKELY(!fv_next.pthread_rwlock_tryrdlock(lock))) {
        fv_sync_acquired(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TIMED_READ, site);
        return 0;
    }
    struct fv_sync_wait w = fv_sync_wait_begin(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TIMED_READ, site);
    int err = fv_next.pthread_rwlock_clockrdlock(lock, clock, until);
    ended(&w, err);
    return err;
}

static FV_COLD int wait_rwlock_wrlock(struct fv_sync *s, pthread_rwlock_t *lock, struct fv_site site)
{
    struct fv_sync_wait w = fv_sync_wait_begin(s, lock, FV_SYNC_RWLOCK, FV_SYNC_LOCK, site);
    int err = fv_next.pthread_rwlock_wrlock(lock);

    ended(&w, err);
    return err;
}

FV_PUBLIC int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_rwlock_wrlock)(lock);
    if (FV_UNLIKELY(fv_next.pthread_rwlock_trywrlock(lock)))
        return wait_rwlock_wrlock(s, lock, FV_CALL_SITE());
    fv_sync_acquired(s, lock, FV_SYNC_RWLOCK, FV_SYNC_LOCK, FV_CALL_SITE());
    return 0;
}

FV_PUBLIC int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    struct fv_sync *s = fv_sync_enter();
    int err = FV_NEXT(pthread_rwlock_trywrlock)(lock);

    if (FV_LIKELY(s && !err))
        fv_sync_acquired(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TRY, FV_CALL_SITE());
    else if (s)
        fv_sync_refused(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TRY, FV_CALL_SITE());
    return err;
}

FV_PUBLIC int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_site site = FV_CALL_SITE();

    if (FV_UNLIKELY(!s || !fv_limit_is_valid(CLOCK_REALTIME, until)))
        return FV_NEXT(pthread_rwlock_timedwrlock)(lock, until);
    if (FV_LIKELY(!fv_next.pthread_rwlock_trywrlock(lock))) {
        fv_sync_acquired(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TIMED, site);
        return 0;
    }
    struct fv_sync_wait w = fv_sync_wait_begin(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TIMED, site);
    int err = fv_next.pthread_rwlock_timedwrlock(lock, until);
    ended(&w, err);
    return err;
}

FV_PUBLIC int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_site site = FV_CALL_SITE();

    if (FV_UNLIKELY(!s || !fv_limit_is_valid(clock, until)))
        return FV_NEXT(pthread_rwlock_clockwrlock)(lock, clock, until);
    if (FV_LIKELY(!fv_next.pthread_rwlock_trywrlock(lock))) {
        fv_sync_acquired(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TIMED, site);
        return 0;
    }
    struct fv_sync_wait w = fv_sync_wait_begin(s, lock, FV_SYNC_RWLOCK, FV_SYNC_TIMED, site);
    int err = fv_next.pthread_rwlock_clockwrlock(lock, clock, until);
    ended(&w, err);
    return err;
}

FV_PUBLIC int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    uint64_t now = fv_sync_releasing();
    int err = FV_NEXT(pthread_rwlock_unlock)(lock);

    if (FV_UNLIKELY(now) && !err)
        fv_sync_released(lock, now);
    return err;
}

FV_PUBLIC int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
    fv_sync_retire(lock, FV_SYNC_RWLOCK);
    return FV_NEXT(pthread_rwlock_init)(lock, attributes);
}

FV_PUBLIC int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    int err = FV_NEXT(pthread_rwlock_destroy)(lock);

    if (!err)
        fv_sync_retire(lock, FV_SYNC_RWLOCK);
    return err;
}

/* ---- spin locks ---- */

static FV_COLD int wait_spin_lock(struct fv_sync *s, pthread_spinlock_t *lock, struct fv_site site)
{
    struct fv_sync_wait w = fv_sync_wait_begin(s, lock, FV_SYNC_SPIN, FV_SYNC_LOCK, site);
    int err = fv_next.pthread_spin_lock(lock);

    ended(&w, err);
    return err;
}

FV_PUBLIC int pthread_spin_lock(pthread_spinlock_t *lock)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_spin_lock)(lock);
    if (FV_UNLIKELY(fv_next.pthread_spin_trylock(lock)))
        return wait_spin_lock(s, lock, FV_CALL_SITE());
    fv_sync_acquired(s, lock, FV_SYNC_SPIN, FV_SYNC_LOCK, FV_CALL_SITE());
    return 0;
}

FV_PUBLIC int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    struct fv_sync *s = fv_sync_enter();
    int err = FV_NEXT(pthread_spin_trylock)(lock);

    if (FV_LIKELY(s && !err))
        fv_sync_acquired(s, lock, FV_SYNC_SPIN, FV_SYNC_TRY, FV_CALL_SITE());
    else if (s)
        fv_sync_refused(s, lock, FV_SYNC_SPIN, FV_SYNC_TRY, FV_CALL_SITE());
    return err;
}

FV_PUBLIC int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    uint64_t now = fv_sync_releasing();
    int err = FV_NEXT(pthread_spin_unlock)(lock);

    if (FV_UNLIKELY(now) && !err)
        fv_sync_released(lock, now);
    return err;
}

FV_PUBLIC int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    fv_sync_retire(lock, FV_SYNC_SPIN);
    return FV_NEXT(pthread_spin_init)(lock, shared);
}

FV_PUBLIC int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    int err = FV_NEXT(pthread_spin_destroy)(lock);

    if (!err)
        fv_sync_retire(lock, FV_SYNC_SPIN);
    return err;
}

/* ---- C11's mutexes: POSIX threads' under another name, whose functions call those of the C library unseen
 * ---- */

#if FV_HAVE_C11
static FV_COLD int wait_mtx(struct fv_sync *s, mtx_t *mutex, fv_limit *until, struct fv_site site)
{
    struct fv_sync_wait w = fv_sync_wait_begin(s, mutex, FV_SYNC_MUTEX, operation_of(until), site);
    int err = until ? fv_next.mtx_timedlock(mutex, until) : fv_next.mtx_lock(mutex);

    fv_sync_wait_end(&w, err == thrd_success ? FV_SYNC_GOT_LOCK : FV_SYNC_FAILED);
    return err;
}

static inline int lock_mtx(struct fv_sync *s, mtx_t *mutex, fv_limit *until, struct fv_site site)
{
    if (FV_UNLIKELY(fv_next.mtx_trylock(mutex) != thrd_success))
        return wait_mtx(s, mutex, until, site);
    fv_sync_acquired(s, mutex, FV_SYNC_MUTEX, operation_of(until), site);
    return thrd_success;
}

FV_PUBLIC int mtx_lock(mtx_t *mutex)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(mtx_lock)(mutex);
    return lock_mtx(s, mutex, NULL, FV_CALL_SITE());
}

FV_PUBLIC int mtx_timedlock(mtx_t *restrict mutex, fv_limit *restrict until)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(mtx_timedlock)(mutex, until);
    return lock_mtx(s, mutex, until, FV_CALL_SITE());
}

FV_PUBLIC int mtx_trylock(mtx_t *mutex)
{
    struct fv_sync *s = fv_sync_enter();
    int err = FV_NEXT(mtx_trylock)(mutex);

    if (FV_LIKELY(s && err == thrd_success))
        fv_sync_acquired(s, mutex, FV_SYNC_MUTEX, FV_SYNC_TRY, FV_CALL_SITE());
    else if (s)
        fv_sync_refused(s, mutex, FV_SYNC_MUTEX, FV_SYNC_TRY, FV_CALL_SITE());
    return err;
}

FV_PUBLIC int mtx_unlock(mtx_t *mutex)
{
    uint64_t now = fv_sync_releasing();
    int err = FV_NEXT(mtx_unlock)(mutex);

    if (FV_UNLIKELY(now) && err == thrd_success)
        fv_sync_released(mutex, now);
    return err;
}

FV_PUBLIC int mtx_init(mtx_t *mutex, int type)
{
    fv_sync_retire(mutex, FV_SYNC_MUTEX);
    return FV_NEXT(mtx_init)(mutex, type);
}

FV_PUBLIC void mtx_destroy(mtx_t *mutex)
{
    FV_NEXT(mtx_destroy)(mutex);
    fv_sync_retire(mutex, FV_SYNC_MUTEX);
}
#endif
