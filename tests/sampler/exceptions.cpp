// Functions that end by exceptions, through frames with and without clean-up, for sampler.t.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

NOINLINE void work(uint64_t n)
{
    uint64_t x = n;

    for (uint64_t i = 0; i < n * 100; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    sink = x;
}

struct Guard {
    ~Guard() { sink = sink + 1; }
};

NOINLINE int thrower(int i)
{
    work(1000);
    if (i % 2)
        throw std::runtime_error("odd");
    work(1000);
    return i;
}

NOINLINE int through(int depth, int i)
{
    Guard guard;

    return depth ? through(depth - 1, i) + 1 : thrower(i) + 1;
}

NOINLINE int catcher(int i)
{
    try {
        return through(i % 7, i);
    } catch (const std::runtime_error &) {
        work(100);
        return 0;
    }
}

int main(int, char **argv)
{
    int caught = 0, calls = 0;

    for (std::clock_t end = std::clock() + (std::clock_t)(std::atof(argv[1]) * CLOCKS_PER_SEC); std::clock() < end; calls++)
        caught += catcher(calls) == 0;
    std::printf("as expected: %d\n", caught == calls / 2);
    return 0;
}
