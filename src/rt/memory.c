/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the process, and private memory of the runtime: what all of it stands on. */
#include "base/older.h"
#include "base/pages.h"
#include "base/without.h"
#include "rt/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

/* paused it is not 0, as in a child */
static struct fv_process_state before_start = { FV_RT_IDLE, FV_RECORDING + FV_CHANGED };
struct fv_runtime fv_rt = { .here = &before_start };
static uint64_t total;

static void account(uint64_t bytes)
{
    uint64_t sum = __atomic_add_fetch(&total, bytes, __ATOMIC_RELAXED);

    if (fv_rt.writer.header)
        __atomic_store_n(&fv_rt.writer.header->memory_bytes, sum, __ATOMIC_RELAXED);
}

/* What was mapped, so that the end of a process can look how much of it has pages: a thread's tables have room for much
 * more than most threads do. Without a lock, because signal handlers take memory, too; of what finds no place here all
 * counts. */
enum { PLACES = 8192, TRIES = 64 };
static struct place {
    uintptr_t at; /* 0: free */
    size_t bytes;
} places[PLACES];
static uint32_t places_used; /* before that all have been tried */
static uint64_t unlisted;

static void list(uintptr_t at, size_t bytes)
{
    for (unsigned i = 0; i < TRIES; i++) {
        struct place *p = &places[__atomic_fetch_add(&places_used, 1, __ATOMIC_RELAXED) % PLACES];
        uintptr_t none = 0;

        if (!__atomic_compare_exchange_n(&p->at, &none, at, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        __atomic_store_n(&p->bytes, bytes, __ATOMIC_RELEASE);
        return;
    }
    __atomic_add_fetch(&unlisted, bytes, __ATOMIC_RELAXED);
}

static void unlist(uintptr_t at, size_t bytes)
{
    for (unsigned i = 0; i < PLACES; i++)
        if (__atomic_load_n(&places[i].at, __ATOMIC_RELAXED) == at) {
            __atomic_store_n(&places[i].bytes, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&places[i].at, 0, __ATOMIC_RELEASE);
            return;
        }
    __atomic_sub_fetch(&unlisted, bytes, __ATOMIC_RELAXED);
}

static uint64_t resident(uintptr_t at, size_t bytes)
{
    unsigned char pages[1024];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), step = sizeof(pages) * page;
    uint64_t sum = 0;

    for (size_t done = 0; done < bytes; done += step) {
        size_t here = bytes - done < step ? bytes - done : step;

        if (syscall(SYS_mincore, at + done, here, pages))
            return sum + bytes - done; /* filters of containers */
        for (size_t i = 0; i * page < here; i++)
            sum += pages[i] & 1 ? page : 0;
    }
    return sum;
}

void fv_memory_settle(void)
{
    uint64_t sum = __atomic_load_n(&unlisted, __ATOMIC_RELAXED);
    int saved = errno;

    for (unsigned i = 0; i < PLACES; i++)
        if (__atomic_load_n(&places[i].at, __ATOMIC_RELAXED))
            sum += resident(places[i].at, __atomic_load_n(&places[i].bytes, __ATOMIC_ACQUIRE));
    errno = saved;
    __atomic_store_n(&fv_rt.writer.header->memory_bytes, sum, __ATOMIC_RELAXED);
}

void *fv_memory_new(size_t bytes)
{
    int saved = errno;
    void *map = fv_map_pages(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    errno = saved;
    if (map == MAP_FAILED)
        return NULL;
    account(bytes);
    list((uintptr_t)map, bytes);
    return map;
}

/* madvise() is one of those that others stand in front of (base/pages.h). */
void *fv_memory_new_wiped(size_t bytes)
{
    void *memory = fv_memory_new(bytes);
    int saved = errno;

    if (memory && !fv_without("wipe"))
        syscall(SYS_madvise, memory, bytes, MADV_WIPEONFORK);
    errno = saved;
    return memory;
}

void fv_memory_free(void *memory, size_t bytes)
{
    if (!memory)
        return;
    unlist((uintptr_t)memory, bytes); /* before another thread is given the address */
    if (!fv_unmap_pages(memory, bytes))
        account(-(uint64_t)bytes);
}

/* The kernel says whether something is mapped there, and reads eight bytes of it, before it refuses what it is asked to
 * do with them. */
bool fv_memory_is_readable(uintptr_t at)
{
    const uintptr_t word = at & ~(uintptr_t)7, page = at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    unsigned char resident;

    return !syscall(SYS_mincore, page, (size_t)1, &resident) &&
           !(syscall(SYS_rt_sigprocmask, ~0, word, NULL, (size_t)8) && errno == EFAULT);
}

/* Where the kernel does not let us read it for ourselves (filters of containers, emulators): page by page, if it is
 * readable. Another thread may take it away in between. */
static bool copy(uintptr_t at, void *out, size_t bytes)
{
    for (uintptr_t checked = at; checked < at + bytes; checked = (checked | (FV_PAGE - 1)) + 1)
        if (!fv_memory_is_readable(checked))
            return false;
    memcpy(out, (const void *)at, bytes);
    return true;
}

#define GATHER 32 /* at once: signal handlers have little of a stack */

bool fv_memory_peek(uintptr_t at, void *out, size_t bytes)
{
    struct iovec to = { out, bytes }, from = { (void *)at, bytes };

    if (process_vm_readv(fv_rt.pid, &to, 1, &from, 1, 0) == (ssize_t)bytes)
        return true;
    return (errno == ENOSYS || errno == EPERM) && copy(at, out, bytes);
}

static unsigned gather_some(const uintptr_t *at, unsigned count, size_t bytes, char *out)
{
    struct iovec to = { out, count * bytes }, from[GATHER] = { 0 };
    unsigned i;

    for (i = 0; i < count; i++)
        from[i] = (struct iovec){ (void *)at[i], bytes };
    ssize_t done = process_vm_readv(fv_rt.pid, &to, 1, from, count, 0);
    if (done >= 0)
        return (unsigned)((size_t)done / bytes);
    const bool is_refused = errno == ENOSYS || errno == EPERM;
    for (i = 0; i < count && is_refused && copy(at[i], out + i * bytes, bytes);)
        i++;
    return i;
}

bool fv_memory_gather(const uintptr_t *at, unsigned count, size_t bytes, void *out)
{
    for (unsigned i = 0, some; i < count; i += some) {
        some = count - i < GATHER ? count - i : GATHER;
        if (gather_some(at + i, some, bytes, (char *)out + i * bytes) < some)
            return false;
    }
    return true;
}

void *fv_scratch(struct fv_call *call, unsigned slot, size_t bytes)
{
    struct fv_thread *t = call->thread;

    if (t->scratch[slot].bytes < bytes) {
        size_t room = fv_round_up(bytes + bytes / 2, FV_PAGE);
        void *memory = fv_memory_new(room);

        if (!memory)
            return NULL;
        fv_memory_free(t->scratch[slot].memory, t->scratch[slot].bytes);
        t->scratch[slot].memory = memory;
        t->scratch[slot].bytes = room;
    }
    return t->scratch[slot].memory;
}
