/* Each kind of waiting that fvunify knows, with a known cause. In a case one rank is slow, then calls; others
 * call at once and wait for it. Everything else is kept small: before each of the three rounds all ranks meet
 * at a barrier that fvmpi sees, so that causes are not looked for further back, and at a point in time.
 * The program prints when each rank entered and left the calls that matter, from which analysis.t computes
 * the truth: a rank waits from its call to the cause's call, but not beyond the end of its own.
 *
 *     noted CASE SLOT ROUND RANK enter leave     seconds; slot 2: when the round began, after the barrier
 *     queued CASE RANK seconds                   that the rank waited for a processor
 *
 * What must be in analysis.json, for `waitstates waits FILE` on 4 ranks:
 *
 *     @ KIND CASE WAITING_RANKS WAITING_FUNCTION <- RANK FUNCTION [from|until RANK]
 *
 * Of several waiting functions (A|B, noted in slots 0, 1) it is the first that was still waiting when the
 * cause called: where MPI may block in one or the other. `from 1`, `until 1`: this kind of waiting begins, or
 * ends, when rank 1 calls. KIND `none`: nobody waits in the case, as all ranks that no line of it names.
 *
 * @ late_sender  late_send            1      MPI_Recv      <- 0 MPI_Send
 * @ late_sender  late_isend           1      MPI_Wait      <- 0 MPI_Isend
 * @ late_sender  late_waitall         1      MPI_Waitall   <- 2 MPI_Send
 * @ late_sender  late_waitany         1      MPI_Waitany   <- 0 MPI_Send
 * @ late_sender  late_waitsome        1      MPI_Waitsome  <- 0 MPI_Send
 * @ late_sender  late_sendrecv        1      MPI_Sendrecv  <- 0 MPI_Sendrecv
 * @ late_sender  late_start           1      MPI_Wait      <- 0 MPI_Start
 * @ late_sender  late_mprobe          1      MPI_Mprobe    <- 0 MPI_Send
 * @ late_sender  late_probe           1      MPI_Probe     <- 0 MPI_Send
 * @ late_sender  late_any_source      1      MPI_Recv      <- 2 MPI_Send
 * @ late_sender  late_large           0      MPI_Recv      <- 2 MPI_Send
 * @ none         late_test
 * @ none         prompt_send
 * @ late_sender_wrong_order  wrong_tag     1 MPI_Recv      <- 0 MPI_Send
 * @ late_sender_wrong_order  wrong_source  1 MPI_Recv      <- 0 MPI_Send
 * @ late_receiver  late_recv          0      MPI_Ssend     <- 1 MPI_Recv
 * @ late_receiver  late_recv_large    0      MPI_Send      <- 1 MPI_Recv
 * @ late_receiver  late_recv_issend   0      MPI_Wait      <- 1 MPI_Recv
 * @ late_receiver  late_irecv         0      MPI_Ssend     <- 1 MPI_Irecv
 * @ wait_at_nxn  nxn_allreduce        0,1,2  MPI_Allreduce <- 3 MPI_Allreduce
 * @ wait_at_nxn  nxn_alltoall         1,2,3  MPI_Alltoall  <- 0 MPI_Alltoall
 * @ wait_at_nxn  nxn_allgather        0,2,3  MPI_Allgather <- 1 MPI_Allgather
 * @ wait_at_nxn  nxn_allgatherv       0,1,3  MPI_Allgatherv <- 2 MPI_Allgatherv
 * @ wait_at_nxn  nxn_iallreduce       1,2,3  MPI_Wait      <- 0 MPI_Iallreduce
 * @ wait_at_nxn  nxn_persistent       0,1,3  MPI_Wait      <- 2 MPI_Start        where MPI has it
 * @ none         silent_allgatherv
 * @ none         silent_alltoallv
 * @ wait_at_barrier  late_barrier     0,1,2  MPI_Barrier   <- 3 MPI_Barrier
 * @ wait_at_barrier  late_ibarrier    0,2,3  MPI_Wait      <- 1 MPI_Ibarrier
 * @ wait_at_barrier  half_barrier     0      MPI_Barrier   <- 2 MPI_Barrier
 * @ late_broadcast  late_bcast        0,2,3  MPI_Bcast     <- 1 MPI_Bcast
 * @ late_broadcast  late_scatter      1,2,3  MPI_Scatter   <- 0 MPI_Scatter
 * @ late_broadcast  late_ibcast       0,1,3  MPI_Wait      <- 2 MPI_Ibcast
 * @ none         late_leaf
 * @ early_reduce  early_reduce        0      MPI_Reduce    <- 3 MPI_Reduce until 1
 * @ late_reduce   early_reduce        0      MPI_Reduce    <- 3 MPI_Reduce from 1
 * @ early_reduce  early_gather        3      MPI_Gather    <- 0 MPI_Gather until 2
 * @ late_reduce   early_gather        3      MPI_Gather    <- 0 MPI_Gather from 2
 * @ none         late_root
 * @ early_scan   early_scan           2,3    MPI_Scan      <- 1 MPI_Scan
 * @ early_scan   early_exscan         3      MPI_Exscan    <- 2 MPI_Exscan
 * @ early_scan   scan_backwards       0,1    MPI_Scan      <- 2 MPI_Scan
 * @ none         late_last_scan
 * @ wait_at_create  create_dup        0,2,3  MPI_Comm_dup  <- 1 MPI_Comm_dup
 * @ wait_at_create  create_split      0,1,2  MPI_Comm_split <- 3 MPI_Comm_split
 * @ wait_at_create  create_window     1,2,3  MPI_Win_allocate <- 0 MPI_Win_allocate
 * @ wait_at_create  create_file       0,1,3  MPI_File_open <- 2 MPI_File_open
 * @ wait_at_io   late_write_all       0,1,3  MPI_File_write_all <- 2 MPI_File_write_all
 * @ wait_at_fence  late_fence         0,2,3  MPI_Win_fence <- 1 MPI_Win_fence
 * @ late_post    late_post            0      MPI_Win_start|MPI_Win_complete <- 1 MPI_Win_post
 * @ early_wait   early_wait           1      MPI_Win_wait  <- 0 MPI_Win_complete
 * @ late_complete  late_complete      1      MPI_Win_wait  <- 0 MPI_Win_complete
 * @ lock_contention  locked           2      MPI_Win_lock|MPI_Win_unlock <- 1 MPI_Win_unlock
 * @ wait_at_nxn  neighbours           1,3    MPI_Neighbor_alltoall <- 0 MPI_Neighbor_alltoall
 *
 * `waitstates killed` ends by SIGKILL after late_send and nxn_allreduce.
 */
