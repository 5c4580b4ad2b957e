/* SPDX-License-Identifier: BSD-3-Clause */
/* See counters.h: the track, and what other runs counted. */
#include "profile/counters/counters.h"
#include "profile/build.h"
#include "profile/threads/phases.h"
#include "profile/sections/sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gather {
    struct fv_index values;    /* by scope, event, rank */
    struct fv_index in_phases; /* likewise of fv_phases.counted */
    /* Of the file that is read: */
    const void **sections; /* struct fv_section by id - 1 */
    size_t section_count, section_room;
    struct fv_index openers; /* by thread and section */
    struct opener {
        uint32_t key[2];
    } * opener;
    size_t opener_count, opener_room;
    struct fv_section_span *spans; /* by section */
    size_t span_room;
    uint32_t event[FV_COUNTERS]; /* in the view */
    unsigned count;
    bool mpi_unknown[FV_COUNTERS];
};

static uint32_t find_event(struct fv_counts *v, const struct fv_counter_event *r)
{
    char name[sizeof(r->name) + 1], processor[sizeof(r->processor) + 1];
    size_t before = v->event_count;

    snprintf(name, sizeof(name), "%.*s", (int)sizeof(r->name), r->name);
    uint32_t at = FV_INTERN_NAME(v->event_index, v->events, v->event_count, v->event_room, &v->arena, name);
    if (v->event_count == before)
        return at;
    v->events[at].flags = r->flags;
    snprintf(processor, sizeof(processor), "%.*s", (int)sizeof(r->processor), r->processor);
    if (!(r->flags & FV_COUNTER_KERNEL)) /* else it is not what metrics are made of */
        v->events[at].quantity = fv_quantity_of_event(fv_processor_named(processor), name);
    return at;
}

static void read_events(struct fv_counts *v, struct gather *g, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_COUNTER_EVENTS);
    struct fv_counter_event r;
    char processor[sizeof(r.processor) + 1];

    g->count = 0;
    for (const void *p; g->count < FV_COUNTERS && (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        uint32_t at = g->event[g->count] = find_event(v, &r);

        g->mpi_unknown[g->count++] = r.flags & FV_COUNTER_NO_MPI;
        if (r.refusal) {
            v->events[at].refused_ranks++;
            v->events[at].refusal = v->events[at].refusal ? v->events[at].refusal : r.refusal;
        }
        snprintf(processor, sizeof(processor), "%.*s", (int)sizeof(r.processor), r.processor);
        v->processor = v->processor == FV_ANY_PROCESSOR ? fv_processor_named(processor) : v->processor;
        if (r.refusal)
            g->event[g->count - 1] = FV_NONE;
    }
}

static uint32_t find_scope(struct fv_counts *v, const char *name, int32_t number)
{
    uint64_t hash = fv_mix2(fv_hash_text(name), (uint32_t)number);
    struct fv_index_probe p = fv_index_probe(&v->scope_index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (v->scopes[i].number == number && !strcmp(v->scopes[i].name, name))
            return i;
    FV_GROW(v->scopes, v->scope_room, v->scope_count + 1);
    v->scopes[v->scope_count] = (struct fv_counts_scope){ fv_arena_string(&v->arena, name), number };
    fv_index_add(&v->scope_index, hash, (uint32_t)v->scope_count);
    return (uint32_t)v->scope_count++;
}

static void read_sections(struct gather *g, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SECTIONS);

    g->section_count = 0;
    for (const void *p; (p = fv_cursor_next(&c));) {
        FV_GROW(g->sections, g->section_room, g->section_count + 1);
        g->sections[g->section_count++] = p;
    }
}

/* Of a section's id in the file; FV_NONE: damaged. */
static uint32_t scope_of(struct fv_counts *v, const struct gather *g, uint32_t id)
{
    struct fv_section s;
    char name[sizeof(s.name) + 1];

    if (!id)
        return 0;
    if (id > g->section_count)
        return FV_NONE;
    memcpy(&s, g->sections[id - 1], sizeof(s));
    snprintf(name, sizeof(name), "%.*s", (int)sizeof(s.name), s.name);
    uint32_t found = find_scope(v, name, s.number);
    return found ? found : FV_NONE;
}

