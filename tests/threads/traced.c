/* What the trace must tell of threads, by the argument:
 *
 *     few       a recursive mutex, one that others release, tries, readers, a condition, a detached thread
 *     loop N    two threads that each acquire one mutex N times; prints how often it was acquired
 *     refused   a thread that cannot be made, and one that can
 *     last      threads that come last to a barrier by turns: those who waited run before the last one does
 *     killed    one thread waits for what another holds, then the process is killed */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SITE __attribute__((noinline))

static pthread_mutex_t again, tried = PTHREAD_MUTEX_INITIALIZER, looped = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, handed = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guarded = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static sem_t ended;
static long count, acquired;
static int is_ready;

SITE static void recursive(void)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&again, &attributes);
    for (int i = 0; i < 3; i++)
        pthread_mutex_lock(&again);
    for (int i = 0; i < 3; i++)
        pthread_mutex_unlock(&again);
    pthread_mutex_lock(&again);
    pthread_mutex_unlock(&again);
}

SITE static void tries(void)
{
    pthread_mutex_trylock(&tried);
    pthread_mutex_trylock(&tried); /* in vain */
    pthread_mutex_unlock(&tried);
}

SITE static void *reads(void *arg)
{
    pthread_rwlock_rdlock(&shared);
    pthread_rwlock_unlock(&shared);
    return arg;
}

SITE static void *waits(void *arg)
{
    pthread_mutex_lock(&guarded);
    while (!is_ready)
        pthread_cond_wait(&ready, &guarded);
    pthread_mutex_unlock(&guarded);
    return arg;
}

SITE static void *detached(void *arg)
{
    sem_post(&ended);
    return arg;
}

SITE static void *unlocks(void *arg)
{
    pthread_mutex_unlock(arg);
    return arg;
}

/* As a binary semaphore, but for the last time. */
SITE static void hands_over(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t t;

        pthread_mutex_lock(&handed);
        pthread_create(&t, NULL, unlocks, &handed);
        pthread_join(t, NULL);
    }
    pthread_mutex_lock(&handed);
    pthread_mutex_unlock(&handed);
}

static void few(void)
{
    pthread_t t;

    hands_over();
    recursive();
    tries();
    pthread_rwlock_rdlock(&shared);
    pthread_create(&t, NULL, reads, NULL);
    pthread_join(t, NULL);
    pthread_rwlock_unlock(&shared);
    pthread_create(&t, NULL, waits, NULL);
    usleep(20000);
    pthread_mutex_lock(&guarded);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&guarded);
    pthread_join(t, NULL);
    sem_init(&ended, 0, 0);
    pthread_create(&t, NULL, detached, NULL);
    pthread_detach(t);
    sem_wait(&ended);
    usleep(20000);
}

SITE static void *loops(void *arg)
{
    for (long i = 0; i < count; i++) {
        pthread_mutex_lock(&looped);
        acquired++;
        pthread_mutex_unlock(&looped);
    }
    return arg;
}

static void loop(long n)
{
    pthread_t t[2];

    count = n;
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, loops, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("acquired %ld\n", acquired);
}

static void refused(void)
{
    pthread_attr_t attributes;
    pthread_t t;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)1 << 60); /* more than there are addresses */
    if (!pthread_create(&t, &attributes, reads, NULL))
        exit(1);
    pthread_create(&t, NULL, reads, NULL);
    pthread_join(t, NULL);
}

enum { TURNS = 6 };
static pthread_barrier_t met;
static int came; /* to the next barrier */

/* Number 1 gives way to any other thread that can run, the moment that it lets it go. */
SITE static void *meets(void *arg)
{
    int number = *(const int *)arg;
    struct sched_param none = { 0 };

    if (number && sched_setscheduler(0, SCHED_IDLE, &none))
        exit(3);
    for (int turn = 0; turn < TURNS; turn++) {
        bool is_last = turn % 2 == number;

        while (is_last && __atomic_load_n(&came, __ATOMIC_ACQUIRE) < turn + 1)
            usleep(1000);
        if (is_last)
            usleep(10000); /* the other one is in it */
        else
            __atomic_fetch_add(&came, 1, __ATOMIC_RELEASE);
        pthread_barrier_wait(&met);
    }
    return arg;
}

/* On one processor. */
static void last(void)
{
    int numbers[2] = { 0, 1 }, processor = sched_getcpu();
    pthread_t t[2];
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (sched_setaffinity(0, sizeof(one), &one))
        exit(3);
    pthread_barrier_init(&met, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, meets, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

SITE static void *holds(void *arg)
{
    pthread_mutex_lock(&held);
    sem_post(&ended);
    pause();
    return arg;
}

SITE static void *stuck(void *arg)
{
    pthread_mutex_lock(&held);
    return arg;
}

static void killed(void)
{
    pthread_t t;

    sem_init(&ended, 0, 0);
    pthread_create(&t, NULL, holds, NULL);
    sem_wait(&ended);
    pthread_create(&t, NULL, stuck, NULL);
    usleep(100000);
    tries(); /* the last that is known of the process */
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "loop"))
        loop(atol(argv[2]));
    else if (argc > 1 && !strcmp(argv[1], "killed"))
        killed();
    else if (argc > 1 && !strcmp(argv[1], "last"))
        last();
    else if (argc > 1 && !strcmp(argv[1], "refused"))
        refused();
    else
        few();
    return 0;
}
