/* Persistent requests whose handle is another one after each start: MPI may replace it (Open MPI does when the
 * transport is not done with the operation before). Here each start is of a new request with the same arguments,
 * by a PMPI_Start and PMPI_Startall of our own, and the old one is released. `buffered` sends from a buffer,
 * where Open MPI replaces handles by itself.
 *
 * @ranks 2
 * @ MPI_Init           main
 * @ MPI_Finalize       main
 * @ MPI_Buffer_attach  main
 * @ MPI_Buffer_detach  main
 * @ MPI_Send_init      one       count=(r==0)
 * @ MPI_Recv_init      one       count=(r==1)
 * @ MPI_Start          one       count=5  sent=5*40*(r==0)  received=5*40*(r==1)
 * @ MPI_Wait           one       count=5
 * @ MPI_Request_free   one
 * @ MPI_Send_init      both
 * @ MPI_Recv_init      both
 * @ MPI_Startall       both      count=4  sent=4*80  received=4*80
 * @ MPI_Waitall        both      count=4
 * @ MPI_Request_free   both      count=2
 * @ MPI_Bsend_init     buffered  count=4
 * @ MPI_Start          buffered  count=32  sent=32*16384
 * @ MPI_Wait           buffered  count=32
 * @ MPI_Request_free   buffered  count=4
 * @ MPI_Recv           buffered      count=32  received=32*16384
 */
#define _GNU_SOURCE
#include "known.h"

#include <dlfcn.h>

#define MOST 2
static struct plan {
    MPI_Request handle;
    int sends, count, peer;
} plans[MOST];
static int in[20], out[20];

static MPI_Request renewed(struct plan *p)
{
    if (p->sends)
        OK(PMPI_Send_init(out, p->count, MPI_INT, p->peer, 7, WORLD, &p->handle));
    else
        OK(PMPI_Recv_init(in, p->count, MPI_INT, p->peer, 7, WORLD, &p->handle));
    return p->handle;
}

int PMPI_Start(MPI_Request *request)
{
    int (*real)(MPI_Request *) = (int (*)(MPI_Request *))dlsym(RTLD_NEXT, "PMPI_Start");

    for (int i = 0; i < MOST; i++)
        if (plans[i].count && plans[i].handle == *request) {
            MPI_Request old = *request;

            *request = renewed(&plans[i]);
            OK(PMPI_Request_free(&old));
            break;
        }
    return real(request);
}

int PMPI_Startall(int n, MPI_Request requests[])
{
    for (int i = 0; i < n; i++)
        OK(PMPI_Start(&requests[i]));
    return MPI_SUCCESS;
}

OP one(void)
{
    MPI_Request request;

    if (me == 0)
        OK(MPI_Send_init(out, 10, MPI_INT, 1, 7, WORLD, &request));
    else
        OK(MPI_Recv_init(in, 10, MPI_INT, 0, 7, WORLD, &request));
    plans[0] = (struct plan){ .handle = request, .sends = me == 0, .count = 10, .peer = 1 - me };
    TIMES(5) {
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    plans[0].count = 0;
    OK(MPI_Request_free(&request));
}

OP both(void)
{
    MPI_Request request[2];

    OK(MPI_Send_init(out, 20, MPI_INT, 1 - me, 7, WORLD, &request[0]));
    OK(MPI_Recv_init(in, 20, MPI_INT, 1 - me, 7, WORLD, &request[1]));
    for (int i = 0; i < 2; i++)
        plans[i] = (struct plan){ .handle = request[i], .sends = i == 0, .count = 20, .peer = 1 - me };
    TIMES(4) {
        OK(MPI_Startall(2, request));
        OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    }
    plans[0].count = plans[1].count = 0;
    TIMES(2)
        OK(MPI_Request_free(&request[i]));
}

#define MESSAGE 16384
static char message[MESSAGE];

OP buffered(void)
{
    MPI_Request request[4];

    TIMES(4)
        OK(MPI_Bsend_init(message, MESSAGE, MPI_CHAR, 1 - me, 8, WORLD, &request[i]));
    TIMES(32) {
        OK(MPI_Start(&request[i % 4]));
        OK(MPI_Wait(&request[i % 4], MPI_STATUS_IGNORE));
    }
    TIMES(4)
        OK(MPI_Request_free(&request[i]));
    TIMES(32)
        OK(MPI_Recv(message, MESSAGE, MPI_CHAR, 1 - me, 8, WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    int size = 32 * (MESSAGE + MPI_BSEND_OVERHEAD);
    void *room = malloc((size_t)size);

    OK(MPI_Init(&argc, &argv));
    known_start();
    one();
    both();
    OK(MPI_Buffer_attach(room, size));
    buffered();
    OK(MPI_Buffer_detach(&room, &size));
    free(room);
    OK(MPI_Finalize());
    return 0;
}
