/* What was sampled of functions' calls, and how: relations sampling, functions. */
#include "base/perf_events.h"
#include "profile/relations.h"
#include "profile/samples/sampled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct fv_samples *samples_of(const void *subject)
{
    return &fv_tables_model(subject)->samples;
}

/* ---- sampling ---- */

static const void *the_samples(void *subject, const void *parent)
{
    return samples_of(subject)->threads ? samples_of(subject) : NULL;
}

static const char *const mode_words[] = { "breakpoints", "calls", "costs only", "mixed", NULL };
static void get_mode(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_samples *s = row;
    unsigned used = 0, last = 0;

    for (unsigned i = 0; i < 3; i++)
        if (s->modes[i]) {
            used++;
            last = i;
        }
    v->text = mode_words[used == 1 ? last : 3];
}

static void get_refusal(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_samples *s = row;

    v->text = s->refusal ? strerror(s->refusal) : NULL;
}

static void get_overhead_share(void *subject, const void *row, const struct fv_column_def *c,
                               struct fv_value *v)
{
    const struct fv_samples *s = row;

    v->real = s->cpu_s > 0 ? s->tool_s / s->cpu_s : NAN;
}

static size_t event_count(void *subject, const void *parent)
{
    return FV_METRIC_EVENTS;
}

static const void *event_at(void *subject, const void *parent, size_t i)
{
    const struct fv_sampled_event *e = &((const struct fv_samples *)parent)->events[i];

    return e->name ? e : NULL;
}

static void get_event_refusal(void *subject, const void *row, const struct fv_column_def *c,
                              struct fv_value *v)
{
    const struct fv_sampled_event *e = row;

    v->text = e->refused ? fv_perf_event_refusal((uint32_t)e->refusal, e->user_only) : NULL;
}

static const struct fv_column_def event_columns[] = {
    { "event", "event", "", "Its name, as asked for.", FV_FIELD(struct fv_sampled_event, name) },
    { "rank_count", "ranks", "", "Ranks that asked for it.", FV_FIELD(struct fv_sampled_event, ranks) },
    { "refused_rank_count", "refused", "", "Those of them that could not have it.",
      FV_FIELD(struct fv_sampled_event, refused) },
    { "refusal", "refusal", "", "Why they could not; null: all could.",
      FV_GET(FV_TYPE_TEXT, get_event_refusal), .flags = FV_NULLABLE },
    { "user_only", "user", "", "Was it counted outside of the kernel only?",
      FV_FIELD(struct fv_sampled_event, user_only) },
};
static const struct fv_relation sampling_events = {
    .recorded_by = "fvmpi run --sample --events",
    .name = "sampling_events",
    .key = "counted_events",
    .title = "Events of sampled functions",
    .doc =
        "Events that were counted in the instances of sampled functions (--events), by name; four at most.",
    FV_COLUMNS(event_columns),
    .count = event_count,
    .row = event_at,
};

#define OF_SAMPLING(k, t, m, d)                                                                              \
    {                                                                                                        \
        k, t, "", d, FV_FIELD(struct fv_samples, m)                                                          \
    }
