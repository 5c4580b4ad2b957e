// Sections by both headers around OpenMP regions: compiled with -finstrument-functions all functions, call paths and phases are the program's.
#include "fvmpi.hpp"

static volatile double sum;

static void add()
{
    for (int i = 0; i < 100000; i++)
        sum = sum + i;
}

static __attribute__((noinline)) void by_object()
{
    fvmpi::section timed("object");
#pragma omp parallel num_threads(2)
    add();
}

static __attribute__((noinline)) void by_calls()
{
    fvmpi_label("calls");
    fvmpi_section_begin("calls", 0, 0);
#pragma omp parallel num_threads(2)
    add();
    fvmpi_section_end("calls", 0, 0);
}

int main()
{
    for (int i = 0; i < 5; i++) {
        by_object();
        by_calls();
    }
    return 0;
}
