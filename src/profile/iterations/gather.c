/* SPDX-License-Identifier: BSD-3-Clause */
/* See gather.h. */
#include "profile/iterations/gather.h"

#include "profile/iterations/calls.h"
#include "profile/iterations/cutter.h"
#include "profile/iterations/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS_MOST (1u << 20) /* of a unit: later ones are not looked at */
#define LOADS_MOST      (1u << 24) /* iterations times ranks: of more, who was slowest is not known */
#define TENTHS          10         /* of a trend, the first part and the last */
#define BINS_LEAST      4          /* of waiting over time, in a row of iterations: in fewer it is not known */
#define CUT_OFF         0.1        /* of the iterations: that ranks may differ by, where their calls are cut off */

/* On one rank. */
struct cut {
    struct fv_cut of;
    double wait_s, preempted_s;
};
/* Over ranks. */
struct sum {
    double begin_s, duration_s, called_s, wait_s;
    double preempted_s; /* most of any rank */
};
struct series {
    uint32_t unit;
    struct fv_unit by;
    struct fv_cutter cutter;
    double before_s;                    /* end of the last call */
    struct cut *cuts;                   /* of the rank */
    size_t cut_count, cut_room, waited; /* waited: the iteration of the last wait */
    size_t dropped;                     /* iterations of the rank before the first of these */
    double first_end_s;                 /* when that ends on the first rank */
    struct sum *sums;
    size_t count, ranks; /* iterations; ranks that have as many */
    uint32_t *rank_of;
    float *load; /* [iteration][rank]; NULL: too many */
    uint8_t *class;
    struct part_calls {
        uint64_t all, of_rank, open; /* in iterations: of ranks that have as many, and of the present one, ... */
    } * calls;                       /* ... and in the one that is not over; by site; NULL: none */
    uint32_t *met;                   /* sites that have calls in that */
    size_t met_count, met_room;
    uint64_t ended, ended_of_rank; /* iterations whose calls these are: all but the last ones of ranks */
    struct fv_extra extra;
};
struct fv_iteration_gather {
    struct fv_build *build;
    struct series *items;
    size_t count, room;
    uint32_t rank, thread; /* the present one; FV_NONE */
    struct fv_iteration_symbols symbols;
};

static struct fv_iterations *iterations(const struct fv_iteration_gather *g)
{
    return fv_model_iterations(g->build->model);
}

struct fv_iteration_gather *fv_iteration_gather_new(struct fv_build *build)
{
    struct fv_iteration_gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = build;
    g->symbols = fv_iteration_symbols(build, fv_model_iterations(build->model)->traced);
    g->rank = FV_NONE;
    return g;
}

struct fv_iteration_symbols *fv_iteration_gather_symbols(struct fv_iteration_gather *g)
{
    return &g->symbols;
}

void fv_iteration_gather_free(struct fv_iteration_gather *g)
{
    for (size_t i = 0; g && i < g->count; i++) {
        fv_units_release(&g->items[i].by, 1);
        free(g->items[i].cuts);
        free(g->items[i].sums);
        free(g->items[i].rank_of);
        free(g->items[i].load);
        free(g->items[i].class);
        free(g->items[i].calls);
        free(g->items[i].met);
        fv_extra_release(&g->items[i].extra);
    }
    if (g) {
        free(g->items);
        fv_iteration_symbols_release(&g->symbols);
    }
    free(g);
}

/* Units that are not main ones have the times of one rank. */
void fv_iteration_gather_unit(struct fv_iteration_gather *g, uint32_t unit, const struct fv_unit *of)
{
    FV_GROW(g->items, g->room, g->count + 1);
    g->items[g->count++] = (struct series){ .unit = unit, .by = *of };
}

/* ---- a rank ---- */

static void add_cut(struct series *s, const struct fv_cut *cut)
{
    if (s->cut_count == ITERATIONS_MOST)
        return;
    FV_GROW(s->cuts, s->cut_room, s->cut_count + 1);
    s->cuts[s->cut_count++] = (struct cut){ .of = *cut };
}

