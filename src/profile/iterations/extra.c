/* SPDX-License-Identifier: BSD-3-Clause */
/* See extra.h. */
#include "profile/iterations/extra.h"

#include "profile/iterations/calls.h"

#include <math.h>
#include <stdlib.h>

#define ALONE        0.1  /* of the calls of long iterations: what others have of them at most */
#define OFTEN        0.5  /* calls in a long iteration of a rank, ... */
#define SELDOM       0.1  /* ... if long ones may be of several causes */
#define TIMES        3    /* iterations with a call, at least */
#define ALONE_PART   0.2  /* of what long iterations take more */
#define MOST         0.5  /* of what they compute more */
#define CLEARLY      1.25 /* times what the next rank has more: a rank is named */
#define LEAST_S      1e-7 /* that a rank has more or less at a site, of an iteration */
#define BY_RANK_MOST (1u << 22)

/* What a rank has more at a site, of computing before the call; may be less. */
struct fv_extra_of_rank {
    double more_s;
    uint32_t site, rank;
};
struct fv_extra_place {
    double before_s[FV_EXTRA_CLASSES], call_s[FV_EXTRA_CLASSES];
    uint64_t calls[FV_EXTRA_CLASSES];
    size_t last;    /* iteration that has it, from 1 on; 0: none yet */
    uint64_t in;    /* iterations that have it: of the rank that has most */
    double seconds; /* what these took */
};

void fv_extra_call(struct fv_extra *x, uint32_t site, struct fv_extra_iteration in, double before_s, double call_s)
{
    if (!x->rank)
        x->rank = fv_xcalloc(x->sites, sizeof(*x->rank));
    struct fv_extra_place *p = &x->rank[site];
    p->before_s[in.of] += before_s;
    p->call_s[in.of] += call_s;
    p->calls[in.of]++;
    if (p->last == in.number + 1)
        return;
    p->last = in.number + 1;
    p->in++;
    p->seconds += in.seconds;
}

static double more_s(const struct fv_extra *x, const double by_class[FV_EXTRA_CLASSES])
{
    return by_class[FV_EXTRA_LONG] / (double)x->classes[FV_EXTRA_LONG] -
           by_class[FV_EXTRA_OTHER] / (double)x->classes[FV_EXTRA_OTHER];
}

static void add(struct fv_extra_place *to, const struct fv_extra_place *from)
{
    for (unsigned c = 0; c < FV_EXTRA_CLASSES; c++) {
        to->before_s[c] += from->before_s[c];
        to->call_s[c] += from->call_s[c];
        to->calls[c] += from->calls[c];
    }
    if (from->in > to->in) {
        to->in = from->in;
        to->seconds = from->seconds;
    }
}

/* Beyond that many no rank is named. */
static void note_rank(struct fv_extra *x, uint32_t site, uint32_t rank, double more)
{
    if (fabs(more) < LEAST_S || x->by_rank_count > BY_RANK_MOST)
        return;
    FV_GROW(x->by_rank, x->by_rank_room, x->by_rank_count + 1);
    x->by_rank[x->by_rank_count++] = (struct fv_extra_of_rank){ more, site, rank };
}

void fv_extra_end_rank(struct fv_extra *x, uint32_t rank, bool counts)
{
    if (counts && x->rank && !x->places)
        x->places = fv_xcalloc(x->sites, sizeof(*x->places));
    for (uint32_t i = 0; counts && x->rank && i < x->sites; i++) {
        note_rank(x, i, rank, more_s(x, x->rank[i].before_s));
        add(&x->places[i], &x->rank[i]);
    }
    if (counts && x->rank_most < rank)
        x->rank_most = rank;
    free(x->rank);
    x->rank = NULL;
}

static bool is_alone(const struct fv_extra *x, const struct fv_extra_place *p, bool is_of_some)
{
    double of_long = (double)p->calls[FV_EXTRA_LONG] / (double)x->classes[FV_EXTRA_LONG],
           of_others = (double)p->calls[FV_EXTRA_OTHER] / (double)x->classes[FV_EXTRA_OTHER];

    return of_long >= (is_of_some ? SELDOM : OFTEN) && p->in >= (is_of_some ? TIMES : 1) && of_others < ALONE * of_long;
}

/* Frames that two call paths have in common. */
static uint32_t common(const struct fv_model *m, uint32_t x, uint32_t y)
{
    uint32_t depth = 0;

    while (x != y) /* parents have smaller numbers */
        if (x > y)
            x = m->tree.nodes[x].parent;
        else
            y = m->tree.nodes[y].parent;
    for (; x; x = m->tree.nodes[x].parent)
        depth++;
    return depth;
}

/* Of the recorded sites that are this one now, the path that goes with the loop longest: both as recorded. */
static uint32_t path_of(const struct fv_extra *x, const struct fv_model *m, const uint32_t *sites, uint32_t site,
                        uint32_t *shared)
{
    uint32_t node = FV_NONE;

    *shared = 0;
    for (size_t i = 0; i < x->sites; i++) {
        uint32_t depth = sites[i] == site ? common(m, x->nodes[x->call], x->nodes[i]) : 0;

        if (sites[i] == site && (node == FV_NONE || depth > *shared)) {
            *shared = depth;
            node = x->nodes[i];
        }
    }
    return node != FV_NONE ? node : m->sites[site].node;
}

