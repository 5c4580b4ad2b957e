/* SPDX-License-Identifier: BSD-3-Clause */
/* See call_tree.h. */
#include "experiment/call_tree.h"
#include "experiment/keys.h"

#include <stdlib.h>

#define LOOK_BACK 64 /* modules that begin before an address and may hold it: one where another was unloaded */

void fv_call_tree_init(struct fv_call_tree *t)
{
    *t = (struct fv_call_tree){ 0 };
    FV_GROW(t->modules, t->module_room, FV_MODEL_FIRST_MODULE);
    for (; t->module_count < FV_MODEL_FIRST_MODULE; t->module_count++)
        t->modules[t->module_count] =
            (struct fv_module){ .path = "", .name = "", .key = fv_key_no_module((unsigned)t->module_count) };
    FV_GROW(t->nodes, t->node_room, 1);
    t->nodes[t->node_count++] = (struct fv_node){ 0 };
}

void fv_call_tree_release(struct fv_call_tree *t)
{
    free(t->modules);
    free(t->nodes);
    fv_index_release(&t->module_index);
    fv_index_release(&t->node_index);
    fv_arena_release(&t->arena);
    *t = (struct fv_call_tree){ 0 };
}

static enum fv_module_kind kind_of(const char *name)
{
    static const struct {
        const char *begin;
        enum fv_module_kind kind;
    } names[] = {
        { "libfvmpi", FV_MODULE_OF_FVMPI },
        { "libgomp.so", FV_MODULE_OF_OPENMP },
        { "libomp.so", FV_MODULE_OF_OPENMP },
        { "libomp5.so", FV_MODULE_OF_OPENMP },
        { "libiomp5.so", FV_MODULE_OF_OPENMP },
        { "libc.so", FV_MODULE_OF_C },
        { "libc-", FV_MODULE_OF_C },
        { "libpthread", FV_MODULE_OF_C },
        { "ld-linux", FV_MODULE_OF_C },
        { "ld-musl", FV_MODULE_OF_C },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strncmp(name, names[i].begin, strlen(names[i].begin)))
            return names[i].kind;
    return FV_MODULE_OF_OTHERS;
}

uint32_t fv_call_tree_module(struct fv_call_tree *t, const uint8_t *build_id, uint32_t build_id_bytes, const char *path)
{
    uint64_t hash = build_id_bytes ? fv_hash_bytes(build_id, build_id_bytes) : fv_hash_text(path);
    struct fv_index_probe p = fv_index_probe(&t->module_index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        const struct fv_module *m = &t->modules[i];

        if (m->build_id_bytes == build_id_bytes && !memcmp(m->build_id, build_id, build_id_bytes) &&
            (build_id_bytes ? !strcmp(m->name, fv_base_name(path)) : !strcmp(m->path, path)))
            return i;
    }
    FV_GROW(t->modules, t->module_room, t->module_count + 1);
    struct fv_module *n = &t->modules[t->module_count];
    *n = (struct fv_module){ .path = fv_arena_string(&t->arena, path),
                             .build_id_bytes = build_id_bytes,
                             .key = fv_key_module(build_id, build_id_bytes, path) };
    n->name = fv_base_name(n->path);
    n->kind = kind_of(n->name);
    memcpy(n->build_id, build_id, build_id_bytes);
    fv_index_add(&t->module_index, hash, (uint32_t)t->module_count);
    return (uint32_t)t->module_count++;
}

uint32_t fv_call_tree_node(struct fv_call_tree *t, uint32_t parent, uint32_t module, uint64_t offset)
{
    const struct {
        uint32_t parent, module;
        uint64_t offset;
    } key = { parent, module, offset };
    size_t before = t->node_count;
    uint32_t i = FV_INTERN(t->node_index, t->nodes, t->node_count, t->node_room, key);

    if (t->node_count > before)
        t->nodes[i].key = fv_key_frame(t->nodes[parent].key, t->modules[module].key, offset);
    return i;
}

/* ---- a rank file's numbers ---- */

void fv_numbers_widen(struct fv_numbers *n, uint64_t id)
{
    size_t before = n->room;

    FV_GROW(n->of, n->room, id + 1);
    memset(n->of + before, 0xff, (n->room - before) * sizeof(*n->of));
}

void fv_numbers_release(struct fv_numbers *n)
{
    free(n->of);
    *n = (struct fv_numbers){ 0 };
}

void fv_call_tree_add_modules(struct fv_call_tree *t, const struct fv_reader *reader, struct fv_numbers *out)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MODULES);

    for (const struct fv_module_record *m; (m = fv_cursor_next(&c));)
        if (fv_number_is_id(reader, m->id) && m->build_id_bytes <= sizeof(t->modules->build_id))
            fv_numbers_set(out, m->id, fv_call_tree_module(t, m->build_id, m->build_id_bytes, m->path));
}

uint32_t fv_numbers_module(const struct fv_numbers *modules, uint32_t id)
{
    uint32_t module = id == FV_MODULE_TRUNCATED ? FV_MODEL_CUT : fv_numbers_get(modules, id);

    return module == FV_NONE ? FV_MODEL_NO_MODULE : module;
}

uint32_t fv_call_tree_add_path(struct fv_call_tree *t, const struct fv_numbers *modules, struct fv_numbers *paths,
                               uint64_t id, const struct fv_path_record *r, uint32_t below)
{
    uint32_t parent = below != FV_NONE ? below
                      : !r->parent     ? 0
                      : r->parent < id ? fv_numbers_get(paths, r->parent)
                                       : FV_NONE;

    if (parent == FV_NONE)
        parent = fv_call_tree_node(t, 0, FV_MODEL_LOST, 0);
    uint32_t node = fv_call_tree_node(t, parent, fv_numbers_module(modules, r->module), r->offset);
    fv_numbers_set(paths, id, node);
    return node;
}

static int by_begin(const void *a, const void *b)
{
    const struct fv_module_record *x = *(const struct fv_module_record *const *)a,
                                  *y = *(const struct fv_module_record *const *)b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void find_loaded(struct fv_loaded_modules *l, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MODULES);

    l->known = true;
    for (const struct fv_module_record *m; (m = fv_cursor_next(&c));) {
        FV_GROW(l->modules, l->room, l->count + 1);
        l->modules[l->count++] = m;
    }
    if (l->count)
        qsort(l->modules, l->count, sizeof(*l->modules), by_begin);
}

void fv_loaded_modules_place(struct fv_loaded_modules *l, const struct fv_reader *reader, struct fv_path_record *r)
{
    if (!l->known)
        find_loaded(l, reader);
    size_t before = FV_COUNT_BEFORE(i, l->count, l->modules[i]->begin <= r->offset - 1);
    for (size_t i = before, least = before > LOOK_BACK ? before - LOOK_BACK : 0; i-- > least;) {
        const struct fv_module_record *m = l->modules[i];

        if (r->offset - 1 >= m->end)
            continue;
        r->module = m->id;
        r->offset -= m->bias;
        return;
    }
}

void fv_loaded_modules_release(struct fv_loaded_modules *l)
{
    free(l->modules);
    *l = (struct fv_loaded_modules){ 0 };
}
