/* SPDX-License-Identifier: BSD-3-Clause */
/* More calls than a small page takes for its timeline: 6,000 of each rank. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 6000; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    return 0;
}
