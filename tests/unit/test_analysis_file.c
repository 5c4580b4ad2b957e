/* The report reads fvunify's analysis.json: a good one, ones that are damaged in every way, none. */
#define _GNU_SOURCE
#include "analysis_file.h"

static void reads_all(void **state)
{
    struct fv_analysis_result a;
    (void)state;

    assert_null(read_text(good, strlen(good), &a));
    assert_int_equal(a.world_size, 2);
    assert_true(a.one_clock);
    assert_int_equal(a.rank_count, 2);
    assert_int_equal(a.kind_count, 2);
    assert_string_equal(a.kinds[0].kind, "late_sender");
    assert_int_equal(a.bins_count, 2);
    assert_true(a.bin_s == 0.25 && a.bins[0].rank == 0 && a.bins[0].count == 2 && a.bins[1].count == 0);
    assert_true(a.bins[0].wait_s[0] == 0 && a.bins[0].wait_s[1] == 0.03 && a.from_s == 0);
    assert_int_equal(a.site_count, 3);
    assert_that(a.sites[0].key, ==, key_of("MPI_Recv", 32, 16));
    assert_that(a.sites[1].key, ==, key_of("MPI_Send", 99, 48));
    assert_int_equal(a.sites[2].key, 0);
    assert_int_equal(a.ranks[1].identity.traced_calls, 3);
    assert_that(a.ranks[0].identity.process, !=, a.ranks[1].identity.process);
    assert_int_equal(a.part_count, 2);
    assert_that(a.parts[1].delay_s[FV_PLACE_COMPUTING], ==, 0.028);
    assert_int_equal(a.delay_count, 1);
    assert_int_equal(a.delays[0].site, 1);
    assert_that(a.ideal_s, ==, 0.999);
    assert_true(a.critical_path_s == 0.9 && a.switches == 2 && a.unexplained_s == 0.001);
    assert_that(a.lock_wait_s, ==, 0.007);
    assert_int_equal(a.procedure_count, 1);
    assert_int_equal(a.procedures[0].site, 1);
    assert_string_equal(a.procedures[0].function, "react");
    assert_int_equal(a.computed_count, 1); /* what begins behind no call is counted alone */
    assert_true(a.computed[0].from == 1 && a.computed[0].site == 1 && a.computed[0].count == 2 &&
                a.computed[0].cpu_s == 0.02);
    assert_true(a.computed_whole);
    assert_true(a.procedures[0].cpu_s == 0.03 && a.procedures[0].delay_s == 0.027 &&
                a.procedures[0].critical_s == 0.01);
    fv_analysis_result_release(&a);
}

static void refuses(void **state)
{
    struct fv_analysis_result a;
    (void)state;

    expect_refused("fvmpi-analysis-1", "fvmpi-analysis-2", "schema");
    expect_refused("\"schema\":\"fvmpi-analysis-1\",", "", "missing");
    expect_refused("\"run\":", "\"ran\":", "missing");
    expect_refused("\"rank\":1,\"count\"", "\"rank\":2,\"count\"", "rank 2 of 2");
    expect_refused("\"rank\":1,\"callsite\"", "\"rank\":7,\"callsite\"", "rank 7 of 2");
    expect_refused("\"rank\":1,\"process\"", "\"rank\":3000000000,\"process\"", "too large");
    expect_refused("\"wait_s\":0.03,\"before_s\"", "\"wait_s\":-0.03,\"before_s\"", "wait_s");
    expect_refused("\"wait_s\":0.03,\"before_s\"", "\"wait_s\":\"0.03\",\"before_s\"", "wait_s");
    expect_refused("\"callsite\":9", "\"callsite\":8", "no call site 8");
    expect_refused("9,\"function\"", "8,\"function\"", "no call site 8");
    expect_refused("\"procedures\":", "\"procedure\":", "no list");
    expect_refused("0.027,", "-0.027,", "delay_s");
    expect_refused("\"regions\":[", "\"regions\":{}, \"was\":[", "no list");
    expect_refused("\"from_callsite\":9", "\"from_callsite\":8", "no call site 8");
    expect_refused("\"rank\":1,\"from_callsite\":9", "\"rank\":2,\"from_callsite\":9", "rank 2 of 2");
    expect_refused("\"withheld_s\":0", "\"withheld_s\":null", "withheld_s");
    expect_refused("\"withheld_s\":0,", "", "withheld_s");
    expect_refused("\"kinds\":{}", "\"kinds\":{\"no_progress\":-1}", "no_progress");
    expect_refused("\"where\":\"computing\"", "\"where\":\"elsewhere\"", "where");
    expect_refused("\"delays\":[", "\"delays\":{\"x\":[", "no list");
    expect_refused("\"key\":\"", "\"key\":\"x", "key is no key");
    expect_refused("\"key\":\"", "\"other\":\"", "key is no key");
    expect_refused("\"process\":\"", "\"process\":\"0", "process is no key");
    expect_refused("[0,0.03]", "[0,-0.03]", "wait_s is no time");
    expect_refused("[0,0.03]", "[0,null]", "wait_s is no time");
    expect_refused("[0,0.03]", "0.03", "wait_s is no list");
    expect_refused("{\"rank\":1,\"wait_s\":[]}", "{\"rank\":2,\"wait_s\":[]}", "rank 2 of 2");
    expect_refused("\"waiting_over_time\":{", "\"waiting_over_time\":[],\"was\":{", "waiting_over_time is a list");
    expect_refused("\"bin_s\":0.25", "\"bin_s\":0", "waiting_over_time");
    expect_refused("\"bin_s\":0.25,\"ranks\":[", "\"bin_s\":0.25,\"was\":[", "waiting_over_time");
    expect_refused("\"stretch\":null", "\"stretch\":{\"begin_s\":-1}", "begin_s");
    expect_refused("\"traced_calls\":3", "\"traced_calls\":-3", "traced_calls");
    expect_refused("0.9,", "1e999,", "");
    assert_string_equal(read_text("", 0, &a), "it is no JSON object");
    fv_analysis_result_release(&a);
    assert_string_equal(read_text("[]", 2, &a), "it is no JSON object");
    fv_analysis_result_release(&a);
}

/* Cut anywhere, or with any byte gone wrong, it is refused, or read as something that is whole. */
static void survives_damage(void **state)
{
    char text[sizeof(good)];
    size_t length = strlen(good);
    struct fv_analysis_result a;
    unsigned taken = 0;
    (void)state;

    for (size_t i = 0; i + 2 < length; i++) {
        assert_non_null(read_text(good, i, &a));
        fv_analysis_result_release(&a);
    }
    for (size_t i = 0; i < length; i++) {
        static const char wrong[] = "\0\"[]{},:9-x\xff";

        memcpy(text, good, sizeof(good));
        text[i] = wrong[i % (sizeof(wrong) - 1)];
        taken += !read_text(text, strlen(good), &a);
        fv_analysis_result_release(&a);
    }
    assert_that(taken, <, length / 2);
}

static void absent_or_no_file(void **state)
{
    char name[100], why[FV_ANALYSIS_WHY];
    struct fv_analysis_result a;
    (void)state;

    snprintf(name, sizeof(name), "%s/analysis.json", directory);
    assert_int_equal(fv_analysis_result_read(&a, name, why), -FV_ENOENT);
    fv_analysis_result_release(&a);
    assert_int_equal(mkdir(name, 0700), 0);
    assert_int_equal(fv_analysis_result_read(&a, name, why), -FV_EFORMAT);
    fv_analysis_result_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_all),
        TEST(refuses),
        TEST(survives_damage),
        TEST(absent_or_no_file),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
