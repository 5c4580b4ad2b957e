/* See defs.h. Definitions by their keys, and those of others added to them. A rank file's are in defs_file.c,
 * the final order in defs_order.c, definitions as bytes in pack.c. */
#include "merge/defs_add.h"
#include "merge/threads.h"

#include <stdlib.h>
#include <string.h>

enum kind { FUNCTION = 1, MODULE, NODE, COMM, WINDOW, FILE_NAME, HANDLE, GROUP };

static uint64_t hash_of(enum kind kind, uint64_t a, uint64_t b, uint64_t c)
{
    return fv_mix2(fv_mix2(fv_mix2((uint64_t)kind, a), b), c);
}

static uint64_t hash_text(const char *text)
{
    return fv_hash_bytes(text, strlen(text));
}

void fv_defs_init(struct fv_defs *d, uint32_t world_size)
{
    *d = (struct fv_defs){ .world_size = world_size };
    FV_GROW(d->modules, d->module_room, FV_MODEL_FIRST_MODULE);
    for (; d->module_count < FV_MODEL_FIRST_MODULE; d->module_count++)
        d->modules[d->module_count] = (struct fv_module){ .path = "", .name = "" };
    FV_GROW(d->nodes, d->node_room, 1);
    d->nodes[d->node_count++] = (struct fv_node){ 0 };
}

void fv_defs_release(struct fv_defs *d)
{
    free(d->functions);
    free(d->modules);
    free(d->nodes);
    free(d->comms);
    free(d->windows);
    free(d->files);
    free(d->handles);
    free(d->groups);
    free(d->ranks);
    fv_index_release(&d->index);
    fv_arena_release(&d->arena);
    *d = (struct fv_defs){ 0 };
}

/* Which rank told first. */
static struct fv_origin earlier(struct fv_origin a, struct fv_origin b)
{
    return a.rank < b.rank || (a.rank == b.rank && a.number <= b.number) ? a : b;
}

/* The index holds items of all kinds: an item of another kind at the same number may answer to a hash, so
 * each finder checks its array's length before it compares. */

uint32_t fv_defs_function(struct fv_defs *d, const char *name, uint32_t class)
{
    uint64_t hash = hash_of(FUNCTION, hash_text(name), 0, 0);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < d->function_count && !strcmp(d->functions[i].name, name))
            return i;
    FV_GROW(d->functions, d->function_room, d->function_count + 1);
    d->functions[d->function_count] = (struct fv_def_function){ fv_arena_string(&d->arena, name), class };
    fv_index_add(&d->index, hash, (uint32_t)d->function_count);
    return (uint32_t)d->function_count++;
}

uint32_t fv_defs_add_module(struct fv_defs *d, const struct fv_module *m)
{
    uint64_t hash = hash_of(MODULE, fv_hash_bytes(m->build_id, m->build_id_bytes), hash_text(m->path), 0);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < d->module_count && d->modules[i].build_id_bytes == m->build_id_bytes &&
            !memcmp(d->modules[i].build_id, m->build_id, m->build_id_bytes) &&
            !strcmp(d->modules[i].path, m->path))
            return i;
    FV_GROW(d->modules, d->module_room, d->module_count + 1);
    struct fv_module *n = &d->modules[d->module_count];
    *n = *m;
    n->path = fv_arena_string(&d->arena, m->path);
    const char *slash = strrchr(n->path, '/');
    n->name = slash ? slash + 1 : n->path;
    fv_index_add(&d->index, hash, (uint32_t)d->module_count);
    return (uint32_t)d->module_count++;
}

uint32_t fv_defs_add_node(struct fv_defs *d, uint32_t parent, uint32_t module, uint64_t offset,
                          uint32_t flags)
{
    uint64_t hash = hash_of(NODE, parent, module, offset);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i && i < d->node_count && d->nodes[i].parent == parent && d->nodes[i].module == module &&
            d->nodes[i].offset == offset) {
            d->nodes[i].symbol |= flags;
            return i;
        }
    FV_GROW(d->nodes, d->node_room, d->node_count + 1);
    d->nodes[d->node_count] = (struct fv_node){ parent, module, offset, flags };
    fv_index_add(&d->index, hash, (uint32_t)d->node_count);
    return (uint32_t)d->node_count++;
}

