/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_state.h: what was counted in functions of the program. A counter that is read where each function
 * begins and ends tells it; else what an archive has of single calls. */
#include "transcript/transcript_state.h"

#include <string.h>
#include <stdlib.h>

uint32_t fv_transcript_instance_event(struct fv_transcript *t, const char *name)
{
    for (uint32_t i = 0; i < t->instance_event_count; i++)
        if (!strncmp(t->instance_events[i].name, name, sizeof(t->instance_events[i].name)))
            return i;
    if (t->instance_event_count == FV_COUNTERS)
        return FV_NONE;
    strncpy(t->instance_events[t->instance_event_count].name, name, sizeof(t->instance_events[0].name) - 1);
    return t->instance_event_count++;
}

static struct fv_transcript_function_counts *counts_of(struct fv_transcript_thread *h, uint32_t record, uint32_t event)
{
    const size_t before = h->function_counts_room;

    if ((size_t)(record + 1) * FV_TRANSCRIPT_EVENTS > before) {
        h->function_counts = fv_grow(h->function_counts, &h->function_counts_room,
                                     (size_t)(record + 1) * FV_TRANSCRIPT_EVENTS, sizeof(*h->function_counts));
        memset(h->function_counts + before, 0, (h->function_counts_room - before) * sizeof(*h->function_counts));
    }
    return &h->function_counts[(size_t)record * FV_TRANSCRIPT_EVENTS + event];
}

static struct fv_transcript_function *innermost(struct fv_transcript_thread *h)
{
    return h->depth ? &h->open[h->depth - 1] : NULL;
}

/* What came since the last function began or ended is of the innermost one. */
static void spend(struct fv_transcript_thread *h, uint32_t i)
{
    struct fv_transcript_count *c = &h->counts[i];
    const struct fv_transcript_function *f = innermost(h);

    if (f && c->is_spent && c->last >= c->spent)
        counts_of(h, f->record, i)->self += c->last - c->spent;
    c->spent = c->last;
    c->is_spent = true;
}

void fv_transcript_function_counted(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks, bool ends)
{
    const struct fv_transcript_function *f = innermost(h);

    for (uint32_t i = 0; i < t->counter_count; i++) {
        struct fv_transcript_count *c = &h->counts[i];

        if (c->last_at != ticks) {
            c->is_loose = true;
            continue;
        }
        spend(h, i);
        if (ends && f && !f->nested && c->last >= f->counted[i]) {
            counts_of(h, f->record, i)->count += c->last - f->counted[i];
            counts_of(h, f->record, i)->calls++;
        }
    }
}

void fv_transcript_function_mpi(struct fv_transcript_thread *h, uint32_t counter, uint64_t count)
{
    const struct fv_transcript_function *f = innermost(h);

    if (f)
        counts_of(h, f->record, counter)->mpi_self += count;
}

void fv_transcript_instance_count(struct fv_transcript_thread *h, const struct fv_record *m)
{
    const struct fv_transcript_function *f = innermost(h);

    if (!f || f->nested)
        return;
    counts_of(h, f->record, FV_COUNTERS + m->op)->count += m->sent;
    counts_of(h, f->record, FV_COUNTERS + m->op)->calls++;
}

static bool is_known(const struct fv_transcript_thread *h, uint32_t event)
{
    return event >= FV_COUNTERS || !(h->counts[event].is_loose || h->counts[event].is_bad);
}

void fv_transcript_function_counts(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot)
{
    struct fv_bytes out = { 0 };

    for (uint32_t i = 0; i < h->function_counts_room; i++) {
        const struct fv_transcript_function_counts *c = &h->function_counts[i];
        const uint32_t record = i / FV_TRANSCRIPT_EVENTS, event = i % FV_TRANSCRIPT_EVENTS;
        const bool of_calls = event >= FV_COUNTERS;

        if (record >= h->function_count || !c->calls || !is_known(h, event))
            continue;
        fv_bytes_put(&out,
                     &(struct fv_function_counts){
                         .function = record + 1,
                         .event = event,
                         .count = c->count,
                         .self = c->self,
                         .mpi_self = c->mpi_self,
                         .calls = c->calls,
                         .flags = (of_calls ? (uint32_t)FV_COUNTS_NO_SELF : 0u) |
                                  (of_calls || h->counts[event].is_outside_mpi ? (uint32_t)FV_COUNTS_NO_MPI : 0u) },
                     sizeof(struct fv_function_counts));
    }
    fv_transcript_chunk(t, FV_CHUNK_FUNCTION_COUNTS, slot, 0, out.data, out.count);
    free(out.data);
    free(h->function_counts);
}

/* Those that are counters first, as in the counts. */
void fv_transcript_function_events(struct fv_transcript *t)
{
    struct fv_function_event events[FV_TRANSCRIPT_EVENTS] = { 0 };

    for (uint32_t i = 0; i < t->counter_count; i++)
        memcpy(events[i].name, t->counters[i].name, sizeof(events[i].name));
    memcpy(events + FV_COUNTERS, t->instance_events, sizeof(t->instance_events));
    if (t->counter_count || t->instance_event_count)
        fv_transcript_chunk(t, FV_CHUNK_FUNCTION_EVENTS, FV_NO_THREAD, 0, events, sizeof(events));
}
