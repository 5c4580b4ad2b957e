/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that were counted: relations counters, counter_sections, counter_metrics, and of phases of threads
 * counter_phases, counter_phase_metrics. */
#include "profile/build.h"
#include "profile/counters/counters.h"
#include "profile/relations.h"
#include "profile/threads/lock_words.h"
#include "base/perf_events.h"
#include "profile/sections/sections.h"
#include "profile/threads/phases.h"

#include <math.h>
#include <string.h>

FV_DATA_BASE(counts)
FV_DATA_BASE(phase_counts)

#define RECORDED_BY "fvmpi run --counters"

static const struct fv_counts *view_of(const void *subject)
{
    return fv_model_counts(fv_tables_model(subject));
}

/* A count that is kept as a double; `argument`: where the row says that it is scaled. */
static void get_count(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    double number = *(const double *)(const void *)((const char *)row + c->offset);

    v->null = !(number >= 0 && number < 1e18);
    v->whole = v->null ? 0 : (uint64_t)llround(number);
    v->estimate = *(const bool *)((const char *)row + c->argument);
}
#define COUNT(k, t, S, m, d)                                                                           \
    {                                                                                                  \
        k, t, "", d, FV_GET(FV_TYPE_WHOLE, get_count), .flags = FV_NULLABLE, .offset = offsetof(S, m), \
                                                       .argument = offsetof(S, is_scaled)              \
    }

static void get_real(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = *(const double *)(const void *)((const char *)row + c->offset);
    v->estimate = *(const bool *)((const char *)row + c->argument);
}
#define REAL(k, t, u, S, m, d)                                                                      \
    {                                                                                               \
        k, t, u, d, FV_GET(FV_TYPE_REAL, get_real), .flags = FV_NULLABLE, .offset = offsetof(S, m), \
                                                    .argument = offsetof(S, is_scaled)              \
    }

static const char *const kinds[] = { FV_COUNTS_KINDS(FV_LIST_WORD) NULL };
static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = kinds[*((const uint8_t *)row + c->offset)];
}
#define KIND(S)                                                                                                    \
    {                                                                                                              \
        "kind", "kind", "",                                                                                        \
            "exact: all threads of the row counted all the time. estimate: events took turns, and partial counts " \
            "were scaled by time. part: some threads or ranks are not known and missing in the count.",            \
            FV_GET(FV_TYPE_TEXT, get_kind), .offset = offsetof(S, kind), .words = kinds                            \
    }

/* A rank of a spread, by its index; null: there is none. */
static void get_spread_rank(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t rank = *(const uint32_t *)(const void *)((const char *)row + c->offset);

    v->null = rank == FV_NONE;
    v->number = v->null ? 0 : fv_tables_model(subject)->ranks[rank].world_rank;
}
#define SPREAD_RANK(k, t, S, m, d)                                                                           \
    {                                                                                                        \
        k, t, "", d, FV_GET(FV_TYPE_NUMBER, get_spread_rank), .flags = FV_NULLABLE, .offset = offsetof(S, m) \
    }

/* ---- events ---- */

static const struct fv_counts_event *event_of(const void *subject, const void *row)
{
    return &view_of(subject)->events[((const struct fv_counts_sum *)row)->event];
}

static void get_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = event_of(subject, row)->name;
}

static void get_quantity(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_quantity *q = event_of(subject, row)->quantity;

    v->text = q ? c->argument ? q->doc : q->name : NULL;
}

static const char *const modes[] = { "user", "kernel", "both", NULL };
static void get_mode(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    unsigned flags = event_of(subject, row)->flags;

    v->null = flags & FV_COUNTER_ANY_MODE;
    v->text = v->null ? NULL : modes[flags & FV_COUNTER_USER ? 0 : flags & FV_COUNTER_KERNEL ? 1 : 2];
}

static void get_refused(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = event_of(subject, row)->refused_ranks;
}

static void get_reason(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_counts_event *e = event_of(subject, row);

    v->text = e->refusal ? fv_perf_event_refusal(e->refusal, e->flags & FV_COUNTER_USER) : NULL;
}