static const struct fv_column_def sampling_columns[] = {
    OF_SAMPLING("rate_hz", "rate", rate, "Clock samples a second of CPU time."),
    OF_SAMPLING("thread_count", "threads", threads, "Threads that were sampled."),
    { "mode", "mode", "",
      "breakpoints: a clock sample arms breakpoints on functions. calls: a counter of calls samples them. "
      "costs only: no instances. mixed: threads differ.",
      FV_GET(FV_TYPE_TEXT, get_mode), .words = mode_words },
    { "refusal", "refusal", "",
      "Why a better mode could not be had, in the system's words; null: all threads could.",
      FV_GET(FV_TYPE_TEXT, get_refusal), .flags = FV_NULLABLE },
    OF_SAMPLING("refused_thread_count", "refused", refused_threads, "Threads that could not have it."),
    OF_SAMPLING("ticks", "ticks", ticks, "Clock samples."),
    { "cpu_s", "CPU", "s", "The CPU time that they stand for.", FV_FIELD(struct fv_samples, cpu_s),
      .flags = FV_ESTIMATE },
    { "computing_s", "computing", "s", "That of those outside of MPI in which no thread waits for threads: of which functions have shares.",
      FV_FIELD(struct fv_samples, computing_s), .flags = FV_ESTIMATE },
    OF_SAMPLING("trap_count", "traps", traps, "Breakpoints that were met."),
    OF_SAMPLING("entry_count", "entries", entries, "Calls that were followed: returns, abandoned and open."),
    OF_SAMPLING("return_count", "returns", returns, "Those of them that returned."),
    OF_SAMPLING("abandoned_count", "abandoned", abandoned,
                "Those that ended without: longjmp, exceptions, the thread's end."),
    OF_SAMPLING("open_count", "open", open, "Those that had not ended."),
    OF_SAMPLING("lost_count", "lost", lost, "Calls that were not measured: a table was full."),
    OF_SAMPLING("lost_path_ticks", "no path", lost_paths, "Clock samples without a call path."),
    OF_SAMPLING("log_lost_count", "not traced", log_lost, "Instances that are not in the trace."),
    OF_SAMPLING("skipped_count", "skipped", skipped,
                "Entries passed over at random, of functions too fast for the window."),
    OF_SAMPLING("held_back_ticks", "held back", held_back,
                "Clock samples that measured no instance, because sampling had taken more than "
                "--sample-budget of the "
                "thread's CPU time."),
    OF_SAMPLING("no_stack_ticks", "no stack", no_stack,
                "Clock samples that were lost on signal stacks of the program, too small for them."),
    OF_SAMPLING("not_followed_count", "not followed", not_followed,
                "Entries that could not be followed: on another stack, or without room."),
    OF_SAMPLING("cut_count", "cut", cut, "Call paths whose outer end is not known."),
    { "trap_s", "trap", "s", "What is subtracted from an instance for each of its traps.",
      FV_FIELD(struct fv_samples, trap_s), .flags = FV_ESTIMATE },
    { "trap_spread_s", "trap spread", "s", "Between the quartiles of that.",
      FV_FIELD(struct fv_samples, trap_spread_s), .flags = FV_ESTIMATE },
    { "resolution_s", "resolution", "s",
      "Ten times that, or half of trap_s if that is longer. Times of functions half of whose calls are shorter are not "
      "known: they are null, in text \"< N\", and the function is not judged.",
      FV_FIELD(struct fv_samples, resolution_s), .flags = FV_ESTIMATE },
    { "tool_time_s", "overhead", "s", "CPU time of sampling itself, over all threads.",
      FV_FIELD(struct fv_samples, tool_s), .flags = FV_ESTIMATE },
    { "tool_time_share", "overhead", "share", "The same, of cpu_s.", FV_GET(FV_TYPE_REAL, get_overhead_share),
      .flags = FV_NULLABLE | FV_ESTIMATE },
    OF_SAMPLING("migrations_exact", "migrations exact", migrations_exact,
                "Is each change of the processor counted? Else one between two readings is."),
    OF_SAMPLING("events_estimated_count", "events estimated", events_scaled,
                "Instances whose events were counted for a part of the time."),
    OF_SAMPLING("events_unknown_count", "events unknown", events_lost,
                "Instances whose events are not known, and left out."),
    OF_SAMPLING("events_unshown_count", "events unshown", events_unshown,
                "Further events of single ranks: there is room for four."),
    { "counted_events", "events", "", "", FV_NEST(sampling_events) },
};
const struct fv_relation fv_sampling_relation = {
    .recorded_by = "fvmpi run --sample",
    .name = "sampling",
    .key = "sampling",
    .title = "Sampling",
    .doc = "How samples were taken; null without --sample.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(sampling_columns),
    .base = the_samples,
};

/* ---- what functions are ---- */

/* The row's function: the row itself, or, with an `argument`, what it begins with a pointer to. */
static const struct fv_sampled *function_at(const void *row, const struct fv_column_def *c)
{
    return c->argument ? *(const struct fv_sampled *const *)row : row;
}

static void get_id(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = (uint64_t)(function_at(row, c) - samples_of(subject)->items);
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
    enum fv_metric metric;
};
struct part_row {
    const struct fv_sampled *s;
    const struct fv_sampled_part *part;
    enum fv_metric metric;
};

