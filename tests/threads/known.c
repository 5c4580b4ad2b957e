/* Threads that wait for known reasons and measure it themselves: lines `truth NAME NS LESS MORE`
 * (measured.py), and `truth NAME COUNT`. Each object is a static variable, each site a function of its own.
 * Compiled with -DWITH_MPI it does the same between MPI_Init and MPI_Finalize. */
#define _GNU_SOURCE
#include "clock.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define SITE   __attribute__((noinline))
#define ROUNDS 6

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER, convoy = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER, queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t starved = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spun;
static pthread_barrier_t uneven, turn;
static int came_last[4]; /* to `uneven`, each thread's own */
static sem_t tokens;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int queued, reading, readers_end;
static int timeouts;
static struct {
    int64_t ns, less, more;
} total[16]; /* of what is measured, by number */
enum { CONTENDED, HELD, CONVOY, QUEUE, STARVED, SPUN, BARRIER, TOKENS, ONCE, JOINED };

struct moment {
    int64_t lost, at;
};

static struct moment now(void)
{
    struct moment now = { .lost = lost_ns() };

    now.at = now_ns();
    return now;
}

/* A wait: what was lost in it, just before and just behind it is not waiting. */
static void add(int what, struct moment begin)
{
    int64_t end = now_ns();

    __atomic_fetch_add(&total[what].ns, end - begin.at, __ATOMIC_RELAXED);
    __atomic_fetch_add(&total[what].less, lost_ns() - begin.lost, __ATOMIC_RELAXED);
}

/* ---- one holds for 20 ms, the other waits ---- */

SITE static void *holder(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        int64_t lost = lost_ns(), begin, end;
        pthread_mutex_lock(&contended);
        begin = now_ns();
        lost -= lost_ns();
        pthread_barrier_wait(&turn);
        pause_ms(20);
        lost += lost_ns();
        end = now_ns();
        pthread_mutex_unlock(&contended);
        total[HELD].ns += end - begin;
        total[HELD].more += lost_ns() - lost; /* what surrounds it is held, too */
        pthread_barrier_wait(&turn);
    }
    return arg;
}

SITE static void *waiter(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&turn);
        struct moment begin = now();
        pthread_mutex_lock(&contended);
        add(CONTENDED, begin);
        pthread_mutex_unlock(&contended);
        pthread_barrier_wait(&turn);
    }
    return arg;
}

/* ---- four in a row behind each other ---- */

SITE static void *in_convoy(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct moment begin = now();
        pthread_mutex_lock(&convoy);
        add(CONVOY, begin);
        pause_ms(2);
        pthread_mutex_unlock(&convoy);
    }
    return arg;
}

/* ---- a queue ---- */

SITE static void *consumer(void *arg)
{
    for (int i = 0; i < 2 * ROUNDS; i++) {
        pthread_mutex_lock(&queue_lock);
        while (!queued) {
            struct moment begin = now();
            pthread_cond_wait(&filled, &queue_lock);
            add(QUEUE, begin);
        }
        queued--;
        pthread_mutex_unlock(&queue_lock);
    }
    return arg;
}

SITE static void *producer(void *arg)
{
    for (int i = 0; i < 2 * ROUNDS; i++) {
        pause_ms(5);
        pthread_mutex_lock(&queue_lock);
        queued++;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&queue_lock);
    }
    return arg;
}

/* ---- readers that overlap, and a writer ---- */

SITE static void *reader(void *arg)
{
    while (!__atomic_load_n(&readers_end, __ATOMIC_RELAXED)) {
        pthread_rwlock_rdlock(&starved);
        __atomic_store_n(&reading, 1, __ATOMIC_RELAXED);
        pause_ms(6);
        pthread_rwlock_unlock(&starved);
    }
    return arg;
}

