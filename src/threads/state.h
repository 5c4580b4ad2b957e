/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of threads and of what they wait for: the structs of the files of this folder, which are layers
 * upwards: state.c, objects.c, sync_trace.c, holds.c, sync.c, and the interposers (interposed.h) and OpenMP (omp.h).
 *
 * A thread's own is written by it alone, and never while fv_sync_current is set to somebody who might come in
 * between: a signal handler's sem_post() and what fvmpi itself locks only forward then.
 *
 * Addresses are numbers here: an object may be gone when it is looked at. */
#ifndef FV_THREADS_STATE_H
#define FV_THREADS_STATE_H

#include "rt/thread.h"

#define FV_SYNC_GENERATIONS 4096
#define FV_SYNC_HOLDS       64
#define FV_SYNC_NOBODY      ((uintptr_t)1)      /* the address of what has none; in the file 0 */
#define FV_SYNC_TRACED      (UINT32_C(1) << 31) /* in fv_sync_mode, beside enum fv_threads_mode */
#define FV_SYNC_TRACE_HOLDS 64

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
    uint32_t owner;   /* for the trace: fv_thread.id + 1 of who acquired, signalled or came last; any thread */
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

/* A lock whose acquisition is in the trace, and its release not yet. */
struct fv_sync_trace_hold {
    uintptr_t address;
    struct fv_sync_thing *thing;
    uint64_t order;
    unsigned depth; /* of a recursive lock; 0: there is none */
};

/* What the trace needs of a thread. */
struct fv_sync_trace {
    uint64_t sequence; /* of its creation; 0: that is not in the trace */
    uint64_t got;      /* when it got the lock that it waited for; 0: it did not wait */
    unsigned holds;
    struct fv_sync_trace_hold hold[FV_SYNC_TRACE_HOLDS];
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
    struct fv_sync_trace traced;
    struct fv_omp *omp;         /* its parallel regions (omp.c); NULL: none yet */
    struct fv_omp_works *works; /* its parts in worksharing (omp_work.c); NULL: none yet */
    struct fv_ompt *ompt;       /* what it is in, by OMPT (ompt.c); NULL: nothing yet */
};

/* A wait that has begun. */
struct fv_sync_wait {
    struct fv_sync *s;
    struct fv_sync_record *record;
    struct fv_sync_thing *thing;
    struct fv_sync_record *holder; /* when it began, with owner */
    uintptr_t address;
    uint64_t begin;
    struct fv_call_place site;
    uint32_t owner; /* fv_thread.id + 1 of who had the lock last when it began, or is joined; 0: unknown */
    uint8_t kind, operation;
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

static inline uint32_t *fv_sync_generation(uintptr_t address)
{
    return &fv_sync_generations[(address >> 3) & (FV_SYNC_GENERATIONS - 1)];
}

/* Why fv_sync_current is NULL. */
enum fv_sync_why { FV_SYNC_NOT_YET, FV_SYNC_FOREIGN, FV_SYNC_BUSY, FV_SYNC_ENDED };
extern FV_TLS enum fv_sync_why fv_sync_why;

/* Rare work of the thread: nothing of ours is counted meanwhile, no handler comes in between, and errno stays. */
struct fv_sync_rarely {
    struct fv_sync *s;
    struct fv_thread *outside; /* the thread, unless it is inside an MPI call */
    uint64_t begin;
    struct fv_scope scope;
};
struct fv_sync_rarely fv_sync_rare_begin(struct fv_sync *s);
void fv_sync_rare_end(const struct fv_sync_rarely *rarely);

#endif
