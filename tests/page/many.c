/* SPDX-License-Identifier: BSD-3-Clause */
/* More calls than a small page takes for its timeline, and more call paths than it takes for its tables: 500 calls of
 * each rank by one path, and 8,192 by one each. */
#include <mpi.h>

#define DEEP 13

static int rank;
static volatile int calls;

/* Each of both calls is another path. */
__attribute__((noinline)) static void walk(int deep)
{
    if (!deep) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        calls++;
        return;
    }
    walk(deep - 1);
    calls += 0;
    walk(deep - 1);
    calls += 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 500; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    walk(DEEP);
    MPI_Finalize();
    return 0;
}