SITE static void *writer(void *arg)
{
    while (!__atomic_load_n(&reading, __ATOMIC_RELAXED))
        pause_ms(1);
    for (int i = 0; i < 2; i++) {
        struct moment begin = now();
        struct timespec limit;

        clock_gettime(CLOCK_REALTIME, &limit);
        limit.tv_nsec += 40000000;
        limit.tv_sec += limit.tv_nsec / 1000000000;
        limit.tv_nsec %= 1000000000;
        int failed = pthread_rwlock_timedwrlock(&starved, &limit);
        add(STARVED, begin);
        if (!failed)
            pthread_rwlock_unlock(&starved);
        timeouts += failed != 0;
    }
    __atomic_store_n(&readers_end, 1, __ATOMIC_RELAXED);
    return arg;
}

/* ---- the rest ---- */

SITE static void *spins(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&turn);
        if (arg)
            pause_ms(2);
        struct moment begin = now();
        pthread_spin_lock(&spun);
        add(SPUN, begin);
        if (!arg)
            pause_ms(10);
        pthread_spin_unlock(&spun);
        pthread_barrier_wait(&turn);
    }
    return arg;
}

SITE static void *at_barrier(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pause_ms((int)(intptr_t)arg * 8);
        struct moment begin = now();
        if (pthread_barrier_wait(&uneven) == PTHREAD_BARRIER_SERIAL_THREAD) /* glibc's is the last one */
            came_last[(intptr_t)arg]++;
        else
            add(BARRIER, begin);
    }
    return arg;
}

SITE static void *takes(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct moment begin = now();
        sem_wait(&tokens);
        add(TOKENS, begin);
    }
    return arg;
}

SITE static void *gives(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pause_ms(8);
        sem_post(&tokens);
    }
    return arg;
}

static _Thread_local int initialised;

static void initialise(void)
{
    pause_ms(30);
    initialised = 1;
}

SITE static void *once_and_for_all(void *arg)
{
    if (arg)
        pause_ms(5);
    struct moment begin = now();
    pthread_once(&once, initialise);
    if (!initialised)
        add(ONCE, begin);
    return arg;
}

SITE static void *late(void *arg)
{
    pause_ms(40);
    return arg;
}

/* ---- starting them ---- */

static void together(void *(*one)(void *), void *(*two)(void *), int count)
{
    pthread_t t[8];

    for (int i = 0; i < count; i++)
        pthread_create(&t[i], NULL, i % 2 ? two : one, (void *)(intptr_t)i);
    for (int i = 0; i < count; i++)
        pthread_join(t[i], NULL);
}

SITE static void uncontended(void)
{
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&free_lock);
        pthread_mutex_unlock(&free_lock);
    }
}

SITE static void joins(void)
{
    pthread_t t;
    pthread_create(&t, NULL, late, NULL);
    struct moment begin = now();
    pthread_join(t, NULL);
    add(JOINED, begin);
}

int main(int argc, char **argv)
{
#ifdef WITH_MPI
    int provided, rank = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#else
    int rank = 0;
    (void)argc, (void)argv;
#endif
    pthread_barrier_init(&turn, NULL, 2);
    pthread_barrier_init(&uneven, NULL, 4);
    pthread_spin_init(&spun, 0);
    sem_init(&tokens, 0, 0);
    uncontended();
    together(holder, waiter, 2);
    together(in_convoy, in_convoy, 4);
    together(consumer, producer, 2);
    together(spins, spins, 2);
    together(at_barrier, at_barrier, 4);
    together(takes, gives, 2);
    together(once_and_for_all, once_and_for_all, 2);
    joins();
    pthread_t t[4];
    for (int i = 0; i < 4; i++) {
        pthread_create(&t[i], NULL, i ? reader : writer, NULL);
        pause_ms(2);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    static const char *const names[] = { "contended", "contended_held", "convoy", "filled", "starved",
                                         "spun",      "uneven",         "tokens", "once",   "late" };
    for (unsigned i = 0; !rank && i < sizeof(names) / sizeof(*names); i++)
        printf("truth %s %lld %lld %lld\n", names[i], (long long)total[i].ns, (long long)total[i].less,
               (long long)total[i].more);
    if (!rank)
        printf("truth timeouts %d\n", timeouts);
    for (int i = 0; !rank && i < 4; i++)
        printf("truth last%d %d\n", i, came_last[i]);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
