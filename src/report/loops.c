/* See loops.h. Here is which functions are looked at, and what lines their loops are on; the graph is
 * loop_graph.c's, the instructions are code.c's. */
#include "report/loops.h"
#include "report/code.h"
#include "report/lines.h"
#include "report/loop_graph.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE   0.005 /* of all samples, for a function to be looked at */
#define FUNCTIONS_MAX 256
#define BYTES_MAX     (1u << 20) /* of a function */
#define CHAIN_MAX     64         /* frames at an address */

/* A compiled function, and its samples with what it calls. */
struct body {
    uint32_t module, last_path;
    uint64_t begin, size, ticks;
    const char *name;
    uint32_t nodes; /* the first of the list by finder.next, FV_NONE */
};
struct finder {
    struct fv_cost_profile *out;
    const struct fv_model *model;
    const struct fv_symbols *symbols;
    struct body *bodies;
    size_t count, room;
    struct fv_index index;
    uint32_t *next; /* by node: of the same body */
    uint32_t *at;
};

/* ---- functions ---- */

static const char *name_of(struct finder *f, const struct fv_frame *frame)
{
    if (frame->function)
        return frame->function;
    return fv_arena_printf(&f->out->arena, "%s+0x%llx", f->model->modules[frame->module].name,
                           (unsigned long long)frame->begin);
}

static uint32_t find_body(struct finder *f, uint32_t node)
{
    const struct fv_node *n = &f->model->nodes[node];
    const struct fv_symbol *symbol = &f->symbols->items[n->symbol];
    uint64_t hash = fv_mix2(n->module, symbol->begin);
    struct fv_index_probe p = fv_index_probe(&f->index, hash);

    if (!symbol->size)
        return FV_NONE;
    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (f->bodies[i].module == n->module && f->bodies[i].begin == symbol->begin)
            return i;
    FV_GROW(f->bodies, f->room, f->count + 1);
    f->bodies[f->count] =
        (struct body){ .module = n->module,
                       .last_path = FV_NONE,
                       .begin = symbol->begin,
                       .size = symbol->size,
                       .name = name_of(f, &f->symbols->frames[symbol->first + symbol->count - 1]),
                       .nodes = FV_NONE };
    fv_index_add(&f->index, hash, (uint32_t)f->count);
    return (uint32_t)f->count++;
}

