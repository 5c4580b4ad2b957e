/* OpenMP in less usual ways, one a run: argument 1. Prints what was computed, and "truth NAME NS LESS MORE"
 * (measured.py), which the program measured itself.
 *
 *     doacross     two threads pass iterations on; the waits for the iteration before
 *     turns        an ordered loop, of whose iterations only some have something ordered
 *     taskloop     two tasks, of which one is long; who made them waits for the other's
 *     depend       a task that runs at once, after one that it depends on
 *     shared       a single whose result all get: the others wait for it
 *     many         a taskloop of 200000 tasks
 *     forked       the child of a fork leaves a region that its parent has left
 *     nested       200 teams in each of a team
 *     teams        threads of the program that fork teams, end, and are followed by others
 *     large        a team of 300
 *     paused       tasks in a region while recording is paused
 *     exit         exit() in a region
 *     hung         killed while a thread waits at a barrier, after a task; with another argument: in the task
 *     alone        one thread that signals interrupt in a critical; and barriers outside of regions
 *     same         host teams, target regions, OpenMP's resources given back, its own number of threads
 */
#define _GNU_SOURCE
#include "omp_clock.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SITE __attribute__((noinline)) static

/* Of the library that records, if there is one. */
void fvmpi_pause(void) __attribute__((weak));
void fvmpi_resume(void) __attribute__((weak));

/* A wait that a thread measures: what it lost in it is not waiting. */
struct wait {
    int64_t lost;
    double begin;
};

static struct wait begin_wait(void)
{
    struct wait w = { .lost = lost_ns() };

    w.begin = omp_get_wtime();
    return w;
}

static void end_wait(struct wait w, double *sum, int64_t *lost)
{
    *sum += omp_get_wtime() - w.begin;
    *lost += lost_ns() - w.lost;
}

SITE void doacross(void)
{
    double sum = 0;
    int64_t lost = 0;
    int last = 0;

#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2) reduction(+ : sum, lost)
    for (int i = 0; i < 12; i++) {
        struct wait wait = begin_wait();
#pragma omp ordered depend(sink : i - 1)
        end_wait(wait, &sum, &lost);
        hold(3);
        last = i;
#pragma omp ordered depend(source)
    }
    double ull = 0;
#pragma omp parallel for ordered(2) schedule(static, 1) num_threads(2) reduction(+ : ull, lost)
    for (unsigned long long i = 1; i < 5; i++)
        for (unsigned long long k = 1; k < 3; k++) {
            struct wait wait = begin_wait();
#pragma omp ordered depend(sink : i - 1, k) depend(sink : i, k - 1)
            end_wait(wait, &ull, &lost);
            hold(3);
#pragma omp ordered depend(source)
        }
    truth("doacross", sum + ull, lost, 0);
    printf("last %d\n", last);
}

/* Thread 1 has no ordered region in its first iteration: it waits for its turn where it asks for the next
 * one, which is known when it has that. */
SITE void turns(void)
{
    double sum = 0;
    int64_t lost = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum, lost)
    {
        struct wait asked = { 0, 0 };
#pragma omp for ordered schedule(static, 1) nowait
        for (int i = 0; i < 4; i++) {
            if (i == 1) {
                asked = begin_wait();
                continue;
            }
            if (asked.begin > 0)
                end_wait(asked, &sum, &lost);
            if (i == 0)
                hold(20);
            struct wait wait = begin_wait();
#pragma omp ordered
            {
                end_wait(wait, &sum, &lost);
                hold(5);
            }
        }
    }
    truth("turns", sum, lost, 0);
}

/* The maker waits, except in tasks of its own. */
SITE void taskloop(void)
{
    double sum = 0, mine = 0;
    int64_t lost = 0;

#pragma omp parallel num_threads(2)
#pragma omp single nowait
    {
        int me = omp_get_thread_num();
        struct wait wait = begin_wait();
#pragma omp taskloop num_tasks(2) shared(mine)
        for (int i = 0; i < 2; i++) {
            double begin = omp_get_wtime();

            hold(i ? 10 : 50);
            if (omp_get_thread_num() == me)
                mine += omp_get_wtime() - begin;
        }
        end_wait(wait, &sum, &lost);
    }
    truth("taskloop", sum - mine, lost, 0);
}

SITE void depend(void)
{
    double waited = 0;
    int64_t lost = 0;
    int value = 0, other = 0, who = -1;

#pragma omp parallel num_threads(2)
#pragma omp single nowait
    {
#pragma omp task depend(out : value) shared(who)
        {
            who = omp_get_thread_num();
            hold(40);
            value = 7;
        }
        hold(10); /* the other thread has it, most likely */
        struct wait wait = begin_wait();
#pragma omp task depend(in : value) if (0) shared(other, waited, lost)
        {
            end_wait(wait, &waited, &lost);
            other = value;
            hold(20);
        }
        truth("depend", who == omp_get_thread_num() ? 0 : waited, lost, 0);
    }
    printf("depend %d\n", other);
}

SITE void shared(void)
{
    double sum = 0;
    int64_t lost = 0;
    int value = 0;

#pragma omp parallel num_threads(3) firstprivate(value) reduction(+ : sum, lost)
    {
        struct wait wait = begin_wait();
        bool is_mine = false;
#pragma omp barrier
#pragma omp single copyprivate(value)
        {
            end_wait(wait, &sum, &lost);
            hold(20);
            value = 5;
            is_mine = true;
            wait = begin_wait();
        }
        end_wait(wait, &sum, &lost);
        if (value != 5)
            puts("not shared");
        if (!is_mine)
            hold(20); /* the other one comes first, and waits */
        wait = begin_wait();
#pragma omp barrier
        end_wait(wait, &sum, &lost);
    }
    truth("shared", sum, lost, 0);
}

