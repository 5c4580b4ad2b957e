/* Computing between calls: what the ranks take in two regions is balanced in sum, not in each, as a phase of a step's
 * physics and one of its solver may be. The program prints what each rank measured in each, in ns, as measured.py reads it:
 *
 *     truth RANK.REGION ns
 *
 *     first      MPI_Barrier in step -> MPI_Allreduce in step     even ranks take long
 *     second     MPI_Allreduce in step -> MPI_Barrier in step     odd ranks take long
 *     from_one   MPI_Iprobe in one -> MPI_Iprobe in either        one call site behind now this one, now that one
 *     from_two   MPI_Iprobe in two -> MPI_Iprobe in either
 *     resumed    MPI_Pcontrol in pauses -> MPI_Barrier in pauses  without the pause, and without the calls in it
 */
#define _GNU_SOURCE
#include "known.h"
#include "lost.h"

#define STEPS    8
#define SHORT_MS 2
#define LONG_MS  10

enum region { FIRST, SECOND, FROM_ONE, FROM_TWO, RESUMED, REGIONS };
static const char *const names[REGIONS] = { "first", "second", "from_one", "from_two", "resumed" };
static double took[REGIONS];
static int64_t lost[REGIONS], lost_so_far;
static enum region last = REGIONS;

/* To a recorder a region lasts from call to call: what is lost on the way to the next one is of it, too. Nobody can tell that from what is lost in the call. */
static void begin(enum region region)
{
    int64_t all = lost_ns();

    if (last != REGIONS)
        lost[last] += all - lost_so_far;
    lost[region] += all - lost_so_far;
    lost_so_far = all;
    took[region] -= now();
}

static void end(enum region region)
{
    took[region] += now();

    int64_t all = lost_ns();

    lost[region] += all - lost_so_far;
    lost_so_far = all;
    last = region;
}

static void burn(double ms)
{
    for (double until = now() + ms * 1e-3; now() < until;)
        ;
}

static void compute(enum region region, double ms)
{
    begin(region);
    burn(ms);
    end(region);
}

OP step(void)
{
    static int in, out;

    TIMES(STEPS) {
        OK(MPI_Barrier(WORLD));
        compute(FIRST, me % 2 ? SHORT_MS : LONG_MS);
        OK(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, WORLD));
        compute(SECOND, me % 2 ? LONG_MS : SHORT_MS);
    }
    OK(MPI_Barrier(MPI_COMM_SELF));
}

static int flag;

OP one(void)
{
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 1, WORLD, &flag, MPI_STATUS_IGNORE));
}

OP two(void)
{
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 2, WORLD, &flag, MPI_STATUS_IGNORE));
}

OP either(void)
{
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 3, WORLD, &flag, MPI_STATUS_IGNORE));
}

OP in_turns(void)
{
    TIMES(STEPS) {
        if (i % 2) {
            one();
            compute(FROM_ONE, SHORT_MS);
        } else {
            two();
            compute(FROM_TWO, 2 * SHORT_MS);
        }
        either();
    }
}

OP pauses(void)
{
    TIMES(2) {
        OK(MPI_Pcontrol(0));
        burn(2 * LONG_MS);
        OK(MPI_Barrier(MPI_COMM_SELF));
        OK(MPI_Pcontrol(1));
        compute(RESUMED, LONG_MS);
        OK(MPI_Barrier(MPI_COMM_SELF)); /* recorded */
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    step();
    in_turns();
    pauses();
    for (int i = 0; i < REGIONS; i++) {
        double all[64];
        long long lost_all[64], mine = lost[i];

        PMPI_Gather(&took[i], 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, WORLD);
        PMPI_Gather(&mine, 1, MPI_LONG_LONG, lost_all, 1, MPI_LONG_LONG, 0, WORLD);
        for (int r = 0; me == 0 && r < ranks; r++)
            printf("truth %d.%s %lld 0 %lld\n", r, names[i], (long long)(1e9 * all[r]), lost_all[r]);
    }
    OK(MPI_Finalize());
    return 0;
}
