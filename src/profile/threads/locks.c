/* SPDX-License-Identifier: BSD-3-Clause */
/* See locks.h. Each file's objects become locks of the model, by what makes them the same on all ranks; then
 * its records are added to their lock, their call site there, and their thread. */
#include "profile/build.h"
#include "profile/threads/locks.h"
#include "profile/threads/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gather {
    struct fv_build *build;
    struct fv_locks *out;
    struct fv_index locks, sites, parts;
    uint32_t rank;
    /* of the present file, by object id */
    struct object {
        uint32_t lock; /* FV_NONE: not described */
        uint64_t address;
        double wait_s;
    } * objects;
    size_t object_count, object_room;
};

/* ---- sums ---- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void add_numbers(struct fv_lock_numbers *to, const struct fv_lock_numbers *from)
{
    to->acquired += from->acquired;
    to->contended += from->contended;
    to->failed += from->failed;
    to->wait_s += from->wait_s;
    to->wait_max_s = larger(to->wait_max_s, from->wait_max_s);
    to->hold_count += from->hold_count;
    to->hold_s += from->hold_s;
    to->hold_max_s = larger(to->hold_max_s, from->hold_max_s);
    to->held_at_end += from->held_at_end;
    to->owner_changes += from->owner_changes;
    to->blocked += from->blocked;
    to->blocked_s += from->blocked_s;
    to->last += from->last;
    to->signals += from->signals;
}

static bool is_signal(unsigned operation)
{
    return operation == FV_SYNC_SIGNAL || operation == FV_SYNC_BROADCAST || operation == FV_SYNC_POST;
}

static struct fv_lock_numbers take_numbers(const struct gather *g, const struct fv_sync_record *r)
{
    double tick_s = fv_build_seconds(g->build->model, g->rank, 1);

    return (struct fv_lock_numbers){
        .acquired = is_signal(r->operation) ? 0 : r->acquired,
        .signals = is_signal(r->operation) ? r->acquired : 0,
        .contended = r->contended,
        .failed = r->failed,
        .wait_s = (double)r->wait_sum * tick_s,
        .wait_max_s = (double)r->wait_max * tick_s,
        .hold_count = r->hold_count,
        .hold_s = (double)r->hold_sum * tick_s,
        .hold_max_s = (double)r->hold_max * tick_s,
        .held_at_end = r->held_at_end,
        .owner_changes = r->owner_changes,
        .blocked = r->blocked,
        .blocked_s = (double)r->blocked_ticks * tick_s,
        .last = r->last,
    };
}

/* ---- locks ---- */

uint32_t fv_build_address(struct fv_build *b, uint32_t module, uint64_t offset)
{
    struct fv_model *m = b->model;
    uint64_t hash = fv_mix2(module, offset);
    struct fv_index_probe p = fv_index_probe(&b->addresses, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (m->addresses[i].module == module && m->addresses[i].offset == offset)
            return i;
    FV_GROW(m->addresses, m->address_room, m->address_count + 1);
    m->addresses[m->address_count] = (struct fv_address){ module, offset, NULL };
    fv_index_add(&b->addresses, hash, (uint32_t)m->address_count);
    return (uint32_t)m->address_count++;
}

static uint32_t lock_of(struct gather *g, uint8_t kind, uint32_t address, uint32_t node, bool rest)
{
    struct fv_locks *l = g->out;
    uint64_t hash = fv_mix2(fv_mix2(kind, rest), fv_mix2(address, node));
    struct fv_index_probe p = fv_index_probe(&g->locks, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        const struct fv_lock_view *k = &l->items[i];

        if (k->kind == kind && k->address == address && k->rest == rest && (address != FV_NONE || k->node == node))
            return i;
    }
    FV_GROW(l->items, l->room, l->count + 1);
    l->items[l->count] =
        (struct fv_lock_view){ .kind = kind, .address = address, .node = node, .rest = rest, .worst.rank = FV_NONE };
    fv_index_add(&g->locks, hash, (uint32_t)l->count);
    return (uint32_t)l->count++;
}

/* The path that first used a static lock differs by rank: it is no part of what makes them the same. */
static uint32_t lock_of_object(struct gather *g, const struct fv_sync_object *o)
{
    struct fv_build *b = g->build;
    uint32_t module = fv_numbers_module(&b->files[g->rank].modules, o->module);
    uint32_t node = fv_build_node_of(b, &b->files[g->rank], o->path);

    if (module >= FV_MODEL_FIRST_MODULE) {
        uint32_t lock = lock_of(g, o->kind, fv_build_address(b, module, o->offset), 0, false);

        if (!g->out->items[lock].node)
            g->out->items[lock].node = node;
        return lock;
    }
    return lock_of(g, o->kind, FV_NONE, o->kind == FV_SYNC_JOIN && !o->address ? 0 : node, false);
}

static void add_object(struct gather *g, const struct fv_sync_object *o)
{
    uint32_t lock = lock_of_object(g, o);
    struct fv_lock_view *k = &g->out->items[lock];

    FV_GROW(g->objects, g->object_room, (size_t)o->id + 1);
    for (; g->object_count <= o->id; g->object_count++)
        g->objects[g->object_count].lock = FV_NONE;
    g->objects[o->id] = (struct object){ .lock = lock, .address = o->address };
    k->parties = !k->objects || k->parties == o->parties ? o->parties : 0;
    k->objects += 1 + o->more;
    k->elapsed_s += g->build->model->ranks[g->rank].app_time_s;
    k->shared = k->shared || o->flags & FV_SYNC_SHARED;
}

static void read_objects(struct gather *g)
{
    const struct fv_reader *reader = g->build->files[g->rank].reader;
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SYNC_OBJECTS);
    struct fv_sync_object o;

    g->object_count = 0;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&o, p, sizeof(o));
        if (o.id && o.id <= fv_reader_bytes(reader) / sizeof(o)) /* no more than the file has room for */
            add_object(g, &o);
    }
}

