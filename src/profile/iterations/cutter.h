/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts the calls of a thread into the iterations of a unit (units.h). An iteration lasts from the end of the call
 * before its first one to the end of its last one: so what is computed before the first call is part of it. */
#ifndef FV_CUTTER_H
#define FV_CUTTER_H

#include "profile/iterations/units.h"

struct fv_cut {
    double begin_s, end_s, called_s; /* called_s: in its calls */
};
struct fv_cutter {
    struct fv_unit_cut by;
    uint32_t anchors;       /* of the present iteration */
    uint32_t skips;         /* anchors before the first iteration */
    size_t number;          /* of the iteration that the last call was of, if ... */
    bool is_in;             /* ... it was of any */
    bool is_over;           /* ... which it ended */
    double before_s;        /* end of the call before */
    struct fv_cut open;     /* the present one, ... */
    double end_s, called_s; /* ... and the same up to the last call of the core */
};

/* Where of a few pieces one takes nearly all of the time, as often as they follow each other (so long each was, cut by
 * the anchor's every call), they are one iteration: a loop around these calls in its own function looks like that. Says
 * so in *cut; false: they are not. */
bool fv_cut_together(const double *seconds, size_t count, struct fv_unit_cut *cut);
/* Where a thread begins. */
struct fv_cutter fv_cutter(struct fv_unit_cut by);
/* The next call. True: an iteration is over, *out. */
bool fv_cutter_call(struct fv_cutter *cutter, uint32_t symbol, double begin_s, double end_s, struct fv_cut *out);
/* There are no more calls. True: the last iteration, which no call ended. */
bool fv_cutter_end(struct fv_cutter *cutter, struct fv_cut *out);

#endif
