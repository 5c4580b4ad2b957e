/* Counters: the table of events, of which each is asked of libpfm4 by name, as if on its processor; groups and metrics, whose names must be known; formulas; and the kernel's page of an event. */
#include "base/perf_fd.h"
#include "counters/counters.h"

#include <linux/perf_event.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if FV_LIBPFM
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#endif

/* ---- names of events ---- */

static bool is_generic(const char *name)
{
    struct fv_perf_event event;

    return !fv_perf_event_parse(name, strlen(name), &event);
}

#if FV_LIBPFM
static bool knows_pmu(const char *pmu)
{
    for (size_t i = 0; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t info = { .size = sizeof(info) };

        if (!pfm_get_pmu_info((pfm_pmu_t)i, &info) && !strcmp(info.name, pmu))
            return true;
    }
    return false;
}

/* NULL, or why not. */
static const char *look_up(const char *pmu, const char *event)
{
    struct perf_event_attr attr = { .size = sizeof(attr) };
    char name[200];

    snprintf(name, sizeof(name), "%s::%s", pmu, event);
    int err = pfm_get_perf_event_encoding(name, PFM_PLM3, &attr, NULL, NULL);
    return err ? pfm_strerror(err) : NULL;
}

static void events_of(enum fv_processor_kind kind, unsigned *checked)
{
    char pmu[64];

    snprintf(pmu, sizeof(pmu), "%.*s", (int)strcspn(fv_processor_rows[kind].pmus, " "), fv_processor_rows[kind].pmus);
    if (!knows_pmu(pmu)) {
        print_message("# this libpfm4 does not know %s: its events are not checked\n", pmu);
        return;
    }
    for (size_t i = 0; i < fv_quantity_count; i++) {
        const char *event = fv_quantity_event(&fv_quantities[i], kind), *why = event && !is_generic(event) ? look_up(pmu, event) : NULL;

        if (why)
            fail_msg("%s: %s::%s: %s", fv_quantities[i].name, pmu, event, why);
        *checked += event && !is_generic(event);
    }
}

static void events(void **state)
{
    unsigned checked = 0;

    (void)state;
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
    assert_int_equal(pfm_initialize(), PFM_SUCCESS);
    assert_non_null(look_up("skl", "NO_SUCH_EVENT"));
    for (unsigned kind = 1; kind < FV_PROCESSOR_KINDS; kind++)
        events_of((enum fv_processor_kind)kind, &checked);
    assert_true(checked > 50);
}
#else
static void events(void **state)
{
    (void)state;
    skip();
}
#endif

static void names(void **state)
{
    (void)state;
    for (size_t i = 0; i < fv_quantity_count; i++)
        for (unsigned kind = 0; kind < FV_PROCESSOR_KINDS; kind++) {
            const char *event = fv_quantity_event(&fv_quantities[i], (enum fv_processor_kind)kind);

            if (!event)
                continue;
            assert_true(strlen(event) < FV_PERF_EVENT_NAME);
            assert_true(kind || is_generic(event));
            if (fv_quantity_of_event(event) != &fv_quantities[i])
                fail_msg("%s counts %s and %s", event, fv_quantities[i].name, fv_quantity_of_event(event)->name);
        }
    assert_ptr_equal(fv_quantity_of_event("skl::L1D:REPLACEMENT:u"), fv_quantity_named("l1d_misses", 10));
    assert_null(fv_quantity_of_event("L1D:REPLACEMENT:k"));
    assert_int_equal(fv_processor_named("amd64_fam19h_zen4"), FV_ZEN4);
    assert_int_equal(fv_processor_named("clx"), FV_SKL);
    assert_int_equal(fv_processor_named("netburst"), FV_ANY_PROCESSOR);
}

/* The registers beside instructions and cycles: four of Intel, with hyperthreads; AMD and Arm have six in all. */
enum { REGISTERS = 4 };

static void groups(void **state)
{
    (void)state;
    for (size_t g = 0; g < fv_counter_group_count; g++)
        for (unsigned kind = 0; kind < FV_PROCESSOR_KINDS; kind++) {
            const char *at = fv_counter_groups[g].quantities;
            unsigned registers = 0;

            while (*at) {
                size_t length = strcspn(at, " ");
                const struct fv_quantity *q = fv_quantity_named(at, length);
                struct fv_perf_event event;

                if (!q)
                    fail_msg("%s: %s", fv_counter_groups[g].name, at);
                const char *name = fv_quantity_event(q, (enum fv_processor_kind)kind);
                bool is_software = name && is_generic(name) && !fv_perf_event_parse(name, strlen(name), &event) && event.type == PERF_TYPE_SOFTWARE;
                registers += name && !is_software && strcmp(q->name, "instructions") != 0 && strcmp(q->name, "cycles") != 0;
                at += length + (at[length] == ' ');
            }
            if (registers > REGISTERS)
                fail_msg("%s of %s takes %u registers", fv_counter_groups[g].name, fv_processor_rows[kind].name, registers);
        }
}

/* ---- metrics ---- */

static double one(const void *context, const char *name, size_t length)
{
    static const char *const others[] = { "time", "thread_time", "width", "granules" };
    bool *good = (bool *)(uintptr_t)context;

    for (unsigned i = 0; i < 4; i++)
        if (strlen(others[i]) == length && !memcmp(others[i], name, length))
            return 1;
    if (!fv_quantity_named(name, length))
        *good = false;
    return 2;
}