/* ---- records ---- */

static struct fv_lock_site *site_of(struct gather *g, uint32_t lock, uint32_t node, uint8_t operation)
{
    struct fv_locks *l = g->out;

    return FV_INTERNED(g->sites, l->sites, l->site_count, l->site_room, (uint32_t[]){ lock, node, operation });
}

static struct fv_lock_part *part_of(struct gather *g, uint32_t lock, uint32_t thread)
{
    struct fv_locks *l = g->out;

    return FV_INTERNED(g->parts, l->parts, l->part_count, l->part_room, (uint32_t[]){ lock, g->rank, thread });
}

/* The thread that waited is the record's, which another may have written (of OpenMP the one that forked). */
static void add_record(struct gather *g, const struct fv_sync_record *r)
{
    struct object *o = r->object && r->object < g->object_count ? &g->objects[r->object] : NULL;
    uint32_t lock = o && o->lock != FV_NONE ? o->lock : lock_of(g, r->kind, FV_NONE, 0, true);
    uint32_t node = fv_build_node_of(g->build, &g->build->files[g->rank], r->path);
    struct fv_lock_numbers n = take_numbers(g, r);
    struct fv_lock_site *site;

    /* a record is made when an operation begins: it may have nothing in it yet */
    if (!n.acquired && !n.failed && !n.signals && !n.hold_count && !n.blocked && !n.held_at_end && n.wait_s <= 0)
        return;
    site = site_of(g, lock, node, r->operation);
    site->whole = site->whole || !(r->flags & FV_SYNC_SITE);
    add_numbers(&site->n, &n);
    add_numbers(&part_of(g, lock, r->thread)->n, &n);
    add_numbers(&g->out->items[lock].n, &n);
    for (unsigned i = 0; i < FV_TIME_BUCKETS; i++)
        g->out->items[lock].histogram[i] += r->wait_histogram[i];
    if (o && o->lock != FV_NONE)
        o->wait_s += n.wait_s;
}

static void read_records(struct gather *g)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_SYNC);
    struct fv_sync_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        add_record(g, &r);
    }
    for (size_t i = 0; i < g->object_count; i++) {
        struct fv_lock_view *k = g->objects[i].lock != FV_NONE ? &g->out->items[g->objects[i].lock] : NULL;

        if (k && (k->worst.rank == FV_NONE || g->objects[i].wait_s > k->worst.wait_s)) {
            k->worst.rank = g->rank;
            k->worst.address = g->objects[i].address;
            k->worst.wait_s = g->objects[i].wait_s;
        }
    }
}

/* ---- threads ---- */

