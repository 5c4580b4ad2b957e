/* SPDX-License-Identifier: BSD-3-Clause */
/* Part of format.h: what src/threads writes into the rank file, what threads wait for. */
#ifndef FV_FORMAT_THREADS_H
#define FV_FORMAT_THREADS_H

#include "base/histogram.h"

enum fv_sync_kind {
    FV_SYNC_MUTEX = 1,
    FV_SYNC_RWLOCK = 2,
    FV_SYNC_SPIN = 3,
    FV_SYNC_BARRIER = 4,
    FV_SYNC_COND = 5,
    FV_SYNC_SEM = 6,
    FV_SYNC_JOIN = 7, /* its object is the function that the joined threads began with */
    FV_SYNC_ONCE = 8,
    FV_SYNC_OMP = 9, /* of OpenMP */
};
#define FV_SYNC_KINDS 16 /* room for */

enum fv_sync_operation {
    FV_SYNC_LOCK = 1,  /* of a read-write lock: for writing */
    FV_SYNC_TRY = 2,   /* without waiting: a lock (for writing), a semaphore, a join */
    FV_SYNC_TIMED = 3, /* the same with a time limit */
    FV_SYNC_READ = 4,  /* a read-write lock, for reading */
    FV_SYNC_TRY_READ = 5,
    FV_SYNC_TIMED_READ = 6,
    FV_SYNC_WAIT = 7,   /* barrier, condition, semaphore, join, once */
    FV_SYNC_SIGNAL = 8, /* a condition */
    FV_SYNC_BROADCAST = 9,
    FV_SYNC_POST = 10, /* a semaphore */
};

enum fv_sync_object_flags {
    FV_SYNC_STATIC = 1, /* in a module: `module` and `offset` name it */
    FV_SYNC_SHARED = 2, /* between processes: who else uses it is not seen */
};

/* A lock, or what else threads wait for. An address that is initialised or destroyed and used again is a new object.
 * Objects of one kind and first use that were there one after the other may have one record, with one number: its
 * address and end are the last one's. */
struct fv_sync_object {
    uint32_t id;   /* from 1 */
    uint8_t kind;  /* [enum fv_sync_kind] */
    uint8_t flags; /* [enum fv_sync_object_flags] */
    uint16_t pad;
    uint64_t address; /* [hex] */
    uint64_t offset;  /* [hex] in the module: of the object itself, not a return address; of a join: of the function */
    uint32_t module;  /* FV_MODULE_UNKNOWN: on the heap or a stack */
    uint32_t path;    /* that first used it, whole unless FV_SYNC_STATIC */
    uint64_t first;   /* [ticks] of the first use */
    uint64_t retired; /* [ticks] of its end; 0: it was not seen */
    uint32_t parties; /* of a barrier; 0: unknown */
    uint32_t thread;  /* that first used it */
    uint64_t more;    /* objects that had the number after the first one */
};
_Static_assert(sizeof(struct fv_sync_object) == 64, "on-disk size");

enum fv_sync_record_flags {
    FV_SYNC_SITE = 1 /* the path is the call's return address alone: no wait was long enough to look further */
};

/* What one thread did to one object at one call site, by one operation. Operations that waited 50 us and more are in a
 * record with their whole call path, all others in one with the call site alone (FV_SYNC_SITE): each operation is in
 * one record, so an object's numbers are the sums over its records. Times in ticks. */
struct fv_sync_record {
    uint32_t object;                 /* fv_sync_object.id; 0: of those that the table had no room for */
    uint32_t thread;                 /* fv_thread_record.id: not always the chunk's */
    uint32_t path;                   /* PATHS; 0: unknown */
    uint8_t kind;                    /* [enum fv_sync_kind] */
    uint8_t operation;               /* [enum fv_sync_operation] */
    uint16_t flags;                  /* [enum fv_sync_record_flags] */
    uint64_t acquired;               /* operations that succeeded */
    uint64_t contended;              /* of them: not at once. Of a barrier: not as the last of a round */
    uint64_t failed;                 /* timed out, would have waited, or refused */
    uint64_t wait_sum, wait_max;     /* [ticks] of contended ones and of failed ones that waited */
    uint64_t hold_count;             /* --threads=hold: from here to the release, by this thread ... */
    uint64_t hold_sum, hold_max;     /* [ticks] ... */
    uint64_t held_at_end;            /* holds that the thread's end left open */
    uint64_t owner_changes;          /* --threads=owner: acquired after another thread */
    uint64_t blocked, blocked_ticks; /* ... waits of others that began while it was held from here */
    uint64_t last;                   /* of a barrier: came last in the round */
    uint64_t reserved;
    uint32_t wait_histogram[FV_TIME_BUCKETS]; /* as in struct fv_cell */
};
_Static_assert(sizeof(struct fv_sync_record) == 256, "on-disk size");

