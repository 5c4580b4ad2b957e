/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 has less to do, and asks for rank 1's message again and again. How, says the argument:
 *
 *   polls     with one function
 *   probes    with two functions in turn
 *   rounds    with three
 *   overlaps  it computes between two such questions
 *   twice     the same, and each question is two calls
 *   moves     the message is large: the calls move it
 *   helps     a second thread asks, while rank 0 computes as long as rank 1
 *
 * Says how long it asked. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 12
#define PIECE  200         /* of sum(): some microseconds and more */
#define LARGE  (64 << 20) /* bytes */

static volatile double sink;
static volatile int is_over;
static const char *how;

static int is(const char *word)
{
    return !strcmp(how, word);
}

__attribute__((noinline)) void sum(int count)
{
    for (int i = 0; i < count; i++)
        sink += i;
}

__attribute__((noinline)) void work(double seconds)
{
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        sum(PIECE);
}

static void probe(void)
{
    int there;

    MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) double ask(MPI_Request request[2])
{
    double begin = MPI_Wtime();

    for (int done = 0; !done;) {
        if (is("overlaps") || is("twice"))
            sum(50 * PIECE);
        if (is("probes") || is("twice") || is("rounds"))
            probe();
        if (is("rounds"))
            MPI_Request_get_status(request[0], &done, MPI_STATUS_IGNORE);
        MPI_Testall(2, request, &done, MPI_STATUSES_IGNORE);
    }
    return MPI_Wtime() - begin;
}

static void *helper(void *unused)
{
    (void)unused;
    while (!is_over)
        probe();
    return NULL;
}

int main(int argc, char **argv)
{
    double asked = 0;
    pthread_t thread;
    int rank, level;

    how = argc > 1 ? argv[1] : "polls";
    MPI_Init_thread(&argc, &argv, is("helps") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is("helps") && rank == 0)
        pthread_create(&thread, NULL, helper, NULL);
    const int bytes = is("moves") ? LARGE : 8;
    char *in = calloc(2, (size_t)bytes), *out = in + bytes;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request request[2];

        MPI_Barrier(MPI_COMM_WORLD);
        work(is("moves") ? 0 : rank || is("helps") ? 0.06 : 0.01);
        if (is("helps"))
            continue;
        MPI_Irecv(in, bytes, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, bytes, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, &request[1]);
        asked += ask(request);
    }
    is_over = 1;
    if (is("helps") && rank == 0)
        pthread_join(thread, NULL);
    printf("truth rank %d asked %.6f\n", rank, asked);
    MPI_Finalize();
    return 0;
}
