/* What other programs take from one that measures itself. A thread that loses its processor between a reading
 * of the clock and the call that it measures makes what it measures longer, and no recorder can see that.
 * measured.py judges by it. */
#ifndef TESTS_LOST_H
#define TESTS_LOST_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* How long the calling thread has waited for a processor so far; where the kernel does not say, all of the
 * time. */
static inline int64_t queued_ns(void)
{
    char text[80] = "", *queued;
    int fd = open("/proc/thread-self/schedstat", O_RDONLY);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    struct timespec now;

    if (fd >= 0)
        close(fd);
    if (got > 0 && (strtoll(text, &queued, 10), *queued == ' '))
        return strtoll(queued, NULL, 10);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Time in ns that the calling thread has lost so far because it was taken off its processor. Between two
 * calls without that, nothing is lost: a thread that wakes up late does so within the wait that it measures.
 */
static inline int64_t lost_ns(void)
{
    static __thread int64_t lost, queued;
    static __thread long taken;
    struct rusage usage;
    int64_t now = queued_ns();

    getrusage(RUSAGE_THREAD, &usage);
    if (usage.ru_nivcsw != taken)
        lost += now - queued;
    taken = usage.ru_nivcsw, queued = now;
    return lost;
}

#endif
