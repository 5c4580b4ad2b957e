/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations of a program, from the sequence of its calls alone. An iteration has one call of the *anchor*, a call
 * site. So an occasional call more, an inner loop with another number of rounds, or a
 * branch that is seldom taken does no harm. Rejected: exact periods of the sequence, as suffix structures find them,
 * which any such call ends.
 *
 * For each call site that occurs at least FV_UNIT_LEAST times, the sequence is cut behind it. Its *core* are the call
 * sites that are in four of five pieces. It is an anchor if seven of ten pieces have the whole core, its sites for the
 * first time in one order, and the core makes seven of ten calls. Calls in random order have no such anchor.
 *
 * Anchors of about as many pieces are of one loop: the one that is clearest, and then that with most pieces, stands for
 * it. Of loops in each other, the outermost is the main unit, unless what it does beside the inner one looks like a
 * branch within that one: see is_branch(). Then it is listed only if the inner one is called from further in, and has
 * as many rounds in each. */
#ifndef FV_UNITS_H
#define FV_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The frames of a call site, outermost first. */
struct fv_unit_path {
    const uint32_t *nodes;
    uint32_t depth;
};

/* Calls of one thread, and perhaps other events in between that have no length. */
struct fv_call_sequence {
    const uint32_t *symbol;          /* call site of each call, below `symbols` */
    const double *begin_s, *end_s;   /* not before those of the call before */
    const struct fv_unit_path *path; /* of each symbol; NULL: nothing is known of frames */
    const uint32_t *spread;          /* of each symbol: how many threads have as many calls of it. NULL: not known */
    size_t count;
    uint32_t symbols, calls; /* below `calls` they are calls; 0: all are */
};

/* Where the sequence is cut: an iteration begins with the anchor, or ends with it. That is a call site with one call in
 * each, as far as there is one on as many threads as any, and the first of the core, or the last. */
struct fv_unit_cut {
    uint32_t anchor, first; /* symbols; first: with which the first iteration begins */
    bool is_end;
    uint32_t each, lead; /* 0, 0; or an iteration has so many calls of the anchor, and so many come before the first
                          * one */
    const uint8_t *core; /* by symbol: is it of the core? */
};

struct fv_unit {
    struct fv_unit_cut cut;
    uint32_t call;   /* symbol: the anchor, or the first call behind it */
    uint32_t inside; /* index of the unit that it is nested in; FV_NONE: none */
    bool is_main;    /* what iterations are: others are around it, or inside */
    size_t count;    /* iterations */
    uint32_t depth;  /* frames that all its calls have in common */
    double begin_s, end_s;
    double covered_s; /* of that; pauses are left out: one iteration of 20 times the median and much of the run */
};

#define FV_UNIT_LEAST 8   /* iterations */
#define FV_UNITS_MOST 16  /* units, with those inside of others */
#define FV_UNIT_PART  0.2 /* of the time between the first call and the last: what a unit covers ... */
#define FV_UNIT_ALL   0.5 /* ... and what all together cover: else there are none */

/* Units, each behind the one that it is inside of. Returns how many, to be released. */
size_t fv_units_find(const struct fv_call_sequence *sequence, struct fv_unit out[FV_UNITS_MOST]);
void fv_units_release(struct fv_unit *units, size_t count);

#endif
