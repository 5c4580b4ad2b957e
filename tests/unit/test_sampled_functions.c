/* Sampled functions of synthetic runs with known answers: which vary from call to call, and why. */
#include "json_rows.h"
#include "sampled_run.h"

#include <jansson.h>

static const struct fv_sampled_function *sampled(uint64_t offset, uint32_t parent_offset)
{
    const struct fv_sampled_function *found = NULL;

    for (size_t i = 0; i < fv_model_samples(&model)->count; i++) {
        const struct fv_node *n = &model.tree.nodes[fv_model_samples(&model)->items[i].node];

        if (n->offset == offset && model.tree.nodes[n->parent].offset == parent_offset) {
            assert_null(found);
            found = &fv_model_samples(&model)->items[i];
        }
    }
    assert_non_null(found);
    return found;
}

/* The same function from two places of two ranks: two contexts, each of both ranks. 1, 2, 3 and 5, 6, 7, 8, 9
 * ns: mean 5.125, squares of deviations 2 + 10 + 25 * 3 * 5 / 8. */
static void merged(void **state)
{
    (void)state;
    const uint64_t few[] = { 1, 2, 3 }, more[] = { 5, 6, 7, 8, 9 };

    for (int i = 0; i < 2; i++) {
        fvr_sampler(&file[i], 0, 100, 10);
        uint32_t a = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_F);
        uint32_t b = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_G);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, a, app(i), 0x201), i ? more : few, i ? 5 : 3, i ? 2 : 0,
                      NULL);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, b, app(i), 0x201), few, 3, 0, NULL);
    }
    build(2);
    assert_int_equal(fv_model_samples(&model)->count, 2);
    const struct fv_sampled_function *s = sampled(0x201, CALLS_F);
    assert_int_equal(s->all.count, 8);
    assert_int_equal(s->ranks, 2);
    assert_int_equal(s->entries, 8);
    assert_near(s->all.mean[FV_METRIC_CPU], 5.125e-9, 1e-18);
    assert_near(s->all.m2[FV_METRIC_CPU], 58.875e-18, 1e-27);
    assert_int_equal(s->window.count, 2);
    assert_near(s->window.mean[FV_METRIC_TIME], 5.5e-9, 1e-18);
    assert_int_equal(s->parts, 2);
    assert_int_equal(s->instances, 8);
    assert_near(fv_model_samples(&model)->instances[s->first_instance + 7].cpu_s, 9e-9, 1e-18);
    assert_int_equal(sampled(0x201, CALLS_G)->all.count, 6);
    assert_false(s->judged); /* no thread has enough */
}

static void not_merged(void **state)
{
    (void)state;
    const uint64_t ns[] = { 1, 2, 3 };
    uint32_t other = fvr_module(&file[0], "/usr/bin/app", 0x500000, "another build, which");

    fvr_sampler(&file[0], 0, 100, 10);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 3, 0, NULL);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, other, 0x201), ns, 3, 0, NULL);
    build(1);
    assert_int_equal(fv_model_samples(&model)->count, 2);
}

/* The function's own label is its entry, where it has no name. */
static void entry_of_function(void **state)
{
    (void)state;
    const uint64_t ns[] = { 1, 2 };

    fvr_sampler(&file[0], 0, 100, 10);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0xbb41), ns, 2, 0, NULL);
    build(1);
    char *text = shown(wide_view);
    assert_non_null(strstr(text, "app+0xbb40"));
    assert_null(strstr(text, "app+0xbb41"));
    assert_non_null(strstr(text, "none had enough instances to judge"));
    free(text);
}

/* Twelve threads with three calls each: none can be judged alone. Within each 1, 2, 3 us: variance 1, mean 2.
 */
