/* SPDX-License-Identifier: BSD-3-Clause */
/* See iterations.h: the tracks. The first reads the calls of one rank and finds what repeats. The second cuts the
 * calls of each rank there, and the third looks for what long iterations have more than others. */
#include "profile/iterations/iterations.h"

#include "profile/iterations/calls.h"
#include "profile/iterations/cutter.h"
#include "profile/iterations/gather.h"
#include "profile/iterations/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MOST     (1u << 21) /* of the sequence that is searched */
#define TRACED_MOST    (1u << 24) /* calls of all ranks: a longer trace is not read for this */
#define BINS_LEAST     4          /* of waiting over time, in a row of iterations: in fewer it is not known */
#define MESSAGES_LEAST 100        /* calls of a rank: fewer are no loop worth a word */
#define FEW            0.1        /* of its calls */
#define RANKS_LOOKED   2          /* in which units are looked for, until some are found */

/* ---- what repeats ---- */

struct sequence {
    uint32_t *symbol;
    double *begin_s, *end_s;
    size_t count, symbol_room, begin_room, end_room;
};

struct search {
    unsigned looked;
    size_t calls; /* that were looked at, of a rank at most */
};

static void take_call(void *context, const struct fv_iteration_call *call)
{
    struct sequence *s = context;

    if (s->count == CALLS_MOST)
        return;
    FV_GROW(s->symbol, s->symbol_room, s->count + 1);
    FV_GROW(s->begin_s, s->begin_room, s->count + 1);
    FV_GROW(s->end_s, s->end_room, s->count + 1);
    s->symbol[s->count] = call->symbol;
    s->begin_s[s->count] = call->begin_s;
    s->end_s[s->count++] = call->end_s;
}

/* The innermost frame of a symbol. */
static uint32_t node_of(const struct fv_model *m, const struct fv_iteration_symbols *symbols, uint32_t symbol)
{
    if (symbol < symbols->sites)
        return m->sites[symbol].node;
    return symbol == symbols->sites ? 0 : symbols->node[symbol - symbols->sites - 1];
}

/* Of each symbol, outermost frame first. */
static struct fv_unit_path *paths_of(const struct fv_model *m, const struct fv_iteration_symbols *symbols,
                                     uint32_t **nodes)
{
    struct fv_unit_path *paths = fv_xcalloc(symbols->count, sizeof(*paths));
    size_t count = 0, room = 0, *first = fv_xcalloc(symbols->count, sizeof(*first));

    *nodes = NULL;
    for (uint32_t i = 0; i < symbols->count; i++) {
        first[i] = count;
        for (uint32_t n = node_of(m, symbols, i); n; n = m->tree.nodes[n].parent)
            paths[i].depth++;
        FV_GROW(*nodes, room, count + paths[i].depth);
        count += paths[i].depth;
        for (uint32_t n = node_of(m, symbols, i), k = 0; n; n = m->tree.nodes[n].parent)
            (*nodes)[count - ++k] = n;
    }
    for (uint32_t i = 0; i < symbols->count; i++)
        paths[i].nodes = *nodes ? *nodes + first[i] : NULL;
    free(first);
    return paths;
}

/* How long each of a unit is on this rank, to be freed. */
static double *seconds_in(const struct sequence *s, const struct fv_unit *unit, size_t *count)
{
    struct fv_cutter c = fv_cutter(unit->cut);
    double *seconds = NULL;
    size_t n = 0, room = 0;
    struct fv_cut cut;

    for (size_t i = 0; i <= s->count; i++) {
        if (i == s->count ? !fv_cutter_end(&c, &cut)
                          : !fv_cutter_call(&c, s->symbol[i], s->begin_s[i], s->end_s[i], &cut))
            continue;
        FV_GROW(seconds, room, n + 1);
        seconds[n++] = cut.end_s - cut.begin_s;
    }
    *count = n;
    return seconds;
}

/* Times of a unit, by this rank alone. */
static struct fv_iteration_times times_in(const struct sequence *s, const struct fv_unit *unit)
{
    size_t count;
    double *seconds = seconds_in(s, unit, &count);
    struct fv_iteration_times times = fv_judge_times(seconds, count);

    free(seconds);
    return times;
}

static void put_together(const struct sequence *s, struct fv_unit *unit)
{
    size_t count;
    double *seconds = seconds_in(s, unit, &count);

    if (fv_cut_together(seconds, count, &unit->cut))
        unit->count = (count - unit->cut.lead) / unit->cut.each;
    free(seconds);
}

