/* Findings of functions and of the rest: what grows, rare slow calls, functions that vary, samples, and the cost of
 * fvmpi itself. The profiles are made up. */
#include "profile/findings/excess.h"
#include "profile/findings/findings.h"
#include "profile/memory/memory.h"
#include "profile/profile.h"
#include "profile/samples/costs.h"
#include "profile/samples/samples.h"
#include "profile/threads/phases.h"
#include "unit.h"

#define RUN_S 100.0 /* of each rank */

/* What a run without samples and threads has: nothing. */
static const struct fv_symbols no_symbols;
static const struct fv_cost_profile no_costs;
static const struct fv_findings none;

static void what_fvmpi_itself_costs(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) { /* all of it, what starting and ending took, or little */
        struct fv_rank ranks[2] = { { .host = "host",
                                      .threads = 1,
                                      .app_time_s = RUN_S,
                                      .end_s = RUN_S,
                                      .cpu_s = 0.5,
                                      .ready_s = 99,
                                      .off.blocked_s = NAN } };
        struct fv_model model = { .directory = "run",
                                  .ranks = ranks,
                                  .rank_count = 2,
                                  .efficiency = { .total_s = 2 * RUN_S },
                                  .overhead = { .time_s = i == 2 ? 0.09 : 0.3, .once_s = i == 1 ? 0.25 : 0 } };
        const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
        struct fv_findings findings;

        ranks[1] = ranks[0];
        fv_findings_make(&findings, &profile);
        const struct fv_finding *f = fv_findings_named(&findings, "own_cost");
        assert_int_equal(f != NULL, i == 0);
        assert_true(!f || strstr(f->text, "fvmpi itself takes 30.0 % of the CPU time"));
        fv_findings_release(&findings);
    }
}

/* Samples are of user mode: what is much of them may be little of the CPU time, and few of them are chance. */
static void what_samples_say_of_fvmpi(void **state)
{
    (void)state;
    static const struct {
        uint64_t ours, all;
        double cpu_s;
        bool is_told;
    } cases[] = { { 40, 100, 0.4, true },
                  { 40, 100, NAN, true },
                  { 4, 13, 0.052, false },
                  { 40, 100, 40, false },
                  { 5, 100, 0.4, false } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct fv_rank rank = {
            .host = "host", .threads = 1, .app_time_s = RUN_S, .end_s = RUN_S, .cpu_s = cases[i].cpu_s
        };
        struct fv_model model = {
            .directory = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
        };
        struct fv_cost_profile costs = { .fvmpi_ticks = cases[i].ours, .all.ticks = cases[i].all, .tick_s = 0.004 };
        const struct fv_profile profile = { &model, &no_symbols, &costs, &none, 0 };
        struct fv_findings findings;

        fv_findings_make(&findings, &profile);
        assert_int_equal(fv_findings_named(&findings, "own_cost") != NULL, cases[i].is_told);
        fv_findings_release(&findings);
    }
}

/* Rank 0 of a program of its own: bytes when it was 1/4, 1/2 as old as its last mark, and at the end, in MiB. */
static uint64_t eighth_mib; /* 0: not known */
static bool is_growing_as(enum fv_memory_mode mode, double allocated_bytes, double quarter_s, const uint64_t mib[3],
                          char text[300])
{
    struct fv_allocation_rank recorded = { .mode = mode };
    struct fv_allocation_part part = { .sum.allocated = { 1, allocated_bytes, 0 } };
    struct fv_clock clock = { .hz = 1e9 };
    struct fv_rank rank = { .host = "host", .threads = 1, .app_time_s = RUN_S, .end_s = RUN_S, .cpu_s = RUN_S };
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
    };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;

    for (unsigned i = 0; i < FV_MEMORY_OCTAVES; i++)
        part.at[i] = NAN; /* all of it came since */
    struct fv_allocations allocated = { .ranks = &recorded, .rank_count = 1, .parts = &part, .part_count = 1 };
    if (mode) {
        model.clocks = &clock;
        model.data[FV_SUBJECT_memory] = &allocated;
    }
    rank.resident_eighth = eighth_mib << 20;
    rank.eighth_s = quarter_s / 2;
    rank.resident_quarter = mib[0] << 20;
    rank.quarter_s = quarter_s;
    rank.resident_half = mib[1] << 20;
    rank.half_s = 2 * quarter_s;
    rank.resident_peak = mib[2] << 20;
    fv_findings_make(&findings, &profile);
    const struct fv_finding *f = fv_findings_named(&findings, "growing_memory");
    snprintf(text, 300, "%s", f ? f->text : "");
    fv_findings_release(&findings);
    return text[0] != '\0';
}