/* Of the instances that are kept. */
static void find_quantiles(struct fv_tables *t, struct metric_row *row)
{
    static const double parts[] = { 0.5, 0.9, 0.99 };
    const struct fv_sampled_instance *kept = &t->model->samples.instances[row->s->first_instance];
    size_t count = row->metric <= FV_METRIC_CPU ? row->s->instances : 0;

    for (unsigned i = 0; i < 3; i++)
        row->quantiles[i] = NAN;
    if (count < FV_SAMPLED_ENOUGH)
        return;
    FV_GROW(t->reals, t->reals_room, count);
    for (size_t i = 0; i < count; i++)
        t->reals[i] = row->metric == FV_METRIC_CPU ? kept[i].cpu_s : kept[i].time_s;
    qsort(t->reals, count, sizeof(*t->reals), fv_by_real);
    for (unsigned i = 0; i < 3; i++)
        row->quantiles[i] = fv_quantile(t->reals, sizeof(*t->reals), count, parts[i]);
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
    find_quantiles(t, row);
    return row;
}

static void get_metric(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_sampled_metric(samples_of(subject), ((const struct metric_row *)row)->metric);
}

static void get_unit(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    enum fv_metric metric = ((const struct metric_row *)row)->metric;

    v->text = metric <= FV_METRIC_MPI || metric == FV_SAMPLED_COMPUTING ? "s" : metric == FV_METRIC_MPI_BYTES ? "bytes" : "count";
}

enum { STAT_COUNT, STAT_MEAN, STAT_STDDEV, STAT_COV, STAT_WINDOW = 4, STAT_BIAS = 8 };

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
        v->real = fv_sampled_count(window, m) >= FV_SAMPLED_ENOUGH && all->mean[m] > 0
                      ? window->mean[m] / all->mean[m]
                      : NAN;
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
    if (v->real < samples_of(subject)->resolution_s)
        put_brief(samples_of(subject), 0, v);
}

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

#define ID_COLUMN(k, indirect, d)                                                                            \
    {                                                                                                        \
        k, "id", "id", d, FV_GET(FV_TYPE_WHOLE, get_id), .argument = (indirect)                              \
    }
#define FUNCTION_COLUMN(indirect)                                                                            \
    {                                                                                                        \
        "function", "function", "", "The function that was sampled.", FV_GET(FV_TYPE_TEXT, get_function),    \
            .flags = FV_NULLABLE | FV_NAME, .argument = (indirect)                                           \
    }
#define METRIC_COLUMN                                                                                        \
    {                                                                                                        \
        "metric", "metric", "",                                                                              \
            "time_s, cpu_time_s (of the thread), mpi_time_s, mpi_calls, faults (of pages), switches (of "    \
            "context), migrations (between processors), mpi_bytes (sent and received), computing_s (CPU time outside of MPI: it, or the time " \
            "outside where that is less), or an event's name.", \
            FV_GET(FV_TYPE_TEXT, get_metric)                                                                 \
    }
#define STAT_COLUMN(k, t, u, d, type, get, which)                                                            \
    {                                                                                                        \
        k, t, u, d, FV_GET(type, get), .flags = (type) == FV_TYPE_REAL ? FV_NULLABLE | FV_ESTIMATE : 0,      \
                                       .argument = (which)                                                   \
    }
#define METRIC_STAT(k, t, u, d, which) STAT_COLUMN(k, t, u, d, FV_TYPE_REAL, get_stat, which)
#define PART_STAT(k, t, d, which)      STAT_COLUMN(k, t, "", d, FV_TYPE_REAL, get_part_stat, which)

static const struct fv_column_def part_outer[] = {
    ID_COLUMN("function_id", 1, "Index in functions, from 0."),
    FUNCTION_COLUMN(1),
    METRIC_COLUMN,
};
static const struct fv_column_def part_columns[] = {
    { "rank", "rank", "", "The rank.", FV_GET(FV_TYPE_NUMBER, get_part_place), .flags = FV_IS_RANK },
    { "thread", "thread", "", "The thread.", FV_GET(FV_TYPE_WHOLE, get_part_place), .flags = FV_IS_THREAD,
      .argument = 1 },
    STAT_COLUMN("sample_count", "samples", "", "Calls that were measured.", FV_TYPE_WHOLE, get_part_stat,
                STAT_COUNT),
    PART_STAT("mean", "mean", "Their mean, in the metric's unit.", STAT_MEAN),
    PART_STAT("stddev", "stddev", "Their standard deviation (of a sample).", STAT_STDDEV),
    STAT_COLUMN("window_sample_count", "window", "", "Those of them in the window.", FV_TYPE_WHOLE,
                get_part_stat, STAT_COUNT | STAT_WINDOW),
    PART_STAT("window_mean", "window mean", "The mean of these.", STAT_MEAN | STAT_WINDOW),
};
static const struct fv_relation metric_parts = {
    .of_ranks = true,
    .name = "sampled_by_thread",
    .key = "per_thread",
    .title = "Sampled functions by thread",
    .doc = "The metric on each thread that has such calls, by rank and thread.",
    .shape = FV_ROWS,
    FV_COLUMNS(part_columns),
    FV_OUTER(part_outer),
    .count = part_count,
    .row = part_at,
};

