/* A false friend: functions that always take the same few nanoseconds, called so often that they have most of the CPU time.
 * Nothing varies here, unless the machine makes a processor slower. The program measures a call of each over many of them, and whether it was
 * slower for a part of the steps: "truth NAME SECONDS", of one call, and "truth slower NUMBER", the third quartile of steps' calls of tiny() over
 * their median, less 1, in lines for each rank. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEPS 150
#define RANKS 2
#define CALLS 500000

static volatile double sink;
static double tiny_s[STEPS], expo_s, calls;

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline, noclone)) double tiny(double x)
{
    return x * 1.0000001 + 1e-9;
}

__attribute__((noinline)) static void many_tiny(void)
{
    double x = sink;

    for (int i = 0; i < CALLS; i++)
        x = tiny(x);
    sink = x;
}

__attribute__((noinline)) static void many_exp(void)
{
    double x = 0;

    for (int i = 0; i < CALLS; i++)
        x += exp(-1e-6 * i);
    sink = x;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double mine = 1, sum;
    int rank;

    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < STEPS; i++) {
        double begin = cpu_s(), middle;

        many_tiny();
        middle = cpu_s();
        many_exp();
        tiny_s[i] = middle - begin;
        expo_s += cpu_s() - middle;
        calls += CALLS;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    double all_s = 0;

    for (int i = 0; i < STEPS; i++)
        all_s += tiny_s[i];
    qsort(tiny_s, STEPS, sizeof(tiny_s[0]), by_size);
    double own[3] = { all_s / calls, expo_s / calls, tiny_s[3 * STEPS / 4] / tiny_s[STEPS / 2] - 1 }, all[3 * RANKS];

    PMPI_Gather(own, 3, MPI_DOUBLE, all, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; !rank && i < RANKS; i++)
        printf("truth tiny %.3e\ntruth exp %.3e\ntruth slower %.3f\n", all[3 * i], all[3 * i + 1], all[3 * i + 2]);
    MPI_Finalize();
    return 0;
}
