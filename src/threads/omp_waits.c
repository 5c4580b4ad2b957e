/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads of OpenMP wait inside a region: barriers, also those that end loops, sections and singles;
 * turns (ordered, doacross), tasks, criticals, locks. Each barrier of a team is one object, named by the
 * region's function; a critical by its variable, the nameless one by libgomp's function.
 *
 * Locks are tried first. Criticals have no try: we count who is inside, and who has left. What may wait or not, and
 * cannot be asked, has waited if it took a microsecond. Nobody waits at a barrier alone.
 */
#include "threads/omp_work.h"
#include "threads/solo.h"

#include <stdarg.h>

uint64_t fv_omp_microsecond(void)
{
    const uint64_t hz = fv_rt.writer.header->nominal_hz;

    return (hz ? hz : 2500000000u) >> 20;
}

/* The thread is in one of GCC's functions, which LLVM's runtime makes of its own. */
static FV_TLS bool in_gccs;

/* ---- barriers and the like ---- */

/* The forking thread, which notes it in the team, may not have begun yet. */
static unsigned team_size(const struct fv_omp_team *team)
{
    int size = team->next ? team->next->omp_get_num_threads() : (int)__atomic_load_n(&team->size, __ATOMIC_RELAXED);

    return size > 0 ? (unsigned)size : 1;
}

/* The thread is the `arrivals`-th to come, by any barrier: is it the last of its team? Of a team with tasks
 * nobody knows: they are run there. */
static bool is_last_of(struct fv_omp_team *team, uint64_t arrivals, const struct fv_sync *s)
{
    bool is_known = !__atomic_load_n(&team->tasks, __ATOMIC_RELAXED);

    if (arrivals % team_size(team))
        return false;
    __atomic_store_n(&team->last, is_known ? s->thread->id + 1 : 0, __ATOMIC_RELAXED);
    return is_known;
}

bool (*fv_omp_told_alone)(void);

/* Of a thread of no team that is recorded: it may be one of many all the same. */
static bool is_alone(struct fv_call_place site)
{
    if (__atomic_load_n(&fv_omp_is_told, __ATOMIC_RELAXED))
        return fv_omp_told_alone();
    return fv_omp_next(site.return_address)->omp_get_num_threads() == 1;
}

static uint64_t arrive(struct fv_omp_team *team)
{
    return __atomic_add_fetch(&team->arrivals, 1, __ATOMIC_RELAXED);
}

static struct fv_sync_wait wait_begin(struct fv_sync *s, const struct fv_omp_member *m, struct fv_call_place site)
{
    const void *object = m ? (const void *)(uintptr_t)m->team->body : (const void *)FV_SYNC_NOBODY;

    return fv_sync_wait_begin(s, object, FV_SYNC_OMP, FV_SYNC_WAIT, site);
}

extern const char __start_fv_unseen[] __attribute__((visibility("hidden")));
extern const char __stop_fv_unseen[] __attribute__((visibility("hidden")));

/* What ends a region's function, by a jump, returns to us: then the function is the call site. */
static struct fv_call_place site_in(const struct fv_omp_member *m, struct fv_call_place site)
{
    const char *at = site.return_address;

    if (m && FV_UNLIKELY(at >= __start_fv_unseen && at < __stop_fv_unseen))
        site.return_address = (const char *)(uintptr_t)m->team->body + 1;
    return site;
}

struct fv_omp_scope fv_omp_scope_begin(struct fv_call_place site, bool is_barrier)
{
    struct fv_omp_scope scope = { .is_last = false };
    struct fv_sync *s = fv_sync_enter();
    struct fv_omp_member *m = fv_omp_member();

    if (!s)
        return scope;
    site = site_in(m, site);
    scope.team = is_barrier && m ? m->team : NULL;
    if (scope.team && FV_UNLIKELY(scope.team->solo))
        fv_gate_arrive(0);
    if (scope.team)
        scope.is_last = is_last_of(scope.team, arrive(scope.team), s);
    else if (is_barrier)
        scope.is_last = is_alone(site);
    scope.worked = fv_omp_worked;
    fv_omp_worked = 0;
    scope.wait = wait_begin(s, m, site);
    return scope;
}