#define _GNU_SOURCE
#include "known.h"
#include "lost.h"

#include <signal.h>

#define ROUNDS  3
#define SLOW_US 40000
#define RANKS   4
#define LARGE   (1 << 20) /* integers; too large for any eager protocol */
#define IGNORE  MPI_STATUS_IGNORE

static struct {
    double enter, leave;
} noted[3][ROUNDS];
static int round_;
static int in[4 * RANKS], out[4 * RANKS], *large;
static const char *scratch;
static MPI_Comm half, backwards, ring;
static MPI_Group first, second; /* of the world: rank 0, rank 1 */
static MPI_Win window;
static MPI_File file;

#define EACH_ROUND for (round_ = 0; round_ < known_hide(ROUNDS); round_++)
#define NOTE(slot, call)                                                                                     \
    do {                                                                                                     \
        noted[slot][round_].enter = now();                                                                   \
        OK(call);                                                                                            \
        noted[slot][round_].leave = now();                                                                   \
    } while (0)

OP slow(int times)
{
    usleep((useconds_t)(times * SLOW_US));
}

static void sleep_until(double when)
{
    struct timespec t = { .tv_sec = (time_t)when, .tv_nsec = (long)((when - (double)(time_t)when) * 1e9) };

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Who has nothing to do sleeps, and keeps nobody from its core: there may be fewer cores than ranks. */
static void drowse(MPI_Request *request)
{
    for (int done = 0; !done; usleep(200))
        PMPI_Test(request, &done, IGNORE);
}

OP together(void)
{
    MPI_Request request;
    double mine, latest;

    PMPI_Ibarrier(WORLD, &request);
    drowse(&request);
    OK(MPI_Barrier(WORLD));
    mine = now();
    if (round_ < ROUNDS)
        noted[2][round_].enter = noted[2][round_].leave = mine;
    PMPI_Iallreduce(&mine, &latest, 1, MPI_DOUBLE, MPI_MAX, WORLD, &request);
    drowse(&request);
    sleep_until(latest + 0.003);
}

static void tell(const char *name)
{
    enum { NOTES = sizeof noted / sizeof noted[0][0] };
    static int64_t before;
    int64_t queued = queued_ns();
    double mine[2 * NOTES + 1], all[RANKS][2 * NOTES + 1];

    memcpy(mine, noted, sizeof noted);
    memset(noted, 0, sizeof noted);
    mine[2 * NOTES] = 1e-9 * (double)(queued - before);
    before = queued;
    PMPI_Gather(mine, 2 * NOTES + 1, MPI_DOUBLE, all, 2 * NOTES + 1, MPI_DOUBLE, 0, WORLD);
    for (int rank = 0; me == 0 && rank < ranks; rank++) {
        for (int i = 0; i < NOTES; i++)
            if (all[rank][2 * i] > 0)
                printf("noted %s %d %d %d %.7f %.7f\n", name, i / ROUNDS, i % ROUNDS, rank, all[rank][2 * i],
                       all[rank][2 * i + 1]);
        printf("queued %s %d %.7f\n", name, rank, all[rank][2 * NOTES]);
    }
    fflush(stdout);
}

/* The waits in this last `together` are of the case, too. */
#define TELL()                                                                                               \
    do {                                                                                                     \
        together();                                                                                          \
        tell(__func__);                                                                                      \
    } while (0)

/* ---- point to point ---- */

OP late_send(void)
{
    EACH_ROUND
    {
        together();
        if (me == 0) {
            slow(1);
            NOTE(0, MPI_Send(in, 4, MPI_INT, 1, 1, WORLD));
        } else if (me == 1)
            NOTE(0, MPI_Recv(out, 4, MPI_INT, 0, 1, WORLD, IGNORE));
    }
    TELL();
}

OP late_isend(void)
{
    MPI_Request request;

    EACH_ROUND
    {
        together();
        if (me == 0) {
            slow(1);
            NOTE(0, MPI_Isend(in, 4, MPI_INT, 1, 1, WORLD, &request));
            OK(MPI_Wait(&request, IGNORE));
        } else if (me == 1) {
            OK(MPI_Irecv(out, 4, MPI_INT, 0, 1, WORLD, &request));
            NOTE(0, MPI_Wait(&request, IGNORE));
        }
    }
    TELL();
}

/* Of the three senders one is late. */
OP late_waitall(void)
{
    MPI_Request request[3];

    EACH_ROUND
    {
        together();
        if (me == 1) {
            for (int i = 0, from = 0; from < ranks; from++)
                if (from != me) {
                    OK(MPI_Irecv(out + i, 1, MPI_INT, from, 1, WORLD, request + i));
                    i++;
                }
            NOTE(0, MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
        } else {
            if (me == 2)
                slow(1);
            NOTE(0, MPI_Send(in, 1, MPI_INT, 1, 1, WORLD));
        }
    }
    TELL();
}

/* Rank 0 is late; rank 2 sends when the call is over. */
static void other_sender(void)
{
    PMPI_Recv(out, 0, MPI_INT, 1, 9, WORLD, IGNORE);
    OK(MPI_Send(in, 1, MPI_INT, 1, 1, WORLD));
}

static void post_two(MPI_Request *request)
{
    OK(MPI_Irecv(out, 1, MPI_INT, 0, 1, WORLD, request));
    OK(MPI_Irecv(out + 1, 1, MPI_INT, 2, 1, WORLD, request + 1));
}

static void finish_two(MPI_Request *request)
{
    PMPI_Send(in, 0, MPI_INT, 2, 9, WORLD);
    OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
}

OP late_waitany(void)
{
    MPI_Request request[2];
    int which;

    EACH_ROUND
    {
        together();
        if (me == 0) {
            slow(1);
            NOTE(0, MPI_Send(in, 1, MPI_INT, 1, 1, WORLD));
        } else if (me == 1) {
            post_two(request);
            NOTE(0, MPI_Waitany(2, request, &which, IGNORE));
            finish_two(request);
        } else if (me == 2)
            other_sender();
    }
    TELL();
}

OP late_waitsome(void)
{
    MPI_Request request[2];
    int which[2], n;

    EACH_ROUND
    {
        together();
        if (me == 0) {
            slow(1);
            NOTE(0, MPI_Send(in, 1, MPI_INT, 1, 1, WORLD));
        } else if (me == 1) {
            post_two(request);
            NOTE(0, MPI_Waitsome(2, request, &n, which, MPI_STATUSES_IGNORE));
            finish_two(request);
        } else if (me == 2)
            other_sender();
    }
    TELL();
}

OP late_sendrecv(void)
{
    EACH_ROUND
    {
        together();
        if (me == 0)
            slow(1);
        if (me < 2)
            NOTE(0, MPI_Sendrecv(in, 4, MPI_INT, 1 - me, 1, out, 4, MPI_INT, 1 - me, 1, WORLD, IGNORE));
    }
    TELL();
}

OP late_start(void)
{
    MPI_Request request = MPI_REQUEST_NULL;

    if (me == 0)
        OK(MPI_Send_init(in, 4, MPI_INT, 1, 1, WORLD, &request));
    if (me == 1)
        OK(MPI_Recv_init(out, 4, MPI_INT, 0, 1, WORLD, &request));
    EACH_ROUND
    {
        together();
        if (me == 0) {
            slow(1);
            NOTE(0, MPI_Start(&request));
            OK(MPI_Wait(&request, IGNORE));
        } else if (me == 1) {
            OK(MPI_Start(&request));
            NOTE(0, MPI_Wait(&request, IGNORE));
        }
    }
    if (me < 2)
        OK(MPI_Request_free(&request));
    TELL();
}

/* The probe is the call that blocks: when it returns, the message is there. */
OP late_mprobe(void)
{
    MPI_Message message;

    EACH_ROUND
    {
        together();
        if (me == 0) {
            slow(1);
            NOTE(0, MPI_Send(in, 4, MPI_INT, 1, 1, WORLD));
        } else if (me == 1) {
            NOTE(0, MPI_Mprobe(0, 1, WORLD, &message, IGNORE));
            OK(MPI_Mrecv(out, 4, MPI_INT, &message, IGNORE));
        }
    }
    TELL();
}

/* The receive after it tells which message the probe was for. */
OP late_probe(void)
{
    EACH_ROUND
    {
        together();
        if (me == 0) {
            slow(1);
            NOTE(0, MPI_Send(in, 4, MPI_INT, 1, 1, WORLD));
        } else if (me == 1) {
            MPI_Status status;
            int count;

            NOTE(0, MPI_Probe(0, MPI_ANY_TAG, WORLD, &status));
            OK(MPI_Get_count(&status, MPI_INT, &count));
            OK(MPI_Recv(out, count, MPI_INT, 0, 1, WORLD, IGNORE));
        }
    }
    TELL();
}

OP late_any_source(void)
{
    EACH_ROUND
    {
        together();
        if (me == 2) {
            slow(1);
            NOTE(0, MPI_Send(in, 4, MPI_INT, 1, 1, WORLD));
        } else if (me == 1)
            NOTE(0, MPI_Recv(out, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORE));
    }
    TELL();
}

/* Waiting ends when the send begins; the time after that is the transfer. Among the even ranks. */
OP late_large(void)
{
    EACH_ROUND
    {
        together();
        if (me == 2) {
            slow(1);
            NOTE(0, MPI_Send(large, LARGE, MPI_INT, 0, 1, half));
        } else if (me == 0)
            NOTE(0, MPI_Recv(large, LARGE, MPI_INT, 1, 1, half, IGNORE));
    }
    TELL();
}

/* Who tests does not wait. */
OP late_test(void)
{
    MPI_Request request;

    EACH_ROUND
    {
        together();
        if (me == 0) {
            slow(1);
            OK(MPI_Send(in, 4, MPI_INT, 1, 1, WORLD));
        } else if (me == 1) {
            int done = 0;

            OK(MPI_Irecv(out, 4, MPI_INT, 0, 1, WORLD, &request));
            for (; !done; usleep(1000))
                OK(MPI_Test(&request, &done, IGNORE));
        }
    }
    TELL();
}

/* The message is there before its receive. */
OP prompt_send(void)
{
    EACH_ROUND
    {
        together();
        if (me == 0) {
            OK(MPI_Send(in, 4, MPI_INT, 1, 1, WORLD));
            PMPI_Send(in, 0, MPI_INT, 1, 9, WORLD);
        } else if (me == 1) {
            PMPI_Recv(out, 0, MPI_INT, 0, 9, WORLD, IGNORE);
            slow(1);
            OK(MPI_Recv(out, 4, MPI_INT, 0, 1, WORLD, IGNORE));
        }
    }
    TELL();
}

OP wrong_tag(void)
{
    EACH_ROUND
    {
        together();
        if (me == 0) {
            OK(MPI_Send(in, 4, MPI_INT, 1, 1, WORLD));
            slow(1);
            NOTE(0, MPI_Send(in, 4, MPI_INT, 1, 2, WORLD));
        } else if (me == 1) {
            NOTE(0, MPI_Recv(out, 4, MPI_INT, 0, 2, WORLD, IGNORE));
            OK(MPI_Recv(out, 4, MPI_INT, 0, 1, WORLD, IGNORE));
        }
    }
    TELL();
}

OP wrong_source(void)
{
    EACH_ROUND
    {
        together();
        if (me == 0) {
            slow(1);
            NOTE(0, MPI_Send(in, 4, MPI_INT, 1, 1, WORLD));
        } else if (me == 1) {
            NOTE(0, MPI_Recv(out, 4, MPI_INT, 0, 1, WORLD, IGNORE));
            OK(MPI_Recv(out, 4, MPI_INT, 2, 1, WORLD, IGNORE));
        } else if (me == 2)
            OK(MPI_Send(in, 4, MPI_INT, 1, 1, WORLD));
    }
    TELL();
}

#define LATE_RECEIVER(name, send, receive)                                                                   \
    OP name(void)                                                                                            \
    {                                                                                                        \
        MPI_Request request = MPI_REQUEST_NULL;                                                              \
        EACH_ROUND                                                                                           \
        {                                                                                                    \
            together();                                                                                      \
            if (me == 0) {                                                                                   \
                send;                                                                                        \
            } else if (me == 1) {                                                                            \
                slow(1);                                                                                     \
                receive;                                                                                     \
            }                                                                                                \
        }                                                                                                    \
        TELL();                                                                                              \
        (void)request;                                                                                       \
    }

LATE_RECEIVER(late_recv, NOTE(0, MPI_Ssend(in, 4, MPI_INT, 1, 1, WORLD)),
              NOTE(0, MPI_Recv(out, 4, MPI_INT, 0, 1, WORLD, IGNORE)))
LATE_RECEIVER(late_recv_large, NOTE(0, MPI_Send(large, LARGE, MPI_INT, 1, 1, WORLD)),
              NOTE(0, MPI_Recv(large, LARGE, MPI_INT, 0, 1, WORLD, IGNORE)))
LATE_RECEIVER(late_recv_issend, OK(MPI_Issend(in, 4, MPI_INT, 1, 1, WORLD, &request));
              NOTE(0, MPI_Wait(&request, IGNORE)), NOTE(0, MPI_Recv(out, 4, MPI_INT, 0, 1, WORLD, IGNORE)))
LATE_RECEIVER(late_irecv, NOTE(0, MPI_Ssend(in, 4, MPI_INT, 1, 1, WORLD)),
              NOTE(0, MPI_Irecv(out, 4, MPI_INT, 0, 1, WORLD, &request));
              OK(MPI_Wait(&request, IGNORE)))

/* ---- collective ---- */

/* times: how slow this rank is */
#define COLLECTIVE(name, times, call)                                                                        \
    OP name(void)                                                                                            \
    {                                                                                                        \
        EACH_ROUND                                                                                           \
        {                                                                                                    \
            together();                                                                                      \
            slow(times);                                                                                     \
            NOTE(0, call);                                                                                   \
        }                                                                                                    \
        TELL();                                                                                              \
    }

/* The late call posts the operation, the waiting one completes it: where both happen on the same rank, the
 * note is of the one that matters there. */
#define NON_BLOCKING(name, late, call)                                                                       \
    OP name(void)                                                                                            \
    {                                                                                                        \
        MPI_Request request;                                                                                 \
        EACH_ROUND                                                                                           \
        {                                                                                                    \
            together();                                                                                      \
            if (me == (late)) {                                                                              \
                slow(1);                                                                                     \
                NOTE(0, call);                                                                               \
                OK(MPI_Wait(&request, IGNORE));                                                              \
            } else {                                                                                         \
                OK(call);                                                                                    \
                NOTE(0, MPI_Wait(&request, IGNORE));                                                         \
            }                                                                                                \
        }                                                                                                    \
        TELL();                                                                                              \
    }

static const int one_each[RANKS] = { 1, 1, 1, 1 }, all_but_1[RANKS] = { 1, 0, 1, 1 }, none[RANKS];
static const int place[RANKS] = { 0, 1, 2, 3 };

COLLECTIVE(nxn_allreduce, me == 3, MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, WORLD))
COLLECTIVE(nxn_alltoall, me == 0, MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, WORLD))
COLLECTIVE(nxn_allgather, me == 1, MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, WORLD))
COLLECTIVE(nxn_allgatherv, me == 2, MPI_Allgatherv(in, 1, MPI_INT, out, one_each, place, MPI_INT, WORLD))
NON_BLOCKING(nxn_iallreduce, 0, MPI_Iallreduce(in, out, 4, MPI_INT, MPI_SUM, WORLD, &request))

