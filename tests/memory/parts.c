/* Allocates known sizes in sections, through several functions and a library (give.c): parts. parts exits: a signal handler calls exit(),
 * mostly while the program is in the allocator; a second thread makes that take locks. */
#include "fvmpi.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

void *give(size_t bytes);
static void *volatile keep[256];

static void sections(void)
{
    for (int i = 0; i < 3; i++) {
        fvmpi_section_begin("grow", 0, 0);
        keep[i] = malloc(1 << 20);
        for (int k = 1; k <= 500; k++)
            keep[10] = realloc(keep[10], (size_t)k * 100);
        fvmpi_section_end("grow", 0, 0);
    }
    fvmpi_section_begin("heap", 1, 0);
    for (int i = 0; i < 200; i++)
        keep[20 + i] = malloc(10000);
    fvmpi_section_end("heap", 1, 0);
    fvmpi_section_begin("shrink", 2, 0);
    for (int i = 0; i < 3; i++)
        free(keep[i]);
    fvmpi_section_end("shrink", 2, 0);
}

static void functions(void)
{
    volatile size_t too_much = (size_t)1 << 62;

    fvmpi_section_begin("first", 3, 0);
    keep[0] = calloc(10, 10);
    fvmpi_section_begin("second", 4, 0);
    keep[2] = give(30000);
    keep[3] = give(50000);
    fvmpi_section_end("first", 3, 0);
    keep[1] = aligned_alloc(64, 640);
    fvmpi_section_end("second", 4, 0);
    keep[4] = calloc(1, too_much);
}

static void *sleeping(void *arg)
{
    pause();
    return arg;
}

static void handle(int number)
{
    (void)number;
    exit(3);
}

static void until_killed(unsigned microseconds)
{
    const struct itimerval once = { { 0, 0 }, { 0, microseconds } };
    pthread_t thread;

    signal(SIGALRM, handle);
    if (pthread_create(&thread, NULL, sleeping, NULL) || setitimer(ITIMER_REAL, &once, NULL))
        abort();
    for (unsigned i = 0, r = 1;; i++) {
        r = r * 1103515245 + 12345;
        free(keep[i % 64]);
        keep[i % 64] = malloc(5000 + (r >> 16 & 16383));
    }
}

int main(int argc, char **argv)
{
    if (argc > 2)
        until_killed((unsigned)atoi(argv[2]));
    sections();
    functions();
    return 0;
}