void fv_omp_scope_end(struct fv_omp_scope *scope)
{
    if (!scope->wait.s)
        return;
    scope->wait.begin += fv_omp_worked;
    scope->wait.owner = scope->team ? __atomic_load_n(&scope->team->last, __ATOMIC_RELAXED) : 0;
    fv_omp_worked = scope->worked;
    fv_sync_wait_end(&scope->wait, scope->is_last ? FV_SYNC_LAST : FV_SYNC_GOT);
    if (scope->team && FV_UNLIKELY(scope->team->solo))
        fv_gate_leave();
}

void fv_omp_scope_end_perhaps(struct fv_omp_scope *scope)
{
    const struct fv_sync_wait *w = &scope->wait;

    if (w->s && __atomic_load_n(&fv_sync_mode, __ATOMIC_RELAXED) &&
        fv_ticks() < w->begin + fv_omp_worked + fv_omp_microsecond()) {
        __atomic_store_n(&w->s->state->wait_begin, 0, __ATOMIC_RELEASE);
        w->record->acquired++;
        fv_omp_worked = scope->worked;
    } else {
        fv_omp_scope_end(scope);
    }
}

void fv_omp_has_waited(struct fv_sync *s, uint64_t begin, struct fv_call_place site)
{
    if (fv_ticks() < begin + fv_omp_worked + fv_omp_microsecond())
        return;
    struct fv_sync_wait w = wait_begin(s, fv_omp_member(), site);
    w.begin = begin + fv_omp_worked;
    w.owner = 0;
    fv_sync_wait_end(&w, FV_SYNC_GOT);
}

/* `work`: the construct that ends there, enum fv_omp_work_kind; 0: none. */
#define WAIT(function, work)                                                  \
    FV_PUBLIC void function(void)                                             \
    {                                                                         \
        if (work)                                                             \
            fv_omp_work_end(work);                                            \
        struct fv_omp_scope scope = fv_omp_scope_begin(FV_CALL_SITE(), true); \
                                                                              \
        FV_OMP_NEXT()->function();                                            \
        fv_omp_scope_end(&scope);                                             \
    }
#define WAIT_ANSWER(function, work)                                           \
    FV_PUBLIC bool function(void)                                             \
    {                                                                         \
        if (work)                                                             \
            fv_omp_work_end(work);                                            \
        struct fv_omp_scope scope = fv_omp_scope_begin(FV_CALL_SITE(), true); \
        bool answer = FV_OMP_NEXT()->function();                              \
                                                                              \
        fv_omp_scope_end(&scope);                                             \
        return answer;                                                        \
    }
#define PERHAPS(function)                                                      \
    FV_PUBLIC void function(void)                                              \
    {                                                                          \
        struct fv_omp_scope scope = fv_omp_scope_begin(FV_CALL_SITE(), false); \
                                                                               \
        FV_OMP_NEXT()->function();                                             \
        fv_omp_scope_end_perhaps(&scope);                                      \
    }

WAIT(GOMP_barrier, 0)
WAIT_ANSWER(GOMP_barrier_cancel, 0)
WAIT(GOMP_loop_end, FV_OMP_WORK_LOOP)
WAIT_ANSWER(GOMP_loop_end_cancel, FV_OMP_WORK_LOOP)
WAIT(GOMP_sections_end, FV_OMP_WORK_SECTIONS)
WAIT_ANSWER(GOMP_sections_end_cancel, FV_OMP_WORK_SECTIONS)
PERHAPS(GOMP_ordered_start)
PERHAPS(GOMP_taskwait)
PERHAPS(GOMP_taskgroup_end)

FV_PUBLIC void GOMP_taskwait_depend(void **depend)
{
    struct fv_omp_scope scope = fv_omp_scope_begin(FV_CALL_SITE(), false);

    FV_OMP_NEXT()->GOMP_taskwait_depend(depend);
    fv_omp_scope_end_perhaps(&scope);
}

/* ---- turns that are waited for out of sight: of an iteration that had nothing ordered; doacross ---- */

#define ORDERED_NEXT(function, type)                                           \
    FV_PUBLIC bool function(type *start, type *stop)                           \
    {                                                                          \
        struct fv_omp_scope scope = fv_omp_scope_begin(FV_CALL_SITE(), false); \
        bool more = FV_OMP_NEXT()->function(start, stop);                      \
                                                                               \
        fv_omp_scope_end_perhaps(&scope);                                      \
        return more;                                                           \
    }

