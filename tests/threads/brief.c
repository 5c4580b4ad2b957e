/* Locks that come and go, and more locks than have a record of their own. Argument: what to do. */
#define _GNU_SOURCE
#include "clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITE  __attribute__((noinline))
#define SHORT 1000000
#define MANY  200000
#define PAIRS 8
#define PART  20000
#define LIVE  1000

SITE static void use(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}

SITE static void *one(void *before)
{
    pthread_mutex_t *lock = malloc(sizeof(*lock));

    free(before);
    pthread_mutex_init(lock, NULL);
    use(lock);
    pthread_mutex_destroy(lock);
    return lock;
}

/* One after the other, at two addresses. */
SITE static void one_by_one(void)
{
    void *last = NULL;

    for (volatile int i = 0; i < SHORT; i++) /* one call: nothing is unrolled */
        last = one(last);
    free(last);
}

/* LIVE of them at a time, which end in the order they began in. */
SITE static void crowd(void)
{
    static pthread_mutex_t *live[LIVE];

    for (int i = 0; i < SHORT; i++) {
        pthread_mutex_t **lock = &live[i % LIVE];

        if (*lock) {
            pthread_mutex_destroy(*lock);
            free(*lock);
        }
        *lock = malloc(sizeof(**lock));
        pthread_mutex_init(*lock, NULL);
        use(*lock);
    }
}

static void *also_uses(void *arg)
{
    use(arg);
    return NULL;
}

/* The next of a series at once has two threads; a variable is another lock than those of the heap. */
SITE static void others_too(void)
{
    static pthread_mutex_t variable;

    for (int i = 0; i < 200; i++) {
        pthread_mutex_t *lock = malloc(sizeof(*lock));
        pthread_t thread;

        pthread_mutex_init(lock, NULL);
        use(lock);
        pthread_create(&thread, NULL, also_uses, lock);
        pthread_join(thread, NULL);
        pthread_mutex_destroy(lock);
        free(lock);
        pthread_mutex_init(&variable, NULL);
        use(&variable);
        pthread_mutex_destroy(&variable);
    }
}

/* The shortest time of `rounds` that `locks` take. */
static int64_t shortest(pthread_mutex_t *locks, int rounds)
{
    int64_t best = INT64_MAX;

    for (int round = 0; round < rounds; round++) {
        int64_t begin = now_ns(), ns;

        for (int i = 0; i < PART; i++)
            use(&locks[i]);
        ns = now_ns() - begin;
        best = ns < best ? ns : best;
    }
    return best;
}

/* MANY, that are there together: what the last ones take, of what the first take. */
SITE static void all_at_once(void)
{
    pthread_mutex_t *locks = calloc(MANY, sizeof(*locks));

    for (int i = 0; i < MANY; i++)
        use(&locks[i]);
    int64_t first = shortest(locks, PAIRS), last = shortest(locks + MANY - PART, PAIRS);
    printf("first %lld last %lld\n", (long long)first, (long long)last);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (!strcmp(what, "one by one"))
        one_by_one();
    else if (!strcmp(what, "crowd"))
        crowd();
    else if (!strcmp(what, "others too"))
        others_too();
    else if (!strcmp(what, "all at once"))
        all_at_once();
    return 0;
}
