/* SPDX-License-Identifier: BSD-3-Clause */
/* See lock_names.h. Each process tells what it knows of the locks of its ranks; the first one, which has the
 * symbols, names them. */
#include "merge/lock_names.h"
#include "merge/defs_add.h"
#include "merge/merge.h"
#include "merge/threads.h"

#include <stdlib.h>
#include <string.h>

struct told {
    uint64_t offset, address;
    uint32_t number, module, node; /* module: FV_MODEL_NO_MODULE: on a heap or a stack */
    uint32_t kind;
};

/* ---- of one file ---- */

struct telling {
    const struct fv_merge_file *file;
    struct fv_numbers modules; /* in the definitions, which have them all */
    uint32_t first;
    struct fv_bytes *out;
};

static void tell_object(void *context, const struct fv_sync_object *o, bool waited_for)
{
    struct telling *t = context;
    const struct fv_def_map *map = &t->file->map;
    struct told told = { .number = t->first + o->id, .kind = o->kind };
    uint32_t module = fv_numbers_get(&t->modules, o->module);

    if (module != FV_NONE) {
        told.module = module;
        told.offset = o->offset;
    } else if (waited_for) {
        told.module = FV_MODEL_NO_MODULE;
        told.address = o->address;
        told.node = fv_numbers_get(&map->nodes, o->path);
        told.node = told.node != FV_NONE ? told.node : 0;
    } else {
        return;
    }
    fv_bytes_put(t->out, &told, sizeof(told));
}

static void tell_file(struct fv_merge *m, const struct fv_merge_file *file, struct fv_bytes *out)
{
    struct telling t = { .file = file, .out = out };

    if (!m->defs.ranks[file->rank].thread_objects)
        return;
    t.first = m->defs.ranks[file->rank].first_object;
    fv_call_tree_add_modules(&m->defs.tree, file->reader, &t.modules);
    fv_threads_each_object(file->reader, tell_object, &t);
    fv_numbers_release(&t.modules);
}

static void tell_named(void *context, uint32_t number, unsigned kind, uint32_t module)
{
    const struct told told = { .number = number, .kind = kind, .module = module };

    fv_bytes_put(context, &told, sizeof(told));
}

/* ---- names ---- */

/* By the first process: `in` is what was told of all. */
static void name_all(struct fv_merge *m, const struct fv_bytes *in, bool look_up, struct fv_bytes *out)
{
    struct fv_symbols *symbols = &m->contexts.symbols;
    const struct told *told = (const struct told *)(const void *)in->data;
    size_t count = in->count / sizeof(*told);
    struct fv_address *addresses = fv_xcalloc(count, sizeof(*addresses));

    for (size_t i = 0; i < count; i++)
        addresses[i] = (struct fv_address){ told[i].module, told[i].offset, NULL };
    if (look_up)
        fv_addresses_resolve(symbols, addresses, count);
    for (size_t i = 0; i < count; i++) {
        const struct fv_lock_place lock = { .kind = (uint8_t)told[i].kind,
                                            .address = told[i].module == FV_MODEL_NO_MODULE ? NULL : &addresses[i],
                                            .node = told[i].node,
                                            .objects = 1,
                                            .object = told[i].address };
        char name[1000];

        fv_bytes_number(out, told[i].number);
        fv_bytes_number(out, told[i].kind);
        fv_bytes_string(out, fv_lock_words(&lock, symbols, name, sizeof(name)));
    }
    free(addresses);
}

static bool take_names(struct fv_lock_names *n, const struct fv_bytes *bytes)
{
    struct fv_bytes_reader r = { .at = bytes->data };

    if (bytes->count)
        r.stop = r.at + bytes->count;
    while (r.stop && r.at < r.stop && !r.failed) {
        uint64_t number = fv_bytes_take(&r), kind = fv_bytes_take(&r);
        const char *name = fv_bytes_text(&r, &n->arena);

        if (number < n->count && !r.failed)
            n->items[number] = (struct fv_lock_name){ name, (uint8_t)kind };
    }
    return !r.failed;
}

bool fv_lock_names_collect(struct fv_lock_names *n, struct fv_merge *m, bool symbols)
{
    const struct fv_transport *t = m->transport;
    struct fv_bytes told = { 0 }, names = { 0 };

    *n = (struct fv_lock_names){ .count = fv_defs_object_count(&m->defs) };
    n->items = fv_xcalloc((size_t)n->count + 1, sizeof(*n->items));
    for (size_t i = 0; i < m->file_count; i++)
        if (m->source->locks)
            m->source->locks(m, i, tell_named, &told);
        else {
            tell_file(m, &m->files[i], &told);
            fv_reader_forget(m->files[i].reader, NULL);
        }
    if (t->rank)
        fv_transport_put(t, 0, &told);
    for (int i = 1; !t->rank && i < t->size; i++)
        fv_transport_get(t, i, &told);
    if (!t->rank)
        name_all(m, &told, symbols || m->source->locks, &names); /* an archive's names need no symbols */
    fv_transport_share(t, &names);
    bool good = take_names(n, &names);
    free(told.data);
    free(names.data);
    return good;
}

void fv_lock_names_release(struct fv_lock_names *n)
{
    free(n->items);
    fv_arena_release(&n->arena);
    *n = (struct fv_lock_names){ 0 };
}
