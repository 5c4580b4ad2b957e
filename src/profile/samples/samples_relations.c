/* SPDX-License-Identifier: BSD-3-Clause */
/* What was sampled of functions' calls: relations functions, and function_totals over all their calling contexts. */
#include "profile/build.h"
#include "profile/relations.h"
#include "profile/samples/samples_relations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FV_DATA_BASE(samples)

/* ---- what functions are ---- */

static size_t frame_count(void *subject, const void *parent)
{
    const struct fv_path *path = fv_tables_path(subject, ((const struct fv_sampled_function *)parent)->node);

    return path->count - fv_sampled_own_frame(path);
}

static const void *frame_at(void *subject, const void *parent, size_t i)
{
    struct fv_frame *frame = (void *)((struct fv_tables *)subject)->inner;

    return fv_sampled_frame(subject, parent, i, frame) ? frame : NULL;
}

static void get_file(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_frame own;

    v->text = fv_sampled_frame(subject, row, 0, &own) ? own.file : NULL;
}

static void get_line(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_frame own;

    v->whole = fv_sampled_frame(subject, row, 0, &own) ? own.line : 0;
    v->null = !v->whole;
}

static void get_path(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_path *path = fv_tables_path(subject, ((const struct fv_sampled_function *)row)->node);

    v->text = fv_path_text(subject, path, fv_sampled_own_frame(path));
}

static const struct fv_relation path = {
    .key = "path",
    .doc = "The function's own frame, then those of its callers.",
    FV_COLUMNS(fv_frame_columns),
    .count = frame_count,
    .row = frame_at,
};

/* ---- functions ---- */

static void get_varies(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = ((const struct fv_sampled_function *)row)->varies != FV_VARIES_NOT;
}

static const char *const varies_words[] = { "within", "between", "both", NULL };
static void get_varies_by(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    enum fv_varies by = ((const struct fv_sampled_function *)row)->varies;

    v->text = by == FV_VARIES_NOT ? NULL : varies_words[by - 1];
}

static void get_advice(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    fv_sampled_advice(fv_samples_of(t), row, t->text, sizeof(t->text));
    v->text = t->text[0] ? t->text : NULL;
}

/* The function that calls it, those left out that it is inlined into; or how many contexts there are. */
static void get_caller(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_sampled_function *s = row;

    if (s->contexts > 1) {
        snprintf(t->text, sizeof(t->text), "%zu call paths", s->contexts);
        v->text = t->text;
        return;
    }
    const struct fv_path *p = fv_tables_path(t, s->node);
    size_t caller = fv_sampled_own_frame(p) + 1;

    while (caller + 1 < p->count && p->frames[caller].inlined)
        caller++;
    if (caller < p->count)
        v->text = fv_frame_label(&p->frames[caller], t->profile->symbols, t->text, sizeof(t->text));
}

#define VERDICTS(X)            \
    X(VARIES, "varies")        \
    X(STEADY, "steady")        \
    X(TOO_FEW, "too few")      \
    X(SMALL, "small share")    \
    X(WAITS, "waits")          \
    X(BRIEF, "too short")      \
    X(BY_CALLER, "by caller")  \
    X(LOOPS, "loop at entry")  \
    X(EVENTS, "events vary")   \
    X(RARE, "rare long calls") \
    X(DISTURBED, "single calls")
#define VERDICT(name, word) SAYS_##name,
enum { VERDICTS(VERDICT) };
static const char *const verdict_words[] = { VERDICTS(FV_LIST_WORD) NULL };
static void get_verdict(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled_function *s = row;

    bool differs = s->within > FV_SAMPLED_WITHIN || s->between > FV_SAMPLED_BETWEEN;

    v->text = verdict_words[s->varies                                             ? SAYS_VARIES
                            : s->loops                                            ? SAYS_LOOPS
                            : s->rare.count                                       ? SAYS_RARE
                            : s->event_varies                                     ? SAYS_EVENTS
                            : s->disturbed                                        ? SAYS_DISTURBED
                            : fv_sampled_says_brief(s)                            ? SAYS_BRIEF
                            : !s->judged || (isnan(s->between) && s->threads > 1) ? SAYS_TOO_FEW
                            : !differs && s->by_caller > FV_SAMPLED_WITHIN        ? SAYS_BY_CALLER
                            : !differs                                            ? SAYS_STEADY
                            : s->waits                                            ? SAYS_WAITS
                                                                                  : SAYS_SMALL];
}

