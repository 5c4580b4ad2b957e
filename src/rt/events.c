/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace: a record for each call, in chunks of its thread (trace/events.h says what they hold). What a
 * call did is gathered in private memory while the call is being recorded, then goes behind the call's own
 * record in one piece, so that a killed process leaves whole calls. A full chunk is unmapped, or compressed
 * and filled again: the trace does not stay in the application's memory. */
#include "rt/layers.h"
#include "rt/events.h"
#include "rt/order.h"
#include "rt/ring.h"
#include "rt/tail.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define FIRST_CHUNK (UINT32_C(1) << 11)
#define LAST_CHUNK  (UINT32_C(1) << 20) /* they double up to this */
#define SITE_CHUNK  1024                /* the first; others are pages */
#define SITES_LEAST 8192                /* of the budget, that events leave to them */
#define DETAILS     4096
#define LEAST       256 /* of a chunk, beside what is to go into it */
#define BLOCK       32  /* details are copied in such */

static uint64_t bytes_used; /* of all threads, against options.trace_max */
static uint64_t request_numbers;
static bool rehearsing; /* what is not to be counted */

bool fv_traced;

uint64_t fv_event_numbers(uint64_t count)
{
    if (!fv_traced)
        return 0;
    if (fv_rt.thread_multiple)
        return __atomic_fetch_add(&request_numbers, count, __ATOMIC_RELAXED) + 1;
    return (request_numbers += count) - count + 1;
}

/* ---- the end of the budget ---- */

/* For all threads: half a trace of some of them would only mislead. */
static FV_COLD void stop(const char *why)
{
    struct fv_file_header *h = fv_rt.writer.header;
    uint64_t never = 0;

    if (!__atomic_compare_exchange_n(&h->trace_stop_ticks, &never, fv_ticks(), false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&fv_rt.trace_stopped, true, __ATOMIC_RELAXED);
    if (why ? fv_writer_first_on_node(&fv_rt.writer, "trace") : fv_rt.world_rank == 0)
        fv_log("rank %d: the trace ends here: %s; the profile goes on%s", fv_rt.world_rank,
               why ? why : "FVMPI_TRACE_MAX is used up. Raise it, or record less (fvmpi_pause)",
               why ? FV_FOR_NODE : "");
}

static inline bool stopped(void)
{
    return FV_UNLIKELY(__atomic_load_n(&fv_rt.trace_stopped, __ATOMIC_RELAXED));
}

/* ---- room ---- */

bool fv_events_reserve(size_t bytes)
{
    if (stopped())
        return false;
    if (__atomic_add_fetch(&bytes_used, bytes, __ATOMIC_RELAXED) <= fv_rt.options.trace_max)
        return true;
    fv_events_unreserve(bytes);
    return false;
}

void fv_events_unreserve(size_t bytes)
{
    __atomic_fetch_sub(&bytes_used, bytes, __ATOMIC_RELAXED);
}

static FV_COLD struct fv_chunk_header *new_chunk(struct fv_thread *t, enum fv_chunk_type type, uint64_t first,
                                                 size_t payload)
{
    if (__atomic_add_fetch(&bytes_used, payload, __ATOMIC_RELAXED) > fv_rt.options.trace_max) {
        if (!fv_rt.options.trace_keep)
            stop(NULL);
        return NULL;
    }
    struct fv_chunk_header *chunk = fv_writer_chunk(&fv_rt.writer, type, t->id, first, payload);
    if (!chunk && fv_rt_here()) /* a child of vfork(), which has our memory, gets none */
        stop(fv_rt.writer.header->refused_error == EFBIG ? fv_writer_why(EFBIG) : "no room for it on the disk");
    return chunk;
}

#define POINTS_EACH 1024 /* of a ring, until those behind are half as dense */

/* A ring goes round without end, its clock points must not: first one a second at most. */
static bool wants_point(const struct fv_clock_point *point, uint64_t count)
{
    static int64_t next_ns;

    if (!fv_rt.options.trace_keep)
        return true;
    if (point->monotonic_ns < next_ns)
        return false;
    next_ns = point->monotonic_ns + (INT64_C(1000000000) << (count / POINTS_EACH < 32 ? count / POINTS_EACH : 32));
    return true;
}

/* A point of the clocks for each full chunk: the merge interpolates between them. */
static void add_clock_point(void)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_CLOCK, .first_pages = 1, .most_pages = 4 };
    static struct fv_tail tail;
    struct fv_clock_point point;

    fv_clock_point(&point);
    uint64_t signals = fv_lock_sigsave(&fv_rt.lock);
    void *record =
        wants_point(&point, tail.count) ? fv_tail_next(&tail, &kind, FV_NO_THREAD, sizeof(point), false) : NULL;
    if (record) {
        memcpy(record, &point, sizeof(point));
        fv_tail_commit(&tail, sizeof(point));
    }
    fv_unlock_sigrestore(&fv_rt.lock, signals);
}

