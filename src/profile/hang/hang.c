/* SPDX-License-Identifier: BSD-3-Clause */
/* See hang.h: each rank's list, from the calls of its threads. */
#include "profile/hang/hang.h"
#include "tool/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *fv_hang_state_name(enum fv_hang_state state)
{
    static const char *const names[] = { FV_HANG_STATES(FV_LIST_WORD) };

    return names[state];
}

/* What the parts share. */
struct work {
    const struct fv_model *m;
    struct fv_hang *h;
    uint32_t *of_world; /* by world rank: index of the rank; FV_NONE */
    uint32_t world;
    const char *host;      /* of ranks that run; NULL: none does */
    bool together;         /* see exit_together() */
    uint32_t *place_first; /* by comm: of its part of fv_model.comm_places; one more than there are */
    uint32_t *senders;     /* by rank: sends that it is to receive, one after the other: of sends[i - 1] */
    struct sending {
        uint32_t sender, next;
        struct fv_wait_item item;
    } * sends;
    size_t send_count, send_room;
    struct fv_index known; /* lists that many share */
    struct shared {
        uint64_t comm, sequence, kind; /* its key */
        uint32_t list;
    } * shared;
    size_t shared_count, shared_room;
};

enum shared_kind { MISSING_ALL, MISSING_ANY, MEMBERS, REMOTE_MEMBERS, FINALIZE };

static const struct fv_func *function_of(const struct fv_model *m, const struct fv_in_call_view *in)
{
    return &m->functions[in->function];
}

static bool is_finalize(const struct fv_model *m, const struct fv_in_call_view *in)
{
    return in->active && !strcmp(function_of(m, in)->name, "MPI_Finalize");
}

/* It came back from MPI_Finalize, though the process may have been killed before its file said so. */
static bool has_finalized(const struct fv_model *m, const struct fv_rank *r)
{
    return r->state == FV_RANK_FINALIZED || (!r->in_call.active && r->in_call.function != FV_NONE &&
                                             !strcmp(m->functions[r->in_call.function].name, "MPI_Finalize"));
}

/* ---- who cannot go on by itself ---- */

/* Ranks that are known to run are all on the host of the reader; of others nobody knows whether they do. */
static const char *host_of_those_that_run(const struct fv_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].state == FV_RANK_RUNNING)
            return m->ranks[i].host;
    return NULL;
}

/* While others run on. */
static bool is_dead(const struct work *w, uint32_t rank)
{
    const struct fv_rank *r = &w->m->ranks[rank];

    return w->host && r->state == FV_RANK_KILLED && (r->signal.number || !strcmp(r->host, w->host));
}

#define TOGETHER_S 5.0 /* from the first to the last that ends, at most */

/* All exited at about the same time, of which one was within a call: MPI did it, as when the launcher has died. They
 * are where they were, as if they had been killed. */
static bool exit_together(const struct fv_model *m)
{
    double first_s = INFINITY, last_s = -INFINITY;
    bool within = false;

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];

        if (r->state != FV_RANK_EXITED)
            return false;
        first_s = fmin(first_s, r->end_s);
        last_s = fmax(last_s, r->end_s);
        within |= r->in_call.active;
    }
    return within && last_s - first_s < TOGETHER_S;
}

static bool has_left(const struct work *w, uint32_t rank)
{
    const struct fv_rank *r = &w->m->ranks[rank];

    return (fv_rank_has_ended(r) && !w->together) || has_finalized(w->m, r);
}

static bool was_there(const struct work *w, const struct fv_rank *r, const struct fv_thread_view *t)
{
    return t->alive || (w->together && r->end_s - t->end_s < TOGETHER_S);
}

/* ---- communicators ---- */

static uint32_t rank_of_world(const struct work *w, int64_t world_rank)
{
    return world_rank >= 0 && world_rank < (int64_t)w->world ? w->of_world[world_rank] : FV_NONE;
}

static int64_t member_of_run(const struct fv_rank_run *run, int64_t at)
{
    return run->first + run->stride * at;
}

