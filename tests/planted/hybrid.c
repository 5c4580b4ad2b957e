/* MPI and OpenMP: rank 1 computes longer between regions than rank 0, which waits for it in MPI, and in regions thread 0 computes
 * longer than the other; with an argument there is none of that. Rank 0 tells what its own clock says of all ranks, as tool/pop.h has
 * it: "truth omp SHARE balance SHARE serialization SHARE imbalance_s SECONDS serialization_s SECONDS useful_s SECONDS". */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

#define STEPS   20
#define THREADS 2

static volatile double sink;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double seconds)
{
    double until = now_s() + seconds, x = 1;

    do
        for (int i = 0; i < 200; i++)
            x = x * 1.0000001 + 1e-9;
    while (now_s() < until);
    sink = x;
}

int main(int argc, char **argv)
{
    double start, region_s = 0, useful_s = 0, imbalance_s = 0, mpi_s = 0;
    int planted = argc < 2, rank;

    start = now_s();
    MPI_Init(&argc, &argv);
    mpi_s += now_s() - start;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < STEPS; step++) {
        double work_s[THREADS], end_s[THREADS], since;

        if (planted)
            compute(rank ? 0.006 : 0.002);
        since = now_s();
#pragma omp parallel num_threads(THREADS)
        {
            double begin = now_s();

            compute(planted && !omp_get_thread_num() ? 0.008 : 0.004);
            end_s[omp_get_thread_num()] = now_s();
            work_s[omp_get_thread_num()] = end_s[omp_get_thread_num()] - begin;
        }
        region_s += now_s() - since;
        useful_s += work_s[0] + work_s[1];
        imbalance_s += end_s[0] > end_s[1] ? end_s[0] - end_s[1] : end_s[1] - end_s[0];
        since = now_s();
        MPI_Barrier(MPI_COMM_WORLD);
        mpi_s += now_s() - since;
    }
    double before = now_s(), mine[4], all[4];
    mine[0] = region_s;
    mine[1] = useful_s;
    mine[2] = imbalance_s;
    mine[3] = before - start - mpi_s - region_s; /* serial */
    MPI_Reduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank) {
        double useful = all[1] + all[3], serialization = (THREADS - 1) * all[3];

        printf("truth omp %.6f balance %.6f serialization %.6f imbalance_s %.6f serialization_s %.6f useful_s %.6f\n",
               useful / (THREADS * (all[0] + all[3])), (useful + serialization) / (useful + serialization + all[2]),
               useful / (useful + serialization), all[2], serialization, useful);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
