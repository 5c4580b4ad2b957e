/* Partitioned operations beside ordinary messages of the same peers and tag, started in another order than
 * they were made in, from rank 0 to rank 1. Arguments: rounds; milliseconds: then rank 0 makes the second part of each
 * ready so late, and rank 1 prints how many seconds it waits; "pause": rank 0 does not record that they are over. Prints the standard's version where MPI is too
 * old for them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if MPI_VERSION < 4

int main(void)
{
    printf("MPI %d.%d\n", MPI_VERSION, MPI_SUBVERSION);
    return 0;
}

#else

#define TAG 7

enum { LONG, SHORT, KINDS };
static const int bytes[KINDS] = { 500, 10 };
static char room[KINDS][1000], plain[30];

static void prepare(MPI_Comm comm, int me, MPI_Request *request)
{
    for (int i = 0; i < KINDS; i++)
        if (me == 0)
            MPI_Psend_init(room[i], 2, bytes[i] / 2, MPI_BYTE, 1, TAG, comm, MPI_INFO_NULL, &request[i]);
        else
            MPI_Precv_init(room[i], 2, bytes[i] / 2, MPI_BYTE, 0, TAG, comm, MPI_INFO_NULL, &request[i]);
}

static void exchange(MPI_Comm comm, int me, MPI_Request *request)
{
    MPI_Request ordinary;

    if (me == 0) {
        MPI_Startall(KINDS, request);
        MPI_Isend(plain, sizeof(plain), MPI_BYTE, 1, TAG, comm, &ordinary);
        for (int i = 0; i < KINDS; i++)
            MPI_Pready_range(0, 1, request[i]);
        MPI_Waitall(KINDS, request, MPI_STATUSES_IGNORE);
    } else {
        MPI_Irecv(plain, sizeof(plain), MPI_BYTE, 0, TAG, comm, &ordinary);
        MPI_Start(&request[SHORT]);
        MPI_Start(&request[LONG]);
        MPI_Wait(&request[SHORT], MPI_STATUS_IGNORE);
        MPI_Wait(&request[LONG], MPI_STATUS_IGNORE);
    }
    MPI_Wait(&ordinary, MPI_STATUS_IGNORE);
}

static void be_late(int me, int rounds, int milliseconds, int pauses)
{
    MPI_Request request[KINDS];
    double waited = 0;

    prepare(MPI_COMM_WORLD, me, request);
    for (int i = 0; i < rounds; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Startall(KINDS, request);
        if (me == 0) {
            for (int k = 0; k < KINDS; k++)
                MPI_Pready(0, request[k]);
            usleep((useconds_t)milliseconds * 1000);
            for (int k = 0; k < KINDS; k++)
                MPI_Pready(1, request[k]);
        }
        double begin = MPI_Wtime();
        if (pauses && !me)
            MPI_Pcontrol(0);
        MPI_Waitall(KINDS, request, MPI_STATUSES_IGNORE);
        if (pauses && !me)
            MPI_Pcontrol(1);
        waited += MPI_Wtime() - begin;
    }
    if (me == 1)
        printf("%.6f\n", waited);
    for (int i = 0; i < KINDS; i++)
        MPI_Request_free(&request[i]);
}

int main(int argc, char **argv)
{
    MPI_Comm comm[2] = { MPI_COMM_WORLD };
    int me, rounds = argc > 1 ? atoi(argv[1]) : 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc > 2) {
        be_late(me, rounds, atoi(argv[2]), argc > 3);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    for (int c = 0; c < 2; c++) {
        MPI_Request request[KINDS];

        prepare(comm[c], me, request);
        for (int i = 0; i < rounds; i++)
            exchange(comm[c], me, request);
        for (int i = 0; i < KINDS; i++)
            MPI_Request_free(&request[i]);
    }
    MPI_Comm_free(&comm[1]);
    MPI_Finalize();
    return 0;
}

#endif
