/* SPDX-License-Identifier: BSD-3-Clause */
/* The analysis of the trace joined with the profile. Both come from the same rank files: it is looked at
 * whether they do, by who wrote them and how many calls of each are in the trace, and then call sites are
 * looked up by their keys (keys.h). */
#include "profile/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH 0.5 /* of the MPI time in the trace: less says nothing about the run */

/* Part of a call site on a rank. */
struct share {
    uint64_t key, rank; /* rank: in fv_model.ranks */
    uint64_t profiled;  /* calls that the profile has there */
    struct fv_analysed_part sum;
    double direct_s[FV_PLACES];
    bool joined;
};
struct join {
    struct fv_model *model;
    const struct fv_analysis_result *a;
    bool exact; /* one clock, and nothing is missing */
    struct share *shares;
    size_t share_count, share_room;
    struct fv_index share_index, ranks;
    struct fv_index sites; /* of the profile, by key */
};

/* ---- their parts on each rank ---- */

static uint32_t rank_of(const struct join *j, uint32_t world_rank)
{
    struct fv_index_probe p = fv_index_probe(&j->ranks, fv_mix(world_rank));
    uint32_t i;

    while ((i = fv_index_next(&p)) != FV_NONE)
        if (j->model->ranks[i].world_rank == (int)world_rank)
            break;
    return i;
}

static struct share *find_share(const struct join *j, uint64_t key, uint32_t rank)
{
    uint32_t i = FV_FIND(j->share_index, j->shares, (uint64_t[]){ key, rank });

    return i == FV_NONE ? NULL : &j->shares[i];
}

static struct share *share_of(struct join *j, uint64_t key, uint32_t rank)
{
    return FV_INTERNED(j->share_index, j->shares, j->share_count, j->share_room, (uint64_t[]){ key, rank });
}

static void add_part(struct fv_analysed_part *to, const struct fv_analysed_part *from)
{
    to->count += from->count;
    to->time_s += from->time_s;
    to->wait_s += from->wait_s;
    to->caused_s += from->caused_s;
    to->estimated_s += from->estimated_s;
    to->withheld_s += from->withheld_s;
    for (unsigned k = 0; k < FV_PLACES; k++) {
        to->delay_s[k] += from->delay_s[k];
        to->critical_s[k] += from->critical_s[k];
    }
}

/* Every rank that it speaks of is there: same_files(). */
static void add_shares(struct join *j)
{
    const struct fv_analysis_result *a = j->a;

    for (uint32_t i = 0; i < a->site_count; i++)
        for (uint32_t k = 0; k < a->sites[i].parts; k++) {
            const struct fv_analysed_part *p = &a->parts[a->sites[i].first_part + k];

            add_part(&share_of(j, a->sites[i].key, rank_of(j, p->rank))->sum, p);
        }
    for (size_t i = 0; i < a->delay_count; i++) {
        const struct fv_analysed_delay *d = &a->delays[i];

        share_of(j, a->sites[d->site].key, rank_of(j, d->rank))->direct_s[d->where] += d->direct_s;
    }
}

/* ---- is it of these rank files? ---- */

/* Was it made from the files that are here, as far as these had come? Else some have been written anew, have
 * gone on, were added or taken away. What it says of ranks it may say of those alone that it lists. */
static bool same_files(struct join *j)
{
    const struct fv_model *m = j->model;
    const struct fv_analysis_result *a = j->a;
    bool *listed = fv_xcalloc(m->rank_count, sizeof(*listed));
    bool same = a->world_size == (uint32_t)m->world_size;

    for (uint32_t i = 0; i < m->rank_count; i++)
        fv_index_add(&j->ranks, fv_mix((uint32_t)m->ranks[i].world_rank), i);
    for (size_t i = 0; same && i < a->rank_count; i++) {
        uint32_t rank = rank_of(j, a->ranks[i].rank);

        same = rank != FV_NONE && m->ranks[rank].process == a->ranks[i].identity.process &&
               m->ranks[rank].trace_calls == a->ranks[i].identity.traced_calls;
        if (same)
            listed[rank] = true;
    }
    for (size_t i = 0; i < m->rank_count; i++)
        same = same && (listed[i] || !m->ranks[i].traced);
    for (size_t i = 0; same && i < a->part_count; i++)
        same = rank_of(j, a->parts[i].rank) != FV_NONE;
    for (size_t i = 0; same && i < a->delay_count; i++)
        same = rank_of(j, a->delays[i].rank) != FV_NONE;
    for (size_t i = 0; same && i < a->procedure_count; i++)
        same = rank_of(j, a->procedures[i].rank) != FV_NONE;
    for (size_t i = 0; same && i < a->computed_count; i++)
        same = rank_of(j, a->computed[i].rank) != FV_NONE;
    free(listed);
    return same;
}

