/* One thread computes, the other spins at the barrier for it (OMP_WAIT_POLICY=active). */
#include <omp.h>
#include <stdio.h>
#include <time.h>

static volatile unsigned sink;

static __attribute__((noinline)) void compute(double seconds)
{
    struct timespec begin, now;
    unsigned x = sink;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (unsigned i = 0; i < 100000; i++)
            x = x * 1664525u + 1013904223u;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9 < seconds);
    sink = x;
}

int main(void)
{
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0)
            compute(0.5);
#pragma omp barrier
    }
    puts("done");
    return 0;
}
