/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP by OMPT: LLVM's run-time library, and those that stem from it (Intel's, AMD's, NVIDIA's), tell us what
 * omp*.c learn of libgomp by standing in front of it. Same regions, members, waits and tasks (omp.h), so reports,
 * phases, stacks and traces know no difference, but for names: the runtime does not say which function a
 * team runs. So a region is named by the place of its begin; a critical by where it was first entered, if its lock
 * lies on the heap.
 *
 * What is told from inside of our own functions (omp_set_lock(), GOMP_*() of code by GCC that runs in
 * such a library) they record themselves: `from` is in us then.
 *
 * At a region's end a worker is told to wait until the next one begins, or the program ends. That is
 * idleness; the forking thread knows when the region was over. The end of that barrier is nothing here.
 *
 * Conditions and mutexes by which the runtime does all that are not the program's (objects.h).
 *
 * Begins and ends are paired by a stack of what is open in the thread: where recording was paused or began in
 * between, one of them is missing. Rejected: to keep what is open in the runtime's union fv_ompt_data, of which a
 * task has one only, though it waits at several things.
 *
 * Not asked for: when a mutex is released. In LLVM's runtime (14, and later ones) that event of a critical reads the
 * state of thread 0, which is a crash where the first thread has ended or has used no OpenMP. And no data is left with
 * implicit tasks: an assertion in LLVM 14, at taskwait with dependences, takes it for its own.
 *
 * Callbacks come before recording, too: nothing is done then (fv_sync_enter()). */
#include "threads/ompt.h"
#include "base/options.h"
#include "threads/omp_work.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define OPEN_MOST 64

enum open_kind { FORKS, WAITS, ACQUIRES, RUNS };

/* Begun by the thread, and not over. */
struct open {
    enum open_kind kind;
    uint64_t of; /* a task or mutex, or `depth` */
    bool perhaps;
    union {
        struct fv_omp_team *team;
        struct fv_omp_scope scope;
        struct fv_sync_wait mutex;
        struct fv_omp_task task;
    };
};

/* Of a thread: in struct fv_sync. */
struct fv_ompt {
    unsigned depth;
    struct open open[OPEN_MOST];
};

static FV_TLS unsigned depth;        /* regions that the thread has forked, and not joined; also those that are not
                                      * recorded */
static fv_ompt_task_info *task_info; /* NULL: it has none */
static fv_ompt_parallel_info *parallel_info;
static char explicit_task; /* its address marks explicit tasks of which no more is known */

/* ---- places ---- */

static bool is_ours(const void *from)
{
    return from && fv_sync_is_tools((uintptr_t)from);
}

/* The program's call: the stack leads from the callback to it, through the runtime. In a callback only. */
#define SITE(from)                                                          \
    ((struct fv_call_place){ (from) ? (from) : __builtin_return_address(0), \
                             (const uintptr_t *)__builtin_frame_address(0) })

/* What names a region: its call; of a call that ends a region's function by a jump, that region's. */
static fv_omp_body *body_of(const void *from)
{
    const struct fv_omp_member *outer = fv_omp_member();
    union {
        const char *place;
        fv_omp_body *body;
    } of = { .place = from };

    if (outer && (!from || fv_sync_is_runtimes((uintptr_t)from)))
        return outer->team->body;
    of.place -= from != NULL;
    return of.body;
}

/* ---- what is open ---- */

static struct fv_ompt *own(struct fv_sync *s)
{
    if (FV_UNLIKELY(!s->ompt))
        s->ompt = fv_memory_new(sizeof(*s->ompt));
    return s->ompt;
}

/* NULL: no room. */
static struct open *push(struct fv_sync *s, enum open_kind kind, uint64_t of)
{
    struct fv_ompt *o = own(s);

    if (FV_UNLIKELY(!o || o->depth == OPEN_MOST))
        return NULL;
    struct open *open = &o->open[o->depth++];
    open->kind = kind;
    open->of = of;
    return open;
}