/* What the trace holds of the MPI time. */
static double coverage_of(const struct join *j)
{
    const struct fv_model *m = j->model;
    double traced_s = 0, all_s = 0;

    for (size_t i = 0; i < j->share_count; i++)
        traced_s += j->shares[i].sum.time_s;
    for (size_t i = 0; i < m->site_rank_count; i++)
        all_s += m->site_ranks[i].stat.sum_s;
    return all_s > 0 ? fmin(traced_s / all_s, 1) : 1; /* a program without MPI */
}

/* ---- what it says ---- */

static struct share *share_of_part(const struct join *j, const struct fv_site_rank *s)
{
    return find_share(j, j->model->sites[s->site].key, s->rank);
}

static void count_calls(struct join *j)
{
    const struct fv_model *m = j->model;

    for (size_t i = 0; i < m->site_rank_count; i++) {
        struct share *share = share_of_part(j, &m->site_ranks[i]);

        if (share)
            share->profiled += m->site_ranks[i].stat.calls;
    }
}

/* Waiting in barriers that fvmpi inserted was measured by the rank itself. Of a trace that ended early, the
 * calls behind its end are taken to have waited as long, but for those that the wait log knows. */
static void set_wait(const struct join *j, struct fv_site_rank *s, const struct share *share, double part)
{
    bool whole = share->sum.count >= share->profiled;

    if (fv_site_more(j->model, s)->barriers || !share->sum.count || (!whole && s->wait_kind == FV_WAIT_EXACT))
        return;
    s->wait_s = share->sum.wait_s * part;
    if (!whole)
        s->wait_s *= (double)share->profiled / (double)share->sum.count;
    s->wait_s = fmin(s->wait_s, s->stat.sum_s);
    s->wait_kind = whole && j->exact && part >= 1 && share->sum.estimated_s <= 0 ? FV_WAIT_EXACT : FV_WAIT_ESTIMATE;
}

/* What of that is an estimate. */
static double estimated_of(const struct join *j, const struct fv_site_rank *s)
{
    const struct share *share = share_of_part(j, s);
    bool whole = share && share->profiled && share->sum.count >= share->profiled && s->stat.calls >= share->profiled;

    if (s->wait_kind != FV_WAIT_ESTIMATE)
        return 0;
    return whole && j->exact && !fv_site_more(j->model, s)->barriers ? fmin(share->sum.estimated_s, s->wait_s)
                                                                     : s->wait_s;
}

static void take_site_rank(const struct join *j, struct fv_site_rank *s)
{
    struct share *share = share_of_part(j, s);

    if (s->more)
        j->model->site_more[s->more].blame = (struct fv_blame){ 0 };
    if (!share || !share->profiled || !s->stat.calls)
        return;
    double part = (double)s->stat.calls / (double)share->profiled; /* 1, unless two share a key */
    share->joined = true;
    set_wait(j, s, share, part);
    struct fv_blame *blame = &fv_build_more(j->model, s)->blame;
    blame->caused_s = share->sum.caused_s * part;
    blame->withheld_s = share->sum.withheld_s * part;
    for (unsigned k = 0; k < FV_PLACES; k++) {
        blame->delay_s[k] = share->sum.delay_s[k] * part;
        blame->direct_s[k] = share->direct_s[k] * part;
        blame->critical_s[k] = share->sum.critical_s[k] * part;
    }
}

/* What is behind the last call, or in a call that did not end. */
static void take_elsewhere(struct join *j)
{
    struct fv_causes *c = &j->model->causes;

    for (size_t i = 0; i < j->share_count; i++) {
        c->elsewhere_s += j->shares[i].joined ? 0 : j->shares[i].sum.wait_s;
        for (unsigned k = 0; !j->shares[i].joined && k < FV_PLACES; k++) {
            if (j->shares[i].sum.delay_s[k] <= 0)
                continue;
            FV_GROW(c->elsewhere, c->elsewhere_room, c->elsewhere_count + 1);
            c->elsewhere[c->elsewhere_count++] = (struct fv_culprit){ .rank = (uint32_t)j->shares[i].rank,
                                                                      .site = FV_NONE,
                                                                      .where = k,
                                                                      .cost_s = j->shares[i].sum.delay_s[k],
                                                                      .direct_s = j->shares[i].direct_s[k] };
        }
    }
}

