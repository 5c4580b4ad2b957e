/* Every blocking collective, each in a function of its own. Bytes are those of this rank's significant
 * buffers: a root's receive buffer holds a part from every rank, a leaf of a gather has none. A call
 * with MPI_IN_PLACE counts what the same call with two buffers would. In the v- and w-forms rank i's
 * share is i+1 integers, 4*(i+1) bytes; T is the sum of all shares. Rank r of P; the root is R = P-1.
 *
 * @ranks 1 2 4
 * @let R = P-1
 * @let T = 4*P*(P+1)//2
 * @ MPI_Barrier               barrier        count=2
 * @ MPI_Bcast                 bcast          count=2  sent=2*400*(r==R)  received=2*400*(r!=R)
 * @ MPI_Bcast                 bcast_vector   sent=80*(r==R)   received=80*(r!=R)
 * @ MPI_Bcast                 bcast_nothing  sent=0           received=0
 * @ MPI_Gather                gather         sent=40          received=40*P*(r==R)
 * @ MPI_Gather                gather_in_place sent=40         received=40*P*(r==R)
 * @ MPI_Gatherv               gatherv        sent=4*(r+1)     received=T*(r==R)
 * @ MPI_Gatherv               gatherv_in_place sent=4*(r+1)   received=T*(r==R)
 * @ MPI_Scatter               scatter        sent=40*P*(r==R) received=40
 * @ MPI_Scatter               scatter_in_place sent=40*P*(r==R) received=40
 * @ MPI_Scatterv              scatterv       sent=T*(r==R)    received=4*(r+1)
 * @ MPI_Scatterv              scatterv_in_place sent=T*(r==R) received=4*(r+1)
 * @ MPI_Allgather             allgather      sent=24          received=24*P
 * @ MPI_Allgather             allgather_in_place sent=24      received=24*P
 * @ MPI_Allgatherv            allgatherv     sent=4*(r+1)     received=T
 * @ MPI_Allgatherv            allgatherv_in_place sent=4*(r+1) received=T
 * @ MPI_Alltoall              alltoall       sent=16*P        received=16*P
 * @ MPI_Alltoall              alltoall_in_place sent=16*P     received=16*P
 * @ MPI_Alltoallv             alltoallv      sent=T           received=4*(r+1)*P
 * @ MPI_Alltoallv             alltoallv_in_place sent=8*P     received=8*P
 * @ MPI_Alltoallw             alltoallw      sent=T           received=4*(r+1)*P
 * @ MPI_Reduce                reduce         sent=80          received=80*(r==R)
 * @ MPI_Reduce                reduce_in_place sent=80         received=80*(r==R)
 * @ MPI_Allreduce             allreduce      count=3  sent=3*56  received=3*56
 * @ MPI_Allreduce             allreduce_in_place sent=56      received=56
 * @ MPI_Reduce_scatter        reduce_scatter sent=T           received=4*(r+1)
 * @ MPI_Reduce_scatter        reduce_scatter_in_place sent=T  received=4*(r+1)
 * @ MPI_Reduce_scatter_block  reduce_scatter_block sent=12*P  received=12
 * @ MPI_Scan                  scan           sent=64          received=64
 * @ MPI_Scan                  scan_in_place  sent=64          received=64
 * @ MPI_Exscan                exscan         sent=72          received=72*(r>0)
 * @ MPI_Type_vector           bcast_vector
 * @ MPI_Type_commit           bcast_vector
 * @ MPI_Type_free             bcast_vector
 * @ MPI_Init                  main
 * @ MPI_Finalize              main
 */
#include "known.h"

#define MOST 16
static int in[MOST * MOST * 100], out[MOST * MOST * 100];
static int share[MOST], at[MOST], mine[MOST], mine_at[MOST], two[MOST], two_at[MOST];
static int share_at_bytes[MOST], mine_at_bytes[MOST];
static MPI_Datatype ints[MOST];
static int root;

OP barrier(void)
{
    TIMES(2)
        OK(MPI_Barrier(WORLD));
}

OP bcast(void)
{
    TIMES(2)
        OK(MPI_Bcast(in, 100, MPI_INT, root, WORLD));
}

