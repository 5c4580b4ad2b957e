/* A function with some 37 % of the CPU time, called from six places with some 6 % each. Its calls vary: one of four takes ten
 * times as long ("varies"), or each the same ("sound"), or each place's the same, but not those of another place ("callers").
 * Prints what its calls take longer than the median of their place, over all ranks: "truth lost_s S total_s S". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SITES  6
#define ROUNDS 400
#define SHORT  25000
#define MEAN   (SHORT * 13 / 4)

static double times[SITES][ROUNDS];
static int lengths[SITES][ROUNDS];
static volatile double sink;

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double divide(int rounds)
{
    double x = sink; /* so that no call does for two */

    for (int i = 0; i < rounds; i++)
        x = x / 1.0000001 + 1e-9;
    return sink = x;
}

__attribute__((noinline, noclone)) double lookup(int rounds)
{
    return divide(rounds);
}

/* Whole calls of the others take as long as those of lookup() on average. */
__attribute__((noinline, noclone)) double steady(int rounds)
{
    return divide(rounds);
}

#define SITE(n)                                                                                                                \
    __attribute__((noinline)) static void site##n(int round)                                                                   \
    {                                                                                                                          \
        double begin = cpu_s();                                                                                                \
                                                                                                                               \
        lookup(lengths[n][round]);                                                                                     \
        times[n][round] = cpu_s() - begin;                                                                                     \
    }
SITE(0) SITE(1) SITE(2) SITE(3) SITE(4) SITE(5)

/* The mean over rounds is MEAN at every place, but for "callers". */
static void choose_lengths(const char *what)
{
    unsigned seed = 1;

    for (int round = 0; round < ROUNDS; round++)
        for (int site = 0; site < SITES; site++) {
            seed = seed * 1103515245u + 12345u;
            lengths[site][round] = !strcmp(what, "varies")    ? (seed >> 16) % 4 ? SHORT : 10 * SHORT
                                   : !strcmp(what, "callers") ? MEAN / 4 * (site < 3 ? 1 : 7)
                                                              : MEAN;
        }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double beyond_median(double *t)
{
    double sum = 0;

    qsort(t, ROUNDS, sizeof(*t), by_size);
    for (int i = 0; i < ROUNDS; i++)
        sum += t[i] - t[ROUNDS / 2];
    return sum;
}

int main(int argc, char **argv)
{
    double mine[2] = { 0 }, sum[2];
    int rank;

    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    choose_lengths(argc > 1 ? argv[1] : "sound");
    for (int i = 0; i < ROUNDS; i++) {
        site0(i), site1(i), site2(i), site3(i), site4(i), site5(i);
        for (int k = 0; k < 10; k++)
            steady(MEAN);
        if (i % 20 == 19)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    mine[1] = cpu_s();
    for (int i = 0; i < SITES; i++)
        mine[0] += beyond_median(times[i]);
    PMPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("truth lost_s %.6f total_s %.6f\n", sum[0], sum[1]);
    MPI_Finalize();
    return 0;
}
