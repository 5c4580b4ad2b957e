/* Clock samples of sections; see sections.h. A cost names the set of sections that were open, and each of
 * them gets its ticks. */
#include "profile/sections/section_gather.h"

#include <stdlib.h>

static void add_leaf(struct fv_section_view *v, const struct fv_cost_leaf *leaf)
{
    FV_GROW(v->costs, v->cost_room, v->cost_count + 1);
    v->costs[v->cost_count++] = *leaf;
}

/* The leaves of a rank stand together. */
void fv_section_read_costs(struct fv_section_gather *g, uint32_t rank)
{
    const struct fv_costs *costs = &g->build->model->costs;
    uint32_t chain[FV_SECTION_CHAIN];
    unsigned count;

    for (; g->next_leaf < costs->leaf_count; g->next_leaf++) {
        const struct fv_cost_leaf *leaf = &costs->leaves[g->next_leaf];

        if (costs->threads[leaf->thread].rank != rank)
            break;
        fv_section_chain(g, leaf->set, chain, &count);
        for (unsigned i = 0; i < count; i++)
            add_leaf(&g->out->items[chain[i]], leaf);
    }
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
}

bool fv_sections_are_sampled(const struct fv_sections_view *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i].cost_count)
            return true;
    return false;
}
