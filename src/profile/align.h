/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the clocks of several hosts are apart, by their collective calls.
 *
 * Where nobody can leave an operation before somebody else has entered it, every such begin is before every
 * such end in true time, whatever the clocks say. Each operation so bounds the offset between each two of its
 * clocks; all together are a system of difference constraints, whose shortest paths are the tightest bounds
 * (Cormen et al., Introduction to Algorithms, 24.4). A path leads from clock to clock through operations, so
 * the work grows with the log's entries and not with the square of the clocks.
 *
 * Times that go in are seconds by each host's wall clock. Any values are accepted; the cost is bounded. */
#ifndef FV_ALIGN_H
#define FV_ALIGN_H

#include "tool/vec.h"

struct fv_align;

struct fv_alignment {
    uint32_t linked;        /* clocks that some operation connects with another one */
    uint32_t groups;        /* of connected clocks; between groups nothing is known */
    bool drift;             /* clocks ran at different rates: one offset for the run was not enough */
    double error_s;         /* largest error of a clock against the first one of its group */
    double contradiction_s; /* by so much a call still ends before it could; part of error_s */
};

/* most: entries that are kept, 32 bytes each; beyond, operations are sampled. */
struct fv_align *fv_align_new(uint32_t clocks, size_t most);
void fv_align_free(struct fv_align *align);

/* A rank's part in an operation, whose number is the caller's. gives: those who take cannot leave before this
 * rank has entered. takes: it cannot leave before those who give have entered. */
void fv_align_add(struct fv_align *align, uint32_t operation, uint32_t clock, double begin_s, double end_s, bool gives,
                  bool takes);

/* After the last fv_align_add(), once. */
struct fv_alignment fv_align_solve(struct fv_align *align);

/* Of a time by a clock, the time that is common to all. */
double fv_align_time(const struct fv_align *align, uint32_t clock, double time_s);

/* By how much times of two clocks may still be wrong against each other: 0 of one clock, INFINITY if nothing
 * is known. */
double fv_align_error(const struct fv_align *align, uint32_t one, uint32_t other);

#endif