/* What was begun inside of it and never ended is forgotten. NULL: its begin was not seen. */
static struct open *pop(enum open_kind kind, uint64_t of)
{
    struct fv_ompt *o = fv_sync_current ? fv_sync_current->ompt : NULL;

    for (unsigned i = o ? o->depth : 0; i-- > 0;)
        if (o->open[i].kind == kind && o->open[i].of == of) {
            o->depth = i;
            return &o->open[i];
        }
    return NULL;
}

static bool is_open(const struct fv_sync *s, enum open_kind kind, uint64_t of)
{
    const struct fv_ompt *o = s->ompt;

    for (unsigned i = o ? o->depth : 0; i-- > 0;)
        if (o->open[i].kind == kind && o->open[i].of == of)
            return true;
    return false;
}

/* Another thread had this memory. */
static void on_thread_begin(int kind, union fv_ompt_data *thread)
{
    struct fv_ompt *o = fv_sync_current ? fv_sync_current->ompt : NULL;

    (void)kind, (void)thread;
    if (o)
        o->depth = 0;
}

/* ---- regions ---- */

static void on_parallel_begin(union fv_ompt_data *task, const struct fv_ompt_frame *frame, union fv_ompt_data *parallel,
                              unsigned threads, int flags, const void *from)
{
    struct fv_sync *s = fv_omp_forks || flags & FV_OMPT_LEAGUE ? NULL : fv_sync_enter();
    struct open *open;

    (void)task, (void)frame;
    depth++;
    fv_omp_forks = false;
    parallel->ptr = NULL;
    open = s ? push(s, FORKS, depth) : NULL;
    if (open)
        parallel->ptr = open->team = fv_omp_fork(s, body_of(from), threads, SITE(from));
}

/* The runtime's `parallel` may be another thread's by now. Of teams of one thread there is no barrier at the end. */
static void on_parallel_end(union fv_ompt_data *parallel, union fv_ompt_data *task, int flags, const void *from)
{
    struct open *open = pop(FORKS, depth);
    struct fv_omp_team *team = open ? open->team : NULL;
    struct fv_omp_member *m = fv_omp_current;

    (void)parallel, (void)task, (void)flags;
    depth -= depth > 0;
    if (!team)
        return;
    if (m && m->team == team && !m->end)
        fv_omp_member_end(m);
    fv_omp_join(team, SITE(from));
}

static void on_implicit_task(int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task, unsigned threads,
                             unsigned number, int flags)
{
    struct fv_omp_team *team = parallel ? parallel->ptr : NULL;

    (void)task;
    if (flags & FV_OMPT_INITIAL || endpoint != FV_OMPT_BEGIN)
        return;
    if (team) {
        __atomic_store_n(&team->size, threads, __ATOMIC_RELAXED);
        if (!number)
            team->level = 1 + (team->outer && team->outer->team->runs ? team->outer->team->level : 0);
        fv_omp_member_begin(team, number, threads);
    } else if (number) {
        fv_omp_current = NULL; /* what it was in before is over */
    }
}

/* ---- waiting in a region ---- */

/* A thread that is in no code of the program waits at its region's end. */
static bool is_at_end(int kind, const void *from, const struct fv_omp_member *m)
{
    struct fv_ompt_frame *frame = NULL;
    int thread;

    if (kind != FV_OMPT_BARRIER_IMPLICIT || m->end)
        return kind == FV_OMPT_BARRIER_PARALLEL || m->end;
    if (task_info && task_info(0, NULL, NULL, &frame, NULL, &thread) == 2 && frame)
        return !frame->exit.ptr;
    return !from;
}

static bool is_barrier(int kind)
{
    return kind <= FV_OMPT_BARRIER_IMPLEMENTATION || kind >= FV_OMPT_BARRIER_WORKSHARE;
}

static void begin_wait(bool is_barrier, const union fv_ompt_data *task, const void *from, struct fv_call_place site)
{
    struct fv_sync *s = is_ours(from) ? NULL : fv_sync_enter();
    struct open *open = s ? push(s, WAITS, (uintptr_t)task) : NULL;

    if (!open)
        return;
    open->perhaps = !is_barrier;
    open->scope = fv_omp_scope_begin(site, is_barrier);
}

