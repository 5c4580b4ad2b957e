/* Phases of threads of synthetic runs with known answers: speedup bounds by hand, regions of OpenMP. */
#include "base/solo.h"
#include "threads_run.h"

static void bounds_the_speedup(void **state)
{
    (void)state;
    one_phase(0, 10);
    build(1);
    assert_int_equal(fv_model_phases(&model)->count, 1);
    const struct fv_phase_sums *s = &fv_model_phases(&model)->items[0].sums;
    struct fv_phase_bound b = fv_phase_bound(s);
    assert_near(s->longest_s, 0.100, 1e-9);
    assert_near(s->useful_longest_s, 0.080, 1e-9);
    assert_near(s->elapsed_s, 0.104, 1e-9);
    assert_near(s->creator_s, 0.100, 1e-9);
    assert_near(s->time_s - s->wait_s, 0.210, 1e-9);
    assert_near(s->off_cpu_s, 0, 1e-9);
    assert_near(b.threads, 4, 1e-9);
    assert_near(b.without_waiting, 1.25, 1e-9);
    assert_near(b.bound, 2.1, 1e-9);
    assert_near(b.bound_waitless, 2.625, 1e-9);
    assert_near(b.synchronisation, 0.525, 1e-9);
    assert_near(b.imbalance, 1.375, 1e-9);
}

static void makes_a_stack_with_t1(void **state)
{
    (void)state;
    one_phase(0, 10);
    one_phase(1, 10);
    build(2);
    struct fv_speedup_stack s = fv_phase_stack(&fv_model_phases(&model)->items[0], 0.2);
    assert_near(s.measured, 2, 1e-9);
    assert_near(s.waitless, 2.5, 1e-9);
    assert_near(s.synchronisation, 0.5, 1e-9);
    assert_near(s.rest, 1.5, 1e-9);
    assert_false(s.rejected);
    assert_false(fv_phase_stack(&fv_model_phases(&model)->items[0], 4.2 * 0.0799).rejected);
    assert_true(fv_phase_stack(&fv_model_phases(&model)->items[0], 4.2 * 0.0801).rejected);
}

/* Two times on one rank, once on another; a thread of another function that runs all the time is no part of
 * it. */
static void tells_phases_apart(void **state)
{
    json_t *root, *phase;
    (void)state;

    add_life(0, 9, 0x900, 5, 900, 0, 0);
    one_phase(0, 10);
    one_phase(0, 300);
    one_phase(1, 20);
    build(2);
    assert_int_equal(fv_model_phases(&model)->count, 2);
    const struct fv_phase *p =
        &fv_model_phases(&model)->items[fv_model_phases(&model)->items[0].sums.threads_max > 1 ? 0 : 1];
    assert_int_equal(p->sums.instances, 3);
    assert_int_equal(p->ranks, 2);
    assert_int_equal(fv_model_phases(&model)->parts[p->first].sums.instances, 2);
    assert_near(fv_phase_bound(&p->sums).bound, 2.1, 1e-9);
    assert_near(fv_phase_bound(&p->sums).threads, 4, 1e-9);
    root = json();
    phase = json_array_get(json_object_get(root, "phases"), (size_t)(p - fv_model_phases(&model)->items));
    assert_int_equal(number(phase, "instance_count"), 3);
    assert_near(number(json_object_get(phase, "speedup"), "without_waiting"), 1.25, 1e-9);
    assert_int_equal(json_array_size(json_object_get(phase, "per_rank")), 2);
    json_decref(root);
    assert_non_null(strstr(text(120), "Thread phases"));
    assert_non_null(strstr(output, "no waits"));
    assert_non_null(strstr(output, " 1.25 "));
    assert_non_null(strstr(output, "and 1 of single threads"));
}

/* A thread that lives has waited as its slot tells, and waits until the rank was last seen. */
static void counts_threads_that_live(void **state)
{
    (void)state;
    file[0].header.state = FV_STATE_RUNNING;
    add_life(0, 1, 0x700, 100, 300, 0, 0);
    add_life(0, 2, 0x700, 100, 0, 0, 0);
    add_thread(0, 2,
               (struct fv_sync_thread){
                   .wait_begin = START + 400 * MS, .wait_kind = FV_SYNC_COND, .wait_ticks[FV_SYNC_COND] = 57 * MS });
    build(1);
    assert_true(fv_model_phases(&model)->items[0].open);
    const struct fv_life *l = &fv_model_phases(&model)->lives[1];
    assert_true(l->alive);
    assert_near(l->end_s, model.ranks[0].end_s, 1e-9);
    assert_near(l->wait_s, 0.050 + model.ranks[0].end_s - 0.4, 1e-6);
    assert_true(isnan(fv_model_phases(&model)->items[0].sums.off_cpu_s));
}

