/* The calls and messages of a trace, as the page's timeline has them, of two ranks made in memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profile/model.h"
#include "trace_builder.h"

#define BEGIN UINT64_C(1000000000)
#define MS    UINT64_C(1000000)
#define WORLD 1

static struct fvr file[2];
static struct events events[2];
static struct fv_experiment experiment;
static struct fv_model model;

static int begin(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    for (int i = 0; i < 2; i++) {
        rank_file(&file[i], i, 2);
        begin_events(&events[i], BEGIN);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    for (int i = 0; i < 2; i++)
        fvr_release(&file[i]);
    return 0;
}

static void build(size_t traced_calls)
{
    /* call sites are known by their cells */
    for (int i = 0; i < 2; i++)
        for (uint16_t f = 0; f < FUNCTIONS; f++)
            fvr_cell(&file[i], 0, 0, WORLD, f, (const uint64_t[]){ 10 * f + 1 }, 1, 0, 0);
    for (int i = 0; i < 2; i++) {
        end_file(&file[i], &events[i], NULL);
        fvr_join(&file[i], &experiment);
    }
    fv_experiment_choose(&experiment);
    experiment.traced_calls = traced_calls;
    fv_model_build(&model, &experiment);
}

/* Rank 0 sends three messages, two with one tag; rank 1 takes the other one first, by a non-blocking receive. */
static void talk(void)
{
    call(&events[0], SEND, BEGIN + 1 * MS, BEGIN + 2 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 5, 100);
    call(&events[0], SEND, BEGIN + 3 * MS, BEGIN + 4 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 6, 200);
    call(&events[0], SEND, BEGIN + 5 * MS, BEGIN + 15 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 5, 300);
    call(&events[1], IRECV, BEGIN + 1 * MS, BEGIN + 1 * MS + 10);
    EVENT(&events[1], IRECV, 1, WORLD, 0, 6);
    call(&events[1], WAIT, BEGIN + 2 * MS, BEGIN + 6 * MS);
    EVENT(&events[1], RECEIVED, 1, 0, 6, 200);
    call(&events[1], RECV, BEGIN + 7 * MS, BEGIN + 8 * MS);
    EVENT(&events[1], RECV, WORLD, 0, 5, 100);
    call(&events[1], RECV, BEGIN + 9 * MS, BEGIN + 16 * MS);
    EVENT(&events[1], RECV, WORLD, 0, 5, 300);
}

static bool is_ms(double seconds, double ms)
{
    return fabs(seconds * 1e3 - ms) < 1e-6;
}

static const struct fv_traced_message *of_bytes(uint64_t bytes)
{
    for (size_t i = 0; i < model.traced.message_count; i++)
        if (model.traced.messages[i].bytes == bytes)
            return &model.traced.messages[i];
    fail_msg("no message of %llu bytes", (unsigned long long)bytes);
    return NULL;
}

static void calls_and_messages(void **state)
{
    static const struct {
        uint64_t bytes;
        double sent, received;
    } wanted[] = { { 100, 1, 8 }, { 200, 3, 6 }, { 300, 5, 16 } };
    const struct fv_traced *t = &model.traced;
    double first;

    (void)state;
    talk();
    build(1000);
    assert_int_equal(t->call_count, 7);
    assert_int_equal(t->calls_left_out, 0);
    first = t->calls[0].begin_s;
    for (size_t i = 0; i < 7; i++) {
        const char *name = model.functions[model.sites[t->calls[i].site].function].name;

        assert_int_equal(t->calls[i].rank, i >= 3);
        assert_string_equal(name, i < 3 ? "MPI_Send" : i == 3 ? "MPI_Irecv" : i == 4 ? "MPI_Wait" : "MPI_Recv");
    }
    assert_true(is_ms(t->calls[2].begin_s - first, 4) && is_ms(t->calls[2].duration_s, 10));
    assert_int_equal(t->calls[4].bytes, 200); /* where it was completed */
    assert_int_equal(t->message_count, 3);
    assert_int_equal(t->unmatched, 0);
    for (size_t i = 0; i < 3; i++) {
        const struct fv_traced_message *m = of_bytes(wanted[i].bytes);

        assert_int_equal(m->from, 0);
        assert_int_equal(m->to, 1);
        assert_true(is_ms(m->sent_s - first, wanted[i].sent - 1) && is_ms(m->received_s - first, wanted[i].received - 1));
    }
}

/* Of each rank the longest, and the largest messages of all. */
static void no_more_than_asked(void **state)
{
    const struct fv_traced *t = &model.traced;

    (void)state;
    talk();
    build(4);
    assert_int_equal(t->call_count, 4);
    assert_int_equal(t->calls_left_out, 3);
    assert_true(is_ms(t->calls[1].duration_s, 10) && is_ms(t->calls[2].duration_s, 4) && is_ms(t->calls[3].duration_s, 7));
    assert_int_equal(t->message_count, 3);
    end(NULL);
    begin(NULL);
    talk();
    build(2);
    assert_int_equal(t->message_count, 2);
    assert_int_equal(t->messages_left_out, 1);
    assert_int_equal(of_bytes(300)->to, 1);
}

static void none_asked(void **state)
{
    (void)state;
    talk();
    build(0);
    assert_int_equal(model.traced.call_count, 0);
    assert_int_equal(model.traced.message_count, 0);
}

/* A message whose other end is missing is no message; a request that nobody began is nobody's, whatever its number. */
static void half_messages(void **state)
{
    (void)state;
    call(&events[0], SEND, BEGIN + 1 * MS, BEGIN + 2 * MS);
    EVENT(&events[0], SEND, WORLD, 1, 5, 100);
    call(&events[0], SEND, BEGIN + 3 * MS, BEGIN + 4 * MS);
    EVENT(&events[0], SEND, WORLD, 9, 5, 100);
    call(&events[1], WAIT, BEGIN + 2 * MS, BEGIN + 6 * MS);
    EVENT(&events[1], RECEIVED, UINT64_C(1) << 60, 0, 5, 100);
    build(1000);
    assert_int_equal(model.traced.call_count, 3);
    assert_int_equal(model.traced.message_count, 0);
    assert_int_equal(model.traced.unmatched, 1); /* rank 9 is not in the communicator */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_and_messages, begin, end),
        cmocka_unit_test_setup_teardown(no_more_than_asked, begin, end),
        cmocka_unit_test_setup_teardown(none_asked, begin, end),
        cmocka_unit_test_setup_teardown(half_messages, begin, end),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("traced", tests, NULL, NULL);
}
