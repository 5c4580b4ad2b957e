/* Waiting in the profile of synthetic runs with known answers: of collectives, barriers, messages, between hosts. */
#include "model_run.h"

/* One collective on the world: ranks enter after begin_ms and leave at end_ms. */
static uint32_t collective(uint16_t function, const int begin_ms[4], int end_ms, const unsigned flags[4],
                           uint32_t sequence)
{
    uint32_t cell = 0;

    for (int i = 0; i < 4; i++) {
        uint64_t ticks = (uint64_t)(end_ms - begin_ms[i]) * MS;

        cell = fvr_cell(&file[i], 0, 2, 1, function, &ticks, 1, 8, 8);
        fvr_collective(&file[i], 0, cell, sequence, flags[i], START + (uint64_t)begin_ms[i] * MS,
                       START + (uint64_t)end_ms * MS);
    }
    return cell;
}

static void expect_waits(const char *name, const int wait_ms[4], enum fv_wait_kind kind)
{
    const struct fv_site *s = site(name);
    double sum = 0;

    for (int i = 0; i < 4; i++) {
        assert_near(on_rank(s, i)->wait_s, wait_ms[i] * 1e-3, 1e-9);
        assert_int_equal(on_rank(s, i)->wait_kind, kind);
        sum += wait_ms[i] * 1e-3;
    }
    assert_near(s->wait_s, sum, 1e-9);
    assert_int_equal(s->wait_kind, kind);
}

enum { S = FV_COLL_SENDS, R = FV_COLL_RECEIVES, SR = S | R, ROOT = FV_COLL_ROOT };
static const unsigned all[4] = { SR, SR, SR, SR };

static void waits_exact(void **state)
{
    static const int late_2[4] = { 0, 10, 50, 20 };
    (void)state;

    collective(F_ALLREDUCE, late_2, 60, (const unsigned[4]){ SR, SR, R, SR }, 0); /* rank 2 sends nothing */
    collective(F_BARRIER, late_2, 55, (const unsigned[4]){ 0 }, 1);
    collective(F_BCAST, late_2, 60, (const unsigned[4]){ R, R, ROOT | S, R }, 2);
    collective(F_REDUCE, (const int[4]){ 30, 0, 50, 40 }, 60, (const unsigned[4]){ S, ROOT | SR, S, S }, 3);
    collective(F_SCAN, (const int[4]){ 0, 30, 10, 20 }, 60, all, 4);
    build(4);
    expect_waits("MPI_Allreduce", (const int[4]){ 20, 10, 0, 0 }, FV_WAIT_EXACT);
    expect_waits("MPI_Barrier", (const int[4]){ 50, 40, 0, 30 }, FV_WAIT_EXACT);
    expect_waits("MPI_Bcast", (const int[4]){ 50, 40, 0, 30 }, FV_WAIT_EXACT);
    expect_waits("MPI_Reduce", (const int[4]){ 0, 50, 0, 0 }, FV_WAIT_EXACT); /* the root, for the last one */
    expect_waits("MPI_Scan", (const int[4]){ 0, 0, 20, 10 }, FV_WAIT_EXACT);
    assert_near(model.ranks[2].delay_s, 0.120 + 0.120 + 0.050, 1e-9); /* barrier, broadcast and reduce */
    assert_near(model.ranks[0].wait_time_s, 0.020 + 0.050 + 0.050, 1e-9);
    assert_that(model.efficiency.wait_kind, ==, FV_WAIT_EXACT);
}

/* fvmpi's own barriers in all calls of the cells made last: where, and how long in each rank. */
static void insert_barriers(enum fv_barrier_mode mode, const int ms[4], uint32_t calls)
{
    for (int i = 0; i < 4; i++) {
        file[i].header.barrier = mode;
        file[i].header.barrier_ranks = 4;
        for (size_t k = 0; k < file[i].stream_count; k++) {
            struct fvr_stream *s = &file[i].streams[k];

            if (s->type != FV_CHUNK_CELLS)
                continue;
            struct fv_cell *cell = (void *)(s->data + s->bytes - sizeof(*cell));
            cell->barriers = calls;
            cell->barrier_ticks = (uint64_t)ms[i] * MS;
        }
    }
}

