/* Iterations in sequences of calls whose loops are known, and what their times say: periods, trends and slowest ranks
 * that were planted are found, and of noise nothing is said. */
#include "profile/iterations/cutter.h"
#include "profile/iterations/extra.h"
#include "profile/iterations/judge.h"
#include "profile/iterations/units.h"
#include "tool/vec.h"
#include "unit.h"

#define MOST 200000

/* Calls as a program makes them: a symbol, and seconds since the call before. */
struct program {
    uint32_t symbol[MOST];
    double begin_s[MOST], end_s[MOST], now_s;
    size_t count;
    uint64_t random;
};

static struct program program;

static struct program *start(uint64_t seed)
{
    struct program *p = &program;

    p->count = 0;
    p->now_s = 0;
    p->random = seed;
    return p;
}

static uint32_t random_below(struct program *p, uint32_t n)
{
    p->random = p->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((p->random >> 33) % n);
}

static void call(struct program *p, uint32_t symbol, double before_s)
{
    assert_that(p->count, <, MOST);
    p->symbol[p->count] = symbol;
    p->begin_s[p->count] = p->now_s + before_s;
    p->now_s = p->end_s[p->count++] = p->now_s + before_s + 1e-5;
}

enum { INIT, BCAST, HALO, NORM, SAVE, DOT, OTHER, LAST, FINALIZE, SYMBOLS = 32 };

/* Of the last search, to be released by the next one. */
static struct fv_unit found[FV_UNITS_MOST];
static size_t found_count;

static size_t find(struct program *p, const struct fv_unit_path *path, struct fv_unit *out)
{
    call(p, FINALIZE, 0.001);
    const struct fv_call_sequence s = { .symbol = p->symbol,
                                        .begin_s = p->begin_s,
                                        .end_s = p->end_s,
                                        .path = path,
                                        .count = p->count,
                                        .symbols = SYMBOLS };
    fv_units_release(found, found_count);
    found_count = fv_units_find(&s, out);
    memcpy(found, out, found_count * sizeof(*found));
    return found_count;
}

/* Each is so long, and they are as many as the unit says. */
static void expect_cuts(const struct program *p, const struct fv_unit *u, double each_s)
{
    struct fv_cutter c = fv_cutter(u->cut);
    struct fv_cut cut;
    size_t n = 0;

    for (size_t i = 0; i <= p->count; i++) {
        if (i == p->count ? !fv_cutter_end(&c, &cut)
                          : !fv_cutter_call(&c, p->symbol[i], p->begin_s[i], p->end_s[i], &cut))
            continue;
        assert_near(cut.end_s - cut.begin_s, each_s, 1e-9);
        assert_near(cut.called_s, 2e-5, 1e-9);
        n++;
    }
    assert_int_equal(n, u->count);
}

/* The same where the first call of each is not on all threads: they are cut behind the last. */
static void cut_behind(void **state)
{
    static const uint32_t spread[SYMBOLS] = { [HALO] = 2, [NORM] = 4, [INIT] = 4, [FINALIZE] = 4 };
    struct program *p = start(1);
    struct fv_unit u[FV_UNITS_MOST];
    (void)state;

    call(p, INIT, 0.1);
    for (int i = 0; i < 50; i++) {
        call(p, HALO, 0.001);
        call(p, NORM, 0.002);
    }
    call(p, FINALIZE, 0.001);
    const struct fv_call_sequence s = { .symbol = p->symbol,
                                        .begin_s = p->begin_s,
                                        .end_s = p->end_s,
                                        .spread = spread,
                                        .count = p->count,
                                        .symbols = SYMBOLS };
    assert_int_equal(fv_units_find(&s, u), 1);
    assert_int_equal(u[0].cut.anchor, NORM);
    assert_true(u[0].cut.is_end);
    expect_cuts(p, &u[0], 0.00302);
    fv_units_release(u, 1);
}

