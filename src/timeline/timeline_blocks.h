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

/* A message's numbers, in the order of the columns; before: when the one before was sent. */
static inline void fv_timeline_message_numbers(const struct fv_timeline_message *m, uint64_t before,
                                               uint64_t out[FV_TIMELINE_MESSAGE_COLUMNS])
{
    out[0] = m->sent_ns - before;
    out[1] = fv_zigzag((int64_t)(m->received_ns - m->sent_ns));
    out[2] = m->bytes;
    out[3] = m->from;
    out[4] = fv_zigzag((int64_t)m->to - (int64_t)m->from);
    out[5] = m->tag;
    out[6] = m->comm;
}

/* ---- reading ---- */

static inline struct fv_timeline_message fv_timeline_message_of(const uint64_t numbers[FV_TIMELINE_MESSAGE_COLUMNS],
                                                                uint64_t before)
{
    struct fv_timeline_message m = { .sent_ns = before + numbers[0] };

    m.received_ns = m.sent_ns + (uint64_t)fv_unzigzag(numbers[1]);
    m.bytes = numbers[2];
    m.from = (uint32_t)numbers[3];
    m.to = m.from + (uint32_t)fv_unzigzag(numbers[4]);
    m.tag = (uint32_t)numbers[5];
    m.comm = (uint32_t)numbers[6];
    return m;
}

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
