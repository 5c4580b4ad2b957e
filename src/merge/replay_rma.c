/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication. An operation is complete where its request is, else where a synchronisation call
 * says so: at the target with MPI_Win_unlock, _flush, _complete and _fence, here alone with _flush_local. */
#include "merge/replay_state.h"

#include <stdlib.h>
#include <string.h>

static uint32_t window_of(const struct fv_rank_replay *r, uint64_t number)
{
    return fv_numbers_get(&r->map->windows, number);
}

static struct fv_rma_window *state_of(struct fv_rank_replay *r, uint64_t number)
{
    FV_GROW(r->windows, r->window_room, number + 1);
    for (; r->window_count <= number; r->window_count++)
        r->windows[r->window_count] = (struct fv_rma_window){ .exposed = FV_NONE, .accessed = FV_NONE };
    return &r->windows[number];
}

bool fv_rma_frame(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d, struct fv_record *frame)
{
    bool fence = d->kind == FV_EV_RMA_SYNC && s->info->sync == FV_RMA_FENCE;

    if ((d->kind != FV_EV_WIN_NEW && d->kind != FV_EV_WIN_GONE && !fence) || window_of(r, d->field[0]) == FV_NONE)
        return false;
    *frame = (struct fv_record){ .kind = FV_REC_RMA_COLL_END, .ref = window_of(r, d->field[0]) };
    frame->op = fence                       ? FV_OP_BARRIER
                : d->kind == FV_EV_WIN_GONE ? FV_OP_DESTROY_HANDLE
                : s->info->op == FV_OP_NONE ? FV_OP_CREATE_HANDLE
                                            : s->info->op;
    return true;
}

void fv_rma_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    uint32_t window = window_of(r, d->field[0]);
    struct fv_record record = { .ref = window, .peer = (uint32_t)d->field[1], .id = ++r->rma_ids };
    uint64_t request = d->field[3];

    if (window == FV_NONE || (int64_t)d->field[1] < 0)
        return;
    if (d->kind == FV_EV_PUT) {
        record.kind = FV_REC_RMA_PUT;
        record.sent = d->field[2];
    } else if (d->kind == FV_EV_GET) {
        record.kind = FV_REC_RMA_GET;
        record.received = d->field[2];
    } else {
        record.kind = FV_REC_RMA_ATOMIC;
        record.op = s->info->atomic;
        record.sent = d->field[2];
        record.received = d->field[3];
        request = d->field[4];
    }
    fv_rank_put(r, s, &record, s->begin);
    if (request) {
        fv_pendings_add(
            &r->pending,
            &(struct fv_pending){
                .number = request, .kind = FV_PENDING_RMA, .ref = window, .peer = record.peer, .sent = record.id });
        return;
    }
    struct fv_rma_window *w = state_of(r, d->field[0]);
    FV_GROW(w->ops, w->op_room, w->op_count + 1);
    w->ops[w->op_count++] = (struct fv_rma_op){ record.id, record.peer };
}

void fv_rma_done(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *was)
{
    fv_rank_put(
        r, s,
        &(struct fv_record){ .kind = FV_REC_RMA_END, .ref = was->ref, .peer = was->peer, .id = was->sent, .aux = 1 },
        s->end);
}

/* Operations to a peer, or to all, are complete: in the order in which they began. */
static void complete(struct fv_rank_replay *r, struct fv_stream *s, uint64_t number, uint32_t peer, bool there)
{
    struct fv_rma_window *w = state_of(r, number);
    size_t kept = 0;

    for (size_t i = 0; i < w->op_count; i++) {
        if (peer != FV_PEER_ALL && w->ops[i].peer != peer) {
            w->ops[kept++] = w->ops[i];
            continue;
        }
        fv_rank_put(
            r, s,
            &(struct fv_record){ .kind = FV_REC_RMA_END, .op = there, .ref = window_of(r, number), .id = w->ops[i].id },
            s->end);
    }
    w->op_count = kept;
}

/* Post, start, complete, wait. The group is told by MEMBER details that follow a post or start. */
static void group_sync(struct fv_rank_replay *r, struct fv_stream *s, uint32_t window, uint32_t group)
{
    bool ends = s->info->sync == FV_RMA_COMPLETE || s->info->sync == FV_RMA_WAIT;

    if (group != FV_NONE)
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_RMA_GROUP, .ref = window, .aux = group, .op = ends },
                    s->end);
}

/* Locks of a window are told apart by their target. */
static uint64_t lock_id(uint32_t peer)
{
    return peer == FV_PEER_ALL ? 0 : (uint64_t)peer + 1;
}