/* What was counted part of the time stands for all of it. */
static double scaled(uint64_t count, const struct fv_counter_value *of, bool *is_scaled)
{
    if (of->running >= of->enabled)
        return (double)count;
    *is_scaled = true;
    return of->running ? (double)count * (double)of->enabled / (double)of->running : NAN;
}

static bool is_account(const struct fv_counts *v, uint32_t event)
{
    return v->events[event].flags & FV_COUNTER_ACCOUNTS;
}

/* What one record of a thread says of an event. */
struct reading {
    double value, in_mpi; /* NAN: not known */
    bool is_counted, is_scaled;
    bool is_missing; /* a thread that had the record last, or all of them, is not in it */
};

static struct reading read_value(const struct fv_counts *v, const struct gather *g, unsigned i,
                                 const struct fv_counter_values *r)
{
    const struct fv_counter_value *at = &r->at[i];
    bool of_processor = !is_account(v, g->event[i]);
    bool was_closed = (of_processor && r->flags & FV_COUNTERS_UNKNOWN) || (r->flags & FV_COUNTERS_PART && !at->enabled);
    struct reading got = { NAN, NAN, r->last && (!was_closed || at->enabled), false,
                           was_closed || !r->last || r->flags & FV_COUNTERS_UNWRITTEN };

    if (!got.is_counted || (of_processor && r->flags & FV_COUNTERS_CUT))
        return got;
    got.value = scaled(at->count, at, &got.is_scaled);
    got.in_mpi = g->mpi_unknown[i] || isnan(got.value) ? NAN : fmin(scaled(at->in_mpi, at, &got.is_scaled), got.value);
    return got;
}

static void add_thread(struct fv_counts *v, const uint32_t place[4], const struct reading *got, double s)
{
    FV_GROW(v->threads, v->thread_room, v->thread_count + 1);
    v->threads[v->thread_count++] =
        (struct fv_counts_thread){ place[0], place[1],       place[2],
                                   place[3], got->value,     got->in_mpi,
                                   s,        got->is_scaled, fv_counts_kind_of(got->is_scaled, got->is_missing) };
}

static void add_reading(struct fv_counts_value *sum, const struct reading *got, double s)
{
    sum->is_scaled = sum->is_scaled || got->is_scaled;
    sum->missing += got->is_missing;
    sum->kind = fv_counts_kind_of(sum->is_scaled, sum->missing);
    if (!got->is_counted)
        return;
    sum->threads++;
    sum->value += got->value;
    sum->in_mpi += got->in_mpi;
    sum->time_s = fmax(sum->time_s, s);
    sum->thread_time_s += s;
}

/* `part`: of the time, which stands for all. */
static void add_values(struct fv_build *b, struct gather *g, uint32_t rank, uint32_t thread,
                       const struct fv_counter_values *r, double part)
{
    struct fv_counts *v = fv_model_counts(b->model);
    uint32_t scope = scope_of(v, g, r->section);
    double s = fv_build_seconds(b->model, rank, r->ticks) / part;

    for (unsigned i = 0; i < g->count && scope != FV_NONE && (r->last || !scope); i++) {
        if (g->event[i] == FV_NONE)
            continue;
        struct reading got = read_value(v, g, i, r);
        got.value /= part;
        got.in_mpi /= part;
        got.is_scaled = got.is_scaled || part < 1;
        add_reading(
            FV_INTERNED(g->values, v->values, v->value_count, v->value_room, (uint32_t[]){ scope, g->event[i], rank }),
            &got, s);
        add_thread(v, (uint32_t[]){ scope, g->event[i], rank, thread }, &got, s);
    }
}

/* ---- threads in sections that others opened ---- */