OP bcast_vector(void) /* 5 blocks of 2 doubles */
{
    MPI_Datatype type;

    OK(MPI_Type_vector(5, 2, 4, MPI_DOUBLE, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Bcast(in, 1, type, root, WORLD));
    OK(MPI_Type_free(&type));
}

OP bcast_nothing(void)
{
    OK(MPI_Bcast(NULL, 0, MPI_INT, root, WORLD));
}

OP gather(void) /* a leaf's receive arguments mean nothing */
{
    MPI_Datatype type = me == root ? MPI_INT : MPI_DATATYPE_NULL;

    OK(MPI_Gather(in, 10, MPI_INT, me == root ? out : NULL, me == root ? 10 : -1, type, root, WORLD));
}

OP gather_in_place(void)
{
    OK(MPI_Gather(me == root ? MPI_IN_PLACE : in, 10, MPI_INT, out, 10, MPI_INT, root, WORLD));
}

OP gatherv(void)
{
    OK(MPI_Gatherv(in, me + 1, MPI_INT, out, me == root ? share : NULL, at, MPI_INT, root, WORLD));
}

OP gatherv_in_place(void)
{
    OK(MPI_Gatherv(me == root ? MPI_IN_PLACE : in, me + 1, MPI_INT, out, share, at, MPI_INT, root, WORLD));
}

OP scatter(void)
{
    OK(MPI_Scatter(in, 10, MPI_INT, out, 10, MPI_INT, root, WORLD));
}

OP scatter_in_place(void)
{
    OK(MPI_Scatter(in, 10, MPI_INT, me == root ? MPI_IN_PLACE : out, 10, MPI_INT, root, WORLD));
}

OP scatterv(void)
{
    OK(MPI_Scatterv(in, me == root ? share : NULL, at, MPI_INT, out, me + 1, MPI_INT, root, WORLD));
}

OP scatterv_in_place(void)
{
    OK(MPI_Scatterv(in, share, at, MPI_INT, me == root ? MPI_IN_PLACE : out, me + 1, MPI_INT, root, WORLD));
}

OP allgather(void)
{
    OK(MPI_Allgather(in, 6, MPI_INT, out, 6, MPI_INT, WORLD));
}

OP allgather_in_place(void)
{
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 6, MPI_INT, WORLD));
}

OP allgatherv(void)
{
    OK(MPI_Allgatherv(in, me + 1, MPI_INT, out, share, at, MPI_INT, WORLD));
}

OP allgatherv_in_place(void)
{
    OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, share, at, MPI_INT, WORLD));
}

OP alltoall(void)
{
    OK(MPI_Alltoall(in, 4, MPI_INT, out, 4, MPI_INT, WORLD));
}

OP alltoall_in_place(void)
{
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 4, MPI_INT, WORLD));
}

OP alltoallv(void) /* to rank i: i+1 integers */
{
    OK(MPI_Alltoallv(in, share, at, MPI_INT, out, mine, mine_at, MPI_INT, WORLD));
}

OP alltoallv_in_place(void)
{
    OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, out, two, two_at, MPI_INT, WORLD));
}

OP alltoallw(void)
{
    OK(MPI_Alltoallw(in, share, share_at_bytes, ints, out, mine, mine_at_bytes, ints, WORLD));
}

OP reduce(void)
{
    OK(MPI_Reduce(in, me == root ? out : NULL, 20, MPI_INT, MPI_SUM, root, WORLD));
}

OP reduce_in_place(void)
{
    OK(MPI_Reduce(me == root ? MPI_IN_PLACE : in, out, 20, MPI_INT, MPI_SUM, root, WORLD));
}

OP allreduce(void)
{
    TIMES(3)
        OK(MPI_Allreduce(in, out, 14, MPI_INT, MPI_MAX, WORLD));
}

OP allreduce_in_place(void)
{
    OK(MPI_Allreduce(MPI_IN_PLACE, out, 14, MPI_INT, MPI_MAX, WORLD));
}

OP reduce_scatter(void)
{
    OK(MPI_Reduce_scatter(in, out, share, MPI_INT, MPI_SUM, WORLD));
}

OP reduce_scatter_in_place(void)
{
    OK(MPI_Reduce_scatter(MPI_IN_PLACE, out, share, MPI_INT, MPI_SUM, WORLD));
}

OP reduce_scatter_block(void)
{
    OK(MPI_Reduce_scatter_block(in, out, 3, MPI_INT, MPI_SUM, WORLD));
}

OP scan(void)
{
    OK(MPI_Scan(in, out, 8, MPI_LONG_LONG, MPI_SUM, WORLD));
}

OP scan_in_place(void)
{
    OK(MPI_Scan(MPI_IN_PLACE, out, 8, MPI_LONG_LONG, MPI_SUM, WORLD));
}

OP exscan(void)
{
    OK(MPI_Exscan(in, out, 9, MPI_LONG_LONG, MPI_SUM, WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    root = ranks - 1;
    for (int i = 0; i < ranks; i++) {
        share[i] = i + 1;
        at[i] = i * (i + 1) / 2;
        mine[i] = me + 1;
        mine_at[i] = i * (me + 1);
        two[i] = 2;
        two_at[i] = 2 * i;
        share_at_bytes[i] = 4 * at[i];
        mine_at_bytes[i] = 4 * mine_at[i];
        ints[i] = MPI_INT;
    }
    barrier();
    bcast();
    bcast_vector();
    bcast_nothing();
    gather();
    gather_in_place();
    gatherv();
    gatherv_in_place();
    scatter();
    scatter_in_place();
    scatterv();
    scatterv_in_place();
    allgather();
    allgather_in_place();
    allgatherv();
    allgatherv_in_place();
    alltoall();
    alltoall_in_place();
    alltoallv();
    alltoallv_in_place();
    alltoallw();
    reduce();
    reduce_in_place();
    allreduce();
    allreduce_in_place();
    reduce_scatter();
    reduce_scatter_in_place();
    reduce_scatter_block();
    scan();
    scan_in_place();
    exscan();
    OK(MPI_Finalize());
    return 0;
}
