/* What facts.t looks for. Arguments are what to do, in their order; RANK -1 is all:
 *
 *     set RANK NAME VALUE     a variable, before MPI
 *     bind RANK CPU           to a processor, before MPI
 *     move RANK CPU           likewise, in MPI
 *     thread RANK CPU TO      a thread that begins on CPU, and moves to TO */
#define _GNU_SOURCE
#ifndef ALONE
#include <mpi.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int own_rank(void)
{
    const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK" };

    for (int i = 0; i < 2; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

static cpu_set_t only(const char *cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(atoi(cpu), &set);
    return set;
}

static void bind_to(const char *cpu)
{
    cpu_set_t set = only(cpu);

    if (sched_setaffinity(0, sizeof(set), &set))
        perror("sched_setaffinity");
}

static void *move(void *cpu)
{
    bind_to(cpu);
    return NULL;
}

static void run_thread(const char *cpu, char *to)
{
    cpu_set_t set = only(cpu);
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
    if (pthread_create(&thread, &attributes, move, to))
        perror("pthread_create");
    else
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void do_all(char **argv, int is_in_mpi)
{
    for (char **a = argv + 1; *a;) {
        int is_mine = atoi(a[1]) < 0 || atoi(a[1]) == own_rank();

        if (!strcmp(*a, "set")) {
            if (is_mine && !is_in_mpi)
                setenv(a[2], a[3], 1);
            a += 4;
        } else if (!strcmp(*a, "thread")) {
            if (is_mine && is_in_mpi)
                run_thread(a[2], a[3]);
            a += 4;
        } else {
            if (is_mine && is_in_mpi == !strcmp(*a, "move"))
                bind_to(a[2]);
            a += 3;
        }
    }
}

int main(int argc, char **argv)
{
    do_all(argv, 0);
#ifndef ALONE
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    do_all(argv, 1);
#ifndef ALONE
    MPI_Finalize();
#endif
    return 0;
}
