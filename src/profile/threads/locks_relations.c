/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads waited for: relations locks, thread_waiting. */
#include "base/options.h"
#include "profile/build.h"
#include "profile/relations.h"
#include "profile/threads/lock_words.h"
#include "profile/threads/locks.h"

#include <math.h>

FV_DATA_BASE(locks)

static const struct fv_locks *locks_of(const void *subject)
{
    return fv_model_locks(fv_tables_model(subject));
}

/* Numbers that take --threads=hold or --threads=owner, which `argument` says: null without. */
static bool of_mode(void *subject, const void *row, const struct fv_column_def *c)
{
    return locks_of(subject)->modes & (uint32_t)c->argument;
}
#define OF_MODE(S, m, mode) FV_FIELD(S, m), .flags = FV_NULLABLE, .known = of_mode, .argument = (mode)

/* ---- words ---- */

static const char *const kind_words[] = { FV_SYNC_KIND_WORDS, "?", NULL };
static const char *const operation_words[] = { FV_SYNC_OPERATION_WORDS, "?", NULL };

/* Of a uint8_t at offset `argument`. */
static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_sync_kind_name(*((const uint8_t *)row + c->argument));
}

static void get_operation(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_sync_operation_name(*((const uint8_t *)row + c->argument));
}

#define KIND_COLUMN(S, m)                                                                                     \
    {                                                                                                         \
        "kind", "kind", "", "What threads wait for. ?: the file is damaged.", FV_GET(FV_TYPE_TEXT, get_kind), \
            .argument = offsetof(S, m), .words = kind_words                                                   \
    }
#define OPERATION_COLUMN(S, m)                                                                        \
    {                                                                                                 \
        "operation", "operation", "",                                                                 \
            "The operation. For a read-write lock: lock, try and timed mean write operations.",       \
            FV_GET(FV_TYPE_TEXT, get_operation), .argument = offsetof(S, m), .words = operation_words \
    }

static void get_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_view_lock_name(t->profile, row, t->text, sizeof(t->text));
}

static const struct fv_column_def lock_outer[] = {
    FV_DATA_ID_COLUMN(locks, struct fv_locks, "lock_id", items, "Index in locks, from 0."),
    KIND_COLUMN(struct fv_lock_view, kind),
    { "name", "name", "", "Name as in locks.", FV_GET(FV_TYPE_TEXT, get_name) },
};

/* ---- call sites of a lock ---- */

/* What was done at a call path, in one of two roles. Reals that the role has not are NAN, counts NO_COUNT. */
#define NO_COUNT UINT64_MAX
struct site_row {
    uint64_t count, contended, failed;
    double wait_s, wait_max_s, hold_s, hold_max_s;
    uint32_t node;
    uint8_t operation;
    bool holds, whole;
};
_Static_assert(sizeof(struct site_row) <= sizeof(((struct fv_tables *)0)->inner), "a row that is made");

static void fill_waits(struct site_row *row, const struct fv_lock_numbers *n)
{
    row->count = n->acquired;
    row->contended = n->contended;
    row->failed = n->failed;
    row->wait_s = n->wait_s;
    row->wait_max_s = n->wait_max_s;
}

/* Waits of others, or what was signalled. */
static void fill_holds(struct site_row *row, const struct fv_lock_numbers *n, uint32_t modes)
{
    bool holds = modes & FV_THREADS_HOLD && !n->signals, owners = modes & FV_THREADS_OWNER && !n->signals;

    row->holds = true;
    row->count = n->signals ? n->signals : holds ? n->hold_count : n->acquired;
    row->contended = owners ? n->blocked : NO_COUNT;
    row->wait_s = owners ? n->blocked_s : NAN;
    row->hold_s = holds ? n->hold_s : NAN;
    row->hold_max_s = holds ? n->hold_max_s : NAN;
}

static size_t site_count(void *subject, const void *parent)
{
    return 2 * (size_t)((const struct fv_lock_view *)parent)->sites;
}

