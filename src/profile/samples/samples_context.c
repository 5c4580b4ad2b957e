/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples_gather.h: the contexts by the place that they are called from. */
#include "profile/samples/samples_gather.h"

#include <stdlib.h>

static const struct fv_node *sort_nodes; /* for qsort() alone */
static const struct fv_sampled_function *sort_items;

int fv_sampled_contexts_compare(const struct fv_node *a, const struct fv_node *b)
{
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare_nodes(const struct fv_node *x, const struct fv_node *y)
{
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return fv_sampled_contexts_compare(x, y);
}

static int by_place(const void *a, const void *b)
{
    return compare_nodes(&sort_nodes[sort_items[*(const uint32_t *)a].node],
                         &sort_nodes[sort_items[*(const uint32_t *)b].node]);
}

void fv_sampled_contexts_init(struct fv_sampled_contexts *c, const struct fv_model *m)
{
    const struct fv_samples *s = fv_model_samples(m);

    *c = (struct fv_sampled_contexts){ .model = m, .by_place = fv_xcalloc(s->count + 1, sizeof(*c->by_place)) };
    for (uint32_t i = 0; i < s->count; i++)
        c->by_place[i] = i;
    sort_nodes = m->tree.nodes;
    sort_items = s->items;
    if (s->count)
        qsort(c->by_place, s->count, sizeof(*c->by_place), by_place);
}

void fv_sampled_contexts_release(struct fv_sampled_contexts *c)
{
    free(c->by_place);
    *c = (struct fv_sampled_contexts){ 0 };
}

uint32_t fv_sampled_contexts_of(const struct fv_sampled_contexts *c, const struct fv_node *frame)
{
    const struct fv_node *nodes = c->model->tree.nodes, *found;
    const struct fv_samples *s = fv_model_samples(c->model);
    size_t before = FV_COUNT_BEFORE(i, s->count, compare_nodes(&nodes[s->items[c->by_place[i]].node], frame) <= 0);

    if (!before)
        return FV_NONE;
    found = &nodes[s->items[c->by_place[before - 1]].node];
    return found->parent == frame->parent && found->module == frame->module ? c->by_place[before - 1] : FV_NONE;
}

uint32_t fv_sampled_contexts_function(const struct fv_sampled_contexts *c, const struct fv_symbols *symbols,
                                      size_t frame)
{
    const struct fv_node *nodes = c->model->tree.nodes;
    const struct fv_samples *s = fv_model_samples(c->model);
    const struct fv_symbol *symbol = &symbols->of_node[frame];
    const struct fv_node entry = { .module = nodes[frame].module, .offset = symbol->begin + 1 };
    size_t before =
        FV_COUNT_BEFORE(i, s->function_count, fv_sampled_contexts_compare(&nodes[s->functions[i].node], &entry) < 0);

    if (!symbol->size || before == s->function_count ||
        fv_sampled_contexts_compare(&nodes[s->functions[before].node], &entry))
        return FV_NONE;
    return (uint32_t)before;
}
