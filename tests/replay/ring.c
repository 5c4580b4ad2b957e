/* What capture records: a ring of non-blocking messages, blocking ones in which the last rank is late, and
 * collectives on three communicators. With the argument `killed`, rank 1 kills itself in the second round while
 * the others wait for it. */
#include <mpi.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define OP static __attribute__((noinline, noclone)) void

static int me, ranks, data[3][512];
static volatile int rounds = 2; /* no compiler peels what it cannot count */

OP ring(MPI_Comm comm, int round)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;

    MPI_Irecv(data[0], 100 * (round + 1), MPI_INT, left, 7, comm, &requests[0]);
    MPI_Isend(data[1], 100 * (round + 1), MPI_INT, right, 7, comm, &requests[1]);
    MPI_Waitall(2, requests, statuses);
}

/* The last rank is late, and rank 0 waits for it. */
OP late(MPI_Comm comm)
{
    MPI_Status status;

    if (me == ranks - 1) {
        usleep(20000);
        MPI_Send(data[1], 16, MPI_INT, 0, 1, comm);
    } else if (me == 0) {
        MPI_Recv(data[0], 512, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    }
}

OP together(MPI_Comm comm, MPI_Comm part)
{
    MPI_Request request;

    MPI_Bcast(data[0], 64, MPI_INT, 1, comm);
    MPI_Allreduce(data[0], data[1], 8, MPI_INT, MPI_SUM, part);
    MPI_Gather(data[0], 4, MPI_INT, data[1], 4, MPI_INT, 0, comm);
    MPI_Iallreduce(data[0], data[2], 2, MPI_INT, MPI_MAX, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    MPI_Comm same, part;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    MPI_Comm_set_name(same, "same as world");
    MPI_Comm_split(MPI_COMM_WORLD, me == 0, me, &part);
    for (int round = 0; round < rounds; round++) {
        ring(MPI_COMM_WORLD, round);
        if (round == 1 && me == 1 && argc > 1 && !strcmp(argv[1], "killed"))
            raise(SIGKILL);
        late(same);
        together(same, part);
    }
    MPI_Comm_free(&part);
    MPI_Comm_free(&same);
    MPI_Finalize();
    return 0;
}
