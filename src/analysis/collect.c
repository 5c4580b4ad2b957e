/* See collect.h. */
#include "analysis/collect.h"
#include "analysis/receives.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is under way on a rank ---- */

/* The call that a thread is in. */
struct thread {
    uint32_t line, first; /* first: its step */
    uint32_t used;        /* dependencies so far */
    uint32_t site;
    uint32_t function;
    uint8_t traits;
    uint64_t begin, off; /* off: since when recording is paused; 0: it is not */
};

/* What is counted so that it has the same number on all ranks: operations on windows and files. */
struct counter {
    uint64_t key;
    uint64_t count;
};

struct held_lock {
    uint64_t key, begin, end;
    uint32_t line, site, step;
    bool shared;
};

/* Whom the rank exchanges with in the neighbourhood of a communicator. */
struct neighbours {
    uint32_t comm;
    const struct fv_neighbours *record; /* sources, then destinations: ranks in the communicator */
};

struct fv_rank_collect {
    struct fv_sink sink; /* first: a sink is one of these */
    struct fv_collect *all;
    uint32_t world;
    struct thread *threads;
    uint32_t thread_count;
    struct fv_receives posted;
    struct fv_pendings receives;     /* by request: among the posted */
    struct fv_pendings begun;        /* collectives: time, line, site and step of their beginning */
    struct fv_pendings sends;        /* by number of the send: see end_send() */
    struct fv_pendings send_numbers; /* by request: number and receiver of the send */
    struct fv_pendings matched;      /* requests of matched probes: they were told with the probe */
    uint64_t send_count;
    struct fv_pendings cancelled; /* sends that take no part: see fv_collect_look_ahead() */
    struct counter *counters;
    size_t counter_count, counter_room;
    struct fv_index counter_index;
    struct held_lock *locks;
    size_t lock_count, lock_room;
    struct neighbours *neighbours; /* few: communicators with a topology */
    size_t neighbour_count, neighbour_room;
    uint64_t last_op_ns; /* end of the last operation on a window */
    bool failed;
};

void fv_collect_init(struct fv_collect *c, const struct fv_merge *m, const struct fv_sites *sites,
                     const struct fv_groups *groups, struct fv_steps *steps)
{
    *c = (struct fv_collect){ .merge = m, .sites = sites, .groups = groups, .steps = steps };
    c->traits = fv_xcalloc(m->defs.function_count + 1, 1);
    for (size_t i = 0; i < m->defs.function_count; i++)
        c->traits[i] = (uint8_t)fv_call_traits(m->defs.functions[i].name);
    for (uint32_t i = 0; i < m->defs.rank_count; i++)
        c->traced += m->defs.ranks[i].traced != 0;
}

void fv_collect_release(struct fv_collect *c)
{
    free(c->traits);
    free(c->items);
}

/* ---- steps ---- */

/* The step that holds the next dependency of the call: its own, then one more each. */
static struct fv_step *dependency(struct fv_rank_collect *r, struct thread *t, uint32_t *number)
{
    static struct fv_step nowhere;
    struct fv_steps *steps = r->all->steps;

    if (!t->used++) {
        *number = t->first;
        return fv_step(steps, t->line, t->first);
    }
    *number = steps->lines[t->line].count;
    struct fv_step *s = fv_steps_add(steps, t->line);
    if (!s) {
        r->failed = true;
        nowhere = (struct fv_step){ 0 };
        return &nowhere;
    }
    s->begin = t->begin;
    s->site = t->site;
    s->flags = FV_STEP_MORE;
    s->cause_line = s->comm = FV_NONE;
    return s;
}

static void begin_step(struct fv_rank_collect *r, struct thread *t, uint64_t ns, uint32_t site)
{
    struct fv_step *s = fv_steps_add(r->all->steps, t->line);

    t->used = 0;
    t->site = site;
    t->begin = ns;
    if (!s) {
        r->failed = true;
        return;
    }
    t->first = r->all->steps->lines[t->line].count - 1;
    s->begin = s->end = ns;
    s->site = site;
    s->cause_line = s->comm = FV_NONE;
}

