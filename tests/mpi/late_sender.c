/* Rank 0 sends rank 1 40 messages, one after each answer, so that none is early; before every 8th it
 * sleeps 60 ms. Then the same with non-blocking receives, where the wait belongs to MPI_Wait, and the same
 * without sleeping. In profile mode point-to-point waiting is an estimate, the time above the best that
 * was seen, and the report must call it that:
 *
 *     MPI_Recv in late       rank 1 waits 5 x 60 ms
 *     MPI_Wait in late_wait  rank 1 waits 5 x 60 ms
 *     MPI_Recv in prompt     rank 1 waits about 0 (as long as it is in the call)
 *     MPI_Send everywhere    rank 0 waits about 0
 *
 * Prints `truth FUNCTION CASE seconds`: the time rank 1 was in those calls; and `lost CASE rank0 rank1`: seconds
 * that each rank lost its processor in and around its calls (lost.h).
 */
#define _GNU_SOURCE
#include "known.h"
#include "lost.h"

#define MESSAGES 40
static int data[4];
static double inside, begin;
static int64_t lost;

static void enter(void)
{
    lost -= lost_ns();
    begin = now();
}

static void leave(void)
{
    inside += now() - begin;
    lost += lost_ns();
}

static void synchronise(void)
{
    PMPI_Sendrecv(data, 1, MPI_INT, 1 - me, 9, data + 1, 1, MPI_INT, 1 - me, 9, WORLD, MPI_STATUS_IGNORE);
}

static void tell(const char *function, const char *name)
{
    double mine[2] = { inside, 1e-9 * (double)lost }, all[2][2];

    PMPI_Gather(mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, WORLD);
    if (me == 0)
        printf("truth %s %s %.6f\nlost %s %.6f %.6f\n", function, name, all[1][0], name, all[0][1], all[1][1]);
    inside = 0;
    lost = 0;
}

static void drowsy(int i)
{
    synchronise();
    if (i % 8 == 7)
        usleep(60000);
}

OP late(void)
{
    TIMES(MESSAGES) {
        if (me == 0) {
            drowsy(i);
            enter();
            OK(MPI_Send(data, 1, MPI_INT, 1, 1, WORLD));
            leave();
        } else {
            synchronise();
            enter();
            OK(MPI_Recv(data, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE));
            leave();
        }
    }
    tell("MPI_Recv", "late");
}

OP late_wait(void)
{
    MPI_Request request;

    TIMES(MESSAGES) {
        if (me == 0) {
            drowsy(i);
            enter();
            OK(MPI_Send(data, 1, MPI_INT, 1, 1, WORLD));
            leave();
        } else {
            OK(MPI_Irecv(data, 1, MPI_INT, 0, 1, WORLD, &request));
            synchronise();
            enter();
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            leave();
        }
    }
    tell("MPI_Wait", "late_wait");
}

OP prompt(void)
{
    TIMES(MESSAGES) {
        if (me == 0) {
            enter();
            OK(MPI_Send(data, 1, MPI_INT, 1, 1, WORLD));
            leave();
            synchronise();
        } else {
            synchronise();
            enter();
            OK(MPI_Recv(data, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE));
            leave();
        }
    }
    tell("MPI_Recv", "prompt");
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    late();
    late_wait();
    prompt();
    OK(MPI_Finalize());
    return 0;
}