static const void *site_at(void *subject, const void *parent, size_t i)
{
    const struct fv_locks *l = locks_of(subject);
    const struct fv_lock_site *s = &l->sites[((const struct fv_lock_view *)parent)->first_site + i / 2];
    const struct fv_lock_numbers *n = &s->n;
    struct site_row *row = (void *)((struct fv_tables *)subject)->inner;

    *row = (struct site_row){ .contended = NO_COUNT,
                              .failed = NO_COUNT,
                              .wait_s = NAN,
                              .wait_max_s = NAN,
                              .hold_s = NAN,
                              .hold_max_s = NAN,
                              .node = s->node,
                              .operation = s->operation,
                              .whole = s->whole };
    if (i % 2 == 0) {
        fill_waits(row, n);
        return n->acquired || n->failed || n->wait_s > 0 ? row : NULL;
    }
    fill_holds(row, n, l->modes);
    return n->hold_count || n->held_at_end || n->blocked || n->signals ? row : NULL;
}

static void get_role(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = ((const struct site_row *)row)->holds ? "holds" : "waits";
}

static const char *const role_words[] = { "waits", "holds", NULL };
static const struct fv_column_def site_columns[] = {
    { "role", "role", "",
      "waits: operations that had to wait. holds: operations that made others wait, because they acquired the lock; "
      "for conditions and semaphores, because they signalled.",
      FV_GET(FV_TYPE_TEXT, get_role), .words = role_words },
    OPERATION_COLUMN(struct site_row, operation),
    FV_PATH_COLUMNS(struct site_row, node),
    { "whole_path", "whole", "",
      "True: the whole call path is known. Otherwise only the call itself: waits below 50 us have no call path.",
      FV_FIELD(struct site_row, whole) },
    { "count", "count", "",
      "Operations that succeeded. Over all rows with role waits they add up to the lock's count. Role holds: "
      "acquisitions or signals.",
      FV_FIELD(struct site_row, count) },
    { "contended_count", "contended", "",
      "Operations that had to wait. Role holds: waits of other threads that began during this hold; null without "
      "--threads=owner, and for signals.",
      FV_FIELD(struct site_row, contended), .flags = FV_UNLESS_NONE },
    { "failed_count", "failed", "", "Operations that failed. Null for role holds.", FV_FIELD(struct site_row, failed),
      .flags = FV_UNLESS_NONE },
    { "wait_s", "wait", "s", "Time spent waiting. Role holds: waiting of other threads; null as in contended_count.",
      FV_FIELD(struct site_row, wait_s), .flags = FV_NULLABLE },
    { "wait_max_s", "longest", "s", "Longest wait. Null for role holds.", FV_FIELD(struct site_row, wait_max_s),
      .flags = FV_NULLABLE },
    { "hold_s", "hold", "s",
      "Time that the lock was held after being acquired here. Null for role waits, for signals, and without "
      "--threads=hold.",
      FV_FIELD(struct site_row, hold_s), .flags = FV_NULLABLE },
    { "hold_max_s", "longest hold", "s",
      "Longest time that the lock was held after being acquired here. Null as in hold_s.",
      FV_FIELD(struct site_row, hold_max_s), .flags = FV_NULLABLE },
};
static const struct fv_relation lock_sites = {
    .name = "lock_sites",
    .key = "sites",
    .title = "Call sites of locks",
    .doc = "Where each lock is used: call paths that waited, and those that acquired or signalled (role). Sorted by "
           "their own waiting plus that of others, longest first.",
    FV_COLUMNS(site_columns),
    FV_OUTER(lock_outer),
    .count = site_count,
    .row = site_at,
};

/* ---- ranks and threads of a lock ---- */

struct part_row {
    uint64_t count, contended, last;
    double wait_s, hold_s;
    uint32_t rank, thread, threads;
};

static const struct fv_lock_part *parts_of(const void *subject, const struct fv_lock_view *k)
{
    return k->parts ? &locks_of(subject)->parts[k->first_part] : NULL;
}

static const void *sum_of_parts(struct fv_tables *t, const struct fv_lock_part *parts, size_t count)
{
    struct part_row *row = (void *)t->inner;

    *row = (struct part_row){ .rank = parts->rank, .thread = parts->thread, .threads = (uint32_t)count };
    for (size_t i = 0; i < count; i++) {
        row->count += parts[i].n.acquired;
        row->contended += parts[i].n.contended;
        row->last += parts[i].n.last;
        row->wait_s += parts[i].n.wait_s;
        row->hold_s += parts[i].n.hold_s;
    }
    return row;
}

