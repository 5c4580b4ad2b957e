/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting time (facts: wait states; the names are Scalasca's).
 *
 * Collectives: every logged call is joined with the calls of the other ranks that have the same
 * (communicator, sequence). Two passes over the logs: the first keeps, for each such key, the few times
 * that the rules ask for (latest sender, root, ...); the second charges each call with its wait. Memory
 * is one slot per key, whatever the number of ranks; sorting all records would need them all at once.
 * Slots come in blocks of consecutive sequence numbers, because that is how the logs run.
 *
 * Ranks of several hosts have several clocks. What the logs say of these is found out first (align.h). A wait
 * for a rank of another clock that is shorter than the clocks' error is none that is known, and counts as 0.
 *
 * Where fvmpi inserted a barrier before a collective (--barrier), everyone waited there for the last to come,
 * whatever the function; the waiting is what the barrier took, measured by the rank itself. Where it inserted
 * one behind, that is waiting in addition: for the last to be done.
 *
 * Point to point: what a call took beyond the fastest call of the same function and size bucket on any
 * rank. That is an estimate, and labelled so. */
#include "profile/align.h"
#include "profile/build.h"
#include "profile/iterations/iterations.h"
#include "profile/noise/noise_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK          8u
#define LATENCY_S      1e-4 /* of a fast network, and its bandwidth: what takes longer may be waiting */
#define BYTES_A_SECOND 1e9
enum {
    ALIGN_MOST = 1 << 18,
    ALIGN_MOST_EACH = 256
}; /* entries of the log that align clocks: in all, or of each clock */

struct slot {
    double latest_s, latest_sender_s, root_s, earliest_sender_s;
    double without_s;                     /* latest_s as it would be without noise (noise.h) */
    uint32_t latest, latest_sender, root; /* in fv_model.site_ranks; FV_NONE */
    uint32_t count;
    uint32_t seen, charged; /* last rank + 1 that was counted in each pass: a log may hold duplicates */
};
struct block {
    uint32_t comm, base; /* its key */
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
#define LOG_KIND_LIST(X)           \
    X(NXN, "wait_at_nxn")          \
    X(BARRIER, "wait_at_barrier")  \
    X(FROM_ROOT, "late_broadcast") \
    X(TO_ROOT, "early_reduce")     \
    X(LATE_REDUCE, "late_reduce")  \
    X(SCAN, "early_scan")          \
    X(CREATE, "wait_at_create")    \
    X(IO, "wait_at_io")            \
    X(FINALIZE, "wait_at_finalize")
#define LOG_KIND(name, word) LOG_##name,
enum log_kind { LOG_KIND_LIST(LOG_KIND) LOG_KINDS };
struct fv_wait_join {
    struct fv_build *build;
    unsigned shift;         /* all ranks kept the calls whose sequence is a multiple of 2^shift */
    struct fv_align *align; /* NULL: there is one clock */
    bool aligned;           /* it is solved */
    struct fv_index index;
    struct block *blocks;
    size_t count, room;
    uint32_t last;             /* block of the record before */
    uint32_t *most;            /* by communicator: ranks in its fullest slot */
    bool *guessed;             /* by site_rank: something was missing */
    uint32_t *logged;          /* likewise: calls in the log that its waiting was computed from */
    struct fv_noise_log noise; /* of the present rank */
    struct scan *scans;
    size_t scan_count, scan_room;
    struct fv_wait_sum kinds[LOG_KINDS];
    double transfer[FV_SIZE_BUCKETS]; /* seconds of the fastest */
};
/* One record, with all that it refers to looked up. */
struct call {
    double begin_s, end_s, preempted_s; /* preempted_s: before it, as far as it is known */
    uint32_t rank, thread, site_rank, comm, sequence;
    int32_t comm_rank;
    unsigned flags;
    uint64_t begin; /* ticks */
    const struct fv_func *function;
    bool parted;               /* by a barrier of fvmpi's before it */
    struct fv_cell_wait *cell; /* NULL: there are no sections */
};

/* ---- the join ---- */

static struct slot *slot_of(struct fv_wait_join *j, uint32_t comm, uint32_t sequence)
{
    uint32_t base = sequence >> j->shift & ~(BLOCK - 1), at = sequence >> j->shift & (BLOCK - 1);
    struct block *b = j->count ? &j->blocks[j->last] : NULL;

    if (b && b->comm == comm && b->base == base)
        return &b->slots[at];
    size_t before = j->count;
    j->last = FV_INTERN(j->index, j->blocks, j->count, j->room, (uint32_t[]){ comm, base });
    b = &j->blocks[j->last];
    for (unsigned i = 0; i < BLOCK && j->count > before; i++)
        b->slots[i] = (struct slot){ .latest_s = -INFINITY,
                                     .without_s = -INFINITY,
                                     .latest_sender_s = -INFINITY,
                                     .earliest_sender_s = INFINITY,
                                     .latest = FV_NONE,
                                     .latest_sender = FV_NONE,
                                     .root = FV_NONE };
    return &b->slots[at];
}

static double common_time(const struct fv_wait_join *j, uint32_t rank, uint64_t ticks)
{
    const struct fv_model *m = j->build->model;
    double time_s = fv_build_time(m, rank, ticks);

    return j->aligned ? fv_align_time(j->align, m->ranks[rank].clock, time_s) : time_s;
}

static bool resolve(const struct fv_wait_join *j, uint32_t rank, uint32_t thread, const struct fv_coll_record *r,
                    struct call *out)
{
    struct fv_build_file *f = &j->build->files[rank];
    const struct fv_model *m = j->build->model;
    const struct fv_cell_place *place = fv_build_place(f, thread, r->cell_flags >> 3);

    if (!place || r->sequence & ((UINT32_C(1) << j->shift) - 1) || fv_numbers_get(&f->comms, place->comm) == FV_NONE)
        return false;
    *out = (struct call){ .rank = rank,
                          .thread = thread,
                          .begin = r->begin,
                          .site_rank = place->site_rank,
                          .sequence = r->sequence,
                          .flags = r->cell_flags & 7,
                          .comm = f->comms.of[place->comm],
                          .comm_rank = (int32_t)f->comm_ranks.of[place->comm],
                          .cell = fv_build_cell_wait(f, thread, r->cell_flags >> 3),
                          .parted = place->parted && m->barrier == FV_BARRIER_BEFORE };
    out->function = &m->functions[m->sites[m->site_ranks[place->site_rank].site].function];
    out->begin_s = common_time(j, rank, r->begin);
    out->end_s = common_time(j, rank, r->end);
    out->preempted_s = fmin(fv_noise_preempted_s(fv_noise_log_at(&j->noise, thread, r->begin)),
                            fv_build_seconds(m, rank, r->begin - f->header->begin_ticks));
    return out->end_s >= out->begin_s && out->function->wait != FV_RULE_NONE && out->function->wait != FV_RULE_P2P;
}

static void each_call(struct fv_wait_join *j, uint32_t rank,
                      void (*visit)(struct fv_wait_join *, struct slot *, const struct call *))
{
    struct fv_cursor c = fv_cursor(j->build->files[rank].reader, FV_CHUNK_COLLECTIVES);
    struct fv_coll_record r;
    struct call call;

    fv_noise_log_read(&j->noise, j->build->files[rank].reader);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        if (resolve(j, rank, c.thread, &r, &call))
            visit(j, slot_of(j, call.comm, call.sequence), &call);
    }
}

/* Of the first visit; it stays until the last. */
static struct fv_wait_join *join_of(struct fv_build *b)
{
    const struct fv_model *m = b->model;
    struct fv_wait_join *j = b->waits;

    if (j)
        return j;
    b->waits = j = fv_xcalloc(1, sizeof(*j));
    j->build = b;
    for (size_t i = 0; i < m->rank_count; i++)
        j->shift = m->ranks[i].thinned > j->shift ? m->ranks[i].thinned : j->shift;
    j->most = fv_xcalloc(m->comm_count, sizeof(*j->most));
    j->guessed = fv_xcalloc(m->site_rank_count, sizeof(*j->guessed));
    j->logged = fv_xcalloc(m->site_rank_count, sizeof(*j->logged));
    return j;
}

/* ---- clocks ---- */

/* What is certain of who waits for whom. Making a communicator, window or file need not synchronise, and of
 * MPI_Alltoallv and MPI_Alltoallw it is not known to whom a rank sends. */
static void bound(struct fv_wait_join *j, struct slot *s, const struct call *c)
{
    const struct fv_model *m = j->build->model;
    bool root = c->flags & FV_COLL_ROOT, gives = c->flags & FV_COLL_SENDS, takes = c->flags & FV_COLL_RECEIVES;

    if (s->seen == c->rank + 1 || c->function->class != FV_CLASS_COLLECTIVE || m->comms[c->comm].def.remote_size)
        return;
    s->seen = c->rank + 1;
    switch (c->function->wait) {
    case FV_RULE_BARRIER: break; /* all give and take, unless the call failed, which has no flags */
    case FV_RULE_FROM_ROOT:
        gives = gives && root;
        takes = takes && !root;
        break;
    case FV_RULE_TO_ROOT:
        gives = gives && !root;
        takes = root;
        break;
    case FV_RULE_NXN:
        if (strncmp(c->function->name, "MPI_Alltoallv", 13) && strncmp(c->function->name, "MPI_Alltoallw", 13))
            break;
        return;
    default: return;
    }
    fv_align_add(j->align, j->last * BLOCK + (uint32_t)(s - j->blocks[j->last].slots), m->ranks[c->rank].clock,
                 c->begin_s, c->end_s, gives, takes);
}

static void *begin_bounds(struct fv_build *b)
{
    size_t clocks = b->model->clock_count;
    struct fv_wait_join *j = join_of(b);

    j->align =
        fv_align_new((uint32_t)clocks, clocks > ALIGN_MOST / ALIGN_MOST_EACH ? clocks * ALIGN_MOST_EACH : ALIGN_MOST);
    return j;
}

static void read_bounds(struct fv_build *b, void *join, uint32_t rank)
{
    (void)b;
    each_call(join, rank, bound);
}

static void finish_bounds(struct fv_build *b, void *join)
{
    struct fv_wait_join *j = join;

    b->model->alignment = fv_align_solve(j->align);
    j->aligned = true;
    for (size_t i = 0; i < j->count; i++)
        for (unsigned k = 0; k < BLOCK; k++)
            j->blocks[i].slots[k].seen = 0;
}

const struct fv_track fv_track_bounds = {
    .name = "bounds of clocks",
    .of_all = true,
    .visit = FV_VISIT_BOUNDS,
    .types = { FV_CHUNK_COLLECTIVES },
    .begin = begin_bounds,
    .read = read_bounds,
    .finish = finish_bounds,
};

/* A wait for another clock's rank that may be the clocks' error is not taken for one. */
static double known_wait(struct fv_wait_join *j, uint32_t rank, uint32_t cause, double wait_s)
{
    const struct fv_model *m = j->build->model;

    if (!j->align || wait_s <= 0 ||
        wait_s > fv_align_error(j->align, m->ranks[rank].clock, m->ranks[m->site_ranks[cause].rank].clock))
        return wait_s;
    j->build->model->waits_in_doubt++;
    j->build->model->wait_in_doubt_s += wait_s;
    return 0;
}

static void note(struct fv_wait_join *j, struct slot *s, const struct call *c)
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
    s->without_s = fmax(s->without_s, c->begin_s - c->preempted_s);
    if (c->flags & FV_COLL_SENDS && c->begin_s > s->latest_sender_s) {
        s->latest_sender_s = c->begin_s;
        s->latest_sender = c->site_rank;
    }
    if (c->flags & FV_COLL_SENDS && !(c->flags & FV_COLL_ROOT) && c->begin_s < s->earliest_sender_s)
        s->earliest_sender_s = c->begin_s;
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

    switch (c->parted ? FV_RULE_BARRIER : c->function->wait) {
    case FV_RULE_NXN: /* functions without data, as MPI_Comm_dup, have no senders: all count */
        if (c->function->class == FV_CLASS_COLLECTIVE)
            return (struct cause){ s->latest_sender, s->latest_sender_s, true };
        return (struct cause){ s->latest, s->latest_s, true };
    case FV_RULE_BARRIER: return (struct cause){ s->latest, s->latest_s, true };
    case FV_RULE_FROM_ROOT: /* of an intercommunicator, the root's own group takes no part */
        if (root || (inter && !(c->flags & FV_COLL_RECEIVES)))
            break;
        return (struct cause){ s->root, s->root_s, false };
    case FV_RULE_TO_ROOT:
        if (root)
            return (struct cause){ s->latest_sender, s->latest_sender_s, true };
    }
    return (struct cause){ FV_NONE, 0, false };
}

