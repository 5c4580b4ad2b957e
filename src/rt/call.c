/* SPDX-License-Identifier: BSD-3-Clause */
/* The record path: what every MPI call pays. No lock, no memory, no system call; a few stores into the
 * mapped rank file. */
#include "rt/comm.h"
#include "rt/counters.h"
#include "rt/events.h"
#include "rt/path_cache.h"
#include "rt/statistics.h"
#include "rt/turns.h"

/* A nested call's frame lies below that of the call it is nested in, where the return address stands as
 * it did. Else the thread left the earlier call without returning, by longjmp() or an exception from an
 * error handler, and the stack is in use for something else. Frames on other stacks (coroutines) may be
 * gone: they are not looked at. */
__attribute__((no_sanitize("address"))) bool fv_site_was_left(const struct fv_thread *t, struct fv_call_place site,
                                                              struct fv_call_place now)
{
    uintptr_t before = (uintptr_t)site.frame, frame = (uintptr_t)now.frame;

    if (frame >= t->stack_end)
        return false;
    return frame >= before ||
           (frame >= t->stack_low && before < t->stack_end && site.frame[1] != (uintptr_t)site.return_address);
}

static bool was_abandoned(const struct fv_thread *t, struct fv_call_place now)
{
    return fv_rt_on() && fv_site_was_left(t, t->inside, now);
}

FV_COLD bool fv_call_was_left(void)
{
    struct fv_thread *t = fv_self;

    if (!t || !was_abandoned(t, FV_CALL_SITE()))
        return false;
    t->record->in_call.begin = 0;
    fv_region_begin(t, t->record->in_call.path);
    fv_current = t;
    return true;
}

/* First call of a thread, or of the process; also every nested call ends here. */
static FV_COLD struct fv_thread *thread_of(struct fv_call_place site)
{
    struct fv_start_info info;

    if (fv_self && __atomic_load_n(&fv_self->left, __ATOMIC_ACQUIRE)) {
        fv_self->left = false;
        fv_region_begin(fv_self, fv_self->record->in_call.path);
        return fv_self;
    }
    if (fv_self && was_abandoned(fv_self, site)) {
        fv_dropped(FV_DROP_CALLS);
        fv_region_begin(fv_self, fv_self->record->in_call.path);
        return fv_self;
    }

    if (fv_rt_state() == FV_RT_IDLE && fv_mpi_attach(&info))
        fv_start(&info);
    return fv_current ? fv_current : fv_thread_attach();
}

static uint64_t ticks_of(uint64_t ns)
{
    const struct fv_clock_point *first = &fv_rt.writer.header->first;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    double elapsed_ns = (double)(now.tv_sec * INT64_C(1000000000) + now.tv_nsec - first->monotonic_ns);
    return elapsed_ns > 0 ? (uint64_t)((double)ns * (double)(fv_ticks() - first->ticks) / elapsed_ns) : 0;
}

/* Recording waited, for a page of the file: since the switches were read, the thread did nothing else. That is none of
 * the application's time; what it was preempted is, as it would have been without us. */
static FV_COLD void leave_out_waits(struct fv_thread *t)
{
    struct fv_switch_sums *since = &t->switches.since;
    const struct fv_switch_sums before = *since;

    fv_switches_read(&t->switches);
    uint64_t ticks = ticks_of(since->blocked_ns - before.blocked_ns);
    uint64_t waited = t->record->waited + (ticks >> FV_WAITED_SHIFT);

    since->blocked = before.blocked;
    since->blocked_ns = before.blocked_ns;
    t->record->waited = waited < UINT32_MAX ? (uint32_t)waited : UINT32_MAX;
    t->record->cold_ticks += ticks;
    t->switches.left_out += ticks;
}

void fv_handler_begins(void)
{
    struct fv_thread *t = fv_current;

    if (t && fv_switches_came(&t->switches))
        fv_switches_read(&t->switches);
}

void fv_handler_ends(void)
{
    struct fv_thread *t = fv_current;

    if (t && fv_switches_came(&t->switches))
        leave_out_waits(t);
}

/* When something of a call was recorded, and its time is. */
static inline void recorded(const struct fv_call *call)
{
    if (FV_UNLIKELY(fv_switches_came(&call->thread->switches)) && call->record)
        leave_out_waits(call->thread);
}