static bool is_growing(double quarter_s, const uint64_t mib[3], char text[300])
{
    return is_growing_as(0, 0, quarter_s, mib, text);
}

/* Marks are at powers of two of the clock's ticks: the last one is anywhere in the second half of the run. */
static void what_grows(void **state)
{
    (void)state;
    char text[300];

    assert_true(is_growing(25, (const uint64_t[]){ 125, 150, 200 }, text));
    assert_non_null(strstr(text, "from 150 MiB at about 50.0 s to 200 MiB, about 1 MiB a second"));
    assert_true(is_growing(45, (const uint64_t[]){ 145, 190, 200 }, text));
    assert_non_null(strstr(text, "from 145 MiB at about 45.0 s to 200 MiB, about 1 MiB a second"));
    assert_false(is_growing(45, (const uint64_t[]){ 145, 200, 200 }, text)); /* it came to rest */
    assert_false(is_growing(45, (const uint64_t[]){ 190, 195, 196 }, text)); /* not worth a word */
    eighth_mib = 122; /* it grew up to the last mark, which the run ended soon after: how soon is chance */
    assert_true(is_growing(45, (const uint64_t[]){ 145, 200, 200 }, text));
    eighth_mib = 20; /* what came early is done */
    assert_false(is_growing(45, (const uint64_t[]){ 145, 155, 156 }, text));
    eighth_mib = 0;
    /* Where each object is known fvmpi's own records grow with them: no more is told than the program allocated. */
    assert_false(is_growing_as(FV_MEMORY_EXACT, 1 << 20, 25, (const uint64_t[]){ 125, 150, 200 }, text));
    assert_true(is_growing_as(FV_MEMORY_EXACT, 40 << 20, 25, (const uint64_t[]){ 125, 150, 200 }, text));
    assert_non_null(strstr(text, "from 150 MiB at about 50.0 s to 190 MiB"));
    assert_true(is_growing_as(FV_MEMORY_SAMPLED, 1 << 20, 25, (const uint64_t[]){ 125, 150, 200 }, text));
    assert_non_null(strstr(text, ". Only 1 MiB of that was allocated by malloc() and the like")); /* but by mmap() */
}

/* Long calls of one function on two threads of each of two ranks, seconds. Returns rank and lost seconds of the
 * finding. */
static struct fv_finding rare_calls(const double seconds[4], char text[300])
{
    struct fv_rank ranks[2] = {
        { .host = "host", .threads = 2, .app_time_s = RUN_S, .mpi_time_s = RUN_S },
        { .world_rank = 1, .host = "host", .threads = 2, .app_time_s = RUN_S, .mpi_time_s = RUN_S }
    };
    struct fv_sampled_part parts[4];
    const double rank_s[2] = { seconds[0] + seconds[1], seconds[2] + seconds[3] }, all_s = rank_s[0] + rank_s[1];
    struct fv_sampled_function function = { .parts = 4, .threads = 4, .contexts = 1, .calls = 1000 };
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = ranks, .rank_count = 2, .efficiency = { .total_s = 2 * RUN_S }
    };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;

    for (uint32_t i = 0; i < 4; i++)
        parts[i] = (struct fv_sampled_part){ .rank = i / 2, .thread = i % 2, .rare.time_s = seconds[i] };
    function.rare =
        (struct fv_rare_calls){ .count = 20, .exact = true, .length_s = all_s / 20, .time_s = all_s, .calls = 1000 };
    function.rare.rank = rank_s[1] > rank_s[0];
    function.rare.rank_s = rank_s[function.rare.rank];
    model.data[FV_SUBJECT_samples] = &(struct fv_samples){
        .functions = &function, .function_count = 1, .parts = parts, .part_count = 4, .threads = 8
    };
    fv_findings_make(&findings, &profile);
    const struct fv_finding *f = fv_findings_named(&findings, "rare_slow_calls");
    assert_non_null(f);
    snprintf(text, 300, "%s", f->text);
    struct fv_finding found = *f;
    fv_findings_release(&findings);
    return found;
}

