/* A clock of the program's own, which fvmpi's handler reads, too: it passes where slow() returns to, without calling it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long result, work;

static __attribute__((noipa)) void slow(void)
{
    for (int i = 0; i < 30000; i++) /* a sample finds it on the stack */
        work++;
}

__attribute__((noipa)) int clock_gettime(clockid_t clock, struct timespec *out)
{
    result = syscall(SYS_clock_gettime, clock, out);
    if (clock == CLOCK_PROCESS_CPUTIME_ID)
        slow();
    return result ? -1 : 0;
}

int main(void)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < 1);
    puts("ended");
    return 0;
}
