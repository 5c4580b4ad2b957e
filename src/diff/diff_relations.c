/* SPDX-License-Identifier: BSD-3-Clause */
/* See diff_relations.h. */
#include "diff/diff_relations.h"
#include "profile/relations.h"

#include "tool/words.h"

#include <math.h>
#include <string.h>

static const struct fv_diff *diff_of(const void *subject)
{
    return ((const struct fv_diff_tables *)subject)->diff;
}

static const void *the_diff(void *subject, const void *parent)
{
    return diff_of(subject);
}

void fv_diff_tables_release(struct fv_diff_tables *t)
{
    fv_string_release(&t->text);
}

/* ---- the comparison as a whole ---- */

static void get_wait_source(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = c->words[((const struct fv_diff *)row)->waits == FV_WAITS_PROFILE];
}

#define JOINED(k, t, which, d)                                             \
    {                                                                      \
        k, t, "", "Call paths " d, FV_FIELD(struct fv_diff, joined[which]) \
    }
static const char *const wait_source_words[] = { "analysis", "profile", NULL };
static const struct fv_column_def comparison_columns[] = {
    { "noise_known", "noise known", "", "True: one side has at least two runs.", FV_FIELD(struct fv_diff, noise) },
    { "wait_source", "waiting from", "",
      "Source of waiting. analysis: every experiment has an analysis.json. profile: rank files alone.",
      FV_GET(FV_TYPE_TEXT, get_wait_source), .words = wait_source_words },
    JOINED("by_position_count", "by position", FV_JOIN_POSITION, "that were joined by position."),
    JOINED("by_names_count", "by names", FV_JOIN_NAMES, "that were joined by function names."),
    JOINED("only_a_count", "only in A", FV_JOIN_ONLY_A, "that only A has."),
    JOINED("only_b_count", "only in B", FV_JOIN_ONLY_B, "that only B has."),
};
static const struct fv_relation comparison = {
    .name = "comparison",
    .key = "comparison",
    .title = "Comparison",
    .doc = "How A and B were compared.",
    .shape = FV_ONE,
    FV_COLUMNS(comparison_columns),
    .base = the_diff,
};

static const struct fv_relation problems = {
    .name = "problems",
    .key = "problems",
    .title = "Problems",
    .doc = "Problems that the reader of the comparison must know.",
    .columns = fv_problem_columns,
    .column_count = FV_PROBLEM_COLUMNS,
    .base = the_diff,
    FV_ITEMS(struct fv_diff, notes.items, notes.count),
};

/* ---- runs ---- */

static void get_run_wait_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_wait_kind_name(((const struct fv_diff_run *)row)->wait_kind[diff_of(subject)->waits]);
}

#define VALUE(k, t, u, which, f, d)                                          \
    {                                                                        \
        k, t, u, d, FV_FIELD(struct fv_diff_run, value[which]), .flags = (f) \
    }