#define S struct fv_counts_sum
#define SUMS                                                                                                           \
    COUNT("counted", "count", S, sum, "Count over all ranks and threads. Null: not known."),                           \
        COUNT("counted_in_mpi", "in MPI", S, in_mpi,                                                                   \
              "The part counted in MPI calls, including what fvmpi does in them. Null: not an event of the "           \
              "processor, or --counters-mpi=0."),                                                                      \
        REAL("rate_per_s", "/s", "/s", S, rate, "The count divided by the time of the thread with the longest time."), \
        KIND(S), { "rank_count", "ranks", "", "Number of ranks that counted it.", FV_FIELD(S, ranks) },                \
        { "missing_threads",                                                                                           \
          "missing",                                                                                                   \
          "",                                                                                                          \
          "Threads missing in the counts: they could not be counted, or the process ended before their counts were "   \
          "known.",                                                                                                    \
          FV_FIELD(S, missing),                                                                                        \
          .flags = FV_BLANK },                                                                                         \
        REAL("counted_mean", "mean", "count", S, of.mean, "Mean count of the ranks that miss no thread."),             \
        COUNT("counted_min", "min", S, of.min, "Count of the rank with the least."),                                   \
        SPREAD_RANK("min_rank", "rank", S, of.min_rank, "The rank with the least."),                                   \
        COUNT("counted_max", "max", S, of.max, "Count of the rank with the most."),                                    \
        SPREAD_RANK("max_rank", "rank", S, of.max_rank, "The rank with the most.")

static const struct fv_column_def outer_columns[] = {
    { "event", "event", "", "Name of the event as requested.", FV_GET(FV_TYPE_TEXT, get_name) },
};

#define V struct fv_counts_value
static const struct fv_column_def rank_columns[] = {
    FV_RANK_COLUMN(V, rank, "rank", "rank", "The rank."),
    { "thread_count", "threads", "", "Its threads that counted the event.", FV_FIELD(V, threads) },
    { "missing_threads", "missing", "",
      "Its threads missing in the count: they could not be counted, or the process ended before their counts were "
      "known.",
      FV_FIELD(V, missing), .flags = FV_BLANK },
    COUNT("counted", "count", V, value, "Count of its threads."),
    COUNT("counted_in_mpi", "in MPI", V, in_mpi, "The part counted in MPI calls."),
    { "time_s", "time", "s",
      "Time of its thread that counted longest. For a section: duration of its instances, with pauses.",
      FV_FIELD(V, time_s) },
    KIND(V),
};
static const struct fv_relation ranks = {
    .name = "counter_ranks",
    .key = "per_rank",
    .title = "Counters by rank",
    .doc = "Count of the event on each rank, by rank.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(rank_columns),
    FV_OUTER(outer_columns),
    .base = counts_base,
    FV_SLICE(struct fv_counts, values, S, first, ranks),
};

