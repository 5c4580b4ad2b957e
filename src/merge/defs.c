/* See defs.h. */
#include "merge/defs.h"
#include "base/process.h"

#include <stdio.h>
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

static uint32_t add_module(struct fv_defs *d, const struct fv_module *m)
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

/* A node's `symbol` is 1 where calls of MPI were made, 0 where it is only on the way to such. */
static uint32_t add_node(struct fv_defs *d, uint32_t parent, uint32_t module, uint64_t offset,
                         uint32_t is_end)
{
    uint64_t hash = hash_of(NODE, parent, module, offset);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (i && i < d->node_count && d->nodes[i].parent == parent && d->nodes[i].module == module &&
            d->nodes[i].offset == offset) {
            d->nodes[i].symbol |= is_end;
            return i;
        }
    FV_GROW(d->nodes, d->node_room, d->node_count + 1);
    d->nodes[d->node_count] = (struct fv_node){ parent, module, offset, is_end };
    fv_index_add(&d->index, hash, (uint32_t)d->node_count);
    return (uint32_t)d->node_count++;
}

static void join_comm(struct fv_defs *d, struct fv_def_comm *to, const struct fv_def_comm *c)
{
    to->created += c->created;
    to->flags |= c->flags;
    if (!to->parent)
        to->parent = c->parent;
    /* The name that the first rank gave it: ranks may name it differently. */
    bool first = c->origin.rank < to->origin.rank;
    if (c->name[0] && (first || !to->name[0]))
        to->name = fv_arena_string(&d->arena, c->name);
    if (first && c->remote_size && to->remote_size) { /* which side is local depends on who tells */
        struct fv_def_comm was = *to;
        uint32_t count = c->run_count + c->remote_run_count;
        struct fv_rank_run *runs = fv_arena_take(&d->arena, count * sizeof(*runs));

        memcpy(runs, c->runs, count * sizeof(*runs));
        *to = *c;
        to->runs = runs;
        to->name = was.name;
        to->created = was.created;
        to->flags = was.flags;
        to->parent = was.parent;
    }
    to->origin = earlier(to->origin, c->origin);
}

static uint32_t add_comm(struct fv_defs *d, const struct fv_def_comm *c)
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

static uint32_t add_file_name(struct fv_defs *d, const struct fv_def_file *f)
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

static uint32_t add_handle(struct fv_defs *d, const struct fv_def_handle *h)
{
    uint64_t hash =
        hash_of(HANDLE, h->file, (uint64_t)h->comm << 32 | h->occurrence, (uint64_t)(int64_t)h->owner);
    struct fv_index_probe p = fv_index_probe(&d->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        struct fv_def_handle *known = &d->handles[i];

        if (i < d->handle_count && known->file == h->file && known->comm == h->comm &&
            known->occurrence == h->occurrence && known->owner == h->owner) {
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

static void add_rank(struct fv_defs *d, const struct fv_def_rank *r)
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

/* ---- a rank file ---- */

static void map_set(uint32_t **map, size_t *count, size_t *room, uint64_t id, uint32_t value)
{
    if (id >= *count) {
        *map = fv_grow(*map, room, id + 1, sizeof(**map));
        for (; *count <= id; (*count)++)
            (*map)[*count] = FV_NONE;
    }
    (*map)[id] = value;
}

/* Ids count things of which each takes some bytes of the file: a larger one is damage. */
static bool is_id(const struct fv_reader *r, uint64_t id)
{
    return id > 0 && id <= fv_reader_bytes(r) / 16;
}

/* What the rank's calls refer to: the rest of what a file names would only fill the archive. */
struct used {
    uint8_t *functions, *paths; /* of paths: 3 where calls were made, 1 on the way to such */
    size_t function_count, function_room, path_count, path_room;
};

static void mark(uint8_t **flags, size_t *count, size_t *room, uint64_t id)
{
    if (id >= *count) {
        *flags = fv_grow(*flags, room, id + 1, sizeof(**flags));
        memset(*flags + *count, 0, id + 1 - *count);
        *count = id + 1;
    }
    (*flags)[id] = 3;
}

static void mark_call(struct used *u, const struct fv_reader *reader, uint64_t function, uint64_t path)
{
    if (function < 65536)
        mark(&u->functions, &u->function_count, &u->function_room, function);
    if (is_id(reader, path))
        mark(&u->paths, &u->path_count, &u->path_room, path);
}

static struct used find_used(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SITES);
    struct used used = { 0 };
    struct fv_site_record site;
    struct fv_thread_record t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&site, p, sizeof(site));
        mark_call(&used, reader, site.function, site.path);
    }
    c = fv_cursor(reader, FV_CHUNK_THREADS);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.in_call.begin)
            mark_call(&used, reader, t.in_call.function, t.in_call.path);
    }
    return used;
}

