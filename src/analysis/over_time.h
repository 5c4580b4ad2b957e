/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting of each rank's main thread over time, in bins of equal length. A call's waiting stands from its begin on. */
#ifndef FV_OVER_TIME_H
#define FV_OVER_TIME_H

#include "merge/transport.h"

#define FV_OVER_TIME_BINS    8192      /* of a rank at most, and ... */
#define FV_OVER_TIME_NUMBERS (1 << 18) /* ... of all ranks; ... */
#define FV_OVER_TIME_LEAST   64        /* ... of so many ranks that each would have fewer, there are none */

struct fv_over_time {
    uint64_t *wait_ns; /* by rank, as in fv_defs.ranks, and bin; NULL: none */
    uint32_t ranks, bins;
    unsigned shift; /* a bin is 1 << shift ns */
};

/* length_ns: of the run. */
struct fv_over_time fv_over_time(uint64_t length_ns, uint32_t ranks);
void fv_over_time_add(struct fv_over_time *over, uint32_t rank, uint64_t begin_ns, uint64_t wait_ns);
/* Collective: all processes have all ranks. */
void fv_over_time_gather(struct fv_over_time *over, const struct fv_transport *t);
void fv_over_time_release(struct fv_over_time *over);

#endif
