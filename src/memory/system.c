/* SPDX-License-Identifier: BSD-3-Clause */
/* What the allocator has from the system. Where the program break is the C library knows without asking; which objects
 * have mappings of their own the interposers count (front/memory.c). What glibc knows of its arenas it tells under
 * their locks, and it walks all that is free: it is asked where recording begins and ends. */
#include "base/process.h"
#include "memory/memory.h"
#include "rt/clock.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uintptr_t heap_begin;

/* The program break, as glibc keeps it. Libraries of networks put a function of theirs in front of sbrk(), which takes
 * a lock: that would be recorded as the program's. */
extern void *__curbrk __attribute__((weak));

static uintptr_t program_break(void)
{
    return &__curbrk ? (uintptr_t)__curbrk : (uintptr_t)sbrk(0);
}

/* Field 47 of proc_pid_stat(5), start_brk; the name, the second one, may have blanks. */
void fv_memory_heap_find(void)
{
    char stat[1024];
    const char *at = fv_file_read("/proc/self/stat", stat, sizeof(stat)) > 0 ? strrchr(stat, ')') : NULL;

    for (unsigned field = 2; at && field < 47; field++)
        at = strchr(at + 1, ' ');
    heap_begin = at ? strtoull(at + 1, NULL, 10) : 0;
    if (heap_begin <= 1) /* it is not for us to know: from now on */
        heap_begin = program_break();
}

static uint64_t not_negative(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

void fv_memory_state_read(struct fv_memory_state *out, int64_t live)
{
    const uintptr_t brk = program_break();

    *out = (struct fv_memory_state){ live, brk > heap_begin ? brk - heap_begin : 0,
                                     not_negative(__atomic_load_n(&fvmpi_memory_v1.chunks, __ATOMIC_RELAXED)),
                                     not_negative(__atomic_load_n(&fvmpi_memory_v1.mapped, __ATOMIC_RELAXED)) };
}

/* struct mallinfo2 of glibc 2.33 and later. */
struct info {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

void fv_memory_arenas_note(struct fv_memory_arenas *out)
{
    struct info (*ask)(void);

    if (!fvmpi_memory_v1.describe)
        return;
    memcpy(&ask, &fvmpi_memory_v1.describe, sizeof(ask));
    const struct info info = ask();
    *out = (struct fv_memory_arenas){ .ticks = fv_ticks(),
                                      .bytes = info.arena,
                                      .used = info.uordblks,
                                      .free = info.fordblks,
                                      .top = info.keepcost,
                                      .pieces = info.ordblks + info.smblks };
}
