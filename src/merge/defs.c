/* SPDX-License-Identifier: BSD-3-Clause */
/* See defs.h. Definitions by their keys, and those of others added to them. A rank file's are in defs_file.c,
 * the final order in defs_order.c, definitions as bytes in pack.c. */
#include "merge/defs_add.h"
#include "merge/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fv_defs_init(struct fv_defs *d, uint32_t world_size)
{
    *d = (struct fv_defs){ .world_size = world_size };
    fv_call_tree_init(&d->tree);
}

void fv_defs_release(struct fv_defs *d)
{
    free(d->functions);
    free(d->comms);
    free(d->windows);
    free(d->files);
    free(d->handles);
    free(d->groups);
    free(d->ranks);
    fv_call_tree_release(&d->tree);
    fv_index_release(&d->function_index);
    fv_index_release(&d->comm_index);
    fv_index_release(&d->window_index);
    fv_index_release(&d->file_index);
    fv_index_release(&d->handle_index);
    fv_index_release(&d->group_index);
    fv_arena_release(&d->arena);
    *d = (struct fv_defs){ 0 };
}

uint32_t fv_defs_function(struct fv_defs *d, const char *name, uint32_t class)
{
    size_t before = d->function_count;
    uint32_t i = FV_INTERN_NAME(d->function_index, d->functions, d->function_count, d->function_room, &d->arena, name);

    if (d->function_count > before)
        d->functions[i].class = class;
    return i;
}

uint32_t fv_defs_first_absent(const struct fv_defs *d)
{
    uint32_t rank = 0;

    while (rank < d->rank_count && d->ranks[rank].world_rank == rank)
        rank++;
    return rank < d->world_size ? rank : FV_NONE;
}

static bool has_node(const struct fv_defs *d, enum fv_def_node_flags flag)
{
    for (size_t i = 0; i < d->tree.node_count; i++)
        if (d->tree.nodes[i].flags & flag)
            return true;
    return false;
}

bool fv_defs_has_instances(const struct fv_defs *d)
{
    return has_node(d, FV_DEF_ENTRY);
}

bool fv_defs_has_samples(const struct fv_defs *d)
{
    return has_node(d, FV_DEF_SAMPLE);
}

bool fv_def_event(const char *events, unsigned number, char name[64])
{
    const char *at = events;

    for (; number && *at; number--)
        at += strcspn(at, ",") + 1;
    snprintf(name, 64, "%.*s", (int)strcspn(at, ","), at);
    return *name;
}

bool fv_defs_has_sections(const struct fv_defs *d)
{
    for (size_t i = 0; i < d->function_count; i++)
        if (d->functions[i].class == FV_CLASS_SECTION)
            return true;
    return false;
}

uint32_t fv_defs_add_comm(struct fv_defs *d, const struct fv_def_comm *c)
{
    uint32_t i = FV_INTERN(d->comm_index, d->comms, d->comm_count, d->comm_room, FV_DEF_COMM_KEY(c));

    fv_def_comm_join(&d->arena, &d->comms[i], c);
    return i;
}

uint32_t fv_defs_window(struct fv_defs *d, const struct fv_def_window *w)
{
    size_t before = d->window_count;
    uint32_t i = FV_INTERN(d->window_index, d->windows, d->window_count, d->window_room,
                           (uint32_t[]){ w->comm, w->sequence, (uint32_t)w->owner });
    struct fv_def_window *known = &d->windows[i];

    known->origin = d->window_count > before ? w->origin : fv_origin_earlier(known->origin, w->origin);
    known->created += w->created;
    return i;
}

