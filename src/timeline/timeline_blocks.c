/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_blocks.h, and struct fv_timeline_block. Planes of bytes, since numbers of one width are read fast, and
 * zstd makes nothing of the zeros in the upper ones. The lower ones of times are as good as random: stored as they are,
 * reading them costs nothing. Rejected: varints, all of them by zstd, of which half of a picture's time was reading. */
#include "timeline/timeline_blocks.h"

#include <zstd.h>

#define LEVEL 3 /* of zstd */

/* ---- writing ---- */

void fv_timeline_packer_release(struct fv_timeline_packer *p)
{
    ZSTD_freeCCtx(p->zstd);
    for (size_t i = 0; i < FV_TIMELINE_COLUMNS; i++)
        free(p->columns[i].data);
    free(p->head.data);
    free(p->plain.data);
    free(p->planes.data);
    free(p->packed.data);
    *p = (struct fv_timeline_packer){ 0 };
}

static unsigned width_of(const uint64_t *numbers, size_t count)
{
    uint64_t all = 0;

    for (size_t i = 0; i < count; i++)
        all |= numbers[i];
    return all ? (71 - (unsigned)__builtin_clzll(all)) / 8 : 0;
}

#define LEAST_PLANE 128 /* bytes that are worth a look */
#define FEW_PAIRS   100 /* of two bytes of a plane fewer than one in so many are equal: zstd could save an eighth */

static bool is_random(const uint8_t *plane, size_t count)
{
    uint32_t times[256] = { 0 };
    uint64_t pairs = 0;

    if (count < LEAST_PLANE)
        return false;
    for (size_t i = 0; i < count; i++)
        pairs += times[plane[i]]++;
    return pairs * 2 * FEW_PAIRS < (uint64_t)count * (count - 1);
}

/* A column: its planes behind those of `plain`, which stay as they are, and behind those for zstd. */
static void put_column(struct fv_timeline_packer *p, const struct fv_bytes *column)
{
    const uint64_t *numbers = (const uint64_t *)(const void *)column->data;
    const size_t count = column->count / sizeof(*numbers);
    const unsigned width = width_of(numbers, count);
    uint8_t random = 0;

    fv_bytes_varint(&p->head, count << 4 | width);
    for (unsigned k = 0; k < width; k++) {
        uint8_t *at = fv_bytes_add(&p->planes, count);

        for (size_t i = 0; i < count; i++)
            at[i] = (uint8_t)(numbers[i] >> (8 * k));
        if (!is_random(at, count))
            continue;
        random |= (uint8_t)(1u << k);
        fv_bytes_put(&p->plain, at, count);
        p->planes.count -= count;
    }
    if (width)
        fv_bytes_put(&p->head, &random, 1);
}

/* The planes so far by zstd, if that is less. */
static void put_frame(struct fv_timeline_packer *p)
{
    const size_t raw = p->planes.count, room = ZSTD_compressBound(raw), before = p->packed.count;
    uint8_t *at = fv_bytes_add(&p->packed, room);

    p->zstd = p->zstd ? p->zstd : ZSTD_createCCtx();
    size_t bytes = raw ? ZSTD_compressCCtx(p->zstd, at, room, p->planes.data, raw, LEVEL) : 0;
    if (raw && (ZSTD_isError(bytes) || bytes >= raw)) {
        memcpy(at, p->planes.data, raw);
        bytes = raw;
    }
    p->packed.count = before + bytes;
    p->planes.count = 0;
    fv_bytes_varint(&p->head, raw);
    fv_bytes_varint(&p->head, bytes);
}

const struct fv_bytes *fv_timeline_pack(struct fv_timeline_packer *p, size_t first, size_t count)
{
    p->head.count = p->plain.count = p->packed.count = 0;
    for (size_t i = 0; i < count; i++) {
        put_column(p, &p->columns[i]);
        p->columns[i].count = 0;
        if (i + 1 == first || i + 1 == count)
            put_frame(p);
    }
    fv_bytes_put(&p->head, p->plain.data, p->plain.count);
    fv_bytes_put(&p->head, p->packed.data, p->packed.count);
    return &p->head;
}

/* ---- reading ---- */

void fv_timeline_unpacked_release(struct fv_timeline_unpacked *u)
{
    ZSTD_freeDCtx(u->zstd);
    free(u->frames[0].data);
    free(u->frames[1].data);
    *u = (struct fv_timeline_unpacked){ 0 };
}