/* World rank of member `rank` of some runs; -1: none. */
static int64_t member(const struct fv_rank_run *runs, uint32_t count, int64_t rank)
{
    for (uint32_t i = 0; rank >= 0 && i < count; rank -= runs[i++].count)
        if (rank < runs[i].count)
            return member_of_run(&runs[i], rank);
    return -1;
}

static bool is_member(const struct fv_rank_run *runs, uint32_t count, int world_rank)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t from = (int64_t)world_rank - runs[i].first, stride = runs[i].stride;

        if (stride ? from % stride == 0 && from / stride >= 0 && from / stride < runs[i].count : from == 0)
            return true;
    }
    return false;
}

/* The world rank that `rank` means by `peer`: of an intercommunicator one of the other group. -1: it is not known. */
static int64_t world_peer_of(const struct work *w, uint32_t rank, uint32_t comm, int peer)
{
    if (comm == FV_NONE)
        return -1;
    const struct fv_def_comm *v = &w->m->comms[comm].def;
    bool other = v->remote_size && is_member(v->runs, v->run_count, w->m->ranks[rank].world_rank);

    if (v->flags & FV_COMM_SELF)
        return peer == 0 ? w->m->ranks[rank].world_rank : -1;
    return other ? member(v->runs + v->run_count, v->remote_run_count, peer) : member(v->runs, v->run_count, peer);
}

/* The same as an index; FV_NONE: there is no file of it, either. */
static uint32_t peer_of(const struct work *w, uint32_t rank, uint32_t comm, int peer)
{
    return rank_of_world(w, world_peer_of(w, rank, comm, peer));
}

static const struct fv_comm_place *place_of(const struct work *w, uint32_t comm, uint32_t rank)
{
    const struct fv_comm_place *places = w->m->comm_places + w->place_first[comm];
    size_t count = w->place_first[comm + 1] - w->place_first[comm];
    size_t at = FV_COUNT_BEFORE(i, count, places[i].rank < rank);

    return at < count && places[at].rank == rank ? &places[at] : NULL;
}

static void index_places(struct work *w)
{
    const struct fv_model *m = w->m;
    size_t at = 0;

    w->place_first = fv_xcalloc(m->comm_count + 1, sizeof(*w->place_first));
    for (uint32_t c = 0; c <= m->comm_count; c++) {
        while (at < m->comm_place_count && m->comm_places[at].comm < c)
            at++;
        w->place_first[c] = (uint32_t)at;
    }
}

/* ---- collective calls ---- */

static bool is_collective(const struct fv_model *m, const struct fv_in_call_view *in)
{
    if (!in->active || in->comm == FV_NONE)
        return false;
    const struct fv_func *f = function_of(m, in);

    return f->wait != FV_RULE_NONE && f->wait != FV_RULE_P2P && strcmp(f->name, "MPI_Finalize");
}

/* The call of a rank that has come to collective call `sequence` of a communicator. */
static const struct fv_in_call_view *present(const struct work *w, const struct fv_comm_place *p, uint64_t sequence)
{
    const struct fv_rank *r = &w->m->ranks[p->rank];

    for (uint32_t i = 0; p->collectives == sequence && i < r->threads && !is_dead(w, p->rank); i++) {
        const struct fv_in_call_view *in = &w->m->threads[r->first_thread + i].in_call;

        if (is_collective(w->m, in) && in->comm == p->comm)
            return in;
    }
    return NULL;
}

static bool is_mismatch(const struct fv_hang *h, uint32_t comm, uint64_t sequence)
{
    for (size_t i = 0; i < h->mismatch_count; i++)
        if (h->mismatches[i].comm == comm && h->mismatches[i].sequence == sequence)
            return true;
    return false;
}

static bool has_other_root(const struct fv_in_call_view *a, const struct fv_in_call_view *b)
{
    return a->peer >= 0 && b->peer >= 0 && a->peer != b->peer;
}

/* Do those who have come call the same? Not asked of an intercommunicator, whose sides may differ in the
 * root. */