/* `argument`: as of metrics, and the metric. A mean of fewer than three says nothing. */
#define MEAN_OF             3
#define OF_METRIC(m, which) ((intptr_t)(m) << 8 | (which))
static void get_of_metric(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled_function *s = row;

    fv_put_sampled_stat(fv_samples_of(subject), s, &s->all, &s->window, (enum fv_metric)(c->argument >> 8),
                        c->argument & 255, v);
    if ((c->argument & 255) == FV_STAT_MEAN && s->all.count < MEAN_OF) {
        v->null = true;
        v->below = false;
    }
}

static void get_mpi_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled_stat *all = &((const struct fv_sampled_function *)row)->all;

    v->real = all->count >= MEAN_OF && !fv_sampled_is_brief(row, FV_METRIC_TIME)
                  ? all->mean[FV_METRIC_MPI] / all->mean[FV_METRIC_TIME]
                  : NAN;
}
#define FLAT_STAT(k, t, u, type, m, which, d)                                                                    \
    {                                                                                                            \
        k, t, u, d, FV_GET(type, get_of_metric), .flags = FV_FLAT | FV_NULLABLE, .argument = OF_METRIC(m, which) \
    }

/* In text, contexts stand below their function. */
static void get_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    if (((const struct fv_sampled_function *)row)->contexts)
        fv_get_sampled_function(subject, row, c, v);
    else
        v->text = "";
}

#define OF_FUNCTION(k, t, u, m, d, ...)                                             \
    {                                                                               \
        k, t, u, d, FV_FIELD(struct fv_sampled_function, m), .flags = 0 __VA_ARGS__ \
    }
static void get_key(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = fv_tables_model(subject)->tree.nodes[((const struct fv_sampled_function *)row)->node].key;
}

/* What functions in a context, and over all contexts, have in common. */
#define FILE_COLUMNS                                                                                            \
    { "file", "file", "", "Its source file.", FV_GET(FV_TYPE_TEXT, get_file), .flags = FV_FLAT | FV_NULLABLE }, \
    {                                                                                                           \
        "line", "line", "", "The line that it begins on.", FV_GET(FV_TYPE_WHOLE, get_line),                     \
            .flags = FV_FLAT | FV_NULLABLE                                                                      \
    }
#define TICKS_COLUMNS                                                                        \
    OF_FUNCTION("ticks", "ticks", "", ticks, "Clock samples in it and what it calls."),      \
        OF_FUNCTION("mpi_ticks", "MPI ticks", "", mpi_ticks, "Those of them in MPI calls."), \
        OF_FUNCTION("sync_ticks", "wait ticks", "", sync_ticks, "Others of them in which threads wait for threads.")
#define VERDICT_COLUMN                                                                                                 \
    {                                                                                                                  \
        "verdict", "", "",                                                                                             \
            "varies or steady; by caller: calls of one caller differ from those of another alone; too short: for its " \
            "times to be known; "                                                                                      \
            "events vary: counted ones do, not the CPU time; "                                                         \
            "loop at entry: a loop begins at its first instruction, and sampling takes its turns for calls; "          \
            "rare long calls: few calls take long, a tenth of its time at least, the others are short; "               \
            "single calls: as few differ, and by as little time, as what the machine does besides may have made; "     \
            "too few: calls, to judge, or threads to compare; small share: it varies, but has little of the CPU "      \
            "time; "                                                                                                   \
            "waits: it is a part of MPI, or waits for threads.",                                                       \
            FV_GET(FV_TYPE_TEXT, get_verdict), .flags = FV_FLAT, .words = verdict_words                                \
    }
#define VARIES_BY_COLUMN                                                                     \
    {                                                                                        \
        "varies_by", "varies by", "", "Which of these it is; null: it does not vary.",       \
            FV_GET(FV_TYPE_TEXT, get_varies_by), .flags = FV_NULLABLE, .words = varies_words \
    }
