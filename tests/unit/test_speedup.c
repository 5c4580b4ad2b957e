/* Stacks of runs on several numbers of threads, with numbers that were chosen so that the answers are known. */
#include "scaling/speedup.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* A run: seconds of its one phase, and of all of it. */
struct run {
    size_t threads;
    struct fv_speedup_times phase;
    double elapsed_s;
};

static void add(struct fv_speedup_phase *phase, size_t threads, struct fv_speedup_times times, double time_s, double serial_s)
{
    FV_GROW(phase->points, phase->room, phase->count + 1);
    phase->points[phase->count++] = (struct fv_speedup_point){ .threads = threads, .runs = 1, .least_s = time_s, .next_s = INFINITY, .most_s = time_s, .times = times, .serial_s = serial_s };
}

static struct fv_speedup make(const struct run *runs, size_t count)
{
    struct fv_speedup s = { 0 };

    FV_GROW(s.phases, s.room, 2);
    s.count = 2;
    s.phases[0] = (struct fv_speedup_phase){ .kind = "program" };
    s.phases[1] = (struct fv_speedup_phase){ .kind = "omp", .name = "a" };
    for (size_t i = 0; i < count; i++) {
        struct fv_speedup_times all = runs[i].phase;

        all.elapsed_s = runs[i].elapsed_s;
        add(&s.phases[0], runs[i].threads, all, runs[i].elapsed_s, runs[i].elapsed_s - runs[i].phase.elapsed_s);
        add(&s.phases[1], runs[i].threads, runs[i].phase, runs[i].phase.longest_s, 0);
    }
    return s;
}

static void close_to(double found, double wanted)
{
    if (!(fabs(found - wanted) < 1e-12 * (1 + fabs(wanted))))
        fail_msg("found %.15g, wanted %.15g", found, wanted);
}

#define ONE                                  \
    {                                        \
        1, { 12, 12, 12, 12, 0, 0 }, 15   \
    }

static void components_add_up(void **state)
{
    struct fv_speedup s = make((struct run[]){ ONE, { 4, { 6, 6, 5, 18, 2, 2 }, 9 } }, 2);
    const struct fv_speedup_point *phase, *all;

    (void)state;
    assert_int_equal(fv_speedup_compute(&s), 0);
    phase = &s.phases[1].points[1];
    assert_int_equal(phase->reject, FV_SPEEDUP_GOOD);
    close_to(phase->stack.measured, 12. / 6);
    close_to(phase->stack.synchronisation, 12. / 5 - 12. / 6);
    close_to(phase->stack.imbalance, 48. / 18 - 12. / 5);
    close_to(phase->stack.few_cpus, 48. / 16 - 48. / 18);
    close_to(phase->stack.work, 4 - 48. / 16);
    all = &s.phases[0].points[1];
    close_to(all->stack.measured, 15. / 9);
    close_to(all->serial, 12. / 6 - 15. / 9);
    close_to(all->stack.measured + all->serial + all->stack.synchronisation + all->stack.imbalance + all->stack.few_cpus + all->stack.work, 4);
    fv_speedup_release(&s);
}

/* Without anything that takes away, the speedup is N. */
static void perfect(void **state)
{
    struct fv_speedup s = make((struct run[]){ { 1, { 12, 12, 12, 12, 0, 0 }, 12 }, { 3, { 4, 4, 4, 12, 0, 0 }, 4 } }, 2);
    const struct fv_speedup_point *all;

    (void)state;
    assert_int_equal(fv_speedup_compute(&s), 0);
    all = &s.phases[0].points[1];
    close_to(all->stack.measured, 3);
    close_to(all->serial, 0);
    close_to(all->stack.work, 0);
    fv_speedup_release(&s);
}

static enum fv_speedup_reject verdict(const struct run *runs, size_t count)
{
    struct fv_speedup s = make(runs, count);
    enum fv_speedup_reject found;

    assert_int_equal(fv_speedup_compute(&s), 0);
    found = s.phases[1].points[s.phases[1].count - 1].reject;
    fv_speedup_release(&s);
    return found;
}

