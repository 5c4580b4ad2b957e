/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_read.h: what rows have of stretches of time, by bins, where these are too coarse by leaves,
 * and by slices where leaves are too coarse as well, or slices are few. */
#include "timeline/timeline_blocks.h"
#include "timeline/timeline_read.h"
#include "tool/vec.h"

#include <stdlib.h>
#include <string.h>

/* ---- bins ---- */

/* What each region has of each tile; those that have nothing are NULL. */
struct by_region {
    double **parts; /* 1: all of a tile */
    uint32_t *touched;
    size_t touched_count, touched_room;
};

#define BEHIND 2

struct tiling {
    const struct fv_timeline_file *timeline;
    double from, step;
    size_t count; /* tiles; arrays have BEHIND more, for what ends where the last one ends */
    double *classes[FV_TIMELINE_CLASS_COUNT]; /* parts, likewise */
    uint32_t used;                            /* classes that may have some: bits */
    double *wait, *computing, *known;         /* known: all classes */
    struct spread {
        double *region, *other;
        double sign;
    } * spreads; /* by kind of a row, from the first on; then of one that there is not */
    uint64_t first_kind, spread_count;
    struct by_region of_slices, of_bins; /* of slices: what is not in `classes`; of bins: those that have most of
                                          * each */
    struct fv_timeline_unpacked unpacked;
    uint32_t *numbers; /* of the chunk at hand */
    size_t number_room;
};

static uint32_t *room_for(struct tiling *t, size_t count)
{
    if (t->number_room < count)
        t->numbers = fv_grow(t->numbers, &t->number_room, count, sizeof(*t->numbers));
    return t->numbers;
}

static double *parts_of(struct by_region *r, uint32_t region, size_t count)
{
    if (!r->parts[region]) {
        r->parts[region] = fv_xcalloc(count + BEHIND, sizeof(double));
        FV_GROW(r->touched, r->touched_room, r->touched_count + 1);
        r->touched[r->touched_count++] = region;
    }
    return r->parts[region];
}

struct level {
    const uint8_t *bins;
    uint64_t count;
    unsigned width, bin_bytes;
    const struct fv_timeline_row *row;
    double *fields[FV_TIMELINE_CLASS_COUNT + 1]; /* of its parts the tiles; the last ones may be those of waiting */
    unsigned field_count, class_count;           /* all; without waiting */
};

static uint32_t region_of(const uint8_t *at, unsigned bytes)
{
    const uint32_t none = bytes < 4 ? (1u << (8 * bytes)) - 1 : FV_TIMELINE_NONE;
    uint32_t region = 0;

    for (unsigned i = 0; i < bytes; i++)
        region |= (uint32_t)at[i] << (8 * i);
    return region == none ? FV_TIMELINE_NONE : region;
}

#define EDGES 4 /* bins that a tile has at least: those at its edges count in part */

/* The coarsest that has as many in a tile, or the finest. */
static struct level level_of(const struct tiling *t, const struct fv_timeline_row *row)
{
    const unsigned bytes = fv_timeline_bin_bytes(row->classes, row->region_bytes);
    struct level l = { t->timeline->map + row->bins, row->bin_count, row->width, bytes, row, { NULL }, 0, 0 };

    for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
        if (row->classes >> c & 1)
            l.fields[l.class_count++] = t->classes[c];
    l.field_count = l.class_count;
    if (row->classes & FV_TIMELINE_WAITS)
        l.fields[l.field_count++] = t->wait;
    for (uint32_t i = 1; i < row->levels && (double)(UINT64_C(2) << l.width) <= t->step / EDGES; i++) {
        l.bins += l.count * bytes;
        l.count = (l.count + 1) / 2;
        l.width++;
    }
    return l;
}

/* Those of a row from `first` on, each of so many tiles, and where the first one begins. */
struct strip {
    const struct level *level;
    double begin, width, whole; /* whole: what a part is that has all of a bin */
};

/* fields: of the level, and the region's part; share: of a tile, of each. Which of them have nothing is not to be
 * foreseen. */
