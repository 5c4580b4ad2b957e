/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.json: see share/analysis.md. All sums are there; this puts them in order. */
#include "analysis/analysis.h"
#include "analysis/analysis_samples.h"
#include "analysis/analysis_threads.h"
#include "tool/json_stream.h"
#include "tool/new_file.h"
#include "tool/pop.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTED 1000 /* rows of a list that could be long */

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* ---- sums ---- */

/* What is known of a call site, on one rank or on all. */
struct sums {
    uint64_t count, ns, before_ns, locked_ns, wait_ns, caused_ns, withheld_ns, kind_ns[FV_WS_COUNT],
        delay_ns[FV_WHERES], critical_ns[FV_WHERES];
};

struct writer {
    const struct fv_analysis *a;
    struct fv_json *json;
    struct fv_tallies caused; /* site, rank: waited for there */
    struct fv_path path;
    size_t begin[FV_TALLY_WHATS + 1]; /* where the tallies of a kind are */
    struct sums *of_rank;             /* by index in fv_defs.ranks: what was caused, delayed, critical */
    struct sums kinds;                /* ns by kind, all sites */
    uint64_t kind_count[FV_WS_COUNT];
};

static void add(struct sums *s, const struct fv_tally *t)
{
    switch ((enum fv_tally_what)t->what) {
    case FV_TALLY_CALLS:
        s->count += t->count;
        s->ns += t->ns;
        break;
    case FV_TALLY_BEFORE: s->before_ns += t->ns; break;
    case FV_TALLY_LOCKED: s->locked_ns += t->ns; break;
    case FV_TALLY_WAIT:
        s->wait_ns += fv_is_completion(t->kind) ? 0 : t->ns;
        s->kind_ns[t->kind] += t->ns;
        break;
    case FV_TALLY_CAUSE:
        s->caused_ns += t->ns;
        s->withheld_ns += t->kind == FV_WS_NO_PROGRESS ? t->ns : 0;
        break;
    case FV_TALLY_DIRECT:
    case FV_TALLY_PROPAGATED: s->delay_ns[t->kind] += t->ns; break;
    case FV_TALLY_CRITICAL: s->critical_ns[t->kind] += t->ns; break;
    default: break;
    }
}

/* Waiting, turned around: by who was waited for. */
static void turn_around(struct writer *w)
{
    for (size_t i = 0; i < w->a->tallies.count; i++) {
        struct fv_tally t = w->a->tallies.items[i];

        if (t.what != FV_TALLY_CAUSE)
            continue;
        t.site = t.other_site;
        t.rank = t.other_rank;
        t.kind = t.kind == FV_WS_NO_PROGRESS ? t.kind : 0;
        t.other_site = t.other_rank = 0;
        fv_tallies_add(&w->caused, &t);
    }
    fv_tallies_sort(&w->caused);
}

static void sum_up(struct writer *w)
{
    const struct fv_tallies *t = &w->a->tallies;

    turn_around(w);
    w->of_rank = fv_xcalloc(w->a->merge->defs.rank_count + 1, sizeof(*w->of_rank));
    for (size_t i = 0, what = 0; what <= FV_TALLY_WHATS; what++) {
        while (i < t->count && t->items[i].what < what)
            i++;
        w->begin[what] = i;
    }
    for (size_t i = 0; i < w->begin[FV_TALLY_LINE_MPI]; i++)
        if (t->items[i].what != FV_TALLY_CAUSE)
            add(&w->of_rank[t->items[i].rank], &t->items[i]);
    for (size_t i = 0; i < w->caused.count; i++)
        add(&w->of_rank[w->caused.items[i].rank], &w->caused.items[i]);
    for (size_t i = w->begin[FV_TALLY_WAIT]; i < w->begin[FV_TALLY_WAIT + 1]; i++) {
        add(&w->kinds, &t->items[i]);
        w->kind_count[t->items[i].kind] += t->items[i].count;
    }
}

/* ---- pieces ---- */