OP nxn_persistent(void)
{
#if MPI_VERSION >= 4
    MPI_Request request;

    OK(MPI_Allreduce_init(in, out, 4, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request));
    EACH_ROUND
    {
        together();
        if (me == 2) {
            slow(1);
            NOTE(0, MPI_Start(&request));
            OK(MPI_Wait(&request, IGNORE));
        } else {
            OK(MPI_Start(&request));
            NOTE(0, MPI_Wait(&request, IGNORE));
        }
    }
    OK(MPI_Request_free(&request));
    TELL();
#endif
}

/* The late rank sends nothing, so nobody waits for its data, whatever MPI does. */
COLLECTIVE(silent_allgatherv, me == 1,
           MPI_Allgatherv(in, me != 1, MPI_INT, out, all_but_1, place, MPI_INT, WORLD))
COLLECTIVE(silent_alltoallv, me == 1,
           MPI_Alltoallv(in, me == 1 ? none : one_each, place, MPI_INT, out, all_but_1, place, MPI_INT,
                         WORLD))
COLLECTIVE(late_barrier, me == 3, MPI_Barrier(WORLD))
NON_BLOCKING(late_ibarrier, 1, MPI_Ibarrier(WORLD, &request))
COLLECTIVE(half_barrier, me == 2, MPI_Barrier(half)) /* the even ranks, and the odd ones */
COLLECTIVE(late_bcast, me == 1, MPI_Bcast(in, 4, MPI_INT, 1, WORLD))
COLLECTIVE(late_scatter, me == 0, MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD))
NON_BLOCKING(late_ibcast, 2, MPI_Ibcast(in, 4, MPI_INT, 2, WORLD, &request))
COLLECTIVE(late_leaf, me == 3, MPI_Bcast(in, 4, MPI_INT, 0, WORLD))
COLLECTIVE(early_reduce, me == 1 ? 1 : me, MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, WORLD))
COLLECTIVE(early_gather, me == 3 ? 0 : 3 - me, MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 3, WORLD))
COLLECTIVE(late_root, me == 0, MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, WORLD))
COLLECTIVE(early_scan, me == 1, MPI_Scan(in, out, 4, MPI_INT, MPI_SUM, WORLD))
COLLECTIVE(early_exscan, me == 2, MPI_Exscan(in, out, 4, MPI_INT, MPI_SUM, WORLD))
COLLECTIVE(late_last_scan, me == 3, MPI_Scan(in, out, 4, MPI_INT, MPI_SUM, WORLD))
COLLECTIVE(scan_backwards, me == 2, MPI_Scan(in, out, 4, MPI_INT, MPI_SUM, backwards)) /* rank 3 is its first */
/* Rank 0's neighbours on the ring are 1 and 3. */
COLLECTIVE(neighbours, me == 0, MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, ring))

