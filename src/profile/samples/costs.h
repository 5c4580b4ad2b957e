/* SPDX-License-Identifier: BSD-3-Clause */
/* Where CPU time is: ticks of each thread's CPU clock by full call path. The model holds what was counted;
 * with the symbols it becomes procedures, lines, loops and a call tree. Ticks are samples: n of them stand
 * for n / rate seconds, give or take 2 sqrt(n) (95 %, Poisson). A thread that sleeps has none. */
#ifndef FV_COSTS_H
#define FV_COSTS_H

#include "base/base.h"
#include "profile/model.h"

#include <stdbool.h>
#include <stddef.h>

struct fv_cost_thread {
    uint32_t rank, thread; /* thread: its id */
    uint64_t ticks, in_mpi;
    uint64_t lost;     /* without a path of their own, and not in `ticks`: a table was full */
    double tick_s;     /* CPU time in user mode that a tick stands for, by the rate ... */
    double cpu_tick_s; /* ... and of all of the thread's CPU time, as the kernel tells it; tick_s where that is not
                        * known */
    bool stopped;      /* it was not sampled to its end */
};
struct fv_cost_leaf {
    uint32_t node, thread; /* thread: index in fv_costs.threads */
    uint32_t fork;         /* of its path's nodes this and those above are of another thread; 0: none is */
    uint64_t ticks, in_mpi;
    uint32_t set;  /* of sections that were open, as the rank's file has it; 0: none */
    uint32_t from; /* outside of MPI: the call site of the thread's last call; FV_NONE: in MPI, or not known */
};
struct fv_costs {
    struct fv_cost_thread *threads; /* by rank */
    size_t thread_count, thread_room;
    struct fv_cost_leaf *leaves; /* by thread */
    size_t leaf_count, leaf_room;
    uint64_t ticks, in_mpi, lost;
    double tick_s; /* mean over all ticks */
};

struct fv_build;
struct fv_build_file;
struct fv_sample_trees;
/* Adds a rank's; ranks in order. */
void fv_build_costs(struct fv_build *build, struct fv_build_file *file, const struct fv_sample_trees *trees,
                    uint32_t rank);
/* Says if samples stand for a small part of the CPU time. */
void fv_costs_complete(struct fv_model *model);
void fv_costs_release(void *data); /* struct fv_costs */

/* ticks 0: none. */
FV_SUBJECT_DATA(struct fv_costs, costs, costs)

#endif