static void put_seconds(struct writer *w, const char *key, uint64_t ns)
{
    fv_json_real(w->json, key, seconds(ns));
}

/* The time outside of calls, waiting for locks included. */
static uint64_t outside(const uint64_t *ns)
{
    return ns[FV_COMPUTING] + ns[FV_FOR_LOCKS];
}

static void put_where(struct writer *w, const char *key, const uint64_t *ns)
{
    fv_json_object(w->json, key);
    put_seconds(w, "computing", outside(ns));
    put_seconds(w, "mpi", ns[FV_IN_MPI]);
    put_seconds(w, "locks", ns[FV_FOR_LOCKS]);
    fv_json_end(w->json);
}

static void put_kinds(struct writer *w, const struct sums *s)
{
    fv_json_object(w->json, "kinds");
    for (unsigned i = 1; i < FV_WS_COUNT; i++)
        if (s->kind_ns[i])
            put_seconds(w, fv_wait_state_names[i], s->kind_ns[i]);
    fv_json_end(w->json);
}

static void put_sums(struct writer *w, const struct sums *s)
{
    fv_json_unsigned(w->json, "count", s->count);
    put_seconds(w, "time_s", s->ns);
    put_seconds(w, "wait_s", s->wait_ns);
    put_seconds(w, "transfer_s", s->ns - s->wait_ns);
    put_seconds(w, "before_s", s->before_ns);
    put_seconds(w, "locks_s", s->locked_ns);
    put_kinds(w, s);
    put_seconds(w, "caused_s", s->caused_ns);
    put_seconds(w, "withheld_s", s->withheld_ns);
    put_where(w, "delay_s", s->delay_ns);
    put_where(w, "critical_s", s->critical_ns);
}

static uint32_t world_rank(const struct writer *w, uint32_t rank)
{
    return w->a->merge->defs.ranks[rank].world_rank;
}

static void put_rank(struct writer *w, const char *key, uint32_t rank)
{
    if (rank == FV_NONE)
        fv_json_null(w->json, key);
    else
        fv_json_unsigned(w->json, key, world_rank(w, rank));
}

/* Sites count from 1; 0 is what is behind the last call. */
static uint64_t site_id(uint32_t site)
{
    return site == FV_NONE ? 0 : (uint64_t)site + 1;
}

static void put_key(struct writer *w, const char *key, uint64_t value)
{
    char text[17];

    snprintf(text, sizeof(text), "%016llx", (unsigned long long)value);
    fv_json_string(w->json, key, text);
}

/* ---- the run ---- */

