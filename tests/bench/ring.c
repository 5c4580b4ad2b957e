/* Traffic for traces: each rank sends to the next, argv[1] times, with an allreduce at every tenth. Rank 0 prints
 * the seconds that the loop took, without MPI_Init and MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, ranks, sum, in[10], out[10] = { 0 };
    long rounds = argc > 1 ? atol(argv[1]) : 100000;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (long i = 0; i < rounds; i++) {
        MPI_Request request[2];
        MPI_Status status[2];

        MPI_Irecv(in, 10, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, 10, MPI_INT, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, status);
        if (i % 10 == 0)
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    double end = MPI_Wtime();
    if (rank == 0)
        printf("%.4f\n", end - begin);
    MPI_Finalize();
    return 0;
}