static void rejected(void **state)
{
    struct fv_speedup s;

    (void)state;
    assert_int_equal(verdict((struct run[]){ ONE, { 2, { 7, 7, 7, 13, 0, 0 }, 9 } }, 2), FV_SPEEDUP_GOOD);
    assert_int_equal(verdict((struct run[]){ { 2, { 7, 7, 7, 13, 0, 0 }, 9 }, { 4, { 4, 4, 4, 13, 0, 0 }, 9 } }, 2), FV_SPEEDUP_NO_T1);
    assert_int_equal(verdict((struct run[]){ ONE, { 2, { 7, 7, 7, 13, 0, 0.5 }, 9 } }, 2), FV_SPEEDUP_OFF_CPU);
    assert_int_equal(verdict((struct run[]){ { 1, { 12, 12, 12, 12, 0, 1 }, 15 }, { 2, { 7, 7, 7, 13, 0, 0 }, 9 } }, 2), FV_SPEEDUP_OFF_CPU);
    assert_int_equal(verdict((struct run[]){ ONE, { 2, { 5, 5, 5, 10, 0, 0 }, 9 } }, 2), FV_SPEEDUP_TOO_LARGE);
    s = make((struct run[]){ ONE, { 2, { 7, 7, 7, 13, 0, 0 }, 9 } }, 2);
    s.phases[1].points[0].next_s = 13;
    assert_int_equal(fv_speedup_compute(&s), 0);
    assert_int_equal(s.phases[1].points[1].reject, FV_SPEEDUP_SPREAD);
    assert_int_equal(s.phases[0].points[1].reject, FV_SPEEDUP_GOOD);
    fv_speedup_release(&s);
    s = make((struct run[]){ ONE }, 1);
    assert_int_equal(fv_speedup_compute(&s), -FV_EFORMAT);
    fv_speedup_release(&s);
}

/* ---- one thread at a time ---- */

/* A run of the phase in which one thread at a time ran alone. */
struct alone {
    struct fv_alone_run run;
    struct fv_phase_alone of;
    uint64_t instances;
};
/* clang-format off */
#define WHOLE { true, 0, 8, 8, 1 }
#define PIRATE(part) { true, 1, 8, (uint64_t)(8 * (part)), part }
#define TIME(s) { .measured = 2, .threads = 4, .time_s = s, .cpu_s = s, .probes = 1000, .misses = 10 }
/* T1 = 12 s; of four threads, which together need 18 s, of these 2 s in a queue. */
#define FOUR { ONE, { 4, { 6, 6, 5, 18, 2, 2 }, 9 } }
/* clang-format on */

static struct fv_speedup with_alone(const struct run *runs, size_t count, const struct alone *alone, size_t alone_count)
{
    struct fv_speedup s = make(runs, count);

    for (size_t i = 0; i < alone_count; i++) {
        struct fv_phase phase = { .kind = FV_PHASE_OMP, .ranks = 1, .alone = alone[i].of, .sums = { .instances = alone[i].instances ? alone[i].instances : 2, .threads_max = 4 } };

        fv_alone_add(&s.phases[1], &alone[i].run, &phase);
    }
    assert_int_equal(fv_speedup_compute(&s), 0);
    return s;
}

static void taken_apart(void **state)
{
    const struct alone runs[] = { { WHOLE, TIME(3.2), 0 }, { PIRATE(0.25), TIME(3.75), 0 }, { PIRATE(0.5), TIME(3.5), 0 }, { WHOLE, TIME(3.2), 0 } };
    struct fv_speedup s = with_alone((struct run[])FOUR, 2, runs, 4);
    (void)state;

    for (size_t i = 0; i < 2; i++) { /* of the phase and of the whole program, which has no other */
        const struct fv_speedup_point *p = &s.phases[i].points[1];

        assert_int_equal(p->alone.verdict, FV_ALONE_GOOD);
        close_to(p->alone.alone, 12 / 3.2);
        close_to(p->alone.pirate, 12 / 3.75);
        close_to(p->alone.overhead, 4 - 12 / 3.2);
        close_to(p->alone.cache, 12 / 3.2 - 12 / 3.75);
        close_to(p->alone.memory, 12 / 3.75 - 48. / 16);
        close_to(p->alone.overhead + p->alone.cache + p->alone.memory, p->stack.work);
        close_to(p->alone.overhead + p->alone.shared, p->stack.work);
        assert_int_equal(s.phases[i].alone_count, 3);
        close_to(s.phases[i].alone[0].part, 1);
        close_to(s.phases[i].alone[1].slower, 3.5 / 3.2);
        close_to(s.phases[i].alone[2].slower, 3.75 / 3.2);
        assert_int_equal(s.phases[i].points[0].alone.verdict, FV_ALONE_NOT_RUN);
    }
    assert_int_equal(s.phases[1].alone[0].runs, 2);
    close_to(fv_alone_gain(&s.phases[1], 4, 1), 1);
    close_to(fv_alone_gain(&s.phases[1], 4, 2), 3.75 / 3.5);
    close_to(fv_alone_gain(&s.phases[1], 4, 4), 3.75 / 3.2);
    close_to(fv_alone_gain(&s.phases[1], 4, sqrt(8)), 3.75 / sqrt(3.5 * 3.2)); /* between two points */
    assert_true(isnan(fv_alone_gain(&s.phases[1], 4, 8)));
    assert_true(isnan(fv_alone_gain(&s.phases[1], 2, 2)));
    fv_speedup_release(&s);
}

