/* The analysis on traces made in memory, with known answers to the nanosecond: who is matched with whom, what
 * is waiting, and who is to blame. Times count from tick 1,000,000,000. */
#include "analysis_run.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t waits(const struct run *r, const char *function, int rank, enum fv_wait_state kind)
{
    return sum(r, FV_TALLY_WAIT, function, rank, (int)kind);
}

static void nothing_else(const struct run *r, uint64_t ns)
{
    assert_int_equal(sum(r, FV_TALLY_WAIT, NULL, -1, -1), ns);
    assert_int_equal(sum(r, FV_TALLY_CAUSE, NULL, -1, -1), ns);
}

/* ---- messages ---- */

static void late_sender(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 500, 600), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 100, 700), RECV, 1, 0, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Recv", 1, FV_WS_LATE_SENDER), 400);
    nothing_else(&r, 400);
    /* before, rank 0 computed for 500, rank 1 for 100 */
    assert_int_equal(sum(&r, FV_TALLY_DIRECT, "MPI_Send", 0, FV_COMPUTING), 400);
    assert_int_equal(r.analysis.unmatched.sends + r.analysis.unmatched.receives, 0);
    end_run(&r);
}

/* The receive was over before the send began (clocks): no more than the call is waiting. */
static void wait_ends_with_the_call(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 500, 600), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 100, 300), RECV, 1, 0, 7, 8);
    analyse(&r);
    nothing_else(&r, 200);
    end_run(&r);
}

static void late_receiver(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 100, 900), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 700, 950), RECV, 1, 0, 7, 8);
    EVENT(at(&r, 0, SEND, 1000, 1100), SEND, 1, 1, 7, 8); /* buffered: over before it was received */
    EVENT(at(&r, 1, RECV, 1500, 1600), RECV, 1, 0, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Send", 0, FV_WS_LATE_RECEIVER), 600);
    nothing_else(&r, 600);
    end_run(&r);
}

/* Both receives take any message; they are completed in the other order. The first message belongs to the one
 * that was posted first. */
static void receives_match_as_posted(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 300, 310), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 0, SEND, 400, 410), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, IRECV, 10, 11), IRECV, 1, 1, (uint64_t)FV_ANY_PEER, (uint64_t)-1);
    EVENT(at(&r, 1, IRECV, 20, 21), IRECV, 2, 1, (uint64_t)FV_ANY_PEER, (uint64_t)-1);
    EVENT(at(&r, 1, WAIT, 100, 500), RECEIVED, 2, 0, 7, 8);
    EVENT(at(&r, 1, WAIT, 510, 520), RECEIVED, 1, 0, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Wait", 1, FV_WS_WRONG_ORDER), 300); /* for the second message */
    nothing_else(&r, 300);
    end_run(&r);
}

/* What was posted earlier for another tag is no reason to hold a receive back. */
static void other_receives_do_not_block(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 1, IRECV, 10, 11), IRECV, 1, 1, 0, 99); /* never completed */
    EVENT(at(&r, 0, SEND, 300, 310), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 100, 400), RECV, 1, 0, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Recv", 1, FV_WS_LATE_SENDER), 200);
    nothing_else(&r, 200);
    end_run(&r);
}

/* Whichever of the two ranks is told first. */
static void cancelled_send_matches_nothing(void **state)
{
    (void)state;
    for (unsigned from = 0; from < 2; from++) {
        unsigned to = 1 - from;
        struct run r;

        begin_run(&r, 2);
        EVENT(at(&r, from, SEND, 10, 20), ISEND, 5, 1, to, 7, 8);
        at(&r, from, CANCEL, 21, 22);
        EVENT(at(&r, from, WAIT, 30, 40), CANCELLED, 5);
        EVENT(at(&r, from, SEND, 500, 510), SEND, 1, to, 7, 8);
        EVENT(at(&r, to, RECV, 100, 600), RECV, 1, from, 7, 8);
        analyse(&r);
        nothing_else(&r, 400);
        assert_int_equal(r.analysis.unmatched.sends + r.analysis.unmatched.receives, 0);
        end_run(&r);
    }
}

/* A receive that is given up takes its message all the same. */
static void freed_receive_takes_its_message(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 1, IRECV, 10, 11), IRECV, 1, 1, 0, 7);
    EVENT(at(&r, 1, WAIT, 12, 13), FREED, 1);
    EVENT(at(&r, 0, SEND, 300, 310), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 0, SEND, 400, 410), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 100, 500), RECV, 1, 0, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Recv", 1, FV_WS_LATE_SENDER), 300); /* for the second */
    nothing_else(&r, 300);
    end_run(&r);
}

