/* SPDX-License-Identifier: BSD-3-Clause */
/* See collect.h: collective operations, and what belongs together in them. */
#include "analysis/collect_state.h"
#include "analysis/progress.h"

/* ---- groups ---- */

/* The operation was entered where its request was made. */
void fv_collect_set_begun(struct fv_item *item, const struct fv_pending *begun)
{
    item->ns = begun->sent;
    item->line = begun->ref;
    item->site = begun->peer;
    item->step = begun->tag;
}

static const struct fv_neighbours *neighbours_in(const struct fv_rank_collect *r, uint32_t comm)
{
    for (size_t i = 0; i < r->neighbour_count; i++)
        if (r->neighbours[i].comm == comm)
            return r->neighbours[i].record;
    return NULL;
}

struct collective {
    enum fv_form form;
    enum fv_wait_state wait;
};

static struct collective form_of(unsigned op)
{
    switch (op) {
    case FV_OP_BARRIER: return (struct collective){ FV_FORM_ALL, FV_WS_BARRIER };
    case FV_OP_BCAST:
    case FV_OP_SCATTER:
    case FV_OP_SCATTERV: return (struct collective){ FV_FORM_FROM_ROOT, FV_WS_LATE_BROADCAST };
    case FV_OP_GATHER:
    case FV_OP_GATHERV:
    case FV_OP_REDUCE: return (struct collective){ FV_FORM_TO_ROOT, FV_WS_LATE_REDUCE };
    case FV_OP_SCAN:
    case FV_OP_EXSCAN: return (struct collective){ FV_FORM_LOWER, FV_WS_EARLY_SCAN };
    case FV_OP_CREATE_HANDLE:
    case FV_OP_DESTROY_HANDLE:
    case FV_OP_CREATE_AND_ALLOCATE:
    case FV_OP_DESTROY_AND_DEALLOCATE: return (struct collective){ FV_FORM_ALL, FV_WS_CREATE };
    default: return (struct collective){ FV_FORM_ALL, FV_WS_NXN };
    }
}

/* `item` is that of the beginning. */
static void tell_completion(struct fv_rank_collect *r, const struct fv_call_thread *t, struct fv_item item)
{
    item.kind = FV_ITEM_COMPLETION;
    item.key = fv_item_completion_key(item.key);
    item.ns = t->begin;
    item.line = t->line;
    item.site = t->site;
    item.step = t->first;
    item.extra = fv_step_end_before(r->all->steps, t->line, t->first);
    if (t->traits & FV_CALL_TEST)
        item.flags &= (uint8_t)~FV_ITEM_TAKES;
    fv_collect_tell(r, &item);
}

/* The waiting call is the thread's present one; the item says where the rank entered the operation. */
void fv_collect_group(struct fv_rank_collect *r, struct fv_call_thread *t, struct fv_item item, uint32_t comm,
                      uint64_t end)
{
    uint32_t number;
    struct fv_step *s = fv_collect_dependency(r, t, &number);

    s->kind = t->traits & FV_CALL_TEST ? FV_WS_NONE : item.wait;
    struct fv_step_detail *d = item.form == FV_FORM_ALL ? fv_step_need_detail(r->all->steps, s) : NULL;
    if (d) {
        s->flags |= FV_STEP_ALL;
        d->comm = comm;
        d->instance = (uint32_t)(item.key >> 32);
    }
    if (item.wait == FV_WS_CREATE || item.wait == FV_WS_FENCE || item.wait == FV_WS_IO)
        s->flags |= FV_STEP_STRICT; /* it need not synchronise */
    item.reply = number;
    item.extra = t->line;
    item.end = end;
    if (item.expected <= 1)
        return;
    fv_collect_tell(r, &item);
    if (!(item.flags & FV_ITEM_BLOCKING) && item.form != FV_FORM_LOWER)
        tell_completion(r, t, item);
}

