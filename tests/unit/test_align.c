/* Clocks of hosts aligned by made operations, of which the true times are known. */
#include "profile/align.h"
#include "unit.h"

#define US 1e-6
#define MS 1e-3

enum { MOST_CLOCKS = 64, ENOUGH = 1 << 20 };

/* What each clock shows is true time + wrong_s + rate * true time. */
static struct {
    struct fv_align *align;
    struct fv_alignment found;
    uint32_t clocks, operations;
    double wrong_s[MOST_CLOCKS], rate[MOST_CLOCKS], until_s;
    uint64_t random;
} run;

static int set_up(void **state)
{
    (void)state;
    run.align = NULL;
    run.operations = 0;
    run.random = 7;
    for (int i = 0; i < MOST_CLOCKS; i++)
        run.wrong_s[i] = run.rate[i] = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fv_align_free(run.align);
    return 0;
}

static void start(uint32_t clocks, size_t most)
{
    run.clocks = clocks;
    run.align = fv_align_new(clocks, most);
}

static double chance(double most_s)
{
    run.random = run.random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return most_s * (double)(run.random >> 11) / 9007199254740992.0;
}

static double shown(uint32_t clock, double true_s)
{
    return true_s + run.wrong_s[clock] + run.rate[clock] * true_s;
}

static void call(uint32_t operation, uint32_t clock, double begin_s, double end_s, bool gives, bool takes)
{
    fv_align_add(run.align, operation, clock, shown(clock, begin_s), shown(clock, end_s), gives, takes);
    run.until_s = fmax(run.until_s, end_s);
}

/* All wait for all. Of the clocks [first, end) each comes up to `late_s` late, `last` later than all by
 * `behind_s`; they leave up to 10 us after 10 us. */
static void barrier(double at_s, uint32_t first, uint32_t end, double late_s, uint32_t last, double behind_s)
{
    double begin_s[MOST_CLOCKS], together_s = 0;

    for (uint32_t k = first; k < end; k++) {
        begin_s[k] = at_s + chance(late_s) + (k == last ? late_s + behind_s : 0);
        together_s = fmax(together_s, begin_s[k]);
    }
    for (uint32_t k = first; k < end; k++)
        call(run.operations, k, begin_s[k], together_s + 10 * US + chance(10 * US), true, true);
    run.operations++;
}

static double apart(uint32_t one, uint32_t other, double true_s)
{
    return fabs(fv_align_time(run.align, one, shown(one, true_s)) -
                fv_align_time(run.align, other, shown(other, true_s)));
}

/* No two clocks are further apart at any time than is said. */
static void solve(void)
{
    run.found = fv_align_solve(run.align);
    for (uint32_t one = 0; one < run.clocks; one++)
        for (uint32_t other = 0; other < run.clocks; other++)
            for (int i = 0; i <= 10; i++) {
                double by_s = apart(one, other, run.until_s * i / 10), error_s = fv_align_error(run.align, one, other);

                if (by_s > error_s + 1e-9)
                    fail_msg("clocks %u and %u are %g s apart, said to be within %g s", one, other, by_s, error_s);
            }
}

static void expect_error(double most_s)
{
    if (!(run.found.error_s <= most_s))
        fail_msg("error %g s, expected at most %g s", run.found.error_s, most_s);
}

static void an_offset(void **state)
{
    (void)state;
    start(2, ENOUGH);
    run.wrong_s[1] = 0.5 * MS;
    for (int i = 0; i < 200; i++)
        barrier(i * 0.01, 0, 2, 50 * US, FV_NONE, 0);
    solve();
    assert_false(run.found.drift);
    assert_int_equal(run.found.groups, 1);
    assert_int_equal(run.found.linked, 2);
    assert_that(run.found.contradiction_s, ==, 0);
    expect_error(40 * US);
    assert_that(fv_align_error(run.align, 1, 1), ==, 0);
}

/* The finding: barriers that all enter and leave together, and 200 us long. */
static void together(void **state)
{
    (void)state;
    start(2, ENOUGH);
    run.wrong_s[1] = 0.5 * MS;
    for (uint32_t i = 0; i < 100; i++)
        for (uint32_t k = 0; k < 2; k++)
            call(i, k, i * MS, i * MS + 200 * US, true, true);
    solve();
    assert_that(apart(0, 1, 0.05), <, 1 * US);
    expect_error(201 * US);
}

