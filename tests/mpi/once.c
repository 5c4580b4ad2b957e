/* Each rank's files may not grow any more once MPI has started, and it makes many calls. */
#include <mpi.h>
#include <signal.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    struct rlimit limit;
    int flag;

    MPI_Init(&argc, &argv);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 200000; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
