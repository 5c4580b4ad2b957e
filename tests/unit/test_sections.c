/* Sections with known answers: what the runtime writes, call by call. */
#include "fvmpi.h"
#include "rt_stub.h"
#include "trace/reader.h"
#include "unit.h"

#include <pthread.h>

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static struct fv_call
call_as(unsigned function, uint64_t sent, uint64_t received, uint64_t ticks)
{
    struct fv_call call;

    if (!fv_call_enter(&call, function, FV_CALL_SITE()))
        abort();
    call.end = call.begin + ticks;
    fv_call_record(&call, NULL, sent, received);
    return call;
}

static struct fv_reader *read_own(void)
{
    struct fv_reader *reader = NULL;
    char path[128], why[256];

    snprintf(path, sizeof(path), "%s/rank-000000.fvr", stub_directory);
    assert_int_equal(fv_reader_open(path, &reader, why, sizeof(why)), 0);
    return reader;
}

/* Times of a section, of all threads; the id of a set's section and of what it is within. */
static struct fv_section_times times_of(const char *name, int number)
{
    struct fv_reader *reader = read_own();
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SECTIONS);
    struct fv_section_times sum = { 0 };
    uint64_t id = 0;

    for (const struct fv_section *s; (s = fv_cursor_next(&c));)
        if (!strcmp(s->name, name) && s->number == number)
            id = c.index + 1;
    c = fv_cursor(reader, FV_CHUNK_SECTION_TIMES);
    for (const struct fv_section_times *t; (t = fv_cursor_next(&c));) {
        if (t->section != id)
            continue;
        sum.section = t->section;
        sum.count += t->count;
        sum.ticks += t->ticks;
        sum.ticks_min = t->ticks_min;
        sum.ticks_max = t->ticks_max;
        sum.ticks_m2 = t->ticks_m2; /* of one thread */
        sum.sum.calls += t->sum.calls;
        sum.sum.mpi_ticks += t->sum.mpi_ticks;
        sum.sum.samples += t->sum.samples;
        sum.sum.lock_ticks += t->sum.lock_ticks;
        sum.unended += t->unended;
        sum.unbegun += t->unbegun;
        sum.elsewhere += t->elsewhere;
        sum.overlapped += t->overlapped;
        sum.opened |= t->opened;
    }
    fv_reader_free(reader);
    return sum;
}

static bool set_has(uint32_t set, uint32_t section)
{
    struct fv_reader *reader = read_own();
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SECTION_SETS);
    struct fv_section_set sets[64] = { 0 };
    bool has = false;

    for (const struct fv_section_set *s; (s = fv_cursor_next(&c)) && c.index + 1 < 64;)
        sets[c.index + 1] = *s;
    for (; set; set = sets[set].outer)
        has = has || sets[set].section == section;
    fv_reader_free(reader);
    return has;
}

static void calls_are_counted(void **state)
{
    (void)state;
    call_as(0, 8, 0, 1000);
    fvmpi_section_begin("a", 1, 0);
    uint32_t set = call_as(0, 8, 0, 100).cell->section;
    fv_self->record->samples += 5;
    fv_self->record->lock_ticks += 70;
    call_as(1, 8, 8, 20);
    fvmpi_section_end("a", 1, 0);
    assert_int_equal(call_as(0, 8, 0, 7).cell->section, 0);
    struct fv_section_times t = times_of("a", 1);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.sum.calls, 2);
    assert_int_equal(t.sum.mpi_ticks, 120);
    assert_int_equal(t.sum.samples, 5);
    assert_int_equal(t.sum.lock_ticks, 70);
    assert_true(set_has(set, t.section));
}

static void instances_deviate(void **state)
{
    double range;
    (void)state;

    for (int i = 1; i <= 2; i++) {
        fvmpi_section_begin("deviates", 0, 0);
        for (volatile int k = 0; k < i * i * 100000; k++)
            ;
        fvmpi_section_end("deviates", 0, 0);
    }
    struct fv_section_times t = times_of("deviates", 0);
    range = (double)(t.ticks_max - t.ticks_min);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.ticks, t.ticks_min + t.ticks_max);
    assert_that(range, >, 0);
    assert_near(t.ticks_m2, range * range / 2, range * range * 1e-9);
}

