/* A program without MPI that forgets 64 KiB 200 times a second, for a minute at most. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES ((size_t)64 << 10)

static void *volatile last;

static __attribute__((noinline)) void remember(void)
{
    last = malloc(BYTES);
    memset(last, 1, BYTES);
}

int main(void)
{
    for (int i = 0; i < 60 * 200; i++) {
        remember();
        usleep(5000);
    }
    return 0;
}
