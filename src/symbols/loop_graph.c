/* SPDX-License-Identifier: BSD-3-Clause */
/* See loop_graph.h. Dominators: Cooper, Harvey, Kennedy: A simple, fast dominance algorithm (2001). */
#include "symbols/loop_graph.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 65536u
#define LOOPS_MAX  4096u
#define HOLDS_MAX  (64u << 20) /* blocks times loops */

/* Edges as arrays of both ends, node 0 being outside: it leads to the entry, and to what nothing else leads
 * to. Block i is node i + 1. */
struct edges {
    uint32_t *from, *to;
    size_t count, from_room, to_room;
};
struct flow {
    size_t nodes;
    uint32_t *out, *out_first, *in, *in_first; /* neighbours, and where each node's begin */
    uint32_t *order;                           /* nodes in reverse postorder */
    uint32_t *number;                          /* of a node in it; FV_NONE: not reached */
    uint32_t *dominator;
    size_t reached;
};

/* ---- blocks ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint32_t block_at(const struct fv_loop_graph *g, uint64_t address)
{
    size_t before = FV_COUNT_BEFORE(i, g->count, g->blocks[i].begin <= address);

    return before && address < g->blocks[before - 1].end ? (uint32_t)before - 1 : FV_NONE;
}

static bool jumps(enum fv_flow flow)
{
    return flow == FV_FLOW_BRANCH || flow == FV_FLOW_JUMP;
}

static bool goes_on(enum fv_flow flow)
{
    return flow == FV_FLOW_ON || flow == FV_FLOW_NOTHING;
}

/* Where blocks begin: the entry, targets within the function, and what follows a jump. Sorted. */
static uint64_t *find_leaders(const struct fv_instruction *list, size_t count, size_t *out_count)
{
    uint64_t begin = list[0].address, end = list[count - 1].address + list[count - 1].bytes, *leaders = NULL;
    size_t n = 0, room = 0;

    FV_GROW(leaders, room, 2 * count + 1);
    leaders[n++] = begin;
    for (size_t i = 0; i < count; i++) {
        if (jumps(list[i].flow) && list[i].target >= begin && list[i].target < end)
            leaders[n++] = list[i].target;
        if (!goes_on(list[i].flow) && i + 1 < count)
            leaders[n++] = list[i + 1].address;
    }
    qsort(leaders, n, sizeof(*leaders), by_value);
    *out_count = n;
    return leaders;
}

static void make_blocks(struct fv_loop_graph *g, const struct fv_instruction *list, size_t count)
{
    size_t leader_count, next = 0;
    uint64_t *leaders = find_leaders(list, count, &leader_count);

    for (size_t i = 0; i < count; i++) {
        while (next < leader_count && leaders[next] < list[i].address)
            next++;
        if (next < leader_count && leaders[next] == list[i].address) {
            FV_GROW(g->blocks, g->room, g->count + 1);
            g->blocks[g->count++] =
                (struct fv_block){ .begin = list[i].address, .next = { FV_NONE, FV_NONE }, .padding = true };
        }
        g->blocks[g->count - 1].last = list[i].address;
        g->blocks[g->count - 1].padding &= list[i].flow == FV_FLOW_NOTHING;
        g->blocks[g->count - 1].packed |= list[i].packed;
        g->blocks[g->count - 1].end = list[i].address + list[i].bytes;
    }
    free(leaders);
}

static void link_blocks(struct fv_loop_graph *g, const struct fv_instruction *list, size_t count)
{
    uint32_t block = 0;

    for (size_t i = 0; i < count; i++) {
        struct fv_block *b = &g->blocks[block];

        if (list[i].address != b->last)
            continue;
        b->table = list[i].flow == FV_FLOW_TABLE;
        if (jumps(list[i].flow))
            b->next[1] = block_at(g, list[i].target);
        if ((goes_on(list[i].flow) || list[i].flow == FV_FLOW_BRANCH) && block + 1 < g->count)
            b->next[0] = block + 1;
        block++;
    }
}

/* ---- edges ---- */

static void add_edge(struct edges *e, uint32_t from, uint32_t to)
{
    FV_GROW(e->from, e->from_room, e->count + 1);
    FV_GROW(e->to, e->to_room, e->count + 1);
    e->from[e->count] = from;
    e->to[e->count++] = to;
}

static void mark_entered(const struct fv_loop_graph *g, const bool *left_out, bool *entered)
{
    memset(entered, 0, g->count * sizeof(*entered));
    entered[0] = true;
    for (uint32_t i = 0; i < g->count; i++)
        for (unsigned k = 0; k < 2; k++)
            if (!left_out[i] && g->blocks[i].next[k] != FV_NONE)
                entered[g->blocks[i].next[k]] = true;
}

/* What nothing leads to is where the jump by a table before it may lead. Padding behind a jump leads nowhere,
 * though it seems to run into what follows; and without such jumps it is entered from outside (exceptions):
 * not looked at. */