static void a_loop(void **state)
{
    struct program *p = start(1);
    struct fv_unit u[FV_UNITS_MOST];
    (void)state;

    call(p, INIT, 0.1);
    call(p, OTHER, 0.02);
    for (int i = 0; i < 100; i++) {
        call(p, HALO, 0.001);
        call(p, NORM, 0.001);
    }
    assert_int_equal(find(p, NULL, u), 1);
    assert_int_equal(u[0].count, 100);
    assert_int_equal(u[0].cut.anchor, HALO);
    assert_false(u[0].cut.is_end);
    expect_cuts(p, &u[0], 0.00202);
    assert_near(u[0].end_s - u[0].begin_s, 100 * 0.00202, 0.0011);
}

/* "for (step) { compute(); for (d < 3) allreduce(); }": three calls from one place are one iteration. */
static void calls_of_a_loop_within(void **state)
{
    (void)state;
    for (unsigned extra = 0; extra < 3; extra++)
        for (unsigned ends = 0; ends < 2; ends++) {
            struct fv_unit_cut by = { .anchor = NORM, .first = NORM, .is_end = ends, .core = NULL };
            uint8_t core[SYMBOLS] = { [NORM] = 1 };
            struct program *p = start(1);
            double seconds[MOST];
            size_t n = 0;

            for (unsigned i = 0; i < extra; i++)
                call(p, NORM, 1e-5);
            for (int i = 0; i < 60; i++)
                call(p, NORM, i % 3 ? 1e-5 : 0.01);
            by.core = core;
            for (int grouped = 0; grouped < 2; grouped++) {
                struct fv_cutter c = fv_cutter(by);
                struct fv_cut cut;

                n = 0;
                for (size_t i = 0; i <= p->count; i++)
                    if (i == p->count ? fv_cutter_end(&c, &cut)
                                      : fv_cutter_call(&c, p->symbol[i], p->begin_s[i], p->end_s[i], &cut))
                        seconds[n++] = cut.end_s - cut.begin_s;
                if (!grouped)
                    assert_true(fv_cut_together(seconds, n, &by));
            }
            assert_int_equal(by.each, 3);
            assert_that(n, >=, 19);
            for (size_t i = 1; i + 1 < n; i++) /* before the first one is no call, and the last one may have no end */
                assert_near(seconds[i], 0.01005, 1e-9);
        }
}

/* But not where the others take their part, or each is longer now and then. */
static void calls_that_are_iterations(void **state)
{
    double seconds[120];
    struct fv_unit_cut by = { .is_end = true };
    (void)state;

    for (int i = 0; i < 120; i++)
        seconds[i] = i % 3 ? 0.001 : 0.01;
    assert_false(fv_cut_together(seconds, 120, &by));
    for (int i = 0; i < 120; i++)
        seconds[i] = i % 10 ? 1e-5 : 0.01;
    assert_false(fv_cut_together(seconds, 120, &by));
    assert_int_equal(by.each, 0);
}

/* "if (step % 50 == 0) save()", with calls before and behind: the step stays the unit. */
static void an_occasional_call(void **state)
{
    (void)state;
    for (int every = 3; every <= 50; every += 47)
        for (int at_end = 0; at_end < 2; at_end++) {
            struct program *p = start(1);
            struct fv_unit u[FV_UNITS_MOST];

            for (int i = 0; i < 1000; i++) {
                call(p, HALO, 0.001);
                if (!at_end && i % every == 0)
                    call(p, SAVE, 0.002);
                call(p, NORM, 0.001);
                if (at_end && i % every == 0)
                    call(p, SAVE, 0.002);
            }
            assert_int_equal(find(p, NULL, u), 1);
            assert_int_equal(u[0].count, 1000);
        }
}

/* In one step of ten, at irregular distances, other calls take the place of one. */
static void a_branch(void **state)
{
    struct program *p = start(7);
    struct fv_unit u[FV_UNITS_MOST];
    (void)state;

    for (int i = 0; i < 2000; i++) {
        if (random_below(p, 10)) {
            call(p, HALO, 0.001);
        } else {
            call(p, DOT, 0.001);
            call(p, OTHER, 0.004);
        }
        call(p, NORM, 0.001);
    }
    assert_int_equal(find(p, NULL, u), 1);
    assert_int_equal(u[0].count, 2000);
}