static size_t rank_count(void *subject, const void *parent)
{
    return ((const struct fv_lock_view *)parent)->parts;
}

/* A rank's row is that of its first part. */
static const void *rank_at(void *subject, const void *parent, size_t i)
{
    const struct fv_lock_view *k = parent;
    const struct fv_lock_part *parts = parts_of(subject, k);
    size_t end = i + 1;

    if (i && parts[i - 1].rank == parts[i].rank)
        return NULL;
    while (end < k->parts && parts[end].rank == parts[i].rank)
        end++;
    return sum_of_parts(subject, parts + i, end - i);
}

/* Of others than barriers there may be many. */
static size_t thread_count(void *subject, const void *parent)
{
    const struct fv_lock_view *k = parent;

    return k->kind == FV_SYNC_BARRIER ? k->parts : 0;
}

static const void *thread_at(void *subject, const void *parent, size_t i)
{
    return sum_of_parts(subject, parts_of(subject, parent) + i, 1);
}

#define PART_COLUMNS                                                                                                  \
    { "count", "count", "", "Operations that succeeded.", FV_FIELD(struct part_row, count) },                         \
        { "contended_count", "contended", "", "Operations that had to wait.", FV_FIELD(struct part_row, contended) }, \
        { "last_count", "last", "", "Rounds of a barrier in which this rank or thread came last.",                    \
          FV_FIELD(struct part_row, last) },                                                                          \
        { "wait_s", "wait", "s", "Time spent waiting, over all threads.", FV_FIELD(struct part_row, wait_s) },        \
    {                                                                                                                 \
        "hold_s", "hold", "s", "Time that the lock was held. Null without --threads=hold.",                           \
            OF_MODE(struct part_row, hold_s, FV_THREADS_HOLD)                                                         \
    }
static const struct fv_column_def lock_rank_columns[] = {
    FV_RANK_COLUMN(struct part_row, rank, "rank", "rank", "A rank that used the lock."),
    { "thread_count", "threads", "", "Its threads that used the lock.", FV_FIELD(struct part_row, threads) },
    PART_COLUMNS,
};
static const struct fv_relation lock_ranks = {
    .name = "locks_by_rank",
    .key = "per_rank",
    .title = "Locks by rank",
    .doc = "Numbers of the lock on each rank that used it, by rank.",
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(lock_rank_columns),
    FV_OUTER(lock_outer),
    .count = rank_count,
    .row = rank_at,
};
static const struct fv_column_def lock_thread_columns[] = {
    FV_RANK_COLUMN(struct part_row, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "Number of the thread in its process; 0 is the first.", FV_FIELD(struct part_row, thread),
      .flags = FV_IS_THREAD },
    PART_COLUMNS,
};
static const struct fv_relation lock_threads = {
    .of_ranks = true,
    .name = "locks_by_thread",
    .key = "per_thread",
    .title = "Barriers by thread",
    .doc = "Numbers of each thread at barriers: which threads wait, and which come last. By rank and thread.",
    .shape = FV_ROWS,
    FV_COLUMNS(lock_thread_columns),
    FV_OUTER(lock_outer),
    .count = thread_count,
    .row = thread_at,
};

static const struct fv_relation lock_waits = {
    .name = "lock_waits",
    .key = "wait_durations",
    .title = "Waits for locks by length",
    .doc = "Durations of waits for each lock, in powers of two, shortest first. Empty buckets are left out.",
    .columns = fv_time_bucket_columns,
    .column_count = FV_TIME_BUCKET_COLUMNS,
    FV_OUTER(lock_outer),
    .count = fv_time_bucket_count,
    .row = fv_time_bucket_at,
};

/* ---- locks ---- */

enum { PLACE_SYMBOL, PLACE_MODULE, PLACE_OFFSET };
static void get_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *m = fv_tables_model(subject);
    const struct fv_lock_view *k = row;
    const struct fv_address *a = k->address == FV_NONE ? NULL : &m->addresses[k->address];

    v->null = !a;
    if (!a)
        return;
    switch (c->argument) {
    case PLACE_SYMBOL: v->text = a->name; break;
    case PLACE_MODULE: v->text = m->tree.modules[a->module].path; break;
    default: v->whole = a->offset; break;
    }
}

