/* Sections as regions that nest: what the sink tells of made-up records, with known answers, and of random
 * ones. */
#include "merge/weave_sections.h"
#include "unit.h"

/* Sections 1 to 3 are functions 11 to 13. Sets: 1 {1}, 2 {1 2}, 3 {2}, 4 {1 2 3}, 5 {2 3}, 6 {1 3}, 7 {3}. */
static uint32_t functions[] = { FV_NONE, 11, 12, 13 };
static struct fv_section_set sets[] = {
    { 0, 0 }, { 0, 1 }, { 1, 2 }, { 0, 2 }, { 2, 3 }, { 3, 3 }, { 1, 3 }, { 0, 3 }
};
static const struct fv_def_map map = { .sections = { functions, 4, 4 } };

static struct fv_location_stats locations[1];
static struct fv_weave_sections weave;
static char told[4096];
static uint32_t stack[200];
static size_t depth, records;
static char apart[256];                  /* instances whose numbers are told: function:instance@time calls */
static uint64_t entered[200], sums[200]; /* by function, and 100 + node */

static bool take(struct fv_sink *sink, uint32_t slot, const struct fv_record *r)
{
    bool instance = r->kind == FV_REC_INSTANCE || r->kind == FV_REC_INSTANCE_END;
    bool begin = r->kind == FV_REC_INSTANCE || r->kind == FV_REC_SECTION_ENTER;
    uint32_t number = instance ? 100 + r->context : r->ref;
    char word[32];
    (void)sink, (void)slot;

    assert_true(instance || begin || r->kind == FV_REC_SECTION_LEAVE || r->kind == FV_REC_PROGRAM_END);
    if (r->kind == FV_REC_PROGRAM_END)
        return true;
    records++;
    if (begin) {
        stack[depth++] = number;
        entered[number] = r->time_ns;
    } else {
        assert_that(depth, >, 0);
        assert_int_equal(stack[--depth], number);
        sums[number] += r->time_ns - entered[number];
    }
    if (r->kind == FV_REC_SECTION_LEAVE && r->aux) {
        snprintf(word, sizeof(word), "%u:%u@%u %u ", r->ref, r->aux, (unsigned)r->time_ns, (unsigned)r->id);
        strncat(apart, word, sizeof(apart) - strlen(apart) - 1);
    }
    snprintf(word, sizeof(word), "%s%c%u%s", *told ? " " : "", begin ? '+' : '-', number, r->op ? "~" : "");
    strncat(told, word, sizeof(told) - strlen(told) - 1);
    return true;
}

