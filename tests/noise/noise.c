/* Intervals of equal work between collective calls, each rank bound to a processor of its own, and what each measures of itself:
 *
 *     noise DIRECTORY INTERVALS        ranks; DIRECTORY gets pid.RANK, and is told by:
 *       truth RANK.off ns              in the intervals, wall less CPU time
 *       truth RANK.delay ns            of that, ready to run and without a processor, by /proc/self/schedstat
 *       truth RANK.cost ns             of all ranks together, in calls to which it came last: ranks times how much earlier the last one had come without these delays
 *     noise hog CPU DUTY               until it is killed: busy for DUTY ms of 20 there, under the name fv_hog
 */
#define _GNU_SOURCE
#include "../mpi/known.h"

#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>

#define WORK_S 0.01 /* of CPU time */
enum { RANKS_MOST = 8 };

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double wall_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double delay_s(void)
{
    unsigned long long ran, delay = 0;
    FILE *f = fopen("/proc/self/schedstat", "r");

    if (f && fscanf(f, "%llu %llu", &ran, &delay) != 2)
        delay = 0;
    if (f)
        fclose(f);
    return (double)delay * 1e-9;
}

static void bind_to(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* The n-th of those that are allowed. */
static int nth_cpu(int n)
{
    cpu_set_t set;
    int cpu = 0;

    sched_getaffinity(0, sizeof(set), &set);
    for (n %= CPU_COUNT(&set); !CPU_ISSET(cpu, &set) || n-- > 0;)
        cpu++;
    return cpu;
}

static int hog(int cpu, double duty_s)
{
    bind_to(cpu);
    prctl(PR_SET_NAME, "fv_hog");
    for (;;) {
        double begin = wall_s(), before = cpu_s();

        while (cpu_s() < before + duty_s)
            ;
        double left = begin + 0.02 - wall_s();
        if (left > 0)
            nanosleep(&(struct timespec){ 0, (long)(left * 1e9) }, NULL);
    }
}

struct interval {
    double begin, off, delay; /* begin: of the call behind it */
};

OP work(struct interval *in, int count)
{
    int one = 1, sum;

    TIMES(count) {
        double delayed = delay_s(), before = cpu_s(), begin = wall_s();

        while (cpu_s() < before + WORK_S)
            ;
        double used = cpu_s() - before;
        in[i].begin = wall_s();
        in[i].off = in[i].begin - begin - used;
        in[i].delay = delay_s() - delayed;
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD));
    }
}

/* Of rank 0, which has all ranks' intervals. */
static void tell(const struct interval *all, int count)
{
    double off[RANKS_MOST] = { 0 }, delay[RANKS_MOST] = { 0 }, cost[RANKS_MOST] = { 0 };

    for (int i = 0; i < count; i++) {
        double latest = 0, without = 0;
        int last = 0;

        for (int r = 0; r < ranks; r++) {
            const struct interval *in = &all[r * count + i];

            off[r] += in->off;
            delay[r] += in->delay;
            last = in->begin > latest ? r : last;
            latest = in->begin > latest ? in->begin : latest;
            without = in->begin - in->delay > without ? in->begin - in->delay : without;
        }
        cost[last] += ranks * (latest - without);
    }
    for (int r = 0; r < ranks; r++)
        printf("truth %d.off %lld\ntruth %d.delay %lld\ntruth %d.cost %lld\n", r, (long long)(off[r] * 1e9), r, (long long)(delay[r] * 1e9), r, (long long)(cost[r] * 1e9));
}

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    char path[500];

    if (argc == 4 && !strcmp(argv[1], "hog"))
        return hog(nth_cpu(atoi(argv[2])), atof(argv[3]) * 1e-3);
    if (argc != 3)
        return 2;
    rank = rank ? rank : getenv("PMI_RANK");
    bind_to(nth_cpu(rank ? atoi(rank) : 0)); /* before MPI_Init, as a launcher would */
    MPI_Init(&argc, &argv);
    known_start();
    int count = atoi(argv[2]);
    struct interval *mine = calloc((size_t)count, sizeof(*mine)), *all = calloc((size_t)(count * RANKS_MOST), sizeof(*all));
    snprintf(path, sizeof(path), "%s/pid.%d", argv[1], me);
    FILE *f = fopen(path, "w");
    if (!f || !mine || !all)
        return 3;
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
    OK(MPI_Barrier(WORLD));
    work(mine, count);
    PMPI_Gather(mine, count * (int)sizeof(*mine), MPI_BYTE, all, count * (int)sizeof(*mine), MPI_BYTE, 0, WORLD);
    if (!me)
        tell(all, count);
    MPI_Finalize();
    return 0;
}
