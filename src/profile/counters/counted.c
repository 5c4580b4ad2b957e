/* See counted.h: the track, and sums over ranks. */
#include "profile/counters/counted.h"
#include "profile/build.h"
#include "profile/threads/phases.h"

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
    uint32_t event[FV_COUNTERS]; /* in the view */
    unsigned count;
    bool mpi_unknown[FV_COUNTERS];
};

static uint32_t find_event(struct fv_counted_view *v, const struct fv_counter_event *r)
{
    char name[sizeof(r->name) + 1];
    size_t before = v->event_count;

    snprintf(name, sizeof(name), "%.*s", (int)sizeof(r->name), r->name);
    uint32_t at = FV_INTERN_NAME(v->event_index, v->events, v->event_count, v->event_room, &v->arena, name);
    if (v->event_count == before)
        return at;
    v->events[at].flags = r->flags;
    if (!(r->flags & FV_COUNTER_KERNEL)) /* else it is not what metrics are made of */
        v->events[at].quantity = fv_quantity_of_event(name);
    return at;
}

static void read_events(struct fv_counted_view *v, struct gather *g, const struct fv_reader *reader)
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

static uint32_t find_scope(struct fv_counted_view *v, const char *name, int32_t number)
{
    uint64_t hash = fv_mix2(fv_hash_text(name), (uint32_t)number);
    struct fv_index_probe p = fv_index_probe(&v->scope_index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (v->scopes[i].number == number && !strcmp(v->scopes[i].name, name))
            return i;
    FV_GROW(v->scopes, v->scope_room, v->scope_count + 1);
    v->scopes[v->scope_count] = (struct fv_counted_scope){ fv_arena_string(&v->arena, name), number };
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
static uint32_t scope_of(struct fv_counted_view *v, const struct gather *g, uint32_t id)
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

static enum fv_counted_kind kind_of(bool is_scaled, bool is_part)
{
    return is_part ? FV_COUNTED_PART : is_scaled ? FV_COUNTED_ESTIMATE : FV_COUNTED_EXACT;
}

static bool is_account(const struct fv_counted_view *v, uint32_t event)
{
    return v->events[event].flags & FV_COUNTER_ACCOUNTS;
}

/* What one record of a thread says of an event. */
struct reading {
    double value, in_mpi; /* NAN: not known */
    bool is_counted, is_scaled;
    bool is_missing; /* a thread that had the record last, or all of them, is not in it */
};

static struct reading read_value(const struct fv_counted_view *v, const struct gather *g, unsigned i,
                                 const struct fv_counter_values *r)
{
    const struct fv_counter_value *at = &r->at[i];
    bool of_processor = !is_account(v, g->event[i]), was_closed = of_processor && r->flags & FV_COUNTERS_UNKNOWN;
    struct reading got = { NAN, NAN, r->last && (!was_closed || at->enabled), false,
                           was_closed || !r->last || r->flags & FV_COUNTERS_UNWRITTEN };

    if (!got.is_counted || (of_processor && r->flags & FV_COUNTERS_CUT))
        return got;
    got.value = scaled(at->count, at, &got.is_scaled);
    got.in_mpi = g->mpi_unknown[i] || isnan(got.value) ? NAN : fmin(scaled(at->in_mpi, at, &got.is_scaled), got.value);
    return got;
}

static void add_thread(struct fv_counted_view *v, uint32_t rank, uint32_t event, uint32_t thread,
                       const struct reading *got)
{
    FV_GROW(v->threads, v->thread_room, v->thread_count + 1);
    v->threads[v->thread_count++] = (struct fv_counted_thread){
        rank, event, thread, got->value, got->in_mpi, got->is_scaled, kind_of(got->is_scaled, got->is_missing)
    };
}

static void add_reading(struct fv_counted_value *sum, const struct reading *got, double s)
{
    sum->is_scaled = sum->is_scaled || got->is_scaled;
    sum->missing += got->is_missing;
    sum->kind = kind_of(sum->is_scaled, sum->missing);
    if (!got->is_counted)
        return;
    sum->threads++;
    sum->value += got->value;
    sum->in_mpi += got->in_mpi;
    sum->time_s = fmax(sum->time_s, s);
    sum->thread_time_s += s;
}

static void add_values(struct fv_build *b, struct gather *g, uint32_t rank, uint32_t thread,
                       const struct fv_counter_values *r)
{
    struct fv_counted_view *v = fv_model_counted(b->model);
    uint32_t scope = scope_of(v, g, r->section);
    double s = fv_build_seconds(b->model, rank, r->ticks);

    for (unsigned i = 0; i < g->count && scope != FV_NONE && (r->last || !scope); i++) {
        if (g->event[i] == FV_NONE)
            continue;
        struct reading got = read_value(v, g, i, r);
        add_reading(
            FV_INTERNED(g->values, v->values, v->value_count, v->value_room, (uint32_t[]){ scope, g->event[i], rank }),
            &got, s);
        if (!scope)
            add_thread(v, rank, g->event[i], thread, &got);
    }
}

/* Of a phase, so many parts of threads. Those that did not count are missing where the phase has more. */
static void add_parts(struct fv_counted_value *sum, const struct reading *got, double s, uint32_t parts)
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
    const struct fv_counted_view *v = fv_model_counted(b->model);

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
            struct reading got = read_value(fv_model_counted(b->model), g, i, &r.sum);
            struct fv_counted_value *sum = FV_INTERNED(g->in_phases, to->counted, to->counted_count, to->counted_room,
                                                       (uint32_t[]){ phase, g->event[i], rank });

            add_parts(sum, &got, fv_build_seconds(b->model, rank, r.sum.ticks), parts);
        }
    }
}

