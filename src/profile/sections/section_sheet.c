/* SPDX-License-Identifier: BSD-3-Clause */
/* The sheet of a section: a row for each thread, and one for each process. Where its time went, in seconds: parts of
 * its CPU time in user mode as top-down divides the processor's slots, by levels 2 and 3 where these are known; then
 * time in the kernel, and without a processor. They add up to its time. A process has the sums of its threads. Beside
 * it how busy caches were, rates, the mix of instructions, and balance: metrics of the thread, or of all threads of the
 * process together (counters/counters.h). Cells that may show a bottleneck are marked, with the reason.
 *
 * Shares of slots are of user mode, as events are. Where they come to more than 1, because they are of several runs,
 * each is reduced; what they leave is the part that this processor does not tell. Of the mix, what no event counts is
 * the rest, so that it is 100 %. */
#include "profile/counters/counters.h"
#include "profile/relations.h"
#include "profile/sections/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define M struct fv_section_member
#define R struct fv_section_rank

/* ---- who ---- */

/* A thread in a section, or a process with all its threads. */
struct who {
    const void *subject;
    uint32_t section, scope; /* in fv_counts, FV_NONE: nothing was counted in it */
    uint32_t rank, thread;   /* FV_NONE: all */
};

static const struct fv_counts *counts_of(const void *subject)
{
    return fv_model_counts(fv_tables_model(subject));
}

static uint32_t scope_of(const void *subject, uint32_t section)
{
    return fv_counts_scope_of(counts_of(subject), &fv_model_sections(fv_tables_model(subject))->items[section]);
}

static struct who who_thread(const void *subject, const void *row)
{
    const M *m = row;

    return (struct who){ subject, m->section, scope_of(subject, m->section), m->rank, m->thread };
}

static struct who who_process(const void *subject, const void *row)
{
    const R *r = row;

    return (struct who){ subject, r->section, scope_of(subject, r->section), r->rank, FV_NONE };
}

/* Its threads, by number. */
static const M *threads_of(const struct who *w, size_t *count)
{
    const struct fv_sections_view *s = fv_model_sections(fv_tables_model(w->subject));
    const struct fv_section_view *of = &s->items[w->section];
    const M *members = of->members ? &s->members[of->first_member] : NULL;
    size_t first = FV_COUNT_BEFORE(i, of->members, members[i].rank < w->rank),
           end = FV_COUNT_BEFORE(i, of->members, members[i].rank <= w->rank);

    *count = end - first;
    return *count ? members + first : NULL;
}

static const struct fv_counts_metric *metric_of(const struct who *w, const char *name)
{
    return fv_counts_metric_named(counts_of(w->subject), w->scope, name);
}

/* NAN: not known. */
static double value_of(const struct who *w, const char *name)
{
    const struct fv_counts_metric *m = metric_of(w, name);

    return m ? fv_counts_metric_of(counts_of(w->subject), m, w->rank, w->thread) : NAN;
}

/* By the peak of the metric, which is known for all threads together or, per cycle, for each. */
static double of_peak(const struct who *w, const char *name)
{
    const struct fv_counts_metric *m = metric_of(w, name);

    return m && m->peak > 0 ? value_of(w, name) / m->peak : NAN;
}

static bool is_scaled(const struct who *w)
{
    size_t count;
    const M *threads = threads_of(w, &count);
    bool found = false;

    for (size_t i = 0; i < count && !found; i++)
        found = threads[i].is_scaled && (w->thread == FV_NONE || threads[i].thread == w->thread);
    return found;
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
    L1,
    L2,
    L3,
    DRAM,
    STORES,
    MEMORY,
    CORE,
    BACKEND,
    UNTOLD,
    KERNEL,
    OFF_CPU,
    PARTS
};