static void add_functions(struct fv_defs *d, const struct fv_reader *reader, const struct used *used,
                          struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_FUNCTIONS);
    struct fv_function_record r;
    size_t room = 0;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        r.name[sizeof(r.name) - 1] = '\0';
        if (r.name[0] && r.id < used->function_count && used->functions[r.id])
            map_set(&map->functions, &map->function_count, &room, r.id, fv_defs_function(d, r.name, r.class));
    }
    for (size_t id = 0; id < used->function_count; id++) {
        char name[32];

        /* A process that was killed in its first call of a function has not named it. */
        if (!used->functions[id] || (id < map->function_count && map->functions[id] != FV_NONE))
            continue;
        snprintf(name, sizeof(name), "(function %zu)", id);
        map_set(&map->functions, &map->function_count, &room, id, fv_defs_function(d, name, FV_CLASS_OTHER));
    }
}

/* Outer frames of what is used are used; a parent has a smaller number than its children. */
static void mark_parents(struct used *used, const struct fv_reader *reader)
{
    uint32_t *parents = fv_xcalloc(used->path_count + 1, sizeof(*parents));
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_PATHS);
    struct fv_path_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (c.index + 1 < used->path_count && r.parent <= c.index)
            parents[c.index + 1] = r.parent;
    }
    for (size_t id = used->path_count; id-- > 1;)
        if (used->paths[id])
            used->paths[parents[id]] |= 1;
    free(parents);
}

static void add_paths(struct fv_defs *d, const struct fv_reader *reader, struct used *used,
                      struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_MODULES);
    uint32_t *modules = NULL;
    size_t count = 0, room = 0, node_room = 0;
    struct fv_path_record r;

    mark_parents(used, reader);
    for (const struct fv_module_record *m; (m = fv_cursor_next(&c));) {
        struct fv_module module = { .path = m->path, .build_id_bytes = m->build_id_bytes };

        if (!is_id(reader, m->id) || m->build_id_bytes > sizeof(module.build_id))
            continue;
        memcpy(module.build_id, m->build_id, m->build_id_bytes);
        map_set(&modules, &count, &room, m->id, add_module(d, &module));
    }
    map_set(&map->nodes, &map->node_count, &node_room, 0, 0);
    c = fv_cursor(reader, FV_CHUNK_PATHS);
    for (const void *p; (p = fv_cursor_next(&c));) {
        uint64_t id = c.index + 1;

        memcpy(&r, p, sizeof(r));
        if (id >= used->path_count)
            break;
        if (!used->paths[id])
            continue;
        uint32_t parent = r.parent < id && r.parent < map->node_count ? map->nodes[r.parent] : FV_NONE;
        if (parent == FV_NONE)
            parent = add_node(d, 0, FV_MODEL_LOST, 0, 0);
        uint32_t module = r.module == FV_MODULE_TRUNCATED                    ? FV_MODEL_CUT
                          : r.module < count && modules[r.module] != FV_NONE ? modules[r.module]
                                                                             : FV_MODEL_NO_MODULE;
        map_set(&map->nodes, &map->node_count, &node_room, id,
                add_node(d, parent, module, r.offset, used->paths[id] >> 1 & 1));
    }
    free(modules);
}

