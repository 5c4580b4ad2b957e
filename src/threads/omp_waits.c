/* Where threads of OpenMP wait inside a region: barriers, also those that end loops, sections and singles;
 * turns, tasks, criticals, locks. Each barrier of a team is one object, named by the region's function; a
 * critical by its variable, the nameless one by libgomp's function.
 *
 * Locks are tried first. Criticals have no try: we count who is inside, and read the clock only if somebody
 * is.
 */
#include "threads/omp.h"

/* ---- barriers and the like ---- */

struct scope {
    struct fv_sync_wait wait; /* s NULL: not recorded */
    uint64_t worked;
    bool is_last;
};

/* The forking thread, which notes it in the team, may not have begun yet. */
static unsigned team_size(const struct fv_omp_member *m)
{
    int size = m->team->next->omp_get_num_threads();

    return size > 0 ? (unsigned)size : 1;
}

static struct scope begin(struct fv_site site, bool is_barrier)
{
    struct scope scope = { .is_last = false };
    struct fv_sync *s = fv_sync_enter();
    struct fv_omp_member *m = fv_omp_current;

    if (!s)
        return scope;
    if (is_barrier && m)
        scope.is_last = __atomic_add_fetch(&m->team->arrivals, 1, __ATOMIC_RELAXED) % team_size(m) == 0 &&
                        !__atomic_load_n(&m->team->tasks, __ATOMIC_RELAXED);
    const void *object = m ? (const void *)(uintptr_t)m->team->body : (const void *)FV_SYNC_NOBODY;
    scope.worked = fv_omp_worked;
    fv_omp_worked = 0;
    scope.wait = fv_sync_wait_begin(s, object, FV_SYNC_OMP, FV_SYNC_WAIT, site);
    return scope;
}

static void end(struct scope *scope)
{
    if (!scope->wait.s)
        return;
    scope->wait.begin += fv_omp_worked;
    fv_omp_worked = scope->worked;
    fv_sync_wait_end(&scope->wait, scope->is_last ? FV_SYNC_LAST : FV_SYNC_GOT);
}

#define WAIT(function, is_barrier)                                                                           \
    FV_PUBLIC void function(void)                                                                            \
    {                                                                                                        \
        struct scope scope = begin(FV_CALL_SITE(), is_barrier);                                              \
                                                                                                             \
        FV_OMP_NEXT()->function();                                                                           \
        end(&scope);                                                                                         \
    }
#define WAIT_ANSWER(function, result)                                                                        \
    FV_PUBLIC result function(void)                                                                          \
    {                                                                                                        \
        struct scope scope = begin(FV_CALL_SITE(), true);                                                    \
        result answer = FV_OMP_NEXT()->function();                                                           \
                                                                                                             \
        end(&scope);                                                                                         \
        return answer;                                                                                       \
    }
#define WAIT_ARGUMENT(function, is_barrier, type)                                                            \
    FV_PUBLIC void function(type argument)                                                                   \
    {                                                                                                        \
        struct scope scope = begin(FV_CALL_SITE(), is_barrier);                                              \
                                                                                                             \
        FV_OMP_NEXT()->function(argument);                                                                   \
        end(&scope);                                                                                         \
    }

WAIT(GOMP_barrier, true)
WAIT_ANSWER(GOMP_barrier_cancel, bool)
WAIT(GOMP_loop_end, true)
WAIT_ANSWER(GOMP_loop_end_cancel, bool)
WAIT(GOMP_sections_end, true)
WAIT_ANSWER(GOMP_sections_end_cancel, bool)
WAIT_ARGUMENT(GOMP_single_copy_end, true, void *)
WAIT(GOMP_ordered_start, false)
WAIT(GOMP_taskwait, false)
WAIT_ARGUMENT(GOMP_taskwait_depend, false, void **)
WAIT(GOMP_taskgroup_end, false)

/* Who is told to do the single does not wait, but in GOMP_single_copy_end(). */
FV_PUBLIC void *GOMP_single_copy_start(void)
{
    struct fv_site site = FV_CALL_SITE();
    uint64_t before = fv_ticks();
    void *answer = FV_OMP_NEXT()->GOMP_single_copy_start();

    if (!answer)
        return answer;
    struct scope scope = begin(site, true);
    if (scope.wait.s)
        scope.wait.begin = before;
    scope.is_last = false;
    end(&scope);
    return answer;
}

/* Of a construct that was cancelled there is no barrier. */
FV_PUBLIC void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    struct scope scope = cancelled ? (struct scope){ .is_last = false } : begin(FV_CALL_SITE(), true);

    FV_OMP_NEXT()->GOMP_workshare_task_reduction_unregister(cancelled);
    end(&scope);
}

/* ---- criticals ---- */

#define INSIDE 1024
/* Threads that came, by a hash of the critical: two may share a counter. */
static struct {
    int32_t count __attribute__((aligned(64)));
} inside[INSIDE];

static int32_t *inside_of(const void *critical)
{
    return &inside[fv_mix((uintptr_t)critical) % INSIDE].count;
}

/* s NULL: not recorded. */
struct entry {
    struct fv_sync *s;
    struct fv_sync_wait wait;
    const void *critical;
    struct fv_site site;
    uint64_t begin;
    bool waits;
};

static struct entry critical_begin(const void *critical, struct fv_site site)
{
    struct entry e = { .s = fv_sync_enter(), .critical = critical, .site = site };
    bool is_first = !__atomic_fetch_add(inside_of(critical), 1, __ATOMIC_RELAXED);

    e.waits = e.s && !is_first;
    if (FV_UNLIKELY(e.waits))
        e.wait = fv_sync_wait_begin(e.s, critical, FV_SYNC_OMP, FV_SYNC_LOCK, site);
    else if (e.s)
        e.begin = fv_ticks();
    return e;
}

