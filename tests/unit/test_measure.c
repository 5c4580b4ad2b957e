/* What fvmpi doctor --measure makes of series, on made ones whose answers are known. */
#include "doctor/measure/kernel.h"
#include "doctor/measure/measure.h"
#include "doctor/measure/memory.h"
#include "unit.h"

#include <sched.h>

static uint64_t state_of_random;

/* In [0, 1). */
static double any(void)
{
    return (double)(fv_mix(++state_of_random) >> 11) / 9007199254740992.0;
}

/* ---- spread and mode ---- */

static void spread(void **state)
{
    double values[2000];
    struct fv_spread s;

    (void)state;
    for (int i = 0; i < 2000; i++)
        values[i] = 1000 + (2000 - i); /* 1001 to 3000, backwards */
    fv_spread_of(values, 2000, &s);
    assert_int_equal(s.count, 2000);
    assert_near(s.least, 1001, 0);
    assert_near(s.p50, 2000.5, 1e-9);
    assert_near(s.p90, 1001 + 0.9 * 1999, 1e-9);
    assert_near(s.p99, 1001 + 0.99 * 1999, 1e-9);
    assert_near(s.p999, 1001 + 0.999 * 1999, 1e-9);
    assert_near(s.most, 3000, 0);
    fv_spread_of(values, 999, &s);
    assert_true(isnan(s.p999) && !isnan(s.p99));
    fv_spread_of(values, 99, &s);
    assert_true(isnan(s.p99) && s.p90 > 0);
    fv_spread_of(values, 0, &s);
    assert_true(!s.count && s.most == 0);
}

/* The mode is where values are densest, wherever the others are. */
static void mode(void **state)
{
    double values[1000];
    struct fv_spread s;

    (void)state;
    for (int i = 0; i < 1000; i++)
        values[i] = i % 10 < 6 ? 100 + any() : 100 + 1000 * any(); /* 600 within 1, others wherever */
    fv_spread_of(values, 1000, &s);
    assert_true(s.mode >= 100 && s.mode <= 101);
    for (int i = 0; i < 1000; i++)
        values[i] = i < 510 ? 50 : i < 800 ? 200 + any() : 300 + 50 * any(); /* half of all are the same */
    fv_spread_of(values, 1000, &s);
    assert_near(s.mode, 50, 0);
    assert_near(fv_mode((const double[]){ 7 }, 1), 7, 0);
    assert_near(fv_mode((const double[]){ 7, 9 }, 2), 8, 0);
}

static void lost_work(void **state)
{
    double busy[] = { 0, 0, 0, 0, 0, 100, 100, 60 };
    double done[] = { 100, 100, 0, 100, 50, 100, 100, 110 };
    double parted[] = { 30, 31, 32, 30, 31, 33, 98, 100 };
    struct fv_spread s;

    (void)state;
    fv_lost_of_work(done, 8, 1000);
    fv_spread_of(done, 8, &s);
    assert_near(s.mode, 1000, 1e-9);
    assert_near(s.most, 2000, 1e-9); /* all of a spell lost */
    assert_near(s.least, 900, 1e-9); /* a tenth more work than is usual */
    fv_lost_of_work(busy, 8, 1000);  /* usual is what spells did that had the processor */
    fv_spread_of(busy, 8, &s);
    assert_near(s.p50, 2000, 1e-9);
    assert_near(s.least, 1000, 1e-9);
    fv_lost_of_work(parted, 8, 1000); /* most spells had it for a third: they lost two thirds */
    fv_spread_of(parted, 8, &s);
    assert_near(s.p50, 1682, 6);
    assert_near(s.least, 990, 1);
}

/* ---- gaps ---- */

static void expect_shares(const struct fv_gap_shares *s, double preempted, double tick, double interrupt, double steal,
                          double unexplained)
{
    const double wanted[] = { preempted, tick, interrupt, steal, unexplained };
    double sum = 0;

    for (int i = 0; i < FV_GAP_CLASSES; i++) {
        assert_near(s->by_class[i], wanted[i], 1e-6);
        sum += s->by_class[i];
    }
    assert_near(sum, s->total, 1e-6);
}

