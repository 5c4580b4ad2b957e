/* SPDX-License-Identifier: BSD-3-Clause */
/* See noise.h: what is made of the intervals, once call sites have their numbers, and who had a rank's processors. */
#include "profile/build.h"
#include "profile/noise/noise.h"
#include "profile/noise/shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED_MOST = 2048 }; /* intervals that shares are computed of */
#define MOST 0.5             /* of what a rank's processors were used by others for: then it was them */

/* All intervals of a place that are told of, without those in which a thread warms up; by series. */
struct intervals {
    struct fv_noise_interval *items;
    double *values; /* as many */
    size_t count, room, value_room;
};

/* ---- one place ---- */

static void add_series(struct fv_noise_place *p, const struct fv_noise_series *s)
{
    p->intervals += s->seen;
    p->preempted += s->preempted;
    p->time_s += s->time_s;
    p->preempted_s += s->preempted_s;
    p->blocked_s += s->blocked_s;
}

/* The first intervals of a series apart, the others behind those of the series before. `number` stands for the rank, as
 * series are compared with themselves. */
static void take_series(struct intervals *all, struct fv_noise_place *p, const struct fv_noise_series *s,
                        uint32_t number, double *warm_s, size_t *warm_count)
{
    FV_GROW(all->values, all->value_room, s->count + 1);
    for (size_t i = 0; i < s->count; i++)
        all->values[i] = s->items[i].time_s;
    size_t warm = fv_warm_up(all->values, s->count);
    p->warm += warm > 0;
    for (size_t i = 0; i < s->count; i++) {
        if (i < warm) {
            *warm_s += s->items[i].time_s;
            (*warm_count)++;
            continue;
        }
        FV_GROW(all->items, all->room, all->count + 1);
        all->items[all->count] = s->items[i];
        all->items[all->count++].rank = number;
    }
}

static void find_percentiles(struct fv_noise_place *p, struct intervals *all)
{
    static const double part[] = { 0.5, 0.9, 0.99 };
    double sum = 0;

    FV_GROW(all->values, all->value_room, all->count + 1);
    for (size_t i = 0; i < all->count; i++)
        sum += all->values[i] = all->items[i].time_s;
    qsort(all->values, all->count, sizeof(double), fv_by_real);
    p->mean_s = all->count ? sum / (double)all->count : NAN;
    for (unsigned k = 0; k < 3; k++)
        p->percentile_s[k] = all->count ? fv_quantile(all->values, sizeof(double), all->count, part[k]) : NAN;
}

static void find_shares(struct fv_noise_place *p, struct intervals *all)
{
    size_t step = (all->count + SHARED_MOST - 1) / SHARED_MOST, count = 0;

    for (size_t i = 0; i < all->count; i += step)
        all->items[count++] = all->items[i];
    fv_shares_of(all->items, count, p->share);
}

/* From values of this run's ranks to runs of more. */
static void project(struct fv_model *m, uint32_t place, struct intervals *all)
{
    const uint64_t ranks[FV_NOISE_PROJECTIONS] = { m->rank_count, 64, 512, 4096, 32768 };
    struct fv_noise_view *n = fv_model_noise(m);
    struct fv_noise_place *p = &n->places[place];
    double sum = 0;

    p->first_projection = (uint32_t)n->projection_count;
    for (size_t i = 0; i < all->count; i++)
        sum += all->values[i] = all->items[i].source_s[FV_NOISE_PREEMPTED];
    if (all->count < FV_SHARES_ENOUGH || !(sum > 0))
        return;
    qsort(all->values, all->count, sizeof(double), fv_by_real);
    double without_s = fmax(p->mean_s - sum / (double)all->count, 0);
    for (unsigned k = 0; k < FV_NOISE_PROJECTIONS; k++) {
        double expected_s = fv_expected_maximum(all->values, all->count, (double)ranks[k]);

        if (k && ranks[k] <= m->rank_count)
            continue;
        FV_GROW(n->projections, n->projection_room, n->projection_count + 1);
        n->projections[n->projection_count++] =
            (struct fv_noise_projection){ place, ranks[k], expected_s, expected_s / (expected_s + without_s) };
        p->projections++;
    }
}

static void finish_place(struct fv_model *m, uint32_t place, struct intervals *all)
{
    struct fv_noise_view *n = fv_model_noise(m);
    struct fv_noise_place *p = &n->places[place];
    size_t warm_count = 0;
    double warm_s = 0;

    all->count = 0;
    for (uint32_t i = 0; i < n->series_count; i++)
        if (n->series[i].site == p->site)
            take_series(all, p, &n->series[i], i, &warm_s, &warm_count);
    p->warm_s = warm_count ? warm_s / (double)warm_count : NAN;
    p->sampled = all->count;
    find_percentiles(p, all);
    project(m, place, all);
    find_shares(p, all);
}

