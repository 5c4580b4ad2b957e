/* Waiting time (facts: wait states; the names are Scalasca's).
 *
 * Collectives: every logged call is joined with the calls of the other ranks that have the same
 * (communicator, sequence). Two passes over the logs: the first keeps, for each such key, the few times
 * that the rules ask for (latest sender, root, ...); the second charges each call with its wait. Memory
 * is one slot per key, whatever the number of ranks; sorting all records would need them all at once.
 * Slots come in blocks of consecutive sequence numbers, because that is how the logs run.
 *
 * Where fvmpi inserted a barrier before a collective (--barrier), everyone waited there for the last to come,
 * whatever the function; the waiting is what the barrier took, measured by the rank itself. Where it inserted
 * one behind, that is waiting in addition: for the last to be done.
 *
 * Point to point: what a call took beyond the fastest call of the same function and size bucket on any
 * rank. That is an estimate, and labelled so. */
#include "report/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 8u

struct slot {
    double latest_s, latest_sender_s, root_s, earliest_sender_s;
    uint32_t latest, latest_sender, root, earliest_sender; /* in fv_model.site_ranks; FV_NONE */
    uint32_t count;
    uint32_t seen, charged; /* last rank + 1 that was counted in each pass: a log may hold duplicates */
};
struct block {
    uint32_t comm, base;
    struct slot slots[BLOCK];
};
/* A call of MPI_Scan, which waits for lower ranks only. */
struct scan {
    uint64_t key;
    double begin_s, end_s;
    uint32_t rank, site_rank;
    int32_t comm_rank;
    struct fv_cell_wait *cell;
};
/* What the log tells of the kinds of waiting in analysis.json. */
enum log_kind {
    LOG_NXN,
    LOG_BARRIER,
    LOG_FROM_ROOT,
    LOG_TO_ROOT,
    LOG_SCAN,
    LOG_CREATE,
    LOG_IO,
    LOG_FINALIZE,
    LOG_KINDS
};
struct join {
    struct fv_build *build;
    unsigned shift; /* all ranks kept the calls whose sequence is a multiple of 2^shift */
    struct fv_index index;
    struct block *blocks;
    size_t count, room;
    uint32_t last;  /* block of the record before */
    uint32_t *most; /* by communicator: ranks in its fullest slot */
    bool *guessed;  /* by site_rank: something was missing */
    struct scan *scans;
    size_t scan_count, scan_room;
    struct fv_wait_sum kinds[LOG_KINDS];
};
/* One record, with all that it refers to looked up. */
struct call {
    double begin_s, end_s;
    uint32_t rank, site_rank, comm, sequence;
    int32_t comm_rank;
    unsigned flags;
    const struct fv_func *function;
    bool parted; /* by a barrier of fvmpi's before it */
    struct fv_cell_wait *cell; /* NULL: there are no sections */
};

/* ---- the join ---- */

static struct slot *slot_of(struct join *j, uint32_t comm, uint32_t sequence)
{
    uint32_t base = sequence >> j->shift & ~(BLOCK - 1), at = sequence >> j->shift & (BLOCK - 1);
    struct block *b = j->count ? &j->blocks[j->last] : NULL;

    if (b && b->comm == comm && b->base == base)
        return &b->slots[at];
    uint64_t hash = fv_mix2(comm, base);
    struct fv_index_probe p = fv_index_probe(&j->index, hash);
    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (j->blocks[i].comm == comm && j->blocks[i].base == base) {
            j->last = i;
            return &j->blocks[i].slots[at];
        }
    FV_GROW(j->blocks, j->room, j->count + 1);
    b = &j->blocks[j->count];
    *b = (struct block){ .comm = comm, .base = base };
    for (unsigned i = 0; i < BLOCK; i++)
        b->slots[i] = (struct slot){ .latest_s = -INFINITY,
                                     .latest_sender_s = -INFINITY,
                                     .earliest_sender_s = INFINITY,
                                     .latest = FV_NONE,
                                     .latest_sender = FV_NONE,
                                     .root = FV_NONE,
                                     .earliest_sender = FV_NONE };
    fv_index_add(&j->index, hash, (uint32_t)j->count);
    j->last = (uint32_t)j->count++;
    return &b->slots[at];
}