static bool is_alone(void)
{
    int size = 0;

    return parallel_info && parallel_info(0, NULL, &size) == 2 && size == 1;
}

/* Of a team that is recorded; GCC's members have said so themselves. */
static void come(struct fv_omp_member *m, const union fv_ompt_data *parallel)
{
    if (!m->end && (!parallel || parallel->ptr == m->team))
        fv_omp_member_end(m);
}

static void end_wait(const union fv_ompt_data *task)
{
    struct open *open = pop(WAITS, (uintptr_t)task);

    if (open && open->perhaps)
        fv_omp_scope_end_perhaps(&open->scope);
    else if (open)
        fv_omp_scope_end(&open->scope);
}

static void on_sync_region(int kind, int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task,
                           const void *from)
{
    struct fv_omp_member *m = is_barrier(kind) ? fv_omp_member() : NULL;

    if (kind == FV_OMPT_REDUCTION || kind == FV_OMPT_TASKGROUP)
        return;
    if (endpoint == FV_OMPT_END)
        end_wait(task);
    else if (endpoint == FV_OMPT_BEGIN && m && is_at_end(kind, from, m))
        come(m, parallel);
    else if (endpoint == FV_OMPT_BEGIN)
        begin_wait(is_barrier(kind), task, from, SITE(from));
}

/* A group of tasks is a region from its begin on; it waits at its end. */
static void on_sync_region_wait(int kind, int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task,
                                const void *from)
{
    (void)parallel;
    if (kind != FV_OMPT_TASKGROUP)
        return;
    if (endpoint == FV_OMPT_BEGIN)
        begin_wait(false, task, from, SITE(from));
    else if (endpoint == FV_OMPT_END)
        end_wait(task);
}

/* ---- ordered; criticals and locks where nothing of ours stands before the runtime (linked statically) ---- */

static void on_mutex_acquire(int kind, unsigned hint, unsigned how, uint64_t mutex, const void *from)
{
    bool is_try = kind == FV_OMPT_TEST_LOCK || kind == FV_OMPT_TEST_NEST_LOCK;
    struct fv_sync *s = is_ours(from) || is_try ? NULL : fv_sync_enter();
    struct open *open = s ? push(s, ACQUIRES, mutex) : NULL;

    (void)hint, (void)how;
    if (open && kind == FV_OMPT_ORDERED)
        open->scope = fv_omp_scope_begin(SITE(from), false);
    else if (open)
        open->mutex = fv_sync_wait_begin(s, (const void *)(uintptr_t)mutex, FV_SYNC_OMP, FV_SYNC_LOCK, SITE(from));
}

/* What did not take a microsecond was no wait. When it is released is not known (see above): it is not held. */
static void got(const struct fv_sync_wait *w)
{
    if (fv_ticks() - w->begin > fv_omp_microsecond()) {
        fv_sync_wait_end(w, FV_SYNC_GOT);
        w->s->traced.got = 0;
        return;
    }
    __atomic_store_n(&w->s->state->wait_begin, 0, __ATOMIC_RELEASE);
    w->record->acquired++;
}

static void on_mutex_acquired(int kind, uint64_t mutex, const void *from)
{
    struct open *open = pop(ACQUIRES, mutex);

    (void)from;
    if (open && kind == FV_OMPT_ORDERED)
        fv_omp_scope_end_perhaps(&open->scope);
    else if (open)
        got(&open->mutex);
}

static void on_lock_init(int kind, unsigned hint, unsigned how, uint64_t mutex, const void *from)
{
    (void)kind, (void)hint, (void)how;
    if (!is_ours(from))
        fv_sync_retire((const void *)(uintptr_t)mutex, FV_SYNC_OMP);
}

static void on_lock_destroy(int kind, uint64_t mutex, const void *from)
{
    (void)kind;
    if (!is_ours(from))
        fv_sync_retire((const void *)(uintptr_t)mutex, FV_SYNC_OMP);
}

/* ---- tasks ---- */