static void add_edges(struct edges *e, const struct fv_loop_graph *g)
{
    bool *entered = fv_xcalloc(g->count, sizeof(*entered)), *left_out = fv_xcalloc(g->count, sizeof(*left_out));
    uint32_t table = 0; /* a node; 0: none */

    mark_entered(g, left_out, entered);
    for (uint32_t i = 0; i < g->count; i++) {
        left_out[i] = !entered[i] && g->blocks[i].padding;
        table = g->blocks[i].table && !table ? i + 1 : table;
    }
    mark_entered(g, left_out, entered);
    add_edge(e, 0, 1);
    for (uint32_t i = 0; i < g->count; i++) {
        for (unsigned k = 0; k < 2 && !left_out[i]; k++)
            if (g->blocks[i].next[k] != FV_NONE)
                add_edge(e, i + 1, g->blocks[i].next[k] + 1);
        if (!entered[i] && !left_out[i] && table)
            add_edge(e, table, i + 1);
        table = g->blocks[i].table ? i + 1 : table;
    }
    free(entered);
    free(left_out);
}

static void index_edges(const uint32_t *by, const uint32_t *what, size_t count, size_t nodes, uint32_t **list,
                        uint32_t **first)
{
    uint32_t *at = fv_xcalloc(nodes + 2, sizeof(*at));

    *list = fv_xcalloc(count + 1, sizeof(**list));
    for (size_t i = 0; i < count; i++)
        at[by[i] + 2]++;
    for (size_t i = 2; i < nodes + 2; i++)
        at[i] += at[i - 1];
    for (size_t i = 0; i < count; i++)
        (*list)[at[by[i] + 1]++] = what[i];
    *first = at;
}

/* ---- dominators ---- */

/* Postorder by a stack of our own; what stays unreached (a cycle that nothing leads to) is left out. */
static void find_order(struct flow *f)
{
    uint32_t *stack = fv_xcalloc(f->nodes, sizeof(*stack)), *edge = fv_xcalloc(f->nodes, sizeof(*edge));
    bool *seen = fv_xcalloc(f->nodes, sizeof(*seen));
    size_t depth = 1, at = f->nodes;

    seen[0] = true;
    edge[0] = f->out_first[0];
    while (depth) {
        uint32_t node = stack[depth - 1];

        if (edge[node] < f->out_first[node + 1]) {
            uint32_t to = f->out[edge[node]++];

            if (seen[to])
                continue;
            seen[to] = true;
            edge[to] = f->out_first[to];
            stack[depth++] = to;
        } else {
            f->order[--at] = node;
            depth--;
        }
    }
    f->reached = f->nodes - at;
    memmove(f->order, f->order + at, f->reached * sizeof(*f->order));
    for (uint32_t i = 0; i < f->reached; i++)
        f->number[f->order[i]] = i;
    free(stack);
    free(edge);
    free(seen);
}

/* By numbers in reverse postorder, in which a dominator's is smaller. */
static uint32_t meet(const struct flow *f, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (f->number[a] > f->number[b])
            a = f->dominator[a];
        while (f->number[b] > f->number[a])
            b = f->dominator[b];
    }
    return a;
}

static void find_dominators(struct flow *f)
{
    f->dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 1; i < f->reached; i++) {
            uint32_t node = f->order[i], best = FV_NONE;

            for (uint32_t e = f->in_first[node]; e < f->in_first[node + 1]; e++) {
                uint32_t from = f->in[e];

                if (f->number[from] != FV_NONE && f->dominator[from] != FV_NONE)
                    best = best == FV_NONE ? from : meet(f, best, from);
            }
            changed |= f->dominator[node] != best;
            f->dominator[node] = best;
        }
    }
}

static bool dominates(const struct flow *f, uint32_t above, uint32_t node)
{
    while (f->number[node] > f->number[above])
        node = f->dominator[node];
    return node == above;
}

/* ---- loops ---- */

static struct fv_graph_loop *loop_of(struct fv_loop_graph *g, uint32_t header)
{
    for (size_t i = 0; i < g->loop_count; i++)
        if (g->loops[i].header == header)
            return &g->loops[i];
    if (g->loop_count == LOOPS_MAX || (g->loop_count + 1) * g->count > HOLDS_MAX)
        return NULL;
    FV_GROW(g->loops, g->loop_room, g->loop_count + 1);
    struct fv_graph_loop *l = &g->loops[g->loop_count++];
    *l = (struct fv_graph_loop){ .header = header, .parent = FV_NONE, .blocks = 1 };
    l->holds = fv_xcalloc(g->count, 1);
    l->holds[header] = 1;
    return l;
}