const struct fv_cell_place *fv_build_place(const struct fv_build_file *f, uint32_t thread, uint32_t cell)
{
    for (size_t i = 0; i < f->cell_maps; i++)
        if (f->cells[i].thread == thread)
            return cell < f->cells[i].count && f->cells[i].cells[cell].site_rank != FV_NONE
                       ? &f->cells[i].cells[cell]
                       : NULL;
    return NULL;
}

struct fv_cell_wait *fv_build_cell_wait(const struct fv_build_file *f, uint32_t thread, uint32_t cell)
{
    for (size_t i = 0; i < f->cell_maps; i++)
        if (f->cells[i].thread == thread)
            return f->cells[i].waits && cell < f->cells[i].count ? &f->cells[i].waits[cell] : NULL;
    return NULL;
}

static bool resolve(const struct join *j, uint32_t rank, uint32_t thread, const struct fv_coll_record *r,
                    struct call *out)
{
    const struct fv_build_file *f = &j->build->files[rank];
    const struct fv_model *m = j->build->model;
    const struct fv_cell_place *place = fv_build_place(f, thread, r->cell_flags >> 3);

    if (!place || r->sequence & ((UINT32_C(1) << j->shift) - 1) || place->comm >= f->comm_count ||
        f->comms[place->comm].comm == FV_NONE)
        return false;
    *out = (struct call){ .rank = rank,
                          .site_rank = place->site_rank,
                          .sequence = r->sequence,
                          .flags = r->cell_flags & 7,
                          .comm = f->comms[place->comm].comm,
                          .comm_rank = f->comms[place->comm].rank,
                          .cell = fv_build_cell_wait(f, thread, r->cell_flags >> 3),
                          .parted = place->parted && m->barrier == FV_BARRIER_BEFORE };
    out->function = &m->functions[m->sites[m->site_ranks[place->site_rank].site].function];
    out->begin_s = fv_build_time(m, rank, r->begin);
    out->end_s = fv_build_time(m, rank, r->end);
    return out->end_s >= out->begin_s && out->function->wait != FV_WAIT_NONE &&
           out->function->wait != FV_WAIT_P2P;
}

static void note(struct join *j, struct slot *s, const struct call *c)
{
    if (s->seen == c->rank + 1)
        return;
    s->seen = c->rank + 1;
    s->count++;
    if (s->count > j->most[c->comm])
        j->most[c->comm] = s->count;
    if (c->begin_s > s->latest_s) {
        s->latest_s = c->begin_s;
        s->latest = c->site_rank;
    }
    if (c->flags & FV_COLL_SENDS && c->begin_s > s->latest_sender_s) {
        s->latest_sender_s = c->begin_s;
        s->latest_sender = c->site_rank;
    }
    if (c->flags & FV_COLL_SENDS && !(c->flags & FV_COLL_ROOT) && c->begin_s < s->earliest_sender_s) {
        s->earliest_sender_s = c->begin_s;
        s->earliest_sender = c->site_rank;
    }
    if (c->flags & FV_COLL_ROOT) {
        s->root_s = c->begin_s;
        s->root = c->site_rank;
    }
}

/* ---- the rules ---- */

/* For whom a call waits, and from when on that rank was there. */
struct cause {
    uint32_t site_rank; /* FV_NONE: for nobody */
    double begin_s;
    bool needs_all; /* known only if the calls of all ranks are */
};

static struct cause cause_of(const struct slot *s, const struct call *c, bool inter)
{
    bool root = c->flags & FV_COLL_ROOT;

    switch (c->parted ? FV_WAIT_BARRIER : c->function->wait) {
    case FV_WAIT_NXN: /* functions without data, as MPI_Comm_dup, have no senders: all count */
        if (c->function->class == FV_CLASS_COLLECTIVE)
            return (struct cause){ s->latest_sender, s->latest_sender_s, true };
        return (struct cause){ s->latest, s->latest_s, true };
    case FV_WAIT_BARRIER: return (struct cause){ s->latest, s->latest_s, true };
    case FV_WAIT_FROM_ROOT: /* of an intercommunicator, the root's own group takes no part */
        if (root || (inter && !(c->flags & FV_COLL_RECEIVES)))
            break;
        return (struct cause){ s->root, s->root_s, false };
    case FV_WAIT_TO_ROOT:
        if (root)
            return (struct cause){ s->earliest_sender, s->earliest_sender_s, true };
    }
    return (struct cause){ FV_NONE, 0, false };
}