/* Where it does not count them: behind the last iteration there may be other calls, so that its own are not known. */
static void end_calls(struct series *s, bool counts)
{
    for (size_t i = 0; i < s->met_count; i++) {
        struct part_calls *of = &s->calls[s->met[i]];

        of->of_rank += counts ? of->open : 0;
        of->open = 0;
    }
    s->met_count = 0;
    s->ended_of_rank += counts;
}

static void count_call(struct series *s, uint32_t symbol, uint32_t sites)
{
    if (!s->cutter.is_in || symbol >= sites)
        return;
    if (!s->calls)
        s->calls = fv_xcalloc(sites, sizeof(*s->calls));
    if (!s->calls[symbol].open++) {
        FV_GROW(s->met, s->met_room, s->met_count + 1);
        s->met[s->met_count++] = symbol;
    }
}

static void take_cut(void *context, const struct fv_iteration_call *call)
{
    struct fv_iteration_gather *g = context;
    struct fv_cut cut;

    for (size_t i = 0; i < g->count; i++) {
        struct series *s = &g->items[i];

        if (!s->by.is_main || s->cut_count == ITERATIONS_MOST)
            continue;
        const bool is_over = fv_cutter_call(&s->cutter, call->symbol, call->begin_s, call->end_s, &cut),
                   is_last = is_over && s->cutter.is_over; /* of the one that it ends */
        if (is_last)
            count_call(s, call->symbol, g->symbols.sites);
        if (is_over) {
            add_cut(s, &cut);
            end_calls(s, true);
        }
        if (!is_last)
            count_call(s, call->symbol, g->symbols.sites);
    }
}

static void add_calls(struct series *s, uint32_t sites)
{
    for (uint32_t i = 0; s->calls && i < sites; i++)
        s->calls[i].all += s->calls[i].of_rank;
    s->ended += s->ended_of_rank;
}

/* From when on all ranks have kept their traces. */
static double kept_from(const struct fv_build *b)
{
    double from_s = -INFINITY;

    for (uint32_t i = 0; i < b->shown; i++)
        from_s = fmax(from_s, b->model->ranks[i].trace_from_s); /* NAN: all of it */
    return from_s;
}

/* Traces that were kept begin anywhere: the second iteration that all have is the first one of each. When the very
 * first one of a rank began is not known. */
static void align_cuts(const struct fv_iteration_gather *g, struct series *s)
{
    const bool is_first = !s->sums;
    size_t at = 1;

    s->dropped = 0;
    if (!iterations(g)->is_kept || s->cut_count < 2)
        return;
    const double from_s = is_first ? kept_from(g->build) : s->first_end_s;
    while (at + 1 < s->cut_count &&
           (is_first ? s->cuts[at].of.begin_s < from_s
                     : fabs(s->cuts[at + 1].of.end_s - from_s) <= fabs(s->cuts[at].of.end_s - from_s)))
        at++;
    at += is_first && at + 1 < s->cut_count;
    memmove(s->cuts, s->cuts + at, (s->cut_count - at) * sizeof(*s->cuts));
    s->cut_count -= at;
    s->dropped = at;
    if (is_first)
        s->first_end_s = s->cuts[0].of.end_s;
}

/* The last iteration of each unit. */
static void end_cuts(struct fv_iteration_gather *g)
{
    struct fv_cut cut;

    for (size_t i = 0; i < g->count; i++) {
        struct series *s = &g->items[i];

        if (!s->by.is_main)
            continue;
        if (fv_cutter_end(&s->cutter, &cut))
            add_cut(s, &cut);
        align_cuts(g, s);
    }
}

/* Where the calls of ranks end anywhere, so do their iterations. */
static bool is_cut_off(const struct fv_iteration_gather *g, const struct series *s)
{
    return (iterations(g)->is_part || iterations(g)->is_kept) &&
           fabs((double)s->cut_count - (double)s->count) <= CUT_OFF * (double)s->count;
}

