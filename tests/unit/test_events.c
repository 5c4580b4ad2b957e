/* Events: what is put is what is got, for every kind and for values of every length; and the decoder stays
 * in its bytes. The runtime's side: a call and its details are written together, chunks follow each other,
 * the budget ends the trace and is told. */
#include "rt_stub.h"
#include "trace/reader.h"
#include "unit.h"

static const uint64_t values[] = { 0,
                                   1,
                                   127,
                                   128,
                                   16383,
                                   16384,
                                   0x1fffff,
                                   0x8081828,
                                   UINT64_C(1) << 35,
                                   UINT64_C(0x3ffffffffff),
                                   UINT64_C(0x123456789abcd),
                                   (UINT64_C(1) << 56) - 1,
                                   UINT64_C(1) << 56,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX };
enum { VALUES = sizeof(values) / sizeof(*values) };

static void test_round_trip(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < FV_EV_COUNT; kind++)
        for (unsigned v = 0; v < VALUES; v++) {
            uint8_t bytes[sizeof(struct fv_event_base) + 2 * FV_EVENT_MAX] = { 0 };
            uint8_t *at = bytes + sizeof(struct fv_event_base);
            uint64_t field[FV_EVENT_FIELDS];
            struct fv_event e;

            for (unsigned i = 0; i < FV_EVENT_FIELDS; i++)
                field[i] = values[(v + i) % VALUES];
            uint8_t *end = fv_put_event(at, (enum fv_event_kind)kind, field);
            struct fv_event_cursor c = fv_event_cursor(bytes, (uint64_t)(end - bytes));
            assert_true(fv_event_next(&c, &e));
            assert_int_equal(e.kind, kind);
            for (unsigned i = 0; i < fv_event_forms[kind].fields; i++)
                assert_that(e.field[i], ==, field[i]);
            assert_false(fv_event_next(&c, &e));
            assert_false(c.damaged);
            c = fv_event_cursor(bytes, sizeof(bytes)); /* far from the end it is read in another way */
            assert_true(fv_event_next(&c, &e));
            assert_ptr_equal(c.at, end);
            for (unsigned i = 0; i < fv_event_forms[kind].fields; i++)
                assert_that(e.field[i], ==, field[i]);
            for (const uint8_t *cut = at + 1; cut < end; cut++) { /* every cut is noticed */
                c = fv_event_cursor(bytes, (uint64_t)(cut - bytes));
                assert_false(fv_event_next(&c, &e));
                assert_true(c.damaged);
            }
        }
}

static void test_times(void **state)
{
    uint8_t bytes[256];
    const struct fv_event_base base = { .ticks = 1000 };
    uint8_t *at = bytes + sizeof(base);
    struct fv_event e;
    (void)state;

    memcpy(bytes, &base, sizeof(base));
    at = fv_put_event(at, FV_EV_CALL, (const uint64_t[]){ 3, 10, 5 });
    at = fv_put_event(at, FV_EV_SEND, (const uint64_t[]){ 1, 2, (uint64_t)INT64_C(-7), 99 });
    at = fv_put_event(at, FV_EV_PAUSE, (const uint64_t[]){ 20 });
    at = fv_put_event(at, FV_EV_CALL, (const uint64_t[]){ 4, 0, 1 });
    at = fv_put_event(at, FV_EV_ACQUIRE, (const uint64_t[]){ 4, 2, 1 });
    at = fv_put_event(at, FV_EV_WAIT, (const uint64_t[]){ 10, 100, 2, 0, 0x11, 3 });
    at = fv_put_event(at, FV_EV_RELEASE, (const uint64_t[]){ 1, 2, 1 });
    struct fv_event_cursor c = fv_event_cursor(bytes, (uint64_t)(at - bytes));
    assert_true(fv_event_next(&c, &e) && e.begin == 1010 && e.end == 1015);
    assert_true(fv_event_next(&c, &e) && e.begin == 1010 && e.end == 1015 && (int64_t)e.field[2] == -7);
    assert_true(fv_event_next(&c, &e) && e.begin == 1035 && e.end == 1035);
    assert_true(fv_event_next(&c, &e) && e.begin == 1035 && e.end == 1036);
    assert_true(fv_event_next(&c, &e) && e.begin == 1040 && e.end == 1040 && fv_event_is_of_thread(e.kind));
    assert_true(fv_event_next(&c, &e) && e.begin == 1050 && e.end == 1150 && fv_event_is_of_thread(e.kind));
    assert_true(fv_event_next(&c, &e) && e.begin == 1151 && e.end == 1151 && fv_event_is_of_thread(e.kind));
    assert_false(fv_event_next(&c, &e));
    assert_false(fv_event_is_of_thread(FV_EV_OPERATION) || fv_event_is_of_thread(FV_EV_CALL));
}