static void note_opener(struct gather *g, uint32_t thread, uint32_t section)
{
    FV_INTERNED(g->openers, g->opener, g->opener_count, g->opener_room, (uint32_t[]){ thread, section });
}

static bool is_opener(const struct gather *g, uint32_t thread, uint32_t section)
{
    return FV_FIND(g->openers, g->opener, (uint32_t[]){ thread, section }) != FV_NONE;
}

static void read_others(struct fv_build *b, struct gather *g, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_COUNTER_OTHERS);
    struct fv_counter_other r;

    FV_GROW(g->spans, g->span_room, g->section_count + 1);
    fv_section_read_spans(b->files[rank].reader, g->spans, g->section_count + 1);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!r.sum.section || r.sum.section > g->section_count || is_opener(g, r.thread, r.sum.section))
            continue;
        const struct fv_section_span *span = &g->spans[r.sum.section];
        if (span->read_ticks)
            add_values(b, g, rank, r.thread, &r.sum, (double)span->read_ticks / (double)span->ticks);
    }
    fv_index_release(&g->openers);
    g->openers = (struct fv_index){ 0 };
    g->opener_count = 0;
}

/* Of a phase, so many parts of threads. Those that did not count are missing where the phase has more. */
static void add_parts(struct fv_counts_value *sum, const struct reading *got, double s, uint32_t parts)
{
    if (!got->is_counted || !parts)
        return;
    add_reading(sum, got, s);
    sum->threads += parts - 1;
    sum->missing += got->is_missing ? parts - 1 : 0;
}

/* FV_NONE: damaged, or of a thread whose life is in none. */
static uint32_t phase_of(struct fv_build_file *f, const struct fv_counter_phase *r)
{
    uint32_t in = r->kind == FV_COUNTER_LIFE     ? FV_CHUNK_LIVES
                  : r->kind == FV_COUNTER_REGION ? FV_CHUNK_OMP
                  : r->kind == FV_COUNTER_ALONE  ? FV_CHUNK_SOLO
                                                 : 0;

    return !in ? FV_NONE : fv_numbers_get(fv_build_numbers(f, in), r->of);
}

/* Of a thread that ran alone: what its curve by cache is made of. */
static void add_alone(struct fv_build *b, const struct gather *g, uint32_t phase, const struct fv_counter_values *r)
{
    const struct fv_counts *v = fv_model_counts(b->model);

    for (unsigned i = 0; i < g->count; i++) {
        const struct fv_quantity *of = g->event[i] == FV_NONE ? NULL : v->events[g->event[i]].quantity;
        struct reading got = of ? read_value(v, g, i, r) : (struct reading){ 0 };

        for (unsigned k = 0; k < FV_ALONE_QUANTITIES && got.is_counted; k++)
            if (of == fv_quantity_named(fv_alone_quantities[k], strlen(fv_alone_quantities[k])))
                fv_model_phases(b->model)->items[phase].alone.counted[k] += got.value;
    }
}

static void read_in_phases(struct fv_build *b, struct gather *g, uint32_t rank)
{
    struct fv_build_file *f = &b->files[rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COUNTER_PHASES);
    struct fv_phases *to = fv_model_phases(b->model);
    struct fv_counter_phase r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        uint32_t phase = phase_of(f, &r), parts = r.count < UINT32_MAX ? (uint32_t)r.count : UINT32_MAX;

        if (r.kind == FV_COUNTER_ALONE && phase != FV_NONE) {
            add_alone(b, g, phase, &r.sum);
            continue;
        }
        for (unsigned i = 0; i < g->count && phase != FV_NONE; i++) {
            if (g->event[i] == FV_NONE)
                continue;
            struct reading got = read_value(fv_model_counts(b->model), g, i, &r.sum);
            struct fv_counts_value *sum = FV_INTERNED(g->in_phases, to->counted, to->counted_count, to->counted_room,
                                                      (uint32_t[]){ phase, g->event[i], rank });

            add_parts(sum, &got, fv_build_seconds(b->model, rank, r.sum.ticks), parts);
        }
    }
}

