/* Functions that do something countable a known number of times, for events.t.
 *
 *     counted SECONDS [THREADS]        of CPU time, in each thread
 *     counted SECONDS closed           the performance events behind the sixth are closed under way; pipes take their
 *                                      descriptors, and nothing may be missing from them */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define PAGES 64
#define SLEEPS 3

static _Thread_local volatile uint64_t sink;

NOINLINE void work(uint64_t n)
{
    uint64_t x = n + 1;

    for (uint64_t i = 0; i < n * 100; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    sink = x;
}

/* Touches PAGES pages for the first time. */
NOINLINE int fresh(int i)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise((void *)memory, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t p = 0; p < PAGES; p++)
        memory[p * page] = (char)i;
    munmap((void *)memory, PAGES * page);
    work(1000);
    return i + 1;
}

/* Touches few pages, and many, by turns. */
NOINLINE int uneven(int i)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise((void *)memory, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t p = 0; p < (i % 2 ? 4 : PAGES); p++)
        memory[p * page] = (char)i;
    munmap((void *)memory, PAGES * page);
    work(1000);
    return i + 1;
}

static _Thread_local uint64_t switches, sleeper_calls;

static uint64_t switches_now(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* Gives the processor away SLEEPS times, if nothing wakes it: how often it was is counted. */
NOINLINE int sleeper(int i)
{
    for (int s = 0; s < SLEEPS; s++)
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    work(1000);
    return i + 1;
}

NOINLINE int quiet(int i)
{
    work(2000);
    return i + 1;
}

static double seconds;

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *run(void *arg)
{
    int sum = 0;

    (void)arg;
    for (int calls = 0; cpu() < seconds; calls++) {
        sum += fresh(calls) + quiet(calls) + uneven(calls);
        if (calls % 2 == 0) {
            switches -= switches_now();
            sum += sleeper(calls);
            switches += switches_now();
            sleeper_calls++;
        }
    }
    sink += (uint64_t)sum;
    return NULL;
}

/* The sampler's own come first: a clock, four breakpoints, a counter of migrations. */
static int events_of_ours(int *fd, int most)
{
    char name[64], target[64];
    int count = 0, skip = 6;

    for (int n = 0; n < 1024 && count < most; n++) {
        snprintf(name, sizeof(name), "/proc/self/fd/%d", n);
        ssize_t bytes = readlink(name, target, sizeof(target) - 1);
        target[bytes > 0 ? bytes : 0] = '\0';
        if (!strcmp(target, "anon_inode:[perf_event]") && !skip--) {
            fd[count++] = n;
            skip = 0;
        }
    }
    return count;
}

static void *run_closed(void)
{
    int theirs[8], end[2], count = events_of_ours(theirs, 8), whole = 0;
    char c[16] = "0123456789abcdef";

    run(NULL);
    for (int i = 0; i < count; i++)
        if (pipe(end) || dup2(end[0], theirs[i]) != theirs[i] || write(end[1], c, sizeof(c)) != sizeof(c))
            return NULL;
    seconds *= 2;
    run(NULL);
    for (int i = 0; i < count; i++)
        whole += read(theirs[i], c, sizeof(c)) == sizeof(c);
    printf("whole %d of %d\n", whole, count);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[16];
    int threads = argc > 2 ? atoi(argv[2]) : 0;

    seconds = argc > 1 ? atof(argv[1]) : 0.5;
    if (argc > 2 && !strcmp(argv[2], "closed"))
        return run_closed() != NULL;
    for (int i = 0; i < threads && i < 16; i++)
        pthread_create(&thread[i], NULL, run, NULL);
    run(NULL);
    for (int i = 0; i < threads && i < 16; i++)
        pthread_join(thread[i], NULL);
    printf("switches %.6f\n", (double)switches / (double)sleeper_calls);
    return 0;
}
