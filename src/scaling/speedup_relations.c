/* SPDX-License-Identifier: BSD-3-Clause */
/* See speedup_relations.h. */
#include "scaling/speedup_relations.h"
#include "profile/relations.h"

#include <math.h>

static const void *the_speedup(void *subject, const void *parent)
{
    return ((const struct fv_speedup_tables *)subject)->speedup;
}

/* ---- points ---- */

static void get_reject(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_speedup_rejects[((const struct fv_speedup_point *)row)->reject];
}

/* Of what is rejected nothing is told but what was measured. */
static bool is_good(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_speedup_point *)row)->reject == FV_SPEEDUP_GOOD;
}

static void get_separation(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_alone_verdicts[((const struct fv_speedup_point *)row)->alone.verdict];
}

#define SEPARATION                                                                                                     \
    "Whether runs with one thread at a time separate cache from memory. good. not_run: there are no such runs. "       \
    "not_measured: not for this phase. Not separable: waits: for a parked thread, by a lock or condition. "            \
    "no_progress: for something that fvmpi does not see, or it sleeps. no_barrier: it spins, or never ends. "          \
    "barriers: of some threads only. creator: the creating thread works too. nested: nested phases. too_many, late, "  \
    "left. cut: it took too long. Dropped: pirate_lost: the process that held the rest of the cache lost more than 3 " \
    "% of it, or the thread that ran alone moved to another last-level cache. unprobed: that is not known. off_cpu: "  \
    "more than " FV_OFF_CPU_WORDS                                                                                      \
    " of the time. varies: the two shortest runs differ by more than " FV_ALONE_SPREAD_WORDS                           \
    ". no_part: there are only runs "                                                                                  \
    "with all of the cache. asymmetric: threads have unequal work, and not all had turns. does_more: a thread takes "  \
    "longer alone than together, because it does more. shared_data: it takes longer alone with its part of the cache " \
    "than together. too_large: a speedup above 1.05 N. rejected: the speedups themselves are."

#define TIME(k, t, member, d)                                                               \
    {                                                                                       \
        k, t, "s", d, FV_FIELD(struct fv_speedup_point, times.member), .flags = FV_NULLABLE \
    }
#define COMPONENT(k, t, member, d)                                                                          \
    {                                                                                                       \
        k, t, "ratio", d, FV_FIELD(struct fv_speedup_point, member), .flags = FV_NULLABLE, .known = is_good \
    }
#define ALONE(k, t, member, d)                                                                  \
    {                                                                                           \
        k, t, "ratio", d, FV_FIELD(struct fv_speedup_point, alone.member), .flags = FV_NULLABLE \
    }
