/* SPDX-License-Identifier: BSD-3-Clause */
/* What the functions did that the compiler instrumented: relations instrumented, instrumented_paths,
 * instrumented_lost. */
#include "profile/build.h"
#include "profile/functions/instrumentation.h"
#include "profile/functions/streams.h"
#include "profile/relations.h"

#include <math.h>
#include <stdio.h>

FV_DATA_BASE(instrumentation)

static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_path *path = fv_tables_path(t, *(const uint32_t *)(const void *)((const char *)row + c->argument));

    v->text = path->count ? fv_frame_label(&path->frames[0], t->profile->symbols, t->text, sizeof(t->text)) : NULL;
}
#define FUNCTION_COLUMN(S)                                                                                    \
    {                                                                                                         \
        "function", "function", "", "The demangled name. Without a known symbol: module+0xoffset.",           \
            FV_GET(FV_TYPE_TEXT, get_function), .flags = FV_NULLABLE | FV_NAME, .argument = offsetof(S, node) \
    }
#define FILE_COLUMNS(S)                                                                                  \
    { "file",                                                                                            \
      "file",                                                                                            \
      "",                                                                                                \
      "The source file. Null: not known.",                                                               \
      FV_GET(FV_TYPE_TEXT, fv_get_path_file),                                                            \
      .flags = FV_NULLABLE,                                                                              \
      .argument = offsetof(S, node) },                                                                   \
    {                                                                                                    \
        "line", "line", "", "The first line of the function. Null: not known.",                          \
            FV_GET(FV_TYPE_WHOLE, fv_get_path_line), .flags = FV_NULLABLE, .argument = offsetof(S, node) \
    }

static void get_own(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_calls_sum *sum = (const void *)((const char *)row + c->offset);

    v->real = fmax(sum->self_s - sum->mpi_self_s, 0);
}

/* Of the calls that are measured. */
static void get_mean(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_calls_sum *sum = (const void *)((const char *)row + c->offset);

    v->real = sum->ended ? sum->seconds / (double)sum->ended : NAN;
}

static bool has_ended(void *subject, const void *row, const struct fv_column_def *c)
{
    const struct fv_calls_sum *sum = (const void *)((const char *)row + c->argument);

    return sum->ended > sum->open;
}

/* clang-format off */
#define SUM_COLUMNS(S, m) \
    { "calls", "calls", "", "Calls of all ranks and threads. Exact.", FV_FIELD(S, m.calls) }, \
    { "nested", "nested", "", "Calls within another call of the same function. They are not timed by themselves.", \
      FV_FIELD(S, m.nested), .flags = FV_BLANK }, \
    { "counted", "counted", "", \
      "Calls that were counted but not timed: the function takes less than 1 us and was called 100,000 times before. " \
      "Their time belongs to their callers.", \
      FV_FIELD(S, m.counted), .flags = FV_BLANK }, \
    { "open_count", "open", "", \
      "Threads that were still in the function when their rank ended. The call counts until then.", \
      FV_FIELD(S, m.open), .flags = FV_BLANK }, \
    { "time_s", "time", "s", \
      "Time in the function and in what it calls. The cost of measuring many calls is part of their caller's time.", \
      FV_FIELD(S, m.seconds) }, \
    { "self_s", "self", "s", "Time in the function without instrumented functions that it calls; MPI is included.", \
      FV_FIELD(S, m.self_s) }, \
    { "computing_s", "computing", "s", "self_s outside of MPI. Waiting for threads or I/O is included.", \
      FV_GET(FV_TYPE_REAL, get_own), .offset = offsetof(S, m) }, \
    { "mpi_s", "MPI", "s", "The part of time_s in MPI calls of the same thread.", FV_FIELD(S, m.mpi_s), \
      .flags = FV_BLANK }, \
    { "mean_s", "a call", "s", "time_s divided by the number of timed calls.", FV_GET(FV_TYPE_REAL, get_mean), \
      .flags = FV_NULLABLE, .offset = offsetof(S, m) }, \
    { "min_s", "min", "s", "The shortest call that ended.", FV_FIELD(S, m.min_s), .flags = FV_NULLABLE, \
      .known = has_ended, .argument = offsetof(S, m) }, \
    { "max_s", "max", "s", "The longest call that ended.", FV_FIELD(S, m.max_s), .flags = FV_NULLABLE, \
      .known = has_ended, .argument = offsetof(S, m) }
