/* SPDX-License-Identifier: BSD-3-Clause */
/* The call paths of a rank file, see defs_add.h: of its calls, in the call tree of the process, and of the
 * measured instances and the samples that its threads logged, in a tree of each thread. All become nodes of one tree:
 * what is the same place in the same object is one node, in whichever rank and thread. */
#include "merge/defs_add.h"
#include "symbols/forks.h"

#include <stdlib.h>
#include <string.h>

enum { ON_THE_WAY = 0x80 }; /* beside enum fv_def_node_flags: what is not 0 is used */

/* A file's modules. */
struct modules {
    const struct fv_reader *reader;
    struct fv_numbers of;
    struct fv_forks *forks;
    struct fv_loaded_modules loaded;
};

/* A call tree of the file, and what of it is used. */
struct tree {
    enum fv_chunk_type type;
    uint32_t thread; /* of FV_CHUNK_SAMPLE_PATHS; else FV_NO_THREAD */
    uint8_t *used;
    size_t used_count, used_room;
    struct fv_numbers nodes;
};

/* The next record of the tree that is in reach of what is used; its number. 0: there are no more. */
static uint64_t next_path(const struct tree *t, struct fv_cursor *c, struct fv_path_record *out)
{
    for (const void *p; (p = fv_cursor_next(c));) {
        if ((t->type == FV_CHUNK_SAMPLE_PATHS && c->thread != t->thread) || c->index + 1 >= t->used_count)
            continue;
        memcpy(out, p, sizeof(*out));
        return c->index + 1;
    }
    return 0;
}

/* Outer frames of what is used are used; a parent has a smaller number than its children. */
static void mark_parents(struct tree *t, const struct fv_reader *reader)
{
    uint32_t *parents = fv_xcalloc(t->used_count + 1, sizeof(*parents));
    struct fv_cursor c = fv_cursor(reader, t->type);
    struct fv_path_record r;

    for (uint64_t id; (id = next_path(t, &c, &r));)
        if (r.parent < id)
            parents[id] = r.parent;
    for (size_t id = t->used_count; id-- > 1;)
        if (t->used[id])
            t->used[parents[id]] |= ON_THE_WAY;
    free(parents);
}

static void add_tree(struct fv_defs *d, struct tree *t, struct modules *modules)
{
    struct fv_cursor c = fv_cursor(modules->reader, t->type);
    struct fv_path_record r;

    fv_numbers_set(&t->nodes, 0, 0);
    if (!t->used_count)
        return;
    mark_parents(t, modules->reader);
    for (uint64_t id; (id = next_path(t, &c, &r));) {
        if (!t->used[id])
            continue;
        if (t->type == FV_CHUNK_SAMPLE_PATHS && r.module == FV_MODULE_UNKNOWN)
            fv_loaded_modules_place(&modules->loaded, modules->reader, &r);
        uint32_t node = fv_call_tree_add_path(&d->tree, &modules->of, &t->nodes, id, &r,
                                              fv_forks_parent(modules->forks, t->thread, id));
        d->tree.nodes[node].flags |= t->used[id] & ~(uint32_t)ON_THE_WAY;
        if (t->used[id] & FV_DEF_ENTRY)
            d->tree.nodes[d->tree.nodes[node].parent].flags |= FV_DEF_CALLS;
    }
}

/* ---- measured instances, and samples ---- */

static void mark(struct tree *t, uint32_t id, enum fv_def_node_flags flag)
{
    if (id >= t->used_count) {
        FV_GROW(t->used, t->used_room, (size_t)id + 1);
        memset(t->used + t->used_count, 0, id + 1 - t->used_count);
        t->used_count = (size_t)id + 1;
    }
    t->used[id] |= (uint8_t)flag;
}

static bool has_chunk(const struct fv_reader *reader, enum fv_chunk_type type, uint32_t thread)
{
    size_t count;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);

    for (size_t i = 0; i < count; i++)
        if (chunk[i].type == type && chunk[i].thread == thread && chunk[i].used)
            return true;
    return false;
}

/* The contexts in which a thread has measured something, in the order of their numbers, which the log refers to: their
 * paths. */
static void mark_entries(const struct fv_reader *reader, struct tree *t, struct fv_numbers *paths)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_INSTANCES);
    struct fv_instances r;

    if (!has_chunk(reader, FV_CHUNK_INSTANCE_LOG, t->thread))
        return;
    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != t->thread || c.index >= fv_reader_bytes(reader) / sizeof(r))
            continue;
        memcpy(&r, p, sizeof(r));
        if (!r.returns || !fv_number_is_id(reader, r.path))
            continue;
        fv_numbers_set(paths, c.index, r.path);
        mark(t, r.path, FV_DEF_ENTRY);
    }
}

static void mark_samples(const struct fv_reader *reader, struct tree *t)
{
    size_t count;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);
    struct fv_logged_sample r;

    for (size_t i = 0; i < count; i++) {
        if (chunk[i].type != FV_CHUNK_SAMPLE_LOG || chunk[i].thread != t->thread)
            continue;
        struct fv_cursor c = fv_cursor_chunk(reader, i);
        for (const void *p; (p = fv_cursor_next(&c));) {
            memcpy(&r, p, sizeof(r));
            if (fv_number_is_id(reader, r.path))
                mark(t, r.path, FV_DEF_SAMPLE);
        }
        fv_reader_forget(reader, &chunk[i]);
    }
}

static void add_sampled(struct fv_defs *d, uint32_t thread, struct modules *modules, struct fv_def_map *map)
{
    struct tree t = { .type = FV_CHUNK_SAMPLE_PATHS, .thread = thread };
    struct fv_numbers paths = { 0 };
    size_t entry_room = map->entry_count;

    mark_entries(modules->reader, &t, &paths);
    mark_samples(modules->reader, &t);
    add_tree(d, &t, modules);
    map->entries = fv_grow(map->entries, &entry_room, map->entry_count + paths.count + 1, sizeof(*map->entries));
    for (size_t i = 0; i < paths.count; i++)
        map->entries[map->entry_count++] = fv_numbers_get(&t.nodes, paths.of[i]);
    map->sampled[map->sampled_count++] =
        (struct fv_def_sampled){ thread, (uint32_t)(map->entry_count - paths.count), (uint32_t)paths.count, t.nodes };
    fv_numbers_release(&paths);
    free(t.used);
}

void fv_defs_add_paths(struct fv_defs *d, const struct fv_reader *reader, uint8_t *used, size_t used_count,
                       struct fv_def_map *map)
{
    struct modules modules = { .reader = reader };
    struct tree t = { .type = FV_CHUNK_PATHS, .thread = FV_NO_THREAD, .used = used, .used_count = used_count };
    size_t count, room = 0;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);

    fv_call_tree_add_modules(&d->tree, reader, &modules.of);
    modules.forks = fv_forks_new(&d->tree);
    fv_forks_read(modules.forks, reader, &modules.of);
    add_tree(d, &t, &modules);
    map->nodes = t.nodes;
    for (size_t i = 0; i < count; i++) {
        bool is_log = chunk[i].type == FV_CHUNK_INSTANCE_LOG || chunk[i].type == FV_CHUNK_SAMPLE_LOG;

        if (!is_log || !chunk[i].used || fv_def_map_sampled(map, chunk[i].thread))
            continue;
        FV_GROW(map->sampled, room, map->sampled_count + 1);
        add_sampled(d, chunk[i].thread, &modules, map);
    }
    fv_forks_free(modules.forks);
    fv_numbers_release(&modules.of);
    fv_loaded_modules_release(&modules.loaded);
}
