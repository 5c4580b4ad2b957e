/* What makes intervals differ, and what the longest of many would be, by series with known answers. */
#include "profile/model.h"
#include "profile/noise/noise.h"
#include "profile/noise/shares.h"
#include "unit.h"

enum { MANY = 1000 };
static struct fv_noise_interval all[MANY];
static struct fv_noise_share share[FV_NOISE_SOURCES];

/* Of n independent rolls of a die the largest is k with probability (k/6)^n - ((k-1)/6)^n. */
static void largest_of_dice(void **state)
{
    static const double die[] = { 1, 2, 3, 4, 5, 6 }, one[] = { 7 }, zeros[] = { 0, 0, 0, 8 };
    (void)state;

    assert_near(fv_expected_maximum(die, 6, 1), 3.5, 1e-12);
    assert_near(fv_expected_maximum(die, 6, 2), 161.0 / 36, 1e-12);
    assert_near(fv_expected_maximum(die, 6, 3), 119.0 / 24, 1e-12);
    assert_near(fv_expected_maximum(die, 6, 1e6), 6, 1e-9);
    assert_near(fv_expected_maximum(one, 1, 1000), 7, 1e-12);
    assert_near(fv_expected_maximum(zeros, 4, 2), 8 * (1 - 0.75 * 0.75), 1e-12);
}

/* The mean of the largest of n draws from 0 to 1, evenly, is n / (n + 1). */
static void largest_of_even(void **state)
{
    static double values[100000];
    (void)state;

    for (size_t i = 0; i < 100000; i++)
        values[i] = ((double)i + 0.5) / 100000;
    for (double n = 1; n <= 1000; n *= 10)
        assert_near(fv_expected_maximum(values, 100000, n), n / (n + 1), 1e-4);
}

static void one_source_is_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        double noise = i % 7 ? 0 : 0.001 * (double)(i % 5 + 1);

        all[i] = (struct fv_noise_interval){ .time_s = 0.01 + noise, .source_s = { [FV_NOISE_PREEMPTED] = noise } };
    }
    fv_shares_of(all, MANY, share);
    assert_near(share[FV_NOISE_PREEMPTED].share, 1, 1e-9);
    assert_near(share[FV_NOISE_PREEMPTED].low, 1, 1e-9);
    assert_near(share[FV_NOISE_PREEMPTED].high, 1, 1e-9);
    assert_near(share[FV_NOISE_BLOCKED].share, 0, 1e-9);
    assert_near(share[FV_NOISE_REST].share, 0, 1e-9);
}

/* A factor of a design in which all combinations occur equally often is uncorrelated with the others: variances 1, 4
 * and 16 times (0.5 ms)^2. */
static void known_parts(void **state)
{
    double sum = 0;

    (void)state;
    for (size_t i = 0; i < 960; i++)
        all[i] = (struct fv_noise_interval){
            .time_s = 0.1 + 0.001 * (i & 1) + 0.002 * (i >> 1 & 1) + 0.004 * (i >> 2 & 1),
            .source_s = { [FV_NOISE_PREEMPTED] = 0.002 * (i >> 1 & 1), [FV_NOISE_BLOCKED] = 0.001 * (i & 1) }
        };
    fv_shares_of(all, 960, share);
    assert_near(share[FV_NOISE_BLOCKED].share, 1.0 / 21, 1e-9);
    assert_near(share[FV_NOISE_PREEMPTED].share, 4.0 / 21, 1e-9);
    assert_near(share[FV_NOISE_REST].share, 16.0 / 21, 1e-9);
    for (unsigned s = 0; s < FV_NOISE_SOURCES; s++) {
        sum += share[s].share;
        assert_true(share[s].low < share[s].share && share[s].share < share[s].high);
        assert_true(share[s].high - share[s].low > 0.01 && share[s].high - share[s].low < 0.15);
    }
    assert_near(sum, 1, 1e-12);
    double low = share[FV_NOISE_PREEMPTED].low;
    fv_shares_of(all, 960, share);
    assert_near(share[FV_NOISE_PREEMPTED].low, low, 0); /* the same, always */
}

/* The standard error of a share of a regression of one source is known: a bootstrap interval covers the truth, and
 * narrows by the square root of the number. */
