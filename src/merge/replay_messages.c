/* SPDX-License-Identifier: BSD-3-Clause */
/* See replay.h. Messages and requests: what has begun is pending until a call says how it ended. */
#include "merge/replay_state.h"

/* ---- communicators that are freed while requests on them are under way (MPI-4.0, 7.4.3) ---- */

static bool may_go(const struct fv_rank_replay *r, const struct fv_pending *p)
{
    return p->kind != FV_PENDING_MATCHED && fv_def_comm_is_seen(&r->replay->defs->comms[p->ref]);
}

void fv_messages_began(struct fv_rank_replay *r, const struct fv_pending *p)
{
    fv_pendings_add(&r->pending, p);
    if (p->lost || !may_go(r, p))
        return;
    struct fv_pending *uses = fv_pendings_find(&r->uses, (uint64_t)p->ref + 1);
    if (uses)
        uses->sent++;
    else
        fv_pendings_add(&r->uses, &(struct fv_pending){ .number = (uint64_t)p->ref + 1, .sent = 1 });
}

void fv_messages_ended(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *was)
{
    struct fv_pending *uses = may_go(r, was) ? fv_pendings_find(&r->uses, (uint64_t)was->ref + 1) : NULL;

    if (!uses || --uses->sent)
        return;
    bool freed = uses->op;
    fv_pendings_remove(&r->uses, uses);
    if (freed)
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_COMM_DESTROY, .ref = was->ref }, s->end);
}

bool fv_messages_keep(struct fv_rank_replay *r, uint32_t comm)
{
    struct fv_pending *uses = fv_pendings_find(&r->uses, (uint64_t)comm + 1);

    if (uses)
        uses->op = 1;
    return uses;
}

/* ---- what begins and ends ---- */

static void begin_send(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    bool async = d->kind == FV_EV_ISEND;
    const uint64_t *f = d->field + async;
    uint32_t comm = fv_rank_comm(r, f[0]);
    const bool takes = fv_ring_takes(r);

    if (comm == FV_NONE || (int64_t)f[1] < 0) {
        r->stats->no_comm += comm == FV_NONE;
        return;
    }
    const struct fv_pending p = { .number = async ? d->field[0] : 0,
                                  .kind = FV_PENDING_SEND,
                                  .ref = comm,
                                  .peer = fv_ring_is_numbered(r) ? (uint32_t)f[1] : 0,
                                  .tag = fv_ring_is_numbered(r) ? (uint32_t)f[2] : 0,
                                  .lost = !takes };
    if (takes)
        fv_rank_put(r, s,
                    &(struct fv_record){ .kind = async ? FV_REC_ISEND : FV_REC_SEND,
                                         .ref = comm,
                                         .peer = (uint32_t)f[1],
                                         .tag = (uint32_t)f[2],
                                         .sent = f[3],
                                         .received = fv_ring_number(r, s, comm, f[1], f[2], true),
                                         .aux = fv_ring_place(r),
                                         .id = p.number },
                    s->begin);
    if (async)
        fv_messages_began(r, &p);
}

static void begin_receive(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    uint32_t comm = fv_rank_comm(r, d->field[1]);

    const bool takes = fv_ring_takes(r), matched = d->kind == FV_EV_MATCHED;

    if (comm == FV_NONE) {
        r->stats->no_comm++;
        return;
    }
    fv_messages_began(r, &(struct fv_pending){ .number = d->field[0],
                                               .ref = comm,
                                               .peer = (uint32_t)d->field[2],
                                               .tag = (uint32_t)d->field[3],
                                               .kind = matched ? FV_PENDING_MATCHED : FV_PENDING_RECEIVE,
                                               .op = fv_ring_is_told_before(r, s),
                                               .lost = !takes });
    if (takes)
        fv_rank_put(
            r, s,
            &(struct fv_record){ .kind = matched ? FV_REC_MATCHED : FV_REC_IRECEIVE,
                                 .op = fv_ring_is_told_before(r, s),
                                 .ref = comm,
                                 .peer = (uint32_t)d->field[2],
                                 .tag = (uint32_t)d->field[3],
                                 .sent = matched ? fv_ring_number(r, s, comm, d->field[2], d->field[3], false) : 0,
                                 .aux = fv_ring_place(r),
                                 .id = d->field[0] },
            s->begin);
}

