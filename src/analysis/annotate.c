/* SPDX-License-Identifier: BSD-3-Clause */
/* See annotate.h. Each location has its place among its steps. */
#include "analysis/annotate.h"

#include <stdlib.h>

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct fv_annotate *a = (struct fv_annotate *)(void *)sink;
    const struct fv_analysis *x = a->analysis;
    uint32_t rank = x->groups.rank_of_world[(uint32_t)location];

    FV_GROW(a->threads, a->room, (size_t)slot + 1);
    a->threads[slot] = (struct fv_annotate_thread){ rank == FV_NONE ? FV_NONE : x->steps.first_line[rank] + slot, 0 };
    return a->to->open(a->to, slot, location);
}

/* The next call of the line, over what is no call; NULL: there is none. */
static const struct fv_step *next_call(struct fv_annotate *a, struct fv_annotate_thread *t)
{
    const struct fv_steps *steps = &a->analysis->steps;
    const struct fv_step *call = NULL;

    while (t->line != FV_NONE && t->step < steps->lines[t->line].count) {
        const struct fv_step *s = fv_step(steps, t->line, t->step);

        if (call && !(s->flags & FV_STEP_MORE))
            return call;
        if (!(s->flags & (FV_STEP_MORE | FV_STEP_PAUSE)))
            call = s;
        t->step++;
        fv_steps_visited(steps, 1);
    }
    return call;
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *record)
{
    struct fv_annotate *a = (struct fv_annotate *)(void *)sink;
    /* aux: it began before what was analysed (struct fv_ring_view) */
    const struct fv_step *s = record->kind == FV_REC_LEAVE && !record->aux ? next_call(a, &a->threads[slot]) : NULL;
    uint64_t wait = s ? fv_step_wait(&a->analysis->steps, s) : 0;
    struct fv_record with;

    if (!wait)
        return a->to->put(a->to, slot, record);
    const struct fv_step_line *cause = &a->analysis->steps.lines[s->cause_line];
    with = *record;
    with.op = fv_step_main_kind(&a->analysis->steps, s);
    with.sent = wait;
    with.id = fv_location(&a->analysis->merge->defs.ranks[cause->rank], cause->slot);
    return a->to->put(a->to, slot, &with);
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct fv_annotate *a = (struct fv_annotate *)(void *)sink;

    return a->to->close(a->to, slot);
}

void fv_annotate_init(struct fv_annotate *a, const struct fv_analysis *analysis, struct fv_sink *to)
{
    *a = (struct fv_annotate){ .to = to, .analysis = analysis };
    a->sink = (struct fv_sink){ .context = a, .open = open_location, .put = put, .close = close_location };
}

void fv_annotate_release(struct fv_annotate *a)
{
    free(a->threads);
}
