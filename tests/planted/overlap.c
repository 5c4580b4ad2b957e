/* A halo exchange with non-blocking calls, overlapped with the interior; messages are too large to be buffered. The last rank's interior has a
 * reaction that costs it more, which hides behind the others' MPI_Waitall: it has posted its messages in time, and moves them in its next
 * call. overlap STEPS prints what each rank was in MPI_Waitall and in react(), in seconds. */
#include <mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define HALO 8192 /* doubles */
static double field[200000], from_left[HALO], from_right[HALO];

static __attribute__((noinline)) void interior(void)
{
    for (int i = 1; i + 1 < 200000; i++)
        field[i] += 0.1 * (field[i - 1] - 2 * field[i] + field[i + 1]);
}

static __attribute__((noinline)) void react(int times)
{
    for (int k = 0; k < times; k++)
        for (int i = 0; i < 200000; i++)
            field[i] += 1e-4 * exp(-fabs(field[i]));
}

int main(int argc, char **argv)
{
    int rank, ranks, steps = argc > 1 ? atoi(argv[1]) : 50;
    double wait_s = 0, react_s = 0;
    MPI_Request request[4];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int step = 0; step < steps; step++) {
        MPI_Irecv(from_left, HALO, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(from_right, HALO, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(field + 190000, HALO, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request[2]);
        MPI_Isend(field, HALO, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &request[3]);
        interior();
        double begin = MPI_Wtime();
        react(rank == ranks - 1 ? 8 : 1);
        double wait = MPI_Wtime();
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        react_s += wait - begin;
        wait_s += MPI_Wtime() - wait;
        field[0] = from_left[HALO - 1];
        field[199999] = from_right[0];
    }
    printf("truth %d %.6f %.6f\n", rank, wait_s, react_s);
    return MPI_Finalize();
}