#define MOST 5
/* A part, and what a level further down divides it into, which must be in front of it in this list. */
static const struct level {
    const char *name;
    enum part part;
    enum part of[MOST];
    unsigned count;
} levels[] = {
    { "retiring", WORK, { 0 }, 0 },
    { "branch_mispredicts", MISPREDICTED, { 0 }, 0 },
    { "pipeline_restarts", RESTARTS, { 0 }, 0 },
    { "bad_speculation", THROWN_AWAY, { MISPREDICTED, RESTARTS }, 2 },
    { "fetch_latency", LATE_FETCH, { 0 }, 0 },
    { "fetch_bandwidth", NARROW_FETCH, { 0 }, 0 },
    { "frontend_bound", FETCH, { LATE_FETCH, NARROW_FETCH }, 2 },
    { "core_bound", CORE, { 0 }, 0 },
    { "memory_bound", MEMORY, { 0 }, 0 },
    { "backend_bound", BACKEND, { MEMORY, CORE }, 2 },
    { "l1_bound", L1, { 0 }, 0 },
    { "l2_bound", L2, { 0 }, 0 },
    { "l3_bound", L3, { 0 }, 0 },
    { "dram_bound", DRAM, { 0 }, 0 },
    { "store_bound", STORES, { 0 }, 0 },
    { "memory_bound", MEMORY, { L1, L2, L3, DRAM, STORES }, 5 },
};

static double positive(double share)
{
    return share > 0 ? share : 0;
}

/* All parts are known: they are brought to the whole, which is in them now. Else the parts are not told. */
static void divide_level(const struct level *l, double whole, double shares[PARTS])
{
    double sum = 0;
    bool known = l->count && !isnan(whole);

    for (unsigned i = 0; i < l->count; i++) {
        known = known && !isnan(shares[l->of[i]]);
        sum += positive(shares[l->of[i]]);
    }
    known = known && sum > 0;
    for (unsigned i = 0; i < l->count; i++)
        shares[l->of[i]] = known ? whole * positive(shares[l->of[i]]) / sum : NAN;
    shares[l->part] = known ? NAN : whole;
}

/* Of the slots; what is left is not told. */
static double find_shares(const struct who *w, double shares[PARTS])
{
    double sum = 0;

    for (unsigned i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        const struct level *l = &levels[i];
        /* level 3 divides what level 2 left */
        double whole = l->part == MEMORY && l->count ? shares[MEMORY] : value_of(w, l->name);

        divide_level(l, isnan(whole) ? NAN : positive(whole), shares);
    }
    for (unsigned i = 0; i < UNTOLD; i++)
        sum += isnan(shares[i]) ? 0 : shares[i];
    return sum;
}

/* Of a thread, in seconds; NAN: this processor does not tell that part, or nothing is known. */
static void divide_thread(const struct who *w, const M *m, double parts[PARTS])
{
    for (unsigned i = 0; i < PARTS; i++)
        parts[i] = NAN;
    if (isnan(m->cpu_s) || isnan(m->time_s))
        return;
    double sum = find_shares(w, parts), busy_s = fmin(m->cpu_s, m->time_s);
    double user_s = m->cpu_s > 0 ? busy_s * m->user_s / m->cpu_s : 0;
    for (unsigned i = 0; i < UNTOLD; i++)
        parts[i] *= user_s / fmax(sum, 1);
    parts[UNTOLD] = sum < 1 - 1e-9 ? user_s * (1 - sum) : 0; /* but for rounding */
    parts[KERNEL] = busy_s - user_s;
    parts[OFF_CPU] = m->time_s - busy_s;
}

/* Of all threads that are `who`: a part is known where one knows it. */
static double divide(const struct who *w, double parts[PARTS])
{
    size_t count;
    const M *threads = threads_of(w, &count);
    double time_s = NAN, own[PARTS];

    for (unsigned i = 0; i < PARTS; i++)
        parts[i] = NAN;
    for (size_t k = 0; k < count; k++) {
        const M *m = &threads[k];
        const struct who one = { w->subject, w->section, w->scope, w->rank, m->thread };

        if (w->thread != FV_NONE && w->thread != m->thread)
            continue;
        divide_thread(&one, m, own);
        if (w->thread == FV_NONE && isnan(own[OFF_CPU])) /* only sampled: it is not in the sums */
            continue;
        time_s = isnan(time_s) ? m->time_s : time_s + m->time_s;
        for (unsigned i = 0; i < PARTS; i++)
            parts[i] = isnan(parts[i]) ? own[i] : isnan(own[i]) ? parts[i] : parts[i] + own[i];
    }
    return time_s;
}