static inline void add_share(struct tiling *t, const struct level *l, size_t tile, double share, const uint32_t *fields,
                             double *region)
{
    uint32_t known = 0;

    for (unsigned f = 0; f < l->field_count; f++) {
        l->fields[f][tile] += fields[f] * share;
        known += f < l->class_count ? fields[f] : 0;
    }
    t->known[tile] += known * share;
    if (region)
        region[tile] += fields[l->field_count] * share;
}

static inline void add_bin(struct tiling *t, const struct strip *s, uint64_t i, const uint32_t *fields, uint32_t region)
{
    const double begin = s->begin + (double)i * s->width, since = begin > 0 ? begin : 0, end = begin + s->width;
    const bool is_known = region != FV_TIMELINE_NONE && region < t->timeline->header->regions.count;
    double *parts = is_known ? parts_of(&t->of_bins, region, t->count) : NULL;
    size_t tile = (size_t)since;
    double until = (double)(tile + 1);

    add_share(t, s->level, tile, ((end < until ? end : until) - since) / s->whole, fields, parts);
    for (; end > until && tile < t->count; until++) {
        tile++;
        add_share(t, s->level, tile, (end < until + 1 ? end - until : 1) / s->whole, fields, parts);
    }
}

/* Which bins of `count` have a part of the tiles: [*first, *end). */
static void clip(const struct tiling *t, const struct strip *s, uint64_t count, uint64_t *first, uint64_t *end)
{
    const double before = -s->begin / s->width, behind = ((double)t->count - s->begin) / s->width;

    *first = before > 0 ? (uint64_t)before : 0;
    *end = behind < 0 ? 0 : behind < (double)count ? (uint64_t)behind + 1 : count;
    *end = *end < count ? *end : count;
}

static void tile_bins(struct tiling *t, const struct level *l)
{
    const struct strip s = { l, -t->from / t->step, (double)(UINT64_C(1) << l->width) / t->step, FV_TIMELINE_WHOLE };
    uint64_t first, end;

    clip(t, &s, l->count, &first, &end);
    for (uint64_t i = first; i < end; i++) {
        const uint8_t *at = l->bins + i * l->bin_bytes;
        uint32_t fields[FV_TIMELINE_CLASS_COUNT + 2];

        for (unsigned f = 0; f <= l->field_count; f++, at += 2)
            fields[f] = at[0] | (uint32_t)at[1] << 8;
        add_bin(t, &s, i, fields, region_of(at, l->row->region_bytes));
    }
}

static void tile_leaves(struct tiling *t, const struct level *l, const struct fv_timeline_block *block, uint64_t number)
{
    const double width = (double)(UINT64_C(1) << l->row->leaf_width), begin = (double)number * width;
    const struct strip s = { l, (begin - t->from) / t->step, width / t->step, FV_TIMELINE_LEAF_WHOLE };
    const size_t count = block->count, columns = l->field_count + 2;
    struct fv_timeline_block at = *block;
    uint64_t first, end;

    clip(t, &s, count, &first, &end);
    at.offset += l->row->bins;
    if (first >= end || !fv_timeline_unpack(&t->unpacked, t->timeline->map, &at, columns, columns, true))
        return;
    uint32_t *numbers = room_for(t, columns * count);
    for (size_t k = 0; k < columns; k++)
        fv_timeline_numbers(&t->unpacked.columns[k], numbers + k * count, count);
    for (uint64_t i = first; i < end; i++) {
        uint32_t fields[FV_TIMELINE_CLASS_COUNT + 2];

        for (unsigned f = 0; f <= l->field_count; f++)
            fields[f] = numbers[f * count + i];
        add_bin(t, &s, i, fields, numbers[(l->field_count + 1) * count + i] - 1);
    }
}

/* ---- slices ---- */

/* What is spread over tiles: a region has more of them, and what is around it less, or all that is known is more. Which
 * kinds follow each other, and what ends in which tile, is not to be foreseen: this has no branches of these. */
