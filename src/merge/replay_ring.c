/* SPDX-License-Identifier: BSD-3-Clause */
/* See replay.h: a trace that is a ring has lost its begin. What is left out is met all the same, because messages are
 * counted, and what is told later may belong to it. */
#include "merge/replay_state.h"

#include <string.h>

bool fv_ring_takes(struct fv_rank_replay *r)
{
    const struct fv_ring_view *v = r->view;
    const uint64_t place = r->messages++;

    if (!v || place >= v->messages || !(v->left_out[place / 8] >> place % 8 & 1))
        return true;
    r->stats->left_out++;
    return false;
}

uint64_t fv_ring_number(struct fv_rank_replay *r, struct fv_stream *s, uint32_t comm, uint64_t peer, uint64_t tag,
                        bool sends)
{
    if (!fv_ring_is_numbered(r) || comm == FV_NONE)
        return 0;
    const uint64_t key = fv_mix2(fv_mix2((uint64_t)comm << 1 | sends, (uint32_t)peer), (uint32_t)tag) | 1;
    struct fv_pending *last = fv_pendings_find(&s->orders, key);
    uint64_t number = last ? last->sent : 0;

    if (s->order_comm == comm)
        number = s->order ? s->order : FV_RING_UNKNOWN;
    else if (number && number != FV_RING_UNKNOWN)
        number++;
    s->order_comm = FV_NONE;
    if (last)
        last->sent = number;
    else
        fv_pendings_add(&s->orders, &(struct fv_pending){ .number = key, .sent = number });
    return number;
}

bool fv_ring_is_told_before(const struct fv_rank_replay *r, const struct fv_stream *s)
{
    return fv_ring_is_numbered(r) && !strcmp(r->replay->defs->functions[s->function].name, "MPI_Imrecv");
}

bool fv_ring_is_before(const struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_ring_view *v = r->view;

    return (v->begin_ticks && (int64_t)(s->item.begin - v->begin_ticks) < 0) ||
           (v->from_ns && fv_rank_time(r, s, s->item.begin) < v->from_ns);
}

static void skip_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    const uint64_t *f = d->field;
    uint32_t comm;

    switch (d->kind) {
    case FV_EV_SEND:
        r->messages++;
        fv_ring_number(r, s, fv_rank_comm(r, f[0]), f[1], f[2], true);
        break;
    case FV_EV_ISEND:
        r->messages++;
        fv_ring_number(r, s, fv_rank_comm(r, f[1]), f[2], f[3], true);
        break;
    case FV_EV_IRECV:
    case FV_EV_MATCHED:
        r->messages++;
        comm = fv_rank_comm(r, f[1]);
        if (d->kind == FV_EV_MATCHED)
            fv_ring_number(r, s, comm, f[2], f[3], false);
        if (comm != FV_NONE)
            fv_pendings_add(&r->pending, &(struct fv_pending){ .number = f[0],
                                                               .ref = comm,
                                                               .op = fv_ring_is_told_before(r, s),
                                                               .kind = d->kind == FV_EV_MATCHED ? FV_PENDING_MATCHED
                                                                                                : FV_PENDING_RECEIVE,
                                                               .lost = true });
        break;
    default: break;
    }
}

static void skip_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    struct fv_pending *p;

    switch (d->kind) {
    case FV_EV_RECV:
        r->messages++;
        fv_ring_number(r, s, fv_rank_comm(r, d->field[0]), d->field[1], d->field[2], false);
        break;
    case FV_EV_RECEIVED:
    case FV_EV_MRECV:
    case FV_EV_CANCELLED:
    case FV_EV_FREED:
        p = fv_pendings_find(&r->pending, d->field[0]);
        if (d->kind == FV_EV_RECEIVED && !(p && p->op) && (int64_t)d->field[1] >= 0)
            fv_ring_number(r, s, p ? p->ref : s->order_comm, d->field[1], d->field[2], false);
        if (p)
            fv_pendings_remove(&r->pending, p);
        break;
    default: break;
    }
}

static void skip_call(struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_event *stop = s->details + s->detail_count;
    const uint64_t number = s->item.field[0];

    if (number >= s->site_count || !s->sites[number].info)
        return;
    s->function = s->sites[number].function;
    for (unsigned i = 0; i < 2; i++)
        for (const struct fv_event *d = s->details; d < stop; d++) {
            if (d->kind == FV_EV_ORDER) {
                fv_ring_order(r, s, d);
                continue;
            }
            i ? skip_end(r, s, d) : skip_begin(r, s, d);
            s->order_comm = FV_NONE;
        }
}

void fv_ring_skip(struct fv_rank_replay *r, struct fv_stream *s)
{
    r->stats->before += 1 + s->missing;
    if (s->missing)
        fv_pendings_release(&s->orders);
    s->missing = 0;
    if (s->item.kind == FV_EV_CALL)
        skip_call(r, s);
    else if (s->item.kind == FV_EV_SECTIONS)
        s->section_set = s->item.field[1];
    else if (s->item.kind == FV_EV_THREAD_END)
        s->section_set = 0;
}

void fv_ring_end_of_lost(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    const struct fv_pending *p = fv_pendings_find(&r->pending, d->field[0]);
    const uint32_t comm = p ? p->ref : s->order_comm;

    if ((p && (!p->lost || p->op)) || comm == FV_NONE || (int64_t)d->field[1] < 0)
        return;
    fv_rank_pass(r, s,
                 &(struct fv_record){ .kind = FV_REC_IRECEIVE_END,
                                      .op = 1,
                                      .ref = comm,
                                      .peer = (uint32_t)d->field[1],
                                      .tag = (uint32_t)d->field[2],
                                      .sent = fv_ring_number(r, s, comm, d->field[1], d->field[2], false) });
}

void fv_ring_unsent(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *p)
{
    const bool is_known = p && p->kind == FV_PENDING_SEND;

    if (!is_known && s->order_comm == FV_NONE)
        return;
    fv_rank_pass(r, s,
                 &(struct fv_record){ .kind = FV_REC_CANCEL,
                                      .aux = is_known ? 1 : 2,
                                      .ref = is_known ? p->ref : s->order_comm,
                                      .peer = is_known ? p->peer : 0,
                                      .tag = is_known ? p->tag : 0 });
}
