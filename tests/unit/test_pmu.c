/* Counters of an instance: what the handler took is subtracted, what was counted part of the time is scaled,
 * what was not counted at all is unknown. Readings are made up: no counter is needed. */
#include "rt_stub.h"
#include "sampler/pmu.h"
#include "unit.h"

#include <signal.h>

static struct fv_pmu pmu;
static struct fv_pmu_mark mark;
static uint64_t out[FV_METRIC_EVENTS];

/* An instance that was counted `running` of `enabled` ns, and took 1000 and 50 of two events, 400 of the
 * first ours. */
static enum fv_pmu_quality since(uint64_t enabled, uint64_t running)
{
    memset(&pmu, 0, sizeof(pmu));
    memset(&mark, 0, sizeof(mark));
    pmu.leader = &pmu.event[0];
    pmu.now = (struct fv_pmu_reading){ 5000, 4000, { 10000, 70 } };
    pmu.tool[0] = 30;
    fv_pmu_mark(&pmu, &mark);
    pmu.now.enabled += enabled;
    pmu.now.running += running;
    pmu.now.value[0] += 1000;
    pmu.now.value[1] += 50;
    pmu.tool[0] += 400;
    return fv_pmu_since(&pmu, &mark, out);
}

static void exact(void **state)
{
    (void)state;
    assert_int_equal(since(800, 800), FV_PMU_EXACT);
    assert_int_equal(out[0], 600);
    assert_int_equal(out[1], 50);
    assert_int_equal(out[2], 0);
}

static void scaled(void **state)
{
    (void)state;
    assert_int_equal(since(800, 200), FV_PMU_SCALED);
    assert_int_equal(out[0], 2400);
    assert_int_equal(out[1], 200);
}

static void lost(void **state)
{
    (void)state;
    assert_int_equal(since(800, 0), FV_PMU_LOST);
    assert_int_equal(out[0], 0);
    since(800, 800);
    pmu.now = (struct fv_pmu_reading){ 0 }; /* could not be read */
    assert_int_equal(fv_pmu_since(&pmu, &mark, out), FV_PMU_LOST);
    since(800, 800);
    memset(&mark.begin, 0, sizeof(mark.begin));
    assert_int_equal(fv_pmu_since(&pmu, &mark, out), FV_PMU_LOST);
}

static void more_tool_than_all(void **state)
{
    (void)state;
    since(800, 800);
    pmu.tool[1] = 60;
    assert_int_equal(fv_pmu_since(&pmu, &mark, out), FV_PMU_EXACT);
    assert_int_equal(out[1], 0);
}

static void nothing_asked_for(void **state)
{
    (void)state;
    since(800, 800);
    pmu.leader = NULL;
    assert_int_equal(fv_pmu_since(&pmu, &mark, out), FV_PMU_EXACT);
    assert_int_equal(out[0], 0);
}

/* What a trap takes beside the handler is the median of empty instances. */
static void calibrated(void **state)
{
    (void)state;
    memset(&pmu, 0, sizeof(pmu));
    pmu.leader = &pmu.event[0];
    for (uint64_t i = 0; i < 101; i++) {
        fv_pmu_mark(&pmu, &mark);
        pmu.now.value[0] += i == 7 ? 9000 : i % 2 ? 90 : 110;
        pmu.now.value[1] += 3;
        fv_pmu_learn(&pmu, &mark);
    }
    fv_pmu_learned();
    assert_int_equal(since(800, 800), FV_PMU_EXACT);
    assert_int_equal(out[0], 1000 - 400 - 110);
    assert_int_equal(out[1], 47);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(exact),
                                        cmocka_unit_test(scaled),
                                        cmocka_unit_test(lost),
                                        cmocka_unit_test(more_tool_than_all),
                                        cmocka_unit_test(nothing_asked_for),
                                        cmocka_unit_test(calibrated) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
