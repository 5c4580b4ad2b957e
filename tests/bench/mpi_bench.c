/* ns per MPI call on one rank of MPI_COMM_SELF, at a call path of a given depth, beside two clock reads:
 * Iprobe, an 8-byte Allreduce, messages with a request of the sender or of the receiver, a derived datatype,
 * neighbours in a grid, and a receive whose message does not come, asked again and again. Best of many batches. Run it without fvmpi, under the nop library and under the
 * real one; tests/bench/run compares.
 *
 *     mpi_bench [DEPTH [multiple]]        multiple: with MPI_THREAD_MULTIPLE */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 100, CALLS = 1000 };

static double now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void send_recv(void)
{
    char a = 1, b;
    MPI_Request request;

    /* an unexpected message is buffered: Isend completes locally */
    MPI_Isend(&a, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF, &request);
    MPI_Recv(&b, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void irecv_send(void)
{
    char a = 1, b;
    MPI_Request request;

    MPI_Irecv(&b, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF, &request);
    MPI_Send(&a, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static MPI_Datatype strided;

static void send_nowhere(void)
{
    char a = 1;

    MPI_Send(&a, 1, MPI_CHAR, MPI_PROC_NULL, 7, MPI_COMM_SELF);
}

static void derived_bcast(void)
{
    int a[8] = { 0 };

    MPI_Bcast(a, 1, strided, 0, MPI_COMM_SELF);
}

static MPI_Comm grid;

static void neighbours(void)
{
    char in[6] = { 0 }, out = 1;

    MPI_Neighbor_allgather(&out, 1, MPI_CHAR, in, 1, MPI_CHAR, grid);
}

static void allreduce(void)
{
    double in = 1, out;

    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void iprobe(void)
{
    int flag;

    MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

/* As programs do that compute meanwhile. Last of the cases: from now on a request is followed. */
static MPI_Request *pending(void)
{
    static MPI_Request request = MPI_REQUEST_NULL;
    static char never;

    if (request == MPI_REQUEST_NULL)
        MPI_Irecv(&never, 1, MPI_CHAR, 0, 8, MPI_COMM_SELF, &request);
    return &request;
}

static void test(void)
{
    int flag;
    MPI_Status status;

    MPI_Test(pending(), &flag, &status);
}

static void testany(void)
{
    int flag, index;
    MPI_Status status;

    MPI_Testany(1, pending(), &index, &flag, &status);
}

static void end_pending(void)
{
    MPI_Cancel(pending());
    MPI_Wait(pending(), MPI_STATUS_IGNORE);
}

static void clocks(void)
{
#if defined(__x86_64__)
    (void)__builtin_ia32_rdtsc();
    (void)__builtin_ia32_rdtsc();
#else
    now_ns();
    now_ns();
#endif
}

static const struct {
    const char *name;
    void (*body)(void);
} cases[] = {
    { "clock_reads", clocks },          { "iprobe", iprobe },
    { "send_nowhere", send_nowhere },   { "allreduce", allreduce },
    { "isend_recv_wait", send_recv },   { "irecv_send_wait", irecv_send },
    { "bcast_derived", derived_bcast }, { "neighbor_allgather", neighbours },
    { "test_pending", test },           { "testany_pending", testany },
};

__attribute__((noinline)) static double batch(void (*body)(void))
{
    double begin = now_ns();

    for (int i = 0; i < CALLS; i++)
        body();
    return (now_ns() - begin) / CALLS;
}

__attribute__((noinline)) static double deeper(int depth, void (*body)(void))
{
    double ns = depth > 0 ? deeper(depth - 1, body) : batch(body);

    __asm__ volatile("" ::: "memory"); /* no tail call */
    return ns;
}

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 8, provided;

    MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Type_vector(4, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_Cart_create(MPI_COMM_SELF, 3, (int[]){ 1, 1, 1 }, (int[]){ 1, 1, 1 }, 0, &grid);
    for (unsigned c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
        double best = 1e30;

        for (int i = 0; i < BATCHES; i++) {
            /* main, deeper, batch, body and the C library's start are frames, too */
            double ns = deeper(depth > 6 ? depth - 6 : 0, cases[c].body);
            best = ns < best ? ns : best;
        }
        printf("%s %.1f\n", cases[c].name, best);
    }
    end_pending();
    MPI_Comm_free(&grid);
    MPI_Type_free(&strided);
    MPI_Finalize();
    return 0;
}
