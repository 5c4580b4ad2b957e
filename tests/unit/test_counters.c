/* Counters: the kernel's page of an event; what the model makes of records of threads, of ranks that know different
 * things, and of very many of them; and what scaling makes of counts. Their table: test_counter_table.c. */
#include "base/perf_fd.h"
#include "counters/counters.h"
#include "fvr_builder.h"
#include "profile/counters/counters.h"
#include "profile/model.h"
#include "profile/threads/phases.h"
#include "scaling/scaling.h"
#include "unit.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <time.h>

#if FV_LIBPFM
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#endif
/* ---- the kernel's page ---- */

static struct perf_event_mmap_page page;
static unsigned moves; /* so often the kernel changes the page while it is read */

static uint64_t counter(uint32_t index)
{
    if (moves) {
        moves--;
        page.lock += 2;
        page.index++;
        page.offset += 1000;
    }
    return index == 2 ? UINT64_C(0xffffffffffff) - 99 : 7; /* 48 bits: -100 */
}

static void of_page(void **state)
{
    struct fv_perf_count out;

    (void)state;
    memset(&page, 0, sizeof(page));
    page.cap_user_rdpmc = 1;
    page.pmc_width = 48;
    page.offset = 5000;
    page.time_enabled = 70;
    page.time_running = 60;
    assert_false(fv_perf_page_read(&page, counter, &out)); /* in no register */
    page.index = 3;
    assert_true(fv_perf_page_read(&page, counter, &out));
    assert_int_equal(out.value, 4900);
    assert_int_equal(out.enabled, 70);
    assert_int_equal(out.running, 60);
    moves = 2;
    assert_true(fv_perf_page_read(&page, counter, &out));
    assert_int_equal(out.value, 7000 + 7);
    page.cap_user_rdpmc = 0;
    assert_false(fv_perf_page_read(&page, counter, &out));
}

/* ---- accounts and modes ---- */

static struct fv_perf_event parsed(const char *name)
{
    struct fv_perf_event event;

    assert_int_equal(fv_perf_event_parse(name, strlen(name), &event), 0);
    fv_perf_event_choose_mode(&event);
    return event;
}

static void kinds(void **state)
{
    struct fv_perf_event event = parsed("PAGE-FAULTS");

    (void)state;
    assert_int_equal(fv_perf_event_account(&event), FV_ACCOUNT_FAULTS);
    event.config = PERF_COUNT_SW_DUMMY;
    assert_int_equal(fv_perf_event_account(&event), FV_NO_ACCOUNT);
    event = parsed("PAGE-FAULTS:u");
    assert_int_equal(fv_perf_event_account(&event), FV_NO_ACCOUNT);
    event = parsed("INSTRUCTIONS");
    assert_int_equal(event.flags & (FV_PERF_NO_USER | FV_PERF_NO_KERNEL), FV_PERF_NO_KERNEL);
    event = parsed("INSTRUCTIONS:k");
    assert_int_equal(event.flags & (FV_PERF_NO_USER | FV_PERF_NO_KERNEL), FV_PERF_NO_USER);
}

/* ---- records of threads ---- */

static void add_event(struct fvr *f, const char *name, uint32_t flags)
{
    struct fv_counter_event e = { .flags = flags };

    snprintf(e.name, sizeof(e.name), "%s", name);
    fvr_add(f, FV_CHUNK_COUNTER_EVENTS, FV_NO_THREAD, &e, sizeof(e));
}

/* Of the first event `first`, of the second `second`. */
static void add_thread(struct fvr *f, uint32_t thread, uint32_t flags, uint64_t last, uint64_t first, uint64_t second)
{
    struct fv_counter_values v = { .flags = flags, .ticks = last ? 500000000 : 0, .last = last };

    if (last) {
        v.at[0] = (struct fv_counter_value){ .count = first,
                                             .enabled = flags & FV_COUNTERS_UNKNOWN ? 0 : 100,
                                             .running = 100 };
        v.at[1] = (struct fv_counter_value){ .count = second, .enabled = 100, .running = 100 };
    }
    fvr_add(f, FV_CHUNK_COUNTER_VALUES, thread, &v, sizeof(v));
}