SITE void many(void)
{
    long sum = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 200000; i++)
#pragma omp atomic
        sum += i;
    printf("many %ld\n", sum);
}

SITE void alone(pid_t *child)
{
#pragma omp parallel if (0)
    {
        *child = fork();
        if (!*child)
            hold(60);
    }
}

SITE void forked(void)
{
    pid_t child = -1;

    alone(&child);
    if (!child)
        _exit(0);
    for (int i = 0; i < 50; i++)
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num())
            hold(0.2);
    waitpid(child, NULL, 0);
}

SITE void nested(void)
{
    int sum = 0;

    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 200; i++)
#pragma omp parallel num_threads(2)
#pragma omp atomic
        sum++;
    printf("nested %d\n", sum);
}

static void *forks_teams(void *arg)
{
    int sum = 0;

    for (int i = 0; i < 10; i++)
#pragma omp parallel num_threads(3) reduction(+ : sum)
    {
#pragma omp critical(shared_by_teams)
        sum++;
#pragma omp barrier
    }
#pragma omp atomic
    *(int *)arg += sum;
    return NULL;
}

SITE void teams(void)
{
    pthread_t t[3];
    int sum = 0;

    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 3; i++)
            pthread_create(&t[i], NULL, forks_teams, &sum);
        for (int i = 0; i < 3; i++)
            pthread_join(t[i], NULL);
    }
    printf("teams %d\n", sum);
}

SITE void large(void)
{
    int sum = 0;

#pragma omp parallel num_threads(300)
    {
#pragma omp barrier
#pragma omp atomic
        sum++;
    }
    printf("large %d\n", sum);
}

SITE void with_tasks(int *sum)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        if (omp_get_thread_num())
            for (int i = 0; i < 20; i++)
#pragma omp task
            {
                hold(0.1);
#pragma omp atomic
                ++*sum;
            }
    }
}

SITE void paused(void)
{
    int sum = 0;

    with_tasks(&sum);
    if (fvmpi_pause)
        fvmpi_pause();
    with_tasks(&sum);
    if (fvmpi_resume)
        fvmpi_resume();
    printf("paused %d\n", sum);
}

SITE void exit_in_region(void)
{
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        if (omp_get_thread_num())
            hold(1000);
        exit(3);
    }
}

/* Thread 0 runs the task where it waits, and is in the task when all is over; then the other one kills. */
SITE void hung(int in_task)
{
    static int begun;

#pragma omp parallel num_threads(2)
    if (omp_get_thread_num()) {
#pragma omp task
        {
            __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
            hold(in_task ? 10000 : 1);
        }
        while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
            hold(1);
        hold(50);
        raise(SIGKILL);
    }
}

SITE void same(void)
{
    int sum = 0, sum2 = 0;

#ifndef NO_TEAMS /* LLVM's runtime 14 has not what GCC 12 makes of them */
#pragma omp teams num_teams(3) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 10 + omp_get_team_num();
#pragma omp target teams distribute parallel for map(tofrom : sum2) reduction(+ : sum2)
    for (int i = 0; i < 100; i++)
        sum2 += i;
#endif
#pragma omp target map(tofrom : sum2)
#pragma omp parallel num_threads(2)
#pragma omp atomic
    sum2++;
    printf("same %s %d\n", sum >= 20 ? "yes" : "no", sum2);
    printf("paused %d\n", omp_pause_resource_all(omp_pause_soft));
    omp_set_dynamic(1);
    sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < 1000; i++)
            sum += i;
#pragma omp sections
        {
#pragma omp section
            sum += 1;
#pragma omp section
            sum += 2;
        }
    }
    printf("own number %d, %d\n", sum, omp_pause_resource_all(omp_pause_hard));
#pragma omp parallel num_threads(2)
#pragma omp master
    printf("again %d\n", omp_get_num_threads());
}

static volatile int interrupts;

static void interrupt(int signal)
{
    (void)signal;
    for (volatile int i = 0; i < 50000; i++)
        ;
    interrupts++;
}

/* One thread, which is kept from going on, often at the critical; and barriers outside of all regions. */
SITE void kept(void)
{
    const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
    int sum = 0;

    signal(SIGALRM, interrupt);
    setitimer(ITIMER_REAL, &often, NULL);
#pragma omp parallel num_threads(1)
    while (interrupts < 200)
#pragma omp critical(by_one_alone)
        sum++;
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < 100; i++) {
#pragma omp barrier
    }
    printf("kept %s\n", sum > 200 ? "yes" : "no");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        { "doacross", doacross }, { "turns", turns }, { "taskloop", taskloop }, { "depend", depend },
        { "shared", shared },     { "many", many },   { "forked", forked },     { "nested", nested },
        { "teams", teams },       { "large", large }, { "paused", paused },     { "exit", exit_in_region },
        { "same", same },         { "alone", kept },
    };

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (!strcmp(what, cases[i].name))
            cases[i].run();
    if (!strcmp(what, "hung"))
        hung(argc > 2);
    return 0;
}
