/* SPDX-License-Identifier: BSD-3-Clause */
/* The sheet of a section: a row for each thread. Where its time went, in seconds: parts of its CPU time in user mode as
 * top-down divides the processor's slots, by level 2 where that is known; then time in the kernel, and without a
 * processor. They add up to its time. Beside it how busy caches were, rates, the mix of instructions, and balance:
 * metrics of the thread (counters/counters.h).
 *
 * Shares of slots are of user mode, as events are. Where they come to more than 1, because they are of several runs,
 * each is reduced; what they leave is the part that this processor does not tell. */
#include "profile/counters/counters.h"
#include "profile/relations.h"
#include "profile/sections/sections.h"

#include <math.h>
#include <string.h>

#define M struct fv_section_member

/* ---- of a thread ---- */

static const struct fv_counts *counts_of(const void *subject)
{
    return fv_model_counts(fv_tables_model(subject));
}

/* Of the section in what was counted; FV_NONE: nothing was in it. */
static uint32_t scope_of(const void *subject, const M *m)
{
    const struct fv_section_view *s = &fv_model_sections(fv_tables_model(subject))->items[m->section];
    const struct fv_counts *v = counts_of(subject);

    for (uint32_t i = s->whole ? 0 : 1; i < v->scope_count; i++)
        if (s->whole || (v->scopes[i].number == s->number && !strcmp(v->scopes[i].name, s->name)))
            return i;
    return FV_NONE;
}

static const struct fv_counts_metric *metric_of(const void *subject, uint32_t scope, const char *name)
{
    const struct fv_counts *v = counts_of(subject);
    size_t first = FV_COUNT_BEFORE(i, v->metric_count, v->metrics[i].scope < scope);

    for (size_t i = first; i < v->metric_count && v->metrics[i].scope == scope; i++)
        if (!strcmp(v->metrics[i].row->name, name))
            return &v->metrics[i];
    return NULL;
}

static bool is_before(const struct fv_counts_thread_metric *t, const M *m)
{
    return t->rank != m->rank ? t->rank < m->rank : t->thread < m->thread;
}

/* NAN: not known of this thread. */
static double value_of(const void *subject, const M *m, const char *name)
{
    const struct fv_counts_metric *metric = metric_of(subject, scope_of(subject, m), name);
    size_t count = metric ? metric->threads : 0;
    const struct fv_counts_thread_metric *of = count ? counts_of(subject)->thread_metrics + metric->first_thread : NULL;
    size_t at = FV_COUNT_BEFORE(i, count, is_before(&of[i], m));

    return at < count && of[at].rank == m->rank && of[at].thread == m->thread ? of[at].value : NAN;
}

/* ---- where its time went ---- */

enum part {
    WORK,
    MISPREDICTED,
    RESTARTS,
    THROWN_AWAY,
    LATE_FETCH,
    NARROW_FETCH,
    FETCH,
    MEMORY,
    CORE,
    BACKEND,
    UNTOLD,
    KERNEL,
    OFF_CPU,
    PARTS
};

struct level {
    const char *name;
    enum part part; /* where level 2 does not divide it */
    struct {
        const char *name;
        enum part part;
    } of[2];
};

static const struct level levels[] = {
    { "retiring", WORK, { { NULL, PARTS }, { NULL, PARTS } } },
    { "bad_speculation", THROWN_AWAY, { { "branch_mispredicts", MISPREDICTED }, { "pipeline_restarts", RESTARTS } } },
    { "frontend_bound", FETCH, { { "fetch_latency", LATE_FETCH }, { "fetch_bandwidth", NARROW_FETCH } } },
    { "backend_bound", BACKEND, { { "memory_bound", MEMORY }, { "core_bound", CORE } } },
};

static double positive(double share)
{
    return share > 0 ? share : 0;
}