static const struct fv_tally *line_tally(const struct writer *w, enum fv_tally_what what, uint32_t line)
{
    static const struct fv_tally none;
    size_t low = w->begin[what], high = w->begin[what + 1];

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (w->a->tallies.items[middle].rank < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->begin[what + 1] && w->a->tallies.items[low].rank == line ? &w->a->tallies.items[low] : &none;
}

struct rank_time {
    uint64_t elapsed, useful, mpi, wait;
};

/* Of the thread that stands for the rank, in the time of its program. */
static struct rank_time time_of(const struct writer *w, uint32_t rank)
{
    uint32_t line = w->a->main_line[rank];
    const struct fv_step_line *l = &w->a->steps.lines[w->a->steps.first_line[rank]];
    struct rank_time t = { 0 };

    if (line == FV_NONE || !l->count)
        return t;
    uint64_t paused = line_tally(w, FV_TALLY_LINE_PAUSED, line)->ns;
    t.mpi = line_tally(w, FV_TALLY_LINE_MPI, line)->ns;
    t.wait = line_tally(w, FV_TALLY_LINE_WAIT, line)->ns;
    t.elapsed = l->end_ns - l->begin_ns > paused ? l->end_ns - l->begin_ns - paused : 0;
    t.useful = t.elapsed > t.mpi ? t.elapsed - t.mpi : 0;
    return t;
}

static uint64_t elapsed_ns(const struct fv_analysis *a)
{
    uint64_t first = UINT64_MAX, last = 0;

    for (uint32_t i = 0; i < a->steps.line_count; i++) {
        const struct fv_step_line *l = &a->steps.lines[i];

        if (!l->count)
            continue;
        first = l->begin_ns < first ? l->begin_ns : first;
        last = l->end_ns > last ? l->end_ns : last;
    }
    return last > first ? last - first : 0;
}

static bool is_complete(const struct writer *w)
{
    const struct fv_defs *d = &w->a->merge->defs;

    for (size_t i = w->begin[FV_TALLY_LINE_PAUSED]; i < w->begin[FV_TALLY_LINE_PAUSED + 1]; i++)
        if (w->a->tallies.items[i].ns)
            return false;
    for (size_t i = 0; i < d->rank_count; i++)
        if (!d->ranks[i].traced || d->ranks[i].dropped || !fv_state_is_end(d->ranks[i].state))
            return false;
    return d->rank_count == d->world_size;
}

static void put_run(struct writer *w, int64_t clock_error_ns)
{
    const struct fv_merge *m = w->a->merge;

    fv_json_object(w->json, "run");
    fv_json_unsigned(w->json, "ranks", m->defs.world_size);
    put_seconds(w, "elapsed_s", elapsed_ns(w->a));
    fv_json_string(w->json, "clock", m->clocks.line_count > 1 ? "aligned" : "one");
    fv_json_real(w->json, "clock_error_s", (double)clock_error_ns / 1e9);
    fv_json_bool(w->json, "complete", is_complete(w));
    fv_json_end(w->json);
}

/* What of the run all ranks have kept, and so was analysed. */
static void put_stretch(struct writer *w)
{
    const struct fv_merge *m = w->a->merge;
    const int64_t length = fv_clocks_length(&m->clocks, &m->defs);

    if (!w->a->rings.any) {
        fv_json_null(w->json, "stretch");
        return;
    }
    fv_json_object(w->json, "stretch");
    put_seconds(w, "begin_s", w->a->rings.from_ns);
    put_seconds(w, "end_s", (uint64_t)length);
    fv_json_end(w->json);
}

static void put_ranks(struct writer *w)
{
    fv_json_array(w->json, "ranks");
    for (uint32_t i = 0; i < w->a->merge->defs.rank_count; i++) {
        struct rank_time t = time_of(w, i);
        const struct sums *s = &w->of_rank[i];

        fv_json_object(w->json, NULL);
        put_rank(w, "rank", i);
        put_key(w, "process", w->a->merge->defs.ranks[i].identity.process);
        fv_json_unsigned(w->json, "traced_calls", w->a->merge->defs.ranks[i].identity.traced_calls);
        put_seconds(w, "elapsed_s", t.elapsed);
        put_seconds(w, "useful_s", t.useful);
        put_seconds(w, "mpi_s", t.mpi);
        put_seconds(w, "wait_s", t.wait);
        put_seconds(w, "transfer_s", t.mpi - t.wait);
        put_seconds(w, "caused_s", s->caused_ns);
        put_seconds(w, "delay_s", outside(s->delay_ns) + s->delay_ns[FV_IN_MPI]);
        put_seconds(w, "critical_s", outside(s->critical_ns) + s->critical_ns[FV_IN_MPI]);
        fv_json_end(w->json);
    }
    fv_json_end(w->json);
}

static void put_all_kinds(struct writer *w)
{
    bool done[FV_WS_COUNT] = { false };

    fv_json_array(w->json, "kinds");
    for (unsigned i = 1; i < FV_WS_COUNT; i++) {
        unsigned most = 0;

        for (unsigned k = 1; k < FV_WS_COUNT; k++)
            if (!done[k] && w->kind_count[k] && (!most || w->kinds.kind_ns[k] > w->kinds.kind_ns[most]))
                most = k;
        if (!most)
            break;
        done[most] = true;
        fv_json_object(w->json, NULL);
        fv_json_string(w->json, "kind", fv_wait_state_names[most]);
        fv_json_unsigned(w->json, "count", w->kind_count[most]);
        put_seconds(w, "wait_s", w->kinds.kind_ns[most]);
        fv_json_end(w->json);
    }
    fv_json_end(w->json);
}

static void put_efficiency(struct writer *w)
{
    double ideal = seconds(w->a->graph.ideal_ns);
    struct fv_pop_sums sums = { 0 };

    for (uint32_t i = 0; i < w->a->merge->defs.rank_count; i++) {
        struct rank_time t = time_of(w, i);

        if (w->a->merge->defs.ranks[i].traced)
            fv_pop_add(&sums, seconds(t.elapsed), seconds(t.elapsed - t.useful));
    }
    struct fv_pop pop = fv_pop_of(&sums, ideal);
    fv_json_object(w->json, "efficiency");
    fv_json_real(w->json, "parallel", pop.parallel);
    fv_json_real(w->json, "load_balance", pop.load_balance);
    fv_json_real(w->json, "communication", pop.communication);
    fv_json_real(w->json, "serialization", pop.serialization);
    fv_json_real(w->json, "transfer", pop.transfer);
    fv_json_real(w->json, "ideal_s", ideal);
    fv_json_end(w->json);
}

/* In whole us. Bins behind the last waiting of a rank are left out. */
static void put_bins(struct writer *w, uint32_t rank)
{
    const uint64_t *wait_ns = w->a->over_time.wait_ns + (size_t)rank * w->a->over_time.bins;
    uint32_t count = w->a->over_time.bins;

    while (count && wait_ns[count - 1] < 500)
        count--;
    fv_json_object(w->json, NULL);
    put_rank(w, "rank", rank);
    fv_json_array(w->json, "wait_s");
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t us = (wait_ns[i] + 500) / 1000;

        if (us)
            fv_json_real(w->json, NULL, (double)us / 1e6);
        else
            fv_json_unsigned(w->json, NULL, 0); /* shorter than 0.0 */
    }
    fv_json_end(w->json);
    fv_json_end(w->json);
}

