/* SPDX-License-Identifier: BSD-3-Clause */
/* What was measured in calls of sampled functions: metrics, their histograms and parts by thread, and single calls. */
#include "profile/samples/samples_shape.h"
#include "profile/samples/samples_relations.h"

#include <math.h>

FV_DATA_BASE(samples)

/* ---- the function ---- */

/* The row's function: the row itself, or, with an `argument`, what it begins with a pointer to. */
static const struct fv_sampled_function *function_at(const void *row, const struct fv_column_def *c)
{
    return c->argument ? *(const struct fv_sampled_function *const *)row : row;
}

void fv_get_sampled_id(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled_function *s = function_at(row, c);

    v->whole = (uint64_t)(s - (s->contexts ? fv_samples_of(subject)->functions : fv_samples_of(subject)->items));
}

bool fv_sampled_frame(struct fv_tables *t, const struct fv_sampled_function *s, size_t i, struct fv_frame *out)
{
    const struct fv_path *p = fv_tables_path(t, s->node);
    size_t at = fv_sampled_own_frame(p) + i;

    if (at >= p->count)
        return false;
    *out = p->frames[at];
    if (!i && out->offset)
        out->offset--;
    return true;
}

void fv_get_sampled_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    struct fv_frame own;

    if (fv_sampled_frame(t, function_at(row, c), 0, &own))
        v->text = fv_frame_label(&own, t->profile->symbols, t->text, sizeof(t->text));
}

/* ---- metrics ---- */

/* A metric of a function; and of one thread. */
struct metric_row {
    const struct fv_sampled_function *s;
    double quantiles[3]; /* NAN: not known */
    struct fv_trend trend;
    size_t kept;
    enum fv_metric metric;
};
struct part_row {
    const struct fv_sampled_function *s;
    const struct fv_sampled_part *part;
    enum fv_metric metric;
};

/* Of the instances that are kept, which t->reals has sorted then. */
static void find_shape(struct fv_tables *t, struct metric_row *row)
{
    static const double parts[] = { 0.5, 0.9, 0.99 };
    const struct fv_samples *samples = fv_model_samples(t->model);

    row->kept = fv_sampled_values(samples, row->s, row->metric, &t->reals, &t->reals_room);
    row->trend = fv_sampled_trend(samples, row->s, row->metric);
    for (unsigned i = 0; i < 3; i++)
        row->quantiles[i] =
            row->kept < FV_SAMPLED_ENOUGH ? NAN : fv_quantile(t->reals, sizeof(*t->reals), row->kept, parts[i]);
}

static size_t metric_count(void *subject, const void *parent)
{
    return FV_SAMPLED_METRICS;
}

static const void *metric_at(void *subject, const void *parent, size_t i)
{
    struct fv_tables *t = subject;
    const struct fv_sampled_function *s = parent;
    struct metric_row *row = (void *)t->row;

    if (!fv_sampled_metric(fv_samples_of(t), (enum fv_metric)i) || (i > FV_METRIC_CPU && !(s->all.mean[i] > 0)))
        return NULL;
    *row = (struct metric_row){ .s = s, .metric = (enum fv_metric)i };
    find_shape(t, row);
    return row;
}

static void get_metric(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_sampled_metric(fv_samples_of(subject), ((const struct metric_row *)row)->metric);
}

static void get_unit(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    enum fv_metric metric = ((const struct metric_row *)row)->metric;

    v->text = metric <= FV_METRIC_MPI || metric == FV_SAMPLED_COMPUTING ? "s"
              : metric == FV_METRIC_MPI_BYTES                           ? "bytes"
                                                                        : "count";
}

enum { IS_WITHIN, IS_BETWEEN, IS_BY_CALLER };
static void get_variation(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct metric_row *r = row;
    const struct fv_variation of = fv_sampled_variation(r->s, r->metric);

    v->real = !of.judged                  ? NAN
              : c->argument == IS_WITHIN  ? of.within
              : c->argument == IS_BETWEEN ? of.between
                                          : of.by_caller;
}

static void get_metric_varies(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct metric_row *r = row;
    const struct fv_variation of = fv_sampled_variation(r->s, r->metric);

    v->null = !of.judged;
    v->truth = of.varies != FV_VARIES_NOT;
}

/* Traps take time, and never give any: what they were measured to take on average is a bound. */
static void put_brief(const struct fv_samples *samples, double mean, struct fv_value *v)
{
    v->null = v->below = true;
    v->real = fmax(samples->resolution_s, mean);
}

