/* SPDX-License-Identifier: BSD-3-Clause */
/* See twins.h. */
#include "profile/iterations/twins.h"

#include "profile/iterations/units.h"
#include "tool/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MOST 4096 /* that are looked up */

/* A call path by what its frames look like: a frame, and the path to it. */
struct look {
    uint32_t before, alike; /* its key */
    uint32_t node;          /* the first one; 0: none ends here */
};
struct looks {
    struct look *items;
    size_t count, room;
    struct fv_index index;
};

/* Sites that may look the same: of the same function, with paths through the same modules. */
static uint64_t shape_of(const struct fv_model *m, const struct fv_site *s)
{
    uint64_t hash = s->function;

    for (uint32_t n = s->node; n; n = m->tree.nodes[n].parent)
        hash = fv_mix2(hash, m->tree.nodes[n].module);
    return hash;
}

static size_t mark_path(const struct fv_model *m, uint32_t node, uint8_t *marked)
{
    size_t count = 0;

    for (; node && !marked[node]; node = m->tree.nodes[node].parent) {
        marked[node] = 1;
        count++;
    }
    return count;
}

/* Sites of one shape. */
struct group {
    uint64_t shape; /* its key */
    uint64_t calls; /* of a site on a rank, the most */
    uint32_t sites;
};

/* A loop makes some of the calls at least so often. Without a trace blocking collective calls alone are known. */
static bool may_be_in_loop(const struct fv_model *m, const struct fv_site *s, const struct group *g, bool traced)
{
    const uint8_t rule = m->functions[s->function].wait;

    return g->sites > 1 && g->calls >= FV_UNIT_LEAST && (traced || (rule != FV_RULE_NONE && rule != FV_RULE_P2P));
}

/* The nodes that must have names. Returns how many. */
static size_t mark(const struct fv_model *m, bool traced, uint8_t *marked)
{
    struct fv_index index = { 0 };
    struct group *groups = NULL;
    size_t group_count = 0, room = 0, count = 0;
    uint32_t *group_of = fv_xcalloc(m->site_count + 1, sizeof(*group_of));

    for (uint32_t i = 0; i < m->site_count; i++) {
        group_of[i] = FV_INTERN(index, groups, group_count, room, (uint64_t[]){ shape_of(m, &m->sites[i]) });
        groups[group_of[i]].sites++;
    }
    for (size_t i = 0; i < m->site_rank_count; i++) {
        struct group *g = &groups[group_of[m->site_ranks[i].site]];

        g->calls = m->site_ranks[i].stat.calls > g->calls ? m->site_ranks[i].stat.calls : g->calls;
    }
    for (uint32_t i = 0; i < m->site_count; i++)
        if (may_be_in_loop(m, &m->sites[i], &groups[group_of[i]], traced))
            count += mark_path(m, m->sites[i].node, marked);
    free(group_of);
    free(groups);
    fv_index_release(&index);
    return count;
}

/* Looks up what is marked: symbols of the first `count` nodes, in their order. */
static void look_up(const struct fv_model *m, const uint8_t *marked, size_t count, struct fv_node *nodes,
                    struct fv_symbols *out)
{
    struct fv_problems problems = { 0 }; /* will be said when all are looked up */
    size_t at = 0;

    for (size_t i = 0; i < m->tree.node_count && at < count; i++)
        if (marked[i])
            nodes[at++] = m->tree.nodes[i];
    fv_symbols_resolve(out, m->tree.modules, nodes, at, true, &problems);
    fv_problems_release(&problems);
}

/* Parents have smaller numbers. */
static void find_nodes(const struct fv_model *m, const uint8_t *marked, const struct fv_symbols *symbols, uint32_t *out)
{
    struct looks looks = { 0 };
    uint32_t *look = fv_xcalloc(m->tree.node_count, sizeof(*look)), at = 0;

    for (uint32_t i = 0; i < m->tree.node_count; i++) {
        uint32_t before = i ? look[m->tree.nodes[i].parent] : 0;

        if (marked[i]) {
            const struct fv_symbol *s = &symbols->of_node[at++];

            for (uint32_t k = s->first + s->count; k-- > s->first;)
                before = 1 + FV_INTERN(looks.index, looks.items, looks.count, looks.room,
                                       (uint32_t[]){ before, symbols->frames[k].alike });
        } else {
            before = 1 + FV_INTERN(looks.index, looks.items, looks.count, looks.room, (uint32_t[]){ FV_NONE, i });
        }
        look[i] = before;
        if (i && !looks.items[before - 1].node)
            looks.items[before - 1].node = i;
        out[i] = i ? looks.items[before - 1].node : 0;
    }
    free(look);
    free(looks.items);
    fv_index_release(&looks.index);
}

struct twin {
    uint32_t function, node; /* its key */
    uint32_t site;
};

static void find_sites(const struct fv_model *m, struct fv_twins *t)
{
    struct twin *twins = NULL;
    size_t count = 0, room = 0;
    struct fv_index index = { 0 };

    for (uint32_t i = 0; i < m->site_count; i++) {
        const size_t had = count;
        struct twin *of =
            FV_INTERNED(index, twins, count, room, (uint32_t[]){ m->sites[i].function, t->of_node[m->sites[i].node] });

        if (count > had)
            of->site = i;
        t->of_site[i] = of->site;
    }
    free(twins);
    fv_index_release(&index);
}

struct fv_twins fv_twins(const struct fv_build *b, bool traced)
{
    const struct fv_model *m = b->model;
    struct fv_twins t = { fv_xcalloc(m->tree.node_count + 1, sizeof(*t.of_node)),
                          fv_xcalloc(m->site_count + 1, sizeof(*t.of_site)) };
    uint8_t *marked = fv_xcalloc(m->tree.node_count + 1, 1);
    const size_t count = b->looks_up ? mark(m, traced, marked) : 0;

