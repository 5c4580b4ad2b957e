/* See counted.h: the track, and sums over ranks. */
#include "profile/counters/counted.h"
#include "profile/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the file that is read. */
struct gather {
    uint32_t event[FV_COUNTERS]; /* in the view */
    unsigned count;
    bool mpi_unknown[FV_COUNTERS];
};

static uint32_t find_event(struct fv_counted_view *v, const struct fv_counter_event *r)
{
    char name[sizeof(r->name) + 1];

    snprintf(name, sizeof(name), "%.*s", (int)sizeof(r->name), r->name);
    for (uint32_t i = 0; i < v->event_count; i++)
        if (!strcmp(v->events[i].name, name))
            return i;
    FV_GROW(v->events, v->event_room, v->event_count + 1);
    v->events[v->event_count] = (struct fv_counted_event){ .name = fv_arena_string(&v->arena, name), .quantity = fv_quantity_of_event(name), .flags = r->flags };
    if (r->flags & FV_COUNTER_KERNEL) /* is not what metrics are made of */
        v->events[v->event_count].quantity = NULL;
    return (uint32_t)v->event_count++;
}

static void read_events(struct fv_counted_view *v, struct gather *g, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_COUNTER_EVENTS);
    struct fv_counter_event r;
    char processor[sizeof(r.processor) + 1];

    *g = (struct gather){ .count = 0 };
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

static uint32_t find_scope(struct fv_counted_view *v, const char *name, int32_t number)
{
    for (uint32_t i = 0; i < v->scope_count; i++)
        if (v->scopes[i].number == number && !strcmp(v->scopes[i].name, name))
            return i;
    FV_GROW(v->scopes, v->scope_room, v->scope_count + 1);
    v->scopes[v->scope_count] = (struct fv_counted_scope){ fv_arena_string(&v->arena, name), number };
    return (uint32_t)v->scope_count++;
}

/* Of a section's id in the file; FV_NONE: damaged. */
static uint32_t scope_of(struct fv_counted_view *v, const struct fv_reader *reader, uint32_t id)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SECTIONS);
    struct fv_section s;
    char name[sizeof(s.name) + 1];
    uint32_t at = 0;

    if (!id)
        return 0;
    for (const void *p; (p = fv_cursor_next(&c));) {
        if (++at != id)
            continue;
        memcpy(&s, p, sizeof(s));
        snprintf(name, sizeof(name), "%.*s", (int)sizeof(s.name), s.name);
        uint32_t found = find_scope(v, name, s.number);
        return found ? found : FV_NONE;
    }
    return FV_NONE;
}

/* What was counted part of the time stands for all of it. */
static double scaled(uint64_t count, const struct fv_counter_value *of, bool *is_scaled)
{
    if (of->running >= of->enabled)
        return (double)count;
    *is_scaled = true;
    return of->running ? (double)count * (double)of->enabled / (double)of->running : NAN;
}

static struct fv_counted_value *value_of(struct fv_counted_view *v, size_t first, uint32_t scope, uint32_t event, uint32_t rank)
{
    for (size_t i = first; i < v->value_count; i++)
        if (v->values[i].scope == scope && v->values[i].event == event)
            return &v->values[i];
    FV_GROW(v->values, v->value_room, v->value_count + 1);
    v->values[v->value_count] = (struct fv_counted_value){ .scope = scope, .event = event, .rank = rank };
    return &v->values[v->value_count++];
}

static void add_values(struct fv_build *b, const struct gather *g, size_t first, uint32_t rank, uint32_t thread, const struct fv_counter_values *r)
{
    struct fv_counted_view *v = &b->model->counted;
    uint32_t scope = scope_of(v, b->files[rank].reader, r->section);
    double s = fv_build_seconds(b->model, rank, r->ticks);

    for (unsigned i = 0; i < g->count && scope != FV_NONE && r->last; i++) {
        const struct fv_counter_value *at = &r->at[i];
        bool is_scaled = false;

        if (g->event[i] == FV_NONE)
            continue;
        double value = r->flags & (FV_COUNTERS_UNKNOWN | FV_COUNTERS_CUT) && !(v->events[g->event[i]].flags & FV_COUNTER_ACCOUNTS) ? NAN : scaled(at->count, at, &is_scaled);
        double in_mpi = g->mpi_unknown[i] || isnan(value) ? NAN : fmin(scaled(at->in_mpi, at, &is_scaled), value);
        struct fv_counted_value *sum = value_of(v, first, scope, g->event[i], rank);

        sum->threads++;
        sum->value += value;
        sum->in_mpi += in_mpi;
        sum->time_s = fmax(sum->time_s, s);
        sum->thread_time_s += s;
        sum->is_scaled = sum->is_scaled || is_scaled;
        if (scope)
            continue;
        FV_GROW(v->threads, v->thread_room, v->thread_count + 1);
        v->threads[v->thread_count++] = (struct fv_counted_thread){ rank, g->event[i], thread, value, in_mpi, is_scaled };
    }
}

