/* Definitions and cells: what each process numbers its own way becomes one numbering of the run.
 *
 * Call paths: a node of a process's call tree is (parent, module, offset). Modules are the same when their
 * build-ids and names are (their paths, where there is no build-id), so a hash table over (unified parent,
 * unified module, offset) gives each node its unified number in one step, parents first. That is linear in
 * the nodes of all ranks and independent of how deep the paths are; comparing whole paths would be neither.
 */
#include "report/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

uint32_t fv_build_function(struct fv_build *b, const char *name, unsigned class, unsigned wait)
{
    struct fv_model *m = b->model;
    uint64_t hash = fv_hash_bytes(name, strlen(name));
    struct fv_index_probe p = fv_index_probe(&b->functions, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (!strcmp(m->functions[i].name, name))
            return i;
    uint32_t id = (uint32_t)m->function_count;
    FV_GROW(m->functions, m->function_room, m->function_count + 1);
    memset(&m->functions[id], 0, sizeof(m->functions[id]));
    m->functions[id].name = fv_arena_string(&m->arena, name);
    m->functions[id].class = (uint8_t)(class < FV_CLASS_COUNT ? class : FV_CLASS_OTHER);
    m->functions[id].wait = (uint8_t)(wait <= FV_WAIT_P2P ? wait : FV_WAIT_NONE);
    FV_GROW(b->best, b->best_room, m->function_count + 1);
    for (unsigned k = 0; k < FV_SIZE_BUCKETS; k++)
        b->best[id][k] = INFINITY;
    m->function_count++;
    fv_index_add(&b->functions, hash, id);
    return id;
}

static void map_function(struct fv_build_file *f, uint32_t id, uint32_t function)
{
    size_t before = f->function_count;

    if (id >= before) {
        FV_GROW(f->functions, f->function_room, (size_t)id + 1);
        for (size_t i = before; i <= id; i++)
            f->functions[i] = FV_NONE;
        f->function_count = (size_t)id + 1;
    }
    f->functions[id] = function;
}

static void read_functions(struct fv_build *b, struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_FUNCTIONS);
    struct fv_function_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        r.name[sizeof(r.name) - 1] = '\0';
        if (r.name[0])
            map_function(f, r.id, fv_build_function(b, r.name, r.class, r.wait));
    }
}

/* A process that is in its first call of a function may not have named it yet; other ranks of the same
 * build have. */
static uint32_t ask_other_ranks(const struct fv_build *b, const struct fv_build_file *f, uint32_t id)
{
    for (size_t i = 0; i < b->model->rank_count; i++) {
        const struct fv_build_file *other = &b->files[i];

        if (id < other->function_count && other->functions[id] != FV_NONE &&
            !strcmp(other->header->fvmpi, f->header->fvmpi) && !strcmp(other->header->mpi, f->header->mpi))
            return other->functions[id];
    }
    return FV_NONE;
}

uint32_t fv_build_function_of(struct fv_build *b, struct fv_build_file *f, uint32_t id)
{
    char name[32];

    if (id < f->function_count && f->functions[id] != FV_NONE)
        return f->functions[id];
    uint32_t known = ask_other_ranks(b, f, id);
    if (known != FV_NONE)
        return known;
    snprintf(name, sizeof(name), "(function %u)", id);
    uint32_t function = fv_build_function(b, name, FV_CLASS_OTHER, FV_WAIT_NONE);
    if (id < 65536)
        map_function(f, id, function);
    return function;
}

/* ---- modules and call paths ---- */

static bool same_module(const struct fv_module *m, const struct fv_module_record *r)
{
    const char *slash = strrchr(r->path, '/');

    if (m->build_id_bytes != r->build_id_bytes)
        return false;
    if (strcmp(m->name, slash ? slash + 1 : r->path)) /* a copy under another name is another program */
        return false;
    return r->build_id_bytes ? !memcmp(m->build_id, r->build_id, r->build_id_bytes)
                             : !strcmp(m->path, r->path);
}

