/* Waiting for locks inside of sections, as the program's own clock knows it: prints, for each section,
 * "lock RANK NAME NUMBER SECONDS FAULTS SWITCHES" of the main thread. With -DWITH_MPI on each rank. */
#include "fvmpi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

enum { HOLD_US = 10000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int held, wanted, rank; /* atomic: rounds that the holder has it for, that main wants it for */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int seen(const int *number)
{
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static void *hold(void *rounds)
{
    fvmpi_section_begin("holder", 0, 0);
    fvmpi_section_begin("both", 0, 0);
    for (int i = 1; i <= *(int *)rounds; i++) {
        while (seen(&wanted) < i)
            usleep(200);
        pthread_mutex_lock(&mutex);
        __atomic_store_n(&held, i, __ATOMIC_RELEASE);
        usleep(HOLD_US);
        pthread_mutex_unlock(&mutex);
    }
    fvmpi_section_end("both", 0, 0);
    fvmpi_section_end("holder", 0, 0);
    return NULL;
}

static double wait_once(void)
{
    int round = seen(&wanted) + 1;

    __atomic_store_n(&wanted, round, __ATOMIC_RELEASE);
    while (seen(&held) < round)
        usleep(200);
    double t = now();
    pthread_mutex_lock(&mutex);
    t = now() - t;
    pthread_mutex_unlock(&mutex);
    return t;
}

static double section(const char *name, int number, int rounds, double (*inner)(void))
{
    struct rusage before, after;
    double waited = 0;

    fvmpi_section_begin(name, number, 0);
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < rounds; i++)
        waited += wait_once();
    for (int i = 0; i < 1000; i++) { /* nobody else wants it */
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    volatile char *page = malloc(8 << 20);
    for (long i = 0; i < number << 20; i += 4096)
        page[i] = 1;
    waited += inner ? inner() : 0;
    getrusage(RUSAGE_THREAD, &after);
    fvmpi_section_end(name, number, 0);
    free((void *)page);
    printf("lock %d %s %d %.6f %ld %ld\n", rank, name, number, waited,
           after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt,
           after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw);
    return waited;
}

static double within(void)
{
    return section("inner", 2, 3, NULL);
}

int main(int argc, char **argv)
{
    int rounds = 14;
    pthread_t thread;

#ifdef WITH_MPI
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#else
    (void)argc, (void)argv;
#endif
    pthread_create(&thread, NULL, hold, &rounds);
    section("plain", 1, 6, NULL);
    section("outer", 4, 3, within);
    section("free", 0, 0, NULL);
    fvmpi_section_begin("both", 0, 0);
    printf("lock %d both 0 %.6f -1 -1\n", rank, wait_once() + wait_once());
    fvmpi_section_end("both", 0, 0);
    pthread_join(thread, NULL);
#ifdef WITH_MPI
    fvmpi_section_begin("calls", 0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    fvmpi_section_end("calls", 0, 0);
    MPI_Finalize();
#endif
    return 0;
}