/* The same on two processors: C = 210 ms, less 140 off the CPU. 70 ms of CPU time keep two processors busy
 * for 35 ms, when two more threads have none: 70 ms. On one, 105 ms, in which three have none: all 140 ms;
 * but nobody is done before 70 ms. With T1 likewise. */
static void bounds_it_by_processors(void **state)
{
    json_t *root, *phase;
    (void)state;

    file[0].header.cpus = 2;
    file[1].header.cpus = 8;
    for (int r = 0; r < 2; r++) {
        add_life_of(r, 1, 0x700, 10, 110, 50, 111, 20);
        add_life_of(r, 2, 0x700, 10, 90, 0, 112, 20);
        add_life_of(r, 3, 0x700, 10, 70, 20, 113, 20);
        add_life_of(r, 4, 0x700, 10, 50, 0, 114, 10);
    }
    build(2);
    const struct fv_phase_sums *s = &fv_model_phases(&model)->parts[0].sums;
    struct fv_phase_bound b = fv_phase_bound(s);
    assert_int_equal(s->cpus, 2);
    assert_near(s->off_cpu_s, 0.140, 1e-9);
    assert_near(s->queue_s, 0.070, 1e-9);
    assert_near(b.bound, 1.4, 1e-9);
    assert_near(b.bound_waitless, 1.75, 1e-9);
    assert_near(b.few_cpus, 2.625 - 1.75, 1e-9);
    assert_near(b.imbalance, 1.375, 1e-9);
    assert_near(b.bound + b.synchronisation + b.imbalance + b.few_cpus, 4, 1e-9);
    b = fv_phase_bound(&fv_model_phases(&model)->parts[1].sums); /* enough of them */
    assert_near(fv_model_phases(&model)->parts[1].sums.queue_s, 0, 0);
    assert_near(b.bound, 2.1, 1e-9);
    assert_near(b.few_cpus, 0, 1e-9);
    assert_int_equal(fv_model_phases(&model)->items[0].sums.cpus, 2);
    root = json();
    phase = json_array_get(json_object_get(root, "phases"), 0);
    assert_string_equal(json_string_value(json_object_get(phase, "kind")), "threads");
    assert_near(number(phase, "queue_s"), 0.070, 1e-9);
    assert_near(number(json_array_get(json_object_get(phase, "per_rank"), 0), "speedup_lost_to_few_cpus"), 0.875, 1e-9);
    assert_int_equal(number(phase, "cpu_count"), 2);
    assert_true(json_is_null(json_object_get(phase, "join_s")));
    json_decref(root);
    assert_non_null(strstr(text(120), "more threads than processors"));
    assert_non_null(strstr(stacks(), "4 threads had 2 processors, which bound the speedup; 12"));
    assert_non_null(strstr(output, "too few processors"));
}

/* All of it was computing: four threads on one processor are no faster than one. */
static void one_processor_is_no_speedup(void **state)
{
    (void)state;
    file[0].header.cpus = 1;
    for (uint32_t i = 0; i < 4; i++)
        add_life_of(0, i + 1, 0x700, 10, 110, 0, 111, 25);
    build(1);
    struct fv_phase_bound b = fv_phase_bound(&fv_model_phases(&model)->items[0].sums);
    assert_near(b.bound, 1, 1e-9);
    assert_near(b.bound_waitless, 1, 1e-9);
    assert_near(b.without_waiting, 1, 1e-9);
    assert_near(b.few_cpus, 3, 1e-9);
}

/* Others used it, too: less CPU time than one processor has. Who hardly computes did not wait for one. */
static void busy_processors_are_told_from_sleep(void **state)
{
    (void)state;
    file[0].header.cpus = 1;
    for (uint32_t i = 0; i < 4; i++) {
        add_life_of(0, i + 1, 0x700, 10, 110, 0, 111, 6);
        add_life_of(0, i + 5, 0x800, 10, 110, 0, 111, 1);
    }
    build(1);
    for (size_t i = 0; i < 2; i++) {
        const struct fv_phase_sums *s = &fv_model_phases(&model)->items[i].sums;
        bool sleeps = s->cpu_s < 0.010;

        assert_near(s->queue_s, sleeps ? 0.012 : 0.300, 1e-9);
        assert_near(fv_phase_bound(s).bound, sleeps ? 3.88 : 1, 1e-9);
    }
}

