/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of OpenMP: how long each ran, so that the thread that ran it while it waited did not wait then; and
 * where a thread waits that makes them.
 *
 * libgomp keeps a copy of a task's data, and calls the task's function with it. We let it keep more: behind
 * the data, at a distance that the function which we give it knows by itself, stands the program's function.
 * What cannot be done so is left alone and counted (untimed): data that libgomp writes to, or reads beyond
 * the copy (detach, reductions of taskloops); where a program may cancel, tasks without a copy function,
 * since libgomp drops these only; taskloops of many tasks, whose copies all stand on the stack if libgomp
 * has the thread run them itself; and all where LLVM's runtime does it, which may
 * call without a copy; but that one tells us of them by OMPT (ompt.c). */
#include "threads/omp_work.h"

#include <string.h>

#define ALIGNMENT 64 /* of what is added */

#define TASK_BYTES  512       /* of libgomp's own, and more */
#define STACK_LEAST (1 << 18) /* that a thread has, if its stack is not known */
#define STACK_MOST  (1 << 19) /* that copies may take, where there is much more */

/* libgomp's flags, of all its versions */
enum {
    DEPEND = 1 << 3,
    UP = 1 << 8,
    GRAINSIZE = 1 << 9,
    IF = 1 << 10,
    NOGROUP = 1 << 11,
    REDUCTION = 1 << 12,
    DETACH = 1 << 13
};

/* What the copy is made from. */
struct source {
    fv_omp_body *body;
    fv_omp_copy *copy;
    void *data;
    size_t bytes, distance;
    struct fv_sync *s; /* who makes the task; NULL: its waiting is not asked for */
    uint64_t begin;    /* that waits since then */
    struct fv_call_place site;
};

static struct fv_omp_wait stop_waiting(void)
{
    struct fv_sync_thread *state = fv_sync_current ? fv_sync_current->state : NULL;

    if (!state || !state->wait_begin)
        return (struct fv_omp_wait){ .state = NULL };
    __atomic_store_n(&state->wait_begin, 0, __ATOMIC_RELEASE);
    return (struct fv_omp_wait){ state, state->wait_object, state->wait_path, state->wait_kind, state->wait_operation };
}

static void wait_again(const struct fv_omp_wait *w, uint64_t now)
{
    if (!w->state)
        return;
    w->state->wait_object = w->object;
    w->state->wait_path = w->path;
    w->state->wait_kind = w->kind;
    w->state->wait_operation = w->operation;
    __atomic_store_n(&w->state->wait_begin, now, __ATOMIC_RELEASE);
}

struct fv_omp_task fv_omp_task_begin(const void *place)
{
    struct fv_omp_task task = { fv_ticks(), fv_omp_worked, stop_waiting(), false, false };
    const struct fv_omp_member *m = fv_omp_member();

    task.recorded = fv_omp_work_task_begin(place);
    task.is_at_end = m && m->end;
    if (task.is_at_end)
        fv_omp_count_begin(m);
    return task;
}

void fv_omp_task_end(const struct fv_omp_task *task)
{
    uint64_t end = fv_ticks();
    struct fv_omp_member *m;

    if (task->recorded)
        fv_omp_work_task_end();
    fv_omp_worked = task->worked + (end - task->begin);
    if (FV_UNLIKELY(!__atomic_load_n(&fv_sync_mode, __ATOMIC_RELAXED)))
        return; /* in the child of a fork that was made in there */
    wait_again(&task->wait, end);
    m = fv_omp_member();
    if (m && m->end) { /* it waits at its region's end */
        m->tasks += end - task->begin;
        m->came = end;
        m->waited = fv_omp_waited(m);
        if (task->is_at_end)
            fv_omp_count_end(m, end - task->begin, 0);
        if (FV_UNLIKELY(m->team->traced) && m->s)
            fv_sync_trace_team_end(m->s, m->team->traced, m->came);
    }
}

static FV_UNSEEN void run(fv_omp_body *body, void *data)
{
    const union {
        fv_omp_body *body;
        const char *place;
    } of = { body };
    const struct fv_omp_task task = fv_omp_task_begin(of.place + 1);

    body(data);
    fv_omp_task_end(&task);
}

#define SIZES(X) X(64) X(128) X(256) X(512) X(1024) X(2048) X(4096)

#define RUN(distance)                                           \
    static FV_UNSEEN void run_##distance(void *data)            \
    {                                                           \
        fv_omp_body *body;                                      \
                                                                \
        memcpy(&body, (char *)data + (distance), sizeof(body)); \
        run(body, data);                                        \
    }
SIZES(RUN)
#undef RUN

static const struct size {
    size_t distance;
    fv_omp_body *run;
} sizes[] = {
#define SIZE(distance) { distance, run_##distance },
    SIZES(SIZE)
#undef SIZE
};

static FV_UNSEEN void copy(void *to, void *from)
{
    const struct source *source = from;

    if (source->copy)
        source->copy(to, source->data);
    else if (source->bytes)
        memcpy(to, source->data, source->bytes);
    memcpy((char *)to + source->distance, &source->body, sizeof(source->body));
}

/* Called when the task may run. If the thread runs it itself, the copy stands on its stack, and it has waited
 * for the tasks that this one depends on. */
static FV_UNSEEN void copy_and_tell(void *to, void *from)
{
    const struct source *source = from;

    if (source->s && (uintptr_t)to > (uintptr_t)__builtin_frame_address(0) && (uintptr_t)to < (uintptr_t)from)
        fv_omp_has_waited(source->s, source->begin, source->site);
    copy(to, from);
}

