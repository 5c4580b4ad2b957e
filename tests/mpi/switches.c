/* Computing in which a thread has no processor, for a reason that is known. The program prints what each rank measured, in ns, as
 * measured.py reads it:
 *
 *     truth RANK.sleeps ns    MPI_Barrier in sleeps -> MPI_Allreduce in sleeps     SLEEPS times: rank 1 sleeps, rank 0 does not
 *     truth RANK.shares ns    MPI_Barrier in shares -> MPI_Allreduce in shares     both compute on one processor: wall less CPU time
 *
 * and MPI_Barrier in often -> MPI_Allreduce in often: more sleeps than there is room for.
 */
#define _GNU_SOURCE
#include "known.h"

#include <sched.h>
#include <stdint.h>

#define SLEEPS 8
#define OFTEN  2000

static int in, out;

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double slept(long ns)
{
    double begin = now();

    nanosleep(&(struct timespec){ 0, ns }, NULL);
    return now() - begin;
}

OP sleeps(double *s)
{
    TIMES(SLEEPS) {
        OK(MPI_Barrier(WORLD));
        if (me == 1)
            *s += slept(10000000);
        OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, WORLD));
    }
}

OP shares(double *s)
{
    double begin, before;

    OK(MPI_Barrier(WORLD));
    begin = now();
    before = cpu();
    while (cpu() < before + 0.1)
        ;
    *s = now() - begin - (cpu() - before);
    OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, WORLD));
}

OP often(void)
{
    OK(MPI_Barrier(WORLD));
    TIMES(OFTEN)
        slept(1000);
    OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, WORLD));
}

/* Of rank 0's processors the first. */
static void on_one_processor(void)
{
    cpu_set_t set, one;
    int first = 0;

    sched_getaffinity(0, sizeof(set), &set);
    while (!CPU_ISSET(first, &set))
        first++;
    PMPI_Bcast(&first, 1, MPI_INT, 0, WORLD);
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
    double s[2] = { 0 }, all[4];

    MPI_Init(&argc, &argv);
    known_start();
    sleeps(&s[0]);
    often();
    on_one_processor();
    shares(&s[1]);
    PMPI_Gather(s, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, WORLD);
    for (int r = 0; !me && r < 2; r++)
        printf("truth %d.sleeps %lld\ntruth %d.shares %lld\n", r, (long long)(all[2 * r] * 1e9), r, (long long)(all[2 * r + 1] * 1e9));
    MPI_Finalize();
    return 0;
}
