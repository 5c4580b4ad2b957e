/* Each thread's life: who made it, where, with which function; when it began and ended, what it waited for
 * until then; who joined it. With the waits that is what a phase between creation and join is computed from.
 */
#include "threads/sync.h"

#include <stdlib.h>
#include <time.h>

#define LIVES_MOST 16384
#define BUCKETS    1024

/* Threads by what the C library calls them. A name is taken over by a later thread. */
struct name {
    struct name *next;
    pthread_t thread;
    uintptr_t routine;
    struct fv_thread_life *life; /* NULL: joined, or no room */
};

static struct fv_lock lock;
static struct name *names[BUCKETS];
static struct fv_chunk_header *chunk;
static uint32_t count;

/* Under lock. */
static struct name *find(pthread_t thread)
{
    struct name *name = names[fv_mix((uint64_t)thread) % BUCKETS];

    while (name && name->thread != thread)
        name = name->next;
    return name;
}

/* Under lock. NULL: no memory. */
static struct name *find_or_make(pthread_t thread)
{
    static struct name *slab;
    static unsigned left;
    struct name *name = find(thread), **bucket = &names[fv_mix((uint64_t)thread) % BUCKETS];

    if (name)
        return name;
    if (!left) {
        slab = fv_memory_new(FV_PAGE);
        left = slab ? FV_PAGE / sizeof(*slab) : 0;
    }
    if (!left)
        return NULL;
    name = &slab[--left];
    *name = (struct name){ .next = *bucket, .thread = thread };
    *bucket = name;
    return name;
}

/* Under lock. NULL: no room. */
static struct fv_thread_life *new_life(const struct fv_thread_life *begin)
{
    if (count >= LIVES_MOST)
        return NULL;
    if (!chunk || fv_chunk_room(chunk) < sizeof(*begin))
        chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_LIVES, FV_NO_THREAD, count, 4 * FV_PAGE - 64);
    if (!chunk)
        return NULL;
    struct fv_thread_life *life = fv_chunk_next(chunk);
    *life = *begin;
    fv_chunk_commit(chunk, sizeof(*life));
    count++;
    return life;
}

uintptr_t fv_lives_find(pthread_t thread, struct fv_thread_life **out)
{
    uintptr_t routine = 0;

    *out = NULL;
    fv_lock(&lock);
    const struct name *name = find(thread);
    if (name) {
        *out = name->life;
        routine = name->routine;
    }
    fv_unlock(&lock);
    return routine ? routine : FV_SYNC_NOBODY;
}

/* It may not have begun when it was looked for before, and its name may be another's now, who lives. */
void fv_lives_joined(pthread_t thread, struct fv_thread_life *life, struct fv_sync *s, uint64_t begin,
                     uint64_t end, struct fv_site site)
{
    struct fv_thread_life *now;

    fv_lives_find(thread, &now);
    if (now && __atomic_load_n(&now->end, __ATOMIC_ACQUIRE))
        life = now;
    if (!life)
        return;
    life->joiner = s->thread->id;
    life->join_path = fv_sync_path(s, site);
    life->join_begin = begin;
    fv_traced_join(s, life->sequence, end);
    __atomic_store_n(&life->join_end, end, __ATOMIC_RELEASE);
}

/* Threads from before MPI_Init are recorded from their first lock on that follows it; those that MPI_Init
 * makes are MPI's. */
static bool early(void)
{
    const char *wanted = getenv("FVMPI_THREADS");

    return wanted && *wanted && !fv_starting();
}

static void mine(void)
{
    fv_sync_application = true;
}

static void create(struct fv_thread_origin *origin, struct fv_site site, uintptr_t routine)
{
    if (!fv_rt.options.threads)
        return;
    struct fv_sync *s = fv_sync_enter();
    *origin = (struct fv_thread_origin){ .created = fv_ticks(), .creator = FV_NO_THREAD, .routine = routine };
    if (s) {
        origin->creator = s->thread->id;
        origin->path = fv_sync_path(s, site);
        if (fv_sync_mode & FV_SYNC_TRACED)
            origin->sequence = fv_traced_create(s);
    }
}

/* Told by the creator, too: a thread may be joined before it has begun. */
static void created(pthread_t thread, const struct fv_thread_origin *origin)
{
    if (!origin->created)
        return;
    fv_lock(&lock);
    struct name *name = find_or_make(thread);
    if (name) {
        name->routine = origin->routine;
        if (name->life && name->life->created != origin->created)
            name->life = NULL; /* of the one before */
    }
    fv_unlock(&lock);
}

/* By the thread whose create() this follows: recording may be paused by now. */
static void failed(const struct fv_thread_origin *origin)
{
    if (origin->sequence && fv_self && fv_self->sync)
        fv_traced_failed(fv_self->sync, origin->sequence);
}

static void begin(struct fv_thread *thread, const struct fv_thread_origin *origin)
{
    struct fv_sync *s = fv_rt.options.threads ? fv_sync_thread_begin(thread) : NULL;

    if (!s)
        return;
    fv_traced_begin(s, origin->sequence);
    struct fv_thread_life life = { .thread = thread->id,
                                   .tid = thread->record->tid,
                                   .creator = origin->creator,
                                   .create_path = origin->path,
                                   .sequence = (uint32_t)s->traced.sequence,
                                   .joiner = FV_NO_THREAD,
                                   .created = origin->created,
                                   .begin = fv_ticks(),
                                   .wait_at_begin = fv_sync_waited(s) };
    if (origin->routine) {
        fv_lock(&fv_tree_lock);
        life.routine_module = fv_module_find(origin->routine, &life.routine_offset);
        fv_unlock(&fv_tree_lock);
    }
    fv_lock(&lock);
    struct name *name = find_or_make(pthread_self());
    s->life = new_life(&life);
    if (name) {
        name->life = s->life;
        name->routine = origin->routine;
    }
    fv_unlock(&lock);
    if (!s->life)
        s->state->lives_lost++;
}

static void end(struct fv_thread *thread)
{
    struct fv_sync *s = thread->sync;
    struct timespec cpu;
    bool traced = s && fv_traced_end(s);

    if (s && s->life) {
        s->life->sequence = traced ? s->life->sequence : 0;
        if (!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu))
            s->life->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
        s->life->wait_at_end = fv_sync_waited(s);
        __atomic_store_n(&s->life->end, fv_ticks(), __ATOMIC_RELEASE);
        s->life = NULL;
    }
    fv_sync_thread_end(thread);
}

static void start(void)
{
    const struct fv_thread_origin first = { .creator = FV_NO_THREAD };

    if (!fv_rt.options.threads)
        return;
    fv_sync_start();
    if (fv_self)
        begin(fv_self, &first);
}

const struct fv_thread_hooks fv_lives_hooks = { early,  mine,  start, create,        created,
                                                failed, begin, end,   fv_sync_forget };

/* Of the library's name, for messages (mpi-wrappers/preload.c). */
extern const char fv_library_suffix[];
const char fv_library_suffix[] = "-threads";
