/* SPDX-License-Identifier: BSD-3-Clause */
/* See stack.h. A thread's control block lies above its frames, in the same mapping, on all processors that the C
 * library knows: so that mapping says it all. Rejected: pthread_getattr_np(), which takes a lock of the thread's own,
 * and allocates while it holds it: called by a hook of a handler, or of the allocator, it waits for itself for ever
 * where the thread was in it already, or in another function with that lock. */
#include "rt/stack.h"
#include "base/lock.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel keeps other mappings at least 128 MiB below the end of the initial stack. */
#define INITIAL_STACK (UINT64_C(96) << 20)

/* Stacks are used again, by threads that are made one after the other: the mapping is read once for each. One that has
 * gone, and another one that ends at the same place: the C library keeps stacks, and programs rarely have them of
 * several sizes. */
#define REMEMBERED 64
static struct remembered {
    uintptr_t high, low;
} remembered[REMEMBERED];
static struct fv_lock remembered_lock;

static struct remembered *place_of(uintptr_t high)
{
    return &remembered[fv_mix(high) % REMEMBERED];
}

/* 0: it is not known. */
static uintptr_t recall(uintptr_t high)
{
    uintptr_t low = 0;

    if (!fv_try_lock(&remembered_lock))
        return 0;
    const struct remembered *r = place_of(high);
    low = r->high == high ? r->low : 0;
    fv_unlock(&remembered_lock);
    return low;
}

static void remember(uintptr_t low, uintptr_t high)
{
    if (!fv_try_lock(&remembered_lock))
        return;
    *place_of(high) = (struct remembered){ high, low };
    fv_unlock(&remembered_lock);
}

/* ---- the kernel's list of mappings ---- */

/* What is read of a line, "begin-end rw-p ...": numbers[0], [1], and two letters. */
struct line {
    uintptr_t numbers[2];
    unsigned field; /* 0, 1: a number; 2: the letters; 3: the rest */
    unsigned letters;
    bool is_read, is_write;
};

static unsigned digit_of(char c)
{
    return c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');
}

static void take(struct line *l, char c)
{
    if (l->field < 2 && (c == '-' || c == ' ')) {
        l->field++;
    } else if (l->field < 2) {
        l->numbers[l->field] = l->numbers[l->field] << 4 | digit_of(c);
    } else if (l->field == 2) {
        l->is_read |= c == 'r';
        l->is_write |= c == 'w';
        l->field += ++l->letters == 2;
    }
}

/* Begin of the mapping that has the address, with those that adjoin it below, if all can be read and written; 0: there
 * is none, or it is not told. Not by the C library, whose functions could end the thread here (cancellation). */
static uintptr_t begin_of_mapping(uintptr_t address)
{
    char text[1024];
    struct line line = { 0 };
    uintptr_t begin = 0, end = 0;
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC), n;

    while (fd >= 0 && end <= address && (n = syscall(SYS_read, fd, text, sizeof(text))) > 0)
        for (long i = 0; i < n && end <= address; i++) {
            if (text[i] != '\n') {
                take(&line, text[i]);
                continue;
            }
            begin = !(line.is_read && line.is_write) ? 0 : begin && line.numbers[0] == end ? begin : line.numbers[0];
            end = line.numbers[1];
            line = (struct line){ 0 };
        }
    if (fd >= 0)
        syscall(SYS_close, fd);
    return begin <= address && address < end ? begin : 0;
}

void fv_stack_bounds(bool initial_thread, uintptr_t *low, uintptr_t *high)
{
    extern void *__libc_stack_end; /* of the loader: the initial thread's */
    uintptr_t control = (uintptr_t)pthread_self();

    if (initial_thread) {
        *high = (uintptr_t)__libc_stack_end;
        *low = *high - INITIAL_STACK;
        return;
    }
    *low = recall(control);
    if (!*low && (*low = begin_of_mapping(control)))
        remember(*low, control);
    *high = *low ? control : 0;
}
