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

#define CALLS_MOST   (1u << 21) /* of the sequence that is searched */
#define TRACED_MOST  (1u << 24) /* calls of all ranks: a longer trace is not read for this */
#define BEGIN_PART   8          /* of a sequence, the first of so many */
#define RANKS_LOOKED 2          /* in which units are looked for, until some are found */

/* ---- what repeats ---- */

struct sequence {
    uint32_t *symbol, *site; /* as of a call */
    double *begin_s, *end_s;
    size_t count, symbol_room, site_room, begin_room, end_room;
};

struct search {
    unsigned looked;
};

static void take_call(void *context, const struct fv_iteration_call *call)
{
    struct sequence *s = context;

    if (s->count == CALLS_MOST)
        return;
    FV_GROW(s->symbol, s->symbol_room, s->count + 1);
    FV_GROW(s->begin_s, s->begin_room, s->count + 1);
    FV_GROW(s->end_s, s->end_room, s->count + 1);
    FV_GROW(s->site, s->site_room, s->count + 1);
    s->symbol[s->count] = call->symbol;
    s->site[s->count] = call->site;
    s->begin_s[s->count] = call->begin_s;
    s->end_s[s->count++] = call->end_s;
}

/* The innermost frame of a symbol. */
static uint32_t node_of(const struct fv_model *m, const struct fv_iteration_symbols *symbols, uint32_t symbol)
{
    if (symbol < symbols->sites)
        return symbols->twins.of_node[m->sites[symbol].node];
    return symbol == symbols->sites ? 0 : symbols->node[symbol - symbols->sites - 1];
}

