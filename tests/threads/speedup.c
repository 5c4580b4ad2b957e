/* A serial part, a part that threads share, and one that they do one after the other. */
#include <stdio.h>

enum { TIMES = 3, SERIAL = 20000000, SHARED = 60000000, IN_TURN = 2000000 };

static double work(long count)
{
    volatile double x = 1;

    for (long i = 0; i < count; i++)
        x = x * 1.0000001;
    return x;
}

int main(void)
{
    double sum = work(SERIAL);

    for (int i = 0; i < TIMES; i++) {
#pragma omp parallel reduction(+ : sum)
        {
#pragma omp for schedule(static) nowait
            for (int k = 0; k < 12; k++)
                sum += work(SHARED / 12 / TIMES);
#pragma omp critical
            sum += work(IN_TURN / TIMES);
        }
    }
    printf("%s\n", sum > 0 ? "good" : "bad");
    return 0;
}