/* The first to come may be overtaken. */
static FV_COLD void waited_after_all(const struct entry *e)
{
    struct fv_sync_wait w = fv_sync_wait_begin(e->s, e->critical, FV_SYNC_OMP, FV_SYNC_LOCK, e->site);

    w.begin = e->begin;
    fv_sync_wait_end(&w, FV_SYNC_GOT_LOCK);
}

static void critical_got(const struct entry *e)
{
    if (FV_UNLIKELY(!e->s))
        return;
    const uint64_t hz = fv_rt.writer.header->nominal_hz, microsecond = (hz ? hz : 2500000000u) >> 20;

    if (FV_UNLIKELY(e->waits))
        fv_sync_wait_end(&e->wait, FV_SYNC_GOT_LOCK);
    else if (FV_UNLIKELY(fv_ticks() - e->begin > microsecond))
        waited_after_all(e);
    else
        fv_sync_acquired(e->s, e->critical, FV_SYNC_OMP, FV_SYNC_LOCK, e->site);
}

static uint64_t critical_leaving(const void *critical)
{
    __atomic_fetch_sub(inside_of(critical), 1, __ATOMIC_RELAXED);
    return fv_sync_releasing();
}

#define CRITICAL(start, stop)                                                                                \
    FV_PUBLIC void start(void)                                                                               \
    {                                                                                                        \
        const struct fv_omp_next *next = FV_OMP_NEXT();                                                      \
        struct entry e = critical_begin((const void *)(uintptr_t)next->start, FV_CALL_SITE());               \
                                                                                                             \
        next->start();                                                                                       \
        critical_got(&e);                                                                                    \
    }                                                                                                        \
    FV_PUBLIC void stop(void)                                                                                \
    {                                                                                                        \
        const struct fv_omp_next *next = FV_OMP_NEXT();                                                      \
        const void *critical = (const void *)(uintptr_t)next->start;                                         \
        uint64_t now = critical_leaving(critical);                                                           \
                                                                                                             \
        next->stop();                                                                                        \
        fv_sync_released(critical, now);                                                                     \
    }

CRITICAL(GOMP_critical_start, GOMP_critical_end)
CRITICAL(GOMP_atomic_start, GOMP_atomic_end)

FV_PUBLIC void GOMP_critical_name_start(void **name)
{
    struct entry e = critical_begin(name, FV_CALL_SITE());

    FV_OMP_NEXT()->GOMP_critical_name_start(name);
    critical_got(&e);
}

FV_PUBLIC void GOMP_critical_name_end(void **name)
{
    uint64_t now = critical_leaving(name);

    FV_OMP_NEXT()->GOMP_critical_name_end(name);
    fv_sync_released(name, now);
}

/* ---- locks: of C and, with an underscore, of Fortran ---- */

typedef void lock_function(void *);
typedef int test_function(void *);

static inline void set(lock_function *next_set, test_function *next_test, void *lock, struct fv_site site)
{
    struct fv_sync *s = fv_sync_enter();

    if (FV_UNLIKELY(!s)) {
        next_set(lock);
    } else if (FV_LIKELY(next_test(lock))) {
        fv_sync_acquired(s, lock, FV_SYNC_OMP, FV_SYNC_LOCK, site);
    } else {
        struct fv_sync_wait w = fv_sync_wait_begin(s, lock, FV_SYNC_OMP, FV_SYNC_LOCK, site);

        next_set(lock);
        fv_sync_wait_end(&w, FV_SYNC_GOT_LOCK);
    }
}

static inline int test(test_function *next_test, void *lock, struct fv_site site)
{
    struct fv_sync *s = fv_sync_enter();
    int answer = next_test(lock);

    if (s && answer)
        fv_sync_acquired(s, lock, FV_SYNC_OMP, FV_SYNC_TRY, site);
    else if (s)
        fv_sync_refused(s, lock, FV_SYNC_OMP, FV_SYNC_TRY, site);
    return answer;
}

static inline void unset(lock_function *next_unset, void *lock)
{
    uint64_t now = fv_sync_releasing();

    next_unset(lock);
    fv_sync_released(lock, now);
}

#define LOCKS(name)                                                                                          \
    FV_PUBLIC void omp_set_##name(void *lock)                                                                \
    {                                                                                                        \
        const struct fv_omp_next *next = FV_OMP_NEXT();                                                      \
                                                                                                             \
        set(next->omp_set_##name, next->omp_test_##name, lock, FV_CALL_SITE());                              \
    }                                                                                                        \
    FV_PUBLIC int omp_test_##name(void *lock)                                                                \
    {                                                                                                        \
        return test(FV_OMP_NEXT()->omp_test_##name, lock, FV_CALL_SITE());                                   \
    }                                                                                                        \
    FV_PUBLIC void omp_unset_##name(void *lock)                                                              \
    {                                                                                                        \
        unset(FV_OMP_NEXT()->omp_unset_##name, lock);                                                        \
    }                                                                                                        \
    FV_PUBLIC void omp_init_##name(void *lock)                                                               \
    {                                                                                                        \
        fv_sync_retire(lock, FV_SYNC_OMP);                                                                   \
        FV_OMP_NEXT()->omp_init_##name(lock);                                                                \
    }                                                                                                        \
    FV_PUBLIC void omp_destroy_##name(void *lock)                                                            \
    {                                                                                                        \
        fv_sync_retire(lock, FV_SYNC_OMP);                                                                   \
        FV_OMP_NEXT()->omp_destroy_##name(lock);                                                             \
    }

LOCKS(lock)
LOCKS(lock_)
LOCKS(nest_lock)
LOCKS(nest_lock_)