/* The wait ends when the other rank came, or with the call itself (against clock violations). */
static double wait_between(double begin_s, double end_s, double cause_s)
{
    double until = cause_s < end_s ? cause_s : end_s;

    return until > begin_s ? until - begin_s : 0;
}

static void charge_wait(struct join *j, uint32_t site_rank, struct fv_cell_wait *cell, uint32_t comm, uint32_t cause, double wait_s,
                        bool known)
{
    struct fv_model *m = j->build->model;
    struct fv_site_rank *s = &m->site_ranks[site_rank];

    s->wait_s += wait_s;
    s->logged++;
    if (!known)
        j->guessed[site_rank] = true;
    if (cell) {
        cell->wait_s += wait_s;
        cell->logged++;
        cell->guessed |= !known;
    }
    m->comms[comm].wait_s += wait_s;
    if (wait_s <= 0 || cause == FV_NONE || m->site_ranks[cause].rank == s->rank)
        return;
    m->ranks[m->site_ranks[cause].rank].delay_s += wait_s;
    m->site_ranks[cause].blame.caused_s += wait_s;
    m->causes.wait_s += wait_s;
}

static enum log_kind kind_of(const struct fv_func *f)
{
    static const enum log_kind by_rule[] = { [FV_WAIT_NXN] = LOG_NXN,
                                             [FV_WAIT_BARRIER] = LOG_BARRIER,
                                             [FV_WAIT_FROM_ROOT] = LOG_FROM_ROOT,
                                             [FV_WAIT_TO_ROOT] = LOG_TO_ROOT,
                                             [FV_WAIT_SCAN] = LOG_SCAN };

    switch (f->class) {
    case FV_CLASS_COMM: return LOG_CREATE;
    case FV_CLASS_IO: return LOG_IO;
    case FV_CLASS_INIT: return f->wait == FV_WAIT_BARRIER ? LOG_FINALIZE : LOG_CREATE;
    }
    return f->wait <= FV_WAIT_SCAN ? by_rule[f->wait] : LOG_NXN;
}

static void add_kind(struct join *j, enum log_kind kind, double wait_s)
{
    if (wait_s <= 0)
        return;
    j->kinds[kind].count++;
    j->kinds[kind].wait_s += wait_s;
}

static void charge(struct join *j, struct slot *s, const struct call *c)
{
    const struct fv_comm_view *comm = &j->build->model->comms[c->comm];
    bool inter = comm->remote_size > 0;
    int64_t size = (int64_t)comm->size + comm->remote_size;

    if (s->charged == c->rank + 1)
        return;
    s->charged = c->rank + 1;
    if (c->function->wait == FV_WAIT_SCAN && !c->parted) {
        FV_GROW(j->scans, j->scan_room, j->scan_count + 1);
        j->scans[j->scan_count++] = (struct scan){
            (uint64_t)c->comm << 32 | c->sequence, c->begin_s, c->end_s, c->rank, c->site_rank, c->comm_rank, c->cell
        };
        return;
    }
    struct cause cause = cause_of(s, c, inter);
    if (cause.needs_all && (s->count < j->most[c->comm] || (s->count == 1 && size > 1)))
        return; /* logged by some ranks only: says less than the others do, or nothing */
    if (c->function->wait == FV_WAIT_FROM_ROOT && !c->parted && s->root == FV_NONE &&
        !(c->flags & FV_COLL_ROOT) && !inter)
        return; /* the root's call is missing */
    double wait_s = cause.site_rank == FV_NONE ? 0 : wait_between(c->begin_s, c->end_s, cause.begin_s);
    charge_wait(j, c->site_rank, c->cell, c->comm, cause.site_rank, wait_s,
                !inter && (!cause.needs_all || s->count >= size));
    add_kind(j, c->parted ? LOG_BARRIER : kind_of(c->function), wait_s);
}

static int by_key_and_rank(const void *a, const void *b)
{
    const struct scan *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->comm_rank > y->comm_rank) - (x->comm_rank < y->comm_rank);
}

