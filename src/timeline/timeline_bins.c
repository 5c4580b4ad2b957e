/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h. A row has as many leaves as it has pieces, about, divided by PIECES. That is known at its end,
 * or when there are so many that no more are kept. */
#include "timeline/timeline_state.h"

#include <stdlib.h>
#include <string.h>

#define PIECES     8         /* a leaf, about */
#define FINER      2         /* log2 of the leaves of a finest bin */
#define KEPT       (1 << 19) /* pieces */
#define MOST_BINS  (1 << 18) /* leaves of a row */
#define LEAST_BINS 256       /* leaves of a row with anything in it */

static struct fv_timeline_bin *bin_at(struct fv_timeline_bins *b, size_t i)
{
    if (i >= b->count) {
        FV_GROW(b->items, b->room, i + 1);
        memset(b->items + b->count, 0, (i + 1 - b->count) * sizeof(*b->items));
        for (size_t k = b->count; k <= i; k++)
            b->items[k].region = FV_TIMELINE_NONE;
        b->count = i + 1;
    }
    return &b->items[i];
}

static uint32_t in_units(const struct fv_timeline_bins *b, uint64_t ns)
{
    ns >>= fv_timeline_shift(b->width);
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static void add_units(uint32_t *to, uint32_t value)
{
    *to = *to > UINT32_MAX - value ? UINT32_MAX : *to + value;
}

/* Which region has most of the bin at hand. */
static void end_bin(struct fv_timeline_bins *b)
{
    struct fv_timeline_bin *bin = b->share_count ? bin_at(b, b->at) : NULL;

    for (size_t i = 0; i < b->share_count; i++)
        if (b->shares[i].ns > bin->region_ns) {
            bin->region = b->shares[i].region;
            bin->region_ns = b->shares[i].ns;
        }
    b->share_count = 0;
}

static void share(struct fv_timeline_bins *b, size_t i, uint32_t region, uint32_t units)
{
    size_t k = 0;

    if (i != b->at)
        end_bin(b);
    b->at = i;
    while (k < b->share_count && b->shares[k].region != region)
        k++;
    if (k == b->share_count) {
        FV_GROW(b->shares, b->share_room, k + 1);
        b->shares[b->share_count++] = (struct fv_timeline_share){ region, 0 };
    }
    add_units(&b->shares[k].ns, units);
}

/* What lies behind the run is of damage. */
static void fill(const struct fv_timeline_writer *w, struct fv_timeline_bins *b, const struct fv_timeline_piece *p)
{
    const uint64_t last = p->end_ns < b->length ? p->end_ns : b->length;

    for (uint64_t begin = p->begin_ns, end; begin < last; begin = end) {
        size_t i = begin >> b->width;

        end = (uint64_t)(i + 1) << b->width;
        end = end < last ? end : last;
        struct fv_timeline_bin *bin = bin_at(b, i);
        uint32_t units = in_units(b, end - begin);
        if (p->region == FV_TIMELINE_NONE) {
            add_units(&bin->wait_ns, units);
            continue;
        }
        add_units(&bin->ns[w->regions[p->region].class], units);
        share(b, i, p->region, units);
    }
}

/* So that there are about so many bins in the run. */
static void choose_width(const struct fv_timeline_writer *w, struct fv_timeline_bins *b, size_t wanted)
{
    uint64_t length = (uint64_t)fv_clocks_length(&w->merge->clocks, &w->merge->defs) + 1;

    const size_t room = fv_timeline_limit_bins(w), most = room < MOST_BINS ? room : MOST_BINS;

    wanted = wanted > most ? most : wanted;
    wanted = wanted < LEAST_BINS ? LEAST_BINS : wanted;
    b->width = 4;
    b->length = length;
    while (length >> b->width >= wanted)
        b->width++;
    for (size_t i = 0; i < b->piece_count; i++)
        fill(w, b, &b->pieces[i]);
    free(b->pieces);
    b->pieces = NULL;
}

void fv_timeline_add_piece(struct fv_timeline_writer *w, struct fv_timeline_bins *b,
                           const struct fv_timeline_piece *piece)
{
    if (b->width) {
        fill(w, b, piece);
        return;
    }
    FV_GROW(b->pieces, b->piece_room, b->piece_count + 1);
    b->pieces[b->piece_count++] = *piece;
    if (b->piece_count == KEPT)
        choose_width(w, b, MOST_BINS);
}

/* Two bins as one of the next level. */
static void join(struct fv_timeline_bin *to, const struct fv_timeline_bin *from, unsigned halve)
{
    for (unsigned i = 0; i < FV_TIMELINE_CLASS_COUNT; i++)
        add_units(&to->ns[i], from->ns[i] >> halve);
    add_units(&to->wait_ns, from->wait_ns >> halve);
    if (from->region == to->region)
        add_units(&to->region_ns, from->region_ns >> halve);
    else if (from->region_ns >> halve > to->region_ns) {
        to->region = from->region;
        to->region_ns = from->region_ns >> halve;
    }
}

static size_t next_level(struct fv_timeline_bin *bins, size_t count, unsigned width)
{
    const unsigned halve = fv_timeline_shift(width + 1) - fv_timeline_shift(width);

    for (size_t i = 0; i < (count + 1) / 2; i++) {
        struct fv_timeline_bin both = { .region = FV_TIMELINE_NONE };

        for (size_t k = 2 * i; k < 2 * i + 2 && k < count; k++)
            join(&both, &bins[k], halve);
        bins[i] = both;
    }
    return (count + 1) / 2;
}

/* ---- in the file ---- */

/* What bins of a row have: see struct fv_timeline_row. */
static uint32_t classes_of(const struct fv_timeline_bins *b)
{
    uint32_t classes = 0;

    for (size_t i = 0; i < b->count; i++) {
        for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
            classes |= b->items[i].ns[c] ? 1u << c : 0;
        classes |= b->items[i].wait_ns ? FV_TIMELINE_WAITS : 0;
    }
    return classes;
}

/* In 1 / whole of a bin; what is there is not 0. */
static uint32_t part_of(uint32_t units, unsigned width, unsigned whole)
{
    const double part = units / (double)(UINT64_C(1) << (width < 32 ? width : 32)) * whole + 0.5;

    return part >= whole ? whole : units && part < 1 ? 1 : (uint32_t)part;
}

static uint8_t *put_part(uint8_t *at, uint32_t units, unsigned width)
{
    const uint16_t out = (uint16_t)part_of(units, width, FV_TIMELINE_WHOLE);

    memcpy(at, &out, sizeof(out));
    return at + sizeof(out);
}

static uint8_t *put_bin(uint8_t *at, const struct fv_timeline_bin *bin, const struct fv_timeline_row *row,
                        unsigned width)
{
    for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
        if (row->classes >> c & 1)
            at = put_part(at, bin->ns[c], width);
    if (row->classes & FV_TIMELINE_WAITS)
        at = put_part(at, bin->wait_ns, width);
    at = put_part(at, bin->region_ns, width);
    for (unsigned i = 0; i < row->region_bytes; i++)
        *at++ = (uint8_t)(bin->region >> (8 * i));
    return at;
}

static uint64_t put_level(struct fv_timeline_writer *w, const struct fv_timeline_bin *bins, size_t count,
                          const struct fv_timeline_row *row, unsigned width)
{
    const size_t bytes = count * fv_timeline_bin_bytes(row->classes, row->region_bytes);
    uint8_t *out = fv_xcalloc(bytes + 1, 1), *at = out;

    for (size_t i = 0; i < count; i++)
        at = put_bin(at, &bins[i], row, width);
    /* Levels stand one behind the other. */
    const uint64_t where = row->levels ? w->at : fv_timeline_put(w, "", 0);
    w->failed = w->failed || fwrite(out, 1, bytes, w->out) != bytes;
    w->at = where + bytes;
    free(out);
    return where;
}

/* Columns of the leaves at hand; how many. */
static size_t add_leaf(struct fv_bytes *columns, const struct fv_timeline_bin *bin, uint32_t classes, unsigned width)
{
    size_t k = 0;

    for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
        if (classes >> c & 1)
            fv_bytes_number(&columns[k++], part_of(bin->ns[c], width, FV_TIMELINE_LEAF_WHOLE));
    if (classes & FV_TIMELINE_WAITS)
        fv_bytes_number(&columns[k++], part_of(bin->wait_ns, width, FV_TIMELINE_LEAF_WHOLE));
    fv_bytes_number(&columns[k++], part_of(bin->region_ns, width, FV_TIMELINE_LEAF_WHOLE));
    fv_bytes_number(&columns[k++], bin->region + 1); /* all bits are 1: 0 */
    return k;
}

/* They are from the row's bins on, which are not known yet: offsets from the first one. */
static struct fv_bytes put_leaves(struct fv_timeline_writer *w, const struct fv_timeline_bin *bins, size_t count,
                                  const struct fv_timeline_row *row)
{
    struct fv_bytes blocks = { 0 };

    for (size_t i = 0; i < count; i += FV_TIMELINE_LEAVES) {
        const size_t most = count - i < FV_TIMELINE_LEAVES ? count - i : FV_TIMELINE_LEAVES;
        size_t columns = 0;

        for (size_t k = i; k < i + most; k++)
            columns = add_leaf(w->packer.columns, &bins[k], row->classes, row->leaf_width);
        const struct fv_timeline_block block = fv_timeline_put_block(w, fv_timeline_put, columns, columns, most);
        fv_bytes_put(&blocks, &block, sizeof(block));
    }
    return blocks;
}

static void write_levels(struct fv_timeline_writer *w, struct fv_timeline_bins *b, struct fv_timeline_row *row)
{
    size_t n = b->count;

    row->bin_count = n;
    row->width = b->width;
    for (unsigned width = b->width; n; width++) {
        const uint64_t offset = put_level(w, b->items, n, row, width);

        row->bins = row->levels++ ? row->bins : offset;
        w->header.bins += n;
        n = n > 1 ? next_level(b->items, n, width) : 0;
    }
}

void fv_timeline_end_bins(struct fv_timeline_writer *w, struct fv_timeline_bins *b, struct fv_timeline_row *row)
{
    struct fv_bytes leaves;

    if (!b->width && b->piece_count)
        choose_width(w, b, b->piece_count / PIECES);
    end_bin(b);
    row->classes = classes_of(b);
    row->region_bytes = w->region_count < UINT8_MAX ? 1 : w->region_count < UINT16_MAX ? 2 : 4;
    row->leaf_width = b->width;
    leaves = put_leaves(w, b->items, b->count, row);
    for (unsigned i = 0; i < FINER && b->count; i++)
        b->count = next_level(b->items, b->count, b->width++);
    write_levels(w, b, row);
    row->leaf_blocks = (uint32_t)(leaves.count / sizeof(struct fv_timeline_block));
    for (uint32_t i = 0; i < row->leaf_blocks; i++)
        ((struct fv_timeline_block *)(void *)leaves.data)[i].offset -= row->bins;
    row->leaves = fv_timeline_put(w, leaves.data, leaves.count);
    free(leaves.data);
    free(b->items);
    free(b->shares);
    *b = (struct fv_timeline_bins){ 0 };
}
