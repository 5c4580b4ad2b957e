/* Two barriers, in meet(). */
#include "known.h"

OP meet(void)
{
    TIMES(2)
        OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    meet();
    OK(MPI_Finalize());
    return 0;
}