/* As a message to each destination, and one from each source. */
static void put_neighbourhood(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m,
                              const struct fv_pending *begun)
{
    const struct fv_neighbours *n = neighbours_in(r, m->ref);

    r->all->unknown += !n || n->listed != n->sources + n->destinations;
    for (uint32_t i = 0; n && i < n->listed; i++) {
        bool send = i >= n->sources;
        uint32_t peer = fv_groups_peer(r->all->groups, m->ref, r->world, (uint32_t)n->rank[i]), number;
        struct fv_item item = fv_collect_item(t, send ? FV_ITEM_SEND : FV_ITEM_RECEIVE, 0);

        if (peer == FV_NONE || r->all->groups->rank_of_world[peer] == FV_NONE)
            continue;
        item.key = ~fv_collect_channel(m->ref, send ? r->world : peer, send ? peer : r->world, m->aux);
        item.member = send ? peer : r->world;
        if (begun)
            fv_collect_set_begun(&item, begun);
        if (!send) {
            fv_collect_dependency(r, t, &number)->kind = t->traits & FV_CALL_TEST ? FV_WS_NONE : FV_WS_NXN;
            item.extra = t->line;
            item.reply = number;
        }
        fv_collect_tell(r, &item);
    }
}

void fv_collect_collective(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m,
                           const struct fv_pending *begun)
{
    const struct fv_def_comm *comm = &r->all->merge->defs.comms[m->ref];
    struct collective c = form_of(m->op);
    struct fv_item item = fv_collect_item(t, FV_ITEM_GROUP, ~fv_mix2(m->ref, m->aux));
    bool moves = c.wait != FV_WS_BARRIER && c.wait != FV_WS_CREATE;

    if (m->aux == FV_NONE || comm->flags & FV_COMM_SELF || t->traits & (FV_CALL_INIT | FV_CALL_FINALIZE))
        return;
    if (m->tag) {
        put_neighbourhood(r, t, m, begun);
        return;
    }
    if (begun)
        fv_collect_set_begun(&item, begun);
    else
        item.flags |= FV_ITEM_BLOCKING;
    uint32_t root = m->peer == FV_PEER_SELF   ? r->world
                    : m->peer >= FV_PEER_OURS ? FV_NONE
                                              : fv_groups_peer(r->all->groups, m->ref, r->world, m->peer);
    item.form = (uint8_t)c.form;
    item.wait = (uint8_t)(fv_form_gives(c.form, root == r->world) ? FV_WS_LATE_TAKER : c.wait);
    item.member = r->world;
    item.expected = fv_groups_traced(r->all->groups, m->ref);
    item.flags |= (uint8_t)((!moves || m->sent ? FV_ITEM_GIVES : 0) | (!moves || m->received ? FV_ITEM_TAKES : 0) |
                            (root == r->world ? FV_ITEM_ROOT : 0));
    fv_collect_group(r, t, item, m->ref,
                     c.form == FV_FORM_LOWER ? fv_groups_rank(r->all->groups, m->ref, r->world) : m->time_ns);
}

/* Once all had begun, it may have waited for progress. */
void fv_collect_withheld(struct fv_steps *steps, struct fv_step *s, const struct fv_answer *a)
{
    uint64_t from = fv_step_ready(steps, s);

    from = a->outside > from ? a->outside : from;
    if (a->part_ns != UINT32_MAX && fv_progress_is_wait(from, a->ns, a->ns + a->part_ns)) /* clipped: how long it took
                                                                                           * is not known */
        fv_step_withhold(steps, s, a->ns, a->cause_line, a->cause_step, a->cause_site);
}

void fv_collect_request(struct fv_rank_collect *r, const struct fv_call_thread *t, uint64_t id, uint64_t key)
{
    fv_pendings_add(
        &r->begun,
        &(struct fv_pending){
            .number = id, .sent = t->begin, .received = key, .ref = t->line, .peer = t->site, .tag = t->first });
}

void fv_collect_request_end(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    struct fv_pending *p = fv_pendings_find(&r->begun, m->id);

    if (!p)
        return;
    struct fv_pending begun = *p;
    fv_pendings_remove(&r->begun, p);
    fv_collect_collective(r, t, m, &begun);
}