bool fv_defs_has_instances(const struct fv_defs *d)
{
    for (size_t i = 0; i < d->node_count; i++)
        if (d->nodes[i].symbol & FV_DEF_ENTRY)
            return true;
    return false;
}

bool fv_defs_has_sections(const struct fv_defs *d)
{
    for (size_t i = 0; i < d->function_count; i++)
        if (d->functions[i].class == FV_CLASS_SECTION)
            return true;
    return false;
}

static void join_comm(struct fv_defs *d, struct fv_def_comm *to, const struct fv_def_comm *c)
{
    to->created += c->created;
    to->flags |= c->flags;
    if (!to->parent)
        to->parent = c->parent;
    if (c->name[0] && (!to->name[0] || c->name_rank < to->name_rank)) { /* ranks may name it differently */
        to->name = fv_arena_string(&d->arena, c->name);
        to->name_rank = c->name_rank;
    }
    if (c->origin.rank < to->origin.rank && c->remote_size &&
        to->remote_size) { /* which side is local depends on who tells */
        struct fv_def_comm was = *to;
        uint32_t count = c->run_count + c->remote_run_count;
        struct fv_rank_run *runs = fv_arena_take(&d->arena, count * sizeof(*runs));

        memcpy(runs, c->runs, count * sizeof(*runs));
        *to = *c;
        to->runs = runs;
        to->name = was.name;
        to->name_rank = was.name_rank;
        to->created = was.created;
        to->flags = was.flags;
        to->parent = was.parent;
    }
    to->origin = earlier(to->origin, c->origin);
}

uint32_t fv_defs_add_comm(struct fv_defs *d, const struct fv_def_comm *c)
{
    uint64_t size = (uint64_t)c->size + c->remote_size;
    uint64_t hash = hash_of(COMM, c->uid, (uint64_t)(int64_t)c->owner, size);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < d->comm_count && d->comms[i].uid == c->uid && d->comms[i].owner == c->owner &&
            (uint64_t)d->comms[i].size + d->comms[i].remote_size == size) {
            join_comm(d, &d->comms[i], c);
            return i;
        }
    FV_GROW(d->comms, d->comm_room, d->comm_count + 1);
    struct fv_def_comm *n = &d->comms[d->comm_count];
    uint32_t count = c->run_count + c->remote_run_count;
    struct fv_rank_run *runs = fv_arena_take(&d->arena, count * sizeof(*runs));
    if (count)
        memcpy(runs, c->runs, count * sizeof(*runs));
    *n = *c;
    n->runs = runs;
    n->name = fv_arena_string(&d->arena, c->name);
    fv_index_add(&d->index, hash, (uint32_t)d->comm_count);
    return (uint32_t)d->comm_count++;
}

uint32_t fv_defs_window(struct fv_defs *d, const struct fv_def_window *w)
{
    uint64_t hash = hash_of(WINDOW, w->comm, w->sequence, (uint64_t)(int64_t)w->owner);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        struct fv_def_window *known = &d->windows[i];

        if (i < d->window_count && known->comm == w->comm && known->sequence == w->sequence &&
            known->owner == w->owner) {
            known->origin = earlier(known->origin, w->origin);
            known->created += w->created;
            return i;
        }
    }
    FV_GROW(d->windows, d->window_room, d->window_count + 1);
    d->windows[d->window_count] = *w;
    fv_index_add(&d->index, hash, (uint32_t)d->window_count);
    return (uint32_t)d->window_count++;
}

uint32_t fv_defs_add_file_name(struct fv_defs *d, const struct fv_def_file *f)
{
    uint64_t hash = hash_of(FILE_NAME, hash_text(f->name), hash_text(f->host), 0);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < d->file_count && !strcmp(d->files[i].name, f->name) && !strcmp(d->files[i].host, f->host))
            return i;
    FV_GROW(d->files, d->file_room, d->file_count + 1);
    d->files[d->file_count] =
        (struct fv_def_file){ fv_arena_string(&d->arena, f->name), fv_arena_string(&d->arena, f->host) };
    fv_index_add(&d->index, hash, (uint32_t)d->file_count);
    return (uint32_t)d->file_count++;
}

