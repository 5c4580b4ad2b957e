/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the program: what repeats in the calls of its ranks (units.h), how long it takes (judge.h), and what
 * is in an iteration. */
#ifndef FV_ITERATIONS_H
#define FV_ITERATIONS_H

#include "profile/iterations/judge.h"
#include "profile/model.h"

/* What repeats. Times are means over ranks; of units that are not main ones, they are of one rank. */
struct fv_iteration_unit {
    uint32_t site;   /* whose call ends each iteration */
    uint32_t node;   /* in the tree: the call in the function that has the loop, on the way to it; 0: not known */
    uint32_t inside; /* index of the unit that it is nested in; FV_NONE: none */
    bool is_main;    /* findings are about it (units.h) */
    uint32_t ranks;  /* that have as many iterations */
    uint64_t count;
    double begin_s, end_s; /* of the first rank */
    struct fv_iteration_times times;
    double longest_at_s;
    double computing_s, mpi_s, wait_s; /* mean of an iteration and rank; NAN: not known */
    struct fv_moving_load load;
    /* What long iterations have more than others, of all that they have more, by the function that the loop calls. */
    uint32_t cause_site, cause_node;       /* FV_NONE, 0: not known */
    bool cause_is_call;                    /* the call itself is longer, else the computing before it */
    bool cause_is_alone;                   /* other iterations have the call seldom, or not: */
    double calls_in_long, calls_in_others; /* mean in an iteration and rank, of those that were compared */
    uint64_t cause_in;                     /* ... and so many have it, ... */
    double cause_in_s, cause_s;     /* ... which take so long, and of that for it, all of them and of all ranks */
    uint32_t cause_rank;            /* with at least 1.25 times as much of it as any other; FV_NONE: none stands out */
    uint64_t longs, others;         /* iterations of the first rank that were compared for it */
    uint32_t first_number, numbers; /* its part of fv_iterations.numbers */
};
/* Iterations, or several neighbours. */
struct fv_iteration_number {
    uint32_t unit, merged;
    uint64_t number;                                          /* of the first, from 0 */
    double begin_s;                                           /* mean over ranks */
    double duration_s, longest_s, computing_s, mpi_s, wait_s; /* of an iteration, mean over them and ranks; NAN */
    double imbalance_s;                                       /* longest computing of a rank less the mean; NAN */
    double analysed_s;                                        /* wait_s of all calls, by the analysis; NAN: not known */
    uint32_t slowest;                                         /* that rank; FV_NONE */
};
#define FV_ITERATION_ROWS 1000 /* of a unit, at most */

/* Calls of a site in an iteration of a unit, of a trace: the mean. */
struct fv_iteration_part {
    uint32_t unit, site;
    double calls;
};

/* Samples of the CPU clock at a call path. */
struct fv_iteration_sample {
    uint32_t unit, node;         /* its key */
    uint64_t in_long, in_others; /* in iterations that were compared */
};

struct fv_build;
struct fv_iteration_gather;
struct fv_extra;
struct fv_iterations {
    struct fv_iteration_unit *units;
    size_t count, room;
    struct fv_iteration_number *numbers;
    size_t number_count, number_room;
    struct fv_iteration_part *parts;
    size_t part_count, part_room;
    struct fv_iteration_sample *samples; /* of a trace */
    size_t sample_count, sample_room;
    struct fv_index sample_index;
    bool traced;                        /* by all calls; else by blocking collective calls */
    bool is_part;                       /* ... of which the log has only the first ones, ... */
    uint64_t first_calls;               /* ... so many of a rank, at least */
    bool is_kept;                       /* ... of which ranks have kept the end alone */
    bool is_analysed;                   /* waiting is of all calls, by the trace's analysis */
    const char *left;                   /* why none are known, though there may be some, a clause; NULL: they are, or
                                         * there are none */
    struct fv_iteration_gather *gather; /* while they are read */
    struct fv_extra *extras;            /* then by unit, until call sites have their numbers; NULL: none */
};
FV_SUBJECT_DATA(struct fv_iterations, iterations, iterations)

/* A blocking collective call of a rank, whose times were handed over, waited, and was preempted before. In the order of
 * time. */
void fv_iterations_waited(struct fv_build *build, uint32_t rank, uint32_t thread, uint64_t begin_ticks, double wait_s,
                          double preempted_s);
/* Call sites have these numbers now: causes of long iterations are judged. */
void fv_iterations_renumber(struct fv_model *model, const uint32_t *sites);
void fv_iterations_complete(struct fv_model *model);
void fv_iterations_release(void *data);

#endif