/* Records start anew in the thread's chunk. */
static void begin_chunk(struct fv_events *e)
{
    const struct fv_event_base base = { .ticks = e->last };

    memcpy(fv_chunk_records(e->chunk), &base, sizeof(base));
    fv_chunk_commit(e->chunk, sizeof(base));
    e->at = (uint8_t *)fv_chunk_next(e->chunk);
    e->stop = (uint8_t *)e->chunk + e->chunk->bytes;
}

/* The full chunk goes on the disk compressed, and is filled again. False: it stays as it is. */
static FV_COLD bool pack_chunk(struct fv_thread *t)
{
    struct fv_events *e = &t->events;
    size_t bytes = fv_pack_events(e->chunk, &e->packed, &e->packed_room);
    struct fv_chunk_header *chunk = bytes ? new_chunk(t, FV_CHUNK_PACKED, e->chunk->first, bytes) : NULL;

    if (!chunk)
        return false;
    memcpy(fv_chunk_records(chunk), e->packed, bytes);
    fv_chunk_commit(chunk, bytes);
    fv_writer_release(chunk);
    __atomic_store_n(&e->chunk->used, 0, __ATOMIC_RELEASE); /* from here on its calls are in the other alone */
    e->chunk->first = e->calls;
    e->chunk->check = fv_chunk_check(e->chunk);
    begin_chunk(e);
    return true;
}

/* What the next chunk takes: twice the last one, or what is left of the budget beside a few call sites. */
static size_t next_size(const struct fv_events *e, size_t need)
{
    uint64_t most = fv_rt.options.trace_max, used = __atomic_load_n(&bytes_used, __ATOMIC_RELAXED);
    uint64_t left = used + SITES_LEAST < most ? (most - used - SITES_LEAST) / FV_PAGE * FV_PAGE : 0;
    size_t size = e->chunk ? e->chunk->bytes * 2 : FIRST_CHUNK;

    if (size > LAST_CHUNK)
        size = LAST_CHUNK;
    if (size > left)
        size = left;
    /* a page of its own: chunks of a thread are in order */
    return size < need + LEAST ? fv_round_up(need + LEAST, FV_PAGE) : size;
}

/* Of a trace that keeps its end. What is open then is told again in each chunk, because those before it go. */
static FV_COLD bool next_of_ring(struct fv_thread *t, size_t need)
{
    struct fv_events *e = &t->events;
    const bool is_first = !e->chunk;
    uint64_t begin = fv_ticks();
    struct fv_chunk_header *chunk = fv_ring_next(t, need + LEAST);

    if (!chunk) {
        if (is_first && fv_rt_here())
            stop("no room for it on the disk");
        return false;
    }
    if (is_first)
        e->last = fv_rt.writer.header->begin_ticks;
    else
        add_clock_point();
    e->chunk = chunk;
    e->first_request = __atomic_load_n(&request_numbers, __ATOMIC_RELAXED);
    e->section_set = e->section_set ? UINT32_MAX : 0; /* no such set; 0: readers take it for granted */
    begin_chunk(e);
    t->record->cold_ticks += fv_ticks() - begin;
    return true;
}

