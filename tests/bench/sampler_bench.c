/* Work of fixed size, for what sampling adds to it:   sampler_bench spin|calls|mix MILLIONS
 *
 * spin: one loop, eight calls deep: ticks of the clock and nothing else. calls: a function of 20 us, over and
 * over: an instance after nearly every tick. mix: functions of 10 us to 1 ms, up to 20 calls deep. Prints the
 * CPU time that it took and the memory that the process has at the end. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

/* No call; about a nanosecond each. */
static inline __attribute__((always_inline)) void spin(uint64_t n)
{
    uint64_t x = n;

    for (uint64_t i = 0; i < n; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    sink = x;
}

NOINLINE int short_one(void)
{
    spin(20000);
    return 1;
}

NOINLINE int middle(uint64_t n)
{
    spin(n);
    return 1;
}

NOINLINE int tree(int depth)
{
    if (!depth)
        return middle(10000);
    return tree(depth - 1) + 1;
}

NOINLINE int phase(uint64_t i)
{
    return middle(100000 + i % 7 * 50000) + tree(20) + short_one();
}

NOINLINE int whole(uint64_t i)
{
    return phase(i) + phase(i + 1) + middle(200000);
}

static uint64_t done(const char *what, uint64_t n)
{
    uint64_t calls = 0;

    if (!strcmp(what, "spin"))
        spin(n);
    else if (!strcmp(what, "calls"))
        for (uint64_t i = 0; i < n; i += 20000)
            calls += (uint64_t)short_one();
    else
        for (uint64_t i = 0; i < n; i += 760000)
            calls += (uint64_t)whole(i);
    return calls;
}

NOINLINE uint64_t deeper(int depth, const char *what, uint64_t n)
{
    uint64_t calls = depth ? deeper(depth - 1, what, n) : done(what, n);

    __asm__ volatile("" ::: "memory"); /* no tail call */
    return calls;
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long resident_kib(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = 0;

    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, "Rss:", 4))
            kib = atol(line + 4);
    if (f)
        fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    double begin = cpu_s();

    if (argc < 3)
        return 2;
    sink = deeper(6, argv[1], (uint64_t)(atof(argv[2]) * 1e6));
    printf("%.6f %ld\n", cpu_s() - begin, resident_kib());
    return 0;
}
