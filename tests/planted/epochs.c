/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 begins an epoch in each step before rank 1, its target, exposes the window: all of rank 0's calls wait, none is
 * fast, and no other rank makes such calls. */
#include <mpi.h>
#include <time.h>

enum { STEPS = 10, PAUSE_NS = 20000000 };

int main(int argc, char **argv)
{
    const struct timespec pause = { 0, PAUSE_NS };
    int window_of[4] = { 0 }, mine[4] = { 1 }, rank, other;
    MPI_Group world, peer;
    MPI_Win window;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    MPI_Win_create(window_of, sizeof(window_of), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < STEPS; i++) {
        if (rank == 0) {
            MPI_Win_start(peer, 0, window);
            MPI_Put(mine, 4, MPI_INT, 1, 0, 4, MPI_INT, window);
            MPI_Win_complete(window);
        } else {
            nanosleep(&pause, NULL);
            MPI_Win_post(peer, 0, window);
            MPI_Win_wait(window);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&peer);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