/* A barrier before it: everyone waits for the last, who is to blame, the root too; as long as was measured.
 */
static void waits_in_barriers_before(void **state)
{
    (void)state;
    collective(F_BCAST, (const int[4]){ 0, 10, 50, 20 }, 60, (const unsigned[4]){ ROOT | S, R, R, R }, 0);
    insert_barriers(FV_BARRIER_BEFORE, (const int[4]){ 51, 41, 1, 31 }, 1);
    build(4);
    expect_waits("MPI_Bcast", (const int[4]){ 51, 41, 1, 31 }, FV_WAIT_EXACT);
    assert_near(site("MPI_Bcast")->barrier_s, 0.124, 1e-9);
    assert_near(model.ranks[2].delay_s, 0.120, 1e-9);
    assert_near(model.ranks[0].delay_s, 0, 1e-9);
    assert_int_equal(model.barrier, FV_BARRIER_BEFORE);
    assert_int_equal(model.barrier_ranks, 4);
}

/* A barrier after it is waiting in addition to that for the root. */
static void waits_in_barriers_after(void **state)
{
    (void)state;
    collective(F_BCAST, (const int[4]){ 20, 10, 50, 0 }, 60, (const unsigned[4]){ ROOT | S, R, R, R }, 0);
    insert_barriers(FV_BARRIER_AFTER, (const int[4]){ 30, 1, 2, 3 }, 1);
    build(4);
    expect_waits("MPI_Bcast", (const int[4]){ 30, 11, 2, 23 }, FV_WAIT_EXACT);
    assert_near(model.ranks[0].delay_s, 0.030, 1e-9);
}

/* One call of two had a barrier, as of two communicators: the log tells of the other. */
static void waits_with_some_barriers(void **state)
{
    const uint64_t ticks[2] = { 60 * MS, 60 * MS };
    (void)state;

    for (int i = 0; i < 4; i++) {
        uint32_t cell = fvr_cell(&file[i], 0, 2, 1, F_ALLREDUCE, ticks, 2, 8, 8);

        for (uint32_t k = 0; k < 2; k++) {
            uint64_t begin = START + (k * 100 + (i == 3 ? 40 : 0)) * MS;

            fvr_collective(&file[i], 0, cell, k, SR, begin, begin + 60 * MS);
        }
    }
    insert_barriers(FV_BARRIER_BEFORE, (const int[4]){ 41, 41, 41, 1 }, 1);
    build(4);
    expect_waits("MPI_Allreduce", (const int[4]){ 81, 81, 81, 1 }, FV_WAIT_ESTIMATE);
}

/* A wait ends with the waiting call: the root of a broadcast may come after others have left. A second,
 * long call without waiting shows that it is the call that clips, not the sum. */
static void waits_are_clipped(void **state)
{
    const uint64_t ticks[] = { 5 * MS, 200 * MS };
    (void)state;

    for (int i = 0; i < 4; i++) {
        uint32_t cell = fvr_cell(&file[i], 0, 2, 1, F_BCAST, ticks, 2, 8, 8);
        uint64_t begin = START + (i == 0 ? 100 : 10) * MS;

        fvr_collective(&file[i], 0, cell, 0, i == 0 ? ROOT | S : R, begin, begin + ticks[0]);
        fvr_collective(&file[i], 0, cell, 1, i == 0 ? ROOT | S : R, START + 300 * MS, START + 500 * MS);
    }
    build(4);
    expect_waits("MPI_Bcast", (const int[4]){ 0, 5, 5, 5 }, FV_WAIT_EXACT);
}

/* Every second call is in the log of rank 3, all are in the others': only common ones count, scaled up. */
static void waits_of_a_thinned_log(void **state)
{
    const uint64_t ticks[4] = { 20 * MS, 20 * MS, 20 * MS, 20 * MS };
    (void)state;

    file[3].header.coll_shift_ceiling = 1;
    file[3].header.dropped[FV_DROP_COLLECTIVES] = 2;
    for (int i = 0; i < 4; i++) {
        uint32_t cell = fvr_cell(&file[i], 0, 2, 1, F_BARRIER, ticks, 4, 0, 0);

        for (uint32_t k = 0; k < 4; k++)
            if (i < 3 || k % 2 == 0)
                fvr_collective(&file[i], 0, cell, k, 0, START + (k * 100 + (i == 1 && k == 0 ? 10 : 0)) * MS,
                               START + (k * 100 + 20) * MS);
        if (i == 2)
            fvr_collective(&file[i], 0, cell, 2, 0, START + 200 * MS, START + 220 * MS); /* a duplicate, from a kill */
    }
    build(4);
    expect_waits("MPI_Barrier", (const int[4]){ 20, 0, 20, 20 }, FV_WAIT_ESTIMATE); /* 10 ms in 2 calls of 4 */
    assert_true(has_problem(FV_PROBLEM_NOTE, "did not keep the time of entry"));
    assert_true(model.complete);
}