#define T struct fv_counts_thread
static const struct fv_column_def thread_columns[] = {
    FV_RANK_COLUMN(T, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread, as in table threads.", FV_FIELD(T, thread), .flags = FV_IS_THREAD },
    COUNT("counted", "count", T, value, "Counted."),
    COUNT("counted_in_mpi", "in MPI", T, in_mpi, "The part counted in MPI calls."),
    { "time_s", "time", "s", "How long the thread counted, with pauses.", FV_FIELD(T, time_s) },
    KIND(T),
};
static const struct fv_relation threads = {
    .name = "counter_threads",
    .key = "per_thread",
    .title = "Counters by thread",
    .doc = "Count of the event on each thread, by rank and thread.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(thread_columns),
    FV_OUTER(outer_columns),
    .base = counts_base,
    FV_SLICE(struct fv_counts, threads, S, first_thread, threads),
};

static const struct fv_column_def counter_columns[] = {
    { "event", "event", "", "Name of the event as requested.", FV_GET(FV_TYPE_TEXT, get_name) },
    { "quantity", "quantity", "", "What the event counts, as named in formulas of metrics. Null: no metric uses it.",
      FV_GET(FV_TYPE_TEXT, get_quantity), .flags = FV_NULLABLE },
    { "mode", "mode", "", "Where it is counted: in user mode, in the kernel, or both. Null: not known, of an archive.",
      FV_GET(FV_TYPE_TEXT, get_mode), .words = modes, .flags = FV_NULLABLE },
    SUMS,
    { "refused_ranks", "refused", "", "Ranks that could not count it.", FV_GET(FV_TYPE_WHOLE, get_refused),
      .flags = FV_BLANK },
    { "reason", "why not", "", "Why they could not count it. Null: all could.", FV_GET(FV_TYPE_TEXT, get_reason),
      .flags = FV_NULLABLE },
    { "per_rank", "by rank", "", "Counts by rank.", FV_NEST(ranks) },
    { "per_thread", "by thread", "", "Counts by thread.", FV_NEST(threads) },
};
static const struct fv_relation counters_relation = {
    .name = "counters",
    .key = "counters",
    .title = "Counters",
    .doc = "Events counted over whole threads (fvmpi run --counters), from begin to end of the recording of each "
           "thread, with pauses, over all ranks. In the order of the request. Events of the processor count in user "
           "mode, unless `mode` differs. Exact, except where `kind` is estimate or part.",
    .shown = "event counted rate_per_s/4 counted_in_mpi/3 counted_min/2 min_rank/2 counted_max/2 max_rank/2 kind/1",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(counter_columns),
    .base = counts_base,
    FV_ITEMS(struct fv_counts, sums, whole_count),
};

/* ---- sections ---- */

static void get_section(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = view_of(subject)->scopes[*(const uint32_t *)(const void *)((const char *)row + c->offset)].name;
}

static void get_number(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->number = view_of(subject)->scopes[*(const uint32_t *)(const void *)((const char *)row + c->offset)].number;
}
#define SECTION(R)                                                                         \
    { "section",                                                                           \
      "section",                                                                           \
      "",                                                                                  \
      "Name of the section; `all` is the whole program.",                                  \
      FV_GET(FV_TYPE_TEXT, get_section),                                                   \
      .offset = offsetof(R, scope) },                                                      \
    {                                                                                      \
        "number", "no.", "", "Number of the section.", FV_GET(FV_TYPE_NUMBER, get_number), \
            .offset = offsetof(R, scope)                                                   \
    }

static const struct fv_column_def section_outer[] = {
    SECTION(S),
    { "event", "event", "", "Name of the event as requested.", FV_GET(FV_TYPE_TEXT, get_name) },
};
static const struct fv_relation section_ranks = {
    .name = "counter_section_ranks",
    .key = "per_rank",
    .title = "Counters in sections by rank",
    .doc = "Count of the event in the section on each rank, all its threads, by rank.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(rank_columns),
    FV_OUTER(section_outer),
    .base = counts_base,
    FV_SLICE(struct fv_counts, values, S, first, ranks),
};
static const struct fv_relation section_threads = {
    .name = "counter_section_threads",
    .key = "per_thread",
    .title = "Counters in sections by thread",
    .doc = "Count of the event in the section on each thread, by rank and thread. A thread that opened the section "
           "counts in its instances, any other while the section was open on some thread of the rank.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(thread_columns),
    FV_OUTER(section_outer),
    .base = counts_base,
    FV_SLICE(struct fv_counts, threads, S, first_thread, threads),
};
static void get_short(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const uint32_t at = *(const uint32_t *)(const void *)((const char *)row + c->offset);
    const struct fv_counts_scope *scope = &view_of(subject)->scopes[at];
    const struct fv_sections_view *s = fv_model_sections(fv_tables_model(subject));

    for (size_t i = 0; i < s->count && !v->truth; i++)
        v->truth = !s->items[i].whole && s->items[i].number == scope->number &&
                   !strcmp(s->items[i].name, scope->name) && fv_section_is_short(&s->items[i]);
}
#define TOO_SHORT(S)                                                                          \
    {                                                                                         \
        "too_short", "short", "",                                                             \
            "True: an instance takes less than " FV_SECTION_SHORT_WORDS                       \
            " in the mean, so that what reading the counters takes is over 1 % of it.",       \
            FV_GET(FV_TYPE_TRUTH, get_short), .flags = FV_BLANK, .offset = offsetof(S, scope) \
    }

static const struct fv_column_def section_columns[] = {
    SECTION(S),
    { "event", "event", "", "Name of the event as requested.", FV_GET(FV_TYPE_TEXT, get_name) },
    TOO_SHORT(S),
    SUMS,
    { "per_rank", "by rank", "", "Counts by rank.", FV_NEST(section_ranks) },
    { "per_thread", "by thread", "", "Counts by thread.", FV_NEST(section_threads) },
};

static size_t section_count(void *subject, const void *parent)
{
    return view_of(subject)->sum_count - view_of(subject)->whole_count;
}

static const void *section_row(void *subject, const void *parent, size_t i)
{
    return &view_of(subject)->sums[view_of(subject)->whole_count + i];
}

static const struct fv_relation counter_sections_relation = {
    .name = "counter_sections",
    .key = "counter_sections",
    .title = "Counters in sections",
    .doc =
        "Events counted in completed instances of sections that the program marks, by section and event, over all "
        "threads that are recorded. Threads that did not open the section, such as OpenMP workers, count while it was "
        "open. Estimates where they were read for part of that time only (section_threads).",
    .shown =
        "section number event too_short/5 counted rate_per_s/4 counted_in_mpi/3 counted_min/2 min_rank/2 counted_max/2 "
        "max_rank/2 kind/1",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(section_columns),
    .count = section_count,
    .row = section_row,
};

/* ---- metrics ---- */

#define M struct fv_counts_metric
static void get_metric(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = *(const char *const *)(const void *)((const char *)((const M *)row)->row + c->argument);
}
#define METRIC_TEXT(k, t, m, d)                                                                      \
    {                                                                                                \
        k, t, "", d, FV_GET(FV_TYPE_TEXT, get_metric), .argument = offsetof(struct fv_metric_row, m) \
    }

static void get_of_peak(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const M *m = row;

    v->real = m->value / m->peak;
}

#define TM struct fv_counts_thread_metric
static const struct fv_column_def metric_outer[] = {
    SECTION(M),
    METRIC_TEXT("metric", "metric", name, "Name of the metric."),
};
static const struct fv_column_def metric_thread_columns[] = {
    FV_RANK_COLUMN(TM, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread, as in table threads.", FV_FIELD(TM, thread), .flags = FV_IS_THREAD },
    REAL("metric_value", "value", "ratio", TM, value, "Value of the metric for this thread."),
};
static const struct fv_relation metric_threads = {
    .name = "counter_metric_threads",
    .key = "per_thread",
    .title = "Metrics by thread",
    .doc = "The metric for each thread that counted all its quantities, by rank and thread. Rates use the time of the "
           "thread.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(metric_thread_columns),
    FV_OUTER(metric_outer),
    .base = counts_base,
    FV_SLICE(struct fv_counts, thread_metrics, M, first_thread, threads),
};

#define METRIC_COLUMNS                                                                                                 \
    METRIC_TEXT("group", "group", group, "Group of the events that the metric uses."),                                 \
        METRIC_TEXT("metric", "metric", name, "Name of the metric."),                                                  \
        METRIC_TEXT("unit", "unit", unit, "Unit of the metric."),                                                      \
        REAL("metric_value", "value", "ratio", M, value,                                                               \
             "Value over all ranks that know the whole formula: computed from summed counts and from the longest "     \
             "time."),                                                                                                 \
        { "rank_count", "ranks", "", "Number of these ranks.", FV_FIELD(M, ranks) },                                   \
        REAL("outside_mpi", "outside MPI", "ratio", M, outside_mpi,                                                    \
             "The metric from counts outside of MPI calls. Null: not known, or a rate by time."),                      \
        REAL("metric_mean", "mean", "ratio", M, of.mean, "Mean value of a rank."),                                     \
        REAL("metric_min", "min", "ratio", M, of.min, "Value of the rank with the least."),                            \
        SPREAD_RANK("min_rank", "rank", M, of.min_rank, "The rank with the least."),                                   \
        REAL("metric_max", "max", "ratio", M, of.max, "Value of the rank with the most."),                             \
        SPREAD_RANK("max_rank", "rank", M, of.max_rank, "The rank with the most."),                                    \
        REAL("peak", "peak", "", M, peak,                                                                              \
             "Peak of the processor in the unit of the value. IPC: the operations that it can start in a cycle. "      \
             "Floating point: double-precision multiply-adds at the measured clock; if members of a processor family " \
             "differ, the highest. Memory: the value of --peaks, reads and writes together, all nodes. Null: not "     \
             "known."),                                                                                                \
        { "of_peak",           "of peak", "share", "Value as a share of the peak.", FV_GET(FV_TYPE_REAL, get_of_peak), \
          .flags = FV_NULLABLE },                                                                                      \
        KIND(M),                                                                                                       \
        { "mark",                                                                                                      \
          "may be a bottleneck",                                                                                       \
          "",                                                                                                          \
          "Why the metric may show a bottleneck, judged outside of MPI if that is known. Null: no bottleneck.",        \
          FV_FIELD(M, mark),                                                                                           \
          .flags = FV_NULLABLE },                                                                                      \
        METRIC_TEXT("doc", "meaning", doc, "Meaning of the metric."),                                                  \
    {                                                                                                                  \
        "formula", "formula", "", "Formula of the metric.", FV_FIELD(M, formula)                                       \
    }

static const struct fv_column_def metric_columns[] = {
    SECTION(M),
    TOO_SHORT(M),
    METRIC_COLUMNS,
    { "per_thread", "by thread", "", "The metric by thread.", FV_NEST(metric_threads) },
};
static const struct fv_relation counter_metrics_relation = {
    .name = "counter_metrics",
    .key = "counter_metrics",
    .title = "Metrics",
    .doc = "Metrics computed from counters, for the whole program and its sections, by group. Only metrics with all "
           "quantities are listed. For a section, they include all threads while it was open. Rates by time add the "
           "counts of a rank's threads.",
    .shown = "section number too_short/5 metric metric_value outside_mpi/4 unit metric_min/2 min_rank/2 metric_max/2 "
             "max_rank/2 "
             "of_peak/1 mark/3",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(metric_columns),
    .base = counts_base,
    FV_ITEMS(struct fv_counts, metrics, metric_count),
};

/* ---- phases of threads: scope 0 is none ---- */

static uint32_t phase_number(const void *row, const struct fv_column_def *c)
{
    return *(const uint32_t *)(const void *)((const char *)row + c->offset) - 1;
}

static const struct fv_phase *phase_of(const void *subject, const void *row, const struct fv_column_def *c)
{
    return &fv_model_phases(fv_tables_model(subject))->items[phase_number(row, c)];
}

static void get_phase(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = phase_number(row, c);
}

static void get_phase_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_phase_kind_name(phase_of(subject, row, c)->kind);
}

static void get_phase_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_view_routine(t->profile, phase_of(subject, row, c)->routine, t->text, sizeof(t->text));
}

