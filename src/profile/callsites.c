/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions and cells: what each process numbers its own way becomes one numbering of the run. */
#include "profile/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

static uint32_t find_function(struct fv_build *b, const struct fv_function_record *r)
{
    struct fv_model *m = b->model;
    size_t before = m->function_count;
    uint32_t i = FV_INTERN_NAME(b->functions, m->functions, m->function_count, m->function_room, &m->arena, r->name);

    if (m->function_count == before)
        return i;
    m->functions[i].key = fv_key_function(r->name);
    m->functions[i].class = r->class;
    m->functions[i].wait = r->wait;
    FV_GROW(b->best, b->best_room, m->function_count);
    for (unsigned k = 0; k < FV_SIZE_BUCKETS; k++)
        b->best[i][k] = INFINITY;
    return i;
}

static void read_functions(struct fv_build *b, struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_FUNCTIONS);
    struct fv_function_record r;

    for (const void *p; (p = fv_cursor_next(&c));)
        if (fv_def_function_read(p, &r))
            fv_numbers_set(&f->functions, r.id, find_function(b, &r));
}

/* A process that is in its first call of a function may not have named it yet; other ranks of the same
 * build have. */
static uint32_t ask_other_ranks(const struct fv_build *b, const struct fv_build_file *f, uint32_t id)
{
    for (size_t i = 0; i < b->file_count; i++) {
        const struct fv_build_file *other = &b->files[i];

        if (fv_numbers_get(&other->functions, id) != FV_NONE && !strcmp(other->header->fvmpi, f->header->fvmpi) &&
            !strcmp(other->header->mpi, f->header->mpi))
            return other->functions.of[id];
    }
    return FV_NONE;
}

uint32_t fv_build_function_of(struct fv_build *b, struct fv_build_file *f, uint32_t id)
{
    uint32_t known = fv_numbers_get(&f->functions, id);
    struct fv_function_record unnamed = { .class = FV_CLASS_OTHER, .wait = FV_RULE_NONE };

    if (known == FV_NONE)
        known = ask_other_ranks(b, f, id);
    if (known != FV_NONE)
        return known;
    fv_def_function_unnamed(id, unnamed.name);
    uint32_t function = find_function(b, &unnamed);
    if (id < 65536)
        fv_numbers_set(&f->functions, id, function);
    return function;
}

/* ---- modules and call paths ---- */

uint32_t fv_build_node_of(struct fv_build *b, const struct fv_build_file *f, uint32_t path)
{
    uint32_t node = path ? fv_numbers_get(&f->paths, path) : 0;

    return node != FV_NONE ? node : fv_call_tree_node(&b->model->tree, 0, FV_MODEL_LOST, 0);
}

static void read_paths(struct fv_build *b, struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_PATHS);
    struct fv_call_tree *tree = &b->model->tree;
    struct fv_path_record r;

    fv_call_tree_add_modules(tree, f->reader, &f->modules);
    fv_forks_read(b->forks, f->reader, &f->modules);
    for (const void *p; (p = fv_cursor_next(&c)) && c.index + 1 < FV_NONE;) {
        memcpy(&r, p, sizeof(r));
        fv_call_tree_add_path(tree, &f->modules, &f->paths, c.index + 1, &r,
                              fv_forks_parent(b->forks, FV_NO_THREAD, c.index + 1));
    }
}

void fv_build_event_sites(struct fv_build *b, uint32_t rank, uint32_t thread, struct fv_numbers *out)
{
    struct fv_build_file *f = &b->files[rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SITES);
    struct fv_site_record site;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != thread)
            continue;
        memcpy(&site, p, sizeof(site));
        uint32_t key[] = { fv_build_function_of(b, f, site.function), fv_build_node_of(b, f, site.path) };
        fv_numbers_set(out, c.index, fv_find(&b->sites, b->model->sites, sizeof(*b->model->sites), key, sizeof(key)));
    }
}

/* ---- communicators ---- */

