/* SPDX-License-Identifier: BSD-3-Clause */
/* See verdict.h. */
#include "profile/verdict.h"

#include "profile/places.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ONE_PLACE  0.9    /* of what a rank is charged: then there is nothing else to tell */
#define STANDS_OUT 1.5    /* times what each rank had if all were alike */
#define ENOUGH     0.25   /* of all waiting: then collectives may speak for it */
#define ALL        0.9995 /* of it: that is all */
#define TOLD_APART 10     /* culprits */
#define SENTENCE   2400

/* What a rank is charged in all. */
static double charged(const struct fv_model *m, size_t rank)
{
    return m->causes.source == FV_CAUSES_TRACE ? m->ranks[rank].charged_s : m->ranks[rank].delay_s;
}

static const struct fv_culprit *largest_of(const struct fv_causes *c, uint32_t rank)
{
    for (size_t i = 0; i < c->culprit_count; i++)
        if (c->culprits[i].rank == rank)
            return &c->culprits[i];
    return NULL;
}

/* The rank that is charged most; how much all are, in *all. */
static uint32_t most_charged(const struct fv_model *m, double *all)
{
    uint32_t most = 0;

    *all = 0;
    for (uint32_t i = 0; i < m->rank_count; i++) {
        double here = charged(m, i);

        *all += here > 0 ? here : 0; /* NAN: not in the analysis */
        if (here > 0 && !(charged(m, most) >= here))
            most = i;
    }
    return most;
}

/* "Rank 3 is to blame for most: 57.0 % of all waiting, in ..."; "" where none is. */
static char *blame(const struct fv_profile *v, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    const struct fv_causes *c = &m->causes;
    char share[FV_WORD], part[FV_WORD], where[SENTENCE];
    bool traced = c->source == FV_CAUSES_TRACE;
    struct fv_places places = { .view = v };
    double all;
    uint32_t most = most_charged(m, &all);
    const struct fv_culprit *top = largest_of(c, most);

    out[0] = '\0';
    if (!(all > 0) || !top)
        return out;
    for (size_t i = 0; i < c->culprit_count && i < TOLD_APART; i++)
        fv_places_add(&places, c->culprits[i].site);
    double cost = charged(m, most);
    bool stands_out = m->rank_count < 2 || cost * (double)m->rank_count >= STANDS_OUT * all;
    fv_place_words(&places, top->site, top->where, where, sizeof(where));
    snprintf(out, bytes, "%sank %d %s for most: %s of %s, ", stands_out ? "R" : "No rank stands out; r",
             m->ranks[most].world_rank, traced ? "is to blame" : "came last", fv_words_percent(cost, c->wait_s, share),
             traced ? "all waiting" : "it");
    size_t used = strlen(out);
    if (used < bytes && top->cost_s < ONE_PLACE * cost)
        used += (size_t)snprintf(out + used, bytes - used, "above all (%s) ",
                                 fv_words_percent(top->cost_s, c->wait_s, part));
    if (used < bytes)
        snprintf(out + used, bytes - used, "%s%s", top->site == FV_NONE ? "" : "in ", where);
    fv_places_release(&places);
    return out;
}

/* Of a profile: the part of all waiting that the collectives are. */
static double share_of_all(const struct fv_model *m, double *all)
{
    *all = 0;
    for (size_t i = 0; i < m->rank_count; i++)
        *all += m->ranks[i].wait_time_s;
    *all = fmax(*all, m->causes.wait_s);
    return *all > 0 ? m->causes.wait_s / *all : 0;
}

/* May a profile's collectives speak for all waiting? */
bool fv_verdict_tells_enough(const struct fv_model *m)
{
    double all;

    return m->causes.source == FV_CAUSES_TRACE || share_of_all(m, &all) >= ENOUGH;
}

bool fv_verdict_unbalanced(const struct fv_model *m)
{
    return m->efficiency.load_balance < FV_POP_GOOD;
}

/* "Load balance is 62.0 %: rank 3 is outside of MPI longest (4.20 s; mean 2.60 s)": it need not compute there. */
static size_t longest_outside(const struct fv_profile *v, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    bool disturbed = fv_findings_named(v->findings, FV_FINDING_DISTURBED);
    char balance[FV_WORD], most[FV_WORD], mean[FV_WORD];
    double longest = -1;
    int rank = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        double outside = fv_rank_compute_s(&m->ranks[i]);

        if (outside <= longest)
            continue;
        longest = outside;
        rank = m->ranks[i].world_rank;
    }
    return (size_t)snprintf(out, bytes, "Load balance is %s: rank %d is outside of MPI longest (%s; mean %s)%s",
                            fv_words_percent(m->efficiency.load_balance, 1, balance), rank,
                            fv_words_seconds(longest, most),
                            fv_words_seconds(m->efficiency.compute_s / (double)m->rank_count, mean),
                            disturbed ? ", waiting for a processor included" : "");
}

/* Without a trace: the collectives' part of all waiting first, so that it is not taken for the whole. */
static char *profile_headline(const struct fv_profile *v, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    char all_word[FV_WORD], word[FV_WORD], part[FV_WORD], who[SENTENCE];
    double all, share = share_of_all(m, &all);
    size_t used = 0;

    out[0] = '\0';
    if (blame(v, who, sizeof(who))[0] && share >= ALL)
        used =
            (size_t)snprintf(out, bytes, "All waiting (%s%s) is in collectives",
                             m->efficiency.wait_kind == FV_WAIT_EXACT ? "" : "about ", fv_words_seconds(all, all_word));
    else if (*who)
        used = (size_t)snprintf(out, bytes, "%s of %s%s of waiting (%s) is in collectives",
                                fv_words_seconds(m->causes.wait_s, word),
                                m->efficiency.wait_kind == FV_WAIT_EXACT ? "" : "about ",
                                fv_words_seconds(all, all_word), fv_words_percent(share, 1, part));
    if (used && used < bytes)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", share >= ENOUGH ? ". " : ", ",
                                 share >= ENOUGH ? who : "too little to name a rank");
    if (fv_verdict_unbalanced(m) && used < bytes) {
        if (used)
            used += (size_t)snprintf(out + used, bytes - used, ". ");
        if (used < bytes)
            longest_outside(v, out + used, bytes - used);
    }
    return out;
}

char *fv_verdict_waiting(const struct fv_profile *v, char *out, size_t bytes)
{
    return v->model->causes.source == FV_CAUSES_TRACE ? blame(v, out, bytes) : profile_headline(v, out, bytes);
}