static void waits_without_a_rank(void **state)
{
    (void)state;
    collective(F_BARRIER, (const int[4]){ 0, 10, 30, 50 }, 55, (const unsigned[4]){ 0 }, 0);
    build(3); /* the last one's file is missing */
    const struct fv_site *s = site("MPI_Barrier");
    assert_near(on_rank(s, 0)->wait_s, 0.030, 1e-9);
    assert_int_equal(on_rank(s, 0)->wait_kind, FV_WAIT_ESTIMATE);
    assert_true(has_problem(FV_PROBLEM_MISSING, "rank 3"));
    assert_false(model.complete);
}

/* Reported on another host: there are no better points than those that are near each other. */
static void short_run_has_its_rate(void **state)
{
    uint64_t took = 2 * MS;

    (void)state;
    for (int i = 0; i < 2; i++) {
        file[i].header.boot_id[0] ^= 1;
        file[i].header.nominal_hz = 0;
        file[i].header.last = file[i].header.first;
        file[i].header.last.ticks += 10 * MS;
        file[i].header.last.monotonic_ns += 4 * MS; /* 2.5 GHz */
        fvr_cell(&file[i], 0, 2, 1, F_BARRIER, &took, 1, 0, 0);
    }
    build(2);
    assert_near(on_rank(site("MPI_Barrier"), 0)->stat.sum_s, 0.0008, 1e-9);
    assert_false(has_problem(FV_PROBLEM_NOTE, "frequency"));
}

/* Where no rank could read its boot id, a host is known by its name, and by when it booted. */
static void clocks_of_unknown_boots(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        memset(file[i].header.boot_id, 0, sizeof(file[i].header.boot_id));
        snprintf(file[i].header.host, sizeof(file[i].header.host), "host%d", i / 2);
    }
    file[3].header.host[4] = '0';
    file[3].header.first.monotonic_ns -= 5 * MS; /* another machine of this name booted later */
    build(4);
    assert_int_equal(model.clock_count, 3);
    assert_int_equal(model.ranks[0].clock, model.ranks[1].clock);
}

static void waits_between_hosts(void **state)
{
    (void)state;
    /* The other host's ticks count from elsewhere and its clock runs at 2 GHz. */
    file[3].header.boot_id[0] ^= 1;
    file[3].header.first.ticks = 0;
    file[3].header.last.ticks = 2000000000;
    file[3].header.begin_ticks = 0;
    file[3].header.init_ticks = 1;
    file[3].header.finalize_ticks = 1999999999;
    file[3].header.end_ticks = 2000000000;
    for (int i = 0; i < 4; i++) {
        uint64_t zero = i < 3 ? START : 0, unit = i < 3 ? MS : 2 * MS, ticks = 40 * unit;
        uint32_t cell = fvr_cell(&file[i], 0, 2, 1, F_BARRIER, &ticks, 1, 0, 0);

        fvr_collective(&file[i], 0, cell, 0, SR, zero + (i == 3 ? 30 : 0) * unit, zero + 40 * unit);
    }
    build(4);
    expect_waits("MPI_Barrier", (const int[4]){ 30, 30, 30, 0 }, FV_WAIT_ESTIMATE);
    assert_near(on_rank(site("MPI_Barrier"), 3)->stat.sum_s, 0.040, 1e-9);
    assert_false(model.same_clock);
    assert_true(has_problem(FV_PROBLEM_NOTE, "different clocks"));
}

/* Barriers of 4 ranks on 2 hosts, 200 us long. Rank `late` comes `late_us` later than the others. The second
 * host's wall clock is wrong by `wrong_us`. */
