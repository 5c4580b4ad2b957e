/* Programs whose critical path, causes of waiting and efficiency are known. Ranks work for times that are
 * measured and added up; all else is small. There is no synchronisation that fvmpi does not see: it would be
 * a computation on the critical path. `waitpaths WAY` on as many ranks:
 *
 *     paths 4      chain, pipeline, workers, stencil: what of the work is on the critical path;
 *                  then rank 2 is late for MPI_Finalize
 *     imbalance 2, serial 4, balanced 2                what all ranks worked
 *
 *     worked CASE FUNCTION RANK begin end              once, before a call of this function; - not said
 *     queued CASE RANK seconds                         that the rank waited for a processor
 *     ends RANK time                                   of `paths`
 */
#define _GNU_SOURCE
#include "known.h"
#include "lost.h"

#define RANKS  4
#define IGNORE MPI_STATUS_IGNORE

static int in[4], out[4];

/* Works; critical: this is on the critical path. */
static struct {
    double begin, end;
} critical[16];
static int works;
static int64_t queued;
OP work(int milliseconds, int is_critical)
{
    double begin = now();

    usleep((useconds_t)milliseconds * 1000);
    if (is_critical) {
        critical[works].begin = begin;
        critical[works++].end = now();
    }
}

OP start(void)
{
    OK(MPI_Barrier(WORLD));
    works = 0;
    queued = queued_ns();
}

/* When this rank worked on the critical path before `function` in the case. */
static void tell_work(const char *name, const char *const function[])
{
    for (int i = 0; i < works; i++)
        printf("worked %s %s %d %.7f %.7f\n", name, function ? function[me] : "-", me, critical[i].begin,
               critical[i].end);
    printf("queued %s %d %.7f\n", name, me, 1e-9 * (double)(queued_ns() - queued));
    fflush(stdout);
}

/* Rank 0 makes rank 1 late, this rank 2, and this rank 3: it is to blame for all of it. */
OP chain(void)
{
    static const char *const function[] = { "MPI_Send", "-", "-", "-" };

    start();
    if (me == 0)
        work(60, 1);
    else
        OK(MPI_Recv(out, 1, MPI_INT, me - 1, 1, WORLD, IGNORE));
    if (me < ranks - 1)
        OK(MPI_Send(in, 1, MPI_INT, me + 1, 1, WORLD));
    OK(MPI_Barrier(WORLD));
    tell_work(__func__, function);
}

/* Four pieces go through all ranks; rank 2 takes longest. The path: the first piece on ranks 0 and 1, all
 * pieces on rank 2, the last piece on rank 3. */
OP pipeline(void)
{
    static const char *const function[] = { "MPI_Send", "MPI_Send", "MPI_Send", "MPI_Barrier" };

    start();
    TIMES(4)
    {
        if (me > 0)
            OK(MPI_Recv(out, 1, MPI_INT, me - 1, 1, WORLD, IGNORE));
        work(me == 2 ? 40 : 10, me < 2 ? i == 0 : me == 2 || i == 3);
        if (me < ranks - 1)
            OK(MPI_Send(in, 1, MPI_INT, me + 1, 1, WORLD));
    }
    OK(MPI_Barrier(WORLD));
    tell_work(__func__, function);
}

/* Rank 0 prepares, hands out, collects, in two turns; the longest piece of work goes to rank 2, then 1. */
OP workers(void)
{
    static const char *const function[] = { "MPI_Send", "MPI_Send", "MPI_Send", "-" };

    start();
    TIMES(2)
    {
        int longest = me == 2 - i;

        if (me) {
            OK(MPI_Recv(out, 1, MPI_INT, 0, 1, WORLD, IGNORE));
            work(longest ? 60 : 20, longest);
            OK(MPI_Send(in, 1, MPI_INT, 0, 1, WORLD));
            continue;
        }
        work(15, 1);
        for (int to = 1; to < ranks; to++)
            OK(MPI_Send(in, 1, MPI_INT, to, 1, WORLD));
        for (int from = 1; from < ranks; from++)
            OK(MPI_Recv(out, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, IGNORE));
    }
    OK(MPI_Barrier(WORLD));
    tell_work(__func__, function);
}

/* A line of ranks that need their neighbours' last step. The slow one: 1, 2, 3, 3. */
OP stencil(void)
{
    static const int slow_one[4] = { 1, 2, 3, 3 };
    static const char *const function[] = { "-", "MPI_Isend", "MPI_Isend", "MPI_Isend" };
    MPI_Request request[4];

    start();
    TIMES(4)
    {
        int n = 0, low = me > 0 ? me - 1 : me + 1, high = me < ranks - 1 ? me + 1 : me - 1;

        for (int from = low; from <= high; from += 2, n++)
            OK(MPI_Irecv(out + n, 1, MPI_INT, from, 1, WORLD, request + n));
        work(me == slow_one[i] ? 40 : 10, me == slow_one[i]);
        for (int to = low; to <= high; to += 2, n++)
            OK(MPI_Isend(in, 1, MPI_INT, to, 1, WORLD, request + n));
        OK(MPI_Waitall(n, request, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Barrier(WORLD));
    tell_work(__func__, function);
}

static void paths(void)
{
    chain();
    pipeline();
    workers();
    stencil();
    if (me == 2)
        usleep(60000);
    printf("ends %d %.7f\n", me, now());
    fflush(stdout);
}

/* ---- whole runs ---- */

/* Rank 0 works twice as long as the others. */
OP imbalance(void)
{
    start();
    TIMES(3)
    {
        work(me == 0 ? 100 : 50, 1);
        OK(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, WORLD));
    }
    tell_work("all", NULL);
}

/* One rank works at a time. */
static void serial(void)
{
    OK(MPI_Barrier(WORLD));
    TIMES(2)
    {
        if (me || i)
            OK(MPI_Recv(out, 1, MPI_INT, (me + ranks - 1) % ranks, 1, WORLD, IGNORE));
        work(50, 1);
        if (me < ranks - 1 || i == 0)
            OK(MPI_Send(in, 1, MPI_INT, (me + 1) % ranks, 1, WORLD));
    }
    OK(MPI_Barrier(WORLD));
    tell_work("all", NULL);
}

/* Nobody waits: no message is received before it is there. */
static void balanced(void)
{
    TIMES(12)
    {
        work(20, 1);
        for (int from = 0; from < ranks; from++) {
            if (me == from) {
                for (int to = 0; to < ranks; to++)
                    if (to != me)
                        OK(MPI_Send(in, 1, MPI_INT, to, 1, WORLD));
            }
            PMPI_Barrier(WORLD);
            if (me != from)
                OK(MPI_Recv(out, 1, MPI_INT, from, 1, WORLD, IGNORE));
        }
    }
    tell_work("all", NULL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        { "paths", paths },
        { "imbalance", imbalance },
        { "serial", serial },
        { "balanced", balanced },
    };

    OK(MPI_Init(&argc, &argv));
    known_start();
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    OK(MPI_Finalize());
    return 0;
}
