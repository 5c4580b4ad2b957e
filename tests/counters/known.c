/* What counters have a known answer for: pages that are touched, and what a processor that is not there (fake_pmu.c) is told. Prints, of each rank, what getrusage() says of the section "touch".
 *
 *     known even|more|slow [WORD...]     in work rank 1 has three times the instructions (more), or as many that take three times as long (slow)
 *         kill      rank 1 is killed in the middle of a section
 *         close     without MPI: descriptors that are not its own
 *         forget    MPI_Pcontrol(2) behind the work
 *         child     a fork() whose child works, too
 *         limit     no descriptors are left for the thread
 *         team      the thread has as much work as the main one
 *         heirs     two more threads, one after the other, each with a section
 *         pause     a section with a pause of 0.2 s of computing in it
 *         leave     at the end there is one more thread, and _exit()
 *         die       likewise, and SIGKILL
 *         calls     nothing else, but 100,000 calls of MPI_Comm_rank: what reading costs */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifndef ALONE
#include <mpi.h>
#endif
#include "fvmpi.h"

#define PAGES 1500
#define THREAD_PAGES 700

static int rank;
static const char *word = ""; /* the second */
static void (*fake_count)(unsigned, unsigned long);
enum { CYCLES, INSTRUCTIONS };

static void count(unsigned config, unsigned long number)
{
    if (fake_count)
        fake_count(config, number);
}

static void touch(size_t pages)
{
    char *p = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(p, pages * 4096, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)p)[i * 4096] = 1;
    munmap(p, pages * 4096);
}

static int is(const char *wanted)
{
    return !strcmp(word, wanted);
}

static long faults(void)
{
    struct rusage u;

    getrusage(RUSAGE_THREAD, &u);
    return u.ru_minflt + u.ru_majflt;
}

static void *work_of_thread(void *arg)
{
    touch(THREAD_PAGES);
    count(INSTRUCTIONS, is("team") ? 1000000 : 70000);
    return arg;
}

static void *heir(void *arg)
{
    fvmpi_section_begin("heir", 0, 0);
    count(INSTRUCTIONS, 70000);
    fvmpi_section_end("heir", 0, 0);
    return arg;
}

static volatile int has_counted;

static void *stay(void *arg)
{
    count(INSTRUCTIONS, 70000);
    has_counted = 1;
    for (;;)
        pause();
    return arg;
}

static void with_thread(void *(*work)(void *))
{
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
}

static void end_with_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, stay, NULL);
    while (!has_counted)
        usleep(1000);
    if (is("die"))
        raise(SIGKILL);
    _exit(0);
}

static void limit_descriptors(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 96;
    setrlimit(RLIMIT_NOFILE, &limit);
}

__attribute__((noinline)) static void compute(double seconds)
{
    struct timespec t;
    double end = 0;

    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        if (end == 0)
            end = (double)t.tv_sec + (double)t.tv_nsec * 1e-9 + seconds;
    } while ((double)t.tv_sec + (double)t.tv_nsec * 1e-9 < end);
}

static void work(const char *how)
{
    int is_other = rank == 1 && strcmp(how, "even");

    fvmpi_section_begin("work", 7, 0);
    count(INSTRUCTIONS, is_other && !strcmp(how, "more") ? 3000000 : 1000000);
    count(CYCLES, is_other ? 1500000 : 500000);
    compute(is_other ? 0.3 : 0.1);
    fvmpi_section_end("work", 7, 0);
}

#ifndef ALONE
static void in_mpi(void *a, void *b, int *length, MPI_Datatype *type)
{
    (void)a, (void)b, (void)length, (void)type;
    count(INSTRUCTIONS, 500);
}

static void call_mpi(void)
{
    int a = 1, b = 2;
    MPI_Op op;

    MPI_Op_create(in_mpi, 1, &op);
    for (int i = 0; i < 10; i++)
        MPI_Reduce_local(&a, &b, 1, MPI_INT, op);
    MPI_Op_free(&op);
}
#endif

int main(int argc, char **argv)
{
    word = argc > 2 ? argv[2] : "";
    fake_count = (void (*)(unsigned, unsigned long))dlsym(RTLD_DEFAULT, "fake_count");
#ifndef ALONE
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; is("calls") && i < 100000; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    for (int i = 0; i < 3; i++) {
        fvmpi_section_begin("touch", 0, 0);
        long before = faults();
        touch(PAGES);
        long number = faults() - before;
        fvmpi_section_end("touch", 0, 0);
        printf("faults %d %ld\n", rank, number);
    }
    if (is("limit"))
        limit_descriptors();
    with_thread(work_of_thread);
    for (int i = 0; is("heirs") && i < 2; i++)
        with_thread(heir);
    work(argv[1]);
#ifdef ALONE
    for (int fd = 3; is("close") && fd < 300; fd++)
        close(fd);
#endif
#ifndef ALONE
    if (is("forget"))
        MPI_Pcontrol(2);
    if (is("child")) {
        pid_t child = fork();

        if (!child) {
            count(INSTRUCTIONS, 123456789);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    call_mpi();
    MPI_Barrier(MPI_COMM_WORLD);
    if (is("kill") && rank == 1) {
        fvmpi_section_begin("killed", 0, 0);
        raise(SIGKILL);
    }
    if (is("pause")) {
        fvmpi_section_begin("paused", 0, 0);
        MPI_Pcontrol(0);
        count(INSTRUCTIONS, 1000);
        compute(0.2);
        MPI_Pcontrol(1);
        fvmpi_section_end("paused", 0, 0);
    }
    MPI_Finalize();
#else
    if (is("leave") || is("die"))
        end_with_thread();
    if (is("kill"))
        raise(SIGKILL);
#endif
    return 0;
}
