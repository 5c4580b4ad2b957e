/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of regions in a stretch of time (timeline_stats.h). Of too many the better half is kept: what comes first is
 * known at any time, and memory is bounded. */
#include "timeline/timeline_stats.h"

#include <stdlib.h>

unsigned fv_timeline_bar(uint64_t ns)
{
    if (!ns)
        return 0;
    const unsigned power = 63 - (unsigned)__builtin_clzll(ns);

    return 4 * power + (unsigned)(power >= 2 ? ns >> (power - 2) : ns << (2 - power)) % 4;
}

static int earlier(const void *a, const void *b)
{
    const struct fv_timeline_call *x = a, *y = b;

    return x->seen.begin_ns != y->seen.begin_ns ? (x->seen.begin_ns > y->seen.begin_ns ? 1 : -1)
           : x->row != y->row                   ? (x->row > y->row ? 1 : -1)
                                                : (x->seen.depth > y->seen.depth) - (x->seen.depth < y->seen.depth);
}

static int later(const void *a, const void *b)
{
    return earlier(b, a);
}

static int longer(const void *a, const void *b)
{
    const struct fv_timeline_call *x = a, *y = b;

    return x->seen.ns != y->seen.ns ? (x->seen.ns < y->seen.ns ? 1 : -1) : earlier(a, b);
}

static void choose(struct fv_timeline_search *s)
{
    static int (*const orders[])(const void *, const void *) = { longer, earlier, later };

    if (s->count)
        qsort(s->found, s->count, sizeof(*s->found), orders[s->order]);
    s->count = s->count < s->most ? s->count : s->most;
}

struct finding {
    struct fv_timeline_search *search;
    uint64_t from; /* orders by time are of those that begin then or later */
    uint32_t row;
};

static bool take_call(void *context, const struct fv_timeline_seen *slice)
{
    const struct finding *f = context;
    struct fv_timeline_search *s = f->search;

    if (!s->wanted[slice->region] || slice->begin_ns < f->from)
        return true;
    s->all++;
    s->all_ns += slice->ns;
    s->bars[fv_timeline_bar(slice->ns)]++;
    if (slice->ns < s->least_ns || slice->ns > s->most_ns)
        return true;
    s->in_range++;
    if (s->count >= 2 * s->most)
        choose(s);
    FV_GROW(s->found, s->room, s->count + 1);
    s->found[s->count++] = (struct fv_timeline_call){ *slice, f->row };
    return true;
}

void fv_timeline_find(const struct fv_timeline_file *t, const struct fv_timeline_window *w,
                      struct fv_timeline_search *search)
{
    struct finding f = { search, search->order == FV_TIMELINE_LONGEST ? 0 : w->from, w->first };

    for (; f.row < t->header->rows.count && f.row - w->first < w->rows; f.row++)
        if (fv_timeline_wants(w, f.row))
            fv_timeline_slices(t, f.row, w->from, w->to, 0, take_call, &f);
    choose(search);
}
