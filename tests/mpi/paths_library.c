/* The shared library of paths.c; compiled as the linked library, and as each plugin, whose function PLUGIN names. */
#include "known.h"

static double value, sum;

#ifndef PLUGIN
OP shared_step(void)
{
    OK(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF));
}

void in_library(int n)
{
    for (int i = 0; i < n; i++)
        shared_step();
    value = n;
}
#else
void PLUGIN(void (*callback)(void))
{
    OK(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF));
    callback(); /* calls called_back */
    value += 1;
}
#endif