#define JUDGED_COLUMNS                                                                                           \
    OF_FUNCTION("judged", "judged", "", judged, "Is `within` known?"),                                           \
        OF_FUNCTION("pooled", "", "", pooled,                                                                    \
                    "Is `within` of all threads together, each about its own mean, because none has 8 samples?", \
                    | FV_BLANK),                                                                                 \
        OF_FUNCTION("inside_mpi", "inside MPI", "", inside_mpi,                                                  \
                    "Are more than 95 % of its clock samples in MPI calls? It is a part of MPI then."),          \
        OF_FUNCTION("waits", "waits", "", waits,                                                                 \
                    "Are more than 95 % in MPI calls or waiting for threads? It is not judged then.")
#define OFF(k, t, m, d) OF_FUNCTION(k, t, "share", off.m, d, | FV_NULLABLE | FV_ESTIMATE)
#define OFF_COLUMNS                                                                                                  \
    OFF("off_variance_share", "off processor", share,                                                                \
        "Part of the variance of the kept calls' times that is due to time off the processor, because it waited or " \
        "others had it: covariance of the two over the variance, each context and thread about its own mean; "       \
        "null: of fewer than 30 calls, too short ones, or they do not differ."),                                     \
        OFF("off_variance_low", "from", low, "Of its 95 % interval, by bootstrap, the lower bound."),                \
        OFF("off_variance_high", "to", high, "The upper one.")
#define CALLS_COLUMNS                                                                                               \
    OF_FUNCTION("entry_count", "entries", "", entries, "Calls that were followed."),                                \
        OF_FUNCTION("return_count", "returns", "", returns, "Those of them that returned."),                        \
        OF_FUNCTION("abandoned_count", "abandoned", "", abandoned,                                                  \
                    "Those that ended without: longjmp, exceptions, the thread's end.", | FV_BLANK),                \
        OF_FUNCTION("rank_count", "ranks", "", ranks, "Ranks with such calls."),                                    \
        OF_FUNCTION("thread_count", "threads", "", threads, "Threads with such calls."),                            \
        OF_FUNCTION("fast", "fast", "", fast,                                                                       \
                    "Is it too short for the window, and for the resolution? Its mean may be off by "               \
                    "microseconds.",                                                                                \
                    | FV_BLANK),                                                                                    \
        FLAT_STAT("mean_cpu_s", "mean CPU", "s", FV_TYPE_REAL, FV_METRIC_CPU, FV_STAT_MEAN,                         \
                  "Mean CPU time of the calls; null: of two or fewer, shorter than the resolution of sampling, or " \
                  "not told from the turns of a loop."),                                                            \
        FLAT_STAT("mean_time_s", "mean time", "s", FV_TYPE_REAL, FV_METRIC_TIME, FV_STAT_MEAN,                      \
                  "Mean time; likewise."),                                                                          \
        { "mpi_share",                                                                                              \
          "in MPI",                                                                                                 \
          "share",                                                                                                  \
          "The part of that in MPI.",                                                                               \
          FV_GET(FV_TYPE_REAL, get_mpi_share),                                                                      \
          .flags = FV_FLAT | FV_NULLABLE | FV_BLANK },                                                              \
        FLAT_STAT("sample_count", "samples", "", FV_TYPE_WHOLE, FV_METRIC_CPU, FV_STAT_COUNT,                       \
                  "Calls that were measured."),                                                                     \
        FLAT_STAT("window_sample_count", "equal chance", "", FV_TYPE_WHOLE, FV_METRIC_CPU,                          \
                  FV_STAT_COUNT | FV_STAT_WINDOW,                                                                   \
                  "Those of them whose choice does not depend on how long the call before took: the window."),      \
        FLAT_STAT("bias", "of these/all", "ratio", FV_TYPE_REAL, FV_METRIC_CPU, FV_STAT_BIAS,                       \
                  "Mean CPU time in the window over that of all; null: fewer than 8 in the window.")

