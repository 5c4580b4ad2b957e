/* SPDX-License-Identifier: BSD-3-Clause */
/* Each thread's life: who made it, where, with which function; when it began and ended, what it waited for
 * until then; who joined it. With the waits that is what a phase between creation and join is computed from.
 */
#include "rt/counters.h"
#include "rt/layers.h"
#include "threads/create.h"
#include "threads/interposed.h"
#include "threads/solo.h"

#include <errno.h>
#include <stdlib.h>

#define LIVES_MOST 16384
#define BUCKETS    1024

/* Threads by what the C library calls them. A name is taken over by a later thread. */
struct name {
    struct name *next;
    pthread_t thread;
    uintptr_t routine;
    uint64_t created;              /* of the latest */
    struct fv_thread_life *life;   /* its life; NULL: joined, not begun, or no room */
    struct fv_thread_life *before; /* of one before, whose join is under way */
};

static struct fv_lock lock;
static struct name *names[BUCKETS];
static struct fv_tail lives;

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
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_LIVES, .first_pages = 4, .most_pages = 4 };
    struct fv_thread_life *life = NULL;

    if (lives.count < LIVES_MOST)
        life = fv_tail_next(&lives, &kind, FV_NO_THREAD, sizeof(*life), false);
    if (!life)
        return NULL;
    *life = *begin;
    life->id = (uint32_t)lives.count + 1;
    fv_tail_commit(&lives, sizeof(*life));
    return life;
}

/* Threads from before MPI_Init are recorded from their first lock on that follows it; those that MPI_Init
 * makes are MPI's. */
static bool early(void)
{
    const char *wanted = fv_env("FVMPI_THREADS");

    return wanted && *wanted && !fv_starting();
}

static void mine(const struct fv_thread_origin *origin)
{
    fv_sync_application = true;
    if (origin->phase)
        fv_solo_not_made(origin->phase, origin->seat);
}

static void create(struct fv_thread_origin *origin, struct fv_call_place site, uintptr_t routine)
{
    if (!fv_rt.options.threads)
        return;
    fv_gate_come_back();
    struct fv_sync *s = fv_sync_enter();
    *origin = (struct fv_thread_origin){ .created = fv_ticks(), .creator = FV_NO_THREAD, .routine = routine };
    if (s) {
        origin->creator = s->thread->id;
        origin->path = fv_sync_path(s, site);
        if (fv_sync_wants(FV_SYNC_TRACED))
            origin->sequence = fv_sync_trace_create(s);
        if (fv_solo_is_on())
            origin->phase = fv_solo_create(s, routine, origin->path, &origin->seat);
    }
}

/* Told by the creator, too: a thread may be joined before it has begun. */
static void created(pthread_t thread, const struct fv_thread_origin *origin)
{
    uint64_t signals = fv_lock_sigsave(&lock);
    struct name *name = find_or_make(thread);
    if (name) {
        name->routine = origin->routine;
        name->created = origin->created;
        if (name->life && name->life->created != origin->created) {
            name->before = name->life;
            name->life = NULL;
        }
    }
    fv_unlock_sigrestore(&lock, signals);
}

/* By the thread whose create() this follows: recording may be paused by now. */
static void failed(const struct fv_thread_origin *origin)
{
    if (origin->phase)
        fv_solo_not_made(origin->phase, origin->seat);
    if (origin->sequence && fv_self && fv_self->sync)
        fv_sync_trace_failed(fv_self->sync, origin->sequence);
}

static void begin(struct fv_thread *thread, const struct fv_thread_origin *origin)
{
    struct fv_sync *s = fv_rt.options.threads ? fv_sync_thread_begin(thread) : NULL;

    if (!s)
        return;
    fv_sync_trace_begin(s, origin->sequence);
    struct fv_thread_life life = { .thread = thread->id,
                                   .tid = thread->record->tid,
                                   .creator = origin->creator,
                                   .create_path = origin->path,
                                   .sequence = (uint32_t)s->traced.sequence,
                                   .joiner = FV_NO_THREAD,
                                   .created = origin->created,
                                   .begin = fv_ticks(),
                                   .wait_at_begin = fv_sync_wait_ticks(s) };
    if (origin->routine)
        life.routine_module = fv_module_of(origin->routine, &life.routine_offset);
    uint64_t signals = fv_lock_sigsave(&lock);
    struct name *name = find_or_make(pthread_self());
    s->life = new_life(&life);
    if (name) {
        if (name->life)
            name->before = name->life;
        name->created = origin->created;
        name->life = s->life;
        name->routine = origin->routine;
    }
    fv_unlock_sigrestore(&lock, signals);
    if (!s->life)
        s->state->lives_lost++;
    else if (thread->counters && origin->creator != FV_NO_THREAD)
        fv_counters_life(thread, s->life->id);
}

static void enter(const struct fv_thread_origin *origin)
{
    if (origin->seat >= 0)
        fv_gate_enter(origin->phase, (uint32_t)origin->seat, 0);
}

static void end(struct fv_thread *thread)
{
    struct fv_sync *s = thread->sync;
    struct timespec cpu;

    fv_solo_exit();
    bool traced = s && fv_sync_trace_end(s);

    if (s && s->life) {
        s->life->sequence = traced ? s->life->sequence : 0;
        if (!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu))
            s->life->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
        s->life->wait_at_end = fv_sync_wait_ticks(s);
        __atomic_store_n(&s->life->end, fv_ticks(), __ATOMIC_RELEASE);
        s->life = NULL;
    }
    fv_sync_thread_end(thread);
}

