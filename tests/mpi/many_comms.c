/* 1000 communicators, one after the other, each with one barrier and one message from rank 0 to rank 1
 * (4 bytes); then 100 alive at once. One call site each; nothing dropped; the waiting of rank 0 in the
 * 4 barriers before which rank 1 slept 50 ms is found, whichever communicator it was.
 *
 *     MPI_Comm_dup in loop 1000, MPI_Barrier in loop 1000, MPI_Comm_free in loop 1000
 *     MPI_Send in loop 1000 on rank 0, 4000 bytes
 *     MPI_Comm_dup in crowd 100, MPI_Allreduce in crowd 100, 800 bytes
 */
#include "known.h"

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
        OK(MPI_Barrier(comm));
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
    crowd();
    OK(MPI_Finalize());
    return 0;
}