static void on_task_create(union fv_ompt_data *task, const struct fv_ompt_frame *frame, union fv_ompt_data *created,
                           int flags, int depends, const void *from)
{
    struct fv_omp_member *m = fv_omp_member();

    (void)task, (void)frame, (void)depends;
    if (flags & FV_OMPT_TASKWAITS)
        begin_wait(false, created, from, SITE(from)); /* with dependences: for them */
    if (!(flags & FV_OMPT_EXPLICIT) || !created)
        return;
    created->ptr = from ? (void *)(uintptr_t)from : &explicit_task;
    if (m && !(flags & FV_OMPT_UNDEFERRED))
        __atomic_fetch_add(&m->team->tasks, 1, __ATOMIC_RELAXED);
}

/* A task's data is the call that made it. */
static void begin_task(const union fv_ompt_data *task)
{
    struct fv_sync *s = fv_sync_enter();
    struct fv_omp_member *m = fv_omp_member();

    if (!s || is_open(s, RUNS, (uintptr_t)task))
        return;
    struct open *open = push(s, RUNS, (uintptr_t)task);
    if (FV_LIKELY(open != NULL))
        open->task = fv_omp_task_begin(task->ptr);
    else if (m)
        __atomic_fetch_add(&m->team->untimed, 1, __ATOMIC_RELAXED);
}

static void end_task(const union fv_ompt_data *task)
{
    struct open *open = pop(RUNS, (uintptr_t)task);

    if (open)
        fv_omp_task_end(&open->task);
}

/* Who waits in a task and runs another one meanwhile is still in the first; untied ones may be left for the
 * task that waits. */
static void on_task_schedule(union fv_ompt_data *prior, int status, union fv_ompt_data *next)
{
    bool is_explicit = next && next->ptr;

    if (status == FV_OMPT_TASKWAIT_COMPLETE)
        end_wait(prior);
    else if (status == FV_OMPT_COMPLETE || status == FV_OMPT_CANCEL || status == FV_OMPT_DETACH ||
             (status == FV_OMPT_SWITCH && !is_explicit))
        end_task(prior);
    else if ((status == FV_OMPT_SWITCH || status == FV_OMPT_YIELD) && is_explicit)
        begin_task(next);
}

/* ---- worksharing ---- */

static enum fv_omp_work_kind kind_of(int work)
{
    static const uint8_t kinds[] = {
        [FV_OMPT_WORK_SECTIONS] = FV_OMP_WORK_SECTIONS,     [FV_OMPT_WORK_SINGLE] = FV_OMP_WORK_SINGLE,
        [FV_OMPT_WORK_SINGLE_OTHER] = FV_OMP_WORK_SINGLE,   [FV_OMPT_WORK_WORKSHARE] = FV_OMP_WORK_WORKSHARE,
        [FV_OMPT_WORK_DISTRIBUTE] = FV_OMP_WORK_DISTRIBUTE, [FV_OMPT_WORK_TASKLOOP] = FV_OMP_WORK_TASKLOOP,
        [FV_OMPT_WORK_SCOPE] = FV_OMP_WORK_SCOPE,
    };
    bool is_loop = work == FV_OMPT_WORK_LOOP || (work >= FV_OMPT_WORK_LOOP_STATIC && work <= FV_OMPT_WORK_LOOP_OTHER);

    return is_loop                                    ? FV_OMP_WORK_LOOP
           : work > 0 && (size_t)work < sizeof(kinds) ? (enum fv_omp_work_kind)kinds[work]
                                                      : (enum fv_omp_work_kind)0;
}

static void on_work(int work, int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task, uint64_t count,
                    const void *from)
{
    enum fv_omp_work_kind kind = kind_of(work);

    (void)parallel, (void)task, (void)count;
    if (!kind || is_ours(from))
        return;
    if (work == FV_OMPT_WORK_SINGLE_OTHER && endpoint != FV_OMPT_END)
        fv_omp_work_met(kind, false, SITE(from));
    else if (endpoint == FV_OMPT_BEGIN)
        fv_omp_work_begin(kind, SITE(from));
    else if (endpoint == FV_OMPT_END && work != FV_OMPT_WORK_SINGLE_OTHER)
        fv_omp_work_end(kind);
}