static const struct fv_column_def run_columns[] = {
    { "directory", "directory", "", "The experiment.", FV_FIELD(struct fv_diff_run, directory) },
    { "command", "command", "", "Command line of the first rank.", FV_FIELD(struct fv_diff_run, command) },
    { "mpi", "MPI", "", "Name and version of the MPI library. Empty: no MPI.", FV_FIELD(struct fv_diff_run, mpi) },
    { "rank_count", "ranks", "", "Ranks that have a rank file.", FV_FIELD(struct fv_diff_run, ranks) },
    { "complete", "complete", "", "True: every rank has a complete file and finalized, and nothing was dropped.",
      FV_FIELD(struct fv_diff_run, complete) },
    { "analysed", "analysed", "", "True: it has an analysis.json that belongs to its rank files.",
      FV_FIELD(struct fv_diff_run, analysis) },
    { "no_processor_s", "no processor", "s",
      "Mean time that a rank was runnable without a processor. 0: less than fvmpi report calls a noisy run.",
      FV_FIELD(struct fv_diff_run, no_processor_s) },
    VALUE("elapsed_s", "elapsed", "s", FV_RUN_ELAPSED, 0, "Time from the first begin to the last end of a rank."),
    VALUE("compute_s", "compute", "s", FV_RUN_COMPUTE, 0, "Mean time of a rank outside of MPI."),
    VALUE("mpi_s", "MPI", "s", FV_RUN_MPI, 0, "Mean time of a rank in MPI."),
    VALUE("wait_s", "wait", "s", FV_RUN_WAIT, FV_AS_KIND, "Mean time that a rank waited for other ranks."),
    { "wait_kind", "kind", "",
      "Whether wait_s is exact or an estimate. Null: part of the waiting is not known; wait_s is the known part.",
      FV_GET(FV_TYPE_TEXT, get_run_wait_kind), .flags = FV_NULLABLE, .words = fv_wait_kind_words },
    VALUE("count", "calls", "", FV_RUN_CALLS, 0, "MPI calls of a rank, mean."),
    VALUE("bytes", "bytes", "bytes", FV_RUN_BYTES, 0, "Bytes sent and received by a rank, mean."),
    VALUE("parallel", "parallel", "share", FV_RUN_PARALLEL, FV_NULLABLE,
          "Parallel efficiency: load_balance x communication."),
    VALUE("load_balance", "load balance", "share", FV_RUN_LOAD_BALANCE, FV_NULLABLE,
          "Mean over maximum of the ranks' time outside of MPI."),
    VALUE("communication", "communication", "share", FV_RUN_COMMUNICATION, FV_NULLABLE,
          "Longest time of a rank outside of MPI over the longest time of a rank."),
    VALUE("serialization", "serialization", "share", FV_RUN_SERIALIZATION, FV_NULLABLE,
          "The part of communication left by dependencies between ranks. Null, here and in transfer, without an "
          "analysis.json."),
    VALUE("transfer", "transfer", "share", FV_RUN_TRANSFER, FV_NULLABLE,
          "The part of communication left by data transfer."),
};

static const void *side_a(void *subject, const void *parent)
{
    return &diff_of(subject)->side[0];
}

static const void *side_b(void *subject, const void *parent)
{
    return &diff_of(subject)->side[1];
}

static const struct fv_relation runs_a = {
    .name = "runs_a",
    .key = "runs_a",
    .title = "Runs of A",
    .group = "Runs",
    .doc = "The experiments of A in the order given.",
    FV_COLUMNS(run_columns),
    .base = side_a,
    FV_ITEMS(struct fv_diff_side, runs, count),
};
static const struct fv_relation runs_b = {
    .name = "runs_b",
    .key = "runs_b",
    .title = "Runs of B",
    .group = "Runs",
    .doc = "The experiments of B in the order given.",
    FV_COLUMNS(run_columns),
    .base = side_b,
    FV_ITEMS(struct fv_diff_side, runs, count),
};

/* ---- changes ---- */

static const void *changed(struct fv_diff_tables *t, const struct fv_change *changes,
                           const struct fv_diff_metric_word *metrics, size_t i)
{
    t->changed = (struct fv_diff_changed){ &metrics[i], changes[i] };
    return &t->changed;
}

static void get_metric(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = ((const struct fv_diff_changed *)row)->metric->key;
}

static void get_unit(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = c->words[((const struct fv_diff_changed *)row)->metric->unit];
}

static void get_ratio(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_change *by = &((const struct fv_diff_changed *)row)->by;

    v->real = by->mean[0] > 0 ? by->mean[1] / by->mean[0] : NAN;
}

static void get_significant(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_change *by = &((const struct fv_diff_changed *)row)->by;

    v->truth = by->significant;
    v->null = isnan(by->p);
}

/* What text shows of a change, in the units of its metric. */
enum word { WORD_A, WORD_B, WORD_CHANGE, WORD_PERCENT, WORD_HALF, WORD_STDDEV_A, WORD_STDDEV_B };
static void say(struct fv_diff_tables *t, const struct fv_change *by, enum fv_diff_unit unit, enum word which,
                struct fv_value *v)
{
    switch (which) {
    case WORD_A:
    case WORD_B: fv_diff_value_word(by->mean[which - WORD_A], unit, t->word); break;
    case WORD_CHANGE: fv_diff_change_word(by->change, unit, t->word); break;
    case WORD_PERCENT: fv_diff_percent_word(by, t->word); break;
    case WORD_HALF: fv_diff_half_word(by, unit, t->word); break;
    case WORD_STDDEV_A:
    case WORD_STDDEV_B: fv_diff_value_word(by->stddev[which - WORD_STDDEV_A], unit, t->word); break;
    }
    v->text = t->word;
    v->null = which == WORD_PERCENT && unit == FV_UNIT_SHARE; /* points say that already */
}