/* The wait ends when the other rank came, or with the call itself (against clock violations). */
static double wait_between(double begin_s, double end_s, double cause_s)
{
    double until = cause_s < end_s ? cause_s : end_s;

    return until > begin_s ? until - begin_s : 0;
}

static void charge_wait(struct fv_wait_join *j, uint32_t site_rank, struct fv_cell_wait *cell, uint32_t comm,
                        uint32_t cause, double wait_s, bool known)
{
    struct fv_model *m = j->build->model;
    struct fv_site_rank *s = &m->site_ranks[site_rank];

    s->wait_s += wait_s;
    j->logged[site_rank]++;
    if (!known)
        j->guessed[site_rank] = true;
    if (cell) {
        cell->wait_s += wait_s;
        cell->logged++;
        cell->guessed |= !known;
    }
    if (s->rank < j->build->shown && !s->unshown)
        m->comms[comm].wait_s += wait_s;
    if (wait_s <= 0 || cause == FV_NONE || m->site_ranks[cause].rank == s->rank)
        return;
    m->ranks[m->site_ranks[cause].rank].delay_s += wait_s;
    fv_build_more(m, &m->site_ranks[cause])->blame.caused_s += wait_s;
    m->causes.wait_s += wait_s;
}

static enum log_kind kind_of(const struct fv_func *f)
{
    static const enum log_kind by_rule[] = { [FV_RULE_NXN] = LOG_NXN,
                                             [FV_RULE_BARRIER] = LOG_BARRIER,
                                             [FV_RULE_FROM_ROOT] = LOG_FROM_ROOT,
                                             [FV_RULE_TO_ROOT] = LOG_TO_ROOT,
                                             [FV_RULE_SCAN] = LOG_SCAN };

