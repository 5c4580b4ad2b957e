/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces that are rings (--trace-keep): their begins are gone, on each rank at another time. What is left is told so
 * that all who take records, and readers of the archive, may match messages by their order, as in a whole trace: sends
 * and receives whose other ends are gone are left out. Which they are follows from the numbers that the events have.
 *
 *     sends     of a kind (communicator, sender, receiver, tag) have numbers. The first that is kept is number s.
 *     receives  are numbered when they complete, but match in the order of their posting. Of those that completed
 *               before what is kept there are c, of those that were posted before it and completed in it p: all of them
 *               were posted before those that were posted in it, so the first of these has message number c + p + 1.
 *
 * Both ranks leave out what is below the larger of the two. Where numbers are missing, all of the kind is left out. */
#ifndef FV_RINGS_H
#define FV_RINGS_H

#include "merge/replay.h"

struct fv_merge;

struct fv_rings {
    bool any;                   /* ring that has lost its begin, of any rank of the run; else there are no views */
    uint64_t from_ns;           /* the latest begin of them: from there on all ranks are told */
    struct fv_ring_view *views; /* by index in fv_defs.ranks; of others' ranks they are zeros */
    size_t count;
    uint64_t unknown; /* kinds of messages, on a rank of this process, that are left out because numbers are missing */
};

/* Collective. common: of all ranks only what begins at from_ns or later. To be released in any case. */
void fv_rings_find(struct fv_rings *rings, struct fv_merge *merge, bool common);
void fv_rings_release(struct fv_rings *rings);

#endif