/* Something came while it computed, or it counts. */
static FV_COLD void look_before(struct fv_thread *t, unsigned function)
{
    fv_turns_enter(t, function);
    if (t->counters)
        fv_counters_enter(t);
    if (fv_switches_came(&t->switches))
        fv_switches_read(&t->switches);
}

/* Something came while the call was recorded, or it counts: what fvmpi did is the call's, too. */
static FV_COLD void look_behind(const struct fv_call *call)
{
    struct fv_thread *t = call->thread;

    if (fv_switches_came(&t->switches) && call->record)
        leave_out_waits(t);
    fv_turns_leave(t);
    if (t->counters)
        fv_counters_leave(t);
}

_Static_assert(offsetof(struct fv_in_call, path) == offsetof(struct fv_in_call, function) + sizeof(uint32_t) &&
                   offsetof(struct fv_path_entry, path) == offsetof(struct fv_path_entry, function) + sizeof(uint32_t),
               "function and path are neighbours in both");

/* The call is on its path, which knows the function. */
static inline __attribute__((always_inline)) void be_inside(struct fv_call *call, struct fv_thread *t,
                                                            struct fv_path_entry *path, unsigned function)
{
    struct fv_in_call *in = &t->record->in_call;

    call->thread = t;
    call->path = path;
    call->shared = t->record;
    call->function = function;
    memcpy(&in->function, &path->function, 2 * sizeof(in->function)); /* the function and the path in one store */
    in->comm = 0;
    in->peer = FV_NO_PEER;
}

static inline bool begin(struct fv_call *call, uint64_t now)
{
    /* Last, so that a reader who sees the time sees the rest. */
    __atomic_store_n(&call->shared->in_call.begin, now, __ATOMIC_RELEASE);
    call->begin = now;
    return true;
}

static __attribute__((noinline)) bool begin_slowly(struct fv_call *call)
{
    if (FV_UNLIKELY(fv_switches_came(&call->thread->switches)))
        leave_out_waits(call->thread);
    return begin(call, fv_ticks());
}

/* The thread is inside already. */
static __attribute__((noinline)) bool enter_anew(struct fv_call *call, unsigned function, struct fv_thread *t)
{
    uint32_t recording = fv_recording();

    if (FV_UNLIKELY(!recording)) {
        fv_thread_forget();
        return false;
    }
    if (FV_UNLIKELY(fv_switches_look(&t->switches)))
        look_before(t, function);
    fv_function_used(function);
    call->record = FV_LIKELY(recording == t->recording) || fv_recording_changed(t, recording);
    call->trace = call->record && __atomic_load_n(&fv_rt.tracing, __ATOMIC_RELAXED);
    struct fv_path_entry *path = FV_LIKELY(call->record) ? fv_path_lookup(t, t->inside) : &t->no_path;

    if (FV_UNLIKELY(path->function != function)) {
        path->comm = FV_PATH_UNCOUNTED;
        path->function = function;
        path->class = fv_functions[function].class;
    }
    be_inside(call, t, path, function);
    return begin_slowly(call);
}

/* Most calls that the thread is not outside for are nested, as C's functions are in Fortran's: the one that it is in
 * is further out on its stack. */
__attribute__((no_sanitize("address"))) static bool is_nested(const struct fv_thread *t, struct fv_call_place now)
{
    uintptr_t outer = (uintptr_t)t->inside.frame, frame = (uintptr_t)now.frame;

    return frame < outer && frame >= t->stack_low && outer < t->stack_end &&
           t->inside.frame[1] == (uintptr_t)t->inside.return_address && !__atomic_load_n(&t->left, __ATOMIC_ACQUIRE);
}

static FV_COLD bool enter_first(struct fv_call *call, unsigned function, struct fv_call_place site)
{
    struct fv_thread *t = thread_of(site);

    if (!t)
        return false;
    fv_current = NULL;
    t->inside = site;
    return enter_anew(call, function, t);
}

static __attribute__((noinline)) bool enter_slowly(struct fv_call *call, unsigned function, struct fv_call_place site)
{
    const struct fv_thread *self = fv_self;

    return FV_LIKELY(self && is_nested(self, site)) ? false : enter_first(call, function, site);
}

/* Where the thread does what it did before: on the same path, with nothing in between. Each question that is left to
 * others saves all calls that have the usual answer. */
