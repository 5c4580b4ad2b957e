/* See contexts.h. The report's symbol tables work on a model: one is made of what they need. */
#include "merge/contexts.h"
#include "report/symbols.h"

#include <stdlib.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static uint64_t hash_text(const char *text)
{
    return text ? fv_hash_bytes(text, strlen(text)) : 7;
}

static uint32_t find_function(struct fv_contexts *c, const char *name, const char *file)
{
    uint64_t hash = fv_mix2(hash_text(name), hash_text(file));
    struct fv_index_probe p = fv_index_probe(&c->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < c->function_count && !strcmp(c->functions[i].name, name) &&
            same_text(c->functions[i].file, file))
            return i;
    FV_GROW(c->functions, c->function_room, c->function_count + 1);
    c->functions[c->function_count] =
        (struct fv_user_function){ fv_arena_string(&c->arena, name),
                                   file ? fv_arena_string(&c->arena, file) : NULL };
    fv_index_add(&c->index, hash, (uint32_t)c->function_count);
    return (uint32_t)c->function_count++;
}

static uint32_t find_context(struct fv_contexts *c, uint32_t parent, uint32_t function, uint32_t line)
{
    uint64_t hash = ~fv_mix2(fv_mix2(parent, function), line);
    struct fv_index_probe p = fv_index_probe(&c->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < c->count && c->items[i].parent == parent && c->items[i].function == function &&
            c->items[i].line == line)
            return i;
    FV_GROW(c->items, c->room, c->count + 1);
    c->items[c->count] = (struct fv_context){ parent, function, c->functions[function].file, line };
    fv_index_add(&c->index, hash, (uint32_t)c->count);
    return (uint32_t)c->count++;
}

static uint32_t context_of(struct fv_contexts *c, const struct fv_path *path, const struct fv_model *model)
{
    uint32_t context = FV_NONE;
    char label[512];

    for (size_t i = path->count; i-- > 0;) {
        const struct fv_frame *f = &path->frames[i];
        uint32_t function = find_function(c, fv_frame_label(f, model, label, sizeof(label)), f->file);

        context = find_context(c, context, function, f->line);
    }
    return context;
}

/* A node's outermost frame is the function; those inlined into it at its entry do not begin there. */
static uint32_t function_at(struct fv_contexts *c, const struct fv_node *node)
{
    const struct fv_symbol *symbol = &c->symbols.items[node->symbol];
    struct fv_frame frame = { .module = node->module, .offset = node->offset };
    char label[512];

    if (symbol->count)
        frame = c->symbols.frames[symbol->first + symbol->count - 1];
    frame.offset = node->offset - 1; /* the node is one past the entry */
    return find_function(c, fv_frame_label(&frame, &c->model, label, sizeof(label)), frame.file);
}

void fv_contexts_init(struct fv_contexts *c, const struct fv_defs *d, bool look_up)
{
    struct fv_path path = { 0 };

    *c = (struct fv_contexts){ .node_count = d->node_count };
    c->model = (struct fv_model){ .modules = d->modules,
                                  .module_count = d->module_count,
                                  .nodes = fv_xcalloc(d->node_count, sizeof(struct fv_node)),
                                  .node_count = d->node_count };
    c->of_node = fv_xcalloc(d->node_count, sizeof(*c->of_node));
    c->function_of_node = fv_xcalloc(d->node_count, sizeof(*c->function_of_node));
    memcpy(c->model.nodes, d->nodes, d->node_count * sizeof(*d->nodes));
    fv_symbols_resolve(&c->symbols, &c->model, look_up);
    c->of_node[0] = c->function_of_node[0] = FV_NONE;
    for (uint32_t i = 1; i < d->node_count; i++) {
        c->of_node[i] = c->function_of_node[i] = FV_NONE;
        if (d->nodes[i].symbol & FV_DEF_ENTRY)
            c->function_of_node[i] = function_at(c, &c->model.nodes[i]);
        if (!(d->nodes[i].symbol & FV_DEF_CALLS))
            continue;
        fv_path_of(&path, &c->symbols, &c->model, i);
        c->of_node[i] = context_of(c, &path, &c->model);
    }
    fv_path_release(&path);
}

void fv_contexts_release(struct fv_contexts *c)
{
    free(c->functions);
    free(c->items);
    free(c->of_node);
    free(c->function_of_node);
    fv_index_release(&c->index);
    fv_arena_release(&c->arena);
    free(c->model.nodes);
    free(c->model.addresses);
    fv_arena_release(&c->model.arena);
    fv_problems_release(&c->model.problems);
    fv_symbols_release(&c->symbols);
    *c = (struct fv_contexts){ 0 };
}
