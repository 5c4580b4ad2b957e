/* What a call of an instrumented function costs, beside one that is not, and beside two clock reads; best of many batches. Compiled with
 * -finstrument-functions. Run it under fvmpi run --functions, and without. Nothing here gates. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define PLAIN __attribute__((noinline, no_instrument_function))
enum { BATCHES = 200, CALLS = 900 }; /* fewer in all than make a function too short */

static volatile uint64_t sink;

PLAIN static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* As fvmpi reads it. */
PLAIN static void clocks(void)
{
    for (int i = 0; i < 2 * CALLS; i++)
#if defined(__x86_64__)
        sink = __rdtsc();
#else
        sink = now();
#endif
}

PLAIN static void plain(void)
{
    sink++;
}

__attribute__((noinline)) static void instrumented(void)
{
    sink++;
}

__attribute__((noinline)) static void other(void)
{
    sink++;
}

__attribute__((noinline)) static void deeper(int n)
{
    if (n)
        deeper(n - 1);
    sink++;
}

PLAIN static void plain_calls(void)
{
    for (int i = 0; i < CALLS; i++)
        plain();
}

PLAIN static void calls(void)
{
    for (int i = 0; i < CALLS; i++)
        instrumented();
}

PLAIN static void turns(void)
{
    for (int i = 0; i < CALLS / 2; i++) {
        instrumented();
        other();
    }
}

PLAIN static void recursion(void)
{
    for (int i = 0; i < CALLS / 10; i++)
        deeper(9);
}

PLAIN static double best_ns(void (*batch)(void))
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < BATCHES; i++) {
        uint64_t begin = now();

        batch();
        uint64_t ns = now() - begin;
        best = ns < best ? ns : best;
    }
    return (double)best / CALLS;
}

PLAIN int main(void)
{
    printf("two clock reads              %6.1f ns\n", best_ns(clocks));
    printf("a call                       %6.1f ns\n", best_ns(plain_calls));
    printf("... instrumented             %6.1f ns\n", best_ns(calls));
    printf("... two functions by turns   %6.1f ns\n", best_ns(turns));
    printf("... recursion                %6.1f ns\n", best_ns(recursion));
    return 0;
}
