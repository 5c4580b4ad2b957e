/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator in sections that the program marks: what a thread did in them is a difference of its sums, and what the
 * process has from the system is read where they begin and end. */
#include "memory/memory.h"
#include "rt/sections.h"

static struct fv_memory_work work_of(const struct fv_memory_sums *sums)
{
    struct fv_memory_work w = { .frees = sums->of[FV_MEMORY_FN_FREE].calls + sums->freed };

    for (unsigned i = 0; i < FV_MEMORY_FUNCTIONS; i++) {
        const struct fv_memory_calls *c = &sums->of[i];

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
    sum->longs += now->longs - since->longs;
    sum->long_ticks += now->long_ticks - since->long_ticks;
    sum->timed += now->timed - since->timed;
    sum->ticks += now->ticks - since->ticks;
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
}

const struct fv_section_watch fv_memory_section_watch = { begins, ends };