static void barriers_on_two_hosts(int wrong_us, int late, unsigned late_us)
{
    enum { CALLS = 40 };
    const uint64_t us = 1000;

    for (int i = 0; i < 4; i++) {
        uint64_t ticks[CALLS];

        file[i].header.boot_id[0] ^= i >= 2;
        file[i].header.first.realtime_ns += i >= 2 ? wrong_us * 1000 : 0;
        for (int k = 0; k < CALLS; k++)
            ticks[k] = 200 * us + (i == late ? 0 : late_us * us);
        uint32_t cell = fvr_cell(&file[i], 0, 2, 1, F_BARRIER, ticks, CALLS, 0, 0);
        for (uint32_t k = 0; k < CALLS; k++) {
            uint64_t end = START + (k + 1) * 10 * MS;

            fvr_collective(&file[i], 0, cell, k, SR, end - ticks[k], end);
        }
    }
    build(4);
}

static void no_waits_by_a_wrong_clock(void **state)
{
    (void)state;
    for (int wrong_us = -500; wrong_us <= 500; wrong_us += 1000) {
        tear_down(NULL);
        set_up(NULL);
        barriers_on_two_hosts(wrong_us, -1, 0);
        expect_waits("MPI_Barrier", (const int[4]){ 0 }, FV_WAIT_ESTIMATE);
        for (int i = 0; i < 4; i++)
            assert_near(model.ranks[i].delay_s, 0, 0);
        assert_int_equal(model.causes.culprit_count, 0);
        assert_true(has_problem(FV_PROBLEM_NOTE, "aligned by their collective calls"));
        assert_near(model.alignment.error_s, 200e-6, 1e-6);
    }
}

static void the_late_one_behind_a_wrong_clock(void **state)
{
    (void)state;
    for (int late = 1; late < 4; late += 2)
        for (int wrong_us = -500; wrong_us <= 500; wrong_us += 1000) {
            tear_down(NULL);
            set_up(NULL);
            barriers_on_two_hosts(wrong_us, late, 3000);
            for (int i = 0; i < 4; i++) {
                assert_near(model.ranks[i].wait_time_s, i == late ? 0 : 40 * 3e-3, 40 * model.alignment.error_s);
                assert_near(model.ranks[i].delay_s, i == late ? 3 * 40 * 3e-3 : 0, 120 * model.alignment.error_s);
            }
            assert_int_equal(model.ranks[model.causes.culprits[0].rank].world_rank, late);
            assert_that(model.alignment.error_s, <, 300e-6);
        }
}

static void waits_point_to_point(void **state)
{
    const uint64_t fast[] = { 1 * MS }, slow[] = { 11 * MS, 1 * MS, 3 * MS }, large[] = { 50 * MS };
    (void)state;

    fvr_cell(&file[0], 0, 2, 1, F_RECV, fast, 1, 0, 100);
    fvr_cell(&file[1], 0, 2, 1, F_RECV, slow, 3, 0, 100);
    fvr_cell(&file[1], 0, 2, 1, F_RECV, large, 1, 0, 100000);
    fvr_cell(&file[1], 0, 2, 1, F_GETNAME, large, 1, 0, 0);
    build(4);
    assert_near(on_rank(site("MPI_Recv"), 0)->wait_s, 0, 1e-12);
    assert_near(on_rank(site("MPI_Recv"), 1)->wait_s, 0.012, 1e-12);
    assert_int_equal(site("MPI_Recv")->wait_kind, FV_WAIT_ESTIMATE);
    assert_int_equal(site("MPI_Get_processor_name")->wait_kind, FV_WAIT_UNKNOWN);
    assert_int_not_equal(model.efficiency.wait_kind, FV_WAIT_EXACT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(waits_exact),
        TEST(waits_in_barriers_before),
        TEST(waits_in_barriers_after),
        TEST(waits_with_some_barriers),
        TEST(waits_are_clipped),
        TEST(waits_of_a_thinned_log),
        TEST(waits_without_a_rank),
        TEST(short_run_has_its_rate),
        TEST(clocks_of_unknown_boots),
        TEST(waits_between_hosts),
        TEST(no_waits_by_a_wrong_clock),
        TEST(the_late_one_behind_a_wrong_clock),
        TEST(waits_point_to_point),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