/* The profile's call site of one of the analysis; FV_NONE. */
static uint32_t site_of(const struct join *j, uint32_t analysed)
{
    uint64_t key = j->a->sites[analysed].key;
    struct fv_index_probe p = fv_index_probe(&j->sites, fv_mix(key));
    uint32_t site;

    while ((site = fv_index_next(&p)) != FV_NONE && j->model->sites[site].key != key)
        ;
    return site;
}

static const char *own(struct fv_model *m, const char *text)
{
    return text ? fv_arena_string(&m->arena, text) : NULL;
}

static void take_procedures(struct join *j)
{
    struct fv_model *m = j->model;
    struct fv_causes *c = &m->causes;

    c->late_by_regions = j->a->by_regions;
    FV_GROW(c->late, c->late_room, j->a->procedure_count);
    for (size_t i = 0; i < j->a->procedure_count; i++) {
        const struct fv_analysed_procedure *p = &j->a->procedures[i];

        c->late[c->late_count++] = (struct fv_late_procedure){
            rank_of(j, p->rank), site_of(j, p->site), own(m, p->function), own(m, p->file), p->cpu_s,
            p->delay_s,          p->critical_s
        };
    }
}

/* Of the whole run, or none: clock samples of the profile tell more than a part. */
static void take_computed(struct join *j)
{
    struct fv_model *m = j->model;
    struct fv_causes *c = &m->causes;

    if (!j->a->computed_whole || c->coverage < FV_CAUSES_WHOLE)
        return;
    FV_GROW(c->computed, c->computed_room, j->a->computed_count);
    for (size_t i = 0; i < j->a->computed_count; i++) {
        const struct fv_analysed_computing *p = &j->a->computed[i];
        uint32_t from = site_of(j, p->from), site = site_of(j, p->site);

        if (from != FV_NONE && site != FV_NONE)
            c->computed[c->computed_count++] = (struct fv_computing_part){
                from, site, rank_of(j, p->rank), own(m, p->function), own(m, p->file), p->count, p->cpu_s
            };
    }
}

static void take_bins(struct join *j)
{
    struct fv_model *m = j->model;
    struct fv_causes *c = &m->causes;

    c->bin_s = j->a->bin_s;
    c->bins_from_s = j->a->from_s;
    c->bins = fv_xcalloc(m->rank_count + 1, sizeof(*c->bins));
    for (size_t i = 0; i < j->a->bins_count; i++) {
        const struct fv_analysed_bins *of = &j->a->bins[i];
        const uint32_t rank = rank_of(j, of->rank);

        if (rank == FV_NONE)
            continue;
        c->bins[rank].wait_s = fv_arena_take(&m->arena, (of->count + 1) * sizeof(*of->wait_s));
        c->bins[rank].count = of->count;
        if (of->count)
            memcpy(c->bins[rank].wait_s, of->wait_s, of->count * sizeof(*of->wait_s));
    }
}

static bool is_completion(const char *kind)
{
    size_t length = strlen(kind);

    return length >= 11 && !strcmp(kind + length - 11, "_completion");
}

static void take_totals(struct join *j)
{
    const struct fv_analysis_result *a = j->a;
    struct fv_model *m = j->model;
    struct fv_causes *c = &m->causes;

    c->source = FV_CAUSES_TRACE;
    c->exact = c->is_whole = j->exact;
    c->unmatched = a->unmatched;
    c->early = a->early;
    c->cut_short = a->cut_short;
    c->wait_s = 0;
    c->unexplained_s = a->unexplained_s;
    c->critical_path_s = a->critical_path_s;
    c->lock_wait_s = a->lock_wait_s;
    c->switches = a->switches;
    c->kind_count = a->kind_count;
    FV_GROW(c->kinds, c->kind_room, c->kind_count);
    for (size_t i = 0; i < a->kind_count; i++) {
        const struct fv_analysed_kind *kind = &a->kinds[i];

        c->exact = c->exact && !fv_kind_is_estimate(kind->kind);
        c->kinds[i] = (struct fv_wait_sum){ fv_arena_string(&m->arena, kind->kind), is_completion(kind->kind),
                                            kind->count, kind->wait_s };
    }
    for (size_t i = 0; i < j->share_count; i++)
        c->wait_s += j->shares[i].sum.wait_s;
    for (size_t i = 0; i < a->rank_count; i++) {
        struct fv_rank *r = &m->ranks[rank_of(j, a->ranks[i].rank)];

        r->caused_s = a->ranks[i].caused_s;
        r->charged_s = a->ranks[i].delay_s;
        r->critical_s = a->ranks[i].critical_s;
    }
    for (size_t i = 0; i < j->share_count; i++)
        m->ranks[j->shares[i].rank].withheld_s += j->shares[i].sum.withheld_s;
    if (c->coverage < FV_CAUSES_WHOLE)
        return;
    m->efficiency.ideal_s = a->ideal_s;
}

