/* Two threads, on a processor each: nodes CPU CPU FILE. Writes what stands in for numa_maps: the heap and the stacks of both are on node 0. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static void *volatile keep;
static pthread_barrier_t both;

static void run_on(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set))
        abort();
}

static void *work(void *cpu)
{
    static int here;

    run_on(*(int *)cpu);
    free(keep = malloc(50000));
    here = 1;
    pthread_barrier_wait(&both);
    pthread_barrier_wait(&both); /* it is there as long as the program */
    return &here;
}

static void write_line(FILE *maps, pthread_t of, const char *rest)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;

    if (pthread_getattr_np(of, &attributes) || pthread_attr_getstack(&attributes, &low, &bytes))
        abort();
    fprintf(maps, "%lx %s\n", (unsigned long)low + bytes / 2, rest);
}

int main(int argc, char **argv)
{
    int cpus[2] = { argc > 3 ? atoi(argv[1]) : 0, argc > 3 ? atoi(argv[2]) : 0 };
    pthread_t worker;

    run_on(cpus[0]);
    free(keep = malloc(50000));
    pthread_barrier_init(&both, NULL, 2);
    if (pthread_create(&worker, NULL, work, &cpus[1]))
        return 1;
    pthread_barrier_wait(&both);
    FILE *maps = fopen(argv[3], "w");
    fprintf(maps, "1000 default heap anon=20000 N0=20000 kernelpagesize_kB=4\n2000 default anon=100 N1=100 kernelpagesize_kB=4\n");
    fprintf(maps, "3000 default file=/lib/x mapped=9000 N1=9000 kernelpagesize_kB=4\n");
    write_line(maps, pthread_self(), "default stack anon=10 N0=10 kernelpagesize_kB=4");
    write_line(maps, worker, "default anon=52 N0=50 N1=2 kernelpagesize_kB=4");
    fclose(maps);
    return 0;
}
