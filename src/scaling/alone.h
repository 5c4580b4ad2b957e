/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs tell in which one thread at a time ran alone (fvmpi run --stacks --solo): cache against memory, and time
 * against cache.
 *
 * Of a phase, with N threads that run together, t(c) the time of one that runs alone with the part c of the shared
 * cache, all instances of a rank (the mean of those that were measured, times their number), T1 and `placed` as in
 * speedup.h:
 *
 *     alone = T1 / t(1)          the same work by a thread of N that has all for itself
 *     pirate = T1 / t(1/N)       and its part of the cache, but all of memory for itself
 *     overhead = N - alone,  cache = alone - pirate,  memory = pirate - placed,     which are `work` of speedup.h,
 *     taken apart
 *     shared = alone - placed    cache and memory together, where there is no part
 *
 * After Eklov, Nikoleris, Hagersten (see speedup.h), sections 2 and 6.2, whose cache is overhead + cache, and whose
 * memory, T1 / t(1/N) - T1 / max (t - w), holds what is imbalance and few processors here.
 *
 * Of several runs the shortest that is good by its own numbers counts, if a second one is, and about as short. A
 * measurement that fails its guard says why and is not used; nor are those of threads that do other work alone than
 * together (loops whose iterations go to who comes first), or that run slower alone with their part than together: then
 * they share data, and each has more than its part. */
#ifndef FV_ALONE_H
#define FV_ALONE_H

#include "profile/threads/phases.h"

#define FV_ALONE_VERDICT_LIST(X)                                                                                      \
    X(GOOD, "good")                                                                                                   \
    X(NOT_RUN, "not_run")           /* there is no such run */                                                        \
    X(NOT_MEASURED, "not_measured") /* the phase was not measured in it */                                            \
    /* as enum fv_gate_why */                                                                                         \
    X(WAITS, "waits")                                                                                                 \
    X(STILL, "no_progress")                                                                                           \
    X(LONG, "no_barrier")                                                                                             \
    X(BARRIERS, "barriers")                                                                                           \
    X(CREATOR, "creator")                                                                                             \
    X(NESTED, "nested")                                                                                               \
    X(LARGE, "too_many")                                                                                              \
    X(LATE, "late")                                                                                                   \
    X(LEFT, "left")                                                                                                   \
    X(CUT, "cut")                                                                                                     \
    /* it held the rest of the cache, and lost more than 3 % of its probes, or some in more than 10 % of the time, */ \
    /* or moved to another last cache */                                                                              \
    X(LOST, "pirate_lost")                                                                                            \
    X(UNPROBED, "unprobed")   /* or it is not known */                                                                \
    X(OFF_CPU, "off_cpu")     /* off the processor for more than FV_OFF_CPU of the time */                            \
    X(VARIES, "varies")       /* runs differ by more than FV_ALONE_SPREAD */                                          \
    X(NO_PART, "no_part")     /* there are runs with the whole cache alone: cache and memory are one */               \
    X(UNEQUAL, "asymmetric")  /* unequal work, too few instances for each to have had its turns */                    \
    X(MORE, "does_more")      /* alone a thread takes longer than together: it does more */                           \
    X(SHARED, "shared_data")  /* with its part of the cache a thread takes longer: threads share data */              \
    X(TOO_LARGE, "too_large") /* a speedup above 1.05 N */                                                            \
    X(REJECTED, "rejected")   /* the stack is, for its own reason */
#define FV_ALONE_VERDICT(name, word) FV_ALONE_##name,
enum fv_alone_verdict { FV_ALONE_VERDICT_LIST(FV_ALONE_VERDICT) FV_ALONE_VERDICTS };
extern const char *const fv_alone_verdicts[]; /* "good", ...; NULL behind the last */
extern const char *const fv_alone_hows[];     /* "whole", "pirate", "resctrl"; NULL behind the last */

#define FV_ALONE_LINE         64   /* bytes of a cache line */
#define FV_ALONE_SPREAD       0.10 /* (second least - least) / mean */
#define FV_ALONE_SPREAD_WORDS "10 %"
/* of the time, without waits: more without a processor is said, and a measurement is dropped */
#define FV_OFF_CPU             0.02
#define FV_OFF_CPU_WORDS       "2 %"
#define FV_ALONE_SAME          1.05 /* times as long, without being longer */
#define FV_ALONE_LOST_SHARE    0.10
#define FV_ALONE_UNEQUAL_RATIO 1.25 /* of the longest thread to the mean, without waits */
#define FV_ALONE_TURNS         2    /* of each thread, so that these do not matter */

/* A point of the curve of time by cache: runs of N threads with a part of the cache. Times: of all instances of a
 * rank. */
struct fv_alone_point {
    size_t threads, runs, good_runs; /* good: by their own numbers; of these the shortest counts */
    uint64_t measured;               /* instances, of the run with least: the threads take turns in them */
    uint32_t how;
    double part;
    uint64_t left_bytes;                    /* that the thread had, with its own caches; 0: not measured */
    double time_s, next_s, least_s, most_s; /* next: the second shortest good one's; INFINITY: there is none */
    double slower;                          /* times as long as with all of the cache; NAN: that is not known */
    double missed, off_cpu;                 /* shares; NAN: not known */
    double cycles, lines, bytes_per_s; /* with --counters: for an instruction; from memory, for 1,000 instructions; from
                                        * memory, of one; NAN: not counted */
    enum fv_alone_verdict verdict;
};
struct fv_alone_stack {
    enum fv_alone_verdict verdict;
    double alone, pirate; /* speedups; NAN: not known, as all below */
    double overhead, cache, memory, shared;
};

/* Do these measurements of one run count, by their own numbers? */
enum fv_alone_verdict fv_alone_judge(const struct fv_alone_run *run, const struct fv_phase_alone *alone);

/* Are the two shortest runs further apart than that, as a part of their mean? next_s INFINITY: there is one run. */
bool fv_alone_differ(double least_s, double next_s, double spread);

struct fv_speedup;
struct fv_speedup_phase;

/* A run of a phase. */
void fv_alone_add(struct fv_speedup_phase *phase, const struct fv_alone_run *run, const struct fv_phase *of);
/* When all runs are there and stacks are computed. */
void fv_alone_compute(struct fv_speedup *speedup);

/* How many times as fast the work of N threads were with `times` as much cache, memory apart: t(1/N) / t(times/N),
 * between points of the curve by the logarithm of the part. NAN: the curve does not reach so far. */
double fv_alone_gain(const struct fv_speedup_phase *phase, size_t threads, double times);

#endif
