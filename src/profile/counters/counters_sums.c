/* SPDX-License-Identifier: BSD-3-Clause */
/* See counters.h: sums over ranks, and metrics of them. */
#include "profile/counters/counters.h"
#include "profile/sections/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- over ranks ---- */

static int by_place(const void *a, const void *b)
{
    const struct fv_counts_value *x = a, *y = b;

    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_thread(const void *a, const void *b)
{
    const struct fv_counts_thread *x = a, *y = b;

    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void add_to_spread(struct fv_counts_spread *s, double value, uint32_t rank)
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

static const struct fv_counts_spread no_spread = { NAN, NAN, NAN, FV_NONE, FV_NONE };

/* Sums are of the ranks that know, the spread of those that know all of their threads. */
static void sum_up(struct fv_counts *v, struct fv_counts_sum *s)
{
    double longest_s = 0, whole_sum = 0;
    size_t known = 0, whole = 0;

    s->of = no_spread;
    s->sum = s->in_mpi = 0;
    for (uint32_t i = 0; i < s->ranks; i++) {
        const struct fv_counts_value *of = &v->values[s->first + i];

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
    s->kind = fv_counts_kind_of(s->is_scaled, s->missing || known < s->ranks);
    if (!known)
        s->sum = s->in_mpi = NAN;
    s->of.mean = whole ? whole_sum / (double)whole : NAN;
    s->rate = longest_s > 0 ? s->sum / longest_s : NAN;
}

/* Of the whole program each event has one, if nobody counted it, too. */
static void make_sums(struct fv_counts *v)
{
    size_t at = 0, thread = 0;

    for (uint32_t event = 0; at < v->value_count || event < v->event_count; event++) {
        bool is_whole = event < v->event_count;
        struct fv_counts_sum s = { .event = event, .first = (uint32_t)at, .first_thread = (uint32_t)thread };

        if (!is_whole) {
            s.scope = v->values[at].scope;
            s.event = v->values[at].event;
        }
        for (; at < v->value_count && v->values[at].scope == s.scope && v->values[at].event == s.event; at++)
            s.ranks++;
        for (; thread < v->thread_count && v->threads[thread].scope == s.scope && v->threads[thread].event == s.event;
             thread++)
            s.threads++;
        sum_up(v, &s);
        FV_GROW(v->sums, v->sum_room, v->sum_count + 1);
        v->sums[v->sum_count++] = s;
        v->whole_count += is_whole;
    }
}

/* ---- metrics ---- */

/* A part of fv_counts.sums: those of a scope, by event. */
struct sums {
    const struct fv_counts_sum *items;
    size_t count;
};

static struct sums sums_of(const struct fv_counts *v, uint32_t scope)
{
    size_t first = FV_COUNT_BEFORE(i, v->sum_count, v->sums[i].scope < scope),
           end = FV_COUNT_BEFORE(i, v->sum_count, v->sums[i].scope <= scope);

    return first < end ? (struct sums){ v->sums + first, end - first } : (struct sums){ 0 };
}

static const struct fv_counts_sum *sum_of(const struct fv_counts *v, const struct sums *in,
                                          const struct fv_quantity *quantity)
{
    for (size_t i = 0; quantity && i < in->count; i++)
        if (v->events[in->items[i].event].quantity == quantity)
            return &in->items[i];
    return NULL;
}

/* Where all ranks counted, a rank's place is its number. */
static const struct fv_counts_value *value_in(const struct fv_counts *v, const struct fv_counts_sum *s, uint32_t rank)
{
    const struct fv_counts_value *values = s->ranks ? v->values + s->first : NULL;

    if (rank < s->ranks && values[rank].rank == rank)
        return &values[rank];
    size_t at = FV_COUNT_BEFORE(i, s->ranks, values[i].rank < rank);
    return at < s->ranks && values[at].rank == rank ? &values[at] : NULL;
}

/* NAN: it is not known of all of its threads. */
static double known_in(const struct fv_counts *v, const struct fv_counts_sum *s, uint32_t rank, bool is_outside)
{
    const struct fv_counts_value *of = s ? value_in(v, s, rank) : NULL;

    return !of || of->missing ? NAN : is_outside ? of->value - of->in_mpi : of->value;
}

/* By the first event that the rank counted. */
static double time_in(const struct fv_counts *v, const struct sums *in, uint32_t rank, bool of_threads)
{
    const struct fv_counts_value *of = NULL;

    for (size_t i = 0; i < in->count && !of; i++)
        of = value_in(v, &in->items[i], rank);
    double time_s = !of ? 0 : of_threads ? of->thread_time_s : of->time_s;
    return time_s > 0 ? time_s : NAN;
}

/* Where names of a formula are looked up: a rank's values, with `thread` one thread's, or those of the ranks that know
 * all of the formula; FV_NONE: not of one. */
struct place {
    const struct fv_counts *view;
    struct sums sums;
    uint32_t rank, thread;
    bool is_outside;
    bool *knows; /* by rank */
    size_t rank_count;
};

/* What a name is. */
struct name {
    bool is_time, of_threads;
    const struct fv_counts_sum *sum; /* NULL: it is time, or there is none */
};

static bool is_name(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(name, word, length);
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
static bool is_before(const struct fv_counts_thread *t, uint32_t rank, uint32_t thread)
{
    return t->rank != rank ? t->rank < rank : t->thread < thread;
}

/* NULL: it did not count that. */
static const struct fv_counts_thread *thread_in(const struct place *p, const struct fv_counts_sum *sum)
{
    const struct fv_counts_thread *threads = sum && sum->threads ? p->view->threads + sum->first_thread : NULL;
    size_t count = threads ? sum->threads : 0,
           at = FV_COUNT_BEFORE(i, count, is_before(&threads[i], p->rank, p->thread));

    return at < count && threads[at].rank == p->rank && threads[at].thread == p->thread ? &threads[at] : NULL;
}

/* Its time is that of the first event which it counted. */
static double of_thread(const struct place *p, const struct name *n)
{
    const struct fv_counts_thread *of = n->is_time ? NULL : thread_in(p, n->sum);

    for (size_t i = 0; n->is_time && i < p->sums.count && !of; i++)
        of = thread_in(p, &p->sums.items[i]);
    return !of ? NAN : !n->is_time ? of->value : of->time_s > 0 ? of->time_s : NAN;
}

/* Who does not know it does not know the formula. */
static double note_name(const void *context, const char *name, size_t length)
{
    const struct place *p = context;
    double number;

    if (fv_processor_number(p->view->processor, name, length, &number))
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

    if (fv_processor_number(p->view->processor, name, length, &number))
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
static void spread_metric(struct fv_counts *v, struct place *p, struct fv_counts_metric *m, const char *formula)
{
    double sum = 0;
    size_t count = 0;

    m->of = no_spread;
    m->first_rank = (uint32_t)v->rank_metric_count;
    for (p->rank = 0; p->rank < p->rank_count; p->rank++) {
        if (!p->knows[p->rank])
            continue;
        double value = fv_formula_value(formula, look_up, p);

        m->ranks++;
        FV_GROW(v->rank_metrics, v->rank_metric_room, v->rank_metric_count + 1);
        v->rank_metrics[v->rank_metric_count++] = (struct fv_counts_rank_metric){ p->rank, value };
        add_to_spread(&m->of, value, p->rank);
        sum += isnan(value) ? 0 : value;
        count += !isnan(value);
    }
    p->rank = FV_NONE;
    m->of.mean = count ? sum / (double)count : NAN;
}

/* Threads that counted the event which most counted. */
static void add_threads(struct fv_counts *v, struct place *p, struct fv_counts_metric *m, const char *formula)
{
    const struct fv_counts_sum *most = p->sums.items; /* a formula has one at least */

    for (size_t i = 1; i < p->sums.count; i++)
        most = p->sums.items[i].threads > most->threads ? &p->sums.items[i] : most;
    m->first_thread = (uint32_t)v->thread_metric_count;
    for (size_t i = 0; i < most->threads; i++) {
        const struct fv_counts_thread *t = &v->threads[most->first_thread + i];

        p->rank = t->rank;
        p->thread = t->thread;
        double value = fv_formula_value(formula, look_up, p);
        if (isnan(value))
            continue;
        FV_GROW(v->thread_metrics, v->thread_metric_room, v->thread_metric_count + 1);
        v->thread_metrics[v->thread_metric_count++] =
            (struct fv_counts_thread_metric){ t->rank, t->thread, value, m->is_scaled };
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

static void end_at_1(struct fv_counts *v, struct fv_counts_metric *m)
{
    m->value = part(m->value);
    m->outside_mpi = part(m->outside_mpi);
    m->of.mean = part(m->of.mean);
    m->of.min = part(m->of.min);
    m->of.max = part(m->of.max);
    for (size_t i = m->first_thread; i < m->first_thread + m->threads; i++)
        v->thread_metrics[i].value = part(v->thread_metrics[i].value);
    for (size_t i = m->first_rank; i < m->first_rank + m->ranks; i++)
        v->rank_metrics[i].value = part(v->rank_metrics[i].value);
}

static void make_metric(struct fv_counts *v, struct place *p, uint32_t scope, const struct fv_metric_row *row)
{
    struct fv_counts_metric m = { .scope = scope, .row = row };
    const char *formula = find_formula(p, row->formulas, &m.value);

    if (!formula)
        return;
    m.formula = fv_arena_bytes(&v->arena, formula, strcspn(formula, ";"));
    m.is_scaled = is_scaled_in(&p->sums);
    spread_metric(v, p, &m, formula);
    /* of the ranks that know the formula */
    m.peak = fv_metric_peak(row) ? fv_formula_value(fv_metric_peak(row), look_up, p) : NAN;
    add_threads(v, p, &m, formula);
    p->is_outside = true;
    m.outside_mpi = together(p, formula);
    p->is_outside = false;
    m.kind = fv_counts_kind_of(m.is_scaled, m.ranks < ranks_in(&p->sums));
    if (fv_metric_is_part(row))
        end_at_1(v, &m);
    FV_GROW(v->metrics, v->metric_room, v->metric_count + 1);
    v->metrics[v->metric_count++] = m;
}

static void make_metrics(struct fv_counts *v, size_t rank_count)
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
static double shown_value(const struct fv_counts_metric *m)
{
    return isnan(m->outside_mpi) ? m->value : m->outside_mpi;
}

static const struct fv_metric_row *row_named(const char *name)
{
    for (size_t i = 0; i < fv_metric_row_count; i++)
        if (*fv_metric_rows[i].name == *name && !strcmp(fv_metric_rows[i].name, name))
            return &fv_metric_rows[i];
    return NULL;
}

static bool is_before_metric(const struct fv_counts_metric *m, uint32_t scope, const struct fv_metric_row *row)
{
    return m->scope != scope ? m->scope < scope : m->row < row;
}

const struct fv_counts_metric *fv_counts_metric_named(const struct fv_counts *v, uint32_t scope, const char *name)
{
    const struct fv_metric_row *row = row_named(name);
    size_t at = FV_COUNT_BEFORE(i, v->metric_count, is_before_metric(&v->metrics[i], scope, row));

    return row && at < v->metric_count && v->metrics[at].scope == scope && v->metrics[at].row == row ? &v->metrics[at]
                                                                                                     : NULL;
}

static bool is_before_thread(const struct fv_counts_thread_metric *t, uint32_t rank, uint32_t thread)
{
    return t->rank != rank ? t->rank < rank : t->thread < thread;
}

double fv_counts_metric_of(const struct fv_counts *v, const struct fv_counts_metric *m, uint32_t rank, uint32_t thread)
{
    size_t at;

    if (!(thread == FV_NONE ? m->ranks : m->threads))
        return NAN;
    if (thread == FV_NONE) {
        const struct fv_counts_rank_metric *ranks = v->rank_metrics + m->first_rank;

        at = FV_COUNT_BEFORE(i, m->ranks, ranks[i].rank < rank);
        return at < m->ranks && ranks[at].rank == rank ? ranks[at].value : NAN;
    }
    const struct fv_counts_thread_metric *threads = v->thread_metrics + m->first_thread;
    at = FV_COUNT_BEFORE(i, m->threads, is_before_thread(&threads[i], rank, thread));
    return at < m->threads && threads[at].rank == rank && threads[at].thread == thread ? threads[at].value : NAN;
}

static void mark(const struct fv_counts *v, struct fv_counts_metric *m)
{
    for (size_t i = 0; i < fv_mark_row_count && !m->mark; i++) {
        const struct fv_mark_row *row = &fv_mark_rows[i];
        const struct fv_counts_metric *with = row->with ? fv_counts_metric_named(v, m->scope, row->with) : NULL;
        double value = row->kind == FV_OF_PEAK ? shown_value(m) / m->peak : shown_value(m);
        bool is_beyond = row->kind == FV_BELOW ? value < row->limit : value > row->limit;

        if (!strcmp(row->metric, m->row->name) && is_beyond &&
            (!row->with || (with && shown_value(with) > row->with_limit)))
            m->mark = row->reason;
    }
}

void fv_counts_finish(struct fv_counts *v, size_t rank_count)
{
    v->sum_count = v->whole_count = v->metric_count = v->thread_metric_count = v->rank_metric_count = 0;
    if (v->value_count)
        qsort(v->values, v->value_count, sizeof(*v->values), by_place);
    if (v->thread_count)
        qsort(v->threads, v->thread_count, sizeof(*v->threads), by_thread);
    make_sums(v);
    make_metrics(v, rank_count);
    for (size_t i = 0; i < v->metric_count; i++)
        mark(v, &v->metrics[i]);
}

double fv_counts_of(const struct fv_counts *v, uint32_t scope, uint32_t rank, const char *quantity, bool outside_mpi)
{
    const struct sums in = sums_of(v, scope);

    return known_in(v, sum_of(v, &in, fv_quantity_named(quantity, strlen(quantity))), rank, outside_mpi);
}

double fv_counts_of_thread(const struct fv_counts *v, uint32_t scope, uint32_t rank, uint32_t thread,
                           const char *quantity)
{
    const struct place p = { .view = v, .sums = sums_of(v, scope), .rank = rank, .thread = thread };
    const struct fv_counts_thread *of =
        thread_in(&p, sum_of(v, &p.sums, fv_quantity_named(quantity, strlen(quantity))));

    return of ? of->value : NAN;
}

uint32_t fv_counts_scope_of(const struct fv_counts *v, const struct fv_section_view *s)
{
    for (uint32_t i = s->whole ? 0 : 1; i < v->scope_count; i++)
        if (s->whole || (v->scopes[i].number == s->number && !strcmp(v->scopes[i].name, s->name)))
            return i;
    return FV_NONE;
}

void fv_counts_set_peak(struct fv_counts *v, const char *metric, double peak)
{
    for (size_t i = 0; i < v->metric_count; i++)
        if (!strcmp(v->metrics[i].row->name, metric)) {
            v->metrics[i].peak = peak;
            mark(v, &v->metrics[i]);
        }
}

bool fv_counts_fill_sheets(const struct fv_counts *v)
{
    static const char *const metrics[] = { "backend_bound", "frontend_bound", "load_share", "l1d_miss_share" };

    for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
        if (fv_counts_metric_named(v, 0, metrics[i]))
            return true;
    return false;
}
