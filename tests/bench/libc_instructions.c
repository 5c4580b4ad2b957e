/* What instructions.py counts where fvmpi stands in front of the C library, and of an instrumented function. Compiled
 * with -finstrument-functions, from which all but one are left out. */
#include "counted.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FRAMES 8
#define PLAIN  __attribute__((no_instrument_function))

static int null;
static volatile int sink;

PLAIN static void write_byte(void)
{
    if (write(null, "x", 1) != 1)
        abort();
}

PLAIN static void allocate(void)
{
    void *p = malloc(64);

    __asm__ volatile("" : : "r"(p) : "memory");
    free(p);
}

PLAIN static void allocate_more(void)
{
    void *p = malloc(16384);

    __asm__ volatile("" : : "r"(p) : "memory");
    free(p);
}

__attribute__((noinline)) static void instrumented(void)
{
    sink++;
}

PLAIN static void call_function(void)
{
    instrumented();
}

PLAIN int main(void)
{
    null = open("/dev/null", O_WRONLY);
    CALLGRIND_START_INSTRUMENTATION;
    COUNT(FRAMES, "write, 1 byte", write_byte);
    COUNT(FRAMES, "malloc and free, 64 bytes", allocate);
    COUNT(FRAMES, "malloc and free, 16 KiB", allocate_more);
    COUNT(FRAMES, "instrumented function", call_function);
    CALLGRIND_STOP_INSTRUMENTATION;
    return 0;
}
