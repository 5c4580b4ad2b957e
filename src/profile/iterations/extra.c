/* SPDX-License-Identifier: BSD-3-Clause */
/* See extra.h. */
#include "profile/iterations/extra.h"

#include "profile/iterations/calls.h"

#include <math.h>
#include <stdlib.h>

#define ALONE      0.1  /* of the calls of long iterations: what others have of them at most */
#define OFTEN      0.5  /* calls in a long iteration of a rank */
#define ALONE_PART 0.2  /* of what long iterations take more */
#define MOST       0.5  /* of what they compute more */
#define CLEARLY    1.25 /* times what the next rank has more: a rank is named */

/* What a rank has more, of computing before the call. */
struct of_rank {
    double more_s;
    uint32_t rank;
};
struct fv_extra_place {
    double before_s[FV_EXTRA_CLASSES], call_s[FV_EXTRA_CLASSES];
    uint64_t calls[FV_EXTRA_CLASSES];
    struct of_rank most[2]; /* the two ranks that have most, that with more first; 0 s: there is none */
};

void fv_extra_call(struct fv_extra *x, uint32_t site, enum fv_extra_class of, double before_s, double call_s)
{
    if (!x->rank)
        x->rank = fv_xcalloc(x->sites, sizeof(*x->rank));
    x->rank[site].before_s[of] += before_s;
    x->rank[site].call_s[of] += call_s;
    x->rank[site].calls[of]++;
}

static double more_s(const struct fv_extra *x, const double by_class[FV_EXTRA_CLASSES])
{
    return by_class[FV_EXTRA_LONG] / (double)x->classes[FV_EXTRA_LONG] -
           by_class[FV_EXTRA_OTHER] / (double)x->classes[FV_EXTRA_OTHER];
}

/* A rank that calls at several sites which look alike has the sum of them. */
static void add_rank(struct fv_extra_place *to, struct of_rank of)
{
    struct of_rank *most = to->most, first = most[0];

    if (of.rank == most[0].rank)
        most[0].more_s += of.more_s;
    else if (of.rank == most[1].rank)
        most[1].more_s += of.more_s;
    else if (of.more_s > most[1].more_s)
        most[1] = of;
    if (most[1].more_s > most[0].more_s) {
        most[0] = most[1];
        most[1] = first;
    }
}

static void add(struct fv_extra_place *to, const struct fv_extra_place *from)
{
    for (unsigned c = 0; c < FV_EXTRA_CLASSES; c++) {
        to->before_s[c] += from->before_s[c];
        to->call_s[c] += from->call_s[c];
        to->calls[c] += from->calls[c];
    }
    for (unsigned i = 0; i < 2; i++)
        add_rank(to, from->most[i]);
}

void fv_extra_end_rank(struct fv_extra *x, uint32_t rank, bool counts)
{
    if (counts && x->rank && !x->places)
        x->places = fv_xcalloc(x->sites, sizeof(*x->places));
    for (size_t i = 0; counts && x->rank && i < x->sites; i++) {
        x->rank[i].most[0] = (struct of_rank){ fmax(more_s(x, x->rank[i].before_s), 0), rank };
        add(&x->places[i], &x->rank[i]);
    }
    free(x->rank);
    x->rank = NULL;
}

static bool is_alone(const struct fv_extra *x, const struct fv_extra_place *p)
{
    double of_long = (double)p->calls[FV_EXTRA_LONG] / (double)x->classes[FV_EXTRA_LONG],
           of_others = (double)p->calls[FV_EXTRA_OTHER] / (double)x->classes[FV_EXTRA_OTHER];

    return of_long >= OFTEN && of_others < ALONE * of_long;
}

/* Frames that two call sites have in common. */
static uint32_t common(const struct fv_model *m, uint32_t a, uint32_t b)
{
    uint32_t x = m->sites[a].node, y = m->sites[b].node, depth = 0;

    while (x != y) /* parents have smaller numbers */
        if (x > y)
            x = m->tree.nodes[x].parent;
        else
            y = m->tree.nodes[y].parent;
    for (; x; x = m->tree.nodes[x].parent)
        depth++;
    return depth;
}

/* The rank that computes clearly longer than others there, and is what makes the iteration longer; FV_NONE. */
static uint32_t rank_of(const struct fv_extra *x, const struct fv_extra_place *p)
{
    double longer_s = (more_s(x, p->before_s) + more_s(x, p->call_s)) / (double)x->ranks; /* of a rank, on average */

    return p->most[0].more_s > CLEARLY * p->most[1].more_s && p->most[0].more_s >= MOST * longer_s ? p->most[0].rank
                                                                                                   : FV_NONE;
}

static void set_cause(const struct fv_extra *x, const struct fv_model *m, uint32_t site, const struct fv_extra_place *p,
                      struct fv_iteration_unit *out)
{
    uint32_t shared = common(m, out->site, site);

    out->longs = x->classes[FV_EXTRA_LONG];
    out->others = x->classes[FV_EXTRA_OTHER];
    out->cause_site = site;
    out->cause_node = fv_iteration_node(m, site, (shared < x->depth ? shared : x->depth) + 1);
    out->cause_rank = rank_of(x, p);
}

/* Sites that look alike are one. */
static struct fv_extra_place *folded(const struct fv_extra *x, const uint32_t *sites, size_t count)
{
    struct fv_extra_place *places = fv_xcalloc(count + 1, sizeof(*places));

    for (size_t i = 0; i < x->sites; i++)
        if (sites[i] < count)
            add(&places[sites[i]], &x->places[i]);
    return places;
}

static void judge(const struct fv_extra *x, const struct fv_model *m, const struct fv_extra_place *places,
                  struct fv_iteration_unit *out)
{
    double all = 0, computing = 0, alone_s = 0, before_s = 0, call_s = 0, before_alone_s = 0;
    uint32_t alone = 0, before = 0, call = 0, before_alone = 0, site;

    for (uint32_t i = 0; i < m->site_count; i++) {
        double in_call = more_s(x, places[i].call_s), outside = more_s(x, places[i].before_s);

        all += fmax(in_call, 0) + fmax(outside, 0);
        computing += fmax(outside, 0);
        if (is_alone(x, &places[i]) && in_call + outside > alone_s)
            alone_s = in_call + outside, alone = i;
        if (is_alone(x, &places[i]) && outside > before_alone_s)
            before_alone_s = outside, before_alone = i;
        if (outside > before_s)
            before_s = outside, before = i;
        if (in_call > call_s)
            call_s = in_call, call = i;
    }
    if (!(all > 0))
        return;
    out->cause_is_alone = alone_s >= ALONE_PART * all;
    out->cause_is_call = !out->cause_is_alone &&
                         !(before_s > 0 && before_s >= MOST * computing && before_s * (double)x->ranks >= call_s);
    if (before_alone_s >= MOST * alone_s) /* where a rank computes; at another site others may wait for that */
        alone = before_alone;
    site = out->cause_is_alone ? alone : out->cause_is_call ? call : before;
    set_cause(x, m, site, &places[site], out);
}

void fv_extra_judge(const struct fv_extra *x, const struct fv_model *m, const uint32_t *sites,
                    struct fv_iteration_unit *out)
{
    struct fv_extra_place *places;

    if (!x->places)
        return;
    places = folded(x, sites, m->site_count);
    judge(x, m, places, out);
    free(places);
}

void fv_extra_release(struct fv_extra *x)
{
    free(x->places);
    free(x->rank);
    x->places = x->rank = NULL;
}
