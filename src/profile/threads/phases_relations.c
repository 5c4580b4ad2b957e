/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel phases of threads: relation phases. */
#include "profile/build.h"
#include "profile/relations.h"
#include "profile/threads/lock_words.h"
#include "profile/threads/phases.h"

FV_DATA_BASE(phases)

/* Columns of a phase and of a rank's part of it are alike: both have `sums`, but only the phase its kind. A
 * getter's `argument` says which it is given. */
#define OF_PART 1
static bool is_omp(void *subject, const void *row, const struct fv_column_def *c)
{
    const struct fv_phase *p =
        c->argument ? &fv_model_phases(fv_tables_model(subject))->items[((const struct fv_phase_part *)row)->phase]
                    : row;

    return p->kind == FV_PHASE_OMP;
}

/* A member of struct fv_phase_bound, at offset `argument`, of the sums. */
static void get_bound(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_phase_bound bound = fv_phase_bound((const void *)((const char *)row + c->offset));

    v->real = *(const double *)(const void *)((const char *)&bound + c->argument);
}

#define SUM(k, t, u, d, S, m)           \
    {                                   \
        k, t, u, d, FV_FIELD(S, sums.m) \
    }
#define SUM_KNOWN(k, t, u, d, S, m)                           \
    {                                                         \
        k, t, u, d, FV_FIELD(S, sums.m), .flags = FV_NULLABLE \
    }
#define SUM_OMP(k, t, u, d, S, m, part)                                                            \
    {                                                                                              \
        k, t, u, d, FV_FIELD(S, sums.m), .flags = FV_NULLABLE, .known = is_omp, .argument = (part) \
    }
#define BOUND(k, t, u, d, S, m, f)                                                                            \
    {                                                                                                         \
        k, t, u, d, FV_GET(FV_TYPE_REAL, get_bound), .flags = FV_NULLABLE | (f), .offset = offsetof(S, sums), \
                                                     .argument = offsetof(struct fv_phase_bound, m)           \
    }