    switch (f->class) {
    case FV_CLASS_COMM: return LOG_CREATE;
    case FV_CLASS_IO: return LOG_IO;
    case FV_CLASS_INIT: return f->wait == FV_RULE_BARRIER ? LOG_FINALIZE : LOG_CREATE;
    }
    return f->wait <= FV_RULE_SCAN ? by_rule[f->wait] : LOG_NXN;
}

static void add_kind(struct fv_wait_join *j, enum log_kind kind, double wait_s)
{
    if (wait_s <= 0)
        return;
    j->kinds[kind].count++;
    j->kinds[kind].wait_s += wait_s;
}

/* A root waits for its first sender, and then for its last one. */
static void add_kinds(struct fv_wait_join *j, const struct slot *s, const struct call *c, double wait_s)
{
    enum log_kind kind = c->parted ? LOG_BARRIER : kind_of(c->function);
    double for_first_s = kind == LOG_TO_ROOT ? wait_between(c->begin_s, c->end_s, s->earliest_sender_s) : wait_s;

    add_kind(j, kind, fmin(for_first_s, wait_s));
    add_kind(j, LOG_LATE_REDUCE, wait_s - fmin(for_first_s, wait_s));
}

/* What preemption cost the ranks of a call that all wait for: by the one that came last. */
static void charge_noise(struct fv_wait_join *j, const struct slot *s, const struct call *c)
{
    uint8_t rule = c->parted ? FV_RULE_BARRIER : c->function->wait;
    double earlier_s = s->latest_s - s->without_s;

    if (c->site_rank == s->latest && (rule == FV_RULE_NXN || rule == FV_RULE_BARRIER) && s->count > 1 && earlier_s > 0)
        fv_build_more(j->build->model, &j->build->model->site_ranks[c->site_rank])->noise_s += s->count * earlier_s;
}

