/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program did in its sections: relations sections, sections_lost. */
#include "profile/build.h"
#include "profile/samples/costs.h"
#include "profile/samples/costs_relations.h"
#include "profile/sections/sections.h"

#include <math.h>

FV_DATA_BASE(sections)

static const struct fv_sections_view *sections_of(const void *subject)
{
    return fv_model_sections(fv_tables_model(subject));
}

/* A count that is kept as a double; null where it is not known. */
static void get_counted(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    double number = *(const double *)(const void *)((const char *)row + c->offset);

    v->null = !(number >= 0 && number < 1e18);
    v->whole = v->null ? 0 : (uint64_t)number;
}
#define COUNTED(S, m) FV_GET(FV_TYPE_WHOLE, get_counted), .flags = FV_NULLABLE, .offset = offsetof(S, m)

/* Of the waiting at `offset`. Where there are no calls it is known to be none. */
static void get_wait_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    double wait_s = *(const double *)(const void *)((const char *)row + c->offset);
    uint8_t kind = *(const uint8_t *)((const char *)row + c->argument);

    v->text = isfinite(wait_s) ? fv_wait_kind_words[kind == FV_WAIT_ESTIMATE] : NULL;
}
#define KIND_COLUMN(of, S, m)                                                                                    \
    {                                                                                                            \
        "wait_kind", "kind", "", "Whether " of " is exact or an estimate. Null: not known.",                     \
            FV_GET(FV_TYPE_TEXT, get_wait_kind), .flags = FV_NULLABLE, .offset = offsetof(S, m),                 \
                                                 .argument = offsetof(S, wait_kind), .words = fv_wait_kind_words \
    }

static const struct fv_column_def section_outer[] = {
    FV_DATA_ID_COLUMN(sections, struct fv_sections_view, "section_id", items, "Index in sections, from 0."),
    FV_SECTION_COLUMNS,
};

#define FAULT_COLUMNS(S)                                                                                               \
    { "unbalanced.open_at_end", "open", "", "Instances that were still open when the rank ended.",                     \
      FV_FIELD(S, faults.open) },                                                                                      \
        { "unbalanced.ended_by_thread_end", "thread ended", "", "Instances that ended because their thread ended.",    \
          FV_FIELD(S, faults.unended) },                                                                               \
        { "unbalanced.ends_without_begin", "no begin", "", "Ends without a begin on any thread.",                      \
          FV_FIELD(S, faults.unbegun) },                                                                               \
        { "unbalanced.ends_on_another_thread", "other thread", "", "Ends on another thread than the begin.",           \
          FV_FIELD(S, faults.elsewhere) },                                                                             \
        { "unbalanced.nested_in_itself", "nested", "",                                                                 \
          "Begins inside an open instance of the same section. This is allowed.", FV_FIELD(S, faults.nested) },        \
    {                                                                                                                  \
        "unbalanced.overlapped", "overlapped", "", "Ends while a section that began later was open. This is allowed.", \
            FV_FIELD(S, faults.overlapped)                                                                             \
    }

/* What the values of a section mean, of each rank and over all. */
#define ELAPSED_DOC                                                                                                 \
    "Time of the thread that spent most time in the section. An instance that was open when the rank ended counts " \
    "until then. Pauses are left out."
#define CPU_DOC                                                                                                      \
    " of all threads that are recorded: those that opened the section in their instances, others while it was open " \
    "(section_threads). With pauses. Null with --section-cpu=0, and for a section that was open at the end. The "    \
    "whole "                                                                                                         \
    "program: all threads of the process; null if it was killed."
#define PROCESS_DOC                                                                                                 \
    "CPU time of all threads of the process, user and system, while an instance was open. It includes workers and " \
    "threads that do other work. Null as user time, and if several threads of a rank were in the section"
#define SAMPLED_THREADS_DOC \
    "Threads with clock samples in the section: those that were in it, and threads that these created"
/* Of struct fv_section_threads at `offset`: their mean. */
static void get_thread_mean(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_threads *of = (const void *)((const char *)row + c->offset);

    v->real = of->count ? of->sum_s / of->count : NAN;
}
static void get_thread_extreme(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_threads *of = (const void *)((const char *)row + c->offset);

    v->real = !of->count ? NAN : c->argument ? of->max_s : of->min_s;
}
#define THREAD_COLUMNS(g, S)                                                                        \
    { g "count", "sampled threads", "", SAMPLED_THREADS_DOC ".", FV_FIELD(S, sampled.count) },      \
        { g "mean_s",                                                                               \
          "a thread",                                                                               \
          "s",                                                                                      \
          "Mean sampled CPU time of these threads. Null: none.",                                    \
          FV_GET(FV_TYPE_REAL, get_thread_mean),                                                    \
          .flags = FV_NULLABLE | FV_ESTIMATE,                                                       \
          .offset = offsetof(S, sampled) },                                                         \
        { g "min_s",                                                                                \
          "min",                                                                                    \
          "s",                                                                                      \
          "Sampled CPU time of the thread with the least.",                                         \
          FV_GET(FV_TYPE_REAL, get_thread_extreme),                                                 \
          .flags = FV_NULLABLE | FV_ESTIMATE,                                                       \
          .offset = offsetof(S, sampled) },                                                         \
    {                                                                                               \
        g "max_s", "max", "s", "Sampled CPU time of the thread with the most.",                     \
            FV_GET(FV_TYPE_REAL, get_thread_extreme), .flags = FV_NULLABLE | FV_ESTIMATE,           \
                                                      .offset = offsetof(S, sampled), .argument = 1 \
    }