bool fv_call_enter(struct fv_call *call, unsigned function, struct fv_call_place site)
{
    struct fv_thread *t = fv_current;

    if (FV_UNLIKELY(!t))
        return enter_slowly(call, function, site);
    fv_current = NULL;
    t->inside = site;
    if (FV_UNLIKELY(fv_recording() != t->recording || fv_switches_look(&t->switches)))
        return enter_anew(call, function, t);
    struct fv_path_entry *path = fv_path_again(t, site, 0);

    if (FV_UNLIKELY(!path || path->function != function))
        return enter_anew(call, function, t);
    call->record = true;
    call->trace = __atomic_load_n(&fv_rt.tracing, __ATOMIC_RELAXED);
    be_inside(call, t, path, function);
    return FV_UNLIKELY(fv_switches_came(&t->switches)) ? begin_slowly(call) : begin(call, fv_counter());
}

static FV_COLD struct fv_waiting *make_waiting(struct fv_thread *t)
{
    struct fv_chunk_header *chunk;

    if (t->waiting_tried)
        return NULL;
    t->waiting_tried = true;
    chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_WAITING, t->id, 0, sizeof(*t->waiting));
    if (!chunk)
        return NULL;
    t->waiting = fv_chunk_records(chunk);
    fv_chunk_commit(chunk, sizeof(*t->waiting));
    return t->waiting;
}

struct fv_waiting *fv_call_describe(struct fv_call *call)
{
    struct fv_waiting *w = call->thread->waiting;

    return FV_LIKELY(w != NULL) ? w : make_waiting(call->thread);
}

void fv_call_peers(struct fv_call *call, uint64_t comm, int to, int send_tag, int from, int tag)
{
    struct fv_waiting *w = fv_call_describe(call);
    const struct fv_comm *known = fv_comm_find(comm);
    uint32_t id = known ? fv_comm_id(known) : 0;
    uint16_t function = (uint16_t)call->function;

    fv_call_peer(call, comm, from, tag);
    if (FV_UNLIKELY(!w))
        return;
    w->item[0] = (struct fv_wait_target){ id, to, send_tag, function, FV_WAITED_SEND, 0 };
    w->item[1] = (struct fv_wait_target){ id, from, tag, function, FV_WAITED_RECEIVE, 0 };
    w->kept = w->count = 2;
    fv_call_described(call, w);
}

/* Its thread goes on recording with its next call, or did already and has counted this one (thread_of). */
static FV_COLD bool came_back_elsewhere(const struct fv_call *call)
{
    struct fv_thread *t = call->thread;

    if (__atomic_load_n(&t->record->in_call.begin, __ATOMIC_ACQUIRE) == call->begin) {
        fv_dropped(FV_DROP_CALLS);
        __atomic_store_n(&t->left, true, __ATOMIC_RELEASE);
    }
    return false;
}

static FV_COLD bool skip_switches(const struct fv_call *call)
{
    fv_switches_skip(&call->thread->switches);
    return true;
}

static inline __attribute__((always_inline)) bool end_at(struct fv_call *call, uint64_t now)
{
    call->end = FV_LIKELY(now > call->begin) ? now : call->begin; /* processors may differ by a tick */
    if (FV_UNLIKELY(call->thread != fv_self))
        return came_back_elsewhere(call);
    if (FV_UNLIKELY(fv_switches_came(&call->thread->switches)))
        return skip_switches(call);
    return true;
}

static FV_COLD bool end_by_system(struct fv_call *call)
{
    return end_at(call, fv_ticks_of_system());
}

bool fv_call_end(struct fv_call *call)
{
    return fv_clock_is_counter() ? end_at(call, fv_counter()) : end_by_system(call);
}

/* The time outside of MPI before the call, which the cell does not count yet. */
static inline void add_before(const struct fv_call *call, const struct fv_thread_record *record, struct fv_cell *cell)
{
    uint64_t ticks = call->begin - record->last; /* processors may differ by a tick: below 0 for that long */
    uint32_t from = call->thread->previous;

    call->thread->previous = cell->path;
    if (FV_UNLIKELY(cell->from != from))
        fv_region_change(call, cell, from);
    if (FV_UNLIKELY(call->thread->switches.any)) {
        ticks -= fv_region_switched(call, from);
        if (call->thread->io_since.calls)
            fv_region_with_io(call, from);
    }
    cell->before_ticks += ticks;
}