static void read_counted(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_counts *v = fv_model_counts(b->model);
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_COUNTER_VALUES);
    struct gather *g = state;
    struct fv_counter_values r;
    size_t first = v->value_count;

    read_events(v, g, b->files[rank].reader);
    if (g->count)
        read_sections(g, b->files[rank].reader);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (r.section && r.last)
            note_opener(g, c.thread, r.section);
        add_values(b, g, rank, c.thread, &r, 1);
    }
    if (g->count)
        read_others(b, g, rank);
    for (; first < v->value_count; first++)
        if (!v->values[first].threads)
            v->values[first].value = v->values[first].in_mpi = NAN;
    read_in_phases(b, g, rank);
}

static void *begin_counted(struct fv_build *b)
{
    find_scope(fv_model_counts(b->model), "all", 0);
    return fv_xcalloc(1, sizeof(struct gather));
}

static void finish_counted(struct fv_build *b, void *state)
{
    struct gather *g = state;

    fv_counts_finish(fv_model_counts(b->model), b->model->rank_count);
    fv_index_release(&g->values);
    fv_index_release(&g->in_phases);
    free(g->sections);
    free(g->spans);
    free(g->opener);
    free(g);
}

/* An event that `to` has is its own. The new one of each; FV_NONE: it is not taken over. */
static void join_events(struct fv_counts *to, const struct fv_counts *from, uint32_t *numbers)
{
    size_t own = to->event_count;

    for (size_t i = 0; i < from->event_count; i++) {
        uint32_t at = FV_INTERN_NAME(to->event_index, to->events, to->event_count, to->event_room, &to->arena,
                                     from->events[i].name);
        const char *name = to->events[at].name;

        numbers[i] = at < own ? FV_NONE : at;
        if (at < own)
            continue;
        to->events[at] = from->events[i];
        to->events[at].name = name;
    }
}

void fv_counts_join(struct fv_counts *to, const struct fv_counts *from, const uint32_t *ranks, uint32_t *numbers)
{
    join_events(to, from, numbers);
    for (size_t i = 0; i < from->value_count; i++) {
        struct fv_counts_value value = from->values[i];

        if (numbers[value.event] == FV_NONE || ranks[value.rank] == FV_NONE)
            continue;
        value.scope = find_scope(to, from->scopes[value.scope].name, from->scopes[value.scope].number);
        value.event = numbers[value.event];
        value.rank = ranks[value.rank];
        FV_GROW(to->values, to->value_room, to->value_count + 1);
        to->values[to->value_count++] = value;
    }
    for (size_t i = 0; i < from->thread_count; i++) {
        struct fv_counts_thread thread = from->threads[i];

        if (numbers[thread.event] == FV_NONE || ranks[thread.rank] == FV_NONE)
            continue;
        thread.scope = find_scope(to, from->scopes[thread.scope].name, from->scopes[thread.scope].number);
        thread.event = numbers[thread.event];
        thread.rank = ranks[thread.rank];
        FV_GROW(to->threads, to->thread_room, to->thread_count + 1);
        to->threads[to->thread_count++] = thread;
    }
}

const struct fv_track fv_track_counters = {
    .name = "counters",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_COUNTER_EVENTS, FV_CHUNK_COUNTER_VALUES, FV_CHUNK_COUNTER_OTHERS, FV_CHUNK_COUNTER_PHASES },
    .begin = begin_counted,
    .read = read_counted,
    .finish = finish_counted,
    .needs = { "phases of threads" },
};

void fv_counts_release(struct fv_counts *v)
{
    fv_index_release(&v->scope_index);
    fv_index_release(&v->event_index);
    free(v->scopes);
    free(v->events);
    free(v->values);
    free(v->threads);
    free(v->sums);
    free(v->metrics);
    free(v->thread_metrics);
    free(v->rank_metrics);
    fv_arena_release(&v->arena);
    *v = (struct fv_counts){ 0 };
}
