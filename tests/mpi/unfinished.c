/* What programs leave unfinished: a receive whose request is freed, and locks that are held when a rank aborts; or a rank that
 * aborts while another has not made its first call yet. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void freed(int rank)
{
    int value = 0;
    MPI_Request request;

    if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else {
        MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void locked(int rank)
{
    MPI_Win all, one;
    int *base;

    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &all);
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &one);
    MPI_Win_lock_all(0, all);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, one);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank)
        MPI_Abort(MPI_COMM_WORLD, 3);
    sleep(20);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && !strcmp(argv[1], "freed"))
        freed(rank);
    else if (argc > 1 && !strcmp(argv[1], "locked"))
        locked(rank);
    else if (rank) { /* the other waits at the end of its MPI_Init */
        sleep(1);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Finalize();
    return 0;
}
