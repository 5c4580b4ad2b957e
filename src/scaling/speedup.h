/* SPDX-License-Identifier: BSD-3-Clause */
/* One program on several numbers of threads: the speedup graph, and what takes the rest of it, for each phase of
 * parallel threads (profile/threads/phases.h) and for the whole program.
 *
 * The runs with one thread tell T1, the others have N. Of a phase, with t a thread's time and w its waits for others,
 * all instances of a rank together:
 *
 *     measured = T1 / max t             waitless = T1 / max (t - w)            if nobody waited
 *     balanced = T1 N / sum (t - w)     and all had the same to do
 *     placed   = T1 N / (sum (t - w) - queue)    and a processor for each
 *     N = measured + synchronisation + imbalance + few_cpus + work, where each is the difference of two that follow
 *     each other, and work = N - placed: the same work takes the threads longer than it took the one: caches and memory
 *     that they share, clocks, and what threads do besides
 *
 * Of the whole program, T its elapsed time, P that of all phases:
 *
 *     measured = T1 / T,   serial = P1 / P - T1 / T: what time outside of phases takes (Amdahl); the other components
 *     are those of all phases as one
 *
 * The first three steps are of Eklov, Nikoleris, Hagersten, "A profiling method for analyzing scalability bottlenecks
 * on multicores", section 6.3; Amdahl's part on top is of section 2. Components may be negative, as measured. Below
 * FV_STACK_ZERO N one counts as none.
 *
 * Runs in which one thread at a time ran alone tell more of `work`: alone.h.
 *
 * What is rejected says why: a spread of T1 above FV_T1_SPREAD, no T1, threads off their processors, a speedup above
 * FV_STACK_GUARD N. Of several runs of one number of threads the shortest counts, and T1 if the second shortest is
 * about as short. Order of use: fv_speedup_load() for each run, fv_speedup_compute(), views. One thread. */
#ifndef FV_SPEEDUP_H
#define FV_SPEEDUP_H

#include "profile/profile.h"
#include "scaling/alone.h"
#include "scaling/throughput.h"
#include "tool/vec.h"

#define FV_T1_SPREAD       0.05 /* (second least - least) / mean */
#define FV_T1_SPREAD_WORDS "5 %"

#define FV_SPEEDUP_REJECT_LIST(X)                                                                 \
    X(GOOD, "good")                                                                               \
    X(NO_T1, "no_t1")         /* no run with one thread has it */                                 \
    X(SPREAD, "t1_varies")    /* T1 differs among its runs */                                     \
    X(OFF_CPU, "off_cpu")     /* threads were off the processor without waiting for each other */ \
    X(TOO_LARGE, "too_large") /* T1 is not of the same work */
#define FV_SPEEDUP_REJECT(name, word) FV_SPEEDUP_##name,
enum fv_speedup_reject { FV_SPEEDUP_REJECT_LIST(FV_SPEEDUP_REJECT) FV_SPEEDUP_REJECTS };
extern const char *const fv_speedup_rejects[]; /* "good", ...; NULL behind the last */

/* Of a rank, the mean over ranks; seconds. */
struct fv_speedup_times {
    double elapsed_s, longest_s, waitless_s; /* max t, max (t - w) */
    double useful_s, queue_s, off_cpu_s;     /* sum (t - w); of it. off: NAN not known */
};
struct fv_speedup_components {
    double measured, waitless, balanced, placed;
    double synchronisation, imbalance, few_cpus, work;
};
struct fv_speedup_point {
    size_t threads, runs;           /* N */
    double least_s, next_s, most_s; /* of its runs: the shortest, the second shortest (INFINITY: there is one run), the
                                     * longest */
    struct fv_speedup_times times;
    enum fv_speedup_reject reject;
    struct fv_speedup_components stack; /* NAN where it is rejected */
    double serial_s, serial;            /* of the whole program: time outside of phases; its component */
    struct fv_alone_stack alone;        /* `work`, taken apart */
};
struct fv_speedup_phase {
    const char *name, *kind;         /* the whole program: NULL, "program" */
    struct fv_speedup_point *points; /* by threads; those that have it */
    size_t count, room;
    struct fv_alone_point *alone; /* by threads, then by the part of the cache, largest first */
    size_t alone_count, alone_room;
    bool is_nested; /* its time is in another's, too */
};
struct fv_speedup_run {
    const char *directory, *command;
    size_t threads;
    double elapsed_s;
    double part; /* of the shared cache, where one thread, or rank, at a time ran alone; NAN: all ran */
    bool has_phases;
};
struct fv_speedup {
    struct fv_arena arena;
    struct fv_speedup_phase *phases; /* the whole program, then phases by their time with most threads */
    size_t count, room;
    struct fv_throughput throughput; /* of copies, and of ranks that took turns; then there are no phases */
    struct fv_speedup_run *runs;     /* as they were loaded */
    size_t run_count, run_room;
};

/* `choice`: the ranks whose files are read, NULL: all. Has logged when it fails, as fv_profile_open() does. */
int fv_speedup_load(struct fv_speedup *speedup, const char *path, const struct fv_choice *choice);
/* -FV_EFORMAT: nothing can be compared, which has been logged. */
int fv_speedup_compute(struct fv_speedup *speedup);
void fv_speedup_release(struct fv_speedup *speedup);

#endif