/* Then one side of the bounds is as loose as they are late. */
static void always_late(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign++) {
        set_up(NULL);
        start(3, ENOUGH);
        run.wrong_s[2] = sign * 0.5 * MS;
        for (int i = 0; i < 200; i++)
            barrier(i * 0.01, 0, 3, 50 * US, 2, 5 * MS);
        solve();
        expect_error(60 * US);
        if (sign < 1)
            fv_align_free(run.align);
    }
}

/* The ends of one host are always later, because its network is slow, which nobody can tell: the clocks are taken
 * to be 2 ms from where they are. What is said is what the bounds leave of that, 4 ms. */
static void slow_to_leave(void **state)
{
    (void)state;
    start(2, ENOUGH);
    run.wrong_s[1] = 5 * MS;
    for (uint32_t i = 0; i < 200; i++) {
        call(i, 0, i * 0.01, i * 0.01 + 2 * MS, true, true);
        call(i, 1, i * 0.01, i * 0.01 + 4 * MS, true, true);
    }
    solve();
    expect_error(4.1 * MS);
}

/* Each host comes last at times, and one of them is gone quickly when it does: its short stays say nothing of
 * how long the network takes, the bounds do. */
static void short_stays_of_one_host(void **state)
{
    (void)state;
    start(2, ENOUGH);
    run.wrong_s[1] = 5 * MS;
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t last = i % 4 > 0;

        call(i, !last, i * 0.01, i * 0.01 + 1 * MS + 20 * US, true, true);
        call(i, last, i * 0.01 + 1 * MS, i * 0.01 + 1 * MS + (last ? 9 : 20) * US, true, true);
    }
    solve();
    expect_error(60 * US);
}

static void a_drift(void **state)
{
    (void)state;
    start(3, ENOUGH);
    run.wrong_s[1] = -2 * MS;
    run.rate[1] = 20e-6;
    run.rate[2] = -3e-6;
    for (int i = 0; i < 5000; i++)
        barrier(i * 0.2, 0, 3, 50 * US, (uint32_t)i % 4, 1 * MS);
    solve();
    assert_true(run.found.drift);
    expect_error(100 * US);
}

/* Nothing but the wall clock tells where in the bounds; it is moved as little as they ask for. */
static void one_sided(void **state)
{
    (void)state;
    start(2, ENOUGH);
    run.wrong_s[1] = -3 * MS; /* the receiver's */
    for (uint32_t i = 0; i < 50; i++) {
        call(i, 0, i * 0.01, i * 0.01 + 5 * US, true, false);
        call(i, 1, i * 0.01 + 1 * MS, i * 0.01 + 2 * MS, false, true);
    }
    solve();
    assert_near(apart(0, 1, 0.1), 2 * MS, 1e-8);
    assert_true(isinf(run.found.error_s));
    assert_int_equal(run.found.linked, 2);
}

static void inside_the_bounds(void **state)
{
    (void)state;
    start(2, ENOUGH);
    run.wrong_s[1] = 1 * MS;
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t root = i & 1;

        call(i, root, i * 0.01, i * 0.01 + 5 * US, true, false);
        call(i, !root, i * 0.01, i * 0.01 + 4 * MS, false, true);
    }
    solve();
    assert_near(apart(0, 1, 0.1), 1 * MS, 1e-8);
    assert_true(run.found.error_s > 4.9 * MS && run.found.error_s < 5.1 * MS); /* -4 to 4 ms, the wall clock at 1 */
}

/* Both directions by rooted operations: tight bounds, without one end that says anything. */
static void rooted(void **state)
{
    (void)state;
    start(2, ENOUGH);
    run.wrong_s[1] = 7 * MS;
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t root = i & 1;

        call(i, root, i * 0.01, i * 0.01 + 5 * US, true, false);
        call(i, !root, i * 0.01, i * 0.01 + 20 * US, false, true);
    }
    solve();
    expect_error(41 * US);
}

static void from_neighbour_to_neighbour(void **state)
{
    (void)state;
    start(40, ENOUGH);
    for (uint32_t k = 0; k < 40; k++)
        run.wrong_s[k] = chance(20 * MS);
    for (int i = 0; i < 2000; i++)
        barrier(i * 0.01, (uint32_t)i % 39, (uint32_t)i % 39 + 2, 50 * US, FV_NONE, 0);
    solve();
    assert_int_equal(run.found.groups, 1);
    expect_error(40 * 40 * US);
    assert_that(apart(0, 39, 1), <, 200 * US);
}

