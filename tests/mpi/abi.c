/* What the program's MPI has not, or has not yet.
 *
 *     newer     calls a function of MPI-4.0 where it is there: MPICH's libraries of before have it not
 *     without   no MPI: a library that asks whether there is one, as some do */
#include <mpi.h>
#include <stdio.h>

#ifdef WITHOUT
#pragma weak MPI_Initialized
#pragma weak MPI_Finalized

int main(void)
{
    int initialized = 7, finalized = 7;

    if (MPI_Initialized && (MPI_Initialized(&initialized) || MPI_Finalized(&finalized)))
        return 1;
    printf("%d %d\n", initialized & 1, finalized & 1);
    return !MPI_Initialized;
}
#else
#pragma weak MPI_Send_c

int main(int argc, char **argv)
{
    int result = MPI_SUCCESS;

    MPI_Init(&argc, &argv);
    if (MPI_Send_c)
        result = MPI_Send_c(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%s\n", result == MPI_SUCCESS ? "sent" : "failed");
    MPI_Finalize();
    return 0;
}
#endif
