/* Phases of parallel threads with a known answer for counters: what a processor that is not there (fake_pmu.c) is told, and pages that are touched.
 *
 *     phases threads|regions [WORD]
 *         threads   ROUNDS times: three threads of small(), then two of large(), which take over what the others had
 *         regions   of OpenMP, with -fopenmp: all of plain() as often; tasks that run at a region's end; regions in regions
 *         WORD      regions: many: plain() 1,000 times more
 *                   threads: leave: at the end there are two threads more, and _exit(); die: likewise, and SIGKILL; limit: no descriptors are left for the second phase;
 *                   forget: MPI_Pcontrol(2) in small() */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

enum { CYCLES, INSTRUCTIONS, CACHE_MISSES = 3, ROUNDS = 3, TEAM = 3 };

static const char *word = "";
static void (*fake_count)(unsigned, unsigned long);
static volatile int staying;

static void count(unsigned long instructions)
{
    if (!fake_count)
        return;
    fake_count(INSTRUCTIONS, instructions);
    fake_count(CYCLES, instructions / 2);
    fake_count(CACHE_MISSES, instructions / 10);
}

static void touch(size_t pages)
{
    char *p = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(p, pages * 4096, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)p)[i * 4096] = 1;
    munmap(p, pages * 4096);
}

__attribute__((noinline)) static void *small(void *arg)
{
    count(1000 * (uintptr_t)arg);
    touch(200);
#ifdef WITH_MPI
    if (!strcmp(word, "forget"))
        MPI_Pcontrol(2);
#endif
    count(1000);
    return arg;
}

__attribute__((noinline)) static void *large(void *arg)
{
    count(50000);
    return arg;
}

__attribute__((noinline)) static void *stay(void *arg)
{
    count(700);
    __atomic_fetch_add(&staying, 1, __ATOMIC_RELAXED);
    for (;;)
        pause();
    return arg;
}

/* Of all, the one waits until the others have begun: they are there at a time. */
static void create(pthread_t *threads, unsigned number, void *(*work)(void *))
{
    for (uintptr_t i = 0; i < number; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
}

static void together(unsigned number, void *(*work)(void *))
{
    pthread_t threads[TEAM];

    create(threads, number, work);
    for (unsigned i = 0; i < number; i++)
        pthread_join(threads[i], NULL);
    count(3);
}

static void limit_descriptors(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 96;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void run_threads(void)
{
    pthread_t threads[TEAM];

    for (int round = 0; round < ROUNDS; round++) {
        together(TEAM, small);
        if (!round && !strcmp(word, "limit"))
            limit_descriptors();
        together(2, large);
    }
    if (strcmp(word, "leave") && strcmp(word, "die"))
        return;
    create(threads, 2, stay);
    while (staying < 2)
        usleep(1000);
    if (!strcmp(word, "die"))
        raise(SIGKILL);
    _exit(0);
}

#ifdef _OPENMP
#include <omp.h>

__attribute__((noinline)) static void plain(void)
{
#pragma omp parallel num_threads(TEAM)
    {
        count(100 * (unsigned)(omp_get_thread_num() + 1));
#pragma omp barrier
        count(10);
        touch(50);
    }
    count(3);
}

/* Eight tasks, of which the others run some while they wait at the end. */
__attribute__((noinline)) static void with_tasks(void)
{
#pragma omp parallel num_threads(TEAM)
    {
#pragma omp master
        for (int i = 0; i < 8; i++) {
#pragma omp task
            {
                count(40);
                usleep(1000);
            }
        }
    }
}

__attribute__((noinline)) static void inner(void)
{
#pragma omp parallel num_threads(2)
    count(20);
}

__attribute__((noinline)) static void outer(void)
{
#pragma omp parallel num_threads(2)
    {
        count(2);
        inner();
    }
}

static void run_regions(void)
{
    omp_set_max_active_levels(2);
    for (int round = 0; round < (strcmp(word, "many") ? ROUNDS : ROUNDS + 1000); round++)
        plain();
    with_tasks();
    outer();
}
#else
static void run_regions(void)
{
}
#endif

int main(int argc, char **argv)
{
    word = argc > 2 ? argv[2] : "";
    fake_count = (void (*)(unsigned, unsigned long))dlsym(RTLD_DEFAULT, "fake_count");
#ifdef WITH_MPI
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &(int){ 0 });
#endif
    if (argc > 1 && !strcmp(argv[1], "regions"))
        run_regions();
    else
        run_threads();
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