static void charge(struct fv_wait_join *j, struct slot *s, const struct call *c)
{
    const struct fv_def_comm *comm = &j->build->model->comms[c->comm].def;
    bool inter = comm->remote_size > 0;
    int64_t size = (int64_t)comm->members;

    if (s->charged == c->rank + 1)
        return;
    s->charged = c->rank + 1;
    if (c->function->wait == FV_RULE_SCAN && !c->parted) {
        FV_GROW(j->scans, j->scan_room, j->scan_count + 1);
        j->scans[j->scan_count++] = (struct scan){
            (uint64_t)c->comm << 32 | c->sequence, c->begin_s, c->end_s, c->rank, c->site_rank, c->comm_rank, c->cell
        };
        return;
    }
    struct cause cause = cause_of(s, c, inter);
    if (cause.needs_all && (s->count < j->most[c->comm] || (s->count == 1 && size > 1)))
        return; /* logged by some ranks only: says less than the others do, or nothing */
    charge_noise(j, s, c);
    if (c->function->wait == FV_RULE_FROM_ROOT && !c->parted && s->root == FV_NONE && !(c->flags & FV_COLL_ROOT) &&
        !inter)
        return; /* the root's call is missing */
    double wait_s = cause.site_rank == FV_NONE ? 0 : wait_between(c->begin_s, c->end_s, cause.begin_s);

    wait_s = known_wait(j, c->rank, cause.site_rank, wait_s);
    fv_iterations_waited(j->build, c->rank, c->thread, c->begin, wait_s, c->preempted_s);
    charge_wait(j, c->site_rank, c->cell, c->comm, cause.site_rank, wait_s,
                !inter && (!cause.needs_all || s->count >= size));
    add_kinds(j, s, c, wait_s);
}

