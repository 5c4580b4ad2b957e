/* SPDX-License-Identifier: BSD-3-Clause */
/* See sync.h: finding, making, waiting. */
#include "threads/sync.h"
#include "threads/solo.h"
#include "rt/next.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES_FIRST 256
#define ENTRIES_MOST  (1u << 18)
#define LONG_WAIT_US  50
#define IN_PATH       (UINT64_C(1) << 55) /* in a key: what follows is a call path, not a return address */
#define IS_NUMBER     (UINT64_C(1) << 63) /* in an entry's address, where no object lies: see find_record() */

FV_TLS bool fv_sync_application;
static FV_TLS struct fv_sync *mine; /* also while busy */

static uint64_t long_wait; /* ticks */

uint32_t fv_sync_path(struct fv_sync *s, struct fv_call_place site)
{
    struct fv_sync_rarely r = fv_sync_rare_begin(s);
    uint32_t path = fv_sync_whole_path(r.outside, site);

    fv_sync_rare_end(&r);
    return path;
}

/* ---- records ---- */

static struct fv_sync_record *new_record(struct fv_sync *s, const struct fv_sync_record *begin, bool coarse)
{
    static struct fv_budget budget = { .most = &fv_rt.options.profile_max }; /* of all threads */
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_SYNC, .first_pages = 2, .most_pages = 64, .budget = &budget
    };
    struct fv_sync_record *record = fv_tail_next(&s->tail, &kind, s->thread->id, sizeof(*record), coarse);

    if (!record)
        return NULL;
    *record = *begin;
    fv_tail_commit(&s->tail, sizeof(*record));
    return record;
}

/* Where operations are counted that have no room of their own. */
static struct fv_sync_record *rest_of(struct fv_sync *s, unsigned kind)
{
    const struct fv_sync_record begin = { .thread = s->thread->id, .kind = (uint8_t)kind };

    if (!s->rest[kind])
        s->rest[kind] = new_record(s, &begin, true);
    s->state->overflow++;
    return s->rest[kind] ? s->rest[kind] : &s->ignored;
}

/* ---- entries ---- */

static struct fv_sync_entry *probe(const struct fv_sync *s, uintptr_t address, uint64_t key)
{
    uint32_t mask;
    struct fv_sync_entry *entries = fv_sync_table(s, &mask);
    uint32_t at = fv_sync_place(address, key) & mask;

    while (entries[at].address && (entries[at].address != address || entries[at].key != key))
        at = (at + 1) & mask;
    return &entries[at];
}

/* What it says of its address is true. Of a table's entry. */
static bool is_current(const struct fv_sync_entry *e)
{
    if (e->address & IS_NUMBER)
        return true;
    return e->generation == __atomic_load_n(fv_sync_generation(e->address), __ATOMIC_ACQUIRE) ||
           (e->thing && fv_sync_thing_is_at(e->thing, e->address));
}

static uint32_t count_current(const struct fv_sync *s)
{
    uint32_t count = 0;

    for (uint32_t i = 0; s->entries && i <= s->mask; i++)
        count += s->entries[i].address && is_current(&s->entries[i]);
    return count;
}

/* A table of a size, without entries. Records stay in those of a spare one: who was interrupted when the
 * table was exchanged twice may have one in hand. */
static struct fv_sync_entry *empty_table(struct fv_sync *s, uint32_t size)
{
    struct fv_sync_entry *table = s->entries && size == s->mask + 1 ? s->spare : NULL;

    if (!table)
        return fv_memory_new(size * sizeof(*table));
    for (uint32_t i = 0; i < size; i++)
        table[i].address = 0;
    return table;
}

static bool is_crowded(const struct fv_sync *s)
{
    return s->used + 2 > (s->mask + 1) / 4 * 3;
}

