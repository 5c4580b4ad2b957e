/* SPDX-License-Identifier: BSD-3-Clause */
/* See section_threads.h. `busy` lets one thread at a time read, and write into the records of a section. */
#include "rt/section_threads.h"
#include "rt/counters.h"
#include "rt/section_sets.h"
#include "rt/tail.h"
#include "rt/thread.h"
#include "rt/usage.h"

#include <errno.h>
#include <string.h>

enum {
    BLOCK = 64, /* threads */
    BLOCKS = 64,
    FREE_READS = 64, /* whatever they take, ... */
    COST_SHARE = 100 /* ... then one in so many ticks */
};

/* Another thread in a section. */
struct part {
    struct fv_section_other *sum; /* in the file; NULL: none yet */
    struct fv_counter_span *counted;
    struct fv_usage_other since;
    uint64_t seen; /* in the span with this number it was there when that began, ... */
    bool lived;    /* ... and had not ended */
};

struct fv_section_span_of {
    uint32_t id;
    uint32_t open; /* threads that have it open; atomic */
    uint32_t busy; /* atomic */
    bool is_read;
    uint64_t number;              /* of the span */
    struct fv_section_span *span; /* in the file */
    struct part *parts[BLOCKS];   /* by thread */
};

static const struct fv_tail_kind spans_kind = { .type = FV_CHUNK_SECTION_SPANS, .first_pages = 1, .most_pages = 4 },
                                 threads_kind = { .type = FV_CHUNK_SECTION_THREADS,
                                                  .first_pages = 1,
                                                  .most_pages = 16 };
static struct fv_lock lock; /* of the tails and spans[] */
static struct fv_tail spans_tail, threads_tail;
static struct fv_section_span_of *spans[FV_SECTIONS + 1]; /* by id */
static uint64_t reads, spent_ticks;                       /* of all sections; atomic */
bool fv_section_spans;

struct fv_section_span_of *fv_section_span_of(uint32_t section)
{
    fv_lock(&lock);
    struct fv_section_span_of *s = spans[section];
    if (!s && (s = fv_memory_new(sizeof(*s))) != NULL) {
        s->id = section;
        s->span = fv_tail_next(&spans_tail, &spans_kind, FV_NO_THREAD, sizeof(*s->span), false);
        if (s->span) {
            s->span->section = section;
            fv_tail_commit(&spans_tail, sizeof(*s->span));
        }
        spans[section] = s;
    }
    fv_unlock(&lock);
    if (s && s->span)
        __atomic_store_n(&fv_section_spans, true, __ATOMIC_RELAXED);
    return s && s->span ? s : NULL;
}

/* ---- reading ---- */

static bool may_read(uint64_t now)
{
    uint64_t spent = __atomic_load_n(&spent_ticks, __ATOMIC_RELAXED);

    return __atomic_load_n(&reads, __ATOMIC_RELAXED) < FREE_READS ||
           spent * COST_SHARE < now - fv_rt.writer.header->begin_ticks;
}

/* NULL: no room. */
static struct part *part_of(struct fv_section_span_of *s, const struct fv_thread *t)
{
    uint32_t block = t->id / BLOCK;

    if (FV_UNLIKELY(block >= BLOCKS))
        return NULL;
    if (FV_UNLIKELY(!s->parts[block]))
        s->parts[block] = fv_memory_new(BLOCK * sizeof(struct part));
    return s->parts[block] ? &s->parts[block][t->id % BLOCK] : NULL;
}

static FV_COLD void make_record(const struct fv_section_span_of *s, struct part *p, const struct fv_thread *t)
{
    if (!fv_lock_is_free(&fv_rt.writer.lock) || !fv_try_lock(&lock))
        return;
    p->sum = fv_tail_next(&threads_tail, &threads_kind, FV_NO_THREAD, sizeof(*p->sum), false);
    if (p->sum) {
        p->sum->section = s->id;
        p->sum->thread = t->id;
        fv_tail_commit(&threads_tail, sizeof(*p->sum));
    }
    fv_unlock(&lock);
}

static bool lives(const struct fv_thread *t)
{
    return !__atomic_load_n(&t->record->end, __ATOMIC_RELAXED);
}

static void begin_part(struct fv_section_span_of *s, const struct fv_thread *t)
{
    struct part *p = part_of(s, t);

    if (!p)
        return;
    p->lived = lives(t);
    fv_usage_read_other(t, &p->since);
    p->seen = s->number;
    fv_counters_other_begin(t, &p->counted);
}

/* A thread that was not there when it began has all in it; one that had ended, nothing. */
static void end_part(struct fv_section_span_of *s, const struct fv_thread *t, uint64_t ticks)
{
    struct part *p = part_of(s, t);
    struct fv_usage_other now, since = { 0 };

    if (!p)
        return;
    bool was_there = p->seen == s->number, lived = !was_there || p->lived || lives(t);
    fv_usage_read_other(t, &now);
    if (was_there)
        since = p->since;
    if (!lived && now.cpu_ns <= since.cpu_ns)
        return;
    if (!p->sum)
        make_record(s, p, t);
    if (!p->sum)
        return;
    p->sum->cpu_ns += fv_minus(now.cpu_ns, since.cpu_ns);
    p->sum->user_ns += fv_minus(now.user_ns, since.user_ns);
    p->sum->ticked_ns += fv_minus(now.ticked_ns, since.ticked_ns);
    fv_counters_other_end(t, s->id, &p->counted, was_there, ticks);
}