static void causes(void **state)
{
    static const struct fv_gap_group groups[] = { { 1, 0 }, { 1, 0 }, { 1, 1 }, { 0, 0 }, { 1, 0 } };
    static const struct fv_gap gaps[] = {
        { 0, 1000, 0, 0 },   /* a tick */
        { 4e6, 1200, 0, 1 }, /* a tick */
        { 8e6, 300, 0, 2 },      { 9e6, 900, 0, 2 },
        { 9.5e6, 700, 0, 2 },    /* a tick and another one: the two longest; the
                                  * shortest is not explained */
        { 12e6, 400, 0, 3 },     /* nothing is told of it */
        { 16e6, 5e6, 4.9e6, 4 }, /* preempted; 100 us more, of which an interrupt has at most ten
                                  * times 1100 ns */
    };
    struct fv_gap_shares s;

    (void)state;
    fv_gap_shares_of(gaps, 7, groups, 0, &s);
    assert_near(s.interrupt_most, 11000, 1e-6);
    expect_shares(&s, 4.9e6, 1000 + 1200 + 800 + 11000, 800, 0, 300 + 400 + 89000);
    fv_gap_shares_of(gaps, 7, groups, 50000, &s);
    expect_shares(&s, 4.9e6, 1000 + 1200 + 800 + 11000, 800, 50000, 300 + 400 + 39000);
    fv_gap_shares_of(gaps, 7, groups, 1e9, &s); /* more was stolen than is left */
    expect_shares(&s, 4.9e6, 1000 + 1200 + 800 + 11000, 800, 89700, 0);
    fv_gap_shares_of(gaps, 0, groups, 1e9, &s);
    expect_shares(&s, 0, 0, 0, 0, 0);
}

/* A delay that is longer than its gap explains no more than the gap; without groups of one interrupt none explains
 * anything; without gaps that had one to themselves the longest of such groups tell what is usual. */
static void causes_bounded(void **state)
{
    static const struct fv_gap_group groups[] = { { 2, 0 } },
                                     busy_groups[] = { { 1, 0 }, { 0, 1 }, { 1, 0 }, { 0, 0 } };
    static const struct fv_gap busy[] = { { 0, 500, 0, 0 },  { 1, 100, 0, 0 }, { 2, 100, 0, 1 }, { 3, 600, 0, 1 },
                                          { 4, 9000, 0, 2 }, { 5, 50, 0, 2 },  { 6, 70, 0, 3 },  { 7, 80, 0, 3 } };
    static const struct fv_gap gaps[] = { { 0, 1000, 5000, 0 }, { 1, 500, 0, 0 } };
    struct fv_gap_shares s;

    (void)state;
    fv_gap_shares_of(gaps, 2, groups, 0, &s);
    assert_near(s.interrupt_most, 0, 0);
    expect_shares(&s, 1000, 0, 0, 0, 500);
    fv_gap_shares_of(busy, 8, busy_groups, 0, &s);
    assert_near(s.interrupt_most, 6000, 1e-6);
    expect_shares(&s, 0, 500 + 6000, 600, 0, 100 + 100 + 3000 + 50 + 150);
}

/* ---- periods ---- */

static int by_time(const void *a, const void *b)
{
    return fv_by_real(a, b);
}

/* Adds times with a period, each off by `jitter` at most; returns the new number. */
static size_t add_periodic(double *times, size_t count, double span, double period, double jitter)
{
    for (double t = period * 0.3; t < span; t += period)
        times[count++] = t + jitter * (any() - 0.5);
    return count;
}

static size_t add_random(double *times, size_t count, double span, size_t more)
{
    while (more--)
        times[count++] = span * any();
    return count;
}

static size_t find(double *times, size_t count, double span, struct fv_period out[FV_PERIODS])
{
    qsort(times, count, sizeof(*times), by_time);
    return fv_periods_of(times, count, span, out);
}

