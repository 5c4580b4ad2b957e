/* Regions of OpenMP that are counted: ROUNDS times each, by teams of TEAM. Argument: what to do.
 *     count    regions, barriers, criticals, worksharing, tasks: as often as ompt.t knows
 *     before   a child that uses OpenMP, and regions, before MPI_Init
 *     open     regions without end, until it is killed
 *     leave    exit() in a region
 *     thrown   (C++) exceptions that are caught within a region
 *     many     BATCH regions of two threads that do nothing, and how long one took
 * No region is the last thing in its function: by a jump it would be its caller's. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 7
#define TEAM   3
#define BATCH  2000

void barriers(void), critical(void), shared(void), tasks(void), nested(void), alone(void); /* by these names in C++, too */

static long sum;
#define STAYS() __asm__ volatile("" ::: "memory")

__attribute__((noinline)) void barriers(void)
{
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp barrier
#pragma omp atomic
        sum++;
#pragma omp barrier
    }
    STAYS();
}

__attribute__((noinline)) void critical(void)
{
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp critical(counted)
#pragma omp atomic /* the other critical is another lock */
        sum++;
#pragma omp critical
#pragma omp atomic
        sum++;
    }
    STAYS();
}

__attribute__((noinline)) void shared(void)
{
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 10; i++)
#pragma omp atomic
            sum += i;
#pragma omp for schedule(static) nowait
        for (int i = 0; i < 10; i++)
#pragma omp atomic
            sum += i;
#pragma omp sections
        {
#pragma omp section
#pragma omp atomic
            sum++;
#pragma omp section
#pragma omp atomic
            sum++;
        }
#pragma omp single
#pragma omp atomic
        sum++;
#pragma omp master
#pragma omp atomic
        sum++;
    }
    STAYS();
}

__attribute__((noinline)) void tasks(void)
{
#pragma omp parallel num_threads(TEAM)
#pragma omp single
    {
        for (int i = 0; i < 5; i++)
#pragma omp task
#pragma omp atomic
            sum++;
#pragma omp taskwait
#pragma omp taskloop num_tasks(4)
        for (int i = 0; i < 8; i++)
#pragma omp atomic
            sum++;
    }
    STAYS();
}

__attribute__((noinline)) void nested(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
#pragma omp atomic
        sum++;
        STAYS();
#pragma omp atomic
        sum++;
    }
    STAYS();
}

__attribute__((noinline)) void alone(void)
{
#pragma omp parallel if (0)
    sum++;
    STAYS();
}

static void count(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        barriers();
        critical();
        shared();
        tasks();
        nested();
        alone();
    }
    printf("sum %ld\n", sum);
}

/* The child prints nothing: its output is its parent's buffer once more. */
static void before(void)
{
    pid_t child = fork();

    if (!child) {
        barriers();
        _exit(sum == TEAM ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    barriers();
    printf("child %d, sum %ld\n", status, sum);
}

static void leave(void)
{
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp barrier
        if (omp_get_thread_num())
            for (;;)
                sleep(1);
        exit(5);
    }
}

#ifdef __cplusplus
static void thrown(void)
{
#pragma omp parallel num_threads(TEAM)
    for (int i = 0; i < 100; i++)
        try {
#pragma omp barrier
            throw i;
        } catch (int) {
#pragma omp atomic
            sum++;
        }
    printf("thrown %ld\n", sum);
}
#endif

static void many(void)
{
    double least = 1;

    for (int batch = 0; batch < 5; batch++) {
        double begin = omp_get_wtime();

        for (int i = 0; i < BATCH; i++)
#pragma omp parallel num_threads(2)
            __asm__ volatile("");
        double each = (omp_get_wtime() - begin) / BATCH;
        least = each < least ? each : least;
    }
    printf("%.0f\n", least * 1e9);
}

static void act(const char *what)
{
    if (!strcmp(what, "count"))
        count();
    else if (!strcmp(what, "leave"))
        leave();
    else if (!strcmp(what, "many"))
        many();
#ifdef __cplusplus
    else if (!strcmp(what, "thrown"))
        thrown();
#endif
    while (!strcmp(what, "open")) {
        barriers();
        shared();
        tasks();
        puts("round");
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "count";

    if (!strcmp(what, "before"))
        before();
    fflush(stdout);
#ifdef WITH_MPI
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#endif
    act(strcmp(what, "before") ? what : "count");
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