static void get_phase_label(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_view_phase_label(t->profile, phase_of(subject, row, c), true, t->text, sizeof(t->text));
}

static const char *const phase_kinds[] = { FV_PHASE_KINDS(FV_LIST_WORD) NULL };
#define PHASE(R)                                                                                         \
    { "phase_id",                                                                                        \
      "phase",                                                                                           \
      "",                                                                                                \
      "Index in phases, from 0.",                                                                        \
      FV_GET(FV_TYPE_WHOLE, get_phase),                                                                  \
      .offset = offsetof(R, scope) },                                                                    \
        { "kind_of_phase",                                                                               \
          "kind of phase",                                                                               \
          "",                                                                                            \
          "Threads that the program created, or OpenMP parallel regions.",                               \
          FV_GET(FV_TYPE_TEXT, get_phase_kind),                                                          \
          .words = phase_kinds,                                                                          \
          .offset = offsetof(R, scope) },                                                                \
    {                                                                                                    \
        "function", "function", "",                                                                      \
            "First function of the threads; for a region, the function that the compiler made from it.", \
            FV_GET(FV_TYPE_TEXT, get_phase_function), .offset = offsetof(R, scope)                       \
    }
#define PHASE_LABEL(R)                                                                            \
    {                                                                                             \
        "label", "threads of", "", "The phase, in words.", FV_GET(FV_TYPE_TEXT, get_phase_label), \
            .flags = FV_FLAT, .offset = offsetof(R, scope)                                        \
    }