/* Of bool at `offset`. */
static void get_cpu_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_wait_kind_words[*(const bool *)((const char *)row + c->offset) ? 1 : 0];
}
#define OTHERS_COLUMNS(S)                                                                                              \
    { "other_thread_count", "others", "",                                                                              \
      "Other threads that were recorded while it was open, such as OpenMP workers. Their CPU time is in user_time "    \
      "and system_time.",                                                                                              \
      FV_FIELD(S, other_threads) },                                                                                    \
    {                                                                                                                  \
        "cpu_kind", "CPU kind", "",                                                                                    \
            "Whether CPU time of other threads was read each time (exact), or only part of the time, because reading " \
            "it would have cost over 1 % (estimate).",                                                                 \
            FV_GET(FV_TYPE_TEXT, get_cpu_kind), .offset = offsetof(S, is_scaled), .words = fv_wait_kind_words          \
    }
#define WAIT_DOC                                                                                                      \
    "Time spent waiting for other ranks in its MPI calls. Exact if entry times or the trace give it for the section " \
    "alone. Estimate also if a call site is in several sections and only its total waiting is known; it is then "     \
    "divided in proportion to time. Null: not known."
#define MESSAGE_DOC(verb, sizes) "Messages and collective calls that " verb " " sizes "."
#define RECEIVED_DOC(sizes)                              \
    "Messages and collective calls that received " sizes \
    ". What a request receives counts in the section that posted it."

/* Of the instances, struct fv_section_instances at `offset`: their mean, or with an argument the deviation. */
static void get_instances(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_instances *of = (const void *)((const char *)row + c->offset);

    v->real = !of->count ? NAN : c->argument ? sqrt(of->m2 / (double)of->count) : of->mean_s;
}
#define HISTOGRAM_DOC                                                                                                 \
    "from a histogram with 8 buckets for each factor of two, so exact to 1/8. Null: the whole program, or there was " \
    "no room for the histogram."
#define PERCENTILE_COLUMN(k, t, S, which, d)                                               \
    {                                                                                      \
        k, t, "s", d, FV_FIELD(S, percentile_s[which]), .flags = FV_NULLABLE | FV_ESTIMATE \
    }
#define INSTANCE_COLUMNS(g, S)                                                                                       \
    { g "min_s", "shortest", "s", "Shortest completed instance.", FV_FIELD(S, shortest_s), .flags = FV_NULLABLE },   \
        { g "max_s", "longest", "s", "Longest completed instance.", FV_FIELD(S, longest_s), .flags = FV_NULLABLE },  \
        { g "mean_s",                                                                                                \
          "mean instance",                                                                                           \
          "s",                                                                                                       \
          "Mean of the completed instances, over all threads.",                                                      \
          FV_GET(FV_TYPE_REAL, get_instances),                                                                       \
          .flags = FV_NULLABLE,                                                                                      \
          .offset = offsetof(S, instances) },                                                                        \
        { g "stddev_s",                                                                                              \
          "stddev",                                                                                                  \
          "s",                                                                                                       \
          "Standard deviation of the completed instances (of the population). Null: not known.",                     \
          FV_GET(FV_TYPE_REAL, get_instances),                                                                       \
          .flags = FV_NULLABLE,                                                                                      \
          .offset = offsetof(S, instances),                                                                          \
          .argument = 1 },                                                                                           \
        PERCENTILE_COLUMN(g "p50_s", "median", S, 0, "Median of the completed instances, " HISTOGRAM_DOC),           \
        PERCENTILE_COLUMN(g "p90_s", "p90", S, 1,                                                                    \
                          "90th percentile of the completed instances, from the same histogram. Null as in p50_s."), \
        PERCENTILE_COLUMN(g "p99_s", "p99", S, 2,                                                                    \
                          "99th percentile of the completed instances, from the same histogram. Null as in p50_s.")

/* ---- by rank ---- */

#define RANK_S(k, t, which, more, d)                                                                \
    {                                                                                               \
        k, t, "s", d, FV_FIELD(struct fv_section_rank, value[which]), .flags = FV_NULLABLE | (more) \
    }
#define RANK_N(k, t, which, d)                                     \
    {                                                              \
        k, t, "", d, COUNTED(struct fv_section_rank, value[which]) \
    }