static uint32_t find_module(struct fv_build *b, const struct fv_module_record *r)
{
    struct fv_model *m = b->model;
    uint64_t hash = r->build_id_bytes ? fv_hash_bytes(r->build_id, r->build_id_bytes)
                                      : fv_hash_bytes(r->path, strlen(r->path));
    struct fv_index_probe p = fv_index_probe(&b->modules, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (same_module(&m->modules[i], r))
            return i;
    FV_GROW(m->modules, m->module_room, m->module_count + 1);
    uint32_t id = (uint32_t)m->module_count++;
    struct fv_module *n = &m->modules[id];
    memset(n, 0, sizeof(*n));
    n->path = fv_arena_string(&m->arena, r->path);
    const char *slash = strrchr(n->path, '/');
    n->name = slash ? slash + 1 : n->path;
    n->build_id_bytes = r->build_id_bytes;
    memcpy(n->build_id, r->build_id, r->build_id_bytes);
    fv_index_add(&b->modules, hash, id);
    return id;
}

/* The file's module ids. */
static uint32_t *read_modules(struct fv_build *b, struct fv_build_file *f, size_t *out_count)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_MODULES);
    uint32_t *map = NULL;
    size_t count = 0, room = 0;

    for (const struct fv_module_record *r; (r = fv_cursor_next(&c));) {
        if (r->id == 0 || r->id > fv_reader_bytes(f->reader) / sizeof(*r))
            continue; /* more modules than the file has room for */
        FV_GROW(map, room, (size_t)r->id + 1);
        for (; count <= r->id; count++)
            map[count] = FV_MODEL_NO_MODULE;
        map[r->id] = find_module(b, r);
    }
    *out_count = count;
    return map;
}

uint32_t fv_build_node_find(const struct fv_build *b, uint32_t parent, uint32_t module, uint64_t offset)
{
    const struct fv_model *m = b->model;
    uint64_t hash = fv_mix2(fv_mix2(parent, module), offset);
    struct fv_index_probe p = fv_index_probe(&b->nodes, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        const struct fv_node *n = &m->nodes[i];

        if (n->parent == parent && n->module == module && n->offset == offset)
            return i;
    }
    return FV_NONE;
}

uint32_t fv_build_node_add(struct fv_build *b, uint32_t parent, uint32_t module, uint64_t offset)
{
    struct fv_model *m = b->model;
    uint32_t known = fv_build_node_find(b, parent, module, offset);

    if (known != FV_NONE)
        return known;
    FV_GROW(m->nodes, m->node_room, m->node_count + 1);
    m->nodes[m->node_count] = (struct fv_node){ parent, module, offset, FV_NONE };
    fv_index_add(&b->nodes, fv_mix2(fv_mix2(parent, module), offset), (uint32_t)m->node_count);
    return (uint32_t)m->node_count++;
}

uint32_t fv_build_module_of(const struct fv_build_file *f, uint32_t module)
{
    return module == FV_MODULE_TRUNCATED ? FV_MODEL_CUT
           : module < f->module_count    ? f->modules[module]
                                         : FV_MODEL_NO_MODULE;
}

static uint32_t lost_node(struct fv_build *b)
{
    return fv_build_node_add(b, 0, FV_MODEL_LOST, 0);
}

uint32_t fv_build_node_of(struct fv_build *b, const struct fv_build_file *f, uint32_t path)
{
    if (path == 0)
        return 0;
    return path < f->node_count && f->nodes[path] != FV_NONE ? f->nodes[path] : lost_node(b);
}

/* A parent has a smaller id than its children: a file that says otherwise is damaged there, and the check
 * is what keeps paths free of cycles. */
static void read_paths(struct fv_build *b, struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_PATHS);
    size_t room = 0;
    struct fv_path_record r;

    f->modules = read_modules(b, f, &f->module_count);

    for (const void *p; (p = fv_cursor_next(&c));) {
        uint64_t id = c.index + 1; /* bounded by the reader: the file has room for as many */

        if (id >= FV_NONE)
            break;
        memcpy(&r, p, sizeof(r));
        if (id >= f->node_count) {
            FV_GROW(f->nodes, room, id + 1);
            for (; f->node_count <= id; f->node_count++)
                f->nodes[f->node_count] = FV_NONE;
        }
        uint32_t parent = r.parent < id ? fv_build_node_of(b, f, r.parent) : lost_node(b);
        f->nodes[id] = fv_build_node_add(b, parent, fv_build_module_of(f, r.module), r.offset);
    }
}

/* ---- communicators ---- */

static void fill_comm(struct fv_model *m, struct fv_comm_view *v, const struct fv_comm_record *r)
{
    uint32_t count = r->runs + r->remote_runs;
    struct fv_rank_run *runs = fv_arena_take(&m->arena, count * sizeof(*runs));

    memcpy(runs, r->run, count * sizeof(*runs));
    *v = (struct fv_comm_view){ .uid = r->uid,
                                .parent = r->parent,
                                .size = r->size,
                                .remote_size = r->remote_size,
                                .name = "",
                                .runs = runs,
                                .run_count = r->runs,
                                .remote_run_count = r->remote_runs };
}

