/* SPDX-License-Identifier: BSD-3-Clause */
/* What noise of the machine cost a run: time that other programs took of its ranks' processors outside of MPI, by the
 * kernel's records of context switches, call by call.
 *
 * A collective call of all ranks begins for good when the last of them comes. Had nobody been preempted since the
 * blocking collective call before, each would have come by what it was preempted earlier, and the call would have begun
 * at
 *
 *     max over ranks of (begin - preempted)   instead of   max over ranks of begin.
 *
 * The difference, times the ranks, is what that noise cost: `cost_s`. It is an estimate, other things equal; noise of a
 * rank that comes early costs nothing. (After Hoefler, Schneider and Lumsdaine, Characterizing the Influence of System
 * Noise on Large-Scale Applications by Simulation, SC10.) Of calls for which only some wait (broadcasts, reductions to
 * a root) it is not computed.
 *
 * An interval is the time of a thread from the end of a blocking collective call to the begin of the next one; other
 * calls of MPI in between are in it. */
#ifndef FV_NOISE_H
#define FV_NOISE_H

#include "profile/model.h"
#include "profile/noise/shares.h"
#include "tool/cpus.h"

#include <stdbool.h>

#define FV_NOISE_PLACES      20 /* call sites that are told at most */
#define FV_NOISE_PROJECTIONS 5

/* The intervals of a thread of a rank between two call sites: some of them, in their order. */
struct fv_noise_series {
    uint32_t from, site, rank; /* from: FV_NONE: the rank's first */
    uint32_t shift;            /* each 2^shift-th is kept */
    uint64_t seen, preempted;  /* intervals; times that the thread was preempted in them */
    double time_s, preempted_s, blocked_s;
    struct fv_noise_interval *items;
    size_t count, room;
};

/* For a run on so many ranks: the longest of their preemptions before one call, if each rank's is a draw of its own of
 * those that all ranks had in this run. */
struct fv_noise_projection {
    uint32_t place;
    uint64_t ranks;
    double expected_s; /* of one interval ... */
    double share;      /* ... and which part of it, with the mean of the intervals without preemption */
};

/* Before a call site of a blocking collective. */
struct fv_noise_place {
    uint32_t site;
    uint32_t max_rank; /* whose preemption was longest; FV_NONE: none was preempted */
    double max_rank_s;
    uint64_t intervals, preempted;
    double time_s, preempted_s, blocked_s;
    double cost_s; /* NAN: it is not computed for such calls */
    uint32_t warm; /* series (threads) that warm up: ... */
    double warm_s; /* ... their first intervals, until one is no longer than those of the second half; mean. NAN:
                    * none does */
    double mean_s; /* of the others */
    double percentile_s[3]; /* 50, 90, 99; NAN: of none */
    struct fv_noise_share share[FV_NOISE_SOURCES];
    uint64_t sampled; /* intervals that the last ones are of */
    uint32_t first_projection, projections;
};

/* A process of a node that is none of the run's, or one of its ranks. */
struct fv_noise_other {
    const char *host, *name, *processors; /* processors: a list; NULL: not known */
    const char *service;                  /* of the system; NULL: none */
    uint32_t pid, cpu;                    /* cpu: it ran on last */
    uint32_t rank;                        /* FV_NONE: none */
    uint32_t started_by;                  /* the rank that started it, or whom it stems from; FV_NONE: none */
    double cpu_s;                         /* while the rank that looked was recorded */
    struct fv_cpus cpus;                  /* of the list */
};

struct fv_noise_rank {
    uint32_t rank;
    bool recorded;      /* there is a log of its preemptions */
    uint64_t faults;    /* of pages, of the process */
    double throttled_s; /* its control groups, together; NAN: not known */
    double cost_s;      /* by places at which it came last; NAN: no log tells */
    uint32_t by;        /* in fv_noise_view.others: of the processes of its name that may have had a processor of the
                         * rank's, that with most; FV_NONE: not known */
    uint32_t by_count;  /* so many processes */
    double by_cpu_s;    /* of them all */
};

struct fv_noise_view {
    struct fv_noise_series *series;
    size_t series_count, series_room;
    struct fv_noise_place *places; /* by cost, then by what was preempted; most first */
    size_t place_count, place_room;
    struct fv_noise_projection *projections; /* by place and ranks */
    size_t projection_count, projection_room;
    struct fv_noise_other *others; /* by host and CPU time, most first */
    size_t other_count, other_room;
    struct fv_noise_rank *ranks; /* one each; 0: nothing is known */
    size_t rank_count;
    bool whole; /* each preemption had room in the logs */
};
void fv_noise_release(void *data); /* struct fv_noise_view */
/* What noise cost, at call sites as they are numbered. */
void fv_build_noise(struct fv_model *model);

/* Seconds of a rank, by its index, in which another thread had its processor: outside of MPI by the kernel's switches;
 * NAN: not known. */
struct fv_model;
double fv_noise_preempted_of(const struct fv_model *model, uint32_t rank);
/* What it cost all ranks together, at least: what collective calls began later, or what ranks were preempted, whichever
 * is more; and of the same, whose part is the largest. */
struct fv_noise_loss {
    double seconds;   /* NAN: not known */
    bool is_of_calls; /* the sum of costs; else of preemptions */
    uint32_t rank;    /* that with most; FV_NONE: nobody lost anything */
    double rank_s;    /* its part of the seconds */
};
struct fv_noise_loss fv_noise_loss(const struct fv_model *model);
/* The processes that most likely kept that rank from a processor for so long: `by` is not FV_NONE, and they used at
 * least half of that time. NULL: not known. */
const struct fv_noise_rank *fv_noise_culprit(const struct fv_model *model, uint32_t rank, double lost_s);
/* Is it known, and one process, which a rank of the run started? */
bool fv_noise_is_own(const struct fv_model *model, uint32_t rank, double lost_s);

/* ranks 0: nothing is known of it. */
FV_SUBJECT_DATA(struct fv_noise_view, noise, noise)

#endif
