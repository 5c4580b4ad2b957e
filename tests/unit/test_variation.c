/* Functions that several places call: each is judged over all its contexts, of files with known instances. */
#include "fvr_builder.h"
#include "profile/profile.h"
#include "profile/samples/samples_shape.h"
#include "unit.h"

#define ID    "0123456789abcdef0123"
#define F     0x2001 /* one past a function's entry, as its node has it */
#define G     0x3001
#define PLACE 0x100 /* of the first call, in main */
#define CALLS 40
#define US    1000u
static struct fvr file[2];
static double counted; /* of the first event, by the n-th call: n times this */
static struct fv_experiment experiment;
static struct fv_model model;
static struct fv_symbols symbols;

static int set_up(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    model = (struct fv_model){ 0 };
    symbols = (struct fv_symbols){ 0 };
    counted = 0;
    for (int i = 0; i < 2; i++) {
        fvr_init(&file[i], i, 2);
        fvr_module(&file[i], "/usr/bin/app", (uint64_t)i << 20, ID);
        fvr_thread(&file[i], 0, true, 0, 0, NULL);
        fvr_sampler(&file[i], 0, 100, 100);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    for (int i = 0; i < 2; i++)
        fvr_release(&file[i]);
    return 0;
}

static void build(int ranks)
{
    for (int i = 0; i < ranks; i++)
        fvr_join(&file[i], &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, &symbols, &experiment, false);
    fv_samples_judge(&model, &symbols, &(struct fv_cost_profile){ 0 });
}

/* Of calls of which every fourth takes us[1]. */
static double cov_of(double a, double b)
{
    return sqrt(3 * CALLS / (CALLS - 1.0)) * (b - a) / (3 * a + b);
}

/* CALLS such calls of a function from there, and clock samples in it. */
static void called(int rank, uint32_t from, uint64_t function, const uint64_t us[2], uint64_t ticks)
{
    const double others[FV_METRIC_COUNT] = { [FV_METRIC_EVENT_0] = counted };
    uint64_t ns[CALLS];
    uint32_t path = fvr_sample_path(&file[rank], 0, from, 1, function);

    for (int i = 0; i < CALLS; i++)
        ns[i] = us[i % 4 == 3] * US;
    fvr_instances(&file[rank], 0, path, ns, CALLS, 0, others);
    fvr_cost(&file[rank], 0, fvr_sample_path(&file[rank], 0, from, 1, function + 0x10), ticks, 0);
}

static uint32_t place(int rank, unsigned number)
{
    return fvr_sample_path(&file[rank], 0, 0, 1, PLACE + 0x10 * number);
}

static const struct fv_sampled_function *function_of(uint64_t offset)
{
    for (size_t i = 0; i < fv_model_samples(&model)->function_count; i++)
        if (model.tree.nodes[fv_model_samples(&model)->functions[i].node].offset == offset)
            return &fv_model_samples(&model)->functions[i];
    fail_msg("no function at %#lx", (unsigned long)offset);
    return NULL;
}

/* Half of 64 calls compute 50 us longer, half of each half are off the processor for 100 us. Two contexts of different
 * length differ by nothing else. */
static void off_the_processor(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct fv_instances r = { .path = fvr_sample_path(&file[0], 0, place(0, k), 1, F),
                                  .entries = FV_RESERVOIR,
                                  .returns = FV_RESERVOIR };

        for (uint32_t i = 0; i < FV_RESERVOIR; i++) {
            uint64_t cpu_ns = (1000 + 9000 * k + 50 * (i & 1)) * US;

            r.reservoir[i] =
                (struct fv_instance){ file[0].header.begin_ticks + i, cpu_ns + (i >> 1 & 1) * 100 * US, cpu_ns };
        }
        for (unsigned m = FV_METRIC_TIME; m <= FV_METRIC_CPU; m++)
            r.all[m] = (struct fv_moments){ 1000 * US, 1 };
        fvr_add(&file[0], FV_CHUNK_INSTANCES, 0, &r, sizeof(r));
    }
    build(1);
    const struct fv_sampled_function *f = function_of(F);
    assert_int_equal(f->instances, 2 * FV_RESERVOIR);
    assert_near(f->off.share, 0.8, 1e-9);
    assert_true(f->off.low > 0.6 && f->off.low < 0.8 && f->off.high > 0.8 && f->off.high < 0.95);
    assert_near(fv_model_samples(&model)->items[f->first_context].off.share, 0.8, 1e-9);
}

