/* Waiting for progress (analysis/progress.h) in traces made in memory, with known answers to the nanosecond. Times are
 * microseconds here. */
#include "analysis_run.h"

#define US 1000

static struct events *at_us(struct run *r, size_t rank, unsigned site, uint64_t begin, uint64_t end)
{
    return at(r, rank, site, begin * US, end * US);
}

static uint64_t waits(const struct run *r, const char *function, int rank, enum fv_wait_state kind)
{
    return sum(r, FV_TALLY_WAIT, function, rank, (int)kind);
}

static void nothing_else(const struct run *r, uint64_t us)
{
    assert_int_equal(sum(r, FV_TALLY_WAIT, NULL, -1, -1), us * US);
    assert_int_equal(sum(r, FV_TALLY_CAUSE, NULL, -1, -1), us * US);
}

#define BIG 65536

/* Rank 0 sends at 100 and computes until `back`; rank 1 receives, in a call from `enter` to `leave`. */
static void exchange(struct run *r, uint64_t back, uint64_t enter, uint64_t leave)
{
    begin_run(r, 2);
    EVENT(at_us(r, 0, ISEND, 100, 110), ISEND, 1, 1, 1, 7, BIG);
    EVENT(at_us(r, 0, WAIT, back, leave > back ? leave + 1 : back + 1), SENT, 1);
    EVENT(at_us(r, 1, IRECV, 50, 51), IRECV, 1, 1, 0, 7);
    EVENT(at_us(r, 1, WAIT, enter, leave), RECEIVED, 1, 0, 7, BIG);
    analyse(r);
}

static void sender_computes(void **state)
{
    struct run r;

    (void)state;
    exchange(&r, 1000, 300, 1040);
    assert_int_equal(waits(&r, "MPI_Wait", 1, FV_WS_NO_PROGRESS), 700 * US);
    nothing_else(&r, 700);
    /* before its return rank 0 computed for 890, rank 1 before its wait for 249; beside that, rank 0 took 100 and 10
     * for its post */
    assert_int_equal(sum(&r, FV_TALLY_DIRECT, "MPI_Wait", 0, FV_COMPUTING), 700 * US * 641 / (641 + 100 + 10));
    end_run(&r);
}

/* Both parts of the waiting have one cause, and each its kind. */
static void sender_is_late_and_computes(void **state)
{
    struct run r;

    (void)state;
    exchange(&r, 1000, 60, 1040);
    assert_int_equal(waits(&r, "MPI_Wait", 1, FV_WS_LATE_SENDER), 40 * US);
    assert_int_equal(waits(&r, "MPI_Wait", 1, FV_WS_NO_PROGRESS), 900 * US);
    nothing_else(&r, 940);
    end_run(&r);
}

/* It came while the sender was outside: nobody was needed. */
static void message_that_moves_by_itself(void **state)
{
    struct run r;

    (void)state;
    exchange(&r, 1000, 300, 900);
    nothing_else(&r, 0);
    end_run(&r);
}

/* It came long after the sender was back: that is how long it takes. */
static void message_that_takes_longer(void **state)
{
    struct run r;

    (void)state;
    exchange(&r, 600, 300, 901);
    nothing_else(&r, 0);
    end_run(&r);
    exchange(&r, 600, 300, 900);
    nothing_else(&r, 300);
    end_run(&r);
}

/* What is that short may be latency. */
static void short_ones_are_transfer(void **state)
{
    struct run r;

    (void)state;
    exchange(&r, 319, 300, 325);
    nothing_else(&r, 0);
    end_run(&r);
    exchange(&r, 320, 300, 325);
    nothing_else(&r, 20);
    end_run(&r);
}

/* The sender looks after its request now and then, for less than a tenth of the time; or all the time. */
static void sender_that_tests(void **state)
{
    (void)state;
    for (uint64_t often = 0; often < 2; often++) {
        struct run r;

        begin_run(&r, 2);
        EVENT(at_us(&r, 0, ISEND, 100, 110), ISEND, 1, 1, 1, 7, BIG);
        for (uint64_t i = 0; i < 9; i++)
            EVENT(at_us(&r, 0, TEST, 200 + 100 * i, (often ? 280 : 205) + 100 * i), TESTED, 1);
        EVENT(at_us(&r, 0, WAIT, 1100, 1120), SENT, 1);
        EVENT(at_us(&r, 1, RECV, 150, 1110), RECV, 1, 0, 7, BIG);
        analyse(&r);
        assert_int_equal(waits(&r, "MPI_Recv", 1, FV_WS_NO_PROGRESS), often ? 0 : 950 * US);
        end_run(&r);
    }
}

