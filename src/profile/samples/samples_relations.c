/* SPDX-License-Identifier: BSD-3-Clause */
/* What was sampled of functions' calls: relations functions, and function_totals over all their calling contexts. */
#include "profile/build.h"
#include "base/list.h"
#include "profile/relations.h"
#include "profile/samples/samples_relations.h"
#include "profile/samples/samples_shape.h"

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
    .doc = "Frame of the function, then those of its callers.",
    FV_COLUMNS(fv_frame_columns),
    .count = frame_count,
    .row = frame_at,
};

/* ---- functions ---- */

static void get_varies(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = ((const struct fv_sampled_function *)row)->varies != FV_VARIES_NOT;
}

static const char *const varies_words[] = { FV_VARIES_LIST(FV_LIST_WORD) NULL };
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

/* Of all that are known. */
static void get_call_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_samples *s = fv_samples_of(subject);
    const double calls = ((const struct fv_sampled_function *)row)->calls;
    double all = 0;

    for (size_t i = 0; i < s->function_count; i++)
        all += s->functions[i].calls > 0 ? s->functions[i].calls : 0;
    v->null = !(calls >= 0 && all > 0);
    v->real = calls / all;
}

#define VERDICTS(X)              \
    X(VARIES, "varies")          \
    X(STEADY, "steady")          \
    X(TOO_FEW, "too few")        \
    X(SMALL, "small share")      \
    X(WAITS, "waits")            \
    X(BRIEF, "too short")        \
    X(BY_CALLER, "by caller")    \
    X(LOOPS, "loop at entry")    \
    X(EVENTS, "events vary")     \
    X(RARE, "rare long calls")   \
    X(DISTURBED, "single calls") \
    X(TREND, "trend")
