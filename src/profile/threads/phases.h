/* SPDX-License-Identifier: BSD-3-Clause */
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
 * longest_s.
 *
 * With P processors for more threads than that, t_i hold waiting for a processor, and what is above makes
 * more of the speedup than processors can give. How long a thread waited for one is not known, but what it
 * was off the CPU without waiting for a thread; of that, no more than what P processors need for the CPU time
 * of the phase, C, while N - P threads have none. So much of it counts as waiting for a processor:
 *
 *     queue = min(off_cpu, (N - P) C / P),   and nothing takes less time than C / P:
 *     bound          = (sum (t_i - w_i) - queue) / max(max t_i, C / P)
 *     bound_waitless = (sum (t_i - w_i) - queue) / max(max (t_i - w_i), C / P)
 *     few_cpus       = sum (t_i - w_i) / max (t_i - w_i) - bound_waitless, and imbalance as above
 *     N = bound + synchronisation + imbalance + few_cpus
 *
 * Other programs on these processors, or other ranks, make the queue longer, which is not seen. So a bound
 * that still is above P is P, with the rest of off_cpu for the queue and P max t_i for C, if threads computed
 * for 5 % of sum (t_i - w_i) or more; those that did less sleep or wait for I/O, and may be more than P at a
 * time. Where CPU time is not known, threads are taken to compute whenever they do not wait, so that C is the
 * least of sum (t_i - w_i) and P max t_i.
 *
 * OpenMP: an instance is a parallel region; what is forked at one call path with one function is one phase.
 * t_i is from the begin of the thread's function to the region's end, w_i what it waited in it, and for the
 * last thread at the end (join_s). For max t_i the thread counts that came last, without a wait at the end.
 * Of nested regions each is a phase: their times are in those of the outer ones, too. The threads of the
 * run-time library, which outlive regions, are no phase. */
#ifndef FV_PROFILE_PHASES_H
#define FV_PROFILE_PHASES_H

#include "profile/counters/counters.h"
#include "profile/model.h"
#include "tool/pop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FV_PHASE_KINDS(X)         X(THREADS, "threads") X(OMP, "omp")
#define FV_PHASE_KIND(name, word) FV_PHASE_##name,
enum fv_phase_kind { FV_PHASE_KINDS(FV_PHASE_KIND) };
const char *fv_phase_kind_name(enum fv_phase_kind kind);

/* A thread from its creation to its join. Points in time are the model's. */
struct fv_life {
    uint32_t rank, thread, tid; /* rank: in fv_model.ranks; fv_thread_record.id */
    uint32_t id;                /* fv_thread_life.id; 0: not known */
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
    double elapsed_s;               /* first creation to last join */
    double longest_s;               /* max t_i */
    double useful_longest_s;        /* max (t_i - w_i) */
    double weighted_s;              /* N max t_i */
    double time_s, wait_s;          /* sums of t_i, w_i */
    double cpu_s;                   /* NAN: of a thread not known */
    double off_cpu_s;               /* of t_i - w_i: without a processor, for what reason ever; a lower bound. NAN */
    double creator_s;               /* that the creating thread did not spend in joins. NAN: it did not join all */
    uint32_t cpus;                  /* that a rank may run on, the fewest; 0: unknown */
    double queue_s;                 /* of time_s - wait_s, waiting for a processor; an estimate */
    double least_s, useful_least_s; /* longest_s and useful_longest_s, but no less than C / P */
    /* of OpenMP; else 0 */
    double join_s, fork_s;  /* of wait_s: at the region's end; of no sum: from the fork to a thread's begin */
    uint64_t lost_threads;  /* of teams that were too large: in no sum */
    uint64_t untimed_tasks; /* that can't be told from the waits they were run in */
};
struct fv_phase_part {
    uint32_t phase, rank;
    struct fv_phase_sums sums;
};
#define FV_ALONE_QUANTITY_LIST(X)     X(INSTRUCTIONS, "instructions") X(CYCLES, "cycles") X(LINES, "memory_lines")
#define FV_ALONE_QUANTITY(name, word) FV_ALONE_##name,
enum fv_alone_quantity { FV_ALONE_QUANTITY_LIST(FV_ALONE_QUANTITY) FV_ALONE_QUANTITIES };
extern const char *const fv_alone_quantities[FV_ALONE_QUANTITIES]; /* names of struct fv_quantity */
/* Threads of the phase that ran alone, one at a time (fvmpi run --stacks --solo), over ranks. */
struct fv_phase_alone {
    uint64_t measured, let_go;           /* instances: in which one ran alone to its end; which were not separable */
    uint32_t threads, why;               /* of the largest; why the last one was let go: enum fv_gate_why */
    double time_s, cpu_s;                /* of the measured, without barriers; short waits are in it */
    double lost_s;                       /* of it: the pirate did not hold the rest of the cache */
    uint64_t probes, misses;             /* of who holds it */
    double counted[FV_ALONE_QUANTITIES]; /* with --counters, meanwhile; 0: not counted */
};
/* A rank that computed while the others of its node did not (rt/turns.h, fvmpi run --throughput), or the only copy of a
 * program. */
