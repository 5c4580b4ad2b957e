/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_operations.h. */
#include "timeline/timeline_operations.h"

#include <stdlib.h>

static bool is_seen(const struct fv_timeline_window *w, uint32_t row, uint64_t begin_ns, uint64_t ns)
{
    return fv_timeline_wants(w, row) && begin_ns < w->to && (!w->from || begin_ns + ns > w->from);
}

/* ---- collective operations ---- */

void fv_timeline_operation_add(struct fv_timeline_operation *o, const struct fv_timeline_member *m)
{
    const uint64_t end_ns = m->begin_ns + m->ns;

    if (m->flags & FV_TIMELINE_MEMBER_BEGINS)
        *o = (struct fv_timeline_operation){
            .begin_ns = m->begin_ns, .region = m->region, .comm = m->comm, .instance = m->instance, .flags = m->flags
        };
    if (!o->calls++ || m->begin_ns > o->last_ns) {
        o->last_ns = m->begin_ns;
        o->last_row = m->row;
    }
    o->begin_ns = m->begin_ns < o->begin_ns ? m->begin_ns : o->begin_ns;
    o->end_ns = end_ns > o->end_ns ? end_ns : o->end_ns;
    o->wait_ns += m->wait_ns;
    o->sent += m->sent;
    o->received += m->received;
}

struct collecting {
    const struct fv_timeline_window *window;
    struct fv_timeline_kind *kinds;
    struct fv_timeline_operation operation;
    struct fv_timeline_kind now; /* of its calls that the window has */
};

static void end_operation(struct collecting *c)
{
    const struct fv_timeline_operation *o = &c->operation;
    struct fv_timeline_kind *k = &c->kinds[o->region], *now = &c->now;
    const uint64_t spread = o->last_ns - o->begin_ns;

    if (!now->calls)
        return;
    k->calls += now->calls;
    k->ns += now->ns;
    k->wait_ns += now->wait_ns;
    k->sent += now->sent;
    k->received += now->received;
    if (o->flags & FV_TIMELINE_MEMBER_ALONE) {
        k->alone += now->calls;
        return;
    }
    k->operations++;
    if (o->flags & FV_TIMELINE_MEMBER_PARTIAL) {
        k->partial++;
        return;
    }
    k->spread_ns += spread;
    if (spread <= k->longest_ns && k->operations - k->partial > 1)
        return;
    k->longest_ns = spread;
    k->longest_begin_ns = o->begin_ns;
    k->longest_end_ns = o->end_ns;
    k->longest_row = o->last_row;
}

static void take_member(void *context, const struct fv_timeline_member *m)
{
    struct collecting *c = context;
    struct fv_timeline_kind *now = &c->now;

    if (m->flags & FV_TIMELINE_MEMBER_BEGINS) {
        end_operation(c);
        *now = (struct fv_timeline_kind){ 0 };
    }
    fv_timeline_operation_add(&c->operation, m);
    if (!is_seen(c->window, m->row, m->begin_ns, m->ns))
        return;
    now->calls++;
    now->ns += fv_timeline_inside(c->window, m->begin_ns, m->ns);
    now->wait_ns += fv_timeline_inside(c->window, m->wait_begin_ns, m->wait_ns);
    now->sent += m->sent;
    now->received += m->received;
}

void fv_timeline_kinds(const struct fv_timeline_file *t, const struct fv_timeline_window *w,
                       struct fv_timeline_kind *kinds)
{
    struct collecting c = { .window = w, .kinds = kinds };

    fv_timeline_members_of(t, w->from, w->to, take_member, &c);
    end_operation(&c);
}

/* ---- files ---- */

struct filing {
    const struct fv_timeline_window *window;
    struct fv_timeline_io_sums *sums;
};

static void move(struct fv_timeline_io_sum *s, const struct fv_timeline_io_operation *o)
{
    const bool is_read = o->kind == FV_TIMELINE_IO_READ;

    *(is_read ? &s->reads : &s->writes) += 1;
    if (o->bytes == UINT64_MAX) {
        s->unknown++;
        return;
    }
    *(is_read ? &s->read : &s->written) += o->bytes;
    s->moving_ns += o->ns;
}

static void take_io(void *context, const struct fv_timeline_io_operation *o)
{
    const struct filing *f = context;
    struct fv_timeline_io_sums *all = f->sums;

    if (!is_seen(f->window, o->row, o->begin_ns, o->ns))
        return;
    struct fv_timeline_io_sum *s =
        FV_INTERNED(all->index, all->items, all->count, all->room, (uint32_t[]){ o->file, o->interface });

    s->ns += fv_timeline_inside(f->window, o->begin_ns, o->ns);
    if (o->ns > s->longest_ns || !(s->opens + s->reads + s->writes + s->others)) {
        s->longest_ns = o->ns;
        s->longest_begin_ns = o->begin_ns;
        s->longest_row = o->row;
    }
    if (o->kind == FV_TIMELINE_IO_OPEN)
        s->opens++;
    else if (o->kind == FV_TIMELINE_IO_OTHER)
        s->others++;
    else
        move(s, o);
}

void fv_timeline_io_make(const struct fv_timeline_file *t, const struct fv_timeline_window *w,
                         struct fv_timeline_io_sums *sums)
{
    struct filing filing = { w, sums };

    *sums = (struct fv_timeline_io_sums){ 0 };
    fv_timeline_io_of(t, w->from, w->to, take_io, &filing);
}

void fv_timeline_io_release(struct fv_timeline_io_sums *sums)
{
    free(sums->items);
    fv_index_release(&sums->index);
    *sums = (struct fv_timeline_io_sums){ 0 };
}
