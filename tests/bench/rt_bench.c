/* What one recorded call costs without any MPI: the record path alone, at several call path depths, beside
 * two clock reads; at 63 frames that many callers share, one call from each of them in turn; what a cell
 * costs that is there, over the budget, and on a full disk. Best of many batches; nothing here gates. */
#include "../unit/rt_stub.h"

#include <pthread.h>
#include <sys/resource.h>

enum { BATCHES = 200, CALLS = 2000 };

__attribute__((noinline, optimize("no-omit-frame-pointer"))) static int wrapper(uint64_t bytes)
{
    struct fv_call call;
    bool on = fv_call_enter(&call, 0, FV_CALL_SITE());

    __asm__ volatile("" ::: "memory"); /* PMPI would stand here */
    if (on) {
        fv_call_end(&call);
        fv_call_record(&call, NULL, bytes, 0);
    }
    return 0;
}

__attribute__((noinline)) static uint64_t batch(uint64_t bytes)
{
    uint64_t begin = fv_ticks();

    for (int i = 0; i < CALLS; i++)
        wrapper(bytes);
    return fv_ticks() - begin;
}

__attribute__((noinline)) static uint64_t deeper(int depth, uint64_t bytes)
{
    uint64_t ticks = depth > 0 ? deeper(depth - 1, bytes) : batch(bytes);

    __asm__ volatile("" ::: "memory"); /* no tail call */
    return ticks;
}

static double ns_per_tick;

static double best(int depth, uint64_t bytes)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < BATCHES; i++) {
        uint64_t ticks = deeper(depth, bytes);
        least = ticks < least ? ticks : least;
    }
    return (double)least / CALLS * ns_per_tick;
}

/* ---- many callers of the same inner frames ---- */

static bool with_call;

__attribute__((noinline)) static void inner(int frames)
{
    if (frames > 0)
        inner(frames - 1);
    else if (with_call)
        wrapper(8);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

#define CALLER                                                                                               \
    case __COUNTER__:                                                                                        \
        inner(60);                                                                                           \
        __asm__ volatile("# %0" ::"i"(__COUNTER__));                                                         \
        break;
#define CALLERS_5   CALLER CALLER CALLER CALLER CALLER
#define CALLERS_25  CALLERS_5 CALLERS_5 CALLERS_5 CALLERS_5 CALLERS_5
#define CALLERS_100 CALLERS_25 CALLERS_25 CALLERS_25 CALLERS_25

/* Each line of it is a caller of its own. */
__attribute__((noinline)) static void outer(int which)
{
    switch (which * 2) {
        CALLERS_100 CALLERS_100 CALLERS_100 CALLERS_100 CALLERS_100 CALLERS_100
    }
}

/* What the call adds to the way there and back. */
static double best_caller(int callers)
{
    uint64_t least[2] = { UINT64_MAX, UINT64_MAX };

    for (int i = 0; i < 2 * BATCHES; i++) {
        uint64_t begin = fv_ticks();

        with_call = i & 1;
        for (int k = 0; k < callers; k++)
            outer(k);
        uint64_t ticks = fv_ticks() - begin;
        least[with_call] = ticks < least[with_call] ? ticks : least[with_call];
    }
    return (double)(least[1] - least[0]) / callers * ns_per_tick;
}

static void callers(double two)
{
    static const int numbers[] = { 1, 100, 600 };

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        double ns = best_caller(numbers[i]);

        printf("63 frames, %3d callers       %6.1f ns  %4.1fx\n", numbers[i], ns, ns / two);
    }
}

/* Cells at call paths that have none: `paths` of them in turn. */
static double best_cell(uint32_t first, uint32_t paths)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < BATCHES; i++) {
        uint64_t begin = fv_ticks();

        for (uint32_t k = 0; k < CALLS; k++)
            fv_cell_find(fv_self, first + k % paths, 7, 0, 3, 0);
        uint64_t ticks = fv_ticks() - begin;
        least = ticks < least ? ticks : least;
    }
    return (double)least / CALLS * ns_per_tick;
}

static void cells(double two)
{
    const struct rlimit full = { fv_rt.writer.end, RLIM_INFINITY };
    const uint64_t most = fv_rt.options.profile_max;
    double found = best_cell(1000000, 8);

    fv_rt.options.profile_max = 0;
    double over = best_cell(2000000, CALLS);
    fv_rt.options.profile_max = most;
    setrlimit(RLIMIT_FSIZE, &full);
    best_cell(3000000, CALLS); /* uses up what room is left */
    double disk = best_cell(4000000, CALLS);
    printf("cell, found                  %6.1f ns  %4.1fx\n", found, found / two);
    printf("cell, over the budget        %6.1f ns  %4.1fx\n", over, over / two);
    printf("cell, full disk              %6.1f ns  %4.1fx\n", disk, disk / two);
}

/* ---- what a thread that makes few calls takes ---- */

enum { THREADS = 300 };
static pthread_barrier_t all_there;

static void *few_calls(void *calls)
{
    if (calls)
        for (int i = 0; i < 10; i++)
            inner(i);
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_there);
    return NULL;
}

static double resident_kib(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%*u %lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

/* KiB that the threads add while they are there. */
static double with_threads(bool calls)
{
    pthread_t thread[THREADS];
    double before = resident_kib();

    pthread_barrier_init(&all_there, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, few_calls, calls ? &all_there : NULL))
            abort();
    pthread_barrier_wait(&all_there);
    double after = resident_kib();
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return after - before;
}

static void threads(void)
{
    with_call = true;
    with_threads(false);
    uint64_t begin = fv_rt.writer.end;
    double without = with_threads(false), with = with_threads(true);

    printf("thread, 10 calls             %6.1f KiB resident, %.1f KiB of the file\n",
           (with - without) / THREADS, (double)(fv_rt.writer.end - begin) / 1024 / THREADS);
}

int main(void)
{
    static const int depths[] = { 1, 8, 16, 32 };
    uint64_t clocks = UINT64_MAX;
    struct fv_clock_point a, b;

    stub_start();
    wrapper(8);
    fv_clock_point(&a);
    usleep(100000);
    fv_clock_point(&b);
    ns_per_tick = (double)(b.monotonic_ns - a.monotonic_ns) / (double)(b.ticks - a.ticks);
    for (int i = 0; i < BATCHES; i++) {
        uint64_t begin = fv_ticks();
        for (int k = 0; k < CALLS; k++) {
            fv_ticks();
            fv_ticks();
        }
        uint64_t ticks = fv_ticks() - begin;
        clocks = ticks < clocks ? ticks : clocks;
    }
    double two = (double)clocks / CALLS * ns_per_tick;
    printf("%-28s %6.1f ns\n", "two clock reads", two);
    for (unsigned i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
        double ns = best(depths[i] > 5 ? depths[i] - 5 : 0, 8);
        printf("record, ~%2d frames            %6.1f ns  %4.1fx\n", depths[i], ns, ns / two);
    }
    printf("calibrated at start          %6.1f ns\n",
           (double)fv_rt.writer.header->tool_call_ticks / 256 * ns_per_tick);
    callers(two);
    threads();
    cells(two);
    stub_remove();
    return 0;
}