static void get_word(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_diff_changed *changed = row;

    say(subject, &changed->by, changed->metric->unit, (enum word)c->argument, v);
}

static void get_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = ((const struct fv_diff_changed *)row)->metric->name;
}

#define SAID(k, t, getter, which, d)                                                                               \
    {                                                                                                              \
        k, t, "", d, FV_GET(FV_TYPE_TEXT, getter), .flags = FV_FLAT | FV_NULLABLE | FV_AMOUNT, .argument = (which) \
    }
static const char *const unit_words[] = { FV_DIFF_UNITS(FV_LIST_WORD) NULL };
#define BY(k, t, m, d)                                                            \
    {                                                                             \
        k, t, "", d, FV_FIELD(struct fv_diff_changed, by.m), .flags = FV_NULLABLE \
    }
#define GOT(k, t, u, type, get, d)                          \
    {                                                       \
        k, t, u, d, FV_GET(type, get), .flags = FV_NULLABLE \
    }
#define WORD(k, get, w, d)                                   \
    {                                                        \
        k, k, "", d, FV_GET(FV_TYPE_TEXT, get), .words = (w) \
    }
#define CHANGE_COLUMNS(names, more)                                                                                   \
    WORD("metric", get_metric, names, "What changed."),                                                               \
        WORD("unit", get_unit, unit_words, "Unit of a, b, their standard deviations, change and interval."),          \
        BY("a", "A", mean[0], "Mean of A's runs. Null: not known."),                                                  \
        BY("a_stddev", "stddev", stddev[0],                                                                           \
           "Standard deviation of A's runs (divided by n - 1). Null: fewer than two runs."),                          \
        BY("b", "B", mean[1], "Mean of B's runs. Null: not known."),                                                  \
        BY("b_stddev", "stddev", stddev[1],                                                                           \
           "Standard deviation of B's runs (divided by n - 1). Null: fewer than two runs."),                          \
        BY("change", "change", change, "b - a."),                                                                     \
        GOT("ratio", "ratio", "ratio", FV_TYPE_REAL, get_ratio, "b / a. Null: a is 0."),                              \
        BY("interval", "+-", half,                                                                                    \
           "Half width of the 95 % confidence interval of change. Null, as p and significant, with one run a side."), \
        BY("p", "p", p, "Probability of at least such a change if there were no difference."),                        \
        { "significant",                                                                                              \
          "",                                                                                                         \
          "",                                                                                                         \
          "Is p < 0.05" more "?",                                                                                     \
          FV_GET(FV_TYPE_TRUTH, get_significant),                                                                     \
          .flags = FV_NULLABLE | FV_BLANK },                                                                          \
        { "name", "", "", "The metric in words.", FV_GET(FV_TYPE_TEXT, get_name), .flags = FV_FLAT },                 \
        SAID("a_words", "A", get_word, WORD_A, "a with its unit."),                                                   \
        SAID("b_words", "B", get_word, WORD_B, "b with its unit."),                                                   \
        SAID("change_words", "change", get_word, WORD_CHANGE, "change with its unit."),                               \
        SAID("percent_words", "of A", get_word, WORD_PERCENT, "change as a share of a."),                             \
        SAID("interval_words", "+-", get_word, WORD_HALF, "interval with its unit."),                                 \
        SAID("a_stddev_words", "spread A", get_word, WORD_STDDEV_A, "a_stddev with its unit."),                       \
        SAID("b_stddev_words", "spread B", get_word, WORD_STDDEV_B, "b_stddev with its unit.")

static const char *const run_metric_words[] = { FV_RUN_METRIC_LIST(FV_LIST_WORD) NULL };
static const struct fv_column_def run_change_columns[] = { CHANGE_COLUMNS(run_metric_words, "") };

static size_t run_change_count(void *subject, const void *parent)
{
    return FV_DIFF_RUN_METRICS;
}

static const void *run_change_at(void *subject, const void *parent, size_t i)
{
    return changed(subject, diff_of(subject)->run, fv_diff_run_metrics, i);
}

const struct fv_relation fv_diff_run_changes = {
    .name = "run_changes",
    .key = "run_changes",
    .title = "Changes of the run",
    .group = "Runs",
    .doc = "Changes of the whole run from A to B: one row for each value.",
    .shown = "name a_words b_words change_words percent_words/5 interval_words/4 significant a_stddev_words/2 "
             "b_stddev_words/2",
    FV_COLUMNS(run_change_columns),
    .count = run_change_count,
    .row = run_change_at,
};