static void pooled(void **state)
{
    (void)state;
    const uint64_t ns[] = { 1000, 2000, 3000 };

    for (uint32_t i = 0; i < 12; i++) {
        if (i)
            fvr_thread(&file[0], i, false, 0, 0, NULL);
        fvr_sampler(&file[0], i, 100, 10);
        fvr_instances(&file[0], i, fvr_sample_path(&file[0], i, 0, 1, 0x201), ns, 3, 0, NULL);
        fvr_cost(&file[0], i, fvr_sample_path(&file[0], i, 0, 1, IN_F), 10, 0);
    }
    build(1);
    const struct fv_sampled_function *s = &fv_model_samples(&model)->items[0];
    assert_true(s->judged);
    assert_true(s->pooled);
    assert_near(s->within, 0.5, 1e-9);
    assert_int_equal(s->varies, FV_VARIES_WITHIN);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "varies from call to call (cov 0.50, all threads together)"));
    assert_non_null(strstr(text, "0.50  *"));
    free(text);
}

/* What varies but has 2 % of the CPU time is not called steady, nor is what nobody can compare between threads. */
static void verdicts(void **state)
{
    (void)state;
    uint64_t ns[10];

    for (int k = 0; k < 10; k++)
        ns[k] = k % 2 ? 100000u : 300000u;
    for (int i = 0; i < 2; i++) {
        uint32_t call = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_F);

        fvr_sampler(&file[i], 0, 100, 50);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, call, app(i), 0x201), ns, 10, 0, NULL);
        fvr_cost(&file[i], 0, fvr_sample_path(&file[i], 0, call, app(i), IN_F), 2, 0);
    }
    build(2);
    assert_int_equal(sampled(0x201, CALLS_F)->varies, FV_VARIES_NOT);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "small share"));
    assert_null(strstr(text, "steady"));
    free(text);
}

/* Ten calls of 1 or 3 us on each rank; rank 1 takes twice as long. 40 of 100 ticks, the others are in MPI. */
static void guidance(void **state)
{
    (void)state;
    const double others[FV_METRIC_COUNT] = { [FV_METRIC_FAULTS] = 20 };
    char advice[400];

    for (int i = 0; i < 2; i++) {
        uint64_t ns[10], steady[10];
        for (int k = 0; k < 10; k++) {
            ns[k] = (k % 2 ? 1000u : 3000u) << i;
            steady[k] = 5000;
        }
        fvr_sampler(&file[i], 0, 100, 50);
        uint32_t call = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_F);
        uint32_t mpi = fvr_sample_path(&file[i], 0, 0, app(i), CALLS_G);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, call, app(i), 0x201), ns, 10, 0, others);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, mpi, app(i), 0x301), ns, 10, 0, NULL);
        fvr_instances(&file[i], 0, fvr_sample_path(&file[i], 0, 0, app(i), 0x101), steady, 10, 0, NULL);
        fvr_cost(&file[i], 0, fvr_sample_path(&file[i], 0, call, app(i), IN_F), 20, 0);
        fvr_cost(&file[i], 0, fvr_sample_path(&file[i], 0, mpi, app(i), IN_G), 30, 30);
    }
    build(2);
    const struct fv_sampled_function *s = &fv_model_samples(&model)->items[0], *main_ = sampled(0x101, 0),
                                     *in_mpi = sampled(0x301, CALLS_G);
    assert_ptr_equal(s, sampled(0x201, CALLS_F)); /* though the other has more ticks */
    assert_near(s->share, 1, 1e-12);              /* of what is outside of MPI */
    assert_near(in_mpi->share, 0, 1e-12);
    assert_near(fv_model_samples(&model)->computing_s, 0.4, 1e-12);
    assert_int_equal(s->mpi_ticks, 0);
    assert_near(s->within, sqrt(10.0 / 9) / 2, 1e-9);
    assert_int_equal(s->varies, FV_VARIES_BOTH);
    assert_int_equal(s->with, FV_METRIC_FAULTS);
    fv_sampled_advice(fv_model_samples(&model), s, advice, sizeof(advice));
    assert_non_null(strstr(advice, "varies from call to call (cov 0.53) and from thread to thread (cov 0."));
    assert_non_null(strstr(advice, "; its page faults vary, too (cov 0."));
    assert_near(main_->share, 1, 1e-12);
    assert_int_equal(main_->varies, FV_VARIES_NOT);
    assert_true(main_->judged);
    assert_true(in_mpi->inside_mpi);
    assert_ptr_equal(in_mpi, &fv_model_samples(&model)->items[2]);
    char *text = shown(text_view);
    assert_non_null(strstr(text, "100.0 % of the CPU time outside of MPI, varies from call to call"));
    assert_null(strstr(text, "\n  g;h, "));
    free(text);
}

