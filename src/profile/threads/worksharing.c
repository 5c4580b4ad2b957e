/* SPDX-License-Identifier: BSD-3-Clause */
/* See worksharing.h: the track. */
#include "profile/threads/worksharing.h"
#include "profile/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a thread did there, by one of its records. */
struct part {
    uint32_t work, rank, thread;
    uint64_t count;
    double seconds;
};

struct gather {
    struct fv_index works;
    struct part *parts;
    size_t part_count, part_room;
};

const char *const fv_work_kind_names[FV_OMP_WORK_KINDS] = { "for",        "sections", "single",      "workshare",
                                                            "distribute", "taskloop", "scope",       "masked",
                                                            "task",       "target",   "target data", NULL };

double fv_work_balance(const struct fv_work *w)
{
    return w->thread_max_s > 0 && w->threads ? w->seconds / w->threads / w->thread_max_s : NAN;
}

static bool makes_sense(const struct fv_omp_work *r)
{
    return r->kind && r->kind < FV_OMP_WORK_KINDS && r->count && r->executed <= r->count && r->timed <= r->executed &&
           r->time_max <= r->time;
}

static uint32_t work_of(struct fv_build *b, struct gather *g, unsigned kind, uint32_t node)
{
    struct fv_works *out = fv_model_worksharing(b->model);
    const struct fv_node *n = &b->model->tree.nodes[node];
    size_t before = out->count;
    uint32_t i = FV_INTERN(g->works, out->items, out->count, out->room,
                           (uint32_t[]){ kind, n->module, (uint32_t)n->offset, (uint32_t)(n->offset >> 32) });

    if (out->count > before) {
        out->items[i].node = node;
        out->items[i].max_rank = FV_NONE;
    }
    return i;
}

static void read_works(struct fv_build *b, void *state, uint32_t rank)
{
    struct gather *g = state;
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_OMP_WORK);
    struct fv_omp_work r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!makes_sense(&r))
            continue;
        uint32_t at = work_of(b, g, r.kind, fv_build_node_of(b, &b->files[rank], r.path));
        struct fv_work *w = &fv_model_worksharing(b->model)->items[at];
        double seconds = fv_build_seconds(b->model, rank, r.time);

        w->executed += r.executed;
        w->times += r.kind == FV_OMP_WORK_TASK ? r.executed : 0;
        w->timed += r.timed;
        w->seconds += seconds;
        w->max_s = fmax(w->max_s, fv_build_seconds(b->model, rank, r.time_max));
        w->wait_s += fmin(fv_build_seconds(b->model, rank, r.wait), seconds);
        FV_GROW(g->parts, g->part_room, g->part_count + 1);
        g->parts[g->part_count++] = (struct part){ at, rank, c.thread, r.count, seconds };
    }
}

static int by_thread(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static bool same_rank(const struct part *a, const struct part *b)
{
    return a->work == b->work && a->rank == b->rank;
}

/* Threads, and times: of each rank the most; of tasks, which are not met by a team but run by one of it each, all that
 * ran. */
static void add_threads(struct fv_works *works, struct gather *g)
{
    uint64_t most = 0;

    for (size_t i = 0, next; i < g->part_count; i = next) {
        struct fv_work *w = &works->items[g->parts[i].work];
        struct part thread = g->parts[i];

        for (next = i + 1;
             next < g->part_count && same_rank(&g->parts[next], &thread) && g->parts[next].thread == thread.thread;
             next++) {
            thread.count += g->parts[next].count;
            thread.seconds += g->parts[next].seconds;
        }
        if (thread.seconds > w->thread_max_s) {
            w->thread_max_s = thread.seconds;
            w->max_rank = thread.rank;
            w->max_thread = thread.thread;
        }
        w->threads++;
        most = thread.count > most ? thread.count : most;
        if (next == g->part_count || !same_rank(&g->parts[next], &thread)) {
            w->times += w->kind == FV_OMP_WORK_TASK ? 0 : most;
            most = 0;
        }
    }
}

static int by_seconds(const void *a, const void *b)
{
    const struct fv_work *x = a, *y = b;

    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static void *begin_works(struct fv_build *b)
{
    (void)b;
    return fv_xcalloc(1, sizeof(struct gather));
}

static void finish_works(struct fv_build *b, void *state)
{
    struct fv_works *works = fv_model_worksharing(b->model);
    struct gather *g = state;

    if (g->part_count)
        qsort(g->parts, g->part_count, sizeof(*g->parts), by_thread);
    add_threads(works, g);
    if (works->count)
        qsort(works->items, works->count, sizeof(*works->items), by_seconds);
    fv_index_release(&g->works);
    free(g->parts);
    free(g);
}

const struct fv_track fv_track_worksharing = {
    .name = "worksharing",
    .of_process = true,
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_OMP_WORK },
    .begin = begin_works,
    .read = read_works,
    .finish = finish_works,
};

void fv_works_release(void *data)
{
    struct fv_works *works = data;

    free(works->items);
    *works = (struct fv_works){ 0 };
}
