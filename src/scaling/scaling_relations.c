/* SPDX-License-Identifier: BSD-3-Clause */
/* See scaling_relations.h. */
#include "scaling/scaling_relations.h"
#include "profile/relations.h"

#include <math.h>

static const struct fv_scaling *scaling_of(const void *subject)
{
    return ((const struct fv_scaling_tables *)subject)->scaling;
}

static const void *the_scaling(void *subject, const void *parent)
{
    return scaling_of(subject);
}

/* ---- as a whole ---- */

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_scaling_kinds[((const struct fv_scaling *)row)->kind];
}

static void get_worst(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    enum fv_scaling_metric worst = ((const struct fv_scaling *)row)->worst;

    v->text = worst == FV_SCALES_METRICS ? NULL : fv_scaling_metrics[worst].key;
    v->null = !v->text;
}

static const struct fv_column_def scaling_columns[] = {
    { "kind", "kind", "",
      "strong: the same problem on more ranks. weak: the problem grows with the ranks. untold: not given, so values "
      "that depend on it are null.",
      FV_GET(FV_TYPE_TEXT, get_kind), .words = fv_scaling_kinds },
    { "by_threads", "by threads", "",
      "True: sizes are numbers of threads. Every run recorded its OpenMP regions (--threads), and one has several "
      "threads on a rank. False: sizes are numbers of ranks.",
      FV_FIELD(struct fv_scaling, threads) },
    { "point_count", "sizes", "", "Number of sizes.", FV_FIELD(struct fv_scaling, point_count) },
    { "worst", "worst", "",
      "The efficiency that decreases most from the smallest to the largest size, a key of points. Null: none.",
      FV_GET(FV_TYPE_TEXT, get_worst), .flags = FV_NULLABLE },
};
static const struct fv_relation scaling_relation = {
    .name = "scaling",
    .key = "scaling",
    .title = "Scaling",
    .doc = "How the runs were compared.",
    .shape = FV_ONE,
    FV_COLUMNS(scaling_columns),
    .base = the_scaling,
};

/* ---- points ---- */

#define VALUE(k, t, u, which, d)                                                          \
    {                                                                                     \
        k, t, u, d, FV_FIELD(struct fv_scaling_point, value[which]), .flags = FV_NULLABLE \
    }