/* 100 calls of 300 us: five of them longer, by much or by little, or one of two. */
static enum fv_varies when_longer(uint64_t longer_ns, unsigned every)
{
    uint64_t ns[100];

    for (unsigned k = 0; k < 100; k++)
        ns[k] = k % every ? 300000 + k * 100 : longer_ns;
    fvr_sampler(&file[0], 0, 100, 100);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 100, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 100, 0);
    build(1);
    assert_that(sampled(0x201, 0)->within, >, FV_SAMPLED_WITHIN);
    return sampled(0x201, 0)->varies;
}

/* What a hypervisor may have taken is no variation of the function; what takes much of its time is, and what every
 * other call has. */
static void single_calls(void **state)
{
    (void)state;
    assert_int_equal(when_longer(700000, 20), FV_VARIES_NOT);
    char *text = shown(wide_view);
    assert_non_null(strstr(text, "single calls"));
    free(text);
}
/* What grows over the run is told once: nothing beside it says that the function is steady, or that none varies. */
static void growing_calls(void **state)
{
    uint64_t ns[100];
    (void)state;

    for (unsigned k = 0; k < 100; k++)
        ns[k] = 300000 + k * 2000;
    fvr_sampler(&file[0], 0, 100, 100);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 100, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 100, 0);
    build(1);
    char *text = shown(wide_view);
    assert_non_null(strstr(text, "grows by 34.7 %"));
    assert_non_null(strstr(text, " trend "));
    assert_null(strstr(text, "steady"));
    assert_null(strstr(text, "none varies"));
    free(text);
}

static void few_that_take_much(void **state)
{
    (void)state;
    assert_int_equal(when_longer(3000000, 20), FV_VARIES_WITHIN);
}
static void half_of_them(void **state)
{
    (void)state;
    assert_int_equal(when_longer(600000, 2), FV_VARIES_WITHIN);
}
/* 12 % of the time of all. */
static void one_alone(void **state)
{
    (void)state;
    assert_int_equal(when_longer(4000000, 100), FV_VARIES_NOT);
}

/* Calls of 20 ns, where traps vary by 100 ns: what varies is the traps. */
static void too_short(void **state)
{
    (void)state;
    const struct fv_sampler_record r = { .rate = 100, .ticks = 100, .trap_ticks = 2000, .trap_spread_ticks = 100 };
    uint64_t ns[10], longer[10];

    for (int k = 0; k < 10; k++) {
        ns[k] = k ? 20 : 200000; /* a trap that met an interrupt */
        longer[k] = k % 2 ? 2000 : 6000;
    }
    fvr_add(&file[0], FV_CHUNK_SAMPLER, 0, &r, sizeof(r));
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 10, 0, NULL);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x301), longer, 10, 0, NULL);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x401), ns + 1, 3, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 60, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_G), 40, 0);
    build(1);
    assert_near(fv_model_samples(&model)->resolution_s, 1e-6, 1e-15);
    assert_true(fv_sampled_is_brief(sampled(0x201, 0), FV_METRIC_CPU));
    assert_int_equal(sampled(0x201, 0)->varies, FV_VARIES_NOT);
    assert_int_equal(sampled(0x301, 0)->varies, FV_VARIES_WITHIN);
    char *text = shown(json_view);
    json_t *j = json_plainly(json_loads(text, 0, NULL)), *functions = json_object_get(j, "functions");
    json_t *f = json_array_get(functions, 1);
    assert_true(json_is_null(json_object_get(f, "within")));
    json_t *cpu = json_object_get(json_object_get(f, "metrics"), "cpu_time_s");
    assert_true(json_is_null(json_object_get(cpu, "mean")));
    assert_true(json_is_null(json_object_get(cpu, "p50")));
    assert_that(json_real_value(json_object_get(cpu, "p99")), >, 100e-6);
    assert_int_equal(json_integer_value(json_object_get(cpu, "sample_count")), 10);
    json_decref(j);
    free(text);
    text = shown(wide_view);
    assert_non_null(strstr(text, "too short"));
    assert_non_null(strstr(text, "< 20.0 us"));
    assert_non_null(strstr(text, "too few")); /* of three nobody knows how long the others are */
    free(text);
}

