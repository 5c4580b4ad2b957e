/* SPDX-License-Identifier: BSD-3-Clause */
/* From the ticks of each rank to nanoseconds of one time, common to all.
 *
 * Ranks of one boot that read the same counter share one straight line, so that between them no message can
 * arrive before it was sent. Where ranks have several clocks each follows CLOCK_REALTIME through its clock
 * points, and a correction (correct.h) shifts what is still wrong. All processes compute the same. */
#ifndef FV_CLOCKS_H
#define FV_CLOCKS_H

#include "merge/defs.h"

struct fv_clock_piece {
    uint64_t ticks; /* from here on: */
    int64_t ns;     /* after the origin */
    double rate;    /* ns per tick */
};

/* What the correction adds: a polygon through `knots` points that are `width_ns` apart, the first at time 0.
 */
struct fv_clock_shift {
    int64_t *at_knot; /* never negative */
    uint32_t knots;   /* 0: no correction */
    int64_t width_ns;
};

struct fv_clock_line {
    struct fv_clock_piece *pieces; /* at least one, by ticks */
    uint32_t count;
    struct fv_clock_shift shift;
};

struct fv_clocks {
    struct fv_clock_line *lines;
    uint32_t line_count;
    uint32_t *of_rank;   /* by index in fv_defs.ranks */
    int64_t origin_ns;   /* CLOCK_REALTIME of time 0 */
    uint32_t unknown_hz; /* ranks whose clock's frequency is not known: 1 GHz is taken */
};

void fv_clocks_init(struct fv_clocks *clocks, const struct fv_defs *defs);
void fv_clocks_release(struct fv_clocks *clocks);

/* Time of the last event of any rank, ns; at least 1. */
int64_t fv_clocks_length(const struct fv_clocks *clocks, const struct fv_defs *defs);

int64_t fv_clock_shifted(const struct fv_clock_shift *shift, int64_t ns);

/* A damaged file may have any clock points. What they lead to is bounded, so that no sum of times overflows:
 * a piece's begin by its first, what lies behind it, and the correction, by the second (36 years). */
#define FV_CLOCK_FARTHEST (INT64_C(1) << 62)
#define FV_CLOCK_LONGEST  (INT64_C(1) << 60)

static inline int64_t fv_clock_bounded(double ns, int64_t most)
{
    return ns > (double)most ? most : ns < -(double)most ? -most : (int64_t)ns;
}

/* Time of a tick; `piece` is the caller's memory of where it was, 0 at first. */
static inline int64_t fv_clock_ns(const struct fv_clock_line *line, uint64_t ticks, uint32_t *piece)
{
    const struct fv_clock_piece *p = &line->pieces[*piece];

    while (FV_UNLIKELY(*piece + 1 < line->count && (int64_t)(ticks - p[1].ticks) >= 0)) {
        ++*piece;
        p++;
    }
    while (FV_UNLIKELY(*piece > 0 && (int64_t)(ticks - p->ticks) < 0)) {
        --*piece;
        p--;
    }
    int64_t ns = p->ns + fv_clock_bounded((double)(int64_t)(ticks - p->ticks) * p->rate, FV_CLOCK_LONGEST);

    return FV_LIKELY(!line->shift.knots) ? ns : fv_clock_shifted(&line->shift, ns);
}

#endif