/* There is no room for an entry, and too few objects have ended since to look for some. */
static bool is_full(const struct fv_sync *s)
{
    return is_crowded(s) && s->mask + 1 == ENTRIES_MOST &&
           __atomic_load_n(&fv_sync_retirements, __ATOMIC_RELAXED) - s->cleaned < ENTRIES_MOST / 8;
}

/* Another table, with the entries of what is still there; larger, if these are many. The old table stays: who
 * was interrupted may look at an entry in it. */
static bool make_room(struct fv_sync *s)
{
    uint64_t retirements = __atomic_load_n(&fv_sync_retirements, __ATOMIC_RELAXED);
    uint32_t old_size = s->entries ? s->mask + 1 : 0, size = old_size ? old_size : ENTRIES_FIRST;
    struct fv_sync_entry *old = s->entries, *table;

    if (old && size < ENTRIES_MOST && count_current(s) >= size / 2)
        size *= 2;
    table = empty_table(s, size);
    if (!table)
        return false;
    s->spare = size == old_size ? old : NULL;
    s->entries = table; /* first: see fv_sync_table() */
    s->mask = size - 1;
    s->used = 0;
    s->cleaned = retirements;
    for (uint32_t i = 0; i < old_size; i++) {
        if (old[i].address && is_current(&old[i])) {
            *probe(s, old[i].address, old[i].key) = old[i];
            s->used++;
        }
    }
    return !is_crowded(s);
}

/* The record of a new entry; NULL: no room. What a call site did to an object before, in whatever it was
 * (fv_sync_thing.is_series), is known by an entry with the object's number in place of an address. */
static struct fv_sync_record *find_record(struct fv_sync *s, uint64_t key, const struct fv_sync_thing *thing,
                                          const struct fv_sync_record *begin)
{
    if (!thing->is_series)
        return new_record(s, begin, false);
    struct fv_sync_entry *e = probe(s, IS_NUMBER | thing->id, key);
    if (!e->address) {
        struct fv_sync_record *record = is_crowded(s) ? NULL : new_record(s, begin, false);

        if (!record)
            return NULL;
        *e = (struct fv_sync_entry){ .address = IS_NUMBER | thing->id, .key = key, .record = record };
        s->used++;
    }
    return e->record;
}

/* An entry for what has no record of its own: not kept in the table. */
static struct fv_sync_entry *rest_entry(struct fv_sync *s, unsigned kind)
{
    static FV_TLS struct fv_sync_entry entry;

    entry = (struct fv_sync_entry){ .record = rest_of(s, kind) };
    return &entry;
}

/* What an entry that is new, or whose object is another's now, leads to. False: there is no room. */
static bool fill(const struct fv_sync_rarely *r, struct fv_sync_entry *e, unsigned kind, struct fv_call_place site)
{
    uintptr_t return_address = (uintptr_t)site.return_address;
    struct fv_sync *s = r->s;

    /* a region's function that jumps to OpenMP returns to us */
    if (kind != FV_SYNC_OMP && fv_sync_is_ignored(return_address)) {
        e->record = &s->ignored;
        return true;
    }
    e->thing = fv_sync_thing_at(s, r->outside, e->address, kind, site);
    if (!e->thing)
        return false;
    bool is_path = e->key & IN_PATH;
    const struct fv_sync_record begin = {
        .object = e->thing->id,
        .thread = s->thread->id,
        .path = is_path ? (uint32_t)e->key : fv_sync_site_path(return_address),
        .kind = (uint8_t)kind,
        .operation = (uint8_t)(e->key >> 56),
        .flags = is_path ? 0 : FV_SYNC_SITE,
    };
    e->record = find_record(s, e->key, e->thing, &begin);
    return e->record;
}

/* The generation of an entry without a record: what has no room is known by it, and no fv_sync_find() takes
 * it. */
static uint32_t without_room(uint32_t generation)
{
    return ~generation;
}