/* MPI_COMM_SELF of all ranks is one row. */
static uint32_t find_comm(struct fv_build *b, const struct fv_comm_record *r)
{
    struct fv_model *m = b->model;
    uint64_t size = (uint64_t)(uint32_t)r->size + (uint32_t)r->remote_size;
    bool self = r->flags & FV_COMM_SELF;
    uint64_t hash = self ? 2 : fv_mix2(r->uid, size);
    struct fv_index_probe p = fv_index_probe(&b->comms, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        const struct fv_comm_view *v = &m->comms[i];

        if (self ? v->flags & FV_COMM_SELF
                 : v->uid == r->uid && (uint64_t)(uint32_t)v->size + (uint32_t)v->remote_size == size)
            return i;
    }
    FV_GROW(m->comms, m->comm_room, m->comm_count + 1);
    fill_comm(m, &m->comms[m->comm_count], r);
    m->comms[m->comm_count].flags = r->flags;
    fv_index_add(&b->comms, hash, (uint32_t)m->comm_count);
    return (uint32_t)m->comm_count++;
}

static void read_comms(struct fv_build *b, struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COMMS);
    struct fv_model *m = b->model;

    for (const struct fv_comm_record *r; (r = fv_cursor_next(&c));) {
        if (r->id == 0 || r->id > fv_reader_bytes(f->reader) / sizeof(*r))
            continue;
        size_t before = f->comm_count;
        if (r->id >= before) {
            FV_GROW(f->comms, f->comm_room, (size_t)r->id + 1);
            f->comm_count = (size_t)r->id + 1;
            for (size_t i = before; i < f->comm_count; i++)
                f->comms[i] = (struct fv_file_comm){ FV_NONE, -1 };
        }
        f->comms[r->id] = (struct fv_file_comm){ find_comm(b, r), r->rank };
        struct fv_comm_view *v = &m->comms[f->comms[r->id].comm];
        v->ranks++;
        v->flags |= r->flags;
        if (r->collectives > v->collectives)
            v->collectives = r->collectives;
        if (!v->name[0] && r->name[0])
            v->name = fv_arena_bytes(&m->arena, r->name, strnlen(r->name, sizeof(r->name)));
        else if (!v->name[0] && r->flags & FV_COMM_WORLD)
            v->name = "MPI_COMM_WORLD";
        else if (!v->name[0] && r->flags & FV_COMM_SELF)
            v->name = "MPI_COMM_SELF";
    }
}

/* ---- cells ---- */

typedef unsigned __int128 u128;

/* The calls of one rank at one site, in ticks, exact. */
struct tally {
    uint32_t site;
    uint64_t calls, sum, min, max, sent, received;
    uint64_t alone; /* calls on communicators of one rank */
    uint64_t barriers, barrier_ticks;
    u128 squares;
};
struct tallies {
    struct tally *items;
    size_t count, room;
    uint32_t *of_site; /* a guess: right if items[guess].site says so */
    size_t site_room;
};

