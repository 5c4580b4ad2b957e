/* SPDX-License-Identifier: BSD-3-Clause */
/* See counters.h: what was counted in phases of threads. Phases are numbered anew when their call paths are known, so
 * sums are made last. */
#include "profile/model.h"
#include "profile/counters/counters.h"
#include "profile/threads/phases.h"

#include <math.h>
#include <stdlib.h>

/* The events are those of the whole program, and so are their names. */
static void begin_view(struct fv_counts *v, const struct fv_model *m)
{
    fv_counts_release(v);
    v->processor = fv_model_counts(m)->processor;
    v->event_count = v->event_room = fv_model_counts(m)->event_count;
    v->events = fv_xcalloc(v->event_count + 1, sizeof(*v->events));
    for (size_t i = 0; i < v->event_count; i++)
        v->events[i] = fv_model_counts(m)->events[i];
    v->scope_count = v->scope_room = fv_model_phases(m)->count + 1;
    v->scopes = fv_xcalloc(v->scope_count, sizeof(*v->scopes));
    for (size_t i = 0; i < v->scope_count; i++)
        v->scopes[i] = (struct fv_counts_scope){ "", (int32_t)i };
}

/* A value of each event that the rank counted: all parts of threads are missing in it so far. */
static void add_place(struct fv_counts *v, struct fv_index *index, const struct fv_phase_part *part, uint32_t event)
{
    struct fv_counts_value *to = FV_INTERNED(*index, v->values, v->value_count, v->value_room,
                                             (uint32_t[]){ part->phase + 1, event, part->rank });
    uint64_t parts = part->sums.threads > part->sums.lost_threads ? part->sums.threads - part->sums.lost_threads : 0;

    to->missing = parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
    to->time_s = part->sums.longest_s;
}

static bool has_counted(const struct fv_counts *all, const struct fv_counts_sum *event, uint32_t rank)
{
    const struct fv_counts_value *values = event->ranks ? all->values + event->first : NULL;
    size_t at = FV_COUNT_BEFORE(i, event->ranks, values[i].rank < rank);

    return at < event->ranks && values[at].rank == rank;
}

static void add_places(struct fv_counts *v, struct fv_index *index, const struct fv_model *m)
{
    for (size_t i = 0; i < fv_model_phases(m)->part_count; i++)
        for (size_t k = 0; k < fv_model_counts(m)->whole_count; k++)
            if (has_counted(fv_model_counts(m), &fv_model_counts(m)->sums[k], fv_model_phases(m)->parts[i].rank))
                add_place(v, index, &fv_model_phases(m)->parts[i], fv_model_counts(m)->sums[k].event);
}

/* What was counted is not missing. */
static void add_counted(struct fv_counts_value *to, const struct fv_counts_value *from)
{
    to->missing -= from->threads < to->missing ? from->threads : to->missing;
    to->missing += from->missing;
    to->threads += from->threads;
    to->value += from->value;
    to->in_mpi += from->in_mpi;
    to->thread_time_s += from->thread_time_s;
    to->is_scaled = to->is_scaled || from->is_scaled;
}

void fv_counts_phases(struct fv_model *m)
{
    struct fv_counts *v = fv_model_phase_counts(m);
    struct fv_index index = { 0 };

    if (!fv_model_phases(m)->counted_count)
        return;
    begin_view(v, m);
    add_places(v, &index, m);
    for (size_t i = 0; i < fv_model_phases(m)->counted_count; i++) {
        const struct fv_counts_value *from = &fv_model_phases(m)->counted[i];
        uint32_t at = FV_FIND(index, v->values, (uint32_t[]){ from->scope + 1, from->event, from->rank });

        if (at != FV_NONE)
            add_counted(&v->values[at], from);
    }
    for (size_t i = 0; i < v->value_count; i++) {
        struct fv_counts_value *of = &v->values[i];

        of->kind = of->missing ? FV_COUNTS_PART : of->is_scaled ? FV_COUNTS_ESTIMATE : FV_COUNTS_EXACT;
        if (!of->threads)
            of->value = of->in_mpi = NAN;
    }
    fv_index_release(&index);
    fv_counts_finish(v, m->rank_count);
}

/* ---- other runs' ---- */

static uint64_t key_of(const struct fv_model *m, const struct fv_phase *p)
{
    const struct fv_address *routine = p->routine == FV_NONE ? NULL : &m->addresses[p->routine];
    uint64_t key = fv_mix2(p->kind, m->tree.nodes[p->node].key);

    return routine ? fv_mix2(fv_mix2(key, m->tree.modules[routine->module].key), routine->offset) : key;
}

static uint32_t phase_with(const struct fv_model *m, uint64_t key)
{
    for (uint32_t i = 0; i < fv_model_phases(m)->count; i++)
        if (key_of(m, &fv_model_phases(m)->items[i]) == key)
            return i;
    return FV_NONE;
}

static void join_phases(struct fv_model *m, const struct fv_model *from, const uint32_t *ranks, const uint32_t *events)
{
    struct fv_phases *to = fv_model_phases(m);
    uint32_t *phases = fv_xcalloc(fv_model_phases(from)->count + 1, sizeof(*phases));

    for (size_t i = 0; i < fv_model_phases(from)->count; i++)
        phases[i] = phase_with(m, key_of(from, &fv_model_phases(from)->items[i]));
    for (size_t i = 0; i < fv_model_phases(from)->counted_count; i++) {
        struct fv_counts_value value = fv_model_phases(from)->counted[i];

        value.scope = phases[value.scope];
        value.event = events[value.event];
        value.rank = ranks[value.rank];
        if (value.scope == FV_NONE || value.event == FV_NONE || value.rank == FV_NONE)
            continue;
        FV_GROW(to->counted, to->counted_room, to->counted_count + 1);
        to->counted[to->counted_count++] = value;
    }
    free(phases);
}

static void join_run(struct fv_model *m, const struct fv_model *from)
{
    uint32_t *ranks = fv_xcalloc(from->rank_count + 1, sizeof(*ranks));
    uint32_t *events = fv_xcalloc(fv_model_counts(from)->event_count + 1, sizeof(*events));

    for (size_t i = 0; i < from->rank_count; i++) {
        ranks[i] = FV_NONE;
        for (uint32_t k = 0; k < m->rank_count; k++)
            if (m->ranks[k].world_rank == from->ranks[i].world_rank)
                ranks[i] = k;
    }
    fv_counts_join(fv_model_counts(m), fv_model_counts(from), ranks, events);
    join_phases(m, from, ranks, events);
    free(events);
    free(ranks);
}

void fv_counts_join_runs(struct fv_model *m, const struct fv_model *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        join_run(m, &runs[i]);
    if (count)
        fv_counts_finish(fv_model_counts(m), m->rank_count);
}