/* clang-format on */
#define RECORDED_BY "fvmpi run --functions, of a program compiled with -finstrument-functions"

/* ---- by rank ---- */

static const struct fv_column_def function_outer[] = {
    FV_DATA_ID_COLUMN(instrumentation, struct fv_instrumentation, "function_id", functions,
                      "Index in instrumented, from 0."),
    FUNCTION_COLUMN(struct fv_instrumented_function),
};
static const struct fv_column_def rank_columns[] = {
    FV_RANK_COLUMN(struct fv_function_rank, rank, "rank", "rank", "The rank."),
    SUM_COLUMNS(struct fv_function_rank, sum),
};
static const struct fv_relation ranks = {
    .name = "instrumented_ranks",
    .key = "per_rank",
    .title = "Instrumented functions by rank",
    .doc = "Numbers of the function on each rank, by rank.",
    .shown = "function rank calls time_s self_s computing_s mpi_s/2 mean_s/3 max_s/1",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(rank_columns),
    FV_OUTER(function_outer),
    .base = instrumentation_base,
    FV_SLICE(struct fv_instrumentation, ranks, struct fv_instrumented_function, first, ranks),
};

/* ---- functions ---- */

static const struct fv_column_def function_columns[] = {
    FV_DATA_ID_COLUMN(instrumentation, struct fv_instrumentation, "id", functions, "Index in this list, from 0."),
    FUNCTION_COLUMN(struct fv_instrumented_function),
    FILE_COLUMNS(struct fv_instrumented_function),
    FV_SHARE_COLUMN("share", "of all", struct fv_instrumented_function, sum.self_s, FV_OF_RANKS, 0,
                    "self_s as a share of the time of all ranks. With several threads it can exceed 1."),
    SUM_COLUMNS(struct fv_instrumented_function, sum),
    { "rank_count", "ranks", "", "Number of ranks that called it.", FV_FIELD(struct fv_instrumented_function, ranks) },
    { "rank_mean_s", "mean rank", "s", "Mean computing_s of a rank, over all ranks.",
      FV_FIELD(struct fv_instrumented_function, mean_s) },
    { "rank_max_s", "max rank", "s", "computing_s of the rank with the most.",
      FV_FIELD(struct fv_instrumented_function, rank_max_s) },
    FV_RANK_OR_NULL_COLUMN(struct fv_instrumented_function, max_rank, "max_rank", "rank",
                           "The rank with the most computing_s. Null: not known, because files are damaged."),
    { "imbalance_s", "imbalance", "s", "(rank_max_s - rank_mean_s) x ranks: time that all ranks lose by the imbalance.",
      FV_FIELD(struct fv_instrumented_function, imbalance_s) },
    { "per_rank", "by rank", "", "", FV_NEST(ranks) },
};
static const struct fv_relation instrumented_relation = {
    .name = "instrumented",
    .key = "instrumented",
    .title = "Instrumented functions",
    .doc = "Functions that the compiler instrumented, over all callers, ranks and threads, largest self_s first. "
           "Exact. If a function calls itself, only the outermost call is in time_s.",
    .shown = "function self_s share computing_s/6 mpi_s/4 time_s calls mean_s/5 max_s/1 rank_max_s/3 max_rank/3 "
             "imbalance_s/2",
    .share = "share",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(function_columns),
    .base = instrumentation_base,
    FV_ITEMS(struct fv_instrumentation, functions, function_count),
};

/* ---- first calls ---- */

static const struct fv_function_warm_up *warm_up_of(const void *row)
{
    return &((const struct fv_instrumented_function *)row)->warm_up;
}