static void end_step(struct fv_rank_collect *r, struct thread *t, uint64_t ns)
{
    struct fv_steps *steps = r->all->steps;

    for (uint32_t i = t->first; i < steps->lines[t->line].count; i++)
        fv_step(steps, t->line, i)->end = ns;
}

/* ---- telling ---- */

static void tell(struct fv_rank_collect *r, const struct fv_item *item)
{
    struct fv_collect *c = r->all;

    FV_GROW(c->items, c->room, c->count + 1);
    c->items[c->count++] = *item;
}

static struct fv_item item_of(const struct thread *t, enum fv_item_kind kind, uint64_t key)
{
    return (struct fv_item){ .key = key,
                             .ns = t->begin,
                             .line = t->line,
                             .site = t->site,
                             .step = t->first,
                             .reply = FV_NONE,
                             .kind = (uint8_t)kind };
}

static uint64_t channel(uint32_t space, uint32_t from, uint32_t to, uint32_t tag)
{
    return fv_mix2(fv_mix2(space, (uint64_t)from << 32 | to), tag);
}

/* The item's key and receiver. False: the peer is not known. */
static bool address(struct fv_rank_collect *r, const struct fv_record *m, bool sent, struct fv_item *item)
{
    uint32_t peer = fv_groups_peer(r->all->groups, m->ref, r->world, m->peer);

    if (peer == FV_NONE || r->all->groups->rank_of_world[peer] == FV_NONE) {
        r->all->unknown++;
        return false;
    }
    item->key = sent ? channel(m->ref, r->world, peer, m->tag) : channel(m->ref, peer, r->world, m->tag);
    item->member = sent ? peer : r->world;
    return true;
}

/* ---- sends ---- */

/* Of its first thread. */
static uint32_t line_of_world(const struct fv_rank_collect *r, uint32_t world)
{
    return r->all->steps->first_line[r->all->groups->rank_of_world[world]];
}

static void put_send(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    struct fv_item item = item_of(t, FV_ITEM_SEND, 0);

    if ((m->kind == FV_REC_ISEND && fv_pendings_find(&r->cancelled, m->id)) || !address(r, m, true, &item))
        return;
    if (m->kind == FV_REC_SEND) {
        uint32_t number;
        struct fv_step *s = dependency(r, t, &number);

        s->kind = FV_WS_LATE_RECEIVER;
        s->flags |= FV_STEP_STRICT;
        s->cause_line = line_of_world(r, item.member);
        item.reply = number;
    } else {
        item.flags = FV_ITEM_LATER;
        item.reply = ++r->send_count;
        fv_pendings_add(&r->send_numbers,
                        &(struct fv_pending){ .number = m->id, .sent = r->send_count, .ref = item.member });
        fv_pendings_add(&r->sends, &(struct fv_pending){ .number = r->send_count });
    }
    tell(r, &item);
}

static void set_cause(struct fv_step *s, const struct fv_answer *a)
{
    s->cause_ns = a->ns;
    s->cause_line = a->cause_line;
    s->cause_site = a->cause_site;
    s->cause_step = a->cause_step;
    s->part_ns = a->part_ns;
    s->flags |= FV_STEP_KNOWN;
    if (a->lock) {
        s->kind = FV_WS_LOCK;
        s->flags |= FV_STEP_STRICT;
    }
}

/* A non-blocking send: the answer and the call that completes it come in any order; the first waits here for
 * the second. kind: 0 nothing yet, 1 completed by the step (ref, peer: line, step), 2 answered. */
static void end_send(struct fv_rank_collect *r, struct thread *t, uint64_t id)
{
    struct fv_pending *n = fv_pendings_find(&r->send_numbers, id);

    if (!n)
        return;
    struct fv_pending *p = fv_pendings_find(&r->sends, n->sent);
    uint32_t receiver = n->ref;
    fv_pendings_remove(&r->send_numbers, n);
    if (!p)
        return;
    uint32_t number;
    struct fv_step *s = dependency(r, t, &number);
    s->kind = t->traits & FV_CALL_TEST ? FV_WS_NONE : FV_WS_LATE_RECEIVER;
    s->flags |= FV_STEP_STRICT;
    s->cause_line = line_of_world(r, receiver);
    if (p->kind == 2) {
        set_cause(s, &(struct fv_answer){
                         .ns = p->sent, .cause_line = p->ref, .cause_site = p->peer, .cause_step = p->tag });
        fv_pendings_remove(&r->sends, p);
    } else {
        p->kind = 1;
        p->ref = t->line;
        p->peer = number;
    }
}

