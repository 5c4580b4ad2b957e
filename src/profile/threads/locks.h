/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads waited for (fvmpi run --threads): locks, barriers, conditions, joins, over all ranks.
 *
 * A lock of the model is what a reader of the program would call one. Static ones are the same on all ranks
 * by (module, offset). Others, on a heap or a stack, have addresses that say nothing: those of one kind that
 * were first used at the same call path are one, and `objects` says of how many. Waiting is exact as far as
 * it goes through the functions that are interposed; spinning on atomics is not seen. Times are seconds,
 * counts are exact. */
#ifndef FV_PROFILE_LOCKS_H
#define FV_PROFILE_LOCKS_H

#include "profile/model.h"
#include "symbols/symbols.h"
#include "trace/format.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

struct fv_model;
struct fv_lock_numbers {
    uint64_t acquired, contended, failed; /* as in struct fv_sync_record, signals and posts left out */
    double wait_s, wait_max_s;
    uint64_t hold_count;
    double hold_s, hold_max_s;
    uint64_t held_at_end, owner_changes;
    uint64_t blocked; /* waits of others that began while it was held ... */
    double blocked_s; /* ... and how long they were */
    uint64_t last;    /* of a barrier: arrivals as the last of a round */
    uint64_t signals; /* signals, broadcasts, posts */
};

/* What was done to a lock by one operation at one call path. */
struct fv_lock_site {
    uint32_t lock, node; /* with the next one its key */
    uint32_t operation;  /* enum fv_sync_operation */
    bool whole;          /* the path is; else it is the call alone: nobody waited for long there */
    struct fv_lock_numbers n;
};

/* What one thread did to a lock. Threads that took over the slot of an ended one count as that one. */
struct fv_lock_part {
    uint32_t lock, rank, thread; /* rank: in fv_model.ranks; fv_thread_record.id */
    struct fv_lock_numbers n;
};

struct fv_lock_view {
    uint8_t kind;     /* enum fv_sync_kind */
    bool rest;        /* stands for those that there was no room for, or whose description is damaged */
    bool inside_mpi;  /* used in MPI's own libraries only */
    bool shared;      /* between processes: who else uses it is not seen */
    uint32_t address; /* in fv_model.addresses; FV_NONE: none. Of a join: the routine */
    uint32_t node;    /* that first used it; 0: unknown */
    uint32_t objects, ranks, threads;
    uint32_t parties; /* of a barrier; 0: unknown, or they differ */
    struct fv_lock_numbers n;
    double elapsed_s; /* that it could have been held: the times of the ranks, each as often as it has such locks side
                       * by side */
    double idle_s;    /* of n.wait_s: of workers that waited there for work. See fv_lock_contention_s() */
    double main_s;    /* of n.wait_s: of main threads, on a condition or a semaphore */
    uint64_t histogram[FV_TIME_BUCKETS]; /* of waits, as fv_func.durations */
    struct {
        uint32_t rank;
        uint64_t address;
        double wait_s;
    } worst;                    /* of its objects; rank FV_NONE: there is none */
    uint32_t first_site, sites; /* its part of fv_locks.sites, by waiting (own, and while held), longest first */
    uint32_t first_part, parts; /* of fv_locks.parts, by rank and thread */
};

/* What a thread waits for, or did when its process was killed. */
struct fv_lock_wait {
    uint32_t rank, thread, tid;
    uint8_t kind, operation;
    uint32_t lock; /* FV_NONE: unknown */
    uint32_t node;
    double begin_s, seconds; /* seconds: of a rank that runs; NAN: not known */
};

struct fv_lock_rank {
    bool recorded;
    uint32_t modes;    /* enum fv_threads_mode */
    double thread_s;   /* lifetimes of the program's threads, the main one among them; of none that MPI made */
    double wait_s;     /* of all threads, MPI's own, too */
    double own_wait_s; /* of that: of the program's threads, outside of MPI */
    double in_mpi_s;   /* of that: inside MPI calls */
    double idle_s;     /* of that: of workers, for work */
    uint32_t idlers;   /* who these are: threads */
    double main_s;     /* of that: of the main thread, outside of MPI: it does not compute, though it is not in MPI */
};

struct fv_locks {
    bool recorded;
    uint32_t modes;             /* of any rank */
    struct fv_lock_view *items; /* by waiting time, longest first; those inside MPI last */
    size_t count, room;
    struct fv_lock_site *sites;
    size_t site_count, site_room;
    struct fv_lock_part *parts;
    size_t part_count, part_room;
    struct fv_lock_rank *ranks; /* one for each of the model's; NULL: not recorded */
    struct fv_lock_wait *now;   /* by rank */
    size_t now_count, now_room;
    double thread_s, wait_s, in_mpi_s, idle_s, main_s; /* over ranks */
    double own_wait_s;                                 /* likewise */
    double kind_s[FV_SYNC_KINDS];                      /* the parts of wait_s */
    double own_kind_s[FV_SYNC_KINDS]; /* of own_wait_s, but for what was waited in MPI calls for locks that not only
                                       * MPI uses */
    struct {
        uint64_t missed, overflow, holds, lives; /* as in struct fv_sync_thread */
    } lost;
};

/* Workers of a pool that have nothing to do wait on a condition or a semaphore, and so does who waits for their work to
 * be done; nobody is in their way. An object is what workers wait for work on, if threads that the program made wait
 * there, and hardly signal it themselves: others give them work. A barrier that is made of a condition, or a semaphore
 * that is used as a lock, is signalled by those that wait. */
void fv_locks_find_idle(struct fv_model *model);
/* What threads waited for a lock because others were in their way: neither for work, nor, on a condition or a
 * semaphore, as a main thread. */
double fv_lock_contention_s(const struct fv_lock_view *lock);

/* The part of the time that it was held; NAN: there was no time. Of a rank's locks that are one here, their mean. */
static inline double fv_lock_hold_share(const struct fv_lock_view *lock)
{
    return lock->elapsed_s > 0 ? lock->n.hold_s / lock->elapsed_s : NAN;
}

/* When nodes of paths have changed: sites that have become equal are added up. */
void fv_locks_fold(struct fv_locks *locks);
void fv_locks_release(void *data); /* struct fv_locks */

FV_SUBJECT_DATA(struct fv_locks, locks, locks)

#endif