static void read_counted(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_counted_view *v = &b->model->counted;
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_COUNTER_VALUES);
    struct fv_counter_values r;
    size_t first = v->value_count;

    read_events(v, state, b->files[rank].reader);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        add_values(b, state, first, rank, c.thread, &r);
    }
}

/* ---- over ranks ---- */

static int by_place(const void *a, const void *b)
{
    const struct fv_counted_value *x = a, *y = b;

    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_thread(const void *a, const void *b)
{
    const struct fv_counted_thread *x = a, *y = b;

    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void add_to_spread(struct fv_counted_spread *s, double value, uint32_t rank)
{
    if (isnan(value))
        return;
    if (s->min_rank == FV_NONE || value < s->min) {
        s->min = value;
        s->min_rank = rank;
    }
    if (s->max_rank == FV_NONE || value > s->max) {
        s->max = value;
        s->max_rank = rank;
    }
}

static const struct fv_counted_spread no_spread = { NAN, NAN, NAN, FV_NONE, FV_NONE };

/* Sums are of the ranks that know. */
static void sum_up(struct fv_counted_view *v, struct fv_counted_sum *s)
{
    double longest_s = 0;
    size_t known = 0;

    s->of = no_spread;
    s->sum = s->in_mpi = 0;
    for (uint32_t i = 0; i < s->ranks; i++) {
        const struct fv_counted_value *of = &v->values[s->first + i];

        add_to_spread(&s->of, of->value, of->rank);
        s->is_scaled = s->is_scaled || of->is_scaled;
        longest_s = fmax(longest_s, of->time_s);
        known += !isnan(of->value);
        s->sum += isnan(of->value) ? 0 : of->value;
        s->in_mpi += isnan(of->value) ? 0 : of->in_mpi;
    }
    if (!known)
        s->sum = s->in_mpi = NAN;
    s->of.mean = s->sum / (double)known;
    s->rate = longest_s > 0 ? s->sum / longest_s : NAN;
}

static void make_sums(struct fv_counted_view *v)
{
    size_t at = 0, thread = 0;

    for (uint32_t scope = 0; scope < v->scope_count; scope++)
        for (uint32_t event = 0; event < v->event_count; event++) {
            struct fv_counted_sum s = { .scope = scope, .event = event, .first = (uint32_t)at, .first_thread = (uint32_t)thread };

            for (; at < v->value_count && v->values[at].scope == scope && v->values[at].event == event; at++)
                s.ranks++;
            for (; !scope && thread < v->thread_count && v->threads[thread].event == event; thread++)
                s.threads++;
            if (!s.ranks && scope)
                continue;
            sum_up(v, &s);
            FV_GROW(v->sums, v->sum_room, v->sum_count + 1);
            v->sums[v->sum_count++] = s;
            v->whole_count += !scope;
        }
}

/* ---- metrics ---- */

/* Where names of a formula are looked up: a rank's values, or with FV_NONE the sums. */
struct place {
    const struct fv_counted_view *view;
    uint32_t scope, rank;
    bool is_outside;
};

static const struct fv_counted_sum *sum_of(const struct fv_counted_view *v, uint32_t scope, const struct fv_quantity *quantity)
{
    for (size_t i = 0; i < v->sum_count; i++)
        if (v->sums[i].scope == scope && v->events[v->sums[i].event].quantity == quantity)
            return &v->sums[i];
    return NULL;
}

static const struct fv_counted_value *value_in(const struct fv_counted_view *v, const struct fv_counted_sum *s, uint32_t rank)
{
    for (uint32_t i = 0; s && i < s->ranks; i++)
        if (v->values[s->first + i].rank == rank)
            return &v->values[s->first + i];
    return NULL;
}

static double quantity_in(const struct place *p, const struct fv_quantity *quantity)
{
    const struct fv_counted_sum *s = quantity ? sum_of(p->view, p->scope, quantity) : NULL;

    if (!s)
        return NAN;
    if (p->rank == FV_NONE)
        return p->is_outside ? s->sum - s->in_mpi : s->sum;
    const struct fv_counted_value *of = value_in(p->view, s, p->rank);
    return !of ? NAN : p->is_outside ? of->value - of->in_mpi : of->value;
}

/* The longest of all, or together. */
static double time_in(const struct place *p, bool of_threads)
{
    double result = 0;
    uint32_t event = FV_NONE;

    for (size_t i = 0; i < p->view->value_count; i++) {
        const struct fv_counted_value *of = &p->view->values[i];

        if (of->scope != p->scope || (p->rank != FV_NONE && of->rank != p->rank))
            continue;
        event = event == FV_NONE ? of->event : event;
        if (event == of->event)
            result = of_threads ? result + of->thread_time_s : fmax(result, of->time_s);
    }
    return result > 0 ? result : NAN;
}

static bool is_name(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(name, word, length);
}

static double look_up(const void *context, const char *name, size_t length)
{
    const struct place *p = context;
    const struct fv_processor_row *row = &fv_processor_rows[p->view->processor];

    if (is_name(name, length, "time") || is_name(name, length, "thread_time"))
        return p->is_outside ? NAN : time_in(p, length > 4);
    if (is_name(name, length, "width"))
        return row->width ? row->width : NAN;
    if (is_name(name, length, "granules"))
        return row->granules ? row->granules : NAN;
    return quantity_in(p, fv_quantity_named(name, length));
}

static bool is_scaled_in(const struct fv_counted_view *v, uint32_t scope)
{
    for (size_t i = 0; i < v->sum_count; i++)
        if (v->sums[i].scope == scope && v->sums[i].is_scaled)
            return true;
    return false;
}

/* Ranks that have values in the scope, by those of any event. */
static void spread_metric(const struct fv_counted_view *v, struct fv_counted_metric *m, size_t rank_count)
{
    double sum = 0;
    size_t count = 0;

    m->of = no_spread;
    for (uint32_t rank = 0; rank < rank_count; rank++) {
        const struct place p = { v, m->scope, rank, false };
        double value = fv_formulas_value(m->row->formulas, look_up, &p, NULL);

        add_to_spread(&m->of, value, rank);
        sum += isnan(value) ? 0 : value;
        count += !isnan(value);
    }
    m->of.mean = count ? sum / (double)count : NAN;
}

static void make_metric(struct fv_counted_view *v, uint32_t scope, const struct fv_metric_row *row, size_t rank_count)
{
    const struct place all = { v, scope, FV_NONE, false }, outside = { v, scope, FV_NONE, true };
    struct fv_counted_metric m = { .scope = scope, .row = row };
    const char *used;

    m.value = fv_formulas_value(row->formulas, look_up, &all, &used);
    if (isnan(m.value))
        return;
    m.formula = fv_arena_bytes(&v->arena, used, strcspn(used, ";"));
    m.outside_mpi = fv_formulas_value(row->formulas, look_up, &outside, NULL);
    m.peak = !strcmp(row->name, "ipc") && fv_processor_rows[v->processor].width ? fv_processor_rows[v->processor].width : NAN;
    m.is_scaled = is_scaled_in(v, scope);
    spread_metric(v, &m, rank_count);
    FV_GROW(v->metrics, v->metric_room, v->metric_count + 1);
    v->metrics[v->metric_count++] = m;
}

/* Outside of MPI where that is known: what waits there spins. */
static double shown_value(const struct fv_counted_metric *m)
{
    return isnan(m->outside_mpi) ? m->value : m->outside_mpi;
}

static const struct fv_counted_metric *metric_named(const struct fv_counted_view *v, uint32_t scope, const char *name)
{
    for (size_t i = 0; i < v->metric_count; i++)
        if (v->metrics[i].scope == scope && !strcmp(v->metrics[i].row->name, name))
            return &v->metrics[i];
    return NULL;
}

static void mark(const struct fv_counted_view *v, struct fv_counted_metric *m)
{
    for (size_t i = 0; i < fv_mark_row_count && !m->mark; i++) {
        const struct fv_mark_row *row = &fv_mark_rows[i];
        const struct fv_counted_metric *with = row->with ? metric_named(v, m->scope, row->with) : NULL;
        bool is_beyond = row->below ? shown_value(m) < row->limit : shown_value(m) > row->limit;

        if (!strcmp(row->metric, m->row->name) && is_beyond && (!row->with || (with && shown_value(with) > row->with_limit)))
            m->mark = row->reason;
    }
}

static void *begin_counted(struct fv_build *b)
{
    find_scope(&b->model->counted, "all", 0);
    return fv_xcalloc(1, sizeof(struct gather));
}

static void finish_counted(struct fv_build *b, void *state)
{
    fv_counted_finish(&b->model->counted, b->model->rank_count);
    free(state);
}

void fv_counted_finish(struct fv_counted_view *v, size_t rank_count)
{
    v->sum_count = v->whole_count = v->metric_count = 0;
    if (v->value_count)
        qsort(v->values, v->value_count, sizeof(*v->values), by_place);
    if (v->thread_count)
        qsort(v->threads, v->thread_count, sizeof(*v->threads), by_thread);
    make_sums(v);
    for (uint32_t scope = 0; scope < v->scope_count; scope++)
        for (size_t i = 0; i < fv_metric_row_count; i++)
            make_metric(v, scope, &fv_metric_rows[i], rank_count);
    for (size_t i = 0; i < v->metric_count; i++)
        mark(v, &v->metrics[i]);
}

/* An event that `to` has is its own. The new one of each; FV_NONE: it is not taken over. */
static void join_events(struct fv_counted_view *to, const struct fv_counted_view *from, uint32_t *numbers)
{
    size_t own = to->event_count;

    for (size_t i = 0; i < from->event_count; i++) {
        bool is_there = false;

        for (size_t k = 0; k < own; k++)
            is_there = is_there || !strcmp(to->events[k].name, from->events[i].name);
        numbers[i] = FV_NONE;
        if (is_there)
            continue;
        FV_GROW(to->events, to->event_room, to->event_count + 1);
        to->events[to->event_count] = from->events[i];
        to->events[to->event_count].name = fv_arena_string(&to->arena, from->events[i].name);
        numbers[i] = (uint32_t)to->event_count++;
    }
}

void fv_counted_join(struct fv_counted_view *to, const struct fv_counted_view *from, const uint32_t *ranks)
{
    uint32_t *numbers = fv_xcalloc(from->event_count + 1, sizeof(*numbers));

    join_events(to, from, numbers);
    for (size_t i = 0; i < from->value_count; i++) {
        struct fv_counted_value value = from->values[i];

        if (numbers[value.event] == FV_NONE || ranks[value.rank] == FV_NONE)
            continue;
        value.scope = find_scope(to, from->scopes[value.scope].name, from->scopes[value.scope].number);
        value.event = numbers[value.event];
        value.rank = ranks[value.rank];
        FV_GROW(to->values, to->value_room, to->value_count + 1);
        to->values[to->value_count++] = value;
    }
    for (size_t i = 0; i < from->thread_count; i++) {
        struct fv_counted_thread thread = from->threads[i];

        if (numbers[thread.event] == FV_NONE || ranks[thread.rank] == FV_NONE)
            continue;
        thread.event = numbers[thread.event];
        thread.rank = ranks[thread.rank];
        FV_GROW(to->threads, to->thread_room, to->thread_count + 1);
        to->threads[to->thread_count++] = thread;
    }
    free(numbers);
}

const struct fv_track fv_track_counted = { "counters", FV_VISIT_REST, { FV_CHUNK_COUNTER_EVENTS, FV_CHUNK_COUNTER_VALUES }, begin_counted, read_counted, finish_counted };

double fv_counted_of(const struct fv_counted_view *v, uint32_t scope, uint32_t rank, const char *quantity, bool outside_mpi)
{
    const struct place p = { v, scope, rank, outside_mpi };

    return quantity_in(&p, fv_quantity_named(quantity, strlen(quantity)));
}

void fv_counted_release(struct fv_counted_view *v)
{
    free(v->scopes);
    free(v->events);
    free(v->values);
    free(v->threads);
    free(v->sums);
    free(v->metrics);
    fv_arena_release(&v->arena);
    *v = (struct fv_counted_view){ 0 };
}
