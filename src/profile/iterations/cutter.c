/* SPDX-License-Identifier: BSD-3-Clause */
/* See cutter.h. */
#include "profile/iterations/cutter.h"

#include <math.h>

struct fv_cutter fv_cutter(struct fv_unit_cut by)
{
    return (struct fv_cutter){ .by = by, .before_s = -INFINITY };
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

    if (symbol != c->by.anchor)
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
    if (!c->by.is_end || !c->is_in || symbol != c->by.anchor)
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
