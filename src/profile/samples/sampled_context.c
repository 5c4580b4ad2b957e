/* See sampled_gather.h: the contexts by the place that they are called from. */
#include "profile/samples/sampled_gather.h"

#include <stdlib.h>

static const struct fv_node *sort_nodes; /* for qsort() alone */
static const struct fv_sampled *sort_items;

static int compare_nodes(const struct fv_node *x, const struct fv_node *y)
{
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_place(const void *a, const void *b)
{
    return compare_nodes(&sort_nodes[sort_items[*(const uint32_t *)a].node],
                         &sort_nodes[sort_items[*(const uint32_t *)b].node]);
}

void fv_gather_order(struct fv_gather *g)
{
    g->by_place = fv_xcalloc(g->out->count + 1, sizeof(*g->by_place));
    for (uint32_t i = 0; i < g->out->count; i++)
        g->by_place[i] = i;
    sort_nodes = g->build->model->tree.nodes;
    sort_items = g->out->items;
    if (g->out->count)
        qsort(g->by_place, g->out->count, sizeof(*g->by_place), by_place);
}

struct fv_sampled *fv_gather_context(const struct fv_gather *g, const struct fv_node *frame)
{
    const struct fv_node *nodes = g->build->model->tree.nodes, *found;
    size_t before = FV_COUNT_BEFORE(i, g->out->count,
                                    compare_nodes(&nodes[g->out->items[g->by_place[i]].node], frame) <= 0);

    if (!before)
        return NULL;
    struct fv_sampled *s = &g->out->items[g->by_place[before - 1]];
    found = &nodes[s->node];
    return found->parent == frame->parent && found->module == frame->module ? s : NULL;
}