/* Of all threads but `self`: when a span begins, or has ended after so many ticks. False: others are at the list. */
static bool read_all(struct fv_section_span_of *s, const struct fv_thread *self, bool ends, uint64_t ticks)
{
    uint64_t signals = fv_signals_hold();
    bool counts = fv_counters_are_on(), good = !counts || fv_try_lock(&fv_rt.lock);
    int saved = errno;

    for (const struct fv_thread *t = good ? __atomic_load_n(&fv_rt.threads, __ATOMIC_ACQUIRE) : NULL; t;
         t = t->next_all) {
        if (t == self)
            continue;
        if (ends)
            end_part(s, t, ticks);
        else
            begin_part(s, t);
    }
    if (counts && good)
        fv_unlock(&fv_rt.lock);
    errno = saved;
    fv_signals_go_on(signals);
    return good;
}

static void add_cost(struct fv_section_span_of *s, uint64_t ticks)
{
    s->span->cost_ticks += ticks;
    __atomic_fetch_add(&spent_ticks, ticks, __ATOMIC_RELAXED);
    __atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
}

/* ---- spans ---- */

static inline bool take(struct fv_section_span_of *s)
{
    return !__atomic_exchange_n(&s->busy, 1, __ATOMIC_ACQUIRE);
}

static inline void give_back(struct fv_section_span_of *s)
{
    __atomic_store_n(&s->busy, 0, __ATOMIC_RELEASE);
}

/* Are there threads that are recorded, but this one? */
static inline bool has_others(const struct fv_thread *self)
{
    const struct fv_thread *first = __atomic_load_n(&fv_rt.threads, __ATOMIC_ACQUIRE);

    return first != self || first->next_all;
}

void fv_section_span_begin(struct fv_section_span_of *s, const struct fv_thread *self)
{
    if (__atomic_fetch_add(&s->open, 1, __ATOMIC_ACQ_REL) || !take(s))
        return;
    uint64_t now = fv_ticks();

    s->number++;
    s->is_read = may_read(now);
    if (s->is_read && has_others(self)) {
        s->is_read = read_all(s, self, false, 0);
        uint64_t read = fv_ticks();
        add_cost(s, read - now);
        now = read;
    }
    s->span->begun = now;
    give_back(s);
}

static void end_span(struct fv_section_span_of *s, const struct fv_thread *self, uint64_t now)
{
    struct fv_section_span *span = s->span;
    uint64_t ticks = fv_minus(now, span->begun);

    if (!span->begun)
        return;
    span->begun = 0;
    if (s->is_read && has_others(self)) {
        uint64_t before = fv_ticks();

        s->is_read = read_all(s, self, true, ticks);
        add_cost(s, fv_ticks() - before);
    }
    span->times++;
    span->ticks += ticks;
    if (!s->is_read)
        return;
    span->read_times++;
    span->read_ticks += ticks;
}

void fv_section_span_end(struct fv_section_span_of *s, const struct fv_thread *self, uint64_t now)
{
    if (__atomic_sub_fetch(&s->open, 1, __ATOMIC_ACQ_REL) || !take(s))
        return;
    end_span(s, self, now);
    give_back(s);
}

void fv_section_span_drop(struct fv_section_span_of *s)
{
    if (__atomic_sub_fetch(&s->open, 1, __ATOMIC_ACQ_REL) || !take(s))
        return;
    s->span->begun = 0;
    give_back(s);
}

/* ---- MPI_Pcontrol(2) ---- */

static void forget(struct fv_section_span_of *s)
{
    if (!take(s))
        return;
    *s->span = (struct fv_section_span){ .section = s->id };
    s->is_read = false;
    for (unsigned i = 0; i < BLOCKS; i++)
        for (unsigned k = 0; s->parts[i] && k < BLOCK; k++) {
            struct part *p = &s->parts[i][k];

            if (p->sum)
                p->sum->cpu_ns = p->sum->user_ns = p->sum->ticked_ns = 0;
            fv_counters_other_clear(p->counted);
        }
    give_back(s);
}

void fv_section_spans_forget(void)
{
    static uint64_t era;
    uint64_t now = __atomic_load_n(&fv_rt.writer.header->era, __ATOMIC_RELAXED);

    if (__atomic_exchange_n(&era, now, __ATOMIC_RELAXED) == now)
        return;
    for (unsigned i = 1; i <= FV_SECTIONS; i++)
        if (__atomic_load_n(&spans[i], __ATOMIC_RELAXED) && spans[i]->span)
            forget(spans[i]);
}
