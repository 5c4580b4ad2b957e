/* Regions that are long enough for a viewer to draw each of them: ranks wait for each other in turn. With an argument it also does what other options
 * record: a thread that waits for a lock, a file, memory, sections. */
#include "fvmpi.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 6

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double sink;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) static void compute(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        for (int i = 1; i < 1000; i++)
            sink += 1.0 / i;
}

static void *wait_for_lock(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void do_all(void)
{
    FILE *file = tmpfile();
    void *memory = malloc(1 << 20);
    pthread_t thread;

    fvmpi_section_begin("all", 0, 0);
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, wait_for_lock, NULL);
    compute(0.01);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    if (file && memory) {
        memset(memory, 1, 1 << 20);
        fwrite(memory, 1, 1 << 20, file);
        fclose(file);
    }
    free(memory);
    fvmpi_section_end("all", 0, 0);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1)
        do_all();
    for (int i = 0; i < ROUNDS; i++) {
        compute(i % 2 == rank % 2 ? 0.04 : 0.01);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