static void interval_narrows(void **state)
{
    double width[2];

    (void)state;
    for (unsigned part = 0; part < 2; part++) {
        size_t count = part ? 960 : 60;

        for (size_t i = 0; i < count; i++)
            all[i] = (struct fv_noise_interval){ .time_s = 0.003 * (i & 1) + 0.002 * (i >> 1 & 1),
                                                 .source_s = { [FV_NOISE_PREEMPTED] = 0.002 * (i >> 1 & 1) } };
        fv_shares_of(all, count, share);
        assert_near(share[FV_NOISE_PREEMPTED].share, 4.0 / 13, 1e-9);
        width[part] = share[FV_NOISE_PREEMPTED].high - share[FV_NOISE_PREEMPTED].low;
    }
    assert_true(width[0] / width[1] > 3 && width[0] / width[1] < 5.3);
}

/* One rank computes longer than the other, always: that is no noise. */
static void ranks_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < 200; i++) {
        double noise = i % 3 ? 0 : 0.001;

        all[i] = (struct fv_noise_interval){ .time_s = (i < 100 ? 0.01 : 5) + noise,
                                             .source_s = { [FV_NOISE_PREEMPTED] = noise },
                                             .rank = i >= 100 };
    }
    fv_shares_of(all, 200, share);
    assert_near(share[FV_NOISE_PREEMPTED].share, 1, 1e-9);
}

static void too_few(void **state)
{
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        all[i] = (struct fv_noise_interval){ .time_s = (double)(i % 3), .source_s = { (double)(i % 3) } };
    fv_shares_of(all, FV_SHARES_ENOUGH - 1, share);
    assert_true(isnan(share[FV_NOISE_PREEMPTED].share) && isnan(share[FV_NOISE_REST].low));
    fv_shares_of(all, FV_SHARES_ENOUGH, share);
    assert_near(share[FV_NOISE_PREEMPTED].share, 1, 1e-9);
    fv_shares_of(all, 0, share);
    assert_true(isnan(share[FV_NOISE_PREEMPTED].share));
    for (size_t i = 0; i < 100; i++)
        all[i].time_s = 0.25;
    fv_shares_of(all, 100, share);
    assert_true(isnan(share[FV_NOISE_REST].share));
}

static void first_ones_warm_up(void **state)
{
    static const double cold[] = { 9, 4, 2, 1, 1, 2, 1, 1, 2, 1, 1, 1 },
                        steady[] = { 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2 };
    (void)state;

    assert_int_equal(fv_warm_up(cold, 12), 2);
    assert_int_equal(fv_warm_up(cold, 9), 0);
    assert_int_equal(fv_warm_up(steady, 12), 0);
}

/* The rank that is told is the one that has most of what the seconds are of. */
static void loss_is_of_one_kind(void **state)
{
    struct fv_rank ranks[3] = { { .off = { .preempted_s = 0.184 } },
                                { .off = { .preempted_s = 0.006 } },
                                { .off = { .preempted_s = NAN } } };
    struct fv_noise_rank costs[3] = { { .rank = 0, .cost_s = 0.003 },
                                      { .rank = 1, .cost_s = 0.011 },
                                      { .rank = 2, .cost_s = NAN } };
    struct fv_model m = { .ranks = ranks,
                          .rank_count = 3,
                          .data[FV_SUBJECT_noise] = &(struct fv_noise_view){ .ranks = costs, .rank_count = 3 } };
    (void)state;

    struct fv_noise_loss loss = fv_noise_loss(&m);
    assert_near(loss.seconds, 0.190, 1e-12);
    assert_near(loss.rank_s, 0.184, 1e-12);
    assert_true(!loss.is_of_calls && loss.rank == 0);
    costs[1].cost_s = 0.4;
    loss = fv_noise_loss(&m);
    assert_near(loss.seconds, 0.403, 1e-12);
    assert_near(loss.rank_s, 0.4, 1e-12);
    assert_true(loss.is_of_calls && loss.rank == 1);
    fv_model_noise(&m)->rank_count = 0;
    assert_int_equal(fv_noise_loss(&m).rank, 0);
    ranks[0].off.preempted_s = ranks[1].off.preempted_s = NAN;
    assert_true(isnan(fv_noise_loss(&m).seconds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_of_dice), cmocka_unit_test(largest_of_even),    cmocka_unit_test(one_source_is_all),
        cmocka_unit_test(known_parts),     cmocka_unit_test(interval_narrows),   cmocka_unit_test(ranks_apart),
        cmocka_unit_test(too_few),         cmocka_unit_test(first_ones_warm_up), cmocka_unit_test(loss_is_of_one_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
