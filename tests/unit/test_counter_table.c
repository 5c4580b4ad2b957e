/* The table of counters: its events, of which each is asked of libpfm4 by name, as if on its processor; codes, which
 * are what libpfm4 says of their parts; groups and metrics, whose names must be known; and formulas, by known
 * answers. */
#include "base/perf_events.h"
#include "counters/counters.h"
#include "unit.h"

#include <linux/perf_event.h>

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

/* Of its PMU the first name. */
static const char *pmu_of(enum fv_processor_kind kind, char *out, size_t bytes)
{
    const char *names = fv_processor_rows[kind].pmus;

    snprintf(out, bytes, "%.*s", (int)strcspn(names, " "), names);
    return out;
}

static void events_of(enum fv_processor_kind kind, unsigned *checked)
{
    char pmu[64];

    if (!knows_pmu(pmu_of(kind, pmu, sizeof(pmu)))) {
        print_message("# this libpfm4 does not know %s: its events are not checked\n", pmu);
        return;
    }
    for (size_t i = 0; i < fv_quantity_count; i++) {
        const char *event = fv_quantity_event(&fv_quantities[i], kind),
                   *why = event && !is_generic(event) ? look_up(pmu, event) : NULL;

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
    assert_that(checked, >, 70);
}

#define FILLS_2 "MABRESP_LCL_L2 LS_MABRESP_LCL_CACHE LS_MABRESP_LCL_DRAM LS_MABRESP_RMT_CACHE LS_MABRESP_RMT_DRAM"
#define FILLS_3 "LCL_L2 INT_CACHE EXT_CACHE_LCL MEM_IO_LCL EXT_CACHE_RMT MEM_IO_RMT"
#define FILLS_4 "LCL_L2 LOCAL_CCX NEAR_CACHE_NEAR_FAR DRAM_IO_NEAR FAR_CACHE_NEAR_FAR DRAM_IO_FAR ALT_MEM_NEAR_FAR"
#define FILLS_5 "LCL_L2 LOCAL_CCX NEAR_FAR_CACHE_NEAR DRAM_IO_NEAR NEAR_FAR_CACHE_FAR DRAM_IO_FAR ALT_MEM_NEAR_FAR"

/* What libpfm4 names apart, or has no short name for, stands in the table as a code. */
static const struct {
    enum fv_processor_kind kind;
    const char *code, *event, *masks; /* with blanks between */
} coded[] = {
    { FV_SKL, "r0f32", "SW_PREFETCH_ACCESS", "NTA T0 T1_T2 PREFETCHW" },
    { FV_ICL, "r0f32", "SW_PREFETCH_ACCESS", "NTA T0 T1_T2 PREFETCHW" },
    { FV_SPR, "r0f40", "SW_PREFETCH_ACCESS", "NTA T0 T1_T2 PREFETCHW" },
    { FV_ICL, "r0cc7", "FP_ARITH_INST_RETIRED", "128B_PACKED_DOUBLE 128B_PACKED_SINGLE" },
    { FV_ICL, "r30c7", "FP_ARITH_INST_RETIRED", "256B_PACKED_DOUBLE 256B_PACKED_SINGLE" },
    { FV_ICL, "rc0c7", "FP_ARITH_INST_RETIRED", "512B_PACKED_DOUBLE 512B_PACKED_SINGLE" },
    { FV_SPR, "r0cc7", "FP_ARITH_INST_RETIRED", "128B_PACKED_DOUBLE 128B_PACKED_SINGLE" },
    { FV_SPR, "r30c7", "FP_ARITH_INST_RETIRED", "256B_PACKED_DOUBLE 256B_PACKED_SINGLE" },
    { FV_SPR, "rc0c7", "FP_ARITH_INST_RETIRED", "512B_PACKED_DOUBLE 512B_PACKED_SINGLE" },
    { FV_SPR, "rbfe7", "INT_VEC_RETIRED", "128BIT 256BIT" },
    { FV_ZEN2, "r0764", "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS", "IC_FILL_HIT_X IC_FILL_HIT_S IC_FILL_MISS" },
    { FV_ZEN2, "r5b43", "DATA_CACHE_REFILLS_FROM_SYSTEM", FILLS_2 },
    { FV_ZEN2, "r5b59", "SOFTWARE_PREFETCH_DATA_CACHE_FILLS", FILLS_2 },
    { FV_ZEN2, "r5b5a", "HARDWARE_PREFETCH_DATA_CACHE_FILLS", FILLS_2 },
    { FV_ZEN3, "r5f43", "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM", FILLS_3 },
    { FV_ZEN3, "r5f59", "SOFTWARE_PREFETCH_DATA_CACHE_FILLS", FILLS_3 },
    { FV_ZEN3, "r5f5a", "HARDWARE_PREFETCH_DATA_CACHE_FILLS", FILLS_3 },
    { FV_ZEN4, "rdf43", "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM", FILLS_4 },
    { FV_ZEN4, "rdf59", "SOFTWARE_PREFETCH_DATA_CACHE_FILLS", FILLS_4 },
    { FV_ZEN4, "rdf5a", "HARDWARE_PREFETCH_DATA_CACHE_FILLS", FILLS_4 },
    { FV_ZEN4, "r1f71", "L2_PREFETCH_HIT_L3", "L2_STREAM L2_NEXT_LINE L2_UP_DOWN L2_BURST L2_STRIDE" },
    { FV_ZEN4, "r1f72", "L2_PREFETCH_MISS_L3", "L2_STREAM L2_NEXT_LINE L2_UP_DOWN L2_BURST L2_STRIDE" },
    { FV_ZEN4, "r440a", "RETIRED_FP_OPS_BY_TYPE", "SCALAR_MAC VECTOR_MAC" },
    { FV_ZEN5, "rdf43", "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM", FILLS_5 },
    { FV_ZEN5, "rdf59", "SOFTWARE_PREFETCH_DATA_CACHE_FILLS", FILLS_5 },
    { FV_ZEN5, "rdf5a", "HARDWARE_PREFETCH_DATA_CACHE_FILLS", FILLS_5 },
    { FV_ZEN5, "r440a", "RETIRED_FP_OPS_BY_TYPE", "SCALAR_MAC VECTOR_MAC" },
    { FV_ZEN5, "ra2d6", NULL, NULL }, /* not in libpfm4: Linux, amdzen5/pipeline.json */
};

/* Event and masks of a name of libpfm4's. */
static uint64_t encoded(const char *pmu, const char *event, const char *mask, size_t length)
{
    struct perf_event_attr attr = { .size = sizeof(attr) };
    char name[200];

    snprintf(name, sizeof(name), "%s::%s:%.*s", pmu, event, (int)length, mask);
    if (pfm_get_perf_event_encoding(name, PFM_PLM3, &attr, NULL, NULL) != PFM_SUCCESS)
        fail_msg("%s", name);
    return attr.config & 0xffff;
}

static void check_code(size_t i, const char *pmu)
{
    uint64_t all = 0;

    for (const char *at = coded[i].masks; *at;) {
        size_t length = strcspn(at, " ");

        all |= encoded(pmu, coded[i].event, at, length);
        at += length + (at[length] == ' ');
    }
    if (all != strtoull(coded[i].code + 1, NULL, 16))
        fail_msg("%s of %s: libpfm4 has r%04llx for its parts", coded[i].code, pmu, (unsigned long long)all);
}

static bool has_code(enum fv_processor_kind kind, const char *code)
{
    for (size_t i = 0; i < sizeof(coded) / sizeof(*coded); i++)
        if (coded[i].kind == kind && !strcmp(coded[i].code, code))
            return true;
    return false;
}

/* Each code of the table is in the list above, and what libpfm4 says of its parts. */
static void codes(void **state)
{
    char pmu[64];

    (void)state;
    for (size_t i = 0; i < fv_quantity_count; i++)
        for (unsigned kind = 1; kind < FV_PROCESSOR_KINDS; kind++) {
            const char *event = fv_quantity_event(&fv_quantities[i], (enum fv_processor_kind)kind);

            if (event && *event == 'r' && !has_code((enum fv_processor_kind)kind, event))
                fail_msg("%s: %s", fv_quantities[i].name, event);
        }
    for (size_t i = 0; i < sizeof(coded) / sizeof(*coded); i++)
        if (coded[i].event && knows_pmu(pmu_of(coded[i].kind, pmu, sizeof(pmu))))
            check_code(i, pmu);
}
#else
static void codes(void **state)
{
    (void)state;
    skip();
}

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
            assert_that(strlen(event), <, FV_PERF_EVENT_NAME);
            assert_true(kind || is_generic(event));
            const struct fv_quantity *of = fv_quantity_of_event((enum fv_processor_kind)kind, event);
            if (of != &fv_quantities[i])
                fail_msg("%s counts %s and %s", event, fv_quantities[i].name, of->name);
        }
    assert_ptr_equal(fv_quantity_of_event(FV_ANY_PROCESSOR, "skl::L1D:REPLACEMENT:u"),
                     fv_quantity_named("l1d_misses", 10));
    assert_null(fv_quantity_of_event(FV_ANY_PROCESSOR, "L1D:REPLACEMENT:k"));
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
                bool is_software = name && is_generic(name) && !fv_perf_event_parse(name, strlen(name), &event) &&
                                   event.type == PERF_TYPE_SOFTWARE;
                registers +=
                    name && !is_software && strcmp(q->name, "instructions") != 0 && strcmp(q->name, "cycles") != 0;
                at += length + (at[length] == ' ');
            }
            if (registers > REGISTERS)
                fail_msg("%s of %s takes %u registers", fv_counter_groups[g].name, fv_processor_rows[kind].name,
                         registers);
        }
}