uint32_t fv_defs_add_file_name(struct fv_defs *d, const struct fv_def_file *f)
{
    uint64_t hash = fv_mix2(fv_hash_text(f->name), fv_hash_text(f->host));
    struct fv_index_probe p = fv_index_probe(&d->file_index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (!strcmp(d->files[i].name, f->name) && !strcmp(d->files[i].host, f->host))
            return i;
    FV_GROW(d->files, d->file_room, d->file_count + 1);
    d->files[d->file_count] = (struct fv_def_file){ fv_arena_string(&d->arena, f->name),
                                                    fv_arena_string(&d->arena, f->host), f->filesystem, f->kind };
    fv_index_add(&d->file_index, hash, (uint32_t)d->file_count);
    return (uint32_t)d->file_count++;
}

uint32_t fv_defs_add_handle(struct fv_defs *d, const struct fv_def_handle *h)
{
    size_t before = d->handle_count;
    uint32_t i = FV_INTERN(d->handle_index, d->handles, d->handle_count, d->handle_room,
                           (uint32_t[]){ h->file, h->comm, h->occurrence, (uint32_t)h->owner, h->kind });
    struct fv_def_handle *known = &d->handles[i];

    if (d->handle_count > before || h->origin.rank < known->origin.rank) {
        known->mode = h->mode;
        known->found = h->found;
    }
    known->origin = d->handle_count > before ? h->origin : fv_origin_earlier(known->origin, h->origin);
    return i;
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
    uint64_t hash = fv_hash_bytes(ranks, count * sizeof(*ranks));
    struct fv_index_probe p = fv_index_probe(&d->group_index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (d->groups[i].count == count && !memcmp(d->groups[i].ranks, ranks, count * sizeof(*ranks)))
            return i;
    uint32_t *copy = fv_arena_take(&d->arena, count * sizeof(*copy));
    memcpy(copy, ranks, count * sizeof(*copy));
    FV_GROW(d->groups, d->group_room, d->group_count + 1);
    d->groups[d->group_count] = (struct fv_def_group){ copy, count };
    fv_index_add(&d->group_index, hash, (uint32_t)d->group_count);
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
    n->events = fv_arena_string(&d->arena, r->events);
    n->labels = fv_arena_string(&d->arena, r->labels ? r->labels : "");
    n->counters = fv_arena_string(&d->arena, r->counters ? r->counters : "");
    n->sensors = fv_arena_string(&d->arena, r->sensors ? r->sensors : "");
    n->file = fv_arena_string(&d->arena, r->file);
    n->points = copy_of(&d->arena, r->points, r->point_count * sizeof(*r->points));
    n->threads = copy_of(&d->arena, r->threads, r->thread_count * sizeof(*r->threads));
}

void fv_def_map_release(struct fv_def_map *map)
{
    fv_numbers_release(&map->functions);
    fv_numbers_release(&map->nodes);
    fv_numbers_release(&map->comms);
    fv_numbers_release(&map->windows);
    fv_numbers_release(&map->files);
    fv_numbers_release(&map->handles);
    fv_numbers_release(&map->file_calls);
    fv_numbers_release(&map->memory_calls);
    fv_numbers_release(&map->file_handles);
    fv_numbers_release(&map->comm_ranks);
    free(map->entries);
    for (size_t i = 0; i < map->sampled_count; i++)
        fv_numbers_release(&map->sampled[i].samples);
    free(map->sampled);
    free(map->thread_calls);
    fv_numbers_release(&map->sections);
    *map = (struct fv_def_map){ 0 };
}

const struct fv_def_sampled *fv_def_map_sampled(const struct fv_def_map *map, uint32_t thread)
{
    for (size_t i = 0; i < map->sampled_count; i++)
        if (map->sampled[i].thread == thread)
            return &map->sampled[i];
    return NULL;
}

/* ---- merging ---- */

#define AT(order, i) ((order) ? (order)[i] : (uint32_t)(i))

static void merge_calls(struct fv_defs *d, const struct fv_defs *f, const struct fv_def_orders *o,
                        struct fv_def_map *map)
{
    uint32_t *modules = fv_xcalloc(f->tree.module_count + 1, sizeof(*modules));

    for (size_t i = 0; i < f->function_count; i++) {
        uint32_t at = AT(o->functions, i);

        map->functions.of[at] = fv_defs_function(d, f->functions[at].name, f->functions[at].class);
    }
    for (uint32_t i = 0; i < FV_MODEL_FIRST_MODULE; i++)
        modules[i] = i;
    for (size_t i = FV_MODEL_FIRST_MODULE; i < f->tree.module_count; i++) {
        const struct fv_module *m = &f->tree.modules[AT(o->modules, i)];

        modules[AT(o->modules, i)] = fv_call_tree_module(&d->tree, m->build_id, m->build_id_bytes, m->path);
    }
    for (size_t i = 1; i < f->tree.node_count; i++) {
        const struct fv_node *n = &f->tree.nodes[AT(o->nodes, i)];
        uint32_t node = fv_call_tree_node(&d->tree, map->nodes.of[n->parent], modules[n->module], n->offset);

        d->tree.nodes[node].flags |= n->flags;
        map->nodes.of[AT(o->nodes, i)] = node;
    }
    free(modules);
}

/* Without `counting` nothing of the counts changes: all is known already. */
static void merge_things(struct fv_defs *d, const struct fv_defs *f, const struct fv_def_orders *o, bool counting,
                         struct fv_def_map *map)
{
    for (size_t i = 0; i < f->comm_count; i++) {
        struct fv_def_comm c = f->comms[AT(o->comms, i)];

        c.created = counting ? c.created : 0;
        map->comms.of[AT(o->comms, i)] = fv_defs_add_comm(d, &c);
    }
    for (size_t i = 0; i < f->window_count; i++) {
        struct fv_def_window w = f->windows[AT(o->windows, i)];

        w.comm = map->comms.of[w.comm];
        w.created = counting ? w.created : 0;
        map->windows.of[AT(o->windows, i)] = fv_defs_window(d, &w);
    }
    for (size_t i = 0; i < f->file_count; i++)
        map->files.of[AT(o->files, i)] = fv_defs_add_file_name(d, &f->files[AT(o->files, i)]);
    for (size_t i = 0; i < f->handle_count; i++) {
        struct fv_def_handle h = f->handles[AT(o->handles, i)];

        h.comm = h.comm == FV_NONE ? FV_NONE : map->comms.of[h.comm];
        h.file = map->files.of[h.file];
        map->handles.of[AT(o->handles, i)] = fv_defs_add_handle(d, &h);
    }
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

static struct fv_numbers zeros(size_t count)
{
    return (struct fv_numbers){ fv_xcalloc(count + 1, sizeof(uint32_t)), count, count + 1 };
}

static void init_map(struct fv_def_map *map, const struct fv_defs *f)
{
    *map = (struct fv_def_map){ .functions = zeros(f->function_count),
                                .nodes = zeros(f->tree.node_count),
                                .comms = zeros(f->comm_count),
                                .windows = zeros(f->window_count),
                                .files = zeros(f->file_count),
                                .handles = zeros(f->handle_count) };
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

/* An archive cannot tell of what happens on a communicator of which nobody knows the members. */
static void leave_unlisted(const struct fv_defs *all, struct fv_def_map *map)
{
    for (size_t i = 0; i < map->windows.count; i++)
        if (!fv_def_comm_is_listed(&all->comms[all->windows[map->windows.of[i]].comm]))
            map->windows.of[i] = FV_NONE;
    for (size_t i = 0; i < map->comms.count; i++)
        if (!fv_def_comm_is_listed(&all->comms[map->comms.of[i]]))
            map->comms.of[i] = FV_NONE;
}

void fv_defs_find(struct fv_defs *all, const struct fv_defs *part, struct fv_def_map *out)
{
    init_map(out, part);
    merge_calls(all, part, &(struct fv_def_orders){ 0 }, out);
    merge_things(all, part, &(struct fv_def_orders){ 0 }, false, out);
    leave_unlisted(all, out);
}

static void through(uint32_t *items, size_t count, const struct fv_numbers *map)
{
    for (size_t i = 0; i < count; i++)
        items[i] = fv_numbers_get(map, items[i]);
}

void fv_def_map_through(struct fv_def_map *map, const struct fv_def_map *next)
{
    through(map->functions.of, map->functions.count, &next->functions);
    if (map->thread_calls)
        through(map->thread_calls, FV_THREAD_CALLS, &next->functions);
    through(map->sections.of, map->sections.count, &next->functions);
    through(map->nodes.of, map->nodes.count, &next->nodes);
    through(map->entries, map->entry_count, &next->nodes);
    for (size_t i = 0; i < map->sampled_count; i++)
        through(map->sampled[i].samples.of, map->sampled[i].samples.count, &next->nodes);
    through(map->comms.of, map->comms.count, &next->comms);
    through(map->windows.of, map->windows.count, &next->windows);
    through(map->files.of, map->files.count, &next->files);
    through(map->handles.of, map->handles.count, &next->handles);
    through(map->file_calls.of, map->file_calls.count, &next->functions);
    through(map->memory_calls.of, map->memory_calls.count, &next->functions);
    through(map->file_handles.of, map->file_handles.count, &next->handles);
}
