/* Ranks that post their part and then compute, so that others may wait for their progress. Ranks 0, 2, ... are blocked, the one above
 * each of them computes. Whether it was waited for depends on the MPI; the program tells when each rank did what, from which
 * progress.t computes the truth:
 *
 *     noted CASE ROUND RANK posted back     seconds: its part was posted; it came back, for its next call
 *
 * progress ROUNDS MILLISECONDS */
#define _GNU_SOURCE
#include "known.h"

#define SIZE (256 << 10)
static char here[SIZE], there[SIZE];
static int rounds, other;
static double compute_s;

static void start(void)
{
    PMPI_Barrier(WORLD);
}

static void note(const char *name, int round, double posted, double back)
{
    printf("noted %s %d %d %.9f %.9f\n", name, round, me, posted, back);
}

static __attribute__((noinline, noclone)) void compute(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        ;
}

static __attribute__((noinline, noclone)) double slowly(void)
{
    compute(compute_s);
    return now();
}

/* The blocked one computes, too: so long that what is small has come. */
static double briefly(void)
{
    compute(0.002);
    return now();
}

static int is_blocked(void)
{
    return me % 2 == 0;
}

static double exchange(int bytes, double *posted)
{
    MPI_Request request;

    if (is_blocked())
        OK(MPI_Irecv(here, bytes, MPI_BYTE, other, 1, WORLD, &request));
    else
        OK(MPI_Isend(there, bytes, MPI_BYTE, other, 1, WORLD, &request));
    *posted = now();
    double back = is_blocked() ? briefly() : slowly();
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return back;
}

OP sender_computes(int round)
{
    double posted, back = exchange(64 << 10, &posted);

    note("sender_computes", round, posted, back);
}

OP small_message(int round)
{
    double posted, back = exchange(64, &posted);

    note("small_message", round, posted, back);
}

OP receiver_computes(int round)
{
    MPI_Request request;
    double posted, back;

    if (is_blocked()) {
        posted = now();
        back = briefly();
        OK(MPI_Send(here, SIZE, MPI_BYTE, other, 2, WORLD));
    } else {
        OK(MPI_Irecv(there, SIZE, MPI_BYTE, other, 2, WORLD, &request));
        posted = now();
        back = slowly();
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    note("receiver_computes", round, posted, back);
}

OP barrier(int round)
{
    MPI_Request request;

    OK(MPI_Ibarrier(WORLD, &request));
    double posted = now(), back = is_blocked() ? briefly() : slowly();
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    note("barrier", round, posted, back);
}

static MPI_Win window;

OP target_computes(int round)
{
    double posted, back;

    if (is_blocked()) {
        posted = now();
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, window));
        note("target_lock", round, posted, posted);
        OK(MPI_Put(here, 64, MPI_BYTE, other, 0, 64, MPI_BYTE, window));
        posted = now();
        OK(MPI_Win_unlock(other, window));
        note("target_unlock", round, posted, posted);
    } else {
        posted = now();
        back = slowly();
        OK(MPI_Send(here, 1, MPI_BYTE, MPI_PROC_NULL, 3, WORLD));
        note("target_lock", round, posted, back);
        note("target_unlock", round, posted, back);
    }
}

static void each_round(void (*operation)(int round))
{
    for (int round = 0; round < rounds; round++) {
        start();
        operation(round);
        OK(MPI_Barrier(WORLD)); /* that fvmpi sees: causes are not looked for further back */
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    rounds = atoi(argv[1]);
    compute_s = atof(argv[2]) * 1e-3;
    OK(MPI_Init(&argc, &argv));
    known_start();
    other = me ^ 1;
    OK(MPI_Win_create(there, SIZE, 1, MPI_INFO_NULL, WORLD, &window));
    each_round(sender_computes);
    each_round(small_message);
    each_round(receiver_computes);
    each_round(barrier);
    each_round(target_computes);
    OK(MPI_Win_free(&window));
    return MPI_Finalize() ? 1 : 0;
}
