/* Parallel regions for the trace: prints "truth NAME NS LESS MORE" (measured.py), measured by the program
 * itself. uneven  three times, a team of three, of which member 2 comes late task    the master runs a task
 * at the end, and waits on nested  a team of two, each of which forks one of two asked   without a number of
 * threads: OpenMP's own choice; the last one comes late to a barrier paused  recording is off from within a
 * region to within a later one killed  the process is killed while the others wait at the region's end */
#define _GNU_SOURCE
#include "omp_clock.h"

#ifdef WITH_MPI
#include <mpi.h>
#endif

#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SITE   __attribute__((noinline))
#define STAY   __asm__ volatile("") /* no tail call */
#define ROUNDS 3
#define TEAM   3

/* Of the library that records, if there is one. */
void fvmpi_pause(void) __attribute__((weak));
void fvmpi_resume(void) __attribute__((weak));

static double came[TEAM], waited;
static int64_t lost; /* since they came */

static void rest(long ms)
{
    const struct timespec t = { .tv_nsec = ms * 1000000 };

    nanosleep(&t, NULL);
}

SITE static void uneven(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        settle(&lost);
        if (omp_get_thread_num() == TEAM - 1)
            rest(40);
        came[omp_get_thread_num()] = arrive();
    }
    for (int i = 0; i < TEAM; i++)
        waited += came[TEAM - 1] - came[i];
}

/* The master, at the barrier, runs the other's task, and then waits. */
SITE static double task(void)
{
    double done = 0, late = 0;

#pragma omp parallel num_threads(2)
    if (omp_get_thread_num()) {
#pragma omp task shared(done)
        {
            rest(20);
            done = arrive();
        }
        rest(60);
        late = arrive();
    }
    return late - done;
}

SITE static void nested(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        settle(&lost);
#pragma omp parallel num_threads(2)
        rest(5);
        STAY;
    }
    STAY;
}

SITE static void asked(void)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            rest(20);
#pragma omp barrier
    }
    STAY;
}

static void switch_recording(int i)
{
    if (i == 0 && fvmpi_pause)
        fvmpi_pause();
    if (i == 1 && fvmpi_resume)
        fvmpi_resume();
}

/* Three regions: the first ends in the pause, the second begins in it. */
SITE static void paused(void)
{
    for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2)
        {
#pragma omp barrier
#pragma omp master
            switch_recording(i);
#pragma omp barrier
        }
    }
}

SITE static void killed(void)
{
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num()) {
        rest(100);
        raise(SIGKILL);
    }
}

int main(int argc, char **argv)
{
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
#endif
    if (argc > 1 && !strcmp(argv[1], "killed"))
        killed();
    if (argc > 1 && !strcmp(argv[1], "paused")) {
        paused();
        return 0;
    }
    for (int i = 0; i < ROUNDS; i++)
        uneven();
    lost += team_lost(TEAM);
    truth("uneven", waited, lost, TEAM * lost);
    lost = 0;
    waited = task();
    nested();
    truth("task", waited, lost, lost);
    asked();
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