static void find_mismatch(struct work *w, uint32_t comm, uint64_t sequence)
{
    const struct fv_in_call_view *first = NULL, *other = NULL, *in;
    uint32_t likes[2] = { 0 }; /* calls like the first, and like the first other one */
    struct fv_hang_mismatch found = { .comm = comm, .sequence = sequence };

    if (w->m->comms[comm].def.remote_size || is_mismatch(w->h, comm, sequence))
        return;
    for (uint32_t i = w->place_first[comm]; i < w->place_first[comm + 1]; i++) {
        const struct fv_comm_place *p = &w->m->comm_places[i];

        if (!(in = present(w, p, sequence)))
            continue;
        if (!first) {
            first = in;
            found.a = p->rank;
        }
        bool differs = in->function != first->function || has_other_root(in, first);
        if (differs && !other) {
            other = in;
            found.b = p->rank;
            found.roots = in->function == first->function;
        }
        likes[0] += !differs;
        likes[1] += differs && in->function == other->function && !has_other_root(in, other);
    }
    if (!other)
        return;
    found.culprit = likes[0] < likes[1] ? found.a : found.b;
    FV_GROW(w->h->mismatches, w->h->mismatch_room, w->h->mismatch_count + 1);
    w->h->mismatches[w->h->mismatch_count++] = found;
}

/* ---- lists ---- */

static uint32_t new_list(struct fv_hang *h, bool any)
{
    FV_GROW(h->lists, h->list_room, h->list_count + 1);
    h->lists[h->list_count] = (struct fv_hang_list){ .first = (uint32_t)h->target_count, .any = any };
    return (uint32_t)h->list_count++;
}

/* To the list that was made last. FV_NONE: somebody of whom nothing is known. */
static void add_target(struct fv_hang *h, uint32_t rank)
{
    struct fv_hang_list *list = &h->lists[h->list_count - 1];

    if (rank == FV_NONE) {
        list->open = true;
        return;
    }
    for (uint32_t i = 0; i < list->count && list->count < FV_WAITED_MOST; i++)
        if (h->targets[list->first + i] == rank)
            return;
    FV_GROW(h->targets, h->target_room, h->target_count + 1);
    h->targets[h->target_count++] = rank;
    list->count++;
}

static bool is_on_list(const struct fv_hang *h, uint32_t list, uint32_t rank)
{
    const struct fv_hang_list *l = &h->lists[list];

    for (uint32_t i = 0; i < l->count; i++)
        if (h->targets[l->first + i] == rank)
            return true;
    return false;
}

/* Members who have not come to collective call `sequence`; where those who have do not fit, these, too. If all have
 * come, those who have and are stopped. */
static void add_missing(struct work *w, uint32_t comm, uint64_t sequence)
{
    const struct fv_def_comm *v = &w->m->comms[comm].def;
    uint32_t begin = w->place_first[comm], end = w->place_first[comm + 1];

    find_mismatch(w, comm, sequence);
    bool mismatch = is_mismatch(w->h, comm, sequence);
    for (uint32_t i = begin; i < end; i++) {
        const struct fv_comm_place *p = &w->m->comm_places[i];

        if (p->collectives <= sequence && (mismatch || !present(w, p, sequence)))
            add_target(w->h, p->rank);
    }
    if (end - begin < v->members)
        add_target(w->h, FV_NONE);
    bool have_come = !w->h->lists[w->h->list_count - 1].count && !w->h->lists[w->h->list_count - 1].open;
    for (uint32_t i = begin; i < end && have_come; i++)
        if (w->m->comm_places[i].collectives == sequence && w->m->ranks[w->m->comm_places[i].rank].stopped)
            add_target(w->h, w->m->comm_places[i].rank);
}

/* Runs of a damaged file may have any length: what is more than the ranks there are is not looked at. Members
 * that are not known may be any ranks. */
static void add_members(struct work *w, const struct fv_rank_run *runs, uint32_t count)
{
    uint64_t left = (uint64_t)w->world + 65536;

    if (!count)
        add_target(w->h, FV_NONE);
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < runs[i].count; k++) {
            add_target(w->h, left ? rank_of_world(w, member_of_run(&runs[i], k)) : FV_NONE);
            if (!left--)
                return;
        }
}

