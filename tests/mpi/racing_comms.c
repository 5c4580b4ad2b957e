/* Communicators that four threads make at once of the same parent, with a tag each, use once and free: MPI gives
 * one's handle to the next, before the thread that freed it knows. Each is made, used by a barrier and freed once
 * on each rank. Prints `serial` where MPI has not MPI_THREAD_MULTIPLE. */
#include "known.h"

#include <pthread.h>

static __attribute__((noinline)) void *racing(void *tag)
{
    TIMES(100) {
        MPI_Group all;
        MPI_Comm comm;

        OK(MPI_Comm_group(WORLD, &all));
        OK(MPI_Comm_create_group(WORLD, all, *(int *)tag, &comm));
        OK(MPI_Barrier(comm));
        OK(MPI_Comm_free(&comm));
        OK(MPI_Group_free(&all));
    }
    return tag;
}

int main(int argc, char **argv)
{
    int provided, tag[4] = { 1, 2, 3, 4 };
    pthread_t thread[4];

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    known_start();
    for (int i = 0; i < 4 && provided == MPI_THREAD_MULTIPLE; i++)
        if (pthread_create(&thread[i], NULL, racing, &tag[i]))
            known_failed(__LINE__);
    for (int i = 0; i < 4 && provided == MPI_THREAD_MULTIPLE; i++)
        pthread_join(thread[i], NULL);
    if (provided < MPI_THREAD_MULTIPLE && me == 0)
        puts("serial");
    OK(MPI_Finalize());
    return 0;
}