/* A quarter of the calls are long: interrupts do not explain that, and it varies, short as the others are. */
static void mostly_short(void **state)
{
    (void)state;
    const struct fv_sampler_record r = { .rate = 100, .ticks = 100, .trap_ticks = 2000, .trap_spread_ticks = 100 };
    uint64_t ns[20];

    fvr_add(&file[0], FV_CHUNK_SAMPLER, 0, &r, sizeof(r));
    for (unsigned longer = 3; longer <= 5; longer += 2) {
        for (unsigned k = 0; k < 20; k++)
            ns[k] = k < longer ? 7000 : 500; /* three traps, and more */
        fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, longer == 3 ? 0x201 : 0x301), ns, 20, 0, NULL);
    }
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 50, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_G), 50, 0);
    build(1);
    assert_true(fv_sampled_is_brief(sampled(0x201, 0), FV_METRIC_CPU)); /* 3 of 20 may be interrupts, of which 5 % meet
                                                                         * one */
    assert_int_equal(sampled(0x301, 0)->varies, FV_VARIES_WITHIN);
    char *text = shown(wide_view);
    assert_non_null(strstr(text, "most calls take less than 1.00 us"));
    free(text);
}

/* MPI's spinning, and OpenMP's: of what the program itself computes, f has 3 of 4. Its CPU time varies with MPI's,
 * which is not its own. */
static void spinning(void **state)
{
    (void)state;
    uint32_t omp = fvr_module(&file[0], "/lib/libgomp.so.1", 0xa00000, NULL);
    uint64_t ns[10];
    struct fv_instance_computing own = { { 100000, 0 }, { 100000, 0 } };

    for (int k = 0; k < 10; k++)
        ns[k] = k % 2 ? 200000 : 900000;
    fvr_sampler(&file[0], 0, 100, 400);
    uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x201), ns, 10, 0, NULL);
    fvr_add(&file[0], FV_CHUNK_INSTANCE_COMPUTING, 0, &own, sizeof(own));
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, omp, 0x401), ns, 10, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, IN_F), 60, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, IN_F2), 200, 200);
    fvr_cost(&file[0], 0, calls, 20, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, omp, 0x410), 120, 0);
    build(1);
    const struct fv_sampled_function *f = sampled(0x201, CALLS_F), *spins = sampled(0x401, CALLS_F);
    assert_near(f->share, 0.75, 1e-12);
    assert_int_equal(f->varies, FV_VARIES_NOT);
    assert_true(spins->waits);
    assert_int_equal(spins->varies, FV_VARIES_NOT);
    assert_int_equal(spins->sync_ticks, 120);
    assert_ptr_equal(spins, &fv_model_samples(&model)->items[1]);
    assert_near(fv_model_samples(&model)->computing_s, 0.8, 1e-12);
}

