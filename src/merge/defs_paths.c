/* The call paths of a rank file, see defs_add.h: of its calls, in the call tree of the process, and of the
 * measured instances that its threads logged, in a tree of each thread. Both become nodes of one tree: what
 * is the same place in the same object is one node, in whichever rank and thread. */
#include "merge/defs_add.h"

#include <stdlib.h>
#include <string.h>

enum { ON_THE_WAY = 0x80 }; /* beside enum fv_def_node_flags: what is not 0 is used */

/* A file's modules, by their numbers there. */
struct modules {
    const struct fv_reader *reader;
    uint32_t *of;
    size_t count;
};

/* A call tree of the file, and what of it is used. */
struct tree {
    enum fv_chunk_type type;
    uint32_t thread; /* of FV_CHUNK_SAMPLE_PATHS */
    uint8_t *used;
    size_t used_count, used_room;
    uint32_t *nodes;
    size_t node_count, node_room;
};

uint32_t *fv_defs_add_modules(struct fv_defs *d, const struct fv_reader *reader, size_t *count)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MODULES);
    uint32_t *of = NULL;
    size_t room = 0;

    *count = 0;
    for (const struct fv_module_record *m; (m = fv_cursor_next(&c));) {
        struct fv_module module = { .path = m->path, .build_id_bytes = m->build_id_bytes };

        if (!fv_def_is_id(reader, m->id) || m->build_id_bytes > sizeof(module.build_id))
            continue;
        memcpy(module.build_id, m->build_id, m->build_id_bytes);
        fv_def_map_set(&of, count, &room, m->id, fv_defs_add_module(d, &module));
    }
    return of;
}

static uint32_t module_of(const struct modules *m, uint32_t id)
{
    return id == FV_MODULE_TRUNCATED               ? FV_MODEL_CUT
           : id < m->count && m->of[id] != FV_NONE ? m->of[id]
                                                   : FV_MODEL_NO_MODULE;
}

/* An address in an object that a thread met before the process knew it: by now it may. */
static void place(const struct modules *modules, struct fv_path_record *r)
{
    struct fv_cursor c = fv_cursor(modules->reader, FV_CHUNK_MODULES);

    for (const struct fv_module_record *m; (m = fv_cursor_next(&c));)
        if (r->offset - 1 >= m->begin && r->offset - 1 < m->end) {
            r->module = m->id;
            r->offset -= m->bias;
            return;
        }
}

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
            t->used[parents[id]] |= ON_THE_WAY | (t->used[id] & FV_DEF_ENTRY ? FV_DEF_CALLS : 0);
    free(parents);
}

static void add_tree(struct fv_defs *d, struct tree *t, const struct modules *modules)
{
    struct fv_cursor c = fv_cursor(modules->reader, t->type);
    struct fv_path_record r;

    fv_def_map_set(&t->nodes, &t->node_count, &t->node_room, 0, 0);
    if (!t->used_count)
        return;
    mark_parents(t, modules->reader);
    for (uint64_t id; (id = next_path(t, &c, &r));) {
        if (!t->used[id])
            continue;
        if (t->type == FV_CHUNK_SAMPLE_PATHS && r.module == FV_MODULE_UNKNOWN)
            place(modules, &r);
        uint32_t parent = r.parent < id && r.parent < t->node_count ? t->nodes[r.parent] : FV_NONE;
        if (parent == FV_NONE)
            parent = fv_defs_add_node(d, 0, FV_MODEL_LOST, 0, 0);
        fv_def_map_set(
            &t->nodes, &t->node_count, &t->node_room, id,
            fv_defs_add_node(d, parent, module_of(modules, r.module), r.offset, t->used[id] & ~ON_THE_WAY));
    }
}

/* ---- measured instances ---- */

static void mark_entry(struct tree *t, uint32_t id)
{
    if (id >= t->used_count) {
        FV_GROW(t->used, t->used_room, (size_t)id + 1);
        memset(t->used + t->used_count, 0, id + 1 - t->used_count);
        t->used_count = (size_t)id + 1;
    }
    t->used[id] |= FV_DEF_ENTRY;
}

/* The contexts in which a thread has measured something, in the order of their numbers, which the log refers
 * to. */
static void add_entries(struct fv_defs *d, uint32_t thread, const struct modules *modules,
                        struct fv_def_map *map)
{
    const struct fv_reader *reader = modules->reader;
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_INSTANCES);
    struct tree t = { .type = FV_CHUNK_SAMPLE_PATHS, .thread = thread };
    uint32_t *paths = NULL;
    size_t count = 0, room = 0, entry_room = map->entry_count;
    struct fv_instances r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != thread || c.index >= fv_reader_bytes(reader) / sizeof(r))
            continue;
        memcpy(&r, p, sizeof(r));
        if (!r.returns || !fv_def_is_id(reader, r.path))
            continue;
        fv_def_map_set(&paths, &count, &room, c.index, r.path);
        mark_entry(&t, r.path);
    }
    add_tree(d, &t, modules);
    map->entries_of[map->entries_of_count++] =
        (struct fv_def_entries){ thread, (uint32_t)map->entry_count, (uint32_t)count };
    map->entries = fv_grow(map->entries, &entry_room, map->entry_count + count + 1, sizeof(*map->entries));
    for (size_t i = 0; i < count; i++)
        map->entries[map->entry_count++] = paths[i] < t.node_count ? t.nodes[paths[i]] : FV_NONE;
    free(paths);
    free(t.used);
    free(t.nodes);
}

static bool is_known(const struct fv_def_map *map, uint32_t thread)
{
    for (size_t i = 0; i < map->entries_of_count; i++)
        if (map->entries_of[i].thread == thread)
            return true;
    return false;
}

void fv_defs_add_paths(struct fv_defs *d, const struct fv_reader *reader, uint8_t *used, size_t used_count,
                       struct fv_def_map *map)
{
    struct modules modules = { .reader = reader };
    struct tree t = { .type = FV_CHUNK_PATHS, .used = used, .used_count = used_count };
    size_t count, room = 0;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);

    modules.of = fv_defs_add_modules(d, reader, &modules.count);
    add_tree(d, &t, &modules);
    map->nodes = t.nodes;
    map->node_count = t.node_count;
    for (size_t i = 0; i < count; i++) {
        if (chunk[i].type != FV_CHUNK_INSTANCE_LOG || !chunk[i].used || is_known(map, chunk[i].thread))
            continue;
        FV_GROW(map->entries_of, room, map->entries_of_count + 1);
        add_entries(d, chunk[i].thread, &modules, map);
    }
    free(modules.of);
}
