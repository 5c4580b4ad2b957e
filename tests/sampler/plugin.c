/* Opened and closed while samples are taken; built twice, with different code at the same addresses. */
#include <stdint.h>

#ifndef EXTRA
#define EXTRA 0
#endif

static volatile uint64_t sink;

__attribute__((noinline, noclone)) static uint64_t inner(uint64_t n)
{
    uint64_t x = n;

    for (uint64_t i = 0; i < 50000 + EXTRA; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    return x;
}

int plugin_task(int i);
int plugin_task(int i)
{
#if EXTRA
    uint64_t room[16] = { (uint64_t)i };
    for (int k = 1; k < 16; k++)
        room[k] = inner(room[k - 1]) / 3;
    sink = room[15];
#else
    sink = inner((uint64_t)i);
#endif
    return i + 1;
}