/* A rank is named that has most of the long calls by far: of two that are alike, one has a little more. */
static void who_has_rare_calls(void **state)
{
    (void)state;
    char text[300];

    assert_int_equal(rare_calls((const double[]){ 9, 0, 11, 0 }, text).rank, FV_NONE);
    assert_null(strstr(text, "rank"));
    assert_int_equal(rare_calls((const double[]){ 4, 0, 16, 0 }, text).rank, 1);
    assert_non_null(strstr(text, ". They were mostly on rank 1"));
    assert_int_equal(rare_calls((const double[]){ 20, 0, 0, 0 }, text).rank, 0);
    assert_non_null(strstr(text, ". They were on rank 0"));
}

/* Threads compute side by side; those that do nothing of it count for nothing. */
static void whose_rare_calls_cost(void **state)
{
    (void)state;
    char text[300];

    assert_near(rare_calls((const double[]){ 0, 0, 20, 0 }, text).lost_s, 20, 1e-9);
    assert_near(rare_calls((const double[]){ 10, 10, 10, 10 }, text).lost_s, 20, 1e-9);
    assert_near(rare_calls((const double[]){ 4, 6, 12, 0 }, text).lost_s, 18, 1e-9);
}

/* What a function is told to lose whose calls take 1 s in the median and 2 s on average, 100 s in all, of which rare
 * long calls of its callee take some. */
static double varying_s(double rare_s)
{
    struct fv_rank rank = { .host = "host", .threads = 1, .app_time_s = RUN_S, .mpi_time_s = 0 };
    struct fv_sampled_instance instances[8] = { { 0 } };
    struct fv_sampled_part part = { .all = { .count = 8, .mean[FV_METRIC_CPU] = 2 } };
    struct fv_sampled_function function = { .parts = 1,
                                            .threads = 1,
                                            .contexts = 1,
                                            .share = 1,
                                            .varies = FV_VARIES_WITHIN,
                                            .instances = 8,
                                            .judged = true,
                                            .all = part.all,
                                            .rare = { .count = rare_s > 0, .time_s = rare_s, .is_callees = true } };
    struct fv_sampled_function context = function;
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
    };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;

    for (unsigned i = 0; i < 8; i++)
        instances[i].cpu_s = i < 5 ? 1 : 11.0 / 3;
    model.data[FV_SUBJECT_samples] = &(struct fv_samples){ .functions = &function,
                                                           .function_count = 1,
                                                           .items = &context,
                                                           .count = 1,
                                                           .parts = &part,
                                                           .part_count = 1,
                                                           .instances = instances,
                                                           .instance_count = 8,
                                                           .threads = 1,
                                                           .computing_s = RUN_S };
    fv_findings_make(&findings, &profile);
    const struct fv_finding *f = fv_findings_named(&findings, "varying_function");
    double lost_s = f ? f->lost_s : 0;
    fv_findings_release(&findings);
    return lost_s;
}

/* Rare long calls are not among those that were measured: what these are longer is not of the time in them. */
static void what_varying_calls_cost(void **state)
{
    (void)state;
    assert_near(varying_s(0), 50, 1e-9); /* the median is 1 s, the mean 2 s */
    assert_near(varying_s(60), 20, 1e-9);
}

