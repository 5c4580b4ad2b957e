/* Spends 30 % and 70 % of its CPU time in two functions; the larger one's is in the inner of two loops. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned sink;

static NOINLINE unsigned spin(unsigned x, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++) /* spin: loop */
        x = x * 1664525u + 1013904223u;
    return x;
}

static NOINLINE void thirty(unsigned steps)
{
    sink += spin(sink, 3 * steps);
}

static NOINLINE void seventy(unsigned steps)
{
    unsigned x = sink;

    for (unsigned k = 0; k < 7; k++)           /* seventy: outer loop */
        for (unsigned i = 0; i < steps; i++) /* seventy: inner loop */
            x = x * 1664525u + 1013904223u; /* seventy: line */
    sink += x;
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1, parts[2] = { 0, 0 };

    while (parts[0] + parts[1] < seconds) {
        double begin = cpu_s(), middle;

        thirty(20000);
        middle = cpu_s();
        seventy(20000);
        parts[0] += middle - begin;
        parts[1] += cpu_s() - middle;
    }
    printf("cpu %.6f %.6f\n", parts[0], parts[1]);
    return 0;
}
