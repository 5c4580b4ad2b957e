/* Eight threads do to the same objects what there is to do, and to objects of their own that come and go at
 * the same addresses; threads begin and end meanwhile. The counts are known: argument: rounds. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8
#define SITE    __attribute__((noinline))

static pthread_mutex_t stressed[4] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                       PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_rwlock_t both_ways = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spun;
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t together;
static sem_t given;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static long counted[4], rounds, spins, reads, turns, beginners;

/* GCC 12's ThreadSanitizer sees none of what threads tell each other inside of its sem_wait(). */
#if defined(__SANITIZE_THREAD__)
#define sem_wait sem_trywait
#endif

static void count(void)
{
    beginners++;
}

SITE static void *brief(void *arg)
{
    pthread_once(&once, count);
    pthread_mutex_lock(&stressed[0]);
    counted[0]++;
    pthread_mutex_unlock(&stressed[0]);
    return arg;
}

/* Objects at an address that another thread has used, too. */
SITE static void come_and_go(void)
{
    struct {
        pthread_mutex_t mutex;
        pthread_rwlock_t lock;
        sem_t semaphore;
    } *own = malloc(sizeof(*own));

    pthread_mutex_init(&own->mutex, NULL);
    pthread_rwlock_init(&own->lock, NULL);
    sem_init(&own->semaphore, 0, 1);
    pthread_mutex_lock(&own->mutex);
    pthread_rwlock_rdlock(&own->lock);
    sem_wait(&own->semaphore);
    pthread_rwlock_unlock(&own->lock);
    pthread_mutex_unlock(&own->mutex);
    sem_destroy(&own->semaphore);
    pthread_rwlock_destroy(&own->lock);
    pthread_mutex_destroy(&own->mutex);
    free(own);
}

SITE static void *stress(void *arg)
{
    int self = (int)(intptr_t)arg;

    for (long i = 0; i < rounds; i++) {
        int which = (int)(i + self) % 4;

        pthread_mutex_lock(&stressed[which]);
        counted[which]++;
        pthread_mutex_unlock(&stressed[which]);
        if (i % 4)
            pthread_rwlock_rdlock(&both_ways);
        else
            pthread_rwlock_wrlock(&both_ways), reads++;
        pthread_rwlock_unlock(&both_ways);
        pthread_spin_lock(&spun);
        spins++;
        pthread_spin_unlock(&spun);
        come_and_go();
        sem_post(&given);
        sem_wait(&given);
        if (i % 8 == 0) {
            pthread_t t;

            pthread_create(&t, NULL, brief, NULL);
            pthread_join(t, NULL);
        }
    }
    pthread_mutex_lock(&turn_lock);
    while (turns != self)
        pthread_cond_wait(&turned, &turn_lock);
    turns++;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&turn_lock);
    for (int i = 0; i < 20; i++)
        pthread_barrier_wait(&together);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t[THREADS];

    rounds = argc > 1 ? atol(argv[1]) : 80;
    pthread_spin_init(&spun, 0);
    pthread_barrier_init(&together, NULL, THREADS);
    sem_init(&given, 0, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, stress, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    printf("locked %ld spun %ld written %ld turns %ld once %ld\n",
           counted[0] + counted[1] + counted[2] + counted[3], spins, reads, turns, beginners);
    return 0;
}