static struct spread make_spread(struct tiling *t, uint32_t row, uint64_t kind)
{
    const struct fv_timeline_slice_kind k = fv_timeline_slice_kind_of(t->timeline, row, kind);
    const bool is_in = k.outer != FV_TIMELINE_NONE;

    return (struct spread){
        .region = parts_of(&t->of_slices, k.region, t->count),
        .other = is_in ? parts_of(&t->of_slices, k.outer, t->count) : t->known,
        .sign = is_in ? -1 : 1,
    };
}

/* Of the row at hand, whose kinds begin with the same one as the last row's, or `spreads` is empty. */
static inline const struct spread *spread_of(struct tiling *t, uint32_t row, uint64_t kind)
{
    struct spread *s = &t->spreads[kind < t->spread_count ? kind : t->spread_count];

    if (FV_UNLIKELY(!s->region))
        *s = make_spread(t, row, kind);
    return s;
}

/* So that there is one of each kind of the row. */
static void begin_spreads(struct tiling *t, uint32_t row)
{
    const uint64_t first = t->timeline->rows[row].first_kind;

    if (t->spreads && first == t->first_kind)
        return;
    free(t->spreads);
    t->first_kind = first;
    t->spread_count = t->timeline->header->kinds.count - first;
    t->spreads = fv_xcalloc(t->spread_count + 1, sizeof(*t->spreads));
}

static inline void add_part(const struct spread *s, size_t i, double part)
{
    s->region[i] += part;
    s->other[i] += s->sign * part;
}

/* From the begin of the first tile on, in tiles. */
static inline void spread(const struct spread *s, double begin, double end, double count)
{
    begin = begin > 0 ? begin : 0;
    end = end < count ? end : count;
    size_t i = (size_t)begin;
    const double until = (double)(i + 1), rest = end - until;
    const double first = (rest < 0 ? end : until) - begin, next = rest > 1 ? 1 : rest;
    add_part(s, i, first);
    add_part(s, i + 1, next > 0 ? next : 0);
    for (i += 2; FV_UNLIKELY((double)i < end); i++)
        add_part(s, i, end < (double)(i + 1) ? end - (double)i : 1);
}

enum { BEGINS, TIMES, KINDS, WAITS, NEEDED }; /* columns; what waited has waits */

/* numbers: of the columns, so many; NULL: they have more than 32 bits. */
static inline __attribute__((always_inline)) void tile_slices(struct tiling *t, const struct fv_timeline_chunk *c,
                                                              const uint32_t *numbers)
{
    const double inverse = 1 / t->step, tiles = (double)t->count;
    const size_t count = c->block.count;
    struct fv_timeline_column *columns = t->unpacked.columns;
    const struct spread waiting = { t->wait, t->wait, 0 };
    const uint64_t from = t->from > 0 ? (uint64_t)t->from : 0;
    uint64_t begin = c->begin_ns;

    for (size_t i = 0, k = 0; i < count; i++) {
        begin += numbers ? numbers[BEGINS * count + i] : fv_timeline_next(&columns[BEGINS]);
        const uint64_t ns = numbers ? numbers[TIMES * count + i] : fv_timeline_next(&columns[TIMES]);
        const uint64_t kind = numbers ? numbers[KINDS * count + i] : fv_timeline_next(&columns[KINDS]);
        const uint64_t waited = kind & 1;
        const uint64_t wait = numbers  ? numbers[WAITS * count + k] * waited
                              : waited ? fv_timeline_next(&columns[WAITS])
                                       : 0;
        k += waited;
        if (begin + ns < from)
            continue;
        const double since = ((double)begin - t->from) * inverse, until = since + (double)ns * inverse;
        if (since >= tiles)
            break;
        if (until <= 0)
            continue;
        spread(spread_of(t, c->row, kind >> 1), since, until, tiles);
        if (since + (double)wait * inverse > 0)
            spread(&waiting, since, since + (double)wait * inverse, tiles);
    }
}

