/* What was sampled of functions' calls: relations functions, and function_totals over all their calling contexts. */
#include "profile/build.h"
#include "profile/relations.h"
#include "profile/samples/sampled_shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FV_DATA_BASE(samples)

static const struct fv_samples *samples_of(const void *subject)
{
    return fv_model_samples(fv_tables_model(subject));
}

/* ---- what functions are ---- */

/* The row's function: the row itself, or, with an `argument`, what it begins with a pointer to. */
static const struct fv_sampled *function_at(const void *row, const struct fv_column_def *c)
{
    return c->argument ? *(const struct fv_sampled *const *)row : row;
}

static void get_id(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled *s = function_at(row, c);

    v->whole = (uint64_t)(s - (s->contexts ? samples_of(subject)->functions : samples_of(subject)->items));
}

static size_t frame_count(void *subject, const void *parent)
{
    const struct fv_path *path = fv_tables_path(subject, ((const struct fv_sampled *)parent)->node);

    return path->count - fv_sampled_own_frame(path);
}

/* False: there is none. The function's own has its entry. */
static bool get_frame(struct fv_tables *t, const struct fv_sampled *s, size_t i, struct fv_frame *out)
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

static const void *frame_at(void *subject, const void *parent, size_t i)
{
    struct fv_frame *frame = (void *)((struct fv_tables *)subject)->inner;

    return get_frame(subject, parent, i, frame) ? frame : NULL;
}

static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    struct fv_frame own;

    if (get_frame(t, function_at(row, c), 0, &own))
        v->text = fv_frame_label(&own, t->profile->symbols, t->text, sizeof(t->text));
}

static void get_file(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_frame own;

    v->text = get_frame(subject, row, 0, &own) ? own.file : NULL;
}

static void get_line(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_frame own;

    v->whole = get_frame(subject, row, 0, &own) ? own.line : 0;
    v->null = !v->whole;
}

static void get_path(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_path *path = fv_tables_path(subject, ((const struct fv_sampled *)row)->node);

    v->text = fv_path_text(subject, path, fv_sampled_own_frame(path));
}

static const struct fv_relation path = {
    .key = "path",
    .doc = "The function's own frame, then those of its callers.",
    FV_COLUMNS(fv_frame_columns),
    .count = frame_count,
    .row = frame_at,
};

/* ---- metrics ---- */

/* A metric of a function; and of one thread. */
struct metric_row {
    const struct fv_sampled *s;
    double quantiles[3]; /* NAN: not known */
    struct fv_trend trend;
    size_t kept;
    enum fv_metric metric;
};
struct part_row {
    const struct fv_sampled *s;
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
    const struct fv_sampled *s = parent;
    struct metric_row *row = (void *)t->row;

    if (!fv_sampled_metric(samples_of(t), (enum fv_metric)i) || (i > FV_METRIC_CPU && !(s->all.mean[i] > 0)))
        return NULL;
    *row = (struct metric_row){ .s = s, .metric = (enum fv_metric)i };
    find_shape(t, row);
    return row;
}

static void get_metric(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_sampled_metric(samples_of(subject), ((const struct metric_row *)row)->metric);
}

static void get_unit(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    enum fv_metric metric = ((const struct metric_row *)row)->metric;

    v->text = metric <= FV_METRIC_MPI || metric == FV_SAMPLED_COMPUTING ? "s"
              : metric == FV_METRIC_MPI_BYTES                           ? "bytes"
                                                                        : "count";
}

enum { STAT_COUNT, STAT_MEAN, STAT_STDDEV, STAT_COV, STAT_WINDOW = 4, STAT_BIAS = 8 };

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

