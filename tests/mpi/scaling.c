/* For fvmpi scaling: scaling WORK COPIED UNEVEN, in milliseconds. WORK is divided among the ranks, COPIED is done by each, and rank 0 alone does UNEVEN. It is slept,
 * so that ranks take nothing from each other. */
#include <fvmpi.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 4

static void sleep_ms(double ms)
{
    usleep((useconds_t)(1000 * ms / ROUNDS));
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS && argc > 3; i++) {
        fvmpi_section_begin("divided", 0, 0);
        sleep_ms(atof(argv[1]) / size);
        fvmpi_section_end("divided", 0, 0);
        fvmpi_section_begin("copied", 0, 0);
        sleep_ms(atof(argv[2]));
        fvmpi_section_end("copied", 0, 0);
        if (!rank)
            sleep_ms(atof(argv[3]));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
