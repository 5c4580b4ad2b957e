/* A plugin that brings MPI and fvmpi with it: see plugin_host.c. */
#include "known.h"

#include <pthread.h>

OP meet(void)
{
    OK(MPI_Barrier(WORLD));
}

static void *work(void *unused)
{
    meet();
    return unused;
}

/* The caller's thread and one that outlives the plugin have called MPI. */
int plugin_run(int *argc, char ***argv)
{
    pthread_t thread;
    int provided;

    OK(MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided));
    known_start();
    TIMES(5)
    meet();
    if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
        known_failed(__LINE__);
    OK(MPI_Finalize());
    return me;
}