/* Six places have 6 % each: none would be looked at by itself. */
static void six_places(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        called(0, place(0, i), F, (const uint64_t[]){ 100 << i, 300 << i }, 6);
    called(0, place(0, 6), G, (const uint64_t[]){ 200, 200 }, 64);
    build(1);
    const struct fv_sampled_function *f = function_of(F);
    assert_int_equal(fv_model_samples(&model)->function_count, 2);
    assert_ptr_equal(f, &fv_model_samples(&model)->functions[0]);
    assert_int_equal(f->contexts, 6);
    assert_int_equal(f->returns, 6 * CALLS);
    assert_int_equal(f->instances, 6 * CALLS);
    assert_int_equal(f->parts, 1);
    assert_near(f->share, 0.36, 1e-12);
    assert_near(f->within, cov_of(100, 300), 1e-9); /* of each, whatever its mean */
    assert_int_equal(f->varies, FV_VARIES_WITHIN);
    for (size_t i = 0; i < 6; i++) {
        const struct fv_sampled_function *c = &fv_model_samples(&model)->items[f->first_context + i];

        assert_int_equal(c->function, 0);
        assert_near(c->share, 0.06, 1e-12);
        assert_int_equal(c->varies, FV_VARIES_WITHIN);
    }
    assert_int_equal(function_of(G)->varies, FV_VARIES_NOT);
    assert_true(isnan(function_of(G)->by_caller));
}

/* 100 us here, 900 us there, and always: nine of ten calls are the short ones. */
static void by_caller(void **state)
{
    (void)state;
    char advice[400];

    called(0, place(0, 0), F, (const uint64_t[]){ 100, 100 }, 50);
    called(0, place(0, 1), F, (const uint64_t[]){ 900, 900 }, 50);
    build(1);
    const struct fv_sampled_function *f = function_of(F);
    assert_near(f->within, 0, 1e-12);
    assert_near(f->by_caller, 240 / 180.0, 1e-9);
    assert_int_equal(f->varies, FV_VARIES_NOT);
    assert_that(fv_sampled_cov(&f->all, FV_SAMPLED_COMPUTING), >, 0.7); /* in one heap */
    fv_sampled_advice(fv_model_samples(&model), f, advice, sizeof(advice));
    assert_non_null(strstr(advice, "differs by caller (cov 1.33), not from call to call"));
}

/* A place whose calls vary makes the function vary, though the others have most of its time. */
static void one_place_of_several(void **state)
{
    (void)state;
    called(0, place(0, 0), F, (const uint64_t[]){ 200, 200 }, 75);
    called(0, place(0, 1), F, (const uint64_t[]){ 150, 250 }, 15);
    called(0, place(0, 2), G, (const uint64_t[]){ 200, 200 }, 10);
    build(1);
    const struct fv_sampled_function *f = function_of(F);
    assert_int_equal(f->varies, FV_VARIES_WITHIN);
    assert_near(f->within, cov_of(150, 250), 1e-9);
}

/* Most calls are shorter than traps can tell, one of four is long: at places with enough calls to see it. Where a place
 * has short calls alone, its times are not known, and what is known of the others stands for the function if it is most
 * of it. */
static void short_and_long(void **state)
{
    (void)state;
    const struct fv_sampler_record traps = { .rate = 100, .trap_ticks = 20000, .trap_spread_ticks = 1000 };
    const uint64_t few[5] = { 3 * US, 3 * US, 3 * US, 3 * US, 3 * US };
    uint32_t of_few = fvr_sample_path(&file[0], 0, place(0, 1), 1, F);

    fvr_add(&file[0], FV_CHUNK_SAMPLER, 0, &traps, sizeof(traps));
    called(0, place(0, 0), F, (const uint64_t[]){ 3, 100 }, 12);
    fvr_instances(&file[0], 0, of_few, few, 5, 0, NULL);
    fvr_cost(&file[0], 0, of_few, 24, 0);
    called(0, place(0, 2), G, (const uint64_t[]){ 3, 3 }, 20);
    called(0, place(0, 3), G, (const uint64_t[]){ 100, 100 }, 15);
    called(0, place(0, 4), G + 0x100, (const uint64_t[]){ 3, 3 }, 14);
    called(0, place(0, 5), G + 0x100, (const uint64_t[]){ 100, 100 }, 15);
    build(1);
    assert_near(fv_model_samples(&model)->resolution_s, 10e-6, 1e-12);
    assert_near(fv_model_samples(&model)->long_s, 60e-6, 1e-12);
    const struct fv_sampled_function *f = function_of(F);
    assert_int_equal(f->varies, FV_VARIES_WITHIN);
    assert_near(f->within, cov_of(3, 100), 1e-9);
    assert_true(fv_sampled_is_brief(function_of(G), FV_METRIC_CPU));
    assert_false(fv_sampled_is_brief(function_of(G + 0x100), FV_METRIC_CPU));
    assert_int_equal(function_of(G + 0x100)->varies, FV_VARIES_NOT);
}