static void add_not_finalizing(struct work *w)
{
    for (uint32_t i = 0; i < w->m->rank_count; i++)
        if (!is_finalize(w->m, &w->m->ranks[i].in_call) && !has_finalized(w->m, &w->m->ranks[i]))
            add_target(w->h, i);
    if ((int64_t)w->m->rank_count < w->m->world_size)
        add_target(w->h, FV_NONE);
}

static uint32_t shared_list(struct work *w, unsigned kind, uint32_t comm, uint64_t sequence)
{
    const struct fv_def_comm *v = comm == FV_NONE ? NULL : &w->m->comms[comm].def;
    size_t before = w->shared_count;
    uint32_t at = FV_INTERN(w->known, w->shared, w->shared_count, w->shared_room, (uint64_t[]){ comm, sequence, kind });

    if (w->shared_count == before)
        return w->shared[at].list;
    uint32_t list = w->shared[at].list = new_list(w->h, kind != MISSING_ALL && kind != FINALIZE);
    if (kind == MEMBERS)
        add_members(w, v->runs, v->run_count);
    else if (kind == REMOTE_MEMBERS)
        add_members(w, v->runs + v->run_count, v->remote_run_count);
    else if (kind == FINALIZE)
        add_not_finalizing(w);
    else
        add_missing(w, comm, sequence);
    return list;
}

/* ---- what a call waits for ---- */

struct wait {
    enum fv_hang_state state;
    uint32_t list, missing;
};

static struct wait wait_for(const struct work *w, uint32_t list)
{
    const struct fv_hang_list *l = &w->h->lists[list];
    bool missing = !l->count && l->open && (int64_t)w->m->rank_count < w->m->world_size;

    return (struct wait){ l->count  ? FV_HANG_WAITS
                          : l->open ? FV_HANG_UNTOLD
                                    : FV_HANG_MATCHED,
                          list, missing ? FV_HANG_SOME : 0 };
}

/* A blocking collective. Where a rank needs the root alone, and the root has come, or the other way round, an
 * algorithm's tree may make it wait for anyone who has not. */
static struct wait wait_in_collective(struct work *w, uint32_t rank, const struct fv_in_call_view *in)
{
    const struct fv_comm_place *mine = place_of(w, in->comm, rank);
    unsigned rule = function_of(w->m, in)->wait;

    if (!mine || w->m->comms[in->comm].def.flags & FV_COMM_INFERRED)
        return (struct wait){ FV_HANG_UNTOLD, 0, 0 };
    uint64_t sequence = mine->collectives;
    uint32_t any = shared_list(w, MISSING_ANY, in->comm, sequence);
    uint32_t root = in->peer >= 0 ? peer_of(w, rank, in->comm, in->peer) : FV_NONE;
    if (rule == FV_RULE_NXN || rule == FV_RULE_BARRIER || (rule == FV_RULE_TO_ROOT && root == rank) ||
        is_mismatch(w->h, in->comm, sequence))
        return wait_for(w, shared_list(w, MISSING_ALL, in->comm, sequence));
    const struct fv_comm_place *p = root != FV_NONE ? place_of(w, in->comm, root) : NULL;
    if (rule == FV_RULE_FROM_ROOT && root != rank && p && p->collectives <= sequence && !present(w, p, sequence)) {
        uint32_t list = new_list(w->h, false);

        add_target(w->h, root);
        return wait_for(w, list);
    }
    return wait_for(w, any);
}

/* Does a message with tag x meet a receive of tag y? */
static bool tags_meet(int x, int y)
{
    return x < 0 || y < 0 || x == y;
}

