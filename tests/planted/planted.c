/* Programs with one known problem each, or, with a second argument, the same without it. Each rank measures what it is
 * outside of MPI; rank 0 tells what the problem costs: "truth lost_s SECONDS total_s SECONDS" of all ranks together. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STEPS 60

static double began, mpi_s; /* of this rank: seconds in MPI since */
static int rank, ranks;
static volatile double sink;

static double clock_s(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define IN_MPI(call)                                                                                         \
    do {                                                                                                     \
        double since_ = clock_s(CLOCK_MONOTONIC);                                                            \
        call;                                                                                                \
        mpi_s += clock_s(CLOCK_MONOTONIC) - since_;                                                          \
    } while (0)

/* So much CPU time, whatever the machine: the clock is looked at seldom, for it is not what is measured. */
static void compute(double seconds)
{
    double until = clock_s(CLOCK_THREAD_CPUTIME_ID) + seconds, x = 1;

    while (clock_s(CLOCK_THREAD_CPUTIME_ID) < until)
        for (int i = 0; i < 20000; i++)
            x = x * 1.0000001 + 1e-9;
    sink = x;
}

__attribute__((noinline)) static void diffuse(void)
{
    compute(0.004);
    sink++;
}

__attribute__((noinline)) static void react(double seconds)
{
    compute(seconds);
    sink++;
}

/* CPU time of the kernel: pages that are fresh each time. */
__attribute__((noinline)) static void touch(double seconds)
{
    const size_t bytes = 1 << 20;
    double until = clock_s(CLOCK_THREAD_CPUTIME_ID) + seconds;

    while (clock_s(CLOCK_THREAD_CPUTIME_ID) < until) {
        char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (pages == MAP_FAILED)
            abort();
        madvise(pages, bytes, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < bytes; i += 4096)
            pages[i] = 1;
        munmap(pages, bytes);
    }
}

__attribute__((noinline)) static void exchange(void)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    double mine = rank, other;

    IN_MPI(MPI_Sendrecv(&mine, 1, MPI_DOUBLE, next, 0, &other, 1, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

__attribute__((noinline)) static void norm(void)
{
    double mine = rank, sum;

    IN_MPI(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

__attribute__((noinline)) static void write_snapshot(void)
{
    double until = clock_s(CLOCK_MONOTONIC) + 0.05;
    char page[4096] = "";
    int file = open("snapshot", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

    while (clock_s(CLOCK_MONOTONIC) < until) {
        if (file < 0 || write(file, page, sizeof(page)) < 0 || fdatasync(file))
            break;
        usleep(2000); /* a disk that is not as quick as this one */
    }
    close(file);
}

/* Computes for so long before it hands on. */
__attribute__((noinline)) static void pass_on(int laps, double work_s)
{
    double token = 0;

    for (int i = 0; i < laps; i++) {
        if (rank)
            IN_MPI(MPI_Recv(&token, 1, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (double until = work_s > 0 ? clock_s(CLOCK_MONOTONIC) + work_s : 0; until > 0 && clock_s(CLOCK_MONOTONIC) < until;)
            ;
        IN_MPI(MPI_Send(&token, 1, MPI_DOUBLE, (rank + 1) % ranks, 1, MPI_COMM_WORLD));
        if (!rank)
            IN_MPI(MPI_Recv(&token, 1, MPI_DOUBLE, ranks - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

/* Each rank computes when it has what the one before computed. */
__attribute__((noinline)) static void sweep(double work_s)
{
    double token = 0;

    if (rank)
        IN_MPI(MPI_Recv(&token, 1, MPI_DOUBLE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    react(work_s);
    if (rank + 1 < ranks)
        IN_MPI(MPI_Send(&token, 1, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD));
}

/* A call path of its own for each depth. */
__attribute__((noinline)) static void descend(int depth, double work_s)
{
    if (depth > 0) {
        descend(depth - 1, work_s);
        sink++;
        return;
    }
    diffuse();
    react(work_s);
    norm();
    sink++;
}

__attribute__((noinline)) static void exchange_fields(int times)
{
    static char mine[4 << 20], other[sizeof(mine)];
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;

    for (int i = 0; i < times; i++)
        IN_MPI(MPI_Sendrecv(mine, sizeof(mine), MPI_CHAR, next, 2, other, sizeof(other), MPI_CHAR, before, 2, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE));
}

/* Small messages, and large ones that take longer. */
static void exchange_both(void)
{
    static double small_s, large_s;
    double before = mpi_s;

    pass_on(1000, 0);
    small_s += mpi_s - before;
    before = mpi_s;
    exchange_fields(10);
    large_s += mpi_s - before;
    if (!rank)
        printf("small_s %.6f large_s %.6f\n", small_s, large_s);
}

__attribute__((noinline)) static void remember(size_t bytes)
{
    char *kept = malloc(bytes);

    if (kept)
        memset(kept, rank + 1, bytes);
    sink += kept ? kept[bytes / 2] : 0;
}

/* How long this rank was outside of MPI, and in all.
 *
 * Without a call of MPI: a rank that came early would spin in it, unseen by fvmpi, which would take that for
 * computing. In one piece: lines of several ranks do not mix. */
static void tell(void)
{
    double total_s = clock_s(CLOCK_MONOTONIC) - began;
    char line[100];
    int length;

    length = snprintf(line, sizeof(line), "truth rank %d outside_s %.6f total_s %.6f\n", rank, total_s - mpi_s, total_s);
    fflush(stdout);
    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        perror("write");
}


int main(int argc, char **argv)
{
    const char *problem = argc > 1 ? argv[1] : "";
    int planted = argc < 3;

    began = clock_s(CLOCK_MONOTONIC);
    IN_MPI(MPI_Init(&argc, &argv));
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; strcmp(problem, "startup") && i < (strcmp(problem, "leak") ? STEPS : 4 * STEPS); i++) {
        diffuse();
        if (!strcmp(problem, "imbalance"))
            react(planted && rank == 1 ? 0.012 : 0.002);
        if (!strcmp(problem, "places"))
            descend(i, planted && rank == 1 ? 0.012 : 0.002);
        if (!strcmp(problem, "moves")) /* each rank in turn has more to do; sound: all have the same */
            react(!planted ? 0.002 + 0.010 / ranks : i % ranks == rank ? 0.012 : 0.002);
        if (!strcmp(problem, "pipeline") && planted)
            sweep(0.005);
        if (!strcmp(problem, "faults"))
            touch(planted && rank == 1 ? 0.012 : 0.002);
        if (!strcmp(problem, "snapshot") && i % 5 == 0 && planted && rank == 0)
            write_snapshot();
        if (!strcmp(problem, "chain"))
            pass_on(planted ? 10000 : 1, 0);
        if (!strcmp(problem, "turns"))
            pass_on(60, 50e-6);
        if (!strcmp(problem, "both"))
            exchange_both();
        if (!strcmp(problem, "leak"))
            remember(planted && rank == 1 ? 1 << 18 : 0);
        exchange();
        norm();
    }
    tell();
    MPI_Finalize();
    return 0;
}
