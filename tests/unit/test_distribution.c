/* Histograms of durations, and what is made of them: every duration has one bucket, and an estimated percentile lies in
 * the bucket of the true one. And that work on many items is done, by several threads, once for each; and that
 * pieces in order become one. */
#include "base/histogram.h"
#include "tool/distribution.h"
#include "tool/parallel.h"
#include "tool/vec.h"
#include "unit.h"

static void every_duration_has_a_bucket(void **state)
{
    uint64_t next = 0; /* the first duration of the next bucket */
    (void)state;

    for (unsigned octave = 0; octave < FV_OCTAVES; octave++)
        for (unsigned i = 0; i < FV_OCTAVE_BUCKETS; i++) {
            uint64_t first = fv_bucket_first(octave, i), last = first + (fv_bucket_width(octave) - 1);

            assert_that(first, ==, next);
            assert_int_equal(fv_octave(first), octave);
            assert_int_equal(fv_octave(last), octave);
            assert_int_equal(fv_octave_bucket(first, octave), i);
            assert_int_equal(fv_octave_bucket(last, octave), i);
            next = last + 1;
        }
    assert_that(next, ==, 0); /* all of 2^64 */
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

#define MOST 1000
struct known {
    struct fv_distribution of;
    double s[MOST];
    size_t count;
};

static void add(struct known *k, uint64_t ticks, double tick_s)
{
    uint64_t counts[FV_OCTAVE_BUCKETS] = { 0 };
    struct fv_distribution one = { 0 };

    counts[fv_octave_bucket(ticks, fv_octave(ticks))] = 1;
    fv_distribution_add_octave(&one, fv_octave(ticks), counts, tick_s);
    fv_distribution_add(&k->of, &one);
    fv_distribution_release(&one);
    k->s[k->count++] = (double)ticks * tick_s;
}

static void expect_percentiles(struct known *k)
{
    static const double shares[] = { 0.01, 0.5, 0.9, 0.99, 1 };

    qsort(k->s, k->count, sizeof(*k->s), by_size);
    for (unsigned i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        double known = k->s[(size_t)ceil(shares[i] * (double)k->count) - 1];
        double found = fv_distribution_quantile(&k->of, shares[i], k->s[0], k->s[k->count - 1]);

        assert_near(found, known, known / 8 + 1e-9); /* the ticks are of 1 ns, ... */
    }
    fv_distribution_release(&k->of);
}

static void percentiles(void **state)
{
    struct known k = { .count = 0 };
    (void)state;

    assert_true(isnan(fv_distribution_quantile(&k.of, 0.5, 0, 0)));
    for (uint64_t i = 1; i <= MOST; i++)
        add(&k, i * 1000, 1e-9);
    assert_int_equal((int)k.of.total, MOST);
    expect_percentiles(&k);
    k = (struct known){ .count = 0 };
    for (uint64_t i = 0; i < 50; i++) /* far apart, and some alike */
        add(&k, UINT64_C(1) << i % 25 * 2, 1e-9);
    expect_percentiles(&k);
    k = (struct known){ .count = 0 };
    for (uint64_t i = 0; i < 900; i++) /* ... or, of other clocks, small beside an eighth */
        add(&k, 1000 + i * i, 1e-9 * (double)(1 + i % 3));
    expect_percentiles(&k);
}

/* Of durations that are equal there is nothing to estimate, of one neither. */
static void equal_ones(void **state)
{
    struct known k = { .count = 0 };
    (void)state;

    for (int i = 0; i < 10; i++)
        add(&k, 12345, 1e-9);
    assert_near(fv_distribution_quantile(&k.of, 0.9, 12345e-9, 12345e-9), 12345e-9, 1e-15);
    assert_int_equal(k.of.count, 1);
    fv_distribution_release(&k.of);
}

/* Clocks that differ by a little share their buckets, so that thousands of ranks need no more room than one. */
static void alike_clocks(void **state)
{
    struct fv_distribution of = { 0 };
    uint64_t counts[FV_OCTAVE_BUCKETS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    (void)state;

    for (int i = 0; i < 1000; i++)
        fv_distribution_add_octave(&of, 20, counts, 1e-9 * (1 + i * 1e-7));
    assert_int_equal(of.count, FV_OCTAVE_BUCKETS);
    assert_int_equal((int)of.total, 8000);
    fv_distribution_add_octave(&of, FV_OCTAVES, counts, 1e-9); /* of a damaged file */
    assert_int_equal((int)of.total, 8000);
    fv_distribution_release(&of);
}

static void count_item(void *done, size_t item)
{
    ((unsigned *)done)[item]++;
}

static void each_item_once(void **state)
{
    static unsigned done[5000];
    (void)state;

    fv_parallel(0, count_item, done);
    assert_int_equal(done[0], 0);
    for (size_t count = 1; count <= 5000; count += 1250) {
        memset(done, 0, sizeof(done));
        fv_parallel(count, count_item, done);
        for (size_t i = 0; i < 5000; i++)
            assert_int_equal(done[i], i < count);
    }
}

static int by_tens(const void *a, const void *b)
{
    int x = *(const int *)a / 10, y = *(const int *)b / 10;

    return (x > y) - (x < y);
}

/* Equal ones stay in their order. */
static void pieces_become_one(void **state)
{
    static const int numbers[] = { 10, 20, 40, 11, 12, 50, 21, 0, 22, 60 },
                     sorted[] = { 0, 10, 11, 12, 20, 21, 22, 40, 50, 60 };
    const size_t most = sizeof(numbers) / sizeof(*numbers);
    const void *items[sizeof(numbers) / sizeof(*numbers)];
    (void)state;

    for (size_t count = 0; count <= most; count++) {
        for (size_t i = 0; i < count; i++)
            items[i] = &numbers[i];
        fv_sort_pieces(items, count, by_tens);
        for (size_t i = 1; i < count; i++)
            assert_true(by_tens(items[i - 1], items[i]) <= 0);
    }
    for (size_t i = 0; i < most; i++)
        assert_int_equal(*(const int *)items[i], sorted[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_duration_has_a_bucket),
        cmocka_unit_test(percentiles),
        cmocka_unit_test(equal_ones),
        cmocka_unit_test(alike_clocks),
        cmocka_unit_test(each_item_once),
        cmocka_unit_test(pieces_become_one),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
