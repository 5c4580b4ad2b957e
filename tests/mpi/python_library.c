/* What python_paths.py calls by ctypes: MPI from C, and C that calls Python. */
#include <mpi.h>
#include <stddef.h>

int start(void)
{
    int provided, rank;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static volatile int calls;

int barrier(void)
{
    int error = MPI_Barrier(MPI_COMM_WORLD);

    calls++; /* so that the frame stays */
    return error;
}

int stop(void)
{
    return MPI_Finalize();
}

void through(void (*function)(void))
{
    function();
    calls++;
}
