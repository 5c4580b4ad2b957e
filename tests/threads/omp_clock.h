/* How programs with OpenMP wait without a processor, and tell what they measured. */
#ifndef TESTS_THREADS_OMP_CLOCK_H
#define TESTS_THREADS_OMP_CLOCK_H

#include <omp.h>
#include <stdio.h>
#include <time.h>

/* Two threads on one processor wait for the same time. */
static inline void hold(double ms)
{
    double until = omp_get_wtime() + 1e-3 * ms, left;

    while ((left = until - omp_get_wtime()) > 0) {
        struct timespec t = { .tv_nsec = (long)(1e9 * left) };

        nanosleep(&t, NULL);
    }
}

static inline void truth(const char *name, double seconds)
{
    printf("truth %s %.0f\n", name, 1e9 * seconds);
}

#endif
