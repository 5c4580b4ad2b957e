/* C++: demangled names of members, templates, lambdas and of functions that exceptions leave.
 *
 *     work::Grid<int>::exchange <- work::run <- main            3
 *     work::Grid<double>::exchange <- work::run <- main         4
 *     a lambda in work::with_lambda <- ... <- main              2
 *     work::thrower <- work::catcher <- main                    5
 *     work::(anonymous namespace)::hidden <- main               1
 */
#include "known.h"

#include <stdexcept>

#define NOINLINE __attribute__((noinline, noclone))

namespace work {

static double value, sum;

template <typename T> struct Grid {
    T cells[4];
    NOINLINE void exchange()
    {
        OK(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF));
    }
};

NOINLINE void run()
{
    Grid<int> a;
    Grid<double> b;

    TIMES(3)
        a.exchange();
    TIMES(4)
        b.exchange();
    value = 0;
}

template <typename F> NOINLINE void times(int n, const F &f)
{
    TIMES(n)
        f(); /* the lambda of with_lambda */
    value = 1;
}

NOINLINE void with_lambda()
{
    times(2, [](void) NOINLINE { /* with_lambda calls times */
        OK(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF));
    });
    value = 2;
}

NOINLINE void thrower()
{
    OK(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF));
    throw std::runtime_error("on purpose");
}

NOINLINE void catcher()
{
    try {
        thrower();
    } catch (const std::exception &) {
        value = 3;
    }
}

namespace {
NOINLINE void hidden()
{
    OK(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF));
}
}

} // namespace work

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    work::run();
    work::with_lambda();
    TIMES(5)
        work::catcher();
    work::hidden();
    OK(MPI_Finalize());
    return 0;
}