#define SUM_COLUMNS(S, part)                                                                                           \
    SUM("instance_count", "times", "", "Instances of the phase; for OpenMP, parallel regions.", S, instances),         \
        BOUND("team.mean", "N", "", "N: mean number of threads of an instance, weighted by longest_s.", S, threads,    \
              0),                                                                                                      \
        SUM("team.min", "min", "", "Smallest number of threads of an instance.", S, threads_min),                      \
        SUM("team.max", "max", "", "Largest number of threads of an instance.", S, threads_max),                       \
        SUM("elapsed_s", "elapsed", "s",                                                                               \
            "Time from the first creation to the last join. OpenMP: from fork to the end of the region.", S,           \
            elapsed_s),                                                                                                \
        SUM("longest_s", "longest", "s",                                                                               \
            "Longest time of a thread, max t. OpenMP: until the last thread reached the end of the region.", S,        \
            longest_s),                                                                                                \
        SUM("longest_waitless_s", "without waits", "s", "Longest time of a thread without waits, max (t - w).", S,     \
            useful_longest_s),                                                                                         \
        SUM("thread_s", "threads", "s",                                                                                \
            "Sum of the threads' times, sum t. OpenMP: including the wait for the last thread at the end of the "      \
            "region.",                                                                                                 \
            S, time_s),                                                                                                \
        SUM("wait_s", "wait", "s",                                                                                     \
            "Sum of the threads' waits for each other, sum w. OpenMP: including the wait at the end of the region.",   \
            S, wait_s),                                                                                                \
        SUM_KNOWN("cpu_s", "CPU", "s", "CPU time of the threads. Null: not all threads ended, or OpenMP.", S, cpu_s),  \
        SUM_KNOWN("off_cpu_s", "off CPU", "s",                                                                         \
                  "Lower bound of the part of thread_s - wait_s without a processor: run queue, I/O, sleep. Null as "  \
                  "in cpu_s.",                                                                                         \
                  S, off_cpu_s),                                                                                       \
        SUM_KNOWN("creator_s", "creator", "s",                                                                         \
                  "The part of elapsed_s that the creating thread spends outside of joining these threads. Null: it "  \
                  "did not join them all, or OpenMP.",                                                                 \
                  S, creator_s),                                                                                       \
        { "cpu_count",                                                                                                 \
          "CPUs",                                                                                                      \
          "",                                                                                                          \
          "P: processors that a rank may use, the smallest value of these ranks. Null: not known.",                    \
          FV_FIELD(S, sums.cpus),                                                                                      \
          .flags = FV_UNLESS_0 },                                                                                      \
        { "queue_s",                                                                                                   \
          "queue",                                                                                                     \
          "s",                                                                                                         \
          "The part of thread_s - wait_s that counts as waiting for a processor, if there are fewer processors than "  \
          "threads. Otherwise 0.",                                                                                     \
          FV_FIELD(S, sums.queue_s),                                                                                   \
          .flags = FV_ESTIMATE },                                                                                      \
        SUM_OMP("join_s", "join", "s",                                                                                 \
                "The part of wait_s spent waiting for the last thread at the end of regions. Null: not OpenMP.", S,    \
                join_s, part),                                                                                         \
        SUM_OMP("fork_s", "fork", "s",                                                                                 \
                "Time from fork until each thread began; not part of any sum. Null: not OpenMP.", S, fork_s, part),    \
        SUM_OMP("lost_thread_count", "lost", "",                                                                       \
                "Threads beyond 256 of a team, which no sum includes. Null: not OpenMP.", S, lost_threads, part),      \
        SUM_OMP("untimed_task_count", "untimed tasks", "", "Tasks whose time may be part of waits. Null: not OpenMP.", \
                S, untimed_tasks, part),                                                                               \
        BOUND("speedup.without_waiting", "no waits", "ratio",                                                          \
              "Upper bound of the gain if no thread waited: longest_s / longest_waitless_s. Null, as the following: "  \
              "the phase took no time.",                                                                               \
              S, without_waiting, FV_ESTIMATE),                                                                        \
        BOUND("speedup.bound", "speedup", "ratio",                                                                     \
              "Upper bound of the speedup over one thread: (thread_s - wait_s - queue_s) / longest_s. "                \
              "fvmpi-stacks(1) explains it.",                                                                          \
              S, bound, FV_ESTIMATE),                                                                                  \
        BOUND("speedup.bound_waitless", "waitless", "ratio",                                                           \
              "The same bound if no thread waited: (thread_s - wait_s - queue_s) / longest_waitless_s.", S,            \
              bound_waitless, FV_ESTIMATE),                                                                            \
        BOUND("speedup.lost_to_waiting", "sync", "ratio",                                                              \
              "Speedup lost by waiting: bound_waitless - bound. The two following losses and bound add up to N with "  \
              "it.",                                                                                                   \
              S, synchronisation, FV_ESTIMATE),                                                                        \
        BOUND("speedup.lost_to_imbalance", "imbalance", "ratio",                                                       \
              "Speedup lost by unequal threads: N - (thread_s - wait_s) / longest_waitless_s.", S, imbalance,          \
              FV_ESTIMATE),                                                                                            \
        BOUND("speedup.lost_to_few_cpus", "few CPUs", "ratio",                                                         \
              "Speedup lost by fewer processors than threads: the rest of N, or 0.", S, few_cpus, FV_ESTIMATE)

/* ---- by rank ---- */

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_phase_kind_name(((const struct fv_phase *)row)->kind);
}

static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_view_routine(t->profile, ((const struct fv_phase *)row)->routine, t->text, sizeof(t->text));
}

static const char *const kind_words[] = { FV_PHASE_KINDS(FV_LIST_WORD) NULL };
#define KIND                                                                                 \
    {                                                                                        \
        "kind", "kind", "", "Threads that the program created, or OpenMP parallel regions.", \
            FV_GET(FV_TYPE_TEXT, get_kind), .words = kind_words                              \
    }
#define FUNCTION                                                                                         \
    {                                                                                                    \
        "function", "function", "",                                                                      \
            "First function of the threads; for a region, the function that the compiler made from it.", \
            FV_GET(FV_TYPE_TEXT, get_function)                                                           \
    }
static const struct fv_column_def part_columns[] = {
    FV_RANK_COLUMN(struct fv_phase_part, rank, "rank", "rank", "A rank that had the phase."),
    SUM_COLUMNS(struct fv_phase_part, OF_PART),
};
static const struct fv_column_def phase_outer[] = {
    FV_DATA_ID_COLUMN(phases, struct fv_phases, "phase_id", items, "Index in phases, from 0."),
    KIND,
    FUNCTION,
};
static const struct fv_relation parts = {
    .name = "phases_by_rank",
    .key = "per_rank",
    .title = "Phases by rank",
    .doc = "Numbers of the phase on each rank that had it, by rank.",
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(part_columns),
    FV_OUTER(phase_outer),
    .base = phases_base,
    FV_SLICE(struct fv_phases, parts, struct fv_phase, first, ranks),
};

