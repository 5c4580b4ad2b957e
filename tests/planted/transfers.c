/* Two ranks exchange large messages that both have posted, and sometimes small ones: nearly all of the time in MPI_Waitall is transfer. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#define LARGE ((size_t)8 << 20)
#define SMALL 1000
#define TIMES 100

int main(int argc, char **argv)
{
    char *out = malloc(LARGE), *in = malloc(LARGE);
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(out, 1, LARGE);
    memset(in, 2, LARGE);
    for (int i = 0; i < TIMES; i++) {
        const int bytes = i % 10 ? (int)LARGE : SMALL;
        MPI_Request request[2];

        MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
