/* What the programs with known answers share. Operations stand in functions of their own, so that the
 * checker finds their call sites by name; OK() keeps MPI calls out of tail position, where a compiler
 * would turn them into jumps and the call site would be the caller's. What a test does besides, to
 * synchronise or to tell the truth about itself, uses PMPI_*, which fvmpi does not see. */
#ifndef KNOWN_H
#define KNOWN_H

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OP static __attribute__((noinline, noclone)) void
#define OK(call) \
    do { \
        if ((call) != MPI_SUCCESS) \
            known_failed(__LINE__); \
    } while (0)
#define WORLD MPI_COMM_WORLD
/* A loop that a compiler neither unrolls nor peels: each copy of a call would be a call site. */
#define TIMES(n) for (int i = 0, times = known_hide(n); i < times; i++)

static int me, ranks; /* in MPI_COMM_WORLD */

static __attribute__((noinline, unused)) void known_failed(int line)
{
    fprintf(stderr, "rank %d: a call failed in line %d\n", me, line);
    PMPI_Abort(MPI_COMM_WORLD, 99);
}

static __attribute__((unused)) void known_start(void)
{
    PMPI_Comm_rank(WORLD, &me);
    PMPI_Comm_size(WORLD, &ranks);
}

static inline __attribute__((unused)) int known_hide(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

static __attribute__((unused)) double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