/* A thread's waiting in all, and where it waits now. */
struct fv_sync_thread {
    uint64_t wait_begin;             /* [ticks] 0: it does not wait */
    uint32_t wait_object, wait_path; /* what it waits for; where: PATHS */
    uint8_t wait_kind;               /* [enum fv_sync_kind] */
    uint8_t wait_operation;          /* [enum fv_sync_operation] */
    uint16_t pad;
    uint32_t mode;                      /* enum fv_threads_mode: what was asked for */
    uint64_t wait_ticks[FV_SYNC_KINDS]; /* [by enum fv_sync_kind] */
    uint64_t in_mpi_ticks;              /* of them: inside MPI calls */
    uint64_t missed;                    /* operations of signal handlers that could not be counted */
    uint64_t overflow;                  /* operations in records with object 0: no room for one of their own */
    uint64_t holds_lost;                /* holds that were not measured: too many at once */
    uint64_t cold_ticks;                /* fvmpi's own time on rare paths */
    uint64_t lives_lost;                /* threads in this slot whose life there was no room for */
    uint64_t trace_lost;                /* its events that are not in the trace: no room, or too many locks at once */
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct fv_sync_thread) == 224, "on-disk size");

/* A thread from its creation to its join. */
struct fv_thread_life {
    uint32_t thread, tid;                /* fv_thread_record.id: its slot */
    uint32_t creator, create_path;       /* slot and call; FV_NO_THREAD and 0: unknown, as of the first thread */
    uint32_t joiner, join_path;          /* FV_NO_THREAD: not joined */
    uint32_t routine_module;             /* of the function that it began with */
    uint32_t sequence;                   /* of its creation in the trace; 0: that, or its end, is not there */
    uint64_t routine_offset;             /* [hex] that function */
    uint64_t created, begin, end;        /* [ticks] 0: unknown, or not yet */
    uint64_t wait_at_begin, wait_at_end; /* [ticks] sum of the slot's fv_sync_thread.wait_ticks; at_end is 0 while it
                                          * lives */
    uint64_t join_begin, join_end;       /* [ticks] of the call */
    uint64_t cpu_ns;                     /* of CPU time, at its end */
    uint32_t id;                         /* from 1, in the process */
    uint32_t pad;
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct fv_thread_life) == 128, "on-disk size");

/* Parallel regions of OpenMP that one thread forked at one call path with one function; times in ticks. Of a team's
 * thread: its time is from the function's begin until it came to the barrier at the region's end, with tasks that it
 * ran there; its wait is what it waited for in that time (barriers, criticals, locks); its join is from then until the
 * last thread came. */
struct fv_omp_region {
    uint32_t id;                       /* from 1, in the process */
    uint32_t thread;                   /* that forked: fv_thread_record.id */
    uint32_t path;                     /* of the call; 0: of regions that there was no room for */
    uint32_t object;                   /* fv_sync_object.id of the team's barrier; 0: none */
    uint32_t module;                   /* of the function that the team ran ... */
    uint32_t level;                    /* of nesting, of the first one; 1: outermost */
    uint64_t offset;                   /* [hex] ... the function itself, not a return address */
    uint32_t threads_min, threads_max; /* of a team */
    uint64_t count, threads;           /* regions that have ended; sum of their teams */
    uint64_t open;                     /* [ticks] when the present one began; 0: there is none */
    uint64_t first, last;              /* [ticks] begin of the first one, end of the last one */
    uint64_t elapsed, elapsed_max;     /* [ticks] the calls */
    uint64_t longest;                  /* [ticks] sum over regions: of a team's largest time, */
    uint64_t useful_longest;           /* [ticks] of its largest time - wait, */
    uint64_t weighted;                 /* [ticks] of threads * largest time */
    uint64_t time, wait, join, fork;   /* [ticks] sums over regions and threads; fork: from the call to the function's
                                        * begin */
    uint64_t tasks;                    /* [ticks] of time: tasks run at the region's end */
    uint64_t untimed;                  /* tasks and taskloops that are part of the waits they were run in */
    uint64_t lost;                     /* threads of teams that were too large: in no sum */
    uint64_t reserved[4];
};
_Static_assert(sizeof(struct fv_omp_region) == 208, "on-disk size");