/* The things that a call waits for, point to point: its items, or its own peer. */
static uint32_t items_of(const struct fv_model *m, const struct fv_in_call_view *in, struct fv_wait_item *out)
{
    if (in->waits) {
        memcpy(out, &m->wait_items[in->first_wait], in->waits * sizeof(*out));
        return in->waits;
    }
    const struct fv_func *f = function_of(m, in);
    if (f->class != FV_CLASS_P2P || f->wait != FV_RULE_P2P || in->comm == FV_NONE)
        return 0;
    bool sends = strstr(f->name, "send") || strstr(f->name, "Send");
    *out = (struct fv_wait_item){
        .kind = sends ? FV_WAITED_SEND : FV_WAITED_RECEIVE, .comm = in->comm, .peer = in->peer, .tag = in->tag
    };
    return 1;
}

static bool is_other_end(const struct work *w, uint32_t rank, const struct fv_wait_item *item, uint32_t other,
                         const struct fv_wait_item *theirs)
{
    unsigned kind = item->kind == FV_WAITED_SEND ? FV_WAITED_RECEIVE : FV_WAITED_SEND;

    return theirs->kind == kind && theirs->comm == item->comm && tags_meet(theirs->tag, item->tag) &&
           (theirs->peer == FV_ANY_PEER || peer_of(w, other, theirs->comm, theirs->peer) == rank);
}

/* Is rank `other` in a call that is the other end of what `rank` waits for, and can go on with it? */
static bool is_matched(const struct work *w, uint32_t rank, const struct fv_wait_item *item, uint32_t other)
{
    const struct fv_rank *r = &w->m->ranks[other];
    struct fv_wait_item theirs[FV_WAITED_MOST];

    for (uint32_t t = 0; t < r->threads && !r->stopped && !is_dead(w, other); t++) {
        const struct fv_in_call_view *in = &w->m->threads[r->first_thread + t].in_call;
        uint32_t count = in->active ? items_of(w->m, in, theirs) : 0;

        for (uint32_t i = 0; i < count; i++)
            if (is_other_end(w, rank, item, other, &theirs[i]))
                return true;
    }
    return false;
}

/* Who sends to whom, for those who receive from anyone. */
static void index_sends(struct work *w)
{
    struct fv_wait_item items[FV_WAITED_MOST];

    w->senders = fv_xcalloc(w->m->rank_count, sizeof(*w->senders));
    for (uint32_t rank = 0; rank < w->m->rank_count; rank++)
        for (uint32_t t = 0; t < w->m->ranks[rank].threads; t++) {
            const struct fv_in_call_view *in = &w->m->threads[w->m->ranks[rank].first_thread + t].in_call;
            uint32_t count = in->active ? items_of(w->m, in, items) : 0;

            for (uint32_t i = 0; i < count; i++) {
                uint32_t to = items[i].kind == FV_WAITED_SEND && items[i].peer >= 0
                                  ? peer_of(w, rank, items[i].comm, items[i].peer)
                                  : FV_NONE;

                if (to == FV_NONE)
                    continue;
                FV_GROW(w->sends, w->send_room, w->send_count + 1);
                w->sends[w->send_count] = (struct sending){ rank, w->senders[to], items[i] };
                w->senders[to] = (uint32_t)++w->send_count;
            }
        }
}

/* An item that waits for one of many: it stands for itself only if it is alone. */
static struct wait wait_for_many(struct work *w, uint32_t rank, const struct fv_wait_item *item)
{
    if (item->comm == FV_NONE)
        return (struct wait){ FV_HANG_UNTOLD, 0, 0 };
    const struct fv_def_comm *v = &w->m->comms[item->comm].def;
    if (item->kind == FV_WAITED_COLLECTIVE && item->tag >= 0 && !(v->flags & (FV_COMM_INFERRED | FV_COMM_SELF)))
        return wait_for(w, shared_list(w, MISSING_ANY, item->comm, (uint64_t)item->tag));
    if (item->kind != FV_WAITED_RECEIVE || item->peer != FV_ANY_PEER || v->flags & FV_COMM_SELF)
        return (struct wait){ FV_HANG_UNTOLD, 0, 0 };
    for (uint32_t i = w->senders[rank]; i; i = w->sends[i - 1].next)
        if (is_other_end(w, rank, item, w->sends[i - 1].sender, &w->sends[i - 1].item))
            return (struct wait){ FV_HANG_MATCHED, 0, 0 };
    bool other = v->remote_size && is_member(v->runs, v->run_count, w->m->ranks[rank].world_rank);
    return wait_for(w, shared_list(w, other ? REMOTE_MEMBERS : MEMBERS, item->comm, 0));
}

