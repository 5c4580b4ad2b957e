// The header for C++: nested objects, and one that an exception ends.
#include "fvmpi.hpp"

#include <cstdio>
#include <dlfcn.h>
#include <stdexcept>

static int inner(int i)
{
    fvmpi::section timed("inner", 2);

    if (i % 3 == 0)
        throw std::runtime_error("thrown");
    return i;
}

int main()
{
    fvmpi::section all("main");
    int caught = 0;

    for (int i = 0; i < 9; i++) {
        try {
            fvmpi::section timed("loop", 1, 0);
            inner(i);
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    std::printf("caught %d\n", caught);
    return 0;
}