/* main() calls solve(), whose rounds vary, and which asks for a norm before. */
static const uint32_t in_main[] = { 1 }, in_solve[] = { 2, 3 }, in_rounds[] = { 2, 4 }, in_halo[] = { 2, 5 };
static const struct fv_unit_path paths[SYMBOLS] = {
    [INIT] = { in_main, 1 }, [BCAST] = { (uint32_t[]){ 6 }, 1 },   [HALO] = { in_halo, 2 }, [NORM] = { in_rounds, 2 },
    [DOT] = { in_solve, 2 }, [SAVE] = { (uint32_t[]){ 7, 8 }, 2 },
};

static void nested(void **state)
{
    (void)state;
    for (int varies = 0; varies < 2; varies++) {
        struct program *p = start(3);
        struct fv_unit u[FV_UNITS_MOST];
        size_t rounds = 0;

        for (int i = 0; i < 60; i++) {
            call(p, BCAST, 0.001);
            call(p, DOT, 0.001);
            for (uint32_t k = varies ? 8 + random_below(p, 12) : 20; k; k--, rounds++) {
                call(p, HALO, 0.001);
                call(p, NORM, 0.0005);
            }
        }
        assert_int_equal(find(p, paths, u), 2);
        assert_int_equal(u[0].count, varies ? 60 : 60);
        assert_int_equal(u[1].count, rounds);
        assert_int_equal(u[1].inside, 0);
        assert_int_equal(u[0].inside, FV_NONE);
    }
}

/* main() asks for a norm, then solve() calls what has four rounds each time. It may as well be every fourth step: the
 * rounds stay the main unit, and the loop around them is listed, unless both are called from one function, or rounds
 * are left over. */
static void rounds_in_rounds(void **state)
{
    static const uint32_t in_loop[] = { 1, 9 }, rounds[] = { 1, 2, 3, 4 }, rounds_beside[] = { 5, 6 };
    (void)state;

    for (int of = 0; of < 3; of++) {
        const struct fv_unit_path fixed[SYMBOLS] = {
            [BCAST] = { in_loop, 2 }, [NORM] = { of == 1 ? rounds_beside : rounds, of == 1 ? 2 : 4 }
        };
        struct program *p = start(3);
        struct fv_unit u[FV_UNITS_MOST];

        for (int i = 0; i < 100; i++) {
            call(p, BCAST, 1e-5);
            for (int k = 0; k < 4 + (of == 2 && i == 99); k++)
                call(p, NORM, 0.001);
        }
        const size_t count = find(p, fixed, u), last = count - 1;
        assert_int_equal(count, of ? 1 : 2);
        assert_int_equal(u[last].count, of == 2 ? 401 : 400);
        assert_true(u[last].is_main);
        assert_int_equal(u[last].inside, of ? FV_NONE : 0);
        assert_true(of || (u[0].count == 100 && !u[0].is_main));
    }
}

/* "if (it is time) save()", every 27 to 33 steps, is no loop around the steps. */
static void irregular_branch(void **state)
{
    static const uint32_t in_norm[] = { 1, 2 }, in_save[] = { 3, 4 };
    const struct fv_unit_path beside[SYMBOLS] = { [NORM] = { in_norm, 2 }, [SAVE] = { in_save, 2 } };
    struct program *p = start(3);
    struct fv_unit u[FV_UNITS_MOST];
    uint32_t next = 30;
    (void)state;

    for (uint32_t i = 0; i < 600; i++) {
        call(p, NORM, 0.001);
        if (i != next)
            continue;
        call(p, SAVE, 0.01);
        next += 27 + random_below(p, 7);
    }
    assert_int_equal(find(p, beside, u), 1);
    assert_int_equal(u[0].count, 600);
}

static void two_phases(void **state)
{
    struct program *p = start(1);
    struct fv_unit u[FV_UNITS_MOST];
    (void)state;

    for (int i = 0; i < 100; i++) {
        call(p, HALO, 0.001);
        call(p, NORM, 0.001);
    }
    for (int i = 0; i < 100; i++) {
        call(p, DOT, 0.002);
        call(p, OTHER, 0.001);
    }
    assert_int_equal(find(p, NULL, u), 2);
    assert_int_equal(u[0].count, 100);
    assert_int_equal(u[1].count, 100);
    assert_int_equal(u[0].inside, FV_NONE);
    assert_int_equal(u[1].inside, FV_NONE);
    assert_that(u[0].end_s, <=, u[1].begin_s);
}

