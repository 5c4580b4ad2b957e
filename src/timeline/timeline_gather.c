/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_read.h: slices of a row in the order of their begins. They come length by length, each nearly in order:
 * few long runs, which are merged, two neighbours at a time. Rejected: qsort(), which took most of a sum's time. */
#include "timeline/timeline_read.h"
#include "tool/vec.h"

#include <stdlib.h>
#include <string.h>

static bool keep(void *context, const struct fv_timeline_seen *slice)
{
    struct fv_timeline_gathering *g = context;

    FV_GROW(g->items, g->room, g->count + 1);
    g->items[g->count++] = *slice;
    return true;
}

/* Outer ones first. */
static bool comes_before(const struct fv_timeline_seen *x, const struct fv_timeline_seen *y)
{
    return x->begin_ns != y->begin_ns ? x->begin_ns < y->begin_ns : x->depth < y->depth;
}

struct runs {
    size_t *ends; /* of each */
    size_t count, room;
};

static void find_runs(struct runs *r, const struct fv_timeline_gathering *g)
{
    for (size_t i = 1; i <= g->count; i++)
        if (i == g->count || comes_before(&g->items[i], &g->items[i - 1])) {
            FV_GROW(r->ends, r->room, r->count + 1);
            r->ends[r->count++] = i;
        }
}

static void merge(const struct fv_timeline_seen *from, size_t begin, size_t middle, size_t end,
                  struct fv_timeline_seen *to)
{
    size_t i = begin, k = middle;

    for (size_t at = begin; at < end; at++)
        to[at] = k == end || (i < middle && !comes_before(&from[k], &from[i])) ? from[i++] : from[k++];
}

/* Each two runs become one in `to`; the last one may stay alone. */
static void merge_neighbours(struct runs *r, const struct fv_timeline_seen *from, struct fv_timeline_seen *to)
{
    size_t count = 0, begin = 0;

    for (size_t i = 0; i < r->count; i += 2) {
        const size_t middle = r->ends[i], end = i + 1 < r->count ? r->ends[i + 1] : middle;

        merge(from, begin, middle, end, to);
        r->ends[count++] = begin = end;
    }
    r->count = count;
}

static void sort(struct fv_timeline_gathering *g)
{
    struct fv_timeline_seen *other;
    struct runs r = { 0 };

    find_runs(&r, g);
    other = r.count > 1 ? fv_xcalloc(g->room, sizeof(*other)) : NULL;
    while (r.count > 1) {
        struct fv_timeline_seen *sorted = other;

        merge_neighbours(&r, g->items, sorted);
        other = g->items;
        g->items = sorted;
    }
    free(other);
    free(r.ends);
}

void fv_timeline_gather(const struct fv_timeline_file *t, uint32_t row, uint64_t from, uint64_t to,
                        struct fv_timeline_gathering *g)
{
    g->count = 0;
    fv_timeline_slices(t, row, from, to, 0, keep, g);
    sort(g);
}
