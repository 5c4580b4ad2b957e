/* SPDX-License-Identifier: BSD-3-Clause */
/* See interposed.h: mutexes that are not free, or not tried. */
#include "threads/interposed.h"

/* What the application asked for; `until` NULL: no limit. */
static int ask(pthread_mutex_t *mutex, clockid_t clock, fv_limit *until)
{
    if (!until)
        return fv_next.pthread_mutex_lock(mutex);
#if FV_HAVE_CLOCKED
    if (clock != FV_NO_CLOCK)
        return fv_next.pthread_mutex_clocklock(mutex, clock, until);
#endif
    return fv_next.pthread_mutex_timedlock(mutex, until);
}

FV_COLD int fv_mutex_wait(struct fv_sync *s, pthread_mutex_t *mutex, clockid_t clock, fv_limit *until,
                          struct fv_call_place site)
{
    struct fv_sync_wait w = fv_sync_wait_begin(s, mutex, FV_SYNC_MUTEX, fv_mutex_operation(until), site);
    int err = ask(mutex, clock, until);

    fv_sync_wait_end(&w, fv_how_ended(err, FV_SYNC_MUTEX));
    return err;
}

/* glibc's try (2.36) leaves a robust mutex that nobody can recover locked for ever. So these are not tried,
 * but looked at; who comes in between is waited for unseen. */
FV_COLD int fv_mutex_lock_robust(struct fv_sync *s, pthread_mutex_t *mutex, clockid_t clock, fv_limit *until,
                                 struct fv_call_place site)
{
#if defined(__GLIBC__)
    const unsigned mask = 0x3fffffff; /* FUTEX_TID_MASK: 0 when it is free, or its owner has died */
    unsigned owner = (unsigned)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & mask;

    if (owner && owner != s->thread->record->tid) /* itself, if it is recursive or checks */
        return fv_mutex_wait(s, mutex, clock, until, site);
#endif
    int err = ask(mutex, clock, until);
    if (fv_is_got(err))
        fv_sync_acquired(s, mutex, FV_SYNC_MUTEX, fv_mutex_operation(until), site);
    else
        fv_sync_refused(s, mutex, FV_SYNC_MUTEX, fv_mutex_operation(until), site);
    return err;
}