static void answer_send(struct fv_rank_collect *r, const struct fv_answer *a)
{
    struct fv_pending *p = fv_pendings_find(&r->sends, a->reply);

    if (!p)
        return;
    if (p->kind == 1) {
        set_cause(fv_step(r->all->steps, p->ref, p->peer), a);
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

static void tell_receive(void *context, const struct fv_item *item)
{
    tell(context, item);
}

/* The message has come, within the thread's present call. False: whose it is is not known. */
static bool received(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m,
                     struct fv_item *item)
{
    uint32_t number;

    if (!address(r, m, false, item))
        return false;
    dependency(r, t, &number)->kind = t->traits & FV_CALL_TEST ? FV_WS_NONE : FV_WS_LATE_SENDER;
    item->reply = number;
    item->extra = t->line; /* that completed it, which need not be the one that posted it */
    return true;
}

static void receive_now(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    struct fv_item item = item_of(t, FV_ITEM_RECEIVE, 0);

    if (received(r, t, m, &item))
        fv_receives_now(&r->posted, envelope_of(m), &item);
}

static void put_receive(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    struct fv_pending *matched = m->id ? fv_pendings_find(&r->matched, m->id) : NULL;

    if (matched)
        fv_pendings_remove(&r->matched, matched);
    else
        receive_now(r, t, m);
}

/* A matched probe is where the message is waited for. */
static void put_matched(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    fv_pendings_add(&r->matched, &(struct fv_pending){ .number = m->id });
    receive_now(r, t, m);
}

static void put_posted(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    if (t->traits & FV_CALL_IMRECV) /* its message was told with the probe */
        return;
    struct fv_item item = item_of(t, FV_ITEM_RECEIVE, 0);
    fv_pendings_add(
        &r->receives,
        &(struct fv_pending){ .number = m->id, .ref = fv_receives_post(&r->posted, envelope_of(m), &item) });
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

static void end_receive(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
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
static void put_cancel(struct fv_rank_collect *r, const struct fv_record *m)
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

/* ---- groups ---- */

/* The operation was entered where its request was made. */
static void set_begun(struct fv_item *item, const struct fv_pending *begun)
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

/* The waiting call is the thread's present one; the item says where the rank entered the operation. */
static void put_group(struct fv_rank_collect *r, struct thread *t, struct fv_item item, uint32_t comm,
                      uint64_t end)
{
    uint32_t number;
    struct fv_step *s = dependency(r, t, &number);

    s->kind = t->traits & FV_CALL_TEST ? FV_WS_NONE : item.wait;
    s->comm = comm;
    s->instance = (uint32_t)(item.key >> 32);
    if (item.form == FV_FORM_ALL)
        s->flags |= FV_STEP_ALL;
    if (item.wait == FV_WS_CREATE || item.wait == FV_WS_FENCE || item.wait == FV_WS_IO)
        s->flags |= FV_STEP_STRICT; /* it need not synchronise */
    item.reply = number;
    item.extra = t->line;
    item.end = end;
    if (item.expected > 1)
        tell(r, &item);
}

/* As a message to each destination, and one from each source. */
static void put_neighbourhood(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m,
                              const struct fv_pending *begun)
{
    const struct fv_neighbours *n = neighbours_in(r, m->ref);

    r->all->unknown += !n || n->listed != n->sources + n->destinations;
    for (uint32_t i = 0; n && i < n->listed; i++) {
        bool send = i >= n->sources;
        uint32_t peer = fv_groups_peer(r->all->groups, m->ref, r->world, (uint32_t)n->rank[i]), number;
        struct fv_item item = item_of(t, send ? FV_ITEM_SEND : FV_ITEM_RECEIVE, 0);

        if (peer == FV_NONE || r->all->groups->rank_of_world[peer] == FV_NONE)
            continue;
        item.key = ~channel(m->ref, send ? r->world : peer, send ? peer : r->world, m->aux);
        item.member = send ? peer : r->world;
        if (begun)
            set_begun(&item, begun);
        if (!send) {
            dependency(r, t, &number)->kind = t->traits & FV_CALL_TEST ? FV_WS_NONE : FV_WS_NXN;
            item.extra = t->line;
            item.reply = number;
        }
        tell(r, &item);
    }
}

static void put_collective(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m,
                           const struct fv_pending *begun)
{
    const struct fv_def_comm *comm = &r->all->merge->defs.comms[m->ref];
    struct collective c = form_of(m->op);
    struct fv_item item = item_of(t, FV_ITEM_GROUP, ~fv_mix2(m->ref, m->aux));
    bool moves = c.wait != FV_WS_BARRIER && c.wait != FV_WS_CREATE;

    if (m->aux == FV_NONE || comm->flags & FV_COMM_SELF || t->traits & (FV_CALL_INIT | FV_CALL_FINALIZE))
        return;
    if (m->tag) {
        put_neighbourhood(r, t, m, begun);
        return;
    }
    if (begun)
        set_begun(&item, begun);
    else
        item.flags |= FV_ITEM_BLOCKING;
    uint32_t root = m->peer == FV_PEER_SELF   ? r->world
                    : m->peer >= FV_PEER_OURS ? FV_NONE
                                              : fv_groups_peer(r->all->groups, m->ref, r->world, m->peer);
    item.form = (uint8_t)c.form;
    item.wait = (uint8_t)c.wait;
    item.member = r->world;
    item.expected = fv_groups_traced(r->all->groups, m->ref);
    item.flags |=
        (uint8_t)((!moves || m->sent ? FV_ITEM_GIVES : 0) | (!moves || m->received ? FV_ITEM_TAKES : 0) |
                  (root == r->world ? FV_ITEM_ROOT : 0));
    put_group(r, t, item, m->ref, m->time_ns);
}

static void begin_request(struct fv_rank_collect *r, const struct thread *t, uint64_t id)
{
    fv_pendings_add(&r->begun,
                    &(struct fv_pending){
                        .number = id, .sent = t->begin, .ref = t->line, .peer = t->site, .tag = t->first });
}

static void end_collective(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    struct fv_pending *p = fv_pendings_find(&r->begun, m->id);

    if (!p)
        return;
    struct fv_pending begun = *p;
    fv_pendings_remove(&r->begun, p);
    put_collective(r, t, m, &begun);
}

/* How often it was counted before. */
static uint64_t count(struct fv_rank_collect *r, uint64_t key)
{
    struct fv_index_probe p = fv_index_probe(&r->counter_index, key);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (r->counters[i].key == key)
            return r->counters[i].count++;
    FV_GROW(r->counters, r->counter_room, r->counter_count + 1);
    r->counters[r->counter_count] = (struct counter){ key, 1 };
    fv_index_add(&r->counter_index, key, (uint32_t)r->counter_count++);
    return 0;
}

enum space {
    SPACE_WINDOW = 1,
    SPACE_FILE,
    SPACE_START,
    SPACE_END,
    SPACE_POST,
    SPACE_POST_AGAIN,
    SPACE_COMPLETE,
    SPACE_LOCK
};

/* An operation that all ranks of a communicator take part in and that has no number: they are counted. */
static void put_together(struct fv_rank_collect *r, struct thread *t, uint64_t what, uint32_t comm,
                         enum fv_wait_state wait, uint64_t end)
{
    struct fv_item item = item_of(t, FV_ITEM_GROUP, fv_mix2(fv_mix(what), count(r, what)));

    item.form = FV_FORM_ALL;
    item.wait = (uint8_t)wait;
    item.flags = FV_ITEM_GIVES | FV_ITEM_TAKES | FV_ITEM_BLOCKING;
    item.member = r->world;
    item.expected = comm == FV_NONE ? r->all->traced : fv_groups_traced(r->all->groups, comm);
    put_group(r, t, item, comm, end);
}

static void put_whole(struct fv_rank_collect *r, struct thread *t, uint64_t end)
{
    if (t->traits & FV_CALL_INIT)
        put_together(r, t, SPACE_START, FV_NONE, FV_WS_INIT, end);
    else if (t->traits & FV_CALL_FINALIZE)
        put_together(r, t, SPACE_END, FV_NONE, FV_WS_FINALIZE, end);
}

static void put_window(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    const struct fv_def_window *w = &r->all->merge->defs.windows[m->ref];

    if (w->owner == FV_NOBODY)
        put_together(r, t, (uint64_t)SPACE_WINDOW << 56 | (uint64_t)(m->op != FV_OP_BARRIER) << 32 | m->ref,
                     w->comm, m->op == FV_OP_BARRIER ? FV_WS_FENCE : FV_WS_CREATE, m->time_ns);
    r->last_op_ns = m->time_ns;
}

static void put_file(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    const struct fv_def_handle *h = &r->all->merge->defs.handles[m->ref];
    bool moves = m->kind == FV_REC_IO_BEGIN;

    if (h->owner != FV_NOBODY || (moves && (m->op & (FV_IO_COLLECTIVE | FV_IO_ASYNC)) != FV_IO_COLLECTIVE))
        return;
    put_together(r, t, (uint64_t)SPACE_FILE << 56 | (uint64_t)moves << 32 | m->ref, h->comm,
                 moves ? FV_WS_IO : FV_WS_CREATE, UINT64_MAX);
}

/* ---- epochs of windows: tokens from one rank to another, as messages ---- */

static void tokens(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m, enum space space,
                   bool send, enum fv_wait_state wait)
{
    const struct fv_defs *d = &r->all->merge->defs;

    for (uint32_t i = 0; i < d->groups[m->aux].count; i++) {
        uint32_t peer = d->groups[m->aux].ranks[i];
        uint64_t key = channel(~m->ref, send ? r->world : peer, send ? peer : r->world, space);
        struct fv_item item = item_of(t, send ? FV_ITEM_SEND : FV_ITEM_RECEIVE, ~key);

        if (peer >= d->world_size || r->all->groups->rank_of_world[peer] == FV_NONE)
            continue;
        item.member = send ? peer : r->world;
        item.extra = send ? r->last_op_ns : t->line;
        if (!send) {
            uint32_t number;
            struct fv_step *s = dependency(r, t, &number);

            s->kind = (uint8_t)wait;
            s->flags |= wait == FV_WS_LATE_POST ? FV_STEP_STRICT : 0;
            item.reply = number;
        }
        tell(r, &item);
    }
}

static void put_epoch(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    switch (r->all->merge->calls[t->function].sync) {
    case FV_SYNC_POST: /* start or complete may wait for it */
        tokens(r, t, m, SPACE_POST, true, FV_WS_NONE);
        tokens(r, t, m, SPACE_POST_AGAIN, true, FV_WS_NONE);
        break;
    case FV_SYNC_START: tokens(r, t, m, SPACE_POST, false, FV_WS_LATE_POST); break;
    case FV_SYNC_COMPLETE:
        tokens(r, t, m, SPACE_POST_AGAIN, false, FV_WS_LATE_POST);
        tokens(r, t, m, SPACE_COMPLETE, true, FV_WS_NONE);
        break;
    case FV_SYNC_WAIT:
        tokens(r, t, m, SPACE_COMPLETE, false, t->traits & FV_CALL_TEST ? FV_WS_NONE : FV_WS_EARLY_WAIT);
        break;
    default: break;
    }
}

/* ---- locks of windows ---- */

static uint64_t lock_key(const struct fv_rank_collect *r, const struct fv_record *m)
{
    const struct fv_def_window *w = &r->all->merge->defs.windows[m->ref];

    return w->owner == FV_NOBODY && m->peer != FV_PEER_ALL
               ? fv_mix2((uint64_t)SPACE_LOCK << 56 | m->ref, m->peer)
               : 0;
}

static void put_lock(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    uint64_t key = lock_key(r, m);
    uint32_t number;

    if (!key)
        return;
    FV_GROW(r->locks, r->lock_room, r->lock_count + 1);
    dependency(r, t, &number)->kind = FV_WS_NONE;
    r->locks[r->lock_count++] =
        (struct held_lock){ key, t->begin, m->time_ns, t->line, t->site, number, m->op != 0 };
}

static void put_unlock(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    uint64_t key = lock_key(r, m);
    size_t i = 0;

    while (i < r->lock_count && r->locks[i].key != key)
        i++;
    if (!key || i == r->lock_count)
        return;
    struct held_lock l = r->locks[i];
    r->locks[i] = r->locks[--r->lock_count];
    struct fv_item item = item_of(t, FV_ITEM_LOCK, key);
    dependency(r, t, &item.step)->kind = FV_WS_NONE;
    item.ns = l.begin;
    item.extra = l.end;
    item.end = t->begin;
    item.reply = m->time_ns;
    item.member = l.line;
    item.expected = l.step;
    item.flags = l.shared ? FV_ITEM_SHARED : 0;
    tell(r, &item);
}

/* ---- records ---- */

static void enter(struct fv_rank_collect *r, struct thread *t, const struct fv_record *m)
{
    t->function = m->ref;
    t->traits = r->all->traits[m->ref];
    begin_step(r, t, m->time_ns, fv_sites_find(r->all->sites, m->ref, m->context));
    if (t->traits & FV_CALL_PROBE && !r->failed)
        fv_step(r->all->steps, t->line, t->first)->flags |= FV_STEP_PROBE;
}

static void measure(struct fv_rank_collect *r, struct thread *t, bool on, uint64_t ns)
{
    if (!on) {
        t->off = ns + !ns;
        return;
    }
    if (!t->off)
        return;
    begin_step(r, t, t->off, FV_NONE);
    if (!r->failed) {
        struct fv_step *s = fv_step(r->all->steps, t->line, t->first);

        s->flags = FV_STEP_PAUSE;
        s->end = ns;
    }
    t->off = 0;
}

static void end_program(struct fv_rank_collect *r, struct thread *t, uint64_t ns)
{
    measure(r, t, true, ns);
    r->all->steps->lines[t->line].end_ns = ns;
    begin_step(r, t, ns, FV_NONE);
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct fv_rank_collect *r = (struct fv_rank_collect *)(void *)sink;
    struct thread *t = &r->threads[slot];
    struct fv_line *l = &r->all->steps->lines[t->line];

    if (slot) { /* a thread is there from its first event to its last */
        l->begin_ns = l->count ? l->begin_ns : m->time_ns;
        l->end_ns = m->time_ns;
    }
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_PROGRAM_BEGIN: l->begin_ns = m->time_ns; break;
    case FV_REC_PROGRAM_END: end_program(r, t, m->time_ns); break;
    case FV_REC_MEASURE: measure(r, t, m->op, m->time_ns); break;
    case FV_REC_ENTER: enter(r, t, m); break;
    case FV_REC_LEAVE:
        put_whole(r, t, m->time_ns);
        end_step(r, t, m->time_ns);
        break;
    case FV_REC_SEND:
    case FV_REC_ISEND: put_send(r, t, m); break;
    case FV_REC_RECEIVE: put_receive(r, t, m); break;
    case FV_REC_MATCHED: put_matched(r, t, m); break;
    case FV_REC_IRECEIVE: put_posted(r, t, m); break;
    case FV_REC_ISEND_END: end_send(r, t, m->id); break;
    case FV_REC_IRECEIVE_END: end_receive(r, t, m); break;
    case FV_REC_CANCEL: put_cancel(r, m); break;
    case FV_REC_COLL_END: put_collective(r, t, m, NULL); break;
    case FV_REC_ICOLL_BEGIN: begin_request(r, t, m->id); break;
    case FV_REC_ICOLL_END: end_collective(r, t, m); break;
    case FV_REC_RMA_COLL_END: put_window(r, t, m); break;
    case FV_REC_RMA_GROUP: put_epoch(r, t, m); break;
    case FV_REC_RMA_LOCK: put_lock(r, t, m); break;
    case FV_REC_RMA_UNLOCK: put_unlock(r, t, m); break;
    case FV_REC_RMA_PUT:
    case FV_REC_RMA_GET:
    case FV_REC_RMA_ATOMIC: r->last_op_ns = m->time_ns; break;
    case FV_REC_IO_OPEN:
    case FV_REC_IO_CLOSE:
    case FV_REC_IO_BEGIN: put_file(r, t, m); break;
    default: break;
    }
    return !r->failed;
}

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static bool close_look_ahead(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct fv_rank_collect *r = (struct fv_rank_collect *)(void *)sink;
    struct thread *t = &r->threads[slot];

    if (slot && t->off)
        measure(r, t, true, r->all->steps->lines[t->line].end_ns);
    return !r->failed;
}

static void find_neighbours(struct fv_rank_collect *r, const struct fv_merge_file *file)
{
    struct fv_cursor c = fv_cursor(file->reader, FV_CHUNK_NEIGHBOURS);

    for (const struct fv_neighbours *n; (n = fv_cursor_next(&c));) {
        uint32_t comm = n->comm < file->map.comm_count ? file->map.comms[n->comm] : FV_NONE;

        if (comm == FV_NONE)
            continue;
        FV_GROW(r->neighbours, r->neighbour_room, r->neighbour_count + 1);
        r->neighbours[r->neighbour_count++] = (struct neighbours){ comm, n };
    }
}

struct fv_rank_collect *fv_collect_rank(struct fv_collect *c, const struct fv_merge_file *file)
{
    const struct fv_defs *d = &c->merge->defs;
    struct fv_rank_collect *r = fv_xcalloc(1, sizeof(*r));
    uint32_t rank = file->rank;

    r->all = c;
    r->world = d->ranks[rank].world_rank;
    r->thread_count = d->ranks[rank].thread_count;
    r->threads = fv_xcalloc(r->thread_count + 1, sizeof(*r->threads));
    for (uint32_t i = 0; i < r->thread_count; i++)
        r->threads[i] = (struct thread){ .line = c->steps->first_line[rank] + i, .site = FV_NONE };
    fv_receives_init(&r->posted, tell_receive, r);
    find_neighbours(r, file);
    r->sink = (struct fv_sink){ .context = r, .open = open_location, .put = put, .close = close_location };
    return r;
}

static bool put_cancelled(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct fv_rank_collect *r = sink->context;

    (void)slot;
    if (m->kind == FV_REC_CANCEL && !m->op)
        fv_pendings_add(&r->cancelled, &(struct fv_pending){ .number = m->id });
    return true;
}

struct fv_sink fv_collect_look_ahead(struct fv_rank_collect *r)
{
    return (struct fv_sink){
        .context = r, .open = open_location, .put = put_cancelled, .close = close_look_ahead
    };
}

struct fv_sink *fv_collect_sink(struct fv_rank_collect *r)
{
    return &r->sink;
}

void fv_collect_rest(struct fv_rank_collect *r)
{
    fv_receives_rest(&r->posted);
}

void fv_collect_answer(struct fv_rank_collect *r, const struct fv_answer *a)
{
    if (a->later)
        answer_send(r, a);
    else
        set_cause(fv_step(r->all->steps, a->line, (uint32_t)a->reply), a);
}

void fv_collect_rank_release(struct fv_rank_collect *r)
{
    fv_pendings_release(&r->receives);
    fv_pendings_release(&r->begun);
    fv_pendings_release(&r->sends);
    fv_pendings_release(&r->send_numbers);
    fv_pendings_release(&r->matched);
    fv_pendings_release(&r->cancelled);
    fv_index_release(&r->counter_index);
    free(r->counters);
    free(r->neighbours);
    free(r->locks);
    fv_receives_release(&r->posted);
    free(r->threads);
    free(r);
}
