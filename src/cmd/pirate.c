/* SPDX-License-Identifier: BSD-3-Clause */
/* See pirate.h. */
#include "cmd/pirate.h"
#include "base/base.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, PROBE_EACH = 61, CALIBRATE = 2000, CPUS = 4096 };
#define LEAST_RATIO 1.5 /* of a miss to a hit: below that they can't be told apart */

#if defined(__x86_64__)
#include <x86intrin.h>

static void futex(uint32_t *word, int operation, uint32_t value, uint64_t ns)
{
    const struct timespec most = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

    syscall(SYS_futex, word, operation, value, &most, NULL, 0);
}

/* ---- its lines ---- */

struct pirate {
    struct fv_solo_page *page;
    const char *lines;
    size_t count;       /* of lines */
    uint64_t threshold; /* ticks of a read */
    uint64_t random;
    size_t at;
};

static inline uint64_t time_read(const char *line)
{
    unsigned cpu;

    _mm_lfence();
    uint64_t begin = __rdtscp(&cpu);
    _mm_lfence();
    (void)*(const volatile char *)line;
    _mm_lfence();
    return __rdtscp(&cpu) - begin;
}

static const char *any_line(struct pirate *p)
{
    p->random = fv_mix(p->random + 1);
    return p->lines + p->random % p->count * LINE;
}

static void read_lines(struct pirate *p, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)*(const volatile char *)(p->lines + p->at * LINE);
        p->at = p->at + 1 == p->count ? 0 : p->at + 1;
    }
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* False: what is in the cache can't be told from what is not. */
static bool calibrate(struct pirate *p)
{
    static uint64_t hits[CALIBRATE], misses[CALIBRATE];

    for (int i = 0; i < 3; i++)
        read_lines(p, p->count);
    for (int i = 0; i < CALIBRATE; i++) {
        hits[i] = time_read(any_line(p));
        read_lines(p, PROBE_EACH);
    }
    for (int i = 0; i < CALIBRATE; i++) {
        const char *line = any_line(p);

        _mm_clflush(line);
        _mm_mfence();
        misses[i] = time_read(line);
    }
    qsort(hits, CALIBRATE, sizeof(*hits), by_value);
    qsort(misses, CALIBRATE, sizeof(*misses), by_value);
    double hit = (double)hits[CALIBRATE / 2], miss = (double)misses[CALIBRATE / 2];
    p->threshold = (uint64_t)sqrt(hit * miss);
    return hit > 0 && miss > LEAST_RATIO * hit;
}

/* ---- where it works ---- */

/* A list of processors such as 0-3,8. */
static void add_list(const char *path, cpu_set_t *set, size_t bytes, bool out)
{
    char text[4096] = "", *at = text;
    FILE *file = fopen(path, "re");

    if (!file)
        return;
    if (!fgets(text, sizeof(text), file))
        *text = '\0';
    fclose(file);
    while (*at >= '0' && *at <= '9') {
        unsigned long from = strtoul(at, &at, 10), to = *at == '-' ? strtoul(at + 1, &at, 10) : from;

        for (; from <= to && from < CPUS; from++) {
            if (out)
                CPU_CLR_S(from, bytes, set);
            else
                CPU_SET_S(from, bytes, set);
        }
        at += *at == ',';
    }
}

/* Processors with the same last cache as `cpu`, but those of its core. False: there is none that it may use. */
static bool go_beside(unsigned cpu, const cpu_set_t *allowed, size_t bytes)
{
    cpu_set_t *set = CPU_ALLOC(CPUS);
    char path[128];

    CPU_ZERO_S(bytes, set);
    for (int index = 9; index >= 0 && !CPU_COUNT_S(bytes, set); index--) {
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%d/shared_cpu_list", cpu, index);
        add_list(path, set, bytes, false);
    }
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
    add_list(path, set, bytes, true);
    if (cpu < CPUS)
        CPU_CLR_S(cpu, bytes, set);
    CPU_AND_S(bytes, set, set, allowed);
    bool is = CPU_COUNT_S(bytes, set) && !sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
    return is;
}

/* ---- its life ---- */

static void work(struct pirate *p, uint32_t wanted)
{
    struct fv_solo_page *page = p->page;

    for (int i = 0; i < 3; i++)
        read_lines(p, p->count);
    __atomic_store_n(&page->ready, wanted, __ATOMIC_SEQ_CST);
    futex(&page->ready, FUTEX_WAKE, INT32_MAX, 0);
    while (__atomic_load_n(&page->wanted, __ATOMIC_RELAXED) == wanted) {
        read_lines(p, PROBE_EACH);
        bool is_miss = time_read(any_line(p)) > p->threshold;

        __atomic_store_n(&page->misses, page->misses + is_miss, __ATOMIC_RELAXED);
        __atomic_store_n(&page->probes, page->probes + 1, __ATOMIC_RELAXED);
    }
}

static void live(struct pirate *p)
{
    cpu_set_t *allowed = CPU_ALLOC(CPUS);
    size_t bytes = CPU_ALLOC_SIZE(CPUS);

    CPU_ZERO_S(bytes, allowed);
    sched_getaffinity(0, bytes, allowed);
    for (uint32_t wanted;;) {
        wanted = __atomic_load_n(&p->page->wanted, __ATOMIC_SEQ_CST);
        if (wanted & 1 && wanted != p->page->ready && go_beside(p->page->cpu, allowed, bytes))
            work(p, wanted);
        else
            futex(&p->page->wanted, FUTEX_WAIT, wanted, 1000000000);
    }
}

static _Noreturn void begin(struct fv_solo_page *page, size_t bytes, pid_t parent)
{
    struct pirate p = { .page = page, .count = bytes / LINE };
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || memory == MAP_FAILED || !p.count)
        _exit(1);
    madvise(memory, bytes, MADV_HUGEPAGE);
    memset(memory, 1, bytes);
    p.lines = memory;
    if (!calibrate(&p))
        _exit(0);
    live(&p);
    _exit(0);
}
#else
static _Noreturn void begin(struct fv_solo_page *page, size_t bytes, pid_t parent)
{
    (void)page, (void)bytes, (void)parent;
    _exit(0);
}
#endif

pid_t fv_pirate_begin(struct fv_solo_page *page, size_t bytes)
{
    pid_t parent = getpid(), pid = fork();

    if (!pid)
        begin(page, bytes, parent);
    if (pid < 0)
        fv_log("run: fork: %s", strerror(errno));
    return pid;
}

void fv_pirate_end(pid_t pirate)
{
    if (pirate <= 0)
        return;
    kill(pirate, SIGKILL);
    while (waitpid(pirate, NULL, 0) < 0 && errno == EINTR)
        ;
}