static void too_little(void **state)
{
    struct fv_unit u[FV_UNITS_MOST];
    struct program *p = start(1);
    (void)state;

    for (int i = 0; i < FV_UNIT_LEAST - 1; i++) /* too few */
        call(p, NORM, 0.1);
    assert_int_equal(find(p, NULL, u), 0);
    p = start(1);
    for (int i = 0; i < 50; i++) /* all in the first tenth of the time */
        call(p, NORM, 0.001);
    call(p, OTHER, 0.6);
    assert_int_equal(find(p, NULL, u), 0);
    p = start(1);
    assert_int_equal(find(p, NULL, u), 0);
}

/* Calls in random order, of as many call sites, some more frequent than others. */
static void random_calls(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program *p = start(seed);
        struct fv_unit u[FV_UNITS_MOST];
        uint32_t sites = 3 + random_below(p, 20), skew = random_below(p, 2);

        for (uint32_t n = 200 + random_below(p, 3000); n; n--) {
            uint32_t of = random_below(p, sites);

            call(p, LAST + (skew && of > 2 ? random_below(p, sites) : of), 1e-4 * (1 + random_below(p, 20)));
        }
        size_t count = find(p, NULL, u);
        if (count)
            fail_msg("seed %u: %zu iterations of %u sites", (unsigned)seed, u[0].count, sites);
    }
}

/* Loops with jitter, of any body, are found with their number. */
static void random_loops(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program *p = start(seed);
        struct fv_unit u[FV_UNITS_MOST];
        uint32_t body = 1 + random_below(p, 8), times = 20 + random_below(p, 400), inner = random_below(p, 2);

        call(p, INIT, 0.01);
        for (uint32_t i = 0; i < times; i++) {
            for (uint32_t k = 0; k < body; k++)
                for (uint32_t n = inner && body > 2 && k == 1 ? 1 + random_below(p, 5) : 1; n; n--)
                    call(p, LAST + 2 + k, 1e-4 * (10 + random_below(p, 5)));
            if (!random_below(p, 30))
                call(p, SAVE, 1e-3);
        }
        size_t count = find(p, NULL, u);
        if (!count || u[0].count != times)
            fail_msg("seed %u: %zu of %u iterations of %u calls", (unsigned)seed, count ? u[0].count : 0, times, body);
    }
}

/* ---- times ---- */

#define TIMES 1000
static double seconds[TIMES];

static void fill(struct program *p, size_t n, double noise)
{
    for (size_t i = 0; i < n; i++)
        seconds[i] = 0.01 * (1 + noise * ((double)random_below(p, 1000) / 1000 - 0.5));
}

static void periods(void **state)
{
    (void)state;
    for (uint32_t every = 2; every <= 60; every++) {
        struct program *p = start(every);

        fill(p, TIMES, 0.2);
        for (uint32_t i = every / 2; i < TIMES; i += every)
            seconds[i] *= 3;
        seconds[1] = 0.2; /* and an outlier */
        struct fv_iteration_times t = fv_judge_times(seconds, TIMES);
        assert_int_equal(t.period, every);
        assert_int_equal(t.phase, every / 2);
        assert_near(t.factor, 3, 0.2);
        assert_int_equal(t.longest, 1);
        assert_near(t.period_s, 0.02 * TIMES / every, 0.2 * 0.02 * TIMES / every + 0.2);
        assert_false(t.is_trend);
        assert_true(every < 5 || t.outliers == 1);
    }
}

/* Others take the processor from as many iterations as are long by the program, which are much longer. */
static void periods_beside_others(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct program *p = start(seed);

        fill(p, TIMES, 0.2);
        for (size_t i = 0; i < TIMES / 40; i++)
            seconds[random_below(p, TIMES)] = 0.02 + 1e-5 * random_below(p, 500);
        for (uint32_t i = 49; i < TIMES; i += 50)
            seconds[i] = 0.08;
        struct fv_iteration_times t = fv_judge_times(seconds, TIMES);
        assert_int_equal(t.period, 50);
        assert_int_equal(t.phase, 49);
    }
}