static const struct fv_column_def point_columns[] = {
    { "thread_count", "threads", "",
      "N: threads of a rank, the most at a time. The whole program: threads of its largest phase.",
      FV_FIELD(struct fv_speedup_point, threads) },
    { "run_count", "runs", "",
      "Runs with this number of threads. Values are those of the shortest run; for a phase, the run with the shortest "
      "longest_s.",
      FV_FIELD(struct fv_speedup_point, runs) },
    TIME("elapsed_s", "elapsed", elapsed_s, "Mean elapsed time of a rank. The whole program: the longest, T."),
    { "elapsed_min_s", "min", "s", "Value of the shortest run; for a phase, of longest_s.",
      FV_FIELD(struct fv_speedup_point, least_s) },
    { "elapsed_max_s", "max", "s", "Value of the longest run; for a phase, of longest_s.",
      FV_FIELD(struct fv_speedup_point, most_s) },
    TIME("longest_s", "longest thread", longest_s,
         "max t: time of the thread that takes longest, over all instances of a rank. The whole program: over all "
         "phases."),
    TIME("longest_waitless_s", "without waits", waitless_s, "max (t - w): the same without waits for other threads."),
    TIME("useful_s", "useful", useful_s, "sum (t - w): time of all threads of a rank without waits."),
    TIME("queue_s", "queue", queue_s,
         "The part of useful_s that counts as waiting for a processor, if there are fewer processors than threads."),
    TIME("off_cpu_s", "off CPU", off_cpu_s,
         "The part of useful_s without a processor. OpenMP: from the share of the run in which threads were runnable "
         "without one. Null: not known."),
    { "serial_s", "serial", "s",
      "The whole program: elapsed_s minus that of its phases. A phase: 0. Null: phases overlap.",
      FV_FIELD(struct fv_speedup_point, serial_s), .flags = FV_NULLABLE },
    { "speedup", "speedup", "ratio", "T1 / max t; for the whole program T1 / T. Null: there is no run with one thread.",
      FV_FIELD(struct fv_speedup_point, stack.measured), .flags = FV_NULLABLE },
    COMPONENT("speedup_waitless", "no waits", stack.waitless,
              "T1 / max (t - w): the speedup if no thread waited for another. The whole program: of its phases, also "
              "in the two that follow. Null, as all below: rejected, see `verdict`."),
    COMPONENT("speedup_balanced", "balanced", stack.balanced,
              "T1 N / sum (t - w): the speedup if, in addition, all threads had equal work."),
    COMPONENT("speedup_placed", "placed", stack.placed,
              "T1 N / (sum (t - w) - queue_s): the speedup if, in addition, each thread had a processor."),
    COMPONENT("lost_to_serial", "serial", serial,
              "Speedup lost by time outside of phases (Amdahl): speedup of the phases minus that of the program. A "
              "phase: 0. With the four losses that follow and `speedup`, it adds up to N."),
    COMPONENT("lost_to_waiting", "sync", stack.synchronisation,
              "Speedup lost by waiting for locks, barriers and conditions."),
    COMPONENT("lost_to_imbalance", "imbalance", stack.imbalance, "Speedup lost by unequal threads."),
    COMPONENT("lost_to_few_cpus", "few CPUs", stack.few_cpus, "Speedup lost by fewer processors than threads."),
    COMPONENT("lost_to_work", "slower work", stack.work,
              "Speedup lost because the same work takes longer: N - speedup_placed. Causes: shared caches and memory, "
              "clocks, extra work of threads. Below 0: more cache helps."),
    ALONE("speedup_alone", "alone", alone,
          "T1 / t of one thread that runs alone with all of the shared cache (fvmpi run --stacks --solo). Null, as all "
          "below: not known, see `separation`."),
    ALONE("speedup_pirate", "pirate", pirate, "T1 / t of one thread that runs alone with 1/N of the shared cache."),
    ALONE("lost_to_overhead", "overhead", overhead,
          "The part of lost_to_work that a thread needs even alone: N - speedup_alone."),
    ALONE("lost_to_cache", "cache", cache,
          "The part of lost_to_work by sharing the cache: speedup_alone - speedup_pirate."),
    ALONE("lost_to_memory", "memory", memory,
          "The part of lost_to_work by sharing memory and everything else: speedup_pirate - speedup_placed."),
    ALONE("lost_to_sharing", "cache, memory", shared,
          "The part of lost_to_work by cache and memory together: speedup_alone - speedup_placed."),
    { "separation", "separation", "", SEPARATION, FV_GET(FV_TYPE_TEXT, get_separation), .words = fv_alone_verdicts },
    { "verdict", "verdict", "",
      "good. no_t1: no run with one thread has it. t1_varies: the two shortest of these runs differ by more than 5 %. "
      "off_cpu: threads were off the processor for more than " FV_OFF_CPU_WORDS
      " of their time without waiting for each other. "
      "too_large: a speedup above 1.05 N, so the work is not the same.",
      FV_GET(FV_TYPE_TEXT, get_reject), .words = fv_speedup_rejects },
};
static const struct fv_column_def outer[] = {
    { "name", "phase", "", "The phase, as in `phases.label` of fvmpi report. Null: the whole program.",
      FV_FIELD(struct fv_speedup_phase, name), .flags = FV_NULLABLE },
};
const struct fv_relation fv_speedup_points = {
    .name = "stacks",
    .key = "points",
    .title = "Stacks",
    .group = "Phases",
    .doc = "Speedups by number of threads, smallest first.",
    .shown = "name thread_count run_count/9 elapsed_s/2 longest_s/6 speedup lost_to_serial/1 lost_to_waiting "
             "lost_to_imbalance lost_to_few_cpus/3 lost_to_work verdict/4",
    FV_COLUMNS(point_columns),
    FV_OUTER(outer),
    FV_ITEMS(struct fv_speedup_phase, points, count),
};

/* ---- curves ---- */

static void get_alone_verdict(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_alone_verdicts[((const struct fv_alone_point *)row)->verdict];
}

static void get_how(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_alone_hows[((const struct fv_alone_point *)row)->how];
}

static bool is_measured(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_alone_point *)row)->left_bytes;
}