static FV_COLD bool next_chunk(struct fv_thread *t, size_t need)
{
    struct fv_events *e = &t->events;

    if (fv_rt.options.trace_keep)
        return next_of_ring(t, need);
    size_t size = next_size(e, need);
    uint64_t begin = fv_ticks();
    if (e->chunk && e->chunk->bytes >= LAST_CHUNK && e->chunk->bytes >= need + LEAST && fv_pack_wanted() &&
        pack_chunk(t)) {
        add_clock_point();
        t->record->cold_ticks += fv_ticks() - begin;
        return true;
    }
    struct fv_chunk_header *chunk = new_chunk(t, FV_CHUNK_EVENTS, e->calls, size - sizeof(*chunk));
    if (!chunk)
        return false;
    if (e->chunk) {
        fv_writer_release(e->chunk);
        add_clock_point();
    } else {
        e->last = fv_rt.writer.header->begin_ticks;
    }
    e->chunk = chunk;
    begin_chunk(e);
    t->record->cold_ticks += fv_ticks() - begin;
    return true;
}

/* Becomes part of the file up to `at`. */
static inline void commit(struct fv_events *e, uint8_t *at)
{
    e->at = at;
    __atomic_store_n(&e->chunk->used, (uint64_t)(at - (uint8_t *)fv_chunk_records(e->chunk)), __ATOMIC_RELEASE);
}

static inline bool make_room(struct fv_thread *t, size_t need)
{
    return !stopped() && (FV_LIKELY((size_t)(t->events.stop - t->events.at) >= need) || next_chunk(t, need));
}

/* ---- call sites ---- */

static FV_COLD bool write_site(struct fv_thread *t, struct fv_site_record site)
{
    struct fv_events *e = &t->events;

    if (!e->site_chunk || fv_chunk_room(e->site_chunk) < sizeof(site)) {
        struct fv_chunk_header *chunk =
            new_chunk(t, FV_CHUNK_SITES, e->sites, (e->site_chunk ? FV_PAGE : SITE_CHUNK) - sizeof(*chunk));

        if (!chunk)
            return false;
        if (e->site_chunk)
            fv_writer_release(e->site_chunk);
        e->site_chunk = chunk;
    }
    memcpy(fv_chunk_next(e->site_chunk), &site, sizeof(site));
    fv_chunk_commit(e->site_chunk, sizeof(site));
    return true;
}

/* A path entry remembers its site; where entries do not live long (coroutines), a table of recent ones does.
 * A site that falls out of both is written again under another number. */
static FV_COLD bool find_site(struct fv_call *call)
{
    struct fv_events *e = &call->thread->events;
    struct fv_path_entry *path = call->path;
    struct fv_recent_site *recent = &e->recent[(path->path * UINT32_C(2654435761) + call->function) % FV_RECENT_SITES];

    if (!recent->known || recent->site.path != path->path || recent->site.function != call->function) {
        const struct fv_site_record site = { .path = path->path, .function = (uint16_t)call->function };

        if (!write_site(call->thread, site))
            return false;
        *recent = (struct fv_recent_site){ .site = site, .number = e->sites++, .known = true };
    }
    path->site = recent->number;
    path->site_function = (uint16_t)(call->function + 1);
    return true;
}

static inline bool is_known(const struct fv_call *call)
{
    return FV_LIKELY(call->path->site_function == call->function + 1);
}

/* ---- records ---- */

static FV_COLD bool grow_details(struct fv_events *e, size_t need)
{
    size_t size = e->details_size ? e->details_size : DETAILS;

    while (size < need)
        size *= 2;
    uint8_t *bigger = fv_memory_new(size);
    if (!bigger)
        return false;
    if (e->details) {
        memcpy(bigger, e->details, e->details_used);
        fv_memory_free(e->details, e->details_size);
    }
    e->details = bigger;
    e->details_size = size;
    return true;
}