/* Early Scan: min(max begin over ranks 0..me, end) - begin. */
static void charge_scans(struct join *j)
{
    if (j->scan_count)
        qsort(j->scans, j->scan_count, sizeof(*j->scans), by_key_and_rank);
    double latest_s = -INFINITY;
    uint32_t latest = FV_NONE;
    for (size_t i = 0, first = 0; i < j->scan_count; i++) {
        const struct scan *s = &j->scans[i];

        if (i == 0 || s->key != s[-1].key) {
            first = i;
            latest_s = -INFINITY;
        }
        if (s->begin_s > latest_s) {
            latest_s = s->begin_s;
            latest = s->site_rank;
        }
        double wait_s = wait_between(s->begin_s, s->end_s, latest_s);
        charge_wait(j, s->site_rank, s->cell, (uint32_t)(s->key >> 32), latest, wait_s,
                    (int64_t)(i - first) == s->comm_rank);
        add_kind(j, LOG_SCAN, wait_s);
    }
}

static void each_call(struct join *j, void (*visit)(struct join *, struct slot *, const struct call *))
{
    const struct fv_model *m = j->build->model;
    struct fv_coll_record r;
    struct call call;

    for (uint32_t rank = 0; rank < m->rank_count; rank++) {
        struct fv_cursor c = fv_cursor(j->build->files[rank].reader, FV_CHUNK_COLLECTIVES);

        for (const void *p; (p = fv_cursor_next(&c));) {
            memcpy(&r, p, sizeof(r));
            if (resolve(j, rank, c.thread, &r, &call))
                visit(j, slot_of(j, call.comm, call.sequence), &call);
        }
    }
}

/* In the calls without a barrier of fvmpi's the waiting is what the log says. */
static void add_barriers(const struct fv_model *m, struct fv_site_rank *s)
{
    uint64_t without = s->time.calls - (s->barriers < s->time.calls ? s->barriers : s->time.calls);

    if (!s->barriers)
        return;
    if (m->barrier == FV_BARRIER_BEFORE) {
        s->wait_s = s->barrier_s + s->wait_s * (double)without / (double)s->time.calls;
        s->wait_kind = without ? FV_WAIT_ESTIMATE : FV_WAIT_EXACT;
    } else {
        s->wait_s += s->barrier_s;
        if (s->wait_kind == FV_WAIT_UNKNOWN)
            s->wait_kind = FV_WAIT_ESTIMATE;
    }
    if (s->wait_s > s->time.sum)
        s->wait_s = s->time.sum;
}

/* What the log does not hold is taken to have waited as long as what it holds. */
static void finish_collective(struct fv_model *m, struct fv_site_rank *s, bool guessed)
{
    uint8_t rule = m->functions[m->sites[s->site].function].wait;
    uint64_t calls = s->time.calls - (s->alone < s->time.calls ? s->alone : s->time.calls);

    if (!calls && s->alone && rule != FV_WAIT_NONE && rule != FV_WAIT_P2P)
        s->wait_kind = FV_WAIT_EXACT;
    if (!s->logged)
        return;
    s->wait_kind = guessed || !m->same_clock || s->logged < calls ? FV_WAIT_ESTIMATE : FV_WAIT_EXACT;
    if (s->logged < calls)
        s->wait_s *= (double)calls / s->logged;
    if (s->wait_s > s->time.sum)
        s->wait_s = s->time.sum;
}

static int by_wait(const void *a, const void *b)
{
    const struct fv_wait_sum *x = a, *y = b;

    return (y->wait_s > x->wait_s) - (y->wait_s < x->wait_s);
}

/* Until an analysis of the trace says more. */
static void tell_causes(struct join *j)
{
    static const char *const names[LOG_KINDS] = { "wait_at_nxn",  "wait_at_barrier", "late_broadcast",
                                                  "early_reduce", "early_scan",      "wait_at_create",
                                                  "wait_at_io",   "wait_at_finalize" };
    struct fv_model *m = j->build->model;
    struct fv_causes *causes = &m->causes;

    causes->exact = m->same_clock && !j->shift;
    for (size_t i = 0; i < m->site_rank_count; i++) {
        if (m->site_ranks[i].logged)
            causes->source = FV_CAUSES_PROFILE;
        causes->exact = causes->exact && !j->guessed[i];
    }
    for (size_t i = 0; i < m->rank_count; i++)
        causes->exact = causes->exact && !m->ranks[i].dropped[FV_DROP_COLLECTIVES];
    for (unsigned k = 0; k < LOG_KINDS; k++) {
        if (!j->kinds[k].count)
            continue;
        FV_GROW(causes->kinds, causes->kind_room, causes->kind_count + 1);
        causes->kinds[causes->kind_count] = j->kinds[k];
        causes->kinds[causes->kind_count++].kind = names[k];
    }
    if (causes->kind_count)
        qsort(causes->kinds, causes->kind_count, sizeof(*causes->kinds), by_wait);
}

