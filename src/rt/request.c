/* Requests that matter until they complete: receives, whose bytes are known only then and are charged
 * to the call that posted them, and persistent ones. Sends are not followed: their bytes are known at
 * once, and an MPI may hand out one handle for many of them.
 *
 * Any thread may complete what another posted, so the table is the process's: shards with a lock each,
 * which is taken only where several threads may be inside MPI. */
#include "rt/runtime.h"

#include <string.h>

#define SHARDS    16u
#define SHARD_MAX (UINT32_C(1) << 18) /* requests followed at a time, in each shard */

#define ENDED 64u /* serials that completed last */

struct shard {
    struct fv_lock lock;
    uint32_t mask, used;
    uint32_t ended_next;
    uint64_t *ended;         /* [ENDED]; NULL: none yet */
    struct fv_request *slot; /* handle 0 and kind 0: empty */
} __attribute__((aligned(64)));

static struct shard shards[SHARDS];
static uint64_t known; /* in all shards */

#define NOTE_BITS 6

/* What requests are that nobody follows: sends, mostly. A place holds the latest of those that share it. Who makes a
 * request notes it or follows it, so that a handle does not tell what it was before (but for MPI_Comm_idup and
 * generalized requests). Each place under a shard's lock. */
static struct note {
    uint64_t handle; /* 0: empty */
    struct fv_waited what;
} notes[1u << NOTE_BITS];
static bool noted; /* any, ever */

static struct shard *lock_shard(uint64_t hash)
{
    struct shard *s = &shards[hash % SHARDS];

    if (fv_rt.thread_multiple)
        fv_lock(&s->lock);
    return s;
}

static void unlock_shard(struct shard *s)
{
    if (fv_rt.thread_multiple)
        fv_unlock(&s->lock);
}

static void adjust_known(uint64_t by)
{
    if (fv_rt.thread_multiple)
        __atomic_fetch_add(&known, by, __ATOMIC_RELAXED);
    else
        known += by;
}

static uint32_t home(const struct shard *s, uint64_t handle)
{
    return (uint32_t)(fv_mix(handle) >> 32) & s->mask;
}

static struct fv_request *search(const struct shard *s, uint64_t handle)
{
    if (!s->slot)
        return NULL;
    for (uint32_t at = home(s, handle); s->slot[at].kind; at = (at + 1) & s->mask)
        if (s->slot[at].handle == handle)
            return &s->slot[at];
    return NULL;
}

static bool grow(struct shard *s)
{
    uint32_t size = s->slot ? (s->mask + 1) * 2 : 64;
    struct shard bigger = { .mask = size - 1 };

    if (size > SHARD_MAX || !(bigger.slot = fv_memory_new(size * sizeof(*bigger.slot))))
        return false;
    for (uint32_t i = 0; s->slot && i <= s->mask; i++) {
        if (!s->slot[i].kind)
            continue;
        uint32_t at = home(&bigger, s->slot[i].handle);
        while (bigger.slot[at].kind)
            at = (at + 1) & bigger.mask;
        bigger.slot[at] = s->slot[i];
    }
    if (s->slot)
        fv_memory_free(s->slot, (s->mask + 1) * sizeof(*s->slot));
    s->slot = bigger.slot;
    s->mask = bigger.mask;
    return true;
}

/* Closes the gap, so that probing needs no tombstones. */
static void erase(struct shard *s, struct fv_request *r)
{
    uint32_t hole = (uint32_t)(r - s->slot);

    for (uint32_t at = (hole + 1) & s->mask; s->slot[at].kind; at = (at + 1) & s->mask) {
        uint32_t distance = (at - home(s, s->slot[at].handle)) & s->mask;

        if (distance >= ((at - hole) & s->mask)) {
            s->slot[hole] = s->slot[at];
            hole = at;
        }
    }
    memset(&s->slot[hole], 0, sizeof(s->slot[hole]));
    s->used--;
    adjust_known((uint64_t)-1);
}

/* An entry under the same handle is one whose completion was not seen: replaced. */
static bool insert(struct shard *s, const struct fv_request *request)
{
    struct fv_request *r = search(s, request->handle);

    if (r) {
        *r = *request;
        return true;
    }
    if ((!s->slot || s->used * 2 >= s->mask) && !grow(s))
        return false;
    uint32_t at = home(s, request->handle);
    while (s->slot[at].kind)
        at = (at + 1) & s->mask;
    s->slot[at] = *request;
    s->used++;
    adjust_known(1);
    return true;
}

static void charge_to(struct fv_request *request, const struct fv_call *call)
{
    request->path = call->record ? call->path->path : 0;
    request->section = call->thread->section_set;
    request->function = call->record ? (uint16_t)call->function : FV_FUNCTION_REST;
    request->comm_id = request->comm ? fv_comm_id(request->comm) : 0;
}