/* The rank's iterations join those of others, if there are as many. */
static void merge_rank(struct fv_iteration_gather *g, struct series *s)
{
    size_t shown = g->build->shown;

    if (!s->sums && s->cut_count) {
        s->count = s->cut_count;
        s->sums = fv_xcalloc(s->count, sizeof(*s->sums));
        s->rank_of = fv_xcalloc(shown, sizeof(*s->rank_of));
        if (s->count * shown <= LOADS_MOST)
            s->load = fv_xcalloc(s->count * shown, sizeof(*s->load));
    }
    if (is_cut_off(g, s))
        s->count = s->cut_count = s->cut_count < s->count ? s->cut_count : s->count;
    if (s->cut_count == s->count && s->count) {
        for (size_t i = 0; i < s->count; i++) {
            const struct fv_cut *c = &s->cuts[i].of;

            s->sums[i].begin_s += c->begin_s;
            s->sums[i].duration_s += c->end_s - c->begin_s;
            s->sums[i].called_s += c->called_s;
            s->sums[i].wait_s += s->cuts[i].wait_s;
            s->sums[i].preempted_s = fmax(s->sums[i].preempted_s, s->cuts[i].preempted_s);
            if (s->load)
                s->load[i * shown + s->ranks] = (float)fmax(c->end_s - c->begin_s - c->called_s, 0);
        }
        s->rank_of[s->ranks++] = g->rank;
        add_calls(s, g->symbols.sites);
    }
}

static void begin_cutting(struct fv_iteration_gather *g)
{
    for (size_t i = 0; i < g->count; i++) {
        g->items[i].cutter = fv_cutter(g->items[i].by.cut);
        g->items[i].before_s = -INFINITY;
    }
}

static void begin_series(struct series *s, uint32_t sites)
{
    s->cut_count = s->waited = 0;
    end_calls(s, false);
    for (uint32_t i = 0; s->calls && i < sites; i++)
        s->calls[i].of_rank = 0;
    s->ended_of_rank = 0;
}

static void begin_rank(struct fv_iteration_gather *g, uint32_t rank)
{
    g->rank = rank;
    g->thread = fv_iteration_thread(g->build->model, rank);
    for (size_t i = 0; i < g->count; i++)
        begin_series(&g->items[i], g->symbols.sites);
    begin_cutting(g);
}

static void end_rank(struct fv_iteration_gather *g)
{
    for (size_t i = 0; i < g->count && g->rank != FV_NONE; i++)
        merge_rank(g, &g->items[i]);
    g->rank = FV_NONE;
}

void fv_iteration_gather_rank(struct fv_iteration_gather *g, uint32_t rank)
{
    end_rank(g);
    begin_rank(g, rank);
    fv_iteration_calls(g->build, rank, iterations(g)->traced, &g->symbols, take_cut, g);
    end_cuts(g);
}

void fv_iteration_gather_wait(struct fv_iteration_gather *g, uint32_t rank, uint32_t thread, double begin_s,
                              double wait_s, double preempted_s)
{
    if (rank != g->rank || thread != g->thread)
        return;
    for (size_t i = 0; i < g->count; i++) {
        struct series *s = &g->items[i];

        while (s->waited < s->cut_count && begin_s >= s->cuts[s->waited].of.end_s)
            s->waited++;
        if (s->waited == s->cut_count || begin_s < s->cuts[s->waited].of.begin_s)
            continue;
        s->cuts[s->waited].wait_s += wait_s;
        s->cuts[s->waited].preempted_s += preempted_s;
    }
}

/* ---- all ranks ---- */

static void add_load(const struct series *s, size_t i, size_t shown, double *sums)
{
    for (size_t k = 0; k < s->ranks; k++)
        sums[k] += (double)s->load[i * shown + k];
}