struct fv_rank_turns {
    uint32_t rank;               /* in fv_model.ranks */
    struct fv_phase_alone alone; /* measured: turns */
    double fill_s;               /* what filling the shared cache takes at most, line after line; 0: not known */
};
/* How a run was made in which threads, or ranks, ran alone; `is` false: it is none. */
struct fv_alone_run {
    bool is;
    uint32_t how;                     /* enum fv_solo_how (base/solo.h) */
    uint64_t cache_bytes, left_bytes; /* shared cache, as it was measured (0: it was not); of it the thread had so much,
                                       * with its own caches */
    double part;                      /* of the shared cache */
};
/* The thread of OpenMP's teams that works longest, in all regions of a phase. */
struct fv_busiest {
    double useful_s;       /* without waits; 0: none is known */
    uint32_t rank, number; /* rank: in fv_model.ranks; number: in its team */
};
struct fv_phase {
    uint32_t kind;         /* enum fv_phase_kind; these three are its key */
    uint32_t node;         /* that created the first thread, or forked; of OpenMP 0: those without room */
    uint32_t routine;      /* as in fv_life; what the team ran */
    uint32_t first, ranks; /* its part of fv_phases.parts, by rank */
    bool open;             /* threads of it were alive at the end, or a region had not ended */
    struct fv_busiest busiest;
    struct fv_phase_alone alone;
    struct fv_phase_sums sums; /* over ranks */
};
/* OpenMP's regions of a rank that are in no other. */
struct fv_rank_regions {
    struct fv_pop_regions sums; /* threads 0: none */
    bool unknown;               /* not all of it is known: teams within teams, too large, or open at the end */
};
struct fv_phases {
    struct fv_phase *items; /* by the time that threads spent in it, longest first */
    size_t count, room;
    struct fv_phase_part *parts;
    size_t part_count, part_room;
    struct fv_life *lives; /* by rank, phase, instance */
    size_t life_count, life_room;
    struct fv_rank_regions *regions; /* by rank */
    struct fv_counts_value *counted; /* events that threads counted, with --counters; scope: the phase. In no order,
                                      * and some places may occur more than once */
    size_t counted_count, counted_room;
    struct fv_alone_run alone;
    struct fv_rank_turns *turns; /* by rank; those that took turns */
    size_t turn_count, turn_room;
};

struct fv_model;
/* The OpenMP runtime whose threads a phase is of, though it is not seen: its regions and waits are nowhere.
 * NULL: none is. Valid as long as the model. */
const char *fv_phase_unseen_openmp(const struct fv_model *model, const struct fv_phase *phase);

/* Numbers of a phase, or of one rank's part. NAN: no time was spent in it. */
struct fv_phase_bound {
    double threads;         /* N */
    double without_waiting; /* how many times as fast it would be at most */
    double bound, bound_waitless, synchronisation, imbalance;
    double few_cpus; /* 0: as many processors as threads, or unknown */
};
struct fv_phase_bound fv_phase_bound(const struct fv_phase_sums *sums);

/* With T1, which is that of all instances on a rank. */
#define FV_STACK_ZERO  0.05 /* of N: a smaller component counts as none (the largest error in the paper) */
#define FV_STACK_GUARD 1.05 /* times N: a larger speedup is none */
struct fv_speedup_stack {
    double measured, waitless, synchronisation, rest; /* S_m, S_w, their difference, N - S_w */
    bool rejected;                                    /* S_m or S_w is beyond the guard: T1 is not this phase's */
};
struct fv_speedup_stack fv_phase_stack(const struct fv_phase *phase, double t1_s);

/* Phases that have become equal: the busiest of their threads. */
void fv_busiest_add(struct fv_busiest *to, const struct fv_busiest *from);
void fv_phase_alone_add(struct fv_phase_alone *to, const struct fv_phase_alone *from);
void fv_phase_sums_add(struct fv_phase_sums *to, const struct fv_phase_sums *from);
/* Sorts phases by time and their parts by phase and rank, and says of each phase which parts are its. */
void fv_phases_order(struct fv_phases *phases);
/* When nodes of paths have changed: phases that have become equal are added up. */
void fv_phases_fold(struct fv_phases *phases);
void fv_phases_release(void *data); /* struct fv_phases */
/* fv_model.hybrid, when the times in MPI are known. */
void fv_build_hybrid(struct fv_model *model);

FV_SUBJECT_DATA(struct fv_phases, phases, phases)

#endif
