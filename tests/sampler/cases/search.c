/* A wave model looks up, for each of its points, the interval of a table in which a value lies. Neighbouring
 * points have nearly the same value, and the values rise over a row of points: a search from the beginning
 * takes longer and longer, row after row. Repaired, it begins where the one before ended.
 *
 *     search SECONDS [repaired]        CPU time */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define TABLE    400000
#define POINTS   300 /* of a row */

static double table[TABLE], field[4000];
static int repaired, last;

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The last entry that is not above x. */
NOINLINE int search(double x)
{
    int i = repaired ? last : 0;

    while (i > 0 && table[i] > x)
        i--;
    while (i + 1 < TABLE && table[i + 1] <= x)
        i++;
    return last = i;
}

NOINLINE void advance(double by)
{
    for (int pass = 0; pass < 12; pass++)
        for (int i = 1; i < 4000; i++)
            field[i] = 0.5 * (field[i] + field[i - 1]) + by;
}

NOINLINE double propagate(int point)
{
    double x = (point + 0.5) / POINTS * TABLE;
    int at = search(x);

    advance(1e-6 * at);
    return field[at % 4000];
}

int main(int argc, char **argv)
{
    double end = argc > 1 ? atof(argv[1]) : 1, sum = 0;
    long rows = 0;

    repaired = argc > 2 && !strcmp(argv[2], "repaired");
    for (int i = 0; i < TABLE; i++)
        table[i] = i;
    for (; cpu_s() < end || rows < 2; rows++)
        for (int point = 0; point < POINTS; point++) {
            double value = propagate(point);

            if (rows == 1)
                sum += value;
        }
    printf("second row %.9g\n", sum);
    return 0;
}