ORDERED_NEXT(GOMP_loop_ordered_static_next, long)
ORDERED_NEXT(GOMP_loop_ordered_dynamic_next, long)
ORDERED_NEXT(GOMP_loop_ordered_guided_next, long)
ORDERED_NEXT(GOMP_loop_ordered_runtime_next, long)
ORDERED_NEXT(GOMP_loop_ull_ordered_static_next, unsigned long long)
ORDERED_NEXT(GOMP_loop_ull_ordered_dynamic_next, unsigned long long)
ORDERED_NEXT(GOMP_loop_ull_ordered_guided_next, unsigned long long)
ORDERED_NEXT(GOMP_loop_ull_ordered_runtime_next, unsigned long long)

/* An argument for each loop of the nest; how many, only libgomp knows. Those that it does not look at are
 * whatever stands there. */
#define LOOPS_4(X, i) X[i], X[i + 1], X[i + 2], X[i + 3]
#define LOOPS_24(X)   LOOPS_4(X, 0), LOOPS_4(X, 4), LOOPS_4(X, 8), LOOPS_4(X, 12), LOOPS_4(X, 16), LOOPS_4(X, 20)
#define DOACROSS_WAIT(function, type)                                          \
    FV_PUBLIC void function(type first, ...)                                   \
    {                                                                          \
        struct fv_omp_scope scope = fv_omp_scope_begin(FV_CALL_SITE(), false); \
        type rest[24];                                                         \
        va_list list;                                                          \
                                                                               \
        va_start(list, first);                                                 \
        for (unsigned i = 0; i < sizeof(rest) / sizeof(*rest); i++)            \
            rest[i] = va_arg(list, type);                                      \
        va_end(list);                                                          \
        in_gccs = true;                                                        \
        FV_OMP_NEXT()->function(first, LOOPS_24(rest));                        \
        in_gccs = false;                                                       \
        fv_omp_scope_end_perhaps(&scope);                                      \
    }

DOACROSS_WAIT(GOMP_doacross_wait, long)
DOACROSS_WAIT(GOMP_doacross_ull_wait, unsigned long long)

/* Of LLVM's, which tells OMPT of no such wait. */
FV_PUBLIC void __kmpc_doacross_wait(void *place, int thread, const int64_t *turn)
{
    struct fv_omp_scope scope = { 0 };

    if (!in_gccs)
        scope = fv_omp_scope_begin(FV_CALL_SITE(), false);
    FV_OMP_NEXT_KMPC()->__kmpc_doacross_wait(place, thread, turn);
    if (!in_gccs)
        fv_omp_scope_end_perhaps(&scope);
}

/* ---- singles whose result all get, reductions over tasks ---- */

/* Who is told to do the single does not wait here, but in GOMP_single_copy_end(), at the same barrier. */
FV_PUBLIC void *GOMP_single_copy_start(void)
{
    struct fv_call_place site = FV_CALL_SITE();
    uint64_t before = fv_ticks(), worked = fv_omp_worked, tasks;
    const struct fv_omp_member *m = fv_omp_member();
    const struct fv_sync *s = fv_sync_enter();

    if (s && m)
        is_last_of(m->team, arrive(m->team), s);
    fv_omp_worked = 0;
    void *answer = FV_OMP_NEXT()->GOMP_single_copy_start();
    tasks = fv_omp_worked;
    fv_omp_worked = worked;
    if (!answer) {
        fv_omp_work_begin(FV_OMP_WORK_SINGLE, site);
        return answer;
    }
    fv_omp_work_met(FV_OMP_WORK_SINGLE, false, site);
    struct fv_omp_scope scope = fv_omp_scope_begin(site, false);
    scope.team = m ? m->team : NULL;
    scope.wait.begin = before + tasks;
    fv_omp_scope_end(&scope);
    return answer;
}

FV_PUBLIC void GOMP_single_copy_end(void *data)
{
    fv_omp_work_end(FV_OMP_WORK_SINGLE);
    const struct fv_omp_member *m = fv_omp_member();

    if (m && FV_UNLIKELY(m->team->solo))
        fv_gate_arrive(0);
    struct fv_call_place site = FV_CALL_SITE();
    struct fv_omp_scope scope = fv_omp_scope_begin(site, false);

    if (scope.wait.s && !m) {
        scope.is_last = is_alone(site);
    } else if (scope.wait.s) {
        scope.team = m->team;
        scope.is_last = is_last_of(m->team, __atomic_load_n(&m->team->arrivals, __ATOMIC_RELAXED), scope.wait.s);
    }
    FV_OMP_NEXT()->GOMP_single_copy_end(data);
    fv_omp_scope_end(&scope);
}

