/* Requests in unusual company, each rank with itself: null, inactive and active ones in one array, requests
 * that are freed while active and handles that come again, generalized ones beside receives, starts and
 * starts again, one request completed by a copy of its handle.
 *
 *     inactive   MPI_Irecv 1 of 8 bytes, MPI_Waitany 2, MPI_Waitsome 1, MPI_Testsome 1, MPI_Testany 1,
 * MPI_Testall 1 freed      MPI_Irecv 3: 16 bytes freed before they arrive, which nobody can see; then 2 of 12
 * seen general    MPI_Irecv 1 of 20 bytes in one MPI_Waitall with a generalized request restarted
 * MPI_Startall 3 of 2 receives of 4 and 24 bytes and their sends, completed by MPI_Testsome, by MPI_Waitsome
 * and by MPI_Waitall, with statuses ignored: 3 x 28 bytes each way copied     MPI_Irecv 1 of 40 bytes,
 * completed by a copy of its handle
 */
#include "known.h"

#define SELF MPI_COMM_SELF
static int out[16], in[16], more[16];

OP inactive(void)
{
    MPI_Request r[4] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    int index = -1, n = -1, flag = -1, indices[4];

    OK(PMPI_Recv_init(in, 4, MPI_INT, 0, 1, SELF, &r[1]));
    OK(PMPI_Send_init(out, 4, MPI_INT, 0, 1, SELF, &r[3]));
    OK(MPI_Irecv(more, 4, MPI_INT, 0, 2, SELF, &r[2]));
    OK(PMPI_Send(out, 2, MPI_INT, 0, 2, SELF));
    TIMES(2)
    {
        OK(MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE));
        if (index != (i ? MPI_UNDEFINED : 2))
            known_failed(__LINE__);
    }
    OK(MPI_Waitsome(4, r, &n, indices, MPI_STATUSES_IGNORE));
    OK(MPI_Testsome(4, r, &n, indices, MPI_STATUSES_IGNORE));
    OK(MPI_Testany(4, r, &index, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Testall(4, r, &flag, MPI_STATUSES_IGNORE));
    if (n != MPI_UNDEFINED || index != MPI_UNDEFINED || !flag)
        known_failed(__LINE__);
    OK(PMPI_Request_free(&r[1]));
    OK(PMPI_Request_free(&r[3]));
}

OP freed(void)
{
    static const int size[] = { 4, 3, 3 };
    MPI_Request r;

    TIMES(3)
    {
        OK(MPI_Irecv(in, size[i], MPI_INT, 0, 3, SELF, &r));
        if (!i)
            OK(MPI_Request_free(&r));
        OK(PMPI_Send(out, size[i], MPI_INT, 0, 3, SELF));
        if (i)
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 1000);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    return state ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    return state && complete ? MPI_ERR_OTHER : MPI_SUCCESS;
}

OP general(void)
{
    MPI_Request r[2];

    OK(PMPI_Grequest_start(query, release, cancel, NULL, &r[0]));
    OK(MPI_Irecv(in, 16, MPI_INT, 0, 4, SELF, &r[1]));
    OK(PMPI_Grequest_complete(r[0]));
    OK(PMPI_Send(out, 5, MPI_INT, 0, 4, SELF));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
}

OP restarted(void)
{
    MPI_Request r[4];
    int n, done, indices[4];

    OK(MPI_Recv_init(in, 1, MPI_INT, 0, 6, SELF, &r[0]));
    OK(MPI_Recv_init(more, 6, MPI_INT, 0, 7, SELF, &r[1]));
    OK(MPI_Send_init(out, 1, MPI_INT, 0, 6, SELF, &r[2]));
    OK(MPI_Send_init(out, 6, MPI_INT, 0, 7, SELF, &r[3]));
    TIMES(3)
    {
        OK(MPI_Startall(4, r));
        for (done = 0; i < 2 && done < 4; done += n) {
            if (i)
                OK(MPI_Waitsome(4, r, &n, indices, MPI_STATUSES_IGNORE));
            else
                OK(MPI_Testsome(4, r, &n, indices, MPI_STATUSES_IGNORE));
        }
        if (i == 2)
            OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < 4; i++)
        OK(PMPI_Request_free(&r[i]));
}

OP copied(void)
{
    MPI_Request r, copy;

    OK(MPI_Irecv(in, 16, MPI_INT, 0, 8, SELF, &r));
    copy = r;
    OK(PMPI_Send(out, 10, MPI_INT, 0, 8, SELF));
    OK(MPI_Wait(&copy, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    inactive();
    freed();
    general();
    restarted();
    copied();
    OK(MPI_Finalize());
    if (me == 0)
        printf("good end\n");
    return 0;
}