enum { WORST_RANK, WORST_ADDRESS, WORST_WAIT };
static void get_worst(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_lock_view *k = row;

    v->null = k->worst.rank == FV_NONE;
    if (v->null)
        return;
    switch (c->argument) {
    case WORST_RANK: v->number = fv_tables_model(subject)->ranks[k->worst.rank].world_rank; break;
    case WORST_ADDRESS: v->whole = k->worst.address; break;
    default: v->real = k->worst.wait_s; break;
    }
}

/* A static one by where it is, others by their kind and the call path that first used them. */
static void get_lock_key(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *m = fv_tables_model(subject);
    const struct fv_lock_view *k = row;
    const struct fv_address *a = k->address == FV_NONE ? NULL : &m->addresses[k->address];

    v->whole = fv_mix2(k->kind, a ? fv_key_frame(FV_KEY_ROOT, m->tree.modules[a->module].key, a->offset)
                                  : m->tree.nodes[k->node].key);
}

static void get_label(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_view_lock_label(t->profile, row, t->text, sizeof(t->text));
}

static void get_hold_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = fv_lock_hold_share(row);
}

static const struct fv_column_def lock_columns[] = {
    FV_DATA_ID_COLUMN(locks, struct fv_locks, "id", items, "Index in this list, from 0."),
    { "key", "key", "", "Identifies the lock in all reports of the same program, on any run.",
      FV_GET(FV_TYPE_HEX, get_lock_key) },
    KIND_COLUMN(struct fv_lock_view, kind),
    { "name", "name", "",
      "Variable of the lock (state+0x28: a member), or module+0xoffset. For locks on a heap or stack: the address, or "
      "their number and where they were first used. For joins: threads of f().",
      FV_GET(FV_TYPE_TEXT, get_name) },
    { "label", "what is waited for", "",
      "The same in a programmer's words. OpenMP's criticals and regions have their own names. A lock without a name is "
      "described by its first use.",
      FV_GET(FV_TYPE_TEXT, get_label), .flags = FV_FLAT },
    { "wait_s", "waited", "s", "Time spent waiting, over all threads. Failed operations are included.",
      FV_FIELD(struct fv_lock_view, n.wait_s) },
    FV_SHARE_COLUMN("wait_share", "of time", struct fv_lock_view, n.wait_s, FV_OF_THREAD_LIVES, FV_FLAT,
                    "wait_s as a share of the lifetimes of all threads."),
    { "idle_s", "idle", "s",
      "The part of wait_s in which workers waited for work: threads that the program created, waiting for a condition "
      "or semaphore that others signal.",
      FV_FIELD(struct fv_lock_view, idle_s), .flags = FV_BLANK },
    { "wait_max_s", "longest", "s", "The longest wait.", FV_FIELD(struct fv_lock_view, n.wait_max_s) },
    { "count", "acquired", "", "Operations that succeeded.", FV_FIELD(struct fv_lock_view, n.acquired) },
    { "contended_count", "contended", "",
      "Operations that had to wait. Barriers: threads that did not come last. Conditions and joins: all.",
      FV_FIELD(struct fv_lock_view, n.contended) },
    FV_QUOTIENT_COLUMN("contended_share", "contended", "share", struct fv_lock_view, n.contended, n.acquired, FV_FLAT,
                       "contended_count as a share of count."),
    { "failed_count", "failed", "", "Operations that failed: timed out, refused, or the lock was busy.",
      FV_FIELD(struct fv_lock_view, n.failed), .flags = FV_BLANK },
    { "signal_count", "signals", "", "Number of signals, broadcasts and posts.",
      FV_FIELD(struct fv_lock_view, n.signals) },
    { "last_count", "last", "", "Rounds of a barrier with a known last thread.",
      FV_FIELD(struct fv_lock_view, n.last) },
    { "hold_s", "held", "s",
      "Time from acquisition to release by the same thread, summed. Null without --threads=hold.",
      FV_FIELD(struct fv_lock_view, n.hold_s), .flags = FV_NULLABLE | FV_BLANK, .known = of_mode,
      .argument = FV_THREADS_HOLD },
    { "hold_share", "of elapsed", "share",
      "hold_s as a share of the ranks' time, counted once for each lock of this entry that exists at the same time. A "
      "lock held by several readers counts for each. Null without --threads=hold.",
      FV_GET(FV_TYPE_REAL, get_hold_share), .flags = FV_NULLABLE | FV_BLANK, .known = of_mode,
      .argument = FV_THREADS_HOLD },
    { "hold_max_s", "longest hold", "s", "Longest time that it was held. Null without --threads=hold.",
      OF_MODE(struct fv_lock_view, n.hold_max_s, FV_THREADS_HOLD) },
    { "held_at_end_count", "held at end", "", "How often it was held when its thread ended.",
      FV_FIELD(struct fv_lock_view, n.held_at_end) },
    { "owner_change_count", "owner changes", "",
      "Acquisitions after another thread had it. Null without --threads=owner.",
      OF_MODE(struct fv_lock_view, n.owner_changes, FV_THREADS_OWNER) },
    { "worst.rank", "worst rank", "", "Rank of the lock with most waiting, among the locks of this entry. Null: none.",
      FV_GET(FV_TYPE_NUMBER, get_worst), .flags = FV_NULLABLE, .argument = WORST_RANK },
    { "worst.address", "worst address", "", "Address of that lock; if several had it one after the other, of the last.",
      FV_GET(FV_TYPE_HEX, get_worst), .flags = FV_NULLABLE, .argument = WORST_ADDRESS },
    { "worst.wait_s", "worst wait", "s", "Time spent waiting for that lock.", FV_GET(FV_TYPE_REAL, get_worst),
      .flags = FV_NULLABLE, .argument = WORST_WAIT },
    { "object_count", "objects", "", "Number of locks in this entry.", FV_FIELD(struct fv_lock_view, objects) },
    { "inside_mpi", "in MPI", "", "True: only MPI's own libraries use it.", FV_FIELD(struct fv_lock_view, inside_mpi) },
    { "rest", "rest", "",
      "True: the entry is the rest of its kind, about which nothing else is known: a table was full, or the file is "
      "damaged.",
      FV_FIELD(struct fv_lock_view, rest) },
    { "process_shared", "shared", "", "True: other processes use it too. fvmpi does not see them.",
      FV_FIELD(struct fv_lock_view, shared) },
    { "party_count", "parties", "", "Number of threads that a barrier waits for. Null: not known, or it differs.",
      FV_FIELD(struct fv_lock_view, parties), .flags = FV_UNLESS_0 },
    { "rank_count", "ranks", "", "Number of ranks that used it.", FV_FIELD(struct fv_lock_view, ranks) },
    { "thread_count", "threads", "",
      "Number of threads that used it. A thread that reuses the place of an ended one counts as the same.",
      FV_FIELD(struct fv_lock_view, threads) },
    { "symbol", "symbol", "", "The variable; for joins, the function. Null: not known.",
      FV_GET(FV_TYPE_TEXT, get_place), .flags = FV_NULLABLE, .argument = PLACE_SYMBOL },
    { "module", "module", "", "Executable or library that contains it. Null: none.", FV_GET(FV_TYPE_TEXT, get_place),
      .flags = FV_NULLABLE, .argument = PLACE_MODULE },
    { "offset", "offset", "", "Offset in the module. Null: none.", FV_GET(FV_TYPE_WHOLE, get_place),
      .flags = FV_NULLABLE, .argument = PLACE_OFFSET },
    FV_PATH_COLUMNS(struct fv_lock_view, node),
    { "wait_durations", "waits", "", "", FV_NEST_IN(lock_waits, struct fv_lock_view, histogram) },
    { "sites", "sites", "", "", FV_NEST(lock_sites) },
    { "per_rank", "by rank", "", "", FV_NEST(lock_ranks) },
    { "per_thread", "by thread", "", "", FV_NEST(lock_threads) },
};
static const struct fv_relation locks_relation = {
    .recorded_by = "fvmpi run --threads",
    .name = "locks",
    .key = "locks",
    .title = "Locks",
    .doc = "Locks and other synchronization of POSIX threads and OpenMP that threads waited for (fvmpi run --threads). "
           "Longest waiting time first; those inside MPI come last. Spin locks on atomic operations are not seen. "
           "Static locks of different ranks are merged by build-id and offset. Locks on a heap or stack are merged by "
           "kind and by the call path of their first use. Joins are merged by the threads' first function. The call "
           "path is that of a first use; for a static lock, only its innermost frame.",
    .shown = "label kind/6 count/5 contended_share/4 failed_count/1 wait_s wait_share idle_s/2 wait_max_s/3 hold_s/4 "
             "hold_share/4 "
             "thread_count/2",
    .share = "wait_share",
    FV_COLUMNS(lock_columns),
    .base = locks_base,
    FV_ITEMS(struct fv_locks, items, count),
};

