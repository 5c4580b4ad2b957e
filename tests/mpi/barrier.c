/* One rank comes late to a collective, in the ways that --barrier has to do with. Prints what it computed, the
 * same with and without barriers, and on stderr how much later than rank 0 it came, how long rank 0 was in the
 * call, as they measured it, and what rank 0 lost meanwhile (lost.h):
 *
 *     late FUNCTION SECONDS SECONDS SECONDS
 *
 * Rank 1 is late to each collective; it has recording switched off in `paused`, and calls with a bad argument
 * first in `refused`. With an argument, the colour of the rank, the program is one of MPMD: ranks of different
 * colours may run with fvmpi and without.
 */
#define _GNU_SOURCE
#include "known.h"
#include "lost.h"

#include <pthread.h>

#define LATE_NS 60000000

static double began[32], took[32], lost[32]; /* of this rank, by collective */
static const char *names[32];
static int steps;

/* Rank 1 of the world comes later than the others, who come together. */
static void be_late(const char *name)
{
    names[steps] = name;
    PMPI_Barrier(WORLD);
    if (me == 1)
        nanosleep(&(struct timespec){ .tv_nsec = LATE_NS }, NULL);
    lost[steps] = (double)lost_ns() * 1e-9;
    began[steps] = now();
}

static void met(void)
{
    took[steps] = now() - began[steps];
    lost[steps] = (double)lost_ns() * 1e-9 - lost[steps];
    steps++;
}

static int in[64], out[64], counts[16], places[16];

static void check_sum(const char *what, int n)
{
    long sum = 0;

    for (int i = 0; i < n; i++)
        sum += out[i];
    if (me == 0)
        printf("%s %ld\n", what, sum);
}

OP broadcast(void)
{
    be_late("MPI_Bcast");
    memcpy(out, in, sizeof(out));
    OK(MPI_Bcast(out, 4, MPI_INT, 0, WORLD));
    met();
    check_sum("bcast", 4);
}

OP reduction(void)
{
    be_late("MPI_Reduce");
    OK(MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 2 % ranks, WORLD));
    met();
}

OP allreduction(void)
{
    be_late("MPI_Allreduce");
    OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, WORLD));
    met();
    check_sum("allreduce", 4);
}

OP scan(void)
{
    be_late("MPI_Scan");
    OK(MPI_Scan(in, out, 4, MPI_INT, MPI_SUM, WORLD));
    met();
    check_sum("scan", 4);
}

OP gather(void)
{
    be_late("MPI_Gatherv");
    for (int i = 0; i < ranks; i++)
        counts[i] = 1, places[i] = i;
    OK(MPI_Gatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, 0, WORLD));
    met();
    check_sum("gatherv", ranks);
}

/* The barrier is there, on a rank that records nothing. */
OP paused(void)
{
    if (me == 1)
        MPI_Pcontrol(0);
    be_late("paused");
    OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, WORLD));
    met();
    check_sum("paused", 4);
    if (me == 1)
        MPI_Pcontrol(1);
}

OP own_barrier(void)
{
    OK(MPI_Barrier(WORLD));
}

OP on_parts(void)
{
    MPI_Comm half, again, inter;
    int side = me % 2, leader = side ? 0 : 1;

    OK(MPI_Comm_split(WORLD, side, me, &half));
    OK(MPI_Comm_dup(half, &again));
    OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, again));
    check_sum("half", 4);
    OK(MPI_Intercomm_create(half, 0, WORLD, leader, 7, &inter));
    OK(MPI_Bcast(out, 4, MPI_INT, side ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_free(&half));
}

/* Known to MPI and not to us: made behind our back, on all ranks. Rank 0 has met it before the others. */
OP unknown(void)
{
    MPI_Comm hidden;

    OK(PMPI_Comm_dup(WORLD, &hidden));
    if (me < 2)
        OK(MPI_Sendrecv_replace(in, 1, MPI_INT, 1 - me, 1, 1 - me, 1, hidden, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, hidden));
    check_sum("hidden", 4);
    OK(PMPI_Comm_free(&hidden));
}

/* One rank's first call is refused, the others' meet the second; then all are. */
OP refused(void)
{
    MPI_Comm comm;
    int class;

    OK(MPI_Comm_dup(WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    if (me == 1) {
        PMPI_Error_class(MPI_Bcast(out, -1, MPI_INT, 0, comm), &class);
        if (class != MPI_ERR_COUNT)
            known_failed(__LINE__);
        PMPI_Error_class(MPI_Bcast(out, -1, MPI_INT, 0, comm), &class);
    }
    OK(MPI_Bcast(out, 1, MPI_INT, 0, comm));
    PMPI_Error_class(MPI_Bcast(out, 1, MPI_DATATYPE_NULL, 0, comm), &class);
    if (class != MPI_ERR_TYPE)
        known_failed(__LINE__);
    OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, comm));
    check_sum("refused", 4);
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN));
    PMPI_Error_class(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_NULL), &class);
    if (class != MPI_ERR_COMM)
        known_failed(__LINE__);
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_free(&comm));
}

/* Non-blocking ones get none, and the order on the communicator stays. */
OP between(void)
{
    MPI_Request request;
    int sum[4];

    OK(MPI_Iallreduce(in, sum, 4, MPI_INT, MPI_SUM, WORLD, &request));
    OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_sum("between", 4);
}

static MPI_Comm of_thread[2];

static void *in_thread(void *arg)
{
    int *sum = arg, more;

    TIMES(10) {
        OK(MPI_Allreduce(sum, &more, 1, MPI_INT, MPI_MAX, of_thread[1]));
        *sum = more + 1;
    }
    return NULL;
}

OP threads(void)
{
    pthread_t thread;
    int sum = 0, own = 0, more;

    OK(MPI_Comm_dup(WORLD, &of_thread[0]));
    OK(MPI_Comm_dup(WORLD, &of_thread[1]));
    pthread_create(&thread, NULL, in_thread, &sum);
    TIMES(10) {
        OK(MPI_Allreduce(&own, &more, 1, MPI_INT, MPI_MAX, of_thread[0]));
        own = more + 1;
    }
    pthread_join(thread, NULL);
    if (me == 0)
        printf("threads %d %d\n", own, sum);
    OK(MPI_Comm_free(&of_thread[0]));
    OK(MPI_Comm_free(&of_thread[1]));
}

static void tell_late(void)
{
    double later[32];

    if (me == 1)
        OK(PMPI_Send(began, 32, MPI_DOUBLE, 0, 5, WORLD));
    if (me)
        return;
    OK(PMPI_Recv(later, 32, MPI_DOUBLE, 1, 5, WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < steps; i++)
        fprintf(stderr, "late %s %.6f %.6f %.6f\n", names[i], later[i] - began[i], took[i], lost[i]);
}

/* Two groups, one of which may be without fvmpi. */
OP apart(int colour)
{
    MPI_Comm mine;

    OK(MPI_Comm_split(WORLD, colour, me, &mine));
    OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, mine));
    OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, WORLD));
    OK(MPI_Comm_free(&mine));
    check_sum("apart", 4);
}

int main(int argc, char **argv)
{
    int provided;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    known_start();
    for (int i = 0; i < 64; i++)
        in[i] = me + i;
    if (argc > 1) {
        apart(atoi(argv[1]));
    } else {
        broadcast();
        reduction();
        allreduction();
        scan();
        gather();
        paused();
        own_barrier();
        on_parts();
        unknown();
        refused();
        between();
        if (provided == MPI_THREAD_MULTIPLE)
            threads();
        tell_late();
    }
    OK(MPI_Finalize());
    return 0;
}