/* Of a short one the square has 64 bits, and a bucket below the last. */
static inline bool is_short(uint64_t ticks)
{
    return ticks >> 32 == 0;
}
_Static_assert(32 - FV_TIME_SHIFT < FV_TIME_BUCKETS, "short calls have a bucket");

static inline void add_short_time(struct fv_cell *cell, uint64_t ticks)
{
    /* fv_log2_bucket(ticks >> FV_TIME_SHIFT), without asking whether that is 0 */
    unsigned zeros = (unsigned)__builtin_clz((uint32_t)ticks | 1u << (FV_TIME_SHIFT - 1));

    cell->time_histogram[(31u ^ zeros) - (FV_TIME_SHIFT - 1)]++;
    cell->square_high += __builtin_add_overflow(cell->square_low, ticks * ticks, &cell->square_low);
    cell->time_sum += ticks;
    if (FV_UNLIKELY(ticks < cell->time_min))
        cell->time_min = ticks;
    if (FV_UNLIKELY(ticks > cell->time_max))
        cell->time_max = ticks;
    cell->calls++;
}

static void add_time(struct fv_cell *cell, uint64_t ticks)
{
    unsigned bucket = fv_log2_bucket(ticks >> FV_TIME_SHIFT);
    unsigned __int128 square = (unsigned __int128)ticks * ticks;
    unsigned __int128 sum = ((unsigned __int128)cell->square_high << 64 | cell->square_low) + square;

    cell->time_sum += ticks;
    if (ticks < cell->time_min)
        cell->time_min = ticks;
    if (ticks > cell->time_max)
        cell->time_max = ticks;
    cell->square_low = (uint64_t)sum;
    cell->square_high = (uint64_t)(sum >> 64);
    cell->time_histogram[bucket < FV_TIME_BUCKETS ? bucket : FV_TIME_BUCKETS - 1]++;
    cell->calls++;
}

/* The cell that this call path used last, if it is the right one. */
static inline struct fv_cell *cell_of(struct fv_call *call, uint32_t comm, unsigned bucket)
{
    struct fv_path_entry *path = call->path;
    struct fv_cell *cell = path->cell;

    if (FV_UNLIKELY(!cell || !fv_cell_is(cell, path->path, comm, call->function, bucket, call->thread->section_set))) {
        struct fv_cell_slot slot =
            fv_cell_find(call->thread, path->path, comm, call->function, bucket, call->thread->section_set);

        fv_switches_begin(call->thread); /* of threads that call MPI alone */
        path->cell = cell = slot.cell;
        path->cell_index = slot.index;
    }
    return cell;
}

/* Bytes of the other direction when they fall into another size bucket than the call: in a cell of
 * their own with no calls, so that both size histograms are exact. */
static void add_received_apart(struct fv_call *call, uint32_t comm, uint64_t received)
{
    struct fv_cell *cell = fv_cell_find(call->thread, call->path->path, comm, call->function, fv_log2_bucket(received),
                                        call->thread->section_set)
                               .cell;

    cell->bytes_received += received;
    cell->receives++;
    fv_cell_add_size(cell, received);
}

/* The next call like this one is counted in the same place. */
static void remember(struct fv_call *call, uint32_t comm, uint64_t sent, uint64_t received)
{
    struct fv_path_entry *e = call->path;
    unsigned bucket = fv_log2_bucket(sent ? sent : received);
    bool apart = received && fv_log2_bucket(received) != bucket;
    /* not over the budget, where each call is counted as dropped; cells there have no path */
    bool own = e->path ? e->cell->path == e->path
                       : fv_cell_is(e->cell, 0, comm, call->function, bucket, call->thread->section_set);

    e->comm = own && !apart ? comm : FV_PATH_UNCOUNTED;
    e->section = call->thread->section_set;
    e->left = FV_CELL_UNASKED - 1;
    e->sent = sent;
    e->received = received;
    e->bytes = sent + received;
    e->sends = sent != 0;
    e->receives = received != 0;
}

static void count(struct fv_call *call, uint32_t comm, uint64_t sent, uint64_t received)
{
    struct fv_thread_record *record = call->thread->record;
    unsigned bucket = fv_log2_bucket(sent ? sent : received);
    struct fv_cell *cell = cell_of(call, comm, bucket);

    add_before(call, record, cell);
    add_time(cell, call->end - call->begin);
    if (sent) {
        cell->bytes_sent += sent;
        cell->sends++;
        fv_cell_add_size(cell, sent);
    }
    if (received) {
        if (FV_LIKELY(!sent || fv_log2_bucket(received) == bucket)) {
            cell->bytes_received += received;
            cell->receives++;
            fv_cell_add_size(cell, received);
        } else {
            add_received_apart(call, comm, received);
        }
    }
    record->calls++;
    record->mpi_ticks += call->end - call->begin;
    record->mpi_bytes += sent + received;
    record->last = call->end;
    fv_bins_add(call->thread, fv_functions[call->function].class, call->begin, call->end);
    call->cell = cell;
    remember(call, comm, sent, received);
}