/* Was it seen to be taken? One that was while recording was paused is not given back in the archive. */
static bool take_lock(struct fv_rma_window *w, uint64_t id)
{
    for (size_t i = 0; i < w->lock_count; i++)
        if (w->locks[i] == id) {
            w->locks[i] = w->locks[--w->lock_count];
            return true;
        }
    return false;
}

static void begin_lock(struct fv_rank_replay *r, struct fv_stream *s, uint64_t number, int64_t rank, bool shared)
{
    uint32_t peer = rank < 0 ? FV_PEER_ALL : (uint32_t)rank;
    struct fv_rma_window *w = state_of(r, number);

    FV_GROW(w->locks, w->lock_room, w->lock_count + 1);
    w->locks[w->lock_count++] = lock_id(peer);
    fv_rank_put(
        r, s,
        &(struct fv_record){
            .kind = FV_REC_RMA_LOCK, .op = shared, .ref = window_of(r, number), .peer = peer, .id = lock_id(peer) },
        s->end);
}

static void sync_window(struct fv_rank_replay *r, struct fv_stream *s, uint64_t number, int64_t rank)
{
    uint32_t peer = rank < 0 ? FV_PEER_ALL : (uint32_t)rank, window = window_of(r, number);
    struct fv_rma_window *w = state_of(r, number);
    struct fv_record unlock = { .kind = FV_REC_RMA_UNLOCK, .ref = window, .peer = peer, .id = lock_id(peer) };

    switch (s->info->sync) {
    case FV_RMA_FENCE: complete(r, s, number, FV_PEER_ALL, true); break;
    case FV_RMA_COMPLETE:
        complete(r, s, number, FV_PEER_ALL, true);
        group_sync(r, s, window, w->accessed);
        w->accessed = FV_NONE;
        break;
    case FV_RMA_WAIT:
        group_sync(r, s, window, w->exposed);
        w->exposed = FV_NONE;
        break;
    case FV_RMA_LOCK_ALL: begin_lock(r, s, number, rank, true); break;
    case FV_RMA_UNLOCK:
        complete(r, s, number, peer, true);
        if (take_lock(w, unlock.id))
            fv_rank_put(r, s, &unlock, s->end);
        break;
    case FV_RMA_FLUSH:
    case FV_RMA_FLUSH_LOCAL:
        complete(r, s, number, peer, s->info->sync == FV_RMA_FLUSH);
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_RMA_SYNC, .ref = window, .peer = peer }, s->end);
        break;
    case FV_RMA_OTHER:
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_RMA_SYNC, .ref = window, .peer = peer }, s->end);
        break;
    default: break; /* post and start: when their members are known */
    }
}

void fv_rma_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    if (d->kind == FV_EV_MEMBER) {
        if (d->field[0] < r->replay->defs->world_size) {
            FV_GROW(r->members, r->member_room, r->member_count + 1);
            r->members[r->member_count++] = (uint32_t)d->field[0];
        }
        return;
    }
    if (window_of(r, d->field[0]) == FV_NONE)
        return;
    if (d->kind == FV_EV_WIN_GONE)
        complete(r, s, d->field[0], FV_PEER_ALL, true);
    if (d->kind == FV_EV_LOCK)
        begin_lock(r, s, d->field[0], (int64_t)d->field[1], d->field[2]);
    else if (d->kind == FV_EV_RMA_SYNC)
        sync_window(r, s, d->field[0], (int64_t)d->field[1]);
    else if (fv_def_window_is_seen(r->replay->defs, &r->replay->defs->windows[window_of(r, d->field[0])]))
        fv_rank_put(r, s,
                    &(struct fv_record){ .kind = d->kind == FV_EV_WIN_NEW ? FV_REC_WIN_CREATE : FV_REC_WIN_DESTROY,
                                         .ref = window_of(r, d->field[0]) },
                    s->end);
}

void fv_rma_end_call(struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_event *d = &s->details[0];
    bool post = s->info->sync == FV_RMA_POST;

    if (r->member_count && d->kind == FV_EV_RMA_SYNC && (post || s->info->sync == FV_RMA_START) &&
        window_of(r, d->field[0]) != FV_NONE) {
        uint32_t group = fv_defs_group(r->replay->defs, r->members, (uint32_t)r->member_count);
        struct fv_rma_window *w = state_of(r, d->field[0]);

        group_sync(r, s, window_of(r, d->field[0]), group);
        *(post ? &w->exposed : &w->accessed) = group;
    }
    r->member_count = 0;
}

void fv_rma_release(struct fv_rank_replay *r)
{
    for (size_t i = 0; i < r->window_count; i++) {
        free(r->windows[i].ops);
        free(r->windows[i].locks);
    }
    free(r->windows);
    free(r->members);
}