static bool ok(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static bool closed(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

static struct fv_sink to = { .open = ok, .put = take, .close = closed };

static void start(void)
{
    fv_weave_sections_init(&weave, NULL, NULL, &to);
    weave.map = &map;
    weave.locations = locations;
    weave.sets = malloc(sizeof(sets));
    memcpy(weave.sets, sets, sizeof(sets));
    weave.set_count = sizeof(sets) / sizeof(*sets);
    locations[0] = (struct fv_location_stats){ 0 };
    *told = *apart = '\0';
    depth = records = 0;
    memset(sums, 0, sizeof(sums));
    assert_true(weave.sink.open(&weave.sink, 0, 0));
}

static void put(enum fv_record_kind kind, uint32_t number, uint64_t time)
{
    const struct fv_record r = { .kind = (uint8_t)kind, .context = number, .id = number, .time_ns = time };

    assert_true(weave.sink.put(&weave.sink, 0, &r));
}

static void stop(void)
{
    assert_true(weave.sink.close(&weave.sink, 0));
    fv_weave_sections_release(&weave);
    assert_int_equal(depth, 0);
}

static void overlapping(void **state)
{
    (void)state;
    start();
    put(FV_REC_SECTIONS, 1, 10);
    put(FV_REC_SECTIONS, 2, 20);
    put(FV_REC_SECTIONS, 4, 30);
    put(FV_REC_SECTIONS, 5, 40); /* the outermost ends */
    put(FV_REC_SECTIONS, 7, 60);
    put(FV_REC_SECTIONS, 0, 90);
    stop();
    assert_string_equal(told, "+11 +12 +13 -13 -12 -11 +12 +13 -13 -12 +13 -13");
    assert_int_equal(sums[11], 30);
    assert_int_equal(sums[12], 40);
    assert_int_equal(sums[13], 60);
    assert_int_equal(locations[0].records, 12);
    assert_int_equal(locations[0].first_ns, 10);
    assert_int_equal(locations[0].last_ns, 90);
}

/* What MPI did in an instance stands where it ends, not where it is left and entered again. The end of an instance may
 * be told a bit late; one that ended where the trace has nothing of it is not told with another one. */
static void one_by_one(void **state)
{
    static struct fv_logged_section log[] = {
        { .thread = 5, .function = 11, .number = 1, .end_ns = 39, .calls = 3 },
        { .thread = 5, .function = 12, .number = 7, .end_ns = 15, .calls = 9 },
        { .thread = 5, .function = 12, .number = 8, .end_ns = 60, .calls = 4 },
        { .thread = 6, .function = 13, .number = 1, .end_ns = 90, .calls = 5 },
    };
    static const uint32_t threads[] = { 5 };
    (void)state;
    start();
    weave.thread_ids = threads;
    weave.log = (struct fv_section_log){ malloc(sizeof(log)), sizeof(log) / sizeof(*log), 0 };
    memcpy(weave.log.items, log, sizeof(log));
    put(FV_REC_SECTIONS, 1, 10);
    put(FV_REC_SECTIONS, 2, 20);
    put(FV_REC_SECTIONS, 4, 30);
    put(FV_REC_SECTIONS, 5, 40);
    put(FV_REC_SECTIONS, 7, 60);
    put(FV_REC_SECTIONS, 0, 90);
    stop();
    assert_string_equal(apart, "11:1@40 3 12:8@60 4 ");
}

/* A function that begins a section, one that ends another. */
static void across_instances(void **state)
{
    (void)state;
    start();
    put(FV_REC_INSTANCE, 5, 10);
    put(FV_REC_SECTIONS, 1, 20);
    put(FV_REC_INSTANCE_END, 5, 30);
    put(FV_REC_INSTANCE, 6, 40);
    put(FV_REC_INSTANCE, 7, 50);
    put(FV_REC_SECTIONS, 0, 60);
    put(FV_REC_INSTANCE_END, 7, 70);
    put(FV_REC_INSTANCE_END, 6, 80);
    stop();
    assert_string_equal(told, "+105 +11 -11 -105 +11 +106 +107 -107~ -106~ -11 +106~ +107~ -107 -106");
    assert_int_equal(sums[11], 40);
    assert_int_equal(sums[106], 40);
    assert_int_equal(sums[107], 20);
}

/* Sets that are not there, or in a circle; sections that are open at the program's end, or the file's. */
static void damaged(void **state)
{
    (void)state;
    start();
    weave.sets[6] = (struct fv_section_set){ 6, 3 };
    weave.sets[7] = (struct fv_section_set){ 0, 77 };
    put(FV_REC_SECTIONS, 2, 10);
    put(FV_REC_SECTIONS, 4000, 20);
    put(FV_REC_SECTIONS, 6, 30);
    put(FV_REC_SECTIONS, 7, 40);
    put(FV_REC_SECTIONS, 3, 50);
    put(FV_REC_PROGRAM_END, 0, 60);
    put(FV_REC_SECTIONS, 1, 70);
    stop();
    assert_int_equal(sums[11], 20);
    assert_int_equal(sums[13], 10);
}

static bool has(uint32_t set, uint32_t section)
{
    for (; set; set = sets[set].outer)
        if (sets[set].section == section)
            return true;
    return false;
}

static void at_random(void **state)
{
    uint64_t seed = 1, wanted[4] = { 0 };
    uint32_t open[8], count = 0, next = 1, set = 0;
    (void)state;

    start();
    for (uint64_t time = 1; time < 20000; time++) {
        uint32_t r = (uint32_t)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 40);

        for (uint32_t i = 1; i < 4; i++)
            wanted[i] += time > 1 && has(set, i);
        *told = *apart = '\0';
        if (r % 3 == 0) {
            put(FV_REC_SECTIONS, set = r / 3 % 8, time);
        } else if (r % 3 == 1 && count < 8) {
            put(FV_REC_INSTANCE, open[count++] = next, time);
            next = next % 90 + 1;
        } else if (count) {
            put(FV_REC_INSTANCE_END, open[--count], time);
        } else {
            put(FV_REC_SECTIONS, set, time);
        }
        for (uint32_t i = 1; i < 4; i++) {
            bool is = false;

            for (size_t k = 0; k < depth; k++)
                is = is || stack[k] == functions[i];
            assert_int_equal(is, has(set, i));
        }
    }
    put(FV_REC_SECTIONS, 0, 20000);
    for (uint32_t i = 1; i < 4; i++)
        assert_int_equal(sums[functions[i]], wanted[i] + has(set, i));
    while (count)
        put(FV_REC_INSTANCE_END, open[--count], 20000);
    assert_int_equal(locations[0].records > 0, 1);
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(overlapping), cmocka_unit_test(one_by_one),
                                        cmocka_unit_test(across_instances), cmocka_unit_test(damaged),
                                        cmocka_unit_test(at_random) };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