static const char *const metric_words[] = { FV_DIFF_METRIC_LIST(FV_LIST_WORD) NULL };
static const struct fv_column_def change_columns[] = { CHANGE_COLUMNS(
    metric_words, ", and is it kept by the procedure of Benjamini and Hochberg for this list") };

static size_t change_count(void *subject, const void *parent)
{
    return FV_DIFF_METRICS;
}

static const void *change_at(void *subject, const void *parent, size_t i)
{
    return changed(subject, ((const struct fv_diff_row *)parent)->change, fv_diff_metrics, i);
}

static const struct fv_relation changes = {
    .key = "changes",
    .title = "Changes",
    .doc =
        "One entry for each metric: time_s, its part wait_s, count (calls), bytes (sent and received), efficiency, "
        "balance. efficiency: share of the time without waiting. balance: mean over maximum of the ranks' time; null "
        "for a function. "
        "A run without the call path counts as 0 in times, calls and bytes, and is left out of the two shares.",
    FV_COLUMNS(change_columns),
    .count = change_count,
    .row = change_at,
};

/* ---- functions and call paths ---- */

#define ROW_COLUMNS                                                              \
    { "wait_kind",                                                               \
      "kind",                                                                    \
      "",                                                                        \
      "Whether the waiting is exact or an estimate. Null: there is no waiting.", \
      FV_GET(FV_TYPE_TEXT, fv_get_wait_kind),                                    \
      .flags = FV_NULLABLE,                                                      \
      .argument = FV_PLACE_OF(struct fv_diff_row, wait_kind),                    \
      .words = fv_wait_kind_words },                                             \
    {                                                                            \
        "changes", "changes", "", "", FV_NEST(changes)                           \
    }
/* Of the change of seconds at `offset`. */
static const struct fv_change *change_in(const void *row, const struct fv_column_def *c)
{
    return (const void *)((const char *)row + c->offset);
}

static void get_time_word(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    say(subject, change_in(row, c), FV_UNIT_SECONDS, (enum word)c->argument, v);
}

static void get_time_significant(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = change_in(row, c)->significant;
}

#define TIME_WORD(k, t, which, d, S, m)                                                                 \
    {                                                                                                   \
        k, t, "", d, FV_GET(FV_TYPE_TEXT, get_time_word), .flags = FV_FLAT | FV_NULLABLE | FV_AMOUNT,   \
                                                          .offset = offsetof(S, m), .argument = (which) \
    }
/* What flat forms have of a change of seconds. */
#define TIME_COLUMNS(S, m)                                                                                           \
    SIDE("time_a_s", "time A", "s", S, m.mean[0], 0), SIDE("time_b_s", "time B", "s", S, m.mean[1], 0),              \
        TIME_WORD("change_words", "change", WORD_CHANGE, "Change of the time.", S, m),                               \
        TIME_WORD("percent_words", "of A", WORD_PERCENT, "Change of the time as a share of the time of A.", S, m),   \
        TIME_WORD("interval_words", "+-", WORD_HALF, "Half width of the 95 % confidence interval of the change.", S, \
                  m),                                                                                                \
    {                                                                                                                \
        "significant", "", "", "True: the change of the time is significant.",                                       \
            FV_GET(FV_TYPE_TRUTH, get_time_significant), .flags = FV_FLAT | FV_BLANK, .offset = offsetof(S, m)       \
    }

/* Bytes where there are none on either side are nothing to compare. */
static bool has_bytes(void *subject, const void *row, const struct fv_column_def *c)
{
    const struct fv_change *bytes = &((const struct fv_diff_row *)row)->change[FV_DIFF_BYTES];

    return bytes->mean[0] > 0 || bytes->mean[1] > 0;
}

#define SIDE(k, t, u, S, m, more)                                                          \
    {                                                                                      \
        k, t, u, "As in changes.", FV_FIELD(S, m), .flags = FV_FLAT | FV_NULLABLE | (more) \
    }
