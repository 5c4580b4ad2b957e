/* Target regions as code by a compiler would meet them: prints, of each directive, its line, construct, times, and the seconds between begin and end, inside and
 * outside of what is told. */
#include <stdio.h>
#include <time.h>

void standin_begin(void);
void standin_target(int kind, int endpoint, const void *from);

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* The call's place is its own, as of a call of the run-time library. */
static __attribute__((noinline)) void directive(int kind, double *inner, double *outer)
{
    double begin = now();

    standin_target(kind, 1, __builtin_return_address(0));
    double inside = now();
    while (now() < inside + 1e-3)
        ;
    *inner += now() - inside;
    standin_target(kind, 2, __builtin_return_address(0));
    *outer += now() - begin;
}

#define SAY(line, name, times) fprintf(stderr, "%d %s, %d %.9f %.9f\n", line, name, times, inner, outer)

int main(void)
{
    double inner = 0, outer = 0;

    standin_begin();
    for (int i = 0; i < 5; i++)
        directive(1, &inner, &outer);
    SAY(__LINE__ - 1, "target", 5);
    inner = outer = 0;
    for (int i = 0; i < 3; i++)
        directive(2 + i, &inner, &outer);
    SAY(__LINE__ - 1, "target data", 3);
    inner = outer = 0;
    directive(9, &inner, &outer);
    SAY(__LINE__ - 1, "nowait target", 1);
    puts("done");
    return 0;
}
