/* Exchanges around a ring by MPI_Isendrecv and MPI_Isendrecv_replace, of which some have no room; before each, messages of others, whose statuses an MPI may leave
 * behind. In the trace each is received from the rank on the left. */
#include <mpi.h>
#include <stdio.h>

#if MPI_VERSION >= 4
enum { OTHERS = 4, ROUNDS = 3 };

static char sent[100], received[100];

/* From the rank on the right, with tag 100. */
static void exchange_others(int left, int right)
{
    MPI_Request request[2 * OTHERS];

    for (int i = 0; i < OTHERS; i++) {
        MPI_Isend(sent, 7, MPI_BYTE, left, 100, MPI_COMM_WORLD, &request[i]);
        MPI_Irecv(received, 7, MPI_BYTE, right, 100, MPI_COMM_WORLD, &request[OTHERS + i]);
    }
    MPI_Waitall(2 * OTHERS, request, MPI_STATUSES_IGNORE);
}

static void exchange(int left, int right, int size, int tag)
{
    MPI_Request request;
    MPI_Status status;

    exchange_others(left, right);
    MPI_Isendrecv(sent, size, MPI_BYTE, right, tag, received, size, MPI_BYTE, left, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    exchange_others(left, right);
    MPI_Isendrecv_replace(sent, size, MPI_BYTE, right, tag + 1, left, tag + 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
#endif

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#if MPI_VERSION >= 4
    for (int i = 0; i < ROUNDS; i++) {
        exchange((rank + size - 1) % size, (rank + 1) % size, 0, 1);
        exchange((rank + size - 1) % size, (rank + 1) % size, 50, 3);
    }
#else
    if (!rank)
        printf("MPI %d.%d\n", MPI_VERSION, MPI_SUBVERSION);
#endif
    MPI_Finalize();
    return 0;
}
