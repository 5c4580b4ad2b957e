/* SPDX-License-Identifier: BSD-3-Clause */
/* See collect.h: operations that have no number and are counted; epochs and locks of windows. */
#include "analysis/collect_state.h"

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

#define OF_FILE (UINT64_C(1) << 63) /* number of a file's operation, beside those of requests */

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

static struct fv_item item_of_all(const struct fv_rank_collect *r, const struct fv_call_thread *t, uint64_t key,
                                  uint32_t comm, enum fv_wait_state wait)
{
    struct fv_item item = fv_collect_item(t, FV_ITEM_GROUP, key);

    item.form = FV_FORM_ALL;
    item.wait = (uint8_t)wait;
    item.flags = FV_ITEM_GIVES | FV_ITEM_TAKES;
    item.member = r->world;
    item.expected = comm == FV_NONE ? r->all->traced : fv_groups_traced(r->all->groups, comm);
    return item;
}

/* An operation that all ranks of a communicator take part in and that has no number: they are counted. */
static uint64_t key_of(struct fv_rank_collect *r, uint64_t what)
{
    return fv_mix2(fv_mix(what), count(r, what));
}

static void put_together(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t what, uint32_t comm,
                         enum fv_wait_state wait, uint64_t end)
{
    struct fv_item item = item_of_all(r, t, key_of(r, what), comm, wait);

    item.flags |= FV_ITEM_BLOCKING;
    fv_collect_group(r, t, item, comm, end);
}

void fv_collect_whole(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t end)
{
    if (t->traits & FV_CALL_INIT)
        put_together(r, t, SPACE_START, FV_NONE, FV_WS_INIT, end);
    else if (t->traits & FV_CALL_FINALIZE)
        put_together(r, t, SPACE_END, FV_NONE, FV_WS_FINALIZE, end);
}

/* peer: FV_PEER_ALL, all of them. */
static bool is_used(const struct used_target *u, uint32_t window, uint32_t peer)
{
    return u->window == window && (peer == FV_PEER_ALL || u->peer == peer);
}

/* They have been waited for, or the window is gone. */
static void forget_targets(struct fv_rank_collect *r, uint32_t window, uint32_t peer)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < r->used.count; i++)
        if (!is_used(&r->used.of[i], window, peer))
            r->used.of[kept++] = r->used.of[i];
    r->used.count = kept;
}

void fv_collect_window(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    const struct fv_def_window *w = &r->all->merge->defs.windows[m->ref];

    if (w->owner == FV_NOBODY)
        put_together(r, t, (uint64_t)SPACE_WINDOW << 56 | (uint64_t)(m->op != FV_OP_BARRIER) << 32 | m->ref, w->comm,
                     m->op == FV_OP_BARRIER ? FV_WS_FENCE : FV_WS_CREATE, m->time_ns);
    r->last_op_ns = m->time_ns;
    forget_targets(r, m->ref, FV_PEER_ALL);
}

void fv_collect_file(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    const struct fv_def_handle *h = &r->all->merge->defs.handles[m->ref];
    bool moves = m->kind == FV_REC_IO_BEGIN;
    uint64_t what = (uint64_t)SPACE_FILE << 56 | (uint64_t)moves << 32 | m->ref;

    if (h->owner != FV_NOBODY || (moves && !(m->op & FV_IO_COLLECTIVE)))
        return;
    if (moves && m->op & FV_IO_ASYNC)
        fv_collect_request(r, t, OF_FILE | m->id, key_of(r, what));
    else
        put_together(r, t, what, h->comm, moves ? FV_WS_IO : FV_WS_CREATE, UINT64_MAX);
}

/* Of a non-blocking operation of all ranks: its call waits as that of other collective operations. */
void fv_collect_file_end(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    const struct fv_def_handle *h = &r->all->merge->defs.handles[m->ref];
    struct fv_pending *p = fv_pendings_find(&r->begun, OF_FILE | m->id);

    if (!p)
        return;
    struct fv_pending begun = *p;
    fv_pendings_remove(&r->begun, p);
    struct fv_item item = item_of_all(r, t, begun.received, h->comm, FV_WS_IO);
    fv_collect_set_begun(&item, &begun);
    fv_collect_group(r, t, item, h->comm, m->time_ns);
}

/* ---- epochs of windows: tokens from one rank to another, as messages ---- */

static void tokens(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m, enum space space,
                   bool send, enum fv_wait_state wait)
{
    const struct fv_defs *d = &r->all->merge->defs;

    for (uint32_t i = 0; i < d->groups[m->aux].count; i++) {
        uint32_t peer = d->groups[m->aux].ranks[i];
        uint64_t key = fv_collect_channel(~m->ref, send ? r->world : peer, send ? peer : r->world, space);
        struct fv_item item = fv_collect_item(t, send ? FV_ITEM_SEND : FV_ITEM_RECEIVE, ~key);

        if (peer >= d->world_size || r->all->groups->rank_of_world[peer] == FV_NONE)
            continue;
        item.member = send ? peer : r->world;
        item.extra = send ? r->last_op_ns : t->line;
        if (!send) {
            uint32_t number;
            struct fv_step *s = fv_collect_dependency(r, t, &number);

            s->kind = (uint8_t)wait;
            s->flags |= wait == FV_WS_LATE_POST ? FV_STEP_STRICT : 0;
            item.reply = number;
        }
        fv_collect_tell(r, &item);
    }
}