/* f() calls itself: its time is there once. */
static void recursion(void **state)
{
    (void)state;
    uint32_t outer = place(0, 0);

    called(0, outer, F, (const uint64_t[]){ 400, 400 }, 30);
    uint32_t again = fvr_sample_path(&file[0], 0, outer, 1, F + 0x20);
    called(0, again, F, (const uint64_t[]){ 100, 100 }, 20);
    called(0, place(0, 1), G, (const uint64_t[]){ 400, 400 }, 50);
    build(1);
    assert_int_equal(function_of(F)->contexts, 2);
    assert_near(function_of(F)->share, 0.5, 1e-12);
    assert_int_equal(function_of(F)->varies, FV_VARIES_NOT);
}

/* Rank 1 takes twice as long, at each of two places that differ by more than that. */
static void between_ranks(void **state)
{
    (void)state;
    for (int rank = 0; rank < 2; rank++)
        for (unsigned i = 0; i < 2; i++) {
            uint64_t us = (i ? 1000u : 100u) << rank;

            called(rank, place(rank, i), F, (const uint64_t[]){ us, us }, 25u << rank);
        }
    build(2);
    const struct fv_sampled_function *f = function_of(F);
    assert_int_equal(f->ranks, 2);
    assert_int_equal(f->parts, 2);
    assert_int_equal(f->varies, FV_VARIES_BETWEEN);
    assert_near(f->between, sqrt(2) / 3, 1e-9); /* of 2/3 and 4/3 */
}

/* Each rank calls it from a place of its own. */
static void ranks_of_different_places(void **state)
{
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        uint64_t us = 100u << rank;

        called(rank, place(rank, (unsigned)rank), F, (const uint64_t[]){ us, us }, 50);
    }
    build(2);
    assert_near(function_of(F)->between, sqrt(2) / 3, 1e-9);
    assert_int_equal(function_of(F)->varies, FV_VARIES_BETWEEN);
}

/* The event that was chosen is judged, too: its counts differ where the CPU time does not. */
static void event(void **state)
{
    (void)state;
    const struct fv_metric_event event = { .name = "CACHE-MISSES" };
    char words[200];

    fvr_add(&file[0], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &event, sizeof(event));
    called(0, place(0, 0), G, (const uint64_t[]){ 100, 100 }, 60);
    counted = 1000;
    for (unsigned i = 0; i < 5; i++)
        called(0, place(0, i), F, (const uint64_t[]){ 100, 100 }, 8);
    build(1);
    const struct fv_sampled_function *f = function_of(F);
    assert_ptr_equal(f, &fv_model_samples(&model)->functions[0]);
    assert_int_equal(f->varies, FV_VARIES_NOT);
    assert_true(f->event_varies);
    assert_int_equal(f->event[0].varies, FV_VARIES_WITHIN);
    double stddev = sqrt(CALLS * (CALLS + 1) / 12.0), mean = (CALLS + 1) / 2.0; /* of 1, 2, ... */
    assert_near(f->event[0].within, sqrt(stddev * stddev / mean / mean - 1 / (1000 * mean)), 1e-9);
    fv_sampled_event_advice(fv_model_samples(&model), f, words, sizeof(words));
    assert_string_equal(words, "CACHE-MISSES varies from call to call (cov 0.57)");
    assert_false(function_of(G)->event_varies);
}

/* Five pages in a hundred calls, and none: rare events vary by chance. */
static void rare_event(void **state)
{
    (void)state;
    const struct fv_metric_event event = { .name = "PAGE-FAULTS" };

    fvr_add(&file[0], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &event, sizeof(event));
    counted = 0.02;
    called(0, place(0, 0), F, (const uint64_t[]){ 100, 100 }, 60);
    build(1);
    assert_false(function_of(F)->event_varies);
}

