/* SPDX-License-Identifier: BSD-3-Clause */
/* See events.h. */
#include "trace/events.h"

#include <string.h>

const struct fv_event_form fv_event_forms[FV_EV_COUNT] = {
#define FV_EVENT_FORM(kind, name, fields, is_signed, ...) [FV_EV_##kind] = { name, fields, is_signed, { __VA_ARGS__ } },
    FV_EVENT_KINDS(FV_EVENT_FORM)
#undef FV_EVENT_FORM
};

const char *const fv_failure_names[FV_FAILURE_KINDS] = { "MPI_SUCCESS",
#define FV_FAILURE_NAME(name) "MPI_ERR_" #name,
                                                         FV_FAILURES(FV_FAILURE_NAME)
#undef FV_FAILURE_NAME
};

uint8_t *fv_put_event(uint8_t *at, enum fv_event_kind kind, const uint64_t *field)
{
    const struct fv_event_form *form = &fv_event_forms[kind];
    unsigned is_signed = form->is_signed;

    *at++ = (uint8_t)kind;
    for (const uint64_t *end = field + form->fields; field < end; field++, is_signed >>= 1) {
        uint64_t value = is_signed & 1 ? fv_zigzag((int64_t)*field) : *field;

        if (value < 0x80) /* most are */
            *at++ = (uint8_t)value;
        else
            at = fv_put_varint(at, value);
    }
    return at;
}

struct fv_event_cursor fv_event_cursor(const void *payload, uint64_t used)
{
    struct fv_event_cursor c = { .at = payload, .stop = payload };
    struct fv_event_base base;

    if (used < sizeof(base)) /* maybe without any payload */
        return c;
    memcpy(&base, payload, sizeof(base));
    c.stop += used;
    c.at += sizeof(base);
    c.begin = c.end = base.ticks;
    return c;
}

static inline bool get_varint(struct fv_event_cursor *c, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && c->at < c->stop; shift += 7) {
        uint8_t byte = *c->at++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = value;
            return true;
        }
    }
    return false;
}

#define EIGHT_TIMES(byte) (UINT64_C(0x0101010101010101) * (byte))

/* An integer of up to eight bytes, where there is room for the longest. Returns its end; NULL: it is longer.
 */
static inline const uint8_t *take_long(const uint8_t *at, uint64_t *value)
{
    uint64_t bytes, last;

    memcpy(&bytes, at, sizeof(bytes));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    last = ~bytes & EIGHT_TIMES(0x80);
    if (!last)
        return NULL;
    /* Up to its last byte; then pairs of 7 bits, of 14 and of 28 are put together. */
    bytes &= (last ^ (last - 1)) & EIGHT_TIMES(0x7f);
    bytes = (bytes & UINT64_C(0x007f007f007f007f)) | (bytes & UINT64_C(0x7f007f007f007f00)) >> 1;
    bytes = (bytes & UINT64_C(0x00003fff00003fff)) | (bytes & UINT64_C(0x3fff00003fff0000)) >> 2;
    *value = (bytes & UINT64_C(0x0fffffff)) | (bytes & UINT64_C(0x0fffffff00000000)) >> 4;
    return at + ((unsigned)__builtin_ctzll(last) >> 3) + 1;
}

/* Far from the end of the bytes no field can pass it. False: one is longer than most, and none is taken. */
static inline bool take_fields(struct fv_event_cursor *c, unsigned count, unsigned is_signed, uint64_t *field)
{
    const uint8_t *at = c->at;

    for (unsigned i = 0; i < count; i++) {
        if (at[0] < 0x80) {
            field[i] = at[0];
            at++;
        } else if (at[1] < 0x80) {
            field[i] = (at[0] & 0x7fu) | (unsigned)at[1] << 7;
            at += 2;
        } else if (!(at = take_long(at, &field[i]))) {
            return false;
        }
    }
    for (; is_signed; is_signed &= is_signed - 1) {
        uint64_t *value = &field[__builtin_ctz(is_signed)];

        *value = (uint64_t)fv_unzigzag(*value);
    }
    c->at = at;
    return true;
}

static bool get_fields(struct fv_event_cursor *c, unsigned count, unsigned is_signed, uint64_t *field)
{
    for (unsigned i = 0; i < count; i++, is_signed >>= 1) {
        if (!get_varint(c, &field[i]))
            return false;
        if (is_signed & 1)
            field[i] = (uint64_t)fv_unzigzag(field[i]);
    }
    return true;
}

static bool end_here(struct fv_event_cursor *c)
{
    c->damaged = true;
    c->at = c->stop;
    return false;
}

bool fv_event_next(struct fv_event_cursor *c, struct fv_event *out)
{
    if (c->at >= c->stop)
        return false;
    unsigned kind = *c->at++;
    if (kind >= FV_EV_COUNT)
        return end_here(c);
    const struct fv_event_form *form = &fv_event_forms[kind];

    out->kind = (enum fv_event_kind)kind;
    bool is_far = c->stop - c->at >= FV_EVENT_MAX;
    if (!(is_far && take_fields(c, form->fields, form->is_signed, out->field)) &&
        !get_fields(c, form->fields, form->is_signed, out->field))
        return end_here(c);
    if (kind == FV_EV_CALL) {
        c->begin = c->end + out->field[1];
        c->end = c->begin + out->field[2];
    } else if (fv_event_lasts(kind)) {
        c->begin = c->end + out->field[0];
        c->end = c->begin + out->field[1];
    } else if (kind == FV_EV_PAUSE || kind == FV_EV_RESUME || fv_event_is_of_thread(kind)) {
        c->begin = c->end = c->end + out->field[0];
    }
    out->begin = c->begin;
    out->end = c->end;
    return true;
}