/* The other way round: the receiver has posted its receive, and computes. */
static void receiver_computes(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at_us(&r, 1, IRECV, 50, 60), IRECV, 1, 1, 0, 7);
    EVENT(at_us(&r, 0, SEND, 200, 1030), SEND, 1, 1, 7, BIG); /* blocking: its receiver is asked without being known */
    EVENT(at_us(&r, 1, WAIT, 1000, 1031), RECEIVED, 1, 0, 7, BIG);
    EVENT(at_us(&r, 1, IRECV, 2000, 2010), IRECV, 2, 1, 0, 7);
    EVENT(at_us(&r, 0, ISEND, 1900, 1905), ISEND, 1, 1, 1, 7, BIG);
    EVENT(at_us(&r, 0, WAIT, 1950, 2900), SENT, 1); /* the receiver is late by 50, and computes for 880 */
    EVENT(at_us(&r, 1, WAIT, 2890, 2910), RECEIVED, 2, 0, 7, BIG);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Send", 0, FV_WS_NO_PROGRESS), 800 * US);
    assert_int_equal(waits(&r, "MPI_Wait", 0, FV_WS_LATE_RECEIVER), 50 * US);
    assert_int_equal(waits(&r, "MPI_Wait", 0, FV_WS_NO_PROGRESS), 890 * US);
    nothing_else(&r, 800 + 940);
    end_run(&r);
}

/* Ten messages that came while their sender was outside of MPI, and one that came after: no rule. But small ones say
 * nothing of large ones. */
static void most_move_by_themselves(void **state)
{
    (void)state;
    for (unsigned same = 0; same < 2; same++) {
        struct run r;

        begin_run(&r, 2);
        for (uint64_t i = 1; i <= 11; i++) {
            uint64_t t = i * 10000, bytes = i == 11 || same ? BIG : 8;

            EVENT(at_us(&r, 0, ISEND, t, t + 10), ISEND, i, 1, 1, 7, bytes);
            EVENT(at_us(&r, 0, WAIT, t + 1000, t + 1050), SENT, i);
            EVENT(at_us(&r, 1, RECV, t + 20, t + (i == 11 ? 1040 : 500)), RECV, 1, 0, 7, bytes);
        }
        analyse(&r);
        assert_int_equal(waits(&r, "MPI_Recv", 1, FV_WS_NO_PROGRESS), same ? 0 : 980 * US);
        end_run(&r);
    }
}

/* As of persistent requests: half were matched while both were in MPI, and go on by themselves. The others end at once
 * when the sender comes back, or, if not withheld, at any time. */
static void some_were_matched_before(void **state)
{
    (void)state;
    for (unsigned sharp = 0; sharp < 2; sharp++) {
        struct run r;

        begin_run(&r, 2);
        for (uint64_t i = 1; i <= 12; i++) {
            uint64_t t = i * 10000;

            EVENT(at_us(&r, 0, ISEND, t, t + 10), ISEND, i, 1, 1, 7, BIG);
            EVENT(at_us(&r, 0, WAIT, t + 1000, t + 1250), SENT, i);
            EVENT(at_us(&r, 1, RECV, t + 20, t + (i % 2 ? 80 : sharp ? 1020 : 1200)), RECV, 1, 0, 7, BIG);
        }
        analyse(&r);
        assert_int_equal(waits(&r, "MPI_Recv", 1, FV_WS_NO_PROGRESS), sharp ? 6 * 980 * US : 0);
        nothing_else(&r, sharp ? 6 * 980 : 0);
        end_run(&r);
    }
}

/* Blocking sends of which it is not known when their receives were posted: most ended while the receiver was outside of
 * MPI. */
static void most_are_received_by_themselves(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    for (uint64_t i = 1; i <= 3; i++) {
        uint64_t t = i * 10000;

        EVENT(at_us(&r, 1, IRECV, t, t + 10), IRECV, i, 1, 0, 7);
        EVENT(at_us(&r, 0, SEND, t + 20, t + (i == 3 ? 1040 : 500)), SEND, 1, 1, 7, BIG);
        EVENT(at_us(&r, 1, WAIT, t + 1000, t + 1050), RECEIVED, i, 0, 7, BIG);
    }
    analyse(&r);
    nothing_else(&r, 0);
    end_run(&r);
}

