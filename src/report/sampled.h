/* Functions that were sampled (fvmpi run --sample), unified over ranks and threads: how long their instances
 * took, how much that varies, and what part of the CPU time is theirs. */
#ifndef FV_SAMPLED_H
#define FV_SAMPLED_H

#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>

/* The paper's thresholds (FVSampler, table 1): part of the time, variation within a thread, between threads.
 */
#define FV_SAMPLED_SHARE   0.10
#define FV_SAMPLED_WITHIN  0.20
#define FV_SAMPLED_BETWEEN 0.10
#define FV_SAMPLED_ENOUGH  8u /* instances of a thread, for its variation to count */

/* Instances taken together; times in seconds. `m2`: sum of squared deviations. */
struct fv_sampled_stat {
    double mean[FV_METRIC_COUNT], m2[FV_METRIC_COUNT];
    uint64_t count;
};
/* Standard deviation of a sample (divided by count - 1) and that over the mean; 0 where there is none. */
double fv_sampled_stddev(const struct fv_sampled_stat *stat, enum fv_metric metric);
double fv_sampled_cov(const struct fv_sampled_stat *stat, enum fv_metric metric);
/* "time_s", ...: as in JSON. */
const char *fv_metric_name(enum fv_metric metric);

/* A function in a calling context. */
struct fv_sampled {
    uint32_t node;           /* in fv_model.nodes: one past the function's entry, called from its parents */
    uint32_t ranks, threads; /* that have instances */
    uint64_t entries, abandoned;
    struct fv_sampled_stat all, window;
    bool fast;      /* too fast for the window somewhere */
    uint64_t ticks; /* clock samples in it or below */
    double share;   /* of all clock samples: of the CPU time; 0..1 */
    double within;  /* coefficient of variation of CPU time, of the thread where it is largest ... */
    double between; /* ... and of the threads' means, less what chance explains; NAN: not known */
    bool varies;    /* by the thresholds above */
};

struct fv_samples {
    struct fv_sampled *items; /* those that vary first, then by share times variation, largest first */
    size_t count, room;
    uint64_t ticks, traps;
    uint64_t entries, returns, abandoned, open, lost; /* lost: without a context of their own, over budget */
    uint32_t threads;                                 /* that were sampled */
    uint64_t rate;
    double tool_s;        /* CPU time of the sampler, over all threads */
    double trap_s;        /* of one trap: what is subtracted from an instance, and ... */
    double trap_spread_s; /* ... between the quartiles of that */
};

#endif
