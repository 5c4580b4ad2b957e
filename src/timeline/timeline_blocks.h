/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of a timeline's file (struct fv_timeline_block), written and read: columns of numbers. The `first` of them can
 * be read without the others. */
#ifndef FV_TIMELINE_BLOCKS_H
#define FV_TIMELINE_BLOCKS_H

#include "merge/bytes.h"
#include "timeline/timeline.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- writing ---- */

/* Of one block after the other; begins as zeros. Of one thread. */
struct fv_timeline_packer {
    struct fv_bytes columns[FV_TIMELINE_COLUMNS]; /* of the block at hand: its numbers, each by fv_bytes_number() */
    struct fv_bytes head, plain, planes, packed;
    void *zstd;
};
void fv_timeline_packer_release(struct fv_timeline_packer *p);

/* The bytes of `count` columns, valid until the next block. The columns are empty then. */
const struct fv_bytes *fv_timeline_pack(struct fv_timeline_packer *p, size_t first, size_t count);

/* ---- reading ---- */

#define FV_TIMELINE_PLANES 8

struct fv_timeline_column {
    const uint8_t *planes[FV_TIMELINE_PLANES]; /* of `count` bytes each: the lowest ones of all numbers, the next
                                                * ones */
    size_t count, next;
    unsigned width; /* planes */
};

/* Blocks, one after the other; begins as zeros. Of one thread. */
struct fv_timeline_unpacked {
    void *zstd;
    struct {
        uint8_t *data;
        size_t room;
    } frames[2];
    struct fv_timeline_column columns[FV_TIMELINE_COLUMNS];
};
void fv_timeline_unpacked_release(struct fv_timeline_unpacked *u);
/* all: not only the first columns. False: it is damaged. */
bool fv_timeline_unpack(struct fv_timeline_unpacked *u, const void *file, const struct fv_timeline_block *b,
                        size_t first, size_t count, bool all);
/* `count` of them from the first on; what is not there is 0. False: they have more than 32 bits. */
bool fv_timeline_numbers(const struct fv_timeline_column *c, uint32_t *restrict out, size_t count);

static inline bool fv_timeline_has_more(const struct fv_timeline_column *c)
{
    return c->next < c->count;
}

/* 0: there are no more. */
static inline uint64_t fv_timeline_next(struct fv_timeline_column *c)
{
    uint64_t value = 0;

    if (!fv_timeline_has_more(c))
        return 0;
    for (unsigned i = 0; i < c->width; i++)
        value |= (uint64_t)c->planes[i][c->next] << (8 * i);
    c->next++;
    return value;
}

#endif