/* Preemption makes more iterations long than the period has, and is known; or it makes the period. */
static void periods_and_preemption(void **state)
{
    static double undisturbed[TIMES];
    (void)state;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct program *p = start(seed);

        fill(p, TIMES, 0.2);
        for (uint32_t i = 24; i < TIMES; i += 25)
            seconds[i] *= 5;
        memcpy(undisturbed, seconds, sizeof(seconds));
        for (size_t i = 0; i < TIMES; i++)
            seconds[i] += random_below(p, 4) ? 0 : 0.1 + 1e-4 * random_below(p, 1000);
        struct fv_iteration_times t = fv_judge_disturbed(seconds, undisturbed, TIMES);
        assert_true(t.is_exact);
        assert_int_equal(t.period, 25);
        assert_near(t.typical_s, 0.04 * TIMES / 25, 0.3);
        fill(p, TIMES, 0.2);
        memcpy(undisturbed, seconds, sizeof(seconds));
        for (uint32_t i = 24; i < TIMES; i += 25)
            seconds[i] *= 5;
        assert_false(fv_judge_disturbed(seconds, undisturbed, TIMES).is_exact);
        assert_true(fv_judge_disturbed(seconds, seconds, TIMES).is_exact);
    }
}

/* From one iteration on they take another time. Growth is no step. */
static void steps(void **state)
{
    static double undisturbed[TIMES];
    (void)state;

    for (size_t at = 150; at <= 850; at += 100)
        for (int shrinks = 0; shrinks < 2; shrinks++) {
            struct program *p = start(at);

            fill(p, TIMES, 0.5);
            memcpy(undisturbed, seconds, sizeof(seconds));
            for (size_t i = 0; i < TIMES; i++)
                seconds[i] *= (i < at) == shrinks ? 3 : 1;
            struct fv_iteration_times t = fv_judge_times(seconds, TIMES);
            assert_true(t.is_trend);
            assert_near(t.step, at, 3);
            assert_near(t.factor, shrinks ? 1 / 3.0 : 3, 0.3);
            assert_near(t.grown_s, shrinks ? 0 : 0.02 * (double)(TIMES - at), 2);
            assert_false(fv_judge_disturbed(seconds, undisturbed, TIMES).is_trend); /* a step by preemption */
        }
}

/* On both sides times grow by a hundredth, as a machine warms up: that is no growth from one side to the other. */
static void a_step_and_a_slow_drift(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIMES; i++)
        seconds[i] = (i < TIMES / 2 ? 0.004 : 0.012) * (1 + 0.01 * (double)i / TIMES);
    struct fv_iteration_times t = fv_judge_times(seconds, TIMES);
    assert_true(t.is_trend);
    assert_int_equal(t.step, TIMES / 2);
    assert_near(t.factor, 3, 0.1);
    assert_near(t.grown_s, 0.008 * TIMES / 2, 0.1);
}

static void trends(void **state)
{
    struct program *p = start(1);
    (void)state;

    for (int shrinks = 0; shrinks < 2; shrinks++) {
        fill(p, TIMES, 0.5);
        for (size_t i = 0; i < TIMES; i++)
            seconds[i] *= 1 + 1.6 * (double)(shrinks ? TIMES - i : i) / TIMES;
        struct fv_iteration_times t = fv_judge_times(seconds, TIMES);
        assert_true(t.is_trend);
        assert_int_equal(t.step, 0);
        assert_near(t.first_s, shrinks ? 0.0252 : 0.0108, 0.002);
        assert_near(t.last_s, shrinks ? 0.0108 : 0.0252, 0.002);
        if (shrinks)
            assert_that(t.grown_s, <=, 0);
        else
            assert_that(t.grown_s, >, 0.5 * 0.008 * TIMES);
        assert_int_equal(t.period, 0);
    }
}

/* Noise of several forms: nothing is said. */
static void steady(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program *p = start(seed);
        size_t n = FV_JUDGE_LEAST + random_below(p, TIMES - FV_JUDGE_LEAST);

        fill(p, n, 0.01 + random_below(p, 150) / 100.0);
        for (size_t i = 0; i < n; i++) /* disturbances, at random */
            seconds[i] += random_below(p, 25) ? 0 : 0.001 * random_below(p, 50);
        struct fv_iteration_times t = fv_judge_times(seconds, n);
        if (t.period || t.is_trend)
            fail_msg("seed %u, %zu: period %u, trend %d", (unsigned)seed, n, t.period, t.is_trend);
    }
    struct fv_iteration_times few = fv_judge_times(seconds, FV_JUDGE_LEAST - 1);
    assert_true(isnan(few.limit_s) && !few.period && !few.is_trend);
}

