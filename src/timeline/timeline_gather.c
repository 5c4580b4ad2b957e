/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_read.h: slices of a row in the order of their begins. They come length by length, each nearly in order:
 * few long runs. */
#include "timeline/timeline_read.h"
#include "tool/runs.h"

static bool keep(void *context, const struct fv_timeline_seen *slice)
{
    struct fv_timeline_gathering *g = context;

    FV_GROW(g->items, g->room, g->count + 1);
    g->items[g->count++] = *slice;
    return true;
}

/* Outer ones first. */
static bool comes_before(const void *a, const void *b)
{
    const struct fv_timeline_seen *x = a, *y = b;

    return x->begin_ns != y->begin_ns ? x->begin_ns < y->begin_ns : x->depth < y->depth;
}

void fv_timeline_gather(const struct fv_timeline_file *t, uint32_t row, uint64_t from, uint64_t to,
                        struct fv_timeline_gathering *g)
{
    g->count = 0;
    if (g->has_all)
        fv_timeline_slices(t, row, from, to, 0, keep, g);
    else
        fv_timeline_times(t, row, from, to, keep, g);
    g->items = fv_runs_sort(g->items, g->count, g->room, sizeof(*g->items), comes_before);
}
