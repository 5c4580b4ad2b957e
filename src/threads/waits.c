/* SPDX-License-Identifier: BSD-3-Clause */
/* See interposed.h: conditions, barriers, semaphores, once: what threads wait for that no thread holds; joins are in
 * lives.c. */
#include "threads/interposed.h"
#include "threads/solo.h"

/* ---- conditions: every wait waits ---- */

struct fv_sync_cond_wait fv_sync_cond_begin(struct fv_sync *s, const void *cond, const void *mutex, unsigned operation,
                                            struct fv_call_place site)
{
    struct fv_sync_cond_wait w = { .wait = fv_sync_wait_begin(s, cond, FV_SYNC_COND, operation, site) };

    fv_sync_hold_pause(s, mutex, &w.hold);
    fv_sync_trace_pause(s, mutex, w.wait.begin, &w.traced);
    return w;
}

void fv_sync_cond_end(const struct fv_sync_cond_wait *w, int err)
{
    fv_sync_hold_again(w->wait.s, &w->hold); /* the mutex is taken back whatever happened */
    fv_sync_wait_end(&w->wait, err ? FV_SYNC_FAILED : FV_SYNC_GOT);
    fv_sync_trace_again(w->wait.s, &w->traced);
}

/* ---- barriers ---- */

/* Who comes last is known by the answer, in glibc. That is too late for the trace, where those who are let go
 * look who let them: so it is looked at before how many have come, which two that come together may both
 * misjudge. */
static bool comes_last(const pthread_barrier_t *barrier, const struct fv_sync_thing *thing)
{
#if defined(__GLIBC__)
    const unsigned *came = (const unsigned *)barrier;

    return thing && thing->parties && (__atomic_load_n(came, __ATOMIC_RELAXED) + 1) % thing->parties == 0;
#else
    return (void)barrier, (void)thing, false;
#endif
}

static bool came_last(int err)
{
#if defined(__GLIBC__)
    return err == PTHREAD_BARRIER_SERIAL_THREAD;
#else
    return (void)err, false;
#endif
}

static void note_last(struct fv_sync *s, struct fv_sync_thing *thing)
{
    if (thing && thing->parties)
        __atomic_store_n(&thing->owner, s->thread->id + 1, __ATOMIC_RELAXED);
}

/* 0: unknown. */
static uint32_t parties_of(struct fv_sync *s, const pthread_barrier_t *barrier, struct fv_call_place site)
{
    const struct fv_sync_entry *e = fv_sync_find(s, (uintptr_t)barrier, FV_SYNC_BARRIER, FV_SYNC_WAIT, site);

    return e->thing ? e->thing->parties : 0;
}

struct fv_sync_barrier_wait fv_sync_barrier_begin(struct fv_sync *s, const pthread_barrier_t *barrier,
                                                  struct fv_call_place site)
{
    if (fv_solo_is_on())
        fv_gate_arrive(parties_of(s, barrier, site));
    struct fv_sync_barrier_wait w = { .wait = fv_sync_wait_begin(s, barrier, FV_SYNC_BARRIER, FV_SYNC_WAIT, site) };

    w.is_noted = comes_last(barrier, w.wait.thing);
    if (w.is_noted)
        note_last(s, w.wait.thing);
    return w;
}

void fv_sync_barrier_end(const struct fv_sync_barrier_wait *w, int err)
{
    bool is_last = came_last(err), is_done = !err || err == PTHREAD_BARRIER_SERIAL_THREAD;

    if (is_last && !w->is_noted)
        note_last(w->wait.s, w->wait.thing);
    fv_sync_wait_end(&w->wait, !is_done ? FV_SYNC_FAILED : is_last ? FV_SYNC_LAST : FV_SYNC_GOT);
    if (fv_solo_is_on())
        fv_gate_leave();
}

/* ---- semaphores ---- */

/* Signal handlers may post: a thread is not begun to be recorded by that, and inside of MPI, whose calls take
 * fvmpi's own locks, only what is known is counted. */
FV_PUBLIC int sem_post(sem_t *semaphore)
{
    struct fv_sync *s = fv_sync_current;

    if (FV_LIKELY(s && fv_current && fv_rt_on()))
        fv_sync_counted(s, semaphore, FV_SYNC_SEM, FV_SYNC_POST, FV_CALL_SITE());
    else
        fv_sync_missed();
    return FV_NEXT(sem_post)(semaphore);
}

/* ---- once ---- */

#if defined(__GLIBC__)
#define ONCE_DONE 2 /* in glibc, for as long as there are programs with a static PTHREAD_ONCE_INIT */
#endif

/* The routine takes no argument to know its control by. */
static FV_TLS void (*once_routine)(void);
static FV_TLS bool once_ran;

static void run_once(void)
{
    void (*routine)(void) = once_routine;
    struct fv_sync *s = fv_sync_current;

    once_ran = true;
    if (s)
        __atomic_store_n(&s->state->wait_begin, 0, __ATOMIC_RELEASE); /* it works */
    routine();
    once_ran = true; /* not that of one inside of it */
}

/* An `outer` routine is that of who is interrupted by a handler that comes here. */
struct once {
    struct fv_sync_wait wait;
    void (*outer)(void);
};

static struct once once_begin(struct fv_sync *s, const void *control, void (*routine)(void), struct fv_call_place site)
{
    struct once o = { fv_sync_wait_begin(s, control, FV_SYNC_ONCE, FV_SYNC_WAIT, site), once_routine };

    once_routine = routine;
    once_ran = false;
    return o;
}

static void once_end(const struct once *o)
{
    once_routine = o->outer;
    fv_sync_wait_end(&o->wait, once_ran ? FV_SYNC_LAST : FV_SYNC_GOT);
}

/* Then there is nothing to wait for, and nothing to count. */
static inline bool is_done(const void *control)
{
#if defined(ONCE_DONE)
    return __atomic_load_n((const int *)control, __ATOMIC_ACQUIRE) & ONCE_DONE;
#else
    return (void)control, false;
#endif
}

FV_PUBLIC int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    if (FV_LIKELY(is_done(control)))
        return 0;
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_once)(control, routine);
    struct once o = once_begin(s, control, routine, FV_CALL_SITE());
    int err = fv_next.pthread_once(control, run_once);
    once_end(&o);
    return err;
}

#if FV_HAVE_C11
FV_PUBLIC void call_once(once_flag *flag, void (*routine)(void))
{
    if (FV_LIKELY(is_done(flag)))
        return;
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s)) {
        FV_NEXT(call_once)(flag, routine);
        return;
    }
    struct once o = once_begin(s, flag, routine, FV_CALL_SITE());
    fv_next.call_once(flag, run_once);
    once_end(&o);
}
#endif