/* ---- OpenMP ---- */

/* Four threads, twice, as one_phase(): what they wait for at the end is no part of `time`. */
static struct fv_omp_region region_of(int rank, uint32_t path)
{
    return (struct fv_omp_region){ .id = path,
                                   .path = path,
                                   .module = app_of(rank),
                                   .offset = 0x800,
                                   .level = 1,
                                   .threads_min = 4,
                                   .threads_max = 4,
                                   .count = 2,
                                   .threads = 8,
                                   .elapsed = 210 * MS,
                                   .elapsed_max = 106 * MS,
                                   .longest = 200 * MS,
                                   .useful_longest = 160 * MS,
                                   .weighted = 800 * MS,
                                   .time = 560 * MS,
                                   .wait = 140 * MS,
                                   .join = 240 * MS,
                                   .fork = 3 * MS };
}

static void add_region(int rank, struct fv_omp_region r)
{
    fvr_add(&file[rank], FV_CHUNK_OMP, 0, &r, sizeof(r));
}

static void regions_are_phases(void **state)
{
    json_t *root, *phase;
    (void)state;

    for (int r = 0; r < 2; r++) {
        add_region(r, region_of(r, WORKER));
        add_thread(r, 0, (struct fv_sync_thread){ .wait_ticks[FV_SYNC_OMP] = 380 * MS });
    }
    one_phase(0, 10); /* by the same path, but threads */
    build(2);
    assert_int_equal(fv_model_phases(&model)->count, 2);
    const struct fv_phase *p = &fv_model_phases(&model)->items[0];
    struct fv_phase_bound b = fv_phase_bound(&p->sums);
    assert_int_equal(p->kind, FV_PHASE_OMP);
    assert_int_equal(p->sums.instances, 4);
    assert_int_equal(p->ranks, 2);
    assert_near(p->sums.time_s, 2 * 0.800, 1e-9);
    assert_near(p->sums.wait_s, 2 * 0.380, 1e-9);
    assert_near(b.threads, 4, 1e-9);
    assert_near(b.without_waiting, 1.25, 1e-9);
    assert_near(b.bound, 2.1, 1e-9);
    assert_near(b.synchronisation, 0.525, 1e-9);
    assert_near(b.imbalance, 1.375, 1e-9);
    assert_near(fv_phase_stack(p, 0.4).measured, 2, 1e-9);
    assert_near(fv_phase_stack(p, 0.4).waitless, 2.5, 1e-9);
    root = json();
    phase = json_array_get(json_object_get(root, "phases"), 0);
    assert_string_equal(json_string_value(json_object_get(phase, "kind")), "omp");
    assert_string_equal(json_string_value(json_object_get(phase, "function")), "app+0x800");
    assert_near(number(phase, "join_s"), 0.480, 1e-9);
    assert_near(number(phase, "fork_s"), 0.006, 1e-9);
    assert_near(number(phase, "elapsed_s"), 0.420, 1e-9);
    assert_true(json_is_null(json_object_get(phase, "cpu_s")));
    json_decref(root);
    assert_non_null(strstr(text(120), "OpenMP app+0x200"));
    assert_non_null(strstr(stacks(), "phase 1: 4 threads, OpenMP region in app+0x200"));
}

/* As where a loop was unrolled: regions at two paths, which turn out to look the same. Ranks 0 and 1 have
 * both, rank 2 the second. */
static void regions_that_look_the_same_are_one_phase(void **state)
{
    (void)state;
    for (int r = 0; r < 3; r++) {
        if (r < 2)
            add_region(r, region_of(r, WORKER));
        add_region(r, region_of(r, MAIN));
    }
    one_phase(1, 10);
    build(3);
    struct fv_phases *s = fv_model_phases(&model);
    assert_int_equal(s->count, 3);
    assert_int_equal(s->items[0].kind, FV_PHASE_OMP); /* the longest: that of three ranks */
    s->items[1].node = s->items[0].node;
    fv_phases_fold(s);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->items[0].sums.instances, 10);
    assert_near(s->items[0].sums.time_s, 5 * 0.800, 1e-9);
    assert_int_equal(s->items[0].ranks, 3);
    assert_int_equal(s->part_count, 4);
    for (uint32_t r = 0; r < 3; r++) {
        const struct fv_phase_part *part = &s->parts[s->items[0].first + r];
        assert_int_equal(part->rank, r);
        assert_int_equal(part->sums.instances, r < 2 ? 4 : 2);
    }
    assert_int_equal(s->items[1].kind, FV_PHASE_THREADS);
    assert_int_equal(s->parts[s->items[1].first].rank, 1);
    for (size_t i = 0; i < s->life_count; i++)
        assert_true(s->lives[i].phase == FV_NONE || s->lives[i].phase == 1);
}

