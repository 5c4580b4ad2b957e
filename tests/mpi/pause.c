/* fvmpi.h in a program relinked with -lfvmpi (and started without fvmpi run): fvmpi_pause() and
 * fvmpi_resume() are what MPI_Pcontrol(0) and (1) are, fvmpi_version() names the version.
 *
 *     MPI_Barrier in recorded 3, in paused 0, in resumed 4
 */
#include "known.h"

#include <fvmpi.h>

OP recorded(void)
{
    TIMES(3)
        OK(MPI_Barrier(WORLD));
}

OP paused(void)
{
    TIMES(5)
        OK(MPI_Barrier(WORLD));
}

OP resumed(void)
{
    TIMES(4)
        OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
    fvmpi_pause(); /* before MPI_Init nothing can be paused: no harm */
    fvmpi_resume();
    OK(MPI_Init(&argc, &argv));
    known_start();
    recorded();
    fvmpi_pause();
    paused();
    fvmpi_resume();
    resumed();
    OK(MPI_Finalize());
    if (me == 0)
        printf("version %s\n", fvmpi_version());
    return 0;
}
