/* SPDX-License-Identifier: BSD-3-Clause */
/* For as many seconds as told: a function that forks a team, and one that does not, called alike. Prints how often. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CELLS 200000

static double cells[CELLS];

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void smooth(double by)
{
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < CELLS; i++)
        cells[i] = cells[i] * 0.5 + by / (cells[i] + 1);
}

__attribute__((noinline)) static double alone(double by)
{
    double sum = 0;

    for (int i = 0; i < CELLS; i++)
        sum += cells[i] * by;
    return sum;
}

int main(int count, char **arguments)
{
    double end_s = now_s() + (count > 1 ? atof(arguments[1]) : 1), sum = 0;
    unsigned calls = 0;

    for (; now_s() < end_s; calls++) {
        smooth(calls);
        sum += alone(calls);
    }
    printf("%u\n", calls);
    return sum < 0;
}
