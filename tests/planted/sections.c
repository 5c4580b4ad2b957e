/* Steps that are sections by number. In each, rank r sends r + 1 messages of 1000 * (r + 1) bytes to the next rank. Step LONGEST
 * takes three times as long. With an argument steps take so much time of the processor: the same on a busy machine. */
#include <fvmpi.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS   46
#define LONGEST 17

static clockid_t of = CLOCK_MONOTONIC;

static void spin(double seconds)
{
    struct timespec t;
    double until = 0;

    do {
        clock_gettime(of, &t);
        until = until > 0 ? until : (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + seconds;
    } while ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec < until);
}

static void exchange(int rank, int ranks)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, most = 1000 * ranks;
    char *in = malloc((size_t)most), *out = calloc(1, (size_t)most);
    MPI_Request *sends = malloc(sizeof(*sends) * (size_t)ranks);

    for (int i = 0; i <= rank; i++)
        MPI_Isend(out, 1000 * (rank + 1), MPI_BYTE, next, 0, MPI_COMM_WORLD, &sends[i]);
    for (int i = 0; i <= before; i++)
        MPI_Recv(in, most, MPI_BYTE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(rank + 1, sends, MPI_STATUSES_IGNORE);
    free(sends);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    int rank, ranks;

    MPI_Init(&argc, &argv);
    if (argc > 1)
        of = CLOCK_THREAD_CPUTIME_ID;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 1; step <= STEPS; step++) {
        fvmpi_section_begin("step", step, 0);
        spin(step == LONGEST ? 0.2 : 0.002);
        exchange(rank, ranks);
        fvmpi_section_end("step", step, 0);
    }
    fvmpi_section_begin("last", 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    fvmpi_section_end("last", 0, 0);
    MPI_Finalize();
    return 0;
}