static void sets_of_overlapping(void **state)
{
    (void)state;
    fvmpi_section_begin("x", 0, 0);
    fvmpi_section_begin("y", 0, 0);
    fvmpi_section_begin("z", 0, 0);
    uint32_t three = call_as(0, 8, 0, 1).cell->section;
    fvmpi_section_end("x", 0, 0);
    uint32_t two = call_as(0, 8, 0, 1).cell->section;
    fvmpi_section_end("z", 0, 0);
    uint32_t one = call_as(0, 8, 0, 1).cell->section;
    fvmpi_section_end("y", 0, 0);
    assert_int_equal(fv_self->section_set, 0);
    uint32_t x = times_of("x", 0).section, y = times_of("y", 0).section, z = times_of("z", 0).section;
    assert_true(set_has(three, x) && set_has(three, y) && set_has(three, z));
    assert_true(!set_has(two, x) && set_has(two, y) && set_has(two, z));
    assert_true(!set_has(one, x) && set_has(one, y) && !set_has(one, z));
    assert_int_equal(times_of("x", 0).overlapped, 1);
    assert_int_equal(times_of("z", 0).overlapped, 0);
}

/* The same call path within other sections has other cells. */
static void cells_are_apart(void **state)
{
    struct fv_cell *cell[3];
    (void)state;

    for (int i = 0; i < 6; i++) {
        if (i % 3)
            fvmpi_section_begin("part", i % 3, 0);
        struct fv_cell *c = call_as(0, 4, 0, 1).cell;
        if (i % 3)
            fvmpi_section_end("part", i % 3, 0);
        if (i >= 3)
            assert_ptr_equal(c, cell[i % 3]);
        cell[i % 3] = c;
    }
    assert_ptr_not_equal(cell[0], cell[1]);
    assert_ptr_not_equal(cell[1], cell[2]);
    assert_int_equal(cell[2]->calls, 2);
}

static void requests_stay_with_their_post(void **state)
{
    struct fv_request known, request = { .handle = 77, .kind = FV_REQUEST_RECV, .peer = 0 };
    struct fv_call post, done;
    (void)state;

    fvmpi_section_begin("posted", 0, 0);
    assert_true(fv_call_enter(&post, 0, FV_CALL_SITE()));
    fv_call_end(&post);
    fv_request_post(&post, &request);
    fv_call_record(&post, NULL, 0, 0);
    uint32_t set = fv_self->section_set;
    fvmpi_section_end("posted", 0, 0);
    assert_true(fv_call_enter(&done, 1, FV_CALL_SITE()));
    assert_true(fv_request_get(77, &known));
    fv_call_end(&done);
    fv_request_completed(&done, &known, true, 5000);
    fv_call_record(&done, NULL, 0, 0);
    struct fv_cell *cell = fv_cell_find(fv_self, post.path->path, 0, 0, fv_log2_bucket(5000), set).cell;
    assert_int_equal(cell->bytes_received, 5000);
    assert_int_equal(cell->section, set);
}

/* From a callback of MPI. */
static void within_a_call(void **state)
{
    struct fv_call call;
    (void)state;

    assert_true(fv_call_enter(&call, 0, FV_CALL_SITE()));
    fvmpi_section_begin("callback", 0, 0);
    fvmpi_section_end("callback", 0, 0);
    assert_null(fv_current);
    fv_call_end(&call);
    fv_call_record(&call, NULL, 0, 0);
    assert_int_equal(times_of("callback", 0).count, 1);
}

static void *other_thread(void *arg)
{
    (void)arg;
    fvmpi_section_end("mine", 0, 0);
    fvmpi_section_begin("its", 0, 0);
    call_as(0, 8, 0, 50);
    return NULL;
}

static void threads(void **state)
{
    pthread_t thread;
    (void)state;

    fvmpi_section_begin("mine", 0, 0);
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(times_of("mine", 0).elsewhere, 1);
    assert_true(times_of("mine", 0).opened);
    fvmpi_section_end("mine", 0, 0);
    assert_int_equal(times_of("mine", 0).count, 1);
    assert_int_equal(times_of("its", 0).unended, 1);
    assert_int_equal(times_of("its", 0).count, 1);
    assert_int_equal(times_of("its", 0).sum.mpi_ticks, 50);
    assert_false(times_of("its", 0).opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_counted),
        cmocka_unit_test(instances_deviate),
        cmocka_unit_test(sets_of_overlapping),
        cmocka_unit_test(cells_are_apart),
        cmocka_unit_test(requests_stay_with_their_post),
        cmocka_unit_test(within_a_call),
        cmocka_unit_test(threads),
    };

    stub_start();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    stub_remove();
    return failed;
}