/* `which`: of `window` where it has STAT_WINDOW. */
static void put_stat(const struct fv_samples *samples, const struct fv_sampled *of, const struct fv_sampled_stat *all,
                     const struct fv_sampled_stat *window, enum fv_metric m, intptr_t which, struct fv_value *v)
{
    const struct fv_sampled_stat *s = which & STAT_WINDOW ? window : all;

    if (of->loops && which & ~STAT_WINDOW) {
        v->null = true;
        return;
    }
    if (fv_sampled_is_brief(of, m) && which & ~STAT_WINDOW) {
        v->null = true;
        if ((which & ~STAT_WINDOW) == STAT_MEAN && fv_sampled_count(s, m))
            put_brief(samples, s->mean[m], v);
        return;
    }
    switch (which & ~STAT_WINDOW) {
    case STAT_COUNT: v->whole = fv_sampled_count(s, m); break;
    case STAT_MEAN: v->real = fv_sampled_count(s, m) ? s->mean[m] : NAN; break;
    case STAT_STDDEV: v->real = fv_sampled_count(s, m) > 1 ? fv_sampled_stddev(s, m) : NAN; break;
    case STAT_COV: v->real = fv_sampled_count(s, m) > 1 ? fv_sampled_cov(s, m) : NAN; break;
    default:
        v->real =
            fv_sampled_count(window, m) >= FV_SAMPLED_ENOUGH && all->mean[m] > 0 ? window->mean[m] / all->mean[m] : NAN;
    }
}

static void get_stat(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct metric_row *r = row;

    put_stat(samples_of(subject), r->s, &r->s->all, &r->s->window, r->metric, c->argument, v);
}

static void get_part_stat(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct part_row *r = row;

    put_stat(samples_of(subject), r->s, &r->part->all, &r->part->window, r->metric, c->argument, v);
}

