/* Rank 1 sleeps in asleep(), and computes a little in awake(): others wait for it (part.t). What comes behind
 * MPI_Finalize is nobody's delay. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <time.h>

#define ROUNDS 12

static volatile double sum;

static __attribute__((noinline)) void awake(void)
{
    for (int i = 0; i < 3000000; i++)
        sum += i;
}

static __attribute__((noinline)) void asleep(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 40000000 }, NULL);
}

int main(void)
{
    int rank;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        awake();
        if (rank == 1)
            asleep();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    for (int i = 0; i < ROUNDS; i++)
        awake();
    return 0;
}