static bool runs_are_right(const struct fv_rank_run *run, uint32_t count, int64_t size, int64_t world)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t last = (int64_t)run[i].first + ((int64_t)run[i].count - 1) * run[i].stride;

        if (run[i].count <= 0 || run[i].first < 0 || run[i].first >= world || last < 0 || last >= world)
            return false;
        sum += run[i].count;
    }
    return sum == size && size >= 0;
}

static void add_comms(struct fv_defs *d, const struct fv_reader *reader, uint32_t rank,
                      struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_COMMS);
    size_t room = 0, rank_room = 0, ranks = 0;

    for (const struct fv_comm_record *p; (p = fv_cursor_next(&c));) {
        struct fv_comm_record r;

        memcpy(&r, p, sizeof(r));
        char name[sizeof(r.name) + 1] = "";
        memcpy(name, r.name, sizeof(r.name));
        bool self = r.flags & FV_COMM_SELF;
        /* Ranks of another world (spawned, connected) have no location here. */
        if (!is_id(reader, r.id) || !runs_are_right(p->run, r.runs, r.size, d->world_size) ||
            !runs_are_right(p->run + r.runs, r.remote_runs, r.remote_size, d->world_size))
            continue;
        const struct fv_def_comm comm = {
            .uid = self ? 0 : r.uid,
            .parent = r.parent,
            .owner = !self && r.flags & FV_COMM_INFERRED ? (int32_t)rank : FV_NOBODY,
            .flags = r.flags & ~(uint32_t)FV_COMM_FREED,
            .size = (uint32_t)r.size,
            .remote_size = (uint32_t)r.remote_size,
            .name = r.flags & FV_COMM_WORLD ? "MPI_COMM_WORLD"
                    : self                  ? "MPI_COMM_SELF"
                                            : name,
            .runs = p->run,
            .run_count = r.runs,
            .remote_run_count = r.remote_runs,
            .origin = { rank, r.id },
        };
        map_set(&map->comms, &map->comm_count, &room, r.id, add_comm(d, &comm));
        map_set((uint32_t **)&map->comm_ranks, &ranks, &rank_room, r.id, (uint32_t)r.rank);
    }
}

/* A communicator that each rank has for itself makes what hangs on it the rank's own as well. */
static int32_t owner_on(const struct fv_def_comm *comm, uint32_t rank)
{
    return comm->flags & FV_COMM_SELF || comm->owner != FV_NOBODY ? (int32_t)rank : FV_NOBODY;
}

static void add_files(struct fv_defs *d, const struct fv_reader *reader, uint32_t rank, const char *host,
                      struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_FILES);
    size_t room = 0;

    for (const struct fv_file_record *p; (p = fv_cursor_next(&c));) {
        if (!is_id(reader, p->id) || p->comm >= map->comm_count || map->comms[p->comm] == FV_NONE)
            continue;
        const struct fv_def_comm *comm = &d->comms[map->comms[p->comm]];
        int32_t owner = owner_on(comm, rank);
        /* Ranks of several hosts that open a file together mean the same. */
        bool together = owner == FV_NOBODY && comm->size > 1;
        const struct fv_def_file file = { p->name, together ? "" : host };
        struct fv_def_handle h = { .file = add_file_name(d, &file),
                                   .comm = map->comms[p->comm],
                                   .mode = p->mode,
                                   .owner = owner,
                                   .origin = { rank, p->id } };

        for (size_t i = 0; i < map->handle_count; i++)
            if (map->handles[i] != FV_NONE) {
                const struct fv_def_handle *o = &d->handles[map->handles[i]];

                h.occurrence += o->file == h.file && o->comm == h.comm;
            }
        map_set(&map->handles, &map->handle_count, &room, p->id, add_handle(d, &h));
    }
}

/* ---- windows and groups, and what else only events tell ---- */

static bool makes_definitions(const struct fv_defs *d, uint32_t function)
{
    const char *name = d->functions[function].name;

    return d->functions[function].class == FV_CLASS_COMM || d->functions[function].class == FV_CLASS_INIT ||
           !strncmp(name, "MPI_Win_", 8);
}

