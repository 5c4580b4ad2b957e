/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 has less to do, and asks for rank 1's message again and again (argument "polls"), or with two functions in turn
 * ("probes"), or computes between two such questions ("overlaps"). Says how long it asked. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 12
#define PIECE  200 /* of sum(): some microseconds and more */

static volatile double sink;

__attribute__((noinline)) void sum(int count)
{
    for (int i = 0; i < count; i++)
        sink += i;
}

__attribute__((noinline)) void work(double seconds)
{
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        sum(PIECE);
}

__attribute__((noinline)) double ask(MPI_Request request[2], int computes, int probes)
{
    double begin = MPI_Wtime();

    for (int done = 0; !done;) {
        if (computes)
            sum(50 * PIECE);
        if (probes) {
            int there;

            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        }
        MPI_Testall(2, request, &done, MPI_STATUSES_IGNORE);
    }
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    char in[8], out[8] = "";
    double asked = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request[2];

        MPI_Barrier(MPI_COMM_WORLD);
        work(rank ? 0.06 : 0.01);
        MPI_Irecv(in, sizeof(in), MPI_CHAR, !rank, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, sizeof(out), MPI_CHAR, !rank, 0, MPI_COMM_WORLD, &request[1]);
        asked += ask(request, !strcmp(argv[1], "overlaps"), !strcmp(argv[1], "probes"));
    }
    printf("truth rank %d asked %.6f\n", rank, asked);
    MPI_Finalize();
    return 0;
}