/* ---- all ---- */

static bool is_computed(const struct fv_model *m, uint32_t site)
{
    uint8_t wait = m->functions[m->sites[site].function].wait;

    return m->rank_count > 1 && (wait == FV_RULE_NXN || wait == FV_RULE_BARRIER);
}

static struct fv_noise_place *place_of(struct fv_model *m, struct fv_index *index, uint32_t site)
{
    struct fv_noise_view *n = fv_model_noise(m);
    size_t before = n->place_count;
    struct fv_noise_place *p = FV_INTERNED(*index, n->places, n->place_count, n->place_room, site);

    if (n->place_count > before) {
        p->max_rank = FV_NONE;
        p->cost_s = is_computed(m, site) ? 0 : NAN;
        p->warm_s = NAN;
    }
    return p;
}

static int by_cost(const void *a, const void *b)
{
    const struct fv_noise_place *x = a, *y = b;
    double cost_x = x->cost_s > 0 ? x->cost_s : 0, cost_y = y->cost_s > 0 ? y->cost_s : 0;

    if (cost_x != cost_y)
        return cost_x > cost_y ? -1 : 1;
    if (x->preempted_s != y->preempted_s)
        return x->preempted_s > y->preempted_s ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

/* Of all series of a rank before a call site; series are by site, then rank. */
static void find_longest(struct fv_noise_place *p, const struct fv_noise_series *s, size_t count)
{
    double sum_s = 0;

    for (size_t i = 0; i < count; i++) {
        sum_s = i && s[i].rank == s[i - 1].rank ? sum_s + s[i].preempted_s : s[i].preempted_s;
        if (sum_s > p->max_rank_s) {
            p->max_rank_s = sum_s;
            p->max_rank = s[i].rank;
        }
    }
}

static int by_site(const void *a, const void *b)
{
    const struct fv_noise_series *x = a, *y = b;

    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static void add_costs(struct fv_model *m, struct fv_index *index)
{
    struct fv_noise_view *n = fv_model_noise(m);

    for (size_t i = 0; i < n->rank_count; i++)
        n->ranks[i].cost_s = m->causes.source == FV_CAUSES_NONE || !n->ranks[i].recorded ? NAN : 0;
    for (size_t i = 0; i < m->site_rank_count; i++) {
        const struct fv_site_rank *s = &m->site_ranks[i];
        double cost_s = fv_site_more(m, s)->noise_s;

        if (!(cost_s > 0))
            continue;
        struct fv_noise_place *p = place_of(m, index, s->site);
        p->cost_s = (p->cost_s > 0 ? p->cost_s : 0) + cost_s;
        n->ranks[s->rank].cost_s = (n->ranks[s->rank].cost_s > 0 ? n->ranks[s->rank].cost_s : 0) + cost_s;
    }
}

/* ---- who ---- */

double fv_noise_preempted_of(const struct fv_model *m, uint32_t rank)
{
    return m->ranks[rank].off.preempted_s;
}

static void add_loss(struct fv_noise_loss *l, uint32_t rank, double seconds)
{
    if (!(seconds > 0))
        return;
    l->seconds += seconds;
    if (seconds > l->rank_s) {
        l->rank = rank;
        l->rank_s = seconds;
    }
}

struct fv_noise_loss fv_noise_loss(const struct fv_model *m)
{
    struct fv_noise_loss of_calls = { .rank = FV_NONE, .is_of_calls = true }, preempted = { .rank = FV_NONE };
    bool known = false;

    for (uint32_t i = 0; i < m->rank_count; i++) {
        known = known || fv_noise_preempted_of(m, i) >= 0;
        add_loss(&preempted, i, fv_noise_preempted_of(m, i));
        add_loss(&of_calls, i, fv_model_noise(m)->rank_count ? fv_model_noise(m)->ranks[i].cost_s : 0);
    }
    if (!known)
        return (struct fv_noise_loss){ .seconds = NAN, .rank = FV_NONE };
    return of_calls.seconds > preempted.seconds ? of_calls : preempted;
}

/* Could it have had a processor of the rank's? Ranks of the run share none, unless both are bound to the same one. */
static bool may_disturb(const struct fv_model *m, uint32_t rank, const struct fv_noise_other *o)
{
    const struct fv_rank *r = &m->ranks[rank];
    struct fv_cpus own = { 0 };

    memcpy(own.bits, r->cpu_mask, sizeof(r->cpu_mask));
    if (!fv_same_text(o->host, r->host) || o->rank == rank)
        return false;
    if (o->rank != FV_NONE)
        return r->cpus == 1 && !memcmp(r->cpu_mask, m->ranks[o->rank].cpu_mask, sizeof(r->cpu_mask));
    return !r->cpus || !o->processors || fv_cpus_meet(&own, &o->cpus);
}

/* Ranks of the run stand for themselves, and so does the sum of what was too little to be told. */
static bool is_of_group(const struct fv_noise_other *o, const struct fv_noise_other *of)
{
    return o == of ||
           (o->rank == FV_NONE && of->rank == FV_NONE && o->pid && of->pid && fv_same_text(o->name, of->name));
}

/* Adds up the processes with the name of another one that may have had the rank's processors. */
static void add_group(const struct fv_model *m, const struct fv_noise_other *of, struct fv_noise_rank *r)
{
    const struct fv_noise_view *n = fv_model_noise(m);

    r->by_count = 0;
    r->by_cpu_s = 0;
    for (uint32_t i = 0; i < n->other_count; i++)
        if (is_of_group(&n->others[i], of) && may_disturb(m, r->rank, &n->others[i])) {
            r->by_count++;
            r->by_cpu_s += n->others[i].cpu_s;
        }
}

/* Which program's processes had most of the CPU time that others had on the rank's processors, and enough of it; else
 * it is not known. */
static void find_who(const struct fv_model *m, struct fv_noise_rank *r)
{
    const struct fv_noise_view *n = fv_model_noise(m);
    double lost_s = fv_noise_preempted_of(m, r->rank), all_s = 0;
    struct fv_noise_rank most = { .by = FV_NONE };

    for (uint32_t i = 0; i < n->other_count; i++) { /* a group's first has most of it */
        struct fv_noise_rank group = { .rank = r->rank, .by = i };

        if (!may_disturb(m, r->rank, &n->others[i]))
            continue;
        all_s += n->others[i].cpu_s;
        add_group(m, &n->others[i], &group);
        if (most.by == FV_NONE || group.by_cpu_s > most.by_cpu_s)
            most = group;
    }
    bool is_known = most.by != FV_NONE && n->others[most.by].pid && lost_s > 0 && most.by_cpu_s >= MOST * all_s &&
                    most.by_cpu_s >= MOST * lost_s;
    r->by = is_known ? most.by : FV_NONE;
    r->by_count = is_known ? most.by_count : 0;
    r->by_cpu_s = is_known ? most.by_cpu_s : 0;
}

const struct fv_noise_rank *fv_noise_culprit(const struct fv_model *m, uint32_t rank, double lost_s)
{
    const struct fv_noise_view *n = fv_model_noise(m);

    if (!n->rank_count || n->ranks[rank].by == FV_NONE || n->ranks[rank].by_cpu_s < MOST * lost_s)
        return NULL;
    return &n->ranks[rank];
}

bool fv_noise_is_own(const struct fv_model *m, uint32_t rank, double lost_s)
{
    const struct fv_noise_rank *culprit = fv_noise_culprit(m, rank, lost_s);

    return culprit && culprit->by_count == 1 && fv_model_noise(m)->others[culprit->by].started_by != FV_NONE;
}

/* ---- the whole ---- */

void fv_build_noise(struct fv_model *m)
{
    struct fv_noise_view *n = fv_model_noise(m);
    struct intervals all = { 0 };
    struct fv_index index = { 0 };

    if (!n->rank_count)
        return;
    if (n->series_count)
        qsort(n->series, n->series_count, sizeof(*n->series), by_site);
    for (size_t i = 0, end; i < n->series_count; i = end) {
        struct fv_noise_place *p = place_of(m, &index, n->series[i].site);

        for (end = i; end < n->series_count && n->series[end].site == p->site; end++)
            add_series(p, &n->series[end]);
        find_longest(p, n->series + i, end - i);
    }
    add_costs(m, &index);
    if (n->place_count)
        qsort(n->places, n->place_count, sizeof(*n->places), by_cost);
    n->place_count = n->place_count < FV_NOISE_PLACES ? n->place_count : FV_NOISE_PLACES;
    for (uint32_t i = 0; i < n->place_count; i++)
        finish_place(m, i, &all);
    for (uint32_t i = 0; i < n->rank_count; i++)
        find_who(m, &n->ranks[i]);
    fv_index_release(&index);
    free(all.items);
    free(all.values);
}
