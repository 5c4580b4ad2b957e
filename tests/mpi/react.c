/* One rank computes longer, in one function: between MPI_Barrier and MPI_Allreduce all ranks are in advance(), and then
 * rank 1 alone is in react(). Prints the CPU time that each rank measured in them, in ns:
 *
 *     cpu RANK advance react
 */
#include "known.h"

#define STEPS 10

static volatile unsigned sink;
static double cpu[2];

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* In the function itself: what is inlined would be a procedure of its own. */
#define BURN(part, ms)                                                       \
    double begin = cpu_s();                                                  \
    while (cpu_s() - begin < (ms) * 1e-3) {                                  \
        unsigned x = sink;                                                   \
        for (unsigned i = 0, steps = (unsigned)known_hide(200000); i < steps; i++) \
            x = x * 1664525u + 1013904223u;                                  \
        sink = x;                                                            \
    }                                                                        \
    cpu[part] += cpu_s() - begin

OP advance(void)
{
    BURN(0, 20);
}

OP react(void)
{
    BURN(1, 50);
}

OP step(void)
{
    int in = 1, out;

    TIMES(STEPS) {
        OK(MPI_Barrier(WORLD));
        advance();
        if (me == 1)
            react();
        OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, WORLD));
    }
}

int main(int argc, char **argv)
{
    double all[2 * 64];

    OK(MPI_Init(&argc, &argv));
    known_start();
    step();
    PMPI_Gather(cpu, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, WORLD);
    for (int r = 0; me == 0 && r < ranks; r++)
        printf("cpu %d %.0f %.0f\n", r, 1e9 * all[2 * r], 1e9 * all[2 * r + 1]);
    OK(MPI_Finalize());
    return 0;
}
