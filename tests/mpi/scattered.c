/* Communicators whose members are in no order: one of all ranks, a duplicate of it, and an intercommunicator
 * of the two halves of its ranks. On each a message from each rank to the next, and on the first a window.
 * Rank 0 of the first prints its world ranks, in order. */
#include "known.h"

static MPI_Comm scattered, copy, halves;
static int rank; /* in `scattered` */

OP messages(void)
{
    int in, next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;

    OK(MPI_Sendrecv(&me, 4, MPI_BYTE, next, 1, &in, 4, MPI_BYTE, before, 1, scattered, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(&me, 4, MPI_BYTE, next, 2, &in, 4, MPI_BYTE, before, 2, copy, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv(&me, 4, MPI_BYTE, rank / 2, 3, &in, 4, MPI_BYTE, rank / 2, 3, halves, MPI_STATUS_IGNORE));
}

OP window(void)
{
    int mine = 0;
    MPI_Win win;

    OK(MPI_Win_create(&mine, sizeof(mine), 1, MPI_INFO_NULL, scattered, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&me, 4, MPI_BYTE, (rank + 1) % ranks, 0, 4, MPI_BYTE, win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    int members[1024];
    MPI_Comm half;

    OK(MPI_Init(&argc, &argv));
    known_start();
    OK(MPI_Comm_split(WORLD, 0, me * (me * 5 + 3) % 31, &scattered));
    PMPI_Comm_rank(scattered, &rank);
    OK(MPI_Comm_set_name(scattered, "scattered"));
    OK(MPI_Comm_dup(scattered, &copy));
    OK(MPI_Comm_set_name(copy, "copy"));
    OK(MPI_Comm_split(scattered, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, scattered, 1 - rank % 2, 5, &halves));
    OK(MPI_Comm_set_name(halves, "halves"));
    messages();
    window();
    PMPI_Gather(&me, 1, MPI_INT, members, 1, MPI_INT, 0, scattered);
    for (int i = 0; rank == 0 && i < ranks; i++)
        printf("%d ", members[i]);
    OK(MPI_Finalize());
    return 0;
}