/* Of a construct that was cancelled there is no barrier. */
FV_PUBLIC void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    struct fv_omp_scope scope =
        cancelled ? (struct fv_omp_scope){ .is_last = false } : fv_omp_scope_begin(FV_CALL_SITE(), true);

    FV_OMP_NEXT()->GOMP_workshare_task_reduction_unregister(cancelled);
    fv_omp_scope_end(&scope);
}

/* ---- criticals ---- */

#define INSIDE 1024
#define LEFT   (UINT64_C(1) << 32)
/* By a hash of the critical: two may share one. */
static struct inside {
    uint64_t threads __attribute__((aligned(64))); /* that came and did not leave; LEFT times those that left */
    const void *critical;                          /* the first one's */
} inside[INSIDE];

static struct inside *inside_of(const void *critical)
{
    return &inside[fv_mix((uintptr_t)critical) % INSIDE];
}

/* s NULL: not recorded. */
struct entry {
    struct fv_sync *s;
    struct fv_sync_wait wait;
    const void *critical;
    struct fv_call_place site;
    uint64_t begin;
    uint32_t left; /* how many threads had */
    bool waits;
};

static struct entry critical_begin(const void *critical, struct fv_call_place site)
{
    struct entry e = { .s = fv_sync_enter(), .critical = critical, .site = site };
    struct inside *in = inside_of(critical);
    uint64_t before = __atomic_fetch_add(&in->threads, 1, __ATOMIC_RELAXED);
    bool is_first = !(uint32_t)before;

    if (is_first)
        __atomic_store_n(&in->critical, critical, __ATOMIC_RELAXED);
    e.left = (uint32_t)(before / LEFT);
    e.waits = e.s && !is_first && __atomic_load_n(&in->critical, __ATOMIC_RELAXED) == critical;
    if (FV_UNLIKELY(e.waits))
        e.wait = fv_sync_wait_begin(e.s, critical, FV_SYNC_OMP, FV_SYNC_LOCK, site);
    else if (e.s)
        e.begin = fv_ticks();
    return e;
}

/* The first to come may be overtaken; or another critical's counter is this one's, too. If nobody has left since then,
 * it was kept from going on, but not by a thread inside. */
static FV_COLD void took_long(const struct entry *e)
{
    uint64_t now = __atomic_load_n(&inside_of(e->critical)->threads, __ATOMIC_RELAXED);

    if ((uint32_t)(now / LEFT) == e->left) {
        fv_sync_acquired(e->s, e->critical, FV_SYNC_OMP, FV_SYNC_LOCK, e->site);
        return;
    }
    struct fv_sync_wait w = fv_sync_wait_begin(e->s, e->critical, FV_SYNC_OMP, FV_SYNC_LOCK, e->site);
    w.begin = e->begin;
    fv_sync_wait_end(&w, FV_SYNC_GOT_LOCK);
}

static void critical_got(const struct entry *e)
{
    if (FV_UNLIKELY(!e->s))
        return;
    if (FV_UNLIKELY(e->waits))
        fv_sync_wait_end(&e->wait, FV_SYNC_GOT_LOCK);
    else if (FV_UNLIKELY(fv_ticks() - e->begin > fv_omp_microsecond()))
        took_long(e);
    else
        fv_sync_acquired(e->s, e->critical, FV_SYNC_OMP, FV_SYNC_LOCK, e->site);
}

static uint64_t critical_leaving(const void *critical)
{
    __atomic_fetch_add(&inside_of(critical)->threads, LEFT - 1, __ATOMIC_RELAXED);
    return fv_sync_releasing();
}