static void probe_waits_for_its_message(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 500, 510), SEND, 1, 1, 7, 8);
    at(&r, 1, PROBE, 100, 600);
    at(&r, 1, TEST, 602, 604); /* other calls may stand between */
    EVENT(at(&r, 1, RECV, 610, 620), RECV, 1, 0, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Probe", 1, FV_WS_LATE_SENDER), 400);
    nothing_else(&r, 400);
    end_run(&r);
}

static void probe_did_not_wait_for_what_came_later(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 700, 710), SEND, 1, 1, 7, 8);
    at(&r, 1, PROBE, 100, 600);
    EVENT(at(&r, 1, RECV, 610, 720), RECV, 1, 0, 7, 8);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Probe", 1, FV_WS_LATE_SENDER), 0);
    nothing_else(&r, 90);
    end_run(&r);
}

static void lone_messages_are_counted(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 500, 510), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 100, 600), RECV, 1, 0, 8, 8);
    analyse(&r);
    nothing_else(&r, 0);
    assert_int_equal(r.analysis.unmatched.sends, 1);
    assert_int_equal(r.analysis.unmatched.receives, 1);
    end_run(&r);
}

/* ---- collective operations ---- */

static void last_one_is_waited_for(void **state)
{
    static const uint64_t begin[3] = { 100, 400, 250 }, end[3] = { 450, 440, 460 };
    struct run r;

    (void)state;
    begin_run(&r, 3);
    for (unsigned i = 0; i < 3; i++)
        EVENT(at(&r, i, ALLREDUCE, begin[i], end[i]), COLLECTIVE, 1, (uint64_t)FV_ROOT_NONE, 4, 4, 0);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Allreduce", 0, FV_WS_NXN), 300);
    assert_int_equal(waits(&r, "MPI_Allreduce", 2, FV_WS_NXN), 150);
    assert_int_equal(waits(&r, NULL, -1, FV_WS_NXN_COMPLETION), 10 + 20); /* since 440 */
    assert_int_equal(sum(&r, FV_TALLY_CAUSE, NULL, -1, -1), 450);
    end_run(&r);
}

/* The root can begin with the first sender, and end with the last. */
static void root_waits_for_first_and_last(void **state)
{
    static const uint64_t begin[3] = { 100, 400, 250 };
    struct run r;

    (void)state;
    begin_run(&r, 3);
    for (unsigned i = 0; i < 3; i++)
        EVENT(at(&r, i, REDUCE, begin[i], 500 + i), COLLECTIVE, 1, 0, i ? 4 : 0, i ? 0 : 4, 0);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Reduce", 0, FV_WS_EARLY_REDUCE), 150);
    assert_int_equal(waits(&r, "MPI_Reduce", 0, FV_WS_LATE_REDUCE), 150);
    nothing_else(&r, 300);
    end_run(&r);
}

/* A damaged trace: rank 1 tells two operations with one number. Its first one belongs to those of the others,
 * although all that are expected have come before rank 2 does. */
static void member_comes_twice(void **state)
{
    static const uint64_t begin[4] = { 100, 100, 300, 1000 }, end[4] = { 2000, 200, 400, 1100 };
    struct run r;

    (void)state;
    begin_run(&r, 3);
    for (unsigned i = 0; i < 4; i++)
        EVENT(at(&r, (i + 1) / 2, ALLREDUCE, begin[i], end[i]), COLLECTIVE, 1, (uint64_t)FV_ROOT_NONE, 4, 4, 0);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Allreduce", 0, FV_WS_NXN), 900);
    assert_int_equal(waits(&r, "MPI_Allreduce", 1, FV_WS_NXN), 100);
    assert_int_equal(sum(&r, FV_TALLY_CAUSE, NULL, -1, -1), 1000);
    assert_int_equal(r.analysis.unmatched.groups, 1);
    end_run(&r);
}

/* A damaged trace: ranks 1 and 2 both say that they are the root. The first of them is waited for. */
static void two_say_that_they_are_root(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 3);
    for (unsigned i = 0; i < 3; i++)
        EVENT(at(&r, i, BCAST, 100 + 100 * i, 500), COLLECTIVE, 1, i ? i : 1, i ? 4 : 0, i ? 0 : 4, 0);
    analyse(&r);
    assert_int_equal(waits(&r, "MPI_Bcast", 0, FV_WS_LATE_BROADCAST), 100);
    nothing_else(&r, 100);
    end_run(&r);
}

/* The steps fill the file: what the root waited for is known only when the last answer comes, and has no room
 * any more. */
