/* MPI_Comm_spawn: the ranks of the world start 2 more of this program and rank 0 sends each a message of 4
 * bytes. The children have a world of their own, where they meet in 1 MPI_Allreduce. */
#include "known.h"

OP parent(char **argv)
{
    MPI_Comm children;
    int x = 3;

    OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, WORLD, &children, MPI_ERRCODES_IGNORE));
    if (me == 0)
        TIMES(2)
            OK(MPI_Send(&x, 1, MPI_INT, i, 7, children));
    OK(MPI_Comm_disconnect(&children));
}

OP child(MPI_Comm parents)
{
    int x;

    OK(MPI_Recv(&x, 1, MPI_INT, 0, 7, parents, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, WORLD));
    OK(MPI_Comm_disconnect(&parents));
}

int main(int argc, char **argv)
{
    MPI_Comm parents;

    OK(MPI_Init(&argc, &argv));
    known_start();
    OK(MPI_Comm_get_parent(&parents));
    if (parents == MPI_COMM_NULL)
        parent(argv);
    else
        child(parents);
    OK(MPI_Finalize());
    return 0;
}