static inline void leave(struct fv_thread *t)
{
    __atomic_store_n(&t->record->in_call.begin, 0, __ATOMIC_RELEASE);
    fv_current = t;
}

/* What has been counted is written as an event, and looked at. */
static __attribute__((noinline)) void end_record(struct fv_call *call)
{
    struct fv_thread *t = call->thread;

    if (FV_UNLIKELY(call->trace))
        fv_events_call(call);
    if (FV_UNLIKELY(fv_switches_look(&t->switches)))
        look_behind(call);
    leave(t);
}

static __attribute__((noinline)) void record_anew(struct fv_call *call, struct fv_comm *comm, uint64_t sent,
                                                  uint64_t received)
{
    call->cell = NULL;
    if (FV_LIKELY(call->record))
        count(call, comm ? comm->id : 0, sent, received);
    end_record(call);
}

/* Of a call that is not recorded the path was never counted. Is the call to be counted where the one before it on its
 * path was, behind the same call, with nothing in between? */
static inline bool is_as_before(const struct fv_call *call, const struct fv_thread *t, const struct fv_path_entry *e,
                                uint32_t comm, uint64_t sent, uint64_t received)
{
    return e->comm == comm && e->section == t->section_set && e->sent == sent && e->received == received &&
           e->cell->from == t->previous && !t->switches.any && fv_bins_are_still(t, call->end) &&
           is_short(call->end - call->begin) && e->left;
}

/* As count(), where is_as_before(). */
static inline void count_again(struct fv_call *call, struct fv_thread *t, struct fv_path_entry *e)
{
    __asm__("" : "+r"(call), "+r"(e)); /* read again, not kept in registers that would have to be saved first */
    struct fv_thread_record *record = t->record;
    struct fv_cell *cell = e->cell;
    uint64_t ticks = call->end - call->begin;

    t->previous = e->path;
    cell->before_ticks += call->begin - record->last;
    record->last = call->end;
    e->left--;
    add_short_time(cell, ticks);
    if (e->bytes) {
        cell->bytes_sent += e->sent;
        cell->bytes_received += e->received;
        cell->sends += e->sends;
        cell->receives += e->receives;
        record->mpi_bytes += e->bytes;
    }
    record->calls++;
    record->mpi_ticks += ticks;
    t->bin[e->class] += ticks;
    call->cell = cell;
}

void fv_call_record(struct fv_call *call, struct fv_comm *comm, uint64_t sent, uint64_t received)
{
    struct fv_thread *t = call->thread;
    struct fv_path_entry *e = call->path;

    if (FV_UNLIKELY(!is_as_before(call, t, e, comm ? comm->id : 0, sent, received))) {
        record_anew(call, comm, sent, received);
        return;
    }
    count_again(call, t, e);
    if (FV_UNLIKELY(call->trace || fv_switches_look(&t->switches)))
        end_record(call);
    else
        leave(t);
}

static __attribute__((noinline)) void record_on_another(struct fv_call *call, uint64_t comm)
{
    fv_call_record(call, fv_comm_get(comm), 0, 0);
}

void fv_call_record_on(struct fv_call *call, uint64_t comm)
{
    const struct fv_thread *t = call->thread;

    if (FV_LIKELY(fv_comm_is_last(t, comm)))
        fv_call_record(call, t->comm, 0, 0);
    else
        record_on_another(call, comm);
}

static __attribute__((noinline)) void record_together(struct fv_call *call, struct fv_comm *comm, int64_t event_root,
                                                      uint64_t sent, uint64_t received, unsigned flags,
                                                      uint32_t sequence)
{
    fv_event(call, COLLECTIVE, comm->id, fv_signed(event_root), sent, received, sequence);
    fv_call_record(call, comm, sent, received);
    if (comm->size > 1 || comm->flags & FV_COMM_INTER)
        fv_call_collective(call, sequence, flags | (sent ? FV_COLL_SENDS : 0u) | (received ? FV_COLL_RECEIVES : 0u));
}