static const struct fv_counts_value *value_of(const struct fv_model *m, uint32_t event, uint32_t rank)
{
    for (size_t i = 0; i < fv_model_counts(m)->value_count; i++)
        if (!fv_model_counts(m)->values[i].scope && fv_model_counts(m)->values[i].event == event &&
            fv_model_counts(m)->values[i].rank == rank)
            return &fv_model_counts(m)->values[i];
    fail();
    return NULL;
}

static bool is(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

static const struct {
    double value;
    uint32_t threads, missing;
    enum fv_counts_kind kind;
} wanted_parts[2][4] = { { { 1000, 1, 1, FV_COUNTS_PART },
                           { 1000, 1, 1, FV_COUNTS_PART },
                           { 1300, 2, 1, FV_COUNTS_PART },
                           { 1400, 2, 0, FV_COUNTS_EXACT } },
                         { { 15, 2, 0, FV_COUNTS_EXACT },
                           { 10, 1, 1, FV_COUNTS_PART },
                           { 13, 2, 1, FV_COUNTS_PART },
                           { 14, 2, 0, FV_COUNTS_EXACT } } };

/* Rank 0: a thread that could not be opened; rank 1: one that never told; rank 2: one whose record is of the thread
 * before; rank 3: all known. */
static void parts(void **state)
{
    struct fv_experiment experiment = { 0 };
    struct fv_model m;
    struct fvr f[4];

    (void)state;
    for (int rank = 0; rank < 4; rank++) {
        fvr_init(&f[rank], rank, 4);
        fvr_thread(&f[rank], 0, true, 0, 0, NULL);
        add_event(&f[rank], "INSTRUCTIONS", FV_COUNTER_USER);
        add_event(&f[rank], "PAGE-FAULTS", FV_COUNTER_ACCOUNTS);
        add_thread(&f[rank], 0, 0, 1500000000, 1000, 10);
    }
    add_thread(&f[0], 1, FV_COUNTERS_UNKNOWN, 1500000000, 0, 5);
    add_thread(&f[1], 1, FV_COUNTERS_UNWRITTEN, 0, 0, 0);
    add_thread(&f[2], 1, FV_COUNTERS_UNWRITTEN, 1500000000, 300, 3);
    add_thread(&f[3], 1, 0, 1500000000, 400, 4);
    for (int rank = 0; rank < 4; rank++)
        fvr_join(&f[rank], &experiment);
    fv_model_build(&m, NULL, &experiment, false);
    for (uint32_t event = 0; event < 2; event++)
        for (uint32_t rank = 0; rank < 4; rank++) {
            const struct fv_counts_value *v = value_of(&m, event, rank);

            if (!is(v->value, wanted_parts[event][rank].value) || v->threads != wanted_parts[event][rank].threads ||
                v->missing != wanted_parts[event][rank].missing || v->kind != wanted_parts[event][rank].kind)
                fail_msg("event %u of rank %u: %g of %u threads, without %u, kind %u", event, rank, v->value,
                         v->threads, v->missing, v->kind);
        }
    const struct fv_counts_sum *sum = &fv_model_counts(&m)->sums[0];
    assert_true(is(sum->sum, 4700));
    assert_int_equal(sum->missing, 3);
    assert_int_equal(sum->kind, FV_COUNTS_PART);
    assert_int_equal(sum->of.min_rank, 3);
    assert_true(isnan(fv_counts_of(fv_model_counts(&m), 0, 0, "instructions", false)));
    assert_true(is(fv_counts_of(fv_model_counts(&m), 0, 3, "instructions", false), 1400));
    fv_model_release(&m);
    fv_experiment_release(&experiment);
    for (int rank = 0; rank < 4; rank++)
        fvr_release(&f[rank]);
}

/* ---- records of phases ---- */

static void add_phase(struct fvr *f, uint32_t thread, uint32_t kind, uint32_t of, uint64_t count, uint32_t flags,
                      uint64_t value)
{
    struct fv_counter_phase p = {
        .kind = kind,
        .of = of,
        .count = count,
        .sum = { .flags = flags, .ticks = 1000000, .last = flags & FV_COUNTERS_UNWRITTEN ? 0 : 1500000000 }
    };

    p.sum.at[0] = (struct fv_counter_value){ .count = value, .in_mpi = value / 10, .enabled = 100, .running = 100 };
    fvr_add(f, FV_CHUNK_COUNTER_PHASES, thread, &p, sizeof(p));
}

static void expect_phase(const struct fv_model *m, enum fv_phase_kind kind, double value, uint32_t threads,
                         uint32_t missing)
{
    for (size_t i = 0; i < fv_model_phase_counts(m)->value_count; i++) {
        const struct fv_counts_value *v = &fv_model_phase_counts(m)->values[i];

        if (fv_model_phases(m)->items[v->scope - 1].kind != kind)
            continue;
        assert_true(is(v->value, value) && is(v->in_mpi, value / 10));
        assert_int_equal(v->threads, threads);
        assert_int_equal(v->missing, missing);
        assert_int_equal(v->kind, missing ? FV_COUNTS_PART : FV_COUNTS_EXACT);
        return;
    }
    fail();
}

static const struct fv_omp_region region = { .id = 4,
                                             .count = 2,
                                             .threads = 5,
                                             .threads_min = 2,
                                             .threads_max = 3,
                                             .elapsed = 100,
                                             .longest = 100,
                                             .useful_longest = 100,
                                             .weighted = 300,
                                             .time = 200 };

/* Two lives at a time, and one that was killed before it told; a region of which one part of five was not counted; and
 * records that mean nothing. */
static void of_phases(void **state)
{
    struct fv_experiment experiment = { 0 };
    struct fv_model m;
    struct fvr f;

    (void)state;
    fvr_init(&f, 0, 1);
    fvr_thread(&f, 0, true, 0, 0, NULL);
    add_event(&f, "INSTRUCTIONS", FV_COUNTER_USER);
    add_thread(&f, 0, 0, 1500000000, 1000, 0);
    for (uint32_t i = 1; i <= 3; i++) {
        struct fv_thread_life life = { .id = i,
                                       .thread = i,
                                       .creator = 0,
                                       .joiner = FV_NO_THREAD,
                                       .created = 1000000000 + i,
                                       .begin = 1000000010 + i,
                                       .end = 1200000000 };

        fvr_add(&f, FV_CHUNK_LIVES, FV_NO_THREAD, &life, sizeof(life));
    }
    fvr_add(&f, FV_CHUNK_OMP, 0, &region, sizeof(region));
    add_phase(&f, 1, FV_COUNTER_LIFE, 1, 1, 0, 100);
    add_phase(&f, 2, FV_COUNTER_LIFE, 2, 1, 0, 200);
    add_phase(&f, 3, FV_COUNTER_LIFE, 3, 1, FV_COUNTERS_UNWRITTEN, 0);
    add_phase(&f, 1, FV_COUNTER_REGION, 4, 2, 0, 50);
    add_phase(&f, 2, FV_COUNTER_REGION, 4, 2, 0, 70);
    add_phase(&f, 2, FV_COUNTER_REGION, 5, 2, 0, 9000);
    add_phase(&f, 2, FV_COUNTER_LIFE, 0, 1, 0, 9000);
    add_phase(&f, 2, FV_COUNTER_LIFE, UINT32_MAX, 1, 0, 9000);
    add_phase(&f, 2, 3, 4, 1, 0, 9000);
    fvr_join(&f, &experiment);
    fv_model_build(&m, NULL, &experiment, false);
    fv_counts_phases(&m);
    assert_int_equal(fv_model_phases(&m)->count, 2);
    expect_phase(&m, FV_PHASE_THREADS, 300, 2, 1);
    expect_phase(&m, FV_PHASE_OMP, 120, 4, 1);
    fv_counts_phases(&m); /* the same again */
    expect_phase(&m, FV_PHASE_OMP, 120, 4, 1);
    fv_model_release(&m);
    fv_experiment_release(&experiment);
    fvr_release(&f);
}

/* Two regions whose call paths look the same: they differ in frames of MPI's Fortran binding, which are not shown. */
static void add_regions(struct fvr *f, const char *event, uint64_t first, uint64_t second)
{
    fvr_init(f, 0, 1);
    fvr_thread(f, 0, true, 0, 0, NULL);
    add_event(f, event, FV_COUNTER_USER);
    add_thread(f, 0, 0, 1500000000, 1000, 0);
    uint32_t app = fvr_module(f, "/app", 0, "0123456789abcdef0123"),
             binding = fvr_module(f, "/libmpifort.so.12", 0x10000, "3210fedcba9876543210");
    uint32_t main = fvr_path(f, 0, app, 10);
    for (uint32_t i = 0; i < 2; i++) {
        struct fv_omp_region region = { .id = 1 + i,
                                        .path = fvr_path(f, main, binding, 1 + i),
                                        .count = 1,
                                        .threads = 2,
                                        .threads_min = 2,
                                        .threads_max = 2,
                                        .elapsed = 100,
                                        .longest = 100,
                                        .useful_longest = 100,
                                        .weighted = 200,
                                        .time = 200 };

        fvr_add(f, FV_CHUNK_OMP, 0, &region, sizeof(region));
        add_phase(f, 0, FV_COUNTER_REGION, 1 + i, 2, 0, i ? second : first);
    }
}

/* Each event has what both counted of it, whose numbers are those of the runs' own call paths. */
static void of_passes(void **state)
{
    struct fv_experiment experiments[2] = { { 0 } };
    struct fv_symbols symbols;
    struct fv_model m, pass;
    struct fvr f[2];

    (void)state;
    add_regions(&f[0], "INSTRUCTIONS", 50, 70);
    add_regions(&f[1], "CYCLES", 400, 300);
    for (int i = 0; i < 2; i++)
        fvr_join(&f[i], &experiments[i]);
    fv_model_build(&pass, NULL, &experiments[1], false);
    assert_int_equal(fv_model_phases(&pass)->count, 2);
    experiments[0].passes = &pass;
    experiments[0].pass_count = 1;
    fv_model_build(&m, &symbols, &experiments[0], false);
    fv_counts_phases(&m);
    assert_int_equal(fv_model_phases(&m)->count, 1);
    const struct fv_counts *v = fv_model_phase_counts(&m);
    assert_int_equal(v->value_count, 2);
    for (size_t i = 0; i < 2; i++) {
        bool is_own = !strcmp(v->events[v->values[i].event].name, "INSTRUCTIONS");

        assert_true(is(v->values[i].value, is_own ? 120 : 700));
        assert_int_equal(v->values[i].threads, 4);
    }
    fv_symbols_release(&symbols);
    fv_model_release(&m);
    fv_model_release(&pass);
    for (int i = 0; i < 2; i++) {
        fv_experiment_release(&experiments[i]);
        fvr_release(&f[i]);
    }
}

/* ---- ranks that know different things ---- */

static struct fv_counts_value *add_value(struct fv_counts *v, uint32_t scope, uint32_t event, uint32_t rank,
                                         double value)
{
    FV_GROW(v->values, v->value_room, v->value_count + 1);
    v->values[v->value_count] = (struct fv_counts_value){ .scope = scope,
                                                          .event = event,
                                                          .rank = rank,
                                                          .threads = 1,
                                                          .value = value,
                                                          .in_mpi = 0,
                                                          .time_s = 2,
                                                          .thread_time_s = 2 };
    return &v->values[v->value_count++];
}

static void name_things(struct fv_counts *v, uint32_t scopes, const char *const *of_events, uint32_t number)
{
    v->scopes = fv_xcalloc(scopes, sizeof(*v->scopes));
    v->scope_count = v->scope_room = scopes;
    for (uint32_t i = 0; i < scopes; i++)
        v->scopes[i] = (struct fv_counts_scope){ "a", (int32_t)i };
    v->events = fv_xcalloc(number, sizeof(*v->events));
    v->event_count = v->event_room = number;
    for (uint32_t i = 0; i < number; i++)
        v->events[i] = (struct fv_counts_event){ .name = of_events[i],
                                                 .quantity = fv_quantity_named(of_events[i], strlen(of_events[i])) };
}

static const struct fv_counts_metric *metric_of(const struct fv_counts *v, const char *name)
{
    for (size_t i = 0; i < v->metric_count; i++)
        if (!v->metrics[i].scope && !strcmp(v->metrics[i].row->name, name))
            return &v->metrics[i];
    return NULL;
}

static void different(void **state)
{
    static const char *const names_of[] = { "instructions", "cycles" };
    struct fv_counts v = { 0 };

    (void)state;
    name_things(&v, 1, names_of, 2);
    add_value(&v, 0, 1, 0, 500);
    add_value(&v, 0, 0, 0, 1000);
    add_value(&v, 0, 0, 1, 9000); /* without cycles */
    add_value(&v, 0, 0, 2, 2000);
    add_value(&v, 0, 1, 2, 500);
    add_value(&v, 0, 0, 3, 7000)->missing = 1;
    add_value(&v, 0, 1, 3, 500);
    fv_counts_finish(&v, 4);
    const struct fv_counts_metric *ipc = metric_of(&v, "ipc"), *rate = metric_of(&v, "instruction_rate");
    assert_true(is(ipc->value, 3));
    assert_int_equal(ipc->ranks, 2);
    assert_int_equal(ipc->kind, FV_COUNTS_PART);
    assert_true(is(ipc->of.mean, 3) && is(ipc->of.min, 2) && is(ipc->of.max, 4));
    assert_int_equal(ipc->of.max_rank, 2);
    assert_true(is(rate->value, 6000));
    assert_int_equal(rate->ranks, 3);
    fv_counts_release(&v);
}

static void add_counted_thread(struct fv_counts *v, uint32_t event, uint32_t rank, uint32_t thread, double value)
{
    FV_GROW(v->threads, v->thread_room, v->thread_count + 1);
    v->threads[v->thread_count++] = (struct fv_counts_thread){
        .event = event, .rank = rank, .thread = thread, .value = value, .time_s = 2, .kind = FV_COUNTS_EXACT
    };
}

/* Of each thread that counted both; what is by time by its own. */
static void of_threads(void **state)
{
    static const char *const names_of[] = { "instructions", "cycles" };
    struct fv_counts v = { 0 };

    (void)state;
    name_things(&v, 1, names_of, 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        add_value(&v, 0, 0, rank, 900);
        add_value(&v, 0, 1, rank, 450);
    }
    add_counted_thread(&v, 1, 1, 3, 100);
    add_counted_thread(&v, 1, 0, 0, 450);
    add_counted_thread(&v, 1, 1, 0, 350);
    add_counted_thread(&v, 0, 0, 0, 900);
    add_counted_thread(&v, 0, 1, 3, 200);
    add_counted_thread(&v, 0, 1, 0, 700);
    add_counted_thread(&v, 0, 1, 7, 50); /* without cycles */
    fv_counts_finish(&v, 2);
    const struct fv_counts_metric *ipc = metric_of(&v, "ipc");
    const struct fv_counts_thread_metric *of = v.thread_metrics + ipc->first_thread;
    assert_int_equal(ipc->threads, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(is(of[i].value, 2));
        assert_int_equal(of[i].rank, i > 0);
        assert_int_equal(of[i].thread, i == 2 ? 3 : 0);
    }
    const struct fv_counts_metric *rate = metric_of(&v, "instruction_rate");
    assert_int_equal(rate->threads, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_true(is(v.thread_metrics[rate->first_thread + i].value, (double[]){ 450, 350, 100, 25 }[i]));
    fv_counts_release(&v);
}

/* What a processor can do: of floating point at the clock that it had, so many cycles in the time of add_value(). */
static void peaks(void **state)
{
    static const char *const names_of[] = { "instructions", "cycles", "fp_ops" };
    struct fv_counts v = { .processor = FV_ZEN3 };

    (void)state;
    name_things(&v, 1, names_of, 3);
    double time_s = add_value(&v, 0, 0, 0, 3000)->time_s;
    add_value(&v, 0, 1, 0, 1000);
    add_value(&v, 0, 2, 0, 4000);
    fv_counts_finish(&v, 1);
    assert_true(is(metric_of(&v, "ipc")->peak, 6));
    assert_true(is(metric_of(&v, "flops_per_cycle")->peak, 16));
    assert_true(is(metric_of(&v, "flop_rate")->peak, 16 * 1000 / time_s) &&
                is(metric_of(&v, "flop_rate")->value, 4000 / time_s));
    assert_true(isnan(metric_of(&v, "instruction_rate")->peak));
    fv_counts_release(&v);
}

/* A part is marked where the whole may be a bottleneck. Of 1000 slots so many wait for loads and stores, and for
 * anything. */
static bool memory_is_marked(uint64_t memory, uint64_t all)
{
    static const char *const names_of[] = { "cycles", "slots", "slots_backend", "slots_memory" };
    const uint64_t values[] = { 170, 1000, all, memory };
    struct fv_counts v = { .processor = FV_SPR };

    name_things(&v, 1, names_of, 4);
    for (uint32_t i = 0; i < 4; i++)
        add_value(&v, 0, i, 0, values[i]);
    fv_counts_finish(&v, 1);
    bool is_marked = metric_of(&v, "memory_bound")->mark;
    assert_that(!!metric_of(&v, "backend_bound")->mark, ==, (all > 500));
    assert_that(!!metric_of(&v, "core_bound")->mark, ==, (all > 500 && all - memory > 200));
    fv_counts_release(&v);
    return is_marked;
}

static void marks(void **state)
{
    (void)state;
    assert_true(memory_is_marked(400, 550));
    assert_true(memory_is_marked(210, 550));
    assert_false(memory_is_marked(150, 550));
    assert_false(memory_is_marked(300, 400)); /* as in much that is well */
}

/* ---- scaling ---- */

/* Two runs, of one and two threads or ranks; the second one executes twice as much, as threads do that spin. */
static void of_scaling(bool by_threads, double *instructions, double *ipc, double *frequency)
{
    struct fv_scaling s = { 0 };
    struct fv_diff_side *side = &s.runs.side[0];

    side->runs = fv_xcalloc(2, sizeof(*side->runs));
    side->count = side->room = 2;
    for (unsigned i = 0; i < 2; i++) {
        side->runs[i] = (struct fv_diff_run){ .directory = "e",
                                              .program = "p",
                                              .complete = true,
                                              .ranks = by_threads ? 1 : i + 1,
                                              .read = by_threads ? 1 : i + 1,
                                              .instructions = 1000 * (i + 1),
                                              .cycles = 1000 };
        for (unsigned k = 0; k < FV_DIFF_RUN_METRICS; k++)
            side->runs[i].value[k] = 1;
        side->runs[i].hybrid.threads = by_threads ? i + 1 : 0;
        side->runs[i].hybrid.elapsed_s = side->runs[i].hybrid.useful_s = 1;
    }
    assert_int_equal(fv_scaling_compute(&s, FV_SCALING_STRONG), 0);
    assert_int_equal(s.threads, by_threads);
    *instructions = s.points[1].value[FV_SCALES_INSTRUCTIONS];
    *ipc = s.points[1].value[FV_SCALES_IPC];
    *frequency = s.points[1].value[FV_SCALES_FREQUENCY];
    fv_scaling_release(&s);
}

static void spinning(void **state)
{
    double instructions, ipc, frequency;

    (void)state;
    of_scaling(false, &instructions, &ipc, &frequency);
    assert_true(is(instructions, 0.5) && is(ipc, 2) && is(frequency, 0.5));
    of_scaling(true, &instructions, &ipc, &frequency);
    assert_true(isnan(instructions) && isnan(ipc) && isnan(frequency));
}

/* ---- very many ---- */

enum { SECTIONS = 20, EVENTS = 10 };

/* CPU time of the best of three. */
static double cpu_time(void (*work)(uint32_t), uint32_t size)
{
    double best = INFINITY;

    for (int i = 0; i < 3; i++) {
        struct timespec begin, end;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
        work(size);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        best = fmin(best, (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9);
    }
    return best;
}

static void sum_ranks(uint32_t ranks)
{
    static const char *const names_of[EVENTS] = { "instructions", "cycles",     "cpu_ns",        "loads",
                                                  "stores",       "branches",   "branch_misses", "l1d_misses",
                                                  "l2_misses",    "page_faults" };
    struct fv_counts v = { 0 };

    name_things(&v, SECTIONS, names_of, EVENTS);
    for (uint32_t rank = ranks; rank--;)
        for (uint32_t i = 0; i < SECTIONS * EVENTS; i++)
            add_value(&v, i % SECTIONS, i / SECTIONS, rank, 1 + rank % 7);
    fv_counts_finish(&v, ranks);
    assert_int_equal(v.sum_count, SECTIONS * EVENTS);
    assert_int_equal(metric_of(&v, "ipc")->ranks, ranks);
    assert_true(is(metric_of(&v, "ipc")->value, 1));
    fv_counts_release(&v);
}

/* As many sections, each with a record of each event. */
static void read_sections(uint32_t sections)
{
    struct fv_experiment experiment = { 0 };
    struct fv_model m;
    struct fvr f;

    fvr_init(&f, 0, 1);
    fvr_thread(&f, 0, true, 0, 0, NULL);
    add_event(&f, "INSTRUCTIONS", FV_COUNTER_USER);
    for (uint32_t i = 0; i < sections; i++) {
        struct fv_section s = { .number = (int32_t)i };
        struct fv_counter_values values = {
            .section = i + 1, .ticks = 1000, .last = 1500000000, .at = { { .count = 5, .enabled = 1, .running = 1 } }
        };

        snprintf(s.name, sizeof(s.name), "s%u", i);
        fvr_add(&f, FV_CHUNK_SECTIONS, FV_NO_THREAD, &s, sizeof(s));
        fvr_add(&f, FV_CHUNK_COUNTER_VALUES, 0, &values, sizeof(values));
    }
    fvr_join(&f, &experiment);
    fv_model_build(&m, NULL, &experiment, false);
    assert_int_equal(fv_model_counts(&m)->value_count, sections);
    fv_model_release(&m);
    fv_experiment_release(&experiment);
    fvr_release(&f);
}

/* Four times the size takes about four times as long: sixteen times, if each is compared with each. */
static void grows(const char *what, void (*work)(uint32_t), uint32_t size)
{
    double small = cpu_time(work, size / 4), large = cpu_time(work, size);

    print_message("# %s: %u take %.1f times as long as %u\n", what, size, large / small, size / 4);
    assert_that(large, <, 8 * small);
}

static void many(void **state)
{
    (void)state;
    grows("ranks", sum_ranks, 400);
    grows("sections", read_sections, 16000);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(of_page),    cmocka_unit_test(kinds),
                                        cmocka_unit_test(parts),      cmocka_unit_test(of_phases),
                                        cmocka_unit_test(of_passes),  cmocka_unit_test(different),
                                        cmocka_unit_test(of_threads), cmocka_unit_test(peaks),
                                        cmocka_unit_test(marks),      cmocka_unit_test(many),
                                        cmocka_unit_test(spinning) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
