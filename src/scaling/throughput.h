/* SPDX-License-Identifier: BSD-3-Clause */
/* What sharing a node's caches and memory costs those that work on it with work of their own each: copies of a program
 * without MPI, or the ranks of one with it (fvmpi run --throughput). Throughput stacks: Eklov, Nikoleris, Hagersten, "A
 * profiling method for analyzing scalability bottlenecks on multicores", section 5; ranks in place of copies, and few
 * processors and MPI as components of their own, are ours.
 *
 * N work together for T, the longest of them, or, of copies, from the first begin to the last end. Of all of them added
 * up: U outside of MPI, without Q, in which they waited for a processor; A what each takes alone with all of the shared
 * cache; P with the N-th part of it. One that works as fast as alone, all the time, counts as 1:
 *
 *     throughput = A / T
 *     if only caches were shared      N A / P          cache = N - N A / P
 *     and memory, too                 N A / U          memory = N A / P - N A / U;     both, where P is not known:
 *     sharing = N - N A / U
 *     and processors                  N A / (U + Q)    few_cpus = N A / U - N A / (U + Q)
 *     and the rest                    A / T            waiting = N A / (U + Q) - A / T: in MPI, and of copies what they
 *     did not begin and end at once
 *
 * Ranks that take turns (rt/turns.h) find the others' data in the cache when theirs begins. Where turns are shorter
 * than FV_TURN_FILLS times what filling the cache takes at most, A may be too large, and what sharing costs is at least
 * what is told. Order of use: fv_throughput_load() for each run, fv_throughput_compute(). One thread. */
#ifndef FV_THROUGHPUT_H
#define FV_THROUGHPUT_H

#include "profile/profile.h"
#include "scaling/alone.h"
#include "tool/vec.h"

#define FV_TURN_FILLS 10

#define FV_THROUGHPUT_KIND_LIST(X)     X(COPIES, "copies") X(RANKS, "ranks")
#define FV_THROUGHPUT_KIND(name, word) FV_THROUGHPUT_##name,
enum fv_throughput_kind { FV_THROUGHPUT_KIND_LIST(FV_THROUGHPUT_KIND) FV_THROUGHPUT_KINDS };
extern const char *const fv_throughput_kinds[]; /* "copies", "ranks"; NULL behind the last */

/* Seconds; NAN: not known. */
struct fv_throughput_share {
    int rank;                  /* or copy */
    double together_s;         /* outside of MPI, without waiting for a processor */
    double queue_s, off_cpu_s; /* for a processor; without one for another reason, which is in together_s */
    double alone_s, part_s;
    double cache_s, memory_s, sharing_s; /* part - alone, together - part, together - alone */
};
struct fv_throughput_point {
    enum fv_throughput_kind kind;
    size_t count, runs;                 /* N; in which they work together: the shortest counts */
    double elapsed_s;                   /* T */
    struct fv_throughput_share sums;    /* U, Q, ... of all; rank is nothing */
    double alone_least_s, alone_most_s; /* A of the runs: the shortest that is good, the longest; NAN: there is none */
    double part;                        /* of the cache, in the runs of P; NAN: none */
    uint32_t how;                       /* enum fv_solo_how */
    uint64_t left_bytes;                /* that one had of it; 0: not measured */
    double missed;                      /* of the pirate's probes; NAN: none */
    double turn_s, fill_s;              /* the mean of turns, of ranks; filling the cache, at most; NAN: not known */
    bool is_least;                      /* turns are short: sharing costs at least so much */
    bool is_off_cpu; /* for more than FV_OFF_CPU of U they had no processor for another reason than others that work; or
                      * threads of copies had all processors, and what they waited for these is not known: nothing
                      * is told */
    enum fv_alone_verdict separation;
    double wanted_bytes_per_s, bytes_per_s; /* from memory: what N want with the N-th part of the cache, and what they
                                             * get together; NAN: it was not counted */
    double throughput, waiting, few_cpus, cache, memory, sharing; /* components of N; NAN: not known */
    struct fv_throughput_share *shares;
};

/* What one does alone with a part of the cache: runs with it, the shortest that is good, if there is one. Of ranks
 * means over them, outside of MPI. Counts are of --counters; NAN: they were not counted, as all below. */
struct fv_throughput_alone {
    enum fv_throughput_kind kind;
    size_t count, runs; /* N of ranks; copies: 1 */
    uint32_t how;       /* enum fv_solo_how */
    double part;
    uint64_t left_bytes;
    double time_s, slower; /* of one; times as long as with all of the cache */
    double missed;         /* of the pirate's probes; NAN: none */
    double cycles;         /* for an instruction */
    double lines;          /* from memory, for 1,000 instructions */
    double bytes_per_s;    /* from memory, of one: its demand for bandwidth */
    enum fv_alone_verdict verdict;
};

struct fv_throughput_run;
struct fv_throughput {
    struct fv_throughput_point *points; /* by kind and N */
    size_t count, room;
    struct fv_throughput_alone *curve; /* by kind, N, and part, largest first */
    size_t curve_count, curve_room;
    struct fv_throughput_run *runs;
    size_t run_count, run_room;
};

/* What there is of it in a run: nothing, in most. */
void fv_throughput_load(struct fv_throughput *throughput, const struct fv_model *model);
/* False: these runs are of something else. */
bool fv_throughput_compute(struct fv_throughput *throughput);
void fv_throughput_release(struct fv_throughput *throughput);

/* How many times as fast one of N were with twice the part of the cache, memory apart: P of N over P of the next point
 * with a part twice as large, or A. NAN: there is none. */
double fv_throughput_gain(const struct fv_throughput *throughput, const struct fv_throughput_point *point);

#endif
