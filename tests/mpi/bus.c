/* SIGBUS: of a rank file that somebody makes shorter, and the program's own. Arguments: what to do, and the
 * file. */
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static sigjmp_buf back;

static void caught(int signal)
{
    siglongjmp(back, signal);
}

static const char *action(void)
{
    struct sigaction now;

    sigaction(SIGBUS, NULL, &now);
    return now.sa_handler == SIG_DFL ? "default" : now.sa_handler == caught ? "caught" : "another";
}

/* A page that its file does not have. */
static void touch(void)
{
    volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(tmpfile()), 0);

    page[0] = 1;
}

static void calls(void)
{
    MPI_Comm comm;
    int flag, value[2] = { 0 };

    for (int i = 0; i < 100000; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Sendrecv(&value[0], 1, MPI_INT, 0, i, &value[1], 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    MPI_Init(&argc, &argv);
    calls();
    if (strcmp(what, "kept"))
        signal(SIGBUS, SIG_DFL); /* MPIs set their own */
    printf("%s\n", action());
    fflush(stdout);
    if (!strcmp(what, "shorter") && truncate(argv[2], 0))
        perror(argv[2]);
    if (!strcmp(what, "touch"))
        touch();
    if (!strcmp(what, "raise"))
        raise(SIGBUS);
    if (!strcmp(what, "handler")) {
        printf("%s\n", signal(SIGBUS, caught) == SIG_DFL ? "was default" : "was not");
        if (!sigsetjmp(back, 1))
            touch();
        printf("%s\n", action());
    }
    calls();
    MPI_Finalize();
    puts("done");
    return 0;
}
