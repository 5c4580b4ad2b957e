/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON, written as it comes: a profile of many ranks is far larger than what its tree should take in memory.
 * What stands in the outermost object, and the items of its arrays, stand on lines of their own; all below is
 * compact.
 *
 * Keys are NULL within arrays. Reals have 12 significant digits, and numbers that JSON cannot say are null.
 * Strings are UTF-8; bytes that are none, and control characters, stand as \xNN, as they do in CSV (text, for the
 * reader to see: fv_words_clean()). */
#ifndef FV_JSON_STREAM_H
#define FV_JSON_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FV_JSON_DEPTH 64
struct fv_json {
    FILE *out;
    unsigned depth;       /* 1: in the outermost object */
    uint64_t any, arrays; /* bits by depth: has the level an item yet; is it an array? */
    bool failed;          /* the file is full, or what was asked for is no JSON: too deep, a key in an array, none in an
                           * object, an end without a begin. Is known for certain when the outermost object has ended */
    size_t used;
    char buffer[8192]; /* written when it is full, and with the end of the outermost object */
};

void fv_json_object(struct fv_json *json, const char *key);
void fv_json_array(struct fv_json *json, const char *key);
void fv_json_end(struct fv_json *json);                                        /* of the innermost object or array */
void fv_json_string(struct fv_json *json, const char *key, const char *value); /* NULL: null */
void fv_json_real(struct fv_json *json, const char *key, double value);
void fv_json_unsigned(struct fv_json *json, const char *key, uint64_t value); /* beyond int64_t: a real */
void fv_json_signed(struct fv_json *json, const char *key, int64_t value);
void fv_json_bool(struct fv_json *json, const char *key, bool value);
void fv_json_null(struct fv_json *json, const char *key);

#endif
