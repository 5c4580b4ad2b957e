/* The state of the process, and private memory of the runtime: what all of it stands on. */
#include "base/pages.h"
#include "rt/thread.h"

#include <errno.h>
#include <sys/uio.h>

struct fv_runtime fv_rt;
static uint64_t total;

static void account(uint64_t bytes)
{
    uint64_t sum = __atomic_add_fetch(&total, bytes, __ATOMIC_RELAXED);

    if (fv_rt.writer.header)
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
    return map;
}

void fv_memory_free(void *memory, size_t bytes)
{
    if (memory && !fv_unmap_pages(memory, bytes))
        account(-(uint64_t)bytes);
}

bool fv_memory_peek(uintptr_t at, void *out, size_t bytes)
{
    struct iovec to = { out, bytes }, from = { (void *)at, bytes };

    return process_vm_readv(fv_rt.pid, &to, 1, &from, 1, 0) == (ssize_t)bytes;
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
