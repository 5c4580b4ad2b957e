/* Processes around MPI: before MPI_Init a fork whose child exits, and system(); after it a fork whose
 * child runs exec of /bin/echo, one whose child returns from main's exit() without MPI, and system().
 * The parent's record must be whole and alone: 2 barriers before, 3 after; one rank file a rank; the
 * ranks are finalized. Output: one line of each child of rank 0.
 */
#include "known.h"

#include <sys/wait.h>

static int rank_of_launcher(void)
{
    const char *a = getenv("PMI_RANK"), *b = getenv("OMPI_COMM_WORLD_RANK");

    return a ? atoi(a) : b ? atoi(b) : 0;
}

static void child(int how)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        if (how == 0)
            _exit(0);
        if (how == 1) {
            execl("/bin/echo", "echo", "child: exec", (char *)NULL);
            _exit(127);
        }
        exit(7); /* runs destructors, in the child */
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != (how == 2 ? 7 : 0))
        known_failed(__LINE__);
}

OP before(void)
{
    TIMES(2)
        OK(MPI_Barrier(WORLD));
}

OP after(void)
{
    TIMES(3)
        OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
    child(0);
    if (rank_of_launcher() == 0 && system("echo system before MPI_Init"))
        return 9;
    OK(MPI_Init(&argc, &argv));
    known_start();
    before();
    if (me == 0) {
        child(1);
        child(2);
        if (system("echo system, LD_PRELOAD is ${LD_PRELOAD:+set}") == -1)
            return 9;
    }
    after();
    OK(MPI_Finalize());
    return 0;
}
