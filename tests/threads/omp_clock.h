/* How programs with OpenMP wait without a processor, and tell what they measured. */
#ifndef TESTS_THREADS_OMP_CLOCK_H
#define TESTS_THREADS_OMP_CLOCK_H

#include "../mpi/lost.h"

#include <omp.h>
#include <stdbool.h>
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

/* With what other programs may have taken from it, in ns; measured.py. */
static inline void truth(const char *name, double seconds, int64_t less, int64_t more)
{
    printf("truth %s %.0f %lld %lld\n", name, 1e9 * seconds, (long long)less, (long long)more);
}

/* What members of a team lost between their reading of the clock, arrive(), and what they came to. Where that
 * is the team's end they can say so only in a later region: settle(). */
static struct {
    int64_t lost;
    bool is_open;
} arrival[64];

static inline double arrive(void)
{
    int me = omp_get_thread_num();

    arrival[me].lost = lost_ns();
    arrival[me].is_open = true;
    return omp_get_wtime();
}

static __attribute__((noinline, unused)) void settle(int64_t *lost)
{
    int me = omp_get_thread_num();

    if (arrival[me].is_open)
        __atomic_fetch_add(lost, lost_ns() - arrival[me].lost, __ATOMIC_RELAXED);
    arrival[me].is_open = false;
}

static __attribute__((noinline, unused)) int64_t team_lost(int threads)
{
    int64_t lost = 0;

#pragma omp parallel num_threads(threads)
    settle(&lost);
    return lost;
}

#endif
