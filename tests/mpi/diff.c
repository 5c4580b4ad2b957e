/* For fvmpi diff: diff MILLISECONDS [gone] [added]. Rank 0 is late for late()'s barriers by so much in all;
 * with `gone` the calls of gone() are left out, with `added` those of added() are made; with `busy` many
 * calls come before all others. Prints by how many seconds rank 0 was late, measured. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 10

static int rank;

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static double late(double ms)
{
    double lost = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double begin = now_s();

        if (rank == 0)
            usleep((useconds_t)(ms * 1e3 / ROUNDS));
        lost += now_s() - begin;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return lost;
}

__attribute__((noinline)) static void same(void)
{
    double in = rank, out;

    for (int i = 0; i < 100; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void twice(void)
{
    int value = rank;

    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++)
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void gone(void)
{
    char bytes[1000] = { 0 };

    for (int i = 0; i < 7; i++)
        MPI_Bcast(bytes, sizeof(bytes), MPI_CHAR, 0, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void added(void)
{
    int value = rank, all[64];

    for (int i = 0; i < 5; i++)
        MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
}

static int has(int argc, char **argv, const char *word)
{
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], word))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 30000 && has(argc, argv, "busy"); i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double lost = late(argc > 1 ? atof(argv[1]) : 0);
    same();
    twice();
    if (!has(argc, argv, "gone"))
        gone();
    if (has(argc, argv, "added"))
        added();
    MPI_Finalize();
    if (rank == 0)
        printf("%.6f\n", lost);
    return 0;
}
