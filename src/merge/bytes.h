/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes for another process: numbers and strings, one behind the other. The reader checks every length; once
 * something does not fit it is `failed` and gives zeros. */
#ifndef FV_BYTES_H
#define FV_BYTES_H

#include "tool/vec.h"
#include "trace/events.h"

#include <stdlib.h>
#include <string.h>

struct fv_bytes {
    uint8_t *data;
    size_t count, room;
};

/* Room for so many more. */
static inline void *fv_bytes_add(struct fv_bytes *b, size_t bytes)
{
    FV_GROW(b->data, b->room, b->count + bytes);
    b->count += bytes;
    return b->data + b->count - bytes;
}

static inline void fv_bytes_put(struct fv_bytes *b, const void *data, size_t bytes)
{
    if (bytes)
        memcpy(fv_bytes_add(b, bytes), data, bytes);
}

static inline void fv_bytes_number(struct fv_bytes *b, uint64_t value)
{
    fv_bytes_put(b, &value, sizeof(value));
}

/* As a varint (events.h). */
static inline void fv_bytes_varint(struct fv_bytes *b, uint64_t value)
{
    uint8_t *at = (uint8_t *)fv_bytes_add(b, FV_VARINT_MAX);

    b->count = (size_t)(fv_put_varint(at, value) - b->data);
}

static inline void fv_bytes_string(struct fv_bytes *b, const char *text)
{
    size_t length = strlen(text);

    fv_bytes_number(b, length);
    fv_bytes_put(b, text, length);
}

/* Of an array, such as one for each process. */
static inline void fv_bytes_clear_each(struct fv_bytes *each, int count)
{
    for (int i = 0; i < count; i++)
        each[i].count = 0;
}

static inline void fv_bytes_free_each(struct fv_bytes *each, int count)
{
    for (int i = 0; i < count; i++)
        free(each[i].data);
    free(each);
}

struct fv_bytes_reader {
    const uint8_t *at, *stop;
    bool failed;
};

static inline void fv_bytes_get(struct fv_bytes_reader *r, void *out, size_t bytes)
{
    if ((size_t)(r->stop - r->at) < bytes) {
        r->failed = true;
        r->at = r->stop;
        memset(out, 0, bytes);
        return;
    }
    if (bytes) /* else there may be nowhere to read from */
        memcpy(out, r->at, bytes);
    r->at += bytes;
}

static inline uint64_t fv_bytes_take(struct fv_bytes_reader *r)
{
    uint64_t value;

    fv_bytes_get(r, &value, sizeof(value));
    return value;
}

static inline uint64_t fv_bytes_take_varint(struct fv_bytes_reader *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0; r->at < r->stop && shift < 64; shift += 7) {
        value |= (uint64_t)(*r->at & 0x7f) << shift;
        if (!(*r->at++ & 0x80))
            return value;
    }
    r->failed = true;
    r->at = r->stop;
    return 0;
}

/* Where they are; NULL: there are not so many. */
static inline const uint8_t *fv_bytes_skip(struct fv_bytes_reader *r, size_t bytes)
{
    const uint8_t *at = r->at;

    if (r->failed || (size_t)(r->stop - at) < bytes) {
        r->failed = true;
        r->at = r->stop;
        return NULL;
    }
    r->at += bytes;
    return at;
}

/* A count of things that take at least a byte each. */
static inline uint32_t fv_bytes_count(struct fv_bytes_reader *r)
{
    uint64_t value = fv_bytes_take(r);

    if (value > (uint64_t)(r->stop - r->at)) {
        r->failed = true;
        return 0;
    }
    return (uint32_t)value;
}

static inline const char *fv_bytes_text(struct fv_bytes_reader *r, struct fv_arena *arena)
{
    uint32_t length = fv_bytes_count(r);
    const char *text = fv_arena_bytes(arena, (const char *)r->at, length);

    r->at += length;
    return text;
}

#endif