FV_COLD struct fv_sync_entry *fv_sync_find_slowly(struct fv_sync *s, uintptr_t address, unsigned kind, uint64_t key,
                                                  struct fv_call_place site)
{
    /* before the object is looked for: what changes meanwhile is seen next time */
    uint32_t generation = __atomic_load_n(fv_sync_generation(address), __ATOMIC_ACQUIRE);
    struct fv_sync_entry *e = probe(s, address, key);

    if (e->address && e->generation == generation)
        return e;
    if (e->address && e->thing && fv_sync_thing_is_at(e->thing, address)) {
        e->generation = generation; /* another object's has changed */
        return e;
    }
    bool has_no_room = e->address ? e->generation == without_room(generation) : is_full(s);
    if (has_no_room && s->rest[kind])
        return rest_entry(s, kind);
    struct fv_sync_rarely r = fv_sync_rare_begin(s);
    struct fv_sync_entry made = { .address = address, .key = key, .generation = generation };
    bool has_room = !is_crowded(s) || (!is_full(s) && make_room(s)) || probe(s, address, key)->address;
    bool is_filled = has_room && fill(&r, &made, kind, site);
    if (!is_filled)
        made = (struct fv_sync_entry){ .address = address, .key = key, .generation = without_room(generation) };
    if (has_room) {
        e = probe(s, address, key);
        s->used += !e->address;
        *e = made;
    }
    if (!is_filled)
        e = rest_entry(s, kind);
    fv_sync_rare_end(&r);
    return e;
}

struct fv_sync_record *fv_sync_record_of(struct fv_sync *s, uintptr_t address, unsigned kind, unsigned operation,
                                         struct fv_call_place site, uint32_t path, uint32_t thread)
{
    struct fv_sync_rarely r = fv_sync_rare_begin(s);
    const struct fv_sync_thing *thing = fv_sync_thing_at(s, r.outside, address, kind, site);
    const struct fv_sync_record begin = { .object = thing ? thing->id : 0,
                                          .thread = thread,
                                          .path = path,
                                          .kind = (uint8_t)kind,
                                          .operation = (uint8_t)operation };
    struct fv_sync_record *record = thing ? new_record(s, &begin, false) : NULL;

    s->state->overflow += !record;
    fv_sync_rare_end(&r);
    return record;
}

/* ---- threads ---- */

struct fv_sync *fv_sync_thread_begin(struct fv_thread *thread)
{
    struct fv_sync *s = thread->sync;

    fv_sync_why = FV_SYNC_BUSY;
    if (!s) {
        struct fv_chunk_header *chunk =
            fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SYNC_THREAD, thread->id, 0, sizeof(*s->state));
        s = chunk ? fv_memory_new(sizeof(*s)) : NULL;
        if (s && !make_room(s)) {
            fv_memory_free(s, sizeof(*s));
            s = NULL;
        }
        if (!s) {
            fv_sync_why = FV_SYNC_ENDED;
            return NULL;
        }
        s->thread = thread;
        s->state = fv_chunk_records(chunk);
        s->state->mode = fv_sync_mode & ~FV_SYNC_TRACED;
        fv_chunk_commit(chunk, sizeof(*s->state));
        thread->wait_begin = &s->state->wait_begin;
        thread->sync = s;
    }
    mine = s;
    fv_sync_why = FV_SYNC_NOT_YET;
    fv_sync_current = s;
    return s;
}

/* May a thread be recorded that was not seen at its beginning? */
static bool is_application(void)
{
#if defined(__SANITIZE_THREAD__)
    return true; /* none is seen: create.c */
#else
    return fv_sync_application || (fv_sync_why != FV_SYNC_FOREIGN && syscall(SYS_gettid) == fv_rt.pid);
#endif
}

