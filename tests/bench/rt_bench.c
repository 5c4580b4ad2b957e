/* What one recorded call costs without any MPI: the record path alone, at several call path depths,
 * beside two clock reads. Best of many batches; nothing here gates. */
#include "../unit/rt_stub.h"

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
    printf("calibrated at start          %6.1f ns\n", (double)fv_rt.writer.header->tool_call_ticks / 256 * ns_per_tick);
    stub_remove();
    return 0;
}