static uint32_t find_site(struct fv_build *b, uint32_t node, uint32_t function)
{
    struct fv_model *m = b->model;
    uint64_t hash = fv_mix2(node, function);
    struct fv_index_probe p = fv_index_probe(&b->sites, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (m->sites[i].node == node && m->sites[i].function == function)
            return i;
    FV_GROW(m->sites, m->site_room, m->site_count + 1);
    m->sites[m->site_count] = (struct fv_site){ .node = node, .function = function };
    fv_index_add(&b->sites, hash, (uint32_t)m->site_count);
    return (uint32_t)m->site_count++;
}

static uint32_t tally_of(struct tallies *t, uint32_t site)
{
    if (site >= t->site_room) {
        size_t before = t->site_room;

        FV_GROW(t->of_site, t->site_room, (size_t)site + 1);
        memset(t->of_site + before, 0, (t->site_room - before) * sizeof(*t->of_site));
    }
    uint32_t at = t->of_site[site];
    if (at < t->count && t->items[at].site == site)
        return at;
    FV_GROW(t->items, t->room, t->count + 1);
    t->items[t->count] = (struct tally){ .site = site, .min = UINT64_MAX };
    t->of_site[site] = (uint32_t)t->count;
    return (uint32_t)t->count++;
}

static void add_cell(struct tally *t, const struct fv_cell *cell)
{
    t->sent += cell->bytes_sent;
    t->received += cell->bytes_received;
    if (!cell->calls)
        return;
    t->calls += cell->calls;
    t->sum += cell->time_sum;
    t->barriers += cell->barriers;
    t->barrier_ticks += cell->barrier_ticks;
    t->squares += (u128)cell->square_high << 64 | cell->square_low;
    if (cell->time_min < t->min)
        t->min = cell->time_min;
    if (cell->time_max > t->max)
        t->max = cell->time_max;
}

static void add_sizes(struct fv_build *b, uint32_t rank, uint32_t function, const struct fv_cell *cell)
{
    struct fv_func *f = &b->model->functions[function];
    unsigned bucket = cell->size_bucket < FV_SIZE_BUCKETS ? cell->size_bucket : FV_SIZE_BUCKETS - 1;
    double seconds = fv_build_seconds(b->model, rank, cell->time_sum);

    f->sent[bucket].count += cell->sends;
    f->sent[bucket].bytes += cell->bytes_sent;
    f->received[bucket].count += cell->receives;
    f->received[bucket].bytes += cell->bytes_received;
    if (!cell->calls)
        return;
    if (cell->sends)
        f->sent[bucket].seconds += seconds;
    else if (cell->receives)
        f->received[bucket].seconds += seconds;
    double best = fv_build_seconds(b->model, rank, cell->time_min);
    if (best < b->best[function][bucket])
        b->best[function][bucket] = best;
    for (unsigned i = 0; i < FV_TIME_BUCKETS; i++)
        f->durations[i] += cell->time_histogram[i];
}

static void add_to_comm(struct fv_build *b, uint32_t rank, const struct fv_build_file *f,
                        const struct fv_cell *cell)
{
    if (cell->comm == 0 || cell->comm >= f->comm_count || f->comms[cell->comm].comm == FV_NONE)
        return;
    struct fv_stat stat = { .calls = cell->calls,
                            .bytes_sent = cell->bytes_sent,
                            .bytes_received = cell->bytes_received };
    if (cell->calls) {
        stat.sum = fv_build_seconds(b->model, rank, cell->time_sum);
        stat.min = fv_build_seconds(b->model, rank, cell->time_min);
        stat.max = fv_build_seconds(b->model, rank, cell->time_max);
    }
    fv_stat_add(&b->model->comms[f->comms[cell->comm].comm].time, &stat);
}

static struct fv_cell_place *place_of(struct fv_build_file *f, uint32_t thread, uint64_t index)
{
    struct fv_cell_map *map = NULL;

    for (size_t i = f->cell_maps; i-- && !map;)
        if (f->cells[i].thread == thread)
            map = &f->cells[i];
    if (!map) {
        FV_GROW(f->cells, f->cell_map_room, f->cell_maps + 1);
        map = &f->cells[f->cell_maps++];
        *map = (struct fv_cell_map){ .thread = thread };
    }
    if (index >= map->count) {
        FV_GROW(map->cells, map->room, index + 1);
        for (; map->count <= index; map->count++)
            map->cells[map->count] = (struct fv_cell_place){ FV_NONE, 0, false };
    }
    return &map->cells[index];
}

/* Sum of squared deviations, exact as long as the ticks' squares fit 128 bits: no difference of two large
 * roundings. sum^2 / calls is taken as (sum / calls) * sum + (sum % calls) * sum / calls. */
static double deviations(const struct tally *t)
{
    u128 mean_part = (u128)(t->sum / t->calls) * t->sum + (u128)(t->sum % t->calls) * t->sum / t->calls;

    return t->squares > mean_part ? (double)(t->squares - mean_part) : 0; /* torn by a kill: no negatives */
}

static void keep_tally(struct fv_build *b, uint32_t rank, const struct tally *t)
{
    struct fv_model *m = b->model;
    double hz = m->clocks[m->ranks[rank].clock].hz;

    FV_GROW(m->site_ranks, m->site_rank_room, m->site_rank_count + 1);
    struct fv_site_rank *s = &m->site_ranks[m->site_rank_count++];
    *s = (struct fv_site_rank){ .site = t->site, .rank = rank };
    s->time.bytes_sent = t->sent;
    s->time.bytes_received = t->received;
    if (!t->calls)
        return;
    s->alone = t->alone;
    s->barriers = t->barriers;
    s->barrier_s = (double)t->barrier_ticks / hz;
    s->time.calls = t->calls;
    s->time.sum = (double)t->sum / hz;
    s->time.min = (double)t->min / hz;
    s->time.max = (double)t->max / hz;
    s->time.m2 = deviations(t) / hz / hz;
}

bool fv_build_alone(const struct fv_model *m, const struct fv_build_file *f, uint32_t comm)
{
    if (!comm || comm >= f->comm_count || f->comms[comm].comm == FV_NONE)
        return false;
    const struct fv_comm_view *v = &m->comms[f->comms[comm].comm];

    return v->size == 1 && !v->remote_size;
}

static void read_cells(struct fv_build *b, uint32_t rank, struct tallies *tallies)
{
    struct fv_build_file *f = &b->files[rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_CELLS);
    struct fv_model *m = b->model;
    struct fv_cell cell;
    uint64_t lost = 0;

    tallies->count = 0;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&cell, p, sizeof(cell));
        if (!cell.calls && !cell.bytes_sent && !cell.bytes_received)
            continue;
        if (cell.calls && (cell.time_min > cell.time_max || cell.time_max > cell.time_sum ||
                           cell.barrier_ticks > cell.time_sum || cell.barriers > cell.calls)) {
            lost += cell.calls; /* half-written, or overwritten */
            continue;
        }
        uint32_t function = fv_build_function_of(b, f, cell.function);
        uint32_t at = tally_of(tallies, find_site(b, fv_build_node_of(b, f, cell.path), function));
        add_cell(&tallies->items[at], &cell);
        add_sizes(b, rank, function, &cell);
        add_to_comm(b, rank, f, &cell);
        if (fv_build_alone(b->model, f, cell.comm))
            tallies->items[at].alone += cell.calls;
        *place_of(f, c.thread, c.index) =
            (struct fv_cell_place){ (uint32_t)(m->site_rank_count + at), cell.comm, cell.barriers > 0 };
    }
    for (size_t i = 0; i < tallies->count; i++)
        keep_tally(b, rank, &tallies->items[i]);
    if (lost)
        fv_problem_add(&m->problems, FV_PROBLEM_DAMAGED, m->ranks[rank].file,
                       "%llu %s in statistics that contradict themselves, left out", (unsigned long long)lost,
                       lost == 1 ? "call is" : "calls are");
}