static void put_over_time(struct writer *w)
{
    const struct fv_over_time *o = &w->a->over_time;

    if (!o->bins) {
        fv_json_null(w->json, "waiting_over_time");
        return;
    }
    fv_json_object(w->json, "waiting_over_time");
    put_seconds(w, "bin_s", UINT64_C(1) << o->shift);
    fv_json_array(w->json, "ranks");
    for (uint32_t i = 0; i < o->ranks; i++)
        if (w->a->merge->defs.ranks[i].traced)
            put_bins(w, i);
    fv_json_end(w->json);
    fv_json_end(w->json);
}

/* ---- call sites ---- */

static void put_site_key(struct writer *w, uint32_t site)
{
    const struct fv_defs *d = &w->a->merge->defs;

    if (site == FV_NONE) {
        fv_json_null(w->json, "key");
    } else {
        const struct fv_site_key *s = &w->a->sites.items[site];

        put_key(w, "key", fv_key_call(d->tree.nodes[s->node].key, fv_key_function(d->functions[s->function].name)));
    }
}

/* The tallies of one site, of all kinds that a site has; one range each. */
enum { RANGES = 8 };
struct site_ranges {
    const struct fv_tally *at[RANGES], *stop[RANGES];
};

static const struct fv_tally *first_of_site(const struct fv_tally *items, size_t low, size_t high, uint64_t site)
{
    while (low < high) {
        size_t middle = (low + high) / 2;

        if (items[middle].site < site)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? items + low : items; /* which is NULL where there are none */
}

static struct site_ranges ranges_of(const struct writer *w, uint32_t site)
{
    static const enum fv_tally_what whats[RANGES - 1] = { FV_TALLY_CALLS,   FV_TALLY_BEFORE, FV_TALLY_LOCKED,
                                                          FV_TALLY_WAIT,    FV_TALLY_DIRECT, FV_TALLY_PROPAGATED,
                                                          FV_TALLY_CRITICAL };
    const struct fv_tally *all = w->a->tallies.items, *caused = w->caused.items;
    struct site_ranges r;

    for (unsigned i = 0; i < RANGES - 1; i++) {
        r.at[i] = first_of_site(all, w->begin[whats[i]], w->begin[whats[i] + 1], site);
        r.stop[i] = first_of_site(all, w->begin[whats[i]], w->begin[whats[i] + 1], (uint64_t)site + 1);
    }
    r.at[RANGES - 1] = first_of_site(caused, 0, w->caused.count, site);
    r.stop[RANGES - 1] = first_of_site(caused, 0, w->caused.count, (uint64_t)site + 1);
    return r;
}

static struct sums sum_of(const struct site_ranges *r)
{
    struct sums s = { 0 };

    for (unsigned i = 0; i < RANGES; i++)
        for (const struct fv_tally *t = r->at[i]; t < r->stop[i]; t++)
            add(&s, t);
    return s;
}

/* Takes all of the lowest rank that is left. FV_NONE: none is. */
static uint32_t next_rank(struct site_ranges *r, struct sums *out)
{
    uint32_t rank = FV_NONE;

    *out = (struct sums){ 0 };
    for (unsigned i = 0; i < RANGES; i++)
        if (r->at[i] < r->stop[i] && r->at[i]->rank < rank)
            rank = r->at[i]->rank;
    for (unsigned i = 0; i < RANGES && rank != FV_NONE; i++)
        for (; r->at[i] < r->stop[i] && r->at[i]->rank == rank; r->at[i]++)
            add(out, r->at[i]);
    return rank;
}

static void put_site(struct writer *w, uint32_t site)
{
    const struct fv_defs *d = &w->a->merge->defs;
    struct site_ranges ranges = ranges_of(w, site);
    struct sums s = sum_of(&ranges);
    double mean = seconds(s.before_ns) / (double)(d->rank_count ? d->rank_count : 1);

    fv_json_object(w->json, NULL);
    fv_json_unsigned(w->json, "id", site_id(site));
    put_site_key(w, site);
    fv_json_string(w->json, "function", site == FV_NONE ? NULL : d->functions[w->a->sites.items[site].function].name);
    fv_json_path(w->json, &w->a->merge->contexts.symbols, &w->path, site == FV_NONE ? 0 : w->a->sites.items[site].node);
    put_sums(w, &s);
    fv_json_real(w->json, "imbalance_s", fmax(seconds(outside(s.critical_ns)) - mean, 0));
    fv_json_array(w->json, "per_rank");
    for (uint32_t rank; (rank = next_rank(&ranges, &s)) != FV_NONE;) {
        fv_json_object(w->json, NULL);
        put_rank(w, "rank", rank);
        put_sums(w, &s);
        fv_json_end(w->json);
    }
    fv_json_end(w->json);
    fv_json_end(w->json);
}

struct ordered_site {
    uint32_t site;
    uint64_t wait_ns, ns;
};

static int by_wait(const void *a, const void *b)
{
    const struct ordered_site *x = a, *y = b;

    if (x->wait_ns != y->wait_ns)
        return x->wait_ns > y->wait_ns ? -1 : 1;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

static void put_sites(struct writer *w)
{
    uint32_t count = w->a->sites.count;
    struct ordered_site *order = fv_xcalloc((size_t)count + 1, sizeof(*order));

    for (uint32_t i = 0; i < count; i++) {
        struct site_ranges ranges = ranges_of(w, i);
        struct sums s = sum_of(&ranges);

        order[i] = (struct ordered_site){ i, s.wait_ns, s.ns };
    }
    qsort(order, count, sizeof(*order), by_wait);
    fv_json_array(w->json, "callsites");
    for (uint32_t i = 0; i < count; i++)
        put_site(w, order[i].site);
    put_site(w, FV_NONE);
    fv_json_end(w->json);
    free(order);
}

/* ---- who waits for whom ---- */

static int by_ns(const void *a, const void *b)
{
    const struct fv_tally *x = *(const struct fv_tally *const *)a, *y = *(const struct fv_tally *const *)b;

    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x > y) - (x < y); /* the order of keys */
}

/* Largest first. */
static const struct fv_tally **in_order(const struct fv_tally *from, size_t count)
{
    const struct fv_tally **order = fv_xcalloc(count + 1, sizeof(*order));

    for (size_t i = 0; i < count; i++)
        order[i] = from + i;
    qsort(order, count, sizeof(*order), by_ns);
    return order;
}

static void put_waits(struct writer *w)
{
    size_t from = w->begin[FV_TALLY_CAUSE], count = w->begin[FV_TALLY_CAUSE + 1] - from;
    const struct fv_tally **order = in_order(count ? w->a->tallies.items + from : NULL, count);
    struct fv_tally rest = { 0 };

    fv_json_array(w->json, "waits");
    for (size_t i = 0; i < count; i++) {
        const struct fv_tally *t = order[i];

        if (i >= LISTED) {
            rest.count += t->count;
            rest.ns += t->ns;
            continue;
        }
        fv_json_object(w->json, NULL);
        fv_json_string(w->json, "kind", fv_wait_state_names[t->kind]);
        fv_json_unsigned(w->json, "callsite", site_id(t->site));
        put_rank(w, "rank", t->rank);
        fv_json_unsigned(w->json, "cause_callsite", site_id(t->other_site));
        put_rank(w, "cause_rank", t->other_rank);
        fv_json_unsigned(w->json, "count", t->count);
        put_seconds(w, "wait_s", t->ns);
        fv_json_end(w->json);
    }
    fv_json_end(w->json);
    fv_json_object(w->json, "waits_left_out");
    fv_json_unsigned(w->json, "count", rest.count);
    put_seconds(w, "wait_s", rest.ns);
    fv_json_end(w->json);
    free(order);
}

/* Direct and propagated costs of the same, put together: ns is the sum, count the direct part. What locks are
 * to blame for is a part of what was outside of calls. */
static void put_delays(struct writer *w)
{
    const struct fv_tallies *all = &w->a->tallies;
    struct fv_tallies delays = { 0 }, locks = { 0 };

    for (size_t i = w->begin[FV_TALLY_DIRECT]; i < w->begin[FV_TALLY_PROPAGATED + 1]; i++) {
        struct fv_tally t = all->items[i];
        bool of_locks = t.kind == FV_FOR_LOCKS;

        t.count = t.what == FV_TALLY_DIRECT ? t.ns : 0;
        t.what = 0;
        t.kind = of_locks ? FV_COMPUTING : t.kind;
        fv_tallies_add(&delays, &t);
        if (of_locks)
            fv_tallies_add(&locks, &t);
    }
    fv_tallies_sort(&delays);
    fv_tallies_sort(&locks);
    const struct fv_tally **order = in_order(delays.items, delays.count);
    uint64_t explained = 0;

    fv_json_array(w->json, "delays");
    for (size_t i = 0; i < delays.count && i < LISTED; i++) {
        fv_json_object(w->json, NULL);
        put_rank(w, "rank", order[i]->rank);
        fv_json_unsigned(w->json, "callsite", site_id(order[i]->site));
        fv_json_string(w->json, "where", order[i]->kind == FV_COMPUTING ? "computing" : "mpi");
        put_seconds(w, "cost_s", order[i]->ns);
        put_seconds(w, "direct_s", order[i]->count);
        put_seconds(w, "propagated_s", order[i]->ns - order[i]->count);
        put_seconds(w, "locks_s", fv_tallies_ns(&locks, order[i]));
        fv_json_end(w->json);
    }
    fv_json_end(w->json);
    for (size_t i = 0; i < delays.count; i++)
        explained += delays.items[i].ns;
    put_seconds(w, "unexplained_s", w->kinds.wait_ns > explained ? w->kinds.wait_ns - explained : 0);
    free(order);
    fv_tallies_release(&delays);
    fv_tallies_release(&locks);
}

static void put_rest(struct writer *w)
{
    const struct fv_analysis *a = w->a;

    fv_json_object(w->json, "critical_path");
    put_seconds(w, "length_s", a->graph.critical_ns);
    fv_json_unsigned(w->json, "switches", a->graph.switches);
    fv_json_end(w->json);
    put_efficiency(w);
    fv_json_object(w->json, "unmatched");
    fv_json_unsigned(w->json, "sends", a->unmatched.sends);
    fv_json_unsigned(w->json, "receives", a->unmatched.receives);
    fv_json_unsigned(w->json, "collectives", a->unmatched.groups);
    fv_json_unsigned(w->json, "unknown", a->unmatched.unknown);
    fv_json_unsigned(w->json, "cut", a->unmatched.cut);
    fv_json_unsigned(w->json, "early", a->unmatched.early);
    fv_json_end(w->json);
    fv_json_object(w->json, "merge");
    fv_json_real(w->json, "analysis_s", a->seconds);
    fv_json_unsigned(w->json, "spill_bytes", a->spill_bytes);
    fv_json_unsigned(w->json, "waits_cut_short", a->graph.cut);
    fv_json_end(w->json);
}

static void put_all(struct writer *w, int64_t clock_error_ns)
{
    fv_json_object(w->json, NULL);
    fv_json_string(w->json, "schema", "fvmpi-analysis-1");
    put_run(w, clock_error_ns);
    put_stretch(w);
    put_ranks(w);
    put_all_kinds(w);
    put_over_time(w);
    put_sites(w);
    put_waits(w);
    put_delays(w);
    fv_analysis_put_samples(w->a, w->json, &w->path);
    fv_analysis_put_threads(w->a, w->json, &w->path);
    put_rest(w);
    fv_json_end(w->json);
}

/* ---- the file ---- */

/* Is it one of ours, or not there at all? */
static bool may_replace(const char *path)
{
    char begin[256] = "";
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return errno == ENOENT;
    bool good = !fstat(fd, &st) && S_ISREG(st.st_mode);
    ssize_t n = good ? read(fd, begin, sizeof(begin) - 1) : -1;
    close(fd);
    return !n || strstr(begin, "\"fvmpi-analysis-");
}

bool fv_analysis_write(struct fv_analysis *a, const char *directory, int64_t clock_error_ns)
{
    struct fv_arena arena = { 0 };
    char *path = fv_arena_printf(&arena, "%s/analysis.json", directory);
    char *part = fv_arena_printf(&arena, "%s/.analysis.json.part", directory);
    struct fv_json json = { 0 };
    struct writer w = { .a = a, .json = &json };
    bool good = may_replace(path);

    if (!good) {
        fv_log("%s: not written by fvunify; move it away, or name another directory with -o", path);
        fv_arena_release(&arena);
        return false;
    }
    int fd = fv_new_file(part, O_WRONLY, 0666);
    json.out = fd >= 0 ? fdopen(fd, "w") : NULL;
    good = json.out;
    if (good) {
        sum_up(&w);
        put_all(&w, clock_error_ns);
        good = !fclose(json.out) && !json.failed && !rename(part, path);
    }
    if (!good) {
        fv_log("%s: %s; the analysis is lost. Make room, or see fvunify -o", path, strerror(errno));
        unlink(part);
    }
    fv_path_release(&w.path);
    fv_tallies_release(&w.caused);
    free(w.of_rank);
    fv_arena_release(&arena);
    return good;
}

void fv_analysis_forget(const char *directory)
{
    struct fv_arena arena = { 0 };
    const char *path = fv_arena_printf(&arena, "%s/analysis.json", directory);

    if (may_replace(path))
        unlink(path);
    fv_arena_release(&arena);
}
