/* What an uncontended operation costs, in ns, beside plain in one run: the interposed functions are found as
 * the program finds them, plain ones in the C library itself. Argument: how many hundreds of batches there
 * are; they are short and taken in turns, and the best counts, so that a loaded machine does little harm.
 * Last, what a lock costs that two threads pass on, where the middle of all batches counts, and an empty
 * parallel region of OpenMP. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
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

static int awaited; /* threads that have not begun */

static void *pass_on(void *arg)
{
    function *const *lock = arg;

    __atomic_fetch_sub(&awaited, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&awaited, __ATOMIC_ACQUIRE))
        sched_yield();
    for (long i = 0; i < count; i++) {
        lock[0](&mutex);
        for (volatile int k = 0; k < 20; k++)
            ;
        lock[1](&mutex);
    }
    return NULL;
}

static double two_threads(function **lock)
{
    double begin = now_ns();
    pthread_t t[2];

    awaited = 2;
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, pass_on, lock);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return (now_ns() - begin) / (double)(2 * count);
}

enum { BATCHES = 101 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* While there is a single thread, the C library's locks save the atomic operation. */
static void *idle(void *arg)
{
    return sem_wait(arg), arg;
}

typedef void body_function(void *);
typedef void region_function(body_function *, void *, unsigned, unsigned);

static void nothing(void *arg)
{
    (void)arg;
}

static double measure_region(region_function *region, unsigned threads)
{
    const int regions = 50;
    double begin = now_ns();

    for (int i = 0; i < regions; i++)
        region(nothing, NULL, threads, 0);
    return (now_ns() - begin) / regions;
}

/* As the compiler would call libgomp, if there is one. */
static void measure_regions(long batches)
{
    void *libgomp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *found[2] = { libgomp ? dlsym(libgomp, "GOMP_parallel") : NULL,
                       dlsym(RTLD_DEFAULT, "GOMP_parallel") };
    region_function *region[2];

    if (!found[0] || !found[1])
        return;
    memcpy(region, found, sizeof(region));
    for (unsigned threads = 1; threads <= 2; threads++) {
        double best[2] = { 1e30, 1e30 };

        for (long i = 0; i < batches; i++) {
            double ns = measure_region(region[i % 2], threads);

            best[i % 2] = ns < best[i % 2] ? ns : best[i % 2];
        }
        printf("region of %u      plain %6.1f  here %6.1f  difference %6.1f ns\n", threads, best[0], best[1],
               best[1] - best[0]);
    }
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
    pthread_t other;
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
    double plain[BATCHES], ours[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        plain[batch] = two_threads(pairs[0].plain);
        ours[batch] = two_threads(pairs[0].ours);
    }
    qsort(plain, BATCHES, sizeof(*plain), compare);
    qsort(ours, BATCHES, sizeof(*ours), compare);
    printf("%-16s plain %6.1f  here %6.1f  difference %6.1f ns a lock and unlock\n", "two threads",
           plain[BATCHES / 2], ours[BATCHES / 2], ours[BATCHES / 2] - plain[BATCHES / 2]);
    sem_post(&end);
    pthread_join(other, NULL);
    measure_regions(batches);
    return 0;
}
