/* SPDX-License-Identifier: BSD-3-Clause */
/* See sync_trace.h. */
#include "threads/sync_trace.h"
#include "rt/events.h"
#include "threads/objects.h"

static uint64_t creations, regions;

static FV_COLD bool put_with_room(struct fv_sync *s, enum fv_event_kind kind, uint64_t begin, uint64_t end,
                                  uint64_t *field)
{
    struct fv_sync_rarely r = fv_sync_rare_begin(s);

    fv_events_make_room(s->thread);
    fv_sync_rare_end(&r);
    if (fv_events_between(s->thread, kind, begin, end, field))
        return true;
    s->state->trace_lost++;
    return false;
}

static inline bool put_event(struct fv_sync *s, enum fv_event_kind kind, uint64_t begin, uint64_t end, uint64_t *field)
{
    return FV_LIKELY(fv_events_between(s->thread, kind, begin, end, field)) ||
           put_with_room(s, kind, begin, end, field);
}

static bool put(struct fv_sync *s, enum fv_event_kind kind, uint64_t now, uint64_t a, uint64_t b)
{
    return put_event(s, kind, now, now, (uint64_t[FV_EVENT_FIELDS]){ 0, a, b });
}

/* ---- threads ---- */

uint64_t fv_sync_trace_create(struct fv_sync *s)
{
    if (!fv_is_between())
        return 0;
    uint64_t sequence = __atomic_add_fetch(&creations, 1, __ATOMIC_RELAXED);
    return put(s, FV_EV_THREAD_CREATE, fv_ticks(), sequence, 0) ? sequence : 0;
}

/* Nothing of this thread stands between its creation and this: the C library calls nothing of ours there. */
void fv_sync_trace_failed(struct fv_sync *s, uint64_t sequence)
{
    put(s, FV_EV_THREAD_FAILED, fv_ticks(), sequence, 0);
}

void fv_sync_trace_begin(struct fv_sync *s, uint64_t sequence)
{
    s->traced.sequence = sequence && put(s, FV_EV_THREAD_BEGIN, fv_ticks(), sequence, 0) ? sequence : 0;
}

bool fv_sync_trace_end(struct fv_sync *s)
{
    uint64_t sequence = s->traced.sequence;

    s->traced = (struct fv_sync_trace){ 0 };
    return sequence && put(s, FV_EV_THREAD_END, fv_ticks(), sequence, 0);
}

void fv_sync_trace_join(struct fv_sync *s, uint64_t sequence, uint64_t now)
{
    if (sequence && fv_is_between())
        put(s, FV_EV_THREAD_JOIN, now, sequence, 0);
}

/* ---- parallel regions ---- */

uint64_t fv_sync_trace_fork(struct fv_sync *s, uint64_t now, unsigned threads, uint32_t path)
{
    if (!fv_is_between())
        return 0;
    uint64_t region = __atomic_add_fetch(&regions, 1, __ATOMIC_RELAXED);
    return put_event(s, FV_EV_OMP_FORK, now, now, (uint64_t[FV_EVENT_FIELDS]){ 0, region, threads, path }) ? region : 0;
}

void fv_sync_trace_team_begin(struct fv_sync *s, uint64_t region, uint64_t now)
{
    if (fv_is_between())
        put(s, FV_EV_TEAM_BEGIN, now, region, 0);
}

void fv_sync_trace_team_end(struct fv_sync *s, uint64_t region, uint64_t now)
{
    if (fv_is_between())
        put(s, FV_EV_TEAM_END, now, region, 0);
}

void fv_sync_trace_omp_join(struct fv_sync *s, uint64_t region, uint64_t now, uint64_t ago, uint32_t last,
                            const struct fv_omp_region *record)
{
    if (fv_is_between())
        put_event(s, FV_EV_OMP_JOIN, now, now, (uint64_t[]){ 0, region, ago, record->object, record->path, last });
}

/* ---- worksharing ---- */

bool fv_sync_trace_work_begin(struct fv_sync *s, unsigned kind, uint32_t path, uint64_t now)
{
    return fv_is_between() && put(s, FV_EV_WORK_BEGIN, now, kind, path);
}

void fv_sync_trace_work_end(struct fv_sync *s, unsigned kind, uint64_t now)
{
    put(s, FV_EV_WORK_END, now, kind, 0);
}

/* ---- locks ---- */

static inline struct fv_sync_trace_hold *find(struct fv_sync_trace *t, uintptr_t address)
{
    for (unsigned i = t->holds; i-- > 0;)
        if (t->hold[i].address == address)
            return &t->hold[i];
    return NULL;
}

