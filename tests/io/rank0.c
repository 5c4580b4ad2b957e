/* Rank 0 writes a file, synchronously, in each step; the others wait for it. argv[1]: the file. Prints how long the writing took, in seconds. And all
 * ranks write a file by MPI-IO. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double written_s;

__attribute__((noinline)) static void snapshot(const char *file)
{
    static char block[4096];
    double begin = MPI_Wtime();
    int fd = open(file, O_CREAT | O_TRUNC | O_WRONLY, 0600);

    if (fd < 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    do {
        if (write(fd, block, sizeof(block)) != sizeof(block) || fdatasync(fd))
            MPI_Abort(MPI_COMM_WORLD, 3);
    } while (MPI_Wtime() - begin < 0.05);
    close(fd);
    written_s += MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    int rank, value = 0, sum;
    char shared[4096], text[100] = "";
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (!rank)
            snapshot(argv[1]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    snprintf(shared, sizeof(shared), "%s.shared", argv[1]);
    MPI_File_open(MPI_COMM_WORLD, shared, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 100 * rank, text, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (!rank)
        printf("%.6f\n", written_s);
    MPI_Finalize();
    return 0;
}