/* Is it worth to look at all events? Communicators and windows are rarely made. */
static bool must_scan(const struct fv_defs *d, const struct fv_reader *reader, const struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SITES);
    struct fv_site_record site;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&site, p, sizeof(site));
        if (site.function < map->function_count && map->functions[site.function] != FV_NONE &&
            makes_definitions(d, map->functions[site.function]))
            return true;
    }
    return false;
}

struct scan {
    struct fv_defs *defs;
    struct fv_def_map *map;
    uint32_t rank;
    size_t window_room;
    uint32_t *members;
    size_t member_count, member_room;
    bool *created; /* by the file's communicator ids */
};

static void end_group(struct scan *s)
{
    if (s->member_count)
        fv_defs_group(s->defs, s->members, (uint32_t)s->member_count);
    s->member_count = 0;
}

static void scan_event(struct scan *s, const struct fv_event *e)
{
    struct fv_def_map *map = s->map;
    uint64_t comm;

    if (e->kind == FV_EV_MEMBER && e->field[0] < s->defs->world_size) {
        FV_GROW(s->members, s->member_room, s->member_count + 1);
        s->members[s->member_count++] = (uint32_t)e->field[0];
        return;
    }
    end_group(s);
    if (e->kind == FV_EV_COMM_NEW) {
        comm = e->field[0];
        if (comm < map->comm_count && map->comms[comm] != FV_NONE && !s->created[comm]) {
            s->created[comm] = true;
            s->defs->comms[map->comms[comm]].created++;
        }
    } else if (e->kind == FV_EV_WIN_NEW) {
        comm = e->field[1];
        if (comm >= map->comm_count || map->comms[comm] == FV_NONE || e->field[0] >= FV_NONE / 2)
            return;
        struct fv_def_window w = { .comm = map->comms[comm],
                                   .sequence = (uint32_t)e->field[2],
                                   .owner = owner_on(&s->defs->comms[map->comms[comm]], s->rank),
                                   .origin = { s->rank, (uint32_t)e->field[0] },
                                   .created = 1 };
        if (e->field[0] > s->map->window_count + 1000000)
            return; /* damaged: numbers rise by one */
        map_set(&map->windows, &map->window_count, &s->window_room, e->field[0], fv_defs_window(s->defs, &w));
    }
}

static void scan_events(struct fv_defs *d, const struct fv_reader *reader, uint32_t rank,
                        struct fv_def_map *map)
{
    struct scan s = { .defs = d, .map = map, .rank = rank };
    struct fv_unpacked unpacked = { 0 };
    size_t count;
    const struct fv_chunk *chunks = fv_reader_chunks(reader, &count);
    struct fv_event e;

    s.created = fv_xcalloc(map->comm_count + 1, sizeof(*s.created));
    for (size_t i = 0; i < count; i++) {
        if (!fv_chunk_has_events(&chunks[i]))
            continue;
        struct fv_event_cursor c = fv_reader_events(reader, &chunks[i], &unpacked);
        while (fv_event_next(&c, &e))
            scan_event(&s, &e);
        end_group(&s);
        fv_reader_forget(reader, &chunks[i]);
    }
    fv_unpacked_release(&unpacked);
    free(s.created);
    free(s.members);
}

