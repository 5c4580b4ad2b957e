/* SPDX-License-Identifier: BSD-3-Clause */
/* Where each thread may run: its mask when it begins to be recorded, and when it ends or the process does. A system
 * call each time. A record for each struct fv_thread, so that programs that make and end threads forever stay
 * bounded. */
#include "rt/layers.h"
#include "rt/tail.h"
#include "rt/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct fv_lock lock;
static struct fv_tail tail;

static struct fv_affinity *new_record(uint32_t thread)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_AFFINITY, .first_pages = 1, .most_pages = 16 };

    uint64_t signals = fv_lock_sigsave(&lock);
    struct fv_affinity *out = fv_tail_next(&tail, &kind, FV_NO_THREAD, sizeof(*out), true);
    if (out) {
        out->thread = thread;
        fv_tail_commit(&tail, sizeof(*out));
    }
    fv_unlock_sigrestore(&lock, signals);
    return out;
}

/* The kernel's word as it is, which has more processors than cpu_set_t on some machines. */
static void read_mask(pid_t tid, uint64_t *mask)
{
    uint64_t words[64] = { 0 }; /* for 4096 of them */
    int saved = errno;

    if (syscall(SYS_sched_getaffinity, tid, sizeof(words), words) > 0)
        memcpy(mask, words, FV_MASK_WORDS * sizeof(*mask));
    errno = saved;
}

static void thread_begins(struct fv_thread *t)
{
    if (!t || (!t->affinity && !(t->affinity = new_record(t->id))))
        return;
    struct fv_affinity *a = t->affinity;
    a->tid = t->record->tid;
    memset(a->last, 0, sizeof(a->last));
    read_mask(0, a->first);
    if (syscall(SYS_getcpu, &a->cpu, &a->node, NULL))
        a->cpu = a->node = UINT32_MAX;
}

static void thread_ends(struct fv_thread *t)
{
    if (t && t->affinity)
        read_mask(0, t->affinity->last);
}

/* Other threads that live are looked at from here: they may outlive MPI_Finalize, or be ended by exit(). */
static void all_end(struct fv_thread *self)
{
    (void)self;
    for (struct fv_thread *t = __atomic_load_n(&fv_rt.threads, __ATOMIC_ACQUIRE); t; t = t->next_all)
        if (t->affinity && !t->record->end)
            read_mask((pid_t)t->record->tid, t->affinity->last);
}

const struct fv_layer fv_affinity_layer = { .at = { [FV_AT_THREAD_BEGIN] = thread_begins,
                                                    [FV_AT_THREAD_END] = thread_ends,
                                                    [FV_AT_FINALIZE] = all_end,
                                                    [FV_AT_EXIT] = all_end } };
