/* See replay.h. Messages and requests: what has begun is pending until a call says how it ended. */
#include "merge/replay_state.h"

static void begin_send(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    bool async = d->kind == FV_EV_ISEND;
    const uint64_t *f = d->field + async;
    uint32_t comm = fv_rank_comm(r, f[0]);

    if (comm == FV_NONE || (int64_t)f[1] < 0) {
        r->stats->no_comm += comm == FV_NONE;
        return;
    }
    fv_rank_put(r, s,
                (struct fv_record){ .kind = async ? FV_REC_ISEND : FV_REC_SEND,
                                    .ref = comm,
                                    .peer = (uint32_t)f[1],
                                    .tag = (uint32_t)f[2],
                                    .sent = f[3],
                                    .id = async ? d->field[0] : 0 },
                s->begin);
    if (async)
        fv_pendings_add(&r->pending, &(struct fv_pending){ .number = d->field[0], .kind = FV_PENDING_SEND });
}

static void begin_receive(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    uint32_t comm = fv_rank_comm(r, d->field[1]);

    if (comm == FV_NONE) {
        r->stats->no_comm++;
        return;
    }
    bool matched = d->kind == FV_EV_MATCHED;
    fv_pendings_add(&r->pending,
                    &(struct fv_pending){ .number = d->field[0],
                                          .ref = comm,
                                          .peer = (uint32_t)d->field[2],
                                          .tag = (uint32_t)d->field[3],
                                          .kind = matched ? FV_PENDING_MATCHED : FV_PENDING_RECEIVE });
    fv_rank_put(r, s,
                (struct fv_record){ .kind = matched ? FV_REC_MATCHED : FV_REC_IRECEIVE,
                                    .ref = comm,
                                    .peer = (uint32_t)d->field[2],
                                    .tag = (uint32_t)d->field[3],
                                    .id = d->field[0] },
                s->begin);
}

static void end_receive(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    uint32_t comm = fv_rank_comm(r, d->field[0]);

    if (comm == FV_NONE || (int64_t)d->field[1] < 0) {
        r->stats->no_comm += comm == FV_NONE;
        return;
    }
    fv_rank_put(r, s,
                (struct fv_record){ .kind = FV_REC_RECEIVE,
                                    .ref = comm,
                                    .peer = (uint32_t)d->field[1],
                                    .tag = (uint32_t)d->field[2],
                                    .received = d->field[3] },
                s->end);
}

struct fv_pending *fv_messages_pending(struct fv_rank_replay *r, uint64_t number)
{
    struct fv_pending *p = fv_pendings_find(&r->pending, number);

    if (!p)
        r->stats->no_begin++;
    return p;
}

static void end_posted_receive(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    struct fv_pending *p = fv_messages_pending(r, d->field[0]);

    if (!p || p->kind != FV_PENDING_RECEIVE)
        return;
    struct fv_record record = { .ref = p->ref, .id = p->number };
    fv_pendings_remove(&r->pending, p);
    if ((int64_t)d->field[1] < 0) { /* from nobody: the receive ends without a message */
        record.kind = FV_REC_CANCEL;
        fv_rank_put(r, s, record, s->end);
        return;
    }
    record.kind = FV_REC_IRECEIVE_END;
    record.peer = (uint32_t)d->field[1];
    record.tag = (uint32_t)d->field[2];
    record.received = d->field[3];
    fv_rank_put(r, s, record, s->end);
}

static void end_matched(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    struct fv_pending *p = fv_messages_pending(r, d->field[0]);

    if (!p)
        return;
    struct fv_record record = { .kind = FV_REC_RECEIVE,
                                .ref = p->ref,
                                .peer = p->peer,
                                .tag = p->tag,
                                .received = d->field[1],
                                .id = p->number };
    fv_pendings_remove(&r->pending, p);
    fv_rank_put(r, s, record, s->end);
}

static void end_request(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    struct fv_pending *p = fv_messages_pending(r, d->field[0]);

    if (!p)
        return;
    uint8_t kind = p->kind;
    struct fv_record record = {
        .id = p->number, .ref = p->ref, .peer = p->peer, .tag = p->tag, .op = d->kind == FV_EV_FREED
    };
    if (d->kind == FV_EV_TESTED) {
        if (kind == FV_PENDING_SEND || kind == FV_PENDING_RECEIVE) {
            record.kind = FV_REC_TEST;
            fv_rank_put(r, s, record, s->end);
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
    fv_rank_put(r, s, record, s->end);
}

void fv_messages_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    if (d->kind == FV_EV_SEND || d->kind == FV_EV_ISEND)
        begin_send(r, s, d);
    else
        begin_receive(r, s, d);
}

void fv_messages_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    switch (d->kind) {
    case FV_EV_RECV: end_receive(r, s, d); break;
    case FV_EV_RECEIVED: end_posted_receive(r, s, d); break;
    case FV_EV_MRECV: end_matched(r, s, d); break;
    default: end_request(r, s, d); break;
    }
}
