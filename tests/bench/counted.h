/* Counts the instructions of single calls under callgrind: each round of a body is dumped by itself, under the
 * body's name. Rounds before are not counted: caches are filled by then. instructions.py reads the dumps. */
#ifndef COUNTED_H
#define COUNTED_H

#include <stdbool.h>
#include <valgrind/callgrind.h>

enum { WARM = 12, COUNTED = 9 };

static inline bool counts(int i)
{
    return i >= 2 * WARM && i % 2;
}

__attribute__((noinline)) static void toggle(int i)
{
    if (counts(i))
        CALLGRIND_TOGGLE_COLLECT;
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void dump(int i, const char *name)
{
    if (counts(i))
        CALLGRIND_DUMP_STATS_AT(name);
    __asm__ volatile("" ::: "memory");
}

/* All calls of a body come from one place, so that they have one call path. Of two the second is counted: what came to
 * the process while the dump before was written is the first one's. */
__attribute__((noinline)) static void rounds(const char *name, void (*body)(void))
{
    for (int i = 0; i < 2 * (WARM + COUNTED); i++) {
        toggle(i);
        body();
        toggle(i);
        dump(i, name);
    }
}

__attribute__((noinline)) static void deeper(int frames, const char *name, void (*body)(void))
{
    if (frames > 0)
        deeper(frames - 1, name, body);
    else
        rounds(name, body);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

/* Other frames are the body, rounds, the innermost deeper, main and three of the C library. */
#define FRAMES_OF_OTHERS          7
#define COUNT(frames, name, body) deeper((frames)-FRAMES_OF_OTHERS, name, body)

#endif