#define PHASES_RECORDED_BY "fvmpi run --counters --threads"

static const struct fv_column_def phase_outer[] = {
    PHASE(S),
    { "event", "event", "", "Name of the event as requested.", FV_GET(FV_TYPE_TEXT, get_name) },
};
static const struct fv_column_def phase_rank_columns[] = {
    FV_RANK_COLUMN(V, rank, "rank", "rank", "The rank."),
    { "thread_count", "threads", "",
      "Its threads that counted, over all instances of the phase. OpenMP: over the teams of all regions.",
      FV_FIELD(V, threads) },
    { "missing_threads", "missing", "",
      "Its threads missing in the count: they could not be counted, or ended before their counts were known.",
      FV_FIELD(V, missing), .flags = FV_BLANK },
    COUNT("counted", "count", V, value, "Count of these threads."),
    COUNT("counted_in_mpi", "in MPI", V, in_mpi, "The part counted in MPI calls."),
    { "time_s", "longest", "s", "longest_s of the phase on this rank.", FV_FIELD(V, time_s) },
    { "thread_s", "counted for", "s", "Counting time of these threads, summed.", FV_FIELD(V, thread_time_s) },
    KIND(V),
};
static const struct fv_relation phase_ranks = {
    .name = "counter_phase_ranks",
    .key = "per_rank",
    .title = "Counters in phases by rank",
    .doc = "Count of the event in the phase on each rank, by rank.",
    .recorded_by = PHASES_RECORDED_BY,
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(phase_rank_columns),
    FV_OUTER(phase_outer),
    .base = phase_counts_base,
    FV_SLICE(struct fv_counts, values, S, first, ranks),
};
static const struct fv_column_def phase_columns[] = {
    PHASE(S),
    PHASE_LABEL(S),
    { "event", "event", "", "Name of the event as requested.", FV_GET(FV_TYPE_TEXT, get_name) },
    SUMS,
    { "per_rank", "by rank", "", "Counts by rank.", FV_NEST(phase_ranks) },
};

