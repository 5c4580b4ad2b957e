/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool/protobuf.h"
#include "base/clean.h"
#include "tool/vec.h"

#include <stdlib.h>
#include <string.h>

enum form { VARINT = 0, FIXED64 = 1, LENGTH = 2 };
#define VARINT_BYTES 10 /* at most */

static uint8_t *room(struct fv_protobuf *b, size_t bytes)
{
    FV_GROW(b->data, b->room, b->count + bytes);
    return b->data + b->count;
}

static void put_varint(struct fv_protobuf *b, uint64_t value)
{
    uint8_t *at = room(b, VARINT_BYTES);

    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    b->count = (size_t)(at - b->data);
}

static void put_key(struct fv_protobuf *b, uint32_t field, enum form form)
{
    put_varint(b, (uint64_t)field << 3 | form);
}

static void put_bytes(struct fv_protobuf *b, const void *bytes, size_t count)
{
    if (count)
        memcpy(room(b, count), bytes, count);
    b->count += count;
}

void fv_protobuf_unsigned(struct fv_protobuf *b, uint32_t field, uint64_t value)
{
    put_key(b, field, VARINT);
    put_varint(b, value);
}

void fv_protobuf_fixed64(struct fv_protobuf *b, uint32_t field, uint64_t value)
{
    put_key(b, field, FIXED64);
    for (unsigned i = 0; i < 8; i++)
        put_bytes(b, &(uint8_t){ (uint8_t)(value >> (8 * i)) }, 1);
}

void fv_protobuf_double(struct fv_protobuf *b, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    fv_protobuf_fixed64(b, field, bits);
}

void fv_protobuf_text(struct fv_protobuf *b, uint32_t field, const char *text)
{
    size_t begin = fv_protobuf_begin(b, field);

    for (const char *at = text, *from; *at;) {
        from = at;
        if (fv_utf8_next(&at) < 0)
            put_bytes(b, "\xef\xbf\xbd", 3);
        else
            put_bytes(b, from, (size_t)(at - from));
    }
    fv_protobuf_end(b, begin);
}

void fv_protobuf_packed(struct fv_protobuf *b, uint32_t field, const uint64_t *values, size_t count)
{
    size_t begin = fv_protobuf_begin(b, field);

    for (size_t i = 0; i < count; i++)
        put_varint(b, values[i]);
    fv_protobuf_end(b, begin);
}

/* One byte is left for the length, which is enough for most. */
size_t fv_protobuf_begin(struct fv_protobuf *b, uint32_t field)
{
    put_key(b, field, LENGTH);
    put_bytes(b, "", 1);
    return b->count;
}

void fv_protobuf_end(struct fv_protobuf *b, size_t begin)
{
    size_t length = b->count - begin, more = 0;

    for (size_t rest = length >> 7; rest; rest >>= 7)
        more++;
    room(b, more);
    if (more)
        memmove(b->data + begin + more, b->data + begin, length);
    b->count = begin - 1;
    put_varint(b, length);
    b->count += length;
}

void fv_protobuf_release(struct fv_protobuf *b)
{
    free(b->data);
    *b = (struct fv_protobuf){ 0 };
}