static void read_counted(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_counted_view *v = fv_model_counted(b->model);
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_COUNTER_VALUES);
    struct gather *g = state;
    struct fv_counter_values r;
    size_t first = v->value_count;

    read_events(v, g, b->files[rank].reader);
    if (g->count)
        read_sections(g, b->files[rank].reader);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        add_values(b, g, rank, c.thread, &r);
    }
    for (; first < v->value_count; first++)
        if (!v->values[first].threads)
            v->values[first].value = v->values[first].in_mpi = NAN;
    read_in_phases(b, g, rank);
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

/* Sums are of the ranks that know, the spread of those that know all of their threads. */
static void sum_up(struct fv_counted_view *v, struct fv_counted_sum *s)
{
    double longest_s = 0, whole_sum = 0;
    size_t known = 0, whole = 0;

    s->of = no_spread;
    s->sum = s->in_mpi = 0;
    for (uint32_t i = 0; i < s->ranks; i++) {
        const struct fv_counted_value *of = &v->values[s->first + i];

        s->missing += of->missing;
        s->is_scaled = s->is_scaled || of->is_scaled;
        longest_s = fmax(longest_s, of->time_s);
        if (isnan(of->value))
            continue;
        known++;
        s->sum += of->value;
        s->in_mpi += of->in_mpi;
        if (of->missing)
            continue;
        whole++;
        whole_sum += of->value;
        add_to_spread(&s->of, of->value, of->rank);
    }
    s->kind = kind_of(s->is_scaled, s->missing || known < s->ranks);
    if (!known)
        s->sum = s->in_mpi = NAN;
    s->of.mean = whole ? whole_sum / (double)whole : NAN;
    s->rate = longest_s > 0 ? s->sum / longest_s : NAN;
}

/* Of the whole program each event has one, if nobody counted it, too. */
static void make_sums(struct fv_counted_view *v)
{
    size_t at = 0, thread = 0;

    for (uint32_t event = 0; at < v->value_count || event < v->event_count; event++) {
        bool is_whole = event < v->event_count;
        struct fv_counted_sum s = { .event = event, .first = (uint32_t)at, .first_thread = (uint32_t)thread };

        if (!is_whole) {
            s.scope = v->values[at].scope;
            s.event = v->values[at].event;
        }
        for (; at < v->value_count && v->values[at].scope == s.scope && v->values[at].event == s.event; at++)
            s.ranks++;
        for (; is_whole && thread < v->thread_count && v->threads[thread].event == event; thread++)
            s.threads++;
        sum_up(v, &s);
        FV_GROW(v->sums, v->sum_room, v->sum_count + 1);
        v->sums[v->sum_count++] = s;
        v->whole_count += is_whole;
    }
}

/* ---- metrics ---- */

/* A part of fv_counted_view.sums: those of a scope, by event. */
struct sums {
    const struct fv_counted_sum *items;
    size_t count;
};

static struct sums sums_of(const struct fv_counted_view *v, uint32_t scope)
{
    size_t first = FV_COUNT_BEFORE(i, v->sum_count, v->sums[i].scope < scope),
           end = FV_COUNT_BEFORE(i, v->sum_count, v->sums[i].scope <= scope);

    return first < end ? (struct sums){ v->sums + first, end - first } : (struct sums){ 0 };
}

static const struct fv_counted_sum *sum_of(const struct fv_counted_view *v, const struct sums *in,
                                           const struct fv_quantity *quantity)
{
    for (size_t i = 0; quantity && i < in->count; i++)
        if (v->events[in->items[i].event].quantity == quantity)
            return &in->items[i];
    return NULL;
}