static const struct fv_column_def function_columns[] = {
    FV_SAMPLED_ID_COLUMN("id", 0, "Index in this list, from 0."),
    { "key", "key", "", "Its number in each report of the same program, on any run.", FV_GET(FV_TYPE_HEX, get_key) },
    OF_FUNCTION("total_id", "function", "id", function,
                "The function over all its contexts: index in function_totals."),
    FV_SAMPLED_FUNCTION_COLUMN(0),
    { "path", "path", "",
      "The call path as in callsites, beginning with the function itself, whose offset is its entry.", FV_NEST(path) },
    FILE_COLUMNS,
    { "path", "path", "", "The names of the function and its callers, with < between them.",
      FV_GET(FV_TYPE_TEXT, get_path), .flags = FV_FLAT },
    TICKS_COLUMNS,
    { "called_by", "called by", "", "The function that calls it; null: not known.", FV_GET(FV_TYPE_TEXT, get_caller),
      .flags = FV_FLAT | FV_NULLABLE | FV_NAME },
    OF_FUNCTION("time_share", "CPU share", "share", share,
                "Part of the CPU time in user mode that is computing, outside of MPI and not waiting for threads, in "
                "it and what it "
                "calls, by clock samples.",
                | FV_ESTIMATE),
    OF_FUNCTION("within", "cov calls", "ratio", within,
                "Coefficient of variation of the CPU time outside of MPI within a thread, of that where it is largest; "
                "threads with fewer than 8 samples are left out; null: calls too short for that, or not told from the "
                "turns of a loop.",
                | FV_NULLABLE | FV_ESTIMATE),
    OF_FUNCTION("between", "cov threads", "ratio", between,
                "The same of the threads' means, over all ranks, less what the spread within explains; null: "
                "fewer than two threads.",
                | FV_NULLABLE | FV_ESTIMATE),
    VERDICT_COLUMN,
    { "varies", "varies", "", "time_share over all the function's contexts > 0.1, and (within > 0.2 or between > 0.1).",
      FV_GET(FV_TYPE_TRUTH, get_varies) },
    VARIES_BY_COLUMN,
    JUDGED_COLUMNS,
    { "advice", "advice", "",
      "How it varies, and which other metric varies most, which need not be the cause; null: it does not "
      "vary.",
      FV_GET(FV_TYPE_TEXT, get_advice), .flags = FV_NULLABLE },
    CALLS_COLUMNS,
    OFF_COLUMNS,
    { "metrics", "metrics", "", "", FV_NEST(fv_sampled_metrics_relation) },
    { "instances", "instances", "", "", FV_NEST(fv_sampled_instances_relation) },
    { "recent", "recent", "", "", FV_NEST(fv_sampled_recent_relation) },
};
static const struct fv_relation functions_relation = {
    .recorded_by = "fvmpi run --sample",
    .name = "sampled_functions",
    .key = "functions",
    .title = "Sampled functions",
    .doc = "Functions that were sampled (fvmpi run --sample), in their calling contexts: whole calls of them. "
           "Ranks are merged where the whole context is the same (build-ids and offsets). By function, in the order of "
           "function_totals, then by share. Empty: nothing was sampled.",
    .shown = "function called_by/4 time_share verdict within pooled between mean_cpu_s fast mean_time_s/3 "
             "mpi_share/2 "
             "sample_count/6 window_sample_count/1 bias/1 abandoned_count/1",
    .share = "time_share",
    FV_COLUMNS(function_columns),
    .base = samples_base,
    FV_ITEMS(struct fv_samples, items, count),
};

/* ---- over all contexts ---- */