void fv_call_record_collective(struct fv_call *call, struct fv_comm *comm, int64_t event_root, uint64_t sent,
                               uint64_t received, unsigned flags)
{
    uint32_t sequence = fv_comm_count_collective(comm);

    if (FV_UNLIKELY(call->trace || comm->size > 1 || comm->flags & FV_COMM_INTER))
        record_together(call, comm, event_root, sent, received, flags, sequence);
    else
        fv_call_record(call, comm, sent, received); /* alone, there is nobody to wait for */
}

static __attribute__((noinline)) void record_alike_on_another(struct fv_call *call, uint64_t comm, uint64_t bytes)
{
    struct fv_comm *c = fv_comm_get(comm);

    if (FV_LIKELY(c != NULL))
        fv_call_record_collective(call, c, FV_ROOT_NONE, bytes, bytes, 0);
    else
        fv_call_record(call, NULL, 0, 0);
}

void fv_call_record_alike(struct fv_call *call, uint64_t comm, uint64_t bytes)
{
    const struct fv_thread *t = call->thread;

    if (FV_LIKELY(fv_comm_is_last(t, comm)))
        fv_call_record_collective(call, t->comm, FV_ROOT_NONE, bytes, bytes, 0);
    else
        record_alike_on_another(call, comm, bytes);
}

void fv_call_empty(struct fv_call *call, unsigned sent, unsigned received)
{
    struct fv_cell *cell = call->cell;

    if (!cell)
        return;
    if (cell->size_bucket)
        cell = fv_cell_find(call->thread, cell->path, cell->comm, cell->function, 0, cell->section).cell;
    cell->sends += sent;
    cell->receives += received;
}

void fv_call_sent_one(struct fv_call *call, uint64_t bytes)
{
    struct fv_cell *cell = call->cell;

    if (!cell || !bytes)
        return;
    cell =
        fv_cell_find(call->thread, cell->path, cell->comm, cell->function, fv_log2_bucket(bytes), cell->section).cell;
    cell->bytes_sent += bytes;
    cell->sends++;
    fv_cell_add_size(cell, bytes);
    call->thread->record->mpi_bytes += bytes;
}

static __attribute__((noinline)) void send_to_another(struct fv_thread *t, const struct fv_comm *comm, int rank,
                                                      uint64_t messages, uint64_t bytes)
{
    struct fv_peers *p = &t->peers;
    uint64_t generation = fv_comm_generation_now();

    p->generation = 0;
    if (!comm) {
        fv_dropped(FV_DROP_PEERS);
    } else if (fv_peer_add(t, fv_comm_peer_world(comm, rank), messages, bytes)) {
        p->comm = comm;
        p->rank = rank;
        p->generation = generation;
    }
}

void fv_call_sent_to(struct fv_call *call, struct fv_comm *comm, int rank, uint64_t messages, uint64_t bytes)
{
    struct fv_peers *p = &call->thread->peers;

    if (!call->record)
        return;
    if (FV_LIKELY(p->rank == rank && p->comm == comm && p->generation == fv_comm_generation_now())) {
        p->last->messages += messages;
        p->last->bytes += bytes;
    } else {
        send_to_another(call->thread, comm, rank, messages, bytes);
    }
    recorded(call);
}

void fv_call_record_send(struct fv_call *call, uint64_t comm, int rank, int tag, uint64_t bytes)
{
    struct fv_comm *c = fv_comm_of(call->thread, comm);

    fv_event(call, SEND, c ? c->id : 0, fv_signed(rank), fv_signed(tag), bytes);
    fv_call_record(call, c, bytes, 0);
    if (FV_UNLIKELY(!bytes))
        fv_call_empty(call, 1, 0);
    fv_call_sent_to(call, c, rank, 1, bytes);
}

void fv_call_collective(struct fv_call *call, uint32_t sequence, unsigned flags)
{
    if (!call->cell)
        return;
    const struct fv_coll_record record = {
        .begin = call->begin,
        .end = call->end,
        .sequence = sequence,
        .cell_flags = call->path->cell_index << 3 | flags,
    };
    fv_wait_log_add(call->thread, &record);
    if (FV_UNLIKELY(call->thread->noise.any))
        fv_noise_log(call->thread, call->begin);
    recorded(call);
}
