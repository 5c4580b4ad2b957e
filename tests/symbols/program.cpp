/* Places whose functions, files and lines are known: a line that is marked PLACE has its name. here() prints an address, whose frames are the ones
 * that its caller below lists, innermost first. */
#include "inlined.h"

#include <cstdint>
#include <cstdio>

extern "C" char __executable_start;
void other(double *data, int count);

__attribute__((noinline)) void here(const char *name)
{
    printf("%s %#lx\n", name, (unsigned long)((uintptr_t)__builtin_return_address(0) - (uintptr_t)&__executable_start));
    NO_LAST_CALL;
}

struct Solver {
    __attribute__((noinline)) double step(double x)
    {
        double y = tools::middle(x); // PLACE step

        here("step alone"); // PLACE alone
        NO_LAST_CALL;
        return y;
    }
};

static __attribute__((noinline)) int with_lambda(int count)
{
    auto twice = [count](int i) __attribute__((noinline)) {
        here("lambda"); // PLACE lambda
        NO_LAST_CALL;
        return count * i;
    };

    return twice(count) + 1;
}

int main()
{
    double data[4] = { 1, 2, 3, 4 };
    Solver solver;

    data[0] = solver.step(data[1]);
    data[1] = with_lambda((int)data[2]);
    other(data, 4);
    return data[0] < 0;
}