void fv_collect_epoch(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    switch (r->all->merge->calls[t->function].sync) {
    case FV_RMA_POST: /* start or complete may wait for it */
        tokens(r, t, m, SPACE_POST, true, FV_WS_NONE);
        tokens(r, t, m, SPACE_POST_AGAIN, true, FV_WS_NONE);
        break;
    case FV_RMA_START: tokens(r, t, m, SPACE_POST, false, FV_WS_LATE_POST); break;
    case FV_RMA_COMPLETE:
        tokens(r, t, m, SPACE_POST_AGAIN, false, FV_WS_LATE_POST);
        tokens(r, t, m, SPACE_COMPLETE, true, FV_WS_NONE);
        forget_targets(r, m->ref, FV_PEER_ALL);
        break;
    case FV_RMA_WAIT:
        tokens(r, t, m, SPACE_COMPLETE, false, t->traits & FV_CALL_TEST ? FV_WS_NONE : FV_WS_EARLY_WAIT);
        break;
    default: break;
    }
}

/* ---- locks of windows ---- */

static uint64_t lock_key(const struct fv_rank_collect *r, const struct fv_record *m)
{
    const struct fv_def_window *w = &r->all->merge->defs.windows[m->ref];

    return w->owner == FV_NOBODY && m->peer != FV_PEER_ALL ? fv_mix2((uint64_t)SPACE_LOCK << 56 | m->ref, m->peer) : 0;
}

/* The target may have to take part: progress.h. number: of the step that says so. */
static void needs_target(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m, uint32_t peer,
                         uint32_t *number)
{
    const struct fv_def_window *w = &r->all->merge->defs.windows[m->ref];
    uint32_t target = w->owner == FV_NOBODY ? fv_groups_peer(r->all->groups, w->comm, r->world, peer) : FV_NONE;
    struct fv_step *s = fv_collect_dependency(r, t, number);

    if (target == FV_NONE || r->all->groups->rank_of_world[target] == FV_NONE)
        return;
    s->kind = FV_WS_NO_PROGRESS;
    s->cause_line = r->all->steps->first_line[r->all->groups->rank_of_world[target]];
}

void fv_collect_operation(struct fv_rank_collect *r, const struct fv_record *m)
{
    struct used_targets *u = &r->used;
    uint32_t i = 0;

    r->last_op_ns = m->time_ns;
    while (i < u->count && !is_used(&u->of[i], m->ref, m->peer))
        i++;
    if (i == u->count && i < USED_TARGETS)
        u->of[u->count++] = (struct used_target){ m->ref, m->peer };
}

/* Of a request, for which a call may have waited. */
void fv_collect_operation_end(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    uint32_t number;

    if (m->aux && !(t->traits & FV_CALL_TEST))
        needs_target(r, t, m, m->peer, &number);
}

/* A call that waits for operations on one target, or on all of them. */
void fv_collect_flush(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    uint32_t number;

    for (uint32_t i = 0; i < r->used.count; i++)
        if (is_used(&r->used.of[i], m->ref, m->peer))
            needs_target(r, t, m, r->used.of[i].peer, &number);
    forget_targets(r, m->ref, m->peer);
}

void fv_collect_lock(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    uint64_t key = lock_key(r, m);
    uint32_t number;

    if (!key)
        return;
    FV_GROW(r->locks, r->lock_room, r->lock_count + 1);
    needs_target(r, t, m, m->peer, &number);
    r->locks[r->lock_count++] = (struct held_lock){ key, t->begin, m->time_ns, t->line, t->site, number, m->op != 0 };
}

void fv_collect_unlock(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    uint64_t key = lock_key(r, m);
    size_t i = 0;

    while (i < r->lock_count && r->locks[i].key != key)
        i++;
    if (!key || i == r->lock_count)
        return;
    struct held_lock l = r->locks[i];
    r->locks[i] = r->locks[--r->lock_count];
    struct fv_item item = fv_collect_item(t, FV_ITEM_LOCK, key);
    needs_target(r, t, m, m->peer, &item.step);
    forget_targets(r, m->ref, m->peer);
    item.ns = l.begin;
    item.extra = l.end;
    item.end = t->begin;
    item.reply = m->time_ns;
    item.member = l.line;
    item.expected = l.step;
    item.flags = l.shared ? FV_ITEM_SHARED : 0;
    fv_collect_tell(r, &item);
}
