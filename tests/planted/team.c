/* A section that the main thread opens, with a team of OpenMP and a thread made inside; the team works outside of it, too. Rank 0
 * tells, of all ranks, the CPU time in the section of the process and of the main thread, as they measured it:
 * "truth process_s SECONDS main_s SECONDS". */
#include <fvmpi.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define EACH_S 0.15 /* of CPU time, of each thread */

static volatile double sink;

static double cpu_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((noinline)) static void compute(void)
{
    double until = cpu_s(CLOCK_THREAD_CPUTIME_ID) + EACH_S, x = 1;

    do
        for (int i = 0; i < 20000; i++)
            x = x * 1.0000001 + 1e-9;
    while (cpu_s(CLOCK_THREAD_CPUTIME_ID) < until);
    sink = x;
}

static void work(void)
{
#pragma omp parallel num_threads(3)
    compute();
}

static void *made_inside(void *arg)
{
    compute();
    return arg;
}

int main(int argc, char **argv)
{
    double mine[2], all[2];
    pthread_t thread;
    int rank;

    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    work(); /* the team is there before the section is */
    fvmpi_section_begin("team", 0, 0);
    mine[0] = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
    mine[1] = cpu_s(CLOCK_THREAD_CPUTIME_ID);
    work();
    pthread_create(&thread, NULL, made_inside, NULL);
    pthread_join(thread, NULL);
    mine[0] = cpu_s(CLOCK_PROCESS_CPUTIME_ID) - mine[0];
    mine[1] = cpu_s(CLOCK_THREAD_CPUTIME_ID) - mine[1];
    fvmpi_section_end("team", 0, 0);
    work();
    PMPI_Reduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank)
        printf("truth process_s %.6f main_s %.6f\n", all[0], all[1]);
    MPI_Finalize();
    return 0;
}
