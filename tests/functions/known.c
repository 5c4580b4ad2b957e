/* A program of functions whose calls are known (functions.t). STEPS times work() calls inner(), 10 times, and 3 times by a function that is inlined, and
 * waits in MPI; rank 1 has more to do. MPI calls combine(). fib() calls itself; tiny() is called very often; jump() leaves three functions by longjmp(); threads call inner().
 * With -DALONE it has no MPI. Arguments: calls of tiny(), and "uneven": rank 1 has much more to do; "hang" or "die": it ends in work(), which never returns. */
#ifndef ALONE
#include <mpi.h>
#endif
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline))

enum { STEPS = 20, THREADS = 3 };
static volatile double sink;
static volatile int hangs, dies;
static jmp_buf back;

PLAIN void inner(int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += i * 0.5;
    sink = sum;
}

static inline __attribute__((always_inline)) void inlined(int n)
{
    for (int i = 0; i < n; i++)
        inner(10);
}

PLAIN void wait_for_all(void)
{
#ifndef ALONE
    MPI_Barrier(MPI_COMM_WORLD);
#endif
}

PLAIN void work(int n)
{
    for (int i = 0; i < 10; i++)
        inner(n);
    inlined(3);
    wait_for_all();
    if (dies)
        kill(getpid(), SIGKILL);
    while (hangs)
        usleep(1000);
}

static int combined;

#ifndef ALONE
PLAIN void combine(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)type;
    combined++;
    for (int i = 0; i < *count; i++)
        ((int *)out)[i] += ((int *)in)[i];
}
#endif

PLAIN void reduce(void)
{
#ifndef ALONE
    int one = 1, all = 0;
    MPI_Op op;

    MPI_Op_create(combine, 1, &op);
    MPI_Allreduce(&one, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
#endif
}

PLAIN int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

PLAIN void tiny(void)
{
    sink++;
}

PLAIN void deeper(int n)
{
    sink++;
    if (n == 0)
        longjmp(back, 1);
    deeper(n - 1);
    sink++;
}

PLAIN void jump(void)
{
    if (!setjmp(back))
        deeper(2);
}

PLAIN void many(long n)
{
    for (long i = 0; i < n; i++)
        tiny();
}

PLAIN void *of_thread(void *n)
{
    for (long i = 0; i < (long)n; i++)
        inner(100);
    return NULL;
}

PLAIN void with_threads(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, of_thread, (void *)(100 * (i + 1)));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    int rank = 0;

#ifndef ALONE
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    for (int i = 0; i < STEPS; i++)
        work(1000 + (argc > 2 && !strcmp(argv[2], "uneven") ? 4000000 : 40000) * rank);
    reduce();
    printf("rank %d: fib %d, combined %d\n", rank, fib(10), combined);
    jump();
    jump();
    many(argc > 1 ? atol(argv[1]) : 1000);
    with_threads();
    with_threads();
    if (argc > 2 && !strcmp(argv[2], "die")) {
        dies = 1;
        work(10);
    }
    if (argc > 2 && !strcmp(argv[2], "hang")) {
        hangs = 1;
        puts("hangs");
        fflush(stdout);
        work(10);
    }
#ifndef ALONE
    MPI_Finalize();
#endif
    return 0;
}