/* ---- communicators, windows, files ---- */

#define CREATION(name, late, type, call, release)                                                            \
    OP name(void)                                                                                            \
    {                                                                                                        \
        EACH_ROUND                                                                                           \
        {                                                                                                    \
            type made;                                                                                       \
            together();                                                                                      \
            slow(me == (late));                                                                              \
            NOTE(0, call);                                                                                   \
            OK(release(&made));                                                                              \
        }                                                                                                    \
        TELL();                                                                                              \
    }

static int write_mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
static int *memory;

CREATION(create_dup, 1, MPI_Comm, MPI_Comm_dup(WORLD, &made), PMPI_Comm_free)
CREATION(create_split, 3, MPI_Comm, MPI_Comm_split(WORLD, me / 2, me, &made), PMPI_Comm_free)
CREATION(create_window, 0, MPI_Win, MPI_Win_allocate(64, 4, MPI_INFO_NULL, WORLD, &memory, &made),
         PMPI_Win_free)
CREATION(create_file, 2, MPI_File, MPI_File_open(WORLD, scratch, write_mode, MPI_INFO_NULL, &made),
         PMPI_File_close)
COLLECTIVE(late_write_all, me == 2,
           (PMPI_File_seek(file, 16 * me, MPI_SEEK_SET), MPI_File_write_all(file, in, 4, MPI_INT, IGNORE)))

