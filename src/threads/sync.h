/* What threads wait for: the tables behind the interposed functions of locks.c and waits.c.
 *
 *     struct fv_sync_entry        private to a thread, open-addressed by (address, operation and call site);
 * leads to struct fv_sync_record       in the rank file, of the thread, updated in place, and to struct
 * fv_sync_thing        of the process: the object behind the address, until it is destroyed
 *
 * The usual path is a try that succeeds, one comparison, one increment: no lock, clock or memory. What is
 * rare (a first use, a wait) is out of line. Entries know the generation of their address, which changes when
 * an object there is destroyed or made: what another thread destroyed is found out by one load.
 *
 * A thread's own tables are written by it alone, and never while fv_sync_current is set to somebody who might
 * come in between: a signal handler's sem_post() and what fvmpi itself locks only forward then.
 *
 * Addresses are numbers here: an object may be gone when it is looked at. */
#ifndef FV_SYNC_H
#define FV_SYNC_H

#include "rt/thread.h"
#include "threads/traced.h"

#define FV_SYNC_GENERATIONS 4096
#define FV_SYNC_HOLDS       64
#define FV_SYNC_NOBODY      ((uintptr_t)1) /* the address of what has none; in the file 0 */

/* An object as the process knows it, or a series of them, one after the other (objects.c). Its memory stays
 * until the process ends. */
struct fv_sync_thing {
    struct fv_sync_thing *next; /* of the same bucket */
    uintptr_t address;
    struct fv_sync_object *record; /* in the file */
    struct fv_sync_series *series;
    struct fv_sync_thing *before;  /* of its series, which ended before it did */
    struct fv_sync_record *holder; /* who acquired it last, with owner; any thread */
    uint64_t orders;               /* acquisitions in the trace; any thread */
    uint32_t owner; /* for the trace: fv_thread.id + 1 of who acquired, signalled or came last; any thread */
    uint32_t parties; /* of a barrier; 0: unknown */
    uint32_t id;
    unsigned kind;
    bool is_series; /* it is not its number's first */
};

struct fv_sync_entry {
    uintptr_t address;
    uint64_t key; /* fv_sync_key() */
    uint32_t generation;
    struct fv_sync_record *record;
    struct fv_sync_thing *thing; /* NULL: no room for one */
};

/* A lock that the thread holds. */
struct fv_sync_hold {
    uintptr_t address;
    uint64_t begin; /* ticks */
    struct fv_sync_record *record;
    struct fv_sync_thing *thing;
    unsigned depth; /* of a recursive lock */
};

/* A thread's own. */
struct fv_sync {
    struct fv_sync_entry *entries, *spare; /* spare: of the same size; NULL: none */
    uint32_t mask, used;
    uint64_t cleaned; /* fv_sync_retirements when entries of what had ended were last left out */
    struct fv_thread *thread;
    struct fv_sync_thread *state; /* in the file */
    struct fv_thread_life *life;  /* in the file; NULL: no room */
    struct fv_tail tail;
    unsigned holds;
    struct fv_sync_hold hold[FV_SYNC_HOLDS];
    struct fv_sync_record *rest[FV_SYNC_KINDS]; /* with object 0 */
    struct fv_sync_record ignored;              /* of locks that are not the application's */
    struct fv_traced traced;
    struct fv_omp *omp; /* its parallel regions (omp.c); NULL: none yet */
};

/* NULL: not recorded, or busy. */
extern FV_TLS struct fv_sync *fv_sync_current;
extern uint32_t fv_sync_mode; /* enum fv_threads_mode and FV_SYNC_TRACED, once recording is on; else 0 */
static inline bool fv_sync_wants(uint32_t modes)
{
    return __atomic_load_n(&fv_sync_mode, __ATOMIC_RELAXED) & modes;
}
/* Who holds a lock is asked. */
#define FV_SYNC_HOLDING (FV_THREADS_HOLD | FV_THREADS_OWNER | FV_SYNC_TRACED)
extern uint32_t fv_sync_generations[FV_SYNC_GENERATIONS];
extern uint64_t fv_sync_retirements; /* of objects, so far */

struct fv_sync *fv_sync_enter_slowly(void);