/* ---- instructions by kind ---- */

enum kind { LOADS, STORED, BRANCHES, INTEGERS, SCALARS, WIDTH_128, WIDTH_256, WIDTH_512, VECTORS, FLOATS, REST, KINDS };

static const char *const kind_metrics[REST] = { "load_share",      "store_share",  "branch_share", "integer_share",
                                                "fp_scalar_share", "fp_128_share", "fp_256_share", "fp_512_share",
                                                "fp_vector_share", "fp_share" };

/* Each instruction is of one kind: floating point by width where that is known, else vectors together, else all of it.
 * What is left is the rest. NAN: not known, or divided. */
static void mix(const struct who *w, double kinds[KINDS])
{
    double sum = 0;

    for (unsigned i = 0; i < REST; i++)
        kinds[i] = value_of(w, kind_metrics[i]);
    if (isnan(kinds[SCALARS] + kinds[WIDTH_128] + kinds[WIDTH_256] + kinds[WIDTH_512]))
        kinds[WIDTH_128] = kinds[WIDTH_256] = kinds[WIDTH_512] = NAN;
    else
        kinds[VECTORS] = kinds[FLOATS] = NAN;
    if (isnan(kinds[SCALARS] + kinds[VECTORS]) && isnan(kinds[WIDTH_128]))
        kinds[SCALARS] = kinds[VECTORS] = NAN;
    else
        kinds[FLOATS] = NAN;
    for (unsigned i = 0; i < REST; i++)
        sum += isnan(kinds[i]) ? 0 : kinds[i];
    bool known =
        !isnan(kinds[LOADS] + kinds[STORED] + kinds[BRANCHES]) && !(isnan(kinds[SCALARS]) && isnan(kinds[FLOATS]));
    kinds[REST] = known ? 1 - sum : NAN;
}

/* ---- marks ---- */

static const char *const part_keys[PARTS] = { "work_s",       "mispredicted_s", "restarts_s", "thrown_away_s",
                                              "late_fetch_s", "narrow_fetch_s", "fetch_s",    "l1_s",
                                              "l2_s",         "l3_s",           "dram_s",     "stores_s",
                                              "memory_s",     "core_s",         "backend_s",  "untold_s",
                                              "kernel_s",     "off_cpu_s" };

/* The cell that shows a metric. */
static const char *cell_of(const struct fv_mark_row *mark)
{
    for (unsigned i = 0; i < sizeof(levels) / sizeof(*levels); i++)
        if (!strcmp(levels[i].name, mark->metric))
            return part_keys[levels[i].part];
    return mark->kind == FV_OF_PEAK ? "memory_busy" : mark->metric;
}

static bool is_marked(const struct who *w, const struct fv_mark_row *mark)
{
    double value = mark->kind == FV_OF_PEAK ? of_peak(w, mark->metric) : value_of(w, mark->metric);
    bool is_beyond = mark->kind == FV_BELOW ? value < mark->limit : value > mark->limit;

    return is_beyond && (!mark->with || value_of(w, mark->with) > mark->with_limit);
}

/* Of the marks that hold one text each, joined; NULL: there is none. */
static const char *join_marks(const struct who *w, bool cells, const char *between, char *text, size_t bytes)
{
    size_t used = 0;

    for (size_t i = 0; i < fv_mark_row_count && used < bytes; i++)
        if (is_marked(w, &fv_mark_rows[i]))
            used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? between : "",
                                     cells ? cell_of(&fv_mark_rows[i]) : fv_mark_rows[i].reason);
    return used ? text : NULL;
}

