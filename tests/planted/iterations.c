/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop with a known problem, by its argument. Ranks sleep where a program would compute: that is as long on a busy
 * machine as well. */
#include <fvmpi.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int rank, size;

static void pause_ms(double ms)
{
    struct timespec t = { 0, (long)(ms * 1e6) };

    nanosleep(&t, NULL);
}

__attribute__((noinline)) static double norm(double x)
{
    double sum;

    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

__attribute__((noinline)) static void halo(void)
{
    double x = 1, y;

    MPI_Sendrecv(&x, 1, MPI_DOUBLE, (rank + 1) % size, 0, &y, 1, MPI_DOUBLE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void save(double ms)
{
    if (rank == 0)
        pause_ms(ms);
    MPI_Barrier(MPI_COMM_WORLD); /* end of save */
    __asm__ volatile("");        /* no tail call: save() stays on the call path */
}

static void every(int with_norm)
{
    for (int i = 0; i < 400; i++) {
        pause_ms(1);
        halo();
        if (with_norm)
            norm(i);
        if (i % 50 == 49)
            save(8);
    }
}

/* Rank 1 waits for rank 0 in MPI, on its processor as MPI may. */
static void naps(void)
{
    for (int i = 0; i < 400; i++) {
        pause_ms(rank == 0 && i % 50 == 49 ? 30 : 1);
        halo();
    }
}

/* All call it, some more often. */
static void oftener(void)
{
    for (int i = 0; i < 300; i++) {
        for (int k = 0; k < (i % 20 == 19 ? 12 : 1); k++) {
            pause_ms(1);
            halo();
        }
        norm(i);
    }
}

/* At distances from 27 to 33. */
static void irregular(void)
{
    int next = 30;

    for (int i = 0; i < 400; i++) {
        pause_ms(1);
        norm(i);
        if (i != next)
            continue;
        save(8);
        next += 27 + next * 5 % 7;
    }
}

static void steps(void)
{
    for (int i = 0; i < 200; i++) {
        pause_ms(i < 100 ? 4 : 12);
        norm(i);
    }
}

__attribute__((noinline)) static void four(void)
{
    for (int i = 0; i < 4; i++) {
        pause_ms(0.3);
        norm(i);
    }
}

__attribute__((noinline)) static void rounds(void)
{
    for (int i = 0; i < 60; i++) {
        double x = i;

        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        four();
    }
}

static void moves(void)
{
    for (int i = 0; i < 192; i++) {
        pause_ms(i / 12 % size == rank ? 4 : 1);
        norm(i);
    }
}

static void pipeline(void)
{
    double x = 0;

    for (int i = 0; i < 60; i++) {
        if (rank > 0)
            MPI_Recv(&x, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pause_ms(3);
        if (rank + 1 < size)
            MPI_Send(&x, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
        norm(x);
    }
}

/* With 4 times as long pauses the wake-ups of a busy machine are short beside them. */
static void grows(double times)
{
    for (int i = 0; i < 150; i++) {
        pause_ms(times * (1 + 4.0 * i / 150));
        norm(i);
    }
}

/* Each iteration has three calls, from one place. */
static void stages(void)
{
    double x = 1, sum;

    for (int i = 0; i < 100; i++) {
        pause_ms(3);
        for (int stage = 0; stage < 3; stage++)
            MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void steady(void)
{
    for (int i = 0; i < 300; i++) {
        pause_ms(1);
        halo();
        norm(i);
    }
}

__attribute__((noinline)) static void solve(int rounds)
{
    norm(0);
    for (int i = 0; i < rounds; i++) {
        pause_ms(0.3);
        halo();
        norm(i);
    }
}

static void nest(void)
{
    for (int step = 0; step < 40; step++) {
        double x = step;

        MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        solve(6 + step * 7 % 11);
    }
}

static void phases(void)
{
    for (int i = 0; i < 200; i++) {
        pause_ms(1);
        norm(i);
    }
    for (int i = 0; i < 100; i++) {
        pause_ms(2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

__attribute__((noinline)) static void forward(void)
{
    for (int i = 0; i < 2; i++)
        halo();
}

__attribute__((noinline)) static void backward(void)
{
    for (int i = 0; i < 3; i++)
        halo();
}

__attribute__((noinline)) static void exchange(void)
{
    for (int i = 0; i < 4; i++)
        halo();
}

/* No call site has one call in each step. */
static void visits(void)
{
    for (int step = 0; step < 200; step++) {
        if (step % 20)
            forward();
        else
            exchange();
        pause_ms(1);
        backward();
    }
}

/* No loop: a few calls, with long times between. */
static void none(void)
{
    for (int i = 0; i < 5; i++) {
        pause_ms(30);
        norm(i);
    }
}

/* Without a call of MPI: sections say what is repeated, two of one number and one of a number each. */
static void sections(void)
{
    for (int i = 0; i < 400; i++) {
        fvmpi_section_begin("step", 0, 0);
        pause_ms(i % 50 == 49 ? 17 : 1);
        fvmpi_section_end("step", 0, 0);
    }
    for (int i = 0; i < 100; i++) {
        fvmpi_section_begin("round", i, 0);
        pause_ms(i < 50 ? 2 : 6);
        fvmpi_section_end("round", i, 0);
    }
    for (int i = 0; i < 60; i++) {
        fvmpi_section_begin("lap", 0, 0);
        pause_ms(i < 30 ? 2 : 8);
        fvmpi_section_end("lap", 0, 0);
    }
}

/* Ranks 0 and 1, 2 and 3: 250 iterations. Rank 1 is late in number 50. */
__attribute__((noinline)) static void swap(void)
{
    double x = 1, y;

    MPI_Sendrecv(&x, 1, MPI_DOUBLE, rank ^ 1, 0, &y, 1, MPI_DOUBLE, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void apart(void)
{
    for (int i = 0; i < 250 && rank < size / 2 * 2; i++) {
        pause_ms((rank < 2 ? 3 : 5) + (rank == 1 && i == 50 ? 60 : 0));
        swap();
    }
}

/* The compiler makes four calls of the one. */
static void unrolled(void)
{
    double x = 1, sum;

#pragma GCC unroll 4
    for (int i = 0; i < 200; i++) {
        pause_ms(i == 150 && rank ? 41 : 1);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

#define TWICE(x, sum)                                                 \
    do {                                                              \
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); \
        pause_ms(0.2);                                                \
        MPI_Allreduce(&sum, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); \
    } while (0)

/* Two calls on one line. */
static void macro(void)
{
    double x = 1, sum;

    for (int i = 0; i < 200; i++) {
        pause_ms(2);
        TWICE(x, sum);
        x /= sum;
    }
}

static void local(void)
{
    int is;

    for (int i = 0; i < 300; i++)
        MPI_Initialized(&is);
}

int main(int argc, char **argv)
{
    const char *problem = argc > 1 ? argv[1] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(problem, "every") || !strcmp(problem, "messages"))
        every(!strcmp(problem, "every"));
    else if (!strcmp(problem, "irregular"))
        irregular();
    else if (!strcmp(problem, "steps"))
        steps();
    else if (!strcmp(problem, "rounds"))
        rounds();
    if (!strcmp(problem, "apart"))
        apart();
    if (!strcmp(problem, "unrolled"))
        unrolled();
    if (!strcmp(problem, "macro"))
        macro();
    if (!strcmp(problem, "local"))
        local();
    if (!strcmp(problem, "naps"))
        naps();
    if (!strcmp(problem, "oftener"))
        oftener();
    if (!strcmp(problem, "moves"))
        moves();
    if (!strcmp(problem, "pipeline"))
        pipeline();
    if (!strcmp(problem, "grows"))
        grows(argc > 2 ? 4 : 1);
    if (!strcmp(problem, "stages"))
        stages();
    if (!strcmp(problem, "steady"))
        steady();
    if (!strcmp(problem, "nest"))
        nest();
    if (!strcmp(problem, "phases"))
        phases();
    if (!strcmp(problem, "visits"))
        visits();
    if (!strcmp(problem, "none"))
        none();
    if (!strcmp(problem, "sections"))
        sections();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
