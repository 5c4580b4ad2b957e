/* SPDX-License-Identifier: BSD-3-Clause */
/* See collect.h: the steps of calls, and what is told to where it is matched; below the other parts. */
#include "analysis/collect_state.h"

/* The step that holds the next dependency of the call: its own, then one more each. */
struct fv_step *fv_collect_dependency(struct fv_rank_collect *r, struct fv_call_thread *t, uint32_t *number)
{
    static struct fv_step nowhere;
    struct fv_steps *steps = r->all->steps;

    if (!t->used++) {
        *number = t->first;
        return fv_step(steps, t->line, t->first);
    }
    *number = steps->lines[t->line].count;
    struct fv_step *s = fv_steps_add(steps, t->line);
    if (!s) {
        nowhere = (struct fv_step){ 0 };
        return &nowhere;
    }
    s->begin = t->begin;
    s->site = t->site & FV_STEP_NO_SITE;
    s->flags = FV_STEP_MORE;
    s->cause_line = FV_NONE;
    return s;
}

static void set_locked(struct fv_rank_collect *r, struct fv_call_thread *t, struct fv_step *s)
{
    uint64_t gap = t->begin > t->end_before ? t->begin - t->end_before : 0;
    uint16_t locked = fv_collect_locked(t, gap);
    struct fv_step_detail *d = locked ? fv_step_need_detail(r->all->steps, s) : NULL;

    if (d)
        d->locked = locked;
}

void fv_collect_begin_step(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t ns, uint32_t site)
{
    struct fv_steps *steps = r->all->steps;
    struct fv_step *s = fv_steps_add(steps, t->line);

    ns = fv_step_time(ns);
    t->used = 0;
    t->site = site;
    t->begin = ns;
    if (!s)
        return;
    t->first = steps->lines[t->line].count - 1;
    if (!t->first)
        t->end_before = steps->lines[t->line].begin_ns;
    s->begin = ns;
    s->site = site & FV_STEP_NO_SITE;
    s->cause_line = FV_NONE;
    if (FV_UNLIKELY(t->locks.late_ns != t->locks.at_call_ns))
        set_locked(r, t, s);
    t->end_before = ns;
}

void fv_collect_end_step(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t ns)
{
    struct fv_steps *steps = r->all->steps;

    ns = fv_step_time(ns);
    for (uint32_t i = t->first; i < steps->lines[t->line].count; i++)
        fv_step_set_length(steps, fv_step(steps, t->line, i), ns > t->begin ? ns - t->begin : 0);
    t->end_before = ns > t->begin ? ns : t->begin;
}

void fv_collect_tell(struct fv_rank_collect *r, const struct fv_item *item)
{
    struct fv_collect *c = r->all;

    FV_GROW(c->items, c->room, c->count + 1);
    c->items[c->count++] = *item;
}

struct fv_item fv_collect_item(const struct fv_call_thread *t, enum fv_item_kind kind, uint64_t key)
{
    return (struct fv_item){ .key = key,
                             .ns = t->begin,
                             .line = t->line,
                             .site = t->site,
                             .step = t->first,
                             .reply = FV_NONE,
                             .kind = (uint8_t)kind };
}

uint64_t fv_collect_channel(uint32_t space, uint32_t from, uint32_t to, uint32_t tag)
{
    return fv_mix2(fv_mix2(space, (uint64_t)from << 32 | to), tag);
}
