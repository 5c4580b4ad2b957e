/* What a call of an instrumented function costs, beside one that is not, and beside two clock reads; best of many batches. Compiled with
 * -finstrument-functions. Run it under fvmpi run --functions, and without. Nothing here gates. */
#include "batches.h"

#include <stdio.h>

#define PLAIN __attribute__((noinline, no_instrument_function))
enum { CALLS = 900 }; /* fewer in all than make a function too short */

static volatile uint64_t sink;

PLAIN static void clocks(void)
{
    for (int i = 0; i < 2 * CALLS; i++)
        sink = read_clock();
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

PLAIN int main(void)
{
    printf("two clock reads              %6.1f ns\n", best_ns(clocks, CALLS));
    printf("a call                       %6.1f ns\n", best_ns(plain_calls, CALLS));
    printf("... instrumented             %6.1f ns\n", best_ns(calls, CALLS));
    printf("... two functions by turns   %6.1f ns\n", best_ns(turns, CALLS));
    printf("... recursion                %6.1f ns\n", best_ns(recursion, CALLS));
    return 0;
}
