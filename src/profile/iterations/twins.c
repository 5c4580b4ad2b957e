/* SPDX-License-Identifier: BSD-3-Clause */
/* See twins.h. */
#include "profile/iterations/twins.h"

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

/* The nodes that must have names. Returns how many. */
static size_t mark(const struct fv_model *m, uint8_t *marked)
{
    struct fv_index shapes = { 0 };
    uint64_t *shape = fv_xcalloc(m->site_count + 1, sizeof(*shape));
    size_t count = 0;

    for (uint32_t i = 0; i < m->site_count; i++) {
        shape[i] = shape_of(m, &m->sites[i]);
        struct fv_index_probe p = fv_index_probe(&shapes, shape[i]);
        const uint32_t other = fv_index_next(&p);

        if (other == FV_NONE)
            fv_index_add(&shapes, shape[i], i);
        else
            count += mark_path(m, m->sites[i].node, marked) + mark_path(m, m->sites[other].node, marked);
    }
    free(shape);
    fv_index_release(&shapes);
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

struct fv_twins fv_twins(const struct fv_build *b)
{
    const struct fv_model *m = b->model;
    struct fv_twins t = { fv_xcalloc(m->tree.node_count + 1, sizeof(*t.of_node)),
                          fv_xcalloc(m->site_count + 1, sizeof(*t.of_site)) };
    uint8_t *marked = fv_xcalloc(m->tree.node_count + 1, 1);
    const size_t count = b->looks_up ? mark(m, marked) : 0;

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

void fv_twins_release(struct fv_twins *t)
{
    free(t->of_node);
    free(t->of_site);
    *t = (struct fv_twins){ 0 };
}
