/* SPDX-License-Identifier: BSD-3-Clause */
/* Where ranks have several clocks, a message may still arrive before it was sent, by the little that
 * CLOCK_REALTIME of two hosts differs. Then the receiver's clock is moved forward, as little as needed: first
 * by a constant for each clock, which leaves all its intervals as they were; if clocks drift too much for
 * that, by a polygon. Moving one clock may disturb another message, so it is repeated until nothing moves.
 *
 * Messages are matched by (communicator, source, destination, tag) and their order, collective calls by
 * (communicator, sequence). All events are read once, or, where what must be matched does not fit the memory,
 * several times, each time for a share of the keys, which goes to a temporary file. */
#ifndef FV_CORRECT_H
#define FV_CORRECT_H

#include "merge/merge.h"

struct fv_correction {
    uint64_t checked; /* messages, and ends of collective calls, between different clocks */
    uint64_t early;   /* that ended before they could, at first */
    uint64_t left;    /* ... and still do, when it was given up */
    uint64_t skipped; /* messages that could not be matched: not all of their channel were recorded */
    uint64_t rounds;
    int64_t largest_ns; /* shift */
};

/* Collective. memory: bytes that this process may use for it; directory: for what does not fit. The clocks,
 * which have no correction yet, are changed. False: no room for that, which is logged; they are not. */
bool fv_correct(struct fv_merge *merge, const char *directory, uint64_t memory, struct fv_correction *out);

#endif
