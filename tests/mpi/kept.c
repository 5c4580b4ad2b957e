/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages around a ring of ranks. The length of each says which of its kind it is: a pair that does not belong together
 * has two lengths. Ranks make more calls the higher they are, so that what they keep of a trace begins at other times.
 *
 *     kept ITERATIONS [MODE]
 *
 * MODE: steps: 60 iterations are sections of a millisecond, but for SLOW; short: ITERATIONS are sections as short as
 * they can be, but for one, and one with copies; keep: calls fvmpi_keep() in the middle; wild: also receives that take what comes; wait:
 * after ITERATIONS it waits until the file "go" is there, and does as many again. */
#include <fvmpi.h>
#include <mpi.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LENGTHS 997
#define SLOW    41 /* instance of a section, from 1 on */
#define KEEPS   100

static char out[LENGTHS + 1], in[8][LENGTHS + 1];
static int rank, size, left, right;

static int length(long number)
{
    return (int)(number % LENGTHS) + 1;
}

/* Two of a kind that are waited for in the other order. */
static void two(long i)
{
    MPI_Request receives[2], sends[2];

    for (int k = 0; k < 2; k++)
        MPI_Irecv(in[k], LENGTHS, MPI_CHAR, left, 1, MPI_COMM_WORLD, &receives[k]);
    for (int k = 0; k < 2; k++)
        MPI_Isend(out, length(2 * i + k), MPI_CHAR, right, 1, MPI_COMM_WORLD, &sends[k]);
    MPI_Wait(&receives[1], MPI_STATUS_IGNORE);
    MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

static void in_turn(long number, int tag, MPI_Comm comm, int source)
{
    if (rank % 2 == 0)
        MPI_Send(out, length(number), MPI_CHAR, right, tag, comm);
    MPI_Recv(in[3], LENGTHS, MPI_CHAR, source, tag, comm, MPI_STATUS_IGNORE);
    if (rank % 2)
        MPI_Send(out, length(number), MPI_CHAR, right, tag, comm);
}

/* Posted long before it is waited for. */
static void far(long i)
{
    static MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;

    if (i % 50 == 0) {
        MPI_Irecv(in[4], LENGTHS, MPI_CHAR, left, 4, MPI_COMM_WORLD, &receive);
        MPI_Isend(out, length(i / 50), MPI_CHAR, right, 4, MPI_COMM_WORLD, &send);
    }
    if (i % 50 == 45) {
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
}

static void iterate(long i, MPI_Comm other, int is_wild)
{
    int flag;

    two(i);
    if (i % 3 == 0)
        MPI_Sendrecv(out, length(i / 3), MPI_CHAR, right, 2, in[2], LENGTHS, MPI_CHAR, left, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    if (i % 7 == 0)
        in_turn(i / 7, 3, MPI_COMM_WORLD, left);
    far(i);
    if (i % 11 == 0)
        in_turn(i / 11, 1, other, left);
    if (is_wild && i % 5 == 0)
        in_turn(i / 5, 5, MPI_COMM_WORLD, MPI_ANY_SOURCE);
    if (i % 10 == 0)
        MPI_Allreduce(&rank, &flag, 1, MPI_INT, MPI_MAX, other);
    for (int k = 0; k < 3 * rank; k++)
        MPI_Iprobe(left, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Sections that are as long on a busy machine; both ranks wait for the slow one. */
static void steps(MPI_Comm other)
{
    for (long i = 0; i < 60; i++) {
        const struct timespec t = { 0, i + 1 == SLOW && rank == 0 ? 300000000 : 1000000 };

        fvmpi_section_begin("step", 0, 0);
        nanosleep(&t, NULL);
        iterate(i, other, 0);
        MPI_Barrier(other);
        fvmpi_section_end("step", 0, 0);
    }
}

/* Both ranks wait for the slow one. */
static void short_steps(long count, MPI_Comm other)
{
    const struct timespec t = { 0, 500000000 };

    for (long i = 0; i < count; i++) {
        fvmpi_section_begin("step", 0, 0);
        iterate(i, other, 0);
        for (int k = 0; !rank && k < 8 && i + 1 == KEEPS; k++)
            fvmpi_keep("holds up the other rank");
        if (!rank && i + 1 == count / 4 * 3)
            nanosleep(&t, NULL);
        MPI_Barrier(other);
        fvmpi_section_end("step", 0, 0);
    }
}

static void run(long from, long to, MPI_Comm other, const char *mode)
{
    for (long i = from; i < to; i++) {
        iterate(i, other, !strcmp(mode, "wild"));
        if (!strcmp(mode, "keep") && i == (from + to) / 2)
            fvmpi_keep("half of it");
    }
}

int main(int argc, char **argv)
{
    const long iterations = argc > 1 ? atol(argv[1]) : 1000;
    const char *mode = argc > 2 ? argv[2] : "";
    MPI_Comm other;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (!strcmp(mode, "steps"))
        steps(other);
    else if (!strcmp(mode, "short"))
        short_steps(iterations, other);
    else
        run(0, iterations, other, mode);
    if (!strcmp(mode, "wait")) {
        if (!rank)
            fclose(fopen("waits", "w"));
        while (access("go", F_OK))
            usleep(20000);
        run(iterations, 2 * iterations, other, mode);
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
