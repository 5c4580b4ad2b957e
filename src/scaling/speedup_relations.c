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

#define TIME(k, t, member, d)                                                                                \
    {                                                                                                        \
        k, t, "s", d, FV_FIELD(struct fv_speedup_point, times.member), .flags = FV_NULLABLE                  \
    }
#define COMPONENT(k, t, member, d)                                                                           \
    {                                                                                                        \
        k, t, "ratio", d, FV_FIELD(struct fv_speedup_point, member), .flags = FV_NULLABLE, .known = is_good  \
    }
static const struct fv_column_def point_columns[] = {
    { "thread_count", "threads", "", "N: of a rank, the most at a time; of the whole program, of its largest phase.", FV_FIELD(struct fv_speedup_point, threads) },
    { "run_count", "runs", "", "Runs with so many threads: values are their means.", FV_FIELD(struct fv_speedup_point, runs) },
    TIME("elapsed_s", "elapsed", elapsed_s, "Of a rank, the mean; of the whole program the longest: T."),
    { "elapsed_min_s", "least", "s", "The shortest of the runs; of a phase, of longest_s.", FV_FIELD(struct fv_speedup_point, least_s) },
    { "elapsed_max_s", "most", "s", "The longest of the runs, likewise.", FV_FIELD(struct fv_speedup_point, most_s) },
    TIME("longest_s", "longest thread", longest_s, "max t: the time of the thread that takes longest, of all instances of a rank; of the whole program, of all phases."),
    TIME("longest_waitless_s", "without waits", waitless_s, "max (t - w): the same of threads without their waits for others."),
    TIME("useful_s", "useful", useful_s, "sum (t - w), of all threads of a rank."),
    TIME("queue_s", "queue", queue_s, "Of it, what counts as waiting for a processor where there are fewer than threads; an estimate."),
    TIME("off_cpu_s", "off CPU", off_cpu_s, "Of it, without a processor; of OpenMP by the share of the run in which threads could run and did not. Null: not known."),
    { "serial_s", "serial", "s", "Of the whole program: elapsed_s less that of its phases; of a phase 0; null: phases overlap.", FV_FIELD(struct fv_speedup_point, serial_s),
      .flags = FV_NULLABLE },
    { "speedup", "speedup", "ratio", "T1 / max t, of the whole program T1 / T; null: there is no run with one thread.", FV_FIELD(struct fv_speedup_point, stack.measured),
      .flags = FV_NULLABLE },
    COMPONENT("speedup_waitless", "no waits", stack.waitless, "T1 / max (t - w), if nobody waited for another thread; of the whole program, of its phases, as the two that follow. Null, as all "
                                                              "below: rejected, for the reason in `verdict`."),
    COMPONENT("speedup_balanced", "balanced", stack.balanced, "T1 N / sum (t - w): and all had the same to do."),
    COMPONENT("speedup_placed", "placed", stack.placed, "T1 N / (sum (t - w) - queue_s): and a processor for each."),
    COMPONENT("lost_to_serial", "serial", serial, "What time outside of phases takes away (Amdahl): speedup of the phases less that of the program; of a phase 0. With the four that follow and "
                                                  "`speedup`, it is N."),
    COMPONENT("lost_to_waiting", "sync", stack.synchronisation, "What waiting for locks, barriers and conditions takes away."),
    COMPONENT("lost_to_imbalance", "imbalance", stack.imbalance, "What unequal threads take away."),
    COMPONENT("lost_to_few_cpus", "few CPUs", stack.few_cpus, "What fewer processors than threads take away; an estimate."),
    COMPONENT("lost_to_work", "slower work", stack.work, "N - placed: the same work takes the threads longer than it took the one: caches and memory that they share, clocks, what threads do besides; "
                                                         "less than 0: more cache helps."),
    { "verdict", "verdict", "", "good; no_t1: no run with one thread has it; t1_varies: these differ by more than 5 %; off_cpu: for more than 2 % of their time threads, or the one, were off the "
      "processor without waiting for each other; too_large: a speedup above 1.05 N, so that the work is not the same.", FV_GET(FV_TYPE_TEXT, get_reject), .words = fv_speedup_rejects },
};
static const struct fv_column_def outer[] = {
    { "name", "phase", "", "The phase, as `phases.label` of fvmpi report has it; null: the whole program.", FV_FIELD(struct fv_speedup_phase, name), .flags = FV_NULLABLE },
};
const struct fv_relation fv_speedup_points = {
    .name = "stacks",
    .key = "points",
    .title = "Stacks",
    .doc = "By number of threads, least first.",
    .shown = "name thread_count run_count/9 elapsed_s/2 longest_s/6 speedup lost_to_serial/1 lost_to_waiting lost_to_imbalance lost_to_few_cpus/3 lost_to_work verdict/4",
    FV_COLUMNS(point_columns),
    FV_OUTER(outer),
    FV_ITEMS(struct fv_speedup_phase, points, count),
};

/* ---- phases ---- */

static const struct fv_column_def phase_columns[] = {
    { "name", "phase", "", "As `phases.label` of fvmpi report has it; null: the whole program.", FV_FIELD(struct fv_speedup_phase, name), .flags = FV_NULLABLE | FV_NAME },
    { "kind", "kind", "", "program: all of it. threads: that the program created; omp: parallel regions of OpenMP.", FV_FIELD(struct fv_speedup_phase, kind) },
    { "points", "points", "", "", FV_NEST(fv_speedup_points) },
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
    { "thread_count", "threads", "", "Of its largest phase; 1: it has none.", FV_FIELD(struct fv_speedup_run, threads) },
    { "elapsed_s", "elapsed", "s", "The longest of a rank.", FV_FIELD(struct fv_speedup_run, elapsed_s) },
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

const struct fv_relation *const fv_speedup_relations[] = { &phases, &runs, NULL };
