/* SPDX-License-Identifier: BSD-3-Clause */
/* See json_stream.h. No tree, which was a third of a large report's time. */
#include "tool/json_stream.h"
#include "tool/words.h"

#include <math.h>
#include <string.h>

/* ---- bytes ---- */

static void flush(struct fv_json *j)
{
    if (j->used && fwrite(j->buffer, 1, j->used, j->out) != j->used)
        j->failed = true;
    j->used = 0;
}

/* Room for a number, or any other short thing. */
static char *room_for(struct fv_json *j, size_t bytes)
{
    if (sizeof(j->buffer) - j->used < bytes)
        flush(j);
    return j->buffer + j->used;
}

static inline void put_byte(struct fv_json *j, char byte)
{
    *room_for(j, 1) = byte;
    j->used++;
}

static void put(struct fv_json *j, const char *text, size_t bytes)
{
    while (bytes) {
        char *to = room_for(j, 1);
        size_t part = sizeof(j->buffer) - j->used;

        part = part < bytes ? part : bytes;
        memcpy(to, text, part);
        j->used += part;
        text += part;
        bytes -= part;
    }
}

/* ---- strings ---- */

static void put_escaped(struct fv_json *j, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"' || text[i] == '\\')
            put_byte(j, '\\');
        put_byte(j, text[i]);
    }
}

/* What a terminal may not get stands as it does in CSV (fv_words_clean_next()). */
static void put_string(struct fv_json *j, const char *text)
{
    char next[FV_CLEAN];

    put_byte(j, '"');
    while (*text) {
        const char *p = text;

        while (*p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\')
            p++;
        put(j, text, (size_t)(p - text));
        if (*p)
            put_escaped(j, next, fv_words_clean_next(&p, next));
        text = p;
    }
    put_byte(j, '"');
}

/* ---- structure ---- */

static uint64_t bit(const struct fv_json *j)
{
    return UINT64_C(1) << j->depth;
}

/* Comma, line and key of what comes next. False: it cannot stand here. */
static bool begin_item(struct fv_json *j, const char *key)
{
    bool array = j->depth && j->depth < FV_JSON_DEPTH && j->arrays & bit(j);

    if (j->depth >= FV_JSON_DEPTH || !key != (array || !j->depth)) {
        j->failed = true;
        return false;
    }
    if (j->any & bit(j))
        put_byte(j, ',');
    j->any |= bit(j);
    if (j->depth == 1 || (j->depth == 2 && array))
        put_byte(j, '\n');
    if (key) {
        put_string(j, key);
        put_byte(j, ':');
    }
    return true;
}

static void open_level(struct fv_json *j, const char *key, bool array)
{
    bool good = begin_item(j, key);

    if (good)
        put_byte(j, array ? '[' : '{');
    if (++j->depth >= FV_JSON_DEPTH)
        return; /* its items cannot stand there */
    j->any &= ~bit(j);
    j->arrays = array ? j->arrays | bit(j) : j->arrays & ~bit(j);
}

void fv_json_object(struct fv_json *j, const char *key)
{
    open_level(j, key, false);
}

void fv_json_array(struct fv_json *j, const char *key)
{
    open_level(j, key, true);
}

void fv_json_end(struct fv_json *j)
{
    if (!j->depth || j->depth >= FV_JSON_DEPTH) {
        j->failed = true;
        j->depth -= j->depth > 0;
        return;
    }
    bool array = j->arrays & bit(j), lines = j->depth == 1 || (j->depth == 2 && array && j->any & bit(j));

    if (lines)
        put_byte(j, '\n');
    put_byte(j, array ? ']' : '}');
    if (--j->depth)
        return;
    put_byte(j, '\n');
    j->any = 0;
    flush(j);
}

/* ---- values ---- */

void fv_json_string(struct fv_json *j, const char *key, const char *value)
{
    if (!value)
        fv_json_null(j, key);
    else if (begin_item(j, key))
        put_string(j, value);
}

void fv_json_real(struct fv_json *j, const char *key, double value)
{
    if (!isfinite(value))
        fv_json_null(j, key);
    else if (begin_item(j, key))
        j->used += fv_words_real(value, room_for(j, FV_REAL));
}

void fv_json_unsigned(struct fv_json *j, const char *key, uint64_t value)
{
    if (value > INT64_MAX)
        fv_json_real(j, key, (double)value);
    else if (begin_item(j, key))
        j->used += fv_words_digits(value, room_for(j, FV_DIGITS));
}

void fv_json_signed(struct fv_json *j, const char *key, int64_t value)
{
    if (!begin_item(j, key))
        return;
    if (value < 0)
        put_byte(j, '-');
    j->used += fv_words_digits(value < 0 ? -(uint64_t)value : (uint64_t)value, room_for(j, FV_DIGITS));
}

void fv_json_bool(struct fv_json *j, const char *key, bool value)
{
    if (begin_item(j, key))
        put(j, value ? "true" : "false", value ? 4 : 5);
}

void fv_json_null(struct fv_json *j, const char *key)
{
    if (begin_item(j, key))
        put(j, "null", 4);
}