/* Any thread, before it is recorded, too; in signal handlers that interrupt us. */
FV_COLD struct fv_sync *fv_sync_enter_slowly(void)
{
    struct fv_thread *t = fv_self;

    if (!__atomic_load_n(&fv_sync_mode, __ATOMIC_ACQUIRE) || !fv_rt_on() || fv_sync_why > FV_SYNC_FOREIGN ||
        fv_thread_is_attaching())
        return NULL; /* busy: what libunwind locks, for us, or an allocator does */
    if (!t && !is_application()) {
        fv_sync_why = FV_SYNC_FOREIGN; /* one of MPI's own, made before recording began */
        return NULL;
    }
    struct fv_scope scope = fv_scope_enter();
    fv_sync_why = FV_SYNC_BUSY;
    if (!t && (t = fv_thread_attach()))
        fv_current = t;
    struct fv_sync *s = t ? fv_sync_thread_begin(t) : NULL;
    fv_sync_why = s ? FV_SYNC_NOT_YET : FV_SYNC_ENDED;
    fv_scope_leave(&scope);
    return s && !fv_rt_paused() ? s : NULL;
}

FV_COLD struct fv_sync *fv_sync_pauses(void)
{
    if (!fv_rt_on())
        fv_sync_forget(NULL);
    return NULL;
}

FV_COLD void fv_sync_missed(void)
{
    if (mine && fv_rt_on())
        mine->state->missed++;
}

void fv_sync_thread_end(struct fv_thread *thread)
{
    struct fv_sync *s = thread->sync;

    fv_sync_current = NULL;
    mine = NULL;
    fv_sync_why = FV_SYNC_ENDED;
    if (!s)
        return;
    for (unsigned i = 0; i < s->holds; i++)
        s->hold[i].record->held_at_end++;
    s->holds = 0;
    s->state->wait_begin = 0; /* if it was cancelled there */
}

void fv_sync_forget(struct fv_thread *self)
{
    (void)self;
    fv_sync_current = NULL;
    mine = NULL;
    fv_sync_why = FV_SYNC_ENDED;
    fv_sync_mode = 0;
    fv_solo_forget();
}

/* Constructors of others may run before ours. */
__attribute__((constructor)) static void find_early(void)
{
    fv_next_find(FV_NEXT_SET_threads);
}

void fv_sync_start(void)
{
    uint64_t hz = fv_rt.writer.header->nominal_hz;

    fv_next_find(FV_NEXT_SET_threads);
    fv_sync_ignore_tools();
    long_wait = (hz ? hz : UINT64_C(2500000000)) / 1000000 * LONG_WAIT_US;
    uint32_t traced = fv_rt.tracing ? FV_SYNC_TRACED : 0;
    __atomic_store_n(&fv_sync_mode, (uint32_t)fv_rt.options.threads | traced, __ATOMIC_RELEASE);
}

uint64_t fv_sync_wait_ticks(const struct fv_sync *s)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < FV_SYNC_KINDS; i++)
        sum += s->state->wait_ticks[i];
    return sum;
}

/* ---- waiting ---- */

FV_COLD void fv_sync_refused(struct fv_sync *s, const volatile void *object, unsigned kind, unsigned operation,
                             struct fv_call_place site)
{
    fv_sync_find(s, (uintptr_t)object, kind, operation, site)->record->failed++;
}

FV_COLD struct fv_sync_wait fv_sync_wait_begin(struct fv_sync *s, const volatile void *object, unsigned kind,
                                               unsigned operation, struct fv_call_place site)
{
    const struct fv_sync_entry *e = fv_sync_find(s, (uintptr_t)object, kind, operation, site);
    struct fv_sync_wait w = { .s = s,
                              .record = e->record,
                              .thing = e->thing,
                              .address = (uintptr_t)object,
                              .site = site,
                              .kind = (uint8_t)kind,
                              .operation = (uint8_t)operation };
    struct fv_sync_thread *state = s->state;

    if (w.thing && fv_sync_wants(FV_THREADS_OWNER))
        w.holder = __atomic_load_n(&w.thing->holder, __ATOMIC_ACQUIRE);
    if (w.thing && fv_sync_wants(FV_SYNC_TRACED))
        w.owner = __atomic_load_n(&w.thing->owner, __ATOMIC_RELAXED);
    w.begin = fv_ticks();
    if (w.record == &s->ignored)
        return w; /* what the thread waits for is something else: as a run-time library does it for OpenMP */
    state->wait_object = w.record->object;
    state->wait_path = w.record->path;
    state->wait_kind = (uint8_t)kind;
    state->wait_operation = (uint8_t)operation;
    __atomic_store_n(&state->wait_begin, w.begin, __ATOMIC_RELEASE);
    fv_solo_waits();
    return w;
}

