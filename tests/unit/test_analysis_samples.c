/* Samples of the CPU clock in the analysis: to which calls, delays and critical path they are charged; what is damaged;
 * and that no more come to the first process than it can hold. */
#include "analysis_run.h"

#define COMMON 0x100 /* offsets of sampled places */
#define SLOW   0x200

/* Two places of a rank's program, ids 1 and 2; then samples at (time, path, CPU time), until 0. */
static void add_samples(struct run *r, size_t rank, const uint32_t (*samples)[3])
{
    struct fvr *f = &r->files[rank];
    uint32_t module = fvr_module(f, "/app", 0, NULL);

    fvr_sample_path(f, 0, 0, module, COMMON);
    fvr_sample_path(f, 0, 0, module, SLOW);
    for (; (*samples)[0]; samples++) {
        const struct fv_logged_sample s = { 1000000000 + (*samples)[0], (*samples)[1], (*samples)[2] };

        fvr_add(f, FV_CHUNK_SAMPLE_LOG, 0, &s, sizeof(s));
    }
}
#define SAMPLES(r, rank, ...) add_samples(r, rank, (const uint32_t[][3]){ __VA_ARGS__, { 0 } })

static int64_t sampled(const struct run *r, enum fv_tally_what what, const char *function, uint32_t rank,
                       uint64_t offset)
{
    int64_t ns = 0;

    for (size_t i = 0; i < r->analysis.tallies.count; i++) {
        const struct fv_tally *t = &r->analysis.tallies.items[i];

        if (t->what == (uint32_t)what && !strcmp(function_of(r, t->site), function) && t->rank == rank &&
            r->merge.defs.tree.nodes[t->kind].offset == offset)
            ns += (int64_t)t->ns;
    }
    return ns;
}

/* Rank 1 is late by what it does more than those who wait for it: all do what is common, rank 2 half of the rest. */
static void samples_say_what_a_delay_was(void **state)
{
    static const uint64_t begin[3] = { 100, 400, 250 };
    struct run r;

    (void)state;
    begin_run(&r, 3);
    for (unsigned i = 0; i < 3; i++)
        EVENT(at(&r, i, ALLREDUCE, begin[i], 450), COLLECTIVE, 1, (uint64_t)FV_ROOT_NONE, 4, 4, 0);
    SAMPLES(&r, 0, { 90, 1, 100 }, { 430, 1, 5 });
    SAMPLES(&r, 1, { 80, 1, 100 }, { 200, 2, 120 }, { 399, 2, 180 }, { 400, 1, 70 });
    SAMPLES(&r, 2, { 80, 1, 100 }, { 249, 2, 150 });
    analyse(&r);
    assert_int_equal(sampled(&r, FV_TALLY_COMPUTED, "MPI_Allreduce", 1, COMMON), 100);
    assert_int_equal(sampled(&r, FV_TALLY_COMPUTED, "MPI_Allreduce", 1, SLOW), 300);
    assert_int_equal(sum(&r, FV_TALLY_DIRECT, "MPI_Allreduce", 1, FV_COMPUTING), 300 + 150);
    assert_int_equal(sampled(&r, FV_TALLY_DELAY_AT, "MPI_Allreduce", 1, SLOW), 300 + 150);
    assert_int_equal(sampled(&r, FV_TALLY_DELAY_AT, "MPI_Allreduce", 1, COMMON), 0);
    assert_int_equal(r.analysis.samples.count, 6);
    assert_int_equal(r.analysis.samples.cpu_ns, 750);
    assert_int_equal(r.analysis.samples.elsewhere, 2);
    assert_int_equal(r.analysis.samples.lost + r.analysis.samples.damaged, 0);
    end_run(&r);
}