#define CALL_COLUMNS                                                                                      \
    TIME_COLUMNS(struct fv_diff_row, change[FV_DIFF_TIME]),                                               \
        SIDE("wait_a_s", "waiting A", "s", struct fv_diff_row, change[FV_DIFF_WAIT].mean[0], FV_AS_KIND), \
        SIDE("wait_b_s", "waiting B", "s", struct fv_diff_row, change[FV_DIFF_WAIT].mean[1], FV_AS_KIND), \
        SIDE("count_a", "calls A", "count", struct fv_diff_row, change[FV_DIFF_CALLS].mean[0], 0),        \
        SIDE("count_b", "calls B", "count", struct fv_diff_row, change[FV_DIFF_CALLS].mean[1], 0),        \
        BYTES("bytes_a", "bytes A", 0), BYTES("bytes_b", "bytes B", 1)
#define BYTES(k, t, side)                                                                                \
    {                                                                                                    \
        k, t, "bytes", "As in changes.", FV_FIELD(struct fv_diff_row, change[FV_DIFF_BYTES].mean[side]), \
            .flags = FV_FLAT | FV_NULLABLE, .known = has_bytes                                           \
    }
static const struct fv_column_def function_columns[] = {
    { "function", "function", "", "The MPI function.", FV_FIELD(struct fv_diff_row, function) },
    CALL_COLUMNS,
    ROW_COLUMNS,
};
const struct fv_relation fv_diff_functions = {
    .name = "mpi_functions",
    .key = "mpi_functions",
    .title = "MPI functions",
    .group = "What changed",
    .doc = "MPI functions. Significant changes of time come first, largest first.",
    .shown = "function time_a_s time_b_s change_words percent_words/6 interval_words/5 significant "
             "wait_a_s/4 wait_b_s/4 "
             "count_a/3 count_b/3 bytes_a/2 bytes_b/2",
    FV_COLUMNS(function_columns),
    .base = the_diff,
    FV_ITEMS(struct fv_diff, functions, function_count),
};

static void get_module(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const char *module = ((const struct fv_diff_frame *)row)->module;

    v->text = *module ? module : NULL;
}

static const struct fv_column_def frame_columns[] = {
    { "function", "function", "", "The demangled name. Null: not known.", FV_FIELD(struct fv_diff_frame, function),
      .flags = FV_NULLABLE },
    { "file", "file", "", "Base name of the source file. Null: not known.", FV_FIELD(struct fv_diff_frame, file),
      .flags = FV_NULLABLE },
    { "line", "line", "", "The line of the call. Null: not known.", FV_FIELD(struct fv_diff_frame, line),
      .flags = FV_UNLESS_0 },
    { "module", "module", "", "Base name of the library, or (program). Null: not known.",
      FV_GET(FV_TYPE_TEXT, get_module), .flags = FV_NULLABLE },
    { "offset", "offset", "", "Return address in the module.", FV_FIELD(struct fv_diff_frame, offset) },
    { "inlined", "inlined", "", "True: the compiler inlined the function into the next frame.",
      FV_FIELD(struct fv_diff_frame, inlined) },
};

/* The parent is a member fv_diff_row.path[side]. */
static const void *path_of(void *subject, const void *parent)
{
    return *(const struct fv_diff_path *const *)parent;
}

static size_t frame_count(void *subject, const void *parent)
{
    const struct fv_diff_path *path = path_of(subject, parent);

    return path ? path->count : 0;
}

static const void *frame_at(void *subject, const void *parent, size_t i)
{
    return &((const struct fv_diff_path *)path_of(subject, parent))->frames[i];
}

static const struct fv_relation frames = {
    .key = "path",
    .title = "Call path",
    .doc = "Frames of the call path, innermost first. Empty: not on this side, or not recorded.",
    FV_COLUMNS(frame_columns),
    .count = frame_count,
    .row = frame_at,
};

static void get_id(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = (uint64_t)((const struct fv_diff_row *)row - diff_of(subject)->paths);
}

static void get_joined(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = c->words[((const struct fv_diff_row *)row)->join];
}

static void get_path(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_diff_row *r = row;
    const struct fv_diff_path *path = r->path[1] ? r->path[1] : r->path[0];
    struct fv_string *text = &((struct fv_diff_tables *)subject)->text;

    fv_string_clear(text);
    for (size_t i = 0; i < path->count; i++)
        fv_string_add(text, "%s%s", i ? " < " : "", path->frames[i].function ? path->frames[i].function : "?");
    v->text = text->text;
}