void fv_request_post(struct fv_call *call, const struct fv_request *request)
{
    struct fv_request own = *request;
    struct shard *s = lock_shard(fv_mix(request->handle));

    own.made_by = (uint16_t)call->function;
    own.serial = request->number ? request->number : fv_event_numbers(1);
    charge_to(&own, call);
    bool ok = insert(s, &own);
    unlock_shard(s);
    if (!ok)
        fv_dropped(FV_DROP_REQUESTS);
}

struct fv_waited fv_request_as_waited(const struct fv_request *r)
{
    return (struct fv_waited){ .comm = r->comm ? fv_comm_id(r->comm) : 0,
                               .peer = r->peer,
                               .tag = r->kind != FV_REQUEST_COLLECTIVE ? r->tag
                                      : r->persistent                  ? -1
                                                                       : (int32_t)r->sequence,
                               .function = r->made_by,
                               .kind = r->kind };
}

/* By multiplication: it stands on the path of each MPI_Isend. */
static uint32_t note_of(uint64_t handle)
{
    return (uint32_t)(handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - NOTE_BITS));
}

void fv_request_note(struct fv_call *call, uint64_t handle, const struct fv_waited *what)
{
    uint32_t at = note_of(handle);
    struct shard *s = lock_shard(at);

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

static bool is_noted(uint64_t handle, struct fv_waited *out)
{
    uint32_t at = note_of(handle);
    struct shard *s = lock_shard(at);
    bool is = notes[at].handle == handle;

    if (is)
        *out = notes[at].what;
    unlock_shard(s);
    return is;
}

bool fv_request_waited(uint64_t handle, struct fv_waited *out)
{
    struct fv_request r;

    if (!fv_requests_any() || !fv_request_get(handle, &r))
        return is_noted(handle, out);
    if (r.persistent && !r.active)
        return false;
    *out = fv_request_as_waited(&r);
    return true;
}

bool fv_requests_any(void)
{
    return __atomic_load_n(&known, __ATOMIC_RELAXED) != 0;
}

bool fv_requests_shared(void)
{
    return fv_rt.thread_multiple;
}

bool fv_request_get(uint64_t handle, struct fv_request *out)
{
    if (!fv_requests_any())
        return false;
    struct shard *s = lock_shard(fv_mix(handle));
    const struct fv_request *r = search(s, handle);

    if (r)
        *out = *r;
    unlock_shard(s);
    return r != NULL;
}

void fv_request_start(struct fv_call *call, const struct fv_request *known, uint64_t handle, uint64_t number)
{
    struct fv_request own = *known;

    if (handle != known->handle)
        fv_request_freed(known);
    own.handle = handle;
    own.active = own.kind != FV_REQUEST_NOTHING;
    own.number = number;
    own.starts++;
    charge_to(&own, call);
    struct shard *s = lock_shard(fv_mix(handle));
    bool ok = insert(s, &own);
    unlock_shard(s);
    if (!ok)
        fv_dropped(FV_DROP_REQUESTS);
}

void fv_request_unknown(void)
{
    fv_dropped(FV_DROP_REQUESTS);
}

/* An MPI may hand out one request, complete already, for many operations (sends, above all). All are looked
 * up as the first of them, which is to end once; and the table does not tell, because by then the handle may
 * be another thread's new request, or that one may have come and gone. Persistent ones end again and again.
 */
static bool has_ended(struct shard *s, uint64_t serial)
{
    if (!s->ended && !(s->ended = fv_memory_new(ENDED * sizeof(*s->ended))))
        return false;
    for (unsigned i = 0; i < ENDED; i++)
        if (s->ended[i] == serial)
            return true;
    s->ended[s->ended_next++ % ENDED] = serial;
    return false;
}

bool fv_request_completed(struct fv_call *call, const struct fv_request *known, uint64_t bytes)
{
    struct shard *s = lock_shard(fv_mix(known->handle));
    struct fv_request *r = search(s, known->handle);

    bool is_first = known->kind == FV_REQUEST_RECV || known->persistent || !fv_rt.options.trace ||
                    !has_ended(s, known->serial);

    if (r && r->serial == known->serial) {
        if (r->persistent)
            r->active = 0;
        else
            erase(s, r);
    }
    unlock_shard(s);
    if (known->kind != FV_REQUEST_RECV || !bytes || known->function == FV_FUNCTION_REST)
        return is_first;
    /* In a cell of this thread's own: the poster's cells are written by the poster alone. */
    struct fv_cell *cell =
        fv_cell_find(call->thread, known->path, known->comm_id, known->function, fv_log2_bucket(bytes), known->section)
            .cell;
    cell->bytes_received += bytes;
    cell->receives++;
    call->thread->record->mpi_bytes += bytes;
    return is_first;
}

void fv_request_freed(const struct fv_request *known)
{
    struct shard *s = lock_shard(fv_mix(known->handle));
    struct fv_request *r = search(s, known->handle);

    if (r && r->serial == known->serial)
        erase(s, r);
    unlock_shard(s);
}
