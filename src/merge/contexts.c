/* SPDX-License-Identifier: BSD-3-Clause */
/* See contexts.h. */
#include "merge/contexts.h"

#include <stdlib.h>
#include <string.h>

static uint32_t find_function(struct fv_contexts *c, const char *name, const char *file)
{
    uint64_t hash = fv_mix2(fv_hash_text(name), fv_hash_text(file));
    struct fv_index_probe p = fv_index_probe(&c->function_index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (!strcmp(c->functions[i].name, name) && fv_same_text(c->functions[i].file, file))
            return i;
    FV_GROW(c->functions, c->function_room, c->function_count + 1);
    c->functions[c->function_count] =
        (struct fv_user_function){ fv_arena_string(&c->arena, name), file ? fv_arena_string(&c->arena, file) : NULL };
    fv_index_add(&c->function_index, hash, (uint32_t)c->function_count);
    return (uint32_t)c->function_count++;
}

static uint32_t find_context(struct fv_contexts *c, uint32_t parent, uint32_t function, uint32_t line)
{
    uint32_t i = FV_INTERN(c->index, c->items, c->count, c->room, (uint32_t[]){ parent, function, line });

    c->items[i].file = c->functions[function].file;
    return i;
}

static bool is_of_program(const struct fv_defs *d, const struct fv_module *module)
{
    if (fv_module_is_code_of_program(module))
        return true;
    for (size_t k = 0; k < d->rank_count; k++)
        if ((!k || strcmp(d->ranks[k].program, d->ranks[k - 1].program) != 0) &&
            fv_module_is_of_program(module, d->ranks[k].program))
            return true;
    return false;
}

uint8_t *fv_contexts_code(const struct fv_defs *d)
{
    const struct fv_call_tree *tree = &d->tree;
    uint8_t *code = fv_xcalloc(tree->module_count + 1, sizeof(*code));

    for (size_t k = FV_MODEL_FIRST_MODULE; k < tree->module_count; k++)
        code[k] = (uint8_t)fv_code_of(&tree->modules[k], is_of_program(d, &tree->modules[k]));
    return code;
}

/* Calls of functions that were measured are calls, too. */
static uint8_t *code_of_calls(const struct fv_defs *d)
{
    const struct fv_call_tree *tree = &d->tree;
    uint8_t *code = fv_contexts_code(d);

    for (size_t i = 1; i < tree->node_count; i++)
        if (tree->nodes[i].flags & FV_DEF_CALLS)
            fv_code_calls_mpi(code, tree->modules, tree->nodes[i].module);
    return code;
}

/* Those of distributions are below /usr, or have no known place: "./malloc/malloc.c". */
static bool is_own_file(const char *file)
{
    return file && *file == '/' && strncmp(file, "/usr/", 5) != 0;
}

static bool is_of_fvmpi(const struct fv_defs *d, const struct fv_frame *f)
{
    return f->module >= FV_MODEL_FIRST_MODULE && fv_module_is_fvmpi(&d->tree.modules[f->module]);
}

/* Without fvmpi's own frames, in which samples may be, unless there are no others. Samples are of functions, wherever
 * in them they were. */
static uint32_t context_of(struct fv_contexts *c, const struct fv_defs *d, const struct fv_path *path, bool is_sample,
                           const uint8_t *code)
{
    const size_t own = code ? fv_path_own(path, code) : 0;
    uint32_t context = FV_NONE;
    char label[512];

    for (size_t i = path->count; i-- > 0;) {
        const struct fv_frame *f = &path->frames[i];

        if (is_of_fvmpi(d, f) && (i || context != FV_NONE))
            continue;
        const char *name = !i && is_sample ? fv_frame_function_label(f, &c->symbols, label, sizeof(label))
                                           : fv_frame_label(f, &c->symbols, label, sizeof(label));
        uint32_t function = find_function(c, name, f->file);

        context = find_context(c, context, function, f->line);
        c->items[context].is_own = c->items[context].is_own || (code ? i == own : is_own_file(f->file));
    }
    return context;
}

/* A node's outermost frame is the function; those inlined into it at its entry do not begin there. */
static uint32_t function_at(struct fv_contexts *c, uint32_t number)
{
    const struct fv_symbol *symbol = &c->symbols.of_node[number];
    const struct fv_node *node = &c->symbols.nodes[number];
    struct fv_frame frame = { .module = node->module, .offset = node->offset };
    char label[512];

    if (symbol->count)
        frame = c->symbols.frames[symbol->first + symbol->count - 1];
    frame.offset = node->offset - 1; /* the node is one past the entry */
    return find_function(c, fv_frame_label(&frame, &c->symbols, label, sizeof(label)), frame.file);
}

void fv_contexts_init(struct fv_contexts *c, const struct fv_defs *d, bool look_up, bool samples, bool of_archive)
{
    const uint32_t wanted = FV_DEF_CALLS | (samples ? FV_DEF_SAMPLE : 0);
    uint8_t *code = of_archive ? NULL : code_of_calls(d);
    struct fv_path path = { 0 };

    *c = (struct fv_contexts){ .node_count = d->tree.node_count };
    c->of_node = fv_xcalloc(d->tree.node_count, sizeof(*c->of_node));
    c->function_of_node = fv_xcalloc(d->tree.node_count, sizeof(*c->function_of_node));
    fv_symbols_resolve(&c->symbols, d->tree.modules, d->tree.nodes, d->tree.node_count, look_up, &c->problems);
    c->of_node[0] = c->function_of_node[0] = FV_NONE;
    for (uint32_t i = 1; i < d->tree.node_count; i++) {
        c->of_node[i] = c->function_of_node[i] = FV_NONE;
        if (d->tree.nodes[i].flags & FV_DEF_ENTRY)
            c->function_of_node[i] = function_at(c, i);
        if (!(d->tree.nodes[i].flags & wanted))
            continue;
        fv_path_of(&path, &c->symbols, i);
        c->of_node[i] = context_of(c, d, &path, !(d->tree.nodes[i].flags & FV_DEF_CALLS), code);
    }
    fv_path_release(&path);
    free(code);
}

void fv_contexts_release(struct fv_contexts *c)
{
    free(c->functions);
    free(c->items);
    free(c->of_node);
    free(c->function_of_node);
    fv_index_release(&c->index);
    fv_index_release(&c->function_index);
    fv_arena_release(&c->arena);
    fv_problems_release(&c->problems);
    fv_symbols_release(&c->symbols);
    *c = (struct fv_contexts){ 0 };
}
