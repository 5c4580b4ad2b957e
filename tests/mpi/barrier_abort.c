/* Rank 0 comes from MPI_Init with a handler that ends the job when its time is up; with an argument it waits for
 * rank 1 inside of MPI_Init, because of --barrier, and the handler runs there. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void give_up(int signal)
{
    (void)signal;
    MPI_Abort(MPI_COMM_WORLD, 7);
}

int main(int argc, char **argv)
{
    int rank;

    if (argc > 1) {
        signal(SIGALRM, give_up);
        alarm((unsigned)atoi(argv[1]));
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 600 && rank; i++)
        usleep(100000);
    if (rank == 0)
        pause();
    MPI_Finalize();
    return 0;
}