/* Rank 0 waits for rank 1, which waited for rank 2 before. What rank 2 did before its send has no counterpart. */
static void samples_go_back_along_chains(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 3);
    EVENT(at(&r, 2, SEND, 400, 410), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 100, 410), RECV, 1, 2, 7, 8);
    EVENT(at(&r, 1, SEND, 420, 430), SEND, 1, 0, 7, 8);
    EVENT(at(&r, 0, RECV, 170, 430), RECV, 1, 1, 7, 8);
    SAMPLES(&r, 2, { 100, 1, 100 }, { 390, 2, 300 });
    SAMPLES(&r, 1, { 95, 1, 100 });
    analyse(&r);
    uint64_t cost = sum(&r, FV_TALLY_DIRECT, "MPI_Send", 2, FV_COMPUTING) +
                    sum(&r, FV_TALLY_PROPAGATED, "MPI_Send", 2, FV_COMPUTING);
    assert_that(cost, >, 300);
    assert_that(llabs(sampled(&r, FV_TALLY_DELAY_AT, "MPI_Send", 2, SLOW) - (int64_t)(cost * 3 / 4)), <=, 1);
    assert_that(llabs(sampled(&r, FV_TALLY_DELAY_AT, "MPI_Send", 2, COMMON) - (int64_t)(cost / 4)), <=, 1);
    assert_int_equal(sampled(&r, FV_TALLY_CRITICAL_AT, "MPI_Send", 2, SLOW), 300);
    end_run(&r);
}

/* Behind the rank's end, whatever comes then. Out of order, of a path that is not there, and missing before a chunk;
 * not before an empty one. */
static void damaged_samples_are_counted(void **state)
{
    const struct fv_logged_sample more = { 1000000400, 2, 100 };
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 500, 600), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 100, 700), RECV, 1, 0, 7, 8);
    SAMPLES(&r, 0, { 200, 2, 120 }, { 100, 2, 100 }, { 210, 77, 10 }, { 2000000000, 2, 5 });
    fvr_chunk(&r.files[0], FV_CHUNK_SAMPLE_LOG, 0, 5, &more, sizeof(more));
    fvr_chunk(&r.files[0], FV_CHUNK_SAMPLE_LOG, 0, 508, &more, 0);
    analyse(&r);
    assert_int_equal(r.analysis.samples.count, 2);
    assert_int_equal(r.analysis.samples.damaged, 3);
    assert_int_equal(r.analysis.samples.elsewhere, 1);
    assert_int_equal(sampled(&r, FV_TALLY_COMPUTED, "MPI_Send", 0, SLOW), 220);
    end_run(&r);
}

/* The largest of a rank keep their call paths; their sum stays. */
static void few_keep_their_paths(void **state)
{
    struct fv_tallies t = { 0 };
    uint64_t kept = 0, rest = 0;

    (void)state;
    for (uint32_t i = 1; i <= 100; i++)
        fv_tallies_add(
            &t, &(struct fv_tally){
                    .what = FV_TALLY_DELAY_AT, .rank = 3, .kind = i, .count = 1, .ns = i % 2 ? i : -(uint64_t)i });
    fv_tallies_add(&t, &(struct fv_tally){ .what = FV_TALLY_DELAY_AT, .rank = 4, .kind = 7, .count = 1, .ns = 1 });
    fv_tallies_add(&t, &(struct fv_tally){ .what = FV_TALLY_CALLS, .site = 9, .rank = 3, .count = 2, .ns = 50 });
    fv_samples_thin(&t, 1u << 20);
    fv_tallies_sort(&t);
    assert_int_equal(t.count, 64 + 1 + 1 + 1);
    for (size_t i = 0; i < t.count; i++) {
        if (t.items[i].what != FV_TALLY_DELAY_AT || t.items[i].rank != 3)
            continue;
        assert_true(!t.items[i].kind || t.items[i].kind > 100 - 64);
        *(t.items[i].kind ? &kept : &rest) += t.items[i].ns;
    }
    assert_that(rest, ==, (uint64_t)-18); /* 1 - 2 + 3 ... - 36 */
    assert_that(kept, ==, (uint64_t)-32);
    fv_tallies_release(&t);
}

static int with_much(void **state)
{
    (void)state;
    memory = 64 << 20;
    return 0;
}

static int with_little(void **state)
{
    (void)state;
    memory = 1;
    return 0;
}

int main(void)
{
#define BOTH(test) cmocka_unit_test_setup(test, with_much), cmocka_unit_test_setup(test, with_little)
    const struct CMUnitTest tests[] = {
        BOTH(samples_say_what_a_delay_was),
        BOTH(samples_go_back_along_chains),
        BOTH(damaged_samples_are_counted),
        cmocka_unit_test(few_keep_their_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
