/* MPI_Pcontrol: 0 stops, 1 starts, other levels change nothing. What is not recorded is still followed: a
 * communicator made while recording was off, collectives there (numbers must agree between ranks), a
 * receive posted before and completed after. Calls on each rank of 2:
 *
 *     MPI_Barrier in before 3, in off 0, in on_again 5, in level_five 7, in made_off 2 (recorded part)
 *     with --off-at-start: before 0, all else the same
 *     only rank 1 switched off: MPI_Barrier in one_sided 4 on rank 0, 0 on rank 1
 *     MPI_Irecv in across: posted while on (16 bytes, completed while off)
 *     MPI_Irecv in across_off: posted while off: not there
 *     rank 0 waits 100 ms in MPI_Barrier in late, after all that: as "late SECONDS SECONDS", what the ranks waited
 */
#include "known.h"

static MPI_Comm comm;

static inline __attribute__((always_inline)) void barriers(MPI_Comm c, int n)
{
    TIMES(n)
        OK(MPI_Barrier(c));
}

OP before(void)
{
    barriers(WORLD, 3);
}

OP off(void)
{
    barriers(WORLD, 4);
    OK(MPI_Comm_split(WORLD, 0, -me, &comm));
    barriers(comm, 2);
}

OP on_again(void)
{
    barriers(WORLD, 5);
}

OP level_five(void)
{
    barriers(WORLD, 7);
}

OP made_off(void)
{
    int data = 1;

    barriers(comm, 2);
    if (me == 0)
        OK(MPI_Send(&data, 1, MPI_INT, 0, 1, comm)); /* to world rank 1 */
    if (me == 1)
        OK(MPI_Recv(&data, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE));
}

OP one_sided(void)
{
    if (me == 1)
        MPI_Pcontrol(0);
    barriers(WORLD, 4);
    MPI_Pcontrol(1);
}

OP across(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int data[4] = { 0 };

    if (me == 1)
        OK(MPI_Irecv(data, 4, MPI_INT, 0, 2, WORLD, &request));
    MPI_Pcontrol(0);
    if (me == 0)
        OK(MPI_Send(data, 4, MPI_INT, 1, 2, WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Pcontrol(1);
}

OP across_off(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int data[4] = { 0 };

    MPI_Pcontrol(0);
    if (me == 1)
        OK(MPI_Irecv(data, 4, MPI_INT, 0, 3, WORLD, &request));
    MPI_Pcontrol(1);
    if (me == 0)
        OK(MPI_Send(data, 4, MPI_INT, 1, 3, WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

OP late(void)
{
    double came[2], mine;

    PMPI_Barrier(WORLD);
    if (me == 1)
        usleep(100000);
    mine = now();
    barriers(WORLD, 1);
    PMPI_Allgather(&mine, 1, MPI_DOUBLE, came, 1, MPI_DOUBLE, WORLD);
    if (me == 0)
        printf("late %.6f %.6f\n", came[1] > came[0] ? came[1] - came[0] : 0, came[0] > came[1] ? came[0] - came[1] : 0);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    before();
    MPI_Pcontrol(0);
    MPI_Pcontrol(0);
    off();
    MPI_Pcontrol(1);
    on_again();
    MPI_Pcontrol(5);
    level_five();
    made_off();
    one_sided();
    across();
    across_off();
    late();
    OK(MPI_Finalize());
    return 0;
}