/* Told to the thread alone that does it. */
static void on_masked(int endpoint, union fv_ompt_data *parallel, union fv_ompt_data *task, const void *from)
{
    (void)parallel, (void)task;
    if (is_ours(from))
        return;
    if (endpoint == FV_OMPT_BEGIN)
        fv_omp_work_begin(FV_OMP_WORK_MASKED, SITE(from));
    else if (endpoint == FV_OMPT_END)
        fv_omp_work_end(FV_OMP_WORK_MASKED);
}

/* ---- devices ---- */

static void meet_target(int kind, int endpoint, const void *from, struct fv_call_place site)
{
    bool is_region = kind == FV_OMPT_TARGET || kind == FV_OMPT_TARGET_NOWAIT;
    enum fv_omp_work_kind work = is_region ? FV_OMP_WORK_TARGET : FV_OMP_WORK_TARGET_DATA;

    if (kind < FV_OMPT_TARGET || kind > FV_OMPT_TARGET_LAST || is_ours(from))
        return;
    if (endpoint == FV_OMPT_BEGIN)
        fv_omp_work_begin(work, site);
    else if (endpoint == FV_OMPT_END)
        fv_omp_work_end(work);
}

static void on_target(int kind, int endpoint, int device, union fv_ompt_data *task, uint64_t id, const void *from)
{
    (void)device, (void)task, (void)id;
    meet_target(kind, endpoint, from, SITE(from));
}

static void on_target_emi(int kind, int endpoint, int device, union fv_ompt_data *task, union fv_ompt_data *target_task,
                          union fv_ompt_data *target, const void *from)
{
    (void)device, (void)task, (void)target_task, (void)target;
    meet_target(kind, endpoint, from, SITE(from));
}

/* ---- start ---- */

static void ask_for_targets(fv_ompt_set *set)
{
    fv_ompt_on_target_emi *emi = on_target_emi;
    fv_ompt_on_target *plain = on_target;

    if (set(FV_OMPT_ON_TARGET_EMI, (fv_ompt_function *)emi) <= 2)
        set(FV_OMPT_ON_TARGET, (fv_ompt_function *)plain);
}

static int initialize(fv_ompt_lookup *lookup, int device, union fv_ompt_data *tool)
{
    fv_ompt_set *set = (fv_ompt_set *)lookup("ompt_set_callback");

    (void)device, (void)tool;
    if (!set)
        return 0;
    fv_sync_ignore_runtime((uintptr_t)set);
    task_info = (fv_ompt_task_info *)lookup("ompt_get_task_info");
    parallel_info = (fv_ompt_parallel_info *)lookup("ompt_get_parallel_info");
#define SET(event, number, parameters)             \
    {                                              \
        void(*callback) parameters = on_##event;   \
        set(number, (fv_ompt_function *)callback); \
    }
    FV_OMPT_EVENTS(SET)
#undef SET
    ask_for_targets(set);
    fv_omp_told_alone = is_alone;
    fv_omp_is_told = true;
    return 1;
}

static void finalize(union fv_ompt_data *tool)
{
    (void)tool;
    fv_omp_is_told = false;
}

/* Before recording nobody knows whether this process will be recorded. The serial flavour's helpers are not. */
static bool is_wanted(void)
{
    const char *process = fv_env("FVMPI_PROCESS");

    if (fv_rt_on())
        return fv_rt.options.threads;
    return fv_rt_early() && fv_option_is_on("FVMPI_THREADS") && !fv_option_is_on("FVMPI_DISABLE") &&
           (!process || strtol(process, NULL, 10) == (long)getpid());
}

/* The tool that would have been found without us, if we are none. */
FV_PUBLIC struct fv_ompt_tool *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct fv_ompt_tool tool = { .initialize = initialize, .finalize = finalize };

    if (is_wanted())
        return &tool;
    fv_ompt_start *next = (fv_ompt_start *)dlsym(RTLD_NEXT, "ompt_start_tool");
    return next ? next(version, runtime) : NULL;
}
