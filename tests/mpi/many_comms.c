/* 1000 communicators, one after the other, each with one barrier and one message from rank 0 to rank 1
 * (4 bytes); then 100 alive at once. One call site each; nothing dropped; the waiting of rank 0 in the
 * 4 barriers before which rank 1 slept 50 ms is found, whichever communicator it was. As the machine may
 * make a rank late 996 times more, the program prints what rank 0 and rank 1 waited in the barriers:
 *
 *     truth SECONDS SECONDS
 *
 *
 *     MPI_Comm_dup in loop 1000, MPI_Barrier in loop 1000, MPI_Comm_free in loop 1000
 *     MPI_Send in loop 1000 on rank 0, 4000 bytes
 *     MPI_Comm_dup in crowd 100, MPI_Allreduce in crowd 100, 800 bytes
 */
#include "known.h"

static double enter_at[2][1000], leave_at[2][1000];

static void tell(void)
{
    double wait[2] = { 0, 0 };

    PMPI_Allgather(MPI_IN_PLACE, 0, MPI_DOUBLE, enter_at, 1000, MPI_DOUBLE, WORLD);
    PMPI_Allgather(MPI_IN_PLACE, 0, MPI_DOUBLE, leave_at, 1000, MPI_DOUBLE, WORLD);
    for (int i = 0; i < 1000; i++)
        for (int r = 0; r < 2; r++) {
            double until = enter_at[1 - r][i] < leave_at[r][i] ? enter_at[1 - r][i] : leave_at[r][i];
            if (until > enter_at[r][i])
                wait[r] += until - enter_at[r][i];
        }
    if (me == 0)
        printf("truth %.6f %.6f\n", wait[0], wait[1]);
}

OP loop(void)
{
    TIMES(1000) {
        MPI_Comm comm;

        OK(MPI_Comm_dup(WORLD, &comm));
        if (i % 250 == 249) {
            PMPI_Barrier(WORLD);
            if (me == 1)
                usleep(50000);
        }
        enter_at[me][i] = now();
        OK(MPI_Barrier(comm));
        leave_at[me][i] = now();
        if (me == 0)
            OK(MPI_Send(&i, 1, MPI_INT, 1, 1, comm));
        if (me == 1)
            OK(MPI_Recv(&(int){ 0 }, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
        OK(MPI_Comm_free(&comm));
    }
}

OP crowd(void)
{
    static MPI_Comm comm[100];
    double one = 1, sum;

    TIMES(100)
        OK(MPI_Comm_dup(WORLD, &comm[i]));
    TIMES(100)
        OK(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm[i]));
    TIMES(100)
        OK(MPI_Comm_free(&comm[i]));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    loop();
    tell();
    crowd();
    OK(MPI_Finalize());
    return 0;
}
