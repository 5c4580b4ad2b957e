/* Worksharing of known counts, which measures its own times: for each construct "LINE NAME times inner outer", seconds over all threads: what was computed in it,
 * and what passed around it without the barrier at its end (outer < 0: that cannot be told). */
#include <stdio.h>
#include <time.h>

enum { THREADS = 2, ROUNDS = 3, STEPS = 8 };

static double inner[400], outer[400];
static const char *names[400];
static int times[400];

/* Not omp_get_wtime(), which LLVM's runtime reads in whole microseconds. */
static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(int line)
{
    double begin = now_s(), now;

    while ((now = now_s()) < begin + 0.0005)
        ;
#pragma omp atomic
    inner[line] += now - begin;
}

static void around(int line, const char *name, double begin)
{
    double passed = now_s() - begin;

#pragma omp atomic
    outer[line] += passed;
    names[line] = name;
    times[line] = ROUNDS;
}

/* The construct stands on the next line. */
#define HERE (line = __LINE__ + 1, begin = now_s())

static void loops(void)
{
    int line;
    double begin;

    HERE;
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < STEPS; i++)
        work(line);
    around(line, "for", begin);
#pragma omp barrier
    HERE;
#pragma omp for schedule(guided) nowait
    for (unsigned long long i = 0; i < STEPS; i++)
        work(line);
    around(line, "for", begin);
#pragma omp barrier
    HERE;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < STEPS; i++)
        work(line);
    around(line, "static for", begin);
#pragma omp barrier
    HERE;
#pragma omp for schedule(dynamic, 1) ordered nowait
    for (int i = 0; i < STEPS; i++) {
        work(line);
#pragma omp ordered
        work(line);
    }
    around(line, "for", begin);
}

static void others(void)
{
    int line, shared;
    double begin;

#pragma omp barrier
    HERE;
#pragma omp sections nowait
    {
#pragma omp section
        work(line);
#pragma omp section
        work(line);
#pragma omp section
        work(line);
    }
    around(line, "sections", begin);
#pragma omp barrier
    HERE;
#pragma omp single nowait
    work(line);
    around(line, "single", begin);
#pragma omp barrier
    HERE;
#pragma omp single copyprivate(shared)
    {
        shared = 1;
        work(line);
    }
    around(line, "copied single", begin);
#pragma omp barrier
    HERE;
#pragma omp master
    work(line);
    around(line, "masked", begin);
}

static void child(int line)
{
    work(line);
}

/* Tasks are run while threads wait, and one in another one. */
static void tasks(void)
{
    static const char *const name = "task";
    int line;
    double begin;

#pragma omp barrier
    HERE;
#pragma omp single nowait
    {
        for (int i = 0; i < STEPS; i++) {
            int outside = __LINE__ + 1;
#pragma omp task
            {
                int inside = __LINE__ + 1;
#pragma omp task
                child(inside);
                work(outside);
#pragma omp taskwait
#pragma omp critical
                names[inside] = names[outside] = name;
            }
        }
    }
    around(line, "single", begin);
}

int main(void)
{
    int count = 0, line = 0;
    double begin = 0;

    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(THREADS)
        {
            loops();
            others();
            tasks();
        }
        HERE;
#pragma omp parallel for schedule(dynamic, 1) num_threads(THREADS) reduction(+ : count)
        for (int i = 0; i < STEPS; i++) {
            work(line);
            count++;
        }
        around(line, "parallel for", begin);
        outer[line] = -1;
    }
    for (int i = 0; i < 400; i++)
        if (names[i])
            fprintf(stderr, "%d %s, %d %.9f %.9f\n", i, names[i], times[i] ? times[i] : ROUNDS * STEPS, inner[i], times[i] ? outer[i] : -1);
    printf("%d\n", count);
    return 0;
}
