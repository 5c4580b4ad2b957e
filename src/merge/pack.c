/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions as bytes; see defs.h. Numbers within are checked when they come in, so that a torn message is
 * an error and no wild read. */
#include "merge/defs.h"

static void pack_calls(const struct fv_defs *d, struct fv_bytes *b)
{
    fv_bytes_number(b, d->function_count);
    for (size_t i = 0; i < d->function_count; i++) {
        fv_bytes_number(b, d->functions[i].class);
        fv_bytes_string(b, d->functions[i].name);
    }
    fv_bytes_number(b, d->tree.module_count - FV_MODEL_FIRST_MODULE);
    for (size_t i = FV_MODEL_FIRST_MODULE; i < d->tree.module_count; i++) {
        const struct fv_module *m = &d->tree.modules[i];

        fv_bytes_number(b, m->build_id_bytes);
        fv_bytes_put(b, m->build_id, sizeof(m->build_id));
        fv_bytes_string(b, m->path);
    }
    fv_bytes_number(b, d->tree.node_count - 1);
    fv_bytes_put(b, d->tree.nodes + 1, (d->tree.node_count - 1) * sizeof(*d->tree.nodes));
}

static void pack_things(const struct fv_defs *d, struct fv_bytes *b)
{
    fv_bytes_number(b, d->comm_count);
    for (size_t i = 0; i < d->comm_count; i++) {
        const struct fv_def_comm *c = &d->comms[i];

        fv_bytes_put(b, c, sizeof(*c));
        fv_bytes_string(b, c->name);
        fv_bytes_put(b, c->runs, ((size_t)c->run_count + c->remote_run_count) * sizeof(*c->runs));
        fv_bytes_put(b, c->grid, c->grid_dimensions * sizeof(*c->grid));
    }
    fv_bytes_number(b, d->window_count);
    fv_bytes_put(b, d->windows, d->window_count * sizeof(*d->windows));
    fv_bytes_number(b, d->file_count);
    for (size_t i = 0; i < d->file_count; i++) {
        fv_bytes_string(b, d->files[i].name);
        fv_bytes_string(b, d->files[i].host);
        fv_bytes_number(b, d->files[i].filesystem);
        fv_bytes_number(b, d->files[i].kind);
    }
    fv_bytes_number(b, d->handle_count);
    fv_bytes_put(b, d->handles, d->handle_count * sizeof(*d->handles));
    fv_bytes_number(b, d->group_count);
    for (size_t i = 0; i < d->group_count; i++) {
        fv_bytes_number(b, d->groups[i].count);
        fv_bytes_put(b, d->groups[i].ranks, d->groups[i].count * sizeof(uint32_t));
    }
}

static void pack_rank(const struct fv_def_rank *r, struct fv_bytes *b)
{
    fv_bytes_put(b, r, sizeof(*r));
    fv_bytes_string(b, r->host);
    fv_bytes_string(b, r->program);
    fv_bytes_string(b, r->command);
    fv_bytes_string(b, r->mpi);
    fv_bytes_string(b, r->thread_level);
    fv_bytes_string(b, r->events);
    fv_bytes_string(b, r->labels);
    fv_bytes_string(b, r->counters);
    fv_bytes_string(b, r->sensors);
    fv_bytes_string(b, r->file);
    fv_bytes_put(b, r->points, r->point_count * sizeof(*r->points));
    fv_bytes_put(b, r->threads, r->thread_count * sizeof(*r->threads));
}

void fv_defs_pack(const struct fv_defs *d, struct fv_bytes *b)
{
    fv_bytes_number(b, d->world_size);
    pack_calls(d, b);
    pack_things(d, b);
    fv_bytes_number(b, d->rank_count);
    for (size_t i = 0; i < d->rank_count; i++)
        pack_rank(&d->ranks[i], b);
}

/* An array inside of the bytes, copied. */
static void *take_array(struct fv_bytes_reader *r, struct fv_arena *arena, uint64_t count, size_t size)
{
    if (count > (uint64_t)(r->stop - r->at) / size) {
        r->failed = true;
        count = 0;
    }
    void *items = fv_arena_take(arena, count * size);
    if (count)
        fv_bytes_get(r, items, count * size);
    return items;
}

static void unpack_calls(struct fv_defs *d, struct fv_arena *arena, struct fv_bytes_reader *r)
{
    uint32_t count = fv_bytes_count(r);

    for (uint32_t i = 0; i < count && !r->failed; i++) {
        uint32_t class = (uint32_t)fv_bytes_take(r);

        FV_GROW(d->functions, d->function_room, d->function_count + 1);
        d->functions[d->function_count++] = (struct fv_def_function){ fv_bytes_text(r, arena), class };
    }
    count = fv_bytes_count(r);
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        struct fv_module m = { 0 };

        m.build_id_bytes = (uint32_t)fv_bytes_take(r);
        fv_bytes_get(r, m.build_id, sizeof(m.build_id));
        m.path = m.name = fv_bytes_text(r, arena);
        r->failed = r->failed || m.build_id_bytes > sizeof(m.build_id);
        FV_GROW(d->tree.modules, d->tree.module_room, d->tree.module_count + 1);
        d->tree.modules[d->tree.module_count++] = m;
    }
    count = fv_bytes_count(r);
    const struct fv_node *nodes = take_array(r, arena, count, sizeof(*nodes));
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        r->failed = nodes[i].parent > i || nodes[i].module >= d->tree.module_count;
        FV_GROW(d->tree.nodes, d->tree.node_room, d->tree.node_count + 1);
        d->tree.nodes[d->tree.node_count++] = nodes[i];
    }
}

