/* Conditions, barriers, semaphores, once: what threads wait for that no thread holds; joins are in lives.c. A
 * cancellation that ends a wait unwinds through here without our noticing: nothing is left half done, the
 * wait is not counted, and where the thread waited stands in its state until its next wait or its end. */
#include "threads/next.h"
#include "threads/sync.h"

#include <errno.h>

/* ---- conditions: every wait waits ---- */

struct cond_wait {
    struct fv_sync_wait wait;
    struct fv_sync_hold hold; /* of the mutex */
    struct fv_traced_hold traced;
};

static struct cond_wait cond_begin(struct fv_sync *s, const void *cond, const void *mutex, unsigned operation,
                                   struct fv_site site)
{
    struct cond_wait w = { .wait = fv_sync_wait_begin(s, cond, FV_SYNC_COND, operation, site) };

    fv_sync_hold_pause(s, mutex, &w.hold);
    fv_traced_pause(s, mutex, w.wait.begin, &w.traced);
    return w;
}

static void cond_end(const struct cond_wait *w, int err)
{
    fv_sync_hold_again(w->wait.s, &w->hold); /* the mutex is taken back whatever happened */
    fv_sync_wait_end(&w->wait, err ? FV_SYNC_FAILED : FV_SYNC_GOT);
    fv_traced_again(w->wait.s, &w->traced);
}

FV_PUBLIC int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_cond_wait)(cond, mutex);
    struct cond_wait w = cond_begin(s, cond, mutex, FV_SYNC_WAIT, FV_CALL_SITE());
    int err = fv_next.pthread_cond_wait(cond, mutex);
    cond_end(&w, err);
    return err;
}

FV_PUBLIC int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_cond_timedwait)(cond, mutex, until);
    struct cond_wait w = cond_begin(s, cond, mutex, FV_SYNC_TIMED, FV_CALL_SITE());
    int err = fv_next.pthread_cond_timedwait(cond, mutex, until);
    cond_end(&w, err);
    return err;
}

FV_PUBLIC int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                     fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_cond_clockwait)(cond, mutex, clock, until);
    struct cond_wait w = cond_begin(s, cond, mutex, FV_SYNC_TIMED, FV_CALL_SITE());
    int err = fv_next.pthread_cond_clockwait(cond, mutex, clock, until);
    cond_end(&w, err);
    return err;
}

FV_PUBLIC int pthread_cond_signal(pthread_cond_t *cond)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_LIKELY(s != NULL))
        fv_sync_counted(s, cond, FV_SYNC_COND, FV_SYNC_SIGNAL, FV_CALL_SITE());
    return FV_NEXT(pthread_cond_signal)(cond);
}

FV_PUBLIC int pthread_cond_broadcast(pthread_cond_t *cond)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_LIKELY(s != NULL))
        fv_sync_counted(s, cond, FV_SYNC_COND, FV_SYNC_BROADCAST, FV_CALL_SITE());
    return FV_NEXT(pthread_cond_broadcast)(cond);
}

FV_PUBLIC int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
    fv_sync_retire(cond, FV_SYNC_COND);
    return FV_NEXT(pthread_cond_init)(cond, attributes);
}

FV_PUBLIC int pthread_cond_destroy(pthread_cond_t *cond)
{
    int err = FV_NEXT(pthread_cond_destroy)(cond); /* waits for waiters */

    if (!err)
        fv_sync_retire(cond, FV_SYNC_COND);
    return err;
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

FV_PUBLIC int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_barrier_wait)(barrier);
    struct fv_sync_wait w = fv_sync_wait_begin(s, barrier, FV_SYNC_BARRIER, FV_SYNC_WAIT, FV_CALL_SITE());
    bool is_guessed = comes_last(barrier, w.thing);
    if (is_guessed)
        note_last(s, w.thing);
    int err = fv_next.pthread_barrier_wait(barrier);
    bool is_last = came_last(err);
    if (is_last && !is_guessed)
        note_last(s, w.thing);
    bool is_done = !err || err == PTHREAD_BARRIER_SERIAL_THREAD;
    fv_sync_wait_end(&w, !is_done ? FV_SYNC_FAILED : is_last ? FV_SYNC_LAST : FV_SYNC_GOT);
    return err;
}

FV_PUBLIC int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                                   unsigned count)
{
    fv_sync_retire(barrier, FV_SYNC_BARRIER);
    return FV_NEXT(pthread_barrier_init)(barrier, attributes, count);
}

FV_PUBLIC int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    int err = FV_NEXT(pthread_barrier_destroy)(barrier);

    if (!err)
        fv_sync_retire(barrier, FV_SYNC_BARRIER);
    return err;
}

/* ---- semaphores ---- */

/* errno of a try that the application did not make is not the application's. */
static bool try_semaphore(sem_t *semaphore)
{
    int saved = errno;

    if (!fv_next.sem_trywait(semaphore))
        return true;
    errno = saved;
    return false;
}

static FV_COLD int wait_semaphore(struct fv_sync *s, sem_t *semaphore, struct fv_site site)
{
    struct fv_sync_wait w = fv_sync_wait_begin(s, semaphore, FV_SYNC_SEM, FV_SYNC_WAIT, site);
    int result = fv_next.sem_wait(semaphore);

    fv_sync_wait_end(&w, result ? FV_SYNC_FAILED : FV_SYNC_GOT);
    return result;
}