/* Of each site: ranks that have as many calls there; of a frame: ranks that have been there. Parts of sites are not in
 * order yet, but by rank. */
static uint32_t *spread_of(const struct fv_build *b, uint32_t rank, const struct fv_iteration_symbols *symbols)
{
    const struct fv_model *m = b->model;
    uint64_t *calls = fv_xcalloc(m->site_count + 1, sizeof(*calls));
    uint32_t *spread = fv_xcalloc(symbols->count, sizeof(*spread)), *seen = fv_xcalloc(symbols->count, sizeof(*seen));

    for (size_t i = 0; i < m->site_rank_count; i++)
        if (m->site_ranks[i].rank == rank)
            calls[m->site_ranks[i].site] = m->site_ranks[i].stat.calls;
    for (size_t i = 0; i < m->site_rank_count; i++) {
        const struct fv_site_rank *part = &m->site_ranks[i];

        if (part->rank >= b->shown)
            continue;
        spread[part->site] += part->stat.calls == calls[part->site];
        for (uint32_t n = m->sites[part->site].node, s; n; n = m->tree.nodes[n].parent) {
            if ((s = symbols->of_node[n]) == FV_NONE)
                continue;
            if (seen[s] == part->rank + 1)
                break; /* and so have all that are outside of it */
            seen[s] = part->rank + 1;
            spread[s]++;
        }
    }
    free(calls);
    free(seen);
    return spread;
}

static void add_unit(struct fv_build *b, const struct sequence *s, const struct fv_unit *u, uint32_t inside)
{
    struct fv_iterations *it = fv_model_iterations(b->model);
    const struct fv_iteration_unit made = { .site = u->call,
                                            .node =
                                                fv_iteration_node(b->model, b->model->sites[u->call].node, u->depth),
                                            .inside = inside,
                                            .is_main = u->is_main,
                                            .ranks = 1,
                                            .count = u->count,
                                            .begin_s = u->begin_s,
                                            .end_s = u->end_s,
                                            .times = { .limit_s = NAN },
                                            .computing_s = NAN,
                                            .mpi_s = NAN,
                                            .wait_s = NAN,
                                            .cause_site = FV_NONE,
                                            .cause_rank = FV_NONE };

    FV_GROW(it->units, it->room, it->count + 1);
    it->units[it->count] = made;
    if (!u->is_main)
        it->units[it->count].times = times_in(s, u);
    fv_iteration_gather_unit(it->gather, (uint32_t)it->count++, u);
}

/* Calls whose site is not known are one symbol. That is no place: its unit is left out, with all inside of it. */
static void add_units(struct fv_build *b, const struct sequence *s, struct fv_unit *units, size_t count)
{
    uint32_t added[FV_UNITS_MOST];

    for (size_t i = 0; i < count; i++) {
        const uint32_t inside = units[i].inside == FV_NONE ? FV_NONE : added[units[i].inside];
        put_together(s, &units[i]);
        const bool is_left = units[i].call >= b->model->site_count || (units[i].inside != FV_NONE && inside == FV_NONE);

        added[i] = is_left ? FV_NONE : (uint32_t)fv_model_iterations(b->model)->count;
        if (is_left)
            fv_units_release(&units[i], 1);
        else
            add_unit(b, s, &units[i], inside);
    }
}

/* Is all of it in the trace, and is that short enough to be read again? */
static bool is_traced(const struct fv_build *b)
{
    const struct fv_model *m = b->model;
    uint64_t calls = 0;

    for (uint32_t i = 0; i < b->shown; i++) {
        if (!m->ranks[i].traced || isfinite(m->ranks[i].trace_stop_s) || m->ranks[i].dropped[FV_DROP_EVENTS])
            return false;
        calls += m->ranks[i].trace_calls;
    }
    return calls > 0 && calls <= TRACED_MOST;
}

static bool is_thinned(const struct fv_build *b)
{
    for (uint32_t i = 0; i < b->shown; i++)
        if (b->model->ranks[i].thinned)
            return true;
    return false;
}

static bool is_ring(const struct fv_build *b)
{
    for (uint32_t i = 0; i < b->shown; i++)
        if (isfinite(b->model->ranks[i].trace_from_s))
            return true;
    return false;
}

/* Of a rank's log that was thinned, its first calls are looked at. */
static void note_first(struct fv_build *b, uint32_t rank)
{
    struct fv_iterations *it = fv_model_iterations(b->model);
    const uint64_t calls = it->is_part ? fv_iteration_logged(b, rank) : UINT64_MAX;

    it->first_calls = calls < it->first_calls ? calls : it->first_calls;
}

