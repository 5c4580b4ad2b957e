/* SPDX-License-Identifier: BSD-3-Clause */
/* See collect.h: sends and receives. */
#include "analysis/collect_state.h"

/* ---- sends ---- */

/* The item's key and receiver. False: the peer is not known. */
static bool address(struct fv_rank_collect *r, const struct fv_record *m, bool sent, struct fv_item *item)
{
    uint32_t peer = fv_groups_peer(r->all->groups, m->ref, r->world, m->peer);

    if (peer == FV_NONE || r->all->groups->rank_of_world[peer] == FV_NONE) {
        r->all->unknown++;
        return false;
    }
    item->key =
        sent ? fv_collect_channel(m->ref, r->world, peer, m->tag) : fv_collect_channel(m->ref, peer, r->world, m->tag);
    item->member = sent ? peer : r->world;
    return true;
}

/* Of its first thread. */
static uint32_t line_of_world(const struct fv_rank_collect *r, uint32_t world)
{
    return r->all->steps->first_line[r->all->groups->rank_of_world[world]];
}

static bool is_partitioned(const struct fv_rank_collect *r, const struct fv_record *m)
{
    return r->all->merge->defs.comms[m->ref].flags & FV_COMM_CHANNELS;
}

/* One of the same channel has ended before, where the trace does not have its end. */
static void add_parts(struct fv_rank_collect *r, uint64_t id, const struct fv_item *item)
{
    for (size_t i = 0; i < r->parts_count; i++)
        if (r->parts[i].item.key == item->key) {
            fv_collect_tell(r, &r->parts[i].item);
            r->parts[i--] = r->parts[--r->parts_count];
        }
    FV_GROW(r->parts, r->parts_room, r->parts_count + 1);
    r->parts[r->parts_count++] = (struct parts){ id, *item };
}

void fv_collect_ready(struct fv_rank_collect *r, const struct fv_call_thread *t)
{
    for (size_t i = 0; i < r->parts_count; i++) {
        struct fv_item *item = &r->parts[i].item;

        if (item->ns > t->begin)
            continue;
        item->ns = t->begin;
        item->line = t->line;
        item->site = t->site;
        item->step = t->first;
    }
}

static void end_parts(struct fv_rank_collect *r, uint64_t id)
{
    for (size_t i = 0; i < r->parts_count; i++)
        if (r->parts[i].id == id) {
            fv_collect_tell(r, &r->parts[i].item);
            r->parts[i] = r->parts[--r->parts_count];
            return;
        }
}

void fv_collect_rest_of_parts(struct fv_rank_collect *r)
{
    for (size_t i = 0; i < r->parts_count; i++)
        fv_collect_tell(r, &r->parts[i].item);
    r->parts_count = 0;
}

void fv_collect_send(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    struct fv_item item = fv_collect_item(t, FV_ITEM_SEND, 0);

    if ((m->kind == FV_REC_ISEND && fv_pendings_find(&r->cancelled, m->id)) || !address(r, m, true, &item))
        return;
    if (m->kind == FV_REC_SEND) {
        uint32_t number;
        struct fv_step *s = fv_collect_dependency(r, t, &number);

        s->kind = FV_WS_LATE_RECEIVER;
        s->flags |= FV_STEP_STRICT;
        s->cause_line = line_of_world(r, item.member);
        fv_step_set_size(s, fv_step_size_of(m->sent));
        item.reply = number;
    } else {
        item.flags = FV_ITEM_LATER;
        item.reply = ++r->send_count;
        fv_pendings_add(&r->send_numbers, &(struct fv_pending){ .number = m->id,
                                                                .sent = r->send_count,
                                                                .ref = item.member,
                                                                .tag = fv_step_size_of(m->sent) });
        fv_pendings_add(&r->sends, &(struct fv_pending){ .number = r->send_count });
    }
    if (m->kind == FV_REC_ISEND && is_partitioned(r, m))
        add_parts(r, m->id, &item);
    else
        fv_collect_tell(r, &item);
}

void fv_collect_cause(struct fv_steps *steps, struct fv_step *s, const struct fv_answer *a)
{
    fv_step_set_cause(steps, s, a->ns);
    s->cause_line = a->cause_line;
    s->cause_site = a->cause_site & FV_STEP_NO_SITE;
    s->cause_step = a->cause_step;
    s->flags |= FV_STEP_KNOWN;
    if (a->lock) {
        s->kind = FV_WS_LOCK;
        s->flags |= FV_STEP_STRICT;
    }
    bool was_withheld = s->withheld; /* of a damaged trace, whose answers may come in another order */
    s->withheld = 0;
    struct fv_step_detail *d = a->part_ns || was_withheld ? fv_step_need_detail(steps, s) : NULL;
    if (d)
        d->part_ns = a->part_ns;
}

/* A non-blocking send: the answer and the call that completes it come in any order; the first waits here for
 * the second. kind: 0 nothing yet, 1 completed by the step (ref, peer: line, step), 2 answered. */