static bool is_for_many(const struct fv_wait_item *item)
{
    return (item->kind != FV_WAITED_SEND && item->kind != FV_WAITED_RECEIVE) || item->peer == FV_ANY_PEER;
}

static struct wait wait_in_p2p(struct work *w, uint32_t rank, const struct fv_in_call_view *in)
{
    struct fv_wait_item items[FV_WAITED_MOST];
    uint32_t count = items_of(w->m, in, items), targets[FV_WAITED_MOST], used = 0;

    if (!count || in->waits_untold)
        return (struct wait){ FV_HANG_UNTOLD, 0, 0 };
    if (count == 1 && is_for_many(&items[0]))
        return wait_for_many(w, rank, &items[0]);
    for (uint32_t i = 0; i < count; i++) {
        if (is_for_many(&items[i]))
            return (struct wait){ FV_HANG_UNTOLD, 0, 0 };
        if (items[i].peer == FV_NO_PEER)
            continue; /* MPI_PROC_NULL is there at once */
        targets[used] = peer_of(w, rank, items[i].comm, items[i].peer);
        if (targets[used] == FV_NONE)
            return (struct wait){ FV_HANG_UNTOLD, 0,
                                  (uint32_t)(world_peer_of(w, rank, items[i].comm, items[i].peer) + 1) };
        if (is_matched(w, rank, &items[i], targets[used]))
            return (struct wait){ FV_HANG_MATCHED, 0, 0 };
        used++;
    }
    uint32_t list = new_list(w->h, true);
    for (uint32_t i = 0; i < used; i++)
        add_target(w->h, targets[i]);
    return wait_for(w, list);
}

/* Most of the time since its last progress it does nothing else, as far as the sums tell. */
static bool asks_in_vain(const struct fv_model *m, const struct fv_rank *r)
{
    const struct fv_in_call_view *in = &r->in_call;

    return in->function != FV_NONE && fv_func_asks(&m->functions[in->function]) && r->in_vain_s >= FV_HANG_ASKS_S &&
           r->polled_s + r->asked_s + r->asks_blocked_s >= 0.9 * r->in_vain_s;
}

static struct wait wait_of(struct work *w, uint32_t rank, const struct fv_in_call_view *in)
{
    if (!in->active)
        return (struct wait){ FV_HANG_ACTIVE, 0, 0 };
    if (w->m->ranks[rank].state == FV_RANK_RUNNING && in->seconds < FV_HANG_LASTING_S)
        return (struct wait){ FV_HANG_RECENT, 0, 0 };
    if (is_finalize(w->m, in))
        return wait_for(w, shared_list(w, FINALIZE, FV_NONE, 0));
    if (is_collective(w->m, in))
        return wait_in_collective(w, rank, in);
    if (function_of(w->m, in)->wait == FV_RULE_P2P)
        return wait_in_p2p(w, rank, in);
    return (struct wait){ FV_HANG_UNTOLD, 0, 0 };
}

/* A rank waits if all its threads that call MPI do. Of several, one that may go on is enough for others, so
 * their lists become one of which any may free it; a list that needs all of its ranks is then taken for less
 * than it is. */