static const struct fv_column_def callsite_columns[] = {
    { "id", "id", "", "Index in this list, from 0.", FV_GET(FV_TYPE_WHOLE, get_id) },
    { "function", "function", "", "The MPI function.", FV_FIELD(struct fv_diff_row, function) },
    { "joined", "joined", "",
      "position: same function, file and line in each frame (or the offset, if no line is known). names: same "
      "functions, in another build. only_a, only_b: the other side does not have it.",
      FV_GET(FV_TYPE_TEXT, get_joined), .words = fv_diff_join_names },
    { "uneven", "uneven", "",
      "True: it was joined by names, and A and B have different numbers of paths with these names. The assignment is "
      "then a guess.",
      FV_FIELD(struct fv_diff_row, uneven) },
    { "path", "path", "", "Names of the functions, innermost first, separated by <; those of B, if B has it.",
      FV_GET(FV_TYPE_TEXT, get_path), .flags = FV_FLAT },
    CALL_COLUMNS,
    ROW_COLUMNS,
    { "path_a", "path in A", "", "", FV_NEST_IN(frames, struct fv_diff_row, path[0]) },
    { "path_b", "path in B", "", "", FV_NEST_IN(frames, struct fv_diff_row, path[1]) },
};
static const struct fv_relation callsites = {
    .name = "callsites",
    .key = "callsites",
    .title = "Call sites",
    .group = "What changed",
    .doc = "Call paths that lead to MPI, in the order of mpi_functions.",
    FV_COLUMNS(callsite_columns),
    .base = the_diff,
    FV_ITEMS(struct fv_diff, paths, path_count),
};

/* ---- rows of the other tables ---- */

static const char *const entry_metric_words[] = { FV_ENTRY_METRIC_LIST(FV_LIST_WORD) NULL };
static const struct fv_column_def entry_change_columns[] = { CHANGE_COLUMNS(
    entry_metric_words, ", and is it kept by the procedure of Benjamini and Hochberg for this table") };

static size_t entry_change_count(void *subject, const void *parent)
{
    return FV_ENTRY_METRICS;
}

static const void *entry_change_at(void *subject, const void *parent, size_t i)
{
    return changed(subject, ((const struct fv_diff_entry_row *)parent)->change, fv_diff_entry_metrics, i);
}

static const struct fv_relation entry_changes = {
    .key = "changes",
    .title = "Changes",
    .doc = "One entry for each metric. time_s: the seconds by which the table is sorted, mean of a rank. count: "
           "number, mean of a rank. mean_s: mean duration of one. Null: the table does not have it.",
    FV_COLUMNS(entry_change_columns),
    .count = entry_change_count,
    .row = entry_change_at,
};

static const char *table_words[FV_DIFF_TABLES + 1];
__attribute__((constructor)) static void list_tables(void)
{
    for (unsigned i = 0; i < FV_DIFF_TABLES; i++)
        table_words[i] = fv_diff_tables[i].relation;
}

static void get_table(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = c->words[((const struct fv_diff_entry_row *)row)->table];
}

/* Names of functions without parameters and outer scopes. */
static void get_label(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_diff_entry_row *r = row;
    struct fv_string *text = &((struct fv_diff_tables *)subject)->text;
    size_t bytes = 4 * strlen(r->name) + 1;

    v->text = r->name;
    if (!fv_diff_tables[r->table].file)
        return;
    FV_GROW(text->text, text->room, bytes);
    v->text = fv_words_brief(r->name, text->text, bytes);
}

static void get_entry_joined(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = c->words[((const struct fv_diff_entry_row *)row)->join];
}

static void get_entry_rank(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->number = ((const struct fv_diff_entry_row *)row)->rank;
    v->null = v->number < 0;
}

static void get_rank_word(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_diff_tables *t = subject;

    v->text = fv_diff_change_word(((const struct fv_diff_entry_row *)row)->rank_change_s, FV_UNIT_SECONDS, t->word);
    v->null = !*v->text;
}

#define ENTRY(k, t, d, m, more)                                             \
    {                                                                       \
        k, t, "", d, FV_FIELD(struct fv_diff_entry_row, m), .flags = (more) \
    }
