/* Ends by a signal on one rank, while the others wait for it; or only nearly.
 *
 *     signals WAY
 *
 * "action SIGNAL default|other": what sigaction() says to the program.  */
#include "known.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf place;
static volatile int zero;
static int *volatile nowhere = (int *)16;

OP segv(void)
{
    *nowhere = 1;
}

OP divide(void)
{
    printf("%d\n", me + 7 / zero);
}

OP aborts(void)
{
    abort();
}

OP terminated(void)
{
    kill(getpid(), SIGTERM);
    pause();
}

OP killed(void)
{
    kill(getpid(), SIGKILL);
}

static void leave(int signal)
{
    siglongjmp(place, signal);
}

/* A handler of the program's own, which gets over it, and is then given up. */
OP recovers(void)
{
    const struct sigaction own = { .sa_handler = leave };
    struct sigaction before, now;

    sigaction(SIGSEGV, &own, &before);
    sigaction(SIGSEGV, NULL, &now);
    if (!sigsetjmp(place, 1))
        *nowhere = 1;
    printf("own handler %d\n", now.sa_handler == leave);
    sigaction(SIGSEGV, &before, &now);
    printf("given up %d\n", now.sa_handler == leave);
}

OP in_child(void)
{
    int status = 0;
    pid_t child = fork();

    if (!child)
        *nowhere = 1;
    waitpid(child, &status, 0);
    printf("child %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void say(int signal, const char *name)
{
    struct sigaction now;

    sigaction(signal, NULL, &now);
    printf("action %s %s %d\n", name, now.sa_handler == SIG_DFL ? "default" : now.sa_handler == SIG_IGN ? "ignore" : "other",
           now.sa_flags & ~0x04000000); /* SA_RESTORER */
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";

    OK(MPI_Init(&argc, &argv));
    known_start();
    OK(MPI_Barrier(WORLD));
    if (me == ranks - 1) {
        say(SIGSEGV, "SIGSEGV");
        say(SIGTERM, "SIGTERM");
        say(SIGXCPU, "SIGXCPU");
        fflush(stdout);
        if (!strcmp(way, "segv"))
            segv();
        else if (!strcmp(way, "divide"))
            divide();
        else if (!strcmp(way, "abort"))
            aborts();
        else if (!strcmp(way, "terminated"))
            terminated();
        else if (!strcmp(way, "killed"))
            killed();
        else if (!strcmp(way, "child"))
            in_child();
        else if (!strcmp(way, "recovers") || !strcmp(way, "again"))
            recovers();
        fflush(stdout);
        if (!strcmp(way, "again"))
            segv();
    }
    OK(MPI_Barrier(WORLD));
    OK(MPI_Finalize());
    return 0;
}
