/* A program with an allocator of its own, as jemalloc and tcmalloc are: it locks, and makes its lock on first
 * use. Who allocates while our functions look for those of the C library comes back to them, with that lock
 * held. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char arena[1 << 24];
static size_t used;
static pthread_mutex_t lock, starting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond;
static int made;

static void make(void)
{
    pthread_mutex_lock(&starting);
    if (!made) {
        pthread_mutex_init(&lock, NULL);
        pthread_cond_init(&cond, NULL);
        made = 1;
    }
    pthread_mutex_unlock(&starting);
}

void *malloc(size_t bytes)
{
    if (!made)
        make();
    pthread_mutex_lock(&lock);
    size_t at = used + 16;
    used = (at + bytes + 15) / 16 * 16;
    memcpy(arena + at - 16, &bytes, sizeof(bytes));
    pthread_mutex_unlock(&lock);
    return arena + at;
}

void free(void *p)
{
    (void)p;
}

void *calloc(size_t n, size_t bytes)
{
    return malloc(n * bytes); /* never used before, so zero */
}

void *realloc(void *p, size_t bytes)
{
    void *bigger = malloc(bytes);
    size_t old = 0;

    if (p)
        memcpy(&old, (char *)p - 16, sizeof(old));
    if (p)
        memcpy(bigger, p, old < bytes ? old : bytes);
    return bigger;
}

static void *allocates(void *arg)
{
    for (int i = 0; i < 100; i++)
        free(malloc(100));
    return arg;
}

int main(void)
{
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, allocates, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("allocated\n");
    return 0;
}
