/* SPDX-License-Identifier: BSD-3-Clause */
/* See costs.h. */
#include "profile/samples/costs.h"
#include "profile/samples/sample_paths.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNSEEN    0.4                 /* of the time in user mode: samples of less are mentioned */
#define UNSEEN_S  0.5                 /* in user mode, for that */
#define TICKS_MAX (UINT64_C(1) << 48) /* of one path: more is damage */

/* `index`: of the present rank's. */
static uint32_t thread_of(struct fv_costs *c, struct fv_index *index, uint32_t rank, uint32_t thread)
{
    struct fv_index_probe p = fv_index_probe(index, fv_mix(thread));

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (c->threads[i].thread == thread)
            return i;
    FV_GROW(c->threads, c->thread_room, c->thread_count + 1);
    fv_index_add(index, fv_mix(thread), (uint32_t)c->thread_count);
    c->threads[c->thread_count] = (struct fv_cost_thread){ .rank = rank, .thread = thread };
    return (uint32_t)c->thread_count++;
}

static void read_threads(struct fv_costs *costs, struct fv_index *index, const struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SAMPLER);
    struct fv_sampler_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!r.rate)
            continue;
        uint32_t thread = thread_of(costs, index, rank, c.thread); /* may move the threads */
        struct fv_cost_thread *t = &costs->threads[thread];
        t->tick_s = t->cpu_tick_s = 1 / (double)r.rate;
        t->stopped = r.stopped;
        t->lost += r.lost_paths;
        costs->lost += r.lost_paths;
    }
}

/* What the kernel does for a thread has no samples of its own: they stand for it, too. */
static void stand_for_all(const struct fv_model *m, struct fv_cost_thread *t)
{
    uint32_t i = fv_build_thread(m, t->rank, t->thread);
    double cpu_s = i == FV_NONE ? NAN : m->threads[i].user_s + m->threads[i].system_s,
           ticks = (double)(t->ticks + t->lost);

    if (ticks > 0 && cpu_s > ticks * t->tick_s && !t->stopped && !(m->ranks[t->rank].paused_s > 0))
        t->cpu_tick_s = cpu_s / ticks;
}

/* Behind which call the samples are of each record of the rank. */
struct behind {
    uint64_t record[2]; /* thread, index */
    uint32_t from;
};
struct behinds {
    struct behind *items;
    size_t count, room;
    struct fv_index by_record;
};

static void read_behinds(struct behinds *out, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COST_REGIONS);
    struct fv_cost_region r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (r.from)
            FV_INTERNED(out->by_record, out->items, out->count, out->room, (uint64_t[]){ c.thread, c.index })->from =
                r.from;
    }
}

static uint32_t behind_of(const struct behinds *b, const struct fv_cursor *c)
{
    uint32_t i = FV_FIND(b->by_record, b->items, (uint64_t[]){ c->thread, c->index });

    return i == FV_NONE ? 0 : b->items[i].from;
}

void fv_build_costs(struct fv_build *b, struct fv_build_file *f, const struct fv_sample_trees *trees, uint32_t rank)
{
    struct fv_costs *costs = fv_model_costs(b->model);
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COSTS);
    struct fv_callers callers = { 0 };
    struct behinds behinds = { 0 };
    struct fv_index index = { 0 };
    size_t first = costs->thread_count;
    uint32_t thread = FV_NONE;
    struct fv_cost r;

    read_threads(costs, &index, f, rank);
    read_behinds(&behinds, f);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!r.ticks || r.ticks > TICKS_MAX)
            continue;
        if (thread == FV_NONE || costs->threads[thread].thread != c.thread)
            thread = thread_of(costs, &index, rank, c.thread);
        uint32_t node = fv_sample_trees_node(trees, c.thread, r.path);
        if (!node || node == FV_NONE)
            node = fv_call_tree_node(&b->model->tree, 0, FV_MODEL_LOST, 0);
        uint64_t in_mpi = r.in_mpi < r.ticks ? r.in_mpi : r.ticks;
        struct fv_cost_thread *t = &costs->threads[thread];
        double before_s = costs->tick_s * (double)costs->ticks;

        FV_GROW(costs->leaves, costs->leaf_room, costs->leaf_count + 1);
        costs->leaves[costs->leaf_count++] = (struct fv_cost_leaf){
            .node = node,
            .thread = thread,
            .fork = fv_sample_trees_fork(trees, c.thread, r.path),
            .ticks = r.ticks,
            .in_mpi = in_mpi,
            .set = r.section,
            .from = fv_build_caller(b, &callers, rank, c.thread, behind_of(&behinds, &c)),
        };
        t->ticks += r.ticks;
        t->in_mpi += in_mpi;
        costs->ticks += r.ticks;
        costs->in_mpi += in_mpi;
        costs->tick_s = (before_s + t->tick_s * (double)r.ticks) / (double)costs->ticks;
    }
    for (size_t i = first; i < costs->thread_count; i++)
        stand_for_all(b->model, &costs->threads[i]);
    fv_index_release(&index);
    fv_index_release(&behinds.by_record);
    free(behinds.items);
    fv_callers_release(&callers);
}

/* User time of ranks that were sampled, and what samples stand for. */
static void sum_sampled(const struct fv_model *m, double *user_s, double *sampled_s, uint32_t *ranks)
{
    const struct fv_costs *c = fv_model_costs(m);
    uint32_t last = FV_NONE;

    for (size_t i = 0; i < c->thread_count; i++) {
        const struct fv_rank *r = &m->ranks[c->threads[i].rank];

        *sampled_s += (double)(c->threads[i].ticks + c->threads[i].lost) * c->threads[i].tick_s;
        if (c->threads[i].rank == last)
            continue;
        last = c->threads[i].rank;
        *user_s += r->paused_s > 0 || r->state == FV_RANK_CUT ? NAN : r->user_s;
        ++*ranks;
    }
}

void fv_costs_complete(struct fv_model *m)
{
    double user_s = 0, sampled_s = 0;
    char sampled[FV_WORD], user[FV_WORD];
    uint32_t ranks = 0;

    sum_sampled(m, &user_s, &sampled_s, &ranks);
    if (user_s > UNSEEN_S && sampled_s < UNSEEN * user_s)
        fv_problem_add(
            &m->problems, FV_PROBLEM_NOTE, NULL,
            "samples stand for %s of %s of CPU time on %u %s: threads that block SIGPROF have none, nor, without "
            "--sample, threads that never call MPI",
            fv_words_seconds(sampled_s, sampled), fv_words_seconds(user_s, user), ranks, ranks == 1 ? "rank" : "ranks");
}

void fv_costs_release(void *data)
{
    struct fv_costs *c = data;

    free(c->threads);
    free(c->leaves);
    *c = (struct fv_costs){ 0 };
}
