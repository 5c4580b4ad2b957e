/* SPDX-License-Identifier: BSD-3-Clause */
/* See clocks.h. */
#include "merge/clocks.h"
#include "experiment/experiment.h"
#include "trace/format.h"

#include <stdlib.h>
#include <string.h>

#define POINTS_APART_NS INT64_C(1000000000) /* nearer ones tell of the reading's noise, not of the clock */

/* Of a damaged file it may be any number; it does not overflow. */
static int64_t difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static bool same_clock(const struct fv_def_rank *a, const struct fv_def_rank *b)
{
    return fv_clock_same(&(struct fv_clock_id){ a->clock_kind, a->boot_id, a->host, &a->points[0] },
                         &(struct fv_clock_id){ b->clock_kind, b->boot_id, b->host, &b->points[0] });
}

static int64_t span(const struct fv_def_rank *r)
{
    return difference(r->points[r->point_count - 1].monotonic_ns, r->points[0].monotonic_ns);
}

static bool is_plausible(double rate)
{
    return rate > 1e-2 && rate < 1e4;
}

static double rate_between(const struct fv_clock_point *a, const struct fv_clock_point *b, bool realtime)
{
    int64_t ticks = (int64_t)(b->ticks - a->ticks);
    int64_t ns = realtime ? difference(b->realtime_ns, a->realtime_ns) : difference(b->monotonic_ns, a->monotonic_ns);

    return ticks > 0 ? (double)ns / (double)ticks : 0;
}

static double nominal(struct fv_clocks *c, const struct fv_def_rank *r)
{
    if (r->clock_kind == FV_CLOCK_MONOTONIC)
        return 1;
    if (r->nominal_hz && is_plausible(1e9 / (double)r->nominal_hz))
        return 1e9 / (double)r->nominal_hz;
    c->unknown_hz++;
    return 1;
}

static int64_t bounded(int64_t ns)
{
    return ns > FV_CLOCK_FARTHEST ? FV_CLOCK_FARTHEST : ns < -FV_CLOCK_FARTHEST ? -FV_CLOCK_FARTHEST : ns;
}

/* One clock for all: the rate of the longest stretch, from CLOCK_MONOTONIC, which nobody sets. */
static void draw_straight(struct fv_clocks *c, struct fv_clock_line *line, const struct fv_def_rank *r)
{
    const struct fv_clock_point *first = &r->points[0], *last = &r->points[r->point_count - 1];
    double rate = r->clock_kind == FV_CLOCK_MONOTONIC ? 1 : rate_between(first, last, false);

    line->pieces = fv_xcalloc(1, sizeof(*line->pieces));
    line->count = 1;
    line->pieces[0] =
        (struct fv_clock_piece){ first->ticks, bounded(first->realtime_ns), is_plausible(rate) ? rate : nominal(c, r) };
}

/* Several clocks: through the points of CLOCK_REALTIME, which is all that they have in common. */
static void draw_through_points(struct fv_clocks *c, struct fv_clock_line *line, const struct fv_def_rank *r)
{
    const struct fv_clock_point *p = r->points;
    uint32_t from = 0;

    line->pieces = fv_xcalloc(r->point_count, sizeof(*line->pieces));
    for (uint32_t i = 1; i < r->point_count; i++) {
        bool last = i + 1 == r->point_count;
        double rate = rate_between(&p[from], &p[i], true);

        if ((!last && difference(p[i].monotonic_ns, p[from].monotonic_ns) < POINTS_APART_NS) || !is_plausible(rate))
            continue;
        line->pieces[line->count++] = (struct fv_clock_piece){ p[from].ticks, bounded(p[from].realtime_ns), rate };
        from = i;
    }
    if (line->count)
        return;
    free(line->pieces);
    draw_straight(c, line, r);
}

static void find_lines(struct fv_clocks *c, const struct fv_defs *d, uint32_t *best)
{
    for (uint32_t i = 0; i < d->rank_count; i++) {
        uint32_t k = 0;

        while (k < c->line_count && !same_clock(&d->ranks[best[k]], &d->ranks[i]))
            k++;
        if (k == c->line_count)
            best[c->line_count++] = i;
        else if (span(&d->ranks[i]) > span(&d->ranks[best[k]]))
            best[k] = i;
        c->of_rank[i] = k;
    }
}

static int64_t after(int64_t ns, int64_t origin)
{
    int64_t result;

    if (__builtin_sub_overflow(ns, origin, &result))
        result = ns < 0 ? INT64_MIN : INT64_MAX;
    return bounded(result);
}

/* Time 0 is that of the first thing that is known of any rank. */
static void set_origin(struct fv_clocks *c, const struct fv_defs *d)
{
    int64_t origin = INT64_MAX;

    for (uint32_t i = 0; i < d->rank_count; i++) {
        uint32_t piece = 0;
        int64_t ns = fv_clock_ns(&c->lines[c->of_rank[i]], d->ranks[i].first_ticks, &piece);

        origin = ns < origin ? ns : origin;
    }
    c->origin_ns = origin;
    for (uint32_t k = 0; k < c->line_count; k++)
        for (uint32_t i = 0; i < c->lines[k].count; i++)
            c->lines[k].pieces[i].ns = after(c->lines[k].pieces[i].ns, origin);
}

void fv_clocks_init(struct fv_clocks *c, const struct fv_defs *d)
{
    uint32_t *best = fv_xcalloc(d->rank_count + 1, sizeof(*best));

    *c = (struct fv_clocks){ .of_rank = fv_xcalloc(d->rank_count + 1, sizeof(uint32_t)) };
    find_lines(c, d, best);
    c->lines = fv_xcalloc((size_t)c->line_count + 1, sizeof(*c->lines));
    for (uint32_t k = 0; k < c->line_count; k++)
        if (c->line_count == 1)
            draw_straight(c, &c->lines[k], &d->ranks[best[k]]);
        else
            draw_through_points(c, &c->lines[k], &d->ranks[best[k]]);
    if (d->rank_count)
        set_origin(c, d);
    free(best);
}

int64_t fv_clock_shifted(const struct fv_clock_shift *s, int64_t ns)
{
    if (ns <= 0)
        return ns + s->at_knot[0];
    int64_t knot = ns / s->width_ns;
    if (knot >= (int64_t)s->knots - 1)
        return ns + s->at_knot[s->knots - 1];
    double part = (double)(ns % s->width_ns) / (double)s->width_ns;
    return ns + s->at_knot[knot] + (int64_t)(part * (double)(s->at_knot[knot + 1] - s->at_knot[knot]));
}

void fv_clocks_release(struct fv_clocks *c)
{
    for (uint32_t k = 0; k < c->line_count; k++) {
        free(c->lines[k].pieces);
        free(c->lines[k].shift.at_knot);
    }
    free(c->lines);
    free(c->of_rank);
    *c = (struct fv_clocks){ 0 };
}

int64_t fv_clocks_length(const struct fv_clocks *clocks, const struct fv_defs *d)
{
    int64_t last = 1;

    for (uint32_t i = 0; i < d->rank_count; i++) {
        uint32_t piece = 0;
        int64_t ns = fv_clock_ns(&clocks->lines[clocks->of_rank[i]], d->ranks[i].last_ticks, &piece);

        last = ns > last ? ns : last;
    }
    return last;
}