/* Neighbouring iterations, `from` to `to`, as one row. */
static struct fv_iteration_number number_of(const struct fv_iteration_gather *g, const struct series *s, size_t from,
                                            size_t to, double *loads)
{
    const double n = (double)(to - from) * (double)s->ranks;
    const bool traced = iterations(g)->traced;
    double sum = 0;
    size_t most = 0;
    struct fv_iteration_number row = { .unit = s->unit,
                                       .merged = (uint32_t)(to - from),
                                       .number = from,
                                       .begin_s = s->sums[from].begin_s / (double)s->ranks,
                                       .imbalance_s = NAN,
                                       .slowest = FV_NONE };

    for (size_t k = 0; k < s->ranks; k++)
        loads[k] = 0;
    for (size_t i = from; i < to; i++) {
        row.duration_s += s->sums[i].duration_s / n;
        row.mpi_s += s->sums[i].called_s / n;
        row.wait_s += s->sums[i].wait_s / n;
        row.longest_s = fmax(row.longest_s, s->sums[i].duration_s / (double)s->ranks);
        if (s->load)
            add_load(s, i, g->build->shown, loads);
    }
    row.computing_s = traced ? row.duration_s - row.mpi_s : NAN;
    row.mpi_s = traced ? row.mpi_s : NAN;
    row.wait_s = iterations(g)->is_part ? NAN : row.wait_s;
    for (size_t k = 0; k < s->ranks; k++) {
        sum += loads[k];
        most = loads[k] > loads[most] ? k : most;
    }
    if (s->load && s->ranks > 1) {
        row.imbalance_s = (loads[most] - sum / (double)s->ranks) / (double)(to - from);
        row.slowest = s->rank_of[most];
    }
    return row;
}

static void add_numbers(struct fv_iteration_gather *g, struct series *s, struct fv_iteration_unit *u)
{
    struct fv_iterations *it = iterations(g);
    size_t step = (s->count + FV_ITERATION_ROWS - 1) / FV_ITERATION_ROWS;
    double *loads = fv_xcalloc(s->ranks + 1, sizeof(*loads));

    u->first_number = (uint32_t)it->number_count;
    for (size_t i = 0; i < s->count; i += step) {
        FV_GROW(it->numbers, it->number_room, it->number_count + 1);
        it->numbers[it->number_count++] = number_of(g, s, i, i + step < s->count ? i + step : s->count, loads);
    }
    u->numbers = (uint32_t)it->number_count - u->first_number;
    free(loads);
}

static void add_parts(struct fv_iteration_gather *g, const struct series *s)
{
    struct fv_iterations *it = iterations(g);

    for (uint32_t i = 0; it->traced && s->calls && i < g->symbols.sites; i++)
        if (s->calls[i].all) {
            FV_GROW(it->parts, it->part_room, it->part_count + 1);
            it->parts[it->part_count++] =
                (struct fv_iteration_part){ s->unit, i, (double)s->calls[i].all / (double)s->ended };
        }
}

/* Which are compared: long ones with others; of a trend the last tenth with the first. */
static void classify(struct series *s, const struct fv_iteration_times *t, const double *seconds)
{
    s->class = fv_xcalloc(s->count, 1);
    for (size_t i = 0; i < s->count; i++) {
        bool in_phase = t->period && i % t->period == t->phase, is_long = seconds[i] > t->limit_s;
        size_t part = i * TENTHS / s->count;

        if (t->step)
            s->class[i] = i < t->step ? FV_EXTRA_OTHER : FV_EXTRA_LONG;
        else if (t->is_trend)
            s->class[i] = part == 0 ? FV_EXTRA_OTHER : part == TENTHS - 1 ? FV_EXTRA_LONG : FV_EXTRA_NEITHER;
        else if (t->period)
            s->class[i] = in_phase ? FV_EXTRA_LONG : is_long ? FV_EXTRA_NEITHER : FV_EXTRA_OTHER;
        else
            s->class[i] = is_long ? FV_EXTRA_LONG : FV_EXTRA_OTHER;
        s->extra.classes[s->class[i]]++;
    }
    if (t->is_trend && t->first_s > t->last_s)
        s->extra.classes[FV_EXTRA_LONG] = 0; /* they become shorter */
}

/* The rows of the ranks that are left out of `load` stand behind those that are in it. */
static void pack_load(struct series *s, size_t shown)
{
    for (size_t i = 0; s->load && i < s->count; i++)
        memmove(s->load + i * s->ranks, s->load + i * shown, s->ranks * sizeof(*s->load));
}

