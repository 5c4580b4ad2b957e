/* MPI_THREAD_MULTIPLE: 4 threads a rank, each on its own communicator, send to the next rank and receive
 * from the one before 50 times, each thread with its own message size, and then meet in a reduction.
 * Two more rounds of threads come and go. A receive is posted by one thread and completed by another.
 *
 *     MPI_Sendrecv in exchange <- worker    3 rounds x 4 threads x 50, (8+16+24+32)/4 bytes on average
 *     MPI_Allreduce in meet <- worker       3 x 4
 *     MPI_Irecv in post 50, 50 x 40 bytes received; MPI_Wait in complete 50
 */
#include "known.h"

#include <pthread.h>
#include <stdint.h>

#define THREADS 4
#define ROUNDS 3
static MPI_Comm comm[THREADS];
static double out[THREADS][16], in[THREADS][16];

OP exchange(int thread)
{
    TIMES(50)
        OK(MPI_Sendrecv(out[thread], thread + 1, MPI_DOUBLE, (me + 1) % ranks, i, in[thread], 16, MPI_DOUBLE,
                        (me + ranks - 1) % ranks, i, comm[thread], MPI_STATUS_IGNORE));
}

OP meet(int thread)
{
    OK(MPI_Allreduce(out[thread], in[thread], 1, MPI_DOUBLE, MPI_SUM, comm[thread]));
}

static void *worker(void *thread)
{
    exchange((int)(intptr_t)thread);
    meet((int)(intptr_t)thread);
    return NULL;
}

#define BATCH 50
static MPI_Request request[BATCH];
static int data[BATCH][10];

OP post(void)
{
    TIMES(BATCH)
        OK(MPI_Irecv(data[i], 10, MPI_INT, (me + ranks - 1) % ranks, i, WORLD, &request[i]));
}

OP complete(void)
{
    TIMES(BATCH)
        OK(MPI_Wait(&request[i], MPI_STATUS_IGNORE));
}

static void *completer(void *unused)
{
    complete();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    static int zero[10];
    int provided;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    known_start();
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("no MPI_THREAD_MULTIPLE\n");
        return MPI_Finalize();
    }
    for (int i = 0; i < THREADS; i++)
        OK(PMPI_Comm_dup(WORLD, &comm[i]));
    for (int round = 0; round < ROUNDS; round++) {
        for (intptr_t i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, worker, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
    }
    post();
    pthread_create(&thread[0], NULL, completer, NULL);
    TIMES(BATCH)
        OK(PMPI_Send(zero, 10, MPI_INT, (me + 1) % ranks, i, WORLD));
    pthread_join(thread[0], NULL);
    OK(MPI_Finalize());
    return 0;
}