static void *begin_units(struct fv_build *b)
{
    struct fv_iterations *it = fv_model_iterations(b->model);

    it->traced = is_traced(b);
    it->is_part = !it->traced && is_thinned(b);
    it->is_kept = it->traced && is_ring(b);
    it->first_calls = UINT64_MAX;
    it->gather = fv_iteration_gather_new(b);
    return fv_xcalloc(1, sizeof(struct search));
}

static void search(struct fv_build *b, uint32_t rank, const struct sequence *s,
                   const struct fv_iteration_symbols *symbols)
{
    struct fv_unit units[FV_UNITS_MOST];
    uint32_t *nodes, *spread = spread_of(b, rank, symbols);
    struct fv_unit_path *paths = paths_of(b->model, symbols, &nodes);
    const struct fv_call_sequence calls = { .symbol = s->symbol,
                                            .begin_s = s->begin_s,
                                            .end_s = s->end_s,
                                            .path = paths,
                                            .spread = spread,
                                            .count = s->count,
                                            .symbols = symbols->count,
                                            .calls = symbols->sites + 1 };

    add_units(b, s, units, fv_units_find(&calls, units));
    free(paths);
    free(nodes);
    free(spread);
}

static void read_units(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_iterations *it = fv_model_iterations(b->model);
    const struct fv_iteration_symbols *symbols = fv_iteration_gather_symbols(it->gather);
    struct search *of = state;
    struct sequence s = { .count = 0 };

    if (it->count || of->looked == RANKS_LOOKED)
        return;
    of->looked++;
    note_first(b, rank);
    fv_iteration_calls(b, rank, it->traced, symbols, take_call, &s);
    of->calls = s.count > of->calls ? s.count : of->calls;
    search(b, rank, &s, symbols);
    free(s.symbol);
    free(s.begin_s);
    free(s.end_s);
}

/* Calls of the rank that makes most of them. */
static uint64_t most_calls(const struct fv_build *b)
{
    const struct fv_model *m = b->model;
    uint64_t *calls = fv_xcalloc(m->rank_count + 1, sizeof(*calls)), most = 0;

    for (size_t i = 0; i < m->site_rank_count; i++) {
        uint64_t *of = &calls[m->site_ranks[i].rank];

        *of += m->site_ranks[i].stat.calls;
        most = *of > most ? *of : most;
    }
    free(calls);
    return most;
}

/* A loop of messages alone is not in the log of collective calls. */
static bool may_have_loop(const struct fv_build *b, const struct search *of)
{
    for (uint32_t i = 0; i < b->shown; i++)
        if (b->model->ranks[i].traced)
            return false;
    return of->looked && most_calls(b) >= MESSAGES_LEAST && of->calls <= FEW * (double)most_calls(b);
}

static void finish_units(struct fv_build *b, void *state)
{
    struct fv_iterations *it = fv_model_iterations(b->model);

    if (it->is_part && !it->first_calls)
        it->left = "the log of collective calls has too few of them (FVMPI_COLLECTIVES_MAX)";
    else if (!it->count && may_have_loop(b, state))
        it->left = "none found by blocking collective calls, which are few; fvmpi run --trace records all calls";
    free(state);
}

const struct fv_track fv_track_iteration_units = {
    .name = "iteration units",
    .visit = FV_VISIT_NOTES,
    .types = { FV_CHUNK_COLLECTIVES, FV_CHUNK_EVENTS, FV_CHUNK_PACKED },
    .begin = begin_units,
    .read = read_units,
    .finish = finish_units,
};

/* ---- each iteration ---- */

static void *begin_cuts(struct fv_build *b)
{
    return fv_model_iterations(b->model)->gather;
}

static void read_cuts(struct fv_build *b, void *gather, uint32_t rank)
{
    if (!fv_model_iterations(b->model)->count)
        return;
    note_first(b, rank);
    fv_iteration_gather_rank(gather, rank);
}

static void finish_cuts(struct fv_build *b, void *gather)
{
    if (fv_model_iterations(b->model)->count)
        fv_iteration_gather_judge(gather);
}

void fv_iterations_waited(struct fv_build *b, uint32_t rank, uint32_t thread, uint64_t begin_ticks, double wait_s,
                          double preempted_s)
{
    struct fv_iterations *it = fv_model_iterations(b->model);

    if (it->count && it->gather && rank < b->shown)
        fv_iteration_gather_wait(it->gather, rank, thread, fv_build_time(b->model, rank, begin_ticks), wait_s,
                                 preempted_s);
}

