/* Collectives on an intercommunicator between rank 0 (group A, 1 rank) and the others (group B, P-1
 * ranks). Each rank exchanges with the remote group: A = rank 0 is the root of rooted operations and
 * passes MPI_ROOT; B's ranks name it by its rank 0. Then one of B is the root, and the rest of B passes
 * MPI_PROC_NULL and moves nothing.
 *
 * @ranks 2 4
 * @let B = P-1
 * @ MPI_Barrier        barrier
 * @ MPI_Bcast          bcast_from_a   sent=40*(r==0)    received=40*(r>0)
 * @ MPI_Bcast          bcast_from_b   sent=40*(r==1)    received=40*(r==0)
 * @ MPI_Gather         gather_to_a    sent=12*(r>0)     received=12*B*(r==0)
 * @ MPI_Scatter        scatter_from_a sent=12*B*(r==0)  received=12*(r>0)
 * @ MPI_Reduce         reduce_to_a    sent=24*(r>0)     received=24*(r==0)
 * @ MPI_Allreduce      allreduce      sent=16           received=16
 * @ MPI_Allgather      allgather      sent=20           received=20*B*(r==0)+20*(r>0)
 * @ MPI_Alltoall       alltoall       sent=8*B*(r==0)+8*(r>0)  received=8*B*(r==0)+8*(r>0)
 * @ MPI_Send           to_a           count=r>0         sent=28*(r>0)
 * @ MPI_Recv           to_a           count=B*(r==0)    received=28*B*(r==0)
 * @ MPI_Comm_split     main
 * @ MPI_Intercomm_create main
 * @ MPI_Comm_free      main           sites=2
 * @ MPI_Init           main
 * @ MPI_Finalize       main
 */
#include "known.h"

static int in[1000], out[1000];
static MPI_Comm inter;
static int a; /* in group A */

OP barrier(void)
{
    OK(MPI_Barrier(inter));
}

OP bcast_from_a(void)
{
    OK(MPI_Bcast(in, 10, MPI_INT, a ? MPI_ROOT : 0, inter));
}

OP bcast_from_b(void)
{
    OK(MPI_Bcast(in, 10, MPI_INT, a ? 0 : me == 1 ? MPI_ROOT : MPI_PROC_NULL, inter));
}

OP gather_to_a(void)
{
    OK(MPI_Gather(in, 3, MPI_INT, out, 3, MPI_INT, a ? MPI_ROOT : 0, inter));
}

OP scatter_from_a(void)
{
    OK(MPI_Scatter(in, 3, MPI_INT, out, 3, MPI_INT, a ? MPI_ROOT : 0, inter));
}

OP reduce_to_a(void)
{
    OK(MPI_Reduce(in, out, 6, MPI_INT, MPI_SUM, a ? MPI_ROOT : 0, inter));
}

OP allreduce(void)
{
    OK(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, inter));
}

OP allgather(void)
{
    OK(MPI_Allgather(in, 5, MPI_INT, out, 5, MPI_INT, inter));
}

OP alltoall(void)
{
    OK(MPI_Alltoall(in, 2, MPI_INT, out, 2, MPI_INT, inter));
}

OP to_a(void)
{
    if (!a)
        OK(MPI_Send(in, 7, MPI_INT, 0, 3, inter));
    for (int i = 0; a && i < ranks - 1; i++)
        OK(MPI_Recv(out, 7, MPI_INT, i, 3, inter, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_Comm half;

    OK(MPI_Init(&argc, &argv));
    known_start();
    a = me == 0;
    OK(MPI_Comm_split(WORLD, a, me, &half));
    OK(MPI_Intercomm_create(half, 0, WORLD, a ? 1 : 0, 77, &inter));
    barrier();
    bcast_from_a();
    bcast_from_b();
    gather_to_a();
    scatter_from_a();
    reduce_to_a();
    allreduce();
    allgather();
    alltoall();
    to_a();
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    OK(MPI_Finalize());
    return 0;
}