/* What one thread did in them. */
struct fv_omp_thread {
    uint32_t region; /* fv_omp_region.id */
    uint32_t number; /* in the team: omp_get_thread_num() */
    uint32_t thread; /* fv_thread_record.id; FV_NO_THREAD: it is not recorded */
    uint32_t pad;
    uint64_t count;                                             /* regions that it took part in */
    uint64_t time, time_max, wait, join, join_max, fork, tasks; /* [ticks] as in struct fv_omp_region */
    uint64_t last;                                              /* it came last to the region's end */
    uint64_t reserved[3];
};
_Static_assert(sizeof(struct fv_omp_thread) == 112, "on-disk size");

enum fv_omp_work_kind {
    FV_OMP_WORK_LOOP = 1,
    FV_OMP_WORK_SECTIONS,
    FV_OMP_WORK_SINGLE,
    FV_OMP_WORK_WORKSHARE, /* of Fortran */
    FV_OMP_WORK_DISTRIBUTE,
    FV_OMP_WORK_TASKLOOP, /* by the thread that makes the tasks */
    FV_OMP_WORK_SCOPE,
    FV_OMP_WORK_MASKED, /* no worksharing, but one thread's as well; formerly master */
    FV_OMP_WORK_TASK,   /* explicit, by the thread that runs it: `path` is one frame, in its function, or of the call
                         * that made it */
    FV_OMP_WORK_TARGET, /* a target region, as long as the thread that meets it waits for the device, or starts it
                         * (nowait) */
    FV_OMP_WORK_TARGET_DATA, /* the same for directives that only move data: enter, exit, update */
    FV_OMP_WORK_KINDS        /* [count] */
};

/* What one thread did in worksharing of OpenMP at one call path. Its part ends before the barrier there. libgomp tells
 * of loops but those that are scheduled statically, of sections, and of singles who did them; OMPT tells of all. */
struct fv_omp_work {
    uint32_t region; /* fv_omp_region.id; 0: of none that is recorded */
    uint32_t path;   /* where it begins; of a parallel loop, and parallel sections, the fork's */
    uint32_t kind;   /* [enum fv_omp_work_kind] */
    uint32_t pad;
    uint64_t count;                /* times that the thread came there */
    uint64_t executed;             /* of them: it took part; of a single, or masked, it did it */
    uint64_t timed;                /* of these: its end is known */
    uint64_t time, time_max, wait; /* [ticks] of these; wait: what it waited for other threads in them */
};
_Static_assert(sizeof(struct fv_omp_work) == 64, "on-disk size");

/* One thread at a time (threads/gate.h, fvmpi run --stacks --solo): phases of threads in which the one ran alone from
 * the fork to the barriers, by call path and function. The first record (kind process) is of the process: how it was
 * measured. Kind rank: ranks took turns (rt/turns.h); `measured` are this one's turns, `intervals` the times between
 * calls of MPI in them. Times in ticks, of the thread that ran alone, its barriers and what the pirate was waited for
 * left out. What it waits for locks and the like is in them: each time less than wait_ns (base/solo.h), or the phase is
 * let go. */
enum fv_solo_kind { FV_SOLO_PROCESS = 0, FV_SOLO_THREADS = 1, FV_SOLO_OMP = 2, FV_SOLO_RANK = 3 };
struct fv_solo_record {
    uint32_t kind;                    /* [enum fv_solo_kind] */
    uint32_t how;                     /* enum fv_solo_how (base/solo.h) */
    uint32_t path, module;            /* of the fork, or the first thread's creation; of the function */
    uint64_t offset;                  /* [hex] the function itself, in the module */
    uint32_t threads, why;            /* of the largest instance; enum fv_gate_why: why the last one that was let go was
                                       * (threads/gate.h) */
    uint64_t cache_bytes, left_bytes; /* shared cache; what the thread had of it */
    uint64_t count, measured, let_go; /* instances; those whose thread ran alone to its end; those that were not
                                       * separable */
    uint64_t intervals, ticks, cpu_ns;   /* of the measured: between fork, barriers and end; the time; CPU time in it */
    uint64_t probes, misses;             /* of the pirate, in that time */
    uint64_t lost_intervals, lost_ticks; /* of them: the pirate did not hold its part, or the one moved to another last
                                          * cache */
    uint64_t waited_ticks;               /* for the pirate, not in ticks */
    uint64_t part_ppm;                   /* of the shared cache, in millionths */
    uint64_t fill_ns; /* what filling the shared cache takes at most, line after line; 0: not known */
    uint64_t reserved[2];
};
_Static_assert(sizeof(struct fv_solo_record) == 168, "on-disk size");

#endif
