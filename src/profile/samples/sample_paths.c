/* SPDX-License-Identifier: BSD-3-Clause */
/* See sample_paths.h. A parent has a smaller id than its children, so that one pass in the order of ids will
 * do; what says otherwise is damaged, and so is what is deeper than any recorder goes. */
#include "profile/samples/sample_paths.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 1024

static void add(struct fv_sample_tree *t, struct fv_build *b, const struct fv_build_file *f,
                const struct fv_path_record *r)
{
    uint32_t node = FV_NONE, parent = 0, id = (uint32_t)t->count + 1;
    uint32_t below = fv_forks_parent(b->forks, t->thread, id), fork = below != FV_NONE ? below : 0;
    uint16_t depth = 0;

    if (r->parent && r->parent < id) {
        parent = t->nodes[r->parent - 1];
        depth = t->depth[r->parent - 1];
        fork = below != FV_NONE ? below : t->forks[r->parent - 1];
    }
    if (r->parent < id && parent != FV_NONE && depth < DEPTH_MAX)
        node = fv_call_tree_node(&b->model->tree, below != FV_NONE ? below : parent,
                                 fv_numbers_module(&f->modules, r->module), r->offset);
    FV_GROW(t->nodes, t->room, id);
    FV_GROW(t->forks, t->fork_room, id);
    FV_GROW(t->depth, t->depth_room, id);
    t->nodes[id - 1] = node;
    t->forks[id - 1] = fork;
    t->depth[id - 1] = (uint16_t)(depth + 1);
    t->count = id;
}

void fv_sample_trees_read(struct fv_sample_trees *trees, struct fv_build *b, struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SAMPLE_PATHS);
    struct fv_loaded_modules loaded = { 0 };
    struct fv_path_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        struct fv_sample_tree *t = FV_INTERNED(trees->by_thread, trees->items, trees->count, trees->room, c.thread);

        if (c.index != t->count || t->count + 1 >= FV_NONE)
            continue; /* damage before it: its id is not known */
        memcpy(&r, p, sizeof(r));
        if (r.module == FV_MODULE_UNKNOWN)
            fv_loaded_modules_place(&loaded, f->reader, &r);
        add(t, b, f, &r);
    }
    fv_loaded_modules_release(&loaded);
}

/* The thread's tree, if the path is known. */
static const struct fv_sample_tree *tree_of(const struct fv_sample_trees *trees, uint32_t thread, uint32_t id)
{
    uint32_t i = FV_FIND(trees->by_thread, trees->items, thread);

    return id && i != FV_NONE && id <= trees->items[i].count ? &trees->items[i] : NULL;
}

uint32_t fv_sample_trees_node(const struct fv_sample_trees *trees, uint32_t thread, uint32_t id)
{
    const struct fv_sample_tree *t = tree_of(trees, thread, id);

    return !id ? 0 : t ? t->nodes[id - 1] : FV_NONE;
}

uint32_t fv_sample_trees_fork(const struct fv_sample_trees *trees, uint32_t thread, uint32_t id)
{
    const struct fv_sample_tree *t = tree_of(trees, thread, id);

    return t && t->nodes[id - 1] != FV_NONE ? t->forks[id - 1] : 0;
}

void fv_sample_trees_release(struct fv_sample_trees *trees)
{
    for (size_t i = 0; i < trees->count; i++) {
        free(trees->items[i].nodes);
        free(trees->items[i].forks);
        free(trees->items[i].depth);
    }
    free(trees->items);
    fv_index_release(&trees->by_thread);
    *trees = (struct fv_sample_trees){ 0 };
}