#define CRITICAL(start, stop)                                                                  \
    FV_PUBLIC void start(void)                                                                 \
    {                                                                                          \
        const struct fv_omp_next *next = FV_OMP_NEXT();                                        \
        struct entry e = critical_begin((const void *)(uintptr_t)next->start, FV_CALL_SITE()); \
                                                                                               \
        in_gccs = true;                                                                        \
        next->start();                                                                         \
        in_gccs = false;                                                                       \
        critical_got(&e);                                                                      \
    }                                                                                          \
    FV_PUBLIC void stop(void)                                                                  \
    {                                                                                          \
        const struct fv_omp_next *next = FV_OMP_NEXT();                                        \
        const void *critical = (const void *)(uintptr_t)next->start;                           \
        uint64_t now = critical_leaving(critical);                                             \
                                                                                               \
        in_gccs = true;                                                                        \
        next->stop();                                                                          \
        in_gccs = false;                                                                       \
        fv_sync_released(critical, now);                                                       \
    }

CRITICAL(GOMP_critical_start, GOMP_critical_end)
CRITICAL(GOMP_atomic_start, GOMP_atomic_end)

FV_PUBLIC void GOMP_critical_name_start(void **name)
{
    struct entry e = critical_begin(name, FV_CALL_SITE());

    in_gccs = true;
    FV_OMP_NEXT()->GOMP_critical_name_start(name);
    in_gccs = false;
    critical_got(&e);
}

FV_PUBLIC void GOMP_critical_name_end(void **name)
{
    uint64_t now = critical_leaving(name);

    in_gccs = true;
    FV_OMP_NEXT()->GOMP_critical_name_end(name);
    in_gccs = false;
    fv_sync_released(name, now);
}

/* Of LLVM's, with the place in the source, the thread's number, and the critical's variable. */

#define CRITICAL_OF_LLVM(function, parameters, ...)            \
    FV_PUBLIC void function parameters                         \
    {                                                          \
        const struct fv_omp_next *next = FV_OMP_NEXT_KMPC();   \
                                                               \
        if (in_gccs) {                                         \
            next->function(__VA_ARGS__);                       \
            return;                                            \
        }                                                      \
        struct entry e = critical_begin(name, FV_CALL_SITE()); \
        next->function(__VA_ARGS__);                           \
        critical_got(&e);                                      \
    }

CRITICAL_OF_LLVM(__kmpc_critical, (void *place, int thread, void *name), place, thread, name)
CRITICAL_OF_LLVM(__kmpc_critical_with_hint, (void *place, int thread, void *name, uint32_t hint), place, thread, name,
                 hint)

FV_PUBLIC void __kmpc_end_critical(void *place, int thread, void *name)
{
    uint64_t now = in_gccs ? 0 : critical_leaving(name);

    FV_OMP_NEXT_KMPC()->__kmpc_end_critical(place, thread, name);
    if (!in_gccs)
        fv_sync_released(name, now);
}

/* ---- locks: of C and, with an underscore, of Fortran ---- */

typedef void lock_function(void *);
typedef int test_function(void *);

static inline void set(lock_function *next_set, test_function *next_test, void *lock, struct fv_call_place site)
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

static inline int test(test_function *next_test, void *lock, struct fv_call_place site)
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

#define LOCKS(name)                                                             \
    FV_PUBLIC void omp_set_##name(void *lock)                                   \
    {                                                                           \
        const struct fv_omp_next *next = FV_OMP_NEXT();                         \
                                                                                \
        set(next->omp_set_##name, next->omp_test_##name, lock, FV_CALL_SITE()); \
    }                                                                           \
    FV_PUBLIC int omp_test_##name(void *lock)                                   \
    {                                                                           \
        return test(FV_OMP_NEXT()->omp_test_##name, lock, FV_CALL_SITE());      \
    }                                                                           \
    FV_PUBLIC void omp_unset_##name(void *lock)                                 \
    {                                                                           \
        unset(FV_OMP_NEXT()->omp_unset_##name, lock);                           \
    }                                                                           \
    FV_PUBLIC void omp_init_##name(void *lock)                                  \
    {                                                                           \
        fv_sync_retire(lock, FV_SYNC_OMP);                                      \
        FV_OMP_NEXT()->omp_init_##name(lock);                                   \
    }                                                                           \
    FV_PUBLIC void omp_destroy_##name(void *lock)                               \
    {                                                                           \
        fv_sync_retire(lock, FV_SYNC_OMP);                                      \
        FV_OMP_NEXT()->omp_destroy_##name(lock);                                \
    }

LOCKS(lock)
LOCKS(lock_)
LOCKS(nest_lock)
LOCKS(nest_lock_)
