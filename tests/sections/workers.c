/* Threads that work while others have sections open. Prints what each did, by its own clock: "worker SECTION NUMBER ns", the workers being numbered from 1. With fake_pmu.c each worker also
 * counts 1,000 instructions for each ms that it works.
 *
 *     workers        a pool of three, made in section "warm"; in "work" worker i works 20 (i + 1) ms, and each 30 ms between sections; "outer" is around, "inner" in it; "born" has two threads, one
 *                    after the other; "both" is open on two of them while the third works
 *     workers sheet  section "sheet" alone, in which worker i works 20 (i + 1) ms, and counts (i + 1) times what COUNTS says: "2:1000,3:500" are 1,000 of event 2 and 500 of event 3
 *                    With PAGES=N worker i also touches N (i + 1) new pages
 *     workers short  20,000 instances of "short" of some 10 us each, the pool being at work */
#define _GNU_SOURCE
#include "fvmpi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 3 };

static pthread_barrier_t begin, ready, end;
static void (*fake_count)(unsigned, unsigned long);
static int milliseconds[WORKERS]; /* to work; negative: it ends */
static uint64_t worked_ns[WORKERS];
static int opens_both[WORKERS];
static volatile int stop;

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t burn(int ms)
{
    uint64_t from = cpu_ns(), now = from;

    while (now - from < (uint64_t)ms * 1000000u)
        now = cpu_ns();
    return now - from;
}

static void count(unsigned long number)
{
    if (fake_count)
        fake_count(1, number);
}

/* Of each kind of event as many as COUNTS says, so many times. */
static void count_kinds(unsigned long times)
{
    const char *at = getenv("COUNTS");

    while (at && *at && fake_count) {
        char *end;
        unsigned kind = (unsigned)strtoul(at, &end, 10);

        fake_count(kind, times * strtoul(end + 1, &end, 10));
        at = *end ? end + 1 : end;
    }
}

/* New ones, so many times PAGES. */
static void touch_pages(size_t times)
{
    size_t pages = getenv("PAGES") ? times * strtoul(getenv("PAGES"), NULL, 10) : 0;
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    char *at = pages ? mmap(NULL, pages * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;

    if (!at || at == MAP_FAILED)
        return;
    madvise(at, pages * bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        at[i * bytes] = 1;
}

static void *worker(void *arg)
{
    int i = (int)(intptr_t)arg;

    for (;;) {
        pthread_barrier_wait(&begin);
        if (milliseconds[i] < 0)
            return NULL;
        int opens = opens_both[i];
        if (opens)
            fvmpi_section_begin("both", 0, 0);
        pthread_barrier_wait(&ready);
        worked_ns[i] = burn(milliseconds[i]);
        touch_pages((size_t)i + 1);
        if (getenv("COUNTS"))
            count_kinds((unsigned long)i + 1);
        else
            count(1000u * (unsigned)milliseconds[i]);
        pthread_barrier_wait(&end);
        if (opens)
            fvmpi_section_end("both", 0, 0);
    }
}

static void let_work(int a, int b, int c)
{
    milliseconds[0] = a;
    milliseconds[1] = b;
    milliseconds[2] = c;
    pthread_barrier_wait(&begin);
    if (a >= 0)
        pthread_barrier_wait(&end);
}

static void outside(void)
{
    for (int i = 0; i < WORKERS; i++)
        milliseconds[i] = 30;
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
}

static void tell(const char *section)
{
    for (int i = 0; i < WORKERS; i++)
        printf("worker %s %d %llu\n", section, i + 1, (unsigned long long)worked_ns[i]);
}

static void *born(void *arg)
{
    *(uint64_t *)arg = burn(25);
    count(25000);
    return NULL;
}

static void give_birth(void)
{
    uint64_t ns[2];
    pthread_t thread;

    fvmpi_section_begin("born", 0, 0);
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, born, &ns[i]);
        pthread_join(thread, NULL);
    }
    fvmpi_section_end("born", 0, 0);
    printf("worker born 4 %llu\n", (unsigned long long)(ns[0] + ns[1]));
}

static void *keep_busy(void *arg)
{
    while (!stop)
        ;
    return arg;
}

static void make_short(void)
{
    pthread_t thread;

    fvmpi_section_begin("warm", 0, 0);
    pthread_create(&thread, NULL, keep_busy, NULL);
    fvmpi_section_end("warm", 0, 0);
    for (int i = 0; i < 20000; i++) {
        fvmpi_section_begin("short", 0, 0);
        for (volatile int k = 0; k < 5000; k++)
            ;
        fvmpi_section_end("short", 0, 0);
    }
    stop = 1;
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    pthread_t thread[WORKERS];

    fake_count = (void (*)(unsigned, unsigned long))dlsym(RTLD_DEFAULT, "fake_count");
    if (argc > 1 && !strcmp(argv[1], "short")) {
        make_short();
        return 0;
    }
    pthread_barrier_init(&begin, NULL, WORKERS + 1);
    pthread_barrier_init(&ready, NULL, WORKERS);
    pthread_barrier_init(&end, NULL, WORKERS + 1);
    fvmpi_section_begin("warm", 0, 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&thread[i], NULL, worker, (void *)(intptr_t)i);
    let_work(0, 0, 0);
    fvmpi_section_end("warm", 0, 0);

    if (argc > 1 && !strcmp(argv[1], "sheet")) {
        fvmpi_section_begin("sheet", 0, 0);
        let_work(20, 40, 60);
        fvmpi_section_end("sheet", 0, 0);
        return 0;
    }
    outside();
    fvmpi_section_begin("work", 0, 0);
    let_work(20, 40, 60);
    fvmpi_section_end("work", 0, 0);
    tell("work");
    outside();

    fvmpi_section_begin("outer", 0, 0);
    let_work(10, 10, 10);
    fvmpi_section_begin("inner", 0, 0);
    let_work(15, 25, 35);
    fvmpi_section_end("inner", 0, 0);
    tell("inner");
    fvmpi_section_end("outer", 0, 0);
    outside();

    opens_both[0] = opens_both[1] = 1;
    let_work(5, 10, 50);
    opens_both[0] = opens_both[1] = 0;
    tell("both");
    outside();
    give_birth();
    if (argc > 1 && !strcmp(argv[1], "stay"))
        return 0;
    let_work(-1, -1, -1);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