static const struct fv_column_def rank_columns[] = {
    FV_RANK_COLUMN(struct fv_section_rank, rank, "rank", "rank", "A rank that was in the section."),
    { "count", "count", "", "Number of instances, including open ones.", FV_FIELD(struct fv_section_rank, count) },
    { "thread_count", "threads", "", "Threads that opened the section.", FV_FIELD(struct fv_section_rank, threads) },
    OTHERS_COLUMNS(struct fv_section_rank),
    INSTANCE_COLUMNS("instance_", struct fv_section_rank),
    RANK_S("elapsed_s", "elapsed", FV_SECTION_ELAPSED, 0, ELAPSED_DOC),
    RANK_S("thread_time_s", "thread time", FV_SECTION_THREADS_TIME, 0,
           "Elapsed time as in elapsed_s, summed over the rank's threads."),
    RANK_S("user_time_s", "user", FV_SECTION_USER, 0, "CPU time in user mode" CPU_DOC),
    RANK_S("system_time_s", "system", FV_SECTION_SYSTEM, 0, "CPU time in the kernel of the same threads."),
    RANK_S("process_cpu_s", "process CPU", FV_SECTION_PROCESS, 0, PROCESS_DOC "."),
    RANK_S("mpi_time_s", "MPI", FV_SECTION_MPI, 0, "Time of MPI calls that ended in the section."),
    RANK_S("wait_s", "wait", FV_SECTION_WAIT, FV_AS_KIND, WAIT_DOC),
    KIND_COLUMN("wait_s", struct fv_section_rank, value[FV_SECTION_WAIT]),
    RANK_S("lock_wait_s", "lock wait", FV_SECTION_LOCK, 0,
           "Waiting for locks and barriers of threads; null without --threads."),
    RANK_S("sampled_cpu_s", "sampled", FV_SECTION_SAMPLED, FV_ESTIMATE,
           "CPU time by clock samples. It includes threads created by threads in the section, unless they were in a "
           "section themselves. Null: no samples."),
    THREAD_COLUMNS("thread_sampled_", struct fv_section_rank),
    RANK_N("mpi_call_count", "MPI calls", FV_SECTION_CALLS, "MPI calls that ended in the section."),
    RANK_N("fault_count", "faults", FV_SECTION_FAULTS,
           "Page faults, minor and major, of the threads that opened the section. Null as user_time_s."),
    RANK_N("switch_count", "switches", FV_SECTION_SWITCHES,
           "Context switches, voluntary and involuntary, of the threads that opened the section. Null as user_time_s."),
    RANK_N("sent_below_4k_count", "sent <4k", FV_SECTION_SENT,
           MESSAGE_DOC("sent", "sent less than 4 KiB, including 0 bytes")),
    RANK_N("sent_below_64k_count", "sent <64k", FV_SECTION_SENT + 1,
           MESSAGE_DOC("sent", "sent 4 KiB to less than 64 KiB")),
    RANK_N("sent_below_1m_count", "sent <1m", FV_SECTION_SENT + 2,
           MESSAGE_DOC("sent", "sent 64 KiB to less than 1 MiB")),
    RANK_N("sent_1m_and_above_count", "sent >=1m", FV_SECTION_SENT + 3, MESSAGE_DOC("sent", "sent 1 MiB or more")),
    RANK_N("received_below_4k_count", "recv <4k", FV_SECTION_RECEIVED,
           RECEIVED_DOC("less than 4 KiB, including 0 bytes")),
    RANK_N("received_below_64k_count", "recv <64k", FV_SECTION_RECEIVED + 1, RECEIVED_DOC("4 KiB to less than 64 KiB")),
    RANK_N("received_below_1m_count", "recv <1m", FV_SECTION_RECEIVED + 2, RECEIVED_DOC("64 KiB to less than 1 MiB")),
    RANK_N("received_1m_and_above_count", "recv >=1m", FV_SECTION_RECEIVED + 3, RECEIVED_DOC("1 MiB or more")),
    FAULT_COLUMNS(struct fv_section_rank),
};

static const struct fv_relation ranks = {
    .name = "sections_by_rank",
    .key = "per_rank",
    .title = "Sections by rank",
    .doc = "The section on each rank that was in it, by rank. Values are summed over the rank's threads, except "
           "elapsed_s.",
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(rank_columns),
    FV_OUTER(section_outer),
    .base = sections_base,
    FV_SLICE(struct fv_sections_view, ranks, struct fv_section_view, first, ranks),
};

/* ---- MPI calls ---- */

#define MESSAGES(k, t, m, d)                              \
    {                                                     \
        k, t, "", d, FV_FIELD(struct fv_section_calls, m) \
    }
static void get_unclassified(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_calls *calls = row;

    v->whole = calls->sent[FV_SECTION_CLASSES] + calls->received[FV_SECTION_CLASSES];
}

#define CALLS_COLUMNS                                                                                                 \
    { "count", "calls", "", "Calls that ended in the section.", FV_FIELD(struct fv_section_calls, calls) },           \
        { "time_s", "time", "s", "Total time of these calls.", FV_FIELD(struct fv_section_calls, time_s) },           \
        FV_WAIT_COLUMNS(struct fv_section_calls, WAIT_DOC),                                                           \
        { "bytes_sent", "sent", "bytes", "Bytes sent.", FV_FIELD(struct fv_section_calls, bytes_sent) },              \
        { "bytes_received", "received", "bytes", "Bytes received.",                                                   \
          FV_FIELD(struct fv_section_calls, bytes_received) },                                                        \
        MESSAGES("sent_below_4k_count", "sent <4k", sent[0], MESSAGE_DOC("sent", "less than 4 KiB, of 0 bytes too")), \
        MESSAGES("sent_below_64k_count", "sent <64k", sent[1], MESSAGE_DOC("sent", "4 KiB to less than 64 KiB")),     \
        MESSAGES("sent_below_1m_count", "sent <1m", sent[2], MESSAGE_DOC("sent", "64 KiB to less than 1 MiB")),       \
        MESSAGES("sent_1m_and_above_count", "sent >=1m", sent[3], MESSAGE_DOC("sent", "1 MiB or more")),              \
        MESSAGES("received_below_4k_count", "recv <4k", received[0],                                                  \
                 RECEIVED_DOC("less than 4 KiB, including 0 bytes")),                                                 \
        MESSAGES("received_below_64k_count", "recv <64k", received[1], RECEIVED_DOC("4 KiB to less than 64 KiB")),    \
        MESSAGES("received_below_1m_count", "recv <1m", received[2], RECEIVED_DOC("64 KiB to less than 1 MiB")),      \
        MESSAGES("received_1m_and_above_count", "recv >=1m", received[3], RECEIVED_DOC("1 MiB or more")),             \
    {                                                                                                                 \
        "unclassified_count", "unclassified", "", "Messages of unknown length, because --profile-max was reached.",   \
            FV_GET(FV_TYPE_WHOLE, get_unclassified)                                                                   \
    }

/* ---- by function ---- */

/* What is shown of a value over the ranks that made calls and know it. */
enum { OVER_MEAN, OVER_MIN, OVER_MAX, OVER_MAX_RANK };
#define OVER(value, what) ((intptr_t)(value) << 2 | (what))

