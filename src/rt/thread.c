/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads: each gets its struct fv_thread at its first MPI call, or at its start (src/threads), and hands it
 * back when it ends. */
#include "rt/layers.h"
#include "rt/next.h"
#include "rt/stack.h"
#include "rt/statistics.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

FV_TLS struct fv_thread *fv_current;
FV_TLS struct fv_thread *fv_self;
#if FV_INTERPOSE_CREATE
bool fv_threads_made;
#else
bool fv_threads_made = true;
#endif
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_made;

/* Runs at the end of a thread. */
static void thread_ended(void *arg)
{
    struct fv_thread *t = arg;

    fv_current = NULL;
    fv_self = NULL;
    if (!fv_rt_here())
        return;
    fv_layers_tell(FV_AT_THREAD_END, t);
    t->record->end = fv_ticks();
    t->record->in_call.begin = 0; /* if it was cancelled in a call */
    uint64_t signals = fv_lock_sigsave(&fv_rt.lock);
    t->next_free = fv_rt.free;
    fv_rt.free = t;
    fv_unlock_sigrestore(&fv_rt.lock, signals);
}

static void make_key(void)
{
    key_made = !pthread_key_create(&key, thread_ended);
}

static struct fv_thread *take_free(void)
{
    fv_lock(&fv_rt.lock);
    struct fv_thread *t = fv_rt.free;
    if (t)
        fv_rt.free = t->next_free;
    fv_unlock(&fv_rt.lock);
    if (t) {
        fv_paths_forget(t->paths);
        t->record->end = 0;
        t->comm_generation = 0;
    }
    return t;
}

static struct fv_thread *make_thread(void)
{
    struct fv_thread *t = fv_memory_new(sizeof(*t));
    struct fv_chunk_header *chunk;

    if (!t)
        return NULL;
    t->id = __atomic_fetch_add(&fv_rt.thread_count, 1, __ATOMIC_RELAXED);
    chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_THREADS, t->id, 0, sizeof(*t->record));
    if (!chunk || !fv_cells_init(t) || !(t->paths = fv_paths_new(&t->path_cache))) {
        fv_memory_free(t->cells.slots, (t->cells.mask + 1) * sizeof(*t->cells.slots));
        fv_memory_free(t, sizeof(*t));
        return NULL;
    }
    t->record = fv_chunk_records(chunk);
    fv_switches_init(&t->switches);
    t->record->id = t->id;
    t->record->begin = fv_ticks();
    t->record->era = fv_rt.writer.header->era;
    t->no_path.comm = FV_PATH_UNCOUNTED;
    t->recording = fv_rt.options.mpi_calls ? fv_recording() | FV_RECORDING : 0;
    fv_chunk_commit(chunk, sizeof(*t->record));
    fv_bins_init(t);
    fv_lock(&fv_rt.lock);
    t->next_all = fv_rt.threads;
    __atomic_store_n(&fv_rt.threads, t, __ATOMIC_RELEASE); /* some walk along it without the lock */
    fv_unlock(&fv_rt.lock);
    return t;
}

/* A thread for which there is no memory or disk stays unrecorded: its calls are counted as dropped. */
static FV_COLD struct fv_thread *attach(void)
{
    static FV_TLS bool failed;
    struct fv_thread *t = failed ? NULL : take_free();

    if (!t && !failed)
        t = make_thread();
    if (!t) {
        failed = true;
        fv_dropped(FV_DROP_CALLS);
        return NULL;
    }
    pid_t tid = (pid_t)syscall(SYS_gettid);
    t->record->tid = (uint32_t)tid;
    t->record->threads++;
    __atomic_store_n(&t->made_by, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&t->lives, t->lives + 1, __ATOMIC_RELAXED);
    t->paused_seen = __atomic_load_n(&fv_rt.writer.header->paused_ticks, __ATOMIC_RELAXED);
    fv_region_begin(t, 0);
    fv_stack_bounds(tid == fv_rt.pid, &t->stack_low, &t->stack_end);
    fv_self = t;
    pthread_once(&key_once, make_key);
    if (key_made)
        pthread_setspecific(key, t);
    fv_layers_tell(FV_AT_THREAD_BEGIN, t);
    return t;
}

static FV_TLS bool attaching;

void fv_thread_never_attach(void)
{
    attaching = true;
}

struct fv_thread *fv_thread_attach(void)
{
    if (fv_self || attaching || !fv_rt_on())
        return NULL; /* inside a call, or nothing to do */
    struct fv_scope scope = fv_scope_enter();
    attaching = true;
    struct fv_thread *t = attach();
    attaching = false;
    fv_scope_leave(&scope);
    return t;
}

bool fv_thread_is_attaching(void)
{
    return attaching;
}

void fv_thread_forget(void)
{
    fv_current = NULL;
    fv_self = NULL;
}
