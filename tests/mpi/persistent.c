/* Persistent collectives: each start moves what the blocking call with the same arguments moves, which
 * stands beside it, and is charged with it by MPI_Start or MPI_Startall; the *_init call moves nothing. In
 * the v-forms rank i's share is i+1 integers; T is the sum of all shares. The root is R = P-1. N is the
 * number of neighbours on a line without wrap-around.
 *
 * @needs MPI_Allreduce_init
 * @ranks 1 3
 * @let R = P-1
 * @let T = 4*P*(P+1)//2
 * @let N = (r>0)+(r<P-1)
 * @ MPI_Barrier_init            barrier
 * @ MPI_Start                   barrier      count=2
 * @ MPI_Wait                    barrier      count=2
 * @ MPI_Request_free            barrier
 * @ MPI_Allreduce               allreduce    count=2  sent=2*56         received=2*56
 * @ MPI_Allreduce_init          allreduce
 * @ MPI_Start                   allreduce    count=2  sent=2*56         received=2*56         matrix=0
 * @ MPI_Wait                    allreduce    count=2
 * @ MPI_Request_free            allreduce
 * @ MPI_Bcast                   bcast        count=2  sent=2*400*(r==R) received=2*400*(r!=R)
 * @ MPI_Bcast_init              bcast
 * @ MPI_Start                   bcast        count=2  sent=2*400*(r==R) received=2*400*(r!=R) matrix=0
 * @ MPI_Wait                    bcast        count=2
 * @ MPI_Request_free            bcast
 * @ MPI_Gatherv                 gatherv      count=2  sent=2*4*(r+1)    received=2*T*(r==R)
 * @ MPI_Gatherv_init            gatherv
 * @ MPI_Start                   gatherv      count=2  sent=2*4*(r+1)    received=2*T*(r==R)   matrix=0
 * @ MPI_Wait                    gatherv      count=2
 * @ MPI_Request_free            gatherv
 * @ MPI_Alltoallv               alltoallv    count=2  sent=2*T          received=2*4*(r+1)*P
 * @ MPI_Alltoallv_init          alltoallv
 * @ MPI_Start                   alltoallv    count=2  sent=2*T          received=2*4*(r+1)*P  matrix=0
 * @ MPI_Test                    alltoallv    count=*
 * @ MPI_Request_free            alltoallv
 * @ MPI_Exscan                  exscan       count=2  sent=2*72         received=2*72*(r>0)
 * @ MPI_Exscan_init             exscan
 * @ MPI_Start                   exscan       count=2  sent=2*72         received=2*72*(r>0)   matrix=0
 * @ MPI_Wait                    exscan       count=2
 * @ MPI_Request_free            exscan
 * @ MPI_Neighbor_alltoall       neighbours   count=2  sent=2*16*N       received=2*16*N
 * @ MPI_Neighbor_alltoall_init  neighbours
 * @ MPI_Start                   neighbours   count=2  sent=2*16*N       received=2*16*N       matrix=0
 * @ MPI_Wait                    neighbours   count=2
 * @ MPI_Request_free            neighbours
 * @ MPI_Allreduce_init          start_all
 * @ MPI_Bcast_init              start_all
 * @ MPI_Alltoallv_init          start_all
 * @ MPI_Startall                start_all    count=2  sent=2*(12+400*(r==R)+T)  received=2*(12+400*(r!=R)+4*(r+1)*P)  matrix=0
 * @ MPI_Waitall                 start_all    count=2
 * @ MPI_Request_free            start_all    count=3
 * @ MPI_Allreduce_init          mixed
 * @ MPI_Neighbor_alltoall_init  mixed
 * @ MPI_Send_init               mixed
 * @ MPI_Recv_init               mixed
 * @ MPI_Startall                mixed        count=2  sent=2*(24+16*N+40)  received=2*(24+16*N+40)  matrix=2*40
 * @ MPI_Waitall                 mixed        count=2
 * @ MPI_Request_free            mixed        count=4
 * @ MPI_Allreduce_init          reused       count=3
 * @ MPI_Request_free            reused       count=3  sites=2
 * @ MPI_Send_init               reused       count=3
 * @ MPI_Start                   reused       count=3  sent=0
 * @ MPI_Wait                    reused       count=3
 * @ MPI_Cart_create             main
 * @ MPI_Comm_free               main
 * @ MPI_Init                    main
 * @ MPI_Finalize                main
 */
#include "known.h"

#define MOST 16
#define NONE MPI_INFO_NULL
static int in[MOST * MOST * 100], out[MOST * MOST * 100], other[1000];
static int share[MOST], at[MOST], mine[MOST], mine_at[MOST];
static int root, next, previous;
static MPI_Comm line;
static MPI_Request request[4];

/* Starts it twice, and releases it. */
#define TWICE \
    TIMES(2) { \
        OK(MPI_Start(request)); \
        OK(MPI_Wait(request, told[i])); \
    } \
    OK(MPI_Request_free(request));
static MPI_Status status, *told[] = { &status, MPI_STATUS_IGNORE };

OP barrier(void)
{
    OK(MPI_Barrier_init(WORLD, NONE, request));
    TWICE /* MPI_Start( MPI_Wait( MPI_Request_free( */
}

