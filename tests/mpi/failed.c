/* On two ranks, with MPI_ERRORS_RETURN: receives whose message is longer than the buffer, collective calls that fail on
 * one rank only, and communicators that are freed while requests on them are under way. Prints what failed on each. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LONG = 100, SHORT = 10 };
static int rank, failures, long_buffer[2 * LONG], short_buffer[SHORT], one;
static MPI_Comm comm;

static void note(int result)
{
    failures += result != MPI_SUCCESS;
}

/* Rank 1 gets eight messages that are too long, each in another way; and one that is not. */
static void receives(void)
{
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Message message;
    MPI_Status status, statuses[2];
    int flag = 0, index;

    for (int i = 0; i < 8 && !rank; i++)
        note(MPI_Send(long_buffer, LONG, MPI_INT, 1, i, comm));
    if (!rank) {
        note(MPI_Send(&one, 1, MPI_INT, 1, 8, comm));
        return;
    }
    note(MPI_Recv(short_buffer, SHORT, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    note(MPI_Recv(short_buffer, SHORT, MPI_INT, MPI_ANY_SOURCE, 1, comm, &status));
    note(MPI_Irecv(short_buffer, SHORT, MPI_INT, 0, 2, comm, requests));
    note(MPI_Wait(requests, MPI_STATUS_IGNORE));
    note(MPI_Irecv(short_buffer, SHORT, MPI_INT, 0, 3, comm, requests));
    note(MPI_Irecv(&one, 1, MPI_INT, 0, 8, comm, requests + 1));
    note(MPI_Waitall(2, requests, statuses));
    note(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)); /* the other one may have been left */
    note(MPI_Sendrecv(&one, 1, MPI_INT, 1, 9, short_buffer, SHORT, MPI_INT, 0, 4, comm, MPI_STATUS_IGNORE));
    note(MPI_Recv(&one, 1, MPI_INT, 1, 9, comm, MPI_STATUS_IGNORE));
    note(MPI_Irecv(short_buffer, SHORT, MPI_INT, 0, 5, comm, requests));
    note(MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE));
    note(MPI_Recv_init(short_buffer, SHORT, MPI_INT, 0, 6, comm, requests));
    note(MPI_Start(requests));
    for (int result = MPI_SUCCESS; !flag && result == MPI_SUCCESS; note(result))
        result = MPI_Test(requests, &flag, &status);
    note(MPI_Request_free(requests));
    note(MPI_Mprobe(0, 7, comm, &message, MPI_STATUS_IGNORE));
    note(MPI_Mrecv(short_buffer, SHORT, MPI_INT, &message, MPI_STATUS_IGNORE));
}

/* The root's buffer is longer, or shorter, than the other's: one of both fails. Then all others are as they should be. */
static void collectives(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int sum;

    note(MPI_Bcast(long_buffer, rank ? SHORT : LONG, MPI_INT, 0, comm));
    note(MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm));
    note(MPI_Gather(long_buffer, rank ? LONG : SHORT, MPI_INT, long_buffer + LONG / 2, SHORT, MPI_INT, 0, comm));
    note(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    note(MPI_Ibcast(long_buffer, rank ? SHORT : LONG, MPI_INT, 0, comm, &request));
    note(MPI_Wait(&request, MPI_STATUS_IGNORE));
    note(MPI_Barrier(comm));
    note(MPI_Bcast(long_buffer, -1, MPI_INT, 0, comm));
    note(MPI_Bcast(long_buffer, 1, MPI_INT, 2, comm));
    note(MPI_Barrier(comm));
}

static void freed(void)
{
    MPI_Request receive, send, all;
    MPI_Comm copy;
    int sum;

    MPI_Comm_dup(comm, &copy);
    MPI_Irecv(short_buffer, 1, MPI_INT, 1 - rank, 1, copy, &receive);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy, &all);
    MPI_Barrier(copy);
    MPI_Isend(&one, 1, MPI_INT, 1 - rank, 1, copy, &send);
    MPI_Comm_free(&copy);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&all, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);

    MPI_Comm_dup(comm, &copy);
    MPI_Irecv(short_buffer, 1, MPI_INT, rank, 1, copy, &receive);
    MPI_Issend(&one, 1, MPI_INT, rank, 1, copy, &send);
    MPI_Irecv(short_buffer, 1, MPI_INT, rank, 2, copy, &all);
    MPI_Comm_free(&copy);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Cancel(&all);
    MPI_Wait(&all, MPI_STATUS_IGNORE);

    MPI_Comm_dup(comm, &copy);
    MPI_Irecv(short_buffer, 1, MPI_INT, 1 - rank, 1, copy, &receive);
    MPI_Isend(&one, 1, MPI_INT, 1 - rank, 1, copy, &send);
    MPI_Comm_free(&copy);
    MPI_Request_free(&send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of requests alone */
    if (argc < 2 || !strcmp(argv[1], "receives"))
        receives();
    if (argc < 2 || !strcmp(argv[1], "collectives"))
        collectives();
    if (argc < 2 || !strcmp(argv[1], "freed"))
        freed();
    printf("rank %d: %d failed\n", rank, failures);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