static void no_room_for_an_answer_is_a_failure(void **state)
{
    const struct fv_analysis_options options = { .directory = "/tmp", .memory = memory };
    const unsigned ranks = 4;
    struct rlimit was, limit;
    struct run r;

    (void)state;
    begin_run(&r, ranks);
    for (unsigned i = 0; i < ranks; i++) {
        EVENT(at(&r, i, REDUCE, 100 + 100 * i, 500 + i), COLLECTIVE, 1, 0, i ? 4 : 0, i ? 0 : 4, 0);
        end_file(&r.files[i], &r.events[i], NULL);
    }
    merge_files(&r.merge, r.files, r.ranks);
    getrlimit(RLIMIT_FSIZE, &was);
    limit = (struct rlimit){ ranks * FV_STEPS_A_BLOCK * sizeof(struct fv_step), was.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    bool good = fv_analyse(&r.analysis, &r.merge, &options);
    setrlimit(RLIMIT_FSIZE, &was);
    assert_that(r.analysis.steps.lines[0].count, >, 0);
    assert_false(good);
    end_run(&r);
}

/* ---- who is to blame ---- */

/* Rank 0 makes rank 1 late, and so rank 2: what rank 2 waits falls on rank 0, but for the 20 that rank 1
 * took. */
static void delays_go_back_to_their_origin(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 3);
    EVENT(at(&r, 0, SEND, 1000, 1005), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 0, 1010), RECV, 1, 0, 7, 8);
    EVENT(at(&r, 1, SEND, 1020, 1030), SEND, 1, 2, 7, 8);
    EVENT(at(&r, 2, RECV, 0, 1040), RECV, 1, 1, 7, 8);
    analyse(&r);
    nothing_else(&r, 1000 + 1020);
    assert_int_equal(sum(&r, FV_TALLY_DIRECT, "MPI_Send", 0, FV_COMPUTING), 1000);
    assert_int_equal(sum(&r, FV_TALLY_PROPAGATED, "MPI_Send", 0, FV_COMPUTING), 1000);
    assert_int_equal(sum(&r, FV_TALLY_DIRECT, "MPI_Send", 1, FV_COMPUTING), 10);
    assert_int_equal(sum(&r, FV_TALLY_DIRECT, "MPI_Recv", 1, FV_IN_MPI), 10);
    end_run(&r);
}

/* Rank 0 computes in more pieces than are looked at: that it did not wait for anybody is known all the same.
 */
static void delay_of_long_ago_is_charged(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    for (uint64_t i = 0; i < 10000; i++)
        at(&r, 0, DUP, i * 100 + 100, i * 100 + 100);
    EVENT(at(&r, 0, SEND, 1000100, 1000110), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 0, 1000120), RECV, 1, 0, 7, 8);
    analyse(&r);
    nothing_else(&r, 1000100);
    assert_int_equal(sum(&r, FV_TALLY_DIRECT, NULL, 0, FV_COMPUTING), 1000100);
    assert_int_equal(r.analysis.graph.cut, 1);
    end_run(&r);
}

/* The path: rank 0 until its send, then rank 1 to the end of the run. */
static void critical_path_follows_the_late_one(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    r.files[0].header.end_ticks -= 1000;
    EVENT(at(&r, 0, SEND, 1000, 1005), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 0, 1010), RECV, 1, 0, 7, 8);
    analyse(&r);
    assert_int_equal(sum(&r, FV_TALLY_CRITICAL, "MPI_Send", 0, FV_COMPUTING), 1000);
    assert_int_equal(sum(&r, FV_TALLY_CRITICAL, "MPI_Recv", 1, FV_IN_MPI), 10);
    assert_int_equal(sum(&r, FV_TALLY_CRITICAL, NULL, 0, -1), 1000);
    assert_int_equal(r.analysis.graph.switches, 1);
    assert_int_equal(r.analysis.graph.critical_ns, 1000000000);
    end_run(&r);
}

/* While recording is switched off nobody knows what the rank does: that is no part of the path. */
static void critical_path_leaves_pauses_out(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    at(&r, 0, SEND, 100, 110); /* from here on 0 is silent, and 1 ends last */
    r.files[0].header.end_ticks -= 1000;
    at(&r, 1, SEND, 0, 10);
    EVENT(&r.events[1], PAUSE, 90);
    EVENT(&r.events[1], RESUME, 400);
    at(&r, 1, RECV, 700, 800);
    analyse(&r);
    assert_int_equal(r.analysis.graph.critical_ns, 1000000000 - 400);
    assert_int_equal(sum(&r, FV_TALLY_CRITICAL, NULL, -1, -1), 1000000000 - 400);
    end_run(&r);
}