static const struct fv_column_def total_columns[] = {
    FV_SAMPLED_ID_COLUMN("id", 0, "Index in this list, from 0."),
    FV_SAMPLED_FUNCTION_COLUMN(0),
    { "name", "function", "", "The same; empty for a context that text shows below its function.",
      FV_GET(FV_TYPE_TEXT, get_name), .flags = FV_FLAT | FV_NULLABLE | FV_NAME },
    { "called_by", "called by", "", "The function that calls it, or how many call paths lead to it; null: not known.",
      FV_GET(FV_TYPE_TEXT, get_caller), .flags = FV_FLAT | FV_NULLABLE | FV_NAME },
    OF_FUNCTION("first_context_id", "first context", "id", first_context,
                "The first of its contexts: index in functions."),
    OF_FUNCTION("context_count", "contexts", "", contexts, "How many there are, one behind the other."),
    FILE_COLUMNS,
    TICKS_COLUMNS,
    OF_FUNCTION(
        "time_share", "CPU share", "share", share,
        "Part of the CPU time in user mode that is computing, in it and what it calls, by clock samples; where it "
        "calls itself, once.",
        | FV_ESTIMATE),
    VERDICT_COLUMN,
    OF_FUNCTION(
        "within", "cov calls", "ratio", within,
        "Coefficient of variation of the CPU time outside of MPI of its calls about the mean of their context, within "
        "a "
        "thread, of that where it is largest; contexts count by their CPU time. Null: calls too short for that.",
        | FV_NULLABLE | FV_ESTIMATE),
    OF_FUNCTION(
        "by_caller", "cov callers", "ratio", by_caller,
        "Coefficient of variation of the contexts' means, each with its estimated number of calls, less what the "
        "spread within explains; null: one context.",
        | FV_NULLABLE | FV_ESTIMATE),
    OF_FUNCTION("between", "cov threads", "ratio", between,
                "Coefficient of variation of the threads' means, over all ranks, each over the mean of the context, "
                "less what the "
                "spread within explains; null: fewer than two threads.",
                | FV_NULLABLE | FV_ESTIMATE),
    { "varies", "varies", "",
      "time_share > 0.1 and (within > 0.2 or between > 0.1), of it, or of one of its contexts alone.",
      FV_GET(FV_TYPE_TRUTH, get_varies) },
    VARIES_BY_COLUMN,
    JUDGED_COLUMNS,
    { "advice", "advice", "",
      "How it varies, and which other metric varies most, which need not be the cause; or that it differs by caller; "
      "null: neither.",
      FV_GET(FV_TYPE_TEXT, get_advice), .flags = FV_NULLABLE },
    OF_FUNCTION("call_count", "calls", "count", calls,
                "How often it was called: its CPU time by clock samples over the mean CPU time of its calls; where "
                "long calls are rare, on "
                "the threads that have them, by calls in short spans of time. Null: too few were measured, or they are "
                "too short.",
                | FV_NULLABLE | FV_ESTIMATE),
    OF_FUNCTION("long_call_count", "long calls", "", rare.count,
                "Rare long calls, ten times as long as the median of those measured or longer, that clock samples met.",
                | FV_BLANK),
    OF_FUNCTION("long_time_s", "in these", "s", rare.time_s, "Their CPU time outside of MPI.",
                | FV_BLANK | FV_ESTIMATE),
    CALLS_COLUMNS,
    OFF_COLUMNS,
    { "metrics", "metrics", "", "", FV_NEST(fv_sampled_total_metrics_relation) },
};
static const struct fv_relation function_totals_relation = {
    .recorded_by = "fvmpi run --sample",
    .name = "sampled_totals",
    .key = "function_totals",
    .title = "Sampled functions over all contexts",
    .doc = "Functions that were sampled (fvmpi run --sample), each over all its calling contexts: what is judged. "
           "Those that vary come "
           "first, by share times variation, those that wait last. Empty: nothing was sampled.",
    .shown = "name called_by/4 time_share verdict within by_caller/5 pooled between mean_cpu_s fast call_count/2 "
             "long_call_count/2 mean_time_s/3 "
             "mpi_share/2 sample_count/6 window_sample_count/1 bias/1 abandoned_count/1",
    .share = "time_share",
    FV_COLUMNS(total_columns),
    .base = samples_base,
    FV_ITEMS(struct fv_samples, functions, function_count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_samples;

extern const struct fv_relation fv_sampling_relation;

static void add_cost(const struct fv_model *m, struct fv_overhead *overhead)
{
    overhead->sampling_s = fv_model_samples(m)->tool_s;
    overhead->time_s += overhead->sampling_s;
}

const struct fv_subject fv_samples_subject = {
    .name = "samples",
    .bytes = sizeof(struct fv_samples),
    .tracks = { &fv_track_samples },
    .relations = { &fv_sampling_relation, &functions_relation, &function_totals_relation },
    .cost = add_cost,
    .release = fv_samples_release,
};
