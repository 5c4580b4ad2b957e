/* Neighbourhood collectives on a periodic ring (2 neighbours each) and on a line, where
 * what is beyond the ends is MPI_PROC_NULL and moves nothing; N is the number of neighbours on the line.
 *
 * @ranks 3
 * @let N = (r>0)+(r<P-1)
 * @ MPI_Neighbor_allgather  ring_allgather   sent=12    received=2*12
 * @ MPI_Neighbor_alltoall   ring_alltoall    sent=2*16  received=2*16
 * @ MPI_Neighbor_alltoallv  ring_alltoallv   sent=4+8   received=4+8
 * @ MPI_Ineighbor_alltoall  ring_ialltoall   sent=2*20  received=2*20
 * @ MPI_Wait                ring_ialltoall
 * @ MPI_Neighbor_alltoall   line_alltoall    sent=16*N  received=16*N
 * @ MPI_Sendrecv            line_shift       sent=40*(r<P-1) received=40*(r>0)
 * @ MPI_Cart_create         main             sites=2
 * @ MPI_Cart_shift          line_shift
 * @ MPI_Comm_free           main             sites=2
 * @ MPI_Init                main
 * @ MPI_Finalize            main
 */
#include "known.h"

static int in[1000], out[1000];
static MPI_Comm ring, row;

OP ring_allgather(void)
{
    OK(MPI_Neighbor_allgather(in, 3, MPI_INT, out, 3, MPI_INT, ring));
}

OP ring_alltoall(void)
{
    OK(MPI_Neighbor_alltoall(in, 4, MPI_INT, out, 4, MPI_INT, ring));
}

/* 1 integer to the left, 2 to the right; so 2 come from the left and 1 from the right. */
OP ring_alltoallv(void)
{
    const int send[2] = { 1, 2 }, recv[2] = { 2, 1 }, at[2] = { 0, 10 };

    OK(MPI_Neighbor_alltoallv(in, send, at, MPI_INT, out, recv, at, MPI_INT, ring));
}

OP ring_ialltoall(void)
{
    MPI_Request request;

    OK(MPI_Ineighbor_alltoall(in, 5, MPI_INT, out, 5, MPI_INT, ring, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

OP line_alltoall(void)
{
    OK(MPI_Neighbor_alltoall(in, 4, MPI_INT, out, 4, MPI_INT, row));
}

OP line_shift(void)
{
    int from, to;

    OK(MPI_Cart_shift(row, 0, 1, &from, &to));
    OK(MPI_Sendrecv(in, 10, MPI_INT, to, 5, out, 10, MPI_INT, from, 5, row, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    const int yes = 1, no = 0;

    OK(MPI_Init(&argc, &argv));
    known_start();
    OK(MPI_Cart_create(WORLD, 1, &ranks, &yes, 0, &ring));
    OK(MPI_Cart_create(WORLD, 1, &ranks, &no, 0, &row));
    ring_allgather();
    ring_alltoall();
    ring_alltoallv();
    ring_ialltoall();
    line_alltoall();
    line_shift();
    OK(MPI_Comm_free(&ring));
    OK(MPI_Comm_free(&row));
    OK(MPI_Finalize());
    return 0;
}