static const struct fv_column_def point_columns[] = {
    { "rank_count", "ranks", "", "Ranks.", FV_FIELD(struct fv_scaling_point, ranks) },
    { "thread_count", "threads", "", "Threads of all ranks. Null: not known.",
      FV_FIELD(struct fv_scaling_point, threads), .flags = FV_UNLESS_0 },
    { "run_count", "runs", "", "Runs of this size. Values are their means.", FV_FIELD(struct fv_scaling_point, runs) },
    { "factor", "times", "ratio", "r: this size over the smallest size.", FV_FIELD(struct fv_scaling_point, factor) },
    VALUE("elapsed_s", "elapsed", "s", FV_SCALES_ELAPSED, "T: longest time of a rank."),
    { "elapsed_min_s", "min", "s", "T of the fastest run.", FV_FIELD(struct fv_scaling_point, least_s),
      .flags = FV_NULLABLE },
    { "elapsed_max_s", "max", "s", "T of the slowest run.", FV_FIELD(struct fv_scaling_point, most_s),
      .flags = FV_NULLABLE },
    { "useful_s", "computing", "s",
      "U: time of all ranks outside of MPI. If sizes are threads: computing time of all threads.",
      FV_FIELD(struct fv_scaling_point, useful_s), .flags = FV_NULLABLE },
    VALUE("speedup", "speedup", "ratio", FV_SCALES_SPEEDUP, "T_ref / T; for weak scaling, multiplied by r."),
    VALUE("of_ideal", "of ideal", "share", FV_SCALES_OF_IDEAL, "Speedup as a share of the ideal one: speedup / r."),
    VALUE("global", "global", "share", FV_SCALES_GLOBAL, "Global efficiency: parallel x computation."),
    VALUE("parallel", "parallel", "share", FV_SCALES_PARALLEL, "Parallel efficiency: sum U / (P T)."),
    VALUE("load_balance", "load balance", "share", FV_SCALES_LOAD_BALANCE,
          "Load balance of the ranks: mean over maximum of their computing time."),
    VALUE("communication", "communication", "share", FV_SCALES_COMMUNICATION,
          "Longest computing time of a rank over T."),
    VALUE("serialization", "serialization", "share", FV_SCALES_SERIALIZATION,
          "Efficiency left by dependencies between ranks. Null, here and in transfer, without an analysed trace."),
    VALUE("transfer", "transfer", "share", FV_SCALES_TRANSFER, "Efficiency left by data transfer."),
    VALUE("openmp", "OpenMP", "share", FV_SCALES_OPENMP,
          "Efficiency of the threads within ranks. Null if sizes are ranks."),
    VALUE("computation", "computation", "share", FV_SCALES_COMPUTATION,
          "Computation scalability: U_ref / U; for weak scaling, multiplied by r."),
    VALUE("instruction_scalability", "instructions", "share", FV_SCALES_INSTRUCTIONS,
          "Instructions outside of MPI: I_ref / I; for weak scaling, multiplied by r. Null, here and in the next two: "
          "a run did not count instructions and cycles (--counters statistics), or sizes are threads, which spin while "
          "they wait."),
    VALUE("ipc_scalability", "IPC", "share", FV_SCALES_IPC,
          "Instructions per cycle outside of MPI, relative to the reference."),
    VALUE("frequency_scalability", "frequency", "share", FV_SCALES_FREQUENCY,
          "Cycles outside of MPI over the time there, relative to the reference. It shows the clock, time without a "
          "processor, and time in the kernel, whose cycles are not counted."),
};
const struct fv_relation fv_scaling_points = {
    .name = "points",
    .key = "points",
    .title = "Sizes",
    .group = "Sizes and runs",
    .doc = "Sizes, smallest first. The first is the reference.",
    .shown = "rank_count thread_count elapsed_s speedup of_ideal global/9 parallel/9 load_balance/8 communication/8 "
             "serialization/6 transfer/6 openmp/7 computation/9 instruction_scalability/5 ipc_scalability/5 "
             "frequency_scalability/5",
    FV_COLUMNS(point_columns),
    .base = the_scaling,
    FV_ITEMS(struct fv_scaling, points, point_count),
};

/* ---- runs ---- */

static const struct fv_column_def run_columns[] = {
    { "directory", "directory", "", "The experiment.", FV_FIELD(struct fv_diff_run, directory) },
    { "command", "command", "", "Command line of the first rank.", FV_FIELD(struct fv_diff_run, command) },
    { "rank_count", "ranks", "", "Ranks that have a rank file.", FV_FIELD(struct fv_diff_run, ranks) },
    { "complete", "complete", "", "True: every rank has a complete file and finalized, and nothing was dropped.",
      FV_FIELD(struct fv_diff_run, complete) },
    { "elapsed_s", "elapsed", "s", "Time from the first begin to the last end of a rank.",
      FV_FIELD(struct fv_diff_run, value[FV_RUN_ELAPSED]) },
};
static const struct fv_relation runs = {
    .name = "runs",
    .key = "runs",
    .title = "Runs",
    .group = "Sizes and runs",
    .doc = "The runs in the order given.",
    FV_COLUMNS(run_columns),
    .base = the_scaling,
    FV_ITEMS(struct fv_scaling, runs.side[0].runs, runs.side[0].count),
};

/* ---- parts ---- */

static size_t time_count(void *subject, const void *parent)
{
    return scaling_of(subject)->point_count;
}

static const void *time_at(void *subject, const void *parent, size_t i)
{
    struct fv_scaling_tables *t = subject;
    const struct fv_scaling_part *part = parent;
    const struct fv_scaling_point *p = &t->scaling->points[i];
    double divided = t->scaling->kind == FV_SCALING_STRONG ? p->factor : 1;

    t->time = (struct fv_scaling_time){ p->ranks, p->threads, part->time_s[i],
                                        t->scaling->kind == FV_SCALING_UNTOLD ? NAN : part->time_s[0] / divided };
    return &t->time;
}