/* A function of two contexts with 8 calls each, of 1 s or 9 s: 2 and 5 of them are long. */
static double varying_by_chance_s(double by_caller)
{
    struct fv_rank rank = { .host = "host", .threads = 1, .app_time_s = RUN_S, .mpi_time_s = 0 };
    struct fv_sampled_instance instances[16] = { { 0 } };
    struct fv_sampled_part part = { .all = { .count = 16, .mean[FV_METRIC_CPU] = 4.5 } };
    struct fv_sampled_function contexts[2] = {
        { .share = 0.5, .instances = 8, .judged = true, .all = { .count = 8, .mean[FV_METRIC_CPU] = 3 } },
        { .share = 0.5,
          .first_instance = 8,
          .instances = 8,
          .judged = true,
          .all = { .count = 8, .mean[FV_METRIC_CPU] = 6 } }
    };
    struct fv_sampled_function function = { .parts = 1,
                                            .threads = 1,
                                            .contexts = 2,
                                            .share = 1,
                                            .varies = FV_VARIES_WITHIN,
                                            .instances = 16,
                                            .judged = true,
                                            .by_caller = by_caller,
                                            .all = part.all };
    struct fv_model model = {
        .directory = "run", .operands = "run", .ranks = &rank, .rank_count = 1, .efficiency = { .total_s = RUN_S }
    };
    const struct fv_profile profile = { &model, &no_symbols, &no_costs, &none, 0 };
    struct fv_findings findings;

    for (unsigned i = 0; i < 16; i++)
        instances[i].cpu_s = i < 2 || (i >= 8 && i < 13) ? 9 : 1;
    model.data[FV_SUBJECT_samples] = &(struct fv_samples){ .functions = &function,
                                                           .function_count = 1,
                                                           .items = contexts,
                                                           .count = 2,
                                                           .parts = &part,
                                                           .part_count = 1,
                                                           .instances = instances,
                                                           .instance_count = 16,
                                                           .threads = 1,
                                                           .computing_s = RUN_S };
    fv_findings_make(&findings, &profile);
    const struct fv_finding *f = fv_findings_named(&findings, "varying_function");
    double lost_s = f ? f->lost_s : 0;
    fv_findings_release(&findings);
    return lost_s;
}

/* Half of a few calls may be long by chance: where callers ask for the same, the median is that of all calls. */
static void what_is_typical(void **state)
{
    (void)state;
    assert_near(varying_by_chance_s(0), 100 * 3.5 / 4.5, 1e-9);
    assert_that(varying_by_chance_s(0.5), <, 1e-9); /* the second's are long: 5 of 8 are its own median */
}

/* Ticks of 10 ms, of rank 0 and rank 1: all is in main(), and some of it in two functions, the first of the program,
 * the second as told. */
static const char *most_of_ranks(struct fv_rank ranks[2], const uint64_t ticks[3][2], const char *first,
                                 const char *second, bool is_program)
{
    const char *const names[3] = { "main", first, second };
    struct fv_cost_thread threads[2];
    struct fv_cost_part parts[6];
    struct fv_cost_procedure procedures[3];

    for (uint32_t i = 0; i < 2; i++)
        threads[i] = (struct fv_cost_thread){ .rank = i, .ticks = ticks[0][i], .tick_s = 0.01, .cpu_tick_s = 0.01 };
    for (uint32_t i = 0; i < 6; i++)
        parts[i] = (struct fv_cost_part){ .owner = i % 2, .sum.total.ticks = ticks[i / 2][i % 2] };
    for (size_t i = 0; i < 3; i++)
        procedures[i] = (struct fv_cost_procedure){
            .name = names[i], .of_program = i < 2 || is_program, .first_part = 2 * i, .parts = 2
        };
    struct fv_model model = { .ranks = ranks,
                              .rank_count = 2,
                              .data[FV_SUBJECT_costs] =
                                  &(struct fv_costs){ .threads = threads, .thread_count = 2, .ticks = 160 } };
    const struct fv_cost_profile costs = { .parts = parts, .procedures = procedures, .procedure_count = 3 };
    const struct fv_profile profile = { &model, &no_symbols, &costs, &none, 0 };
    const struct fv_excess excess = fv_excess_of(&profile, 1);

    return excess.procedure ? excess.procedure->name : "";
}

/* CPU time is not measured: samples alone tell it. */
static const char *most_of_it(const uint64_t ticks[3][2], const char *first, const char *second, bool is_program)
{
    struct fv_rank ranks[2] = { { .threads = 1, .off.blocked_s = NAN }, { .threads = 1, .off.blocked_s = NAN } };

    return most_of_ranks(ranks, ticks, first, second, is_program);
}

/* A library's function is no place to look at where one of the program's own calls it. */
static void whose_function(void **state)
{
    (void)state;
    assert_string_equal(
        most_of_it((const uint64_t[3][2]){ { 60, 100 }, { 50, 90 }, { 20, 50 } }, "react", "pow", false), "react");
    /* main() would say nothing */
    assert_string_equal(most_of_it((const uint64_t[3][2]){ { 60, 100 }, { 0, 0 }, { 20, 50 } }, "react", "pow", false),
                        "pow");
    /* nor does Python's */
    assert_string_equal(
        most_of_it((const uint64_t[3][2]){ { 60, 100 }, { 60, 100 }, { 58, 97 } }, "<module>", "compute", true),
        "compute");
}

