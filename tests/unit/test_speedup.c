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
    phase->points[phase->count++] = (struct fv_speedup_point){ .threads = threads, .runs = 1, .least_s = time_s, .most_s = time_s, .times = times, .serial_s = serial_s };
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
        1, { 12, 12, 12, 12, 0, 0, 0 }, 15   \
    }

static void components_add_up(void **state)
{
    struct fv_speedup s = make((struct run[]){ ONE, { 4, { 6, 6, 5, 18, 2, 2, 0 }, 9 } }, 2);
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
    struct fv_speedup s = make((struct run[]){ { 1, { 12, 12, 12, 12, 0, 0, 0 }, 12 }, { 3, { 4, 4, 4, 12, 0, 0, 0 }, 4 } }, 2);
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
    assert_int_equal(verdict((struct run[]){ ONE, { 2, { 7, 7, 7, 13, 0, 0, 0 }, 9 } }, 2), FV_SPEEDUP_GOOD);
    assert_int_equal(verdict((struct run[]){ { 2, { 7, 7, 7, 13, 0, 0, 0 }, 9 }, { 4, { 4, 4, 4, 13, 0, 0, 0 }, 9 } }, 2), FV_SPEEDUP_NO_T1);
    assert_int_equal(verdict((struct run[]){ ONE, { 2, { 7, 7, 7, 13, 0, 0.5, 0 }, 9 } }, 2), FV_SPEEDUP_OFF_CPU);
    assert_int_equal(verdict((struct run[]){ { 1, { 12, 12, 12, 12, 0, 1, 0 }, 15 }, { 2, { 7, 7, 7, 13, 0, 0, 0 }, 9 } }, 2), FV_SPEEDUP_OFF_CPU);
    assert_int_equal(verdict((struct run[]){ ONE, { 2, { 5, 5, 5, 10, 0, 0, 0 }, 9 } }, 2), FV_SPEEDUP_TOO_LARGE);
    s = make((struct run[]){ ONE, { 2, { 7, 7, 7, 13, 0, 0, 0 }, 9 } }, 2);
    s.phases[1].points[0].most_s = 13;
    assert_int_equal(fv_speedup_compute(&s), 0);
    assert_int_equal(s.phases[1].points[1].reject, FV_SPEEDUP_SPREAD);
    assert_int_equal(s.phases[0].points[1].reject, FV_SPEEDUP_GOOD);
    fv_speedup_release(&s);
    s = make((struct run[]){ ONE }, 1);
    assert_int_equal(fv_speedup_compute(&s), -FV_EFORMAT);
    fv_speedup_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(components_add_up), cmocka_unit_test(perfect), cmocka_unit_test(rejected) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