static size_t count_functions(void *subject, const void *parent)
{
    return fv_model_instrumentation(fv_tables_model(subject))->function_count;
}

static const void *function_with_first_calls(void *subject, const void *parent, size_t i)
{
    const struct fv_instrumented_function *f = &fv_model_instrumentation(fv_tables_model(subject))->functions[i];

    return f->warm_up.of_threads ? f : NULL;
}

static void get_first(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = warm_up_of(row)->first_s / warm_up_of(row)->threads;
}

static void get_later(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = warm_up_of(row)->later_s / (double)warm_up_of(row)->later;
}

static bool has_warmed_up(void *subject, const void *row, const struct fv_column_def *c)
{
    return warm_up_of(row)->threads;
}

static void get_times(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_value first = *v, later = *v;

    get_first(subject, row, c, &first);
    get_later(subject, row, c, &later);
    v->real = first.real / later.real;
}

#define OF_FIRST(k, t, u, get, d)                                                           \
    {                                                                                       \
        k, t, u, d, FV_GET(FV_TYPE_REAL, get), .flags = FV_NULLABLE, .known = has_warmed_up \
    }
static const struct fv_column_def first_columns[] = {
    FUNCTION_COLUMN(struct fv_instrumented_function),
    { "thread_count", "threads", "", "Threads that ended at least 10 timed calls of it.",
      FV_FIELD(struct fv_instrumented_function, warm_up.of_threads) },
    { "warm_up_count", "warm up", "",
      "Threads with warm-up: their first call took at least twice as long as the longest of their others.",
      FV_FIELD(struct fv_instrumented_function, warm_up.threads), .flags = FV_BLANK },
    OF_FIRST("warm_up_s", "first", "s", get_first, "Mean time of these first calls. Null: no warm-up."),
    OF_FIRST("steady_s", "later", "s", get_later, "Mean time of the later calls of these threads. Null: no warm-up."),
    { "steady_max_s", "longest later", "s", "The longest of these later calls. Null: no warm-up.",
      FV_FIELD(struct fv_instrumented_function, warm_up.longest_s), .flags = FV_NULLABLE, .known = has_warmed_up },
    OF_FIRST("ratio", "first / later", "ratio", get_times, "warm_up_s divided by steady_s. Null: no warm-up."),
    { "excess_s", "cost", "s",
      "What the first calls took longer than the mean of the thread's later ones, over all threads with warm-up.",
      FV_FIELD(struct fv_instrumented_function, warm_up.excess_s), .flags = FV_BLANK },
};
static const struct fv_relation first_calls_relation = {
    .name = "function_warm_up",
    .key = "function_warm_up",
    .title = "First calls of functions",
    .doc = "Whether the first call of an instrumented function on a thread took longer than its later calls. Caches, "
           "pages and branch predictors are cold at first. Functions with at least 10 timed calls on a thread, in the "
           "order of instrumented. Exact.",
    .shown = "function thread_count/1 warm_up_count warm_up_s steady_s steady_max_s ratio excess_s",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(first_columns),
    .count = count_functions,
    .row = function_with_first_calls,
};

/* ---- call paths ---- */

static void get_tree(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_function_place *p = row;
    int indent = p->depth < 40 ? 2 * (int)p->depth : 80;
    const struct fv_path *path = fv_tables_path(t, p->node);
    char label[512];

    snprintf(t->text, sizeof(t->text), "%*s%s", indent, "",
             path->count ? fv_frame_label(&path->frames[0], t->profile->symbols, label, sizeof(label)) : "?");
    v->text = t->text;
}

/* Where it is called: of the frame behind its own. */
static void get_call(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_path *path = fv_tables_path(t, ((const struct fv_function_place *)row)->node);

    v->null = path->count < 2 || !path->frames[1].file || !path->frames[1].line;
    if (v->null)
        return;
    snprintf(t->text, sizeof(t->text), "%s:%u", fv_base_name(path->frames[1].file), path->frames[1].line);
    v->text = t->text;
}

