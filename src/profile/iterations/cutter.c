/* SPDX-License-Identifier: BSD-3-Clause */
/* See cutter.h. */
#include "profile/iterations/cutter.h"

#include <math.h>

#define TOGETHER_MOST 8    /* calls of the anchor in an iteration */
#define REST          0.05 /* of the long one: what the others take together */
#define OFTEN         0.8  /* of the iterations */

struct fv_cutter fv_cutter(struct fv_unit_cut by)
{
    return (struct fv_cutter){ .by = by, .before_s = -INFINITY, .skips = by.lead };
}

/* In groups of `each` from `first` on, is the first one nearly all of most groups? It has the time before its call. */
static bool is_most(const double *seconds, size_t count, size_t each, size_t first)
{
    size_t groups = 0, hits = 0;

    for (size_t i = first; i + each <= count; i += each) {
        double sum = 0;

        for (size_t k = 0; k < each; k++)
            sum += seconds[i + k];
        groups++;
        hits += sum - seconds[i] <= REST * seconds[i];
    }
    return groups >= FV_UNIT_LEAST && (double)hits >= OFTEN * (double)groups;
}

bool fv_cut_together(const double *seconds, size_t count, struct fv_unit_cut *cut)
{
    for (uint32_t each = 2; each <= TOGETHER_MOST; each++)
        for (uint32_t lead = 0; lead < each; lead++)
            if (is_most(seconds, count, each, lead)) {
                cut->each = each;
                cut->lead = lead;
                return true;
            }
    return false;
}

/* The anchor was called: is it the one that counts? */
static bool counts(struct fv_cutter *c)
{
    if (c->skips) {
        c->skips--;
        c->is_in = false;
        return false;
    }
    if (++c->anchors < c->by.each)
        return false;
    c->anchors = 0;
    return true;
}

static void begin(struct fv_cutter *c, double begin_s)
{
    c->open = (struct fv_cut){ .begin_s = isfinite(c->before_s) ? c->before_s : begin_s };
    c->end_s = begin_s;
    c->called_s = 0;
    c->is_in = true;
    c->is_over = false;
}

static void add(struct fv_cutter *c, uint32_t symbol, double begin_s, double end_s)
{
    c->open.called_s += end_s - begin_s;
    c->before_s = end_s;
    if (!c->by.core[symbol])
        return;
    c->end_s = end_s;
    c->called_s = c->open.called_s;
}

/* The anchor begins each. */
static bool cut_before(struct fv_cutter *c, uint32_t symbol, double begin_s, struct fv_cut *out)
{
    const bool was_in = c->is_in;

    if (symbol != c->by.anchor || (!was_in && c->skips && c->skips--))
        return false;
    if (was_in && !counts(c))
        return false;
    if (was_in) {
        *out = c->open;
        out->end_s = c->before_s;
        c->number++;
    }
    begin(c, begin_s);
    return was_in;
}

bool fv_cutter_call(struct fv_cutter *c, uint32_t symbol, double begin_s, double end_s, struct fv_cut *out)
{
    bool is_over = false;

    if (!c->by.is_end) {
        is_over = cut_before(c, symbol, begin_s, out);
    } else if (c->is_over || (!c->is_in && (symbol == c->by.first || symbol == c->by.anchor))) {
        c->number += c->is_over;
        begin(c, begin_s);
    }
    add(c, symbol, begin_s, end_s);
    if (!c->by.is_end || !c->is_in || symbol != c->by.anchor || !counts(c))
        return is_over;
    *out = c->open;
    out->end_s = end_s;
    c->is_over = true;
    return true;
}

bool fv_cutter_end(struct fv_cutter *c, struct fv_cut *out)
{
    if (c->by.is_end || !c->is_in)
        return false;
    *out = c->open;
    out->end_s = c->end_s;
    out->called_s = c->called_s;
    return true;
}
