/* Waiting over time: bins are not more than they may be, all waiting within the run is in them, and of a rank the line
 * with most calls counts. */
#include "analysis/over_time.h"
#include "unit.h"

static uint64_t sum_of(const struct fv_over_time *o)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < o->bins; i++)
        sum += o->wait_ns[i];
    return sum;
}

static void bins_are_bounded(void **state)
{
    static const uint64_t lengths[] = { 1, 8191, 8192, 8193, 1000000007, UINT64_C(1) << 51 };
    (void)state;

    for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct fv_over_time o = fv_over_time(lengths[i]);

        assert_that(o.bins, <=, FV_OVER_TIME_BINS);
        assert_true(o.shift == 0 || o.bins > FV_OVER_TIME_BINS / 2);
        assert_that((uint64_t)o.bins << o.shift, >, lengths[i]);
        fv_over_time_add(&o, 0, lengths[i]);
        fv_over_time_end_line(&o, 1);
        fv_over_time_end_rank(&o);
        fv_over_time_gather(&o, &fv_transport_alone);
        assert_int_equal(sum_of(&o), lengths[i]);
        fv_over_time_release(&o);
    }
}

static void what_crosses_an_edge(void **state)
{
    struct fv_over_time o = fv_over_time(4 * 8000); /* bins of 4 ns */
    (void)state;

    assert_int_equal(o.shift, 2);
    fv_over_time_add(&o, 2, 7);
    fv_over_time_add(&o, 8, 0);
    fv_over_time_add(&o, 9, 1);
    fv_over_time_add(&o, 4 * (uint64_t)o.bins - 1, 100); /* of it 1 ns within the run */
    fv_over_time_add(&o, UINT64_C(1) << 52, 100);
    fv_over_time_end_line(&o, 1);
    fv_over_time_end_rank(&o);
    assert_int_equal(o.wait_ns[0], 2);
    assert_int_equal(o.wait_ns[1], 4);
    assert_int_equal(o.wait_ns[2], 2);
    assert_int_equal(o.wait_ns[o.bins - 1], 1);
    assert_int_equal(sum_of(&o), 9);
    fv_over_time_release(&o);
}

static void line_with_most_calls(void **state)
{
    struct fv_over_time o = fv_over_time(1000);
    static const struct {
        uint64_t wait_ns, calls;
        bool ends_rank;
    } lines[] = { { 5, 3, false }, { 70, 9, false }, { 600, 8, true }, { 11, 1, true } };
    (void)state;

    fv_over_time_end_rank(&o);
    for (unsigned i = 0; i < 4; i++) {
        fv_over_time_add(&o, 10, lines[i].wait_ns);
        fv_over_time_end_line(&o, lines[i].calls);
        if (lines[i].ends_rank)
            fv_over_time_end_rank(&o);
    }
    assert_int_equal(sum_of(&o), 81);
    assert_int_equal(o.ranks, 2);
    fv_over_time_release(&o);
}

static void nothing(void **state)
{
    struct fv_over_time o = fv_over_time(0);
    (void)state;

    fv_over_time_add(&o, 0, 10);
    fv_over_time_end_line(&o, 1);
    fv_over_time_end_rank(&o);
    fv_over_time_gather(&o, &fv_transport_alone);
    assert_int_equal(o.bins, 0);
    fv_over_time_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_bounded),
        cmocka_unit_test(what_crosses_an_edge),
        cmocka_unit_test(line_with_most_calls),
        cmocka_unit_test(nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