static void add_waiting(struct gather *g, uint32_t thread, const struct fv_sync_thread *t)
{
    const struct fv_model *m = g->build->model;
    const struct fv_rank *r = &m->ranks[g->rank];
    struct fv_locks *l = g->out;
    struct fv_lock_wait w = { .rank = g->rank, .thread = thread, .kind = t->wait_kind, .operation = t->wait_operation };

    if (!t->wait_begin || fv_rank_has_ended(r))
        return;
    w.begin_s = fv_build_time(m, g->rank, t->wait_begin);
    w.seconds = r->state == FV_RANK_RUNNING ? larger(r->end_s - w.begin_s, 0) : NAN;
    w.lock = t->wait_object && t->wait_object < g->object_count ? g->objects[t->wait_object].lock : FV_NONE;
    w.node = fv_build_node_of(g->build, &g->build->files[g->rank], t->wait_path);
    uint32_t of = fv_build_thread(m, g->rank, thread);
    if (of != FV_NONE)
        w.tid = m->threads[of].tid;
    FV_GROW(l->now, l->now_room, l->now_count + 1);
    l->now[l->now_count++] = w;
}

static void read_threads(struct gather *g)
{
    const struct fv_model *m = g->build->model;
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_SYNC_THREAD);
    struct fv_locks *l = g->out;
    struct fv_lock_rank *rank = &l->ranks[g->rank];
    struct fv_sync_thread t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        rank->recorded = true;
        rank->modes |= t.mode;
        double wait_s = 0, in_mpi_s = fv_build_seconds(m, g->rank, t.in_mpi_ticks);
        for (unsigned i = 0; i < FV_SYNC_KINDS; i++) {
            double kind_s = fv_build_seconds(m, g->rank, t.wait_ticks[i]);

            l->kind_s[i] += kind_s;
            wait_s += kind_s;
        }
        rank->wait_s += wait_s;
        rank->in_mpi_s += in_mpi_s;
        uint32_t thread = fv_build_thread(m, g->rank, c.thread);
        if (thread != FV_NONE && m->threads[thread].main)
            rank->main_s += larger(wait_s - in_mpi_s, 0);
        l->lost.missed += t.missed;
        l->lost.overflow += t.overflow;
        l->lost.holds += t.holds_lost;
        l->lost.lives += t.lives_lost;
        add_waiting(g, c.thread, &t);
    }
    l->recorded = l->recorded || rank->recorded;
    l->modes |= rank->modes;
    l->wait_s += rank->wait_s;
    l->in_mpi_s += rank->in_mpi_s;
    l->main_s += rank->main_s;
}

/* ---- order ---- */

struct numbered {
    uint32_t id;
    bool inside_mpi;
    double wait_s;
    uint64_t acquired;
};