/* The ten calls that were measured, of 100 or so, take 20 us; samples met 4 of 50 ms. */
static void rare_long_calls(void **state)
{
    (void)state;
    const struct fv_long_calls damaged = { .count = 4, .ticks = 3, .ns = 1, .all_ns = 200000000 };
    const struct fv_long_calls met = { 4, 20, 180000000, 200000000, 25, 500000000, 2000000000 };
    uint64_t ns[10];

    for (int k = 0; k < 10; k++)
        ns[k] = 20000;
    for (int is_damaged = 0; is_damaged < 2; is_damaged++) {
        fvr_sampler(&file[0], 0, 100, 200);
        uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F);
        fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x201), ns, 10, 0, NULL);
        fvr_add(&file[0], FV_CHUNK_LONG_CALLS, 0, is_damaged ? &damaged : &met, sizeof(met));
        fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, IN_F), 20, 0);
        build(1);
        const struct fv_rare_calls *rare = &fv_model_samples(&model)->functions[0].rare;
        assert_int_equal(rare->count, is_damaged ? 0 : 4);
        if (is_damaged)
            break;
        assert_true(rare->exact && !rare->is_callees && rare->rank == 0);
        assert_near(rare->length_s, 0.05, 1e-9);
        assert_near(rare->calls, 100, 1e-9);
        assert_near(rare->typical_s, 20e-6, 1e-9);
        assert_near(fv_model_samples(&model)->functions[0].calls, 100, 1e-9);
        tear_down(state);
        set_up(state);
    }
}

/* Samples 2.5 ms apart met 48 calls with 1.15 ms left on average: at least 0.88 ms were, eight times what most calls
 * take, so they take 1.42 ms, and samples met few. They are rare where none of those measured took as long, and not
 * where every fourth did. */
static void long_calls_met_by_chance(void **state)
{
    (void)state;
    const struct fv_long_calls met = { 48, 48, 55200000, 120000000, 200, 50000000, 1000000000 };
    uint64_t ns[20];

    for (int fourth_is_long = 0; fourth_is_long < 2; fourth_is_long++) {
        for (int k = 0; k < 20; k++)
            ns[k] = fourth_is_long && k % 4 == 0 ? 1120000 : 110000;
        fvr_sampler(&file[0], 0, 400, 400);
        fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 20, 0, NULL);
        fvr_add(&file[0], FV_CHUNK_LONG_CALLS, 0, &met, sizeof(met));
        fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 400, 0);
        build(1);
        const struct fv_rare_calls *rare = &fv_model_samples(&model)->functions[0].rare;
        if (fourth_is_long) {
            assert_int_equal(rare->count, 0);
            break;
        }
        assert_false(rare->exact);
        assert_near(rare->length_s, 1.42e-3, 1e-9);
        assert_near(rare->time_s, 0.120 * 1.42 / 0.54, 1e-9);
        assert_near(rare->rank_s, rare->time_s, 1e-9);
        assert_int_equal(rare->count, 222);
        assert_near(rare->calls, 4000, 1e-9);
        tear_down(state);
        set_up(state);
    }
}

/* Three calls of 100 us, of a function with 1 s of the CPU time: a host may have taken as much. */
static void rare_and_little(void **state)
{
    (void)state;
    const struct fv_long_calls met = { 3, 3, 300000, 300000, 25, 500000000, 2000000000 };
    uint64_t ns[10];

    for (int k = 0; k < 10; k++)
        ns[k] = 2000;
    fvr_sampler(&file[0], 0, 100, 100);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 10, 0, NULL);
    fvr_add(&file[0], FV_CHUNK_LONG_CALLS, 0, &met, sizeof(met));
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, IN_F), 100, 0);
    build(1);
    assert_int_equal(fv_model_samples(&model)->functions[0].rare.count, 0);
}

