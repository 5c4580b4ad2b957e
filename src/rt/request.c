/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that matter until they complete: receives, whose bytes are known only then and are charged
 * to the call that posted them, and persistent ones. Sends are not followed: their bytes are known at
 * once, and an MPI may hand out one handle for many of them.
 *
 * Any thread may complete what another posted, so the table is the process's: shards with a lock each,
 * which is taken only where several threads may be inside MPI. Few requests are under way at once, mostly: each has a
 * place in the slab, by its handle, and only one that comes where another one is goes to the shard's map. */
#include "rt/comm.h"
#include "rt/map.h"
#include "rt/statistics.h"

#define SHARD_MAX (UINT32_C(1) << 18) /* places for requests, in each shard */

#define ENDED 64u /* serials that completed last */

struct shard {
    struct fv_lock lock;
    uint32_t ended_next;
    uint64_t *ended;      /* [ENDED]; NULL: none yet */
    uint64_t serials;     /* given */
    struct fv_map others; /* struct fv_request: those that are not in the slab */
} __attribute__((aligned(64)));

static struct shard shards[FV_REQUEST_SHARDS];
static struct fv_request slab[FV_REQUEST_SLAB]; /* each place under its shard's lock; handle 0: free */
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

static inline struct fv_request *search(const struct shard *s, uint64_t handle)
{
    struct fv_request *r = &slab[fv_request_place(handle)];

    return FV_LIKELY(r->handle == handle) ? r : fv_map_find(&s->others, sizeof(*r), handle);
}

/* For those who only want to know whether there is any: a look without the lock. */
static inline void count_known(const struct shard *s, int more)
{
    uint32_t *known = &fv_requests_known.in_shard[s - shards];

    __atomic_store_n(known, *known + (uint32_t)more, __ATOMIC_RELAXED);
}

static inline void erase(struct shard *s, struct fv_request *r)
{
    if (FV_LIKELY(r >= slab && r < slab + FV_REQUEST_SLAB))
        r->handle = 0;
    else
        fv_map_erase(&s->others, sizeof(*r), r);
    count_known(s, -1);
}

/* Where the slab's place is another one's, or the handle may be in the map. */
static __attribute__((noinline)) struct fv_request *place_among_others(struct shard *s, uint64_t handle)
{
    struct fv_request *r = fv_map_find(&s->others, sizeof(*r), handle), *own = &slab[fv_request_place(handle)];

    if (r)
        return r;
    if (own->handle)
        r = fv_map_add(&s->others, sizeof(*r), handle, SHARD_MAX);
    else
        (r = own)->handle = handle;
    if (r)
        count_known(s, 1);
    return r;
}

