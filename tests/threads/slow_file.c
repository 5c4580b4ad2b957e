/* A file system that takes its time over making files longer: as one thread begins, another one's chunk is being made. */
#define _GNU_SOURCE
#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MS      5
#define THREADS 40

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    pause_ms(MS);
    int err = (int)syscall(SYS_fallocate, fd, 0, offset, bytes);
    return err ? errno : 0;
}

static void *computes(void *arg)
{
    struct timespec t;

    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (!t.tv_sec && t.tv_nsec < 2 * MS * 1000000L);
    return arg;
}

int main(void)
{
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, computes, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    puts("computed");
    return 0;
}