static float load[TIMES * 8];

/* who < 0: each iteration another one, at random. */
static void fill_load(struct program *p, size_t ranks, size_t keeps, bool fixed)
{
    uint32_t slow = 0;

    for (size_t i = 0; i < TIMES; i++) {
        if (i && i % keeps == 0)
            slow = fixed ? slow : keeps > 1 ? (slow + 1) % (uint32_t)ranks : random_below(p, (uint32_t)ranks);
        seconds[i] = 0.012;
        for (size_t k = 0; k < ranks; k++)
            load[i * ranks + k] = (float)((k == slow ? 0.010 : 0.006) + 1e-6 * random_below(p, 1000));
    }
}

static void slowest_rank(void **state)
{
    struct program *p = start(5);
    (void)state;

    for (size_t ranks = 2; ranks <= 8; ranks++) {
        fill_load(p, ranks, 12, false);
        struct fv_moving_load m = fv_judge_load(load, ranks, seconds, TIMES);
        assert_true(m.moves);
        assert_near(m.every, 12, 0.5);
        assert_true(m.is_fixed);
        assert_int_equal(m.ranks, ranks);
        assert_that(m.lost_s, <=, m.imbalance_s);
        fill_load(p, ranks, 12, true); /* it stays */
        assert_false(fv_judge_load(load, ranks, seconds, TIMES).moves);
        fill_load(p, ranks, 1, false); /* noise */
        assert_false(fv_judge_load(load, ranks, seconds, TIMES).moves);
    }
    assert_false(fv_judge_load(load, 1, seconds, TIMES).moves);
}

/* As after sorting, of values many of which are equal. */
static void selection(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct program *p = start(seed);
        size_t n = 1 + random_below(p, 300);
        double part = random_below(p, 101) / 100.0, sorted[300], values[300];

        for (size_t i = 0; i < n; i++)
            sorted[i] = values[i] = random_below(p, 1 + (uint32_t)(seed % 50));
        qsort(sorted, n, sizeof(*sorted), fv_by_real);
        assert_near(fv_select(values, n, part), fv_quantile(sorted, sizeof(*sorted), n, part), 1e-9);
        qsort(values, n, sizeof(*values), fv_by_real);
        assert_memory_equal(values, sorted, n * sizeof(*values));
    }
}

static size_t iteration; /* each call is of another one */
#define IN(class_) ((struct fv_extra_iteration){ .number = iteration++, .of = (class_) })

/* 10 long iterations, 90 others. */
static struct fv_extra extra_of(size_t ranks, const struct fv_site *sites, size_t count)
{
    struct fv_extra x = { .classes = { 0, 90, 10 }, .ranks = ranks, .sites = count, .depth = 1 };

    x.nodes = fv_xcalloc(count, sizeof(*x.nodes));
    for (size_t i = 0; i < count; i++)
        x.nodes[i] = sites[i].node;
    return x;
}

/* One iteration of a rank. */
static void iterate(struct fv_extra *x, uint32_t save, bool is_long, double before_save_s)
{
    fv_extra_call(x, 0, IN(is_long ? FV_EXTRA_LONG : FV_EXTRA_OTHER), 0.001, 1e-5);
    if (is_long)
        fv_extra_call(x, save, IN(FV_EXTRA_LONG), before_save_s, 1e-5);
}

