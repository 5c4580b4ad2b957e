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
    "Whether runs with one thread at a time tell cache from memory: good; not_run: there are none; not_measured: not " \
    "of this phase. Not separable: waits: for a parked thread, by a lock or a "                                        \
    "condition; no_progress: by what is not seen, or it sleeps; no_barrier: it spins, or never ends; barriers: of "    \
    "some threads; creator: the thread that made them works, too; nested: phases within; "                             \
    "too_many; late; left; cut: it took too long. Dropped: pirate_lost: the process that held the rest of the cache "  \
    "lost more than 3 % of it, by its probes, or who ran alone moved to another last cache; unprobed: that is not "    \
    "known; off_cpu: for more than 2 % "                                                                               \
    "of the time; varies: the two shortest runs differ by more than 10 %. no_part: runs with all of the cache alone; " \
    "asymmetric: threads have unequal work, and not each had its turns; does_more: a thread takes longer alone than "  \
    "together, as it does more; shared_data: with its part of the "                                                    \
    "cache it takes longer alone than together; too_large: a speedup above 1.05 N; rejected: the stack is."

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
    { "thread_count", "threads", "", "N: of a rank, the most at a time; of the whole program, of its largest phase.",
      FV_FIELD(struct fv_speedup_point, threads) },
    { "run_count", "runs", "",
      "Runs with so many threads: values are those of the shortest, as of a phase longest_s tells it.",
      FV_FIELD(struct fv_speedup_point, runs) },
    TIME("elapsed_s", "elapsed", elapsed_s, "Of a rank, the mean; of the whole program the longest: T."),
    { "elapsed_min_s", "least", "s", "The shortest of the runs; of a phase, of longest_s.",
      FV_FIELD(struct fv_speedup_point, least_s) },
    { "elapsed_max_s", "most", "s", "The longest of the runs, likewise.", FV_FIELD(struct fv_speedup_point, most_s) },
    TIME("longest_s", "longest thread", longest_s,
         "max t: the time of the thread that takes longest, of all instances of a rank; of the whole program, of all "
         "phases."),
    TIME("longest_waitless_s", "without waits", waitless_s,
         "max (t - w): the same of threads without their waits for others."),
    TIME("useful_s", "useful", useful_s, "sum (t - w), of all threads of a rank."),
    TIME("queue_s", "queue", queue_s,
         "Of it, what counts as waiting for a processor where there are fewer than threads; an estimate."),
    TIME("off_cpu_s", "off CPU", off_cpu_s,
         "Of it, without a processor; of OpenMP by the share of the run in which threads could run and did not. Null: "
         "not known."),
    { "serial_s", "serial", "s",
      "Of the whole program: elapsed_s less that of its phases; of a phase 0; null: phases overlap.",
      FV_FIELD(struct fv_speedup_point, serial_s), .flags = FV_NULLABLE },
    { "speedup", "speedup", "ratio", "T1 / max t, of the whole program T1 / T; null: there is no run with one thread.",
      FV_FIELD(struct fv_speedup_point, stack.measured), .flags = FV_NULLABLE },
    COMPONENT("speedup_waitless", "no waits", stack.waitless,
              "T1 / max (t - w), if nobody waited for another thread; of the whole program, of its phases, as the two "
              "that follow. Null, as all "
              "below: rejected, for the reason in `verdict`."),
    COMPONENT("speedup_balanced", "balanced", stack.balanced, "T1 N / sum (t - w): and all had the same to do."),
    COMPONENT("speedup_placed", "placed", stack.placed, "T1 N / (sum (t - w) - queue_s): and a processor for each."),
    COMPONENT("lost_to_serial", "serial", serial,
              "What time outside of phases takes away (Amdahl): speedup of the phases less that of the program; of a "
              "phase 0. With the four that follow and "
              "`speedup`, it is N."),
    COMPONENT("lost_to_waiting", "sync", stack.synchronisation,
              "What waiting for locks, barriers and conditions takes away."),
    COMPONENT("lost_to_imbalance", "imbalance", stack.imbalance, "What unequal threads take away."),
    COMPONENT("lost_to_few_cpus", "few CPUs", stack.few_cpus,
              "What fewer processors than threads take away; an estimate."),
    COMPONENT("lost_to_work", "slower work", stack.work,
              "N - placed: the same work takes the threads longer than it took the one: caches and memory that they "
              "share, clocks, what threads do besides; "
              "less than 0: more cache helps."),
    ALONE("speedup_alone", "alone", alone,
          "T1 / t, of one thread that runs alone with all of the shared cache (fvmpi run --stacks --solo). Null, as "
          "all below: not known, for the reason in "
          "`separation`."),
    ALONE("speedup_pirate", "pirate", pirate, "The same with the N-th part of the shared cache."),
    ALONE("lost_to_overhead", "overhead", overhead,
          "Of lost_to_work: N - alone, what the work of a thread takes more though it has all for itself."),
    ALONE("lost_to_cache", "cache", cache, "Of lost_to_work: alone - pirate, what sharing the cache takes away."),
    ALONE("lost_to_memory", "memory", memory,
          "Of lost_to_work: pirate - placed, what sharing memory takes away, and all else that threads share."),
    ALONE("lost_to_sharing", "cache, memory", shared, "Cache and memory together: alone - placed."),
    { "separation", "separation", "", SEPARATION, FV_GET(FV_TYPE_TEXT, get_separation), .words = fv_alone_verdicts },
    { "verdict", "verdict", "",
      "good; no_t1: no run with one thread has it; t1_varies: the two shortest of these differ by more than 5 %; "
      "off_cpu: for more than 2 % of their time threads, or the one, were off the "
      "processor without waiting for each other; too_large: a speedup above 1.05 N, so that the work is not the same.",
      FV_GET(FV_TYPE_TEXT, get_reject), .words = fv_speedup_rejects },
};
static const struct fv_column_def outer[] = {
    { "name", "phase", "", "The phase, as `phases.label` of fvmpi report has it; null: the whole program.",
      FV_FIELD(struct fv_speedup_phase, name), .flags = FV_NULLABLE },
};
const struct fv_relation fv_speedup_points = {
    .name = "stacks",
    .key = "points",
    .title = "Stacks",
    .doc = "By number of threads, least first.",
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
    { "thread_count", "threads", "", "N: one of them at a time ran alone.", FV_FIELD(struct fv_alone_point, threads) },
    { "run_count", "runs", "", "Such runs: the shortest that is good by its own numbers counts.",
      FV_FIELD(struct fv_alone_point, runs) },
    { "method", "method", "",
      "Who had the rest of the shared cache: whole: nobody; pirate: a process that reads it all the time; resctrl: the "
      "kernel's cache allocation.",
      FV_GET(FV_TYPE_TEXT, get_how), .words = fv_alone_hows },
    { "cache_share", "part", "ratio", "The part of the shared cache that the thread had.",
      FV_FIELD(struct fv_alone_point, part) },
    { "cache_bytes", "cache", "bytes",
      "That, with the thread's own caches, as it was measured by chases of pointers before. Null: it was not.",
      FV_FIELD(struct fv_alone_point, left_bytes), .flags = FV_NULLABLE, .known = is_measured },
    { "alone_s", "time", "s",
      "t: of the thread that ran alone, its barriers left out, all instances of a rank. Short waits for locks and the "
      "like are in it: after a long one the phase is not separable.",
      FV_FIELD(struct fv_alone_point, time_s), .flags = FV_NULLABLE },
    { "alone_min_s", "least", "s", "The shortest of the runs.", FV_FIELD(struct fv_alone_point, least_s),
      .flags = FV_NULLABLE },
    { "alone_max_s", "most", "s", "The longest of the runs.", FV_FIELD(struct fv_alone_point, most_s),
      .flags = FV_NULLABLE },
    { "slowdown", "slower", "ratio", "Times as long as with all of the cache. Null: that, or this, is not good.",
      FV_FIELD(struct fv_alone_point, slower), .flags = FV_NULLABLE },
    { "cycles_per_instruction", "cycles", "ratio",
      "By --counters statistics or memory, of the thread that ran alone. Null: not counted, as those below.",
      FV_FIELD(struct fv_alone_point, cycles), .flags = FV_NULLABLE },
    { "lines_per_1000", "lines", "ratio", "Lines from memory for 1,000 instructions, by --counters memory or cache.",
      FV_FIELD(struct fv_alone_point, lines), .flags = FV_NULLABLE },
    { "bytes_per_s", "from memory", "B/s",
      "Of the thread: 64 bytes for each line from memory, by its time: its demand for bandwidth. What is written back "
      "is not in it.",
      FV_FIELD(struct fv_alone_point, bytes_per_s), .flags = FV_NULLABLE },
    { "missed_share", "missed", "ratio",
      "Of the probes of the process that held the rest, those that were not in the cache. Null: there was none.",
      FV_FIELD(struct fv_alone_point, missed), .flags = FV_NULLABLE },
    { "off_cpu_share", "off CPU", "ratio", "Of the time, without a processor.",
      FV_FIELD(struct fv_alone_point, off_cpu), .flags = FV_NULLABLE },
    { "verdict", "verdict", "", "Whether it counts: as `separation` of points has it.",
      FV_GET(FV_TYPE_TEXT, get_alone_verdict), .words = fv_alone_verdicts },
};
const struct fv_relation fv_speedup_curves = {
    .name = "curves",
    .key = "curve",
    .title = "Time by cache",
    .doc = "Runs in which one thread at a time ran alone (fvmpi run --stacks --solo): by number of threads, then by "
           "cache, most first.",
    .shown = "name thread_count run_count/9 method/5 cache_share cache_bytes/4 alone_s slowdown "
             "cycles_per_instruction/2 lines_per_1000/3 bytes_per_s/3 missed_share/6 off_cpu_share/7 verdict/1",
    FV_COLUMNS(curve_columns),
    FV_OUTER(outer),
    FV_ITEMS(struct fv_speedup_phase, alone, alone_count),
};