/* `which`: of `window` where it has FV_STAT_WINDOW. */
void fv_put_sampled_stat(const struct fv_samples *samples, const struct fv_sampled_function *of,
                         const struct fv_sampled_stat *all, const struct fv_sampled_stat *window, enum fv_metric m,
                         intptr_t which, struct fv_value *v)
{
    const struct fv_sampled_stat *s = which & FV_STAT_WINDOW ? window : all;

    if (of->loops && which & ~FV_STAT_WINDOW) {
        v->null = true;
        return;
    }
    if (fv_sampled_is_brief(of, m) && which & ~FV_STAT_WINDOW) {
        v->null = true;
        if ((which & ~FV_STAT_WINDOW) == FV_STAT_MEAN && fv_sampled_count(s, m))
            put_brief(samples, s->mean[m], v);
        return;
    }
    switch (which & ~FV_STAT_WINDOW) {
    case FV_STAT_COUNT: v->whole = fv_sampled_count(s, m); break;
    case FV_STAT_MEAN: v->real = fv_sampled_count(s, m) ? s->mean[m] : NAN; break;
    case FV_STAT_STDDEV: v->real = fv_sampled_count(s, m) > 1 ? fv_sampled_stddev(s, m) : NAN; break;
    case FV_STAT_COV: v->real = fv_sampled_count(s, m) > 1 ? fv_sampled_cov(s, m) : NAN; break;
    default:
        v->real =
            fv_sampled_count(window, m) >= FV_SAMPLED_ENOUGH && all->mean[m] > 0 ? window->mean[m] / all->mean[m] : NAN;
    }
}

static void get_stat(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct metric_row *r = row;

    fv_put_sampled_stat(fv_samples_of(subject), r->s, &r->s->all, &r->s->window, r->metric, c->argument, v);
}

static void get_part_stat(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct part_row *r = row;

    fv_put_sampled_stat(fv_samples_of(subject), r->s, &r->part->all, &r->part->window, r->metric, c->argument, v);
}

static void get_quantile(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct metric_row *r = row;

    v->real = r->quantiles[c->argument];
    if (r->metric <= FV_METRIC_CPU && v->real < fv_samples_of(subject)->resolution_s)
        put_brief(fv_samples_of(subject), 0, v);
}

enum { IS_CHANGE, IS_ERROR };
static void get_trend(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_trend *t = &((const struct metric_row *)row)->trend;

    v->real = c->argument == IS_CHANGE ? t->change : t->error;
}

static void get_trend_significant(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_trend *t = &((const struct metric_row *)row)->trend;

    v->null = isnan(t->change);
    v->truth = t->significant;
}

/* ---- histograms ---- */

struct bucket_row {
    const struct fv_sampled_function *s;
    enum fv_metric metric;
    double begin, end;
    uint64_t count;
};

static size_t bucket_count(void *subject, const void *parent)
{
    return ((const struct metric_row *)parent)->kept ? FV_SAMPLED_BUCKETS : 0;
}

/* Those that are not empty. */
static const void *bucket_at(void *subject, const void *parent, size_t i)
{
    struct fv_tables *t = subject;
    const struct metric_row *of = parent;
    struct bucket_row *row = (void *)t->inner;

    *row = (struct bucket_row){ .s = of->s,
                                .metric = of->metric,
                                .begin = fv_sampled_bucket_begin(of->metric, (unsigned)i),
                                .end = fv_sampled_bucket_begin(of->metric, (unsigned)i + 1),
                                .count = fv_sampled_bucket(t->reals, of->kept, of->metric, (unsigned)i) };
    return row->count ? row : NULL;
}

/* ---- parts ---- */

static size_t part_count(void *subject, const void *parent)
{
    return ((const struct metric_row *)parent)->s->parts;
}

static const void *part_at(void *subject, const void *parent, size_t i)
{
    struct fv_tables *t = subject;
    const struct metric_row *of = parent;
    struct part_row *row = (void *)t->inner;

    *row = (struct part_row){ of->s, &fv_samples_of(t)->parts[of->s->first_part + i], of->metric };
    return row;
}

static void get_part_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled_part *part = ((const struct part_row *)row)->part;

    if (c->argument)
        v->whole = part->thread;
    else
        v->number = fv_tables_model(subject)->ranks[part->rank].world_rank;
}

#define METRIC_COLUMN                                                                                                \
    {                                                                                                                \
        "metric", "metric", "",                                                                                      \
            "Name of the metric: time_s, cpu_time_s (of the thread), mpi_time_s, mpi_calls, mpi_bytes (sent and "    \
            "received), faults (page faults), switches (of context), migrations (between processors), or an event. " \
            "computing_s: the smaller of CPU time and time outside of MPI.",                                         \
            FV_GET(FV_TYPE_TEXT, get_metric)                                                                         \
    }