/* All that leads to the back edge's source without passing the header. */
static void flood(const struct flow *f, struct fv_graph_loop *l, uint32_t source, uint32_t *stack)
{
    size_t depth = 0;

    if (!l->holds[source - 1])
        stack[depth++] = source;
    l->holds[source - 1] = 1;
    while (depth) {
        uint32_t node = stack[--depth];

        l->blocks++;
        for (uint32_t e = f->in_first[node]; e < f->in_first[node + 1]; e++) {
            uint32_t from = f->in[e];

            if (!from || f->number[from] == FV_NONE || l->holds[from - 1])
                continue;
            l->holds[from - 1] = 1;
            stack[depth++] = from;
        }
    }
}

static void find_loops(struct fv_loop_graph *g, const struct flow *f)
{
    uint32_t *stack = fv_xcalloc(f->nodes, sizeof(*stack));

    for (size_t i = 0; i < f->reached; i++) {
        uint32_t from = f->order[i];

        for (uint32_t e = f->out_first[from]; from && e < f->out_first[from + 1]; e++) {
            struct fv_graph_loop *l = dominates(f, f->out[e], from) ? loop_of(g, f->out[e] - 1) : NULL;

            if (l)
                flood(f, l, from, stack);
        }
    }
    free(stack);
}

static int by_blocks(const void *a, const void *b)
{
    const struct fv_graph_loop *x = a, *y = b;

    if (x->blocks != y->blocks)
        return x->blocks > y->blocks ? -1 : 1;
    return (x->header > y->header) - (x->header < y->header);
}

/* Natural loops of different headers are nested or apart. */
static void nest(struct fv_loop_graph *g)
{
    if (g->loop_count)
        qsort(g->loops, g->loop_count, sizeof(*g->loops), by_blocks);
    for (uint32_t i = 0; i < g->loop_count; i++) {
        for (uint32_t k = i; k-- > 0 && g->loops[i].parent == FV_NONE;)
            if (g->loops[k].holds[g->loops[i].header] && g->loops[k].blocks > g->loops[i].blocks)
                g->loops[i].parent = k;
        g->loops[i].depth = g->loops[i].parent == FV_NONE ? 1 : g->loops[g->loops[i].parent].depth + 1;
    }
}

uint32_t fv_loop_graph_loop_at(const struct fv_loop_graph *g, uint64_t address)
{
    uint32_t block = block_at(g, address);

    for (size_t i = g->loop_count; block != FV_NONE && i-- > 0;)
        if (g->loops[i].holds[block])
            return (uint32_t)i;
    return FV_NONE;
}

static void mark_packed(struct fv_loop_graph *g)
{
    for (size_t i = 0; i < g->count; i++) {
        uint32_t loop = g->blocks[i].packed ? fv_loop_graph_loop_at(g, g->blocks[i].begin) : FV_NONE;

        if (loop != FV_NONE)
            g->loops[loop].packed = true;
    }
}

int fv_loop_graph_build(struct fv_loop_graph *g, const struct fv_instruction *list, size_t count)
{
    struct edges edges = { 0 };
    struct flow f = { 0 };

    *g = (struct fv_loop_graph){ 0 };
    if (!count)
        return -FV_EFORMAT;
    make_blocks(g, list, count);
    if (g->count > BLOCKS_MAX) {
        fv_loop_graph_release(g);
        return -FV_EFORMAT;
    }
    link_blocks(g, list, count);
    add_edges(&edges, g);
    f.nodes = g->count + 1;
    index_edges(edges.from, edges.to, edges.count, f.nodes, &f.out, &f.out_first);
    index_edges(edges.to, edges.from, edges.count, f.nodes, &f.in, &f.in_first);
    f.order = fv_xcalloc(f.nodes, sizeof(*f.order));
    f.number = fv_xcalloc(f.nodes, sizeof(*f.number));
    f.dominator = fv_xcalloc(f.nodes, sizeof(*f.dominator));
    memset(f.number, 0xff, f.nodes * sizeof(*f.number));
    memset(f.dominator, 0xff, f.nodes * sizeof(*f.dominator));
    find_order(&f);
    find_dominators(&f);
    find_loops(g, &f);
    nest(g);
    mark_packed(g);
    free(edges.from);
    free(edges.to);
    free(f.out);
    free(f.out_first);
    free(f.in);
    free(f.in_first);
    free(f.order);
    free(f.number);
    free(f.dominator);
    return 0;
}

int fv_loop_graph_init(struct fv_loop_graph *g, const uint8_t *code, uint64_t address, size_t bytes)
{
    struct fv_instruction *list;
    size_t count = fv_machine_code_decode(code, address, bytes, &list);
    int err = fv_loop_graph_build(g, list, count);

    free(list);
    return err;
}

void fv_loop_graph_release(struct fv_loop_graph *g)
{
    for (size_t i = 0; i < g->loop_count; i++)
        free(g->loops[i].holds);
    free(g->loops);
    free(g->blocks);
    *g = (struct fv_loop_graph){ 0 };
}
