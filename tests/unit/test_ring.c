/* A trace that keeps its end: what millions of calls leave in 64 KiB is the last of them, one behind the other, and
 * each message says which it is. */
#include "experiment/chunks.h"
#include "rt_stub.h"
#include "trace/reader.h"
#include "unit.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { KEEP = 65536, TAGS = 3, LARGE_EACH = 100000, LARGE = 1500 };

static uint64_t made; /* calls */

static __attribute__((noinline)) void traced_sends(unsigned count)
{
    static uint64_t sent[TAGS];
    struct fv_call call;

    if (!fv_call_enter(&call, 0, FV_CALL_SITE()))
        return;
    fv_call_end(&call);
    for (unsigned i = 0; i < count; i++) {
        const unsigned tag = (unsigned)(made + i) % TAGS;

        fv_event(&call, SEND, 1, 1, fv_signed(tag), ++sent[tag]); /* bytes: the number that it is to have */
    }
    fv_call_record(&call, NULL, 1, 0);
    made++;
}

struct seen {
    uint64_t first, calls, sends, unnumbered, number[TAGS], last;
};

/* Numbers of a chunk that is the first need not have been told in its first call. */
static void see(struct seen *s, struct fv_event_cursor c)
{
    uint64_t order = 0;
    struct fv_event e;

    while (fv_event_next(&c, &e)) {
        if (e.kind == FV_EV_CALL) {
            assert_that(e.begin, >=, s->last);
            s->last = e.end;
            s->calls++;
        } else if (e.kind == FV_EV_ORDER) {
            order = e.field[1];
        } else if (e.kind == FV_EV_SEND) {
            uint64_t *number = &s->number[e.field[2] % TAGS];

            *number = order ? order : *number ? *number + 1 : 0;
            if (*number)
                assert_int_equal(*number, e.field[3]);
            s->unnumbered += !*number;
            s->sends++;
            order = 0;
        }
    }
    assert_false(c.damaged);
}

static bool has_events(const struct fv_chunk *chunk)
{
    return fv_chunk_has_events(chunk);
}

static struct seen read_back(void)
{
    struct fv_reader *reader;
    struct seen s = { 0 };
    uint64_t damage, lost;
    char why[256];
    size_t count;

    assert_int_equal(fv_reader_open(fv_rt.writer.path, &reader, why, sizeof(why)), 0);
    fv_reader_damage(reader, &count, &damage);
    assert_int_equal(damage, 0);
    const struct fv_chunk **chunks = fv_thread_chunks(reader, 0, has_events, &count);
    assert_that(count, >, 0);
    s.first = chunks[0]->first;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(chunks[i]->first, s.first + s.calls);
        see(&s, fv_reader_events(reader, chunks[i], NULL));
    }
    assert_int_equal(fv_ring_begin(reader, &lost) != 0, s.first != 0);
    assert_int_equal(lost, s.first);
    free(chunks);
    fv_reader_free(reader);
    return s;
}

static void test_short(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        traced_sends(1);
    struct seen s = read_back();
    assert_int_equal(s.first, 0);
    assert_int_equal(s.calls, 100);
    assert_int_equal(s.unnumbered, 0);
}

static void test_long(void **state)
{
    const uint64_t calls = getenv("FVMPI_TEST_LONG") ? UINT64_C(1000000000) : 1000000;
    struct stat st;

    (void)state;
    for (uint64_t i = 0; i < calls; i++)
        traced_sends(i % LARGE_EACH == LARGE_EACH / 2 ? LARGE : 1); /* more than a chunk has room for */
    struct seen s = read_back();
    assert_int_equal(s.first + s.calls, made);
    assert_that(s.calls, >, 2000);
    assert_that(s.unnumbered, <=, TAGS);
    assert_int_equal(fv_rt.writer.header->dropped[FV_DROP_EVENTS], 0);
    assert_int_equal(fv_rt.writer.header->trace_stop_ticks, 0);
    assert_int_equal(stat(fv_rt.writer.path, &st), 0);
    assert_that(st.st_size, <, 8 * KEEP);
}

static int set_up(void **state)
{
    (void)state;
    setenv("FVMPI_TRACE_KEEP", "64K", 1);
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
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