static void acquire(struct fv_sync *s, uintptr_t address, struct fv_sync_thing *thing, unsigned depth, uint64_t now)
{
    struct fv_sync_trace *t = &s->traced;

    if (FV_UNLIKELY(t->holds == FV_SYNC_TRACE_HOLDS)) {
        s->state->trace_lost++;
        return;
    }
    uint64_t order = __atomic_add_fetch(&thing->orders, 1, __ATOMIC_RELAXED);
    if (put(s, FV_EV_ACQUIRE, now, thing->id, order))
        t->hold[t->holds++] = (struct fv_sync_trace_hold){ address, thing, order, depth };
}

static void release(struct fv_sync *s, struct fv_sync_trace_hold *h, uint64_t now)
{
    struct fv_sync_trace *t = &s->traced;
    const struct fv_sync_trace_hold was = *h;

    *h = t->hold[--t->holds];
    if (FV_LIKELY(fv_is_between() && !fv_rt_paused()))
        put(s, FV_EV_RELEASE, now, was.thing->id, was.order);
}

void fv_sync_trace_acquired(struct fv_sync *s, uintptr_t address, const struct fv_sync_record *record,
                            struct fv_sync_thing *thing)
{
    struct fv_sync_trace *t = &s->traced;
    struct fv_sync_trace_hold *h = find(t, address);
    uint64_t now = t->got ? t->got : fv_ticks();

    t->got = 0;
    if (h && fv_sync_is_again(h->thing, record, thing)) {
        h->depth++;
        return;
    }
    if (h)
        release(s, h, now); /* at the latest */
    if (FV_UNLIKELY(!thing)) {
        s->state->trace_lost++;
        return;
    }
    __atomic_store_n(&thing->owner, s->thread->id + 1, __ATOMIC_RELAXED);
    if (FV_LIKELY(fv_is_between()))
        acquire(s, address, thing, 1, now);
}

void fv_sync_trace_released(struct fv_sync *s, uintptr_t address, uint64_t now)
{
    struct fv_sync_trace_hold *h = find(&s->traced, address);

    if (h && !--h->depth)
        release(s, h, now);
}

void fv_sync_trace_pause(struct fv_sync *s, const volatile void *lock, uint64_t now, struct fv_sync_trace_hold *out)
{
    struct fv_sync_trace_hold *h = find(&s->traced, (uintptr_t)lock);

    *out = h ? *h : (struct fv_sync_trace_hold){ 0 };
    if (h)
        release(s, h, now);
}

void fv_sync_trace_again(struct fv_sync *s, const struct fv_sync_trace_hold *hold)
{
    if (!hold->depth)
        return;
    __atomic_store_n(&hold->thing->owner, s->thread->id + 1, __ATOMIC_RELAXED);
    if (fv_is_between())
        acquire(s, hold->address, hold->thing, hold->depth, fv_ticks());
}

/* ---- waiting ---- */

static bool is_lock(const struct fv_sync_wait *w)
{
    return w->kind == FV_SYNC_MUTEX || w->kind == FV_SYNC_RWLOCK || w->kind == FV_SYNC_SPIN ||
           (w->kind == FV_SYNC_OMP && w->operation == FV_SYNC_LOCK);
}

/* Who held a lock is known when the wait begins; who signalled, posted or came last, when it ends. Of OpenMP
 * the caller knows. */
static uint32_t cause_of(const struct fv_sync_wait *w)
{
    if (is_lock(w) || w->kind == FV_SYNC_JOIN || w->kind == FV_SYNC_OMP || !w->thing)
        return w->owner;
    return __atomic_load_n(&w->thing->owner, __ATOMIC_RELAXED);
}

void fv_sync_trace_waited(const struct fv_sync_wait *w, const struct fv_sync_record *record, uint64_t now,
                          unsigned outcome)
{
    struct fv_sync *s = w->s;

    if (is_lock(w) && outcome == FV_WAITED)
        s->traced.got = now;
    /* The routine of a pthread_once() that ran it has its own records, up to here. */
    if (!fv_is_between() || (w->kind == FV_SYNC_ONCE && outcome == FV_WAITED_FOR_NONE))
        return;
    uint64_t what = w->kind | (uint64_t)w->operation << 4 | (uint64_t)outcome << 8;
    uint64_t cause = outcome == FV_WAITED_FOR_NONE ? 0 : cause_of(w);
    uint64_t field[] = { 0, 0, w->thing ? w->thing->id : 0, record->path, what, cause };
    put_event(s, FV_EV_WAIT, w->begin, now, field);
}