static void read_comms(struct fv_build *b, struct fv_build_file *f, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_COMMS);
    struct fv_model *m = b->model;
    char name[FV_COMM_NAME_BYTES];

    for (const struct fv_comm_record *r; (r = fv_cursor_next(&c));) {
        if (!fv_number_is_id(f->reader, r->id) || r->flags & FV_COMM_CHANNELS)
            continue;
        struct fv_def_comm told = fv_def_comm_of(r, (uint32_t)m->ranks[rank].world_rank, name);
        uint32_t comm = FV_INTERN(b->comms, m->comms, m->comm_count, m->comm_room, FV_DEF_COMM_KEY(&told));
        struct fv_comm_view *v = &m->comms[comm];

        fv_numbers_set(&f->comms, r->id, comm);
        fv_numbers_set(&f->comm_ranks, r->id, (uint32_t)r->rank);
        fv_def_comm_join(&m->arena, &v->def, &told);
        v->ranks++;
        if (r->collectives > v->collectives)
            v->collectives = r->collectives;
    }
}

static void read_grids(struct fv_build *b, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_GRIDS);
    struct fv_model *m = b->model;

    for (const struct fv_grid *g; (g = fv_cursor_next(&c));) {
        uint32_t comm = fv_numbers_get(&f->comms, g->comm);

        if (comm != FV_NONE)
            fv_def_comm_set_grid(&m->arena, &m->comms[comm].def, g);
    }
}

/* ---- cells ---- */

typedef unsigned __int128 u128;

/* The calls of one rank at one site, in ticks, exact. */
struct tally {
    uint32_t key; /* its site * 2, + 1: of threads that are not shown */
    uint64_t calls, sum, min, max, sent, received;
    uint64_t alone; /* calls on communicators of one rank */
    uint64_t barriers, barrier_ticks;
    u128 squares;
    struct fv_site_rank sizes; /* these alone */
};
struct tallies {
    struct tally *items;
    size_t count, room;
    uint32_t *of_key; /* a guess: right if items[guess].key says so */
    size_t key_room;
};

static uint32_t find_site(struct fv_build *b, uint32_t node, uint32_t function)
{
    struct fv_model *m = b->model;
    size_t before = m->site_count;
    uint32_t i = FV_INTERN(b->sites, m->sites, m->site_count, m->site_room, (uint32_t[]){ function, node });

    if (m->site_count > before)
        m->sites[i].key = fv_key_call(m->tree.nodes[node].key, m->functions[function].key);
    return i;
}

static uint32_t tally_of(struct tallies *t, uint32_t site, bool shown)
{
    uint32_t key = site << 1 | !shown;

    if (key >= t->key_room) {
        size_t before = t->key_room;

        FV_GROW(t->of_key, t->key_room, (size_t)key + 1);
        memset(t->of_key + before, 0, (t->key_room - before) * sizeof(*t->of_key));
    }
    uint32_t at = t->of_key[key];
    if (at < t->count && t->items[at].key == key)
        return at;
    FV_GROW(t->items, t->room, t->count + 1);
    t->items[t->count] = (struct tally){ .key = key, .min = UINT64_MAX };
    t->of_key[key] = (uint32_t)t->count;
    return (uint32_t)t->count++;
}

void fv_site_sizes_add(struct fv_site_rank *to, const struct fv_site_rank *from)
{
    if (!from->messages)
        return;
    to->size_min = to->messages && to->size_min < from->size_min ? to->size_min : from->size_min;
    to->size_max = to->messages && to->size_max > from->size_max ? to->size_max : from->size_max;
    to->messages += from->messages;
    to->sizes_lost = to->sizes_lost || from->sizes_lost;
}

struct fv_site_rank fv_site_messages(const struct fv_model *m, const struct fv_site *site)
{
    struct fv_site_rank all = { 0 };

    for (uint32_t i = 0; i < site->ranks; i++)
        fv_site_sizes_add(&all, &m->site_ranks[site->first + i]);
    return all;
}

/* Sizes as the cell has them, which damage may have changed. Calls over the budget of cells have none. */
static bool sizes_of(const struct fv_cell *cell, uint64_t *min, uint64_t *max)
{
    *min = cell->size_bucket ? cell->size_min : 0;
    *max = cell->size_bucket ? cell->size_max : 0;
    return fv_cell_has_size(cell) && *min <= *max && fv_log2_bucket(*min) == cell->size_bucket &&
           fv_log2_bucket(*max) == cell->size_bucket;
}