static void test_garbage(void **state)
{
    uint8_t bytes[600];
    struct fv_event e;
    (void)state;

    for (unsigned seed = 1; seed < 3000; seed++) {
        size_t used = seed % sizeof(bytes);
        uint8_t *exact = malloc(used ? used : 1); /* so that a sanitizer sees what is read beyond */

        for (size_t i = 0; i < used; i++)
            exact[i] = (uint8_t)(fv_mix(seed * UINT64_C(1000) + i) >> 17) & (i % 3 ? 0xff : 0x1f);
        struct fv_event_cursor c = fv_event_cursor(exact, used);
        while (fv_event_next(&c, &e))
            assert_that(e.kind, <, FV_EV_COUNT);
        free(exact);
    }
}

/* ---- the runtime ---- */

static __attribute__((noinline)) void traced_send(uint64_t bytes)
{
    struct fv_call call;

    if (!fv_call_enter(&call, 0, FV_CALL_SITE()))
        return;
    fv_call_end(&call);
    fv_event(&call, SEND, 1, 1, fv_signed(5), bytes);
    fv_call_record(&call, NULL, bytes, 0);
}

struct seen {
    uint64_t calls, sends, bytes, last, sites;
    bool ordered, damaged;
};

static struct seen read_back(void)
{
    char why[256];
    struct fv_reader *reader;
    struct seen s = { .ordered = true };
    struct fv_unpacked_events unpacked = { 0 };
    size_t count;

    assert_int_equal(fv_reader_open(fv_rt.writer.path, &reader, why, sizeof(why)), 0);
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);
    for (size_t i = 0; i < count; i++)
        if (chunk[i].type == FV_CHUNK_SITES)
            s.sites += chunk[i].used / sizeof(struct fv_site_record);
    for (size_t i = 0; i < count; i++) {
        struct fv_event e;

        if (!fv_chunk_has_events(&chunk[i]))
            continue;
        struct fv_event_cursor c = fv_reader_events(reader, &chunk[i], &unpacked);
        s.ordered = s.ordered && chunk[i].first == s.calls;
        while (fv_event_next(&c, &e)) {
            if (e.kind == FV_EV_CALL) {
                s.ordered = s.ordered && e.begin >= s.last && e.end >= e.begin && e.field[0] < s.sites;
                s.last = e.end;
                s.calls++;
            } else if (e.kind == FV_EV_SEND) {
                s.sends++;
                s.bytes += e.field[3];
            }
        }
        s.damaged = s.damaged || c.damaged;
    }
    fv_unpacked_events_release(&unpacked);
    fv_reader_free(reader);
    return s;
}

static void test_written(void **state)
{
    enum { CALLS = 100000 };
    (void)state;
    for (int i = 0; i < CALLS; i++)
        traced_send((uint64_t)i);
    struct seen s = read_back();
    assert_int_equal(s.calls, CALLS);
    assert_int_equal(s.sends, CALLS);
    assert_int_equal(s.bytes, (uint64_t)CALLS * (CALLS - 1) / 2);
    assert_true(s.ordered);
    assert_false(s.damaged);
    assert_that(s.sites, <=, 2);
    assert_int_equal(fv_rt.writer.header->dropped[FV_DROP_EVENTS], 0);
}

/* The rest of the budget of 4 MiB: what is written and what is dropped are all the calls. */
static void test_budget(void **state)
{
    enum { CALLS = 600000 };
    uint64_t before = read_back().calls;
    (void)state;

    for (int i = 0; i < CALLS; i++)
        traced_send(1);
    struct seen s = read_back();
    uint64_t dropped = fv_rt.writer.header->dropped[FV_DROP_EVENTS];
    assert_that(dropped, >, 0);
    assert_int_equal(s.calls + dropped, before + CALLS);
    assert_that(fv_rt.writer.header->trace_stop_ticks, >, 0);
    assert_true(s.ordered && !s.damaged);
}

static int set_up(void **state)
{
    (void)state;
    setenv("FVMPI_TRACE", "1", 1);
    setenv("FVMPI_TRACE_MAX", "4M", 1);
    stub_start();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    stub_remove();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_times),  cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_written),    cmocka_unit_test(test_budget),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
