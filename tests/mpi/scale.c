/* A small program for many ranks: a ring, rows of eight with messages of their own, and sums. Per rank
 * 10 messages on MPI_COMM_WORLD and 10 on its row, 10 MPI_Allreduce, 2 MPI_Barrier, 58 calls in all with
 * MPI_Init and MPI_Finalize.
 */
#include "known.h"

OP ring(void)
{
    int out[16] = { 0 }, in[16];

    TIMES(10)
    OK(MPI_Sendrecv(out, 16, MPI_INT, (me + 1) % ranks, 1, in, 16, MPI_INT, (me + ranks - 1) % ranks, 1,
                    WORLD, MPI_STATUS_IGNORE));
}

OP row(void)
{
    MPI_Comm line;
    MPI_Request request[2];
    int out = me, in, at, size;

    OK(MPI_Comm_split(WORLD, me / 8, me, &line));
    OK(MPI_Comm_rank(line, &at));
    OK(MPI_Comm_size(line, &size));
    TIMES(10)
    {
        OK(MPI_Irecv(&in, 1, MPI_INT, (at + size - 1) % size, 2, line, &request[0]));
        OK(MPI_Isend(&out, 1, MPI_INT, (at + 1) % size, 2, line, &request[1]));
        OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Comm_free(&line));
}

OP sums(void)
{
    double mine = me, sum;

    OK(MPI_Barrier(WORLD));
    TIMES(10)
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD));
    OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    ring();
    row();
    sums();
    OK(MPI_Finalize());
    return 0;
}