static void find_wait(struct work *w, uint32_t rank)
{
    const struct fv_rank *r = &w->m->ranks[rank];
    struct fv_hang_rank *out = &w->h->ranks[rank];
    struct wait all[FV_WAITED_MOST];
    uint32_t count = 0, threads = 0;

    *out = (struct fv_hang_rank){ .state = has_left(w, rank) ? FV_HANG_ENDED : FV_HANG_ACTIVE, .cycle = FV_NONE };
    for (uint32_t i = 0; i < r->threads && out->state != FV_HANG_ENDED; i++) {
        const struct fv_thread_view *t = &w->m->threads[r->first_thread + i];

        if (!was_there(w, r, t) || (!t->calls && !t->in_call.active))
            continue;
        struct wait wait =
            t->main && asks_in_vain(w->m, r) ? (struct wait){ FV_HANG_ASKS, 0, 0 } : wait_of(w, rank, &t->in_call);
        if (t->main || !threads) {
            out->state = wait.state;
            out->missing = wait.missing;
        }
        threads++;
        if (wait.state == FV_HANG_WAITS && count < FV_WAITED_MOST)
            all[count++] = wait;
    }
    if (out->state == FV_HANG_WAITS && count < threads) {
        out->state = FV_HANG_UNTOLD;
        out->other_threads = true;
    }
    if (out->state != FV_HANG_WAITS)
        return;
    out->list = all[0].list;
    if (count > 1) {
        out->list = new_list(w->h, true);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t k = 0; k < w->h->lists[all[i].list].count; k++)
                add_target(w->h, w->h->targets[w->h->lists[all[i].list].first + k]);
    }
}

/* The dead never go on. Who is stopped and waits for others would do so, too, if it ran. */
static void find_fate(const struct work *w, uint32_t rank)
{
    struct fv_hang_rank *r = &w->h->ranks[rank];

    if (r->state == FV_HANG_ENDED)
        return;
    if (is_dead(w, rank))
        r->state = FV_HANG_DEAD;
    else if (w->m->ranks[rank].stopped && (r->state != FV_HANG_WAITS || is_on_list(w->h, r->list, rank)))
        r->state = FV_HANG_STOPPED;
}

static struct fv_hang *hang_of(const struct fv_model *m)
{
    struct work w = { .m = m };
    bool hangs = false;

    for (size_t i = 0; i < m->rank_count; i++) {
        hangs = hangs || (m->ranks[i].state != FV_RANK_FINALIZED && strcmp(m->mpi, "none"));
        if (m->ranks[i].aborted || m->ranks[i].state == FV_RANK_CUT) /* where that was is not known */
            return NULL;
        if (m->ranks[i].world_rank >= 0 && (uint32_t)m->ranks[i].world_rank >= w.world)
            w.world = (uint32_t)m->ranks[i].world_rank + 1;
    }
    if (!hangs || w.world > 16 * m->rank_count + 65536) /* such a world rank is damage */
        return NULL;
    w.h = fv_xcalloc(1, sizeof(*w.h));
    w.h->rank_count = (uint32_t)m->rank_count;
    w.h->ranks = fv_xcalloc(m->rank_count, sizeof(*w.h->ranks));
    w.of_world = fv_xcalloc(w.world, sizeof(*w.of_world));
    memset(w.of_world, 0xff, w.world * sizeof(*w.of_world));
    for (uint32_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].world_rank >= 0)
            w.of_world[m->ranks[i].world_rank] = i;
    w.host = host_of_those_that_run(m);
    w.together = exit_together(m);
    index_places(&w);
    index_sends(&w);
    for (uint32_t i = 0; i < w.h->rank_count; i++)
        find_wait(&w, i);
    for (uint32_t i = 0; i < w.h->rank_count; i++)
        find_fate(&w, i);
    fv_hang_solve(m, w.h);
    free(w.senders);
    free(w.sends);
    free(w.of_world);
    free(w.place_first);
    free(w.shared);
    fv_index_release(&w.known);
    return w.h;
}

void fv_hang_build(struct fv_model *m)
{
    m->data[FV_SUBJECT_unfinished] = m->shown_ranks || m->shown_threads ? NULL : hang_of(m);
}

void fv_hang_release(void *data)
{
    struct fv_hang *h = data;

    for (size_t i = 0; i < h->cycle_count; i++)
        free(h->cycles[i].order);
    for (size_t i = 0; i < h->cause_count; i++)
        free(h->causes[i].ranks);
    free(h->cycles);
    free(h->causes);
    free(h->mismatches);
    free(h->lists);
    free(h->targets);
    free(h->ranks);
}