/* Sums up by function, and lists the nodes of each: all that lie on a path with samples. */
static void gather_bodies(struct finder *f, const struct fv_cost_sum *sums)
{
    const struct fv_model *m = f->model;
    bool *seen = fv_xcalloc(m->node_count, sizeof(*seen));

    for (uint32_t i = 1; i < m->node_count; i++)
        for (uint32_t node = sums[i].ticks ? i : 0; node; node = m->nodes[node].parent) {
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

/* ---- lines ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* The frames at an address, outermost first. */
static size_t chain_at(struct fv_lines *lines, uint64_t address, struct fv_line *chain)
{
    size_t count = fv_lines_find(lines, address, chain, CHAIN_MAX);

    for (size_t i = 0; i < count / 2; i++) {
        struct fv_line swapped = chain[i];

        chain[i] = chain[count - 1 - i];
        chain[count - 1 - i] = swapped;
    }
    return count;
}

/* A loop is of the innermost function that all of its code was written in or inlined to: of that the first
 * and the last line. */
static void find_lines(struct finder *f, struct fv_cost_loop *l, struct fv_lines *lines,
                       const struct fv_graph *g, uint32_t loop)
{
    struct fv_line first[CHAIN_MAX], chain[CHAIN_MAX];
    size_t level = 0;

    for (size_t pass = 0; pass < 2; pass++) /* how far in all agree; then the lines at that level */
        for (size_t i = 0; i < g->count; i++) {
            if (!fv_graph_holds(g, loop, i))
                continue;
            for (unsigned end = 0; end < 2; end++) {
                size_t count = chain_at(lines, end ? g->blocks[i].last : g->blocks[i].begin, chain), k = 0;

                if (!count)
                    continue;
                if (!level) {
                    memcpy(first, chain, sizeof(first));
                    level = count;
                }
                if (!pass) {
                    while (k + 1 < level && k + 1 < count && chain[k].line == first[k].line &&
                           same_text(chain[k + 1].function, first[k + 1].function) &&
                           same_text(chain[k + 1].file, first[k + 1].file))
                        k++;
                    level = k + 1;
                    continue;
                }
                if (count < level || !chain[level - 1].line || !chain[level - 1].file)
                    continue;
                if (!l->file)
                    l->file = fv_arena_string(&f->out->arena, chain[level - 1].file);
                if (!l->first_line || chain[level - 1].line < l->first_line)
                    l->first_line = chain[level - 1].line;
                if (chain[level - 1].line > l->last_line)
                    l->last_line = chain[level - 1].line;
            }
        }
}

/* ---- one function ---- */

static void take_graph(struct finder *f, const struct body *b, const struct fv_graph *g,
                       struct fv_lines *lines)
{
    struct fv_cost_profile *c = f->out;
    uint32_t first = (uint32_t)c->loop_count;

    for (uint32_t i = 0; i < g->loop_count; i++) {
        struct fv_cost_loop l = { .parent =
                                      g->loops[i].parent == FV_NONE ? FV_NONE : first + g->loops[i].parent,
                                  .module = b->module,
                                  .offset = g->blocks[g->loops[i].header].begin,
                                  .function = b->name,
                                  .depth = g->loops[i].depth };

        if (lines)
            find_lines(f, &l, lines, g, i);
        FV_GROW(c->loops, c->loop_room, c->loop_count + 1);
        c->loops[c->loop_count++] = l;
    }
    for (uint32_t node = b->nodes; node != FV_NONE; node = f->next[node]) {
        uint32_t loop = fv_graph_loop_at(g, f->model->nodes[node].offset - 1);

        f->at[node] = loop == FV_NONE ? FV_NONE : first + loop;
    }
}

static void take_body(struct finder *f, const struct body *b, const struct fv_module_files *files)
{
    const uint8_t *code = fv_object_code(&files->object, b->begin, b->size);
    struct fv_graph graph;

    if (!code || fv_graph_init(&graph, code, b->begin, b->size))
        return;
    take_graph(f, b, &graph, files->lines);
    fv_graph_release(&graph);
}

uint32_t *fv_loops_find(struct fv_cost_profile *out, const struct fv_model *m,
                        const struct fv_symbols *symbols, const struct fv_cost_sum *sums)
{
    struct finder f = { .out = out, .model = m, .symbols = symbols };
    struct fv_module_files files = { 0 };
    uint32_t module = FV_NONE;
    uint64_t all = 0;
    size_t taken = 0;

    f.at = fv_xcalloc(m->node_count, sizeof(*f.at));
    f.next = fv_xcalloc(m->node_count, sizeof(*f.next));
    memset(f.at, 0xff, m->node_count * sizeof(*f.at));
    out->loops_known = fv_code_available() && symbols->looked_up;
    for (size_t i = 0; i < m->node_count; i++)
        all += sums[i].ticks;
    if (out->loops_known)
        gather_bodies(&f, sums);
    if (f.count)
        qsort(f.bodies, f.count, sizeof(*f.bodies), by_module_and_ticks);
    for (size_t i = 0; i < f.count && taken < FUNCTIONS_MAX; i++) {
        if ((double)f.bodies[i].ticks < LEAST_SHARE * (double)all || f.bodies[i].size > BYTES_MAX)
            continue;
        if (f.bodies[i].module != module) {
            fv_module_files_close(&files);
            module = f.bodies[i].module;
            fv_module_files_open(&files, &m->modules[module], NULL);
        }
        take_body(&f, &f.bodies[i], &files);
        taken++;
    }
    fv_module_files_close(&files);
    fv_index_release(&f.index);
    free(f.bodies);
    free(f.next);
    return f.at;
}
