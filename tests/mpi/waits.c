/* Waiting that the program causes itself: before each collective call one rank (or some) sleeps 100 ms,
 * twice. Each case stands in a function of its own. The program notes when each rank entered and left
 * each call and prints what each rank must have waited by the rules of facts/wait-states.md:
 *
 *     truth FUNCTION CASE wait(rank 0) wait(rank 1) ...        seconds, of both repetitions
 *     lost CASE seconds                                        of all ranks, at their calls (lost.h)
 *
 *     barrier, N x N   min(last sender's entry, my leave) - my entry
 *     from the root    min(root's entry, my leave) - my entry, of all but the root
 *     to the root      min(earliest entry of the others that send, root's leave) - root's entry
 *     scan             min(last entry of ranks 0 .. me, my leave) - my entry
 *
 * In `balanced` nobody sleeps; in `split_barrier` rank 2 of 4 is late, for which only rank 0, of the same
 * half, waits. The checker also knows from the names who must have waited about 200 ms and who not.
 */
#define _GNU_SOURCE
#include "known.h"
#include "lost.h"

#define SLEEP_US 100000
#define NAPS     2
#define MOST     16

static int in[MOST * 16], out[MOST * 16], counts[MOST], at[MOST];
static MPI_Comm half;
static double enter_at[NAPS], leave_at[NAPS];
static int repeat;
static int64_t lost;

static void sleeper(int late)
{
    PMPI_Barrier(WORLD);
    if (late)
        usleep(SLEEP_US);
    lost -= lost_ns();
    enter_at[repeat] = now();
}

static void left(void)
{
    leave_at[repeat] = now();
    lost += lost_ns();
}

enum rule { NXN, FROM_ROOT, TO_ROOT, SCAN };

static double rule_wait(enum rule rule, const double *enter, const double *leave, const int *sends, int rank,
                        int n, int root)
{
    double until = 0;

    if (rule == FROM_ROOT)
        until = rank == root ? 0 : enter[root];
    else if (rule == TO_ROOT) {
        for (int i = 0; rank == root && i < n; i++)
            if (i != root && sends[i] && enter[i] > until)
                until = enter[i];
    } else
        for (int i = 0; i < n; i++)
            if (sends[i] && (rule != SCAN || i <= rank) && enter[i] > until)
                until = enter[i];
    if (until > leave[rank])
        until = leave[rank];
    return until > enter[rank] ? until - enter[rank] : 0;
}

/* sends: does this rank contribute? */
static void tell(const char *function, const char *name, enum rule rule, int sends, int root, MPI_Comm comm)
{
    double enter[MOST], leave[MOST], wait = 0, all[MOST], seconds = 1e-9 * (double)lost, sum;
    int sending[MOST], n, rank;

    PMPI_Comm_size(comm, &n);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Allgather(&sends, 1, MPI_INT, sending, 1, MPI_INT, comm);
    for (int i = 0; i < NAPS; i++) {
        PMPI_Allgather(&enter_at[i], 1, MPI_DOUBLE, enter, 1, MPI_DOUBLE, comm);
        PMPI_Allgather(&leave_at[i], 1, MPI_DOUBLE, leave, 1, MPI_DOUBLE, comm);
        wait += rule_wait(rule, enter, leave, sending, rank, n, root);
    }
    PMPI_Gather(&wait, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, WORLD);
    PMPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
    lost = 0;
    if (me)
        return;
    printf("truth %s %s", function, name);
    for (int i = 0; i < ranks; i++)
        printf(" %.6f", all[i]);
    printf("\nlost %s %.6f\n", name, sum);
}

#define CASE(name, function, rule, late, sends, root, comm, call)                                            \
    OP name(void)                                                                                            \
    {                                                                                                        \
        for (repeat = 0; repeat < known_hide(NAPS); repeat++) {                                              \
            sleeper(late);                                                                                   \
            OK(call);                                                                                        \
            left();                                                                                          \
        }                                                                                                    \
        tell(#function, #name, rule, sends, root, comm);                                                     \
    }

#define LAST (ranks - 1)
CASE(barrier, MPI_Barrier, NXN, me == 1, 1, 0, WORLD, MPI_Barrier(WORLD))
CASE(balanced, MPI_Barrier, NXN, 0, 1, 0, WORLD, MPI_Barrier(WORLD))
CASE(allreduce, MPI_Allreduce, NXN, me == LAST, 1, 0, WORLD,
     MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, WORLD))
CASE(alltoall, MPI_Alltoall, NXN, me == 0, 1, 0, WORLD, MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, WORLD))
CASE(late_root_bcast, MPI_Bcast, FROM_ROOT, me == 1, 1, 1, WORLD, MPI_Bcast(in, 4, MPI_INT, 1, WORLD))
CASE(early_root_bcast, MPI_Bcast, FROM_ROOT, me != 1, 1, 1, WORLD, MPI_Bcast(in, 4, MPI_INT, 1, WORLD))
CASE(late_root_scatter, MPI_Scatter, FROM_ROOT, me == 0, 1, 0, WORLD,
     MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, 0, WORLD))
CASE(early_reduce, MPI_Reduce, TO_ROOT, me != 0, 1, 0, WORLD,
     MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, WORLD))
CASE(late_leaf_reduce, MPI_Reduce, TO_ROOT, me == LAST, 1, 0, WORLD,
     MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, WORLD))
CASE(late_root_reduce, MPI_Reduce, TO_ROOT, me == 0, 1, 0, WORLD,
     MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, WORLD))
CASE(early_gather, MPI_Gather, TO_ROOT, me != LAST, 1, LAST, WORLD,
     MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, LAST, WORLD))
CASE(late_first_scan, MPI_Scan, SCAN, me == 0, 1, 0, WORLD, MPI_Scan(in, out, 4, MPI_INT, MPI_SUM, WORLD))
CASE(late_last_scan, MPI_Scan, SCAN, me == LAST, 1, 0, WORLD, MPI_Scan(in, out, 4, MPI_INT, MPI_SUM, WORLD))
CASE(split_barrier, MPI_Barrier, NXN, me == 2, 1, 0, half, MPI_Barrier(half))
/* The late rank contributes nothing, so nobody is said to wait for its data. */
CASE(late_silent_allgatherv, MPI_Allgatherv, NXN, me == 0, counts[me] > 0, 0, WORLD,
     MPI_Allgatherv(in, counts[me], MPI_INT, out, counts, at, MPI_INT, WORLD))

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    PMPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_split(WORLD, me % 2, me, &half);
    for (int i = 0; i < ranks; i++) {
        counts[i] = i ? 2 : 0;
        at[i] = 2 * i;
    }
    barrier(); /* calls each case */
    balanced();
    allreduce();
    alltoall();
    late_root_bcast();
    early_root_bcast();
    late_root_scatter();
    early_reduce();
    late_leaf_reduce();
    late_root_reduce();
    early_gather();
    late_first_scan();
    late_last_scan();
    split_barrier();
    late_silent_allgatherv();
    OK(MPI_Finalize());
    return 0;
}