static void get_over_ranks(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_calls *f = row;
    double sum = 0, least = INFINITY, most = -INFINITY;
    uint32_t count = 0, most_rank = 0;

    for (uint32_t i = 0; i < f->ranks; i++) {
        const struct fv_section_function_rank *r = &sections_of(subject)->function_ranks[f->first + i];
        double value = fv_section_call_value(r, (enum fv_section_call_value)(c->argument >> 2));

        if (!r->calls || !isfinite(value))
            continue;
        count++;
        sum += value;
        least = fmin(least, value);
        most_rank = value > most ? r->rank : most_rank;
        most = fmax(most, value);
    }
    int what = (int)(c->argument & 3);
    if (what == OVER_MAX_RANK) {
        v->null = !count;
        v->number = count ? fv_tables_model(subject)->ranks[most_rank].world_rank : 0;
    } else {
        v->real = !count ? NAN : what == OVER_MEAN ? sum / count : what == OVER_MIN ? least : most;
    }
}

#define OVER_RANKS(g, t, suffix, u, of, more, d)                                                             \
    { g ".mean" suffix,                                                                                      \
      t,                                                                                                     \
      u,                                                                                                     \
      d ": mean of the ranks that call the function in the section.",                                        \
      FV_GET(FV_TYPE_REAL, get_over_ranks),                                                                  \
      .flags = FV_NULLABLE | (more),                                                                         \
      .argument = OVER(of, OVER_MEAN) },                                                                     \
        { g ".min" suffix,                                                                                   \
          "min",                                                                                             \
          u,                                                                                                 \
          "The same for the rank with the least.",                                                           \
          FV_GET(FV_TYPE_REAL, get_over_ranks),                                                              \
          .flags = FV_NULLABLE | (more),                                                                     \
          .argument = OVER(of, OVER_MIN) },                                                                  \
        { g ".max" suffix,                                                                                   \
          "max",                                                                                             \
          u,                                                                                                 \
          "The same for the rank with the most.",                                                            \
          FV_GET(FV_TYPE_REAL, get_over_ranks),                                                              \
          .flags = FV_NULLABLE | (more),                                                                     \
          .argument = OVER(of, OVER_MAX) },                                                                  \
    {                                                                                                        \
        g ".max_rank", t " max rank", "", "The rank with the most.", FV_GET(FV_TYPE_NUMBER, get_over_ranks), \
            .flags = FV_NULLABLE, .argument = OVER(of, OVER_MAX_RANK)                                        \
    }

static const struct fv_column_def function_columns[] = {
    { "function", "function", "", "The MPI function.", FV_FIELD(struct fv_section_calls, function) },
    CALLS_COLUMNS,
    { "rank_count", "ranks", "", "Ranks that called it in the section.", FV_FIELD(struct fv_section_calls, ranks) },
    OVER_RANKS("rank_calls", "a rank", "_count", "count", FV_SECTION_CALL_COUNT, 0, "Calls"),
    OVER_RANKS("rank_times", "time", "_s", "s", FV_SECTION_CALL_TIME, 0, "Time in these calls"),
    OVER_RANKS("rank_wait", "wait", "_s", "s", FV_SECTION_CALL_WAIT, FV_ESTIMATE, "Waiting"),
    OVER_RANKS("rank_length", "length", "_bytes", "bytes", FV_SECTION_CALL_LENGTH, 0, "Mean length of the messages"),
};

static void get_mean_length(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = fv_section_call_value(row, FV_SECTION_CALL_LENGTH);
}

#define RANK_MESSAGES(k, t, class, d)                                                                                 \
    {                                                                                                                 \
        k, t, "", "Messages of " d ", sent and received.", FV_FIELD(struct fv_section_function_rank, messages[class]) \
    }
static const struct fv_column_def function_rank_columns[] = {
    { "function", "function", "", "The MPI function.", FV_FIELD(struct fv_section_function_rank, name) },
    FV_RANK_COLUMN(struct fv_section_function_rank, rank, "rank", "rank", "A rank that called it."),
    { "count", "calls", "", "Calls that ended in the section.", FV_FIELD(struct fv_section_function_rank, calls) },
    { "time_s", "time", "s", "Total time of these calls.", FV_FIELD(struct fv_section_function_rank, time_s) },
    FV_WAIT_COLUMNS(struct fv_section_function_rank, WAIT_DOC),
    { "bytes_sent", "sent", "bytes", "Bytes sent.", FV_FIELD(struct fv_section_function_rank, bytes_sent) },
    { "bytes_received", "received", "bytes", "Bytes received.",
      FV_FIELD(struct fv_section_function_rank, bytes_received) },
    { "length_bytes", "length", "bytes", "Mean length of its messages, sent and received. Null: none.",
      FV_GET(FV_TYPE_REAL, get_mean_length), .flags = FV_NULLABLE },
    RANK_MESSAGES("below_4k_count", "< 4K", 0, "less than 4 KiB, including 0 bytes"),
    RANK_MESSAGES("below_64k_count", "< 64K", 1, "4 KiB to less than 64 KiB"),
    RANK_MESSAGES("below_1m_count", "< 1M", 2, "64 KiB to less than 1 MiB"),
    RANK_MESSAGES("from_1m_count", ">= 1M", 3, "1 MiB or more"),
};
static const struct fv_relation function_ranks = {
    .of_ranks = true,
    .name = "section_functions_by_rank",
    .key = "mpi_calls_by_function_and_rank",
    .title = "MPI functions of sections by rank",
    .doc = "MPI calls of the section, by function and rank.",
    .shape = FV_ROWS,
    FV_COLUMNS(function_rank_columns),
    FV_OUTER(section_outer),
    .base = sections_base,
    FV_SLICE(struct fv_sections_view, function_ranks, struct fv_section_view, first_function_rank, function_ranks),
};
static const struct fv_relation functions = {
    .name = "section_functions",
    .key = "mpi_calls_by_function",
    .title = "MPI functions of sections",
    .doc = "MPI calls of the section by function, longest time first: totals, and values over ranks.",
    .shown = "section number function count time_s/9 rank_count/2 rank_calls_mean_count/8 rank_calls_min_count/5 "
             "rank_calls_max_count/5 rank_times_mean_s "
             "rank_times_min_s/7 rank_times_max_s/8 rank_wait_mean_s/6 rank_wait_max_s/4 rank_length_mean_bytes/6 "
             "rank_length_min_bytes/3 rank_length_max_bytes/3",
    FV_COLUMNS(function_columns),
    FV_OUTER(section_outer),
    FV_ITEMS(struct fv_section_view, functions, function_count),
};

