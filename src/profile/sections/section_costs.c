/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock samples of sections; see sections.h. A cost names the set of sections that were open, and each of
 * them gets its ticks. */
#include "profile/sections/section_gather.h"

#include <math.h>
#include <stdlib.h>

static void add_leaf(struct fv_section_view *v, const struct fv_cost_leaf *leaf)
{
    FV_GROW(v->costs, v->cost_room, v->cost_count + 1);
    v->costs[v->cost_count++] = *leaf;
}

void fv_section_threads_add(struct fv_section_threads *to, const struct fv_section_threads *from)
{
    if (!from->count)
        return;
    to->min_s = to->count ? fmin(to->min_s, from->min_s) : from->min_s;
    to->max_s = fmax(to->max_s, from->max_s);
    to->sum_s += from->sum_s;
    to->count += from->count;
}

/* Sampled time of a thread in a section, while the leaves of its rank are read. */
struct thread_s {
    uint32_t section, thread; /* its key */
    double seconds;
};
struct threads {
    struct thread_s *items;
    size_t count, room;
    struct fv_index by_section;
};

static void finish_threads(struct fv_section_gather *g, struct threads *threads, uint32_t rank)
{
    for (size_t i = 0; i < threads->count; i++) {
        const struct thread_s *t = &threads->items[i];
        struct fv_section_rank *r = fv_section_rank_of(g, t->section, rank);

        uint32_t id = fv_model_costs(g->build->model)->threads[t->thread].thread;

        r->value[FV_SECTION_SAMPLED] += t->seconds;
        fv_section_member_of(g, t->section, rank, id)->sampled_s = t->seconds;
        fv_section_threads_add(&r->sampled, &(struct fv_section_threads){ 1, t->seconds, t->seconds, t->seconds });
    }
    fv_index_release(&threads->by_section);
    free(threads->items);
}

/* The leaves of a rank stand together. */
void fv_section_read_costs(struct fv_section_gather *g, uint32_t rank)
{
    const struct fv_costs *costs = fv_model_costs(g->build->model);
    uint32_t chain[FV_SECTION_CHAIN];
    struct threads threads = { 0 };
    unsigned count;

    for (; g->next_leaf < costs->leaf_count; g->next_leaf++) {
        const struct fv_cost_leaf *leaf = &costs->leaves[g->next_leaf];

        if (costs->threads[leaf->thread].rank != rank)
            break;
        fv_section_chain(g, leaf->set, chain, &count);
        for (unsigned i = 0; i < count; i++) {
            add_leaf(&g->out->items[chain[i]], leaf);
            FV_INTERNED(threads.by_section, threads.items, threads.count, threads.room,
                        (uint32_t[]){ chain[i], leaf->thread })
                ->seconds += (double)leaf->ticks * costs->threads[leaf->thread].tick_s;
        }
    }
    finish_threads(g, &threads, rank);
}

static int by_node(const void *a, const void *b)
{
    const struct fv_cost_leaf *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void add_ticks(void *to, const void *from)
{
    ((struct fv_cost_leaf *)to)->ticks += ((const struct fv_cost_leaf *)from)->ticks;
    ((struct fv_cost_leaf *)to)->in_mpi += ((const struct fv_cost_leaf *)from)->in_mpi;
}

/* One leaf for a call path of a thread, whatever other sections were open. */
void fv_section_order_costs(struct fv_section_view *v)
{
    v->cost_count = fv_fold(v->costs, v->cost_count, sizeof(*v->costs), by_node, add_ticks);
    v->cost_ticks = 0;
    for (size_t i = 0; i < v->cost_count; i++)
        v->cost_ticks += v->costs[i].ticks;
}

bool fv_sections_are_sampled(const struct fv_sections_view *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].cost_count)
            return true;
    return false;
}
