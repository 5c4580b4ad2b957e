/* Barriers before which all ranks rest for 5 ms, and one rank for longer.
 *
 *     hosts_late RANK MS         -1 0: none
 */
#include "known.h"

OP barriers(int late, int ms)
{
    TIMES(40)
    {
        usleep(5000 + (me == late ? (unsigned)ms * 1000 : 0));
        OK(MPI_Barrier(WORLD));
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    PMPI_Barrier(WORLD);
    barriers(atoi(argv[1]), atoi(argv[2]));
    PMPI_Barrier(WORLD);
    exit(0); /* as in hosts.c */
}