/* The last of a taskloop's copies is made before the thread waits. */
static FV_UNSEEN void copy_and_note(void *to, void *from)
{
    struct source *source = from;

    copy(to, from);
    source->begin = fv_ticks();
}

/* Another one tells us of them. */
static bool is_told_of(const struct fv_omp_next *next)
{
    return next->is_llvm && __atomic_load_n(&fv_omp_is_told, __ATOMIC_RELAXED);
}

/* NULL: it is left alone. */
static const struct size *size_of(const struct fv_omp_next *next, fv_omp_copy *copies, long bytes, long alignment)
{
    struct fv_omp_member *m = fv_omp_member();
    const struct size *fit = NULL;

    if (!m)
        return NULL;
    __atomic_fetch_add(&m->team->tasks, 1, __ATOMIC_RELAXED);
    if (!next->is_llvm && bytes >= 0 && alignment <= ALIGNMENT && (copies || !next->omp_get_cancellation()))
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && !fit; i++)
            if ((size_t)bytes <= sizes[i].distance)
                fit = &sizes[i];
    if (!fit)
        __atomic_fetch_add(&m->team->untimed, 1, __ATOMIC_RELAXED);
    return fit;
}

/* A task that is not for later is run at once, as a part of what the thread does: it is nothing of its own,
 * but for what it may have to wait for before. */
FV_PUBLIC FV_UNSEEN void GOMP_task(fv_omp_body *body, void *data, fv_omp_copy *copies, long bytes, long alignment,
                                   bool later, unsigned flags, void **depend, int priority, void *detach)
{
    const struct fv_omp_next *next = FV_OMP_NEXT();
    const struct size *size = (later || flags & DEPEND) && !is_told_of(next)
                                  ? size_of(next, copies, flags & DETACH ? -1 : bytes, alignment)
                                  : NULL;

    if (!size) {
        next->GOMP_task(body, data, copies, bytes, alignment, later, flags, depend, priority, detach);
        return;
    }
    struct source source = { body, copies, data, (size_t)bytes, size->distance, NULL, 0, FV_CALL_SITE() };
    uint64_t worked = fv_omp_worked;
    if (flags & DEPEND) {
        source.s = fv_sync_enter();
        source.begin = fv_ticks();
        fv_omp_worked = 0;
    }
    next->GOMP_task(size->run, &source, flags & DEPEND ? copy_and_tell : copy, (long)size->distance + ALIGNMENT,
                    ALIGNMENT, later, flags, depend, priority, detach);
    fv_omp_worked = worked;
}

/* What libgomp does with a taskloop. */
enum fate { IN_PLACE, LATER, LATER_MANY };

/* Bytes that copies may take. */
static size_t stack_for_copies(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool is_own = fv_self && here > fv_self->stack_low && here < fv_self->stack_end;
    size_t part = (is_own ? here - fv_self->stack_low : STACK_LEAST) / 8;

    return part < STACK_MOST ? part : STACK_MOST;
}

/* The thread runs the tasks at once if they are not for later, or would fill the queue. */
static enum fate fate_of(const struct fv_omp_next *next, unsigned flags, unsigned long tasks, double iterations,
                         size_t bytes)
{
    double threads = next->omp_get_num_threads(), most = tasks ? (double)tasks : threads;

    if (flags & GRAINSIZE)
        most = iterations / (double)(tasks ? tasks : 1) + 1;
    most = most < iterations ? most : iterations;
    if (!(flags & IF) || most > 64 * threads + 1)
        return IN_PLACE;
    return most * (double)(bytes + TASK_BYTES) <= (double)stack_for_copies() ? LATER : LATER_MANY;
}

/* Without a group the tasks are not waited for here. */
static void end_taskloop(struct source *source, uint64_t worked, unsigned flags)
{
    if (source->s && !(flags & NOGROUP))
        fv_omp_has_waited(source->s, source->begin, source->site);
    fv_omp_worked = worked;
}

#define TASKLOOP(function, type)                                                                                      \
    FV_PUBLIC FV_UNSEEN void function(fv_omp_body *body, void *data, fv_omp_copy *copies, long bytes, long alignment, \
                                      unsigned flags, unsigned long tasks, int priority, type start, type end,        \
                                      type step)                                                                      \
    {                                                                                                                 \
        const struct fv_omp_next *next = FV_OMP_NEXT();                                                               \
        struct source source = { body, copies, data, (size_t)bytes, 0, NULL, fv_ticks(), FV_CALL_SITE() };            \
        double iterations = flags & UP ? ((double)end - (double)start) / (double)step                                 \
                                       : ((double)start - (double)end) / (double)(0 - step);                          \
        enum fate fate = fate_of(next, flags, tasks, iterations, 2 * (size_t)bytes + 2 * ALIGNMENT);                  \
        bool can = fate == LATER && !(flags & REDUCTION);                                                             \
        const struct size *size =                                                                                     \
            fate == IN_PLACE || is_told_of(next) ? NULL : size_of(next, copies, can ? bytes : -1, alignment);         \
                                                                                                                      \
        if (!size) {                                                                                                  \
            next->function(body, data, copies, bytes, alignment, flags, tasks, priority, start, end, step);           \
            return;                                                                                                   \
        }                                                                                                             \
        uint64_t worked = fv_omp_worked;                                                                              \
        source.distance = size->distance;                                                                             \
        source.s = fv_sync_enter();                                                                                   \
        fv_omp_worked = 0;                                                                                            \
        next->function(size->run, &source, copy_and_note, (long)size->distance + ALIGNMENT, ALIGNMENT, flags, tasks,  \
                       priority, start, end, step);                                                                   \
        end_taskloop(&source, worked, flags);                                                                         \
    }

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