#define STAT_COLUMN(k, t, u, d, type, get, which)                                                       \
    {                                                                                                   \
        k, t, u, d, FV_GET(type, get), .flags = (type) == FV_TYPE_REAL ? FV_NULLABLE | FV_ESTIMATE : 0, \
                                       .argument = (which)                                              \
    }
#define METRIC_STAT(k, t, u, d, which) STAT_COLUMN(k, t, u, d, FV_TYPE_REAL, get_stat, which)
#define PART_STAT(k, t, d, which)      STAT_COLUMN(k, t, "", d, FV_TYPE_REAL, get_part_stat, which)

static const struct fv_column_def function_part_outer[] = {
    FV_SAMPLED_ID_COLUMN("function_id", 1, "Index in functions, from 0."),
    FV_SAMPLED_FUNCTION_COLUMN(1),
    METRIC_COLUMN,
};
static const struct fv_column_def total_part_outer[] = {
    FV_SAMPLED_ID_COLUMN("total_id", 1, "Index in function_totals, from 0."),
    FV_SAMPLED_FUNCTION_COLUMN(1),
    METRIC_COLUMN,
};
static const struct fv_column_def part_columns[] = {
    { "rank", "rank", "", "The rank.", FV_GET(FV_TYPE_NUMBER, get_part_place), .flags = FV_IS_RANK },
    { "thread", "thread", "", "The thread.", FV_GET(FV_TYPE_WHOLE, get_part_place), .flags = FV_IS_THREAD,
      .argument = 1 },
    STAT_COLUMN("sample_count", "samples", "", "Calls that were measured.", FV_TYPE_WHOLE, get_part_stat,
                FV_STAT_COUNT),
    PART_STAT("mean", "mean", "Mean of these calls, in the metric's unit.", FV_STAT_MEAN),
    PART_STAT("stddev", "stddev", "Standard deviation of these calls (of a sample).", FV_STAT_STDDEV),
    STAT_COLUMN("window_sample_count", "window", "",
                "Measured calls that were chosen independently of the duration of the previous call: the window.",
                FV_TYPE_WHOLE, get_part_stat, FV_STAT_COUNT | FV_STAT_WINDOW),
    PART_STAT("window_mean", "mean window", "Mean of the window.", FV_STAT_MEAN | FV_STAT_WINDOW),
};
#define PARTS_RELATION(n, t, o)                                                                    \
    .of_ranks = true, .name = n, .key = "per_thread", .title = t,                                  \
    .doc = "The metric on each thread with measured calls, by rank and thread.", .shape = FV_ROWS, \
    FV_COLUMNS(part_columns), FV_OUTER(o), .count = part_count, .row = part_at
static const struct fv_relation function_parts = { PARTS_RELATION("sampled_by_thread", "Sampled functions by thread",
                                                                  function_part_outer) };
static const struct fv_relation total_parts = { PARTS_RELATION(
    "sampled_total_by_thread", "Sampled functions over all contexts by thread", total_part_outer) };

#define QUANTILE(k, d, i)                                                                                    \
    {                                                                                                        \
        k, k, "", d, FV_GET(FV_TYPE_REAL, get_quantile), .flags = FV_NULLABLE | FV_ESTIMATE, .argument = (i) \
    }
static const struct fv_column_def bucket_columns[] = {
    { "begin", "from", "", "Lower end of the bucket, in the metric's unit.", FV_FIELD(struct bucket_row, begin) },
    { "end", "to", "", "Upper end of the bucket: twice the lower end.", FV_FIELD(struct bucket_row, end) },
    { "count", "calls", "", "Number of calls in the bucket.", FV_FIELD(struct bucket_row, count) },
};
#define HISTOGRAM_RELATION(n, t, o)                                                                                \
    .name = n, .key = "histogram", .title = t,                                                                     \
    .doc = "Histogram of the calls in `instances`, in powers of two of ns or counts. Empty buckets are left out. " \
           "Empty: the metric is not kept for single calls.",                                                      \
    .shape = FV_ROWS, FV_COLUMNS(bucket_columns), FV_OUTER(o), .count = bucket_count, .row = bucket_at
static const struct fv_relation function_histogram = { HISTOGRAM_RELATION(
    "sampled_histogram", "Histogram of sampled functions", function_part_outer) };
static const struct fv_relation total_histogram = { HISTOGRAM_RELATION(
    "sampled_total_histogram", "Histogram of sampled functions over all contexts", total_part_outer) };