static const struct fv_column_def place_columns[] = {
    FV_DATA_ID_COLUMN(instrumentation, struct fv_instrumentation, "id", places, "Index in this list, from 0."),
    { "parent_id", "parent", "id", "id of the caller; it is smaller. Null: no instrumented caller.",
      FV_FIELD(struct fv_function_place, parent), .flags = FV_UNLESS_NONE },
    { "function_id", "function", "id", "Index in instrumented.", FV_FIELD(struct fv_function_place, function) },
    { "tree", "function", "", "Name of the function, indented below its caller.", FV_GET(FV_TYPE_TEXT, get_tree),
      .flags = FV_FLAT },
    { "called_at", "called at", "", "File and line of the call, without directories. Null: not known.",
      FV_GET(FV_TYPE_TEXT, get_call), .flags = FV_FLAT | FV_NULLABLE },
    FV_PATH_COLUMNS(struct fv_function_place, node),
    FV_SHARE_COLUMN("share", "of all", struct fv_function_place, sum.seconds, FV_OF_RANKS, 0,
                    "time_s as a share of the time of all ranks. With several threads it can exceed 1."),
    SUM_COLUMNS(struct fv_function_place, sum),
    { "rank_count", "ranks", "", "Number of ranks that called it there.", FV_FIELD(struct fv_function_place, ranks) },
    { "rank_max_s", "max rank", "s", "time_s of the rank with the most.",
      FV_FIELD(struct fv_function_place, rank_max_s) },
    FV_RANK_OR_NULL_COLUMN(struct fv_function_place, max_rank, "max_rank", "rank",
                           "The rank with the most time_s. Null: not known, because files are damaged."),
};
static const struct fv_relation instrumented_paths_relation = {
    .name = "instrumented_paths",
    .key = "instrumented_paths",
    .title = "Instrumented functions by call path",
    .doc = "Instrumented functions as a call tree: each function is followed by those it calls, largest time_s first. "
           "Only instrumented functions are frames.",
    .shown = "tree called_at/5 time_s share self_s mpi_s/3 calls mean_s/4 max_s/1 rank_max_s/2 max_rank/2",
    .share = "share",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(place_columns),
    .base = instrumentation_base,
    FV_ITEMS(struct fv_instrumentation, places, place_count),
};

/* ---- what was counted ---- */

static const struct fv_function_count *counted(const void *row)
{
    return row;
}

static void get_counted_in(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_instrumentation *i = fv_model_instrumentation(fv_tables_model(subject));
    struct fv_column_def of = *c;

    of.argument = offsetof(struct fv_instrumented_function, node);
    get_function(subject, &i->functions[counted(row)->function], &of, v);
}

static void get_event(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_model_instrumentation(fv_tables_model(subject))->events[counted(row)->event].name;
}

static bool has_self(void *subject, const void *row, const struct fv_column_def *c)
{
    return counted(row)->has_self;
}

static bool has_mpi(void *subject, const void *row, const struct fv_column_def *c)
{
    return counted(row)->has_mpi;
}

static void get_of_a_call(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = (double)counted(row)->count / (double)counted(row)->calls;
}