uint32_t fv_defs_add_handle(struct fv_defs *d, const struct fv_def_handle *h)
{
    uint64_t hash =
        hash_of(HANDLE, h->file, (uint64_t)h->comm << 32 | h->occurrence, (uint64_t)(int64_t)h->owner);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        struct fv_def_handle *known = &d->handles[i];

        if (i < d->handle_count && known->file == h->file && known->comm == h->comm &&
            known->occurrence == h->occurrence && known->owner == h->owner) {
            known->mode = h->origin.rank < known->origin.rank ? h->mode : known->mode;
            known->origin = earlier(known->origin, h->origin);
            return i;
        }
    }
    FV_GROW(d->handles, d->handle_room, d->handle_count + 1);
    d->handles[d->handle_count] = *h;
    fv_index_add(&d->index, hash, (uint32_t)d->handle_count);
    return (uint32_t)d->handle_count++;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

uint32_t fv_defs_group(struct fv_defs *d, uint32_t *ranks, uint32_t count)
{
    if (count)
        qsort(ranks, count, sizeof(*ranks), by_number);
    uint64_t hash = hash_of(GROUP, fv_hash_bytes(ranks, count * sizeof(*ranks)), count, 0);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i < d->group_count && d->groups[i].count == count &&
            !memcmp(d->groups[i].ranks, ranks, count * sizeof(*ranks)))
            return i;
    uint32_t *copy = fv_arena_take(&d->arena, count * sizeof(*copy));
    memcpy(copy, ranks, count * sizeof(*copy));
    FV_GROW(d->groups, d->group_room, d->group_count + 1);
    d->groups[d->group_count] = (struct fv_def_group){ copy, count };
    fv_index_add(&d->index, hash, (uint32_t)d->group_count);
    return (uint32_t)d->group_count++;
}

static void *copy_of(struct fv_arena *arena, const void *data, size_t bytes)
{
    void *copy = fv_arena_take(arena, bytes);

    if (bytes)
        memcpy(copy, data, bytes);
    return copy;
}

void fv_defs_add_rank(struct fv_defs *d, const struct fv_def_rank *r)
{
    FV_GROW(d->ranks, d->rank_room, d->rank_count + 1);
    struct fv_def_rank *n = &d->ranks[d->rank_count++];

    *n = *r;
    n->host = fv_arena_string(&d->arena, r->host);
    n->program = fv_arena_string(&d->arena, r->program);
    n->command = fv_arena_string(&d->arena, r->command);
    n->mpi = fv_arena_string(&d->arena, r->mpi);
    n->thread_level = fv_arena_string(&d->arena, r->thread_level);
    n->file = fv_arena_string(&d->arena, r->file);
    n->points = copy_of(&d->arena, r->points, r->point_count * sizeof(*r->points));
    n->threads = copy_of(&d->arena, r->threads, r->thread_count * sizeof(*r->threads));
}

void fv_def_map_release(struct fv_def_map *map)
{
    free(map->functions);
    free(map->nodes);
    free(map->comms);
    free(map->windows);
    free(map->handles);
    free(map->comm_ranks);
    free(map->entries);
    free(map->entries_of);
    free(map->thread_calls);
    free(map->sections);
    *map = (struct fv_def_map){ 0 };
}

/* ---- merging ---- */

#define AT(order, i) ((order) ? (order)[i] : (uint32_t)(i))

static void merge_calls(struct fv_defs *d, const struct fv_defs *f, const struct fv_def_orders *o,
                        struct fv_def_map *map)
{
    uint32_t *modules = fv_xcalloc(f->module_count + 1, sizeof(*modules));

    for (size_t i = 0; i < f->function_count; i++) {
        uint32_t at = AT(o->functions, i);

        map->functions[at] = fv_defs_function(d, f->functions[at].name, f->functions[at].class);
    }
    for (uint32_t i = 0; i < FV_MODEL_FIRST_MODULE; i++)
        modules[i] = i;
    for (size_t i = FV_MODEL_FIRST_MODULE; i < f->module_count; i++)
        modules[AT(o->modules, i)] = fv_defs_add_module(d, &f->modules[AT(o->modules, i)]);
    for (size_t i = 1; i < f->node_count; i++) {
        const struct fv_node *n = &f->nodes[AT(o->nodes, i)];

        map->nodes[AT(o->nodes, i)] =
            fv_defs_add_node(d, map->nodes[n->parent], modules[n->module], n->offset, n->symbol);
    }
    free(modules);
}