/* Where all ranks counted, a rank's place is its number. */
static const struct fv_counted_value *value_in(const struct fv_counted_view *v, const struct fv_counted_sum *s,
                                               uint32_t rank)
{
    const struct fv_counted_value *values = s->ranks ? v->values + s->first : NULL;

    if (rank < s->ranks && values[rank].rank == rank)
        return &values[rank];
    size_t at = FV_COUNT_BEFORE(i, s->ranks, values[i].rank < rank);
    return at < s->ranks && values[at].rank == rank ? &values[at] : NULL;
}

/* NAN: it is not known of all of its threads. */
static double known_in(const struct fv_counted_view *v, const struct fv_counted_sum *s, uint32_t rank, bool is_outside)
{
    const struct fv_counted_value *of = s ? value_in(v, s, rank) : NULL;

    return !of || of->missing ? NAN : is_outside ? of->value - of->in_mpi : of->value;
}

/* By the first event that the rank counted. */
static double time_in(const struct fv_counted_view *v, const struct sums *in, uint32_t rank, bool of_threads)
{
    const struct fv_counted_value *of = NULL;

    for (size_t i = 0; i < in->count && !of; i++)
        of = value_in(v, &in->items[i], rank);
    double time_s = !of ? 0 : of_threads ? of->thread_time_s : of->time_s;
    return time_s > 0 ? time_s : NAN;
}

/* Where names of a formula are looked up: a rank's values, with `thread` one thread's, or those of the ranks that know
 * all of the formula; FV_NONE: not of one. */
struct place {
    const struct fv_counted_view *view;
    struct sums sums;
    uint32_t rank, thread;
    bool is_outside;
    bool *knows; /* by rank */
    size_t rank_count;
};

/* What a name is. */
struct name {
    bool is_time, of_threads;
    const struct fv_counted_sum *sum; /* NULL: it is time, or there is none */
};

static bool is_name(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(name, word, length);
}

/* *number: of the processor, whatever was counted. */
static bool is_number(const struct place *p, const char *name, size_t length, double *number)
{
    const struct fv_processor_row *row = &fv_processor_rows[p->view->processor];
    const struct {
        const char *name;
        unsigned value;
    } numbers[] = { { "width", row->width }, { "granules", row->granules }, { "flops", row->flops } };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (is_name(name, length, numbers[i].name)) {
            *number = numbers[i].value ? numbers[i].value : NAN;
            return true;
        }
    return false;
}

static struct name name_of(const struct place *p, const char *name, size_t length)
{
    struct name n = { .of_threads = is_name(name, length, "thread_time") };

    n.is_time = n.of_threads || is_name(name, length, "time");
    if (!n.is_time)
        n.sum = sum_of(p->view, &p->sums, fv_quantity_named(name, length));
    return n;
}

static double of_rank(const struct place *p, const struct name *n, uint32_t rank)
{
    if (!n->is_time)
        return known_in(p->view, n->sum, rank, p->is_outside);
    return p->is_outside ? NAN : time_in(p->view, &p->sums, rank, n->of_threads);
}

/* Is it before that thread of that rank? */
static bool is_before(const struct fv_counted_thread *t, uint32_t rank, uint32_t thread)
{
    return t->rank != rank ? t->rank < rank : t->thread < thread;
}

static double of_thread(const struct place *p, const struct name *n)
{
    const struct fv_counted_thread *threads =
        n->sum && n->sum->threads ? p->view->threads + n->sum->first_thread : NULL;
    size_t count = threads ? n->sum->threads : 0,
           at = FV_COUNT_BEFORE(i, count, is_before(&threads[i], p->rank, p->thread));

    return at < count && threads[at].rank == p->rank && threads[at].thread == p->thread ? threads[at].value : NAN;
}

/* Who does not know it does not know the formula. */
static double note_name(const void *context, const char *name, size_t length)
{
    const struct place *p = context;
    double number;

    if (is_number(p, name, length, &number))
        return number;
    const struct name n = name_of(p, name, length);
    for (uint32_t i = 0; i < p->rank_count; i++)
        p->knows[i] = p->knows[i] && !isnan(of_rank(p, &n, i));
    return 1;
}

static double look_up(const void *context, const char *name, size_t length)
{
    const struct place *p = context;
    double number, sum = 0;

    if (is_number(p, name, length, &number))
        return number;
    const struct name n = name_of(p, name, length);
    if (p->thread != FV_NONE)
        return of_thread(p, &n);
    if (p->rank != FV_NONE)
        return of_rank(p, &n, p->rank);
    for (uint32_t i = 0; i < p->rank_count; i++)
        if (p->knows[i])
            sum = n.is_time && !n.of_threads ? fmax(sum, of_rank(p, &n, i)) : sum + of_rank(p, &n, i);
    return sum;
}