/* ---- the rank itself ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return (int64_t)(b - a) > 0 ? b : a;
}

static void look_at_thread(struct fv_def_rank *r, const struct fv_thread_record *t)
{
    if (t->last)
        r->last_ticks = later(r->last_ticks, t->last);
    if (t->in_call.begin) {
        r->last_ticks = later(r->last_ticks, t->in_call.begin);
        if ((int64_t)(t->in_call.begin - r->first_ticks) < 0)
            r->first_ticks = t->in_call.begin;
    }
}

/* The main thread is the rank's first location; others follow if they have events or are in a call. */
static void find_threads(struct fv_def_rank *r, const struct fv_reader *reader, uint32_t **out)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_THREADS);
    size_t chunks, count = 0, room = 0;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &chunks);
    struct fv_thread_record t;
    bool main = false;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        bool used = t.main == 1 || t.in_call.begin;
        for (size_t i = 0; i < chunks && !used; i++)
            used = fv_chunk_has_events(&chunk[i]) && chunk[i].thread == t.id;
        look_at_thread(r, &t);
        for (size_t i = 0; i < count; i++)
            used = used && (*out)[i] != t.id;
        if (!used)
            continue;
        *out = fv_grow(*out, &room, count + 1, sizeof(**out));
        (*out)[count++] = t.id;
        if (t.main == 1 && !main) {
            main = true;
            (*out)[count - 1] = (*out)[0];
            (*out)[0] = t.id;
        }
    }
    if (!count) {
        *out = fv_grow(*out, &room, 1, sizeof(**out));
        (*out)[count++] = 0;
    }
    r->threads = *out;
    r->thread_count = (uint32_t)count;
}

static void find_first(struct fv_def_rank *r, const struct fv_reader *reader)
{
    size_t count;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);

    for (size_t i = 0; i < count; i++) {
        if (chunk[i].type != FV_CHUNK_EVENTS) /* a thread's first chunk is never compressed */
            continue;
        uint64_t base = fv_reader_events(reader, &chunk[i], NULL).begin;
        if (base && (int64_t)(base - r->first_ticks) < 0)
            r->first_ticks = base;
        r->last_ticks = later(r->last_ticks, base);
    }
}

static void find_points(struct fv_def_rank *r, const struct fv_reader *reader, struct fv_clock_point **out)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_CLOCK);
    const struct fv_file_header *h = fv_reader_header(reader);
    size_t count = 0, room = 0;
    struct fv_clock_point p = h->first;

    for (const void *at = &h->first; at; at = fv_cursor_next(&c)) {
        memcpy(&p, at, sizeof(p));
        if (count && (int64_t)(p.ticks - (*out)[count - 1].ticks) <= 0)
            continue;
        *out = fv_grow(*out, &room, count + 2, sizeof(**out));
        (*out)[count++] = p;
    }
    if ((int64_t)(h->last.ticks - (*out)[count - 1].ticks) > 0)
        (*out)[count++] = h->last;
    r->points = *out;
    r->point_count = (uint32_t)count;
}

static void add_this_rank(struct fv_defs *d, const struct fv_reader *reader, const char *name)
{
    const struct fv_file_header *h = fv_reader_header(reader);
    struct fv_def_rank r = { .world_rank = (uint32_t)h->world_rank,
                             .pid = h->pid,
                             .exit_code = h->exit_code,
                             .host = h->host,
                             .program = h->program,
                             .command = h->command,
                             .mpi = h->mpi,
                             .thread_level = h->thread_level,
                             .file = name,
                             .clock_kind = h->clock_kind,
                             .traced = h->traced,
                             .nominal_hz = h->nominal_hz,
                             .stop_ticks = h->trace_stop_ticks,
                             .dropped = h->dropped[FV_DROP_EVENTS] };
    struct fv_clock_point *points = NULL;
    uint32_t *threads = NULL;
    uint8_t boot[16];

    r.state = h->state;
    r.runs = h->state == FV_STATE_RUNNING && fv_boot_id(boot) && !memcmp(boot, h->boot_id, sizeof(boot)) &&
             fv_process_runs((pid_t)h->pid, h->process_start);
    memcpy(r.boot_id, h->boot_id, sizeof(r.boot_id));
    r.first_ticks = r.last_ticks = h->begin_ticks ? h->begin_ticks : h->first.ticks;
    find_first(&r, reader);
    find_threads(&r, reader, &threads);
    find_points(&r, reader, &points);
    r.last_ticks = h->end_ticks ? later(h->end_ticks, r.last_ticks)
                                : later(r.last_ticks, points[r.point_count - 1].ticks);
    add_rank(d, &r);
    free(points);
    free(threads);
}

