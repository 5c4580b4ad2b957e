/* Waiting over time: bins are not more than they may be, and all waiting within the run is in them. */
#include "analysis/over_time.h"
#include "unit.h"

static uint64_t sum_of(const struct fv_over_time *o)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < (size_t)o->ranks * o->bins; i++)
        sum += o->wait_ns[i];
    return sum;
}

static void bins_are_bounded(void **state)
{
    static const uint64_t lengths[] = { 1, 8191, 8192, 8193, 1000000007, UINT64_C(1) << 51 };
    static const uint32_t ranks[] = { 1, 3, 32, 33, 4096 };
    (void)state;

    for (unsigned i = 0; i < 30; i++) {
        const uint64_t length = lengths[i % 6];
        const uint32_t last = ranks[i / 6] - 1;
        struct fv_over_time o = fv_over_time(length, ranks[i / 6]);

        assert_that(o.bins, <=, FV_OVER_TIME_BINS);
        assert_that((uint64_t)o.bins * o.ranks, <=, FV_OVER_TIME_NUMBERS);
        assert_true(o.shift == 0 || o.bins > FV_OVER_TIME_LEAST / 2);
        assert_that((uint64_t)o.bins << o.shift, >, length);
        fv_over_time_add(&o, last, 0, length);
        fv_over_time_gather(&o, &fv_transport_alone);
        assert_int_equal(sum_of(&o), length);
        assert_true(o.wait_ns[(size_t)last * o.bins] > 0);
        fv_over_time_release(&o);
    }
}

static void what_crosses_an_edge(void **state)
{
    struct fv_over_time o = fv_over_time(4 * 8000, 1); /* bins of 4 ns */
    (void)state;

    assert_int_equal(o.shift, 2);
    fv_over_time_add(&o, 0, 2, 7);
    fv_over_time_add(&o, 0, 8, 0);
    fv_over_time_add(&o, 0, 9, 1);
    fv_over_time_add(&o, 0, 4 * (uint64_t)o.bins - 1, 100); /* of it 1 ns within the run */
    fv_over_time_add(&o, 0, UINT64_C(1) << 52, 100);
    assert_int_equal(o.wait_ns[0], 2);
    assert_int_equal(o.wait_ns[1], 4);
    assert_int_equal(o.wait_ns[2], 2);
    assert_int_equal(o.wait_ns[o.bins - 1], 1);
    assert_int_equal(sum_of(&o), 9);
    fv_over_time_release(&o);
}

/* A run without a length, or of too many ranks. */
static void nothing(void **state)
{
    (void)state;

    for (unsigned i = 0; i < 2; i++) {
        struct fv_over_time o =
            i ? fv_over_time(1000, FV_OVER_TIME_NUMBERS / FV_OVER_TIME_LEAST + 1) : fv_over_time(0, 2);

        fv_over_time_add(&o, 1, 0, 10);
        fv_over_time_gather(&o, &fv_transport_alone);
        assert_int_equal(o.bins, 0);
        fv_over_time_release(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_bounded),
        cmocka_unit_test(what_crosses_an_edge),
        cmocka_unit_test(nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
