/* JSON, streamed: a profile of many ranks is far larger than what its whole tree should take in memory. Values
 * are jansson's; what stands in the outermost object, and the items of its arrays, are written as soon as
 * they are whole. Keys are NULL within arrays and must live as long as the stream. Numbers that JSON
 * cannot say are null, bytes that are no UTF-8 are escaped as \xNN. */
#ifndef FV_JSON_STREAM_H
#define FV_JSON_STREAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FV_JSON_DEPTH 32
struct fv_json {
    FILE *out;
    unsigned depth;                 /* 1: in the outermost object */
    json_t *value[FV_JSON_DEPTH];   /* being built, from depth 2 on; NULL at depth 2: an array that is streamed */
    const char *key;                /* of value[2] in the outermost object */
    bool any[3];                    /* has the level an item yet? */
    bool failed;                    /* no memory, or the file is full */
};

void fv_json_object(struct fv_json *json, const char *key);
void fv_json_array(struct fv_json *json, const char *key);
void fv_json_end(struct fv_json *json); /* of the innermost object or array */
void fv_json_string(struct fv_json *json, const char *key, const char *value); /* NULL: null */
void fv_json_real(struct fv_json *json, const char *key, double value);
void fv_json_unsigned(struct fv_json *json, const char *key, uint64_t value);
void fv_json_signed(struct fv_json *json, const char *key, int64_t value);
void fv_json_bool(struct fv_json *json, const char *key, bool value);
void fv_json_null(struct fv_json *json, const char *key);

#endif