static void judge(struct fv_iteration_gather *g, struct series *s)
{
    struct fv_iteration_unit *u = &iterations(g)->units[s->unit];
    double *seconds = fv_xcalloc(s->count + 1, sizeof(*seconds)), called_s = 0, n;
    double *undisturbed = fv_xcalloc(s->count + 1, sizeof(*undisturbed));

    add_numbers(g, s, u);
    add_parts(g, s);
    u->count = s->count;
    u->ranks = (uint32_t)s->ranks;
    u->wait_s = 0;
    n = (double)s->count * (double)s->ranks;
    for (size_t i = 0; i < s->count; i++) {
        seconds[i] = s->sums[i].duration_s / (double)s->ranks;
        undisturbed[i] = fmax(seconds[i] - s->sums[i].preempted_s, 0);
        called_s += s->sums[i].called_s / n;
        u->wait_s += s->sums[i].wait_s / n;
    }
    u->times = fv_judge_disturbed(seconds, undisturbed, s->count);
    u->longest_at_s = s->sums[u->times.longest].begin_s / (double)s->ranks;
    u->begin_s = s->sums[0].begin_s / (double)s->ranks;
    u->end_s = (s->sums[s->count - 1].begin_s + s->sums[s->count - 1].duration_s) / (double)s->ranks;
    if (iterations(g)->is_part) { /* waiting and noise are not known of all calls */
        u->wait_s = NAN;
        u->times.is_exact = false;
    }
    u->mpi_s = iterations(g)->traced ? called_s : NAN;
    u->computing_s = iterations(g)->traced ? u->times.mean_s - called_s : NAN;
    pack_load(s, g->build->shown);
    if (s->load)
        u->load = fv_judge_load(s->load, s->ranks, seconds, s->count);
    s->extra.depth = s->by.depth;
    s->extra.ranks = s->ranks;
    s->extra.sites = g->symbols.sites;
    s->extra.call = s->by.call;
    s->extra.nodes = fv_xcalloc(g->symbols.sites + 1, sizeof(*s->extra.nodes));
    for (uint32_t i = 0; i < g->symbols.sites; i++)
        s->extra.nodes[i] = g->build->model->sites[i].node;
    classify(s, &u->times, seconds);
    free(seconds);
    free(undisturbed);
}

void fv_iteration_gather_judge(struct fv_iteration_gather *g)
{
    end_rank(g);
    for (size_t i = 0; i < g->count; i++)
        if (g->items[i].ranks)
            judge(g, &g->items[i]);
}

/* ---- what long ones have more ---- */

static bool has_longs(const struct series *s)
{
    return s->extra.classes[FV_EXTRA_LONG] && s->extra.classes[FV_EXTRA_OTHER];
}

static void take_cause(void *context, const struct fv_iteration_call *call)
{
    struct fv_iteration_gather *g = context;
    struct fv_cut cut;

    for (size_t i = 0; i < g->count; i++) {
        struct series *s = &g->items[i];
        double before = s->before_s;

        s->before_s = call->end_s;
        if (!has_longs(s))
            continue;
        fv_cutter_call(&s->cutter, call->symbol, call->begin_s, call->end_s, &cut);
        if (!s->cut_count || call->end_s > s->cuts[s->cut_count - 1].of.end_s) /* behind the last iteration */
            continue;
        const size_t number = s->cutter.number - s->dropped; /* less than 0: more than there are */
        if (!s->cutter.is_in || number >= s->count || call->symbol >= g->symbols.sites)
            continue;
        const struct fv_extra_iteration in = { number, s->class[number],
                                               s -> sums[number].duration_s / (double)s->ranks };
        fv_extra_call(&s->extra, call->symbol, in, isfinite(before) ? call->begin_s - before : 0,
                      call->end_s - call->begin_s);
    }
}

