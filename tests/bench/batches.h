/* What something costs: the best of many batches, which nothing else disturbed. */
#ifndef BATCHES_H
#define BATCHES_H

#include <stdint.h>
#include <time.h>

enum { BATCHES = 200 };
#define NOT_INSTRUMENTED static inline __attribute__((unused, no_instrument_function))

NOT_INSTRUMENTED uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* As fvmpi reads it. */
NOT_INSTRUMENTED uint64_t read_clock(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return now_ns();
#endif
}

/* Of one of the batch's, in ns. */
NOT_INSTRUMENTED double best_ns(void (*batch)(void), unsigned count)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < BATCHES; i++) {
        uint64_t begin = now_ns();

        batch();
        uint64_t ns = now_ns() - begin;
        best = ns < best ? ns : best;
    }
    return (double)best / count;
}

#endif