static void tile_chunk(struct tiling *t, const struct fv_timeline_chunk *c)
{
    const size_t count = c->block.count;
    bool is_narrow = true;

    if ((double)c->begin_ns >= t->from + t->step * (double)t->count || (double)c->end_ns < t->from ||
        !fv_timeline_unpack(&t->unpacked, t->timeline->map, &c->block, FV_TIMELINE_TIME_COLUMNS,
                            FV_TIMELINE_SLICE_COLUMNS, false))
        return;
    uint32_t *numbers = room_for(t, NEEDED * count);
    for (unsigned k = 0; k < NEEDED; k++)
        is_narrow = fv_timeline_numbers(&t->unpacked.columns[k], numbers + k * count, count) && is_narrow;
    if (is_narrow)
        tile_slices(t, c, numbers);
    else
        tile_slices(t, c, NULL);
}

/* ---- tiles ---- */

/* Leaves are longer than a tile, or there are few slices in all of these: then slices are taken, if all are there. */
#define FEW 1024

static void tile_row(struct tiling *t, uint32_t row)
{
    const struct fv_timeline_row *r = &t->timeline->rows[row];
    const struct fv_timeline_block *leaves = (const void *)(t->timeline->map + r->leaves);
    const struct level l = level_of(t, r);
    const double part = t->step * (double)t->count / (double)(t->timeline->header->span_ns + 1);
    const double leaf = (double)(UINT64_C(1) << r->leaf_width), bin = (double)(UINT64_C(1) << l.width);

    if (!r->levels)
        return;
    t->used |= r->classes & ((1u << FV_TIMELINE_CLASS_COUNT) - 1);
    if (!r->left_out && ((double)(r->slices + r->samples) * part < FEW || leaf > t->step)) {
        begin_spreads(t, row);
        for (uint64_t i = r->first_chunk; i < r->first_chunk + r->chunk_count; i++)
            tile_chunk(t, &t->timeline->chunks[i]);
    } else if (bin > t->step) { /* also where leaves are longer, and not all slices are there */
        for (uint32_t i = 0; i < r->leaf_blocks; i++)
            tile_leaves(t, &l, &leaves[i], (uint64_t)i * FV_TIMELINE_LEAVES);
    } else {
        tile_bins(t, &l);
    }
}

/* A row, and of a main thread also what is computing, which is between its first and its last slice all that is not
 * known. before: room for a number of each tile. */
static void add_row(struct tiling *t, uint32_t row, double *before)
{
    const struct fv_timeline_row *r = &t->timeline->rows[row];
    const double begin = ((double)r->begin_ns - t->from) / t->step, end = ((double)r->end_ns - t->from) / t->step;

    if (r->thread || r->name) {
        tile_row(t, row);
        return;
    }
    memcpy(before, t->known, t->count * sizeof(*before));
    tile_row(t, row);
    for (size_t i = begin > 0 ? (size_t)begin : 0; i < t->count && (double)i < end; i++) {
        const double since = (double)i > begin ? (double)i : begin;
        const double until = (double)(i + 1) < end ? (double)(i + 1) : end;
        const double left = until - since - (t->known[i] - before[i]);

        t->computing[i] += left > 0 ? left : 0;
    }
}

static struct tiling begin_tiling(const struct fv_timeline_file *t, double from, double to, size_t count)
{
    const size_t regions = t->header->regions.count + 1, most = count + BEHIND;
    double *arrays = fv_xcalloc((FV_TIMELINE_CLASS_COUNT + 3) * most, sizeof(*arrays));
    struct tiling out = { .timeline = t,
                          .from = from,
                          .step = (to - from) / (double)(count ? count : 1),
                          .count = count,
                          .wait = arrays,
                          .computing = arrays + most,
                          .known = arrays + 2 * most,
                          .of_slices = { .parts = fv_xcalloc(regions, sizeof(double *)) },
                          .of_bins = { .parts = fv_xcalloc(regions, sizeof(double *)) } };

    for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
        out.classes[c] = arrays + (3 + c) * most;
    return out;
}

static void release_regions(struct by_region *r)
{
    for (size_t i = 0; i < r->touched_count; i++)
        free(r->parts[r->touched[i]]);
    free(r->parts);
    free(r->touched);
}

