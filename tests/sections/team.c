/* Sections around and inside of OpenMP's parallel regions, and of threads that end in them: with --trace and
 * --threads, all must nest. */
#include "fvmpi.h"

#include <omp.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *arg)
{
    fvmpi_section_begin("left open", 0, 0);
    pthread_mutex_lock(&mutex);
    usleep(2000);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    pthread_t thread[2];

    fvmpi_section_begin("around", 0, 0);
    for (int round = 0; round < 2; round++) {
#pragma omp parallel num_threads(2)
        {
            fvmpi_section_begin("inside", 0, 0);
            fvmpi_section_begin("across", omp_get_thread_num(), 0);
            usleep(3000);
            fvmpi_section_end("inside", 0, 0);
#pragma omp barrier
#pragma omp critical
            usleep(1000);
        } /* "across" is open in the next region, too */
    }
    fvmpi_section_end("around", 0, 0);
    fvmpi_section_begin("creates", 0, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    fvmpi_section_end("creates", 0, 0);
    return 0;
}