/* Of 100 instances two were measured: all are thought to take as long. */
static void instances(void **state)
{
    struct fv_speedup s = with_alone((struct run[])FOUR, 2, (struct alone[]){ { WHOLE, TIME(0.064), 100 } }, 1);
    (void)state;

    close_to(s.phases[1].alone[0].time_s, 3.2);
    assert_int_equal(s.phases[1].points[1].alone.verdict, FV_ALONE_NO_PART);
    close_to(s.phases[1].points[1].alone.shared, 12 / 3.2 - 3);
    assert_true(isnan(s.phases[1].points[1].alone.cache));
    fv_speedup_release(&s);
}

static enum fv_alone_verdict separation(struct alone part, struct alone whole)
{
    const struct alone runs[] = { whole, part };
    struct fv_speedup s = with_alone((struct run[])FOUR, 2, runs, 2);
    const struct fv_speedup_point *p = &s.phases[1].points[1];
    enum fv_alone_verdict found = p->alone.verdict;

    assert_int_equal(s.phases[0].points[1].alone.verdict, found);
    if (found)
        assert_true(isnan(p->alone.cache) && isnan(p->alone.memory));
    fv_speedup_release(&s);
    return found;
}

/* 8 s of work of four threads, one of which has 5 s of it: the longest is above 1.25 times the mean. */
static void unequal(void **state)
{
    const struct run runs[] = { { 1, { 8, 8, 8, 8, 0, 0 }, 9 }, { 4, { 5, 5, 5, 8, 0, 0 }, 6 } };
    struct alone few = { WHOLE, TIME(2), 0 }, enough = few;
    struct fv_speedup s = with_alone(runs, 2, &few, 1);
    (void)state;

    assert_int_equal(s.phases[1].points[1].alone.verdict, FV_ALONE_UNEQUAL);
    assert_int_equal(s.phases[0].points[1].alone.verdict, FV_ALONE_UNEQUAL); /* so the whole program's is not known either */
    assert_true(isnan(s.phases[0].points[1].alone.overhead) && isnan(s.phases[0].points[1].alone.shared));
    fv_speedup_release(&s);
    enough.of.measured = 8, enough.instances = 8;
    s = with_alone(runs, 2, &enough, 1);
    assert_int_equal(s.phases[1].points[1].alone.verdict, FV_ALONE_NO_PART);
    close_to(s.phases[0].points[1].alone.overhead, 4 - s.phases[0].points[1].alone.alone);
    fv_speedup_release(&s);
}

static void dropped(void **state)
{
    const struct alone good = { PIRATE(0.25), TIME(3.75), 0 }, whole = { WHOLE, TIME(3.2), 0 };
    struct alone bad = good, other = whole;
    struct fv_speedup s;
    (void)state;

    assert_int_equal(separation(good, whole), FV_ALONE_GOOD);
    bad.of.misses = 31;
    assert_int_equal(separation(bad, whole), FV_ALONE_LOST);
    bad = good, bad.of.lost_s = 0.38;
    assert_int_equal(separation(bad, whole), FV_ALONE_LOST);
    bad = good, bad.of.probes = 63, bad.of.misses = 0;
    assert_int_equal(separation(bad, whole), FV_ALONE_UNPROBED);
    bad = good, bad.of.cpu_s = 0.97 * bad.of.time_s;
    assert_int_equal(separation(bad, whole), FV_ALONE_OFF_CPU);
    bad = good, bad.of.let_go = 1, bad.of.why = 1;
    assert_int_equal(separation(bad, whole), FV_ALONE_WAITS);
    bad.of.why = 10;
    assert_int_equal(separation(bad, whole), FV_ALONE_CUT);
    bad.of.why = 77; /* of a later version */
    assert_int_equal(separation(bad, whole), FV_ALONE_NOT_MEASURED);
    bad = good, bad.of.measured = 0;
    assert_int_equal(separation(bad, whole), FV_ALONE_NOT_MEASURED);
    bad = good, bad.of.time_s = bad.of.cpu_s = 4.3; /* together: 4 */
    assert_int_equal(separation(bad, whole), FV_ALONE_SHARED);
    other.of.time_s = other.of.cpu_s = 4.3;
    assert_int_equal(separation(good, other), FV_ALONE_MORE);
    other.of.time_s = other.of.cpu_s = 2.8; /* T1 / N: 3 */
    assert_int_equal(separation(good, other), FV_ALONE_TOO_LARGE);
    other = whole, other.of.let_go = 1, other.of.why = 6;
    assert_int_equal(separation(good, other), FV_ALONE_NESTED);
    s = with_alone((struct run[])FOUR, 2, (struct alone[]){ good, whole, { WHOLE, TIME(3.6), 0 } }, 3); /* before and after */
    assert_int_equal(s.phases[1].points[1].alone.verdict, FV_ALONE_VARIES);
    assert_true(isnan(s.phases[1].alone[1].slower));
    fv_speedup_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(components_add_up), cmocka_unit_test(perfect), cmocka_unit_test(rejected), cmocka_unit_test(taken_apart), cmocka_unit_test(instances), cmocka_unit_test(unequal), cmocka_unit_test(dropped) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
