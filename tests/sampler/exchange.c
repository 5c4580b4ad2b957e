/* Two functions that call MPI, for sampler.t: what an instance spends in MPI, and how many calls it makes, is
 * known. Odd ranks wait for even ones in `exchange`.
 *
 *     exchange SECONDS [AFTER]    of CPU time of rank 0; then AFTER of each rank, when MPI has ended */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

NOINLINE void work(uint64_t n)
{
    uint64_t x = n;

    for (uint64_t i = 0; i < n * 100; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    sink = x;
}

NOINLINE int exchange(int rank)
{
    double value = rank, sum = 0;

    work(rank % 2 ? 500 : 3000);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (int)sum;
}

NOINLINE int compute(int i)
{
    work(1500);
    return i;
}

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

NOINLINE void afterwards(double end)
{
    while (cpu() < end)
        for (uint64_t i = 0; i < 10000; i++)
            sink += i;
}

/* As rank 0 finds. */
static int goes_on(double end)
{
    int more = cpu() < end;

    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    int rank, size, rounds = 0, total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (seconds += cpu(); goes_on(seconds); rounds++) {
        total += exchange(rank);
        total += compute(rounds) - rounds;
    }
    printf("total %d\n", total == rounds * size * (size - 1) / 2);
    MPI_Finalize();
    if (argc > 2)
        afterwards(cpu() + atof(argv[2]));
    return 0;
}