static void metrics(void **state)
{
    (void)state;
    for (size_t i = 0; i < fv_metric_row_count; i++) {
        const char *at = fv_metric_rows[i].formulas;
        bool good = true;

        assert_non_null(fv_counter_group_named(fv_metric_rows[i].group, strlen(fv_metric_rows[i].group)));
        for (; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
            if (isnan(fv_formula_value(at, one, &good)) || !good)
                fail_msg("%s: %s", fv_metric_rows[i].name, at);
    }
    for (size_t i = 0; i < fv_mark_row_count; i++) {
        bool found = false;

        for (size_t k = 0; k < fv_metric_row_count; k++)
            found = found || !strcmp(fv_metric_rows[k].name, fv_mark_rows[i].metric);
        assert_true(found);
    }
}

struct known {
    const char *name;
    double value;
};

static double known(const void *context, const char *name, size_t length)
{
    for (const struct known *k = context; k->name; k++)
        if (strlen(k->name) == length && !memcmp(k->name, name, length))
            return k->value;
    return NAN;
}

static const char *formulas_of(const char *metric)
{
    for (size_t i = 0; i < fv_metric_row_count; i++)
        if (!strcmp(fv_metric_rows[i].name, metric))
            return fv_metric_rows[i].formulas;
    return "";
}

static void expect(const struct known *values, const char *metric, double wanted)
{
    double found = fv_formulas_value(formulas_of(metric), known, values, NULL);

    if (isnan(wanted) ? !isnan(found) : !(fabs(found - wanted) < 1e-9))
        fail_msg("%s: %g, not %g", metric, found, wanted);
}

static void arithmetic(void **state)
{
    static const struct known values[] = { { "a", 3 }, { "b", 4 }, { "zero", 0 }, { NULL, 0 } };

    (void)state;
    assert_true(fabs(fv_formula_value("1 - (a + b) / 2 * 3", known, values) + 9.5) < 1e-12);
    assert_true(fabs(fv_formula_value("a / b / 2", known, values) - 0.375) < 1e-12);
    assert_true(isnan(fv_formula_value("a / zero", known, values)));
    assert_true(isnan(fv_formula_value("a + c", known, values)));
    assert_true(isnan(fv_formula_value("(a", known, values)));
    assert_true(isnan(fv_formula_value("a b", known, values)));
    assert_true(fabs(fv_formulas_value("c; b; a", known, values, NULL) - 4) < 1e-12);
}

/* Top-down of each way of counting adds up to 1. */
static void top_down(void **state)
{
    static const struct known icl[] = { { "slots", 1000 }, { "slots_undelivered", 100 }, { "slots_backend", 400 }, { "slots_retired", 450 }, { "width", 5 }, { "cycles", 200 }, { NULL, 0 } };
    static const struct known skl[] = { { "width", 4 }, { "cycles", 1000 }, { "slots_undelivered", 400 }, { "slots_issued", 2100 }, { "slots_retired", 2000 }, { "recovery_cycles", 25 }, { NULL, 0 } };
    static const struct known zen4[] = { { "width", 6 }, { "cycles", 1000 }, { "slots_undelivered", 600 }, { "slots_backend", 1800 }, { "slots_retired", 3000 }, { "slots_issued", 3600 }, { NULL, 0 } };
    static const struct known v1[] = { { "width", 8 }, { "granules", 2 }, { "cycles", 1000 }, { "slots_undelivered", 800 }, { "slots_backend", 3200 }, { "slots_retired", 900 }, { "slots_issued", 1000 }, { NULL, 0 } };
    static const struct known other[] = { { "cycles", 1000 }, { "frontend_cycles", 100 }, { "backend_cycles", 300 }, { NULL, 0 } };

    (void)state;
    expect(icl, "frontend_bound", 0.1), expect(icl, "backend_bound", 0.4), expect(icl, "retiring", 0.45), expect(icl, "bad_speculation", 0.05);
    expect(skl, "frontend_bound", 0.1), expect(skl, "backend_bound", 0.35), expect(skl, "retiring", 0.5), expect(skl, "bad_speculation", 0.05);
    expect(zen4, "frontend_bound", 0.1), expect(zen4, "backend_bound", 0.3), expect(zen4, "retiring", 0.5), expect(zen4, "bad_speculation", 0.1);
    expect(v1, "frontend_bound", 0.1), expect(v1, "backend_bound", 0.4), expect(v1, "retiring", 0.45), expect(v1, "bad_speculation", 0.05);
    expect(other, "frontend_bound", 0.1), expect(other, "backend_bound", 0.3), expect(other, "retiring", NAN);
}

/* ---- the kernel's page ---- */

static struct perf_event_mmap_page page;
static unsigned moves; /* so often the kernel changes the page while it is read */

static uint64_t counter(uint32_t index)
{
    if (moves) {
        moves--;
        page.lock += 2;
        page.index++;
        page.offset += 1000;
    }
    return index == 2 ? UINT64_C(0xffffffffffff) - 99 : 7; /* 48 bits: -100 */
}

static void of_page(void **state)
{
    struct fv_perf_count out;

    (void)state;
    memset(&page, 0, sizeof(page));
    page.cap_user_rdpmc = 1;
    page.pmc_width = 48;
    page.offset = 5000;
    page.time_enabled = 70;
    page.time_running = 60;
    assert_false(fv_perf_page_read(&page, counter, &out)); /* in no register */
    page.index = 3;
    assert_true(fv_perf_page_read(&page, counter, &out));
    assert_int_equal(out.value, 4900);
    assert_int_equal(out.enabled, 70);
    assert_int_equal(out.running, 60);
    moves = 2;
    assert_true(fv_perf_page_read(&page, counter, &out));
    assert_int_equal(out.value, 7000 + 7);
    page.cap_user_rdpmc = 0;
    assert_false(fv_perf_page_read(&page, counter, &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(events),     cmocka_unit_test(names),    cmocka_unit_test(groups), cmocka_unit_test(metrics),
                                        cmocka_unit_test(arithmetic), cmocka_unit_test(top_down), cmocka_unit_test(of_page) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
