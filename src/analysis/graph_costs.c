/* SPDX-License-Identifier: BSD-3-Clause */
/* See graph_costs.h. */
#include "analysis/graph_costs.h"
#include "tool/vec.h"

#include <stdlib.h>
#include <string.h>

#define CALLS_A_PAGE 64u

static double **page_at(const struct fv_graph_cost_line *l, uint32_t number)
{
    return &l->pages[number & (l->page_count - 1)];
}

void fv_graph_costs_init(struct fv_graph_costs *c, uint32_t line_count)
{
    *c = (struct fv_graph_costs){ .line_count = line_count };
    c->lines = fv_xcalloc((size_t)line_count + 1, sizeof(*c->lines));
}

/* A larger ring, with room for this range of pages. */
static void grow(struct fv_graph_cost_line *l, uint32_t low, uint32_t stop)
{
    struct fv_graph_cost_line old = *l;

    l->page_count = old.page_count ? old.page_count : 2;
    while (l->page_count < stop - low)
        l->page_count *= 2;
    l->pages = fv_xcalloc(l->page_count, sizeof(*l->pages));
    for (uint32_t i = old.low; i < old.stop; i++)
        *page_at(l, i) = *page_at(&old, i);
    free(old.pages);
}

static double *page_of(struct fv_graph_costs *c, struct fv_graph_cost_line *l, uint32_t number)
{
    const bool empty = l->low == l->stop;
    uint32_t low = empty || number < l->low ? number : l->low, stop = empty || number >= l->stop ? number + 1 : l->stop;

    if (stop - low > l->page_count)
        grow(l, low, stop);
    l->low = low;
    l->stop = stop;
    double **page = page_at(l, number);
    if (!*page)
        *page = c->spare_count ? c->spare[--c->spare_count] : fv_xcalloc(CALLS_A_PAGE, sizeof(**page));
    return *page;
}

void fv_graph_costs_add(struct fv_graph_costs *c, uint32_t line, uint32_t call, double ns)
{
    page_of(c, &c->lines[line], call / CALLS_A_PAGE)[call % CALLS_A_PAGE] += ns;
}

static void forget_last(struct fv_graph_costs *c, struct fv_graph_cost_line *l)
{
    double **page = page_at(l, --l->stop);

    if (!*page)
        return;
    memset(*page, 0, CALLS_A_PAGE * sizeof(**page));
    FV_GROW(c->spare, c->spare_room, c->spare_count + 1);
    c->spare[c->spare_count++] = *page;
    *page = NULL;
}

double fv_graph_costs_take(struct fv_graph_costs *c, uint32_t line, uint32_t call)
{
    struct fv_graph_cost_line *l = &c->lines[line];
    uint32_t number = call / CALLS_A_PAGE;

    while (l->low < l->stop && l->stop - 1 > number)
        forget_last(c, l);
    if (l->low == l->stop || l->stop - 1 < number || !*page_at(l, number))
        return 0;
    return (*page_at(l, number))[call % CALLS_A_PAGE];
}

void fv_graph_costs_release(struct fv_graph_costs *c)
{
    for (uint32_t i = 0; c->lines && i < c->line_count; i++) {
        while (c->lines[i].low < c->lines[i].stop)
            free(*page_at(&c->lines[i], --c->lines[i].stop));
        free(c->lines[i].pages);
    }
    while (c->spare_count)
        free(c->spare[--c->spare_count]);
    free(c->spare);
    free(c->lines);
    *c = (struct fv_graph_costs){ 0 };
}