static void alone_is(uint32_t how, uint64_t part_ppm, bool is)
{
    const struct fv_solo_record process = { .kind = FV_SOLO_PROCESS, .how = how, .part_ppm = part_ppm };

    tear_down(NULL);
    set_up(NULL);
    one_phase(0, 10);
    fvr_add(&file[0], FV_CHUNK_SOLO, FV_NO_THREAD, &process, sizeof(process));
    build(1);
    assert_int_equal(fv_model_phases(&model)->alone.is, is);
    if (is)
        assert_near(fv_model_phases(&model)->alone.part, (double)part_ppm * 1e-6, 1e-9);
}

static void damaged_runs_alone_are_none(void **state)
{
    (void)state;
    alone_is(FV_SOLO_RESCTRL, 250000, true);
    alone_is(FV_SOLO_WHOLE, 1000000, true);
    alone_is(FV_SOLO_HOWS, 250000, false);
    alone_is(UINT32_MAX, 250000, false);
    alone_is(FV_SOLO_PIRATE, 0, false);
    alone_is(FV_SOLO_PIRATE, 1000001, false);
}

static void instances_are_numbered_anew(void **state)
{
    (void)state;
    one_phase(0, 10);
    one_phase(0, 500);
    build(1);
    struct fv_phases *s = fv_model_phases(&model);
    assert_int_equal(s->count, 1);
    /* what would be, had the second another path */
    s->items = realloc(s->items, 2 * sizeof(*s->items));
    s->parts = realloc(s->parts, 2 * sizeof(*s->parts));
    s->items[1] = s->items[0];
    s->parts[1] = s->parts[0];
    s->parts[1].phase = 1;
    s->items[1].first = 1;
    s->count = s->part_count = 2;
    for (size_t i = 0; i < s->life_count; i++)
        if (s->lives[i].phase == 0 && s->lives[i].instance == 1) {
            s->lives[i].phase = 1;
            s->lives[i].instance = 0;
        }
    s->items[0].sums.instances = s->items[1].sums.instances = 1;
    s->parts[0].sums.instances = s->parts[1].sums.instances = 1;
    fv_phases_fold(s);
    assert_int_equal(s->count, 1);
    assert_int_equal(s->part_count, 1);
    unsigned of[2] = { 0 };
    for (size_t i = 0; i < s->life_count; i++)
        if (s->lives[i].phase == 0)
            of[s->lives[i].instance]++;
    assert_int_equal(of[0], 4);
    assert_int_equal(of[1], 4);
}

/* Without their CPU time: as if they computed whenever they did not wait. */
static void bounds_regions_by_processors(void **state)
{
    (void)state;
    file[0].header.cpus = 2;
    add_region(0, region_of(0, WORKER));
    build(1);
    struct fv_phase_bound b = fv_phase_bound(&fv_model_phases(&model)->items[0].sums);
    assert_near(b.bound, 2, 1e-9);
    assert_near(b.bound_waitless, 2, 1e-9);
    assert_near(b.synchronisation, 0, 1e-9);
    assert_near(b.few_cpus, 0.625, 1e-9);
    assert_near(fv_model_phases(&model)->items[0].sums.queue_s, 0.020, 1e-9);
    assert_non_null(strstr(stacks(), "2.5 % of their time counts as waiting"));
    assert_non_null(strstr(output, "their CPU time"));
}

/* Begun but never ended, without room, not countable: said. */
static void regions_tell_what_they_miss(void **state)
{
    struct fv_omp_region r = region_of(0, WORKER);
    (void)state;

    r.open = START + 5 * MS;
    r.lost = 3;
    r.untimed = 7;
    add_region(0, r);
    add_region(0, (struct fv_omp_region){ .id = 2, .path = MAIN, .module = app_of(0), .open = START });
    r = region_of(0, 0);
    r.module = FV_MODULE_UNKNOWN;
    r.offset = 0;
    add_region(0, r);
    add_region(0, (struct fv_omp_region){ .id = 3 });
    build(1);
    assert_int_equal(fv_model_phases(&model)->count, 3);
    stacks();
    assert_non_null(strstr(output, "a region had not ended"));
    assert_non_null(strstr(output, "left out 3 times"));
    assert_non_null(strstr(output, "7 tasks may be"));
    assert_non_null(strstr(output, "OpenMP regions without a record of their own"));
    json_decref(json());
    text(100);
}