struct head {
    uint8_t random[FV_TIMELINE_COLUMNS]; /* planes that stand as they are: bits */
    struct {
        uint64_t raw, bytes;
    } frames[2];
};

static void take_head(struct fv_timeline_unpacked *u, struct fv_bytes_reader *in, size_t first, size_t count,
                      size_t rows, struct head *head)
{
    for (size_t i = 0; i < count; i++) {
        struct fv_timeline_column *c = &u->columns[i];
        const uint64_t shape = fv_bytes_take_varint(in);
        const bool is_right = (shape & 15) <= FV_TIMELINE_PLANES && shape >> 4 <= rows;

        *c = (struct fv_timeline_column){ .count = is_right ? shape >> 4 : 0, .width = is_right ? shape & 15 : 0 };
        const uint8_t *random = c->width ? fv_bytes_skip(in, 1) : NULL;
        head->random[i] = random ? *random : 0;
        in->failed = in->failed || !is_right;
        if (i + 1 == first || i + 1 == count) {
            const unsigned frame = i + 1 > first;

            head->frames[frame].raw = fv_bytes_take_varint(in);
            head->frames[frame].bytes = fv_bytes_take_varint(in);
        }
    }
}

/* The planes of columns [from, to) that are `plain`, or those that are not. */
static void take_planes(struct fv_timeline_unpacked *u, struct fv_bytes_reader *in, size_t from, size_t to,
                        const struct head *head, bool plain)
{
    for (size_t i = from; i < to; i++)
        for (unsigned k = 0; k < u->columns[i].width; k++)
            if ((head->random[i] >> k & 1) == plain)
                u->columns[i].planes[k] = fv_bytes_skip(in, u->columns[i].count);
}

/* Those of a frame. */
static struct fv_bytes_reader take_frame(struct fv_timeline_unpacked *u, struct fv_bytes_reader *in, unsigned frame,
                                         const struct head *head)
{
    const size_t raw = head->frames[frame].raw, bytes = head->frames[frame].bytes;
    const uint8_t *packed = fv_bytes_skip(in, bytes);

    if (!packed || bytes > raw || raw > FV_TIMELINE_RAW)
        return (struct fv_bytes_reader){ .failed = true };
    if (bytes == raw)
        return (struct fv_bytes_reader){ .at = packed, .stop = packed + raw };
    if (u->frames[frame].room < raw)
        u->frames[frame].data = fv_grow(u->frames[frame].data, &u->frames[frame].room, raw, 1);
    u->zstd = u->zstd ? u->zstd : ZSTD_createDCtx();
    uint8_t *out = u->frames[frame].data;
    const bool is_right = ZSTD_decompressDCtx(u->zstd, out, raw, packed, bytes) == raw;
    return (struct fv_bytes_reader){ .at = out, .stop = out + raw, .failed = !is_right };
}

bool fv_timeline_unpack(struct fv_timeline_unpacked *u, const void *file, const struct fv_timeline_block *b,
                        size_t first, size_t count, bool all)
{
    const uint8_t *begin = (const uint8_t *)file + b->offset;
    struct fv_bytes_reader in = { .at = begin, .stop = begin + b->bytes };
    struct head head = { 0 };

    take_head(u, &in, first, count, b->count, &head);
    take_planes(u, &in, 0, count, &head, true);
    struct fv_bytes_reader frame = take_frame(u, &in, 0, &head);
    take_planes(u, &frame, 0, first, &head, false);
    bool is_right = !in.failed && !frame.failed;
    if (count > first && all) {
        frame = take_frame(u, &in, 1, &head);
        take_planes(u, &frame, first, count, &head, false);
        is_right = is_right && !in.failed && !frame.failed;
    }
    return is_right;
}

#define AT_ONCE 16 /* so that the compiler makes vectors of them */

bool fv_timeline_numbers(const struct fv_timeline_column *c, uint32_t *restrict out, size_t count)
{
    const size_t known = c->count < count ? c->count : count;
    size_t i = 0;

    memset(out, 0, count * sizeof(*out));
    if (c->width > sizeof(*out))
        return false;
    for (unsigned k = 0; k < c->width; k++) {
        const uint8_t *restrict plane = c->planes[k];

        for (i = 0; i + AT_ONCE <= known; i += AT_ONCE)
            for (size_t m = 0; m < AT_ONCE; m++)
                out[i + m] |= (uint32_t)plane[i + m] << (8 * k);
        for (; i < known; i++)
            out[i] |= (uint32_t)plane[i] << (8 * k);
    }
    return true;
}
