/* Sections whose instances take what the program says, by a clock that only the program moves: for runs with
 * `--clock monotonic`, linked with -rdynamic. In "each" instance i of 1000 takes i us, in "steady" all take 5 us, and in
 * "rarely long" one takes 1 s, the others 1 ms. */
#include "fvmpi.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long fed_ns;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (clock != CLOCK_MONOTONIC || !fed_ns)
        return (int)syscall(SYS_clock_gettime, clock, t);
    t->tv_sec = fed_ns / 1000000000;
    t->tv_nsec = fed_ns % 1000000000;
    return 0;
}

static void instance(const char *name, long long ns)
{
    fvmpi_section_begin(name, 0, 0);
    fed_ns += ns;
    fvmpi_section_end(name, 0, 0);
}

int main(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    fed_ns = t.tv_sec * 1000000000LL + t.tv_nsec;
    for (int i = 1; i <= 1000; i++) {
        instance("each", i * 1000);
        instance("steady", 5000);
        instance("rarely long", i == 500 ? 1000000000 : 1000000);
    }
    return 0;
}