/* Before it is joined: keeps what the rank files themselves tell of waiting at each call site. */
static void keep_own_waits(struct fv_model *m)
{
    uint8_t *kinds = fv_xcalloc(m->site_count, sizeof(*kinds));

    for (size_t i = 0; i < m->site_rank_count; i++) {
        const struct fv_site_rank *r = &m->site_ranks[i];
        struct fv_site *s = &m->sites[r->site];

        m->ranks[r->rank].own_wait_s += r->wait_s;
        m->ranks[r->rank].own_wait_kinds |= fv_build_wait_kinds(m, r);
        if (!r->stat.calls)
            continue;
        s->own_wait_s += r->wait_s;
        kinds[r->site] |= (uint8_t)(1u << r->wait_kind);
    }
    for (size_t i = 0; i < m->site_count; i++)
        m->sites[i].own_wait_kind = fv_wait_kind_of(kinds[i]);
    free(kinds);
}

static void take_over(struct join *j)
{
    struct fv_model *m = j->model;

    count_calls(j);
    keep_own_waits(m);
    for (size_t i = 0; i < m->site_rank_count; i++)
        take_site_rank(j, &m->site_ranks[i]);
    for (size_t i = 0; i < m->site_rank_count; i++)
        m->causes.estimated_s += estimated_of(j, &m->site_ranks[i]);
    take_elsewhere(j);
    for (uint32_t i = 0; i < m->site_count; i++)
        fv_index_add(&j->sites, fv_mix(m->sites[i].key), i);
    take_procedures(j);
    take_computed(j);
    take_totals(j);
}

static bool keeps_end(const struct fv_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++)
        if (isfinite(m->ranks[i].trace_from_s))
            return true;
    return false;
}

void fv_build_analysed(struct fv_build *b, const struct fv_analysis_result *a)
{
    struct fv_model *m = b->model;
    struct join j = { .model = m, .a = a };
    double coverage = 1;

    m->efficiency.ideal_s = NAN;
    for (size_t i = 0; i < m->rank_count; i++)
        m->ranks[i].caused_s = m->ranks[i].charged_s = m->ranks[i].critical_s = NAN;
    if (!a)
        return;
    j.exact = a->one_clock && !a->unmatched && !a->cut_calls && !a->early && a->rank_count >= a->world_size &&
              m->rank_count >= a->world_size;
    bool same = same_files(&j);
    if (same) {
        add_shares(&j);
        take_bins(&j);
        coverage = coverage_of(&j);
    }
    if (same && coverage >= ENOUGH) {
        m->causes.coverage = coverage;
        take_over(&j);
    } else if (same) {
        m->causes.left_out = true;
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, FV_ANALYSIS_FILE,
                       keeps_end(m)
                           ? "the trace keeps %.0f %% of the MPI time only, and its analysis is of that alone: "
                             "see fvmpi report of the archive"
                           : "the trace has %.0f %% of the MPI time only; its analysis is left out (raise "
                             "FVMPI_TRACE_MAX)",
                       100 * coverage);
    } else
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, FV_ANALYSIS_FILE,
                       "it is not of these rank files, or older than they are; it is left out: run fvunify again");
    free(j.shares);
    fv_index_release(&j.share_index);
    fv_index_release(&j.ranks);
    fv_index_release(&j.sites);
}

bool fv_is_analysed(const struct fv_model *m)
{
    return m->causes.source == FV_CAUSES_TRACE || m->causes.left_out;
}
