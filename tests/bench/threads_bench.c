/* What an uncontended operation costs, in ns, beside plain in one run: the interposed functions are found as
 * the program finds them, plain ones in the C library itself. Argument: how many hundreds of batches there
 * are; they are short and taken in turns, and the best counts, so that a loaded machine does little harm.
 * Last, what a lock costs that two threads pass on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static long count;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

typedef int function(void *);
struct pair {
    const char *what, *lock, *unlock;
    void *object;
    function *plain[2], *ours[2];
    double best[2];
};

static double measure(function *lock, function *unlock, void *object)
{
    double begin = now_ns();

    for (long i = 0; i < count; i++) {
        lock(object);
        unlock(object);
    }
    return (now_ns() - begin) / (double)count;
}

static function *look_up(void *handle, const char *name)
{
    void *found = dlsym(handle, name);
    function *result;

    if (!found) {
        fprintf(stderr, "threads_bench: no %s\n", name);
        exit(1);
    }
    memcpy(&result, &found, sizeof(result));
    return result;
}

static void *pass_on(void *arg)
{
    (void)arg;
    for (long i = 0; i < 10 * count; i++) {
        pthread_mutex_lock(&mutex);
        for (volatile int k = 0; k < 20; k++)
            ;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

/* While there is a single thread, the C library's locks save the atomic operation. */
static void *idle(void *arg)
{
    return sem_wait(arg), arg;
}

int main(int argc, char **argv)
{
    struct pair pairs[] = {
        { .what = "mutex", .lock = "pthread_mutex_lock", .unlock = "pthread_mutex_unlock", .object = &mutex },
        { .what = "rwlock, reading",
          .lock = "pthread_rwlock_rdlock",
          .unlock = "pthread_rwlock_unlock",
          .object = &rwlock },
        { .what = "rwlock, writing",
          .lock = "pthread_rwlock_wrlock",
          .unlock = "pthread_rwlock_unlock",
          .object = &rwlock },
        { .what = "spin",
          .lock = "pthread_spin_lock",
          .unlock = "pthread_spin_unlock",
          .object = (void *)&spin },
        { .what = "semaphore", .lock = "sem_wait", .unlock = "sem_post", .object = &semaphore },
    };
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    pthread_t t[2], other;
    sem_t end;

    const long batches = (argc > 1 ? atol(argv[1]) : 1) * 100;

    count = 20000;
    sem_init(&end, 0, 0);
    pthread_create(&other, NULL, idle, &end);
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 1);
    for (unsigned i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        struct pair *p = &pairs[i];

        p->plain[0] = look_up(libc, p->lock), p->plain[1] = look_up(libc, p->unlock);
        p->ours[0] = look_up(RTLD_DEFAULT, p->lock), p->ours[1] = look_up(RTLD_DEFAULT, p->unlock);
        p->best[0] = p->best[1] = 1e30;
        for (long batch = 0; batch < batches; batch++) {
            double plain = measure(p->plain[0], p->plain[1], p->object);
            double ours = measure(p->ours[0], p->ours[1], p->object);

            p->best[0] = plain < p->best[0] ? plain : p->best[0];
            p->best[1] = ours < p->best[1] ? ours : p->best[1];
        }
        printf("%-16s plain %6.1f  here %6.1f  difference %6.1f ns\n", p->what, p->best[0], p->best[1],
               p->best[1] - p->best[0]);
    }
    double begin = now_ns();
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, pass_on, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%-16s %6.1f ns a lock and unlock\n", "two threads", (now_ns() - begin) / (double)(20 * count));
    sem_post(&end);
    pthread_join(other, NULL);
    return 0;
}