/* Calls that take longer and longer, beside such as take turns of two lengths: 1 to 3 over a mean of 2 is a change by
 * the mean. */
static void trend(void **state)
{
    (void)state;
    uint64_t longer[CALLS];
    char words[120];

    for (unsigned i = 0; i < CALLS; i++)
        longer[i] = 100 * US + 200 * US * i / (CALLS - 1);
    uint32_t from = place(0, 0), path = fvr_sample_path(&file[0], 0, from, 1, F);
    fvr_instances(&file[0], 0, path, longer, CALLS, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, from, 1, F + 0x10), 50, 0);
    called(0, place(0, 1), G, (const uint64_t[]){ 100, 300 }, 50);
    build(1);
    struct fv_trend t = fv_sampled_trend(fv_model_samples(&model), function_of(F), FV_METRIC_CPU);
    assert_near(t.change, 1, 1e-3);
    assert_true(t.significant && t.error < 0.01);
    fv_sampled_trend_words(fv_model_samples(&model), function_of(F), words, sizeof(words));
    assert_non_null(strstr(words, "grows by 100.0 % of its mean over the run"));
    t = fv_sampled_trend(fv_model_samples(&model), function_of(G), FV_METRIC_CPU);
    assert_true(!t.significant && t.error > 0.2);
    assert_true(isnan(fv_sampled_trend(fv_model_samples(&model), function_of(F), FV_METRIC_FAULTS).change));
}

/* Equal calls on a machine that is slower for a part of the run, early or late: no trend. */
static void slower_for_a_while(void **state)
{
    (void)state;
    uint64_t calls[CALLS];

    for (unsigned i = 0; i < CALLS; i++)
        calls[i] = (i >= CALLS * 6 / 10 && i < CALLS * 9 / 10 ? 140 : 100) * US + i * 7919 % 1000 * US / 100;
    uint32_t from = place(0, 0), path = fvr_sample_path(&file[0], 0, from, 1, F);
    fvr_instances(&file[0], 0, path, calls, CALLS, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, from, 1, F + 0x10), 50, 0);
    build(1);
    struct fv_trend t = fv_sampled_trend(fv_model_samples(&model), function_of(F), FV_METRIC_CPU);
    assert_true(t.change > 0.1 && !t.significant);
}

/* From 0 to 1. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Functions without a trend, whose calls differ by chance. `memory`: correlation of each call with the one before. */
static unsigned false_trends(double memory, unsigned times)
{
    uint64_t chance = 7, calls[CALLS];
    unsigned found = 0;
    void *state = NULL;

    for (unsigned i = 0; i < times; i++) {
        double x = 0;

        tear_down(&state);
        set_up(&state);
        for (unsigned k = 0; k < CALLS; k++) {
            double normal = -6;

            for (unsigned j = 0; j < 12; j++)
                normal += uniform(&chance);
            x = k ? memory * x + sqrt(1 - memory * memory) * normal : normal;
            calls[k] = (uint64_t)(100e3 * (1 + 0.2 * fmax(fmin(x, 4), -4)));
        }
        uint32_t from = place(0, 0), path = fvr_sample_path(&file[0], 0, from, 1, F);
        fvr_instances(&file[0], 0, path, calls, CALLS, 0, NULL);
        fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, from, 1, F + 0x10), 50, 0);
        build(1);
        found += fv_sampled_trend(fv_model_samples(&model), function_of(F), FV_METRIC_CPU).significant;
    }
    return found;
}

/* One in a hundred at most where calls do not depend on each other; one in fifteen where each is nearly as the one
 * before. */
static void chance_is_no_trend(void **state)
{
    (void)state;
    assert_that(false_trends(0, 500), <=, 5);
    assert_that(false_trends(0.9, 500), <=, 33);
}

/* 30 calls of 100 us and 10 of 300 us: 65.5 to 131 us, and 262 to 524 us. */
static void histogram(void **state)
{
    (void)state;
    double *values = NULL;
    size_t room = 0, sum = 0;

    called(0, place(0, 0), F, (const uint64_t[]){ 100, 300 }, 50);
    build(1);
    assert_int_equal(fv_sampled_values(fv_model_samples(&model), function_of(F), FV_METRIC_CPU, &values, &room), CALLS);
    assert_int_equal(fv_sampled_bucket(values, CALLS, FV_METRIC_CPU, 17), 30);
    assert_near(fv_sampled_bucket_begin(FV_METRIC_CPU, 17), 65.536e-6, 1e-12);
    assert_int_equal(fv_sampled_bucket(values, CALLS, FV_METRIC_CPU, 19), 10);
    for (unsigned i = 0; i < FV_SAMPLED_BUCKETS; i++)
        sum += fv_sampled_bucket(values, CALLS, FV_METRIC_CPU, i);
    assert_int_equal(sum, CALLS);
    free(values);
}