#define VERDICT(name, word) SAYS_##name,
enum { VERDICTS(VERDICT) };
static const char *const verdict_words[] = { VERDICTS(FV_LIST_WORD) NULL };
static void get_verdict(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled_function *s = row;

    bool differs = s->within > FV_SAMPLED_WITHIN || s->between > FV_SAMPLED_BETWEEN;

    char trend[FV_SAMPLED_TREND_TEXT];

    v->text = verdict_words[s->varies                                                                  ? SAYS_VARIES
                            : s->loops                                                                 ? SAYS_LOOPS
                            : s->rare.count                                                            ? SAYS_RARE
                            : s->event_varies                                                          ? SAYS_EVENTS
                            : s->disturbed                                                             ? SAYS_DISTURBED
                            : fv_sampled_says_brief(s)                                                 ? SAYS_BRIEF
                            : !s->judged || (isnan(s->between) && s->threads > 1)                      ? SAYS_TOO_FEW
                            : !differs && s->by_caller > FV_SAMPLED_WITHIN                             ? SAYS_BY_CALLER
                            : *fv_sampled_trend_words(fv_samples_of(subject), s, trend, sizeof(trend)) ? SAYS_TREND
                            : !differs                                                                 ? SAYS_STEADY
                            : s->waits                                                                 ? SAYS_WAITS
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
#define FILE_COLUMNS                                                                        \
    {                                                                                       \
        "file",                                                                             \
        "file",                                                                             \
        "",                                                                                 \
        "Source file of the function.",                                                     \
        FV_GET(FV_TYPE_TEXT, get_file),                                                     \
        .flags = FV_FLAT | FV_NULLABLE                                                      \
    },                                                                                      \
    {                                                                                       \
        "line", "line", "", "First line of the function.", FV_GET(FV_TYPE_WHOLE, get_line), \
            .flags = FV_FLAT | FV_NULLABLE                                                  \
    }
#define TICKS_COLUMNS                                                                                    \
    OF_FUNCTION("ticks", "ticks", "", ticks, "Clock samples in the function and in what it calls."),     \
        OF_FUNCTION("mpi_ticks", "MPI ticks", "", mpi_ticks, "The samples among `ticks` in MPI calls."), \
        OF_FUNCTION("sync_ticks", "wait ticks", "", sync_ticks,                                          \
                    "The samples among `ticks` outside of MPI in which threads wait for threads.")
#define VERDICT_COLUMN                                                                                                 \
    {                                                                                                                  \
        "verdict", "", "",                                                                                             \
            "varies or steady. trend: calls grow or shrink over the run, and differ little else. by caller: calls "    \
            "differ only between callers. too short: its durations are not known. "                                    \
            "events vary: counted events vary, but not the CPU time. loop at entry: a loop begins at its first "       \
            "instruction, so iterations would count as calls. rare long calls: few calls are long and have at least "  \
            "a tenth of the time. single calls: so few calls differ, and by so little time, that the machine may be "  \
            "the cause. too few: too few calls or threads to judge. small share: it varies, but has little CPU time. " \
            "waits: it is part of MPI or waits for threads.",                                                          \
            FV_GET(FV_TYPE_TEXT, get_verdict), .flags = FV_FLAT, .words = verdict_words                                \
    }
#define VARIES_BY_COLUMN                                                                                     \
    {                                                                                                        \
        "varies_by", "varies by", "",                                                                        \
            "within: it varies within threads. between: it varies between threads. Null: it does not vary.", \
            FV_GET(FV_TYPE_TEXT, get_varies_by), .flags = FV_NULLABLE, .words = varies_words                 \
    }
#define JUDGED_COLUMNS                                                                                           \
    OF_FUNCTION("judged", "judged", "", judged, "True: `within` is known."),                                     \
        OF_FUNCTION(                                                                                             \
            "pooled", "", "", pooled,                                                                            \
            "True: no thread has 8 samples, so `within` is over all threads together, each about its own mean.", \
            | FV_BLANK),                                                                                         \
        OF_FUNCTION("inside_mpi", "inside MPI", "", inside_mpi,                                                  \
                    "True: more than 95 % of its clock samples are in MPI calls, so it is part of MPI."),        \
        OF_FUNCTION("waits", "waits", "", waits,                                                                 \
                    "True: more than 95 % of its clock samples are in MPI or wait for threads, so it is not judged.")
#define OFF(k, t, m, d) OF_FUNCTION(k, t, "share", off.m, d, | FV_NULLABLE | FV_ESTIMATE)
#define OFF_COLUMNS                                                                                                \
    OFF("off_variance_share", "off processor", share,                                                              \
        "Share of the variance of the kept calls' durations that is due to time off the processor (waiting or "    \
        "preempted). Their covariance over the variance, each context and thread about its own mean. Null: fewer " \
        "than 30 calls, calls too short, or equal durations."),                                                    \
        OFF("off_variance_low", "from", low, "Lower bound of the 95 % confidence interval (bootstrap)."),          \
        OFF("off_variance_high", "to", high, "Upper bound of the 95 % confidence interval (bootstrap).")
#define CALLS_COLUMNS                                                                                                 \
    OF_FUNCTION("entry_count", "entries", "", entries, "Calls that sampling followed."),                              \
        OF_FUNCTION("return_count", "returns", "", returns, "Followed calls that returned."),                         \
        OF_FUNCTION("abandoned_count", "abandoned", "", abandoned,                                                    \
                    "Followed calls that ended without a return: longjmp, exceptions, or the thread's end.",          \
                    | FV_BLANK),                                                                                      \
        OF_FUNCTION("rank_count", "ranks", "", ranks, "Ranks with such calls."),                                      \
        OF_FUNCTION("thread_count", "threads", "", threads, "Threads with such calls."),                              \
        OF_FUNCTION(                                                                                                  \
            "fast", "fast", "", fast,                                                                                 \
            "True: it is too short for the window and for the resolution. Its mean may be wrong by microseconds.",    \
            | FV_BLANK),                                                                                              \
        FLAT_STAT("mean_cpu_s", "mean CPU", "s", FV_TYPE_REAL, FV_METRIC_CPU, FV_STAT_MEAN,                           \
                  "Mean CPU time of the measured calls. Null: at most two calls, shorter than the resolution of "     \
                  "sampling, or iterations of a loop would count as calls."),                                         \
        FLAT_STAT("mean_time_s", "mean time", "s", FV_TYPE_REAL, FV_METRIC_TIME, FV_STAT_MEAN,                        \
                  "Mean duration of the measured calls. Null as in mean_cpu_s."),                                     \
        { "mpi_share",                                                                                                \
          "in MPI",                                                                                                   \
          "share",                                                                                                    \
          "Share of the mean duration in MPI.",                                                                       \
          FV_GET(FV_TYPE_REAL, get_mpi_share),                                                                        \
          .flags = FV_FLAT | FV_NULLABLE | FV_BLANK },                                                                \
        FLAT_STAT("sample_count", "samples", "", FV_TYPE_WHOLE, FV_METRIC_CPU, FV_STAT_COUNT,                         \
                  "Number of measured calls."),                                                                       \
        FLAT_STAT("window_sample_count", "window", "", FV_TYPE_WHOLE, FV_METRIC_CPU, FV_STAT_COUNT | FV_STAT_WINDOW,  \
                  "Measured calls that were chosen independently of the duration of the previous call: the window."), \
        FLAT_STAT(                                                                                                    \
            "bias", "window/all", "ratio", FV_TYPE_REAL, FV_METRIC_CPU, FV_STAT_BIAS,                                 \
            "Mean CPU time in the window over that of all measured calls. Null: fewer than 8 calls in the window.")

static const struct fv_column_def function_columns[] = {
    FV_SAMPLED_ID_COLUMN("id", 0, "Index in this list, from 0."),
    { "key", "key", "", "Identifies the function in its context in all reports of the same program, on any run.",
      FV_GET(FV_TYPE_HEX, get_key) },
    OF_FUNCTION("total_id", "function", "id", function,
                "The function over all its contexts, an index in sampled_totals."),
    FV_SAMPLED_FUNCTION_COLUMN(0),
    { "path", "path", "",
      "The call path as in callsites. It begins with the function itself, whose offset is its entry.", FV_NEST(path) },
    FILE_COLUMNS,
    { "path", "path", "", "Names of the function and its callers, separated by <.", FV_GET(FV_TYPE_TEXT, get_path),
      .flags = FV_FLAT },
    TICKS_COLUMNS,
    { "called_by", "called by", "", "The caller of the function. Null: not known.", FV_GET(FV_TYPE_TEXT, get_caller),
      .flags = FV_FLAT | FV_NULLABLE | FV_NAME },
    OF_FUNCTION("time_share", "CPU share", "share", share,
                "Share of the computing CPU time in the function and in what it calls, by clock samples. Computing is "
                "user time outside of MPI that does not wait for threads.",
                | FV_ESTIMATE),
    OF_FUNCTION("within", "cov calls", "ratio", within,
                "Coefficient of variation of the calls' CPU time outside of MPI, within the thread where it is "
                "largest. Threads with fewer than 8 samples are left out. Null: calls too short, or iterations of a "
                "loop would count as calls.",
                | FV_NULLABLE | FV_ESTIMATE),
    OF_FUNCTION("between", "cov threads", "ratio", between,
                "Coefficient of variation of the threads' means over all ranks, after subtracting what the variation "
                "within threads explains. Null: fewer than two threads.",
                | FV_NULLABLE | FV_ESTIMATE),
    VERDICT_COLUMN,
    { "varies", "varies", "",
      "True: time_share of the function over all contexts > 0.1, and within > 0.2 or between > 0.1.",
      FV_GET(FV_TYPE_TRUTH, get_varies) },
    VARIES_BY_COLUMN,
    JUDGED_COLUMNS,
    { "advice", "advice", "",
      "How the function varies, and which other metric varies most; that metric need not be the cause. Null: it does "
      "not vary.",
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
    .doc = "Functions whose whole calls were sampled (fvmpi run --sample), by calling context. Ranks are merged if the "
           "whole context is equal (build-ids and offsets). Sorted by function as in sampled_totals, then by share. "
           "Empty: nothing was sampled.",
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
    { "name", "function", "",
      "Name of the function. Empty for a context that the text report shows below its function.",
      FV_GET(FV_TYPE_TEXT, get_name), .flags = FV_FLAT | FV_NULLABLE | FV_NAME },
    { "called_by", "called by", "", "The caller of the function, or the number of call paths to it. Null: not known.",
      FV_GET(FV_TYPE_TEXT, get_caller), .flags = FV_FLAT | FV_NULLABLE | FV_NAME },
    OF_FUNCTION("first_context_id", "first context", "id", first_context,
                "The first of its contexts, an index in sampled_functions."),
    OF_FUNCTION("context_count", "contexts", "", contexts, "Number of its contexts; they follow each other."),
    FILE_COLUMNS,
    TICKS_COLUMNS,
    OF_FUNCTION("time_share", "CPU share", "share", share,
                "Share of the computing CPU time in the function and in what it calls, by clock samples. Recursion "
                "counts once.",
                | FV_ESTIMATE),
    VERDICT_COLUMN,
    OF_FUNCTION("within", "cov calls", "ratio", within,
                "Coefficient of variation of the calls' CPU time outside of MPI about the mean of their context, "
                "within the thread where it is largest. Contexts are weighted by CPU time. Null: calls too short.",
                | FV_NULLABLE | FV_ESTIMATE),
    OF_FUNCTION("by_caller", "cov callers", "ratio", by_caller,
                "Coefficient of variation of the contexts' means, weighted by their estimated numbers of calls, after "
                "subtracting what the variation within explains. Null: one context.",
                | FV_NULLABLE | FV_ESTIMATE),
    OF_FUNCTION("between", "cov threads", "ratio", between,
                "Coefficient of variation of the threads' means over all ranks, relative to the means of their "
                "contexts, after subtracting what the variation within explains. Null: fewer than two threads.",
                | FV_NULLABLE | FV_ESTIMATE),
    { "varies", "varies", "",
      "True: time_share > 0.1, and within > 0.2 or between > 0.1, for the function or for one of its contexts alone.",
      FV_GET(FV_TYPE_TRUTH, get_varies) },
    VARIES_BY_COLUMN,
    JUDGED_COLUMNS,
    { "advice", "advice", "",
      "How the function varies, and which other metric varies most; that metric need not be the cause. Or that it "
      "differs by caller. Null: neither.",
      FV_GET(FV_TYPE_TEXT, get_advice), .flags = FV_NULLABLE },
    OF_FUNCTION(
        "call_count", "calls", "count", calls,
        "Estimated number of calls: CPU time of its threads, by clock samples, over the mean CPU time of a call. If "
        "long calls are rare: from calls in short time spans. Null: too few or too short calls.",
        | FV_NULLABLE | FV_ESTIMATE),
    { "call_share", "part of calls", "share", "call_count as a share of that of all functions.",
      FV_GET(FV_TYPE_REAL, get_call_share), .flags = FV_NULLABLE | FV_ESTIMATE },
    OF_FUNCTION("long_call_count", "long calls", "", rare.count,
                "Rare long calls that clock samples met: at least ten times the median of the measured calls.",
                | FV_BLANK),
    OF_FUNCTION("long_time_s", "long time", "s", rare.time_s, "CPU time of these long calls outside of MPI.",
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
    .doc = "Sampled functions (fvmpi run --sample) over all their calling contexts. Functions that vary come first, by "
           "share times variation; those that wait come last. Empty: nothing was sampled.",
    .shown = "name called_by/4 time_share verdict within by_caller/5 pooled between mean_cpu_s fast call_count/2 "
             "call_share/1 long_call_count/2 mean_time_s/3 "
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
    .group = "Functions with measured calls",
    .bytes = sizeof(struct fv_samples),
    .tracks = { &fv_track_samples },
    .relations = { &fv_sampling_relation, &functions_relation, &function_totals_relation },
    .cost = add_cost,
    .release = fv_samples_release,
};
