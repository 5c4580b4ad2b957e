/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on a communicator that each rank has for itself. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int one = 1, sum;

    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD); /* both do it at one time */
    for (int i = 0; i < 5; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Finalize();
    return 0;
}