static void events(void **state)
{
    (void)state;
    const struct fv_metric_event counted = { .name = "INSTRUCTIONS", .user_only = 1 },
                                 refused = { .name = "CYCLES", .refusal = 2 },
                                 elsewhere = { .name = "INSTRUCTIONS", .refusal = 2 };
    const double others[FV_METRIC_COUNT] = { [FV_METRIC_EVENT_0] = 7, [FV_METRIC_EVENT_0 + 1] = 7 };
    const uint64_t ns[] = { 1, 2, 3 };

    fvr_add(&file[0], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &counted, sizeof(counted));
    fvr_add(&file[0], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &refused, sizeof(refused));
    fvr_sampler(&file[0], 0, 100, 10);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, app(0), 0x201), ns, 3, 0, others);
    fvr_add(&file[1], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &elsewhere, sizeof(elsewhere));
    fvr_add(&file[1], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &refused, sizeof(refused));
    fvr_sampler(&file[1], 0, 100, 10);
    fvr_instances(&file[1], 0, fvr_sample_path(&file[1], 0, 0, app(1), 0x201), ns, 3, 0, NULL);
    build(2);
    assert_string_equal(fv_sampled_metric(fv_model_samples(&model), FV_METRIC_EVENT_0), "INSTRUCTIONS");
    assert_int_equal(fv_model_samples(&model)->items[0].all.count, 6);
    assert_null(fv_sampled_metric(fv_model_samples(&model), FV_METRIC_EVENT_0 + 1));
    assert_null(fv_sampled_metric(fv_model_samples(&model), FV_METRIC_EVENT_0 + 2));
    char *text = shown(json_view);
    json_t *j = json_plainly(json_loads(text, 0, NULL)), *functions = json_object_get(j, "functions");
    json_t *metrics = json_object_get(json_array_get(functions, 0), "metrics");
    assert_int_equal(json_object_size(metrics), 4); /* time, CPU time, that outside of MPI, the event */
    json_t *event = json_object_get(metrics, "INSTRUCTIONS");
    assert_int_equal(json_integer_value(json_object_get(event, "sample_count")), 3);
    assert_near(json_real_value(json_object_get(event, "mean")), 14, 1e-9);
    json_decref(j);
    free(text);
    text = shown(text_view);
    assert_non_null(strstr(text, "event CYCLES is not counted on 2 of 2 ranks: this machine has no"));
    assert_non_null(strstr(text, "INSTRUCTIONS 14 (cov 0."));
    free(text);
}

static void add_event(int rank, const char *name)
{
    struct fv_metric_event event = { .refusal = 0 };

    strcpy(event.name, name);
    fvr_add(&file[rank], FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD, &event, sizeof(event));
}

/* Three calls of a function, that count `a`, 2 a, 3 a and `b`, 2 b, 3 b. */
static void add_counted(int rank, double a, double b)
{
    const double others[FV_METRIC_COUNT] = { [FV_METRIC_EVENT_0] = a, [FV_METRIC_EVENT_0 + 1] = b };
    const uint64_t ns[] = { 1, 2, 3 };

    fvr_sampler(&file[rank], 0, 100, 10);
    fvr_instances(&file[rank], 0, fvr_sample_path(&file[rank], 0, 0, app(rank), 0x201), ns, 3, 2, others);
}

/* Ranks may ask for other events, or in another order. */
static void events_by_name(void **state)
{
    (void)state;
    add_event(0, "CYCLES");
    add_event(0, "INSTRUCTIONS");
    add_counted(0, 10, 20);
    add_event(1, "instructions");
    add_event(1, "CYCLES");
    add_counted(1, 20, 10);
    add_event(2, "CS");
    add_event(2, "FAULTS");
    add_event(2, "BRANCHES");
    add_event(2, "MIGRATIONS");
    add_counted(2, 7, 8);
    build(3);
    const struct fv_samples *s = fv_model_samples(&model);
    const struct fv_sampled_stat *all = &s->items[0].all;
    const char *const names[] = { "CYCLES", "INSTRUCTIONS", "CS", "FAULTS" };
    const double means[] = { 20, 40, 14, 16 };
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(fv_sampled_metric(s, FV_METRIC_EVENT_0 + i), names[i]);
        assert_int_equal(fv_sampled_count(all, FV_METRIC_EVENT_0 + i), i < 2 ? 6 : 3);
        assert_near(all->mean[FV_METRIC_EVENT_0 + i], means[i], 1e-9);
    }
    assert_near(fv_sampled_stddev(all, FV_METRIC_EVENT_0), sqrt(4 * 100 / 5.), 1e-9);
    assert_int_equal(s->events_unshown, 2);
    char *text = shown(wide_view);
    assert_non_null(strstr(text, "more than 4 different events: 2 of single ranks are not shown"));
    free(text);
}