static void get_quantile(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct metric_row *r = row;

    v->real = r->quantiles[c->argument];
    if (r->metric <= FV_METRIC_CPU && v->real < samples_of(subject)->resolution_s)
        put_brief(samples_of(subject), 0, v);
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
    const struct fv_sampled *s;
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

    *row = (struct part_row){ of->s, &samples_of(t)->parts[of->s->first_part + i], of->metric };
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

#define ID_COLUMN(k, indirect, d)                                               \
    {                                                                           \
        k, "id", "id", d, FV_GET(FV_TYPE_WHOLE, get_id), .argument = (indirect) \
    }
#define FUNCTION_COLUMN(indirect)                                                                         \
    {                                                                                                     \
        "function", "function", "", "The function that was sampled.", FV_GET(FV_TYPE_TEXT, get_function), \
            .flags = FV_NULLABLE | FV_NAME, .argument = (indirect)                                        \
    }
#define METRIC_COLUMN                                                                                                  \
    {                                                                                                                  \
        "metric", "metric", "",                                                                                        \
            "time_s, cpu_time_s (of the thread), mpi_time_s, mpi_calls, faults (of pages), switches (of "              \
            "context), migrations (between processors), mpi_bytes (sent and received), computing_s (CPU time outside " \
            "of MPI: it, or the time "                                                                                 \
            "outside where that is less), or an event's name.",                                                        \
            FV_GET(FV_TYPE_TEXT, get_metric)                                                                           \
    }
#define STAT_COLUMN(k, t, u, d, type, get, which)                                                       \
    {                                                                                                   \
        k, t, u, d, FV_GET(type, get), .flags = (type) == FV_TYPE_REAL ? FV_NULLABLE | FV_ESTIMATE : 0, \
                                       .argument = (which)                                              \
    }
#define METRIC_STAT(k, t, u, d, which) STAT_COLUMN(k, t, u, d, FV_TYPE_REAL, get_stat, which)
#define PART_STAT(k, t, d, which)      STAT_COLUMN(k, t, "", d, FV_TYPE_REAL, get_part_stat, which)

static const struct fv_column_def function_part_outer[] = {
    ID_COLUMN("function_id", 1, "Index in functions, from 0."),
    FUNCTION_COLUMN(1),
    METRIC_COLUMN,
};
static const struct fv_column_def total_part_outer[] = {
    ID_COLUMN("total_id", 1, "Index in function_totals, from 0."),
    FUNCTION_COLUMN(1),
    METRIC_COLUMN,
};
static const struct fv_column_def part_columns[] = {
    { "rank", "rank", "", "The rank.", FV_GET(FV_TYPE_NUMBER, get_part_place), .flags = FV_IS_RANK },
    { "thread", "thread", "", "The thread.", FV_GET(FV_TYPE_WHOLE, get_part_place), .flags = FV_IS_THREAD,
      .argument = 1 },
    STAT_COLUMN("sample_count", "samples", "", "Calls that were measured.", FV_TYPE_WHOLE, get_part_stat, STAT_COUNT),
    PART_STAT("mean", "mean", "Their mean, in the metric's unit.", STAT_MEAN),
    PART_STAT("stddev", "stddev", "Their standard deviation (of a sample).", STAT_STDDEV),
    STAT_COLUMN("window_sample_count", "equal chance", "",
                "Those of them whose choice does not depend on how long the call before took.", FV_TYPE_WHOLE,
                get_part_stat, STAT_COUNT | STAT_WINDOW),
    PART_STAT("window_mean", "mean of these", "The mean of these.", STAT_MEAN | STAT_WINDOW),
};
#define PARTS_RELATION(n, t, o)                                                                    \
    .of_ranks = true, .name = n, .key = "per_thread", .title = t,                                  \
    .doc = "The metric on each thread that has such calls, by rank and thread.", .shape = FV_ROWS, \
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
    { "begin", "from", "", "In the metric's unit.", FV_FIELD(struct bucket_row, begin) },
    { "end", "to", "", "Where the next begins: twice that.", FV_FIELD(struct bucket_row, end) },
    { "count", "calls", "", "Calls of it.", FV_FIELD(struct bucket_row, count) },
};
#define HISTOGRAM_RELATION(n, t, o)                                                                                    \
    .name = n, .key = "histogram", .title = t,                                                                         \
    .doc = "How many of the calls in `instances` are how long, in powers of two of ns, or of counts; buckets without " \
           "calls are left out. Empty where the "                                                                      \
           "metric is not kept of single calls.",                                                                      \
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
          "Of mean, stddev and the percentiles.",                                                                      \
          FV_GET(FV_TYPE_TEXT, get_unit),                                                                              \
          .words = (const char *const[]){ "s", "bytes", "count", NULL } },                                             \
        STAT_COLUMN("sample_count", "samples", "",                                                                     \
                    "Calls that were measured; of an event, where it could be counted.", FV_TYPE_WHOLE, get_stat,      \
                    STAT_COUNT),                                                                                       \
        METRIC_STAT("mean", "mean", "", "Their mean.", STAT_MEAN),                                                     \
        METRIC_STAT("stddev", "stddev", "", "Their standard deviation (divided by sample_count - 1).", STAT_STDDEV),   \
        METRIC_STAT("cov", "cov", "ratio", "stddev over mean.", STAT_COV),                                             \
        STAT_COLUMN("window.sample_count", "equal chance", "",                                                         \
                    "The part of them whose choice does not depend on how long the call before took.", FV_TYPE_WHOLE,  \
                    get_stat, STAT_COUNT | STAT_WINDOW),                                                               \
        METRIC_STAT("window.mean", "mean of these", "", "The mean of these.", STAT_MEAN | STAT_WINDOW),                \
        METRIC_STAT("window.cov", "cov of these", "ratio", "Their standard deviation over their mean.",                \
                    STAT_COV | STAT_WINDOW),                                                                           \
        METRIC_STAT("bias", "of these/all", "ratio", "The window's mean over mean; null: fewer than 8 in the window.", \
                    STAT_BIAS),                                                                                        \
        QUANTILE(                                                                                                      \
            "p50",                                                                                                     \
            "The median of the calls in `instances`: of time_s, cpu_time_s and counted events, where these are 8 or "  \
            "more; else null.",                                                                                        \
            0),                                                                                                        \
        QUANTILE("p90", "The value that 90 % of them do not exceed.", 1),                                              \
        QUANTILE("p99", "The value that 99 % of them do not exceed.", 2),                                              \
        { "trend.change",                                                                                              \
          "trend",                                                                                                     \
          "ratio",                                                                                                     \
          "How much more it is at the end of the run than at its beginning, over its mean, by least squares over the " \
          "calls in `instances`, each "                                                                                \
          "context and thread about its own mean; null: fewer than 8, or not kept of single calls.",                   \
          FV_GET(FV_TYPE_REAL, get_trend),                                                                             \
          .flags = FV_NULLABLE | FV_ESTIMATE,                                                                          \
          .argument = IS_CHANGE },                                                                                     \
        { "trend.error",                                                                                               \
          "+-",                                                                                                        \
          "ratio",                                                                                                     \
          "99 % of such changes are no further from the truth.",                                                       \
          FV_GET(FV_TYPE_REAL, get_trend),                                                                             \
          .flags = FV_NULLABLE | FV_ESTIMATE,                                                                          \
          .argument = IS_ERROR },                                                                                      \
        { "trend.significant",                                                                                         \
          "trend is",                                                                                                  \
          "",                                                                                                          \
          "Is the change larger than that, and do ten stretches of the run rise, or fall, one after the other?",       \
          FV_GET(FV_TYPE_TRUTH, get_trend_significant),                                                                \
          .flags = FV_NULLABLE },                                                                                      \
        VARIATION("within", "cov calls",                                                                               \
                  "As of the function, of this metric: of computing_s and the counted events; else null.", IS_WITHIN), \
        VARIATION("between", "cov threads", "Likewise.", IS_BETWEEN),                                                  \
        VARIATION("by_caller", "cov callers", "Likewise; null in one context.", IS_BY_CALLER),                         \
    {                                                                                                                  \
        "varies", "varies", "", "Does it vary in this metric? As `varies` of the function; null: that is not judged.", \
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
    ID_COLUMN("function_id", 0, "Index in functions, from 0."),
    FUNCTION_COLUMN(0),
};
static const struct fv_column_def total_outer[] = {
    ID_COLUMN("total_id", 0, "Index in function_totals, from 0."),
    FUNCTION_COLUMN(0),
};
#define METRICS_RELATION(n, t, o)                                                                                \
    .name = n, .key = "metrics", .title = t,                                                                     \
    .doc = "What was measured in the function's calls, by metric. All but time_s and cpu_time_s are there only " \
           "where they are not 0, and an event only where a rank could have it.",                                \
    .shape = FV_MAP, FV_COLUMNS(o##_metric_columns), FV_OUTER(o##_outer), .count = metric_count, .row = metric_at
static const struct fv_relation metrics = { METRICS_RELATION("sampled_metrics", "Metrics of sampled functions",
                                                             function) };
static const struct fv_relation total_metrics = { METRICS_RELATION(
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
    { "time_s", "time", "s", "How long it took, less what its traps cost by calibration.",
      FV_FIELD(struct fv_sampled_instance, time_s), .flags = FV_ESTIMATE },
    { "cpu_s", "CPU", "s", "CPU time of the thread in it; likewise.", FV_FIELD(struct fv_sampled_instance, cpu_s),
      .flags = FV_ESTIMATE },
    FV_RANK_COLUMN(struct fv_sampled_instance, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread.", FV_FIELD(struct fv_sampled_instance, thread), .flags = FV_IS_THREAD },
    COUNT_COLUMN("event_1", 0,
                 "What was counted of the first of counted_events in it; null: not known, or there is none."),
    COUNT_COLUMN("event_2", 1, "Of the second."),
    COUNT_COLUMN("event_3", 2, "Of the third."),
    COUNT_COLUMN("event_4", 3, "Of the fourth."),
};
static const struct fv_relation instances = {
    .of_ranks = true,
    .name = "sampled_instances",
    .key = "instances",
    .title = "Calls of sampled functions",
    .doc = "A random choice of the function's calls, of each thread the same number at most, 1024 in all or so; "
           "by rank, thread and time.",
    .shape = FV_ROWS,
    FV_COLUMNS(instance_columns),
    FV_OUTER(function_outer),
    .base = samples_base,
    FV_SLICE(struct fv_samples, instances, struct fv_sampled, first_instance, instances),
};
static const struct fv_relation recent = {
    .of_ranks = true,
    .name = "sampled_recent",
    .key = "recent",
    .title = "Last calls of sampled functions",
    .doc = "Of the first 16 threads or so that have the function, the calls that were measured last, all of them one "
           "behind the other, 64 at most; "
           "by rank, thread and time. Calls that were not measured are in between.",
    .shape = FV_ROWS,
    FV_COLUMNS(instance_columns),
    FV_OUTER(function_outer),
    .base = samples_base,
    FV_SLICE(struct fv_samples, recent, struct fv_sampled, first_recent, recents),
};

/* ---- functions ---- */

static void get_varies(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = ((const struct fv_sampled *)row)->varies != FV_VARIES_NOT;
}

static const char *const varies_words[] = { "within", "between", "both", NULL };
static void get_varies_by(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    enum fv_varies by = ((const struct fv_sampled *)row)->varies;

    v->text = by == FV_VARIES_NOT ? NULL : varies_words[by - 1];
}

static void get_advice(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    fv_sampled_advice(samples_of(t), row, t->text, sizeof(t->text));
    v->text = t->text[0] ? t->text : NULL;
}

/* The function that calls it, those left out that it is inlined into; or how many contexts there are. */
static void get_caller(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_sampled *s = row;

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
    const struct fv_sampled *s = row;

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
    const struct fv_sampled *s = row;

    put_stat(samples_of(subject), s, &s->all, &s->window, (enum fv_metric)(c->argument >> 8), c->argument & 255, v);
    if ((c->argument & 255) == STAT_MEAN && s->all.count < MEAN_OF) {
        v->null = true;
        v->below = false;
    }
}

static void get_mpi_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled_stat *all = &((const struct fv_sampled *)row)->all;

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
    if (((const struct fv_sampled *)row)->contexts)
        get_function(subject, row, c, v);
    else
        v->text = "";
}

#define OF_FUNCTION(k, t, u, m, d, ...)                                    \
    {                                                                      \
        k, t, u, d, FV_FIELD(struct fv_sampled, m), .flags = 0 __VA_ARGS__ \
    }
static void get_key(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = fv_tables_model(subject)->tree.nodes[((const struct fv_sampled *)row)->node].key;
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
#define CALLS_COLUMNS                                                                                                \
    OF_FUNCTION("entry_count", "entries", "", entries, "Calls that were followed."),                                 \
        OF_FUNCTION("return_count", "returns", "", returns, "Those of them that returned."),                         \
        OF_FUNCTION("abandoned_count", "abandoned", "", abandoned,                                                   \
                    "Those that ended without: longjmp, exceptions, the thread's end.", | FV_BLANK),                 \
        OF_FUNCTION("rank_count", "ranks", "", ranks, "Ranks with such calls."),                                     \
        OF_FUNCTION("thread_count", "threads", "", threads, "Threads with such calls."),                             \
        OF_FUNCTION("fast", "fast", "", fast,                                                                        \
                    "Is it too short for the window, and for the resolution? Its mean may be off by "                \
                    "microseconds.",                                                                                 \
                    | FV_BLANK),                                                                                     \
        FLAT_STAT("mean_cpu_s", "mean CPU", "s", FV_TYPE_REAL, FV_METRIC_CPU, STAT_MEAN,                             \
                  "Mean CPU time of the calls; null: of two or fewer, shorter than the resolution of sampling, or "  \
                  "not told from the turns of a loop."),                                                             \
        FLAT_STAT("mean_time_s", "mean time", "s", FV_TYPE_REAL, FV_METRIC_TIME, STAT_MEAN, "Mean time; likewise."), \
        { "mpi_share",                                                                                               \
          "in MPI",                                                                                                  \
          "share",                                                                                                   \
          "The part of that in MPI.",                                                                                \
          FV_GET(FV_TYPE_REAL, get_mpi_share),                                                                       \
          .flags = FV_FLAT | FV_NULLABLE | FV_BLANK },                                                               \
        FLAT_STAT("sample_count", "samples", "", FV_TYPE_WHOLE, FV_METRIC_CPU, STAT_COUNT,                           \
                  "Calls that were measured."),                                                                      \
        FLAT_STAT("window_sample_count", "equal chance", "", FV_TYPE_WHOLE, FV_METRIC_CPU, STAT_COUNT | STAT_WINDOW, \
                  "Those of them whose choice does not depend on how long the call before took: the window."),       \
        FLAT_STAT("bias", "of these/all", "ratio", FV_TYPE_REAL, FV_METRIC_CPU, STAT_BIAS,                           \
                  "Mean CPU time in the window over that of all; null: fewer than 8 in the window.")

static const struct fv_column_def function_columns[] = {
    ID_COLUMN("id", 0, "Index in this list, from 0."),
    { "key", "key", "", "Its number in each report of the same program, on any run.", FV_GET(FV_TYPE_HEX, get_key) },
    OF_FUNCTION("total_id", "function", "id", function,
                "The function over all its contexts: index in function_totals."),
    FUNCTION_COLUMN(0),
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
    { "metrics", "metrics", "", "", FV_NEST(metrics) },
    { "instances", "instances", "", "", FV_NEST(instances) },
    { "recent", "recent", "", "", FV_NEST(recent) },
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
    ID_COLUMN("id", 0, "Index in this list, from 0."),
    FUNCTION_COLUMN(0),
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
    { "metrics", "metrics", "", "", FV_NEST(total_metrics) },
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