/* The record of an operation that waited for long: by its whole call path. */
static struct fv_sync_record *record_of_path(const struct fv_sync_wait *w)
{
    uint32_t path = fv_sync_path(w->s, w->site);
    uint64_t key = fv_sync_key(w->operation, NULL) | IN_PATH | path;
    struct fv_sync_entry *e = probe(w->s, w->address, key);

    if (!e->address || e->generation != __atomic_load_n(fv_sync_generation(w->address), __ATOMIC_RELAXED))
        e = fv_sync_find_slowly(w->s, w->address, w->kind, key, w->site);
    return e->record;
}

void fv_sync_add_wait(struct fv_sync_record *record, uint64_t ticks)
{
    unsigned bucket = fv_log2_bucket(ticks >> FV_TIME_SHIFT);

    record->wait_sum += ticks;
    if (ticks > record->wait_max)
        record->wait_max = ticks;
    record->wait_histogram[bucket < FV_TIME_BUCKETS ? bucket : FV_TIME_BUCKETS - 1]++;
}

/* Who forks an OpenMP team adds its waits to those of its threads, which may have ended, and others begun in
 * their place. */
void fv_sync_waited_for(struct fv_sync *of, unsigned kind, uint64_t ticks)
{
    __atomic_fetch_add(&of->state->wait_ticks[kind], ticks, __ATOMIC_RELAXED);
    __atomic_fetch_add(&of->thread->record->lock_ticks, ticks, __ATOMIC_RELAXED);
}

FV_COLD void fv_sync_wait_end(const struct fv_sync_wait *w, enum fv_sync_end how)
{
    uint64_t now = fv_ticks(), ticks = now > w->begin ? now - w->begin : 0;
    struct fv_sync_thread *state = w->s->state;
    struct fv_sync_record *record = w->record;

    if (!fv_sync_wants(~0u) || record == &w->s->ignored)
        return; /* the former: in the child of a fork that was made in there */
    __atomic_store_n(&state->wait_begin, 0, __ATOMIC_RELEASE);
    fv_solo_works();
    if (how == FV_SYNC_LAST) {
        record->acquired++;
        record->last++;
        if (fv_sync_wants(FV_SYNC_TRACED))
            fv_sync_trace_waited(w, record, now, FV_WAITED_FOR_NONE);
        return;
    }
    fv_sync_waited_for(w->s, w->kind, ticks);
    if (fv_self && !fv_is_between())
        state->in_mpi_ticks += ticks;
    else if (ticks >= long_wait && record->object)
        record = record_of_path(w);
    fv_sync_add_wait(record, ticks);
    if (w->holder && w->holder->thread != record->thread) {
        __atomic_fetch_add(&w->holder->blocked, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&w->holder->blocked_ticks, ticks, __ATOMIC_RELAXED);
    }
    if (fv_sync_wants(FV_SYNC_TRACED))
        fv_sync_trace_waited(w, record, now, how == FV_SYNC_FAILED ? FV_WAITED_IN_VAIN : FV_WAITED);
    if (how == FV_SYNC_FAILED) {
        record->failed++;
        return;
    }
    record->acquired++;
    record->contended++;
    if (how == FV_SYNC_GOT_LOCK && fv_sync_wants(FV_SYNC_HOLDING))
        fv_sync_held(w->s, w->address, record, w->thing);
}
