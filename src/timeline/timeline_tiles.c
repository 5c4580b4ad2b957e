/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_read.h: what rows have of stretches of time, by bins, or, where these are too coarse, by slices. */
#include "timeline/timeline_read.h"
#include "tool/vec.h"

#include <stdlib.h>
#include <string.h>

/* ---- bins ---- */

struct gathered {
    double parts[FV_TIMELINE_CLASS_COUNT], wait, region_ns, computing;
    double known; /* all parts */
    uint32_t region;
};

struct level {
    const uint8_t *bins;
    uint64_t count;
    unsigned width, bin_bytes;
    const struct fv_timeline_row *row;
    unsigned fields[FV_TIMELINE_CLASS_COUNT + 1], field_count; /* classes of its parts; the last one may be waiting:
                                                                * FV_TIMELINE_CLASS_COUNT */
};

static uint32_t region_of(const uint8_t *at, unsigned bytes)
{
    const uint32_t none = bytes < 4 ? (1u << (8 * bytes)) - 1 : FV_TIMELINE_NONE;
    uint32_t region = 0;

    for (unsigned i = 0; i < bytes; i++)
        region |= (uint32_t)at[i] << (8 * i);
    return region == none ? FV_TIMELINE_NONE : region;
}

static uint64_t in_units(double ns, double unit)
{
    const double units = ns / unit;

    return units < 0x1p62 ? (uint64_t)(units + 0.5) : UINT64_C(1) << 62;
}

/* So many of a level, of which each has the same part in the stretch; unit: ns. This is where the time of a picture of
 * many rows goes: sums are whole numbers, of those classes alone that the row has. */
static void gather_bins(struct gathered *g, const struct level *l, uint64_t first, uint64_t end, double unit)
{
    const unsigned own = l->field_count, bytes = l->bin_bytes, region_bytes = l->row->region_bytes;
    const uint8_t *at = l->bins + first * bytes;
    const uint64_t before = in_units(g->region_ns, unit);
    uint64_t sums[FV_TIMELINE_CLASS_COUNT + 1] = { 0 }, region_sum = before;
    uint32_t region = g->region;

    for (uint64_t i = first; i < end; i++, at += bytes) {
        uint16_t fields[FV_TIMELINE_CLASS_COUNT + 2];

        memcpy(fields, at, 2 * (own + 1));
        for (unsigned k = 0; k < own; k++)
            sums[k] += fields[k];
        const uint32_t of = region_of(at + 2 * (own + 1), region_bytes);
        if (of == FV_TIMELINE_NONE)
            continue;
        if (of == region)
            region_sum += fields[own];
        else if (fields[own] > region_sum) {
            region = of;
            region_sum = fields[own];
        }
    }
    for (unsigned k = 0; k < own; k++) {
        const double ns = (double)sums[k] * unit;

        if (l->fields[k] == FV_TIMELINE_CLASS_COUNT) {
            g->wait += ns;
        } else {
            g->parts[l->fields[k]] += ns;
            g->known += ns;
        }
    }
    if (region != g->region || region_sum != before) {
        g->region = region;
        g->region_ns = (double)region_sum * unit;
    }
}

#define EDGES 4 /* bins that a stretch has at least: those at its edges count in part */

/* The coarsest that has as many in a stretch, or the finest. */
static struct level level_of(const struct fv_timeline_file *t, const struct fv_timeline_row *row, double ns)
{
    const unsigned bytes = fv_timeline_bin_bytes(row->classes, row->region_bytes);
    struct level l = { t->map + row->bins, row->bin_count, row->width, bytes, row, { 0 }, 0 };

    for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
        if (row->classes >> c & 1)
            l.fields[l.field_count++] = c;
    if (row->classes & FV_TIMELINE_WAITS)
        l.fields[l.field_count++] = FV_TIMELINE_CLASS_COUNT;
    for (uint32_t i = 1; i < row->levels && (double)(UINT64_C(2) << l.width) <= ns / EDGES; i++) {
        l.bins += l.count * bytes;
        l.count = (l.count + 1) / 2;
        l.width++;
    }
    return l;
}

static void gather_edge(const struct level *l, double from, double to, uint64_t i, struct gathered *g)
{
    const double width = (double)(UINT64_C(1) << l->width);
    double begin = (double)i * width, end = begin + width;

    begin = begin > from ? begin : from;
    end = end < to ? end : to;
    if (end > begin && i < l->count)
        gather_bins(g, l, i, i + 1, (end - begin) / FV_TIMELINE_WHOLE);
}

static void gather(const struct level *l, double from, double to, struct gathered *g)
{
    const double width = (double)(UINT64_C(1) << l->width);
    const uint64_t first = from > 0 ? (uint64_t)(from / width) : 0, last = to > 0 ? (uint64_t)(to / width) : 0;

    gather_edge(l, from, to, first, g);
    if (first + 1 < last && first + 1 < l->count)
        gather_bins(g, l, first + 1, last < l->count ? last : l->count, width / FV_TIMELINE_WHOLE);
    if (last > first)
        gather_edge(l, from, to, last, g);
}

/* ---- tiles ---- */

struct tiling {
    const struct fv_timeline_file *timeline;
    double from, step;
    struct gathered *out;
    size_t count;
};

/* A stretch in which a region was innermost; or, of none, in which a call waited. */
static void spread(const struct tiling *t, double begin, double end, uint32_t region)
{
    size_t i = begin > t->from ? (size_t)((begin - t->from) / t->step) : 0;

    for (; i < t->count && t->from + t->step * (double)i < end; i++) {
        const double since = t->from + t->step * (double)i, least = begin > since ? begin : since;
        const double most = end < since + t->step ? end : since + t->step, ns = most > least ? most - least : 0;
        struct gathered *g = &t->out[i];

        if (region == FV_TIMELINE_NONE) {
            g->wait += ns;
            continue;
        }
        g->parts[t->timeline->regions[region].class % FV_TIMELINE_CLASS_COUNT] += ns;
        g->known += ns;
        if (region == g->region || ns > g->region_ns) {
            g->region_ns = region == g->region ? g->region_ns + ns : ns;
            g->region = region;
        }
    }
}