/* ---- metrics ---- */

static double one(const void *context, const char *name, size_t length)
{
    static const char *const times[] = { "time", "thread_time" };
    bool *good = (bool *)(uintptr_t)context;
    double number;

    for (unsigned i = 0; i < 2; i++)
        if (strlen(times[i]) == length && !memcmp(times[i], name, length))
            return 1;
    if (fv_processor_number(FV_SPR, name, length, &number))
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
        const char *peak = fv_metric_peak(&fv_metric_rows[i]);

        if (peak && (isnan(fv_formula_value(peak, one, &good)) || !good))
            fail_msg("peak of %s: %s", fv_metric_rows[i].name, peak);
        for (; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
            if (isnan(fv_formula_value(at, one, &good)) || !good)
                fail_msg("%s: %s", fv_metric_rows[i].name, at);
    }
    for (size_t i = 0; i < fv_mark_row_count; i++) {
        const char *with = fv_mark_rows[i].with;
        bool found = false, found_with = !with;

        for (size_t k = 0; k < fv_metric_row_count; k++) {
            found = found || !strcmp(fv_metric_rows[k].name, fv_mark_rows[i].metric);
            found_with = found_with || !strcmp(fv_metric_rows[k].name, with ? with : "");
        }
        assert_true(found && found_with);
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
    assert_that(fabs(fv_formula_value("1 - (a + b) / 2 * 3", known, values) + 9.5), <, 1e-12);
    assert_near(fv_formula_value("a / b / 2", known, values), 0.375, 1e-12);
    assert_true(isnan(fv_formula_value("a / zero", known, values)));
    assert_true(isnan(fv_formula_value("a + c", known, values)));
    assert_true(isnan(fv_formula_value("(a", known, values)));
    assert_true(isnan(fv_formula_value("a b", known, values)));
    assert_near(fv_formulas_value("c; b; a", known, values, NULL), 4, 1e-12);
}

/* Top-down of each way of counting adds up to 1. */
static void top_down(void **state)
{
    static const struct known icl[] = { { "slots", 1000 },
                                        { "slots_undelivered", 100 },
                                        { "slots_backend", 400 },
                                        { "slots_retired", 450 },
                                        { "width", 5 },
                                        { "cycles", 200 },
                                        { NULL, 0 } };
    static const struct known skl[] = { { "width", 4 },
                                        { "cycles", 1000 },
                                        { "slots_undelivered", 400 },
                                        { "slots_issued", 2100 },
                                        { "slots_retired", 2000 },
                                        { "recovery_cycles", 25 },
                                        { NULL, 0 } };
    static const struct known zen4[] = { { "width", 6 },
                                         { "cycles", 1000 },
                                         { "slots_undelivered", 600 },
                                         { "slots_backend", 1800 },
                                         { "slots_retired", 3000 },
                                         { "slots_issued", 3600 },
                                         { NULL, 0 } };
    static const struct known v1[] = { { "width", 8 },
                                       { "granules", 2 },
                                       { "cycles", 1000 },
                                       { "slots_undelivered", 800 },
                                       { "slots_backend", 3200 },
                                       { "slots_retired", 900 },
                                       { "slots_issued", 1000 },
                                       { NULL, 0 } };
    static const struct known other[] = {
        { "cycles", 1000 }, { "frontend_cycles", 100 }, { "backend_cycles", 300 }, { NULL, 0 }
    };

    (void)state;
    expect(icl, "frontend_bound", 0.1), expect(icl, "backend_bound", 0.4), expect(icl, "retiring", 0.45),
        expect(icl, "bad_speculation", 0.05);
    expect(skl, "frontend_bound", 0.1), expect(skl, "backend_bound", 0.35), expect(skl, "retiring", 0.5),
        expect(skl, "bad_speculation", 0.05);
    expect(zen4, "frontend_bound", 0.1), expect(zen4, "backend_bound", 0.3), expect(zen4, "retiring", 0.5),
        expect(zen4, "bad_speculation", 0.1);
    expect(v1, "frontend_bound", 0.1), expect(v1, "backend_bound", 0.4), expect(v1, "retiring", 0.45),
        expect(v1, "bad_speculation", 0.05);
    expect(other, "frontend_bound", 0.1), expect(other, "backend_bound", 0.3), expect(other, "retiring", NAN);
}

static const struct known icl[] = {
    { "width", 5 },           { "slots", 1000 },        { "cycles", 200 },    { "slots_undelivered", 100 },
    { "slots_backend", 400 }, { "slots_retired", 450 }, { "fetch_none", 14 }, { "slots_dropped", 10 },
    { "stalls_memory", 40 },  { "stalls_stores", 10 },  { "stalls_all", 45 }, { "ports_1", 25 },
    { "ports_2", 100 },       { "branch_misses", 3 },   { "clears", 1 },      { NULL, 0 }
};
static const struct known skl[] = { { "width", 4 },           { "cycles", 1000 },        { "slots_undelivered", 400 },
                                    { "slots_issued", 2100 }, { "slots_retired", 2000 }, { "recovery_cycles", 25 },
                                    { "fetch_none", 70 },     { "stalls_memory", 180 },  { "stalls_stores", 20 },
                                    { "stalls_all", 230 },    { "ports_1", 100 },        { "ports_2", 300 },
                                    { "branch_misses", 40 },  { "clears", 10 },          { NULL, 0 } };
static const struct known spr[] = { { "width", 6 },           { "slots", 1000 },
                                    { "cycles", 170 },        { "slots_undelivered", 100 },
                                    { "slots_backend", 400 }, { "slots_retired", 450 },
                                    { "slots_memory", 250 },  { "slots_mispredicted", 30 },
                                    { "branch_misses", 7 },   { NULL, 0 } };
static const struct known zen4[] = { { "width", 6 },
                                     { "cycles", 1000 },
                                     { "slots_undelivered", 600 },
                                     { "slots_backend", 1800 },
                                     { "slots_retired", 3000 },
                                     { "slots_issued", 3600 },
                                     { "fetch_none", 60 },
                                     { "unretired", 500 },
                                     { "unretired_loads", 400 },
                                     { "branch_misses", 9 },
                                     { "resyncs", 1 },
                                     { NULL, 0 } };
static const struct known zen5[] = { { "width", 8 },
                                     { "cycles", 1000 },
                                     { "slots_undelivered", 800 },
                                     { "slots_backend", 1600 },
                                     { "slots_retired", 3000 },
                                     { "fetch_none", 60 },
                                     { "unretired", 500 },
                                     { "unretired_loads", 100 },
                                     { "branch_misses", 9 },
                                     { NULL, 0 } };

static const struct known without_recovery[] = {
    { "width", 4 },   { "cycles", 1000 }, { "slots_issued", 2100 }, { "slots_retired", 2000 }, { "branch_misses", 40 },
    { "clears", 10 }, { NULL, 0 }
};

/* The parts of each box add up to it. Numbers are such that what stands still is 500 of 1000, of which memory has
 * 200. */
#define BOX(of, box, one, two, part, whole) \
    expect(of, one, part), expect(of, two, (whole) - (part)), expect(of, box, whole)
static void level_2(void **state)
{
    (void)state;
    expect(icl, "fetch_latency", 0.06), expect(icl, "fetch_bandwidth", 0.03); /* and what was dropped */
    BOX(icl, "backend_bound", "memory_bound", "core_bound", 0.4 * 50 / 125, 0.4);
    BOX(icl, "bad_speculation", "branch_mispredicts", "pipeline_restarts", 0.0375, 0.05);
    BOX(skl, "frontend_bound", "fetch_latency", "fetch_bandwidth", 0.07, 0.1);
    BOX(skl, "backend_bound", "memory_bound", "core_bound", 0.35 * 200 / 500, 0.35);
    BOX(skl, "bad_speculation", "branch_mispredicts", "pipeline_restarts", 0.04, 0.05);
    expect(spr, "fetch_latency", NAN);
    BOX(spr, "backend_bound", "memory_bound", "core_bound", 0.25, 0.4);
    BOX(spr, "bad_speculation", "branch_mispredicts", "pipeline_restarts", 0.03, 0.05);
    BOX(zen4, "frontend_bound", "fetch_latency", "fetch_bandwidth", 0.06, 0.1);
    BOX(zen4, "backend_bound", "memory_bound", "core_bound", 0.24, 0.3);
    BOX(zen4, "bad_speculation", "branch_mispredicts", "pipeline_restarts", 0.09, 0.1);
    BOX(zen5, "frontend_bound", "fetch_latency", "fetch_bandwidth", 0.06, 0.1);
    BOX(zen5, "backend_bound", "memory_bound", "core_bound", 0.04, 0.2);
    expect(zen5, "branch_mispredicts", NAN);
    expect(without_recovery, "bad_speculation", NAN), expect(without_recovery, "branch_mispredicts", NAN);
}

/* Level 3 of the same: the parts of memory, of which loads have 40 of 50 in icl, and 180 of 200 in skl. */
static void add_up(const struct known *of, const char *whole, const char *const *parts, double wanted)
{
    double sum = 0;

    for (; *parts; parts++)
        sum += fv_formulas_value(formulas_of(*parts), known, of, NULL);
    assert_near(sum, wanted, 1e-12);
    assert_near(fv_formulas_value(formulas_of(whole), known, of, NULL), wanted, 1e-12);
}

static void level_3(void **state)
{
    static const char *const parts[] = { "l1_bound", "l2_bound", "l3_bound", "dram_bound", "store_bound", NULL };
    static const struct known of_icl[] = { { "width", 5 },           { "slots", 1000 },
                                           { "cycles", 200 },        { "slots_backend", 400 },
                                           { "slots_retired", 450 }, { "stalls_memory", 40 },
                                           { "stalls_stores", 10 },  { "stalls_all", 45 },
                                           { "ports_1", 25 },        { "ports_2", 100 },
                                           { "stalls_l1", 30 },      { "stalls_l2", 22 },
                                           { "stalls_l3", 12 },      { NULL, 0 } };
    static const struct known of_skl[] = {
        { "width", 4 },           { "cycles", 1000 },        { "slots_undelivered", 400 },
        { "slots_issued", 2100 }, { "slots_retired", 2000 }, { "recovery_cycles", 25 },
        { "stalls_memory", 180 }, { "stalls_stores", 20 },   { "stalls_all", 230 },
        { "ports_1", 100 },       { "ports_2", 300 },        { "stalls_l1", 150 },
        { "stalls_l2", 100 },     { "stalls_l3", 60 },       { NULL, 0 }
    };
    static const struct known of_spr[] = { { "width", 6 },
                                           { "slots", 1000 },
                                           { "cycles", 170 },
                                           { "slots_backend", 400 },
                                           { "slots_memory", 250 },
                                           { "stalls_memory", 80 },
                                           { "stalls_stores", 20 },
                                           { "stalls_l1", 70 },
                                           { "stalls_l2", 50 },
                                           { "stalls_l3", 40 },
                                           { NULL, 0 } };

    (void)state;
    add_up(of_icl, "memory_bound", parts, 0.4 * 50 / 125);
    add_up(of_skl, "memory_bound", parts, 0.35 * 200 / 500);
    add_up(of_spr, "memory_bound", parts, 0.25);
    expect(of_spr, "l1_bound", 0.025), expect(of_spr, "l2_bound", 0.05), expect(of_spr, "l3_bound", 0.025),
        expect(of_spr, "dram_bound", 0.1), expect(of_spr, "store_bound", 0.05);
    expect(spr, "store_bound", NAN); /* not without the levels */
}

/* Arm's back end by memory. */
static void of_arm(void **state)
{
    static const struct known v1[] = { { "width", 8 },       { "granules", 2 },
                                       { "cycles", 1000 },   { "slots_backend", 3200 },
                                       { "unretired", 500 }, { "unretired_loads", 300 },
                                       { NULL, 0 } };

    (void)state;
    BOX(v1, "backend_bound", "memory_bound", "core_bound", 0.24, 0.4);
}

/* Cycles by what retired are all of them. */
static void completion(void **state)
{
    static const struct known values[] = { { "cycles", 1000 },   { "retired_1", 700 },     { "retired_2", 500 },
                                           { "retired_4", 100 }, { "divider_cycles", 50 }, { NULL, 0 } };

    (void)state;
    expect(values, "retired_none_share", 0.3), expect(values, "retired_1_share", 0.2),
        expect(values, "retired_2_share", 0.4), expect(values, "retired_4_share", 0.1),
        expect(values, "divider_busy", 0.05);
}

/* Demand and prefetch are all misses; what is written back is a part of all traffic. */
static void misses(void **state)
{
    static const struct known intel[] = { { "instructions", 1e6 }, { "l1i_misses", 2000 },
                                          { "l1d_misses", 1000 },  { "l1d_demand", 400 },
                                          { "l2_misses", 300 },    { "l2_demand", 75 },
                                          { "l2_written", 100 },   { "loads", 2e5 },
                                          { "stores", 1e5 },       { NULL, 0 } };
    static const struct known skl_l2[] = {
        { "l2_misses", 300 }, { "l2_demand", 60 }, { "l2_prefetch", 240 }, { NULL, 0 }
    };
    static const struct known amd[] = { { "l1d_demand", 500 },
                                        { "l1d_hardware", 400 },
                                        { "l1d_software", 100 },
                                        { "l2_misses", 300 },
                                        { "l2_prefetch_l3", 500 },
                                        { "l2_prefetch_memory", 200 },
                                        { NULL, 0 } };

    (void)state;
    expect(intel, "l1i_misses_per_1000", 2), expect(intel, "l1d_demand_share", 0.4),
        expect(intel, "l1d_hardware_share", NAN), expect(intel, "l2_miss_share", 0.001);
    expect(intel, "l2_demand_share", 0.25), expect(intel, "l2_prefetch_share", 0.75),
        expect(intel, "write_back_share", 0.25);
    expect(skl_l2, "l2_demand_share", 0.2), expect(skl_l2, "l2_prefetch_share", 0.8);
    expect(amd, "l1d_demand_share", 0.5), expect(amd, "l1d_hardware_share", 0.4),
        expect(amd, "l1d_software_share", 0.1);
    expect(amd, "l2_demand_share", 0.3), expect(amd, "l2_prefetch_share", 0.7), expect(amd, "write_back_share", NAN);
}

/* Floating point: operations, of all operations, of instructions. */
static void floating_point(void **state)
{
    static const struct known without_16[] = {
        { "instructions", 1000 }, { "cycles", 500 }, { "fp_scalar", 40 }, { "fp_2", 20 },
        { "fp_4", 30 },           { "fp_8", 50 },    { NULL, 0 }
    };
    static const struct known with_16[] = { { "instructions", 1000 }, { "cycles", 500 }, { "fp_scalar", 40 },
                                            { "fp_2", 20 },           { "fp_4", 30 },    { "fp_8", 50 },
                                            { "fp_16", 10 },          { NULL, 0 } };
    static const struct known amd[] = { { "instructions", 1000 }, { "fp_ops", 400 },         { "fma_ops", 300 },
                                        { "fp_fma", 40 },         { "fp_scalar_ops", 20 },   { "fp_vector_ops", 80 },
                                        { "prefetches", 5 },      { "vector_integers", 15 }, { NULL, 0 } };

    (void)state;
    expect(without_16, "flops_per_cycle", 600 / 500.), expect(with_16, "flops_per_cycle", 760 / 500.);
    expect(without_16, "flop_share", 600 / (1000 + 20 + 90 + 350.)),
        expect(with_16, "flop_share", 760 / (1000 + 20 + 90 + 350 + 150.));
    expect(without_16, "fp_share", 0.14);
    expect(amd, "fma_share", 0.04), expect(amd, "fma_flop_share", 0.75), expect(amd, "fp_scalar_share", 0.02),
        expect(amd, "fp_vector_share", 0.08), expect(amd, "prefetch_share", 0.005),
        expect(amd, "vector_integer_share", 0.015);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events),         cmocka_unit_test(codes),      cmocka_unit_test(names),
        cmocka_unit_test(groups),         cmocka_unit_test(metrics),    cmocka_unit_test(arithmetic),
        cmocka_unit_test(top_down),       cmocka_unit_test(level_2),    cmocka_unit_test(level_3),
        cmocka_unit_test(of_arm),         cmocka_unit_test(completion), cmocka_unit_test(misses),
        cmocka_unit_test(floating_point),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
