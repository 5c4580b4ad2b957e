/* Messages through communicators of every origin. The program keeps its own matrix, in world ranks, from
 * what it knows about each communicator's order, and prints it at the end:
 *
 *     truth FROM TO MESSAGES BYTES
 *
 * The report's matrix must be just that, and `communicators` must hold, by name and size: reversed, copy
 * (a dup of it), odd or even (a split), grid (cart), few (create_group of ranks 0 and 1), bridge
 * (intercommunicator), own (a dup of MPI_COMM_SELF on each rank), everyone (MPI_COMM_WORLD, by its new name).
 */
#include "known.h"

#define MOST 16
static int data[1000];
static long long messages[MOST], bytes[MOST];

static void note(int world_rank, int n)
{
    messages[world_rank]++;
    bytes[world_rank] += n;
}

/* Sends n bytes to `to` of comm, which is rank `world_to` of the world, and receives from `from`. */
static void shift(MPI_Comm comm, int to, int world_to, int from, int n)
{
    OK(MPI_Sendrecv(data, n, MPI_BYTE, to, 1, data + 500, 1000, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE));
    if (to != MPI_PROC_NULL)
        note(world_to, n);
}

OP reversed(void)
{
    MPI_Comm comm, copy;
    int rank = ranks - 1 - me; /* in comm */

    OK(MPI_Comm_split(WORLD, 0, -me, &comm));
    OK(MPI_Comm_set_name(comm, "reversed"));
    shift(comm, (rank + 1) % ranks, (me + ranks - 1) % ranks, (rank + ranks - 1) % ranks, 100);
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_set_name(copy, "copy"));
    shift(copy, (rank + 1) % ranks, (me + ranks - 1) % ranks, (rank + ranks - 1) % ranks, 17);
    OK(MPI_Comm_free(&comm));
    shift(copy, (rank + 1) % ranks, (me + ranks - 1) % ranks, (rank + ranks - 1) % ranks, 18);
    OK(MPI_Comm_free(&copy));
}

OP halves(void)
{
    int size = (ranks + 1 - me % 2) / 2, rank = me / 2;
    MPI_Comm comm;

    OK(MPI_Comm_split(WORLD, me % 2, me, &comm));
    OK(MPI_Comm_set_name(comm, me % 2 ? "odd" : "even"));
    shift(comm, (rank + 1) % size, (rank + 1) % size * 2 + me % 2, (rank + size - 1) % size, 33);
    OK(MPI_Comm_free(&comm));
}

OP grid(void)
{
    const int no = 0;
    MPI_Comm comm;
    int from, to;

    OK(MPI_Cart_create(WORLD, 1, &ranks, &no, 0, &comm));
    OK(MPI_Comm_set_name(comm, "grid"));
    OK(MPI_Cart_shift(comm, 0, 1, &from, &to));
    shift(comm, to, me + 1, from, 65);
    OK(MPI_Comm_free(&comm));
}

OP few(void)
{
    const int members[] = { 1, 0 }; /* rank 1 comes first */
    MPI_Group all, two;
    MPI_Comm comm;

    OK(MPI_Comm_group(WORLD, &all));
    OK(MPI_Group_incl(all, 2, members, &two));
    if (me < 2) {
        OK(MPI_Comm_create_group(WORLD, two, 5, &comm));
        OK(MPI_Comm_set_name(comm, "few"));
        shift(comm, me, 1 - me, me, 129); /* world rank 1 - me has rank me in it */
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&two));
    OK(MPI_Group_free(&all));
}

/* Rank 0 on one side, the others on the other. */
OP bridge(void)
{
    MPI_Comm half, comm;

    OK(MPI_Comm_split(WORLD, me > 0, me, &half));
    OK(MPI_Intercomm_create(half, 0, WORLD, me > 0 ? 0 : 1, 6, &comm));
    OK(MPI_Comm_set_name(comm, "bridge"));
    if (me > 0) {
        OK(MPI_Send(data, 257, MPI_BYTE, 0, 7, comm));
        note(0, 257);
    }
    for (int i = 0; me == 0 && i < ranks - 1; i++) {
        OK(MPI_Recv(data, 257, MPI_BYTE, i, 7, comm, MPI_STATUS_IGNORE));
        OK(MPI_Send(data, 511, MPI_BYTE, i, 8, comm));
        note(i + 1, 511);
    }
    if (me > 0)
        OK(MPI_Recv(data, 511, MPI_BYTE, 0, 8, comm, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&half));
}

/* The same handle stands for communicators of different order, one after the other. */
OP reused(void)
{
    TIMES(20) {
        int sign = i % 2 ? -1 : 1, rank = i % 2 ? ranks - 1 - me : me;
        MPI_Comm comm;

        OK(MPI_Comm_split(WORLD, 0, sign * me, &comm));
        if (rank == 0 && ranks > 1) {
            OK(MPI_Send(data, 9, MPI_BYTE, 1, 9, comm));
            note(i % 2 ? ranks - 2 : 1, 9);
        }
        if (rank == 1)
            OK(MPI_Recv(data, 9, MPI_BYTE, 0, 9, comm, MPI_STATUS_IGNORE));
        OK(MPI_Comm_free(&comm));
    }
}

OP nonblocking(void)
{
    MPI_Request request;
    MPI_Comm comm;

    OK(MPI_Comm_idup(WORLD, &comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    shift(comm, (me + 1) % ranks, (me + 1) % ranks, (me + ranks - 1) % ranks, 3);
    OK(MPI_Comm_free(&comm));
}

OP own(void)
{
    MPI_Comm comm;

    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_name(comm, "own"));
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_set_name(WORLD, "everyone"));
}

int main(int argc, char **argv)
{
    long long all[2][MOST * MOST];

    OK(MPI_Init(&argc, &argv));
    known_start();
    reversed();
    halves();
    grid();
    few();
    bridge();
    reused();
    nonblocking();
    own();
    PMPI_Gather(messages, ranks, MPI_LONG_LONG, all[0], ranks, MPI_LONG_LONG, 0, WORLD);
    PMPI_Gather(bytes, ranks, MPI_LONG_LONG, all[1], ranks, MPI_LONG_LONG, 0, WORLD);
    for (int i = 0; me == 0 && i < ranks * ranks; i++)
        if (all[0][i])
            printf("truth %d %d %lld %lld\n", i / ranks, i % ranks, all[0][i], all[1][i]);
    OK(MPI_Finalize());
    return 0;
}
