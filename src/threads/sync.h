/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads wait for: the tables behind the interposed functions of locks.c and waits.c.
 *
 *   - struct fv_sync_entry, private to a thread, open-addressed by (address, operation and call site); leads to
 *   - struct fv_sync_record, in the rank file, of the thread, updated in place, and to
 *   - struct fv_sync_thing, of the process: the object behind the address, until it is destroyed.
 *
 * The usual path is a try that succeeds, one comparison, one increment: no lock, clock or memory. What is
 * rare (a first use, a wait) is out of line. Entries know the generation of their address, which changes when
 * an object there is destroyed or made: what another thread destroyed is found out by one load. */
#ifndef FV_SYNC_H
#define FV_SYNC_H

#include "threads/holds.h"
#include "threads/objects.h"
#include "threads/sync_trace.h"

struct fv_sync *fv_sync_enter_slowly(void);
struct fv_sync *fv_sync_pauses(void); /* NULL; in a child, the thread forgets */

/* For every interposed function. NULL: only forward. */
static inline struct fv_sync *fv_sync_enter(void)
{
    struct fv_sync *s = fv_sync_current;

    if (FV_UNLIKELY(!s))
        return fv_sync_enter_slowly();
    return FV_LIKELY(!fv_rt_paused()) ? s : fv_sync_pauses();
}

/* ---- counting ---- */

/* An operation at a call site. */
static inline uint64_t fv_sync_key(unsigned operation, const void *return_address)
{
    return (uint64_t)operation << 56 ^ (uintptr_t)return_address;
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
                                          struct fv_call_place site);

/* The entry of an operation; never NULL. Valid until the next one is looked for. */
static inline struct fv_sync_entry *fv_sync_find(struct fv_sync *s, uintptr_t address, unsigned kind,
                                                 unsigned operation, struct fv_call_place site)
{
    uint64_t key = fv_sync_key(operation, site.return_address);
    uint32_t mask;
    struct fv_sync_entry *entries = fv_sync_table(s, &mask), *e = &entries[fv_sync_place(address, key) & mask];
    uint32_t generation = __atomic_load_n(fv_sync_generation(address), __ATOMIC_RELAXED);

    if (FV_LIKELY(e->address == address && e->key == key && e->generation == generation))
        return e;
    return fv_sync_find_slowly(s, address, kind, key, site);
}

/* It was acquired at once. */
static inline void fv_sync_acquired(struct fv_sync *s, const volatile void *lock, unsigned kind, unsigned operation,
                                    struct fv_call_place site)
{
    struct fv_sync_entry *e = fv_sync_find(s, (uintptr_t)lock, kind, operation, site);

    e->record->acquired++;
    if (FV_UNLIKELY(fv_sync_wants(FV_SYNC_HOLDING)))
        fv_sync_held(s, (uintptr_t)lock, e->record, e->thing);
}

/* Something that is no lock: a post, a signal. */
static inline void fv_sync_counted(struct fv_sync *s, const volatile void *object, unsigned kind, unsigned operation,
                                   struct fv_call_place site)
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
                     struct fv_call_place site);

/* ---- waiting ---- */

/* From here on the thread waits. */
struct fv_sync_wait fv_sync_wait_begin(struct fv_sync *s, const volatile void *object, unsigned kind,
                                       unsigned operation, struct fv_call_place site);
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
struct fv_sync_record *fv_sync_record_of(struct fv_sync *s, uintptr_t address, unsigned kind, unsigned operation,
                                         struct fv_call_place site, uint32_t path, uint32_t thread);

/* ---- for lives.c ---- */

void fv_sync_start(void);                                       /* recording begins */
struct fv_sync *fv_sync_thread_begin(struct fv_thread *thread); /* by itself; NULL: no room */
void fv_sync_thread_end(struct fv_thread *thread);              /* by itself */
void fv_sync_forget(struct fv_thread *self);                    /* in the child of a fork */
extern FV_TLS bool fv_sync_application; /* the thread is the application's, though it is not recorded yet */
uint64_t fv_sync_wait_ticks(const struct fv_sync *s); /* ticks in all */
/* The whole call path of an operation, where that may be asked for: not inside an MPI call. 0: unknown. */
uint32_t fv_sync_path(struct fv_sync *s, struct fv_call_place site);

#endif