/* The last calls stand in a ring; what was counted of each, under the rank's own number of the event. */
static void recent(void **state)
{
    (void)state;
    const struct fv_metric_event refused = { .name = "CYCLES", .refusal = 2 }, event = { .name = "PAGE-FAULTS" };
    struct fv_recent_instances ring = { 0 };
    struct fv_instance_events counts;

    memset(&counts, 0xff, sizeof(counts)); /* not known */
    for (unsigned i = 0; i < CALLS; i++) {
        unsigned at = (i + 7) % CALLS; /* the oldest is not the first */

        ring.at[at] = (struct fv_instance){ file[0].header.begin_ticks + i, 100 * US, 100 * US };
        counts.recent[at][1] = i;
        counts.reservoir[i][1] = i < 20 ? i : FV_COUNT_UNKNOWN;
    }
    fvr_add(&file[0], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &refused, sizeof(refused));
    fvr_add(&file[0], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &event, sizeof(event));
    called(0, place(0, 0), F, (const uint64_t[]){ 100, 100 }, 50);
    fvr_add(&file[0], FV_CHUNK_RECENT_INSTANCES, 0, &ring, sizeof(ring));
    fvr_add(&file[0], FV_CHUNK_INSTANCE_EVENTS, 0, &counts, sizeof(counts));
    build(1);
    const struct fv_sampled_function *c = &fv_model_samples(&model)->items[function_of(F)->first_context];
    assert_int_equal(c->recents, CALLS);
    for (unsigned i = 0; i < CALLS; i++) {
        const struct fv_sampled_instance *r = &fv_model_samples(&model)->recent[c->first_recent + i];

        assert_near(r->event[1], i, 0);
        assert_true(isnan(r->event[0]));
    }
    double *values = NULL;
    size_t room = 0;
    assert_int_equal(fv_sampled_values(fv_model_samples(&model), c, FV_METRIC_EVENT_0 + 1, &values, &room), 20);
    assert_near(values[19], 19, 0);
    free(values);
}

/* Who calls it varies for that, by less: the function itself is the finding, with the time beyond its median. A second
 * thread is sampled and does nothing. */
static void finding(void **state)
{
    (void)state;
    struct fv_findings findings = { 0 };
    const struct fv_cost_profile costs = { 0 };
    const struct fv_profile v = { &model, &symbols, &costs, &findings, 0 };
    uint32_t main_ = fvr_sample_path(&file[0], 0, 0, 1, 0x4001);

    fvr_sampler(&file[0], 1, 100, 100);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t g = fvr_sample_path(&file[0], 0, main_, 1, G + 0x20 + i);

        called(0, g, F, (const uint64_t[]){ 100, 300 }, 20);
    }
    called(0, main_, G, (const uint64_t[]){ 500, 900 }, 60);
    build(1);
    const struct fv_sampled_function *f = function_of(F);
    assert_int_equal(function_of(G)->varies, FV_VARIES_WITHIN);
    assert_int_equal(f->inherited, 1);
    fv_findings_make(&findings, &v);
    const struct fv_finding *found = fv_findings_named(&findings, "varying_function");
    assert_non_null(found);
    assert_non_null(strstr(found->text, "app+0x2000"));
    assert_non_null(strstr(found->text, "(on 2 call paths)"));
    assert_near(found->lost_s, 0.4 * (1 - 100 / 150.0), 1e-9);
    fv_findings_release(&findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(off_the_processor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(six_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(by_caller, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_place_of_several, set_up, tear_down),
        cmocka_unit_test_setup_teardown(short_and_long, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recursion, set_up, tear_down),
        cmocka_unit_test_setup_teardown(between_ranks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ranks_of_different_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rare_event, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trend, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slower_for_a_while, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chance_is_no_trend, set_up, tear_down),
        cmocka_unit_test_setup_teardown(histogram, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(finding, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
