/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel regions of OpenMP, and who is in one: for omp*.c, which learn of them by what GCC calls, and ompt.c, which
 * is told. */
#ifndef FV_OMP_H
#define FV_OMP_H

#include "threads/omp_next.h"
#include "threads/sync.h"

#define FV_OMP_MEMBERS 256

/* A thread of a team, written by itself until it comes to the region's end. A cache line of its own. */
struct fv_omp_member {
    struct fv_omp_team *team;
    struct fv_sync *s; /* NULL: it is not recorded */
    uint64_t begin;    /* of the function, ticks */
    uint64_t end;      /* of it: the thread waits; 0: not yet */
    uint64_t came;     /* = end, or when the last task since then ended */
    uint64_t tasks;    /* ticks of tasks since then */
    uint64_t waited;   /* from begin on, without the region's end */
    uint64_t waited_before;
};
_Static_assert(sizeof(struct fv_omp_member) == 64, "a cache line");

/* A region that runs: on its forking thread's list when it does not. Its memory stays. */
struct fv_omp_team {
    void *reductions; /* must be first: see GOMP_parallel_reductions() */
    fv_omp_body *body;
    void *data;
    const struct fv_omp_next *next; /* NULL: size and level are what OMPT says (ompt.c) */
    struct fv_sync *s;              /* the forking thread's */
    struct fv_omp_entry *entry;
    struct fv_omp_member *outer; /* that the forking thread is of another team */
    struct fv_omp_team *unused;
    bool runs;                               /* False: threads may still point here, but are not in it */
    uint64_t call;                           /* ticks */
    uint64_t open_before;                    /* of the entry's record: a region in itself */
    uint64_t traced;                         /* its number in the trace; 0: it is not there */
    uint32_t solo;                           /* as fv_solo_fork() says */
    uint64_t arrivals, tasks, untimed, lost; /* any thread of it */
    uint32_t size, level;
    uint32_t work; /* enum fv_omp_work_kind: the region is such a construct; 0: it is none */
    uint32_t last; /* fv_thread.id + 1 of who came last to its latest barrier, 0 unknown; any thread */
    struct fv_omp_member member[FV_OMP_MEMBERS] __attribute__((aligned(64)));
};

/* Of the team that the thread works in, or worked in last; NULL: none that was recorded. */
extern FV_TLS struct fv_omp_member *fv_omp_current;
static inline struct fv_omp_member *fv_omp_member(void)
{
    struct fv_omp_member *m = fv_omp_current;

    return m && FV_LIKELY(__atomic_load_n(&m->team->runs, __ATOMIC_RELAXED)) ? m : NULL;
}
/* Ticks of the tasks that the thread has run since its present wait began: they are no waiting. */
extern FV_TLS uint64_t fv_omp_worked;

/* A runtime tells us of what it does (ompt.c): also of tasks that GCC's code makes in it. */
extern bool fv_omp_is_told;
/* What such a runtime says: no other thread is in the team that the thread works in now. */
extern bool (*fv_omp_told_alone)(void);
/* The thread forks in one of GCC's functions, which are ours: what OMPT tells next is the same region. */
extern FV_TLS bool fv_omp_forks;

/* ---- regions; for ompt.c, too ---- */

/* By the thread that forks: a region begins, of a function (or whatever else names it). NULL: no room for it. */
struct fv_omp_team *fv_omp_fork(struct fv_sync *s, fv_omp_body *body, unsigned threads, struct fv_call_place site);
void fv_omp_join(struct fv_omp_team *team, struct fv_call_place site);
/* By a thread of the team, which has `size`: it begins its part. NULL: its number is too large. */
struct fv_omp_member *fv_omp_member_begin(struct fv_omp_team *team, unsigned number, unsigned size);
/* It came to the region's end. */
void fv_omp_member_end(struct fv_omp_member *m);

/* With --counters: what is counted in between is the region's. parts 0: in a task that the thread ran at the region's
 * end. */
void fv_omp_count_begin(const struct fv_omp_member *m);
void fv_omp_count_end(const struct fv_omp_member *m, uint64_t ticks, unsigned parts);

/* ---- waiting in a region ---- */

struct fv_omp_scope {
    struct fv_sync_wait wait; /* s NULL: not recorded */
    struct fv_omp_team *team; /* at a barrier of which it waits; NULL: none that is known */
    uint64_t worked;
    bool is_last;
};
struct fv_omp_scope fv_omp_scope_begin(struct fv_call_place site, bool is_barrier);
void fv_omp_scope_end(struct fv_omp_scope *scope);
/* It may not have waited. */
void fv_omp_scope_end_perhaps(struct fv_omp_scope *scope);
/* In ticks: what is shorter is no wait, where nobody can ask. */
uint64_t fv_omp_microsecond(void);

/* ---- tasks ---- */

/* What the thread waits for, of which it is told that it does not while a task runs. */
struct fv_omp_wait {
    struct fv_sync_thread *state; /* NULL: nothing */
    uint32_t object, path;
    uint8_t kind, operation;
};
/* A task that the thread runs. */
struct fv_omp_task {
    uint64_t begin, worked;
    struct fv_omp_wait wait;
    bool recorded;
    bool is_at_end; /* of a region */
};
/* `place`: an address in its function, or of the call that made it. */
struct fv_omp_task fv_omp_task_begin(const void *place);
void fv_omp_task_end(const struct fv_omp_task *task);

/* What m->s has waited since m->begin. */
uint64_t fv_omp_waited(const struct fv_omp_member *m);
/* The thread has waited inside of a region since `begin`, but for fv_omp_worked, without saying so before.
 * Waits below a microsecond are none. */
void fv_omp_has_waited(struct fv_sync *s, uint64_t begin, struct fv_call_place site);

#endif