static const struct fv_column_def callpath_columns[] = {
    { "function", "function", "", "The MPI function.", FV_FIELD(struct fv_section_calls, function) },
    FV_PATH_COLUMNS(struct fv_section_calls, node),
    CALLS_COLUMNS,
};
static const struct fv_relation callpaths = {
    .name = "section_callpaths",
    .key = "callpaths",
    .title = "Call paths of sections",
    .doc = "MPI calls of the section by call path, longest time first. Empty for the whole program, which has them in "
           "callsites.",
    FV_COLUMNS(callpath_columns),
    FV_OUTER(section_outer),
    FV_ITEMS(struct fv_section_view, paths, path_count),
};

/* ---- clock samples ---- */

/* The first of a section's procedures in section_parts, which are by section. */
static size_t first_part(const struct fv_cost_profile *c, size_t section)
{
    return FV_COUNT_BEFORE(i, c->section_part_count, c->section_parts[i].owner < section);
}

static size_t number_of(const void *subject, const void *section)
{
    return (size_t)((const struct fv_section_view *)section - sections_of(subject)->items);
}

static size_t procedure_count(void *subject, const void *parent)
{
    const struct fv_cost_profile *c = ((const struct fv_tables *)subject)->profile->costs;
    size_t section = number_of(subject, parent);

    return first_part(c, section + 1) - first_part(c, section);
}

static const void *procedure_at(void *subject, const void *parent, size_t i)
{
    const struct fv_cost_profile *c = ((const struct fv_tables *)subject)->profile->costs;

    return &c->section_parts[first_part(c, number_of(subject, parent)) + i];
}

static const struct fv_cost_procedure *procedure_of(const void *subject, const void *row)
{
    return &((const struct fv_tables *)subject)
                ->profile->costs->procedures[((const struct fv_cost_part *)row)->procedure];
}

static void get_procedure(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = procedure_of(subject, row)->name;
}

static void get_module(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    fv_get_module(subject, procedure_of(subject, row), c, v);
}

static void get_section_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_view *s = &sections_of(subject)->items[((const struct fv_cost_part *)row)->owner];
    uint64_t ticks = *(const uint64_t *)(const void *)((const char *)row + c->offset);

    v->real = s->cost_ticks ? (double)ticks / (double)s->cost_ticks : NAN;
}
#define SECTION_SHARE(k, t, which, d)                                                             \
    {                                                                                             \
        k, t, "share", d, FV_GET(FV_TYPE_REAL, get_section_share),                                \
            .flags = FV_FLAT | FV_NULLABLE | FV_ESTIMATE | FV_BLANK,                              \
            .offset = offsetof(struct fv_cost_part, sum.which.ticks), .argument = FV_COST_SECONDS \
    }

static const struct fv_column_def procedure_columns[] = {
    { "procedure_id", "procedure id", "id", "The procedure, an index in costs.procedures.",
      FV_FIELD(struct fv_cost_part, procedure) },
    { "procedure", "procedure", "", "Name of the procedure.", FV_GET(FV_TYPE_TEXT, get_procedure), .flags = FV_NAME },
    { "module", "module", "", "Path of the executable or library. Null: not known.", FV_GET(FV_TYPE_TEXT, get_module),
      .flags = FV_NULLABLE, .argument = offsetof(struct fv_cost_procedure, module) },
    FV_COST_BOTH_COLUMNS(struct fv_cost_part, sum),
    SECTION_SHARE("exclusive_share", "self", self, "exclusive_ticks as a share of the section's clock samples."),
    SECTION_SHARE("inclusive_share", "total", total, "inclusive_ticks as a share of the section's clock samples."),
    FV_COST_PART_COLUMNS(struct fv_cost_part, sum),
};
static const struct fv_relation procedures = {
    .recorded_by = "fvmpi run --sample",
    .name = "section_procedures",
    .key = "sampled_procedures",
    .title = "CPU time of sections by procedure",
    .doc = "Clock samples of the section by procedure, most exclusive ticks first. Empty without samples, and for the "
           "whole program, which has them in costs.",
    .shown = "section number procedure" FV_COST_SHOWN,
    .share = "exclusive_share",
    FV_COLUMNS(procedure_columns),
    FV_OUTER(section_outer),
    .count = procedure_count,
    .row = procedure_at,
};

struct costpath {
    uint32_t node;
    uint64_t ticks, mpi_ticks;
};

static size_t costpath_count(void *subject, const void *parent)
{
    return ((const struct fv_section_view *)parent)->cost_count;
}

/* Threads stand together, as leaves are by node: one row for all. */
static const void *costpath_at(void *subject, const void *parent, size_t i)
{
    const struct fv_section_view *s = parent;
    const struct fv_cost_leaf *leaf = &s->costs[i];
    struct costpath *row = (void *)((struct fv_tables *)subject)->row;

    if (i && leaf[-1].node == leaf->node)
        return NULL;
    *row = (struct costpath){ .node = leaf->node };
    for (; i < s->cost_count && s->costs[i].node == row->node; i++) {
        row->ticks += s->costs[i].ticks;
        row->mpi_ticks += s->costs[i].in_mpi;
    }
    return row;
}