void fv_defs_add_file(struct fv_defs *d, const struct fv_reader *reader, const char *name,
                      struct fv_def_map *map)
{
    const struct fv_file_header *h = fv_reader_header(reader);
    uint32_t rank = (uint32_t)h->world_rank;

    struct used used = find_used(reader);

    *map = (struct fv_def_map){ 0 };
    add_functions(d, reader, &used, map);
    add_paths(d, reader, &used, map);
    free(used.functions);
    free(used.paths);
    add_comms(d, reader, rank, map);
    add_files(d, reader, rank, h->host, map);
    if (must_scan(d, reader, map))
        scan_events(d, reader, rank, map);
    add_this_rank(d, reader, name);
}

void fv_def_map_release(struct fv_def_map *map)
{
    free(map->functions);
    free(map->nodes);
    free(map->comms);
    free(map->windows);
    free(map->handles);
    free(map->comm_ranks);
    *map = (struct fv_def_map){ 0 };
}

/* ---- merging ---- */

/* In which order the items of `from` are added. NULL: as they are. */
struct orders {
    uint32_t *functions, *modules, *nodes, *comms, *windows, *files, *handles, *groups, *ranks;
};

#define AT(order, i) ((order) ? (order)[i] : (uint32_t)(i))

static void merge_calls(struct fv_defs *d, const struct fv_defs *f, const struct orders *o,
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
        modules[AT(o->modules, i)] = add_module(d, &f->modules[AT(o->modules, i)]);
    for (size_t i = 1; i < f->node_count; i++) {
        const struct fv_node *n = &f->nodes[AT(o->nodes, i)];

        map->nodes[AT(o->nodes, i)] =
            add_node(d, map->nodes[n->parent], modules[n->module], n->offset, n->symbol);
    }
    free(modules);
}

/* Without `counting` nothing of the counts changes: all is known already. */
static void merge_things(struct fv_defs *d, const struct fv_defs *f, const struct orders *o, bool counting,
                         struct fv_def_map *map)
{
    uint32_t *files = fv_xcalloc(f->file_count + 1, sizeof(*files));

    for (size_t i = 0; i < f->comm_count; i++) {
        struct fv_def_comm c = f->comms[AT(o->comms, i)];

        c.created = counting ? c.created : 0;
        map->comms[AT(o->comms, i)] = add_comm(d, &c);
    }
    for (size_t i = 0; i < f->window_count; i++) {
        struct fv_def_window w = f->windows[AT(o->windows, i)];

        w.comm = map->comms[w.comm];
        w.created = counting ? w.created : 0;
        map->windows[AT(o->windows, i)] = fv_defs_window(d, &w);
    }
    for (size_t i = 0; i < f->file_count; i++)
        files[AT(o->files, i)] = add_file_name(d, &f->files[AT(o->files, i)]);
    for (size_t i = 0; i < f->handle_count; i++) {
        struct fv_def_handle h = f->handles[AT(o->handles, i)];

        h.comm = map->comms[h.comm];
        h.file = files[h.file];
        map->handles[AT(o->handles, i)] = add_handle(d, &h);
    }
    free(files);
}

static void merge_more(struct fv_defs *d, const struct fv_defs *f, const struct orders *o)
{
    for (size_t i = 0; i < f->group_count; i++) {
        const struct fv_def_group *g = &f->groups[AT(o->groups, i)];

        fv_defs_group(d, (uint32_t *)g->ranks, g->count);
    }
    for (size_t i = 0; i < f->rank_count; i++)
        add_rank(d, &f->ranks[AT(o->ranks, i)]);
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

static void merge_in_order(struct fv_defs *d, const struct fv_defs *from, const struct orders *o)
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
    merge_in_order(d, from, &(struct orders){ 0 });
}

void fv_defs_find(struct fv_defs *all, const struct fv_defs *part, struct fv_def_map *out)
{
    init_map(out, part);
    merge_calls(all, part, &(struct orders){ 0 }, out);
    merge_things(all, part, &(struct orders){ 0 }, false, out);
}