/* Without `counting` nothing of the counts changes: all is known already. */
static void merge_things(struct fv_defs *d, const struct fv_defs *f, const struct fv_def_orders *o,
                         bool counting, struct fv_def_map *map)
{
    uint32_t *files = fv_xcalloc(f->file_count + 1, sizeof(*files));

    for (size_t i = 0; i < f->comm_count; i++) {
        struct fv_def_comm c = f->comms[AT(o->comms, i)];

        c.created = counting ? c.created : 0;
        map->comms[AT(o->comms, i)] = fv_defs_add_comm(d, &c);
    }
    for (size_t i = 0; i < f->window_count; i++) {
        struct fv_def_window w = f->windows[AT(o->windows, i)];

        w.comm = map->comms[w.comm];
        w.created = counting ? w.created : 0;
        map->windows[AT(o->windows, i)] = fv_defs_window(d, &w);
    }
    for (size_t i = 0; i < f->file_count; i++)
        files[AT(o->files, i)] = fv_defs_add_file_name(d, &f->files[AT(o->files, i)]);
    for (size_t i = 0; i < f->handle_count; i++) {
        struct fv_def_handle h = f->handles[AT(o->handles, i)];

        h.comm = map->comms[h.comm];
        h.file = files[h.file];
        map->handles[AT(o->handles, i)] = fv_defs_add_handle(d, &h);
    }
    free(files);
}

static void merge_more(struct fv_defs *d, const struct fv_defs *f, const struct fv_def_orders *o)
{
    for (size_t i = 0; i < f->group_count; i++) {
        const struct fv_def_group *g = &f->groups[AT(o->groups, i)];

        fv_defs_group(d, (uint32_t *)g->ranks, g->count);
    }
    for (size_t i = 0; i < f->rank_count; i++)
        fv_defs_add_rank(d, &f->ranks[AT(o->ranks, i)]);
}

static void init_map(struct fv_def_map *map, const struct fv_defs *f)
{
    *map = (struct fv_def_map){ .function_count = f->function_count,
                                .node_count = f->node_count,
                                .comm_count = f->comm_count,
                                .window_count = f->window_count,
                                .handle_count = f->handle_count };
    map->functions = fv_xcalloc(f->function_count + 1, sizeof(uint32_t));
    map->nodes = fv_xcalloc(f->node_count + 1, sizeof(uint32_t));
    map->comms = fv_xcalloc(f->comm_count + 1, sizeof(uint32_t));
    map->windows = fv_xcalloc(f->window_count + 1, sizeof(uint32_t));
    map->handles = fv_xcalloc(f->handle_count + 1, sizeof(uint32_t));
}

void fv_defs_merge_in_order(struct fv_defs *d, const struct fv_defs *from, const struct fv_def_orders *o)
{
    struct fv_def_map map;

    init_map(&map, from);
    merge_calls(d, from, o, &map);
    merge_things(d, from, o, true, &map);
    merge_more(d, from, o);
    fv_def_map_release(&map);
}

void fv_defs_merge(struct fv_defs *d, const struct fv_defs *from)
{
    fv_defs_merge_in_order(d, from, &(struct fv_def_orders){ 0 });
}

void fv_defs_find(struct fv_defs *all, const struct fv_defs *part, struct fv_def_map *out)
{
    init_map(out, part);
    merge_calls(all, part, &(struct fv_def_orders){ 0 }, out);
    merge_things(all, part, &(struct fv_def_orders){ 0 }, false, out);
}

static void through(uint32_t *items, size_t count, const uint32_t *map, size_t map_count)
{
    for (size_t i = 0; i < count; i++)
        items[i] = items[i] < map_count ? map[items[i]] : FV_NONE;
}

void fv_def_map_through(struct fv_def_map *map, const struct fv_def_map *next)
{
    through(map->functions, map->function_count, next->functions, next->function_count);
    if (map->thread_calls)
        through(map->thread_calls, FV_THREAD_CALLS, next->functions, next->function_count);
    through(map->sections, map->section_count, next->functions, next->function_count);
    through(map->nodes, map->node_count, next->nodes, next->node_count);
    through(map->entries, map->entry_count, next->nodes, next->node_count);
    through(map->comms, map->comm_count, next->comms, next->comm_count);
    through(map->windows, map->window_count, next->windows, next->window_count);
    through(map->handles, map->handle_count, next->handles, next->handle_count);
}
