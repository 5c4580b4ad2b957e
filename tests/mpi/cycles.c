/* 400,000 duplicates of a communicator, one after the other. Prints `KiB` and what is resident after 100,000 of
 * them, by when fvmpi describes no more of them, and after all. */
#include "known.h"

static void tell_resident(void)
{
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");

    while (status && fgets(line, sizeof(line), status))
        if (!strncmp(line, "VmRSS:", 6))
            printf("KiB %ld\n", atol(line + 6));
    if (status)
        fclose(status);
}

OP cycles(int n)
{
    TIMES(n) {
        MPI_Comm comm;

        OK(MPI_Comm_dup(WORLD, &comm));
        OK(MPI_Comm_free(&comm));
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    cycles(100000);
    tell_resident();
    cycles(300000);
    tell_resident();
    OK(MPI_Finalize());
    return 0;
}