static const struct fv_column_def costpath_columns[] = {
    FV_PATH_COLUMNS(struct costpath, node),
    FV_TICKS_COLUMN("ticks", "ticks", "Clock samples whose innermost frame is that of the path.", struct costpath,
                    ticks),
    FV_TICKS_S_COLUMN("time_s", "CPU", "The CPU time that these samples stand for.", struct costpath, ticks,
                      FV_COST_SECONDS, 0),
    FV_TICKS_COLUMN("mpi_ticks", "MPI", "Clock samples among these in MPI calls.", struct costpath, mpi_ticks),
};
static const struct fv_relation costpaths = {
    .recorded_by = "fvmpi run --sample",
    .name = "section_costpaths",
    .key = "costpaths",
    .title = "CPU time of sections by call path",
    .doc = "Clock samples of the section by call path. Empty without samples, and for the whole program.",
    FV_COLUMNS(costpath_columns),
    FV_OUTER(section_outer),
    .count = costpath_count,
    .row = costpath_at,
};

/* ---- sections ---- */

static void get_max_rank(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_spread *spread = (const void *)((const char *)row + c->offset);

    v->null = !isfinite(spread->max);
    v->number = v->null ? 0 : fv_tables_model(subject)->ranks[spread->max_rank].world_rank;
}

static void get_short(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = fv_section_is_short(row);
}

static void get_imbalance(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_spread *elapsed = &((const struct fv_section_view *)row)->value[FV_SECTION_ELAPSED];

    v->real = elapsed->max > 0 ? 1 - elapsed->mean / elapsed->max : NAN;
}

#define OVER_RANKS_DOC " Sum over the ranks that were in the section and know the value."
#define SPREAD_REAL(k, t, u, which, m, more, d)                                                     \
    {                                                                                               \
        k, t, u, d, FV_FIELD(struct fv_section_view, value[which].m), .flags = FV_NULLABLE | (more) \
    }
#define SPREAD_WHOLE(k, t, which, m, d)                              \
    {                                                                \
        k, t, "", d, COUNTED(struct fv_section_view, value[which].m) \
    }
#define SPREAD_RANK(g, t, which)                                                                           \
    {                                                                                                      \
        g ".max_rank", t " max rank", "", "The rank with the most.", FV_GET(FV_TYPE_NUMBER, get_max_rank), \
            .flags = FV_NULLABLE, .offset = offsetof(struct fv_section_view, value[which])                 \
    }
#define SPREAD_S(g, t, which, more, d)                                                              \
    SPREAD_REAL(g ".sum_s", t " sum", "s", which, sum, more, d OVER_RANKS_DOC),                     \
        SPREAD_REAL(g ".mean_s", t, "s", which, mean, more, "Mean of these ranks."),                \
        SPREAD_REAL(g ".min_s", "min", "s", which, min, more, "Value of the rank with the least."), \
        SPREAD_REAL(g ".max_s", "max", "s", which, max, more, "Value of the rank with the most."),  \
        SPREAD_RANK(g, t, which)
#define SPREAD_N(g, t, which, d)                                                           \
    SPREAD_WHOLE(g ".sum", t, which, sum, d OVER_RANKS_DOC),                               \
        SPREAD_REAL(g ".mean", t " mean", "", which, mean, 0, "Mean of these ranks."),     \
        SPREAD_WHOLE(g ".min", t " min", which, min, "Value of the rank with the least."), \
        SPREAD_WHOLE(g ".max", t " max", which, max, "Value of the rank with the most."), SPREAD_RANK(g, t, which)

/* Of one class of lengths. */
static void get_messages(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_section_spread *value = ((const struct fv_section_view *)row)->value + c->argument;
    double number = value[FV_SECTION_SENT].sum + value[FV_SECTION_RECEIVED].sum;

    v->null = !(number >= 0 && number < 1e18);
    v->whole = v->null ? 0 : (uint64_t)number;
}
#define MESSAGES_OF(k, t, class)                                                                          \
    {                                                                                                     \
        k, t, "", "Messages of this size class, sent and received.", FV_GET(FV_TYPE_WHOLE, get_messages), \
            .flags = FV_FLAT | FV_NULLABLE | FV_BLANK, .argument = class                                  \
    }