/* ---- threads ---- */

static size_t kind_count(void *subject, const void *parent)
{
    return FV_SYNC_KINDS;
}

static const void *kind_at(void *subject, const void *parent, size_t i)
{
    const double *kind_s = &((const struct fv_locks *)parent)->kind_s[i];

    return i && *kind_s > 0 ? kind_s : NULL;
}

static void get_waited_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_sync_kind_name((unsigned)((const double *)row - locks_of(subject)->kind_s));
}

static const struct fv_column_def wait_kind_columns[] = {
    { "kind", "kind", "", "What threads wait for. ?: the file is damaged.", FV_GET(FV_TYPE_TEXT, get_waited_kind),
      .words = kind_words },
    { "wait_s", "wait", "s", "Time spent waiting, over all threads.", .stored = FV_F64, .type = FV_TYPE_REAL },
};
static const struct fv_relation wait_kinds = {
    .name = "thread_wait_kinds",
    .key = "sync_kinds",
    .title = "What threads wait for",
    .doc = "wait_s of thread_waiting by kind.",
    FV_COLUMNS(wait_kind_columns),
    .count = kind_count,
    .row = kind_at,
};

static size_t waiting_rank_count(void *subject, const void *parent)
{
    return fv_tables_model(subject)->rank_count;
}