/* ---- peers ---- */

static int by_ends(const void *a, const void *b)
{
    const struct fv_edge *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static void read_peers(struct fv_build *b, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_PEERS);
    struct fv_model *m = b->model;
    size_t first = m->edge_count, kept = first;
    struct fv_peer_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (!r.messages && !r.bytes)
            continue;
        FV_GROW(m->edges, m->edge_room, m->edge_count + 1);
        m->edges[m->edge_count++] =
            (struct fv_edge){ m->ranks[rank].world_rank, r.world_rank, r.messages, r.bytes };
    }
    if (m->edge_count == first)
        return;
    qsort(m->edges + first, m->edge_count - first, sizeof(*m->edges), by_ends);
    for (size_t i = first + 1; i < m->edge_count; i++) {
        if (m->edges[i].to == m->edges[kept].to) {
            m->edges[kept].messages += m->edges[i].messages;
            m->edges[kept].bytes += m->edges[i].bytes;
        } else {
            m->edges[++kept] = m->edges[i];
        }
    }
    m->edge_count = kept + 1;
}

void fv_build_callsites(struct fv_build *b)
{
    struct fv_model *m = b->model;
    struct tallies tallies = { 0 };

    FV_GROW(m->modules, m->module_room, FV_MODEL_FIRST_MODULE);
    for (; m->module_count < FV_MODEL_FIRST_MODULE; m->module_count++)
        m->modules[m->module_count] = (struct fv_module){ .path = "", .name = "" };
    FV_GROW(m->nodes, m->node_room, 1);
    m->nodes[m->node_count++] = (struct fv_node){ 0, FV_MODEL_NO_MODULE, 0, FV_NONE };
    for (uint32_t i = 0; i < m->rank_count; i++) {
        read_functions(b, &b->files[i]);
        read_comms(b, &b->files[i]);
        read_paths(b, &b->files[i]);
        read_cells(b, i, &tallies);
        read_peers(b, i);
    }
    free(tallies.items);
    free(tallies.of_site);
}
