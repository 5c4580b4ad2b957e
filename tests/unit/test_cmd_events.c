/* Performance events: words to encodings and back, names by libpfm4, as if on an Intel processor. */
#include "base/perf_events.h"
#include "cmd/events.h"
#include "unit.h"

#include <linux/perf_event.h>
#include <signal.h>

static int parse(const char *word, struct fv_perf_event *out)
{
    return fv_perf_event_parse(word, strlen(word), out);
}

static void words(void **state)
{
    const char *list = "A,,BC", *word;
    size_t length;

    (void)state;
    assert_true(fv_perf_event_word(&list, &word, &length) && length == 1 && *word == 'A');
    assert_true(fv_perf_event_word(&list, &word, &length) && length == 0);
    assert_true(fv_perf_event_word(&list, &word, &length) && length == 2 && !memcmp(word, "BC", 2));
    assert_false(fv_perf_event_word(&list, &word, &length));
}

static void generic_names(void **state)
{
    static const struct {
        const char *word;
        uint32_t type, flags;
        uint64_t config;
    } good[] = {
        { "INSTRUCTIONS", 0, 0, 1 },
        { "cycles:u", 0, FV_PERF_NO_KERNEL, 0 },
        { "Cache-Misses:k", 0, FV_PERF_NO_USER, 3 },
        { "perf::PAGE-FAULTS", 1, 0, 2 },
        { "CS", 1, 0, 3 },
        { "L1-DCACHE-LOAD-MISSES", 3, 0, 0x10000 },
        { "LLC-STORES", 3, 0, 0x102 },
        { "DTLB-PREFETCH-MISSES", 3, 0, 0x10203 },
        { "r1C0", 4, 0, 0x1c0 },
        { "rffffffffffffffff:u", 4, FV_PERF_NO_KERNEL, UINT64_MAX },
    };
    struct fv_perf_event event;

    (void)state;
    for (unsigned i = 0; i < sizeof(good) / sizeof(*good); i++) {
        assert_int_equal(parse(good[i].word, &event), 0);
        assert_string_equal(event.name, good[i].word);
        assert_int_equal(event.type, good[i].type);
        assert_int_equal(event.flags, good[i].flags);
        assert_int_equal(event.config, good[i].config);
        assert_int_equal(event.processor, 0);
    }
    assert_int_equal(parse("REFERENCES", &event), -FV_ENOENT);
    assert_string_equal(event.name, "REFERENCES");
    assert_int_equal(parse("r1ffffffffffffffff", &event), -FV_ENOENT);
    assert_int_equal(parse("INSTRUCTIONS:x", &event), -FV_ENOENT);
    assert_int_equal(parse("", &event), -FV_EINVAL);
    assert_int_equal(parse("A B", &event), -FV_EINVAL);
    assert_int_equal(parse("A123456789012345678901234567890123456789012345678901234567890123", &event), -FV_EINVAL);
    assert_string_equal(fv_perf_event_near("page_fault"), "PAGE-FAULTS");
    assert_string_equal(fv_perf_event_near("instruction:u"), "INSTRUCTIONS");
    assert_null(fv_perf_event_near("QQQQQQQ"));
}

static void encodings(void **state)
{
    static const char *const bad[] = { "A@",
                                       "A@1",
                                       "A@:1",
                                       "A@1:",
                                       "A@1:x",
                                       "A@-1:1",
                                       "A@1:0x",
                                       "A@4294967296:1",
                                       "A@1:1:1:1:64",
                                       "A@1:1:1:1:1:1:1",
                                       "@1:1",
                                       "A@1:18446744073709551616",
                                       "A@1:1:1:1:1:4294967296" };
    struct fv_perf_event event, again;
    char text[FV_PERF_EVENT_TEXT];

    (void)state;
    for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(parse(bad[i], &event), -FV_EINVAL);
    assert_int_equal(parse("A:B=1@7:0x10:2", &event), 0);
    assert_string_equal(event.name, "A:B=1");
    assert_true(event.type == 7 && event.config == 16 && event.config1 == 2 && !event.config2 && !event.flags);
    memset(&event, 0, sizeof(event));
    memset(event.name, 'N', sizeof(event.name) - 1);
    event.type = event.processor = UINT32_MAX;
    event.config = event.config1 = event.config2 = UINT64_MAX;
    event.flags = 3 * FV_PERF_PRECISE + 3;
    fv_perf_event_print(&event, text);
    assert_int_equal(parse(text, &again), 0);
    assert_memory_equal(&event, &again, sizeof(event));
}

static void user_mode(void **state)
{
    struct fv_perf_event event;

    (void)state;
    assert_int_equal(parse("CONTEXT-SWITCHES", &event), 0);
    assert_false(fv_perf_event_in_user_mode(&event));
    assert_int_equal(parse("PAGE-FAULTS", &event), 0);
    assert_true(fv_perf_event_in_user_mode(&event));
    assert_int_equal(fv_processor(), fv_processor());
}

static void by_libpfm4(void **state)
{
    char *out = NULL, expected[200];

    (void)state;
    assert_int_equal(fv_events_encode("cs,r1c0,A@1:2", &out), 0);
    assert_string_equal(out, "cs,r1c0,A@1:2"); /* as they were */
    free(out);
    assert_int_equal(fv_events_encode("CS,NO_SUCH_EVENT", &out), -FV_ENOENT);
#if FV_LIBPFM && defined(__x86_64__)
    struct fv_perf_event event = { .name = "BR_INST_RETIRED:NEAR_CALL:u:precise=1",
                                   .type = PERF_TYPE_RAW,
                                   .config = 0x2c4,
                                   .flags = FV_PERF_NO_KERNEL | FV_PERF_PRECISE,
                                   .processor = fv_processor() };
    char text[FV_PERF_EVENT_TEXT];
    fv_perf_event_print(&event, text);
    snprintf(expected, sizeof(expected), "%s,CS", text);
    assert_int_equal(fv_events_encode("BR_INST_RETIRED:NEAR_CALL:u:precise=1,CS", &out), 0);
    assert_string_equal(out, expected);
    free(out);
    assert_int_equal(fv_events_encode("BR_INST_RETIRED:NEAR_CALLS", &out), -FV_ENOENT);
#else
    (void)expected;
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(words), cmocka_unit_test(generic_names),
                                        cmocka_unit_test(encodings), cmocka_unit_test(user_mode),
                                        cmocka_unit_test(by_libpfm4) };

    setenv("LIBPFM_FORCE_PMU", "skl", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
