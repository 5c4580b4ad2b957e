/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that matter until they complete: receives, whose bytes are known only then and are charged
 * to the call that posted them, and persistent ones. Sends are not followed: their bytes are known at
 * once, and an MPI may hand out one handle for many of them.
 *
 * Any thread may complete what another posted, so the table is the process's: shards with a lock each,
 * which is taken only where several threads may be inside MPI. */
#include "rt/comm.h"
#include "rt/map.h"
#include "rt/statistics.h"

#define SHARD_MAX (UINT32_C(1) << 18) /* places for requests, in each shard */

#define ENDED 64u /* serials that completed last */

struct shard {
    struct fv_lock lock;
    uint32_t ended_next;
    uint64_t *ended;        /* [ENDED]; NULL: none yet */
    uint64_t serials;       /* given */
    struct fv_map requests; /* struct fv_request */
} __attribute__((aligned(64)));

static struct shard shards[FV_REQUEST_SHARDS];
union fv_requests_known fv_requests_known;

#define NOTE_BITS 6

/* What requests are that nobody follows: sends, mostly. A place holds the latest of those that share it. Who
 * makes a request notes it or follows it, so that a handle does not tell what it was before (but for
 * MPI_Comm_idup and generalized requests). Each place under a shard's lock. */
static struct note {
    uint64_t handle; /* 0: empty */
    struct fv_wait_target what;
} notes[1u << NOTE_BITS];
static bool noted; /* any, ever */

static struct shard *shard_of(uint64_t handle)
{
    return &shards[fv_request_shard(handle)];
}

static struct shard *lock_shard(struct shard *s)
{
    if (fv_rt.thread_multiple)
        fv_lock(&s->lock);
    return s;
}

static void unlock_shard(struct shard *s)
{
    if (fv_rt.thread_multiple)
        fv_unlock(&s->lock);
}

static struct fv_request *search(const struct shard *s, uint64_t handle)
{
    return fv_map_find(&s->requests, sizeof(struct fv_request), handle);
}

/* For those who only want to know whether there is any: a look without the lock. */
static inline void count_known(const struct shard *s)
{
    __atomic_store_n(&fv_requests_known.in_shard[s - shards], s->requests.used, __ATOMIC_RELAXED);
}

static inline void erase(struct shard *s, struct fv_request *r)
{
    fv_map_erase(&s->requests, sizeof(*r), r);
    count_known(s);
}

/* An entry under the same handle is one whose completion was not seen: replaced. NULL: no room. */
static inline struct fv_request *place(struct shard *s, uint64_t handle)
{
    struct fv_request *r = handle ? fv_map_add(&s->requests, sizeof(*r), handle, SHARD_MAX) : NULL;

    count_known(s);
    return r;
}

static inline void charge_to(struct fv_request *request, const struct fv_call *call)
{
    request->path = call->record ? call->path->path : 0;
    request->section = call->thread->section_set;
    request->function = call->record ? (uint16_t)call->function : FV_FUNCTION_REST;
    request->comm_id = request->comm ? request->comm->id : 0;
}

/* Ends what lock_shard() and place() began. */
static inline void charge_and_unlock(struct fv_call *call, struct shard *s, struct fv_request *r)
{
    if (FV_LIKELY(r != NULL)) {
        r->serial = ++s->serials;
        charge_to(r, call);
    }
    unlock_shard(s);
    if (FV_UNLIKELY(!r))
        fv_dropped(FV_DROP_REQUESTS);
}

void fv_request_post(struct fv_call *call, const struct fv_request *request)
{
    struct shard *s = lock_shard(shard_of(request->handle));
    struct fv_request *r = place(s, request->handle);

    if (r) {
        *r = *request;
        r->made_by = (uint16_t)call->function;
    }
    charge_and_unlock(call, s, r);
}

void fv_request_post_recv(struct fv_call *call, uint64_t handle, uint64_t number, struct fv_comm *comm, int peer,
                          int tag)
{
    struct shard *s = lock_shard(shard_of(handle));
    struct fv_request *r = place(s, handle);

    if (FV_LIKELY(r != NULL)) { /* one by one: an initializer's zeros are slower here than the rest together */
        r->kind = FV_REQUEST_RECV;
        r->persistent = r->active = r->partitioned = r->untold = 0;
        r->peer = peer;
        r->tag = tag;
        r->sent = r->received = 0;
        r->comm = comm;
        r->number = number;
        r->sequence = r->starts = 0;
        r->made_by = (uint16_t)call->function;
    }
    charge_and_unlock(call, s, r);
}

struct fv_wait_target fv_request_as_waited(const struct fv_request *r)
{
    return (struct fv_wait_target){ .comm = r->comm_id,
                                    .peer = r->peer,
                                    .tag = r->kind != FV_REQUEST_COLLECTIVE ? r->tag
                                           : r->persistent                  ? -1
                                                                            : (int32_t)r->sequence,
                                    .function = r->made_by,
                                    .kind = r->kind };
}

void fv_request_waits(struct fv_call *call, const struct fv_request *r, int peer)
{
    struct fv_waiting *w = call->thread->waiting;

    if (r->comm)
        fv_call_peer(call, r->comm->handle, peer, r->tag);
    if (FV_UNLIKELY(!w) && !(w = fv_call_describe(call)))
        return;
    w->item[0] = fv_request_as_waited(r);
    w->item[0].peer = peer;
    w->kept = w->count = 1;
    fv_call_described(call, w);
}