/* By slices: those in each other are open together. */
static void tile_exactly(const struct tiling *t, uint32_t row, struct fv_timeline_gathering *g)
{
    const struct fv_timeline_seen **open = NULL;
    size_t depth = 0, room = 0;
    double since = 0;

    fv_timeline_gather(t->timeline, row, (uint64_t)t->from, (uint64_t)(t->from + t->step * (double)t->count) + 1, g);
    for (size_t i = 0; i <= g->count; i++) {
        const struct fv_timeline_seen *next = i < g->count ? &g->items[i] : NULL;

        while (depth && (!next || open[depth - 1]->begin_ns + open[depth - 1]->ns <= next->begin_ns)) {
            const struct fv_timeline_seen *s = open[--depth];
            const double end = (double)(s->begin_ns + s->ns);

            spread(t, since, end, s->region);
            since = end > since ? end : since;
        }
        if (!next)
            break;
        if (depth)
            spread(t, since, (double)next->begin_ns, open[depth - 1]->region);
        since = (double)next->begin_ns;
        if (next->wait_ns)
            spread(t, since, since + (double)next->wait_ns, FV_TIMELINE_NONE);
        FV_GROW(open, room, depth + 1);
        open[depth++] = next;
    }
    free(open);
}

/* Bins are longer than a stretch, or there are few slices in all of these: then slices are taken, if all are there. */
#define FEW 4096

static void tile_row(const struct tiling *t, uint32_t row, struct fv_timeline_gathering *g)
{
    const struct fv_timeline_row *r = &t->timeline->rows[row];
    const struct level l = level_of(t->timeline, r, t->step);
    const double part = t->step * (double)t->count / (double)(t->timeline->header->span_ns + 1);

    if (!r->levels)
        return;
    if (!r->left_out && ((double)(r->slices + r->samples) * part < FEW || (double)(UINT64_C(1) << l.width) > t->step)) {
        tile_exactly(t, row, g);
        return;
    }
    for (size_t i = 0; i < t->count; i++)
        gather(&l, t->from + t->step * (double)i, t->from + t->step * (double)(i + 1), &t->out[i]);
}

/* A row, and of a main thread also what is computing, which is between its first and its last slice all that is not
 * known. known: room for a number of each stretch. */
static void add_row(const struct tiling *t, uint32_t row, struct fv_timeline_gathering *g, double *known)
{
    const struct fv_timeline_row *r = &t->timeline->rows[row];

    if (r->thread || r->name) {
        tile_row(t, row, g);
        return;
    }
    for (size_t i = 0; i < t->count; i++)
        known[i] = t->out[i].known;
    tile_row(t, row, g);
    for (size_t i = 0; i < t->count; i++) {
        const double since = t->from + t->step * (double)i, until = since + t->step;
        const double begin = (double)r->begin_ns > since ? (double)r->begin_ns : since;
        const double end = (double)r->end_ns < until ? (double)r->end_ns : until;
        const double left = end - begin - (t->out[i].known - known[i]);

        t->out[i].computing += left > 0 ? left : 0;
    }
}

static uint8_t part_of(double ns, double all)
{
    double part = all > 0 ? ns / all * 255 : 0;

    return part >= 255 ? 255 : part > 0 && part < 1 ? 1 : (uint8_t)(part + 0.5); /* what is there is seen */
}

void fv_timeline_tiles(const struct fv_timeline_file *t, const uint32_t *rows, size_t row_count, double from, double to,
                       struct fv_timeline_tile *out, size_t count)
{
    struct tiling tiling = { t, from, (to - from) / (double)(count ? count : 1), NULL, count };
    const double all = tiling.step * (double)row_count;
    struct fv_timeline_gathering g = { 0 };

    double *known = fv_xcalloc(count + 1, sizeof(*known));

    tiling.out = fv_xcalloc(count + 1, sizeof(*tiling.out));
    for (size_t i = 0; i < count; i++)
        tiling.out[i].region = FV_TIMELINE_NONE;
    for (size_t k = 0; k < row_count; k++)
        add_row(&tiling, rows[k], &g, known);
    for (size_t i = 0; i < count; i++) {
        const struct gathered *from_rows = &tiling.out[i];
        const double computing = all > 0 ? from_rows->computing / all * 255 + 0.5 : 0;
        unsigned left = 255;

        for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++) {
            out[i].parts[c] = part_of(from_rows->parts[c], all);
            left -= out[i].parts[c] < left ? out[i].parts[c] : left;
        }
        out[i].computing = (uint8_t)(computing < left ? computing : left);
        out[i].wait = part_of(from_rows->wait, all);
        out[i].region = from_rows->region;
        out[i].region_part = part_of(from_rows->region_ns, all);
    }
    free(known);
    free(tiling.out);
    free(g.items);
}

void fv_timeline_parts(const struct fv_timeline_file *t, uint32_t row, double from, double to,
                       struct fv_timeline_parts *out)
{
    struct gathered all = { .region = FV_TIMELINE_NONE };
    const struct tiling tiling = { t, from, to > from ? to - from : 1, &all, 1 };
    struct fv_timeline_gathering g = { 0 };

    tile_row(&tiling, row, &g);
    for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
        out->ns[c] = all.parts[c];
    out->wait_ns = all.wait;
    free(g.items);
}