/* ---- phases ---- */

static const struct fv_column_def phase_columns[] = {
    { "name", "phase", "", "As `phases.label` of fvmpi report has it; null: the whole program.",
      FV_FIELD(struct fv_speedup_phase, name), .flags = FV_NULLABLE | FV_NAME },
    { "kind", "kind", "", "program: all of it. threads: that the program created; omp: parallel regions of OpenMP.",
      FV_FIELD(struct fv_speedup_phase, kind) },
    { "points", "points", "", "", FV_NEST(fv_speedup_points) },
    { "curve", "curve", "", "", FV_NEST(fv_speedup_curves) },
};
static const struct fv_relation phases = {
    .name = "speedups",
    .key = "speedups",
    .title = "Speedups",
    .doc = "The whole program, and its phases of parallel threads, by their time with most threads.",
    FV_COLUMNS(phase_columns),
    .base = the_speedup,
    FV_ITEMS(struct fv_speedup, phases, count),
};

/* ---- runs ---- */

static const struct fv_column_def run_columns[] = {
    { "directory", "directory", "", "The experiment.", FV_FIELD(struct fv_speedup_run, directory) },
    { "command", "command", "", "The command line, of the first rank.", FV_FIELD(struct fv_speedup_run, command) },
    { "thread_count", "threads", "", "Of its largest phase; 1: it has none.",
      FV_FIELD(struct fv_speedup_run, threads) },
    { "elapsed_s", "elapsed", "s", "The longest of a rank.", FV_FIELD(struct fv_speedup_run, elapsed_s) },
    { "cache_share", "part", "ratio",
      "One thread, or rank, at a time ran alone, with this part of the shared cache. Null: all ran.",
      FV_FIELD(struct fv_speedup_run, part), .flags = FV_NULLABLE },
};
static const struct fv_relation runs = {
    .name = "runs",
    .key = "runs",
    .title = "Runs",
    .doc = "The runs, as they were given.",
    FV_COLUMNS(run_columns),
    .base = the_speedup,
    FV_ITEMS(struct fv_speedup, runs, run_count),
};

const struct fv_relation *const fv_speedup_relations[] = { &phases, &fv_throughput_points, &fv_throughput_curve, &runs,
                                                           NULL };