/* Of each symbol, outermost frame first. */
static struct fv_unit_path *paths_of(const struct fv_model *m, const struct fv_iteration_symbols *symbols,
                                     uint32_t **nodes)
{
    struct fv_unit_path *paths = fv_xcalloc(symbols->count, sizeof(*paths));
    size_t count = 0, room = 0, *first = fv_xcalloc(symbols->count, sizeof(*first));
    const uint32_t *twin = symbols->twins.of_node;

    *nodes = NULL;
    for (uint32_t i = 0; i < symbols->count; i++) {
        first[i] = count;
        for (uint32_t n = node_of(m, symbols, i); n; n = twin[m->tree.nodes[n].parent])
            paths[i].depth++;
        FV_GROW(*nodes, room, count + paths[i].depth);
        count += paths[i].depth;
        for (uint32_t n = node_of(m, symbols, i), k = 0; n; n = twin[m->tree.nodes[n].parent])
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

/* Calls of each symbol on a rank, whose parts stand from *at on, to the next rank's. */
static uint32_t calls_on_rank(const struct fv_model *m, const struct fv_iteration_symbols *symbols, size_t *at,
                              uint64_t *calls)
{
    const uint32_t rank = m->site_ranks[*at].rank;

    memset(calls, 0, (m->site_count + 1) * sizeof(*calls));
    for (; *at < m->site_rank_count && m->site_ranks[*at].rank == rank; ++*at)
        calls[symbols->twins.of_site[m->site_ranks[*at].site]] += m->site_ranks[*at].stat.calls;
    return rank;
}

static void spread_frames(const struct fv_model *m, const struct fv_iteration_symbols *symbols, uint32_t rank,
                          uint32_t site, uint32_t *seen, uint32_t *spread)
{
    const uint32_t *twin = symbols->twins.of_node;

    for (uint32_t n = twin[m->sites[site].node], s; n; n = twin[m->tree.nodes[n].parent]) {
        if ((s = symbols->of_node[n]) == FV_NONE)
            continue;
        if (seen[s] == rank + 1)
            break; /* and so have all that are outside of it */
        seen[s] = rank + 1;
        spread[s]++;
    }
}

/* Of each site: ranks that have as many calls there; of a frame: ranks that have been there. Parts of sites are not in
 * order yet, but by rank. */
static uint32_t *spread_of(const struct fv_build *b, uint32_t rank, const struct fv_iteration_symbols *symbols)
{
    const struct fv_model *m = b->model;
    uint64_t *own = fv_xcalloc(m->site_count + 1, sizeof(*own)), *calls = fv_xcalloc(m->site_count + 1, sizeof(*calls));
    uint32_t *spread = fv_xcalloc(symbols->count, sizeof(*spread)), *seen = fv_xcalloc(symbols->count, sizeof(*seen));

    for (size_t at = 0; at < m->site_rank_count;)
        if (calls_on_rank(m, symbols, &at, calls) == rank)
            memcpy(own, calls, m->site_count * sizeof(*own));
    for (size_t at = 0; at < m->site_rank_count;) {
        const uint32_t of = calls_on_rank(m, symbols, &at, calls);

        for (uint32_t i = 0; of < b->shown && i < m->site_count; i++)
            if (calls[i]) {
                spread[i] += calls[i] == own[i];
                spread_frames(m, symbols, of, i, seen, spread);
            }
    }
    free(own);
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

/* A trace that was kept begins anywhere in an iteration. It is taken to begin where most was computed, so that what
 * comes late is in one iteration with those who wait for it. */
static void skip_begin(struct sequence *s)
{
    double longest_s = 0;
    size_t from = 0;

    for (size_t i = 1; i < s->count / BEGIN_PART; i++)
        if (s->begin_s[i] - s->end_s[i - 1] > longest_s) {
            longest_s = s->begin_s[i] - s->end_s[i - 1];
            from = i;
        }
    s->count -= from;
    memmove(s->symbol, s->symbol + from, s->count * sizeof(*s->symbol));
    memmove(s->begin_s, s->begin_s + from, s->count * sizeof(*s->begin_s));
    memmove(s->end_s, s->end_s + from, s->count * sizeof(*s->end_s));
}

static void read_units(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_iterations *it = fv_model_iterations(b->model);
    struct fv_iteration_symbols *symbols = fv_iteration_gather_symbols(it->gather);
    struct search *of = state;
    struct sequence s = { .count = 0 };

    if (it->count || of->looked == RANKS_LOOKED)
        return;
    of->looked++;
    note_first(b, rank);
    fv_iteration_calls(b, rank, it->traced, symbols, take_call, &s);
    if (fv_iteration_symbols_part(symbols, b->model, &(struct fv_twin_calls){ s.site, s.begin_s, s.end_s, s.count })) {
        s.count = 0;
        fv_iteration_calls(b, rank, it->traced, symbols, take_call, &s);
    }
    if (it->is_kept && s.count)
        skip_begin(&s);
    search(b, rank, &s, symbols);
    free(s.symbol);
    free(s.site);
    free(s.begin_s);
    free(s.end_s);
}

/* Is the function one of messages, whose calls are not in the log of collective calls? */
static bool is_of_messages(const struct fv_func *f)
{
    return f->class == FV_CLASS_COLLECTIVE
               ? f->wait == FV_RULE_NONE
               : (f->class == FV_CLASS_P2P || f->class == FV_CLASS_COMPLETION || f->class == FV_CLASS_RMA) &&
                     !fv_func_asks(f);
}

/* Without a trace, and with calls of messages that repeat. */
static bool may_have_loop(const struct fv_build *b)
{
    const struct fv_model *m = b->model;

    for (uint32_t i = 0; i < b->shown; i++)
        if (m->ranks[i].traced)
            return false;
    for (size_t i = 0; i < m->site_rank_count; i++)
        if (m->site_ranks[i].stat.calls >= FV_UNIT_LEAST &&
            is_of_messages(&m->functions[m->sites[m->site_ranks[i].site].function]))
            return true;
    return false;
}

static void finish_units(struct fv_build *b, void *state)
{
    struct fv_iterations *it = fv_model_iterations(b->model);

    if (it->is_part && !it->first_calls)
        it->left = "the log of collective calls has too few of them (FVMPI_COLLECTIVES_MAX)";
    else if (!it->count && may_have_loop(b))
        it->left = "none found by blocking collective calls; fvmpi run --trace records all, and may find some";
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

/* Of a site's waiting an iteration has the part that it has of its calls: where all ranks are in the unit. */
static double waiting_by_sites(const struct fv_model *m, const struct fv_iterations *it, uint32_t unit)
{
    double sum_s = 0;

    for (size_t i = 0; i < it->part_count; i++) {
        const struct fv_iteration_part *part = &it->parts[i];
        const struct fv_site *site = &m->sites[part->site];

        if (part->unit == unit && site->stat.calls)
            sum_s += site->wait_s * part->calls / (double)site->stat.calls;
    }
    return sum_s;
}

/* The mean of those that are known, if most are. */
static double waiting_by_rows(const struct fv_iterations *it, const struct fv_iteration_unit *u)
{
    double known = 0, sum_s = 0;

    for (uint32_t k = u->first_number; k < u->first_number + u->numbers; k++)
        if (isfinite(it->numbers[k].wait_s)) {
            known += it->numbers[k].merged;
            sum_s += it->numbers[k].wait_s * it->numbers[k].merged;
        }
    return known > 0.5 * (double)u->count ? sum_s / known : NAN;
}

void fv_iterations_complete(struct fv_model *m)
{
    struct fv_iterations *it = fv_model_iterations(m);
    const bool has_bins = m->causes.bin_s > 0, is_whole = m->causes.source == FV_CAUSES_TRACE;

    it->is_analysed = it->traced && (has_bins || is_whole);
    if (!it->is_analysed)
        return;
    for (size_t i = 0; i < it->number_count; i++)
        it->numbers[i].wait_s = has_bins ? it->numbers[i].analysed_s : NAN;
    for (uint32_t i = 0; i < it->count; i++) {
        struct fv_iteration_unit *u = &it->units[i];
        const bool has_all = is_whole && u->ranks == m->rank_count;

        u->wait_s = !u->is_main ? NAN : has_all ? waiting_by_sites(m, it, i) : waiting_by_rows(it, u);
    }
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
