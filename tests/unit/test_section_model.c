/* What the model makes of sections in rank files, with known answers, and of files that no runtime would
 * write. */
#include "fvr_builder.h"
#include "profile/machine/sensors.h"
#include "profile/model.h"
#include "profile/sections/sections.h"
#include "unit.h"

static void add_section(struct fvr *f, const char *name, int number)
{
    struct fv_section s = { .number = number };

    strncpy(s.name, name, sizeof(s.name) - 1);
    fvr_add(f, FV_CHUNK_SECTIONS, FV_NO_THREAD, &s, sizeof(s));
}

static void add_set(struct fvr *f, uint32_t outer, uint32_t section)
{
    struct fv_section_set s = { outer, section };

    fvr_add(f, FV_CHUNK_SECTION_SETS, FV_NO_THREAD, &s, sizeof(s));
}

/* Of a histogram: one instance. */
static void add_octave(struct fvr *f, uint32_t thread, uint32_t section, uint64_t ticks)
{
    struct fv_octave o = { .of = section, .octave = fv_octave(ticks) };

    o.count[fv_octave_bucket(ticks, o.octave)] = 1;
    fvr_add(f, FV_CHUNK_SECTION_OCTAVES, thread, &o, sizeof(o));
}

static const struct fv_section_view *view_of(const struct fv_model *m, const char *name)
{
    for (size_t i = 0; i < fv_model_sections(m)->count; i++)
        if (!strcmp(fv_model_sections(m)->items[i].name, name) && !fv_model_sections(m)->items[i].whole)
            return &fv_model_sections(m)->items[i];
    return NULL;
}

static void cell_in(struct fvr *f, uint32_t path, uint32_t set, uint16_t function, uint32_t calls, uint64_t ticks,
                    uint64_t bytes)
{
    struct fv_cell c = { .path = path,
                         .function = function,
                         .size_bucket = (uint8_t)fv_log2_bucket(bytes),
                         .calls = calls,
                         .time_sum = calls * ticks,
                         .time_min = ticks,
                         .time_max = ticks,
                         .square_low = calls * ticks * ticks,
                         .bytes_sent = calls * bytes,
                         .sends = bytes ? calls : 0,
                         .section = set };

    fvr_add(f, FV_CHUNK_CELLS, 0, &c, sizeof(c));
}

