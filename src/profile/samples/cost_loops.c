/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions have their loops looked for: those with most samples. What samples count for is
 * cost_profile.c's. */
#include "profile/samples/cost_profile_parts.h"
#include "symbols/loops.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE   0.005 /* of all samples, for a function to be looked at */
#define FUNCTIONS_MAX 256
#define BYTES_MAX     (1u << 20) /* of a function */

/* A compiled function, and its samples with what it calls. */
struct body {
    uint64_t module, begin; /* its key */
    uint64_t size, ticks;
    uint32_t last_path;
    const char *name;
    bool nameless;
    uint32_t nodes, node_count; /* the first of the list by finder.next, FV_NONE */
};
struct finder {
    struct fv_cost_profile *out;
    const struct fv_model *model;
    const struct fv_symbols *symbols;
    struct body *bodies;
    size_t count, room;
    struct fv_index index;
    uint32_t *next; /* by node: of the same body */
};

static const char *name_of(struct finder *f, const struct fv_frame *frame)
{
    if (frame->function)
        return frame->function;
    return fv_arena_printf(&f->out->arena, "%s+0x%llx", f->model->tree.modules[frame->module].name,
                           (unsigned long long)frame->begin);
}

static uint32_t find_body(struct finder *f, uint32_t node)
{
    const struct fv_symbol *symbol = &f->symbols->of_node[node];
    size_t before = f->count;

    if (!symbol->size)
        return FV_NONE;
    uint32_t i = FV_INTERN(f->index, f->bodies, f->count, f->room,
                           (uint64_t[]){ f->model->tree.nodes[node].module, symbol->begin });
    struct body *b = &f->bodies[i];
    if (f->count > before) {
        b->last_path = b->nodes = FV_NONE;
        b->size = symbol->size;
        const struct fv_frame *frame = &f->symbols->frames[symbol->first + symbol->count - 1];
        b->name = name_of(f, frame);
        b->nameless = !frame->function;
    }
    return i;
}

/* Sums up by function, and lists the nodes of each: all that lie on a path with samples. */
static void gather_bodies(struct finder *f, const struct fv_cost_sum *sums)
{
    const struct fv_model *m = f->model;
    bool *seen = fv_xcalloc(m->tree.node_count, sizeof(*seen));

    for (uint32_t i = 1; i < m->tree.node_count; i++)
        for (uint32_t node = sums[i].ticks ? i : 0; node; node = m->tree.nodes[node].parent) {
            uint32_t body = find_body(f, node);

            if (body == FV_NONE)
                continue;
            if (f->bodies[body].last_path != i)
                f->bodies[body].ticks += sums[i].ticks;
            f->bodies[body].last_path = i;
            if (seen[node])
                continue;
            seen[node] = true;
            f->next[node] = f->bodies[body].nodes;
            f->bodies[body].nodes = node;
            f->bodies[body].node_count++;
        }
    free(seen);
}

static int by_module_and_ticks(const void *a, const void *b)
{
    const struct body *x = a, *y = b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->ticks != y->ticks)
        return x->ticks > y->ticks ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The bodies whose loops are wanted come first. Returns their number. */
static size_t choose(struct finder *f, const struct fv_cost_sum *sums)
{
    uint64_t all = 0;
    size_t chosen = 0;

    for (size_t i = 0; i < f->model->tree.node_count; i++)
        all += sums[i].ticks;
    if (f->count)
        qsort(f->bodies, f->count, sizeof(*f->bodies), by_module_and_ticks);
    for (size_t i = 0; i < f->count && chosen < FUNCTIONS_MAX; i++)
        if ((double)f->bodies[i].ticks >= LEAST_SHARE * (double)all && f->bodies[i].size <= BYTES_MAX)
            f->bodies[chosen++] = f->bodies[i];
    return chosen;
}

static void take_loops(struct finder *f, const struct fv_loops *loops)
{
    struct fv_cost_profile *c = f->out;

    for (size_t i = 0; i < loops->count; i++) {
        const struct fv_loop *l = &loops->items[i];

        FV_GROW(c->loops, c->loop_room, c->loop_count + 1);
        c->loops[c->loop_count++] = (struct fv_cost_loop){ .parent = l->parent,
                                                           .module = f->bodies[l->function].module,
                                                           .offset = l->offset,
                                                           .function = f->bodies[l->function].name,
                                                           .nameless = f->bodies[l->function].nameless,
                                                           .file = l->file ? fv_arena_string(&c->arena, l->file) : NULL,
                                                           .first_line = l->first_line,
                                                           .last_line = l->last_line,
                                                           .depth = l->depth,
                                                           .kind = l->kind,
                                                           .packed = l->packed };
    }
}

static void take_lines(struct finder *f, const struct fv_loop_function *functions, size_t count)
{
    struct fv_cost_profile *c = f->out;

    c->extents = fv_xcalloc(count, sizeof(*c->extents));
    for (size_t i = 0; i < count; i++)
        if (functions[i].file)
            c->extents[c->extent_count++] = (struct fv_cost_extent){ .module = functions[i].module,
                                                                     .function = f->bodies[i].name,
                                                                     .first_line = functions[i].first_line,
                                                                     .last_line = functions[i].last_line };
}

/* Fills the loops, and for each node the one that it is in. */
static void find_loops(struct finder *f, size_t chosen, uint32_t *at)
{
    struct fv_loop_function *functions = fv_xcalloc(chosen, sizeof(*functions));
    uint64_t *addresses = fv_xcalloc(f->model->tree.node_count, sizeof(*addresses));
    uint32_t *innermost = fv_xcalloc(f->model->tree.node_count, sizeof(*innermost));
    struct fv_loops loops;
    size_t used = 0, first = 0;

    for (size_t i = 0; i < chosen; i++) {
        const struct body *b = &f->bodies[i];

        functions[i] = (struct fv_loop_function){ .module = b->module,
                                                  .begin = b->begin,
                                                  .size = b->size,
                                                  .addresses = addresses + used,
                                                  .innermost = innermost + used,
                                                  .address_count = b->node_count };
        for (uint32_t node = b->nodes; node != FV_NONE; node = f->next[node])
            addresses[used++] = f->model->tree.nodes[node].offset;
    }
    fv_loops_find(&loops, f->model->tree.modules, functions, chosen);
    for (size_t i = 0; i < chosen; i++)
        for (uint32_t node = f->bodies[i].nodes; node != FV_NONE; node = f->next[node])
            at[node] = innermost[first++];
    take_loops(f, &loops);
    take_lines(f, functions, chosen);
    fv_loops_release(&loops);
    free(functions);
    free(addresses);
    free(innermost);
}

uint32_t *fv_cost_loops(struct fv_cost_profile *out, const struct fv_model *m, const struct fv_symbols *symbols,
                        const struct fv_cost_sum *sums)
{
    struct finder f = { .out = out, .model = m, .symbols = symbols };
    uint32_t *at = fv_xcalloc(m->tree.node_count, sizeof(*at));

    memset(at, 0xff, m->tree.node_count * sizeof(*at));
    out->loops_known = fv_loops_available() && symbols->looked_up;
    if (out->loops_known) {
        f.next = fv_xcalloc(m->tree.node_count, sizeof(*f.next));
        gather_bodies(&f, sums);
        find_loops(&f, choose(&f, sums), at);
    }
    fv_index_release(&f.index);
    free(f.bodies);
    free(f.next);
    return at;
}