static const void *waiting_rank_at(void *subject, const void *parent, size_t i)
{
    const struct fv_lock_rank *r = &((const struct fv_locks *)parent)->ranks[i];

    return r->recorded ? r : NULL;
}

static void get_waiting_rank(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *m = fv_tables_model(subject);

    v->number = m->ranks[(const struct fv_lock_rank *)row - fv_model_locks(m)->ranks].world_rank;
}

#define THREAD_TIME_COLUMNS(S)                                                                                        \
    { "thread_s", "threads", "s", "Lifetimes of the program's threads, summed. Threads created by MPI are left out.", \
      FV_FIELD(S, thread_s) },                                                                                        \
        { "wait_s", "wait", "s",                                                                                      \
          "Time that all threads waited for each other, including MPI's own threads and waiting in MPI calls.",       \
          FV_FIELD(S, wait_s) },                                                                                      \
        { "own_wait_s", "own wait", "s", "The part of wait_s of the program's threads outside of MPI.",               \
          FV_FIELD(S, own_wait_s) },                                                                                  \
        { "idle_s", "idle", "s", "The part of own_wait_s in which workers waited for work; see idle_s of locks.",     \
          FV_FIELD(S, idle_s) },                                                                                      \
        { "main_wait_s", "main", "s", "The part of own_wait_s of main threads, outside of MPI calls.",                \
          FV_FIELD(S, main_s) },                                                                                      \
    {                                                                                                                 \
        "in_mpi_s", "in MPI", "s", "The part of wait_s within MPI calls, which is also MPI time.",                    \
            FV_FIELD(S, in_mpi_s)                                                                                     \
    }
static const struct fv_column_def waiting_rank_columns[] = {
    { "rank", "rank", "", "The rank.", FV_GET(FV_TYPE_NUMBER, get_waiting_rank), .flags = FV_IS_RANK },
    THREAD_TIME_COLUMNS(struct fv_lock_rank),
};
static const struct fv_relation waiting_ranks = {
    .name = "thread_waiting_by_rank",
    .key = "per_rank",
    .title = "Waiting of threads by rank",
    .doc = "Time that the threads of each rank waited for each other, by rank.",
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(waiting_rank_columns),
    .count = waiting_rank_count,
    .row = waiting_rank_at,
};

static void get_now_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t lock = ((const struct fv_lock_wait *)row)->lock;

    if (lock == FV_NONE)
        v->null = true;
    else
        get_name(subject, &locks_of(subject)->items[lock], c, v);
}