/* ---- one-sided: rank 0 is the origin, rank 1 the target ---- */

COLLECTIVE(late_fence, me == 1, MPI_Win_fence(0, window))

OP late_post(void)
{
    EACH_ROUND
    {
        together();
        if (me == 0) {
            NOTE(0, MPI_Win_start(second, 0, window));
            OK(MPI_Put(in, 4, MPI_INT, 1, 0, 4, MPI_INT, window));
            NOTE(1, MPI_Win_complete(window));
        } else if (me == 1) {
            slow(1);
            NOTE(0, MPI_Win_post(first, 0, window));
            OK(MPI_Win_wait(window));
        }
    }
    TELL();
}

OP early_wait(void)
{
    EACH_ROUND
    {
        together();
        if (me == 0) {
            OK(MPI_Win_start(second, 0, window));
            slow(1);
            OK(MPI_Put(in, 4, MPI_INT, 1, 0, 4, MPI_INT, window));
            NOTE(0, MPI_Win_complete(window));
        } else if (me == 1) {
            OK(MPI_Win_post(first, 0, window));
            NOTE(0, MPI_Win_wait(window));
        }
    }
    TELL();
}

/* The last operation was long before. */
OP late_complete(void)
{
    EACH_ROUND
    {
        together();
        if (me == 0) {
            OK(MPI_Win_start(second, 0, window));
            OK(MPI_Put(in, 4, MPI_INT, 1, 0, 4, MPI_INT, window));
            PMPI_Send(in, 0, MPI_INT, 1, 9, WORLD);
            slow(1);
            NOTE(0, MPI_Win_complete(window));
        } else if (me == 1) {
            OK(MPI_Win_post(first, 0, window));
            PMPI_Recv(out, 0, MPI_INT, 0, 9, WORLD, IGNORE);
            NOTE(0, MPI_Win_wait(window));
        }
    }
    TELL();
}