static void end_tiling(struct tiling *t)
{
    release_regions(&t->of_slices);
    release_regions(&t->of_bins);
    fv_timeline_unpacked_release(&t->unpacked);
    free(t->numbers);
    free(t->spreads);
    free(t->wait);
}

/* What slices have is their classes' as well. */
static void add_classes(struct tiling *t)
{
    for (size_t k = 0; k < t->of_slices.touched_count; k++) {
        const uint32_t region = t->of_slices.touched[k];
        const double *parts = t->of_slices.parts[region];
        const unsigned number = t->timeline->regions[region].class % FV_TIMELINE_CLASS_COUNT;
        double *class = t->classes[number];

        t->used |= 1u << number;
        for (size_t i = 0; i < t->count; i++)
            class[i] += parts[i];
    }
}

#define LEAST 1e-9 /* of a tile: less than what reckoning loses */

/* scale: 255 for a whole tile of each row. */
static uint8_t part_of(double part, double scale)
{
    const double scaled = part * scale;

    if (scaled <= LEAST)
        return 0;
    return scaled >= 255 ? 255 : scaled < 1 ? 1 : (uint8_t)(scaled + 0.5); /* what is there is seen */
}

static struct fv_timeline_tile tile_of(const struct tiling *t, size_t i, double scale)
{
    struct fv_timeline_tile out = { .wait = part_of(t->wait[i], scale), .region = FV_TIMELINE_NONE };
    unsigned left = 255;

    for (unsigned used = t->used, c; used; used &= used - 1) {
        c = (unsigned)__builtin_ctz(used);
        out.parts[c] = part_of(t->classes[c][i], scale);
        left -= out.parts[c] < left ? out.parts[c] : left;
    }
    const double computing = t->computing[i] * scale + 0.5;
    out.computing = (uint8_t)(computing < left ? computing : left);
    return out;
}

/* Of each tile the region that has most. */
static void find_most(const struct tiling *t, double scale, struct fv_timeline_tile *out)
{
    double *most = fv_xcalloc(t->count + 1, sizeof(*most));

    for (uint32_t region = 0; region < t->timeline->header->regions.count; region++) {
        const double *slices = t->of_slices.parts[region], *bins = t->of_bins.parts[region];

        for (size_t i = 0; (slices || bins) && i < t->count; i++) {
            const double part = (slices ? slices[i] : 0) + (bins ? bins[i] : 0);

            if (part > most[i]) {
                most[i] = part;
                out[i].region = region;
            }
        }
    }
    for (size_t i = 0; i < t->count; i++)
        out[i].region_part = part_of(most[i], scale);
    free(most);
}

void fv_timeline_tiles(const struct fv_timeline_file *t, const uint32_t *rows, size_t row_count, double from, double to,
                       struct fv_timeline_tile *out, size_t count)
{
    struct tiling tiling = begin_tiling(t, from, to, count);
    double *before = fv_xcalloc(count + 1, sizeof(*before));
    size_t counted = 0;

    for (size_t k = 0; k < row_count; k++)
        if (!fv_timeline_is_idle(&t->rows[rows[k]])) {
            add_row(&tiling, rows[k], before);
            counted++;
        }
    const double scale = 255 / (double)(counted ? counted : 1);

    add_classes(&tiling);
    for (size_t i = 0; i < count; i++)
        out[i] = tile_of(&tiling, i, scale);
    find_most(&tiling, scale, out);
    free(before);
    end_tiling(&tiling);
}

void fv_timeline_parts(const struct fv_timeline_file *t, uint32_t row, double from, double to,
                       struct fv_timeline_parts *out)
{
    struct tiling tiling = begin_tiling(t, from, to > from ? to : from + 1, 1);

    tile_row(&tiling, row);
    add_classes(&tiling);
    for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
        out->ns[c] = tiling.classes[c][0] > 0 ? tiling.classes[c][0] * tiling.step : 0;
    out->wait_ns = tiling.wait[0] * tiling.step;
    end_tiling(&tiling);
}