/* Of one of the three instances the events are not known: mean and deviation are of two. */
static void events_lost(void **state)
{
    (void)state;
    struct fv_event_counts counts = { 2, 1 };

    add_event(0, "CYCLES");
    add_counted(0, 10, 0);
    fvr_add(&file[0], FV_CHUNK_EVENT_COUNTS, 0, &counts, sizeof(counts));
    add_event(1, "CYCLES");
    add_counted(1, 10, 0);
    counts = (struct fv_event_counts){ 1000, 1000 }; /* damaged: more than there are */
    fvr_add(&file[1], FV_CHUNK_EVENT_COUNTS, 0, &counts, sizeof(counts));
    build(2);
    const struct fv_sampled_part *part = fv_model_samples(&model)->parts;
    assert_int_equal(part[0].all.count, 3);
    assert_int_equal(fv_sampled_count(&part[0].all, FV_METRIC_EVENT_0), 2);
    assert_int_equal(fv_sampled_count(&part[0].window, FV_METRIC_EVENT_0), 1);
    assert_near(fv_sampled_stddev(&part[0].all, FV_METRIC_EVENT_0), sqrt(200), 1e-9); /* m2 over 2 - 1 */
    assert_int_equal(fv_sampled_count(&part[1].all, FV_METRIC_EVENT_0), 3);
    assert_int_equal(fv_sampled_count(&part[1].window, FV_METRIC_EVENT_0), 2);
}

/* Addresses in objects that the process met after the thread: ranges may hold one another. */
static void late_modules(void **state)
{
    (void)state;
    uint32_t last = 0;

    for (int i = 0; i < 100; i++)
        last = fvr_module(&file[0], i % 2 ? "/lib/odd.so" : "/lib/even.so", (uint64_t)(1000 - i) << 24, NULL);
    fvr_sampler(&file[0], 0, 100, 12);
    const uint64_t first = UINT64_C(1000) << 24, other = UINT64_C(901) << 24;
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, FV_MODULE_UNKNOWN, first + 0x11), 5, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, FV_MODULE_UNKNOWN, other + 0x11), 4, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, FV_MODULE_UNKNOWN, other + 0x100001), 2, 0); /* behind it */
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, 0, FV_MODULE_UNKNOWN, UINT64_C(1) << 60), 1, 0);
    build(1);
    make_profile(FV_COST_ALL_RANKS);
    assert_int_equal(last, 102);
    expect_sum(&procedure("[even.so]")->sum.self, 5, 0, 0);
    expect_sum(&procedure("[odd.so]")->sum.self, 4, 0, 0);
    expect_sum(&procedure("[unknown code]")->sum.self, 3, 0, 0);
}

/* A frame belongs to the nearest function before it that is called from the same place, of the same module.
 */
static void nearest_context(void **state)
{
    (void)state;
    const uint64_t ns[] = { 10000000, 10000000, 10000000 };

    fvr_sampler(&file[0], 0, 100, 100);
    uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F);
    for (uint64_t entry = 0x1001; entry <= 0x5001; entry += 0x1000)
        fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, entry), ns, 3, 0, NULL);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 2, 0x3801), ns, 3, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x3fff), 60, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x4001), 30, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x800), 10, 0); /* before all */
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 2, 0x800), 10, 0); /* likewise, behind the other's */
    build(1);
    const struct fv_samples *s = fv_model_samples(&model);
    uint64_t ticks = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct fv_node *n = &model.tree.nodes[s->items[i].node];
        bool in_app = !strcmp(model.tree.modules[n->module].name, "app");

        assert_int_equal(s->items[i].ticks, !in_app ? 0 : n->offset == 0x3001 ? 60 : n->offset == 0x4001 ? 30 : 0);
        ticks += s->items[i].ticks;
    }
    assert_int_equal(ticks, 90);
}

