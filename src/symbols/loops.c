/* SPDX-License-Identifier: BSD-3-Clause */
/* See loops.h. Here is what lines loops are on; the graph is loop_graph.c's, the instructions are
 * machine_code.c's.
 */
#include "symbols/loops.h"
#include "symbols/machine_code.h"
#include "symbols/lines.h"
#include "symbols/loop_graph.h"
#include "symbols/module_files.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN_MAX 64 /* frames at an address */

/* ---- lines ---- */

/* The frames at an address, outermost first. */
static size_t chain_at(struct fv_lines *lines, uint64_t address, struct fv_code_line *chain)
{
    size_t count = fv_lines_find(lines, address, chain, CHAIN_MAX);

    for (size_t i = 0; i < count / 2; i++) {
        struct fv_code_line swapped = chain[i];

        chain[i] = chain[count - 1 - i];
        chain[count - 1 - i] = swapped;
    }
    return count;
}

/* A loop is of the innermost function that all of its code was written in or inlined to: of that the first
 * and the last line. */
static void find_lines(struct fv_arena *arena, struct fv_loop *l, struct fv_lines *lines, const struct fv_loop_graph *g,
                       uint32_t loop)
{
    struct fv_code_line first[CHAIN_MAX], chain[CHAIN_MAX];
    size_t level = 0;

    for (size_t pass = 0; pass < 2; pass++) /* how far in all agree; then the lines at that level */
        for (size_t i = 0; i < g->count; i++) {
            if (!fv_loop_graph_holds(g, loop, i))
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
                           fv_same_text(chain[k + 1].function, first[k + 1].function) &&
                           fv_same_text(chain[k + 1].file, first[k + 1].file))
                        k++;
                    level = k + 1;
                    continue;
                }
                if (count < level || !chain[level - 1].line || !chain[level - 1].file)
                    continue;
                if (!l->file)
                    l->file = fv_arena_string(arena, chain[level - 1].file);
                if (!l->first_line || chain[level - 1].line < l->first_line)
                    l->first_line = chain[level - 1].line;
                if (chain[level - 1].line > l->last_line)
                    l->last_line = chain[level - 1].line;
            }
        }
}

/* The lines of a function's own code, without what was inlined into it: where blocks begin and end. */
static void find_own_lines(struct fv_arena *arena, struct fv_loop_function *f, struct fv_lines *lines,
                           const struct fv_loop_graph *g)
{
    struct fv_code_line chain[CHAIN_MAX];

    for (size_t i = 0; i < 2 * g->count; i++) {
        const struct fv_code_line *own = chain;

        if (!chain_at(lines, i % 2 ? g->blocks[i / 2].last : g->blocks[i / 2].begin, chain) || !own->line || !own->file)
            continue;
        if (!f->file)
            f->file = fv_arena_string(arena, own->file);
        if (strcmp(f->file, own->file))
            continue;
        if (!f->first_line || own->line < f->first_line)
            f->first_line = own->line;
        if (own->line > f->last_line)
            f->last_line = own->line;
    }
}

/* ---- one function ---- */

static void take_graph(struct fv_loops *out, uint32_t function, const struct fv_loop_graph *g, struct fv_lines *lines)
{
    uint32_t first = (uint32_t)out->count;

    for (uint32_t i = 0; i < g->loop_count; i++) {
        uint32_t parent = g->loops[i].parent;
        struct fv_loop l = { .function = function,
                             .parent = parent == FV_NONE ? FV_NONE : first + parent,
                             .offset = g->blocks[g->loops[i].header].begin,
                             .depth = g->loops[i].depth,
                             .packed = g->loops[i].packed };

        if (lines)
            find_lines(&out->arena, &l, lines, g, i);
        FV_GROW(out->items, out->room, out->count + 1);
        out->items[out->count++] = l;
    }
}

static void take_function(struct fv_loops *out, struct fv_loop_function *f, uint32_t number,
                          const struct fv_module_files *files)
{
    const uint8_t *code = fv_elf_code(&files->object, f->begin, f->size);
    uint32_t first = (uint32_t)out->count;
    struct fv_loop_graph graph;

    if (!code || fv_loop_graph_init(&graph, code, f->begin, f->size))
        return;
    take_graph(out, number, &graph, files->lines);
    if (files->lines)
        find_own_lines(&out->arena, f, files->lines, &graph);
    for (size_t i = 0; i < f->address_count; i++) {
        uint32_t loop = fv_loop_graph_loop_at(&graph, f->addresses[i] - 1); /* the call, not where it returns to */

        f->innermost[i] = loop == FV_NONE ? FV_NONE : first + loop;
    }
    fv_loop_graph_release(&graph);
}

bool fv_loops_available(void)
{
    return fv_machine_code_available();
}

void fv_loops_find(struct fv_loops *out, const struct fv_module *modules, struct fv_loop_function *functions,
                   size_t count)
{
    struct fv_module_files files = { 0 };
    uint32_t module = FV_NONE;

    *out = (struct fv_loops){ 0 };
    for (uint32_t i = 0; i < count; i++) {
        memset(functions[i].innermost, 0xff, functions[i].address_count * sizeof(*functions[i].innermost));
        if (functions[i].module != module) {
            fv_module_files_close(&files);
            module = functions[i].module;
            fv_module_files_open(&files, &modules[module], NULL);
        }
        take_function(out, &functions[i], i, &files);
    }
    fv_module_files_close(&files);
    fv_loop_kinds_find(out);
}

void fv_loops_release(struct fv_loops *l)
{
    free(l->items);
    fv_arena_release(&l->arena);
    *l = (struct fv_loops){ 0 };
}