#define OF_COUNT(S_member) FV_FIELD(struct fv_function_count, S_member)
static const struct fv_column_def count_columns[] = {
    { "function_id", "function", "id", "Index in instrumented.", OF_COUNT(function) },
    { "function", "function", "", "The demangled name.", FV_GET(FV_TYPE_TEXT, get_counted_in),
      .flags = FV_NULLABLE | FV_NAME },
    { "event", "event", "", "The event, with its unit.", FV_GET(FV_TYPE_TEXT, get_event) },
    { "counted", "counted", "", "Count in the function and in what it calls, over all ranks and threads.",
      OF_COUNT(count) },
    { "self_counted", "self", "",
      "Count in the function without functions that it calls; MPI is included. Null: not recorded.", OF_COUNT(self),
      .flags = FV_NULLABLE, .known = has_self },
    { "mpi_counted", "in MPI", "", "The part of self_counted in MPI calls. Null: not recorded.", OF_COUNT(mpi_self),
      .flags = FV_NULLABLE, .known = has_mpi },
    { "calls", "calls", "", "Calls that ended and were counted.", OF_COUNT(calls) },
    { "mean", "a call", "", "counted divided by calls.", FV_GET(FV_TYPE_REAL, get_of_a_call) },
    { "rank_max", "max rank", "", "self_counted of the rank with the most; where that is null, counted.",
      OF_COUNT(rank_max) },
    FV_RANK_OR_NULL_COLUMN(struct fv_function_count, max_rank, "max_rank", "rank",
                           "This rank. Null: not known, because files are damaged."),
};
static const struct fv_relation instrumented_counts_relation = {
    .name = "instrumented_counts",
    .key = "instrumented_counts",
    .title = "Events counted in functions",
    .doc = "Counts of functions in an archive, by function and event, in the order of instrumented. Counters must have "
           "been read at each begin and end of a function, or fvmpi counted single calls (--events). Exact.",
    .shown = "function event self_counted mpi_counted/2 counted calls mean/3 rank_max/4 max_rank/4",
    .recorded_by = "an archive whose tool counted events",
    FV_COLUMNS(count_columns),
    .base = instrumentation_base,
    FV_ITEMS(struct fv_instrumentation, counts, count_count),
};

/* ---- losses ---- */

static const void *the_losses(void *subject, const void *parent)
{
    const struct fv_instrumentation *i = fv_model_instrumentation(fv_tables_model(subject));

    return i->function_count ? &i->losses : NULL;
}
static const struct fv_column_def lost_columns[] = {
    { "too_deep", "too deep", "",
      "Calls below the level that --depth names, or in a stack of more than 8,192 calls. Their time belongs to their "
      "callers.",
      FV_FIELD(struct fv_function_losses, too_deep) },
    { "no_room", "no room", "",
      "Calls that were not recorded: no memory, no disk, or more than 65,536 call paths of a thread. Their time "
      "belongs to their callers.",
      FV_FIELD(struct fv_function_losses, no_room) },
    { "left", "left", "",
      "Calls that were left by an exception, longjmp() or the thread's end. They count until fvmpi noticed it.",
      FV_FIELD(struct fv_function_losses, left) },
    { "unbegun", "no begin", "", "Ends without a begin.", FV_FIELD(struct fv_function_losses, unbegun) },
    { "interrupted", "interrupted", "",
      "Begins and ends in signal handlers that interrupted the recording of another one. They are not measured.",
      FV_FIELD(struct fv_function_losses, interrupted) },
    { "untraced", "untraced", "", "Begins and ends that are missing in the trace.",
      FV_FIELD(struct fv_function_losses, untraced) },
};
static const struct fv_relation instrumented_lost_relation = {
    .name = "instrumented_lost",
    .key = "instrumented_lost",
    .title = "Losses of instrumented functions",
    .doc = "Calls of instrumented functions that could not be measured. Null: no functions were instrumented.",
    .shape = FV_ONE,
    .nullable = true,
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(lost_columns),
    .base = the_losses,
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_instrumentation;

static void fold_instrumented(struct fv_model *m, struct fv_alikes *alikes)
{
    struct fv_instrumentation *instrumented = fv_model_instrumentation(m);

    for (size_t i = 0; i < instrumented->place_count; i++)
        instrumented->places[i].node = fv_alike(alikes, instrumented->places[i].node);
    fv_instrumentation_fold(instrumented);
}

const struct fv_subject fv_instrumentation_subject = {
    .group = "Instrumented functions",
    .bytes = sizeof(struct fv_instrumentation),
    .tracks = { &fv_track_instrumentation, &fv_track_streams },
    .relations = { &instrumented_relation, &instrumented_paths_relation, &first_calls_relation,
                   &instrumented_counts_relation, &instrumented_lost_relation, &fv_streams_relation },
    .fold = fold_instrumented,
    .release = fv_instrumentation_release,
};
