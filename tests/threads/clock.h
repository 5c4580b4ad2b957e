/* What programs here measure themselves by, and a wait that takes no processor. */
#ifndef TESTS_THREADS_CLOCK_H
#define TESTS_THREADS_CLOCK_H

#include "../mpi/lost.h"

#include <stdint.h>
#include <time.h>

static inline int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline void pause_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

    nanosleep(&t, NULL);
}

#endif