/* Rank 1 holds the lock, rank 2 wants it; MPI may get a lock only when it has something to do. */
OP locked(void)
{
    EACH_ROUND
    {
        together();
        if (me == 1) {
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
            OK(MPI_Put(in, 4, MPI_INT, 0, 0, 4, MPI_INT, window));
            OK(MPI_Win_flush(0, window));
            PMPI_Send(in, 0, MPI_INT, 2, 9, WORLD);
            slow(1);
            NOTE(0, MPI_Win_unlock(0, window));
        } else if (me == 2) {
            PMPI_Recv(out, 0, MPI_INT, 1, 9, WORLD, IGNORE);
            NOTE(0, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
            OK(MPI_Put(in, 4, MPI_INT, 0, 0, 4, MPI_INT, window));
            NOTE(1, MPI_Win_unlock(0, window));
        }
    }
    TELL();
}

static void make_objects(void)
{
    const int size[1] = { RANKS }, periodic[1] = { 1 };
    MPI_Group world;

    large = calloc(LARGE, sizeof *large);
    PMPI_Comm_group(WORLD, &world);
    PMPI_Group_incl(world, 1, &place[0], &first);
    PMPI_Group_incl(world, 1, &place[1], &second);
    PMPI_Group_free(&world);
    OK(MPI_Comm_split(WORLD, me % 2, me, &half));
    OK(MPI_Comm_split(WORLD, 0, -me, &backwards));
    OK(MPI_Cart_create(WORLD, 1, size, periodic, 0, &ring));
    OK(MPI_Win_allocate(64, 4, MPI_INFO_NULL, WORLD, &memory, &window));
    OK(MPI_File_open(WORLD, scratch, write_mode, MPI_INFO_NULL, &file));
}

static void free_objects(void)
{
    OK(MPI_File_close(&file));
    OK(MPI_Win_free(&window));
    OK(MPI_Comm_free(&ring));
    OK(MPI_Comm_free(&backwards));
    OK(MPI_Comm_free(&half));
    PMPI_Group_free(&first);
    PMPI_Group_free(&second);
    free(large);
}

/* All of the above. */
static void waits(void)
{
    static void (*const cases[])(void) = {
        late_send,         late_isend,       late_waitall,     late_waitany,   late_waitsome,
        late_sendrecv,     late_start,       late_mprobe,      late_probe,     late_any_source,
        late_large,        late_test,        prompt_send,      wrong_tag,      wrong_source,
        late_recv,         late_recv_large,  late_recv_issend, late_irecv,     nxn_allreduce,
        nxn_alltoall,      nxn_allgather,    nxn_allgatherv,   nxn_iallreduce, nxn_persistent,
        silent_allgatherv, silent_alltoallv, late_barrier,     late_ibarrier,  half_barrier,
        late_bcast,        late_scatter,     late_ibcast,      late_leaf,      early_reduce,
        early_gather,      late_root,        early_scan,       early_exscan,   late_last_scan,
        scan_backwards,
        create_dup,        create_split,     create_window,    create_file,    late_write_all,
        late_fence,        late_post,        early_wait,       late_complete,  locked,
        neighbours,
    };

    make_objects();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cases[i]();
    free_objects();
}

/* Two cases; then rank 1 kills itself while the others are in a barrier. */
static void killed(void)
{
    late_send();
    nxn_allreduce();
    together();
    if (me == 1) {
        usleep(50000);
        kill(getpid(), SIGKILL);
    }
    OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    scratch = argc > 2 ? argv[2] : "waitstates.out";
    if (argc > 1 && strcmp(argv[1], "killed") == 0)
        killed();
    else
        waits();
    OK(MPI_Finalize());
    return 0;
}
