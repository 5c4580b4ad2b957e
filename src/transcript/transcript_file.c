/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_state.h: chunks, and definitions, which are told where they are first used. */
#include "transcript/transcript_state.h"
#include "transcript/mpi-functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- chunks ---- */

static void put(struct fv_transcript *t, const void *data, size_t bytes, uint64_t at)
{
    const char *from = data;

    while (bytes && !t->failed) {
        ssize_t n = pwrite(t->file, from, bytes, (off_t)at);

        if (n <= 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fv_log("%s: %s; is there room on the disk?", t->path, strerror(errno));
            t->failed = true;
            return;
        }
        from += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
}

void fv_transcript_chunk(struct fv_transcript *t, enum fv_chunk_type type, uint32_t thread, uint64_t first,
                         const void *records, size_t bytes)
{
    struct fv_chunk_header c = { .magic = FV_CHUNK_MAGIC,
                                 .type = (uint16_t)type,
                                 .version = 1,
                                 .bytes = fv_round_up(sizeof(c) + bytes, FV_CHUNK_ALIGN),
                                 .used = bytes,
                                 .thread = thread,
                                 .first = first };

    if (!bytes)
        return;
    c.check = fv_chunk_check(&c);
    put(t, &c, sizeof(c), t->end);
    put(t, records, bytes, t->end + sizeof(c));
    t->end += c.bytes;
}

void fv_transcript_remark(struct fv_transcript *t, const char *text)
{
    struct fv_remark_record r = { .kind = FV_REMARK_ARCHIVE };

    snprintf(r.text, sizeof(r.text), "%s", text);
    fv_transcript_chunk(t, FV_CHUNK_REMARKS, FV_NO_THREAD, 0, &r, sizeof(r));
}

/* ---- call paths ---- */

uint32_t fv_transcript_add_module(struct fv_transcript *t, uint32_t module)
{
    const struct fv_module *m = &t->merge->defs.tree.modules[module];
    uint32_t id = fv_numbers_get(&t->modules, module);

    if (module < FV_MODEL_FIRST_MODULE)
        return module == FV_MODEL_CUT ? FV_MODULE_TRUNCATED : FV_MODULE_UNKNOWN;
    if (id != FV_NONE)
        return id;
    size_t length = strlen(m->path), bytes = fv_round_up(sizeof(struct fv_module_record) + length + 1, 8);
    struct fv_module_record *r = fv_xcalloc(1, bytes);
    r->bytes = (uint32_t)bytes;
    r->id = id = ++t->module_count;
    r->build_id_bytes = m->build_id_bytes;
    r->path_bytes = (uint32_t)length;
    memcpy(r->build_id, m->build_id, sizeof(r->build_id));
    memcpy(r->path, m->path, length);
    fv_bytes_put(&t->module_records, r, bytes);
    free(r);
    fv_numbers_set(&t->modules, module, id);
    return id;
}

/* Callers first. */
static uint32_t path_in(struct fv_transcript *t, struct fv_numbers *paths, struct fv_bytes *records, uint32_t *count,
                        uint32_t node)
{
    const struct fv_node *nodes = t->merge->defs.tree.nodes;
    size_t depth = 0;

    for (; node && fv_numbers_get(paths, node) == FV_NONE; node = nodes[node].parent) {
        FV_GROW(t->way, t->way_room, depth + 1);
        t->way[depth++] = node;
    }
    uint32_t id = node ? fv_numbers_get(paths, node) : 0;
    while (depth--) {
        const struct fv_node *n = &nodes[t->way[depth]];
        const struct fv_path_record r = { id, fv_transcript_add_module(t, n->module), n->offset };

        fv_bytes_put(records, &r, sizeof(r));
        id = ++*count;
        fv_numbers_set(paths, t->way[depth], id);
    }
    return id;
}

uint32_t fv_transcript_path(struct fv_transcript *t, uint32_t node)
{
    return path_in(t, &t->paths, &t->path_records, &t->path_count, node);
}

/* As a caller it is at another line, which an archive does not say. */
uint32_t fv_transcript_entry(struct fv_transcript *t, uint32_t node, uint32_t line)
{
    const struct fv_node *n = &t->merge->defs.tree.nodes[node];
    uint32_t id = fv_numbers_get(&t->entries, node);

    if (id != FV_NONE)
        return id;
    const struct fv_path_record r = { fv_transcript_path(t, n->parent), fv_transcript_add_module(t, n->module), line };
    fv_bytes_put(&t->path_records, &r, sizeof(r));
    fv_numbers_set(&t->entries, node, ++t->path_count);
    return t->path_count;
}

uint32_t fv_transcript_sample_path(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t node)
{
    return path_in(t, &h->sample_paths, &h->sample_path_records, &h->sample_path_count, node);
}

/* ---- communicators, windows ---- */

static void put_grid(struct fv_transcript *t, const struct fv_def_comm *c, uint32_t id)
{
    const struct fv_grid r = { .bytes = (uint32_t)(sizeof(r) + c->grid_dimensions * sizeof(*c->grid)),
                               .comm = id,
                               .dimensions = c->grid_dimensions };

    if (!c->grid_dimensions)
        return;
    fv_bytes_put(&t->grid_records, &r, sizeof(r));
    fv_bytes_put(&t->grid_records, c->grid, c->grid_dimensions * sizeof(*c->grid));
}

uint32_t fv_transcript_comm(struct fv_transcript *t, uint32_t comm)
{
    const struct fv_def_comm *c = &t->merge->defs.comms[comm];
    uint32_t id = fv_numbers_get(&t->comms, comm), rank = fv_groups_rank(t->groups, comm, t->world);

    if (id != FV_NONE)
        return id;
    uint32_t runs = c->flags & FV_COMM_SELF ? 1 : c->run_count + c->remote_run_count;
    size_t bytes = fv_round_up(sizeof(struct fv_comm_record) + runs * sizeof(struct fv_rank_run), 8);
    struct fv_comm_record *r = fv_xcalloc(1, bytes);
    r->bytes = (uint32_t)bytes;
    r->id = id = ++t->comm_count;
    r->uid = c->uid;
    r->flags = c->flags | (c->remote_size ? FV_COMM_INTER : 0u);
    r->rank = rank == FV_NONE ? 0 : (int32_t)rank;
    r->size = (int32_t)c->size;
    r->remote_size = (int32_t)c->remote_size;
    r->runs = c->flags & FV_COMM_SELF ? 1 : c->run_count;
    r->remote_runs = c->flags & FV_COMM_SELF ? 0 : c->remote_run_count;
    snprintf(r->name, sizeof(r->name), "%s", c->name ? c->name : "");
    if (c->flags & FV_COMM_SELF)
        r->run[0] = (struct fv_rank_run){ (int32_t)t->world, 1, 1 };
    else if (runs)
        memcpy(r->run, c->runs, runs * sizeof(*r->run));
    fv_bytes_put(&t->comm_records, r, bytes);
    put_grid(t, c, id);
    free(r);
    fv_numbers_set(&t->comms, comm, id);
    return id;
}

uint32_t fv_transcript_window(struct fv_transcript *t, uint32_t window)
{
    const struct fv_def_window *w = &t->merge->defs.windows[window];
    uint32_t id = fv_numbers_get(&t->windows, window);

    if (id != FV_NONE)
        return id;
    const struct fv_window_record r = { ++t->window_count, fv_transcript_comm(t, w->comm), w->sequence };
    fv_bytes_put(&t->window_records, &r, sizeof(r));
    fv_numbers_set(&t->windows, window, r.id);
    return r.id;
}

/* ---- functions ---- */

struct mpi_function {
    const char *name;
    uint8_t class, wait;
};

static int by_name(const void *name, const void *row)
{
    return strcmp(name, ((const struct mpi_function *)row)->name);
}

static const struct mpi_function *find(const char *name)
{
    static const struct mpi_function all[] = {
#define FV_ROW(name, class, wait) { #name, FV_CLASS_##class, FV_RULE_##wait },
        FV_MPI_FUNCTIONS(FV_ROW)
#undef FV_ROW
    };

    return bsearch(name, all, sizeof(all) / sizeof(*all), sizeof(*all), by_name);
}

bool fv_transcript_knows(const char *name)
{
    return find(name) != NULL;
}

unsigned fv_transcript_class_of(const char *name)
{
    const struct mpi_function *f = find(name);

    return f ? f->class : FV_CLASS_OTHER;
}

unsigned fv_transcript_class(const struct fv_transcript *t, uint32_t function)
{
    const uint32_t class = t->merge->defs.functions[function].class;

    return class < FV_CLASS_COUNT ? class : FV_CLASS_OTHER;
}

bool fv_transcript_is_logged(const struct fv_transcript *t, uint32_t function)
{
    const struct mpi_function *f = find(t->merge->defs.functions[function].name);

    return f && f->wait != FV_RULE_NONE && f->wait != FV_RULE_P2P;
}

void fv_transcript_count_collective(struct fv_transcript *t, uint32_t comm)
{
    size_t before = t->comm_call_room;

    t->comm_calls = fv_grow(t->comm_calls, &t->comm_call_room, (size_t)comm + 1, sizeof(*t->comm_calls));
    if (t->comm_call_room > before)
        memset(t->comm_calls + before, 0, (t->comm_call_room - before) * sizeof(*t->comm_calls));
    t->comm_calls[comm]++;
}

/* How many collective calls there were is known at the end. */
static void finish_comms(struct fv_transcript *t)
{
    for (size_t at = 0; at < t->comm_records.count;) {
        struct fv_comm_record *r = (struct fv_comm_record *)(void *)(t->comm_records.data + at);

        r->collectives = r->id < t->comm_call_room ? t->comm_calls[r->id] : 0;
        at += r->bytes;
    }
    free(t->comm_calls);
}

static void put_functions(struct fv_transcript *t)
{
    const struct fv_defs *d = &t->merge->defs;
    struct fv_bytes all = { 0 };

    for (uint32_t i = 0; i < d->function_count; i++) {
        const struct mpi_function *f = find(d->functions[i].name);
        struct fv_function_record r = { .id = t->function_ids[i] };

        if (!r.id)
            continue;
        r.class = (uint8_t)fv_transcript_class(t, i);
        r.wait = f ? f->wait : FV_RULE_NONE;
        snprintf(r.name, sizeof(r.name), "%s", d->functions[i].name);
        fv_bytes_put(&all, &r, sizeof(r));
    }
    fv_transcript_chunk(t, FV_CHUNK_FUNCTIONS, FV_NO_THREAD, 0, all.data, all.count);
    free(all.data);
}

void fv_transcript_definitions(struct fv_transcript *t)
{
    struct {
        enum fv_chunk_type type;
        struct fv_bytes *records;
    } chunks[] = { { FV_CHUNK_MODULES, &t->module_records },
                   { FV_CHUNK_PATHS, &t->path_records },
                   { FV_CHUNK_COMMS, &t->comm_records },
                   { FV_CHUNK_GRIDS, &t->grid_records },
                   { FV_CHUNK_WINDOWS, &t->window_records } };

    put_functions(t);
    finish_comms(t);
    for (size_t i = 0; i < sizeof(chunks) / sizeof(*chunks); i++) {
        fv_transcript_chunk(t, chunks[i].type, FV_NO_THREAD, 0, chunks[i].records->data, chunks[i].records->count);
        free(chunks[i].records->data);
    }
    free(t->way);
    fv_numbers_release(&t->paths);
    fv_numbers_release(&t->entries);
    fv_numbers_release(&t->modules);
    fv_numbers_release(&t->comms);
    fv_numbers_release(&t->windows);
    put(t, &t->header, sizeof(t->header), 0);
}
