/* A program of the standard ABI: what its header says is what its MPI does. Two ranks; prints the ABI's version.
 *
 *     ring()      each sends 10 ints to the other, who takes them from anybody
 *     pieces()    6 ints by MPI_Isend and MPI_Irecv, whose status is left out
 *     refused()   a rank that is not there: the error's class */
#include "known.h"

#if MPI_ABI_VERSION != 1 || MPI_VERSION < 5
#error "not the standard ABI"
#endif

static int data[10];

static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "rank %d: %s\n", me, what);
        PMPI_Abort(WORLD, 98);
    }
}

OP ring(void)
{
    MPI_Status status;
    int count, source;

    status.MPI_ERROR = 77;
    if (me == 0)
        OK(MPI_Send(data, 10, MPI_INT, 1, 5, WORLD));
    OK(MPI_Recv(data, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status));
    if (me == 1)
        OK(MPI_Send(data, 10, MPI_INT, 0, 5, WORLD));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    OK(MPI_Status_get_source(&status, &source));
    expect(status.MPI_SOURCE == 1 - me && status.MPI_TAG == 5 && count == 10 && source == 1 - me, "status");
    expect(status.MPI_ERROR == 77, "a receive sets no error");
}

OP pieces(void)
{
    MPI_Request requests[2];
    MPI_Comm split;

    OK(MPI_Comm_split(WORLD, 0, me, &split));
    expect(split != MPI_COMM_NULL && split != WORLD, "handles");
    OK(MPI_Irecv(data, 6, MPI_INT, 1 - me, 6, split, &requests[0]));
    OK(MPI_Isend(data + 6, 4, MPI_INT, MPI_PROC_NULL, 6, split, &requests[1]));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Isend(&me, 1, MPI_INT, MPI_PROC_NULL, 6, split, &requests[1]));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Isend(data, 6, MPI_INT, 1 - me, 6, split, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    expect(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "requests");
    OK(MPI_Comm_free(&split));
    expect(split == MPI_COMM_NULL, "a freed communicator");
}

OP refused(void)
{
    int class, rc;

    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN));
    rc = MPI_Send(data, 1, MPI_INT, 7, 0, WORLD);
    OK(MPI_Error_class(rc, &class));
    expect(class == MPI_ERR_RANK, "the class of an error");
}

int main(int argc, char **argv)
{
    int provided, major, minor;
    MPI_Info info;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    known_start();
    expect(provided == MPI_THREAD_MULTIPLE && ranks == 2, "MPI_Init_thread");
    OK(MPI_Abi_get_version(&major, &minor));
    OK(MPI_Abi_get_info(&info));
    expect(info != MPI_INFO_NULL, "MPI_Abi_get_info");
    OK(MPI_Info_free(&info));
    ring();
    pieces();
    refused();
    printf("%d.%d\n", major, minor);
    MPI_Finalize();
    return 0;
}