static void one_period(void **state)
{
    static double times[20000];
    struct fv_period found[FV_PERIODS];
    size_t count = add_periodic(times, 0, 2e9, 4e6, 1e5);

    (void)state;
    assert_int_equal(find(times, count, 2e9, found), 1);
    assert_near(found[0].period, 4e6, 4e6 * 1e-3);
    assert_true(found[0].strength > 0.98 && found[0].part > 0.98);
    assert_near(remainder(found[0].first - 1.2e6, found[0].period), 0, 1e5);

    count = add_random(times, count, 2e9, 500); /* as many that come whenever */
    assert_that(find(times, count, 2e9, found), >=, 1);
    assert_near(found[0].period, 4e6, 4e6 * 1e-3);
    assert_near(found[0].part, 0.6, 0.08); /* half of them, and a fifth of the others by chance */

    count = add_periodic(times, 0, 60e9, 2e9, 1e6); /* a script, each two seconds */
    count = add_random(times, count, 60e9, 10);
    assert_that(find(times, count, 60e9, found), >=, 1);
    assert_near(found[0].period, 2e9, 2e9 * 5e-3);
}

static void two_periods(void **state)
{
    static double times[20000];
    struct fv_period found[FV_PERIODS];
    size_t count = add_periodic(times, 0, 2e9, 4e6, 1e4);

    (void)state;
    count = add_periodic(times, count, 2e9, 7.3e6, 1e4);
    assert_that(find(times, count, 2e9, found), >=, 2);
    assert_near(found[0].period, 4e6, 4e6 * 1e-3);
    assert_near(found[1].period, 7.3e6, 7.3e6 * 2e-3);
}

/* What is not periodic has no period: random times, and bursts; 20 of each by ./dev statistics. */
static void no_period(void **state)
{
    static double times[20000];
    struct fv_period found[FV_PERIODS];
    const int step = getenv("FVMPI_TEST_LONG") ? 1 : 5;
    size_t told = 0;

    (void)state;
    for (int run = 0; run < 20; run += step)
        told += find(times, add_random(times, 0, 2e9, 200 + 40 * (size_t)run), 2e9, found);
    for (int run = 0; run < 20; run += step) {
        size_t count = 0;

        for (int burst = 0; burst < 12; burst++) {
            double begin = 2e9 * any();

            for (int i = 0; i < 40; i++)
                times[count++] = begin + 5e6 * any();
        }
        told += find(times, count, 2e9, found);
    }
    assert_int_equal(told, 0);
    assert_int_equal(fv_periods_of(times, 0, 2e9, found), 0);
    assert_int_equal(fv_periods_of(times, 5, 2e9, found), 0);
}

static void period_names(void **state)
{
    struct fv_arena arena = { 0 };

    (void)state;
    assert_string_equal(fv_measure_period_name(&arena, 4.01e6, 250), "tick (CONFIG_HZ 250)");
    assert_string_equal(fv_measure_period_name(&arena, 8e6, 250), "2 ticks (CONFIG_HZ 250)");
    assert_null(fv_measure_period_name(&arena, 5e6, 250));
    assert_null(fv_measure_period_name(&arena, 4e6, 0));
    assert_null(fv_measure_period_name(&arena, 1e5, 250));
    fv_arena_release(&arena);
}

/* ---- plateaus ---- */

static void plateaus(void **state)
{
    static const double curve[] = { 1, 1.01, 1, 0.99, 1.02, 2.2, 4.1, 4, 4.05, 3.9, 9, 20, 45, 80, 98, 100, 101, 99 };
    struct fv_plateau found[8];

    (void)state;
    assert_int_equal(fv_plateaus_of(curve, 18, 0.1, found, 8), 3);
    assert_true(found[0].first == 0 && found[0].count == 5);
    assert_true(found[1].first == 6 && found[1].count == 4);
    assert_true(found[2].first >= 13 && found[2].first <= 14 && found[2].first + found[2].count == 18);
    assert_near(found[0].value, 1, 0.02);
    assert_near(found[1].value, 4.02, 0.06);
    assert_int_equal(fv_plateaus_of(curve, 18, 0.1, found, 1), 1);
    assert_int_equal(fv_plateaus_of(curve, 2, 0.1, found, 8), 0); /* too short */
    assert_int_equal(fv_plateaus_of(curve, 0, 0.1, found, 8), 0);
    static const double slope[] = { 1, 1.5, 2.25, 3.4, 5, 7.6, 11.4, 17, 26 };
    assert_int_equal(fv_plateaus_of(slope, 9, 0.1, found, 8), 0);
}

