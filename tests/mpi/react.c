/* One rank computes longer, in one function: between MPI_Barrier and MPI_Allreduce all ranks are in advance(), and then
 * rank 1 alone is in react(). Then one call, in look(), has two that may come next: MPI_Barrier behind left(), and MPI_Allreduce
 * behind right(). Prints the CPU time that each rank measured in them, in ns:
 *
 *     cpu RANK advance react left right
 *
 * With -DLIBRARY all that is a library's, and with -DPROGRAM a main() that calls it.
 */
#ifdef PROGRAM
int react_main(int argc, char **argv);

int main(int argc, char **argv)
{
    return react_main(argc, argv);
}
#else
#include "known.h"

#define STEPS 10

static volatile unsigned sink;
#define PARTS 4
static double cpu[PARTS];

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

OP left(void)
{
    BURN(2, 20);
}

OP right(void)
{
    BURN(3, 40);
}

OP look(void)
{
    int flag;

    OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, WORLD, &flag, MPI_STATUS_IGNORE));
}

OP turns(void)
{
    int in = 1, out;

    for (int i = 0; i < 2 * STEPS; i++) {
        look();
        if (i % 2) {
            left();
            OK(MPI_Barrier(WORLD));
        } else {
            right();
            OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, WORLD));
        }
    }
}

#ifdef LIBRARY
int react_main(int argc, char **argv)
#else
int main(int argc, char **argv)
#endif
{
    double all[PARTS * 64];

    OK(MPI_Init(&argc, &argv));
    known_start();
    step();
    turns();
    PMPI_Gather(cpu, PARTS, MPI_DOUBLE, all, PARTS, MPI_DOUBLE, 0, WORLD);
    for (int r = 0; me == 0 && r < ranks; r++)
        printf("cpu %d %.0f %.0f %.0f %.0f\n", r, 1e9 * all[PARTS * r], 1e9 * all[PARTS * r + 1], 1e9 * all[PARTS * r + 2],
               1e9 * all[PARTS * r + 3]);
    OK(MPI_Finalize());
    return 0;
}
#endif