/* A function's time is that of all paths, with those on which none of its calls was measured. */
static void path_without_instances(void **state)
{
    (void)state;
    const uint64_t ns[] = { 10000000, 10000000, 10000000 };

    fvr_sampler(&file[0], 0, 100, 100);
    uint32_t calls = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F),
             elsewhere = fvr_sample_path(&file[0], 0, 0, 1, CALLS_F + 8);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, 0x201), ns, 3, 0, NULL);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, calls, 1, IN_F), 30, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, elsewhere, 1, IN_F), 50, 0);
    fvr_cost(&file[0], 0, fvr_sample_path(&file[0], 0, elsewhere, 1, IN_G), 20, 0); /* another's */
    build(1);
    assert_int_equal(sampled(0x201, CALLS_F)->ticks, 30);
    assert_int_equal(fv_model_samples(&model)->functions[0].ticks, 80);
    assert_near(fv_model_samples(&model)->functions[0].share, 0.8, 1e-12);
}

/* Lines that are there only where there is something to say. */
static void fast_and_off_processor(void **state)
{
    (void)state;
    const uint64_t ns[] = { 10000, 10000, 10000, 10000, 10000, 10000, 10000, 10000 };
    struct fv_instances slow = { .entries = 8, .returns = 8 };

    fvr_sampler(&file[0], 0, 100, 100);
    fvr_sampler(&file[1], 0, 100, 100);
    fvr_instances(&file[0], 0, fvr_sample_path(&file[0], 0, 0, 1, 0x201), ns, 8, 0, NULL);
    build(1);
    char *text = shown(wide_view);
    assert_null(strstr(text, "~ calls"));
    assert_null(strstr(text, "had a processor"));
    free(text);
    tear_down(NULL);
    set_up(NULL);
    struct fv_sampler_record r = { .rate = 100, .ticks = 100, .entries = 8, .returns = 8, .trap_ticks = 12000 };
    fvr_add(&file[0], FV_CHUNK_SAMPLER, 0, &r, sizeof(r));
    slow.path = fvr_sample_path(&file[0], 0, 0, 1, 0x201);
    slow.flags = FV_INSTANCES_FAST;
    for (int i = 0; i < 8; i++)
        slow.reservoir[i] = (struct fv_instance){ .time = 100000, .cpu_ns = 14000 };
    slow.all[FV_METRIC_TIME].mean = 100000;
    slow.all[FV_METRIC_CPU].mean = 14000;
    fvr_add(&file[0], FV_CHUNK_INSTANCES, 0, &slow, sizeof(slow));
    build(1);
    text = shown(wide_view);
    assert_non_null(strstr(text, "14.0 us  *"));
    assert_non_null(strstr(text, "fast: calls are about as short as the 12.0 us that a trap takes"));
    assert_non_null(strstr(text, "the functions had a processor for 14.0 % of their time outside of MPI"));
    free(text);
}

static const struct CMUnitTest tests[] = {
    TEST(merged),
    TEST(not_merged),
    TEST(verdicts),
    TEST(guidance),
    TEST(single_calls),
    TEST(growing_calls),
    TEST(few_that_take_much),
    TEST(half_of_them),
    TEST(one_alone),
    TEST(too_short),
    TEST(mostly_short),
    TEST(spinning),
    TEST(rare_long_calls),
    TEST(long_calls_met_by_chance),
    TEST(rare_and_little),
    TEST(entry_of_function),
    TEST(pooled),
    TEST(events),
    TEST(events_by_name),
    TEST(events_lost),
    TEST(late_modules),
    TEST(nearest_context),
    TEST(path_without_instances),
    TEST(fast_and_off_processor),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
