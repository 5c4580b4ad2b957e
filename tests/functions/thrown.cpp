/* Exceptions leave two functions, one of which has something to destroy; what comes after them is called by who catches. */
#include <cstdio>
#include <stdexcept>
#include <string>

static volatile double sink;

struct Guard {
    __attribute__((noinline)) ~Guard() { sink = sink + 1; }
};

__attribute__((noinline)) void thrower(int n)
{
    sink = sink + n;
    throw std::runtime_error(std::to_string(n));
}

__attribute__((noinline)) void between(int n)
{
    Guard guard;
    thrower(n);
}

__attribute__((noinline)) void after(double n)
{
    sink = sink + n;
}

namespace solver {
template <class T> struct Field {
    T value;
    __attribute__((noinline)) void relax(int n)
    {
        for (int i = 0; i < n; i++) {
            try {
                between(i);
            } catch (const std::runtime_error &error) {
                value += T(std::string(error.what()).size());
            }
            after(1.5);
        }
    }
};
}

int main()
{
    solver::Field<double> field{ 0 };

    for (int i = 0; i < 5; i++)
        field.relax(10);
    std::printf("%g\n", field.value);
}