/* Two processes of a merge, by a pair of sockets. */
struct pair {
    int socket;
    uint64_t sent;  /* messages */
    size_t largest; /* bytes of one, sent or received */
};

static void count_largest(struct pair *pair, size_t bytes)
{
    pair->largest = bytes > pair->largest ? bytes : pair->largest;
}

static void send_to_pair(const struct fv_transport *t, int to, const void *data, size_t bytes)
{
    struct pair *pair = t->context;

    (void)to;
    pair->sent++;
    count_largest(pair, bytes);
    for (size_t at = 0; at < bytes;) {
        ssize_t n = write(pair->socket, (const char *)data + at, bytes - at);

        assert_that(n, >, 0);
        at += (size_t)n;
    }
}

static void receive_from_pair(const struct fv_transport *t, int from, void *data, size_t bytes)
{
    struct pair *pair = t->context;

    (void)from;
    count_largest(pair, bytes);
    for (size_t at = 0; at < bytes;) {
        ssize_t n = read(pair->socket, (char *)data + at, bytes - at);

        assert_that(n, >, 0);
        at += (size_t)n;
    }
}

/* Writes the events of a rank. */
typedef void (*fill_function)(struct run *r, uint64_t rank, uint64_t count);

/* What the first of two processes has of them. */
struct outcome {
    struct pair pair;
    uint64_t switches, ideal_ns;
};

/* The first process has the first rank, the second one the others. */
static struct outcome analyse_one(const struct fv_transport *t, size_t ranks, fill_function fill, uint64_t count)
{
    const struct fv_analysis_options options = { .directory = "/tmp", .memory = memory };
    size_t first = t->rank ? 1 : 0, stop = t->rank ? ranks : 1;
    struct run r;

    begin_run(&r, ranks);
    for (size_t i = first; i < stop; i++) {
        fill(&r, i, count);
        end_file(&r.files[i], &r.events[i], NULL);
    }
    merge_files_by(t, &r.merge, &r.files[first], stop - first);
    assert_true(fv_analyse(&r.analysis, &r.merge, &options));
    struct outcome o = { .pair = *(const struct pair *)t->context,
                         .switches = r.analysis.graph.switches,
                         .ideal_ns = r.analysis.graph.ideal_ns };
    end_run(&r);
    return o;
}

static struct outcome analyse_in_two(size_t ranks, fill_function fill, uint64_t count)
{
    int sockets[2], status;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    pid_t child = fork();
    assert_that(child, >=, 0);
    struct pair pair = { .socket = sockets[!child] };
    struct fv_transport t = {
        .rank = !child, .size = 2, .context = &pair, .send = send_to_pair, .receive = receive_from_pair
    };
    close(sockets[!!child]);
    struct outcome o = analyse_one(&t, ranks, fill, count);
    if (!child)
        _exit(0);
    close(pair.socket);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return o;
}

/* Two ranks that compute in turn. */
static void fill_turns(struct run *r, uint64_t rank, uint64_t turns)
{
    for (uint64_t i = 0; i < turns; i++) {
        uint64_t now = i * 1000, begin = i ? now - 900 : 0; /* a receive begins when the send before is over */

        if (i % 2 == rank)
            EVENT(at(r, rank, SEND, now + 90, now + 100), SEND, 1, 1 - rank, 7, 8);
        else
            EVENT(at(r, rank, RECV, begin, now + 100), RECV, 1, 1 - rank, 7, 8);
    }
}

/* Processes do not tell each other of each rank that is on the path: there are as many as messages in the
 * trace. */
static void critical_path_takes_few_messages(void **state)
{
    struct outcome few = analyse_in_two(2, fill_turns, 20), many = analyse_in_two(2, fill_turns, 60);

    (void)state;
    assert_int_equal(few.switches, 20);
    assert_int_equal(many.switches, 60);
    assert_int_equal(few.pair.sent, many.pair.sent);
}

/* All at one time, which is one window however little memory there is: each receive needs a send that many
 * others have followed. */
static void fill_at_once(struct run *r, uint64_t rank, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (rank)
            EVENT(at(r, 1, RECV, 500, 500), RECV, 1, 0, 7, 8);
        else
            EVENT(at(r, 0, SEND, 500, 500), SEND, 1, 1, 7, 8);
}

/* A search through all calls of the window would take more than a minute. */
static void ideal_network_finds_causes_fast(void **state)
{
    clock_t begin = clock();

    (void)state;
    assert_int_equal(analyse_in_two(2, fill_at_once, 400000).ideal_ns, 1000000000);
    assert_that(clock() - begin, <, 20 * CLOCKS_PER_SEC);
}

