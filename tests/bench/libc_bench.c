/* What calls of the C library cost that fvmpi stands in front of: a read of one byte, characters of a buffer, malloc() and free() on one and on two
 * threads; best of many batches. Run it under fvmpi run --io or --memory, and without. Nothing here gates. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 200, CALLS = 1000 };

static int zeros;
static FILE *stream;

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void reads(void)
{
    char c;

    for (int i = 0; i < CALLS; i++)
        if (read(zeros, &c, 1) != 1)
            abort();
}

/* Which asks nothing of the system. */
static void flushes(void)
{
    for (int i = 0; i < CALLS; i++)
        if (fflush(stream))
            abort();
}

static void characters(void)
{
    for (int i = 0; i < CALLS; i++)
        if (fputc('x', stream) != 'x')
            abort();
}

static void allocate(size_t bytes)
{
    for (int i = 0; i < CALLS; i++) {
        void *p = malloc(bytes);

        __asm__ volatile("" : : "r"(p) : "memory");
        free(p);
    }
}

static void small(void)
{
    allocate(64);
}

static void big(void)
{
    allocate(100000);
}

static double best_ns(void (*batch)(void))
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < BATCHES; i++) {
        uint64_t begin = now();

        batch();
        uint64_t ns = now() - begin;
        best = ns < best ? ns : best;
    }
    return (double)best / CALLS;
}

static void *in_thread(void *out)
{
    *(double *)out = best_ns(small);
    return NULL;
}

static double on_two_threads(void)
{
    double ns[2];
    pthread_t thread[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, in_thread, &ns[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return ns[0] > ns[1] ? ns[0] : ns[1];
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "files")) {
        zeros = open("/dev/zero", O_RDONLY);
        stream = fopen("/dev/null", "w");
        printf("read of a byte               %6.1f ns\n", best_ns(reads));
        printf("fflush of nothing            %6.1f ns\n", best_ns(flushes));
        printf("a character of a buffer      %6.1f ns\n", best_ns(characters));
    } else {
        printf("malloc and free, 64 bytes    %6.1f ns\n", best_ns(small));
        printf("... on two threads           %6.1f ns\n", on_two_threads());
        printf("malloc and free, 100 kB      %6.1f ns\n", best_ns(big));
    }
    return 0;
}
