/* Phases in which threads run in parallel, between their creation and their join, and how much of their
 * speedup waiting takes away (fvmpi run --threads).
 *
 * An instance of a phase are the threads that one thread created, that began with one function, and whose
 * times, from creation to join, overlap without a gap; of a thread that is not joined, its end counts. A
 * phase are its instances with the same call path to the creation of the first thread, over all ranks.
 *
 * The formulas are those of Eklov, Nikoleris, Hagersten, "A profiling method for analyzing scalability
 * bottlenecks on multicores", section 6.3. With N threads, t_i a thread's time from begin to end, w_i its
 * waiting for locks, barriers, conditions and joins in it, and T1 the time of the phase with one thread:
 *
 *     S_m = T1 / max t_i              measured speedup
 *     S_w = T1 / max (t_i - w_i)      if nobody waited
 *     synchronisation = S_w - S_m
 *
 * One run does not know T1, but their ratio, in which T1 cancels:
 *
 *     without_waiting = S_w / S_m = max t_i / max (t_i - w_i)
 *
 * and a bound of both: threads together hardly need less useful time than one thread alone (they do if its
 * data does not fit into one core's cache), so T1 <= sum (t_i - w_i), and
 *
 *     S_m <= bound         = sum (t_i - w_i) / max t_i
 *     S_w <= bound_waitless = sum (t_i - w_i) / max (t_i - w_i)
 *     N = bound + synchronisation + imbalance,   where
 *     synchronisation = bound_waitless - bound,  imbalance = N - bound_waitless
 *
 * What is exact: t_i and w_i, of waits in functions that fvmpi interposes. What is an estimate: that a thread
 * without its waits would be faster by just these (what one thread no longer waits for, another may), and
 * that T1 is as large as the useful time, which holds slower memory and fuller caches of threads that run
 * side by side, and moments without a processor (`off_cpu_s`). The wait at the final join is in neither t_i
 * nor w_i, and changes no maximum.
 *
 * Sums are over instances: max t_i is longest_s and so on; N is then the mean number of threads over
 * longest_s. */
#ifndef FV_REPORT_PHASES_H
#define FV_REPORT_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread from its creation to its join. Points in time are the model's. */
struct fv_life {
    uint32_t rank, thread, tid; /* rank: in fv_model.ranks; fv_thread_record.id */
    uint32_t creator, joiner;   /* fv_thread_record.id; FV_NO_THREAD */
    uint32_t create_node, join_node;
    uint32_t routine;  /* in fv_model.addresses; FV_NONE: unknown */
    uint32_t phase;    /* in fv_phases.items; FV_NONE: none, as of the first thread */
    uint32_t instance; /* of the phase on the rank, from 0 */
    bool alive;        /* when the rank ended, or was last seen: end_s is then */
    double created_s, begin_s, end_s;
    double wait_s;                   /* for other threads, at most end_s - begin_s */
    double cpu_s;                    /* NAN: not known */
    double join_begin_s, join_end_s; /* NAN: not joined */
};

struct fv_phase_sums {
    uint64_t instances, threads; /* threads: created, in all instances */
    uint32_t threads_min, threads_max;
    double elapsed_s;        /* first creation to last join */
    double longest_s;        /* max t_i */
    double useful_longest_s; /* max (t_i - w_i) */
    double weighted_s;       /* N max t_i */
    double time_s, wait_s;   /* sums of t_i, w_i */
    double cpu_s;            /* NAN: of a thread not known */
    double off_cpu_s;        /* of t_i - w_i: without a processor, for what reason ever; a lower bound. NAN */
    double creator_s;        /* that the creating thread did not spend in joins. NAN: it did not join all */
};
struct fv_phase_part {
    uint32_t phase, rank;
    struct fv_phase_sums sums;
};
struct fv_phase {
    uint32_t node;             /* that created the first thread */
    uint32_t routine;          /* as in fv_life */
    uint32_t first, ranks;     /* its part of fv_phases.parts, by rank */
    bool open;                 /* threads of it were alive at the end */
    struct fv_phase_sums sums; /* over ranks */
};
struct fv_phases {
    struct fv_phase *items; /* by the time that threads spent in it, longest first */
    size_t count, room;
    struct fv_phase_part *parts;
    size_t part_count, part_room;
    struct fv_life *lives; /* by rank, phase, instance */
    size_t life_count, life_room;
};

/* Numbers of a phase, or of one rank's part. NAN: no time was spent in it. */
struct fv_phase_bound {
    double threads;         /* N */
    double without_waiting; /* how many times as fast it would be at most */
    double bound, bound_waitless, synchronisation, imbalance;
};
struct fv_phase_bound fv_phase_bound(const struct fv_phase_sums *sums);

/* With T1, which is that of all instances on a rank. */
#define FV_STACK_ZERO  0.05 /* of N: a smaller component counts as none (the largest error in the paper) */
#define FV_STACK_GUARD 1.05 /* times N: a larger speedup is none */
struct fv_stack {
    double measured, waitless, synchronisation, rest; /* S_m, S_w, their difference, N - S_w */
    bool rejected; /* S_m or S_w is beyond the guard: T1 is not this phase's */
};
struct fv_stack fv_phase_stack(const struct fv_phase *phase, double t1_s);

void fv_phases_release(struct fv_phases *phases);

#endif