/* Those of libgomp live as long as the program: its regions tell what they do. */
static void threads_of_libgomp_are_no_phase(void **state)
{
    uint32_t libgomp = fvr_module(&file[0], "/lib/libgomp.so.1", 0, NULL);
    (void)state;

    for (uint32_t i = 1; i < 4; i++) {
        struct fv_thread_life l = { .thread = i,
                                    .creator = 0,
                                    .create_path = MAIN,
                                    .joiner = FV_NO_THREAD,
                                    .routine_module = libgomp,
                                    .routine_offset = 0x99,
                                    .created = START,
                                    .begin = START };
        fvr_add(&file[0], FV_CHUNK_LIVES, FV_NO_THREAD, &l, sizeof(l));
    }
    add_region(0, region_of(0, WORKER));
    build(1);
    assert_int_equal(fv_model_phases(&model)->count, 1);
    assert_int_equal(fv_model_phases(&model)->items[0].kind, FV_PHASE_OMP);
    assert_int_equal(fv_model_phases(&model)->life_count, 3);
}

/* A function of the program's own that takes its locks: who calls it is what matters. */
static void one_place_is_told_with_callers(void **state)
{
    static const uint32_t path[] = { LOCKS, SITE };
    (void)state;

    static_object(0, 1, FV_SYNC_MUTEX, 0x5000);
    for (uint32_t i = 0; i < 2; i++) {
        struct fv_sync_record r = { .object = 1,
                                    .path = path[i],
                                    .kind = FV_SYNC_MUTEX,
                                    .operation = FV_SYNC_LOCK,
                                    .acquired = 3,
                                    .contended = 3,
                                    .wait_sum = i ? MS : 3 * MS };
        fvr_add(&file[0], FV_CHUNK_SYNC, 0, &r, sizeof(r));
    }
    build(1);
    assert_non_null(strstr(text(120), "waits    app+0x300 <- app+0x200 (75.0 %), app+0x300 (25.0 %)"));
}

/* Of the end of a region, which the forking thread records for all. */
static void waits_belong_to_who_waited(void **state)
{
    (void)state;
    static_object(0, 1, FV_SYNC_OMP, 0x5000);
    for (uint32_t t = 0; t < 2; t++) {
        struct fv_sync_record r = { .object = 1,
                                    .thread = t,
                                    .path = LOCKS,
                                    .kind = FV_SYNC_OMP,
                                    .operation = FV_SYNC_WAIT,
                                    .acquired = 3,
                                    .contended = 3,
                                    .wait_sum = (t + 1) * MS };
        fvr_add(&file[0], FV_CHUNK_SYNC, 0, &r, sizeof(r));
    }
    build(1);
    assert_int_equal(fv_model_locks(&model)->items[0].threads, 2);
    assert_int_equal(fv_model_locks(&model)->items[0].parts, 2);
    assert_int_equal(fv_model_locks(&model)->parts[1].thread, 1);
    assert_near(fv_model_locks(&model)->parts[1].n.wait_s, 0.002, 1e-9);
}

/* 0.3 + 0.3 + 0.3 is not 3 * 0.3: where nothing is out of balance, no component is -4e-16. */
static void rounding_is_no_component(void **state)
{
    const double t = 0.3, wait = 0.03;
    const struct fv_phase_sums sums = { .weighted_s = t + t + t,
                                        .longest_s = t,
                                        .least_s = t,
                                        .useful_longest_s = t - wait,
                                        .useful_least_s = t - wait,
                                        .time_s = t + t + t,
                                        .wait_s = wait + wait + wait };
    struct fv_phase_bound b = fv_phase_bound(&sums);

    (void)state;
    assert_that(b.imbalance, ==, 0);
    assert_that(b.few_cpus, ==, 0);
    assert_near(b.synchronisation, 0.3, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bounds_the_speedup),
        TEST(rounding_is_no_component),
        TEST(makes_a_stack_with_t1),
        TEST(tells_phases_apart),
        TEST(counts_threads_that_live),
        TEST(bounds_it_by_processors),
        TEST(one_processor_is_no_speedup),
        TEST(busy_processors_are_told_from_sleep),
        TEST(regions_are_phases),
        TEST(regions_that_look_the_same_are_one_phase),
        TEST(damaged_runs_alone_are_none),
        TEST(instances_are_numbered_anew),
        TEST(bounds_regions_by_processors),
        TEST(regions_tell_what_they_miss),
        TEST(threads_of_libgomp_are_no_phase),
        TEST(one_place_is_told_with_callers),
        TEST(waits_belong_to_who_waited),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
