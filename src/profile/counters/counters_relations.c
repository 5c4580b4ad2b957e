/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that were counted: relations counters, counter_sections, counter_metrics, and of phases of threads
 * counter_phases, counter_phase_metrics. */
#include "profile/build.h"
#include "profile/counters/counters.h"
#include "profile/relations.h"
#include "profile/threads/lock_words.h"
#include "base/perf_events.h"
#include "profile/threads/phases.h"

#include <math.h>

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
#define KIND(S)                                                                                                       \
    {                                                                                                                 \
        "kind", "kind", "",                                                                                           \
            "exact, of the threads that the row is about; or estimate: events took turns, and what was counted part " \
            "of the time is scaled by time; or part: some thread or rank is not known, and not in it.",               \
            FV_GET(FV_TYPE_TEXT, get_kind), .offset = offsetof(S, kind), .words = kinds                               \
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

    v->text = modes[flags & FV_COUNTER_USER ? 0 : flags & FV_COUNTER_KERNEL ? 1 : 2];
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
#define SUMS                                                                                                        \
    COUNT("counted", "count", S, sum, "Counted, of all ranks and threads; null: not known."),                       \
        COUNT("counted_in_mpi", "in MPI", S, in_mpi,                                                                \
              "Of it in MPI calls, with what fvmpi does in them; null of events that are not the processor's, and " \
              "with --counters-mpi=0."),                                                                            \
        REAL("rate_per_s", "/s", "/s", S, rate, "The count by the time of the thread that was there longest."),     \
        KIND(S), { "rank_count", "ranks", "", "Ranks that counted it.", FV_FIELD(S, ranks) },                       \
        { "missing_threads",                                                                                        \
          "missing",                                                                                                \
          "",                                                                                                       \
          "Threads that are not in the counts: they could not be counted, or the process ended before they told.",  \
          FV_FIELD(S, missing),                                                                                     \
          .flags = FV_BLANK },                                                                                      \
        REAL("counted_mean", "mean", "count", S, of.mean, "Of a rank that misses no thread, the mean."),            \
        COUNT("counted_min", "min", S, of.min, "Of the rank with least."),                                          \
        SPREAD_RANK("min_rank", "rank", S, of.min_rank, "That rank."),                                              \
        COUNT("counted_max", "max", S, of.max, "Of the rank with most."),                                           \
        SPREAD_RANK("max_rank", "rank", S, of.max_rank, "That rank.")

static const struct fv_column_def outer_columns[] = {
    { "event", "event", "", "The event, as it was asked for.", FV_GET(FV_TYPE_TEXT, get_name) },
};

#define V struct fv_counts_value
static const struct fv_column_def rank_columns[] = {
    FV_RANK_COLUMN(V, rank, "rank", "rank", "The rank."),
    { "thread_count", "threads", "", "Its threads that counted.", FV_FIELD(V, threads) },
    { "missing_threads", "missing", "",
      "Its threads that are not in the count: they could not be counted, or the process ended before they told.",
      FV_FIELD(V, missing), .flags = FV_BLANK },
    COUNT("counted", "count", V, value, "Counted, of its threads."),
    COUNT("counted_in_mpi", "in MPI", V, in_mpi, "Of it in MPI calls."),
    { "time_s", "time", "s",
      "How long its thread that counted longest did; of a section, how long its instances were, pauses included.",
      FV_FIELD(V, time_s) },
    KIND(V),
};
static const struct fv_relation ranks = {
    .name = "counter_ranks",
    .key = "per_rank",
    .title = "Counters by rank",
    .doc = "What each rank counted of the event, by rank.",
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
    { "thread", "thread", "", "Its thread, as in the table of threads.", FV_FIELD(T, thread), .flags = FV_IS_THREAD },
    COUNT("counted", "count", T, value, "Counted."),
    COUNT("counted_in_mpi", "in MPI", T, in_mpi, "Of it in MPI calls."),
    KIND(T),
};
static const struct fv_relation threads = {
    .name = "counter_threads",
    .key = "per_thread",
    .title = "Counters by thread",
    .doc = "What each thread counted of the event, by rank and thread.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(thread_columns),
    FV_OUTER(outer_columns),
    .base = counts_base,
    FV_SLICE(struct fv_counts, threads, S, first_thread, threads),
};

static const struct fv_column_def counter_columns[] = {
    { "event", "event", "", "The event, as it was asked for.", FV_GET(FV_TYPE_TEXT, get_name) },
    { "quantity", "quantity", "", "What it counts, as formulas of metrics call it; null: none of these.",
      FV_GET(FV_TYPE_TEXT, get_quantity), .flags = FV_NULLABLE },
    { "mode", "mode", "", "Where it counts: in user mode, in the kernel, or both.", FV_GET(FV_TYPE_TEXT, get_mode),
      .words = modes },
    SUMS,
    { "refused_ranks", "refused", "", "Ranks that could not count it.", FV_GET(FV_TYPE_WHOLE, get_refused),
      .flags = FV_BLANK },
    { "reason", "why not", "", "Why; null: all could.", FV_GET(FV_TYPE_TEXT, get_reason), .flags = FV_NULLABLE },
    { "per_rank", "by rank", "", "By rank.", FV_NEST(ranks) },
    { "per_thread", "by thread", "", "By thread.", FV_NEST(threads) },
};
static const struct fv_relation counters_relation = {
    .name = "counters",
    .key = "counters",
    .title = "Counters",
    .doc = "Events counted over whole threads (fvmpi run --counters), from the begin of the recording in each to its "
           "end, pauses included; over all ranks, in the order in which they were asked for. "
           "Of the processor's events in user mode, unless mode says otherwise. Exact, but for what kind calls an "
           "estimate, or a part.",
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
#define SECTION(R)                                                                                           \
    { "section",                                                                                             \
      "section",                                                                                             \
      "",                                                                                                    \
      "The section's name; all: the whole program.",                                                         \
      FV_GET(FV_TYPE_TEXT, get_section),                                                                     \
      .offset = offsetof(R, scope) },                                                                        \
    {                                                                                                        \
        "number", "no.", "", "Its number.", FV_GET(FV_TYPE_NUMBER, get_number), .offset = offsetof(R, scope) \
    }

static const struct fv_column_def section_outer[] = {
    SECTION(S),
    { "event", "event", "", "The event, as it was asked for.", FV_GET(FV_TYPE_TEXT, get_name) },
};
static const struct fv_relation section_ranks = {
    .name = "counter_section_ranks",
    .key = "per_rank",
    .title = "Counters in sections by rank",
    .doc = "What the threads of each rank that opened the section counted of the event in it, by rank.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(rank_columns),
    FV_OUTER(section_outer),
    .base = counts_base,
    FV_SLICE(struct fv_counts, values, S, first, ranks),
};
static const struct fv_column_def section_columns[] = {
    SECTION(S),
    { "event", "event", "", "The event, as it was asked for.", FV_GET(FV_TYPE_TEXT, get_name) },
    SUMS,
    { "per_rank", "by rank", "", "By rank.", FV_NEST(section_ranks) },
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
    .title = "Counters in sections, of the threads that opened them",
    .doc = "Events counted in the sections that the program marks, in instances that have ended, by section and event: "
           "of the threads that opened the section. "
           "What other threads of the process count meanwhile, such as workers of OpenMP, is not in it.",
    .shown = "section number event counted rate_per_s/4 counted_in_mpi/3 counted_min/2 min_rank/2 counted_max/2 "
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
    METRIC_TEXT("metric", "metric", name, "Its name."),
};
static const struct fv_column_def metric_thread_columns[] = {
    FV_RANK_COLUMN(TM, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "Its thread, as in the table of threads.", FV_FIELD(TM, thread), .flags = FV_IS_THREAD },
    REAL("metric_value", "value", "ratio", TM, value, "Of what the thread counted."),
};
static const struct fv_relation metric_threads = {
    .name = "counter_metric_threads",
    .key = "per_thread",
    .title = "Metrics by thread",
    .doc = "The metric of each thread that counted all of its quantities, by rank and thread; of the whole program, "
           "and not of metrics by time.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(metric_thread_columns),
    FV_OUTER(metric_outer),
    .base = counts_base,
    FV_SLICE(struct fv_counts, thread_metrics, M, first_thread, threads),
};

#define METRIC_COLUMNS                                                                                                 \
    METRIC_TEXT("group", "group", group, "The group of events that it is made of."),                                   \
        METRIC_TEXT("metric", "metric", name, "Its name."), METRIC_TEXT("unit", "unit", unit, "Its unit."),            \
        REAL("metric_value", "value", "ratio", M, value,                                                               \
             "Of all ranks that know all of the formula, together: of the sums of what was counted, and the time of "  \
             "the longest."),                                                                                          \
        { "rank_count", "ranks", "", "These ranks.", FV_FIELD(M, ranks) },                                             \
        REAL("outside_mpi", "outside MPI", "ratio", M, outside_mpi,                                                    \
             "The same of what was counted outside of MPI's calls; null: not known, or it is by time."),               \
        REAL("metric_mean", "mean", "ratio", M, of.mean, "Of a rank, the mean."),                                      \
        REAL("metric_min", "min", "ratio", M, of.min, "Of the rank with least."),                                      \
        SPREAD_RANK("min_rank", "rank", M, of.min_rank, "That rank."),                                                 \
        REAL("metric_max", "max", "ratio", M, of.max, "Of the rank with most."),                                       \
        SPREAD_RANK("max_rank", "rank", M, of.max_rank, "That rank."),                                                 \
        REAL("peak", "peak", "", M, peak,                                                                              \
             "The most that the processor can do, in the unit of the value: of IPC as many operations as it takes on " \
             "in a cycle; of floating point double-precision multiply-adds, at the clock that it had, of families "    \
             "whose members differ of the largest; of memory what --peaks names, reads and writes together, of all "   \
             "nodes. Null: not known."),                                                                               \
        { "of_peak",           "of peak", "share", "The value's share of it.", FV_GET(FV_TYPE_REAL, get_of_peak),      \
          .flags = FV_NULLABLE },                                                                                      \
        KIND(M),                                                                                                       \
        { "mark",                                                                                                      \
          "may be a bottleneck",                                                                                       \
          "",                                                                                                          \
          "Why it may be one, by what it is outside of MPI where that is known; null: it is not marked.",              \
          FV_FIELD(M, mark),                                                                                           \
          .flags = FV_NULLABLE },                                                                                      \
        METRIC_TEXT("doc", "meaning", doc, "What it is."),                                                             \
    {                                                                                                                  \
        "formula", "formula", "", "How it is computed, of quantities.", FV_FIELD(M, formula)                           \
    }

static const struct fv_column_def metric_columns[] = {
    SECTION(M),
    METRIC_COLUMNS,
    { "per_thread", "by thread", "", "By thread.", FV_NEST(metric_threads) },
};
static const struct fv_relation counter_metrics_relation = {
    .name = "counter_metrics",
    .key = "counter_metrics",
    .title = "Metrics",
    .doc = "What follows from the counters: metrics whose quantities were all counted, of the whole program and of its "
           "sections, in the order of their groups. Of a section they are of the threads that opened it. Rates by time "
           "are of what a rank's "
           "threads count together.",
    .shown = "section number metric metric_value outside_mpi/4 unit metric_min/2 min_rank/2 metric_max/2 max_rank/2 "
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
#define PHASE(R)                                                                                    \
    { "phase_id",                                                                                   \
      "phase",                                                                                      \
      "",                                                                                           \
      "Index in phases, from 0.",                                                                   \
      FV_GET(FV_TYPE_WHOLE, get_phase),                                                             \
      .offset = offsetof(R, scope) },                                                               \
        { "kind_of_phase",                                                                          \
          "kind of phase",                                                                          \
          "",                                                                                       \
          "Threads that the program created, or OpenMP's parallel regions.",                        \
          FV_GET(FV_TYPE_TEXT, get_phase_kind),                                                     \
          .words = phase_kinds,                                                                     \
          .offset = offsetof(R, scope) },                                                           \
    {                                                                                               \
        "function", "function", "",                                                                 \
            "What the threads began with; of a region, the function that the compiler made of it.", \
            FV_GET(FV_TYPE_TEXT, get_phase_function), .offset = offsetof(R, scope)                  \
    }
#define PHASE_LABEL(R)                                                                            \
    {                                                                                             \
        "label", "threads of", "", "The phase, in words.", FV_GET(FV_TYPE_TEXT, get_phase_label), \
            .flags = FV_FLAT, .offset = offsetof(R, scope)                                        \
    }

#define PHASES_RECORDED_BY "fvmpi run --counters --threads"

static const struct fv_column_def phase_outer[] = {
    PHASE(S),
    { "event", "event", "", "The event, as it was asked for.", FV_GET(FV_TYPE_TEXT, get_name) },
};
static const struct fv_column_def phase_rank_columns[] = {
    FV_RANK_COLUMN(V, rank, "rank", "rank", "The rank."),
    { "thread_count", "threads", "",
      "Its threads that counted, over all instances of the phase; of OpenMP, of the teams of all regions.",
      FV_FIELD(V, threads) },
    { "missing_threads", "missing", "",
      "Those that are not in the count: they could not be counted, or not told any more.", FV_FIELD(V, missing),
      .flags = FV_BLANK },
    COUNT("counted", "count", V, value, "Counted, of these."),
    COUNT("counted_in_mpi", "in MPI", V, in_mpi, "Of it in MPI calls."),
    { "time_s", "longest", "s", "The phase's longest_s on the rank.", FV_FIELD(V, time_s) },
    { "thread_s", "counted for", "s", "How long these threads counted, together.", FV_FIELD(V, thread_time_s) },
    KIND(V),
};
static const struct fv_relation phase_ranks = {
    .name = "counter_phase_ranks",
    .key = "per_rank",
    .title = "Counters in phases by rank",
    .doc = "What each rank counted of the event in the phase, by rank.",
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
    { "event", "event", "", "The event, as it was asked for.", FV_GET(FV_TYPE_TEXT, get_name) },
    SUMS,
    { "per_rank", "by rank", "", "By rank.", FV_NEST(phase_ranks) },
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
    .doc = "Events counted in phases of parallel threads, by phase and event. Of threads that the program created, all "
           "of their counts, from begin to end. Of OpenMP's regions, of each thread of a team "
           "from the begin of its function until it comes to the barrier at the region's end, with the tasks that it "
           "runs there: waits within the region are in it, in which a thread may spin, the one at its end is not. "
           "Rates are by the phase's longest_s.",
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
    .doc = "What follows from the counters of each phase (counter_phases), in the order of their groups. Time in them "
           "is the phase's longest_s.",
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
    .name = "counters",
    .bytes = sizeof(struct fv_counters),
    .tracks = { &fv_track_counters },
    .relations = { &counters_relation, &counter_sections_relation, &counter_metrics_relation, &counter_phases_relation,
                   &counter_phase_metrics_relation },
    .join = fv_counts_join_runs,
    .release = release_counters,
};