static void start(struct fv_thread *self)
{
    const struct fv_thread_origin first = { .creator = FV_NO_THREAD };

    if (!fv_rt.options.threads)
        return;
    fv_sync_start();
    fv_solo_start();
    uint64_t signals = fv_signals_hold();
    if (self)
        begin(self, &first);
    fv_signals_go_on(signals);
}

const struct fv_lives fv_lives = { early, mine, create, created, failed, begin, enter };
const struct fv_layer fv_threads_layer = {
    .at = { [FV_AT_START] = start, [FV_AT_THREAD_END] = end, [FV_AT_FORK] = fv_sync_forget }
};

/* Of the library's name, for messages (mpi-wrappers/preload.c). */
extern const char fv_library_suffix[];
const char fv_library_suffix[] = "-threads";

/* ---- joins: what is waited for are the threads of a function ---- */

static struct fv_sync_join_wait join_of(struct fv_sync *s, pthread_t thread, unsigned operation,
                                        struct fv_call_place site)
{
    struct fv_sync_join_wait j = {
        .s = s, .thread = thread, .operation = operation, .site = site, .routine = FV_SYNC_NOBODY
    };
    uint64_t signals = fv_lock_sigsave(&lock);
    const struct name *name = find(thread);

    if (name) {
        j.life = name->life;
        j.created = name->created;
        if (name->routine)
            j.routine = name->routine;
    }
    fv_unlock_sigrestore(&lock, signals);
    return j;
}

/* The life of who was joined. Its name may be another's by now, whom `created` tells from it. What MPI names
 * so next is not the application's. */
static struct fv_thread_life *take_life(const struct fv_sync_join_wait *j)
{
    struct fv_thread_life *life = j->life;
    uint64_t signals = fv_lock_sigsave(&lock);
    struct name *name = find(j->thread);

    if (!life && name && j->created) {
        if (name->life && name->life->created == j->created)
            life = name->life;
        else if (name->before && name->before->created == j->created)
            life = name->before;
    }
    if (life && name->before == life)
        name->before = NULL;
    if (life && name->life == life) {
        name->life = NULL;
        name->routine = 0;
    }
    fv_unlock_sigrestore(&lock, signals);
    return life;
}

static void joined(const struct fv_sync_join_wait *j, struct fv_thread_life *life, uint64_t begin, uint64_t end)
{
    if (!life)
        return;
    life->joiner = j->s->thread->id;
    life->join_path = fv_sync_path(j->s, j->site);
    life->join_begin = begin;
    fv_sync_trace_join(j->s, life->sequence, end);
    __atomic_store_n(&life->join_end, end, __ATOMIC_RELEASE);
}

static void begin_wait(struct fv_sync_join_wait *j)
{
    j->wait = fv_sync_wait_begin(j->s, (const void *)j->routine, FV_SYNC_JOIN, j->operation, j->site);
}

/* Had it ended already? */
static bool try_join(struct fv_sync_join_wait *j, void **result, int *err)
{
    *err = FV_NEXT(pthread_tryjoin_np) ? fv_next.pthread_tryjoin_np(j->thread, result) : EBUSY;
    if (!*err) {
        uint64_t now = fv_ticks();

        fv_sync_counted(j->s, (const void *)j->routine, FV_SYNC_JOIN, j->operation, j->site);
        joined(j, take_life(j), now, now);
    }
    return !*err;
}

struct fv_sync_join_wait fv_sync_join_begin(struct fv_sync *s, pthread_t thread, unsigned operation,
                                            struct fv_call_place site)
{
    struct fv_sync_join_wait j = join_of(s, thread, operation, site);

    begin_wait(&j);
    return j;
}

void fv_sync_join_end(const struct fv_sync_join_wait *j, int err)
{
    uint64_t now = fv_ticks();
    struct fv_sync_wait done = j->wait;
    struct fv_thread_life *life = err ? j->life : take_life(j);

    done.owner = life ? life->thread + 1 : 0;
    fv_sync_wait_end(&done, err ? FV_SYNC_FAILED : FV_SYNC_GOT);
    if (!err)
        joined(j, life, done.begin, now);
}

FV_PUBLIC int pthread_join(pthread_t thread, void **result)
{
    struct fv_sync *s = fv_sync_enter();
    int err;

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_join)(thread, result);
    struct fv_sync_join_wait j = join_of(s, thread, FV_SYNC_WAIT, FV_CALL_SITE());
    if (try_join(&j, result, &err))
        return 0;
    begin_wait(&j);
    err = fv_next.pthread_join(thread, result);
    fv_sync_join_end(&j, err);
    return err;
}

FV_PUBLIC int pthread_tryjoin_np(pthread_t thread, void **result)
{
    struct fv_sync *s = fv_sync_enter();
    int err;

    if (FV_UNLIKELY(!s))
        return FV_NEXT(pthread_tryjoin_np)(thread, result);
    struct fv_sync_join_wait j = join_of(s, thread, FV_SYNC_TRY, FV_CALL_SITE());
    if (!try_join(&j, result, &err))
        fv_sync_refused(s, (const void *)j.routine, FV_SYNC_JOIN, FV_SYNC_TRY, j.site);
    return err;
}
