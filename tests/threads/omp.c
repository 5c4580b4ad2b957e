/* OpenMP threads that wait for each other for times that the program measures itself, by the clock and, so
 * that the work is uneven, by CPU time. Argument: threads of a team. Prints "truth NAME NS LESS MORE"
 * (measured.py) and what was computed. */
#define _GNU_SOURCE
#include "omp_clock.h"

#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 3
#define MOST   64

static int threads;
static double arrived[MOST], left_[MOST];
static omp_lock_t lock;

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Computes for so long. */
static void work(double ms)
{
    double until = cpu() + 1e-3 * ms;

    while (cpu() < until) {
    }
}

static double last_of(const double *times, int *who)
{
    *who = 0;
    for (int i = 1; i < threads; i++)
        if (times[i] > times[*who])
            *who = i;
    return times[*who];
}

/* From each thread's arrival until the last one's. */
static double until_all_came(void)
{
    int who;
    double last = last_of(arrived, &who), sum = 0;

    for (int i = 0; i < threads; i++)
        sum += last - arrived[i];
    return sum;
}

/* What those waited that were not the last. */
static double until_left(void)
{
    int who;
    double sum = 0;

    last_of(arrived, &who);
    for (int i = 0; i < threads; i++)
        sum += i == who ? 0 : left_[i] - arrived[i];
    return sum;
}

/* One thread has much more to do; the others wait at the region's end. */
static double __attribute__((noinline)) imbalanced(int *was_last, int64_t *lost)
{
    double sum = 0;
    int who;

    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(threads)
        {
            int me = omp_get_thread_num();

            work(me == threads - 1 ? 60 : 10);
            arrived[me] = arrive();
        }
        *lost += team_lost(threads);
        sum += until_all_came();
        last_of(arrived, &who);
        *was_last += who == threads - 1;
    }
    return sum;
}

/* The same before a barrier that stands for itself, called from a function. */
static void __attribute__((noinline)) orphaned(int me, int64_t *lost)
{
    arrived[me] = arrive();
#pragma omp barrier
    left_[me] = omp_get_wtime();
    settle(lost);
}

static double __attribute__((noinline)) uneven_barrier(int64_t *lost)
{
    double sum = 0;

    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel num_threads(threads)
        {
            int me = omp_get_thread_num();

            hold(me == 0 ? 40 : 5);
            orphaned(me, lost);
        }
        sum += until_left();
    }
    return sum;
}

/* A loop whose first iterations are long; its end is a barrier. */
static double __attribute__((noinline)) uneven_loop(int64_t *lost)
{
    double sum = 0;

#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num();

#pragma omp for schedule(dynamic, 1) nowait
        for (int i = 0; i < threads; i++)
            hold(i == 0 ? 50 : 5);
#pragma omp for schedule(static, 1)
        for (int i = 0; i < threads; i++) {
            hold(0.1);
            arrived[me] = arrive();
        }
        left_[me] = omp_get_wtime();
        settle(lost);
    }
    sum = until_left();
    return sum;
}

/* What each waited for its turn, and how long it had it; what it lost around either. */
struct turns {
    double waited, held;
    int64_t lost, lost_held;
};

/* Each holds it for 10 ms: the sum of all waits, and of what was held. */
static struct turns __attribute__((noinline)) criticals(void)
{
    double waited = 0, held = 0;
    int64_t lost = 0, lost_held = 0;

#pragma omp parallel num_threads(threads) reduction(+ : waited, held, lost, lost_held)
    for (int round = 0; round < ROUNDS; round++) {
        int64_t lost_before = lost_ns(), lost_in, lost_out;
        double before = omp_get_wtime(), in, out;

#pragma omp critical(named)
        {
            in = omp_get_wtime();
            lost_in = lost_ns();
            hold(10);
            lost_out = lost_ns();
            out = omp_get_wtime();
        }
        waited += in - before, held += out - in;
        lost += lost_in - lost_before, lost_held += lost_in - lost_before + lost_ns() - lost_out;
#pragma omp barrier
    }
    return (struct turns){ waited, held, lost, lost_held };
}

static struct turns __attribute__((noinline)) locks(void)
{
    double waited = 0, held = 0;
    int64_t lost = 0, lost_held = 0;

#pragma omp parallel num_threads(threads) reduction(+ : waited, held, lost, lost_held)
    for (int round = 0; round < ROUNDS; round++) {
        int64_t lost_before = lost_ns(), lost_in, lost_out;
        double before = omp_get_wtime(), in, out;

        omp_set_lock(&lock);
        in = omp_get_wtime();
        lost_in = lost_ns();
        hold(10);
        lost_out = lost_ns();
        out = omp_get_wtime();
        omp_unset_lock(&lock);
        waited += in - before, held += out - in;
        lost += lost_in - lost_before, lost_held += lost_in - lost_before + lost_ns() - lost_out;
#pragma omp barrier
    }
    return (struct turns){ waited, held, lost, lost_held };
}

static void __attribute__((noinline)) uncontended(void)
{
    for (int i = 0; i < 1000; i++) {
#pragma omp critical(alone)
        {
            threads += 0;
        }
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
    }
}

static void make_tasks(double *in_tasks)
{
    for (int i = 0; i < 4 * threads; i++)
#pragma omp task
    {
        double b = omp_get_wtime();

        hold(5);
#pragma omp atomic
        *in_tasks += omp_get_wtime() - b;
    }
}

/* One makes tasks, all others run them where they wait, at a barrier and at the region's end: hardly anybody
 * waits. The truth is what is not task. */
static double __attribute__((noinline)) tasks(void)
{
    double sum = 0, in_tasks = 0, begin = omp_get_wtime();

#pragma omp parallel num_threads(threads)
    {
#pragma omp single
        make_tasks(&in_tasks);
#pragma omp single nowait
        make_tasks(&in_tasks);
    }
    sum = threads * (omp_get_wtime() - begin) - in_tasks;
    return sum > 0 ? sum : 0;
}

/* Teams inside of a team. */
static int __attribute__((noinline)) nested(void)
{
    int sum = 0;

    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        hold(omp_get_thread_num() ? 20 : 1);
        sum += omp_get_level() * 100 + omp_get_num_threads();
    }
    return sum;
}

static void __attribute__((noinline)) run(void)
{
    struct turns turns;
    int64_t lost[3] = { 0 };
    int was_last = 0;
    double waited = imbalanced(&was_last, &lost[0]);

    truth("imbalanced", waited, lost[0], threads * lost[0]);
    printf("truth was_last %d\n", was_last);
    waited = uneven_barrier(&lost[1]);
    truth("uneven_barrier", waited, lost[1], lost[1]);
    waited = uneven_loop(&lost[2]);
    truth("uneven_loop", waited, lost[2], lost[2]);
    turns = criticals();
    truth("criticals", turns.waited, turns.lost, 0);
    truth("criticals_held", turns.held, 0, turns.lost_held);
    turns = locks();
    truth("locks", turns.waited, turns.lost, 0);
    truth("locks_held", turns.held, 0, turns.lost_held);
    uncontended();
    truth("tasks", tasks(), 0, 0);
    printf("nested %d\n", nested());
#pragma omp parallel if (0)
    printf("alone %d\n", omp_get_num_threads());
    puts("done");
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 4;
    omp_init_lock(&lock);
#ifdef WITH_MPI
    int provided, rank;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!rank)
        run();
    MPI_Finalize();
#else
    run();
#endif
    omp_destroy_lock(&lock);
    return 0;
}
