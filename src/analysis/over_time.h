/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting over time: of the line of each rank that made most calls, added up over ranks, in bins of equal length. A
 * call's waiting stands from its begin on. */
#ifndef FV_OVER_TIME_H
#define FV_OVER_TIME_H

#include "merge/transport.h"

#define FV_OVER_TIME_BINS 8192 /* at most */

struct fv_over_time {
    uint64_t *wait_ns; /* by bin; NULL: no line was added, or the run has no length */
    uint32_t bins;
    unsigned shift; /* a bin is 1 << shift ns */
    uint64_t ranks; /* that have a line */
    /* Of the present rank: its line, and the one with most calls so far. */
    uint64_t *line_ns, *most_ns, most_calls;
};

/* length_ns: of the run. */
struct fv_over_time fv_over_time(uint64_t length_ns);
void fv_over_time_add(struct fv_over_time *over, uint64_t begin_ns, uint64_t wait_ns);
/* All of a line of the present rank was added. */
void fv_over_time_end_line(struct fv_over_time *over, uint64_t calls);
void fv_over_time_end_rank(struct fv_over_time *over);
/* Collective: the sums are over the ranks of all processes. */
void fv_over_time_gather(struct fv_over_time *over, const struct fv_transport *t);
void fv_over_time_release(struct fv_over_time *over);

#endif