/* Libraries that MPI is made of: what their threads wait for is not the program's to change. */
static bool is_mpi_library(const char *name)
{
    static const char *const begins[] = { "libmpi",  "libpmpi", "libopen-", "libpmi",  "libprrte", "libprte",
                                          "libucp.", "libucs.", "libuct.",  "libucm.", "libfabric" };

    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

static bool is_inside_mpi(const struct fv_model *m, uint32_t node)
{
    for (; node; node = m->tree.nodes[node].parent)
        if (is_mpi_library(m->tree.modules[m->tree.nodes[node].module].name))
            return true;
    return false;
}

/* Used by nobody else, as far as is known. */
static void find_inside_mpi(struct fv_model *m)
{
    struct fv_locks *l = fv_model_locks(m);
    bool *outside = fv_xcalloc(l->count, sizeof(*outside));

    for (size_t i = 0; i < l->count; i++)
        l->items[i].inside_mpi = false;
    for (size_t i = 0; i < l->site_count; i++) {
        if (is_inside_mpi(m, l->sites[i].node))
            l->items[l->sites[i].lock].inside_mpi = true;
        else
            outside[l->sites[i].lock] = true;
    }
    for (size_t i = 0; i < l->count; i++)
        l->items[i].inside_mpi = l->items[i].inside_mpi && !outside[i];
    free(outside);
}

/* ---- the program's own threads ---- */

struct waiters {
    struct waiter {
        uint32_t rank, thread;      /* its key */
        double outside_s, inside_s; /* what it waited for: locks that are not MPI's alone, and those */
        bool of_mpi;
    } * items;
    size_t count, room;
    struct fv_index index;
};

static struct waiter *waiter_of(struct waiters *w, uint32_t rank, uint32_t thread)
{
    return FV_INTERNED(w->index, w->items, w->count, w->room, (uint32_t[]){ rank, thread });
}

static void sum_by_thread(const struct fv_model *m, struct waiters *w)
{
    for (size_t i = 0; i < fv_model_locks(m)->part_count; i++) {
        const struct fv_lock_part *p = &fv_model_locks(m)->parts[i];
        struct waiter *of = waiter_of(w, p->rank, p->thread);

        *(fv_model_locks(m)->items[p->lock].inside_mpi ? &of->inside_s : &of->outside_s) += p->n.wait_s;
    }
}

static bool is_main_thread(const struct fv_model *m, uint32_t rank, uint32_t id)
{
    uint32_t thread = fv_build_thread(m, rank, id);

    return thread != FV_NONE && m->threads[thread].main;
}

/* A thread that MPI made: by its routine, or by who called pthread_create(); where that was before recording began,
 * because it waits for nothing but MPI's. */
static bool is_of_mpi(const struct fv_model *m, const struct fv_life *life, const struct waiter *waits)
{
    if (life->routine != FV_NONE && is_mpi_library(m->tree.modules[m->addresses[life->routine].module].name))
        return true;
    return is_inside_mpi(m, life->create_node) || (life->creator == FV_NO_THREAD && !(waits->outside_s > 0));
}

/* Lives are exact; the main thread, which nobody created, is there all the time, whatever else was seen first. MPI's
 * own are no part of what the program does. */
static void sum_lives(struct fv_model *m, struct waiters *w)
{
    struct fv_locks *l = fv_model_locks(m);

    for (size_t i = 0; i < fv_model_phases(m)->life_count; i++) {
        const struct fv_life *life = &fv_model_phases(m)->lives[i];
        struct waiter *of = waiter_of(w, life->rank, life->thread);

        if (is_main_thread(m, life->rank, life->thread))
            continue;
        of->of_mpi = is_of_mpi(m, life, of);
        l->ranks[life->rank].thread_s += of->of_mpi ? 0 : larger(life->end_s - life->begin_s, 0);
    }
    for (size_t i = 0; i < m->rank_count; i++) {
        l->ranks[i].thread_s += l->ranks[i].recorded ? m->ranks[i].app_time_s : 0;
        l->thread_s += l->ranks[i].thread_s;
    }
}

/* What the program's own threads waited for each other outside of MPI. Threads know what they waited in MPI calls,
 * locks who else uses them. */
static void sum_own_waits(struct fv_model *m)
{
    struct fv_locks *l = fv_model_locks(m);
    struct waiters w = { 0 };

    sum_by_thread(m, &w);
    sum_lives(m, &w);
    for (size_t i = 0; i < l->part_count; i++) {
        const struct fv_lock_part *p = &l->parts[i];
        const struct fv_lock_view *k = &l->items[p->lock];

        if (k->inside_mpi || waiter_of(&w, p->rank, p->thread)->of_mpi)
            continue;
        l->ranks[p->rank].own_wait_s += p->n.wait_s;
        l->own_kind_s[k->kind < FV_SYNC_KINDS ? k->kind : 0] += p->n.wait_s;
    }
    for (size_t i = 0; i < m->rank_count; i++) {
        struct fv_lock_rank *r = &l->ranks[i];

        r->own_wait_s = fmin(r->own_wait_s, larger(r->wait_s - r->in_mpi_s, 0));
        l->own_wait_s += r->own_wait_s;
    }
    free(w.items);
    fv_index_release(&w.index);
}

static int by_waiting(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    if (x->inside_mpi != y->inside_mpi)
        return x->inside_mpi ? 1 : -1;
    if (x->wait_s != y->wait_s)
        return x->wait_s > y->wait_s ? -1 : 1;
    if (x->acquired != y->acquired)
        return x->acquired > y->acquired ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_lock_and_waiting(const void *a, const void *b)
{
    const struct fv_lock_site *x = a, *y = b;
    double s = x->n.wait_s + x->n.blocked_s + x->n.hold_s, t = y->n.wait_s + y->n.blocked_s + y->n.hold_s;

    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    if (s != t)
        return s > t ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->operation > y->operation) - (x->operation < y->operation);
}

static int by_lock_and_thread(const void *a, const void *b)
{
    const struct fv_lock_part *x = a, *y = b;

    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void order_locks(struct fv_locks *l)
{
    struct numbered *order = fv_xcalloc(l->count, sizeof(*order));
    uint32_t *renumbered = fv_xcalloc(l->count, sizeof(*renumbered));
    struct fv_lock_view *sorted = fv_xcalloc(l->count, sizeof(*sorted));

    for (uint32_t i = 0; i < l->count; i++)
        order[i] = (struct numbered){ i, l->items[i].inside_mpi, l->items[i].n.wait_s, l->items[i].n.acquired };
    if (l->count)
        qsort(order, l->count, sizeof(*order), by_waiting);
    for (uint32_t i = 0; i < l->count; i++) {
        sorted[i] = l->items[order[i].id];
        renumbered[order[i].id] = i;
    }
    for (size_t i = 0; i < l->site_count; i++)
        l->sites[i].lock = renumbered[l->sites[i].lock];
    for (size_t i = 0; i < l->part_count; i++)
        l->parts[i].lock = renumbered[l->parts[i].lock];
    for (size_t i = 0; i < l->now_count; i++)
        if (l->now[i].lock != FV_NONE)
            l->now[i].lock = renumbered[l->now[i].lock];
    free(l->items);
    free(order);
    free(renumbered);
    l->items = sorted;
    l->room = l->count;
}

static void order_sites(struct fv_locks *l)
{
    if (l->site_count)
        qsort(l->sites, l->site_count, sizeof(*l->sites), by_lock_and_waiting);
    for (size_t i = 0; i < l->count; i++)
        l->items[i].sites = 0;
    for (size_t i = l->site_count; i-- > 0;) {
        l->items[l->sites[i].lock].first_site = (uint32_t)i;
        l->items[l->sites[i].lock].sites++;
    }
}

static void order_parts(struct fv_locks *l)
{
    if (l->part_count)
        qsort(l->parts, l->part_count, sizeof(*l->parts), by_lock_and_thread);
    for (size_t i = l->part_count; i-- > 0;) {
        const struct fv_lock_part *p = &l->parts[i];
        struct fv_lock_view *k = &l->items[p->lock];
        bool new_rank = i + 1 == l->part_count || p[1].lock != p->lock || p[1].rank != p->rank;

        k->first_part = (uint32_t)i;
        k->parts++;
        k->threads++;
        k->ranks += new_rank;
    }
}

/* ---- all ranks ---- */

static bool has_sync(const struct fv_build *b)
{
    for (size_t i = 0; i < b->model->rank_count; i++) {
        size_t count;
        const struct fv_chunk *chunk = fv_reader_chunks(b->files[i].reader, &count);

        for (size_t k = 0; k < count; k++)
            if (chunk[k].type >= FV_CHUNK_SYNC_OBJECTS && chunk[k].type <= FV_CHUNK_SYNC_THREAD)
                return true;
    }
    return false;
}

/* NULL: no rank tells of any. */
static void *begin_locks(struct fv_build *b)
{
    struct gather *g = has_sync(b) ? fv_xcalloc(1, sizeof(*g)) : NULL;

    if (!g)
        return NULL;
    g->build = b;
    g->out = fv_model_locks(b->model);
    g->out->ranks = fv_xcalloc(b->model->rank_count, sizeof(*g->out->ranks));
    return g;
}

static void read_locks(struct fv_build *b, void *state, uint32_t rank)
{
    struct gather *g = state;
    (void)b;

    g->rank = rank;
    read_objects(g);
    read_records(g);
    read_threads(g);
}

/* When the phases are finished. */
static void finish_locks(struct fv_build *b, void *state)
{
    struct gather *g = state;

    if (!g)
        return;
    g->out->recorded = true;
    find_inside_mpi(b->model);
    sum_own_waits(b->model);
    order_locks(g->out);
    order_sites(g->out);
    order_parts(g->out);
    fv_locks_find_idle(b->model);
    free(g->objects);
    fv_index_release(&g->locks);
    fv_index_release(&g->sites);
    fv_index_release(&g->parts);
    free(g);
}

const struct fv_track fv_track_locks = {
    .name = "locks",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_SYNC_OBJECTS, FV_CHUNK_SYNC, FV_CHUNK_SYNC_THREAD },
    .begin = begin_locks,
    .read = read_locks,
    .finish = finish_locks,
    .needs = { "phases of threads" },
};

static int by_key(const void *a, const void *b)
{
    const struct fv_lock_site *x = a, *y = b;

    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->operation > y->operation) - (x->operation < y->operation);
}

static void add_site(void *sum, const void *part)
{
    struct fv_lock_site *to = sum;
    const struct fv_lock_site *from = part;

    to->whole = to->whole || from->whole;
    add_numbers(&to->n, &from->n);
}

void fv_locks_fold(struct fv_locks *l)
{
    l->site_count = fv_fold(l->sites, l->site_count, sizeof(*l->sites), by_key, add_site);
    if (l->site_count)
        order_sites(l);
}

void fv_locks_release(void *data)
{
    struct fv_locks *l = data;

    free(l->items);
    free(l->sites);
    free(l->parts);
    free(l->ranks);
    free(l->now);
    *l = (struct fv_locks){ 0 };
}