static inline bool has_room(const struct fv_events *e)
{
    return FV_LIKELY(e->details_size - e->details_used >= FV_EVENT_MAX);
}

static inline __attribute__((always_inline)) void put_detail(struct fv_events *e, unsigned kind, const uint64_t *field,
                                                             unsigned count)
{
    uint8_t *at = e->details + e->details_used;

    *at++ = (uint8_t)kind;
#pragma GCC unroll 6
    for (unsigned i = 0; i < count; i++)
        at = fv_put_varint(at, field[i]);
    e->details_used = (size_t)(at - e->details);
}

static FV_COLD void add_anyhow(struct fv_events *e, unsigned kind, const uint64_t *field, unsigned count)
{
    if (has_room(e) || grow_details(e, e->details_used + FV_EVENT_MAX)) /* no memory: the call is there without it */
        put_detail(e, kind, field, count);
}

static FV_COLD void add_in_order(struct fv_events *e, unsigned kind, const uint64_t *field, unsigned count)
{
    const unsigned is_signed = fv_event_forms[kind].is_signed;
    uint64_t number, plain[FV_EVENT_FIELDS] = { 0 };

    for (unsigned i = 0; i < count; i++)
        plain[i] = is_signed >> i & 1 ? (uint64_t)fv_unzigzag(field[i]) : field[i];
    if (!rehearsing && fv_order_of(e, kind, plain, &number))
        add_anyhow(e, FV_EV_ORDER, (const uint64_t[]){ plain[kind == FV_EV_ISEND || kind == FV_EV_MATCHED], number },
                   2);
    add_anyhow(e, kind, field, count);
}

#define FV_EVENT_ADD_DEFINED(n)                                                       \
    void fv_event_add_##n(struct fv_call *call, unsigned kind, const uint64_t *field) \
    {                                                                                 \
        struct fv_events *e = &call->thread->events;                                  \
                                                                                      \
        if (FV_UNLIKELY(fv_rt.options.trace_keep))                                    \
            add_in_order(e, kind, field, n);                                          \
        else if (FV_LIKELY(has_room(e)))                                              \
            put_detail(e, kind, field, n);                                            \
        else                                                                          \
            add_anyhow(e, kind, field, n);                                            \
    }
FV_EVENT_ADDS(FV_EVENT_ADD_DEFINED)

void fv_event_received(struct fv_call *call, uint32_t comm, uint64_t request, int peer, int tag, uint64_t bytes)
{
    struct fv_events *e = &call->thread->events;
    uint64_t number;

    if (!call->trace)
        return;
    if (fv_rt.options.trace_keep && comm && peer >= 0 && fv_order_received(e, comm, request, peer, tag, &number))
        add_anyhow(e, FV_EV_ORDER, (const uint64_t[]){ comm, number }, 2);
    const uint64_t field[] = { request, fv_signed(peer), fv_signed(tag), bytes };
    if (FV_LIKELY(has_room(e)))
        put_detail(e, FV_EV_RECEIVED, field, 4);
    else
        add_anyhow(e, FV_EV_RECEIVED, field, 4);
}

void fv_event_cancelled(struct fv_call *call, bool sends, uint32_t comm, uint64_t request, int peer, int tag)
{
    if (!call->trace)
        return;
    if (fv_rt.options.trace_keep && sends) {
        fv_order_unsent(comm, peer, tag);
        add_anyhow(&call->thread->events, FV_EV_ORDER, (const uint64_t[]){ comm, 0 }, 2);
    }
    add_anyhow(&call->thread->events, FV_EV_CANCELLED, &request, 1);
}

/* Which are open could not be told when that changed. False: no room for what follows. */
static FV_COLD bool tell_sections(const struct fv_call *call, size_t details)
{
    struct fv_thread *t = call->thread;

    return !fv_events_sections(t, call->begin) || make_room(t, FV_EVENT_MAX + details + BLOCK);
}

