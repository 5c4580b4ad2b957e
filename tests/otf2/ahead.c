/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 is three messages ahead of rank 1: at any time some are on their way. A message is received before the one is
 * sent that is three later. */
#include <mpi.h>
#include <unistd.h>

enum { AHEAD = 3, ALL = 400 };

int main(int argc, char **argv)
{
    int rank, value = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ALL + AHEAD; i++) {
        if (rank == 1 && i >= AHEAD)
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(1000);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && i < ALL)
            MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