/* A message that was sent earlier is received later, whatever the wait for it is called. */
static void order_is_that_of_sending(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at_us(&r, 0, ISEND, 100, 110), ISEND, 1, 1, 1, 7, 8);
    EVENT(at_us(&r, 0, ISEND, 200, 210), ISEND, 2, 1, 1, 8, BIG);
    EVENT(at_us(&r, 0, WAIT, 1000, 1001), SENT, 1);
    EVENT(at_us(&r, 0, WAIT, 1002, 1050), SENT, 2);
    EVENT(at_us(&r, 1, RECV, 150, 1040), RECV, 1, 0, 8, BIG);
    EVENT(at_us(&r, 1, RECV, 1041, 1042), RECV, 1, 0, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Recv", 1, FV_WS_WRONG_ORDER), 50 * US);
    assert_int_equal(waits(&r, "MPI_Recv", 1, FV_WS_NO_PROGRESS), 800 * US);
    nothing_else(&r, 850);
    end_run(&r);
}

/* In the ideal network nobody has to look after a message: there the receiver goes on when it was sent. */
static void ideal_network_needs_no_progress(void **state)
{
    struct run r;

    (void)state;
    exchange(&r, 1000, 300, 1040);
    /* rank 0 computes for 100, 890 and, from 1041 on, until the end, rank 1 for 50, 249 and from 1040 on */
    assert_int_equal(r.analysis.graph.ideal_ns, (100 + 890 + (1000000 - 1041)) * UINT64_C(1000));
    end_run(&r);
}

/* Rank 2 has begun the barrier and computes; the others wait until it comes back. */
static void barrier_without_progress(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 3);
    for (uint64_t i = 0; i < 3; i++) {
        EVENT(at_us(&r, i, IBARRIER, 100 + 10 * i, 105 + 10 * i), ICOLLECTIVE, 1, 1, (uint64_t)FV_ROOT_NONE, 0, 0, 0);
        EVENT(at_us(&r, i, WAIT, i == 2 ? 1000 : 300, 1010 + i), DONE, 1);
    }
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Wait", 0, FV_WS_NO_PROGRESS), 700 * US);
    assert_int_equal(waits(&r, "MPI_Wait", 1, FV_WS_NO_PROGRESS), 700 * US);
    nothing_else(&r, 1400);
    end_run(&r);
}

/* Rank 0 gives, and is in the call until `leave`; who takes comes at 200 and 1000. */
static void broadcast(struct run *r, uint64_t leave)
{
    begin_run(r, 3);
    EVENT(at_us(r, 0, BCAST, 100, leave), COLLECTIVE, 1, 0, BIG, 0, 0);
    EVENT(at_us(r, 1, BCAST, 200, 1041), COLLECTIVE, 1, 0, 0, BIG, 0);
    EVENT(at_us(r, 2, BCAST, 1000, 1042), COLLECTIVE, 1, 0, 0, BIG, 0);
    analyse(r);
}

static void root_waits_for_takers(void **state)
{
    struct run r;

    (void)state;
    broadcast(&r, 1040);
    assert_int_equal(waits(&r, "MPI_Bcast", 0, FV_WS_LATE_TAKER), 900 * US);
    nothing_else(&r, 900);
    end_run(&r);
    broadcast(&r, 230); /* of those that had come, the last */
    nothing_else(&r, 100);
    end_run(&r);
    broadcast(&r, 150); /* buffered */
    nothing_else(&r, 0);
    end_run(&r);
    broadcast(&r, 1901); /* it took longer than it had waited: a transfer */
    nothing_else(&r, 0);
    end_run(&r);
}

/* Nor does who sends in a reduction wait for others than its root. */
static void sender_waits_for_root(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 3);
    EVENT(at_us(&r, 0, REDUCE, 1000, 1050), COLLECTIVE, 1, 0, 0, BIG, 0);
    EVENT(at_us(&r, 1, REDUCE, 100, 1040), COLLECTIVE, 1, 0, BIG, 0, 0);
    EVENT(at_us(&r, 2, REDUCE, 200, 300), COLLECTIVE, 1, 0, BIG, 0, 0); /* buffered */
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Reduce", 1, FV_WS_LATE_TAKER), 900 * US);
    nothing_else(&r, 900);
    end_run(&r);
}

