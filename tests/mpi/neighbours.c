/* Communicators with a topology, on 4 ranks, named after what they are: a grid of 2 x 2, open in the first dimension and
 * closed in the second; its rows; a duplicate of it; a graph; a distributed graph where each rank receives from the next
 * and sends to the one before, weighted or by edges that any rank tells; and one without. Prints nothing. */
#include "known.h"

static int in[64], out[64];

static void name_it(MPI_Comm comm, const char *name)
{
    OK(MPI_Comm_set_name(comm, name));
}

static void exchange(MPI_Comm comm)
{
    OK(MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm));
}

static void grids(void)
{
    const int sides[2] = { 2, 2 }, closed[2] = { 0, 1 }, keep[2] = { 0, 1 };
    int at[2];
    MPI_Comm grid, rows, copy, later, plain;
    MPI_Request request;

    OK(MPI_Cart_create(WORLD, 2, sides, closed, 0, &grid));
    OK(MPI_Cart_coords(grid, me, 2, at));
    if (at[0] != me / 2 || at[1] != me % 2)
        known_failed(__LINE__);
    OK(MPI_Cart_sub(grid, keep, &rows));
    OK(MPI_Comm_dup(grid, &copy));
    OK(MPI_Comm_idup(grid, &later, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_split(grid, 0, me, &plain));
    name_it(grid, "grid"), name_it(rows, "rows"), name_it(copy, "copy"), name_it(later, "later");
    name_it(plain, "plain");
    exchange(copy);
}

static void graphs(void)
{
    const int index[4] = { 3, 4, 5, 6 }, edges[6] = { 1, 2, 3, 0, 0, 0 };
    const int before[1] = { (me + 3) % 4 }, next[1] = { (me + 1) % 4 }, weight[1] = { 7 }, one[1] = { 1 };
    MPI_Comm star, ring, told;

    OK(MPI_Graph_create(WORLD, 4, index, edges, 0, &star));
    OK(MPI_Dist_graph_create_adjacent(WORLD, 1, next, weight, 1, before, weight, MPI_INFO_NULL, 0, &ring));
    /* each tells of the edge from the next rank to the one after it */
    OK(MPI_Dist_graph_create(WORLD, 1, next, one, (const int[]){ (me + 2) % 4 }, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                             &told));
    name_it(star, "star"), name_it(ring, "ring"), name_it(told, "told");
    exchange(star);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    grids();
    graphs();
    OK(MPI_Finalize());
    return 0;
}
