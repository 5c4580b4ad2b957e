/* Locks that are no variables of their own, and a deadlock. `report MS`: four threads share eight locks of a
 * heap and one within a struct, and each works MS ms. `report deadlock`: two threads lock two mutexes the
the wrong way round, and the process is killed. `report compute`: four threads compute for 80 ms of CPU time.
 * `report alike`: so do two, twice, and only the address tells where.
 */
#define _GNU_SOURCE
#include "clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SITE    __attribute__((noinline))
#define BUCKETS 8

static struct {
    int before[10];
    pthread_mutex_t mutex;
} state = { .mutex = PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t *bucket[BUCKETS];
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold;
static int work_ms;

SITE static void make_buckets(void)
{
    for (int i = 0; i < BUCKETS; i++) {
        bucket[i] = malloc(sizeof(*bucket[i]));
        pthread_mutex_init(bucket[i], NULL);
    }
}

SITE static void insert(int i)
{
    pthread_mutex_lock(bucket[i % BUCKETS]);
    pthread_mutex_unlock(bucket[i % BUCKETS]);
}

SITE static void update(void)
{
    pthread_mutex_lock(&state.mutex);
    pause_ms(work_ms);
    pthread_mutex_unlock(&state.mutex);
}

static void *worker(void *arg)
{
    for (int i = 0; i < 64; i++)
        insert(i);
    update();
    return arg;
}

SITE static void *one_way(void *arg)
{
    pthread_mutex_lock(&first_lock);
    pthread_barrier_wait(&both_hold);
    pthread_mutex_lock(&second_lock);
    return arg;
}

SITE static void *other_way(void *arg)
{
    pthread_mutex_lock(&second_lock);
    pthread_barrier_wait(&both_hold);
    pthread_mutex_lock(&first_lock);
    return arg;
}

SITE static void *computes(void *arg)
{
    struct timespec t;

    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (!t.tv_sec && t.tv_nsec < 80000000);
    return arg;
}

static inline __attribute__((always_inline)) void both_compute(void)
{
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, computes, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

SITE static void alike(void)
{
    both_compute(), both_compute();
}

static void deadlock(void)
{
    pthread_t t[2];

    pthread_barrier_init(&both_hold, NULL, 3);
    pthread_create(&t[0], NULL, one_way, NULL);
    pthread_create(&t[1], NULL, other_way, NULL);
    pthread_barrier_wait(&both_hold);
    pause_ms(300);
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    bool computing = argc > 1 && !strcmp(argv[1], "compute");
    pthread_t t[4];

    if (argc > 1 && !strcmp(argv[1], "deadlock"))
        deadlock();
    if (argc > 1 && !strcmp(argv[1], "alike")) {
        alike();
        return 0;
    }
    work_ms = argc > 1 ? atoi(argv[1]) : 10;
    make_buckets();
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, computing ? computes : worker, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    puts("done");
    return 0;
}
