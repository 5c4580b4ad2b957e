/* What begin and end of a section cost, beside two clock reads; best of many batches. Run it under fvmpi, and
 * without, where it shows what is left of them in a program that nobody measures. Nothing here gates. */
#include "fvmpi.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { BATCHES = 200, PAIRS = 1000 };

static const char *volatile name = "solve", *volatile longer =
                                                "conjugate_gradient_iteration_with_preconditioner";
static volatile uint64_t sink;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* As fvmpi reads it. */
static uint64_t read_clock(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return now();
#endif
}

static void clocks(void)
{
    for (int i = 0; i < PAIRS; i++) {
        sink = read_clock();
        sink = read_clock();
    }
}

static void pairs(void)
{
    for (int i = 0; i < PAIRS; i++) {
        fvmpi_section_begin(name, 0, 0);
        fvmpi_section_end(name, 0, 0);
    }
}

static void nested_pairs(void)
{
    for (int i = 0; i < PAIRS / 4; i++) {
        for (int k = 0; k < 4; k++)
            fvmpi_section_begin(name, k, 0);
        for (int k = 3; k >= 0; k--)
            fvmpi_section_end(name, k, 0);
    }
}

static void long_pairs(void)
{
    for (int i = 0; i < PAIRS; i++) {
        fvmpi_section_begin(longer, 0, 0);
        fvmpi_section_end(longer, 0, 0);
    }
}

static void above_level(void)
{
    for (int i = 0; i < PAIRS; i++) {
        fvmpi_section_begin(name, 0, 9);
        fvmpi_section_end(name, 0, 9);
    }
}

static double best(void (*batch)(void))
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < BATCHES; i++) {
        uint64_t begin = now();

        batch();
        uint64_t ns = now() - begin;
        least = ns < least ? ns : least;
    }
    return (double)least / PAIRS;
}

int main(void)
{
    static const struct {
        const char *what;
        void (*batch)(void);
    } rows[] = {
        { "begin + end", pairs },
        { "begin + end, four nested", nested_pairs },
        { "begin + end, name of 48 bytes", long_pairs },
        { "begin + end, above the level", above_level },
    };
    double two = best(clocks);

    printf("  %-32s %7.1f ns\n", "two clock reads", two);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        double ns = best(rows[i].batch);

        printf("  %-32s %7.1f ns %5.1fx\n", rows[i].what, ns, ns / two);
    }
    return 0;
}