/* An entry under the same handle is one whose completion was not seen: replaced. NULL: no room. */
static inline struct fv_request *place(struct shard *s, uint64_t handle)
{
    struct fv_request *own = &slab[fv_request_place(handle)];

    if (FV_UNLIKELY(!handle))
        return NULL;
    if (FV_UNLIKELY(own->handle == handle))
        return own;
    if (FV_UNLIKELY(own->handle || s->others.used))
        return place_among_others(s, handle);
    own->handle = handle;
    count_known(s, 1);
    return own;
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

static inline __attribute__((always_inline)) bool post_recv(struct fv_call *call, uint64_t handle, uint64_t number,
                                                            struct fv_comm *comm, int peer, int tag)
{
    struct shard *s = shard_of(handle);
    struct fv_request *r = place(s, handle);

    if (FV_UNLIKELY(!r))
        return false;
    /* one by one: an initializer's zeros are slower here than the rest together */
    r->kind = FV_REQUEST_RECV;
    r->persistent = r->active = r->traits = 0;
    r->peer = peer;
    r->tag = tag;
    r->sent = r->received = 0;
    r->comm = comm;
    r->number = number;
    r->sequence = r->starts = 0;
    r->made_by = (uint16_t)call->function;
    r->serial = ++s->serials;
    charge_to(r, call);
    return true;
}

/* With a trace, or several threads, or without room. */
static __attribute__((noinline)) void record_irecv(struct fv_call *call, struct fv_comm *c, uint64_t request,
                                                   int source, int peer, int tag)
{
    uint64_t number = fv_event_numbers(1);
    struct shard *s = lock_shard(shard_of(request));
    bool posted = post_recv(call, request, number, c, source, tag);

    unlock_shard(s);
    if (!posted)
        fv_dropped(FV_DROP_REQUESTS);
    if (number)
        fv_event(call, IRECV, number, fv_comm_number(c), fv_signed(peer), fv_signed(tag));
    fv_call_record(call, c, 0, 0);
}

static __attribute__((noinline)) void record_irecv_on_another(struct fv_call *call, uint64_t comm, uint64_t request,
                                                              int source, int peer, int tag)
{
    record_irecv(call, fv_comm_get(comm), request, source, peer, tag);
}

void fv_call_record_irecv(struct fv_call *call, uint64_t comm, uint64_t request, int source, int peer, int tag)
{
    const struct fv_thread *t = call->thread;
    const struct shard *s = shard_of(request);

    if (FV_UNLIKELY(!fv_comm_is_last(t, comm)))
        record_irecv_on_another(call, comm, request, source, peer, tag);
    else if (FV_UNLIKELY(fv_tracing() || fv_rt.thread_multiple || !request || slab[fv_request_place(request)].handle ||
                         s->others.used))
        record_irecv(call, t->comm, request, source, peer, tag);
    else {
        post_recv(call, request, 0, t->comm, source, tag);
        fv_call_record(call, t->comm, 0, 0);
    }
}

static inline __attribute__((always_inline)) struct fv_wait_target as_waited(const struct fv_request *r)
{
    return (struct fv_wait_target){ .comm = r->comm_id,
                                    .peer = r->peer,
                                    .tag = r->kind != FV_REQUEST_COLLECTIVE ? r->tag
                                           : r->persistent                  ? -1
                                                                            : (int32_t)r->sequence,
                                    .function = r->made_by,
                                    .kind = r->kind };
}

struct fv_wait_target fv_request_as_waited(const struct fv_request *r)
{
    return as_waited(r);
}

static inline void describe(const struct fv_call *call, struct fv_waiting *w, const struct fv_request *r, int peer)
{
    w->item[0] = as_waited(r);
    w->item[0].peer = peer;
    w->kept = w->count = 1;
    fv_call_described(call, w);
}

static FV_COLD void describe_first(struct fv_call *call, const struct fv_request *r, int peer)
{
    struct fv_waiting *w = fv_call_describe(call);

    if (w)
        describe(call, w, r, peer);
}

void fv_request_waits(struct fv_call *call, const struct fv_request *r, int peer)
{
    struct fv_waiting *w = call->thread->waiting;

    if (FV_LIKELY(r->comm != NULL))
        fv_call_peer(call, r->comm->handle, peer, r->tag);
    if (FV_LIKELY(w != NULL))
        describe(call, w, r, peer);
    else
        describe_first(call, r, peer);
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

static inline __attribute__((always_inline)) bool get(uint64_t handle, struct fv_request *out)
{
    const struct fv_request *r = handle ? search(shard_of(handle), handle) : NULL; /* 0 is what free places have */

    if (FV_LIKELY(r != NULL))
        *out = *r;
    return r != NULL;
}

static __attribute__((noinline)) bool get_locked(uint64_t handle, struct fv_request *out)
{
    struct shard *s = lock_shard(shard_of(handle));
    bool is = get(handle, out);

    unlock_shard(s);
    return is;
}

bool fv_request_get(uint64_t handle, struct fv_request *out)
{
    if (!fv_request_may_be_known(handle))
        return false;
    return FV_UNLIKELY(fv_rt.thread_multiple) ? get_locked(handle, out) : get(handle, out);
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
static inline void charge_cell(struct fv_thread *t, struct fv_cell *cell, uint64_t bytes)
{
    cell->bytes_received += bytes;
    cell->receives++;
    fv_cell_add_size(cell, bytes);
    t->record->mpi_bytes += bytes;
}

static __attribute__((noinline)) void charge_another(struct fv_thread *t, const struct fv_request *r, uint64_t bytes)
{
    struct fv_cell *cell = fv_cell_find(t, r->path, r->comm_id, r->function, fv_log2_bucket(bytes), r->section).cell;

    t->received[r->path % FV_RECENT_RECEIVED] = cell;
    charge_cell(t, cell, bytes);
}

static inline void charge_received(struct fv_thread *t, const struct fv_request *r, uint64_t bytes)
{
    struct fv_cell *cell = t->received[r->path % FV_RECENT_RECEIVED];

    if (FV_LIKELY(cell && fv_cell_is(cell, r->path, r->comm_id, r->function, fv_log2_bucket(bytes), r->section)))
        charge_cell(t, cell, bytes);
    else
        charge_another(t, r, bytes);
}

/* Of any request, on any thread. */
static __attribute__((noinline)) bool complete(struct fv_call *call, const struct fv_request *known, bool message,
                                               uint64_t bytes)
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

bool fv_request_completed(struct fv_call *call, const struct fv_request *known, bool message, uint64_t bytes)
{
    struct fv_request *r = &slab[fv_request_place(known->handle)];

    if (FV_UNLIKELY(fv_rt.thread_multiple || r->handle != known->handle || r->serial != known->serial || r->persistent))
        return complete(call, known, message, bytes);
    r->handle = 0;
    count_known(shard_of(known->handle), -1);
    if (known->kind == FV_REQUEST_RECV && message && known->function != FV_FUNCTION_REST)
        charge_received(call->thread, known, bytes);
    return true;
}

void fv_call_record_received(struct fv_call *call, const struct fv_request *known, uint64_t bytes)
{
    fv_request_completed(call, known, true, bytes);
    fv_call_record(call, NULL, 0, 0);
}

void fv_request_freed(const struct fv_request *known)
{
    struct shard *s = lock_shard(shard_of(known->handle));
    struct fv_request *r = search(s, known->handle);

    if (r && r->serial == known->serial)
        erase(s, r);
    unlock_shard(s);
}
