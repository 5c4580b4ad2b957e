/* A child of clone() in the program's memory calls MPI so often that its calls need more room in the trace. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#define CALLS 10000

static char stack[1 << 20] __attribute__((aligned(64)));

static int call(void *unused)
{
    int rank;

    (void)unused;
    for (int i = 0; i < CALLS; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return 3;
}

int main(int argc, char **argv)
{
    int status = 0;

    MPI_Init(&argc, &argv);
    waitpid(clone(call, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL), &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
    MPI_Finalize();
    return 0;
}
