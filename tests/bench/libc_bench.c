/* What calls of the C library cost that fvmpi stands in front of: a read of one byte, characters of a buffer, malloc() and free() on one and on two
 * threads; best of many batches. Run it under fvmpi run --io or --memory, and without. Nothing here gates. */
#include "batches.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 1000 };

static int zeros;
static FILE *stream;

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

static void *in_thread(void *out)
{
    *(double *)out = best_ns(small, CALLS);
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
        printf("read of a byte               %6.1f ns\n", best_ns(reads, CALLS));
        printf("fflush of nothing            %6.1f ns\n", best_ns(flushes, CALLS));
        printf("a character of a buffer      %6.1f ns\n", best_ns(characters, CALLS));
    } else {
        printf("malloc and free, 64 bytes    %6.1f ns\n", best_ns(small, CALLS));
        printf("... on two threads           %6.1f ns\n", on_two_threads());
        printf("malloc and free, 100 kB      %6.1f ns\n", best_ns(big, CALLS));
    }
    return 0;
}