#define VARIATION(k, t, d, i)                                                                                      \
    {                                                                                                              \
        k, t, "ratio", d, FV_GET(FV_TYPE_REAL, get_variation), .flags = FV_NULLABLE | FV_ESTIMATE, .argument = (i) \
    }
#define METRIC_COLUMNS                                                                                                 \
    METRIC_COLUMN,                                                                                                     \
        { "unit",                                                                                                      \
          "unit",                                                                                                      \
          "",                                                                                                          \
          "Unit of mean, stddev and the percentiles.",                                                                 \
          FV_GET(FV_TYPE_TEXT, get_unit),                                                                              \
          .words = (const char *const[]){ "s", "bytes", "count", NULL } },                                             \
        STAT_COLUMN("sample_count", "samples", "",                                                                     \
                    "Calls that were measured. For an event: those in which it was counted.", FV_TYPE_WHOLE, get_stat, \
                    FV_STAT_COUNT),                                                                                    \
        METRIC_STAT("mean", "mean", "", "Mean of these calls.", FV_STAT_MEAN),                                         \
        METRIC_STAT("stddev", "stddev", "", "Standard deviation of these calls (divided by sample_count - 1).",        \
                    FV_STAT_STDDEV),                                                                                   \
        METRIC_STAT("cov", "cov", "ratio", "Coefficient of variation: stddev over mean.", FV_STAT_COV),                \
        STAT_COLUMN("window.sample_count", "window", "",                                                               \
                    "Measured calls that were chosen independently of the duration of the previous call: the window.", \
                    FV_TYPE_WHOLE, get_stat, FV_STAT_COUNT | FV_STAT_WINDOW),                                          \
        METRIC_STAT("window.mean", "mean window", "", "Mean of the window.", FV_STAT_MEAN | FV_STAT_WINDOW),           \
        METRIC_STAT("window.cov", "cov window", "ratio", "Coefficient of variation in the window.",                    \
                    FV_STAT_COV | FV_STAT_WINDOW),                                                                     \
        METRIC_STAT("bias", "window/all", "ratio",                                                                     \
                    "Mean of the window over the mean of all calls. Null: fewer than 8 calls in the window.",          \
                    FV_STAT_BIAS),                                                                                     \
        QUANTILE("p50",                                                                                                \
                 "Median of the calls in `instances`, for time_s, cpu_time_s and counted events. Null: fewer than 8 "  \
                 "calls, or another metric.",                                                                          \
                 0),                                                                                                   \
        QUANTILE("p90", "90th percentile of the calls in `instances`. Null as in p50.", 1),                            \
        QUANTILE("p99", "99th percentile of the calls in `instances`. Null as in p50.", 2),                            \
        { "trend.change",                                                                                              \
          "trend",                                                                                                     \
          "ratio",                                                                                                     \
          "Change from begin to end of the run over the mean, by least squares over the calls in `instances`, each "   \
          "context and thread about its own mean. Null: fewer than 8 calls, or the metric is not kept for single "     \
          "calls.",                                                                                                    \
          FV_GET(FV_TYPE_REAL, get_trend),                                                                             \
          .flags = FV_NULLABLE | FV_ESTIMATE,                                                                          \
          .argument = IS_CHANGE },                                                                                     \
        { "trend.error",                                                                                               \
          "+-",                                                                                                        \
          "ratio",                                                                                                     \
          "Error of trend.change with 99 % probability.",                                                              \
          FV_GET(FV_TYPE_REAL, get_trend),                                                                             \
          .flags = FV_NULLABLE | FV_ESTIMATE,                                                                          \
          .argument = IS_ERROR },                                                                                      \
        { "trend.significant",                                                                                         \
          "trend is",                                                                                                  \
          "",                                                                                                          \
          "True: the change is larger than its error, and ten parts of the run rise or fall one after the other.",     \
          FV_GET(FV_TYPE_TRUTH, get_trend_significant),                                                                \
          .flags = FV_NULLABLE },                                                                                      \
        VARIATION("within", "cov calls",                                                                               \
                  "Coefficient of variation within threads for this metric, as the function's `within`. Known for "    \
                  "computing_s and counted events; otherwise null.",                                                   \
                  IS_WITHIN),                                                                                          \
        VARIATION("between", "cov threads", "Likewise.", IS_BETWEEN),                                                  \
        VARIATION("by_caller", "cov callers",                                                                          \
                  "Coefficient of variation between calling contexts, as the function's `by_caller`. Null: one "       \
                  "context, or another metric.",                                                                       \
                  IS_BY_CALLER),                                                                                       \
    {                                                                                                                  \
        "varies", "varies", "",                                                                                        \
            "True: this metric varies, by the rule of the function's `varies`. Null: it is not judged.",               \
            FV_GET(FV_TYPE_TRUTH, get_metric_varies), .flags = FV_NULLABLE                                             \
    }
