/* Functions of MPI-4.1 and 5.0 that the MPI need not have. With -DSTANDIN a library that has them, made of older ones, as
 * a newer MPI of the same binary interface would.
 *
 *     newer    rank 1 sends what rank 0 waits for by MPI_Request_get_status_X, twice: after the first its requests are
 *              freed, after the second they are waited for */
#include <mpi.h>
#include <stdio.h>

int MPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[]);
int MPI_Request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status);
int MPI_Request_get_status_some(int count, const MPI_Request requests[], int *outcount, int indices[],
                                MPI_Status statuses[]);
int MPI_Status_get_source(const MPI_Status *status, int *source);
int MPI_Abi_get_version(int *major, int *minor);

#ifdef STANDIN
#define BOTH(name, parameters) int name parameters __attribute__((alias("P" #name)));

int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    *flag = 1;
    for (int i = 0; i < count && *flag; i++)
        PMPI_Request_get_status(requests[i], flag, statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return MPI_SUCCESS;
}
BOTH(MPI_Request_get_status_all, (int count, const MPI_Request requests[], int *flag, MPI_Status statuses[]))

int PMPI_Request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    *flag = 0;
    for (*index = 0; *index < count; ++*index) {
        PMPI_Request_get_status(requests[*index], flag, status);
        if (*flag)
            return MPI_SUCCESS;
    }
    *index = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
BOTH(MPI_Request_get_status_any, (int count, const MPI_Request requests[], int *index, int *flag, MPI_Status *status))

int PMPI_Request_get_status_some(int count, const MPI_Request requests[], int *outcount, int indices[],
                                 MPI_Status statuses[])
{
    *outcount = 0;
    for (int i = 0, flag; i < count; i++) {
        PMPI_Request_get_status(requests[i], &flag,
                                statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*outcount]);
        if (flag)
            indices[(*outcount)++] = i;
    }
    return MPI_SUCCESS;
}
BOTH(MPI_Request_get_status_some, (int count, const MPI_Request requests[], int *outcount, int indices[],
                                   MPI_Status statuses[]))

int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}
BOTH(MPI_Status_get_source, (const MPI_Status *status, int *source))

int PMPI_Abi_get_version(int *major, int *minor)
{
    *major = *minor = -1;
    return MPI_SUCCESS;
}
BOTH(MPI_Abi_get_version, (int *major, int *minor))

/* Fortran: MPICH's handles are the same numbers, indices begin with 1. */
void mpi_request_get_status_all_(int *count, MPI_Request *requests, int *flag, MPI_Status *statuses, int *ierror)
{
    *ierror = PMPI_Request_get_status_all(*count, requests, flag, statuses);
}

void mpi_request_get_status_any_(int *count, MPI_Request *requests, int *index, int *flag, MPI_Status *status, int *ierror)
{
    *ierror = PMPI_Request_get_status_any(*count, requests, index, flag, status);
    *index += *flag;
}

void mpi_request_get_status_some_(int *count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses,
                                  int *ierror)
{
    *ierror = PMPI_Request_get_status_some(*count, requests, outcount, indices, statuses);
    for (int i = 0; i < *outcount; i++)
        indices[i]++;
}

#else

enum { LENGTH = 10 }; /* of the first message; the second is twice as long */
static int data[2][2 * LENGTH];
static MPI_Request requests[2];

static void post(void)
{
    for (int i = 0; i < 2; i++)
        MPI_Irecv(data[i], LENGTH * (i + 1), MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
}

static void all(void)
{
    post();
    for (int flag = 0; !flag;)
        MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE);
}

static void any(void)
{
    int index, other, flag = 0;

    post();
    while (!flag)
        MPI_Request_get_status_any(2, requests, &index, &flag, MPI_STATUS_IGNORE);
    other = 1 - index;
    for (flag = 0; !flag;)
        MPI_Request_get_status_any(1, &requests[other], &index, &flag, MPI_STATUS_IGNORE);
}

static void some(void)
{
    MPI_Status statuses[2];
    int indices[2], done = 0, source;

    post();
    while (done < 2)
        MPI_Request_get_status_some(2, requests, &done, indices, statuses);
    MPI_Status_get_source(&statuses[1], &source);
    if (source != 1 || statuses[1].MPI_TAG != 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void (*const ways[3])(void) = { all, any, some };

int main(int argc, char **argv)
{
    int me, major, minor;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Abi_get_version(&major, &minor);
    for (int way = 0; way < 3; way++)
        for (int round = 0; round < 2; round++) {
            if (me == 1)
                for (int i = 0; i < 2; i++)
                    MPI_Send(data[i], LENGTH * (i + 1), MPI_INT, 0, i, MPI_COMM_WORLD);
            else
                ways[way]();
            for (int i = 0; me == 0 && round == 0 && i < 2; i++)
                MPI_Request_free(&requests[i]);
            if (me == 0 && round == 1)
                MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    printf("%d\n", major);
    MPI_Finalize();
    return 0;
}
#endif