/* Rank 0 computes before a call that it makes at a site of its own: the compiler made two of one line. */
static void rank_of_a_branch(void **state)
{
    static const uint32_t apart[] = { 0, 1, 2 }, alike[] = { 0, 1, 1 };
    struct fv_node nodes[] = { { .parent = 0 }, { .parent = 0 }, { .parent = 1 }, { .parent = 1 }, { .parent = 1 } };
    struct fv_site sites[] = { { .node = 2 }, { .node = 3 }, { .node = 4 } };
    struct fv_model m = { .sites = sites, .site_count = 3, .tree = { .nodes = nodes, .node_count = 5 } };
    struct fv_extra x = extra_of(2, sites, 3);
    struct fv_iteration_unit u = { .cause_site = FV_NONE, .cause_rank = FV_NONE };
    (void)state;

    for (uint32_t rank = 0; rank < 2; rank++) {
        for (unsigned i = 0; i < 100; i++)
            iterate(&x, 1 + rank, i % 10 == 9, rank ? 1e-5 : 0.008);
        fv_extra_end_rank(&x, rank, true);
    }
    fv_extra_judge(&x, &m, apart, &u);
    assert_int_equal(u.cause_site, 1);
    assert_int_equal(u.cause_rank, 0);
    m.site_count = 2;
    fv_extra_judge(&x, &m, alike, &u);
    assert_int_equal(u.cause_site, 1);
    assert_int_equal(u.cause_node, 3);
    assert_int_equal(u.cause_rank, 0);
    assert_true(u.cause_is_alone);
    assert_int_equal(u.longs, 10);
    fv_extra_release(&x);
}

/* A few of the long iterations have a call that others lack; the machine makes the rest. */
static void one_cause_of_several(void **state)
{
    static const uint32_t same[] = { 0, 1 };
    struct fv_node nodes[] = { { .parent = 0 }, { .parent = 0 }, { .parent = 0 } };
    struct fv_site sites[] = { { .node = 1 }, { .node = 2 } };
    struct fv_model m = { .sites = sites, .site_count = 2, .tree = { .nodes = nodes, .node_count = 3 } };
    struct fv_extra x = extra_of(1, sites, 2);
    struct fv_iteration_unit u = { .cause_site = FV_NONE, .cause_rank = FV_NONE };
    (void)state;

    for (unsigned i = 0; i < 100; i++) {
        fv_extra_call(&x, 0, (struct fv_extra_iteration){ i, i < 10 ? FV_EXTRA_LONG : FV_EXTRA_OTHER, 0.02 },
                      i < 10 ? 0.005 : 0.001, 1e-5);
        if (i < 4)
            fv_extra_call(&x, 1, (struct fv_extra_iteration){ i, FV_EXTRA_LONG, 0.02 }, 0.01, 1e-5);
        if (i == 99) /* which was not so long */
            fv_extra_call(&x, 1, (struct fv_extra_iteration){ i, FV_EXTRA_OTHER, 0.01 }, 0.001, 1e-5);
    }
    fv_extra_end_rank(&x, 0, true);
    fv_extra_judge(&x, &m, same, &u);
    assert_true(u.cause_is_alone);
    assert_int_equal(u.cause_site, 1);
    assert_int_equal(u.cause_in, 5);
    assert_near(u.cause_in_s, 0.018, 1e-9);
    assert_near(u.cause_s, 4 * 0.01001 - 10 * 0.00101 / 90, 1e-9);
    fv_extra_release(&x);
}

/* Rank 0 computes before it sends; rank 1 waits for that, a little longer, at a site of its own. */
static void rank_that_is_waited_for(void **state)
{
    static const uint32_t same[] = { 0, 1, 2 };
    struct fv_node nodes[] = { { .parent = 0 }, { .parent = 0 }, { .parent = 0 }, { .parent = 0 } };
    struct fv_site sites[] = { { .node = 1 }, { .node = 2 }, { .node = 3 } };
    struct fv_model m = { .sites = sites, .site_count = 3, .tree = { .nodes = nodes, .node_count = 4 } };
    struct fv_extra x = extra_of(2, sites, 3);
    struct fv_iteration_unit u = { .cause_site = FV_NONE, .cause_rank = FV_NONE };
    (void)state;

    for (uint32_t rank = 0; rank < 2; rank++) {
        for (unsigned i = 0; i < 100; i++)
            fv_extra_call(&x, 0, IN(i % 10 == 9 ? FV_EXTRA_LONG : FV_EXTRA_OTHER), 0.001, 1e-5);
        for (unsigned i = 0; i < 10; i++)
            fv_extra_call(&x, 1 + rank, IN(FV_EXTRA_LONG), rank ? 1e-5 : 0.008, rank ? 0.0081 : 1e-5);
        fv_extra_end_rank(&x, rank, true);
    }
    fv_extra_judge(&x, &m, same, &u);
    assert_int_equal(u.cause_site, 1);
    assert_int_equal(u.cause_rank, 0);
    fv_extra_release(&x);
}

