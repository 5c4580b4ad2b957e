/* Messages and barriers between neighbours in a ring of hosts, with the time at which each call began and
 * ended by CLOCK_REALTIME, which all namespaces of a machine share. A system call reads it, so that a library
 * that shifts the wall clock (hosts_clock.c) does not shift the truth.
 *
 *     hosts FILE         writes FILE.RANK: `FUNCTION begin end`, ns, a line for each call
 */
#include "known.h"

#include <sys/syscall.h>

#define MOST 4000
static struct {
    const char *function;
    long long begin, end;
} truth[MOST];
static int count;

static long long wall(void)
{
    struct timespec t;

    syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

#define NOTED(name, call)                                                                                    \
    do {                                                                                                     \
        long long begin = wall();                                                                            \
        OK(call);                                                                                            \
        truth[count].end = wall();                                                                           \
        truth[count].begin = begin;                                                                          \
        truth[count++].function = name;                                                                      \
    } while (0)

static void ping(int from, int to)
{
    int data = 0;

    if (me == from)
        NOTED("MPI_Send", MPI_Send(&data, 1, MPI_INT, to, 1, WORLD));
    if (me == to)
        NOTED("MPI_Recv", MPI_Recv(&data, 1, MPI_INT, from, 1, WORLD, MPI_STATUS_IGNORE));
}

/* Both ways between each two neighbours. */
OP pings(void)
{
    TIMES(30)
    for (int a = 0; a + 1 < ranks; a++) {
        ping(a, a + 1);
        ping(a + 1, a);
    }
}

OP late_pings(void)
{
    TIMES(20)
    {
        if (me == i % ranks)
            usleep(10000);
        ping(i % ranks, (i + 1) % ranks);
    }
}

OP late_barriers(void)
{
    TIMES(40)
    {
        if (me == i % ranks)
            usleep(30000);
        NOTED("MPI_Barrier", MPI_Barrier(WORLD));
    }
}

int main(int argc, char **argv)
{
    char path[4096];

    OK(MPI_Init(&argc, &argv));
    known_start();
    PMPI_Barrier(WORLD);
    pings();
    late_pings();
    late_barriers();
    pings();
    snprintf(path, sizeof(path), "%s.%d", argv[1], me);
    FILE *f = fopen(path, "w");
    for (int i = 0; f && i < count; i++)
        fprintf(f, "%s %lld %lld\n", truth[i].function, truth[i].begin, truth[i].end);
    if (!f || fclose(f))
        known_failed(__LINE__);
    PMPI_Barrier(WORLD);
    exit(0); /* MPI_Finalize of MPICH 4.0 with UCX 1.13 over TCP hangs now and then, also without fvmpi */
}