#define SECTION_VALUES                                                                                                 \
    { "rank_count", "ranks", "", "Ranks that were in the section.", FV_FIELD(struct fv_section_view, ranks) },         \
        { "thread_count", "threads", "", "Threads that opened the section.",                                           \
          FV_FIELD(struct fv_section_view, threads) },                                                                 \
        OTHERS_COLUMNS(struct fv_section_view),                                                                        \
        { "count", "count", "",                                                                                        \
          "Number of instances, from begin to end, including open ones. A section within itself is one instance.",     \
          FV_FIELD(struct fv_section_view, count) },                                                                   \
        { "too_short",                                                                                                 \
          "short",                                                                                                     \
          "",                                                                                                          \
          "True: an instance takes less than " FV_SECTION_SHORT_WORDS                                                  \
          " in the mean, and its CPU time or counters were read. These "                                               \
          "include what reading them takes, which is over 1 % then.",                                                  \
          FV_GET(FV_TYPE_TRUTH, get_short),                                                                            \
          .flags = FV_BLANK },                                                                                         \
        INSTANCE_COLUMNS("instance.", struct fv_section_view),                                                         \
        SPREAD_S("elapsed", "elapsed", FV_SECTION_ELAPSED, 0, ELAPSED_DOC),                                            \
        FV_SHARE_COLUMN("elapsed_share", "of all", struct fv_section_view, value[FV_SECTION_ELAPSED].sum, FV_OF_RANKS, \
                        FV_FLAT, "elapsed.sum_s as a share of the time of all ranks."),                                \
        { "imbalance",                                                                                                 \
          "imbalance",                                                                                                 \
          "share",                                                                                                     \
          "1 - mean over maximum of elapsed.",                                                                         \
          FV_GET(FV_TYPE_REAL, get_imbalance),                                                                         \
          .flags = FV_NULLABLE },                                                                                      \
        SPREAD_S("thread_time", "thread time", FV_SECTION_THREADS_TIME, 0,                                             \
                 "Elapsed time, summed over a rank's threads. All following values are summed in the same way."),      \
        SPREAD_S("user_time", "user", FV_SECTION_USER, 0, "CPU time in user mode" CPU_DOC),                            \
        SPREAD_S("system_time", "system", FV_SECTION_SYSTEM, 0, "CPU time in the kernel of the same threads."),        \
        SPREAD_S("process_cpu", "process CPU", FV_SECTION_PROCESS, 0, PROCESS_DOC "."),                                \
        SPREAD_S("mpi_time", "MPI", FV_SECTION_MPI, 0, "Time of MPI calls that ended in the section."),                \
        SPREAD_S("wait", "wait", FV_SECTION_WAIT, FV_AS_KIND, WAIT_DOC),                                               \
        KIND_COLUMN("wait", struct fv_section_view, value[FV_SECTION_WAIT].sum),                                       \
        FV_QUOTIENT_COLUMN("mpi_share", "MPI", "share", struct fv_section_view, value[FV_SECTION_MPI].sum,             \
                           value[FV_SECTION_THREADS_TIME].sum, FV_FLAT,                                                \
                           "mpi_time.sum_s as a share of thread_time.sum_s."),                                         \
        FV_QUOTIENT_COLUMN("wait_share", "waiting", "share", struct fv_section_view, value[FV_SECTION_WAIT].sum,       \
                           value[FV_SECTION_THREADS_TIME].sum, FV_FLAT | FV_AS_KIND,                                   \
                           "wait.sum_s as a share of thread_time.sum_s."),                                             \
        SPREAD_S("lock_wait", "locks", FV_SECTION_LOCK, 0,                                                             \
                 "Time spent waiting for locks and barriers of threads. Null without --threads."),                     \
        SPREAD_S("sampled_cpu", "sampled", FV_SECTION_SAMPLED, FV_ESTIMATE,                                            \
                 "CPU time in user mode by clock samples; if only a timer is available, in both modes. It includes "   \
                 "threads created by threads in the section, unless they were in a section themselves. Null without "  \
                 "--sample."),                                                                                         \
        THREAD_COLUMNS("thread_sampled.", struct fv_section_view),                                                     \
        SPREAD_N("mpi_calls", "calls", FV_SECTION_CALLS, "MPI calls that ended in the section."),                      \
        SPREAD_N("faults", "faults", FV_SECTION_FAULTS,                                                                \
                 "Page faults, minor and major, of the threads that opened the section. Null as user_time."),          \
        SPREAD_N("switches", "switches", FV_SECTION_SWITCHES,                                                          \
                 "Context switches, voluntary and involuntary, of the threads that opened the section. Null as "       \
                 "user_time."),                                                                                        \
        SPREAD_N("sent_below_4k", "sent <4k", FV_SECTION_SENT,                                                         \
                 MESSAGE_DOC("sent", "sent less than 4 KiB, including 0 bytes")),                                      \
        SPREAD_N("sent_below_64k", "sent <64k", FV_SECTION_SENT + 1,                                                   \
                 MESSAGE_DOC("sent", "sent 4 KiB to less than 64 KiB")),                                               \
        SPREAD_N("sent_below_1m", "sent <1m", FV_SECTION_SENT + 2,                                                     \
                 MESSAGE_DOC("sent", "sent 64 KiB to less than 1 MiB")),                                               \
        SPREAD_N("sent_1m_and_above", "sent >=1m", FV_SECTION_SENT + 3, MESSAGE_DOC("sent", "sent 1 MiB or more")),    \
        SPREAD_N("received_below_4k", "recv <4k", FV_SECTION_RECEIVED,                                                 \
                 RECEIVED_DOC("less than 4 KiB, including 0 bytes")),                                                  \
        SPREAD_N("received_below_64k", "recv <64k", FV_SECTION_RECEIVED + 1,                                           \
                 RECEIVED_DOC("4 KiB to less than 64 KiB")),                                                           \
        SPREAD_N("received_below_1m", "recv <1m", FV_SECTION_RECEIVED + 2, RECEIVED_DOC("64 KiB to less than 1 MiB")), \
        SPREAD_N("received_1m_and_above", "recv >=1m", FV_SECTION_RECEIVED + 3, RECEIVED_DOC("1 MiB or more")),        \
        MESSAGES_OF("messages_below_4k", "< 4K", 0), MESSAGES_OF("messages_below_64k", "< 64K", 1),                    \
        MESSAGES_OF("messages_below_1m", "< 1M", 2), MESSAGES_OF("messages_1m_and_above", ">= 1M", 3),                 \
        FAULT_COLUMNS(struct fv_section_view)

