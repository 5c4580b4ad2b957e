/* Two threads a rank that compute and never call MPI, beside a main thread that does, for otf2.t.
 *
 *     workers SECONDS    of CPU time of each of them */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds;

__attribute__((noinline, noclone)) uint64_t task(uint64_t x)
{
    for (int i = 0; i < 200000; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    return x;
}

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *worker(void *arg)
{
    uint64_t x = (uintptr_t)arg;

    while (cpu() < seconds)
        x = task(x) + 1;
    return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
    int one = 1, sum = 0, size, provided;
    pthread_t threads[2];

    seconds = argc > 1 ? atof(argv[1]) : 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &threads[i]);
    for (int i = 0; i < 20; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("sum %d\n", sum == size);
    return MPI_Finalize();
}