/* The rank that computes clearly longer than others there, and is what makes the iteration longer; FV_NONE. */
static uint32_t rank_of(const struct fv_extra *x, const uint32_t *sites, uint32_t site, const struct fv_extra_place *p)
{
    double longer_s = (more_s(x, p->before_s) + more_s(x, p->call_s)) / (double)x->ranks; /* of a rank, on average */
    double *by_rank = fv_xcalloc((size_t)x->rank_most + 2, sizeof(*by_rank)), next_s = 0;
    uint32_t most = 0;

    for (size_t i = 0; i < x->by_rank_count; i++)
        by_rank[x->by_rank[i].rank] += sites[x->by_rank[i].site] == site ? x->by_rank[i].more_s : 0;
    for (uint32_t i = 1; i <= x->rank_most; i++)
        most = by_rank[i] > by_rank[most] ? i : most;
    for (uint32_t i = 0; i <= x->rank_most; i++)
        next_s = i != most ? fmax(next_s, by_rank[i]) : next_s;
    bool stands_out = x->by_rank_count <= BY_RANK_MOST && by_rank[most] > 0 && by_rank[most] > CLEARLY * next_s &&
                      by_rank[most] >= MOST * longer_s;
    free(by_rank);
    return stands_out ? most : FV_NONE;
}

static double mean_calls(const struct fv_extra *x, const struct fv_extra_place *p, enum fv_extra_class class)
{
    return (double)p->calls[class] / ((double)x->classes[class] * (double)x->ranks);
}

static void set_cause(const struct fv_extra *x, const struct fv_model *m, const uint32_t *sites, uint32_t site,
                      const struct fv_extra_place *p, struct fv_iteration_unit *out)
{
    uint32_t shared, node = path_of(x, m, sites, site, &shared);

    out->longs = x->classes[FV_EXTRA_LONG];
    out->others = x->classes[FV_EXTRA_OTHER];
    out->calls_in_long = mean_calls(x, p, FV_EXTRA_LONG);
    out->calls_in_others = mean_calls(x, p, FV_EXTRA_OTHER);
    out->cause_site = site;
    out->cause_node = fv_iteration_node(m, node, (shared < x->depth ? shared : x->depth) + 1);
    out->cause_rank = rank_of(x, sites, site, p);
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

static void judge(const struct fv_extra *x, const struct fv_model *m, const uint32_t *sites,
                  const struct fv_extra_place *places, struct fv_iteration_unit *out)
{
    const bool is_of_some = !out->times.period && !out->times.is_trend;
    double all = 0, computing = 0, alone_s = 0, before_s = 0, call_s = 0, before_alone_s = 0;
    uint32_t alone = 0, before = 0, call = 0, before_alone = 0, site;

    for (uint32_t i = 0; i < m->site_count; i++) {
        double in_call = more_s(x, places[i].call_s), outside = more_s(x, places[i].before_s);

        all += fmax(in_call, 0) + fmax(outside, 0);
        computing += fmax(outside, 0);
        if (is_alone(x, &places[i], is_of_some) && in_call + outside > alone_s)
            alone_s = in_call + outside, alone = i;
        if (is_alone(x, &places[i], is_of_some) && outside > before_alone_s)
            before_alone_s = outside, before_alone = i;
        if (outside > before_s)
            before_s = outside, before = i;
        if (in_call > call_s)
            call_s = in_call, call = i;
    }
    if (!(all > 0))
        return;
    out->cause_is_alone = alone_s >= ALONE_PART * all;
    out->cause_in = places[alone].in;
    out->cause_in_s = places[alone].in ? places[alone].seconds / (double)places[alone].in : NAN;
    out->cause_s = alone_s * (double)x->classes[FV_EXTRA_LONG];
    out->cause_is_call = !out->cause_is_alone &&
                         !(before_s > 0 && before_s >= MOST * computing && before_s * (double)x->ranks >= call_s);
    if (before_alone_s >= MOST * alone_s) /* where a rank computes; at another site others may wait for that */
        alone = before_alone;
    site = out->cause_is_alone ? alone : out->cause_is_call ? call : before;
    set_cause(x, m, sites, site, &places[site], out);
}

void fv_extra_judge(const struct fv_extra *x, const struct fv_model *m, const uint32_t *sites,
                    struct fv_iteration_unit *out)
{
    struct fv_extra_place *places;

    if (!x->places)
        return;
    places = folded(x, sites, m->site_count);
    judge(x, m, sites, places, out);
    free(places);
}

void fv_extra_release(struct fv_extra *x)
{
    free(x->places);
    free(x->rank);
    free(x->nodes);
    free(x->by_rank);
    *x = (struct fv_extra){ 0 };
}