static const struct fv_column_def section_columns[] = {
    FV_DATA_ID_COLUMN(sections, struct fv_sections_view, "id", items, "Index in this list, from 0."),
    { "section", "section", "", "Name of the section, cut to 63 bytes. `all` is the whole program.",
      FV_FIELD(struct fv_section_view, name) },
    { "number", "no.", "", "Number of the section.", FV_FIELD(struct fv_section_view, number) },
    { "level", "level", "", "Level given at the first begin.", FV_FIELD(struct fv_section_view, level) },
    { "whole", "whole", "", "True: the whole program.", FV_FIELD(struct fv_section_view, whole) },
    { "others", "others", "", "True: it stands for all sections of a rank after the 1023rd.",
      FV_FIELD(struct fv_section_view, others) },
    SECTION_VALUES,
    { "mpi_calls_by_function", "MPI functions", "", "", FV_NEST(functions) },
    { "mpi_calls_by_function_and_rank", "MPI functions by rank", "", "", FV_NEST(function_ranks) },
    { "callpaths", "call paths", "", "", FV_NEST(callpaths) },
    { "sampled_procedures", "procedures", "", "", FV_NEST(procedures) },
    { "costpaths", "cost paths", "", "", FV_NEST(costpaths) },
    { "per_rank", "by rank", "", "", FV_NEST(ranks) },
    { "per_thread", "by thread", "", "", FV_NEST(fv_section_threads_relation) },
    { "sheet", "sheet", "", "", FV_NEST(fv_section_sheet_relation) },
    { "sheet_processes", "sheet by process", "", "", FV_NEST(fv_section_sheet_processes_relation) },
};
static const struct fv_relation sections_relation = {
    .recorded_by = "sections in the program, fvmpi_section_begin()",
    .name = "sections",
    .key = "sections",
    .title = "Sections",
    .doc = "Parts of the program marked by fvmpi_section_begin() and _end() (fvmpi.h), by name and number. The first "
           "is the whole program: from entering MPI_Init to leaving MPI_Finalize, or from start to end without MPI. "
           "The others are sorted by elapsed time.",
    .shown = "section number too_short/10 count elapsed_mean_s elapsed_min_s/8 elapsed_max_s/9 instance_p50_s/7 "
             "instance_p99_s/7 "
             "user_time_mean_s/7 "
             "system_time_mean_s/6 process_cpu_mean_s/5 "
             "mpi_share wait_share mpi_calls_sum/5 messages_below_4k/3 messages_below_64k/3 messages_below_1m/3 "
             "messages_1m_and_above/3 lock_wait_mean_s/4 sampled_cpu_mean_s/2",
    .share = "elapsed_share",
    FV_COLUMNS(section_columns),
    .base = sections_base,
    FV_ITEMS(struct fv_sections_view, items, count),
};

/* ---- sections of one name ---- */

static const struct fv_column_def name_columns[] = {
    { "section", "section", "", "Name of the sections.", FV_FIELD(struct fv_section_view, name) },
    { "number_count", "numbers", "", "Number of sections with that name.", FV_FIELD(struct fv_section_view, numbers) },
    { "longest_number", "longest", "", "Number of the section with the most time, over all ranks.",
      FV_FIELD(struct fv_section_view, longest_number) },
    SECTION_VALUES,
};
static const struct fv_relation section_names_relation = {
    .recorded_by = "sections in the program, fvmpi_section_begin()",
    .name = "section_names",
    .key = "section_names",
    .title = "Sections by name",
    .doc =
        "Sections of the same name with different numbers, taken together, longest elapsed time first. The values of a "
        "rank are added first; means and extremes are then over ranks. A name with one number is in sections only.",
    .shown = "section number_count longest_number too_short/10 count elapsed_mean_s elapsed_min_s/8 elapsed_max_s/9 "
             "instance_p50_s/7 "
             "instance_p99_s/7 mpi_share wait_share mpi_calls_sum/5",
    .share = "elapsed_share",
    FV_COLUMNS(name_columns),
    .base = sections_base,
    FV_ITEMS(struct fv_sections_view, names, name_count),
};

/* ---- what was lost ---- */

static const void *the_losses(void *subject, const void *parent)
{
    return &sections_of(subject)->losses;
}

#define LOSS(k, m, d)                                               \
    {                                                               \
        k "_count", k, "", d, FV_FIELD(struct fv_section_losses, m) \
    }
static const struct fv_column_def lost_columns[] = {
    LOSS("above_level", above_level, "Begins above --section-level."),
    LOSS("too_deep", too_deep, "Begins that were not measured because 64 sections were open on the thread."),
    LOSS("too_many", others, "Begins of sections after the 1023rd, which are recorded as one."),
    LOSS("calls_not_told_apart", sets,
         "Begins beyond 4095 combinations of open sections. Their MPI calls are counted but not listed."),
    LOSS("interrupted", interrupted,
         "Begins and ends in a signal handler that interrupted another one, or that ended by longjmp(). They are "
         "ignored."),
    LOSS("unmeasured", unmeasured, "Begins that were not measured because the rank file had no room."),
    LOSS("not_apart", apart, "Instances that --section-instances asked for, for which there was no room."),
    LOSS("untraced", untraced, "Begins and ends that are late or missing in the trace, inside a call or without room."),
};
static const struct fv_relation sections_lost_relation = {
    .name = "sections_lost",
    .key = "sections_lost",
    .title = "Sections that were not measured",
    .doc = "Begins and ends of sections that were not measured, or not completely.",
    .shape = FV_ONE,
    FV_COLUMNS(lost_columns),
    .base = the_losses,
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_sections;

static void fold_sections(struct fv_model *m, struct fv_alikes *alikes)
{
    struct fv_sections_view *sections = fv_model_sections(m);

    for (size_t i = 0; i < sections->count; i++) {
        struct fv_section_view *s = &sections->items[i];

        for (size_t k = 0; k < s->path_count; k++)
            s->paths[k].node = fv_alike(alikes, s->paths[k].node);
        fv_section_fold(s);
    }
}

const struct fv_subject fv_sections_subject = {
    .group = "Sections",
    .bytes = sizeof(struct fv_sections_view),
    .tracks = { &fv_track_sections },
    .relations = { &sections_relation, &section_names_relation, &fv_section_instances_relation,
                   &fv_section_warm_up_relation, &fv_section_iterations_relation, &sections_lost_relation },
    .fold = fold_sections,
    .release = fv_sections_release,
};