    for (uint32_t i = 0; i < m->tree.node_count; i++)
        t.of_node[i] = i;
    if (count && count <= NODES_MOST) {
        struct fv_node *nodes = fv_xcalloc(count, sizeof(*nodes));
        struct fv_symbols symbols;

        look_up(m, marked, count, nodes, &symbols);
        find_nodes(m, marked, &symbols, t.of_node);
        fv_symbols_release(&symbols);
        free(nodes);
    }
    find_sites(m, &t);
    free(marked);
    return t;
}

/* ---- calls in turn ---- */

#define TURN_RATIO 2    /* of what is computed before one to before another */
#define TURN_S     1e-6 /* and the difference, at least */

/* Calls of twins in their order. */
struct turns {
    uint32_t *site;
    double *computed_s;
    size_t count;
};

/* How many sites are called in turn; 0: they are not. */
static size_t round_of(const struct turns *t)
{
    size_t round = 1;

    while (round < t->count && t->site[round] != t->site[0])
        round++;
    for (size_t i = round; i < t->count; i++)
        if (t->site[i] != t->site[i - round])
            return 0;
    return t->count / round >= FV_UNIT_LEAST ? round : 0;
}

static double median_of(const struct turns *t, size_t first, size_t round, double *room)
{
    size_t n = 0;

    for (size_t i = first; i < t->count; i += round)
        room[n++] = t->computed_s[i];
    return fv_select(room, n, 0.5);
}

static bool differ(const struct turns *t)
{
    const size_t round = round_of(t);
    double *room = fv_xcalloc(t->count + 1, sizeof(*room)), least_s = INFINITY, most_s = 0;

    for (size_t i = 0; i < round; i++) {
        const double s = median_of(t, i, round, room);

        least_s = fmin(least_s, s);
        most_s = fmax(most_s, s);
    }
    free(room);
    return round > 1 && most_s > TURN_RATIO * least_s + TURN_S;
}

/* Sites that stand for others that were called as well. */
static uint8_t *firsts_of(const struct fv_twins *t, const struct fv_model *m, const struct fv_twin_calls *c)
{
    uint8_t *has_twins = fv_xcalloc(m->site_count + 1, 1);

    for (size_t i = 0; i < c->count; i++)
        if (c->site[i] != FV_NONE && t->of_site[c->site[i]] != c->site[i])
            has_twins[t->of_site[c->site[i]]] = 1;
    return has_twins;
}

static bool is_of(const uint8_t *firsts, const struct fv_twins *t, uint32_t site)
{
    return site != FV_NONE && firsts[t->of_site[site]];
}

/* By the site that stands for them; begin: where the calls of each begin, behind it those of the next. */
static struct turns list_turns(const struct fv_twins *t, const struct fv_twin_calls *c, const uint8_t *firsts,
                               size_t *begin, size_t sites)
{
    struct turns all = { 0 };

    for (size_t i = 0; i < c->count; i++)
        if (is_of(firsts, t, c->site[i]))
            begin[t->of_site[c->site[i]] + 1]++;
    for (size_t i = 0; i < sites; i++)
        begin[i + 1] += begin[i];
    all.count = begin[sites];
    all.site = fv_xcalloc(all.count + 1, sizeof(*all.site));
    all.computed_s = fv_xcalloc(all.count + 1, sizeof(*all.computed_s));
    for (size_t i = c->count; i-- > 0;)
        if (is_of(firsts, t, c->site[i])) {
            const size_t at = --begin[t->of_site[c->site[i]] + 1];

            all.site[at] = c->site[i];
            all.computed_s[at] = i ? c->begin_s[i] - c->end_s[i - 1] : 0;
        }
    return all;
}

static void part_nodes(struct fv_twins *t, const struct fv_model *m, uint32_t first, uint8_t *parted)
{
    for (uint32_t i = 0; i < m->site_count; i++)
        for (uint32_t n = t->of_site[i] == first ? m->sites[i].node : 0; n; n = m->tree.nodes[n].parent)
            parted[n] |= t->of_node[n] != n;
}

/* With all calls behind them. */
static void part_all(struct fv_twins *t, const struct fv_model *m, uint8_t *parted)
{
    for (uint32_t i = 1; i < m->tree.node_count; i++) {
        parted[i] |= parted[m->tree.nodes[i].parent];
        t->of_node[i] = parted[i] ? i : t->of_node[i];
    }
    for (uint32_t i = 0; i < m->site_count; i++)
        t->of_site[i] = parted[m->sites[i].node] ? i : t->of_site[i];
}

bool fv_twins_part(struct fv_twins *t, const struct fv_model *m, const struct fv_twin_calls *c)
{
    uint8_t *firsts = firsts_of(t, m, c), *parted = fv_xcalloc(m->tree.node_count + 1, 1);
    size_t *begin = fv_xcalloc(m->site_count + 2, sizeof(*begin));
    struct turns all = list_turns(t, c, firsts, begin, m->site_count);
    bool any = false;

    for (uint32_t i = 0; i < m->site_count; i++) {
        const size_t from = begin[i + 1], end = i + 1 < m->site_count ? begin[i + 2] : all.count;
        const struct turns turns = { all.site + from, all.computed_s + from, end - from };

        if (firsts[i] && differ(&turns)) {
            part_nodes(t, m, i, parted);
            any = true;
        }
    }
    if (any)
        part_all(t, m, parted);
    free(all.site);
    free(all.computed_s);
    free(begin);
    free(firsts);
    free(parted);
    return any;
}

void fv_twins_release(struct fv_twins *t)
{
    free(t->of_node);
    free(t->of_site);
    *t = (struct fv_twins){ 0 };
}