OP allreduce(void)
{
    TIMES(2)
        OK(MPI_Allreduce(in, out, 14, MPI_INT, MPI_MAX, WORLD));
    OK(MPI_Allreduce_init(in, out, 14, MPI_INT, MPI_MAX, WORLD, NONE, request));
    TWICE /* MPI_Start( MPI_Wait( MPI_Request_free( */
}

OP bcast(void)
{
    TIMES(2)
        OK(MPI_Bcast(in, 100, MPI_INT, root, WORLD));
    OK(MPI_Bcast_init(in, 100, MPI_INT, root, WORLD, NONE, request));
    TWICE /* MPI_Start( MPI_Wait( MPI_Request_free( */
}

OP gatherv(void) /* a leaf's receive arguments mean nothing */
{
    int *counts = me == root ? share : NULL;

    TIMES(2)
        OK(MPI_Gatherv(in, me + 1, MPI_INT, out, counts, at, MPI_INT, root, WORLD));
    OK(MPI_Gatherv_init(in, me + 1, MPI_INT, out, counts, at, MPI_INT, root, WORLD, NONE, request));
    TWICE /* MPI_Start( MPI_Wait( MPI_Request_free( */
}

OP alltoallv(void)
{
    TIMES(2)
        OK(MPI_Alltoallv(in, share, at, MPI_INT, out, mine, mine_at, MPI_INT, WORLD));
    OK(MPI_Alltoallv_init(in, share, at, MPI_INT, out, mine, mine_at, MPI_INT, WORLD, NONE, request));
    TIMES(2) {
        OK(MPI_Start(request));
        for (int flag = 0; !flag;)
            OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(request));
}

OP exscan(void)
{
    TIMES(2)
        OK(MPI_Exscan(in, out, 9, MPI_LONG_LONG, MPI_SUM, WORLD));
    OK(MPI_Exscan_init(in, out, 9, MPI_LONG_LONG, MPI_SUM, WORLD, NONE, request));
    TWICE /* MPI_Start( MPI_Wait( MPI_Request_free( */
}

OP neighbours(void)
{
    TIMES(2)
        OK(MPI_Neighbor_alltoall(in, 4, MPI_INT, out, 4, MPI_INT, line));
    OK(MPI_Neighbor_alltoall_init(in, 4, MPI_INT, out, 4, MPI_INT, line, NONE, request));
    TWICE /* MPI_Start( MPI_Wait( MPI_Request_free( */
}

OP start_all(void)
{
    OK(MPI_Allreduce_init(in, out, 3, MPI_INT, MPI_SUM, WORLD, NONE, &request[0]));
    OK(MPI_Bcast_init(other, 100, MPI_INT, root, WORLD, NONE, &request[1]));
    OK(MPI_Alltoallv_init(in, share, at, MPI_INT, &out[100], mine, mine_at, MPI_INT, WORLD, NONE, &request[2]));
    TIMES(2) {
        OK(MPI_Startall(3, request));
        OK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
    }
    TIMES(3)
        OK(MPI_Request_free(&request[i]));
}

/* With point-to-point ones, and on two communicators. */
OP mixed(void)
{
    OK(MPI_Allreduce_init(in, out, 6, MPI_INT, MPI_SUM, WORLD, NONE, &request[0]));
    OK(MPI_Recv_init(other, 99, MPI_INT, previous, 1, WORLD, &request[1]));
    OK(MPI_Send_init(in, 10, MPI_INT, next, 1, WORLD, &request[2]));
    OK(MPI_Neighbor_alltoall_init(in, 4, MPI_INT, &out[100], 4, MPI_INT, line, NONE, &request[3]));
    TIMES(2) {
        OK(MPI_Startall(4, request));
        OK(MPI_Waitall(4, request, MPI_STATUSES_IGNORE));
    }
    TIMES(4)
        OK(MPI_Request_free(&request[i]));
}

/* Never started, and given up: its handle may come again as that of a send that moves nothing. */
OP reused(void)
{
    TIMES(3) {
        OK(MPI_Allreduce_init(in, out, 14, MPI_INT, MPI_MAX, WORLD, NONE, request));
        OK(MPI_Request_free(request));
        OK(MPI_Send_init(in, 5, MPI_INT, MPI_PROC_NULL, 2, WORLD, request));
        OK(MPI_Start(request));
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(request));
    }
}

int main(int argc, char **argv)
{
    const int no = 0;

    OK(MPI_Init(&argc, &argv));
    known_start();
    root = ranks - 1;
    next = (me + 1) % ranks;
    previous = (me + ranks - 1) % ranks;
    for (int i = 0; i < ranks; i++) {
        share[i] = i + 1;
        at[i] = i * (i + 1) / 2;
        mine[i] = me + 1;
        mine_at[i] = i * (me + 1);
    }
    OK(MPI_Cart_create(WORLD, 1, &ranks, &no, 0, &line));
    barrier();
    allreduce();
    bcast();
    gatherv();
    alltoallv();
    exscan();
    neighbours();
    start_all();
    mixed();
    reused();
    OK(MPI_Comm_free(&line));
    OK(MPI_Finalize());
    return 0;
}
