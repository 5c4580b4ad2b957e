/* Allocates what the test knows: known [leak BYTES TIMES | peak | threads | realloc | small TIMES | aligned | fork | signal SECONDS | fail | loader]. Prints what it
 * has done. With -DWITH_MPI in MPI. */
#define _GNU_SOURCE
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
static void *volatile keep; /* so that nothing is optimised away */

APART static void *leaked(size_t bytes)
{
    return keep = malloc(bytes);
}

APART static void *passing(size_t bytes)
{
    return keep = malloc(bytes);
}

APART static void *made_for_others(size_t bytes)
{
    return keep = malloc(bytes);
}

static void leak(size_t bytes, int times)
{
    for (int i = 0; i < times; i++) {
        memset(leaked(bytes), 1, 1);
        free(passing(bytes));
    }
}

/* The peak is when both are there; then another, smaller one. */
static void peak(void)
{
    void *a = leaked(3 << 20), *b = passing(5 << 20);

    free(b);
    free(passing(1 << 20));
    free(a);
}

/* The loader holds its lock meanwhile, and an unwinder may want it. */
static int in_loader(struct dl_phdr_info *info, size_t bytes, void *count)
{
    (void)info;
    (void)bytes;
    free(passing(5000));
    ++*(int *)count;
    return 0;
}

static void *unwinding(void *arg)
{
    for (int i = 0; i < 1000; i++)
        free(made_for_others(5000));
    return arg;
}

static void loader(void)
{
    pthread_t other;
    int count = 0;

    if (pthread_create(&other, NULL, unwinding, NULL))
        abort();
    for (int i = 0; i < 100; i++)
        dl_iterate_phdr(in_loader, &count);
    pthread_join(other, NULL);
    printf("%d\n", count);
}

/* The first that the thread allocates, pthread_getattr_np() does, under the thread's lock. */
static void *with_bounds(void *arg)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;

    if (pthread_getattr_np(pthread_self(), &attributes) || pthread_attr_getstack(&attributes, &low, &bytes))
        abort();
    *(int *)arg = (char *)&low >= (char *)low && (char *)&low < (char *)low + bytes;
    pthread_attr_destroy(&attributes);
    return NULL;
}

static void bounds(void)
{
    pthread_t thread;
    int is_on_its_stack = 0;

    if (pthread_create(&thread, NULL, with_bounds, &is_on_its_stack) || pthread_join(thread, NULL))
        abort();
    printf("%d\n", is_on_its_stack);
}

static void *free_all(void *arg)
{
    void **objects = arg;

    for (int i = 0; i < 100; i++)
        free(objects[i]);
    return NULL;
}

static void threads(void)
{
    void *objects[100];
    pthread_t thread;

    for (int i = 0; i < 100; i++)
        objects[i] = made_for_others(10000);
    pthread_create(&thread, NULL, free_all, objects);
    pthread_join(thread, NULL);
}

APART static void *resized(void *object, size_t bytes)
{
    return keep = realloc(object, bytes);
}

/* In place or not, and one that fails and keeps what was there. */
static void chain(void)
{
    void *object = NULL;

    for (int i = 1; i <= 20; i++)
        object = resized(object, (size_t)i * 5000);
    volatile size_t too_much = (size_t)1 << 62;
    if (resized(object, too_much))
        abort();
}

APART static void *aligned(int i)
{
    void *object = NULL;

    switch (i) {
    case 0: return memalign(64, 5000);
    case 1: return aligned_alloc(4096, 8192);
    case 2: return posix_memalign(&object, 128, 6000) ? NULL : object;
    case 3: return valloc(7000);
    case 4: return pvalloc(8192);
    }
    return calloc(3, 4000);
}

static void fork_one(void)
{
    int status;
    pid_t child = fork();

    if (!child) {
        for (int i = 0; i < 1000; i++)
            leaked(100000);
        _exit(3);
    }
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    leak(20000, 1);
}

static volatile sig_atomic_t handled;
static void handle(int number)
{
    (void)number;
    handled++;
    free(keep = malloc(6000)); /* not allowed by POSIX where it interrupts the allocator */
}

/* Handlers allocate where they interrupt none of the allocator's own code: between calls, which is where fvmpi's may be. */
static void signals(double seconds)
{
    struct itimerval every = { { 0, 100 }, { 0, 100 } };
    struct timespec begin, now;
    sigset_t set;

    signal(SIGALRM, handle);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    setitimer(ITIMER_REAL, &every, NULL);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 1000; i++) {
            sigprocmask(SIG_BLOCK, &set, NULL);
            void *object = passing(5000);
            sigprocmask(SIG_UNBLOCK, &set, NULL);
            sigprocmask(SIG_BLOCK, &set, NULL);
            free(object);
            sigprocmask(SIG_UNBLOCK, &set, NULL);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
    memset(&every, 0, sizeof(every));
    setitimer(ITIMER_REAL, &every, NULL);
    printf("handled\n");
}

static void churn(void)
{
    void *objects[64] = { NULL };

    for (unsigned i = 0, r = 1;; i++) {
        r = r * 1103515245 + 12345;
        free(objects[i % 64]);
        objects[i % 64] = passing(r >> 16 & 16383);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "leak";

#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
#endif
    if (!strcmp(what, "leak"))
        leak(argc > 2 ? strtoul(argv[2], NULL, 0) : 8192, argc > 3 ? atoi(argv[3]) : 100);
    else if (!strcmp(what, "loader"))
        loader();
    else if (!strcmp(what, "bounds"))
        bounds();
    else if (!strcmp(what, "peak"))
        peak();
    else if (!strcmp(what, "threads"))
        threads();
    else if (!strcmp(what, "realloc"))
        chain();
    else if (!strcmp(what, "aligned"))
        for (int i = 0; i < 6; i++)
            keep = aligned(i);
    else if (!strcmp(what, "fork"))
        fork_one();
    else if (!strcmp(what, "signal"))
        signals(0.3);
    else if (!strcmp(what, "churn"))
        churn();
    printf("done %s\n", what);
#ifdef WITH_MPI
    /* Open MPI's mpiexec ends the other ranks, in MPI_Finalize even, where one returns another status. */
    MPI_Finalize();
    return 0;
#else
    return 7;
#endif
}