static void unpack_comms(struct fv_defs *d, struct fv_arena *arena, struct fv_bytes_reader *r)
{
    uint32_t count = fv_bytes_count(r);

    for (uint32_t i = 0; i < count && !r->failed; i++) {
        struct fv_def_comm c;

        fv_bytes_get(r, &c, sizeof(c));
        c.name = fv_bytes_text(r, arena);
        c.runs = take_array(r, arena, (uint64_t)c.run_count + c.remote_run_count, sizeof(*c.runs));
        c.grid = take_array(r, arena, c.grid_dimensions, sizeof(*c.grid));
        FV_GROW(d->comms, d->comm_room, d->comm_count + 1);
        d->comms[d->comm_count++] = c;
    }
}

static void unpack_things(struct fv_defs *d, struct fv_arena *arena, struct fv_bytes_reader *r)
{
    uint32_t count = fv_bytes_count(r);
    const struct fv_def_window *windows = take_array(r, arena, count, sizeof(*windows));

    for (uint32_t i = 0; i < count && !r->failed; i++) {
        r->failed = windows[i].comm >= d->comm_count;
        FV_GROW(d->windows, d->window_room, d->window_count + 1);
        d->windows[d->window_count++] = windows[i];
    }
    count = fv_bytes_count(r);
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        FV_GROW(d->files, d->file_room, d->file_count + 1);
        d->files[d->file_count].name = fv_bytes_text(r, arena);
        d->files[d->file_count].host = fv_bytes_text(r, arena);
        d->files[d->file_count].filesystem = fv_bytes_take(r);
        d->files[d->file_count++].kind = (uint32_t)fv_bytes_take(r);
    }
    count = fv_bytes_count(r);
    const struct fv_def_handle *handles = take_array(r, arena, count, sizeof(*handles));
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        r->failed = (handles[i].comm >= d->comm_count && handles[i].comm != FV_NONE) ||
                    handles[i].kind >= FV_DEF_IO_KINDS || handles[i].file >= d->file_count;
        FV_GROW(d->handles, d->handle_room, d->handle_count + 1);
        d->handles[d->handle_count++] = handles[i];
    }
    count = fv_bytes_count(r);
    for (uint32_t i = 0; i < count && !r->failed; i++) {
        uint32_t members = fv_bytes_count(r);

        FV_GROW(d->groups, d->group_room, d->group_count + 1);
        d->groups[d->group_count].count = members;
        d->groups[d->group_count++].ranks = take_array(r, arena, members, sizeof(uint32_t));
    }
}

static void unpack_ranks(struct fv_defs *d, struct fv_arena *arena, struct fv_bytes_reader *r)
{
    uint32_t count = fv_bytes_count(r);

    for (uint32_t i = 0; i < count && !r->failed; i++) {
        struct fv_def_rank k;

        fv_bytes_get(r, &k, sizeof(k));
        k.host = fv_bytes_text(r, arena);
        k.program = fv_bytes_text(r, arena);
        k.command = fv_bytes_text(r, arena);
        k.mpi = fv_bytes_text(r, arena);
        k.thread_level = fv_bytes_text(r, arena);
        k.events = fv_bytes_text(r, arena);
        k.labels = fv_bytes_text(r, arena);
        k.counters = fv_bytes_text(r, arena);
        k.sensors = fv_bytes_text(r, arena);
        k.file = fv_bytes_text(r, arena);
        k.points = take_array(r, arena, k.point_count, sizeof(*k.points));
        k.threads = take_array(r, arena, k.thread_count, sizeof(*k.threads));
        r->failed = r->failed || !k.point_count || !k.thread_count;
        FV_GROW(d->ranks, d->rank_room, d->rank_count + 1);
        d->ranks[d->rank_count++] = k;
    }
}

/* The bytes become plain arrays, and these are merged into empty definitions, which indexes them; items that
 * differ stay different, so their numbers stay the same. */
bool fv_defs_unpack(struct fv_defs *out, const uint8_t *data, size_t bytes)
{
    struct fv_bytes_reader r = { .at = data, .stop = data + bytes };
    uint32_t world_size = (uint32_t)fv_bytes_take(&r);
    struct fv_defs plain;

    fv_defs_init(&plain, world_size);
    fv_defs_init(out, world_size);
    unpack_calls(&plain, &plain.arena, &r);
    unpack_comms(&plain, &plain.arena, &r);
    unpack_things(&plain, &plain.arena, &r);
    unpack_ranks(&plain, &plain.arena, &r);
    if (!r.failed)
        fv_defs_merge(out, &plain);
    fv_defs_release(&plain);
    return !r.failed;
}