static int by_key_and_rank(const void *a, const void *b)
{
    const struct scan *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->comm_rank > y->comm_rank) - (x->comm_rank < y->comm_rank);
}

/* Early Scan: min(max begin over ranks 0..me, end) - begin. */
static void charge_scans(struct fv_wait_join *j)
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
        double wait_s = known_wait(j, s->rank, latest, wait_between(s->begin_s, s->end_s, latest_s));

        charge_wait(j, s->site_rank, s->cell, (uint32_t)(s->key >> 32), latest, wait_s,
                    (int64_t)(i - first) == s->comm_rank);
        add_kind(j, LOG_SCAN, wait_s);
    }
}

/* In the calls without a barrier of fvmpi's the waiting is what the log says. */
static void add_barriers(const struct fv_model *m, struct fv_site_rank *s)
{
    const struct fv_site_more *more = fv_site_more(m, s);
    uint64_t without = s->stat.calls - (more->barriers < s->stat.calls ? more->barriers : s->stat.calls);

    if (!more->barriers)
        return;
    if (m->barrier == FV_BARRIER_BEFORE) {
        s->wait_s = more->barrier_s + s->wait_s * (double)without / (double)s->stat.calls;
        s->wait_kind = without ? FV_WAIT_ESTIMATE : FV_WAIT_EXACT;
    } else {
        s->wait_s += more->barrier_s;
        if (s->wait_kind == FV_WAIT_UNKNOWN)
            s->wait_kind = FV_WAIT_ESTIMATE;
    }
    if (s->wait_s > s->stat.sum_s)
        s->wait_s = s->stat.sum_s;
}

/* What the log does not hold is taken to have waited as long as what it holds. */
static void finish_collective(struct fv_model *m, struct fv_site_rank *s, uint32_t logged, bool guessed)
{
    uint8_t rule = m->functions[m->sites[s->site].function].wait;
    uint64_t alone = fv_site_more(m, s)->alone, calls = s->stat.calls - (alone < s->stat.calls ? alone : s->stat.calls);

    if (!calls && alone && rule != FV_RULE_NONE && rule != FV_RULE_P2P)
        s->wait_kind = FV_WAIT_EXACT;
    if (!logged)
        return;
    s->wait_kind = guessed || !m->same_clock || logged < calls ? FV_WAIT_ESTIMATE : FV_WAIT_EXACT;
    if (logged < calls) {
        s->wait_s *= (double)calls / logged;
        if (s->more)
            fv_build_more(m, s)->noise_s *= (double)calls / logged;
    }
    if (s->wait_s > s->stat.sum_s)
        s->wait_s = s->stat.sum_s;
}

static int by_wait(const void *a, const void *b)
{
    const struct fv_wait_sum *x = a, *y = b;

    return (y->wait_s > x->wait_s) - (y->wait_s < x->wait_s);
}

