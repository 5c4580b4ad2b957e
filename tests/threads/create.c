/* Threads of every kind: what the program sees of them is printed, and must be the same with fvmpi and
 * without. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void burn(double seconds)
{
    struct timespec now;
    double end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    end = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
    do {
        for (volatile int i = 0; i < 100000; i++) /* the kernel's time is not sampled */
            ;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < end);
}

__attribute__((noinline)) static void *worker(void *arg)
{
    burn(*(double *)arg);
    __asm__ volatile("");
    return arg;
}

static void *exits(void *arg)
{
    pthread_exit(arg);
}

static void cleanup(void *arg)
{
    *(int *)arg += 1;
}

static void *cancelled(void *arg)
{
    pthread_cleanup_push(cleanup, arg);
    for (;;)
        sleep(1);
    pthread_cleanup_pop(0);
    return NULL;
}

/* What is left of the stack for the thread's function, to be written to. */
static void *small(void *arg)
{
    volatile char room[4096];

    for (size_t i = 0; i < sizeof(room); i += 64)
        room[i] = (char)i;
    return room[64] == 64 ? arg : NULL;
}

static void *attributes(void *arg)
{
    pthread_attr_t a;
    size_t stack, guard;
    int detached;

    (void)arg;
    printf("errno %d\n", errno);
    pthread_getattr_np(pthread_self(), &a);
    pthread_attr_getstacksize(&a, &stack);
    pthread_attr_getguardsize(&a, &guard);
    pthread_attr_getdetachstate(&a, &detached);
    pthread_attr_destroy(&a);
    printf("stack %zu guard %zu detached %d\n", stack, guard, detached);
    return NULL;
}

static int done; /* by detached threads */
static void *detached(void *arg)
{
    (void)arg;
    __atomic_fetch_add(&done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void with_attributes(void)
{
    pthread_attr_t a;
    pthread_t t;
    void *result = NULL;
    char word[] = "small";

    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 1 << 20);
    pthread_attr_setguardsize(&a, 8192);
    printf("create %d\n", pthread_create(&t, &a, attributes, NULL));
    printf("join %d\n", pthread_join(t, NULL));
    pthread_attr_setstacksize(&a, (size_t)sysconf(_SC_THREAD_STACK_MIN) + 4096);
    printf("create %d\n", pthread_create(&t, &a, small, word));
    printf("join %d", pthread_join(t, &result));
    printf(" %s\n", (char *)result);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 20; i++)
        if (pthread_create(&t, &a, detached, NULL))
            puts("no detached thread");
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < 20)
        usleep(1000);
    pthread_attr_setstacksize(&a, (size_t)1 << 46);
    printf("too large: %s\n", strerror(pthread_create(&t, &a, worker, NULL)));
    pthread_attr_destroy(&a);
}

static void ends(void)
{
    pthread_t t;
    void *result = NULL;
    int cleaned = 0;
    char word[] = "exited";

    pthread_create(&t, NULL, exits, word);
    printf("join %d", pthread_join(t, &result));
    printf(" %s\n", (char *)result);
    for (int i = 0; i < 20; i++) { /* most of them before they have begun */
        pthread_create(&t, NULL, cancelled, &cleaned);
        if (i == 19)
            usleep(20000);
        pthread_cancel(t);
        pthread_join(t, &result);
        if (result != PTHREAD_CANCELED)
            puts("not cancelled");
    }
    printf("the last was cleaned up: %s\n", cleaned ? "yes" : "no");
}

static void forks(void)
{
    double seconds = 0;
    pthread_t t;
    int status = -1;
    pid_t child = fork();

    if (!child) {
        int err = pthread_create(&t, NULL, worker, &seconds);
        _exit(err ? err : pthread_join(t, NULL));
    }
    waitpid(child, &status, 0);
    printf("child %d\n", status);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 0.01;
    pthread_t t[4];
    int sum = 0;

    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, worker, &seconds);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    with_attributes();
    ends();
    forks();
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < 100; i++)
        sum += i;
    printf("sum %d\n", sum);
    return 0;
}