static void add_set(struct fv_measurement *m, uint64_t bytes, double ns)
{
    FV_GROW(m->latencies, m->latency_room, m->latency_count + 1);
    FV_GROW(m->values, m->value_room, m->value_count + 2);
    m->latencies[m->latency_count++] = (struct fv_latency){
        bytes, { .count = 2, .mode = ns, .least = ns, .p50 = ns, .p90 = ns, .most = 1.1 * ns }, (uint32_t)m->value_count
    };
    m->values[m->value_count++] = 0;
    m->values[m->value_count++] = 0.1;
}

static void levels(void **state)
{
    struct fv_measurement m = { 0 };

    (void)state;
    FV_GROW(m.caches, m.cache_room, 2);
    m.caches[m.cache_count++] = (struct fv_cpu_cache){ "L1", 32 << 10 };
    m.caches[m.cache_count++] = (struct fv_cpu_cache){ "L2", 1 << 20 };
    for (uint64_t bytes = 4096; bytes <= UINT64_C(64) << 20; bytes *= 2)
        add_set(&m, bytes, bytes <= 32 << 10 ? 1 : bytes <= 1 << 20 ? 4 : 90);
    fv_memory_find_levels(&m);
    assert_int_equal(m.level_count, 3);
    assert_string_equal(m.levels[0].name, "L1");
    assert_string_equal(m.levels[1].name, "L2");
    assert_string_equal(m.levels[2].name, "DRAM");
    assert_true(m.levels[1].from_bytes == 64 << 10 && m.levels[1].to_bytes == 1 << 20);
    assert_near(m.levels[2].value, 90, 0);
    assert_int_equal(m.levels[0].above.count, 8);
    assert_near(m.levels[0].above.most, 0.1, 1e-12);
    m.cache_count = 0;
    assert_null(fv_measure_level_name(&m, 4096));
    fv_measurement_release(&m);
}

/* ---- the kernel's files ---- */

static void interrupts(void **state)
{
    static const char text[] = "           CPU0       CPU2       CPU12\n"
                               " 24:          1         20        300  IO-APIC   5-edge  ACPI:Ged 7\n"
                               "NMI:          0          3          0   Non-maskable interrupts\n"
                               "LOC:       1000       2000       3000   Local timer interrupts\n"
                               " 11:          5          6          7   GICv3  30 Level  arch_timer\n"
                               "ERR:         99\n"
                               "MIS:         98\n"
                               "short:        1\n"
                               "TLB:          0          4          0   TLB shootdowns\n";
    struct fv_interrupts found;

    (void)state;
    assert_true(fv_interrupts_parse(text, 2, &found));
    assert_true(found.ticks == 2006 && found.others == 27);
    assert_true(fv_interrupts_parse(text, 12, &found));
    assert_true(found.ticks == 3007 && found.others == 300);
    assert_true(fv_interrupts_parse(text, 0, &found));
    assert_true(found.ticks == 1005 && found.others == 2);
    assert_false(fv_interrupts_parse(text, 1, &found)); /* it has no column */
    assert_false(fv_interrupts_parse("", 0, &found));
    assert_true(fv_interrupts_parse("CPU0", 0, &found) && !found.ticks);
    assert_true(fv_interrupts_parse("CPU0\nLOC:", 0, &found) && !found.ticks);
    assert_true(fv_interrupts_parse("CPU0\n\n:\nLOC: 7", 0, &found) && found.ticks == 7);
}

