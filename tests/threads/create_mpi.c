/* Three threads a rank that call no MPI, and one that was there before MPI. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void *worker(void *arg)
{
    volatile double x = 0;

    for (int i = 0; i < 1000000; i++)
        x += i;
    *(int *)arg = x > 0;
    return arg;
}

static pthread_mutex_t early_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;

static void *early(void *arg)
{
    pthread_barrier_wait(&begun);
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&early_lock);
        pthread_mutex_unlock(&early_lock);
    }
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t[3];
    int done[3] = { 0 }, sum, rank, provided;

    pthread_t first;
    pthread_barrier_init(&begun, NULL, 2);
    pthread_create(&first, NULL, early, NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, &done[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_wait(&begun);
    pthread_join(first, NULL);
    sum = done[0] + done[1] + done[2];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!rank)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
