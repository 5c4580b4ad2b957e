/* A loop of vectors within a parallel region, and one of single numbers, which depend on each other, in a function of its own.
 * Both take as long. */
#include <stdio.h>
#include <time.h>

typedef float vector __attribute__((vector_size(16)));

static volatile float sink = 0.5f;

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline, noclone)) float single(float x)
{
    for (int i = 0; i < 100000; i++)
        x = x * 0.999f + 0.001f;
    return x;
}

int main(void)
{
    double begin = cpu_s();

    while (cpu_s() - begin < 0.4)
        sink = single(sink);
#pragma omp parallel num_threads(1)
    {
        vector x = { sink, sink, sink, sink };

        for (double from = cpu_s(); cpu_s() - from < 0.4;)
            for (int i = 0; i < 100000; i++)
                x = x * 0.999f + 0.001f;
        sink = x[0] + x[1] + x[2] + x[3];
    }
    puts("done");
    return 0;
}