static void add_cell(struct tally *t, const struct fv_cell *cell)
{
    struct fv_site_rank sizes = { .messages = (uint64_t)cell->sends + cell->receives };

    sizes.sizes_lost = !sizes_of(cell, &sizes.size_min, &sizes.size_max);
    fv_site_sizes_add(&t->sizes, &sizes);
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

static void add_moved(struct fv_size_bucket *sent, struct fv_size_bucket *received, const struct fv_cell *cell,
                      double seconds)
{
    sent->count += cell->sends;
    sent->bytes += cell->bytes_sent;
    received->count += cell->receives;
    received->bytes += cell->bytes_received;
    uint32_t moved = cell->sends ? cell->sends : cell->receives;

    if (moved && cell->calls) /* a non-blocking receive whose message had bytes is in the cell of those without, too */
        (cell->sends ? sent : received)->seconds += seconds * fmin(1, (double)moved / cell->calls);
}

/* Damage may say more. */
static uint32_t bucket_of(const struct fv_cell *cell)
{
    return cell->size_bucket < FV_SIZE_BUCKETS ? cell->size_bucket : FV_SIZE_BUCKETS - 1;
}

static void add_sizes(struct fv_build *b, uint32_t rank, uint32_t function, const struct fv_cell *cell)
{
    struct fv_func *f = &b->model->functions[function];
    uint32_t bucket = bucket_of(cell);
    double seconds = fv_build_seconds(b->model, rank, cell->time_sum);

    add_moved(&f->sent[bucket], &f->received[bucket], cell, seconds);
    if (!bucket && fv_cell_has_size(cell))
        add_moved(&f->empty_sent, &f->empty_received, cell, seconds);
    if (!cell->calls)
        return;
    for (unsigned i = 0; i < FV_TIME_BUCKETS; i++)
        f->durations[i] += cell->time_histogram[i];
}

static void note_best(struct fv_build *b, uint32_t rank, uint32_t function, const struct fv_cell *cell)
{
    double *best = &b->best[function][bucket_of(cell)], own = fv_build_seconds(b->model, rank, cell->time_min);

    if (cell->calls && own < *best)
        *best = own;
}

static void add_size_class(struct fv_build *b, uint32_t rank, uint32_t function, const struct fv_build_file *f,
                           const struct fv_cell *cell)
{
    struct fv_model *m = b->model;
    uint32_t comm = fv_numbers_get(&f->comms, cell->comm), size = comm == FV_NONE ? 0 : m->comms[comm].def.size;
    uint32_t bucket = bucket_of(cell);

    if (!cell->sends && !cell->receives && !cell->bytes_sent && !cell->bytes_received)
        return;
    struct fv_size_class *of = FV_INTERNED(b->size_classes, m->size_classes, m->size_class_count, m->size_class_room,
                                           (uint32_t[]){ function, size, bucket });
    add_moved(&of->sent, &of->received, cell, fv_build_seconds(m, rank, cell->time_sum));
}

static void add_bucket(struct fv_size_bucket *to, const struct fv_size_bucket *from)
{
    to->count += from->count;
    to->bytes += from->bytes;
    to->seconds += from->seconds;
}

void fv_site_size_add(struct fv_site_size *to, const struct fv_site_size *from)
{
    add_bucket(&to->sent, &from->sent);
    add_bucket(&to->received, &from->received);
    to->min = from->min < to->min ? from->min : to->min;
    to->max = from->max > to->max ? from->max : to->max;
    to->lost = to->lost || from->lost;
}

static void add_site_size(struct fv_build *b, uint32_t rank, uint32_t site, const struct fv_cell *cell)
{
    struct fv_model *m = b->model;
    struct fv_site_size one = { .site = site, .bucket = bucket_of(cell) };
    size_t before = m->site_size_count;

    if (!cell->sends && !cell->receives)
        return;
    struct fv_site_size *of = FV_INTERNED(b->site_sizes, m->site_sizes, m->site_size_count, m->site_size_room,
                                          (uint32_t[]){ one.site, one.bucket });
    add_moved(&one.sent, &one.received, cell, fv_build_seconds(m, rank, cell->time_sum));
    one.lost = !sizes_of(cell, &one.min, &one.max);
    if (m->site_size_count > before)
        *of = one;
    else
        fv_site_size_add(of, &one);
}

static void add_to_comm(struct fv_build *b, uint32_t rank, const struct fv_build_file *f, const struct fv_cell *cell)
{
    uint32_t comm = fv_numbers_get(&f->comms, cell->comm);

    if (comm == FV_NONE)
        return;
    struct fv_call_stat stat = { .calls = cell->calls,
                                 .bytes_sent = cell->bytes_sent,
                                 .bytes_received = cell->bytes_received };
    if (cell->calls) {
        stat.sum_s = fv_build_seconds(b->model, rank, cell->time_sum);
        stat.min_s = fv_build_seconds(b->model, rank, cell->time_min);
        stat.max_s = fv_build_seconds(b->model, rank, cell->time_max);
    }
    fv_call_stat_add(&b->model->comms[comm].stat, &stat);
}

/* Of the next cell of the file. */
static struct fv_cell_place *place_of(struct fv_build_file *f, uint32_t thread, uint64_t index)
{
    struct fv_cell_map *map = f->cell_maps ? &f->cells[f->cell_maps - 1] : NULL;

    if (!map || map->thread != thread || map->first + map->count != index) {
        FV_GROW(f->cells, f->cell_map_room, f->cell_maps + 1);
        map = &f->cells[f->cell_maps++];
        *map = (struct fv_cell_map){ .thread = thread, .first = index };
    }
    FV_GROW(map->cells, map->room, map->count + 1);
    map->cells[map->count] = (struct fv_cell_place){ .site_rank = FV_NONE };
    return &map->cells[map->count++];
}

static int by_first(const void *a, const void *b)
{
    const struct fv_cell_map *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static bool has_cell(const struct fv_cell_map *m, uint32_t thread, uint64_t cell)
{
    return m->thread == thread && cell - m->first < m->count;
}

/* Mostly it is the one that was found last. */
static const struct fv_cell_map *map_of(struct fv_build_file *f, uint32_t thread, uint64_t cell)
{
    size_t low = 0, high = f->cell_maps;

    if (f->cell_map_last < f->cell_maps && has_cell(&f->cells[f->cell_map_last], thread, cell))
        return &f->cells[f->cell_map_last];

    while (low < high) { /* the last one that does not begin behind it */
        size_t middle = (low + high) / 2;
        const struct fv_cell_map *m = &f->cells[middle];

        if (m->thread < thread || (m->thread == thread && m->first <= cell))
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || !has_cell(&f->cells[low - 1], thread, cell))
        return NULL;
    f->cell_map_last = low - 1;
    return &f->cells[f->cell_map_last];
}

const struct fv_cell_place *fv_build_place(struct fv_build_file *f, uint32_t thread, uint64_t cell)
{
    const struct fv_cell_map *m = map_of(f, thread, cell);

    return m && m->cells[cell - m->first].site_rank != FV_NONE ? &m->cells[cell - m->first] : NULL;
}

struct fv_cell_wait *fv_build_cell_wait(struct fv_build_file *f, uint32_t thread, uint64_t cell)
{
    const struct fv_cell_map *m = map_of(f, thread, cell);

    return m && m->waits ? &m->waits[cell - m->first] : NULL;
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
    *s = (struct fv_site_rank){ .site = t->key >> 1, .rank = rank, .unshown = t->key & 1 };
    fv_site_sizes_add(s, &t->sizes);
    s->stat.bytes_sent = t->sent;
    s->stat.bytes_received = t->received;
    if (!t->calls)
        return;
    if (t->alone || t->barriers) {
        struct fv_site_more *more = fv_build_more(m, s);

        more->alone = t->alone;
        more->barriers = t->barriers;
        more->barrier_s = (double)t->barrier_ticks / hz;
    }
    s->stat.calls = t->calls;
    s->stat.sum_s = (double)t->sum / hz;
    s->stat.min_s = (double)t->min / hz;
    s->stat.max_s = (double)t->max / hz;
    s->stat.m2 = deviations(t) / hz / hz;
}

struct fv_site_more *fv_build_more(struct fv_model *m, struct fv_site_rank *part)
{
    if (!part->more) {
        FV_GROW(m->site_more, m->site_more_room, m->site_more_count + 1);
        m->site_more[m->site_more_count] = (struct fv_site_more){ 0 };
        part->more = (uint32_t)m->site_more_count++;
    }
    return &m->site_more[part->more];
}

bool fv_build_alone(const struct fv_model *m, const struct fv_build_file *f, uint32_t id)
{
    uint32_t comm = fv_numbers_get(&f->comms, id);

    return comm != FV_NONE && m->comms[comm].def.members == 1;
}

/* What is of all ranks together. */
static void add_to_sums(struct fv_build *b, uint32_t rank, uint32_t function, uint32_t site, const struct fv_cell *cell)
{
    const struct fv_build_file *f = &b->files[rank];

    add_sizes(b, rank, function, cell);
    add_size_class(b, rank, function, f, cell);
    add_site_size(b, rank, site, cell);
    add_to_comm(b, rank, f, cell);
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
        struct fv_cell_place *place = place_of(f, c.thread, c.index);

        memcpy(&cell, p, sizeof(cell));
        if (!cell.calls && !cell.bytes_sent && !cell.bytes_received)
            continue;
        if (cell.calls && (cell.time_min > cell.time_max || cell.time_max > cell.time_sum ||
                           cell.barrier_ticks > cell.time_sum || cell.barriers > cell.calls)) {
            lost += cell.calls; /* half-written, or overwritten */
            continue;
        }
        uint32_t function = fv_build_function_of(b, f, cell.function);
        uint32_t site = find_site(b, fv_build_node_of(b, f, cell.path), function);
        const bool shown = fv_build_shows(b, rank, c.thread);
        uint32_t at = tally_of(tallies, site, shown || rank >= b->shown);
        add_cell(&tallies->items[at], &cell);
        note_best(b, rank, function, &cell);
        if (shown)
            add_to_sums(b, rank, function, site, &cell);
        if (fv_build_alone(b->model, f, cell.comm))
            tallies->items[at].alone += cell.calls;
        place->site_rank = (uint32_t)(m->site_rank_count + at);
        place->comm = cell.comm < f->comms.count ? cell.comm & 0x7fffffff : 0;
        place->parted = cell.barriers > 0;
    }
    if (f->cell_maps)
        qsort(f->cells, f->cell_maps, sizeof(*f->cells), by_first);
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
        if ((!r.messages && !r.bytes) || !fv_build_shows(b, rank, c.thread))
            continue;
        FV_GROW(m->edges, m->edge_room, m->edge_count + 1);
        m->edges[m->edge_count++] = (struct fv_edge){ m->ranks[rank].world_rank, r.world_rank, r.messages, r.bytes };
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

static void *begin_calls(struct fv_build *b)
{
    struct fv_model *m = b->model;

    fv_call_tree_init(&m->tree);
    FV_GROW(m->site_more, m->site_more_room, 1);
    m->site_more[m->site_more_count++] = (struct fv_site_more){ 0 };
    return fv_xcalloc(1, sizeof(struct tallies));
}

static void read_calls(struct fv_build *b, void *tallies, uint32_t rank)
{
    read_functions(b, &b->files[rank]);
    read_comms(b, &b->files[rank], rank);
    read_grids(b, &b->files[rank]);
    read_paths(b, &b->files[rank]);
    read_cells(b, rank, tallies);
    read_peers(b, rank);
}

static void finish_calls(struct fv_build *b, void *state)
{
    struct tallies *tallies = state;
    (void)b;

    free(tallies->items);
    free(tallies->of_key);
    free(tallies);
}

const struct fv_track fv_track_calls = {
    .name = "calls",
    .of_all = true,
    .visit = FV_VISIT_CALLS,
    .begin = begin_calls,
    .read = read_calls,
    .finish = finish_calls,
};
