// As planted.c's imbalance: rank 1 has more to do in chemistry::Reactor::react().
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <mpi.h>
#include <vector>

namespace {
double cpu_s()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
double wall_s()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}

namespace chemistry {
template <typename T> class Reactor {
    std::vector<T> field = std::vector<T>(1000, 1);

    // So much CPU time, whatever the machine.
    void compute(double seconds)
    {
        for (double until = cpu_s() + seconds; cpu_s() < until;)
            for (int i = 0; i < 10; i++)
                for (T &x : field)
                    x = std::sqrt(x * x * T(1.0000001) + T(1e-9));
    }

public:
    __attribute__((noinline)) void diffuse()
    {
        compute(0.004);
        field[0] += 1;
    }
    __attribute__((noinline)) void react(double seconds)
    {
        compute(seconds);
        field[1] += 1;
    }
    T norm() const { return field[2]; }
};
}

int main(int argc, char **argv)
{
    const bool planted = argc < 2;
    const double begin = wall_s();
    int rank, ranks;

    MPI_Init(&argc, &argv);
    double in_mpi = wall_s() - begin, norm;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    chemistry::Reactor<double> reactor;
    for (int step = 0; step < 60; step++) {
        reactor.diffuse();
        reactor.react(planted && rank == 1 ? 0.012 : 0.002);
        double mine = reactor.norm(), since = wall_s();
        MPI_Allreduce(&mine, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        in_mpi += wall_s() - since;
    }
    double mine[2] = { wall_s() - begin - in_mpi, wall_s() - begin }, all[2], most;
    PMPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    PMPI_Allreduce(mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (!rank)
        std::printf("truth lost_s %.6f total_s %.6f mpi_s %.6f\n", most * ranks - all[0], all[1], all[1] - all[0]);
    MPI_Finalize();
}