/* Until an analysis of the trace says more. */
static void tell_causes(struct fv_wait_join *j)
{
    static const char *const names[LOG_KINDS] = { LOG_KIND_LIST(FV_LIST_WORD) };
    struct fv_model *m = j->build->model;
    struct fv_causes *causes = &m->causes;

    causes->exact = m->same_clock && !j->shift;
    for (size_t i = 0; i < m->site_rank_count; i++) {
        if (j->logged[i])
            causes->source = FV_CAUSES_PROFILE;
        causes->exact = causes->exact && !j->guessed[i];
    }
    for (size_t i = 0; i < m->rank_count; i++)
        causes->exact = causes->exact && !m->ranks[i].dropped[FV_DROP_COLLECTIVES];
    causes->is_whole = causes->exact;
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

static void *begin_notes(struct fv_build *b)
{
    return join_of(b);
}

static void read_notes(struct fv_build *b, void *join, uint32_t rank)
{
    (void)b;
    each_call(join, rank, note);
}

const struct fv_track fv_track_notes = {
    .name = "wait log, noted",
    .of_all = true,
    .visit = FV_VISIT_NOTES,
    .types = { FV_CHUNK_COLLECTIVES },
    .begin = begin_notes,
    .read = read_notes,
};

/* ---- point to point ---- */

/* What a transfer of each size takes at best: the fastest call that moved as much or more. Over all sends and
 * receives together, because where every receive waits, only the sends show what a message costs. */
static void best_transfers(const struct fv_build *b, double best[FV_SIZE_BUCKETS])
{
    const struct fv_model *m = b->model;
    double floor = INFINITY;

    for (unsigned k = FV_SIZE_BUCKETS; k-- > 0;) {
        for (uint32_t f = 0; f < m->function_count; f++)
            if (m->functions[f].wait == FV_RULE_P2P && m->functions[f].class == FV_CLASS_P2P)
                floor = fmin(floor, b->best[f][k]);
        best[k] = floor;
    }
}

/* The fastest call of a size stands for a transfer. Where it takes longer than a fast network would, it may have waited
 * as all others did. In calls of unknown size nothing may have moved. */
static void note_long(struct fv_func *f, const struct fv_cell *cell, unsigned bucket, double best)
{
    if (!(best > LATENCY_S + (double)fv_size_bucket_low(bucket) / BYTES_A_SECOND))
        return;
    f->fastest_s = f->long_s > 0 ? fmin(f->fastest_s, best) : best;
    f->long_s += (double)cell->calls * best;
}

static void estimate_cell(struct fv_build *b, uint32_t rank, const struct fv_cell *cell, struct fv_site_rank *s,
                          struct fv_cell_wait *own, const double transfer[FV_SIZE_BUCKETS])
{
    const struct fv_model *m = b->model;
    uint32_t function = m->sites[s->site].function;
    unsigned bucket = cell->size_bucket < FV_SIZE_BUCKETS ? cell->size_bucket : FV_SIZE_BUCKETS - 1;

    if (m->functions[function].wait != FV_RULE_P2P || !cell->calls)
        return;
    double best = m->functions[function].class == FV_CLASS_P2P && bucket ? transfer[bucket] : b->best[function][bucket];
    double wait = fv_build_seconds(m, rank, cell->time_sum) - cell->calls * best;
    note_long(&b->model->functions[function], cell, bucket, best);
    if (wait > 0)
        s->wait_s += wait;
    if (wait > 0 && own)
        own->wait_s += wait;
    s->wait_kind = FV_WAIT_ESTIMATE;
}

static void p2p_waits(const struct fv_wait_join *j, uint32_t rank)
{
    struct fv_build *b = j->build;
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_CELLS);
    struct fv_cell cell;

    for (const void *p; (p = fv_cursor_next(&c));) {
        const struct fv_cell_place *place = fv_build_place(&b->files[rank], c.thread, c.index);

        if (!place)
            continue;
        memcpy(&cell, p, sizeof(cell));
        estimate_cell(b, rank, &cell, &b->model->site_ranks[place->site_rank],
                      fv_build_cell_wait(&b->files[rank], c.thread, c.index), j->transfer);
    }
}

/* ---- both ---- */

/* Where the program marks sections, a call site's waiting may belong to several of them. */
static void keep_by_cell(struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SECTION_SETS);

    if (!fv_cursor_next(&c))
        return;
    for (size_t i = 0; i < f->cell_maps; i++)
        f->cells[i].waits = fv_xcalloc(f->cells[i].count, sizeof(*f->cells[i].waits));
}

static void *begin_charges(struct fv_build *b)
{
    best_transfers(b, join_of(b)->transfer);
    return b->waits;
}

static void read_charges(struct fv_build *b, void *join, uint32_t rank)
{
    keep_by_cell(&b->files[rank]);
    each_call(join, rank, charge);
    p2p_waits(join, rank);
}

static void finish_charges(struct fv_build *b, void *join)
{
    struct fv_wait_join *j = join;
    struct fv_model *m = b->model;

    charge_scans(j);
    for (size_t i = 0; i < m->site_rank_count; i++) {
        finish_collective(m, &m->site_ranks[i], j->logged[i], j->guessed[i]);
        add_barriers(m, &m->site_ranks[i]);
    }
    tell_causes(j);
    fv_align_free(j->align);
    fv_noise_log_release(&j->noise);
    free(j->blocks);
    free(j->most);
    free(j->guessed);
    free(j->logged);
    free(j->scans);
    fv_index_release(&j->index);
    free(j);
    b->waits = NULL;
}

const struct fv_track fv_track_charges = {
    .name = "waiting",
    .of_all = true,
    .visit = FV_VISIT_CHARGES,
    .begin = begin_charges,
    .read = read_charges,
    .finish = finish_charges,
    .needs = { "iterations" },
};