/* By multiplication: it stands on the path of each MPI_Isend. */
static uint32_t note_of(uint64_t handle)
{
    return (uint32_t)(handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - NOTE_BITS));
}

void fv_request_note(struct fv_call *call, uint64_t handle, const struct fv_wait_target *what)
{
    uint32_t at = note_of(handle);
    struct shard *s = lock_shard(&shards[at % FV_REQUEST_SHARDS]);

    notes[at].handle = handle;
    notes[at].what = *what;
    notes[at].what.function = (uint16_t)call->function;
    unlock_shard(s);
    if (FV_UNLIKELY(!__atomic_load_n(&noted, __ATOMIC_RELAXED)))
        __atomic_store_n(&noted, true, __ATOMIC_RELAXED);
}

bool fv_requests_told(void)
{
    return __atomic_load_n(&noted, __ATOMIC_RELAXED) || fv_requests_any();
}

static bool is_noted(uint64_t handle, struct fv_wait_target *out)
{
    uint32_t at = note_of(handle);
    struct shard *s = lock_shard(&shards[at % FV_REQUEST_SHARDS]);
    bool is = notes[at].handle == handle;

    if (is)
        *out = notes[at].what;
    unlock_shard(s);
    return is;
}

bool fv_request_waited(uint64_t handle, struct fv_wait_target *out)
{
    struct fv_request r;

    if (!fv_request_get(handle, &r))
        return is_noted(handle, out);
    if (r.persistent && !r.active)
        return false;
    *out = fv_request_as_waited(&r);
    return true;
}

bool fv_requests_shared(void)
{
    return fv_rt.thread_multiple;
}

bool fv_request_get(uint64_t handle, struct fv_request *out)
{
    if (!fv_request_may_be_known(handle))
        return false;
    struct shard *s = shard_of(handle);
    const struct fv_request *r = search(lock_shard(s), handle);

    if (r)
        *out = *r;
    unlock_shard(s);
    return r != NULL;
}

void fv_request_start(struct fv_call *call, const struct fv_request *known, uint64_t handle, uint64_t number)
{
    if (handle != known->handle)
        fv_request_freed(known);
    struct shard *s = lock_shard(shard_of(handle));
    struct fv_request *r = place(s, handle);

    if (r) {
        *r = *known;
        r->handle = handle;
        r->active = r->kind != FV_REQUEST_NOTHING;
        r->number = number;
        r->starts++;
    }
    charge_and_unlock(call, s, r);
}

void fv_request_unknown(void)
{
    fv_dropped(FV_DROP_REQUESTS);
}

/* An MPI may hand out one request, complete already, for many operations (sends, above all). All are looked
 * up as the first of them, which is to end once; and where another thread's new request has the handle by
 * then, or had it, the table does not tell. Persistent ones end again and again. */
static void note_ended(struct shard *s, uint64_t serial)
{
    if (s->ended || (s->ended = fv_memory_new(ENDED * sizeof(*s->ended))))
        s->ended[s->ended_next++ % ENDED] = serial;
}

static FV_COLD bool ended_before(const struct shard *s, uint64_t serial)
{
    for (unsigned i = 0; s->ended && i < ENDED; i++)
        if (s->ended[i] == serial)
            return true;
    return false;
}

/* To a cell of this thread's own: the poster's cells are written by the poster alone. */
static void charge_received(struct fv_thread *t, const struct fv_request *r, uint64_t bytes)
{
    unsigned bucket = fv_log2_bucket(bytes);
    struct fv_cell **recent = &t->received[r->path % FV_RECENT_RECEIVED], *cell = *recent;

    if (FV_UNLIKELY(!cell || !fv_cell_is(cell, r->path, r->comm_id, r->function, bucket, r->section)))
        *recent = cell = fv_cell_find(t, r->path, r->comm_id, r->function, bucket, r->section).cell;
    cell->bytes_received += bytes;
    cell->receives++;
    fv_cell_add_size(cell, bytes);
    t->record->mpi_bytes += bytes;
}

bool fv_request_completed(struct fv_call *call, const struct fv_request *known, bool message, uint64_t bytes)
{
    bool is_one_of_many = fv_rt.thread_multiple && fv_rt.options.trace && known->kind != FV_REQUEST_RECV;
    struct shard *s = lock_shard(shard_of(known->handle));
    struct fv_request *r = search(s, known->handle);
    bool is_first = true;

    if (FV_LIKELY(r && r->serial == known->serial)) {
        if (r->persistent)
            r->active = 0;
        else
            erase(s, r);
    } else if (is_one_of_many && !known->persistent) {
        is_first = !ended_before(s, known->serial);
    }
    if (is_one_of_many && !known->persistent && is_first)
        note_ended(s, known->serial);
    unlock_shard(s);
    if (known->kind == FV_REQUEST_RECV && message && known->function != FV_FUNCTION_REST)
        charge_received(call->thread, known, bytes);
    return is_first;
}

void fv_request_freed(const struct fv_request *known)
{
    struct shard *s = lock_shard(shard_of(known->handle));
    struct fv_request *r = search(s, known->handle);

    if (r && r->serial == known->serial)
        erase(s, r);
    unlock_shard(s);
}