static void collective_waits(struct fv_build *b)
{
    struct fv_model *m = b->model;
    struct join j = { .build = b };

    for (size_t i = 0; i < m->rank_count; i++)
        j.shift = m->ranks[i].thinned > j.shift ? m->ranks[i].thinned : j.shift;
    j.most = fv_xcalloc(m->comm_count, sizeof(*j.most));
    j.guessed = fv_xcalloc(m->site_rank_count, sizeof(*j.guessed));
    each_call(&j, note);
    each_call(&j, charge);
    charge_scans(&j);
    for (size_t i = 0; i < m->site_rank_count; i++) {
        finish_collective(m, &m->site_ranks[i], j.guessed[i]);
        add_barriers(m, &m->site_ranks[i]);
    }
    tell_causes(&j);
    free(j.blocks);
    free(j.most);
    free(j.guessed);
    free(j.scans);
    fv_index_release(&j.index);
}

/* ---- point to point ---- */

/* What a transfer of each size takes at best: the fastest call that moved as much or more. Over all sends and
 * receives together, because where every receive waits, only the sends show what a message costs. */
static void best_transfers(const struct fv_build *b, double best[FV_SIZE_BUCKETS])
{
    const struct fv_model *m = b->model;
    double floor = INFINITY;

    for (unsigned k = FV_SIZE_BUCKETS; k-- > 0;) {
        for (uint32_t f = 0; f < m->function_count; f++)
            if (m->functions[f].wait == FV_WAIT_P2P && m->functions[f].class == FV_CLASS_P2P)
                floor = fmin(floor, b->best[f][k]);
        best[k] = floor;
    }
}

static void estimate_cell(struct fv_build *b, uint32_t rank, const struct fv_cell *cell,
                          struct fv_site_rank *s, struct fv_cell_wait *own, const double transfer[FV_SIZE_BUCKETS])
{
    const struct fv_model *m = b->model;
    uint32_t function = m->sites[s->site].function;
    unsigned bucket = cell->size_bucket < FV_SIZE_BUCKETS ? cell->size_bucket : FV_SIZE_BUCKETS - 1;

    if (m->functions[function].wait != FV_WAIT_P2P || !cell->calls)
        return;
    double best =
        m->functions[function].class == FV_CLASS_P2P && bucket ? transfer[bucket] : b->best[function][bucket];
    double wait = fv_build_seconds(m, rank, cell->time_sum) - cell->calls * best;
    if (wait > 0)
        s->wait_s += wait;
    if (wait > 0 && own)
        own->wait_s += wait;
    s->wait_kind = FV_WAIT_ESTIMATE;
}

static void p2p_waits(struct fv_build *b)
{
    struct fv_model *m = b->model;
    double transfer[FV_SIZE_BUCKETS];
    struct fv_cell cell;

    best_transfers(b, transfer);
    for (uint32_t rank = 0; rank < m->rank_count; rank++) {
        struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_CELLS);

        for (const void *p; (p = fv_cursor_next(&c));) {
            const struct fv_cell_place *place =
                c.index < UINT32_MAX ? fv_build_place(&b->files[rank], c.thread, (uint32_t)c.index) : NULL;

            if (!place)
                continue;
            memcpy(&cell, p, sizeof(cell));
            estimate_cell(b, rank, &cell, &m->site_ranks[place->site_rank],
                          fv_build_cell_wait(&b->files[rank], c.thread, (uint32_t)c.index), transfer);
        }
    }
}

/* Where the program marks sections, a call site's waiting may belong to several of them. */
static void keep_by_cell(struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTION_SETS);

    if (!fv_cursor_next(&c))
        return;
    for (size_t i = 0; i < f->cell_maps; i++)
        f->cells[i].waits = fv_xcalloc(f->cells[i].count, sizeof(*f->cells[i].waits));
}

void fv_build_waits(struct fv_build *b)
{
    for (size_t i = 0; i < b->model->rank_count; i++)
        keep_by_cell(&b->files[i]);
    collective_waits(b);
    p2p_waits(b);
}