#define QUANTILE(k, d, i)                                                                                    \
    {                                                                                                        \
        k, k, "", d, FV_GET(FV_TYPE_REAL, get_quantile), .flags = FV_NULLABLE | FV_ESTIMATE, .argument = (i) \
    }
static const struct fv_column_def metric_columns[] = {
    METRIC_COLUMN,
    { "unit", "unit", "", "Of mean, stddev and the percentiles.", FV_GET(FV_TYPE_TEXT, get_unit),
      .words = (const char *const[]){ "s", "bytes", "count", NULL } },
    STAT_COLUMN("sample_count", "samples", "",
                "Calls that were measured; of an event, where it could be counted.", FV_TYPE_WHOLE, get_stat,
                STAT_COUNT),
    METRIC_STAT("mean", "mean", "", "Their mean.", STAT_MEAN),
    METRIC_STAT("stddev", "stddev", "", "Their standard deviation (divided by sample_count - 1).",
                STAT_STDDEV),
    METRIC_STAT("cov", "cov", "ratio", "stddev over mean.", STAT_COV),
    STAT_COLUMN("window.sample_count", "window", "",
                "The part of them whose choice does not depend on how long the call before took.",
                FV_TYPE_WHOLE, get_stat, STAT_COUNT | STAT_WINDOW),
    METRIC_STAT("window.mean", "window mean", "", "The mean of these.", STAT_MEAN | STAT_WINDOW),
    METRIC_STAT("window.cov", "window cov", "ratio", "Their standard deviation over their mean.",
                STAT_COV | STAT_WINDOW),
    METRIC_STAT("bias", "bias", "ratio", "The window's mean over mean; null: fewer than 8 in the window.",
                STAT_BIAS),
    QUANTILE("p50",
             "The median of the calls in `instances`: of time_s and cpu_time_s, where these are 8 or more; "
             "else null.",
             0),
    QUANTILE("p90", "The value that 90 % of them do not exceed.", 1),
    QUANTILE("p99", "The value that 99 % of them do not exceed.", 2),
    { "per_thread", "by thread", "", "", FV_NEST(metric_parts) },
};
static const struct fv_column_def function_outer[] = {
    ID_COLUMN("function_id", 0, "Index in functions, from 0."),
    FUNCTION_COLUMN(0),
};
static const struct fv_relation metrics = {
    .name = "sampled_metrics",
    .key = "metrics",
    .title = "Metrics of sampled functions",
    .doc =
        "What was measured in the function's calls, by metric. All but time_s and cpu_time_s are there only "
        "where they are not 0, and an event only where a rank could have it.",
    .shape = FV_MAP,
    FV_COLUMNS(metric_columns),
    FV_OUTER(function_outer),
    .count = metric_count,
    .row = metric_at,
};

/* ---- instances ---- */