FV_PUBLIC int sem_wait(sem_t *semaphore)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(sem_wait)(semaphore);
    pthread_testcancel(); /* as sem_wait() does, waiting or not */
    if (FV_UNLIKELY(!try_semaphore(semaphore)))
        return wait_semaphore(s, semaphore, FV_CALL_SITE());
    fv_sync_counted(s, semaphore, FV_SYNC_SEM, FV_SYNC_WAIT, FV_CALL_SITE());
    return 0;
}

FV_PUBLIC int sem_trywait(sem_t *semaphore)
{
    struct fv_sync *s = fv_sync_enter();
    int result = FV_NEXT(sem_trywait)(semaphore);

    if (FV_LIKELY(s && !result))
        fv_sync_counted(s, semaphore, FV_SYNC_SEM, FV_SYNC_TRY, FV_CALL_SITE());
    else if (s)
        fv_sync_refused(s, semaphore, FV_SYNC_SEM, FV_SYNC_TRY, FV_CALL_SITE());
    return result;
}

FV_PUBLIC int sem_timedwait(sem_t *semaphore, fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_site site = FV_CALL_SITE();

    if (FV_UNLIKELY(!s || !fv_limit_is_valid(CLOCK_REALTIME, until)))
        return FV_NEXT(sem_timedwait)(semaphore, until);
    pthread_testcancel();
    if (try_semaphore(semaphore)) {
        fv_sync_counted(s, semaphore, FV_SYNC_SEM, FV_SYNC_TIMED, site);
        return 0;
    }
    struct fv_sync_wait w = fv_sync_wait_begin(s, semaphore, FV_SYNC_SEM, FV_SYNC_TIMED, site);
    int result = fv_next.sem_timedwait(semaphore, until);
    fv_sync_wait_end(&w, result ? FV_SYNC_FAILED : FV_SYNC_GOT);
    return result;
}

FV_PUBLIC int sem_clockwait(sem_t *semaphore, clockid_t clock, fv_limit *until)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_site site = FV_CALL_SITE();

    if (FV_UNLIKELY(!s || !fv_limit_is_valid(clock, until)))
        return FV_NEXT(sem_clockwait)(semaphore, clock, until);
    pthread_testcancel();
    if (try_semaphore(semaphore)) {
        fv_sync_counted(s, semaphore, FV_SYNC_SEM, FV_SYNC_TIMED, site);
        return 0;
    }
    struct fv_sync_wait w = fv_sync_wait_begin(s, semaphore, FV_SYNC_SEM, FV_SYNC_TIMED, site);
    int result = fv_next.sem_clockwait(semaphore, clock, until);
    fv_sync_wait_end(&w, result ? FV_SYNC_FAILED : FV_SYNC_GOT);
    return result;
}

/* Signal handlers may post: a thread is not begun to be recorded by that, and inside of MPI, whose calls take
 * fvmpi's own locks, only what is known is counted. */
FV_PUBLIC int sem_post(sem_t *semaphore)
{
    struct fv_sync *s = fv_sync_current;

    if (FV_LIKELY(s && fv_current))
        fv_sync_counted(s, semaphore, FV_SYNC_SEM, FV_SYNC_POST, FV_CALL_SITE());
    else
        fv_sync_missed();
    return FV_NEXT(sem_post)(semaphore);
}

FV_PUBLIC int sem_init(sem_t *semaphore, int shared, unsigned value)
{
    fv_sync_retire(semaphore, FV_SYNC_SEM);
    return FV_NEXT(sem_init)(semaphore, shared, value);
}

FV_PUBLIC int sem_destroy(sem_t *semaphore)
{
    int result = FV_NEXT(sem_destroy)(semaphore);

    if (!result)
        fv_sync_retire(semaphore, FV_SYNC_SEM);
    return result;
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

static struct once once_begin(struct fv_sync *s, const void *control, void (*routine)(void),
                              struct fv_site site)
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

/* ---- C11's ---- */

#if FV_HAVE_C11
FV_PUBLIC int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(cnd_wait)(cond, mutex);
    struct cond_wait w = cond_begin(s, cond, mutex, FV_SYNC_WAIT, FV_CALL_SITE());
    int err = fv_next.cnd_wait(cond, mutex);
    cond_end(&w, err != thrd_success);
    return err;
}

FV_PUBLIC int cnd_timedwait(cnd_t *restrict cond, mtx_t *restrict mutex, fv_limit *restrict until)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s))
        return FV_NEXT(cnd_timedwait)(cond, mutex, until);
    struct cond_wait w = cond_begin(s, cond, mutex, FV_SYNC_TIMED, FV_CALL_SITE());
    int err = fv_next.cnd_timedwait(cond, mutex, until);
    cond_end(&w, err != thrd_success);
    return err;
}

FV_PUBLIC int cnd_signal(cnd_t *cond)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_LIKELY(s != NULL))
        fv_sync_counted(s, cond, FV_SYNC_COND, FV_SYNC_SIGNAL, FV_CALL_SITE());
    return FV_NEXT(cnd_signal)(cond);
}

FV_PUBLIC int cnd_broadcast(cnd_t *cond)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_LIKELY(s != NULL))
        fv_sync_counted(s, cond, FV_SYNC_COND, FV_SYNC_BROADCAST, FV_CALL_SITE());
    return FV_NEXT(cnd_broadcast)(cond);
}

FV_PUBLIC int cnd_init(cnd_t *cond)
{
    fv_sync_retire(cond, FV_SYNC_COND);
    return FV_NEXT(cnd_init)(cond);
}

FV_PUBLIC void cnd_destroy(cnd_t *cond)
{
    FV_NEXT(cnd_destroy)(cond);
    fv_sync_retire(cond, FV_SYNC_COND);
}

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
