/* MPI calls within sections, with known answers, on two ranks. Prints when ranks really came to barriers, as
 * "at ROUND BARRIER RANK SECONDS": both ranks read one clock. */
#include "fvmpi.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char buffer[2 << 20];
static int rank;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* From one call site, whatever section it is in. */
__attribute__((noinline)) static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void move(int bytes)
{
    if (rank == 0)
        MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    __asm__ volatile("" ::: "memory");
}

/* Messages of each class, at its edges: 3 + 4 + 2 + 2. */
static void sizes(void)
{
    static const int bytes[] = { 1, 100, 4095, 4096, 5000, 65535, 65535, 65536, 1048575, 1048576, 2 << 20 };

    fvmpi_section_begin("sizes", 0, 0);
    for (unsigned i = 0; i < sizeof(bytes) / sizeof(*bytes); i++)
        move(bytes[i]);
    move(0);
    fvmpi_section_end("sizes", 0, 0);
}

static void rounds(void)
{
    for (int i = 0; i < 4; i++) {
        double at[2];

        fvmpi_section_begin("round", i, 0);
        at[0] = now();
        meet();
        if (rank == i % 2)
            usleep(40000 * (unsigned)(i + 1));
        at[1] = now();
        meet();
        fvmpi_section_end("round", i, 0);
        printf("at %d 0 %d %.6f\nat %d 1 %d %.6f\n", i, rank, at[0], i, rank, at[1]);
    }
}

static void overlap(void)
{
    fvmpi_section_begin("A", 0, 0);
    meet();
    fvmpi_section_begin("B", 0, 0);
    meet();
    meet();
    fvmpi_section_end("A", 0, 0);
    meet();
    meet();
    meet();
    fvmpi_section_end("B", 0, 0);
    meet();
}

/* Bytes belong to the section that the receive was posted in. */
static void requests(void)
{
    MPI_Request request;

    fvmpi_section_begin("post", 0, 0);
    if (rank == 1)
        MPI_Irecv(buffer, sizeof(buffer), MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
    fvmpi_section_end("post", 0, 0);
    fvmpi_section_begin("complete", 0, 0);
    if (rank == 1)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        MPI_Send(buffer, 70000, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    fvmpi_section_end("complete", 0, 0);
}

int main(int argc, char **argv)
{
    fvmpi_section_begin("too early", 0, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && !strcmp(argv[1], "none")) {
        move(10);
        MPI_Finalize();
        return 0;
    }
    fvmpi_section_begin("nearly all", 0, 0);
    sizes();
    rounds();
    overlap();
    requests();
    if (rank == 0) {
        fvmpi_section_begin("rank 0 only", 0, 0);
        fvmpi_section_end("rank 0 only", 0, 0);
    }
    MPI_Finalize();
    fvmpi_section_end("nearly all", 0, 0);
    fvmpi_section_end("too early", 0, 0);
    return 0;
}