/* ---- cells ---- */

static const char *const metric_names[] = { "instruction_rate",
                                            "ipc",
                                            "flop_rate",
                                            "l1_busy",
                                            "l2_busy",
                                            "l2_read_rate",
                                            "memory_read_rate",
                                            "flops_per_cycle",
                                            "flop_share",
                                            "retired_none_share",
                                            "retired_1_share",
                                            "retired_2_share",
                                            "retired_4_share",
                                            "divider_busy",
                                            "write_back_rate",
                                            "write_back_share",
                                            "fma_share",
                                            "fma_flop_share",
                                            "vector_integer_share",
                                            "prefetch_share",
                                            "l1i_misses_per_1000",
                                            "l1d_miss_share",
                                            "l1d_demand_share",
                                            "l1d_hardware_share",
                                            "l1d_software_share",
                                            "l2_miss_share",
                                            "l2_misses_per_1000",
                                            "l2_demand_share",
                                            "l2_prefetch_share",
                                            "dtlb_misses_per_1000",
                                            "dtlb_walk_share",
                                            "itlb_misses_per_1000" };

/* What a cell is of its `who`, by the column. */
static void put_part(const struct who *w, const struct fv_column_def *c, struct fv_value *v)
{
    double parts[PARTS];

    divide(w, parts);
    v->real = parts[c->argument];
    v->estimate = is_scaled(w);
}

static void put_kind(const struct who *w, const struct fv_column_def *c, struct fv_value *v)
{
    double kinds[KINDS];

    mix(w, kinds);
    v->real = kinds[c->argument];
    v->estimate = is_scaled(w);
}

static void put_metric(const struct who *w, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = value_of(w, metric_names[c->argument]);
    v->estimate = is_scaled(w);
}

static void put_of_peak(const struct who *w, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = of_peak(w, metric_names[c->argument]);
    v->estimate = is_scaled(w);
}

/* As a part of the thread with most on its rank; of a process the mean. */
static void put_balance(const struct who *w, const struct fv_column_def *c, struct fv_value *v)
{
    double own = 0, most = 0;
    size_t count, known = 0;
    const M *threads = threads_of(w, &count);

    for (size_t i = 0; i < count; i++) {
        const struct who one = { w->subject, w->section, w->scope, w->rank, threads[i].thread };
        double value = c->argument ? value_of(&one, "instruction_rate") * threads[i].time_s : threads[i].cpu_s;

        most = value > most ? value : most;
        if (isnan(value) || (w->thread != FV_NONE && w->thread != one.thread))
            continue;
        known++;
        own += value;
    }
    v->real = most > 0 && known ? own / (double)known / most : NAN;
    v->estimate = is_scaled(w);
}

static void put_marked(const struct who *w, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = (struct fv_tables *)(uintptr_t)w->subject;

    v->text = join_marks(w, c->argument, c->argument ? " " : "; ", t->text, sizeof(t->text));
}

#define OF_BOTH(cell)                                                                                                 \
    static void get_thread_##cell(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)  \
    {                                                                                                                 \
        const struct who w = who_thread(subject, row);                                                                \
                                                                                                                      \
        put_##cell(&w, c, v);                                                                                         \
    }                                                                                                                 \
    static void get_process_##cell(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v) \
    {                                                                                                                 \
        const struct who w = who_process(subject, row);                                                               \
                                                                                                                      \
        put_##cell(&w, c, v);                                                                                         \
    }
OF_BOTH(part)
OF_BOTH(kind)
OF_BOTH(metric)
OF_BOTH(of_peak)
OF_BOTH(balance)
OF_BOTH(marked)

static void get_process_time(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct who w = who_process(subject, row);
    double parts[PARTS];

    v->real = divide(&w, parts);
    v->estimate = is_scaled(&w);
}

/* ---- the relations ---- */