static void through(uint32_t *items, size_t count, const uint32_t *map, size_t map_count)
{
    for (size_t i = 0; i < count; i++)
        items[i] = items[i] < map_count ? map[items[i]] : FV_NONE;
}

void fv_def_map_through(struct fv_def_map *map, const struct fv_def_map *next)
{
    through(map->functions, map->function_count, next->functions, next->function_count);
    through(map->nodes, map->node_count, next->nodes, next->node_count);
    through(map->comms, map->comm_count, next->comms, next->comm_count);
    through(map->windows, map->window_count, next->windows, next->window_count);
    through(map->handles, map->handle_count, next->handles, next->handle_count);
}

/* ---- the final order ---- */

struct sorting {
    const struct fv_defs *defs;
    const uint32_t *modules, *nodes; /* places in the final order */
};

static int numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_origin(struct fv_origin a, struct fv_origin b)
{
    return a.rank != b.rank ? numbers(a.rank, b.rank) : numbers(a.number, b.number);
}

static int by_function(const void *a, const void *b, void *c)
{
    const struct fv_defs *d = ((struct sorting *)c)->defs;

    return strcmp(d->functions[*(const uint32_t *)a].name, d->functions[*(const uint32_t *)b].name);
}

static int by_module(const void *a, const void *b, void *c)
{
    const struct fv_module *x = &((struct sorting *)c)->defs->modules[*(const uint32_t *)a];
    const struct fv_module *y = &((struct sorting *)c)->defs->modules[*(const uint32_t *)b];
    int order = strcmp(x->path, y->path);

    return order ? order : memcmp(x->build_id, y->build_id, sizeof(x->build_id));
}

static int by_node(const void *a, const void *b, void *c)
{
    const struct sorting *s = c;
    const struct fv_node *x = &s->defs->nodes[*(const uint32_t *)a];
    const struct fv_node *y = &s->defs->nodes[*(const uint32_t *)b];

    if (x->parent != y->parent)
        return numbers(s->nodes[x->parent], s->nodes[y->parent]);
    if (x->module != y->module)
        return numbers(s->modules[x->module], s->modules[y->module]);
    return numbers(x->offset, y->offset);
}

/* MPI_COMM_WORLD and MPI_COMM_SELF come first. */
static unsigned comm_class(const struct fv_def_comm *c)
{
    return c->flags & FV_COMM_WORLD ? 0 : c->flags & FV_COMM_SELF ? 1 : 2;
}

static int by_comm(const void *a, const void *b, void *c)
{
    const struct fv_def_comm *x = &((struct sorting *)c)->defs->comms[*(const uint32_t *)a];
    const struct fv_def_comm *y = &((struct sorting *)c)->defs->comms[*(const uint32_t *)b];

    if (comm_class(x) != comm_class(y))
        return numbers(comm_class(x), comm_class(y));
    return by_origin(x->origin, y->origin);
}

static int by_window(const void *a, const void *b, void *c)
{
    const struct fv_defs *d = ((struct sorting *)c)->defs;

    return by_origin(d->windows[*(const uint32_t *)a].origin, d->windows[*(const uint32_t *)b].origin);
}

static int by_file(const void *a, const void *b, void *c)
{
    const struct fv_def_file *x = &((struct sorting *)c)->defs->files[*(const uint32_t *)a];
    const struct fv_def_file *y = &((struct sorting *)c)->defs->files[*(const uint32_t *)b];
    int order = strcmp(x->name, y->name);

    return order ? order : strcmp(x->host, y->host);
}

static int by_handle(const void *a, const void *b, void *c)
{
    const struct fv_defs *d = ((struct sorting *)c)->defs;

    return by_origin(d->handles[*(const uint32_t *)a].origin, d->handles[*(const uint32_t *)b].origin);
}