/* An access to the memory of a rank that computes. */
static void target_computes(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    for (uint64_t i = 0; i < 2; i++)
        EVENT(at_us(&r, i, WIN_CREATE, 100, 200), WIN_NEW, 1, 1, 0);
    EVENT(at_us(&r, 0, PUT, 300, 301), PUT, 1, 1, 8, 0);
    EVENT(at_us(&r, 0, FLUSH, 302, 1002), RMA_SYNC, 1, 1);
    EVENT(at_us(&r, 1, RECV, 1000, 1100), RECV, 1, 0, 7, 8);
    EVENT(at_us(&r, 0, SEND, 1010, 1020), SEND, 1, 1, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Win_flush", 0, FV_WS_NO_PROGRESS), 698 * US);
    assert_int_equal(waits(&r, "MPI_Recv", 1, FV_WS_LATE_SENDER), 10 * US);
    end_run(&r);
}

/* The same by a request: MPI_Rput and its kin. A test does not wait. */
static void target_computes_for_a_request(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    for (uint64_t i = 0; i < 2; i++)
        EVENT(at_us(&r, i, WIN_CREATE, 100, 200), WIN_NEW, 1, 1, 0);
    EVENT(at_us(&r, 0, PUT, 300, 301), PUT, 1, 1, 8, 5);
    EVENT(at_us(&r, 0, WAIT, 302, 1002), DONE, 5);
    EVENT(at_us(&r, 1, RECV, 1000, 1100), RECV, 1, 0, 7, 8);
    EVENT(at_us(&r, 0, SEND, 1010, 1020), SEND, 1, 1, 7, 8);
    EVENT(at_us(&r, 0, PUT, 1200, 1201), PUT, 1, 1, 8, 6);
    EVENT(at_us(&r, 0, TEST, 1300, 1800), DONE, 6);
    EVENT(at_us(&r, 1, SEND, 1790, 1795), SEND, 1, 0, 7, 8);
    EVENT(at_us(&r, 0, RECV, 1801, 1802), RECV, 1, 1, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Wait", 0, FV_WS_NO_PROGRESS), 698 * US);
    assert_int_equal(waits(&r, NULL, -1, FV_WS_NO_PROGRESS), 698 * US);
    end_run(&r);
}

/* All write to a file together; rank 2 begins it late, and computes. */
static void writing_without_progress(void **state)
{
    struct {
        struct fv_file_record record;
        char name[8];
    } file = { { .bytes = sizeof(file), .id = 1, .comm = 1, .name_bytes = 3 }, "out" };
    struct run r;

    (void)state;
    begin_run(&r, 3);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t begin = i == 2 ? 400 : 100;

        fvr_add(&r.files[i], FV_CHUNK_FILES, FV_NO_THREAD, &file, sizeof(file));
        EVENT(at_us(&r, i, IWRITE_ALL, begin, begin + 5), WRITE, 1, 8, 5);
        EVENT(at_us(&r, i, WAIT, i == 2 ? 1000 : 300, 1010 + i), DONE, 5);
    }
    analyse(&r);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(waits(&r, "MPI_Wait", i, FV_WS_IO), 100 * US);
        assert_int_equal(waits(&r, "MPI_Wait", i, FV_WS_NO_PROGRESS), 600 * US);
    }
    nothing_else(&r, 1400);
    end_run(&r);
}

static int with_much(void **state)
{
    (void)state;
    memory = 64 << 20;
    return 0;
}

static int with_little(void **state)
{
    (void)state;
    memory = 1;
    return 0;
}

int main(void)
{
#define BOTH(test) cmocka_unit_test_setup(test, with_much), cmocka_unit_test_setup(test, with_little)
    const struct CMUnitTest tests[] = {
        BOTH(sender_computes),           BOTH(sender_is_late_and_computes),   BOTH(message_that_moves_by_itself),
        BOTH(message_that_takes_longer), BOTH(short_ones_are_transfer),       BOTH(sender_that_tests),
        BOTH(receiver_computes),         BOTH(most_move_by_themselves),       BOTH(most_are_received_by_themselves),
        BOTH(some_were_matched_before),  BOTH(order_is_that_of_sending),      BOTH(ideal_network_needs_no_progress),
        BOTH(barrier_without_progress),  BOTH(root_waits_for_takers),         BOTH(sender_waits_for_root),
        BOTH(target_computes),           BOTH(target_computes_for_a_request), BOTH(writing_without_progress),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
