/* A loop of two instructions, a known number of times a call:   loop ROUNDS CALLS
 * It does not begin with the function, where a breakpoint would take its rounds for calls. */
#include <stdint.h>
#include <stdlib.h>

__attribute__((noinline, noipa)) static void twice(uint64_t rounds)
{
#if defined(__aarch64__)
    __asm__ volatile("nop\n\t1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#else
    __asm__ volatile("nop\n\t1: dec %0\n\tjne 1b" : "+r"(rounds) : : "cc");
#endif
}

/* Another caller, which comes between. */
__attribute__((noinline, noipa)) static void between(uint64_t rounds)
{
    twice(rounds / 3 + 1);
    __asm__ volatile(""); /* no jump in place of the call */
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 2 ? strtoull(argv[1], NULL, 10) : 1;

    for (long calls = argc > 2 ? atol(argv[2]) : 0; calls > 0; calls--) {
        twice(rounds);
        between(rounds);
    }
    return 0;
}
