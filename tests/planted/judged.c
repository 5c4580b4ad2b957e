/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting that fvmpi cannot judge, or not exactly, by its argument: files: a profile does not know who waits in a
 * collective call on a file. world: a trace has nothing of the processes of another MPI_COMM_WORLD. threads: of a rank's
 * threads in MPI the main one waits less. */
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 20 };

static int rank;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

static void files(const char *path)
{
    MPI_File file;
    char byte = 1;

    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 0; i < ROUNDS; i++) {
        pause_ms(rank ? 30 : 1);
        MPI_File_write_at_all(file, 2 * i + rank, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

static void sum_with(MPI_Comm others, long ms)
{
    double one = 1, sum;

    for (int i = 0; i < ROUNDS; i++) {
        pause_ms(ms);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, others);
    }
}

static void world(char *program)
{
    char *argv[] = { "child", NULL };
    MPI_Comm others;

    MPI_Comm_spawn(program, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
    sum_with(others, 1);
    MPI_Comm_disconnect(&others);
}

static void child(void)
{
    MPI_Comm parent;

    MPI_Comm_get_parent(&parent);
    sum_with(parent, 30);
    MPI_Comm_disconnect(&parent);
}

static void *second(void *comm)
{
    sum_with(*(MPI_Comm *)comm, rank ? 30 : 1);
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    MPI_Comm own;

    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    pthread_create(&thread, NULL, second, &own);
    sum_with(MPI_COMM_WORLD, 1);
    pthread_join(thread, NULL);
    MPI_Comm_free(&own);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided;

    MPI_Init_thread(&argc, &argv, strcmp(what, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(what, "files") && argc > 2)
        files(argv[2]);
    if (!strcmp(what, "world"))
        world(argv[0]);
    if (!strcmp(what, "child"))
        child();
    if (!strcmp(what, "threads") && provided == MPI_THREAD_MULTIPLE)
        threads();
    MPI_Finalize();
    return 0;
}