/* For every interposed function. NULL: only forward. */
static inline struct fv_sync *fv_sync_enter(void)
{
    struct fv_sync *s = fv_sync_current;

    if (FV_UNLIKELY(!s))
        return fv_sync_enter_slowly();
    return FV_LIKELY(!fv_rt_paused()) ? s : NULL;
}

/* ---- counting ---- */

/* An operation at a call site. */
static inline uint64_t fv_sync_key(unsigned operation, const void *return_address)
{
    return (uint64_t)operation << 56 ^ (uintptr_t)return_address;
}

static inline uint32_t *fv_sync_generation(uintptr_t address)
{
    return &fv_sync_generations[(address >> 3) & (FV_SYNC_GENERATIONS - 1)];
}

static inline uint32_t fv_sync_place(uintptr_t address, uint64_t key)
{
    return (uint32_t)(((address ^ key << 5) * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

/* The table as a signal handler leaves it that comes in between and makes it grow: a mask that is too small
 * for it does no harm. */
static inline struct fv_sync_entry *fv_sync_table(const struct fv_sync *s, uint32_t *mask)
{
    *mask = __atomic_load_n(&s->mask, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&s->entries, __ATOMIC_RELAXED);
}

struct fv_sync_entry *fv_sync_find_slowly(struct fv_sync *s, uintptr_t address, unsigned kind, uint64_t key,
                                          struct fv_site site);

/* The entry of an operation; never NULL. Valid until the next one is looked for. */
static inline struct fv_sync_entry *fv_sync_find(struct fv_sync *s, uintptr_t address, unsigned kind,
                                                 unsigned operation, struct fv_site site)
{
    uint64_t key = fv_sync_key(operation, site.return_address);
    uint32_t mask;
    struct fv_sync_entry *entries = fv_sync_table(s, &mask),
                         *e = &entries[fv_sync_place(address, key) & mask];
    uint32_t generation = __atomic_load_n(fv_sync_generation(address), __ATOMIC_RELAXED);

    if (FV_LIKELY(e->address == address && e->key == key && e->generation == generation))
        return e;
    return fv_sync_find_slowly(s, address, kind, key, site);
}

/* With hold or owner: the lock is the thread's now (holds.c). */
void fv_sync_held(struct fv_sync *s, uintptr_t address, struct fv_sync_record *record,
                  struct fv_sync_thing *thing);
/* Can who holds a lock acquire it once more? If not, another thread has released it, which binary semaphores
 * made of mutexes do: when is not known. `held`: the object that is held at that address; NULL: no room for
 * one. The other two are of the acquisition that was just made. */
bool fv_sync_is_again(const struct fv_sync_thing *held, const struct fv_sync_record *record,
                      const struct fv_sync_thing *thing);
/* A lock will be released: ticks, 0: nobody asks. */
static inline uint64_t fv_sync_releasing(void)
{
    return FV_UNLIKELY(fv_sync_wants(FV_THREADS_HOLD | FV_SYNC_TRACED)) ? fv_ticks() : 0;
}
/* It was, at `now`. */
void fv_sync_released(const volatile void *lock, uint64_t now);

/* It was acquired at once. */
static inline void fv_sync_acquired(struct fv_sync *s, const volatile void *lock, unsigned kind,
                                    unsigned operation, struct fv_site site)
{
    struct fv_sync_entry *e = fv_sync_find(s, (uintptr_t)lock, kind, operation, site);

    e->record->acquired++;
    if (FV_UNLIKELY(fv_sync_wants(FV_SYNC_HOLDING)))
        fv_sync_held(s, (uintptr_t)lock, e->record, e->thing);
}

/* Something that is no lock: a post, a signal. */
static inline void fv_sync_counted(struct fv_sync *s, const volatile void *object, unsigned kind,
                                   unsigned operation, struct fv_site site)
{
    struct fv_sync_entry *e = fv_sync_find(s, (uintptr_t)object, kind, operation, site);
    bool lets_go = operation == FV_SYNC_SIGNAL || operation == FV_SYNC_BROADCAST || operation == FV_SYNC_POST;

    e->record->acquired++;
    if (lets_go && e->thing && FV_UNLIKELY(fv_sync_wants(FV_SYNC_TRACED)))
        __atomic_store_n(&e->thing->owner, s->thread->id + 1, __ATOMIC_RELAXED);
}

/* A signal handler's, that came in between. */
void fv_sync_missed(void);
/* It was not acquired, and not waited for. */
void fv_sync_refused(struct fv_sync *s, const volatile void *object, unsigned kind, unsigned operation,
                     struct fv_site site);

/* ---- waiting ---- */

struct fv_sync_wait {
    struct fv_sync *s;
    struct fv_sync_record *record;
    struct fv_sync_thing *thing;
    struct fv_sync_record *holder; /* when it began, with owner */
    uintptr_t address;
    uint64_t begin;
    struct fv_site site;
    uint32_t owner; /* fv_thread.id + 1 of who had the lock last when it began, or is joined; 0: unknown */
    uint8_t kind, operation;
};
/* From here on the thread waits. */
struct fv_sync_wait fv_sync_wait_begin(struct fv_sync *s, const volatile void *object, unsigned kind,
                                       unsigned operation, struct fv_site site);
enum fv_sync_end {
    FV_SYNC_GOT,      /* it was waited for, and got */
    FV_SYNC_GOT_LOCK, /* a lock, likewise */
    FV_SYNC_FAILED,   /* it was waited for in vain */
    FV_SYNC_LAST,     /* a barrier's last: nobody was waited for */
};
void fv_sync_wait_end(const struct fv_sync_wait *wait, enum fv_sync_end how);

/* A wait that somebody else found out the length of: of `of`, any thread, and in a record that is the
 * caller's to write (fv_sync_record_of()). */
void fv_sync_waited_for(struct fv_sync *of, unsigned kind, uint64_t ticks);
void fv_sync_add_wait(struct fv_sync_record *record, uint64_t ticks);
/* A record with a whole call path that the caller writes for `thread`. NULL: no room; that is counted. */
struct fv_sync_record *fv_sync_record_of(struct fv_sync *s, uintptr_t address, unsigned kind,
                                         unsigned operation, struct fv_site site, uint32_t path,
                                         uint32_t thread);

/* Waiting for a condition releases its mutex: what held it comes back as *out, to be given to _again. */
void fv_sync_hold_pause(struct fv_sync *s, const volatile void *lock, struct fv_sync_hold *out);
void fv_sync_hold_again(struct fv_sync *s, const struct fv_sync_hold *hold);

/* ---- objects (objects.c) ---- */

/* The object at an address, made when new; NULL: no room. `outside`: the thread, unless it is inside an MPI
 * call. */
struct fv_sync_thing *fv_sync_thing_at(struct fv_sync *s, struct fv_thread *outside, uintptr_t address,
                                       unsigned kind, struct fv_site site);
bool fv_sync_thing_is_at(const struct fv_sync_thing *thing, uintptr_t address);
/* A call site alone, and its whole path: not inside an MPI call, where the path cache's entries are in use.
 * 0: no room. */
uint32_t fv_sync_site_path(uintptr_t return_address);
uint32_t fv_sync_whole_path(struct fv_thread *outside, struct fv_site site);
/* What fvmpi and libunwind lock is not the application's. */
void fv_sync_ignore_tools(void);
bool fv_sync_is_ignored(uintptr_t return_address);
/* An object ends, or begins: its address is another's from now on. */
void fv_sync_retire(const volatile void *object, unsigned kind);

/* For traced.c: of what it takes nothing is recorded. */
void fv_sync_make_room(struct fv_sync *s);

/* ---- for lives.c ---- */

void fv_sync_start(void);                                       /* recording begins */
struct fv_sync *fv_sync_thread_begin(struct fv_thread *thread); /* by itself; NULL: no room */
void fv_sync_thread_end(struct fv_thread *thread);              /* by itself */
void fv_sync_forget(struct fv_thread *self);                    /* in the child of a fork */
extern FV_TLS bool fv_sync_application; /* the thread is the application's, though it is not recorded yet */
uint64_t fv_sync_wait_ticks(const struct fv_sync *s); /* ticks in all */
/* The whole call path of an operation, where that may be asked for: not inside an MPI call. 0: unknown. */
uint32_t fv_sync_path(struct fv_sync *s, struct fv_site site);

#endif