/* Samples may, by chance, tell more of a function that all use than the rank has more: it is the function that is
 * called more. */
static void more_than_the_whole(void **state)
{
    (void)state;
    assert_string_equal(
        most_of_it((const uint64_t[3][2]){ { 37, 97 }, { 25, 97 }, { 12, 66 } }, "compute", "react", true), "react");
}

/* Rank 1 computes longer in the kernel, where no samples are. Of that its system time tells too little: it is counted
 * by whole ticks of the kernel. */
static void kernel_time_is_nobodys(void **state)
{
    (void)state;
    struct fv_rank ranks[2] = { { .threads = 1, .app_time_s = 0.5, .system_s = 0.23 },
                                { .threads = 1, .app_time_s = 1.07, .system_s = 0.1 } };

    assert_string_equal(
        most_of_ranks(ranks, (const uint64_t[3][2]){ { 27, 35 }, { 27, 32 }, { 0, 3 } }, "compute", "touch", true), "");
    assert_string_equal(
        most_of_ranks(ranks, (const uint64_t[3][2]){ { 25, 44 }, { 25, 41 }, { 0, 3 } }, "compute", "touch", true), "");
    assert_string_equal(
        most_of_ranks(ranks, (const uint64_t[3][2]){ { 27, 97 }, { 25, 32 }, { 2, 65 } }, "compute", "react", true),
        "react");
}

/* A rank that has its processor for short times computes between the kernel's ticks: then samples by CPU time are to be
 * had. */
static bool ended = true; /* the rank: else its CPU time is not known */

static double missed_s(uint64_t ticks, enum fv_sampler_mode mode, double blocked_s, double preempted_s, bool by_event)
{
    struct fv_rank rank = { .threads = 1,
                            .app_time_s = 1,
                            .cpu_s = ended ? 1 : NAN,
                            .off = { .blocked_s = blocked_s, .preempted_s = preempted_s } };
    struct fv_cost_thread thread = { .ticks = ticks, .tick_s = 0.01, .cpu_tick_s = 0.01 };
    struct fv_samples samples = { .threads = 1, .by_event = by_event };
    struct fv_model model = { .ranks = &rank,
                              .rank_count = 1,
                              .data = { [FV_SUBJECT_samples] = &samples,
                                        [FV_SUBJECT_costs] = &(struct fv_costs){
                                            .threads = &thread, .thread_count = 1, .ticks = ticks } } };

    samples.modes[mode] = 1;
    return fv_excess_missed_by_ticks(&model, 0);
}

static void ticks_miss_what_is_computed(void **state)
{
    (void)state;
    assert_near(missed_s(10, FV_SAMPLER_CLOCK, 0, 0, false), 0.1, 1e-9);
    assert_true(isnan(missed_s(60, FV_SAMPLER_CLOCK, 0, 0, false)));
    assert_near(missed_s(60, FV_SAMPLER_CLOCK, 0, 0.2, false), 0.6, 1e-9); /* they meet a busy machine unevenly */
    assert_true(isnan(missed_s(10, FV_SAMPLER_CLOCK, 0, 0.2, true)));
    assert_true(isnan(missed_s(10, FV_SAMPLER_COSTS, 0, 0, false)));
    assert_true(isnan(missed_s(10, FV_SAMPLER_CLOCK, NAN, 0, false))); /* how long it computed is not known */
    ended = false;
    assert_true(isnan(missed_s(10, FV_SAMPLER_CLOCK, 0, 0, false))); /* nor whether it is blocked since its last call */
    ended = true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whose_function),
        cmocka_unit_test(kernel_time_is_nobodys),
        cmocka_unit_test(ticks_miss_what_is_computed),
        cmocka_unit_test(more_than_the_whole),
        cmocka_unit_test(what_is_typical),
        cmocka_unit_test(what_fvmpi_itself_costs),
        cmocka_unit_test(what_samples_say_of_fvmpi),
        cmocka_unit_test(what_grows),
        cmocka_unit_test(who_has_rare_calls),
        cmocka_unit_test(what_varying_calls_cost),
        cmocka_unit_test(whose_rare_calls_cost),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("findings_functions", tests, NULL, NULL);
}
