// Threads of C++ and of OpenMP, for breaks.t: `threads std` and `threads omp`; with WITH_MPI as ranks.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <future>
#include <thread>
#include <vector>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static double own()
{
    timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

extern "C" __attribute__((noinline, noclone)) std::uint64_t task(std::uint64_t x)
{
    for (int i = 0; i < 200000; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    return x;
}

static std::uint64_t busy(double seconds)
{
    std::uint64_t x = 1;

    for (seconds += own(); own() < seconds;)
        x = task(x);
    return x;
}

static void standard()
{
    std::vector<std::thread> threads;
    std::atomic<int> done{ 0 };
    auto later = std::async(std::launch::async, [] { return busy(0.2) != 0; });

    for (int i = 0; i < 3; i++)
        threads.emplace_back([&done] { done += busy(0.2) != 0; });
    for (auto &t : threads)
        t.join();
    std::printf("done %d\n", done + later.get());
}

static void openmp()
{
    int done = 0;

    for (int i = 0; i < 3; i++)
#pragma omp parallel num_threads(4) reduction(+ : done)
        done += busy(0.08) != 0;
    std::printf("done %d\n", done);
}

int main(int argc, char **argv)
{
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
#endif
    if (argc > 1 && !std::strcmp(argv[1], "omp"))
        openmp();
    else
        standard();
#ifdef WITH_MPI
    MPI_Finalize();
#endif
}