static const struct fv_column_def now_columns[] = {
    FV_RANK_COLUMN(struct fv_lock_wait, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "Number of the thread in its process; 0 is the first.",
      FV_FIELD(struct fv_lock_wait, thread), .flags = FV_IS_THREAD },
    { "tid", "tid", "id", "The kernel's thread id.", FV_FIELD(struct fv_lock_wait, tid) },
    KIND_COLUMN(struct fv_lock_wait, kind),
    OPERATION_COLUMN(struct fv_lock_wait, operation),
    { "lock_id", "lock", "id", "The lock, an index in locks. Null: not known.", FV_FIELD(struct fv_lock_wait, lock),
      .flags = FV_UNLESS_NONE },
    { "name", "name", "", "Name of the lock. Null: not known.", FV_GET(FV_TYPE_TEXT, get_now_name),
      .flags = FV_NULLABLE },
    FV_PATH_COLUMNS(struct fv_lock_wait, node),
    { "since_s", "since", "s", "When the wait began.", FV_FIELD(struct fv_lock_wait, begin_s) },
    { "for_s", "duration", "s", "Duration of the wait so far. Null: the rank was killed, so it is not known.",
      FV_FIELD(struct fv_lock_wait, seconds), .flags = FV_NULLABLE },
};
static const struct fv_relation now = {
    .of_ranks = true,
    .name = "threads_waiting_now",
    .key = "now",
    .title = "Threads that wait",
    .doc = "Threads that waited when their rank was last seen, for ranks that still run or were killed, by rank. No "
           "sum includes these waits.",
    FV_COLUMNS(now_columns),
    FV_ITEMS(struct fv_locks, now, now_count),
};

static void get_mode(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = ((const struct fv_locks *)row)->modes & (uint32_t)c->argument;
}

static const struct fv_column_def thread_waiting_columns[] = {
    THREAD_TIME_COLUMNS(struct fv_locks),
    { "holds_recorded", "holds", "", "True: --threads=hold was set.", FV_GET(FV_TYPE_TRUTH, get_mode),
      .argument = FV_THREADS_HOLD },
    { "owners_recorded", "owners", "", "True: --threads=owner was set.", FV_GET(FV_TYPE_TRUTH, get_mode),
      .argument = FV_THREADS_OWNER },
    { "lost.in_signal_handlers", "in handlers", "", "Operations in signal handlers that could not be counted.",
      FV_FIELD(struct fv_locks, lost.missed) },
    { "lost.without_record", "without record", "",
      "Operations counted only in a rest entry of locks, because there was no room.",
      FV_FIELD(struct fv_locks, lost.overflow) },
    { "lost.holds", "holds", "", "Holds of a lock that were not measured.", FV_FIELD(struct fv_locks, lost.holds) },
    { "lost.thread_lives", "lost threads", "", "Threads missing in thread_s and phases.",
      FV_FIELD(struct fv_locks, lost.lives) },
    { "sync_kinds", "kinds", "", "", FV_NEST(wait_kinds) },
    { "per_rank", "by rank", "", "", FV_NEST(waiting_ranks) },
    { "now", "now", "", "", FV_NEST(now) },
};

static const void *the_locks(void *subject, const void *parent)
{
    const struct fv_locks *l = locks_of(subject);

    return l->recorded ? l : NULL;
}

static const struct fv_relation thread_waiting_relation = {
    .recorded_by = "fvmpi run --threads",
    .name = "thread_waiting",
    .key = "thread_waiting",
    .title = "Waiting of threads",
    .doc = "Time that threads waited for each other, over all ranks. Null without --threads.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(thread_waiting_columns),
    .base = the_locks,
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_locks;

static void fold_locks(struct fv_model *m, struct fv_alikes *alikes)
{
    struct fv_locks *locks = fv_model_locks(m);

    for (size_t i = 0; i < locks->site_count; i++)
        locks->sites[i].node = fv_alike(alikes, locks->sites[i].node);
    fv_locks_fold(locks);
}

const struct fv_subject fv_locks_subject = {
    .group = "Threads and locks",
    .bytes = sizeof(struct fv_locks),
    .tracks = { &fv_track_locks },
    .relations = { &locks_relation, &thread_waiting_relation },
    .fold = fold_locks,
    .release = fv_locks_release,
};