#define ENTRY_SIDE(k, t, u, metric, side) SIDE(k, t, u, struct fv_diff_entry_row, change[metric].mean[side], FV_BLANK)
static const struct fv_column_def entry_columns[] = {
    { "table", "table", "", "The table of fvmpi report that contains the row.", FV_GET(FV_TYPE_TEXT, get_table),
      .words = table_words },
    ENTRY("name", "name", "Name of the row in that table.", name, 0),
    { "label", "name", "", "Name in short.", FV_GET(FV_TYPE_TEXT, get_label), .flags = FV_FLAT },
    ENTRY("place", "where", "File and line, place or kind. Null: not known.", place, FV_NULLABLE),
    { "joined", "joined", "",
      "position: same name, file and place. names: the same, except for lines. only_a, only_b: the other side does not "
      "have it.",
      FV_GET(FV_TYPE_TEXT, get_entry_joined), .words = fv_diff_join_names },
    ENTRY("a_run_count", "runs of A", "Runs of A that have it.", runs[0], 0),
    ENTRY("b_run_count", "runs of B", "Runs of B that have it.", runs[1], 0),
    { "rank", "rank", "",
      "The rank concerned: of a finding its own, otherwise the rank whose time changed most. Null: not known, or "
      "numbers of ranks differ.",
      FV_GET(FV_TYPE_NUMBER, get_entry_rank), .flags = FV_NULLABLE },
    { "rank_change_s", "rank change", "s", "How much the time of that rank changed. Null: not known.",
      FV_FIELD(struct fv_diff_entry_row, rank_change_s), .flags = FV_NULLABLE },
    { "rank_change_words", "rank change", "", "Change of the rank's time with its sign.",
      FV_GET(FV_TYPE_TEXT, get_rank_word), .flags = FV_FLAT | FV_NULLABLE | FV_AMOUNT },
    ENTRY("text", "text", "A finding in words. Null: not a finding.", text, FV_NULLABLE),
    TIME_COLUMNS(struct fv_diff_entry_row, change[FV_ENTRY_TIME]),
    ENTRY_SIDE("count_a", "count A", "count", FV_ENTRY_COUNT, 0),
    ENTRY_SIDE("count_b", "count B", "count", FV_ENTRY_COUNT, 1),
    ENTRY_SIDE("mean_a_s", "mean A", "s", FV_ENTRY_MEAN, 0),
    ENTRY_SIDE("mean_b_s", "mean B", "s", FV_ENTRY_MEAN, 1),
    { "changes", "changes", "", "", FV_NEST(entry_changes) },
};
const struct fv_relation fv_diff_entries = {
    .name = "entries",
    .key = "entries",
    .title = "Rows of tables",
    .group = "What changed",
    .doc = "Findings, sampled functions, procedures, computing between calls, sections and locks of either side, from "
           "tables that every run recorded. Significant changes of time come first, largest first.",
    .shown = "label place/7 time_a_s/9 time_b_s/9 change_words percent_words/6 interval_words/5 significant rank/8 "
             "rank_change_words/8 count_a/3 count_b/3 mean_a_s/4 mean_b_s/4",
    FV_COLUMNS(entry_columns),
    .base = the_diff,
    FV_ITEMS(struct fv_diff, entries, entry_count),
};

/* ---- machines and environments ---- */

static void get_fact_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = c->words[((const struct fv_diff_fact *)row)->kind];
}

#define FACT(k, t, m, f, d)                                         \
    {                                                               \
        k, t, "", d, FV_FIELD(struct fv_diff_fact, m), .flags = (f) \
    }
static const struct fv_column_def difference_columns[] = {
    { "kind", "kind", "", "What differs.", FV_GET(FV_TYPE_TEXT, get_fact_kind), .words = fv_diff_fact_kinds },
    FACT("name", "name", name, 0, "The fact of the machine, or the variable."),
    FACT("a", "A", value[0], FV_NULLABLE,
         "Value in A; several are separated by |, \"not set\" means ranks without it. Null: not known, or no rank has "
         "it."),
    FACT("b", "B", value[1], FV_NULLABLE, "Value in B, in the same form."),
};
static const struct fv_relation differences = {
    .name = "differences",
    .key = "differences",
    .title = "Machines and environments",
    .group = "Runs",
    .doc = "Differences between machines, placement of ranks and environments of A and B, by kind and name. Empty: "
           "none, or one of the runs did not record them.",
    FV_COLUMNS(difference_columns),
    .base = the_diff,
    FV_ITEMS(struct fv_diff, differing, differing_count),
};

const struct fv_relation *const fv_diff_relations[] = {
    &comparison,      &differences,       &runs_a,    &runs_b,   &fv_diff_run_changes,
    &fv_diff_entries, &fv_diff_functions, &callsites, &problems, NULL,
};