/* Of the ranks that know all of the formula, which it leaves in *knows. */
static double together(const struct place *p, const char *formula)
{
    bool any = false;

    memset(p->knows, true, p->rank_count);
    fv_formula_value(formula, note_name, p);
    for (size_t i = 0; i < p->rank_count && !any; i++)
        any = p->knows[i];
    return any ? fv_formula_value(formula, look_up, p) : NAN;
}

/* The first formula that somebody knows all of; NULL: none. */
static const char *find_formula(const struct place *p, const char *formulas, double *value)
{
    for (const char *at = formulas; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
        if (!isnan(*value = together(p, at)))
            return at + strspn(at, " ");
    return NULL;
}

/* Ranks that know all of the formula. */
static void spread_metric(struct place *p, struct fv_counted_metric *m, const char *formula)
{
    double sum = 0;
    size_t count = 0;

    m->of = no_spread;
    for (p->rank = 0; p->rank < p->rank_count; p->rank++) {
        if (!p->knows[p->rank])
            continue;
        double value = fv_formula_value(formula, look_up, p);

        m->ranks++;
        add_to_spread(&m->of, value, p->rank);
        sum += isnan(value) ? 0 : value;
        count += !isnan(value);
    }
    p->rank = FV_NONE;
    m->of.mean = count ? sum / (double)count : NAN;
}

/* Threads that counted the event which most counted. */
static void add_threads(struct fv_counted_view *v, struct place *p, struct fv_counted_metric *m, const char *formula)
{
    const struct fv_counted_sum *most = p->sums.items; /* a formula has one at least */

    for (size_t i = 1; i < p->sums.count; i++)
        most = p->sums.items[i].threads > most->threads ? &p->sums.items[i] : most;
    m->first_thread = (uint32_t)v->thread_metric_count;
    for (size_t i = 0; i < most->threads; i++) {
        const struct fv_counted_thread *t = &v->threads[most->first_thread + i];

        p->rank = t->rank;
        p->thread = t->thread;
        double value = fv_formula_value(formula, look_up, p);
        if (isnan(value))
            continue;
        FV_GROW(v->thread_metrics, v->thread_metric_room, v->thread_metric_count + 1);
        v->thread_metrics[v->thread_metric_count++] =
            (struct fv_counted_thread_metric){ t->rank, t->thread, value, m->is_scaled };
    }
    m->threads = (uint32_t)(v->thread_metric_count - m->first_thread);
    p->rank = p->thread = FV_NONE;
}

static bool is_scaled_in(const struct sums *in)
{
    bool found = false;

    for (size_t i = 0; i < in->count && !found; i++)
        found = in->items[i].is_scaled;
    return found;
}

static uint32_t ranks_in(const struct sums *in)
{
    uint32_t most = 0;

    for (size_t i = 0; i < in->count; i++)
        most = in->items[i].ranks > most ? in->items[i].ranks : most;
    return most;
}

/* Of a metric that is a part of the whole. In sections of a few ns the counters count what reading them takes, which
 * the clock does not: nothing is known then. */
static double part(double value)
{
    const double rounding = 0.02;

    return value <= 1 ? value : value <= 1 + rounding ? 1 : NAN;
}

static void end_at_1(struct fv_counted_view *v, struct fv_counted_metric *m)
{
    m->value = part(m->value);
    m->outside_mpi = part(m->outside_mpi);
    m->of.mean = part(m->of.mean);
    m->of.min = part(m->of.min);
    m->of.max = part(m->of.max);
    for (size_t i = m->first_thread; i < m->first_thread + m->threads; i++)
        v->thread_metrics[i].value = part(v->thread_metrics[i].value);
}

static void make_metric(struct fv_counted_view *v, struct place *p, uint32_t scope, const struct fv_metric_row *row)
{
    struct fv_counted_metric m = { .scope = scope, .row = row };
    const char *formula = find_formula(p, row->formulas, &m.value);

    if (!formula)
        return;
    m.formula = fv_arena_bytes(&v->arena, formula, strcspn(formula, ";"));
    m.is_scaled = is_scaled_in(&p->sums);
    spread_metric(p, &m, formula);
    /* of the ranks that know the formula */
    m.peak = fv_metric_peak(row) ? fv_formula_value(fv_metric_peak(row), look_up, p) : NAN;
    add_threads(v, p, &m, formula);
    p->is_outside = true;
    m.outside_mpi = together(p, formula);
    p->is_outside = false;
    m.kind = kind_of(m.is_scaled, m.ranks < ranks_in(&p->sums));
    if (fv_metric_is_part(row))
        end_at_1(v, &m);
    FV_GROW(v->metrics, v->metric_room, v->metric_count + 1);
    v->metrics[v->metric_count++] = m;
}

static void make_metrics(struct fv_counted_view *v, size_t rank_count)
{
    struct place p = { .view = v,
                       .rank = FV_NONE,
                       .thread = FV_NONE,
                       .knows = fv_xcalloc(rank_count + 1, sizeof(*p.knows)),
                       .rank_count = rank_count };

    for (uint32_t scope = 0; scope < v->scope_count; scope++) {
        p.sums = sums_of(v, scope);
        for (size_t i = 0; i < fv_metric_row_count; i++)
            make_metric(v, &p, scope, &fv_metric_rows[i]);
    }
    free(p.knows);
}

/* Outside of MPI where that is known: what waits there spins. */
static double shown_value(const struct fv_counted_metric *m)
{
    return isnan(m->outside_mpi) ? m->value : m->outside_mpi;
}

static const struct fv_counted_metric *metric_named(const struct fv_counted_view *v, uint32_t scope, const char *name)
{
    size_t first = FV_COUNT_BEFORE(i, v->metric_count, v->metrics[i].scope < scope);

    for (size_t i = first; i < v->metric_count && v->metrics[i].scope == scope; i++)
        if (!strcmp(v->metrics[i].row->name, name))
            return &v->metrics[i];
    return NULL;
}

static void mark(const struct fv_counted_view *v, struct fv_counted_metric *m)
{
    for (size_t i = 0; i < fv_mark_row_count && !m->mark; i++) {
        const struct fv_mark_row *row = &fv_mark_rows[i];
        const struct fv_counted_metric *with = row->with ? metric_named(v, m->scope, row->with) : NULL;
        bool is_beyond = row->below ? shown_value(m) < row->limit : shown_value(m) > row->limit;

        if (!strcmp(row->metric, m->row->name) && is_beyond &&
            (!row->with || (with && shown_value(with) > row->with_limit)))
            m->mark = row->reason;
    }
}

static void *begin_counted(struct fv_build *b)
{
    find_scope(fv_model_counted(b->model), "all", 0);
    return fv_xcalloc(1, sizeof(struct gather));
}

static void finish_counted(struct fv_build *b, void *state)
{
    struct gather *g = state;

    fv_counted_finish(fv_model_counted(b->model), b->model->rank_count);
    fv_index_release(&g->values);
    fv_index_release(&g->in_phases);
    free(g->sections);
    free(g);
}

void fv_counted_finish(struct fv_counted_view *v, size_t rank_count)
{
    v->sum_count = v->whole_count = v->metric_count = v->thread_metric_count = 0;
    if (v->value_count)
        qsort(v->values, v->value_count, sizeof(*v->values), by_place);
    if (v->thread_count)
        qsort(v->threads, v->thread_count, sizeof(*v->threads), by_thread);
    make_sums(v);
    make_metrics(v, rank_count);
    for (size_t i = 0; i < v->metric_count; i++)
        mark(v, &v->metrics[i]);
}

/* An event that `to` has is its own. The new one of each; FV_NONE: it is not taken over. */
static void join_events(struct fv_counted_view *to, const struct fv_counted_view *from, uint32_t *numbers)
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

void fv_counted_join(struct fv_counted_view *to, const struct fv_counted_view *from, const uint32_t *ranks,
                     uint32_t *numbers)
{
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
}

const struct fv_track fv_track_counted = {
    .name = "counters",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_COUNTER_EVENTS, FV_CHUNK_COUNTER_VALUES, FV_CHUNK_COUNTER_PHASES },
    .begin = begin_counted,
    .read = read_counted,
    .finish = finish_counted,
    .needs = { "phases of threads" },
};

double fv_counted_of(const struct fv_counted_view *v, uint32_t scope, uint32_t rank, const char *quantity,
                     bool outside_mpi)
{
    const struct sums in = sums_of(v, scope);

    return known_in(v, sum_of(v, &in, fv_quantity_named(quantity, strlen(quantity))), rank, outside_mpi);
}

void fv_counted_set_peak(struct fv_counted_view *v, const char *metric, double peak)
{
    for (size_t i = 0; i < v->metric_count; i++)
        if (!strcmp(v->metrics[i].row->name, metric))
            v->metrics[i].peak = peak;
}

void fv_counted_release(struct fv_counted_view *v)
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
    fv_arena_release(&v->arena);
    *v = (struct fv_counted_view){ 0 };
}