static const struct fv_column_def time_columns[] = {
    { "rank_count", "ranks", "", "Ranks.", FV_FIELD(struct fv_scaling_time, ranks) },
    { "thread_count", "threads", "", "Threads of all ranks. Null: not known.",
      FV_FIELD(struct fv_scaling_time, threads), .flags = FV_UNLESS_0 },
    { "time_s", "time", "s", "Mean time of a rank. 0: the part does not exist at this size.",
      FV_FIELD(struct fv_scaling_time, time_s) },
    { "ideal_s", "ideal", "s",
      "Ideal time of a rank: its time at the smallest size; for strong scaling, divided by r. Null: the kind of "
      "scaling is not known.",
      FV_FIELD(struct fv_scaling_time, ideal_s), .flags = FV_NULLABLE },
};
static const struct fv_column_def time_outer[] = {
    { "table", "table", "", "The table of fvmpi report that contains the part.",
      FV_FIELD(struct fv_scaling_part, table) },
    { "name", "name", "", "Name of the part in that table.", FV_FIELD(struct fv_scaling_part, name) },
};
static const struct fv_relation times = {
    .name = "part_times",
    .key = "times",
    .title = "Times of parts",
    .group = "Parts of the program",
    .doc = "Time of the part at each size, in their order.",
    FV_COLUMNS(time_columns),
    FV_OUTER(time_outer),
    .count = time_count,
    .row = time_at,
};

/* Argument: of the largest size? */
static void get_time(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_scaling_part *part = row;

    v->real = part->time_s[c->argument ? scaling_of(subject)->point_count - 1 : 0];
}

static const struct fv_column_def part_columns[] = {
    { "table", "table", "", "The table of fvmpi report that contains the part. Sections overlap with other parts.",
      FV_FIELD(struct fv_scaling_part, table) },
    { "name", "name", "", "Name of the part in that table.", FV_FIELD(struct fv_scaling_part, name), .flags = FV_NAME },
    { "place", "where", "", "File and line of the part. Null: not known.", FV_FIELD(struct fv_scaling_part, place),
      .flags = FV_NULLABLE },
    { "first_s", "smallest", "s", "Mean time of a rank at the smallest size.", FV_GET(FV_TYPE_REAL, get_time),
      .argument = 0 },
    { "last_s", "largest", "s", "Mean time of a rank at the largest size.", FV_GET(FV_TYPE_REAL, get_time),
      .argument = 1 },
    { "lost_s", "lost", "s",
      "last_s - ideal_s. Below 0: the part scales better than ideally. Null: the kind of scaling is not known.",
      FV_FIELD(struct fv_scaling_part, lost_s), .flags = FV_NULLABLE },
    { "ideal_s", "ideal", "s",
      "Ideal time at the largest size: the time at the smallest size; for strong scaling, divided by r.",
      FV_FIELD(struct fv_scaling_part, ideal_s), .flags = FV_NULLABLE },
    { "efficiency", "of ideal", "share", "ideal_s / last_s. Null also if last_s is 0.",
      FV_FIELD(struct fv_scaling_part, efficiency), .flags = FV_NULLABLE },
    { "times", "times", "", "", FV_NEST(times) },
};
const struct fv_relation fv_scaling_parts = {
    .name = "parts",
    .key = "parts",
    .title = "Parts of the program",
    .group = "Parts of the program",
    .doc = "Procedures (estimated CPU time outside of MPI, by clock samples), computing between MPI calls, sections "
           "and MPI functions: mean time of a rank. Largest loss at the largest size first; if the kind of scaling is "
           "not known, longest time there first.",
    .shown = "name place/7 first_s/9 last_s ideal_s/8 efficiency/9 lost_s",
    FV_COLUMNS(part_columns),
    .base = the_scaling,
    FV_ITEMS(struct fv_scaling, parts, part_count),
};

static const struct fv_relation problems = {
    .name = "problems",
    .key = "problems",
    .title = "Problems",
    .doc = "Problems that the reader must know.",
    .columns = fv_problem_columns,
    .column_count = FV_PROBLEM_COLUMNS,
    .base = the_scaling,
    FV_ITEMS(struct fv_scaling, notes.items, notes.count),
};

const struct fv_relation *const fv_scaling_relations[] = { &scaling_relation, &fv_scaling_points, &runs,
                                                           &fv_scaling_parts, &problems,          NULL };