#define SITES_EACH 60

/* Rank 0 receives from the others in turn, and calls from SITES_EACH places before each: since it and a
 * sender were last in step, it has been at SITES_EACH places for each of the others. */
static void fill_many_places(struct run *r, uint64_t rank, uint64_t count)
{
    uint32_t module = rank ? 0 : fvr_module(&r->files[0], "/usr/bin/app", 0x400000, NULL);
    uint64_t others = r->ranks - 1, turn = (SITES_EACH + 1) * 100;

    for (unsigned i = 0; !rank && i < others * SITES_EACH; i++) {
        struct fv_site_record site = { .function = PROBE, .path = fvr_path(&r->files[0], 0, module, 0x1000 + 16 * i) };

        fvr_add(&r->files[0], FV_CHUNK_SITES, 0, &site, sizeof(site));
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t sender = i % others + 1, now = i * turn, late = now + SITES_EACH * 100;

        for (unsigned k = 0; !rank && k < SITES_EACH; k++)
            at(r, 0, FUNCTIONS + (unsigned)(sender - 1) * SITES_EACH + k, now + k * 100 + 10, now + k * 100 + 60);
        if (!rank)
            EVENT(at(r, 0, RECV, late + 10, late + 90), RECV, 1, sender, 7, 8);
        else if (rank == sender)
            EVENT(at(r, rank, SEND, late + 60, late + 85), SEND, 1, 0, 7, 8);
    }
}

/* A wait needs 30 KB here to be explained, a thousand of them 30 MB. */
static void delays_take_little_memory(void **state)
{
    (void)state;
    assert_that(analyse_in_two(RANKS_MAX, fill_many_places, 1000).pair.largest, <, 2 << 20);
}

/* What a rank file says of its begin and end may be no time that a step can have. */
static void ideal_network_with_damaged_times(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 1000, 1500), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 0, 1500), RECV, 1, 0, 7, 8);
    r.files[0].header.end_ticks = UINT64_MAX / 4;
    analyse(&r);
    for (uint32_t i = 0; i < r.analysis.steps.line_count; i++)
        assert_that(r.analysis.steps.lines[i].end_ns, <=, FV_STEP_TIME_MAX);
    assert_that(r.analysis.graph.ideal_ns, <=, FV_STEP_TIME_MAX);
    end_run(&r);
}

/* Ranks that compute in turn: with messages that take no time the run would be as long. */
static void ideal_network_keeps_the_order(void **state)
{
    struct run r;

    (void)state;
    begin_run(&r, 2);
    EVENT(at(&r, 0, SEND, 1000, 1500), SEND, 1, 1, 7, 8);
    EVENT(at(&r, 1, RECV, 0, 1500), RECV, 1, 0, 7, 8);
    EVENT(at(&r, 1, SEND, 3500, 4000), SEND, 1, 0, 7, 8);
    EVENT(at(&r, 0, RECV, 1500, 4000), RECV, 1, 1, 7, 8);
    analyse(&r);
    /* 1000 of rank 0, 2000 of rank 1, then both until the end, 999,996,000 */
    assert_int_equal(r.analysis.graph.ideal_ns, 1000 + 2000 + 999996000);
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
        BOTH(late_sender),
        BOTH(wait_ends_with_the_call),
        BOTH(late_receiver),
        BOTH(receives_match_as_posted),
        BOTH(other_receives_do_not_block),
        BOTH(cancelled_send_matches_nothing),
        BOTH(freed_receive_takes_its_message),
        BOTH(probe_waits_for_its_message),
        BOTH(probe_did_not_wait_for_what_came_later),
        BOTH(lone_messages_are_counted),
        BOTH(last_one_is_waited_for),
        BOTH(root_waits_for_first_and_last),
        BOTH(member_comes_twice),
        BOTH(two_say_that_they_are_root),
        cmocka_unit_test_setup(no_room_for_an_answer_is_a_failure, with_little),
        BOTH(delays_go_back_to_their_origin),
        BOTH(critical_path_follows_the_late_one),
        BOTH(critical_path_leaves_pauses_out),
        cmocka_unit_test_setup(critical_path_takes_few_messages, with_much),
        cmocka_unit_test_setup(ideal_network_finds_causes_fast, with_much),
        cmocka_unit_test_setup(delays_take_little_memory, with_much),
        BOTH(delay_of_long_ago_is_charged),
        BOTH(ideal_network_keeps_the_order),
        BOTH(ideal_network_with_damaged_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