static void end_receive(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    uint32_t comm = fv_rank_comm(r, d->field[0]);
    const bool takes = fv_ring_takes(r);

    if (comm == FV_NONE || (int64_t)d->field[1] < 0) {
        r->stats->no_comm += comm == FV_NONE;
        return;
    }
    if (takes)
        fv_rank_put(r, s,
                    &(struct fv_record){ .kind = FV_REC_RECEIVE,
                                         .ref = comm,
                                         .peer = (uint32_t)d->field[1],
                                         .tag = (uint32_t)d->field[2],
                                         .error = d->error,
                                         .received = d->field[3],
                                         .sent = fv_ring_number(r, s, comm, d->field[1], d->field[2], false),
                                         .aux = fv_ring_place(r) },
                    s->end);
}

struct fv_pending *fv_messages_pending(struct fv_rank_replay *r, uint64_t number)
{
    struct fv_pending *p = fv_pendings_find(&r->pending, number);

    if (!p)
        r->stats->no_begin++;
    if (!p || !p->lost)
        return p;
    fv_pendings_remove(&r->pending, p);
    return NULL;
}

static void end_posted_receive(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    if (fv_ring_is_numbered(r))
        fv_ring_end_of_lost(r, s, d);
    struct fv_pending *p = fv_messages_pending(r, d->field[0]);

    if (!p || p->kind != FV_PENDING_RECEIVE)
        return;
    const struct fv_pending was = *p;
    struct fv_record record = { .kind = FV_REC_CANCEL, .ref = was.ref, .id = was.number };
    fv_pendings_remove(&r->pending, p);
    if ((int64_t)d->field[1] >= 0) { /* else from nobody: the receive ends without a message */
        record.kind = FV_REC_IRECEIVE_END;
        record.peer = (uint32_t)d->field[1];
        record.tag = (uint32_t)d->field[2];
        record.received = d->field[3];
        record.sent = was.op ? 0 : fv_ring_number(r, s, was.ref, d->field[1], d->field[2], false);
        record.error = d->error;
    }
    fv_rank_put(r, s, &record, s->end);
    fv_messages_ended(r, s, &was);
}

static void end_matched(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    struct fv_pending *p = fv_messages_pending(r, d->field[0]);

    if (!p)
        return;
    struct fv_record record = { .kind = FV_REC_RECEIVE,
                                .ref = p->ref,
                                .peer = p->peer,
                                .tag = p->tag,
                                .received = d->field[1],
                                .error = d->error,
                                .id = p->number };
    fv_pendings_remove(&r->pending, p);
    fv_rank_put(r, s, &record, s->end);
}

static void end_request(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    if (d->kind == FV_EV_TESTED && fv_ring_is_lost(r, d->field[0]))
        return;
    struct fv_pending *p = fv_messages_pending(r, d->field[0]);

    if (d->kind == FV_EV_CANCELLED && fv_ring_is_numbered(r))
        fv_ring_unsent(r, s, p);
    if (!p)
        return;
    const struct fv_pending was = *p;
    uint8_t kind = was.kind;
    struct fv_record record = {
        .id = p->number, .ref = p->ref, .peer = p->peer, .tag = p->tag, .op = d->kind == FV_EV_FREED
    };
    if (d->kind == FV_EV_TESTED) {
        if (kind == FV_PENDING_SEND || kind == FV_PENDING_RECEIVE) {
            record.kind = FV_REC_TEST;
            fv_rank_put(r, s, &record, s->end);
        }
        return;
    }
    fv_pendings_remove(&r->pending, p);
    if (kind == FV_PENDING_SEND)
        record.kind = d->kind == FV_EV_CANCELLED ? FV_REC_CANCEL : FV_REC_ISEND_END;
    else if (kind == FV_PENDING_RECEIVE)
        record.kind = FV_REC_CANCEL;
    else
        return;
    r->locations[s->slot].given_up += kind == FV_PENDING_RECEIVE && d->kind == FV_EV_FREED;
    fv_rank_put(r, s, &record, s->end);
    fv_messages_ended(r, s, &was);
}

void fv_messages_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    if (d->kind == FV_EV_SEND || d->kind == FV_EV_ISEND)
        begin_send(r, s, d);
    else
        begin_receive(r, s, d);
}

void fv_messages_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    switch (d->kind) {
    case FV_EV_RECV: end_receive(r, s, d); break;
    case FV_EV_RECEIVED: end_posted_receive(r, s, d); break;
    case FV_EV_MRECV: end_matched(r, s, d); break;
    default: end_request(r, s, d); break;
    }
}
