/* A timeline with all that a trace has: in each of STEPS steps a rank computes in functions that are instrumented, in a
 * section, by a team of two threads, one of which takes longer; writes a file; allocates; and meets the others. */
#include "fvmpi.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEPS 5
#define UNSEEN __attribute__((no_instrument_function))

static UNSEEN void burn(long ns)
{
    struct timespec now, begin;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ns);
}

__attribute__((noinline)) void inner(int rank)
{
    burn(3000000 + 2000000 * rank);
}

__attribute__((noinline)) void outer(int rank)
{
    burn(1000000);
    inner(rank);
}

__attribute__((noinline)) UNSEEN void team(void)
{
#pragma omp parallel num_threads(2)
    {
        int worker = 0;
#ifdef _OPENMP
        extern int omp_get_thread_num(void);
        worker = omp_get_thread_num();
#endif
        burn(worker ? 6000000 : 2000000);
    }
}

UNSEEN int main(int argc, char **argv)
{
    static char text[65536];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < STEPS; i++) {
        fvmpi_section_begin("step", 0, 0);
        outer(rank);
        team();
        fvmpi_section_begin("output", 0, 0);
        FILE *f = fopen(argv[1 + rank], "w");
        char *more = malloc(1 << 20);
        more[rank] = text[i];
        fwrite(text, 1, sizeof(text), f);
        fclose(f);
        free(more);
        fvmpi_section_end("output", 0, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        fvmpi_section_end("step", 0, 0);
    }
    MPI_Finalize();
    return 0;
}
