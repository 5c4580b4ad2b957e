/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator in sections that the program marks: what a thread did in them is a difference of its sums, and what the
 * process has from the system is read where they begin and end. Extremes are no differences: the thread's begin anew at
 * each begin and end, so that a call costs nothing more. */
#include "memory/memory.h"
#include "rt/sections.h"

static struct fv_memory_work work_of(const struct fv_memory_sums *sums)
{
    struct fv_memory_work w = { .frees = sums->of[FV_MEMORY_FN_FREE].calls + sums->freed };

    for (unsigned i = 0; i < FV_MEMORY_FUNCTIONS; i++) {
        const struct fv_memory_calls *c = &sums->of[i];

        w.calls += c->calls + c->failed;
        w.longs += c->longs;
        w.long_ticks += c->long_ticks;
        w.timed += c->timed;
        w.ticks += c->ticks;
        if (i == FV_MEMORY_FN_FREE)
            continue;
        w.allocations += c->calls;
        w.bytes += c->bytes;
    }
    return w;
}

static void add(struct fv_memory_work *sum, const struct fv_memory_work *now, const struct fv_memory_work *since)
{
    sum->allocations += now->allocations - since->allocations;
    sum->bytes += now->bytes - since->bytes;
    sum->frees += now->frees - since->frees;
    sum->calls += now->calls - since->calls;
    sum->longs += now->longs - since->longs;
    sum->long_ticks += now->long_ticks - since->long_ticks;
    sum->timed += now->timed - since->timed;
    sum->ticks += now->ticks - since->ticks;
}

static void widen_all(struct fv_memory_extremes *to, const struct fv_memory_extremes *by)
{
    fv_memory_widen(&to->least, &to->most, by->least, by->most);
    fv_memory_widen(&to->least_ticks, &to->most_ticks, by->least_ticks, by->most_ticks);
}

/* Adds the extremes of calls since the last begin or end to all sections that are open. */
static void turn(struct fv_memory *m)
{
    struct fv_memory_extremes since = FV_MEMORY_NO_CALL;

    for (unsigned i = 0; i < FV_MEMORY_FUNCTIONS; i++) {
        struct fv_memory_calls *c = &m->sums->of[i];
        struct fv_memory_extremes now = { c->least, c->most, c->least_ticks, c->most_ticks };

        widen_all(&m->sums->earlier[i], &now);
        c->least = c->least_ticks = UINT64_MAX;
        c->most = c->most_ticks = 0;
        if (i == FV_MEMORY_FN_FREE) {
            now.least = UINT64_MAX;
            now.most = 0;
        }
        widen_all(&since, &now);
    }
    for (unsigned i = 0; i < m->open_count; i++)
        widen_all(&m->open[i]->open, &since);
}

static void open_section(struct fv_memory *m, struct fv_memory_section *s)
{
    s->open = (struct fv_memory_extremes)FV_MEMORY_NO_CALL;
    if (m->open_count < FV_MEMORY_OPEN)
        m->open[m->open_count++] = s;
}

static void close_section(struct fv_memory *m, const struct fv_memory_section *s)
{
    for (unsigned i = m->open_count; i-- > 0;)
        if (m->open[i] == s) {
            m->open[i] = m->open[--m->open_count];
            return;
        }
}

/* NULL: there is no room, or the lock of the file may be the thread's own. */
static FV_COLD struct fv_memory_section *make(struct fv_thread *t, uint32_t section)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_MEMORY_SECTIONS, .first_pages = 1, .most_pages = 16 };
    struct fv_scope scope = fv_scope_enter();
    struct fv_memory *m = fv_lock_is_free(&fv_rt.writer.lock) ? fv_memory_of(t) : NULL;
    struct fv_memory_section *made = m ? fv_tail_next(&m->section_tail, &kind, t->id, sizeof(*made), false) : NULL;

    if (made) {
        made->section = section;
        made->extremes = (struct fv_memory_extremes)FV_MEMORY_NO_CALL;
        fv_tail_commit(&m->section_tail, sizeof(*made));
    }
    fv_scope_leave(&scope);
    return made;
}

static void begins(struct fv_thread *t, uint32_t section, void **own)
{
    struct fv_memory_section *s = *own;

    if (FV_UNLIKELY(!s) && !(*own = s = make(t, section)))
        return;
    turn(t->memory);
    open_section(t->memory, s);
    s->since = work_of(t->memory->sums);
    fv_memory_state_read(&s->begin, fv_memory_live(t->memory->sums->held));
    if (!s->count)
        s->first = s->begin;
}

static void ends(struct fv_thread *t, void *own)
{
    struct fv_memory_section *s = own;
    struct fv_memory_work now;

    if (!s)
        return;
    now = work_of(t->memory->sums);
    fv_memory_state_read(&s->last, fv_memory_live(t->memory->sums->held));
    add(&s->sum, &now, &s->since);
    s->grown += s->last.live - s->begin.live;
    s->heap_grown += (int64_t)(s->last.heap - s->begin.heap);
    s->count++;
    turn(t->memory);
    widen_all(&s->extremes, &s->open);
    close_section(t->memory, s);
}

const struct fv_section_watch fv_memory_section_watch = { begins, ends };
