// Functions whose durations are known, for known.t: how much work a call does follows a pattern, counted in
// units of a loop; what a unit takes the program measures itself, as the median over all calls, by its own
// CPU clock.
//
//     known SECONDS [alternating|blocks|left]    CPU time; all functions in turn, or one alone, or those
//                                        that exceptions and longjmp() leave
//
// At the end, for each function:   truth NAME CALLS MEAN COV    mean in units, cov: standard deviation over
// mean and                              unit NANOSECONDS
#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#define PLAIN extern "C" __attribute__((noinline, noclone, noipa))

static volatile uint64_t sink;
static std::vector<float> unit_ns;

static double clock_ns(clockid_t clock)
{
    timespec t;

    clock_gettime(clock, &t);
    return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}

struct Truth {
    double calls = 0, sum = 0, squares = 0;
    void add(double n)
    {
        calls++;
        sum += n;
        squares += n * n;
    }
};
static Truth constant_truth, alternating_truth, blocks_truth, period_truth, drift_truth, rare_truth,
    steady_truth, varying_truth, recurse_truth, deep_truth, tail_truth;

// n units: no system call, no memory. In line, so that it is no function of its own.
static inline __attribute__((always_inline)) void work(uint64_t n)
{
    bool timed = n >= 400; // reading the clock takes as long as 5 units
    double begin = timed ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
    uint64_t x = n + 1;

    for (uint64_t i = 0; i < n * 100; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    sink = x;
    if (timed && unit_ns.size() < unit_ns.capacity())
        unit_ns.push_back(float((clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / double(n)));
}

static inline __attribute__((always_inline)) void work(Truth &truth, uint64_t n)
{
    truth.add(double(n));
    work(n);
}

PLAIN void constant(int)
{
    work(constant_truth, 1000);
}
PLAIN void alternating(int i)
{
    work(alternating_truth, i & 1 ? 2000 : 400);
}
PLAIN void blocks(int i)
{
    work(blocks_truth, i / 100 & 1 ? 2000 : 500);
}
PLAIN void period(int i)
{
    work(period_truth, i % 7 ? 500 : 3500);
}
PLAIN void drift(int i)
{
    work(drift_truth, 400 + uint64_t(i % 1000));
}
PLAIN void rare(int i) // two calls of a hundred take twenty times as long
{
    work(rare_truth, uint32_t(i) * 2654435769u < 85899346u ? 8000 : 400);
}

PLAIN int callee(uint64_t n)
{
    work(n);
    return int(n);
}
PLAIN int steady_caller(int i)
{
    steady_truth.add(1000);
    return callee(1000) + i;
}
PLAIN int varying_caller(int i)
{
    uint64_t n = 250 + 2250 * uint64_t(i & 1); // one call, at one place

    varying_truth.add(double(n));
    return callee(n) + i;
}

PLAIN int recurse(int depth)
{
    work(200);
    int below = depth ? recurse(depth - 1) + 1 : 0;
    work(200);
    return below;
}
PLAIN int deep(int depth) // 33 frames of it, and work in the innermost
{
    if (depth)
        return deep(depth - 1) + 1;
    work(1000);
    return depth;
}

PLAIN void thrower(int i)
{
    work(400);
    if (i % 3 == 0)
        throw i;
    work(400);
}
PLAIN int through(int i)
{
    thrower(i);
    return i;
}
PLAIN void catcher(int i)
{
    try {
        through(i);
    } catch (int) {
        sink = sink + 1;
    }
}

static jmp_buf place;
PLAIN void jumper(int i)
{
    work(400);
    if (i % 3 == 0)
        longjmp(place, 1);
    work(400);
}
PLAIN int setter(int i)
{
    if (setjmp(place))
        return 0;
    jumper(i);
    return i;
}

PLAIN int tail_target(int i)
{
    work(500);
    return i;
}
PLAIN int tail_caller(int i)
{
    tail_truth.add(1000); // with what it goes on to
    work(500);
    return tail_target(i);
}

static void all(int i)
{
    constant(i);
    alternating(i);
    blocks(i);
    period(i);
    drift(i);
    rare(i);
    steady_caller(i);
    varying_caller(i);
    recurse_truth.add(2400);
    recurse(5);
    deep_truth.add(1000);
    deep(32);
    tail_caller(i);
}

// Calls that do not return, one of three.
static void left(int i)
{
    catcher(i);
    setter(i);
}

int main(int argc, char **argv)
{
    double end = (argc > 1 ? atof(argv[1]) : 1) * 1e9;
    const char *what = argc > 2 ? argv[2] : "all";
    void (*one)(int) = !strcmp(what, "alternating") ? alternating
                       : !strcmp(what, "blocks")    ? blocks
                       : !strcmp(what, "left")      ? left
                                                    : all;
    const std::map<std::string, const Truth *> truths = {
        { "constant", &constant_truth }, { "alternating", &alternating_truth },
        { "blocks", &blocks_truth },     { "period", &period_truth },
        { "drift", &drift_truth },       { "rare", &rare_truth },
        { "steady", &steady_truth },     { "varying", &varying_truth },
        { "recurse", &recurse_truth },   { "deep", &deep_truth },
        { "tail", &tail_truth },
    };

    unit_ns.reserve(1 << 18);
    for (int i = 0; clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end; i++)
        one(i);
    for (const auto &t : truths) {
        double n = t.second->calls, mean = t.second->sum / std::max(n, 1.0);

        if (n > 1)
            printf("truth %s %.0f %.3f %.4f\n", t.first.c_str(), n, mean,
                   std::sqrt(std::max(t.second->squares - n * mean * mean, 0.0) / (n - 1)) / mean);
    }
    std::nth_element(unit_ns.begin(), unit_ns.begin() + long(unit_ns.size() / 2), unit_ns.end());
    printf("unit %.3f\n", double(unit_ns[unit_ns.size() / 2]));
}