static void record_rank(struct fvr *f, int i)
{
    struct fv_section_times t = { .section = 1,
                                  .count = 2,
                                  .ticks = 200000000 * (uint64_t)(i + 1),
                                  .ticks_min = 50000000,
                                  .ticks_max = 150000000 * (uint64_t)(i + 1),
                                  .ticks_m2 = i ? 2e16 : 5e15, /* 0.1 and 0.3 s; 0.05 and 0.15 s */
                                  .measured = 1,
                                  .sum = { .calls = 3, .mpi_ticks = 3000, .usage = { 10000000, 20000000, 3, 4 } } };

    fvr_init(f, i, 2);
    fvr_function(f, 0, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
    uint32_t path = fvr_path(f, 0, fvr_module(f, "/bin/x", 0, NULL), 100);
    add_section(f, "a", 0);
    add_section(f, "b", 0);
    add_set(f, 0, 1);
    add_set(f, 1, 2);
    fvr_add(f, FV_CHUNK_SECTION_TIMES, 0, &t, sizeof(t));
    cell_in(f, path, 1, 0, 2, 1000, 4096);
    cell_in(f, path, 2, 0, 1, 1000, 1 << 20);
    cell_in(f, path, 0, 0, 5, 1000, 10);
    fvr_thread(f, 0, true, 8, 8000, NULL);
}

/* Of "b", and of the whole program. */
static void expect_open(const struct fv_model *m, const struct fv_section_view *b)
{
    assert_true(isnan(b->percentile_s[0]));
    assert_int_equal(b->instances.count, 0);
    assert_int_equal(b->functions[0].calls, 2);
    assert_int_equal(b->count, 1);
    assert_int_equal(b->faults.open, 1);
    assert_near(b->value[FV_SECTION_ELAPSED].sum, 0.5, 1e-9);
    assert_int_equal(b->value[FV_SECTION_CALLS].sum, 1);
    assert_true(isnan(b->value[FV_SECTION_USER].sum));
    assert_int_equal(fv_model_sections(m)->items[0].value[FV_SECTION_CALLS].sum, 16);
    assert_int_equal(fv_model_sections(m)->items[0].value[FV_SECTION_SENT].sum, 10);
}

/* Rank 0 was in "a" for 0.2 s and is killed in "b", which began at 1.5 s; rank 1 was in "a" for 0.4 s. */
static void over_ranks(void **state)
{
    struct fv_experiment e = { 0 };
    struct fv_model m;
    struct fvr f[2];
    (void)state;

    for (int i = 0; i < 2; i++) {
        record_rank(&f[i], i);
    }
    struct fv_section_times open = {
        .section = 2, .measured = 1, .opened = 1500000000, .since = { .calls = 7, .mpi_ticks = 7000 }
    };
    fvr_add(&f[0], FV_CHUNK_SECTION_TIMES, 0, &open, sizeof(open));
    /* A second thread, that was not in "a" as long. */
    struct fv_section_times short_time = {
        .section = 1, .count = 1, .ticks = 100000000, .ticks_min = 100000000, .ticks_max = 100000000
    };
    fvr_add(&f[1], FV_CHUNK_SECTION_TIMES, 1, &short_time, sizeof(short_time));
    for (int i = 0; i < 2; i++) {
        add_octave(&f[i], 0, 1, 50000000 * (uint64_t)(i + 1));
        add_octave(&f[i], 0, 1, 150000000 * (uint64_t)(i + 1));
    }
    add_octave(&f[1], 1, 1, 100000000);
    for (int i = 0; i < 2; i++)
        fvr_join(&f[i], &e);
    fv_model_build(&m, NULL, &e, false);
    const struct fv_section_view *a = view_of(&m, "a"), *b = view_of(&m, "b");
    assert_non_null(a);
    assert_non_null(b);
    assert_true(fv_model_sections(&m)->items[0].whole);
    assert_int_equal(a->count, 5);
    assert_near(a->value[FV_SECTION_THREADS_TIME].sum, 0.7, 1e-9);
    assert_int_equal(a->instances.count, 5);
    assert_near(a->instances.mean_s, 0.14, 1e-9);
    assert_near(a->instances.m2, 0.037, 1e-9); /* of 0.05, 0.15, 0.1, 0.3 and 0.1 */
    assert_near(a->percentile_s[0], 0.1, 0.1 / 8);
    assert_near(a->percentile_s[1], 0.3, 0.3 / 8);
    assert_near(fv_model_sections(&m)->ranks[a->first].percentile_s[0], 0.05, 0.05 / 8);
    assert_near(a->value[FV_SECTION_ELAPSED].mean, 0.3, 1e-9);
    assert_near(a->value[FV_SECTION_ELAPSED].min, 0.2, 1e-9);
    assert_int_equal(a->value[FV_SECTION_ELAPSED].max_rank, 1);
    assert_that(fabs(a->value[FV_SECTION_SYSTEM].sum - 0.02), <, 1e-9); /* not measured on that thread of rank 1 */
    assert_int_equal(a->value[FV_SECTION_SENT + 1].sum, 4);             /* 4096 is in the second class */
    assert_int_equal(a->value[FV_SECTION_SENT + 3].sum, 2);             /* of b within a */
    assert_int_equal(a->functions[0].calls, 6);
    expect_open(&m, b);
    fv_model_release(&m);
    fv_experiment_release(&e);
    for (int i = 0; i < 2; i++)
        fvr_release(&f[i]);
}

static void add_other(struct fvr *f, uint32_t section, uint32_t thread, uint64_t cpu_ns, uint64_t user_ns,
                      uint64_t ticked_ns)
{
    struct fv_section_other o = { section, thread, cpu_ns, user_ns, ticked_ns };

    fvr_add(f, FV_CHUNK_SECTION_THREADS, FV_NO_THREAD, &o, sizeof(o));
}

static void expect_member(const struct fv_section_member *of, uint32_t thread, double cpu_s, double user_s)
{
    assert_int_equal(of->thread, thread);
    assert_near(of->cpu_s, cpu_s, 1e-9);
    assert_near(of->user_s, user_s, 1e-9);
    assert_near(of->system_s, cpu_s - user_s, 1e-9);
}

/* Section "a" was open for 0.4 s, of which other threads were read in 0.2; thread 0 opened it, and thread 3, which
 * others read, too. Of "b" nothing was read. */
static void others(void **state)
{
    struct fv_experiment e = { 0 };
    struct fv_model m;
    struct fvr f;
    struct fv_section_span span = {
        .section = 1, .times = 4, .ticks = 400000000, .read_times = 2, .read_ticks = 200000000
    };
    struct fv_section_times short_time = {
        .section = 1, .measured = 1, .count = 1, .ticks = 50000, .ticks_min = 50000, .ticks_max = 50000
    };
    (void)state;

    record_rank(&f, 0);
    fvr_add(&f, FV_CHUNK_SECTION_SPANS, FV_NO_THREAD, &span, sizeof(span));
    fvr_add(&f, FV_CHUNK_SECTION_TIMES, 3, &short_time, sizeof(short_time));
    add_other(&f, 1, 1, 100000000, 30000000, 40000000);
    add_other(&f, 1, 2, 10000000, 0, 0);
    add_other(&f, 1, 3, 77000000, 0, 0);
    add_other(&f, 2, 1, 5, 5, 5);
    add_other(&f, 99, 1, 5, 5, 5);
    span = (struct fv_section_span){ .section = 2, .times = 1, .ticks = 5, .read_times = 7, .read_ticks = 9 };
    fvr_add(&f, FV_CHUNK_SECTION_SPANS, FV_NO_THREAD, &span, sizeof(span));
    fvr_join(&f, &e);
    fv_model_build(&m, NULL, &e, false);
    const struct fv_sections_view *s = fv_model_sections(&m);
    const struct fv_section_view *a = view_of(&m, "a");
    assert_int_equal(a->members, 4);
    expect_member(&s->members[a->first_member], 0, 0.03, 0.01);
    expect_member(&s->members[a->first_member + 1], 1, 0.2, 0.15);
    expect_member(&s->members[a->first_member + 2], 2, 0.02, 0.02);
    expect_member(&s->members[a->first_member + 3], 3, 0, 0);
    assert_true(s->members[a->first_member + 1].is_scaled && !s->members[a->first_member].is_scaled);
    assert_near(s->members[a->first_member + 1].time_s, 0.4, 1e-9);
    assert_int_equal(a->threads, 2);
    assert_int_equal(a->other_threads, 2);
    assert_true(a->is_scaled);
    assert_near(a->value[FV_SECTION_USER].sum, 0.01 + 0.15 + 0.02, 1e-9);
    assert_near(a->value[FV_SECTION_SYSTEM].sum, 0.02 + 0.05, 1e-9);
    assert_false(fv_section_is_short(a)); /* 0.067 s in the mean */
    fv_model_release(&m);
    fv_experiment_release(&e);
    fvr_release(&f);
}

/* Sets that contain themselves or nobody, sections that are not there, times that contradict themselves. */
static void damaged(void **state)
{
    struct fv_experiment e = { 0 };
    struct fv_model m;
    struct fvr f;
    (void)state;

    fvr_init(&f, 0, 1);
    fvr_function(&f, 0, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
    add_section(&f, "good", 0);
    add_set(&f, 1, 1);
    add_set(&f, 4000000000u, 7);
    add_set(&f, 1, 1);
    cell_in(&f, 0, 1, 0, 1, 100, 8);
    cell_in(&f, 0, 2, 0, 1, 100, 8);
    cell_in(&f, 0, 3, 0, 1, 100, 8);
    cell_in(&f, 0, 900, 0, 1, 100, 8);
    add_octave(&f, 0, 99, 100);
    add_octave(&f, 0, 1, 100);
    fvr_add(&f, FV_CHUNK_SECTION_OCTAVES, 0, &(struct fv_octave){ .of = 1, .octave = 200, .count = { 7 } },
            sizeof(struct fv_octave));
    struct fv_section_times t = { .section = 99, .count = 1 };
    fvr_add(&f, FV_CHUNK_SECTION_TIMES, 0, &t, sizeof(t));
    t = (struct fv_section_times){ .section = 1, .count = 3, .ticks = 5, .ticks_min = 9, .ticks_max = 7 };
    fvr_add(&f, FV_CHUNK_SECTION_TIMES, 0, &t, sizeof(t));
    t = (struct fv_section_times){ .section = 1, .opened = UINT64_MAX, .paused = UINT64_MAX };
    fvr_add(&f, FV_CHUNK_SECTION_TIMES, 5, &t, sizeof(t));
    fvr_thread(&f, 0, true, 4, 400, NULL);
    fvr_join(&f, &e);
    fv_model_build(&m, NULL, &e, false);
    assert_int_equal(fv_model_sections(&m)->count, 2);
    assert_int_equal(view_of(&m, "good")->count, 1);
    assert_int_equal(view_of(&m, "good")->functions[0].calls, 2);
    assert_true(isnan(view_of(&m, "good")->percentile_s[0])); /* no instance's times made sense */
    fv_model_release(&m);
    fv_experiment_release(&e);
    fvr_release(&f);
}

/* ---- sensors ---- */

static void add_series(struct fvr *f, const char *label, uint32_t flags)
{
    struct {
        struct fv_sensor_series head;
        char text[16];
    } one = { .head = { .bytes = sizeof(one), .flags = flags, .every = 1, .label_bytes = (uint32_t)strlen(label) } };

    memcpy(one.text, label, strlen(label) + 1);
    fvr_add(f, FV_CHUNK_SENSOR_SERIES, FV_NO_THREAD, &one, sizeof(one));
}

/* A counter and a gauge of a node, read at these times, in ms. */
static void record_sensors(struct fvr *f, const double (*read)[3], size_t count)
{
    struct fv_sensor_process process = { .interval_ns = 100000000, .samples = count };

    fvr_init(f, 0, 1);
    fvr_add(f, FV_CHUNK_SENSOR_PROCESS, FV_NO_THREAD, &process, sizeof(process));
    add_series(f, "cpu.user", 0);
    add_series(f, "cpu.clock", FV_SENSOR_GAUGE);
    for (size_t i = 0; i < count; i++) {
        struct {
            struct fv_sensor_sample head;
            double values[2];
        } one = { .head = { .bytes = sizeof(one), .ticks = 1000000000 + (uint64_t)(1e6 * read[i][0]) },
                  .values = { read[i][1], read[i][2] } };

        fvr_add(f, FV_CHUNK_SENSOR_SAMPLES, FV_NO_THREAD, &one, sizeof(one));
    }
    fvr_thread(f, 0, true, 0, 0, NULL);
}

/* Of a node that was read so many times: how many intervals each series has, and mean and greatest rate of the
 * counter. */
static void expect_rates(const double (*read)[3], size_t count, uint64_t intervals, double mean, double max)
{
    struct fv_experiment e = { 0 };
    struct fv_model m;
    struct fvr f;

    record_sensors(&f, read, count);
    fvr_join(&f, &e);
    fv_model_build(&m, NULL, &e, false);
    const struct fv_machine_series *s = fv_model_sensors(&m)->series;

    assert_int_equal(s[0].intervals, intervals);
    assert_near(s[0].mean, mean, 1e-9);
    assert_near(s[0].max, max, 1e-9);
    assert_int_equal(s[1].intervals, count - 1);
    fv_model_release(&m);
    fv_experiment_release(&e);
    fvr_release(&f);
}

/* A kernel's step of 10 ms between two samples 2 ms apart is no rate of 5. */
static void short_end(void **state)
{
    const double soon[][3] = { { 0, 0, 1 }, { 100, 0.05, 2 }, { 200, 0.1, 3 }, { 202, 0.11, 4 } };
    const double later[][3] = { { 0, 0, 1 }, { 100, 0.05, 2 }, { 160, 0.11, 3 } };

    (void)state;
    expect_rates(soon, 4, 2, 0.11 / 0.202, 0.06 / 0.102);
    expect_rates(later, 3, 2, 0.11 / 0.16, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(over_ranks), cmocka_unit_test(others),
                                        cmocka_unit_test(damaged), cmocka_unit_test(short_end) };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