static const struct fv_column_def outer[] = {
    FV_SECTION_COLUMNS,
};

#define UNLESS " Null: this processor, or what was counted, does not tell."
#define CELL(OF, cell, k, t, u, which, d)                                                            \
    {                                                                                                \
        k, t, u, d, FV_GET(FV_TYPE_REAL, get_##OF##_##cell), .flags = FV_NULLABLE, .argument = which \
    }
#define SECONDS(OF, k, t, which, d)    CELL(OF, part, k, t, "s", which, d)
#define KIND(OF, k, t, which, d)       CELL(OF, kind, k, t, "share", which, d)
#define METRIC(OF, k, t, u, number, d) CELL(OF, metric, k, t, u, number, d)

#define TIME_CELLS(OF)                                                                                             \
    SECONDS(OF, "work_s", "work", WORK, "Slots with useful operations (retiring)." UNLESS),                        \
        SECONDS(OF, "mispredicted_s", "branches", MISPREDICTED, "Thrown away for mispredicted branches." UNLESS),  \
        SECONDS(OF, "restarts_s", "restarts", RESTARTS, "Thrown away for other restarts of the pipeline." UNLESS), \
        SECONDS(OF, "thrown_away_s", "thrown away", THROWN_AWAY,                                                   \
                "Thrown away for either reason. Null: divided, or not known."),                                    \
        SECONDS(OF, "late_fetch_s", "late fetch", LATE_FETCH, "No instruction came." UNLESS),                      \
        SECONDS(OF, "narrow_fetch_s", "narrow fetch", NARROW_FETCH, "Too few instructions came." UNLESS),          \
        SECONDS(OF, "fetch_s", "fetch", FETCH,                                                                     \
                "Waited for instructions for either reason. Null: divided, or not known."),                        \
        SECONDS(OF, "l1_s", "L1", L1, "Waited for loads in the first-level cache." UNLESS),                        \
        SECONDS(OF, "l2_s", "L2", L2, "Waited for loads that missed there." UNLESS),                               \
        SECONDS(OF, "l3_s", "L3", L3, "Waited for loads that missed in the second level." UNLESS),                 \
        SECONDS(OF, "dram_s", "memory", DRAM, "Waited for loads that missed in all caches." UNLESS),               \
        SECONDS(OF, "stores_s", "stores", STORES, "Waited for room for stores." UNLESS),                           \
        SECONDS(OF, "memory_s", "loads, stores", MEMORY,                                                           \
                "Waited for loads and stores of any of these kinds. Null: divided, or not known."),                \
        SECONDS(OF, "core_s", "core", CORE, "Waited for units or their results." UNLESS),                          \
        SECONDS(OF, "backend_s", "back end", BACKEND, "Waited for memory or units. Null: divided, or not known."), \
        SECONDS(OF, "untold_s", "unknown", UNTOLD,                                                                 \
                "The rest in user mode, which this processor or what was counted does not tell."),                 \
        SECONDS(OF, "kernel_s", "kernel", KERNEL, "In the kernel."),                                               \
        SECONDS(OF, "off_cpu_s", "no CPU", OFF_CPU, "Without a processor: it waited, or another program ran.")

#define RATE_CELLS(OF)                                                                                              \
    METRIC(OF, "instruction_rate", "instructions/s", "/s", 0,                                                       \
           "Instructions per second of the longest thread." UNLESS),                                                \
        METRIC(OF, "ipc", "IPC", "ratio", 1, "Instructions per cycle." UNLESS),                                     \
        METRIC(OF, "retired_none_share", "none retired", "share", 9,                                                \
               "Cycles in which no operation retired. With the next three columns all cycles." UNLESS),             \
        METRIC(OF, "retired_1_share", "one", "share", 10, "Cycles in which one did." UNLESS),                       \
        METRIC(OF, "retired_2_share", "two or three", "share", 11, "Cycles in which two or three did." UNLESS),     \
        METRIC(OF, "retired_4_share", "four or more", "share", 12, "Cycles in which four or more did." UNLESS),     \
        METRIC(OF, "divider_busy", "divider busy", "share", 13, "Cycles in which the divider was busy." UNLESS),    \
        METRIC(OF, "flop_rate", "flop/s", "/s", 2,                                                                  \
               "Floating-point operations per second of the longest thread." UNLESS),                               \
        CELL(OF, of_peak, "flop_of_peak", "of peak", "share", 7,                                                    \
             "Floating-point operations as a share of what could have been done in the cycles." UNLESS),            \
        METRIC(OF, "flop_share", "flop of all", "share", 8,                                                         \
               "Floating-point operations as a share of all operations, each number of a vector as one." UNLESS),   \
        METRIC(OF, "l1_busy", "L1 busy", "share", 3,                                                                \
               "Loads and stores as a share of those that the first-level data cache can take." UNLESS),            \
        METRIC(OF, "l2_busy", "L2 busy", "share", 4,                                                                \
               "Lines that came from the second-level cache as a share of what its path can carry." UNLESS),        \
        CELL(OF, of_peak, "memory_busy", "memory busy", "share", 6,                                                 \
             "memory_read_rate as a share of the peak of all nodes, given by --peaks." UNLESS),                     \
        METRIC(OF, "l2_read_rate", "from L2", "B/s", 5, "Bytes that came into the first level per second." UNLESS), \
        METRIC(OF, "memory_read_rate", "from memory", "B/s", 6, "Bytes that came from memory per second." UNLESS),  \
        METRIC(OF, "write_back_rate", "write-back", "B/s", 14,                                                      \
               "Bytes that the second level wrote back per second." UNLESS),                                        \
        METRIC(OF, "write_back_share", "written back", "share", 15,                                                 \
               "The part of these in all bytes between the second level and what lies beyond." UNLESS)

#define MIX_CELLS(OF)                                                                                                 \
    KIND(OF, "load_share", "loads", LOADS,                                                                            \
         "Loads per instruction, of single numbers and vectors: no processor tells them apart. With the next ten "    \
         "columns: the mix of instructions, to 100 %." UNLESS),                                                       \
        KIND(OF, "store_share", "stores", STORED, "Stores per instruction." UNLESS),                                  \
        KIND(OF, "branch_share", "branches", BRANCHES, "Branches per instruction." UNLESS),                           \
        KIND(OF, "integer_share", "integer", INTEGERS, "Integer instructions, on Arm; else they are in the rest."),   \
        KIND(OF, "fp_scalar_share", "scalar FP", SCALARS,                                                             \
             "Scalar floating-point instructions. On Intel a multiply-add counts twice; on AMD operations." UNLESS),  \
        KIND(OF, "fp_128_share", "128 bits", WIDTH_128, "Floating-point vectors of 128 bits." UNLESS),                \
        KIND(OF, "fp_256_share", "256 bits", WIDTH_256, "Floating-point vectors of 256 bits." UNLESS),                \
        KIND(OF, "fp_512_share", "512 bits", WIDTH_512, "Floating-point vectors of 512 bits." UNLESS),                \
        KIND(OF, "fp_vector_share", "vectors", VECTORS, "Vectors of any width. Null: divided, or not known."),        \
        KIND(OF, "fp_share", "FP", FLOATS, "All floating point and vectors. Null: divided, or not known."),           \
        KIND(OF, "rest_share", "rest", REST,                                                                          \
             "Any other instructions. Below 0 where instructions are of several kinds, such as loads that compute."   \
             " Null: not all kinds were counted."),                                                                   \
        METRIC(OF, "fma_share", "multiply-adds", "share", 16,                                                         \
               "Multiply-adds per instruction; they are among the vectors and scalars. Null: not counted, or no AMD " \
               "processor from Zen 4 on: others have no event."),                                                     \
        METRIC(OF, "fma_flop_share", "flop by FMA", "share", 17,                                                      \
               "Floating-point operations by multiply-adds. Null: not counted, or no AMD processor."),                \
        METRIC(OF, "vector_integer_share", "vectors of integers", "share", 18,                                        \
               "Vector instructions on integers per instruction; they are in the rest." UNLESS),                      \
        METRIC(OF, "prefetch_share", "prefetches", "share", 19,                                                       \
               "Prefetch instructions per instruction; they are in the rest. Null: not counted, or an Arm "           \
               "processor, which has no event.")

#define CACHE_CELLS(OF)                                                                                          \
    METRIC(OF, "l1i_misses_per_1000", "L1I misses", "ratio", 20,                                                 \
           "Misses of the first-level instruction cache per 1,000 instructions." UNLESS),                        \
        METRIC(OF, "l1d_miss_share", "L1D misses", "share", 21,                                                  \
               "Misses of the first-level data cache per load." UNLESS),                                         \
        METRIC(OF, "l1d_demand_share", "by demand", "share", 22,                                                 \
               "Share of them for loads and stores (Intel: retired loads)." UNLESS),                             \
        METRIC(OF, "l1d_hardware_share", "by hardware", "share", 23,                                             \
               "Share for prefetches of the hardware. Null: not counted, or no AMD processor."),                 \
        METRIC(OF, "l1d_software_share", "by instructions", "share", 24,                                         \
               "Share for prefetch instructions. Null: not counted, or no AMD processor."),                      \
        METRIC(OF, "l2_miss_share", "L2 miss share", "share", 25,                                                \
               "Misses of the second level per load and store." UNLESS),                                         \
        METRIC(OF, "l2_misses_per_1000", "L2 misses", "ratio", 26,                                               \
               "Misses of the second level per 1,000 instructions." UNLESS),                                     \
        METRIC(OF, "l2_demand_share", "L2 by demand", "share", 27,                                               \
               "Share of them that were not prefetches. Null: not counted, or an Arm processor."),               \
        METRIC(OF, "l2_prefetch_share", "L2 by prefetch", "share", 28,                                           \
               "Share for prefetches. Null: not counted, or an Arm processor."),                                 \
        METRIC(OF, "dtlb_misses_per_1000", "DTLB walks", "ratio", 29,                                            \
               "Page table walks for data per 1,000 instructions." UNLESS),                                      \
        METRIC(OF, "dtlb_walk_share", "in DTLB walks", "share", 30, "Share of cycles with such a walk." UNLESS), \
        METRIC(OF, "itlb_misses_per_1000", "ITLB walks", "ratio", 31,                                            \
               "Page table walks for instructions per 1,000 instructions." UNLESS)

#define MARK_CELLS(OF)                                                                    \
    { "marked",                                                                           \
      "marked",                                                                           \
      "",                                                                                 \
      "Keys of the columns that may show a bottleneck, with blanks between. Null: none.", \
      FV_GET(FV_TYPE_TEXT, get_##OF##_marked),                                            \
      .flags = FV_NULLABLE,                                                               \
      .argument = 1 },                                                                    \
    {                                                                                     \
        "mark", "may be a bottleneck", "",                                                \
            "Why, for each of them, as in counter_metrics, with ; between. Null: none.",  \
            FV_GET(FV_TYPE_TEXT, get_##OF##_marked), .flags = FV_NULLABLE                 \
    }

static const struct fv_column_def columns[] = {
    FV_RANK_COLUMN(M, rank, "rank", "rank", "The rank."),
    { "thread", "thread", "", "The thread, as in table threads.", FV_FIELD(M, thread), .flags = FV_IS_THREAD },
    { "time_s", "time", "s", "Time in the section, as in section_threads. The next 18 columns are parts of it.",
      FV_FIELD(M, time_s), .flags = FV_NULLABLE },
    TIME_CELLS(thread),
    RATE_CELLS(thread),
    MIX_CELLS(thread),
    CACHE_CELLS(thread),
    CELL(thread, balance, "load_balance", "balance", "share", 0,
         "CPU time as a share of that of the rank's thread with most. Threads that spin while they wait count as "
         "busy." UNLESS),
    CELL(thread, balance, "instruction_balance", "of instructions", "share", 1,
         "Instructions as a share of those of the rank's thread with most." UNLESS),
    MARK_CELLS(thread),
};

static const struct fv_column_def process_columns[] = {
    FV_RANK_COLUMN(R, rank, "rank", "rank", "The rank."),
    { "elapsed_s", "elapsed", "s", "Time of its longest thread in the section, as in sections_by_rank.",
      FV_FIELD(R, value[FV_SECTION_ELAPSED]), .flags = FV_NULLABLE },
    { "time_s", "time", "s",
      "Time of all its threads in the section, added up. The next 18 columns, added up as well, are parts of "
      "it.",
      FV_GET(FV_TYPE_REAL, get_process_time), .flags = FV_NULLABLE },
    TIME_CELLS(process),
    RATE_CELLS(process),
    MIX_CELLS(process),
    CACHE_CELLS(process),
    CELL(process, balance, "load_balance", "balance", "share", 0,
         "Mean CPU time of its threads as a share of that of the thread with most. Threads that spin while "
         "they wait "
         "count as busy." UNLESS),
    CELL(process, balance, "instruction_balance", "of instructions", "share", 1,
         "Mean instructions of its threads as a share of those of the thread with most." UNLESS),
    MARK_CELLS(process),
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

static size_t process_count(void *subject, const void *parent)
{
    return counts_of(subject)->event_count ? ((const struct fv_section_view *)parent)->ranks : 0;
}

static const void *process_row(void *subject, const void *parent, size_t i)
{
    return &fv_model_sections(fv_tables_model(subject))->ranks[((const struct fv_section_view *)parent)->first + i];
}

/* On a narrow page the causes of stalls stand before what divides the other parts. */
#define MIX_SHOWN                                                                                           \
    "load_share/7 store_share/7 branch_share/7 fp_share/6 fp_scalar_share/6 fp_128_share/6 fp_256_share/6 " \
    "fp_512_share/6 fp_vector_share/6 rest_share/6"
#define SHOWN                                                                                                          \
    "work_s/20 mispredicted_s/11 restarts_s/11 thrown_away_s/13 late_fetch_s/11 narrow_fetch_s/11 fetch_s/13 l1_s/15 " \
    "l2_s/15 l3_s/15 dram_s/15 stores_s/14 memory_s/16 core_s/16 backend_s/13 untold_s/18 kernel_s/17 off_cpu_s/18 "   \
    "ipc/12 memory_busy/8 mark/10 " MIX_SHOWN " l1d_miss_share/4"

const struct fv_relation fv_section_sheet_relation = {
    .name = "section_sheet",
    .key = "sheet",
    .title = "Sheets of sections",
    .doc = "Threads of the section, by rank and thread: time by cause of stall, how busy caches were, rates, the "
           "mix of "
           "instructions, and balance, as far as events were counted. --passes counts what needs several runs.",
    .shown = "section number rank thread time_s " SHOWN,
    .recorded_by = "fvmpi run --counters",
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(columns),
    FV_OUTER(outer),
    .count = sheet_count,
    .row = sheet_row,
};

const struct fv_relation fv_section_sheet_processes_relation = {
    .name = "section_sheet_processes",
    .key = "sheet_processes",
    .title = "Sheets of sections by process",
    .doc = "Processes in the section, by rank: the same of all their threads. Times are added up; rates and "
           "shares are "
           "of the sums of what the threads counted.",
    .shown = "section number rank elapsed_s/19 time_s " SHOWN,
    .recorded_by = "fvmpi run --counters",
    .shape = FV_ROWS,
    .of_ranks = true,
    FV_COLUMNS(process_columns),
    FV_OUTER(outer),
    .count = process_count,
    .row = process_row,
};