static void nothing_in_common(void **state)
{
    (void)state;
    start(5, ENOUGH);
    for (int i = 0; i < 20; i++) {
        barrier(i * 0.01, 0, 2, 50 * US, FV_NONE, 0);
        barrier(i * 0.01, 2, 4, 50 * US, FV_NONE, 0);
        barrier(i * 0.01, 4, 5, 50 * US, FV_NONE, 0);
    }
    solve();
    assert_int_equal(run.found.groups, 3);
    assert_int_equal(run.found.linked, 4);
    assert_true(isinf(fv_align_error(run.align, 1, 2)));
    assert_that(fv_align_error(run.align, 2, 3), <, 1 * MS);
}

/* A wall clock that was set while the program ran. */
static void a_step(void **state)
{
    (void)state;
    start(2, ENOUGH);
    for (int i = 0; i < 1000; i++) {
        run.wrong_s[1] = i < 500 ? 0 : 50 * MS;
        barrier(i * 0.01, 0, 2, 50 * US, FV_NONE, 0);
    }
    run.found = fv_align_solve(run.align);
    assert_that(run.found.contradiction_s, >, 0);
    assert_that(run.found.error_s, >=, run.found.contradiction_s);
    run.wrong_s[1] = 0;
    assert_that(apart(0, 1, 1), <=, run.found.error_s);
    run.wrong_s[1] = 50 * MS;
    assert_that(apart(0, 1, 9), <=, run.found.error_s);
}

/* Contradictions from one end only: nothing is known. */
static void contradicting_roots(void **state)
{
    (void)state;
    start(2, ENOUGH);
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t root = i & 1;

        call(i, root, i * 0.01, i * 0.01 + 1 * MS, true, false);
        call(i, !root, i * 0.01 - 2 * MS, i * 0.01 - 1 * MS, false, true);
    }
    run.found = fv_align_solve(run.align);
    assert_true(isinf(run.found.error_s));
    assert_that(run.found.contradiction_s, >, 0.9 * MS);
}

static void of_a_sample(void **state)
{
    (void)state;
    start(4, 400);
    run.wrong_s[3] = 5 * MS;
    for (int i = 0; i < 20000; i++)
        barrier(i * MS, 0, 4, 50 * US, FV_NONE, 0);
    solve();
    assert_int_equal(run.found.groups, 1);
    expect_error(40 * US);
}

static double any_time(void)
{
    static const double odd[] = { NAN, INFINITY, -INFINITY, 1e300, -1e300, 1.8e14, -1.8e14, 0, 5e-324 };
    size_t i = (size_t)chance(2 * sizeof(odd) / sizeof(*odd));

    return i < sizeof(odd) / sizeof(*odd) ? odd[i] : chance(1);
}

static void hostile(void **state)
{
    (void)state;
    for (int times = 0; times < 50; times++) {
        start(8, 1000);
        for (int i = 0; i < 3000; i++)
            fv_align_add(run.align, (uint32_t)chance(300), (uint32_t)chance(10), any_time(), any_time(),
                         chance(1) < 0.7, chance(1) < 0.7);
        fv_align_add(run.align, UINT32_MAX, UINT32_MAX, 0, 1, true, true);
        run.found = fv_align_solve(run.align);
        assert_true(run.found.groups <= 8 && run.found.linked <= 8);
        for (uint32_t k = 0; k < 8; k++) {
            assert_false(isnan(fv_align_time(run.align, k, 0.5)));
            assert_false(isnan(fv_align_error(run.align, 0, k)));
        }
        fv_align_free(run.align);
    }
    start(0, 10);
    run.found = fv_align_solve(run.align);
    assert_int_equal(run.found.groups, 0);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(an_offset),         T(together),  T(always_late),         T(slow_to_leave), T(short_stays_of_one_host),
        T(a_drift),           T(one_sided), T(inside_the_bounds),   T(rooted),        T(from_neighbour_to_neighbour),
        T(nothing_in_common), T(a_step),    T(contradicting_roots), T(of_a_sample),   T(hostile)
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