static const struct fv_column_def function_metric_columns[] = {
    METRIC_COLUMNS,
    { "histogram", "histogram", "", "", FV_NEST(function_histogram) },
    { "per_thread", "by thread", "", "", FV_NEST(function_parts) },
};
static const struct fv_column_def total_metric_columns[] = {
    METRIC_COLUMNS,
    { "histogram", "histogram", "", "", FV_NEST(total_histogram) },
    { "per_thread", "by thread", "", "", FV_NEST(total_parts) },
};
static const struct fv_column_def function_outer[] = {
    FV_SAMPLED_ID_COLUMN("function_id", 0, "Index in functions, from 0."),
    FV_SAMPLED_FUNCTION_COLUMN(0),
};
static const struct fv_column_def total_outer[] = {
    FV_SAMPLED_ID_COLUMN("total_id", 0, "Index in function_totals, from 0."),
    FV_SAMPLED_FUNCTION_COLUMN(0),
};
#define METRICS_RELATION(n, t, o)                                                                                  \
    .name = n, .key = "metrics", .title = t,                                                                       \
    .doc = "What was measured in the calls of the function, by metric. time_s and cpu_time_s are always present; " \
           "others only if not 0. An event is present only if a rank could count it.",                             \
    .shape = FV_MAP, FV_COLUMNS(o##_metric_columns), FV_OUTER(o##_outer), .count = metric_count, .row = metric_at
const struct fv_relation fv_sampled_metrics_relation = { METRICS_RELATION("sampled_metrics",
                                                                          "Metrics of sampled functions", function) };
const struct fv_relation fv_sampled_total_metrics_relation = { METRICS_RELATION(
    "sampled_total_metrics", "Metrics of sampled functions over all contexts", total) };

/* ---- instances ---- */

static void get_event_count(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    double count = ((const struct fv_sampled_instance *)row)->event[c->argument];

    v->null = isnan(count);
    v->whole = v->null ? 0 : (uint64_t)count;
}
#define COUNT_COLUMN(k, i, d)                                                                      \
    {                                                                                              \
        k, k, "", d, FV_GET(FV_TYPE_WHOLE, get_event_count), .flags = FV_NULLABLE, .argument = (i) \
    }
static const struct fv_column_def instance_columns[] = {
    { "begin_s", "begin", "s", "When the call began.", FV_FIELD(struct fv_sampled_instance, begin_s) },
    { "time_s", "time", "s", "Duration of the call without the calibrated cost of its traps.",
      FV_FIELD(struct fv_sampled_instance, time_s), .flags = FV_ESTIMATE },
    { "cpu_s", "CPU", "s", "CPU time of the thread in the call, without the calibrated cost of its traps.",
      FV_FIELD(struct fv_sampled_instance, cpu_s), .flags = FV_ESTIMATE },
    FV_RANK_COLUMN(struct fv_sampled_instance, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread.", FV_FIELD(struct fv_sampled_instance, thread), .flags = FV_IS_THREAD },
    COUNT_COLUMN("event_1", 0, "Count of the first of counted_events in the call. Null: not known, or no such event."),
    COUNT_COLUMN("event_2", 1, "Count of the second of counted_events."),
    COUNT_COLUMN("event_3", 2, "Count of the third of counted_events."),
    COUNT_COLUMN("event_4", 3, "Count of the fourth of counted_events."),
};
const struct fv_relation fv_sampled_instances_relation = {
    .of_ranks = true,
    .name = "sampled_instances",
    .key = "instances",
    .title = "Calls of sampled functions",
    .doc = "A random choice of measured calls, about 1024 in all and at most the same number for each thread. By rank, "
           "thread and time.",
    .shape = FV_ROWS,
    FV_COLUMNS(instance_columns),
    FV_OUTER(function_outer),
    .base = samples_base,
    FV_SLICE(struct fv_samples, instances, struct fv_sampled_function, first_instance, instances),
};
const struct fv_relation fv_sampled_recent_relation = {
    .of_ranks = true,
    .name = "sampled_recent",
    .key = "recent",
    .title = "Last calls of sampled functions",
    .doc = "The calls measured last on each of about the first 16 threads, in sequence, at most 64. Calls between them "
           "were not measured. By rank, thread and time.",
    .shape = FV_ROWS,
    FV_COLUMNS(instance_columns),
    FV_OUTER(function_outer),
    .base = samples_base,
    FV_SLICE(struct fv_samples, recent, struct fv_sampled_function, first_recent, recents),
};
