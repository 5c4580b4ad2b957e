/* See json_stream.h. */
#include "report/json_stream.h"
#include "report/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Comma, line and key of an item of the two outer levels, which stand on lines of their own. */
static void begin_item(struct fv_json *j, const char *key)
{
    if (j->any[j->depth])
        fputc(',', j->out);
    j->any[j->depth] = true;
    fputc('\n', j->out);
    if (key)
        fprintf(j->out, "\"%s\":", key); /* ours: nothing in it to escape */
}

static void write_value(struct fv_json *j, json_t *value)
{
    if (!value || json_dumpf(value, j->out, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12)))
        j->failed = true;
    json_decref(value);
}

static bool streams(const struct fv_json *j)
{
    return j->depth == 1 || (j->depth == 2 && !j->value[2]);
}

/* Takes the value over. */
static void add(struct fv_json *j, const char *key, json_t *value)
{
    json_t *parent = j->value[j->depth];

    if (streams(j)) {
        begin_item(j, key);
        write_value(j, value);
    } else if (!value || (key ? json_object_set_new_nocheck(parent, key, value) : json_array_append_new(parent, value))) {
        j->failed = true;
    }
}

static void open_level(struct fv_json *j, const char *key, json_t *value)
{
    if (streams(j)) {
        j->key = key;
    } else if (!value || (key ? json_object_set_nocheck(j->value[j->depth], key, value)
                              : json_array_append(j->value[j->depth], value))) {
        j->failed = true;
    }
    j->value[++j->depth] = value;
}

void fv_json_object(struct fv_json *j, const char *key)
{
    if (j->depth == 0) {
        fputc('{', j->out);
        j->any[++j->depth] = false;
        return;
    }
    open_level(j, key, json_object());
}

void fv_json_array(struct fv_json *j, const char *key)
{
    if (j->depth != 1) {
        open_level(j, key, json_array());
        return;
    }
    begin_item(j, key);
    fputc('[', j->out);
    j->any[++j->depth] = false;
    j->value[2] = NULL;
}

void fv_json_end(struct fv_json *j)
{
    bool list = streams(j);
    json_t *value = j->value[j->depth];

    if (j->depth == 1) {
        fputs("\n}\n", j->out);
    } else if (list) {
        fputs(j->any[2] ? "\n]" : "]", j->out);
    }
    j->depth--;
    if (list)
        return;
    if (streams(j)) {
        begin_item(j, j->key);
        write_value(j, value);
    } else {
        json_decref(value); /* its parent holds it */
    }
}

void fv_json_string(struct fv_json *j, const char *key, const char *value)
{
    json_t *string = value ? json_string(value) : json_null();

    if (!string) { /* no UTF-8 */
        size_t bytes = 4 * strlen(value) + 1;
        char *clean = malloc(bytes);

        string = clean ? json_string(fv_words_clean(value, clean, bytes)) : NULL;
        free(clean);
    }
    add(j, key, string);
}

void fv_json_real(struct fv_json *j, const char *key, double value)
{
    add(j, key, isfinite(value) ? json_real(value) : json_null());
}

void fv_json_unsigned(struct fv_json *j, const char *key, uint64_t value)
{
    add(j, key, value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value));
}

void fv_json_signed(struct fv_json *j, const char *key, int64_t value)
{
    add(j, key, json_integer(value));
}

void fv_json_bool(struct fv_json *j, const char *key, bool value)
{
    add(j, key, json_boolean(value));
}

void fv_json_null(struct fv_json *j, const char *key)
{
    add(j, key, json_null());
}
