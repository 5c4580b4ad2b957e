/* A host whose wall clock is wrong: CLOCK_REALTIME by HOSTS_WRONG_NS, for what calls clock_gettime(). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const char *wrong = getenv("HOSTS_WRONG_NS");
    long status = syscall(SYS_clock_gettime, clock, t);

    if (clock == CLOCK_REALTIME && wrong && !status) {
        long long ns = t->tv_nsec + atoll(wrong);

        t->tv_sec += (ns + 1000000000000) / 1000000000 - 1000; /* rounded down */
        t->tv_nsec = (ns + 1000000000000) % 1000000000;
    }
    return (int)status;
}
