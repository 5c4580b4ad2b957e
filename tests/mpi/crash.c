/* Ways to die. argv[1] is the way, argv[2] a file of one slot a rank, mapped shared, in which the program
 * notes its process and how many calls of MPI_Sendrecv (in exchange) have returned: what the report must
 * hold, or one more where death falls between our record and the note.
 *
 *     loop     exchanges until it is killed from outside
 *     hang     57 exchanges, then rank 0 waits in MPI_Recv (ask <- main) for what rank 1, which is in
 *              MPI_Barrier (arrive <- main), never sends
 *     abort, segv, _exit, exit, mpi_abort   57 exchanges, then rank 1 dies like that (exit, _exit: all
 *              ranks, with status 3; mpi_abort with 5) while rank 0 is in MPI_Recv (ask <- main)
 *     grow     call paths without end, then a good end: 4000 ways to MPI_Sendrecv, in the leaves of a tree
 *     limited  the same, and from MPI_Init on no file may grow past 512 KiB: whoever tries gets SIGXFSZ
 *     slow     exchanges for half a second, then a good end
 */
#include "known.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

static volatile struct slot {
    long long pid, calls, ready, pad[5];
} *slot;

static int data[2];

OP exchange(void)
{
    OK(MPI_Sendrecv(data, 1, MPI_INT, (me + 1) % ranks, 1, data + 1, 1, MPI_INT, (me + ranks - 1) % ranks, 1, WORLD,
                    MPI_STATUS_IGNORE));
    slot->calls++;
}

/* With itself: nobody waits, however many share the processors. */
OP exchange_alone(void)
{
    OK(MPI_Sendrecv(data, 1, MPI_INT, me, 1, data + 1, 1, MPI_INT, me, 1, WORLD, MPI_STATUS_IGNORE));
    slot->calls++;
}

OP ask(void)
{
    slot->ready = 1;
    OK(MPI_Recv(data, 1, MPI_INT, (me + 1) % ranks, 99, WORLD, MPI_STATUS_IGNORE));
    data[1] = 1;
}

OP arrive(void)
{
    slot->ready = 1;
    OK(MPI_Barrier(WORLD));
    data[1] = 2;
}

OP die_by_abort(void)
{
    OK(MPI_Abort(WORLD, 5));
    data[1] = 3;
}

OP branch(int depth)
{
    if (depth == 0) {
        exchange_alone();
    } else {
        branch(depth - 1);
        branch(depth - 1);
    }
    data[1] = depth;
}

int main(int argc, char **argv)
{
    const char *way = argc > 2 ? argv[1] : "";

    OK(MPI_Init(&argc, &argv));
    known_start();
    int fd = open(argv[2], O_RDWR | O_CREAT, 0666);
    if (fd < 0 || ftruncate(fd, 16 * sizeof(struct slot)))
        known_failed(__LINE__);
    void *map = mmap(NULL, 16 * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        known_failed(__LINE__);
    slot = (struct slot *)map + me;
    slot->pid = getpid();

    if (!strcmp(way, "loop"))
        for (slot->ready = 1;;)
            exchange();
    if (!strcmp(way, "slow")) {
        double end = now() + 0.5;
        int go = 1;

        for (slot->ready = 1; go;) {
            exchange();
            go = now() < end;
            PMPI_Bcast(&go, 1, MPI_INT, 0, WORLD);
        }
    } else if (!strcmp(way, "grow") || !strcmp(way, "limited")) {
        struct rlimit limit = { 512 << 10, RLIM_INFINITY };

        if (!strcmp(way, "limited") && setrlimit(RLIMIT_FSIZE, &limit))
            known_failed(__LINE__);
        slot->ready = 1;
        branch(12);
    } else {
        TIMES(57)
            exchange();
        PMPI_Barrier(WORLD);
        if (!strcmp(way, "exit"))
            exit(3);
        if (!strcmp(way, "_exit"))
            _exit(3);
        if (me == 0)
            ask();
        if (!strcmp(way, "hang"))
            arrive();
        usleep(50000);
        if (!strcmp(way, "abort"))
            abort();
        if (!strcmp(way, "segv"))
            *(volatile int *)NULL = 1;
        if (!strcmp(way, "mpi_abort"))
            die_by_abort();
    }
    PMPI_Barrier(WORLD);
    OK(MPI_Finalize());
    if (me == 0)
        printf("good end of %s\n", way);
    return 0;
}