static const struct fv_column_def instance_columns[] = {
    { "begin_s", "begin", "s", "When the call began.", FV_FIELD(struct fv_sampled_instance, begin_s) },
    { "time_s", "time", "s", "How long it took, less what its traps cost by calibration.",
      FV_FIELD(struct fv_sampled_instance, time_s), .flags = FV_ESTIMATE },
    { "cpu_s", "CPU", "s", "CPU time of the thread in it; likewise.",
      FV_FIELD(struct fv_sampled_instance, cpu_s), .flags = FV_ESTIMATE },
    FV_RANK_COLUMN(struct fv_sampled_instance, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread.", FV_FIELD(struct fv_sampled_instance, thread),
      .flags = FV_IS_THREAD },
};
static const struct fv_relation instances = {
    .of_ranks = true,
    .name = "sampled_instances",
    .key = "instances",
    .title = "Calls of sampled functions",
    .doc =
        "A random choice of the function's calls, of each thread the same number at most, 1024 in all or so; "
        "by rank, thread and time.",
    .shape = FV_ROWS,
    FV_COLUMNS(instance_columns),
    FV_OUTER(function_outer),
    .base = fv_tables_base,
    FV_SLICE(struct fv_model, samples.instances, struct fv_sampled, first_instance, instances),
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

/* The function that calls it, those left out that it is inlined into. */
static void get_caller(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_path *p = fv_tables_path(t, ((const struct fv_sampled *)row)->node);
    size_t caller = fv_sampled_own_frame(p) + 1;

    while (caller + 1 < p->count && p->frames[caller].inlined)
        caller++;
    if (caller < p->count)
        v->text = fv_frame_label(&p->frames[caller], t->profile->symbols, t->text, sizeof(t->text));
}

enum { SAYS_VARIES, SAYS_STEADY, SAYS_TOO_FEW, SAYS_SMALL, SAYS_WAITS, SAYS_BRIEF };
static const char *const verdict_words[] = { "varies", "steady", "too few", "small share", "waits", "too short", NULL };
static void get_verdict(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled *s = row;

    bool differs = s->within > FV_SAMPLED_WITHIN || s->between > FV_SAMPLED_BETWEEN;

    v->text = verdict_words[s->varies                                             ? SAYS_VARIES
                            : fv_sampled_is_brief(s, FV_METRIC_CPU)               ? SAYS_BRIEF
                            : !s->judged || (isnan(s->between) && s->threads > 1) ? SAYS_TOO_FEW
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
#define FLAT_STAT(k, t, u, type, m, which, d)                                                                \
    {                                                                                                        \
        k, t, u, d, FV_GET(type, get_of_metric), .flags = FV_FLAT | FV_NULLABLE,                             \
                                                 .argument = OF_METRIC(m, which)                             \
    }

#define OF_FUNCTION(k, t, u, m, d, ...)                                                                      \
    {                                                                                                        \
        k, t, u, d, FV_FIELD(struct fv_sampled, m), .flags = 0 __VA_ARGS__                                   \
    }
static void get_key(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = fv_tables_model(subject)->tree.nodes[((const struct fv_sampled *)row)->node].key;
}

static const struct fv_column_def function_columns[] = {
    ID_COLUMN("id", 0, "Index in this list, from 0."),
    { "key", "key", "", "Its number in each report of the same program, on any run.",
      FV_GET(FV_TYPE_HEX, get_key) },
    FUNCTION_COLUMN(0),
    { "path", "path", "",
      "The call path as in callsites, beginning with the function itself, whose offset is its entry.",
      FV_NEST(path) },
    { "file", "file", "", "Its source file.", FV_GET(FV_TYPE_TEXT, get_file),
      .flags = FV_FLAT | FV_NULLABLE },
    { "line", "line", "", "The line that it begins on.", FV_GET(FV_TYPE_WHOLE, get_line),
      .flags = FV_FLAT | FV_NULLABLE },
    { "path", "path", "", "The names of the function and its callers, with < between them.",
      FV_GET(FV_TYPE_TEXT, get_path), .flags = FV_FLAT },
    OF_FUNCTION("ticks", "ticks", "", ticks, "Clock samples in it and what it calls."),
    OF_FUNCTION("mpi_ticks", "MPI ticks", "", mpi_ticks, "Those of them in MPI calls."),
    OF_FUNCTION("sync_ticks", "wait ticks", "", sync_ticks, "Others of them in which threads wait for threads."),
    { "called_by", "called by", "", "The function that calls it; null: not known.",
      FV_GET(FV_TYPE_TEXT, get_caller), .flags = FV_FLAT | FV_NULLABLE | FV_NAME },
    OF_FUNCTION("time_share", "CPU share", "share", share,
                "Part of the CPU time in user mode that is computing, outside of MPI and not waiting for threads, in it and what it "
                "calls, by clock samples.",
                | FV_ESTIMATE),
    OF_FUNCTION("within", "within", "ratio", within,
                "Coefficient of variation of the CPU time outside of MPI within a thread, of that where it is largest; "
                "threads with fewer than 8 samples are left out; null: calls too short for that.",
                | FV_NULLABLE | FV_ESTIMATE),
    OF_FUNCTION("between", "between", "ratio", between,
                "The same of the threads' means, over all ranks, less what the spread within explains; null: "
                "fewer than two threads.",
                | FV_NULLABLE | FV_ESTIMATE),
    { "verdict", "", "",
      "varies or steady; too short: for its times to be known; too few: calls, to judge, or threads to compare; small share: it varies, but has "
      "little of the CPU time; waits: it is a part of MPI, or waits for threads.",
      FV_GET(FV_TYPE_TEXT, get_verdict), .flags = FV_FLAT, .words = verdict_words },
    { "varies", "varies", "", "time_share > 0.1 and (within > 0.2 or between > 0.1).",
      FV_GET(FV_TYPE_TRUTH, get_varies) },
    { "varies_by", "varies by", "", "Which of these it is; null: it does not vary.",
      FV_GET(FV_TYPE_TEXT, get_varies_by), .flags = FV_NULLABLE, .words = varies_words },
    OF_FUNCTION("judged", "judged", "", judged, "Is `within` known?"),
    OF_FUNCTION("pooled", "", "", pooled,
                "Is `within` of all threads together, each about its own mean, because none has 8 samples?",
                | FV_BLANK),
    OF_FUNCTION("inside_mpi", "inside MPI", "", inside_mpi,
                "Are more than 95 % of its clock samples in MPI calls? It is a part of MPI then."),
    OF_FUNCTION("waits", "waits", "", waits, "Are more than 95 % in MPI calls or waiting for threads? It is not judged then."),
    { "advice", "advice", "",
      "How it varies, and which other metric varies most, which need not be the cause; null: it does not "
      "vary.",
      FV_GET(FV_TYPE_TEXT, get_advice), .flags = FV_NULLABLE },
    OF_FUNCTION("entry_count", "entries", "", entries, "Calls that were followed."),
    OF_FUNCTION("return_count", "returns", "", returns, "Those of them that returned."),
    OF_FUNCTION("abandoned_count", "abandoned", "", abandoned,
                "Those that ended without: longjmp, exceptions, the thread's end.", | FV_BLANK),
    OF_FUNCTION("rank_count", "ranks", "", ranks, "Ranks with such calls."),
    OF_FUNCTION("thread_count", "threads", "", threads, "Threads with such calls."),
    OF_FUNCTION("fast", "fast", "", fast,
                "Is it too short for the window, and for the resolution? Its mean may be off by "
                "microseconds.",
                | FV_BLANK),
    FLAT_STAT("mean_cpu_s", "mean CPU", "s", FV_TYPE_REAL, FV_METRIC_CPU, STAT_MEAN,
              "Mean CPU time of the calls; null: of two or fewer, or shorter than the resolution of sampling."),
    FLAT_STAT("mean_time_s", "mean time", "s", FV_TYPE_REAL, FV_METRIC_TIME, STAT_MEAN,
              "Mean time; likewise."),
    { "mpi_share", "in MPI", "share", "The part of that in MPI.", FV_GET(FV_TYPE_REAL, get_mpi_share),
      .flags = FV_FLAT | FV_NULLABLE | FV_BLANK },
    FLAT_STAT("sample_count", "samples", "", FV_TYPE_WHOLE, FV_METRIC_CPU, STAT_COUNT,
              "Calls that were measured."),
    FLAT_STAT("window_sample_count", "in window", "", FV_TYPE_WHOLE, FV_METRIC_CPU, STAT_COUNT | STAT_WINDOW,
              "Those of them in the window."),
    FLAT_STAT("bias", "bias", "ratio", FV_TYPE_REAL, FV_METRIC_CPU, STAT_BIAS,
              "Mean CPU time in the window over that of all; null: fewer than 8 in the window."),
    { "metrics", "metrics", "", "", FV_NEST(metrics) },
    { "instances", "instances", "", "", FV_NEST(instances) },
};
const struct fv_relation fv_functions_relation = {
    .recorded_by = "fvmpi run --sample",
    .name = "sampled_functions",
    .key = "functions",
    .title = "Sampled functions",
    .doc =
        "Functions that were sampled (fvmpi run --sample), in their calling contexts: whole calls of them. "
        "Ranks are merged where the whole context is the same (build-ids and offsets). Those that vary come "
        "first, those that wait last. Empty: nothing was sampled.",
    .shown = "function called_by/4 time_share verdict within pooled between mean_cpu_s fast mean_time_s/3 "
             "mpi_share/2 "
             "sample_count/2 window_sample_count/1 bias/1 abandoned_count/1",
    .share = "time_share",
    FV_COLUMNS(function_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, samples.items, samples.count),
};