static void read_samples(struct fv_iteration_gather *g, const struct series *s, uint32_t rank)
{
    struct fv_iteration_span *spans = fv_xcalloc(s->count + 1, sizeof(*spans));
    size_t count = 0;

    for (size_t i = 0; i < s->cut_count && i < s->count; i++)
        if (s->class[i] != FV_EXTRA_NEITHER)
            spans[count++] =
                (struct fv_iteration_span){ s->cuts[i].of.begin_s, s->cuts[i].of.end_s, s->class[i] == FV_EXTRA_LONG };
    fv_iteration_samples_read(g->build, rank, g->thread, s->unit, spans, count);
    free(spans);
}

/* Does the rank have as many iterations as others? */
static bool takes(const struct series *s, uint32_t rank)
{
    for (size_t i = 0; i < s->ranks; i++)
        if (s->rank_of[i] == rank)
            return true;
    return false;
}

static void end_causes(struct fv_iteration_gather *g, struct series *s, uint32_t rank)
{
    bool counts = takes(s, rank);

    fv_extra_end_rank(&s->extra, rank, counts);
    if (counts)
        read_samples(g, s, rank);
}

/* ---- waiting of each, by the trace's analysis ---- */

static double waited_between(const struct fv_wait_bins *bins, double bin_s, double begin_s, double end_s)
{
    const double first = fmax(begin_s, 0) / bin_s;
    double sum_s = 0;

    for (size_t i = first < (double)bins->count ? (size_t)first : bins->count;
         i < bins->count && (double)i * bin_s < end_s; i++) {
        const double from_s = fmax(begin_s, (double)i * bin_s), to_s = fmin(end_s, (double)(i + 1) * bin_s);

        sum_s += bins->wait_s[i] * fmax(to_s - from_s, 0) / bin_s;
    }
    return sum_s;
}

/* Of a rank that has as many iterations as others. */
static void add_waiting(const struct fv_iteration_gather *g, const struct series *s, uint32_t rank)
{
    const struct fv_causes *c = &g->build->model->causes;
    const struct fv_iteration_unit *u = &iterations(g)->units[s->unit];
    struct fv_iteration_number *rows = iterations(g)->numbers + u->first_number;

    for (size_t i = 0, row = 0; i < s->count && i < s->cut_count; i++) {
        row += row + 1 < u->numbers && i == rows[row + 1].number;
        const struct fv_cut *cut = &s->cuts[i].of;
        const double rows_s = rows[row].duration_s * rows[row].merged;

        if (!c->bins[rank].wait_s || rows_s < BINS_LEAST * c->bin_s || cut->begin_s < c->bins_from_s - c->bin_s)
            rows[row].analysed_s = NAN;
        else
            rows[row].analysed_s +=
                fmin(waited_between(&c->bins[rank], c->bin_s, cut->begin_s, cut->end_s), cut->called_s) /
                ((double)rows[row].merged * (double)s->ranks);
    }
}

/* ---- a rank once more ---- */

void fv_iteration_gather_causes(struct fv_iteration_gather *g, uint32_t rank)
{
    const bool has_bins = iterations(g)->traced && g->build->model->causes.bin_s > 0;
    bool any = false;

    for (size_t i = 0; i < g->count; i++)
        any |= has_longs(&g->items[i]);
    if (!any && !has_bins)
        return;
    begin_rank(g, rank);
    fv_iteration_calls(g->build, rank, iterations(g)->traced, &g->symbols, take_cut, g);
    end_cuts(g);
    for (size_t i = 0; has_bins && i < g->count; i++)
        if (takes(&g->items[i], rank))
            add_waiting(g, &g->items[i], rank);
    if (!any)
        return;
    begin_cutting(g);
    fv_iteration_calls(g->build, rank, iterations(g)->traced, &g->symbols, take_cause, g);
    for (size_t i = 0; i < g->count; i++)
        if (has_longs(&g->items[i]))
            end_causes(g, &g->items[i], rank);
}

struct fv_extra fv_iteration_gather_extra(struct fv_iteration_gather *g, uint32_t unit)
{
    struct fv_extra none = { .sites = 0 }, extra;

    for (size_t i = 0; i < g->count; i++)
        if (g->items[i].unit == unit) {
            extra = g->items[i].extra;
            g->items[i].extra = none;
            return extra;
        }
    return none;
}