void fv_collect_send_end(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t id)
{
    struct fv_pending *n = fv_pendings_find(&r->send_numbers, id);

    end_parts(r, id);
    if (!n)
        return;
    struct fv_pending *p = fv_pendings_find(&r->sends, n->sent);
    uint32_t receiver = n->ref, size = n->tag;
    fv_pendings_remove(&r->send_numbers, n);
    if (!p)
        return;
    uint32_t number;
    struct fv_step *s = fv_collect_dependency(r, t, &number);
    s->kind = t->traits & FV_CALL_TEST ? FV_WS_NONE : FV_WS_LATE_RECEIVER;
    s->flags |= FV_STEP_STRICT;
    s->cause_line = line_of_world(r, receiver);
    fv_step_set_size(s, size);
    if (p->kind == 2) {
        fv_collect_cause(
            r->all->steps, s,
            &(struct fv_answer){ .ns = p->sent, .cause_line = p->ref, .cause_site = p->peer, .cause_step = p->tag });
        fv_pendings_remove(&r->sends, p);
    } else {
        p->kind = 1;
        p->ref = t->line;
        p->peer = number;
    }
}

void fv_collect_send_answer(struct fv_rank_collect *r, const struct fv_answer *a)
{
    struct fv_pending *p = fv_pendings_find(&r->sends, a->reply);

    if (!p)
        return;
    if (p->kind == 1) {
        fv_collect_cause(r->all->steps, fv_step(r->all->steps, p->ref, p->peer), a);
        fv_pendings_remove(&r->sends, p);
        return;
    }
    p->kind = 2;
    p->sent = a->ns;
    p->ref = a->cause_line;
    p->peer = a->cause_site;
    p->tag = a->cause_step;
}

/* ---- receives ---- */

static struct fv_envelope envelope_of(const struct fv_record *m)
{
    return (struct fv_envelope){ m->ref, m->peer, (int32_t)m->tag < 0 ? FV_ANY_TAG : m->tag };
}

void fv_collect_tell_receive(void *context, const struct fv_item *item)
{
    fv_collect_tell(context, item);
}

/* The message has come, within the thread's present call. False: whose it is is not known. */
static bool received(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m,
                     struct fv_item *item)
{
    uint32_t number;

    if (!address(r, m, false, item))
        return false;
    struct fv_step *s = fv_collect_dependency(r, t, &number);
    s->kind = t->traits & FV_CALL_TEST ? FV_WS_NONE : FV_WS_LATE_SENDER;
    fv_step_set_size(s, fv_step_size_of(m->received));
    item->reply = number;
    item->end = m->kind == FV_REC_MATCHED ? 0 : m->time_ns; /* what a probe told has the time of its begin */
    item->extra = t->line; /* that completed it, which need not be the one that posted it */
    return true;
}

static void receive_now(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    struct fv_item item = fv_collect_item(t, FV_ITEM_RECEIVE, 0);

    if (received(r, t, m, &item))
        fv_receives_now(&r->posted, envelope_of(m), &item);
}

void fv_collect_receive(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    struct fv_pending *matched = m->id ? fv_pendings_find(&r->matched, m->id) : NULL;

    if (matched)
        fv_pendings_remove(&r->matched, matched);
    else
        receive_now(r, t, m);
}

/* A matched probe is where the message is waited for. */
void fv_collect_matched(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    fv_pendings_add(&r->matched, &(struct fv_pending){ .number = m->id });
    receive_now(r, t, m);
}

void fv_collect_posted(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    if (t->traits & FV_CALL_IMRECV) /* its message was told with the probe */
        return;
    struct fv_item item = fv_collect_item(t, FV_ITEM_RECEIVE, 0);
    fv_pendings_add(&r->receives, &(struct fv_pending){ .number = m->id,
                                                        .ref = fv_receives_post(&r->posted, envelope_of(m), &item) });
}

/* FV_NONE: there is no such receive. */
static uint32_t take_posted(struct fv_rank_collect *r, uint64_t id)
{
    struct fv_pending *n = fv_pendings_find(&r->receives, id);
    uint32_t posted = n ? n->ref : FV_NONE;

    if (n)
        fv_pendings_remove(&r->receives, n);
    return posted;
}

void fv_collect_receive_end(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    uint32_t posted = take_posted(r, m->id);

    if (posted == FV_NONE)
        return;
    if (received(r, t, m, fv_receives_item(&r->posted, posted)))
        fv_receives_come(&r->posted, posted, envelope_of(m));
    else
        fv_receives_cancel(&r->posted, posted);
}

/* Cancelled; or given up, and then it takes its message all the same, if that is known by what was posted. */
void fv_collect_cancel(struct fv_rank_collect *r, const struct fv_record *m)
{
    uint32_t posted = take_posted(r, m->id);

    if (posted == FV_NONE)
        return; /* a send: it was not told */
    if (m->op && (int32_t)m->peer >= 0 && (int32_t)m->tag >= 0 &&
        address(r, m, false, fv_receives_item(&r->posted, posted)))
        fv_receives_come(&r->posted, posted, envelope_of(m));
    else
        fv_receives_cancel(&r->posted, posted);
}
