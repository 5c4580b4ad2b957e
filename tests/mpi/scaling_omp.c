/* For fvmpi scaling by threads: scaling_omp WORK SERIAL, in milliseconds. WORK is divided among all threads of all ranks, in a parallel region; SERIAL is done by
 * each rank's main thread alone. It is slept, so that threads take nothing from each other. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 4

int main(int argc, char **argv)
{
    double work = argc > 2 ? atof(argv[1]) : 0, serial = argc > 2 ? atof(argv[2]) : 0;
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++) {
        int threads = 0;

#pragma omp parallel
#pragma omp atomic
        threads++;
#pragma omp parallel
        usleep((useconds_t)(1000 * work / ROUNDS / threads / size));
        usleep((useconds_t)(1000 * serial / ROUNDS));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