static const struct fv_column_def curve_columns[] = {
    { "thread_count", "threads", "", "N: threads, of which one at a time ran alone.",
      FV_FIELD(struct fv_alone_point, threads) },
    { "run_count", "runs", "",
      "Number of such runs. Values are those of the shortest run that is good by its own numbers.",
      FV_FIELD(struct fv_alone_point, runs) },
    { "method", "method", "",
      "How the rest of the shared cache was used. whole: the thread had all of it. pirate: a process reads it all the "
      "time. resctrl: the kernel's cache allocation.",
      FV_GET(FV_TYPE_TEXT, get_how), .words = fv_alone_hows },
    { "cache_share", "part", "ratio", "Share of the shared cache that the thread had.",
      FV_FIELD(struct fv_alone_point, part) },
    { "cache_bytes", "cache", "bytes",
      "Its part of the cache plus the processor's own caches, measured before by pointer chases. Null: not measured.",
      FV_FIELD(struct fv_alone_point, left_bytes), .flags = FV_NULLABLE, .known = is_measured },
    { "alone_s", "time", "s",
      "t: time of the thread that ran alone, over all instances of a rank, without its barriers. Short waits for locks "
      "are included; after a long wait, the phase is not separable.",
      FV_FIELD(struct fv_alone_point, time_s), .flags = FV_NULLABLE },
    { "alone_min_s", "min", "s", "t of the shortest run.", FV_FIELD(struct fv_alone_point, least_s),
      .flags = FV_NULLABLE },
    { "alone_max_s", "max", "s", "t of the longest run.", FV_FIELD(struct fv_alone_point, most_s),
      .flags = FV_NULLABLE },
    { "slowdown", "slower", "ratio", "Time relative to that with all of the cache. Null: one of the two is not good.",
      FV_FIELD(struct fv_alone_point, slower), .flags = FV_NULLABLE },
    { "cycles_per_instruction", "cycles", "ratio",
      "Cycles per instruction of the thread that ran alone (--counters statistics or memory). Null, as those below: "
      "not counted.",
      FV_FIELD(struct fv_alone_point, cycles), .flags = FV_NULLABLE },
    { "lines_per_1000", "lines", "ratio",
      "Cache lines from memory for 1,000 instructions (--counters memory or cache).",
      FV_FIELD(struct fv_alone_point, lines), .flags = FV_NULLABLE },
    { "bytes_per_s", "from memory", "B/s",
      "The thread's demand for memory bandwidth: 64 bytes for each line from memory, over its time. Write-backs are "
      "not included.",
      FV_FIELD(struct fv_alone_point, bytes_per_s), .flags = FV_NULLABLE },
    { "missed_share", "missed", "ratio",
      "Share of the probes of the process that held the rest of the cache that missed it. Null: no such process.",
      FV_FIELD(struct fv_alone_point, missed), .flags = FV_NULLABLE },
    { "off_cpu_share", "off CPU", "ratio", "Share of the time without a processor.",
      FV_FIELD(struct fv_alone_point, off_cpu), .flags = FV_NULLABLE },
    { "verdict", "verdict", "", "Whether the run counts, in the words of `separation` of points.",
      FV_GET(FV_TYPE_TEXT, get_alone_verdict), .words = fv_alone_verdicts },
};
const struct fv_relation fv_speedup_curves = {
    .name = "curves",
    .key = "curve",
    .title = "Time by cache",
    .group = "One thread at a time: time by cache",
    .doc = "Runs in which one thread at a time ran alone (fvmpi run --stacks --solo), by number of threads, then by "
           "cache, most first.",
    .shown = "name thread_count run_count/9 method/5 cache_share cache_bytes/4 alone_s slowdown "
             "cycles_per_instruction/2 lines_per_1000/3 bytes_per_s/3 missed_share/6 off_cpu_share/7 verdict/1",
    FV_COLUMNS(curve_columns),
    FV_OUTER(outer),
    FV_ITEMS(struct fv_speedup_phase, alone, alone_count),
};

/* ---- phases ---- */

static const struct fv_column_def phase_columns[] = {
    { "name", "phase", "", "The phase, as in `phases.label` of fvmpi report. Null: the whole program.",
      FV_FIELD(struct fv_speedup_phase, name), .flags = FV_NULLABLE | FV_NAME },
    { "kind", "kind", "",
      "program: all of it. threads: threads that the program created. omp: OpenMP parallel regions.",
      FV_FIELD(struct fv_speedup_phase, kind) },
    { "points", "points", "", "", FV_NEST(fv_speedup_points) },
    { "curve", "curve", "", "", FV_NEST(fv_speedup_curves) },
};
static const struct fv_relation phases = {
    .name = "speedups",
    .key = "speedups",
    .title = "Speedups",
    .doc = "Speedups of the whole program and of its phases of parallel threads, by their time with most threads.",
    FV_COLUMNS(phase_columns),
    .base = the_speedup,
    FV_ITEMS(struct fv_speedup, phases, count),
};

/* ---- runs ---- */

static const struct fv_column_def run_columns[] = {
    { "directory", "directory", "", "The experiment.", FV_FIELD(struct fv_speedup_run, directory) },
    { "command", "command", "", "Command line of the first rank.", FV_FIELD(struct fv_speedup_run, command) },
    { "thread_count", "threads", "", "Threads of its largest phase; 1: no phase.",
      FV_FIELD(struct fv_speedup_run, threads) },
    { "elapsed_s", "elapsed", "s", "Longest elapsed time of a rank.", FV_FIELD(struct fv_speedup_run, elapsed_s) },
    { "cache_share", "part", "ratio",
      "Share of the shared cache of the one thread or rank that ran alone. Null: all ran together.",
      FV_FIELD(struct fv_speedup_run, part), .flags = FV_NULLABLE },
};
static const struct fv_relation runs = {
    .name = "runs",
    .key = "runs",
    .title = "Runs",
    .group = "Runs",
    .doc = "The runs in the order given.",
    FV_COLUMNS(run_columns),
    .base = the_speedup,
    FV_ITEMS(struct fv_speedup, runs, run_count),
};

const struct fv_relation *const fv_speedup_relations[] = { &phases, &fv_throughput_points, &fv_throughput_curve, &runs,
                                                           NULL };
