/* A function that takes 14 us, and 60 ms in every 50th of its calls on rank 1; with an argument, what that costs is spread over all of
 * its calls. Another, which is as short, is called so often that clock samples find it at the same place of the stack again and
 * again. "truth lost_s SECONDS calls N slow N typical_s SECONDS": of rank 1, by its own CPU clock. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLS 400
#define EVERY 50

static volatile double sink;
static double slow_s, typical_s;

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline __attribute__((always_inline)) void compute(double seconds)
{
    double until = cpu_s() + seconds, x = 1;

    while (cpu_s() < until)
        for (int i = 0; i < 2500; i++)
            x = x * 1.0000001 + 1e-9;
    sink = x;
}

__attribute__((noinline)) static void diffuse(void)
{
    compute(0.003);
    sink++;
}

__attribute__((noinline, noclone)) static void quick(void)
{
    compute(14e-6);
    sink++;
}

__attribute__((noinline, noclone)) static void lookup(double seconds)
{
    compute(seconds);
    sink++;
}

int main(int argc, char **argv)
{
    int rank, slow = 0, planted;
    double mine = 1, sum;

    MPI_Init(&argc, &argv);
    planted = argc < 2;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < CALLS; i++) {
        int is_slow = planted && rank == 1 && i % EVERY == EVERY - 1;
        double begin = cpu_s();

        lookup(is_slow ? 0.06 : planted || rank != 1 ? 14e-6 : 14e-6 + 0.06 / EVERY);
        *(is_slow ? &slow_s : &typical_s) += cpu_s() - begin;
        slow += is_slow;
        diffuse();
        for (int k = 0; k < 100; k++)
            quick();
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 1) {
        typical_s /= CALLS - slow;
        printf("truth lost_s %.6f calls %d slow %d typical_s %.9f\n", slow_s - slow * typical_s, CALLS, slow, typical_s);
    }
    MPI_Finalize();
    return 0;
}
