/* Somebody else's profiling tool: it counts the calls of three functions, and prints them at the end. As a shared library, or
 * linked into the program. With -DHANDS_ON it calls who is next, in place of PMPI; of MPI_Allreduce only with -DHANDS_ON=2.
 *
 *     tool     the program: 3 barriers, 5 sums */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

#ifdef TOOL
static int barriers, sums;

#ifdef HANDS_ON
#define NEXT(name) ((__typeof__(&MPI_##name))dlsym(RTLD_NEXT, "MPI_" #name))
#else
#define NEXT(name) PMPI_##name
#endif

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return NEXT(Barrier)(comm);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    sums++;
#if defined(HANDS_ON) && HANDS_ON == 2
    return NEXT(Allreduce)(from, to, count, type, op, comm);
#else
    return PMPI_Allreduce(from, to, count, type, op, comm);
#endif
}

int MPI_Finalize(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("tool: %d barriers, %d sums\n", barriers, sums);
    return NEXT(Finalize)();
}
#endif

#ifdef EARLY /* a library that calls MPI before main, as Open MPI's own one for C++ does */
__attribute__((constructor)) static void call_early(void)
{
    int flag;

    MPI_Initialized(&flag);
}
#endif

#ifdef PROGRAM
int main(int argc, char **argv)
{
    int one = 1, sum = 0;
    int (*barrier)(MPI_Comm) = NULL;
#ifdef POINTS /* to one that is not called, and 2: to one that is; not position-independent, it has addresses of its own for them */
    int (*volatile fence)(int, MPI_Win) = MPI_Win_fence;
    barrier = POINTS == 2 && fence ? MPI_Barrier : NULL;
#endif

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++)
        i && barrier ? barrier(MPI_COMM_WORLD) : MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return MPI_Finalize() || sum < 1;
}
#endif