const struct fv_track fv_track_iterations = {
    .name = "iterations",
    .visit = FV_VISIT_CHARGES,
    .types = { FV_CHUNK_COLLECTIVES, FV_CHUNK_EVENTS, FV_CHUNK_PACKED },
    .begin = begin_cuts,
    .read = read_cuts,
    .finish = finish_cuts,
};

/* ---- long iterations ---- */

static void read_causes(struct fv_build *b, void *gather, uint32_t rank)
{
    if (fv_model_iterations(b->model)->count)
        fv_iteration_gather_causes(gather, rank);
}

static void finish_causes(struct fv_build *b, void *gather)
{
    struct fv_iterations *it = fv_model_iterations(b->model);

    it->extras = fv_xcalloc(it->count + 1, sizeof(*it->extras));
    for (size_t i = 0; i < it->count; i++)
        it->extras[i] = fv_iteration_gather_extra(gather, (uint32_t)i);
    fv_iteration_gather_free(gather);
    it->gather = NULL;
}

const struct fv_track fv_track_iteration_causes = {
    .name = "causes of long iterations",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_COLLECTIVES, FV_CHUNK_EVENTS, FV_CHUNK_PACKED },
    .begin = begin_cuts,
    .read = read_causes,
    .finish = finish_causes,
};

static void release_extras(struct fv_iterations *it)
{
    for (size_t i = 0; it->extras && i < it->count; i++)
        fv_extra_release(&it->extras[i]);
    free(it->extras);
    it->extras = NULL;
}

void fv_iterations_renumber(struct fv_model *m, const uint32_t *sites)
{
    struct fv_iterations *it = fv_model_iterations(m);

    for (size_t i = 0; i < it->count; i++) {
        it->units[i].site = sites[it->units[i].site];
        if (it->extras)
            fv_extra_judge(&it->extras[i], m, sites, &it->units[i]);
    }
    for (size_t i = 0; i < it->part_count; i++)
        it->parts[i].site = sites[it->parts[i].site];
    release_extras(it);
}

/* Waiting between two times, mean of ranks, by the analysis. */
static double waited_between(const struct fv_causes *c, double begin_s, double end_s)
{
    const double first = fmax(begin_s, 0) / c->bin_s;
    double sum_s = 0;

    for (size_t i = first < (double)c->bin_count ? (size_t)first : c->bin_count;
         i < c->bin_count && (double)i * c->bin_s < end_s; i++) {
        const double from_s = fmax(begin_s, (double)i * c->bin_s), to_s = fmin(end_s, (double)(i + 1) * c->bin_s);

        sum_s += c->bins_s[i] * fmax(to_s - from_s, 0) / c->bin_s;
    }
    return sum_s;
}

static bool has_bins(const struct fv_causes *c, const struct fv_iteration_number *n, double length_s)
{
    return c->bin_s > 0 && length_s >= BINS_LEAST * c->bin_s && n->begin_s >= c->bins_from_s - c->bin_s;
}

static void take_waiting(struct fv_model *m, struct fv_iteration_number *n)
{
    const struct fv_causes *c = &m->causes;
    const double length_s = n->duration_s * n->merged;

    n->wait_s =
        has_bins(c, n, length_s) ? waited_between(c, n->begin_s, n->begin_s + length_s) / (double)n->merged : NAN;
}

/* Of a site's waiting an iteration has the part that it has of its calls. */
void fv_iterations_complete(struct fv_model *m)
{
    struct fv_iterations *it = fv_model_iterations(m);

    it->is_analysed = it->traced && m->causes.source == FV_CAUSES_TRACE;
    for (size_t i = 0; it->is_analysed && i < it->count; i++)
        it->units[i].wait_s = it->units[i].is_main ? 0 : NAN;
    for (size_t i = 0; it->is_analysed && i < it->part_count; i++) {
        const struct fv_iteration_part *part = &it->parts[i];
        struct fv_iteration_unit *u = &it->units[part->unit];
        const struct fv_site *site = &m->sites[part->site];

        if (site->stat.calls)
            u->wait_s += site->wait_s * part->calls / (double)site->stat.calls;
    }
    for (size_t i = 0; it->is_analysed && i < it->number_count; i++)
        take_waiting(m, &it->numbers[i]);
}

void fv_iterations_release(void *data)
{
    struct fv_iterations *it = data;

    release_extras(it);
    free(it->units);
    free(it->numbers);
    free(it->parts);
    free(it->samples);
    fv_index_release(&it->sample_index);
    *it = (struct fv_iterations){ 0 };
}
