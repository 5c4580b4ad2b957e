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

/* ---- messages ---- */

/* A row sent or received one that is wanted. */
struct end {
    uint64_t ns;
    uint32_t row;
};

struct ends {
    const struct fv_timeline_partners *wanted;
    struct end *items; /* by row, then by time */
    size_t count, room;
    uint64_t rows;
};

static void add_end(struct ends *e, uint32_t row, uint32_t partner, uint64_t ns)
{
    if (e->wanted->rows && !e->wanted->rows[partner])
        return;
    FV_GROW(e->items, e->room, e->count + 1);
    e->items[e->count++] = (struct end){ ns, row };
}

static void take_ends(void *context, const struct fv_timeline_message *m)
{
    struct ends *e = context;

    if (m->from >= e->rows || m->to >= e->rows || m->bytes < e->wanted->least_bytes || m->bytes > e->wanted->most_bytes)
        return;
    add_end(e, m->from, m->to, m->sent_ns);
    add_end(e, m->to, m->from, m->received_ns);
}

static int by_row(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    return x->row != y->row ? (x->row > y->row ? 1 : -1) : (x->ns > y->ns) - (x->ns < y->ns);
}

/* A call has the messages that its row sends or receives in its time. */
static bool has_end(const struct ends *e, uint32_t row, const struct fv_timeline_seen *slice)
{
    const struct end least = { slice->begin_ns, row };
    size_t first = 0, after = e->count;

    while (first < after) {
        const size_t middle = first + (after - first) / 2;

        if (by_row(&e->items[middle], &least) < 0)
            first = middle + 1;
        else
            after = middle;
    }
    return first < e->count && e->items[first].row == row && e->items[first].ns <= slice->begin_ns + slice->ns;
}

/* ---- calls ---- */

struct finding {
    struct fv_timeline_search *search;
    struct ends ends;
    uint64_t from; /* orders by time are of those that begin then or later */
    uint32_t row;
};

static bool take_call(void *context, const struct fv_timeline_seen *slice)
{
    const struct finding *f = context;
    struct fv_timeline_search *s = f->search;

    if (!s->wanted[slice->region] || slice->begin_ns < f->from || (s->partners && !has_end(&f->ends, f->row, slice)))
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
    struct finding f = { search,
                         { search->partners, .rows = t->header->rows.count },
                         search->order == FV_TIMELINE_LONGEST ? 0 : w->from,
                         w->first };

    if (search->partners) {
        fv_timeline_messages(t, 0, UINT64_MAX, take_ends, &f.ends);
        if (f.ends.count)
            qsort(f.ends.items, f.ends.count, sizeof(*f.ends.items), by_row);
    }
    for (; f.row < t->header->rows.count && f.row - w->first < w->rows; f.row++)
        if (fv_timeline_wants(w, f.row))
            fv_timeline_slices(t, f.row, w->from, w->to, 0, take_call, &f);
    choose(search);
    free(f.ends.items);
}