/* Both parts of level 2, which are brought to their sum; else NAN is left in them. */
static void add_level(const void *subject, const M *m, const struct level *l, double shares[PARTS])
{
    double whole = value_of(subject, m, l->name), part[2], sum;

    if (isnan(whole))
        return;
    for (unsigned i = 0; i < 2; i++)
        part[i] = l->of[i].name ? value_of(subject, m, l->of[i].name) : NAN;
    sum = positive(part[0]) + positive(part[1]);
    if (isnan(part[0] + part[1]) || !(sum > 0)) {
        shares[l->part] = positive(whole);
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        shares[l->of[i].part] = positive(whole) * positive(part[i]) / sum;
}

/* Seconds; NAN: this processor does not tell that part, or nothing is known. */
static void divide(const void *subject, const M *m, double parts[PARTS])
{
    double sum = 0;

    for (unsigned i = 0; i < PARTS; i++)
        parts[i] = NAN;
    if (isnan(m->cpu_s) || isnan(m->time_s))
        return;
    for (unsigned i = 0; i < sizeof(levels) / sizeof(*levels); i++)
        add_level(subject, m, &levels[i], parts);
    for (unsigned i = 0; i < UNTOLD; i++)
        sum += isnan(parts[i]) ? 0 : parts[i];
    double busy_s = fmin(m->cpu_s, m->time_s), user_s = m->cpu_s > 0 ? busy_s * m->user_s / m->cpu_s : 0;
    for (unsigned i = 0; i < UNTOLD; i++)
        parts[i] *= user_s / fmax(sum, 1);
    parts[UNTOLD] = sum < 1 - 1e-9 ? user_s * (1 - sum) : 0; /* but for rounding */
    parts[KERNEL] = busy_s - user_s;
    parts[OFF_CPU] = m->time_s - busy_s;
}

static void get_part(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    double parts[PARTS];

    divide(subject, row, parts);
    v->real = parts[c->argument];
    v->estimate = ((const M *)row)->is_scaled;
}
#define PART(k, t, which, d)                                                                  \
    {                                                                                         \
        k, t, "s", d, FV_GET(FV_TYPE_REAL, get_part), .flags = FV_NULLABLE, .argument = which \
    }

/* ---- beside it ---- */

static const char *const metric_names[] = { "instruction_rate",
                                            "ipc",
                                            "flop_rate",
                                            "l1_busy",
                                            "l2_busy",
                                            "l2_read_rate",
                                            "memory_read_rate",
                                            "load_share",
                                            "store_share",
                                            "branch_share",
                                            "fp_scalar_share",
                                            "fp_vector_share",
                                            "fp_share",
                                            "integer_share",
                                            "rest_share",
                                            "l1d_miss_share",
                                            "l2_misses_per_1000",
                                            "dtlb_misses_per_1000",
                                            "dtlb_walk_share",
                                            "itlb_misses_per_1000",
                                            "flops_per_cycle" };

static void get_metric(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = value_of(subject, row, metric_names[c->argument]);
    v->estimate = ((const M *)row)->is_scaled;
}
#define METRIC(k, t, u, which, d)                                                             \
    {                                                                                         \
        k, t, u, d, FV_GET(FV_TYPE_REAL, get_metric), .flags = FV_NULLABLE, .argument = which \
    }

/* By the peak of the metric, which is known for all threads together or, per cycle, for each. */
static void get_of_peak(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_counts_metric *m = metric_of(subject, scope_of(subject, row), metric_names[c->argument]);

    v->real = m && m->peak > 0 ? value_of(subject, row, metric_names[c->argument]) / m->peak : NAN;
    v->estimate = ((const M *)row)->is_scaled;
}

/* As a part of the thread with most on its rank. */
static void get_balance(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sections_view *s = fv_model_sections(fv_tables_model(subject));
    const struct fv_section_view *of = &s->items[((const M *)row)->section];
    const M *members = &s->members[of->first_member];
    double own = NAN, most = 0;

    for (size_t i = FV_COUNT_BEFORE(k, of->members, members[k].rank < ((const M *)row)->rank);
         i < of->members && members[i].rank == ((const M *)row)->rank; i++) {
        double value =
            c->argument ? value_of(subject, &members[i], "instruction_rate") * members[i].time_s : members[i].cpu_s;

        own = &members[i] == row ? value : own;
        most = value > most ? value : most;
    }
    v->real = most > 0 ? own / most : NAN;
    v->estimate = ((const M *)row)->is_scaled;
}

static void get_mark(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = NULL;
    for (size_t i = 0; i < fv_mark_row_count && !v->text; i++) {
        const struct fv_mark_row *mark = &fv_mark_rows[i];
        double value = value_of(subject, row, mark->metric);
        bool is_beyond = mark->below ? value < mark->limit : value > mark->limit;

        if (is_beyond && (!mark->with || value_of(subject, row, mark->with) > mark->with_limit))
            v->text = mark->reason;
    }
}

/* ---- the relation ---- */

static const struct fv_column_def outer[] = {
    FV_SECTION_COLUMNS,
};

#define UNLESS " Null: this processor, or what was counted, does not tell."
static const struct fv_column_def columns[] = {
    FV_RANK_COLUMN(M, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread, as in table threads.", FV_FIELD(M, thread), .flags = FV_IS_THREAD },
    { "time_s", "time", "s", "Time in the section, as in section_threads. The next 13 columns are parts of it.",
      FV_FIELD(M, time_s), .flags = FV_NULLABLE },
    PART("work_s", "work", WORK, "Slots with useful operations (retiring)." UNLESS),
    PART("mispredicted_s", "branches", MISPREDICTED, "Thrown away for mispredicted branches." UNLESS),
    PART("restarts_s", "restarts", RESTARTS, "Thrown away for other restarts of the pipeline." UNLESS),
    PART("thrown_away_s", "thrown away", THROWN_AWAY, "Thrown away for either reason. Null: divided, or not known."),
    PART("late_fetch_s", "late fetch", LATE_FETCH, "No instruction came." UNLESS),
    PART("narrow_fetch_s", "narrow fetch", NARROW_FETCH, "Too few instructions came." UNLESS),
    PART("fetch_s", "fetch", FETCH, "Waited for instructions for either reason. Null: divided, or not known."),
    PART("memory_s", "memory", MEMORY, "Waited for loads and stores." UNLESS),
    PART("core_s", "core", CORE, "Waited for units or their results." UNLESS),
    PART("backend_s", "back end", BACKEND, "Waited for memory or units. Null: divided, or not known."),
    PART("untold_s", "untold", UNTOLD,
         "The rest in user mode, which this processor or what was counted does not tell."),
    PART("kernel_s", "kernel", KERNEL, "In the kernel."),
    PART("off_cpu_s", "no CPU", OFF_CPU, "Without a processor: it waited, or another program ran."),
    METRIC("instruction_rate", "instructions/s", "/s", 0, "Instructions per second of time_s." UNLESS),
    METRIC("ipc", "IPC", "ratio", 1, "Instructions per cycle." UNLESS),
    METRIC("flop_rate", "flop/s", "/s", 2, "Floating-point operations per second of time_s." UNLESS),
    { "flop_of_peak", "of peak", "share",
      "Floating-point operations as a share of what the thread could have done in its cycles." UNLESS,
      FV_GET(FV_TYPE_REAL, get_of_peak), .flags = FV_NULLABLE, .argument = 20 },
    METRIC("l1_busy", "L1 busy", "share", 3,
           "Loads and stores as a share of those that the first-level data cache can take." UNLESS),
    METRIC("l2_busy", "L2 busy", "share", 4,
           "Lines that came from the second-level cache as a share of what its path can carry." UNLESS),
    { "memory_busy", "memory busy", "share",
      "memory_read_rate as a share of the peak of all nodes, given by --peaks." UNLESS,
      FV_GET(FV_TYPE_REAL, get_of_peak), .flags = FV_NULLABLE, .argument = 6 },
    METRIC("l2_read_rate", "from L2", "B/s", 5, "Bytes that came into the first level per second." UNLESS),
    METRIC("memory_read_rate", "from memory", "B/s", 6, "Bytes that came from memory per second." UNLESS),
    METRIC("load_share", "loads", "share", 7,
           "Loads per instruction. With the next seven columns: the mix of instructions, to 100 %." UNLESS),
    METRIC("store_share", "stores", "share", 8, "Stores per instruction." UNLESS),
    METRIC("branch_share", "branches", "share", 9, "Branches per instruction." UNLESS),
    METRIC("fp_scalar_share", "scalar FP", "share", 10, "Scalar floating-point instructions per instruction." UNLESS),
    METRIC("fp_vector_share", "vectors", "share", 11, "Vector instructions per instruction." UNLESS),
    METRIC("fp_share", "FP", "share", 12, "Scalar and vector floating point together, where it is not divided." UNLESS),
    METRIC("integer_share", "integer", "share", 13, "Integer operations per instruction." UNLESS),
    METRIC("rest_share", "rest", "share", 14, "Any other instructions." UNLESS),
    METRIC("l1d_miss_share", "L1D misses", "share", 15, "Misses of the first-level data cache per load." UNLESS),
    METRIC("l2_misses_per_1000", "L2 misses", "ratio", 16, "Misses of the second level per 1,000 instructions." UNLESS),
    METRIC("dtlb_misses_per_1000", "DTLB walks", "ratio", 17,
           "Page table walks for data per 1,000 instructions." UNLESS),
    METRIC("dtlb_walk_share", "in DTLB walks", "share", 18, "Share of cycles with such a walk." UNLESS),
    METRIC("itlb_misses_per_1000", "ITLB walks", "ratio", 19,
           "Page table walks for instructions per 1,000 instructions." UNLESS),
    { "load_balance", "balance", "share", "CPU time as a share of that of the rank's thread with most." UNLESS,
      FV_GET(FV_TYPE_REAL, get_balance), .flags = FV_NULLABLE },
    { "instruction_balance", "of instructions", "share",
      "Instructions as a share of those of the rank's thread with most." UNLESS, FV_GET(FV_TYPE_REAL, get_balance),
      .flags = FV_NULLABLE, .argument = 1 },
    { "mark", "may be a bottleneck", "",
      "Why the thread may have a bottleneck, as in counter_metrics. Null: it has none.", FV_GET(FV_TYPE_TEXT, get_mark),
      .flags = FV_NULLABLE },
};

static size_t sheet_count(void *subject, const void *parent)
{
    return counts_of(subject)->event_count ? ((const struct fv_section_view *)parent)->members : 0;
}

static const void *sheet_row(void *subject, const void *parent, size_t i)
{
    return &fv_model_sections(fv_tables_model(subject))
                ->members[((const struct fv_section_view *)parent)->first_member + i];
}

const struct fv_relation fv_section_sheet_relation = {
    .name = "section_sheet",
    .key = "sheet",
    .title = "Sheets of sections",
    .doc =
        "Threads of the section, by rank and thread: time by cause of stall, how busy caches were, rates, the mix of "
        "instructions, and balance, as far as events were counted. --passes counts what needs several runs.",
    .shown = "section number rank thread time_s work_s/20 mispredicted_s/12 restarts_s/12 thrown_away_s/14 "
             "late_fetch_s/12 narrow_fetch_s/12 fetch_s/14 memory_s/16 core_s/16 backend_s/14 untold_s/18 kernel_s/17 "
             "off_cpu_s/18 ipc/10 l1_busy/9 l2_busy/9 memory_busy/8 mark/3",
    .recorded_by = "fvmpi run --counters",
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(columns),
    FV_OUTER(outer),
    .count = sheet_count,
    .row = sheet_row,
};