/* ---- all ---- */

static void get_label(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_view_phase_label(t->profile, row, true, t->text, sizeof(t->text));
}

static bool has_busiest(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_phase *)row)->busiest.useful_s > 0;
}

static void get_busiest_rank(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_busiest *b = &((const struct fv_phase *)row)->busiest;

    v->null = !(b->useful_s > 0);
    v->number = v->null ? 0 : fv_tables_model(subject)->ranks[b->rank].world_rank;
}

static const struct fv_column_def phase_columns[] = {
    FV_DATA_ID_COLUMN(phases, struct fv_phases, "id", items, "Index in this list, from 0."),
    KIND,
    FUNCTION,
    { "rank_count", "ranks", "", "Number of ranks that had the phase.", FV_FIELD(struct fv_phase, ranks) },
    SUM_COLUMNS(struct fv_phase, 0),
    { "label", "threads of", "", "The phase in words.", FV_GET(FV_TYPE_TEXT, get_label), .flags = FV_FLAT },
    FV_QUOTIENT_COLUMN("rank_elapsed_s", "elapsed", "s", struct fv_phase, sums.elapsed_s, ranks, FV_FLAT,
                       "Mean elapsed_s of a rank."),
    FV_SHARE_COLUMN("time_share", "of all", struct fv_phase, sums.time_s, FV_OF_THREAD_LIVES, FV_FLAT,
                    "thread_s as a share of the time of all threads."),
    FV_QUOTIENT_COLUMN("wait_share", "waiting", "share", struct fv_phase, sums.wait_s, sums.time_s, FV_FLAT,
                       "wait_s as a share of thread_s."),
    FV_QUOTIENT_COLUMN("off_cpu_share", "off CPU", "share", struct fv_phase, sums.off_cpu_s, sums.time_s,
                       FV_FLAT | FV_BLANK, "off_cpu_s as a share of thread_s."),
    { "busiest.rank", "busiest rank", "",
      "Rank of the OpenMP thread that computes longest over all regions. Null: not OpenMP.",
      FV_GET(FV_TYPE_NUMBER, get_busiest_rank), .flags = FV_NULLABLE },
    { "busiest.thread", "thread", "", "Number of that thread in its team.", FV_FIELD(struct fv_phase, busiest.number),
      .flags = FV_NULLABLE, .known = has_busiest },
    { "busiest.useful_s", "works", "s", "Computing time of that thread, without waits.",
      FV_FIELD(struct fv_phase, busiest.useful_s), .flags = FV_NULLABLE, .known = has_busiest },
    { "open", "open", "", "True: some threads or a region had not ended. Such a region is not in the numbers.",
      FV_FIELD(struct fv_phase, open) },
    FV_PATH_COLUMNS(struct fv_phase, node),
    { "per_rank", "by rank", "", "", FV_NEST(parts) },
};
static const struct fv_relation phases_relation = {
    .recorded_by = "fvmpi run --threads",
    .name = "phases",
    .key = "phases",
    .title = "Phases",
    .doc = "Parallel phases of threads (fvmpi run --threads), longest total thread time first. An instance: threads "
           "that one thread created with the same first function, and whose lifetimes overlap. A phase: instances "
           "whose first thread was created at the same call path, which is shown. OpenMP regions form a phase if they "
           "were forked at one call path with one function. An empty path collects those for which there was no room. "
           "Sums are over instances; t is a thread's time and w its waits.",
    .shown = "label team_mean instance_count/2 rank_elapsed_s/3 wait_share off_cpu_share/4 "
             "speedup_without_waiting "
             "speedup_bound/5 speedup_lost_to_waiting/5 speedup_lost_to_imbalance/1",
    .share = "time_share",
    FV_COLUMNS(phase_columns),
    .base = phases_base,
    FV_ITEMS(struct fv_phases, items, count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_phases;

static void fold_phases(struct fv_model *m, struct fv_alikes *alikes)
{
    struct fv_phases *phases = fv_model_phases(m);

    for (size_t i = 0; i < phases->count; i++)
        phases->items[i].node = fv_alike(alikes, phases->items[i].node);
    fv_phases_fold(phases);
}

const struct fv_subject fv_phases_subject = {
    .group = "Threads and locks",
    .bytes = sizeof(struct fv_phases),
    .tracks = { &fv_track_phases },
    .relations = { &phases_relation },
    .fold = fold_phases,
    .complete = fv_build_hybrid,
    .release = fv_phases_release,
};
