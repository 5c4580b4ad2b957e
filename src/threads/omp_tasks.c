/* Tasks of OpenMP: how long each ran, so that the thread that ran it while it waited did not wait then.
 *
 * libgomp keeps a copy of a task's data, and calls the task's function with it. We let it keep more: behind
 * the data, at a distance that the function which we give it knows by itself, stands the program's function.
 * What cannot be done so is left alone and counted (untimed): data that libgomp writes to, or reads beyond
 * the copy (detach, reductions of taskloops), and, where a program may cancel, tasks without a copy function,
 * since libgomp drops these only. */
#include "threads/omp.h"

#include <string.h>

#define ALIGNMENT 64 /* of what is added */

enum { DETACH = 1 << 13, REDUCTION = 1 << 12, IF = 1 << 10 }; /* libgomp's flags, of all its versions */

/* What the copy is made from. */
struct source {
    fv_omp_body *body;
    fv_omp_copy *copy;
    void *data;
    size_t bytes, distance;
};

static FV_UNSEEN void run(fv_omp_body *body, void *data)
{
    struct fv_omp_member *m;
    uint64_t begin = fv_ticks(), worked = fv_omp_worked, end;

    body(data);
    end = fv_ticks();
    fv_omp_worked = worked + (end - begin);
    m = fv_omp_current;
    if (m && m->end) { /* it waits at its region's end */
        m->tasks += end - begin;
        m->came = end;
        m->waited = fv_omp_waited(m);
        if (FV_UNLIKELY(m->team->traced) && m->s)
            fv_traced_team_end(m->s, m->team->traced, m->came);
    }
}

#define SIZES(X) X(64) X(128) X(256) X(512) X(1024) X(2048) X(4096)

#define RUN(distance)                                                                                        \
    static FV_UNSEEN void run_##distance(void *data)                                                         \
    {                                                                                                        \
        fv_omp_body *body;                                                                                   \
                                                                                                             \
        memcpy(&body, (char *)data + (distance), sizeof(body));                                              \
        run(body, data);                                                                                     \
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

/* NULL: it is left alone. */
static const struct size *size_of(const struct fv_omp_next *next, fv_omp_copy *copies, long bytes,
                                  long alignment)
{
    struct fv_omp_member *m = fv_omp_current;
    const struct size *fit = NULL;

    if (!m)
        return NULL;
    __atomic_fetch_add(&m->team->tasks, 1, __ATOMIC_RELAXED);
    if (bytes >= 0 && alignment <= ALIGNMENT && (copies || !next->omp_get_cancellation()))
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && !fit; i++)
            if ((size_t)bytes <= sizes[i].distance)
                fit = &sizes[i];
    if (!fit)
        __atomic_fetch_add(&m->team->untimed, 1, __ATOMIC_RELAXED);
    return fit;
}

FV_PUBLIC FV_UNSEEN void GOMP_task(fv_omp_body *body, void *data, fv_omp_copy *copies, long bytes,
                                   long alignment, bool later, unsigned flags, void **depend, int priority,
                                   void *detach)
{
    const struct fv_omp_next *next = FV_OMP_NEXT();
    const struct size *size = size_of(next, copies, flags & DETACH ? -1 : bytes, alignment);

    if (!size) {
        next->GOMP_task(body, data, copies, bytes, alignment, later, flags, depend, priority, detach);
        return;
    }
    struct source source = { body, copies, data, (size_t)bytes, size->distance };
    next->GOMP_task(size->run, &source, copy, (long)size->distance + ALIGNMENT, ALIGNMENT, later, flags,
                    depend, priority, detach);
}

/* Not later: the thread that comes here runs them all, one after another, and waits for nothing. */
#define TASKLOOP(function, type)                                                                             \
    FV_PUBLIC FV_UNSEEN void function(fv_omp_body *body, void *data, fv_omp_copy *copies, long bytes,        \
                                      long alignment, unsigned flags, unsigned long tasks, int priority,     \
                                      type start, type end, type step)                                       \
    {                                                                                                        \
        const struct fv_omp_next *next = FV_OMP_NEXT();                                                      \
        struct source source = { body, copies, data, (size_t)bytes, 0 };                                     \
        const struct size *size =                                                                            \
            flags & IF ? size_of(next, copies, flags & REDUCTION ? -1 : bytes, alignment) : NULL;            \
                                                                                                             \
        source.distance = size ? size->distance : 0;                                                         \
        next->function(size ? size->run : body, size ? (void *)&source : data, size ? copy : copies,         \
                       size ? (long)size->distance + ALIGNMENT : bytes, size ? ALIGNMENT : alignment, flags, \
                       tasks, priority, start, end, step);                                                   \
    }

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)