static size_t phase_count(void *subject, const void *parent)
{
    const struct fv_counts *v = fv_model_phase_counts(fv_tables_model(subject));

    return v->sum_count - v->whole_count;
}

static const void *phase_row(void *subject, const void *parent, size_t i)
{
    const struct fv_counts *v = fv_model_phase_counts(fv_tables_model(subject));

    return &v->sums[v->whole_count + i];
}

static const struct fv_relation counter_phases_relation = {
    .name = "counter_phases",
    .key = "counter_phases",
    .title = "Counters in phases of threads",
    .doc = "Events counted in phases of parallel threads, by phase and event. Threads that the program created count "
           "from begin to end. In OpenMP regions, each thread counts from the begin of its function to the barrier at "
           "the end, including tasks that it runs there. Waits within the region are included, where a thread may "
           "spin; the wait at its end is not. Rates use longest_s of the phase.",
    .shown = "label event counted rate_per_s/4 counted_in_mpi/3 missing_threads/1 counted_min/2 min_rank/2 "
             "counted_max/2 max_rank/2 kind/1",
    .recorded_by = PHASES_RECORDED_BY,
    FV_COLUMNS(phase_columns),
    .count = phase_count,
    .row = phase_row,
};

static const struct fv_column_def phase_metric_columns[] = {
    PHASE(M),
    PHASE_LABEL(M),
    METRIC_COLUMNS,
};
static const struct fv_relation counter_phase_metrics_relation = {
    .name = "counter_phase_metrics",
    .key = "counter_phase_metrics",
    .title = "Metrics of phases of threads",
    .doc = "Metrics of each phase (counter_phases), by group. Their time is longest_s of the phase.",
    .shown =
        "label metric metric_value outside_mpi/4 unit metric_min/2 min_rank/2 metric_max/2 max_rank/2 of_peak/1 mark/3",
    .recorded_by = PHASES_RECORDED_BY,
    FV_COLUMNS(phase_metric_columns),
    .base = phase_counts_base,
    FV_ITEMS(struct fv_counts, metrics, metric_count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_counters;

static void release_counters(void *data)
{
    struct fv_counters *counters = data;

    fv_counts_release(&counters->counted);
    fv_counts_release(&counters->phases);
}

const struct fv_subject fv_counters_subject = {
    .group = "Machine",
    .bytes = sizeof(struct fv_counters),
    .tracks = { &fv_track_counters },
    .relations = { &counters_relation, &counter_sections_relation, &counter_metrics_relation, &counter_phases_relation,
                   &counter_phase_metrics_relation },
    .join = fv_counts_join_runs,
    .release = release_counters,
};
