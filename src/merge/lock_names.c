/* See lock_names.h. Each process tells what it knows of the locks of its ranks; the first one, which has the
 * symbols, names them. */
#include "merge/lock_names.h"
#include "merge/defs_add.h"
#include "merge/merge.h"
#include "merge/threads.h"
#include "report/views.h"

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
    uint32_t *modules; /* of the definitions, which have them all, by the file's numbers */
    size_t module_count;
    uint32_t first;
    struct fv_bytes *out;
};

static void tell_object(void *context, const struct fv_sync_object *o, bool waited_for)
{
    struct telling *t = context;
    const struct fv_def_map *map = &t->file->map;
    struct told told = { .number = t->first + o->id, .kind = o->kind };
    uint32_t module = o->module < t->module_count ? t->modules[o->module] : FV_NONE;

    if (module != FV_NONE) {
        told.module = module;
        told.offset = o->offset;
    } else if (waited_for) {
        told.module = FV_MODEL_NO_MODULE;
        told.address = o->address;
        told.node = o->path < map->node_count && map->nodes[o->path] != FV_NONE ? map->nodes[o->path] : 0;
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
    t.first = fv_threads_first_object(&m->defs, file->rank);
    t.modules = fv_defs_add_modules(&m->defs, file->reader, &t.module_count);
    fv_threads_each_object(file->reader, tell_object, &t);
    free(t.modules);
}

/* ---- names ---- */

static void name_one(const struct fv_view *view, const struct told *told, uint32_t address,
                     struct fv_bytes *out)
{
    const struct fv_lock lock = { .kind = (uint8_t)told->kind,
                                  .address = address,
                                  .node = told->node,
                                  .objects = 1,
                                  .worst = { .address = told->address } };
    char name[1000];

    fv_bytes_number(out, told->number);
    fv_bytes_number(out, told->kind);
    fv_bytes_string(out, fv_view_lock_name(view, &lock, name, sizeof(name)));
}

/* By the first process: `in` is what was told of all. */
static void name_all(struct fv_merge *m, const struct fv_bytes *in, bool symbols, struct fv_bytes *out)
{
    struct fv_model *model = &m->contexts.model;
    const struct fv_view view = { .model = model, .symbols = &m->contexts.symbols };
    const struct told *told = (const struct told *)(const void *)in->data;
    size_t count = in->count / sizeof(*told);

    model->addresses = fv_xcalloc(count + 1, sizeof(*model->addresses));
    for (size_t i = 0; i < count; i++)
        model->addresses[i] = (struct fv_address){ told[i].module, told[i].offset, NULL };
    model->address_count = count;
    if (symbols)
        fv_addresses_resolve(model);
    for (size_t i = 0; i < count; i++)
        name_one(&view, &told[i], told[i].module == FV_MODEL_NO_MODULE ? FV_NONE : (uint32_t)i, out);
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

    *n = (struct fv_lock_names){ .count = fv_threads_first_object(&m->defs, (uint32_t)m->defs.rank_count) };
    n->items = fv_xcalloc((size_t)n->count + 1, sizeof(*n->items));
    for (size_t i = 0; i < m->file_count; i++)
        tell_file(m, &m->files[i], &told);
    if (t->rank)
        fv_transport_put(t, 0, &told);
    for (int i = 1; !t->rank && i < t->size; i++)
        fv_transport_get(t, i, &told);
    if (!t->rank)
        name_all(m, &told, symbols, &names);
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
