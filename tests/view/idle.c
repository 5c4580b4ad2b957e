/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that computes, then waits while the main thread computes: twice. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

enum { ROUNDS = 2, MS_OF_WORKER = 60, MS_OF_MAIN = 240 };

static pthread_barrier_t begin;

/* CPU time of the thread: others may have the processor. */
__attribute__((noinline)) static void compute(int ms)
{
    volatile unsigned sum = 0;
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const long long until = now.tv_sec * 1000000000LL + now.tv_nsec + ms * 1000000LL;
    do {
        for (unsigned i = 0; i < 100000; i++)
            sum += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000000000LL + now.tv_nsec < until);
}

static void *work(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&begin);
        compute(MS_OF_WORKER);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;

    pthread_barrier_init(&begin, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&begin);
        compute(MS_OF_MAIN);
    }
    return pthread_join(thread, NULL);
}