/* Behind them its details, of which there is a block of fixed size at least: few bytes are copied so without a call. */
static inline __attribute__((always_inline)) void put_call(const struct fv_call *call, size_t details, bool is_long)
{
    struct fv_events *e = &call->thread->events;
    uint8_t *at = e->at;
    const uint64_t last = e->last, begin = call->begin > last ? call->begin : last;
    const uint64_t end = call->end > begin ? call->end : begin;

    *at++ = FV_EV_CALL;
    at = fv_put_varint(at, call->path->site);
    at = fv_put_varint(at, begin - last);
    at = fv_put_varint(at, end - begin);
    if (details)
        memcpy(at, e->details, BLOCK);
    if (is_long)
        memcpy(at + BLOCK, e->details + BLOCK, details - BLOCK);
    e->last = end;
    e->calls++;
    commit(e, at + details);
}

static FV_COLD void call_anyhow(struct fv_call *call, size_t details)
{
    struct fv_thread *t = call->thread;

    if (!make_room(t, FV_EVENT_MAX + details + BLOCK) || !(is_known(call) || find_site(call)) ||
        (t->section_set != t->events.section_set && !tell_sections(call, details)))
        fv_dropped(FV_DROP_EVENTS);
    else
        put_call(call, details, details > BLOCK);
}

void fv_events_call(struct fv_call *call)
{
    struct fv_thread *t = call->thread;
    struct fv_events *e = &t->events;
    const size_t details = e->details_used;

    e->details_used = 0;
    if (FV_LIKELY(details <= BLOCK && (size_t)(e->stop - e->at) >= FV_EVENT_MAX + 2 * BLOCK && !stopped() &&
                  is_known(call) && t->section_set == e->section_set))
        put_call(call, details, false);
    else
        call_anyhow(call, details);
}

FV_COLD void fv_events_make_room(struct fv_thread *t)
{
    struct fv_scope scope = fv_scope_enter();

    make_room(t, FV_EVENT_MAX);
    fv_scope_leave(&scope);
}

