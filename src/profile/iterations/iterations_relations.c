/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the program: relations iterations, iterations_by_number. */
#include "profile/build.h"
#include "profile/iterations/iteration_columns.h"

FV_DATA_BASE(iterations)

#define U struct fv_iteration_unit
#define N struct fv_iteration_number

static const char *const source_words[] = { "trace", "collectives", NULL };

static void get_source(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = source_words[!fv_model_iterations(fv_tables_model(subject))->traced];
}

/* The innermost frame, which may be a library's: that has the loop. */
static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_path *path = fv_tables_path(t, ((const U *)row)->node);

    v->text = path->count ? fv_frame_brief(&path->frames[0], t->profile->symbols, t->text, sizeof(t->text)) : NULL;
}

static bool is_main(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const U *)row)->is_main;
}

static const struct fv_column_def unit_columns[] = {
    FV_DATA_ID_COLUMN(iterations, struct fv_iterations, "unit_id", units, "Index of the unit, from 0."),
    { "inside", "inside", "id", "The unit that it is nested in. Null: none.", FV_FIELD(U, inside),
      .flags = FV_UNLESS_NONE },
    { "function", "in", "",
      "The innermost function that all calls of an iteration are made in: it has the loop, or is called in it. Null: "
      "not "
      "known.",
      FV_GET(FV_TYPE_TEXT, get_function), .flags = FV_NULLABLE | FV_NAME },
    { "place", "at", "", "File and line of a call in it, without directories. Null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_path_place), .flags = FV_NULLABLE, .argument = offsetof(U, node) },
    { "callsite_id", "call site", "id", "The call that ends each iteration, an index in callsites.",
      FV_FIELD(U, site) },
    { "source", "from", "", "Which calls were looked at: all of a trace, or blocking collective calls of the wait log.",
      FV_GET(FV_TYPE_TEXT, get_source), .words = source_words },
    { "count", "iterations", "", "How many there are.", FV_FIELD(U, count) },
    { "rank_count", "ranks", "",
      "Ranks that make these calls as often. Others are left out. Units without rows in iterations_by_number are of "
      "one rank.",
      FV_FIELD(U, ranks) },
    { "begin_s", "begin", "s", "When the first one began.", FV_FIELD(U, begin_s) },
    { "end_s", "end", "s", "When the last one ended.", FV_FIELD(U, end_s) },
    FV_ITERATION_TIMES,
    { "longest_at_s", "at", "s", "When it began. Null: not known.", FV_FIELD(U, longest_at_s), .flags = FV_NULLABLE,
      .known = is_main },
    { "computing_s", "computing", "s", "Mean time outside of MPI, of an iteration and rank. Null: not known.",
      FV_FIELD(U, computing_s), .flags = FV_NULLABLE },
    { "mpi_s", "MPI", "s", "Mean time in MPI. Null: not known.", FV_FIELD(U, mpi_s), .flags = FV_NULLABLE },
    { "wait_s", "waiting", "s",
      "Mean waiting of an iteration and rank: in all its calls by a trace that was analysed, else in blocking "
      "collective calls. Null: not known.",
      FV_FIELD(U, wait_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    FV_ITERATION_TRENDS,
};
static const struct fv_relation units_relation = {
    .name = "iterations",
    .key = "iterations",
    .title = "Iterations",
    .doc = "What the program repeats, found from the sequence of its MPI calls (share/analysis.md): at least 8 times, "
           "and over half of the time between the first call and the last. Empty: nothing is.",
    .shown = "function place inside/1 count mean_s p50_s p95_s longest_s longest_number/5 longest_at_s/2 computing_s/4 "
             "mpi_s/4 wait_s/3",
    FV_COLUMNS(unit_columns),
    .base = iterations_base,
    FV_ITEMS(struct fv_iterations, units, count),
};

static const struct fv_column_def number_columns[] = {
    { "unit_id", "unit", "id", "An index in iterations.", FV_FIELD(N, unit) },
    { "number", "number", "", "Number of the iteration, from 0; of several, of the first.", FV_FIELD(N, number) },
    { "merged", "iterations", "", "Neighbouring iterations in the row: there are at most 1000 rows of a unit.",
      FV_FIELD(N, merged) },
    { "begin_s", "begin", "s", "When it began, mean over ranks.", FV_FIELD(N, begin_s) },
    { "duration_s", "time", "s", "Mean time of an iteration of the row, over ranks.", FV_FIELD(N, duration_s) },
    { "longest_s", "longest", "s", "The longest of the row.", FV_FIELD(N, longest_s) },
    { "computing_s", "computing", "s", "Mean time outside of MPI. Null: not known.", FV_FIELD(N, computing_s),
      .flags = FV_NULLABLE },
    { "mpi_s", "MPI", "s", "Mean time in MPI. Null: not known.", FV_FIELD(N, mpi_s), .flags = FV_NULLABLE },
    { "wait_s", "waiting", "s",
      "Mean waiting: in all calls at that time, by a trace that was analysed, else in blocking collective calls. "
      "Null: not known.",
      FV_FIELD(N, wait_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "imbalance_s", "imbalance", "s",
      "Time outside of these calls, of the slowest rank less the mean of all. Null: not known.",
      FV_FIELD(N, imbalance_s), .flags = FV_NULLABLE },
    FV_RANK_OR_NULL_COLUMN(N, slowest, "slowest_rank", "slowest", "The rank that was outside of these calls longest."),
};
static const struct fv_relation numbers_relation = {
    .name = "iterations_by_number",
    .key = "iterations_by_number",
    .title = "Iterations one by one",
    .doc = "Each iteration, by unit and number: not of loops around or inside of the unit that findings are about. "
           "Without a trace, calls are blocking "
           "collective calls.",
    .shape = FV_ROWS,
    .shown =
        "unit_id/1 number merged/2 begin_s duration_s longest_s/3 computing_s mpi_s wait_s imbalance_s slowest_rank",
    FV_COLUMNS(number_columns),
    .base = iterations_base,
    FV_ITEMS(struct fv_iterations, numbers, number_count),
};

/* ---- the subject ---- */

static void fold_iterations(struct fv_model *m, struct fv_alikes *alikes)
{
    struct fv_iterations *it = fv_model_iterations(m);

    for (size_t i = 0; i < it->count; i++)
        it->units[i].node = fv_alike(alikes, it->units[i].node);
}

extern const struct fv_track fv_track_iteration_units, fv_track_iterations, fv_track_iteration_causes;

const struct fv_subject fv_iterations_subject = {
    .group = "Iterations",
    .bytes = sizeof(struct fv_iterations),
    .tracks = { &fv_track_iteration_units, &fv_track_iterations, &fv_track_iteration_causes },
    .relations = { &units_relation, &numbers_relation },
    .fold = fold_iterations,
    .renumber = fv_iterations_renumber,
    .complete = fv_iterations_complete,
    .release = fv_iterations_release,
};
