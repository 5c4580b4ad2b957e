/* A parallel region whose first thread has three times as much to do; with an argument, all have the same. Rank 0 tells what the longest
 * of each team worked more than the mean, over ranks, as it measured it: "truth lost_s SECONDS". */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

#define STEPS 60
#define MOST  64

static double work_s[MOST];
static volatile double sink;

__attribute__((noinline)) static void compute(double seconds)
{
    struct timespec t;
    double until = 0, x = 1;

    do {
        for (int i = 0; i < 2000; i++)
            x = x * 1.0000001 + 1e-9;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        until = until > 0 ? until : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + seconds;
    } while ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec < until);
    sink = x;
}

__attribute__((noinline)) static double relax(int planted)
{
    double longest = 0, sum = 0;
    int threads = 1;

#pragma omp parallel
    {
        int me = omp_get_thread_num();
        double since = omp_get_wtime();

        if (!me)
            threads = omp_get_num_threads();
        compute(planted && !me ? 0.009 : 0.003);
        work_s[me] = omp_get_wtime() - since;
    }
    for (int i = 0; i < threads; i++) {
        longest = work_s[i] > longest ? work_s[i] : longest;
        sum += work_s[i];
    }
    return longest - sum / threads;
}

int main(int argc, char **argv)
{
    double mine = 0, all;
    int planted = argc < 2, rank;

    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    omp_set_num_threads(2);
    for (int step = 0; step < STEPS; step++)
        mine += relax(planted);
    PMPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("truth lost_s %.6f\n", all);
    MPI_Finalize();
    return 0;
}
