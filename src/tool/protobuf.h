/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of protocol buffers, written field by field
 * (https://protobuf.dev/programming-guides/encoding): a key, which is the field's number and the form of its value,
 * then the value. A message within another one has its length before it. */
#ifndef FV_PROTOBUF_H
#define FV_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

struct fv_protobuf {
    uint8_t *data;
    size_t count, room;
};

void fv_protobuf_unsigned(struct fv_protobuf *b, uint32_t field, uint64_t value);
void fv_protobuf_fixed64(struct fv_protobuf *b, uint32_t field, uint64_t value);
void fv_protobuf_double(struct fv_protobuf *b, uint32_t field, double value);
/* Bytes that are no UTF-8 become U+FFFD: readers refuse the whole file otherwise. */
void fv_protobuf_text(struct fv_protobuf *b, uint32_t field, const char *text);
/* A repeated number, packed. */
void fv_protobuf_packed(struct fv_protobuf *b, uint32_t field, const uint64_t *values, size_t count);
/* A message: what is put between belongs to it. begin: what end takes. */
size_t fv_protobuf_begin(struct fv_protobuf *b, uint32_t field);
void fv_protobuf_end(struct fv_protobuf *b, size_t begin);
static inline void fv_protobuf_clear(struct fv_protobuf *b)
{
    b->count = 0;
}
void fv_protobuf_release(struct fv_protobuf *b);

#endif
