/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_links.h. */
#include "timeline/timeline_links.h"
#include "tool/vec.h"

#include <stdlib.h>
#include <string.h>

/* ---- waits ---- */

struct blocked {
    struct fv_timeline_link *items; /* twice as many as are wanted */
    size_t count, most;
    uint64_t all, least_ns;
    uint32_t row;
};

static int by_wait(const void *a, const void *b)
{
    const struct fv_timeline_link *x = a, *y = b;

    return x->seen.wait_ns != y->seen.wait_ns ? (x->seen.wait_ns < y->seen.wait_ns ? 1 : -1)
           : x->row != y->row                 ? (x->row > y->row ? 1 : -1)
                              : (x->seen.begin_ns > y->seen.begin_ns) - (x->seen.begin_ns < y->seen.begin_ns);
}

static void choose(struct blocked *b)
{
    if (b->count)
        qsort(b->items, b->count, sizeof(*b->items), by_wait);
    b->count = b->count < b->most ? b->count : b->most;
}

static bool take_blocked(void *context, const struct fv_timeline_seen *slice)
{
    struct blocked *b = context;

    if (!slice->wait_ns || slice->wait_ns < b->least_ns || slice->cause == FV_TIMELINE_NONE)
        return true;
    b->all++;
    if (b->count == 2 * b->most)
        choose(b);
    b->items[b->count++] = (struct fv_timeline_link){ *slice, b->row };
    return true;
}

size_t fv_timeline_blocked(const struct fv_timeline_file *t, const struct fv_timeline_window *w, uint64_t least_ns,
                           struct fv_timeline_link *out, size_t most, uint64_t *all)
{
    struct blocked b = { .items = fv_xcalloc(2 * most + 1, sizeof(*b.items)), .most = most, .least_ns = least_ns };

    for (; b.row < t->header->rows.count; b.row++)
        if (fv_timeline_wants(w, b.row)) /* a call takes as long as it waits */
            fv_timeline_slices(t, b.row, w->from, w->to, least_ns, take_blocked, &b);
    choose(&b);
    memcpy(out, b.items, b.count * sizeof(*out));
    *all = b.all;
    free(b.items);
    return b.count;
}

/* ---- one of them ---- */

struct wanted {
    uint64_t begin_ns, until_ns; /* until: of the chain */
    uint32_t depth;
    struct fv_timeline_link *out;
    bool is_found;
};

static bool take_slice(void *context, const struct fv_timeline_seen *slice)
{
    struct wanted *w = context;

    if (slice->begin_ns != w->begin_ns || slice->depth != w->depth)
        return true;
    w->out->seen = *slice;
    w->is_found = true;
    return false;
}

bool fv_timeline_slice_at(const struct fv_timeline_file *t, uint32_t row, uint64_t begin_ns, uint32_t depth,
                          struct fv_timeline_link *out)
{
    struct wanted w = { .begin_ns = begin_ns, .depth = depth, .out = out };

    out->row = row;
    fv_timeline_slices(t, row, begin_ns, begin_ns + 1, 0, take_slice, &w);
    return w.is_found;
}

/* ---- the chain ---- */

static uint64_t end_of_wait(const struct fv_timeline_seen *s)
{
    return s->begin_ns + s->wait_ns;
}

/* The one whose waiting ended last, but not later than the waiting that it caused. */
static bool take_earlier(void *context, const struct fv_timeline_seen *slice)
{
    struct wanted *w = context;
    const uint64_t end = end_of_wait(slice);

    if (!slice->wait_ns || slice->cause == FV_TIMELINE_NONE || end > w->until_ns || end <= w->begin_ns)
        return true;
    if (!w->is_found || end > end_of_wait(&w->out->seen))
        w->out->seen = *slice;
    w->is_found = true;
    return true;
}

/* Waiting ends where the late row came: at that moment its own wait may have just ended, too. */
size_t fv_timeline_chain(const struct fv_timeline_file *t, const struct fv_timeline_link *from,
                         struct fv_timeline_link *out, size_t most)
{
    struct fv_timeline_link at = *from;
    size_t count = 0;

    while (count < most && at.seen.wait_ns && at.seen.cause != FV_TIMELINE_NONE) {
        const uint64_t end = end_of_wait(&at.seen);
        struct wanted w = { .begin_ns = at.seen.begin_ns, .until_ns = end, .out = &out[count] };

        fv_timeline_slices(t, at.seen.cause, at.seen.begin_ns, end + 1, 0, take_earlier, &w);
        if (!w.is_found || (count && end_of_wait(&out[count].seen) >= end_of_wait(&out[count - 1].seen)))
            break;
        out[count].row = at.seen.cause;
        at = out[count++];
    }
    return count;
}

/* ---- collective operations ---- */

struct meeting {
    uint32_t comm, instance, row;
    struct fv_timeline_link *out;
    size_t count, most;
    bool is_found; /* in the row */
};

static bool take_member(void *context, const struct fv_timeline_seen *slice)
{
    struct meeting *m = context;

    if (slice->comm != m->comm || slice->instance != m->instance)
        return true;
    m->out[m->count++] = (struct fv_timeline_link){ *slice, m->row };
    m->is_found = true;
    return false;
}

#define NEAR_NS   1000000 /* around a call, at first */
#define FURTHER   32
#define DISTANCES 3

static int by_row(const void *a, const void *b)
{
    const struct fv_timeline_link *x = a, *y = b;

    return (x->row > y->row) - (x->row < y->row);
}

size_t fv_timeline_members(const struct fv_timeline_file *t, const struct fv_timeline_link *of,
                           struct fv_timeline_link *out, size_t most, uint32_t *members)
{
    const struct fv_timeline_seen *s = &of->seen;
    struct meeting m = { s->comm, s->instance, 0, out, 0, most, false };
    uint64_t around = NEAR_NS + s->ns;
    bool *known;

    *members = s->comm < t->header->comms.count ? t->comms[s->comm] : 0;
    if (!*members)
        return 0;
    known = fv_xcalloc(t->header->rows.count + 1, sizeof(*known));
    out[m.count++] = *of;
    known[of->row] = true;
    for (int i = 0; i < DISTANCES; i++, around *= FURTHER)
        for (m.row = 0; m.row < t->header->rows.count && m.count < most && m.count < *members; m.row++) {
            m.is_found = false;
            if (!known[m.row])
                fv_timeline_slices(t, m.row, s->begin_ns > around ? s->begin_ns - around : 0,
                                   s->begin_ns + s->ns + around, 0, take_member, &m);
            known[m.row] = known[m.row] || m.is_found;
        }
    free(known);
    if (m.count)
        qsort(out, m.count, sizeof(*out), by_row);
    return m.count;
}