/* A line is one site in long iterations and another in others: a rank that always computes longer has nothing more. */
static void rank_of_two_clones(void **state)
{
    static const uint32_t alike[] = { 0, 1, 1 };
    struct fv_node nodes[] = { { .parent = 0 }, { .parent = 0 }, { .parent = 0 }, { .parent = 0 } };
    struct fv_site sites[] = { { .node = 1 }, { .node = 2 }, { .node = 3 } };
    struct fv_model m = { .sites = sites, .site_count = 2, .tree = { .nodes = nodes, .node_count = 4 } };
    struct fv_extra x = extra_of(2, sites, 3);
    struct fv_iteration_unit u = { .cause_site = FV_NONE, .cause_rank = FV_NONE };
    (void)state;

    for (uint32_t rank = 0; rank < 2; rank++) {
        for (unsigned i = 0; i < 100; i++) {
            bool is_long = i % 10 == 9;

            fv_extra_call(&x, is_long ? 1 : 2, IN(is_long ? FV_EXTRA_LONG : FV_EXTRA_OTHER),
                          (rank ? 0.01 : 0.02) + (is_long && rank ? 0.005 : 0), 1e-5);
        }
        fv_extra_end_rank(&x, rank, true);
    }
    fv_extra_judge(&x, &m, alike, &u);
    assert_int_equal(u.cause_site, 1);
    assert_int_equal(u.cause_rank, 1);
    fv_extra_release(&x);
}

/* Ranks that have about as much: none is named. */
static void rank_of_many(void **state)
{
    static const uint32_t same[] = { 0, 1 };
    struct fv_node nodes[] = { { .parent = 0 }, { .parent = 0 } };
    struct fv_site sites[] = { { .node = 1 }, { .node = 1 } };
    struct fv_model m = { .sites = sites, .site_count = 2, .tree = { .nodes = nodes, .node_count = 2 } };
    (void)state;

    for (double most = 1; most < 2; most += 0.1) {
        struct fv_extra x = extra_of(8, sites, 2);
        struct fv_iteration_unit u = { .cause_site = FV_NONE, .cause_rank = FV_NONE };

        for (uint32_t rank = 0; rank < 8; rank++) {
            for (unsigned i = 0; i < 100; i++)
                iterate(&x, 1, i % 10 == 9, rank == 5 ? 0.008 * most : 0.008);
            fv_extra_end_rank(&x, rank, rank != 7);
        }
        fv_extra_judge(&x, &m, same, &u);
        assert_int_equal(u.cause_rank, most > 1.25 ? 5 : FV_NONE);
        fv_extra_release(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop),
        cmocka_unit_test(calls_of_a_loop_within),
        cmocka_unit_test(calls_that_are_iterations),
        cmocka_unit_test(cut_behind),
        cmocka_unit_test(an_occasional_call),
        cmocka_unit_test(a_branch),
        cmocka_unit_test(nested),
        cmocka_unit_test(rounds_in_rounds),
        cmocka_unit_test(irregular_branch),
        cmocka_unit_test(two_phases),
        cmocka_unit_test(too_little),
        cmocka_unit_test(random_calls),
        cmocka_unit_test(random_loops),
        cmocka_unit_test(periods),
        cmocka_unit_test(periods_beside_others),
        cmocka_unit_test(periods_and_preemption),
        cmocka_unit_test(trends),
        cmocka_unit_test(steps),
        cmocka_unit_test(a_step_and_a_slow_drift),
        cmocka_unit_test(steady),
        cmocka_unit_test(slowest_rank),
        cmocka_unit_test(selection),
        cmocka_unit_test(rank_of_a_branch),
        cmocka_unit_test(one_cause_of_several),
        cmocka_unit_test(rank_that_is_waited_for),
        cmocka_unit_test(rank_of_two_clones),
        cmocka_unit_test(rank_of_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