/* Of working sets of 1, 2, 4 ... MiB. */
static struct fv_shared_cache shared(const double *ns, size_t count, uint64_t private_mib)
{
    struct fv_latency latencies[16] = { { 0 } };
    struct fv_measurement m = { .latencies = latencies, .latency_count = count };
    struct fv_shared_cache c = { .bytes = 1, .private_bytes = private_mib << 20 };

    for (size_t i = 0; i < count; i++) {
        latencies[i].bytes = UINT64_C(1) << (20 + i);
        latencies[i].spread.p50 = ns[i];
    }
    fv_memory_find_shared(&m, &c);
    return c;
}

static void shared_cache(void **state)
{
    struct fv_shared_cache c = shared((const double[]){ 4, 14, 14, 17, 110, 130, 140 }, 7, 1);

    (void)state;
    assert_int_equal(c.bytes, 8 << 20);
    assert_near(c.cache_ns, 14, 0);
    assert_near(c.memory_ns, 140, 0);
    assert_int_equal(shared((const double[]){ 4, 14, 15, 30, 60, 120 }, 6, 1).bytes, 8 << 20); /* no step: the middle */
    assert_int_equal(shared((const double[]){ 4, 4, 100, 110, 120 }, 5, 2).bytes, 0);          /* only its own caches */
    /* memory is not told from it */
    assert_int_equal(shared((const double[]){ 4, 60, 70, 80 }, 4, 1).bytes, 0);
    assert_int_equal(shared((const double[]){ 4, 5 }, 2, 8).bytes, 0);
    assert_int_equal(shared((const double[]){ 4 }, 0, 0).bytes, 0);
    /* up to the first that does not fit */
    assert_int_equal(shared((const double[]){ 4, 14, 130, 14, 130 }, 5, 1).bytes, 2 << 20);
}

/* Other tasks took the time: what was not measured is said. */
static void no_time_left(void **state)
{
    struct fv_doctor d = { 0 };
    struct fv_measurement m = { .alone = "0" };

    (void)state;
    fv_doctor_init(&d);
    fv_cpus_set(&m.cpus, (size_t)sched_getcpu());
    fv_measure_clock_init(&d, &m.clock);
    fv_memory_find_caches(&d, &m);
    fv_memory_measure(&d, &m, 0);
    assert_int_equal(m.bandwidth_count, 0);
    assert_string_equal(m.bandwidth_left_out, "time");
    fv_measurement_release(&m);
    fv_doctor_release(&d);
}

static void ramp(void **state)
{
    struct fv_trials t[40];
    (void)state;

    for (unsigned i = 0; i < 40; i++)
        t[i] = (struct fv_trials){ 10 * i, 10, i < 5 ? 150 - 10 * i : 100, i < 5 ? 160 - 10 * i : 101, 300, 0, 0 };
    struct fv_ramp found = fv_trials_ramp(t, 40);
    assert_int_equal(found.samples, 50);
    assert_float_equal(found.above_share, 0.5, 1e-9);
    assert_float_equal(found.length, 10 * (160 + 150 + 140 + 130 + 120), 1e-6);
    t[0].least = 100; /* it was only disturbed */
    assert_int_equal(fv_trials_ramp(t, 40).samples, 0);
    for (unsigned i = 0; i < 40; i++) /* it does not settle */
        t[i].least = 200 - i;
    assert_int_equal(fv_trials_ramp(t, 40).samples, 0);
    assert_int_equal(fv_trials_ramp(t, 4).samples, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spread),       cmocka_unit_test(mode),           cmocka_unit_test(lost_work),
        cmocka_unit_test(causes),       cmocka_unit_test(causes_bounded), cmocka_unit_test(one_period),
        cmocka_unit_test(two_periods),  cmocka_unit_test(no_period),      cmocka_unit_test(period_names),
        cmocka_unit_test(plateaus),     cmocka_unit_test(levels),         cmocka_unit_test(interrupts),
        cmocka_unit_test(shared_cache), cmocka_unit_test(no_time_left),   cmocka_unit_test(ramp),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