static int by_group(const void *a, const void *b, void *c)
{
    const struct fv_def_group *x = &((struct sorting *)c)->defs->groups[*(const uint32_t *)a];
    const struct fv_def_group *y = &((struct sorting *)c)->defs->groups[*(const uint32_t *)b];

    if (x->count != y->count)
        return numbers(x->count, y->count);
    for (uint32_t i = 0; i < x->count; i++)
        if (x->ranks[i] != y->ranks[i])
            return numbers(x->ranks[i], y->ranks[i]);
    return 0;
}

static int by_rank(const void *a, const void *b, void *c)
{
    const struct fv_defs *d = ((struct sorting *)c)->defs;

    return numbers(d->ranks[*(const uint32_t *)a].world_rank, d->ranks[*(const uint32_t *)b].world_rank);
}

/* Numbers 0 .. count-1, those from `first` on sorted. */
static uint32_t *sorted(size_t first, size_t count, int (*order)(const void *, const void *, void *),
                        struct sorting *s)
{
    uint32_t *items = fv_xcalloc(count + 1, sizeof(*items));

    for (size_t i = 0; i < count; i++)
        items[i] = (uint32_t)i;
    if (count > first)
        qsort_r(items + first, count - first, sizeof(*items), order, s);
    return items;
}

static uint32_t *places(const uint32_t *order, size_t count)
{
    uint32_t *place = fv_xcalloc(count + 1, sizeof(*place));

    for (size_t i = 0; i < count; i++)
        place[order[i]] = (uint32_t)i;
    return place;
}

/* Level by level, so that the places of all parents are known: a parent comes before its children. */
static uint32_t *sorted_nodes(const struct fv_defs *d, struct sorting *s)
{
    uint32_t *order = fv_xcalloc(d->node_count + 1, sizeof(*order));
    uint32_t *level = fv_xcalloc(d->node_count + 1, sizeof(*level));
    uint32_t *place = fv_xcalloc(d->node_count + 1, sizeof(*place));
    uint32_t *start, deepest = 0;

    for (size_t i = 1; i < d->node_count; i++) {
        level[i] = level[d->nodes[i].parent] + 1; /* parents have lower numbers */
        deepest = level[i] > deepest ? level[i] : deepest;
    }
    start = fv_xcalloc((size_t)deepest + 2, sizeof(*start));
    for (size_t i = 0; i < d->node_count; i++)
        start[level[i] + 1]++;
    for (uint32_t l = 0; l <= deepest; l++)
        start[l + 1] += start[l];
    for (size_t i = 0; i < d->node_count; i++)
        order[start[level[i]]++] = (uint32_t)i; /* start[l] is then the end of level l */
    s->nodes = place;
    for (uint32_t l = 1; l <= deepest; l++) {
        qsort_r(order + start[l - 1], start[l] - start[l - 1], sizeof(*order), by_node, s);
        for (uint32_t i = start[l - 1]; i < start[l]; i++)
            place[order[i]] = i;
    }
    free(start);
    free(level);
    free(place);
    return order;
}

void fv_defs_sort(struct fv_defs *out, const struct fv_defs *f)
{
    struct sorting s = { .defs = f };
    struct orders o = {
        .functions = sorted(0, f->function_count, by_function, &s),
        .modules = sorted(FV_MODEL_FIRST_MODULE, f->module_count, by_module, &s),
        .comms = sorted(0, f->comm_count, by_comm, &s),
        .windows = sorted(0, f->window_count, by_window, &s),
        .files = sorted(0, f->file_count, by_file, &s),
        .handles = sorted(0, f->handle_count, by_handle, &s),
        .groups = sorted(0, f->group_count, by_group, &s),
        .ranks = sorted(0, f->rank_count, by_rank, &s),
    };
    uint32_t *module_places = places(o.modules, f->module_count);

    s.modules = module_places;
    o.nodes = sorted_nodes(f, &s);
    fv_defs_init(out, f->world_size);
    merge_in_order(out, f, &o);
    free(o.functions);
    free(o.modules);
    free(o.nodes);
    free(o.comms);
    free(o.windows);
    free(o.files);
    free(o.handles);
    free(o.groups);
    free(o.ranks);
    free(module_places);
}
