/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the compiler instrumented (--functions): how often they were called, how long they took, by call path,
 * over the ranks. Exact, but that each call holds what measuring those that it calls costs; and of what is counted
 * alone the caller has the time. */
#ifndef FV_INSTRUMENTATION_H
#define FV_INSTRUMENTATION_H

#include "profile/model.h"
#include "tool/vec.h"
#include "trace/format.h"

/* Calls of a function, of whatever is told below. Seconds are of all ranks and threads, pauses left out. */
struct fv_calls_sum {
    uint64_t calls, nested, counted; /* as in struct fv_function_calls */
    uint64_t ended, open;            /* measured; of which all but `open` have ended, which are in no min and max */
    double seconds, self_s;          /* with what it calls; without */
    double mpi_s, mpi_self_s;        /* of these: in MPI */
    double min_s, max_s;             /* of a call; INFINITY and 0: none has ended */
};

/* A function at a place of the tree of calls. */
struct fv_function_place {
    uint32_t parent, node; /* the caller's place, smaller, or FV_NONE; the function's frame behind its call path, in
                            * fv_model.tree */
    uint32_t function;     /* in fv_instrumentation.functions */
    uint32_t depth;
    struct fv_calls_sum sum;
    uint32_t ranks, max_rank; /* max_rank: with the largest seconds: */
    double rank_max_s;
};

/* Threads whose first call of a function took at least so many times as long as the longest of their others: it warmed
 * up, as far as their calls tell. Of a function that a thread called less often nothing is said. */
#define FV_FIRST_CALL_TIMES 2
struct fv_function_warm_up {
    uint32_t of_threads, threads; /* that called it often enough; of these, that warmed up. Of those: */
    double first_s;               /* their first calls, all together */
    uint64_t later;               /* their other calls ... */
    double later_s, longest_s;    /* ... all together, and the longest */
    double excess_s;              /* what the first calls took longer than the mean of the thread's others */
};

/* A function, wherever it was called. Of calls within others of itself the outermost alone are in its seconds. */
struct fv_instrumented_function {
    uint32_t node;         /* its frame, without a path */
    uint32_t first, ranks; /* its part of fv_instrumentation.ranks, by rank */
    struct fv_calls_sum sum;
    double mean_s;     /* its own computing, self_s - mpi_self_s, over all ranks: the mean, ... */
    double rank_max_s; /* ... that of max_rank, which has most */
    uint32_t max_rank;
    struct fv_function_warm_up warm_up;
    double imbalance_s; /* what all ranks would save if each took the mean: (max - mean) * ranks */
};

struct fv_function_rank {
    uint32_t function, rank; /* rank: in fv_model.ranks */
    struct fv_calls_sum sum;
};

/* time of a place on a rank. */
struct fv_function_part {
    uint32_t place, rank;
    double seconds;
};

/* What was counted in a function, of an archive: over all ranks, or on one. */
struct fv_function_count {
    uint32_t function, event, rank; /* event: in fv_instrumentation.events; rank: FV_NONE: all */
    uint64_t count, calls;          /* in it, and what it calls; in so many calls */
    uint64_t self, mpi_self;        /* in itself; of that, in calls of MPI */
    bool has_self, has_mpi;         /* they are known */
    uint32_t max_rank;              /* of all ranks: with the most ... */
    uint64_t rank_max;              /* ... of this, self where it is known */
};
/* A function on a stream of an accelerator. */
struct fv_stream_function {
    uint32_t rank, thread, node; /* node: its frame, in fv_model.tree */
    uint32_t flags;              /* enum fv_function_calls_flags */
    char device[64], name[64];
    uint64_t calls;
    double self_s, min_s, max_s; /* INFINITY and 0: none has ended */
};
struct fv_function_event_name {
    char name[64];
};

struct fv_instrumentation {
    struct fv_stream_function *streams; /* by rank and stream */
    size_t stream_count, stream_room;
    struct fv_function_event_name *events;
    size_t event_count, event_room;
    struct fv_function_count *counts; /* of all ranks, by function and event */
    size_t count_count, count_room;
    struct fv_function_count *rank_counts; /* by function, event and rank */
    size_t rank_count_count, rank_count_room;
    struct fv_function_place *places; /* callers before what they call; each one's by seconds, longest first */
    size_t place_count, place_room;
    struct fv_instrumented_function *functions; /* by self_s, longest first */
    size_t function_count, function_room;
    struct fv_function_rank *ranks;
    size_t rank_count, rank_room;
    struct fv_function_part *parts; /* by place and rank */
    size_t part_count, part_room;
    double call_s; /* what measuring a call takes, on the rank where it takes longest; 0: not known */
    struct fv_function_losses losses; /* of all ranks */
};
/* When nodes of paths have changed: places that have become equal are added up. */
void fv_instrumentation_fold(struct fv_instrumentation *instrumented);
void fv_instrumentation_release(void *data); /* struct fv_instrumentation */

/* functions 0: none. */
FV_SUBJECT_DATA(struct fv_instrumentation, instrumentation, instrumentation)

#endif