bool fv_events_between(struct fv_thread *t, unsigned kind, uint64_t begin, uint64_t end, uint64_t *field)
{
    struct fv_events *e = &t->events;
    struct fv_thread *current = fv_current;

    if (stopped() || FV_UNLIKELY((size_t)(e->stop - e->at) < FV_EVENT_MAX))
        return false;
    if (FV_LIKELY(current != NULL)) { /* a signal handler that comes in between writes nothing; it may jump away */
        t->inside = FV_CALL_SITE();
        fv_current = NULL;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    begin = begin > e->last ? begin : e->last;
    end = end > begin ? end : begin;
    field[0] = begin - e->last;
    if (fv_event_lasts(kind))
        field[1] = end - begin;
    e->last = end;
    e->calls++;
    commit(e, fv_put_event(e->at, (enum fv_event_kind)kind, field));
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    fv_current = current;
    return true;
}

static bool put_moment(struct fv_thread *t, unsigned kind, uint64_t now, const uint64_t *values, unsigned count)
{
    struct fv_events *e = &t->events;
    struct fv_thread *current = fv_current;
    uint8_t *at = e->at;

    if (stopped() || FV_UNLIKELY((size_t)(e->stop - at) < FV_EVENT_MAX))
        return false;
    if (FV_LIKELY(current != NULL)) { /* as above */
        t->inside = FV_CALL_SITE();
        fv_current = NULL;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    now = now > e->last ? now : e->last;
    *at++ = (uint8_t)kind;
    at = fv_put_varint(at, now - e->last);
    for (unsigned i = 0; i < count; i++)
        at = fv_put_varint(at, values[i]);
    e->last = now;
    e->calls++;
    commit(e, at);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    fv_current = current;
    return true;
}

bool fv_events_moment(struct fv_thread *t, unsigned kind, uint64_t now, uint64_t value)
{
    return put_moment(t, kind, now, &value, 1);
}

bool fv_events_counter(struct fv_thread *t, uint64_t now, unsigned number, uint64_t count)
{
    return put_moment(t, FV_EV_COUNTER, now, (const uint64_t[]){ number, count }, 2);
}

bool fv_events_sections(struct fv_thread *t, uint64_t now)
{
    uint32_t set = t->section_set;

    if (!fv_events_moment(t, FV_EV_SECTIONS, now, set))
        return false;
    t->events.section_set = set;
    return true;
}

void fv_events_switched(bool on)
{
    struct fv_thread *t = fv_current;

    if (!t || !fv_rt.tracing || !make_room(t, FV_EVENT_MAX))
        return;
    uint64_t now = fv_ticks(), gap = now > t->events.last ? now - t->events.last : 0;

    t->events.last += gap;
    commit(&t->events, fv_put_event(t->events.at, on ? FV_EV_RESUME : FV_EV_PAUSE, &gap));
}

uint32_t fv_event_window(uint32_t comm, uint64_t sequence)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_WINDOWS, .first_pages = 1, .most_pages = 1 };
    static uint32_t windows;
    static struct fv_tail tail;

    uint64_t signals = fv_lock_sigsave(&fv_rt.lock);
    const struct fv_window_record record = { .id = ++windows, .comm = comm, .sequence = sequence };
    struct fv_window_record *r = fv_tail_next(&tail, &kind, FV_NO_THREAD, sizeof(record), false);
    if (r) {
        *r = record;
        fv_tail_commit(&tail, sizeof(record));
    }
    fv_unlock_sigrestore(&fv_rt.lock, signals);
    return record.id;
}

uint32_t fv_event_file(uint32_t comm, unsigned mode, const char *name)
{
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_FILES, .first_pages = 1, .most_pages = 1, .varies = true
    };
    static uint32_t files;
    static struct fv_tail tail;
    size_t length = strlen(name), bytes = fv_round_up(sizeof(struct fv_file_record) + length + 1, 8);

    uint64_t signals = fv_lock_sigsave(&fv_rt.lock);
    uint32_t id = ++files;
    struct fv_file_record *r = fv_tail_next(&tail, &kind, FV_NO_THREAD, bytes, false);
    if (r) {
        *r = (struct fv_file_record){
            .bytes = (uint32_t)bytes, .id = id, .comm = comm, .mode = mode, .name_bytes = (uint32_t)length
        };
        memcpy(r->name, name, length + 1);
        fv_tail_commit(&tail, bytes);
    }
    fv_unlock_sigrestore(&fv_rt.lock, signals);
    return id;
}

#define REHEARSAL (UINT32_C(1) << 17) /* enough for what calibration writes */

bool fv_events_rehearse(struct fv_thread *t, bool begin)
{
    struct fv_events *e = &t->events;

    rehearsing = begin;
    if (begin) {
        struct fv_chunk_header *chunk = fv_memory_new(REHEARSAL);

        if (!chunk)
            return false;
        chunk->bytes = REHEARSAL;
        e->chunk = chunk;
        e->at = fv_chunk_records(chunk);
        e->stop = (uint8_t *)chunk + REHEARSAL;
        e->last = fv_ticks();
        return true;
    }
    fv_memory_free(e->chunk, REHEARSAL);
    *e = (struct fv_events){ .details = e->details, .details_size = e->details_size };
    return true;
}

static void start(struct fv_thread *self)
{
    (void)self;
    if (!fv_rt.options.trace)
        return;
    fv_rt.writer.header->trace_keep = fv_rt.options.trace_keep;
    fv_pack_init();
    __atomic_store_n(&fv_rt.tracing, true, __ATOMIC_RELAXED);
}
const struct fv_layer fv_events_layer = { .at = { [FV_AT_START] = start } };
