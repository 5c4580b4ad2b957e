/* SPDX-License-Identifier: BSD-3-Clause */
/* See recording_reader.h. */
#include "cmd/recording_reader.h"
#include "cmd/recording.h"
#include "base/base.h"
#include "tool/vec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

double fv_recording_reader_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static const json_t *series(const struct fv_recording_reader *r, size_t i)
{
    return json_array_get(json_object_get(r->first, "series"), i);
}

const char *fv_recording_reader_unit(const struct fv_recording_reader *r, size_t i)
{
    const char *unit = text_of(series(r, i), "unit");

    return unit ? unit : "";
}

bool fv_recording_reader_is_gauge(const struct fv_recording_reader *r, size_t i)
{
    return fv_same_text(text_of(series(r, i), "kind"), "gauge");
}

/* ---- lines ---- */

/* NULL: there is none, or it is no object. *is_last: nothing is behind it. */
static json_t *load_line(struct fv_recording_reader *r, bool *is_last)
{
    ssize_t bytes = getline(&r->text, &r->room, r->file);
    json_t *line;

    *is_last = bytes <= 0;
    if (bytes <= 0)
        return NULL;
    *is_last = r->text[bytes - 1] != '\n';
    line = json_loadb(r->text, (size_t)bytes, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(line)) {
        json_decref(line);
        line = NULL;
    }
    if (!line && *is_last)
        r->is_torn = true;
    else if (!line)
        r->damaged++;
    return line;
}

/* ---- headers ---- */

static int judge_schema(const json_t *header)
{
    static const char stem[] = "fvmpi-record-";
    const char *schema = header ? text_of(header, "schema") : NULL;

    if (!schema || strncmp(schema, stem, strlen(stem)))
        return -FV_EFORMAT;
    return strcmp(schema, FV_RECORDING_SCHEMA) ? -FV_EVERSION : 0;
}

static int take_series(struct fv_recording_reader *r)
{
    const json_t *list = json_object_get(r->header, "series");

    r->count = json_array_size(list);
    if (!r->count)
        return -FV_EFORMAT;
    r->first = json_incref(r->header);
    r->labels = fv_xcalloc(r->count, sizeof(*r->labels));
    r->values = fv_xcalloc(r->count, sizeof(*r->values));
    for (size_t i = 0; i < r->count; i++)
        if (!(r->labels[i] = text_of(json_array_get(list, i), "label")))
            return -FV_EFORMAT;
    return 0;
}

/* A further file is of the same series, and behind this one, so that files cannot name each other for ever. */
static int open_file(struct fv_recording_reader *r)
{
    bool is_last;
    double number;
    int err;

    json_decref(r->header);
    r->header = NULL;
    if (!(r->file = fopen(r->path, "re")))
        return -FV_EIO;
    r->header = load_line(r, &is_last);
    if ((err = judge_schema(r->header)) != 0)
        return err;
    number = fv_recording_reader_number(r->header, "file");
    if (!(number > (double)r->number && number < 1e9))
        return -FV_EFORMAT;
    r->number = (long)number;
    if (!r->first)
        return take_series(r);
    return json_equal(json_object_get(r->first, "series"), json_object_get(r->header, "series")) ? 0 : -FV_EFORMAT;
}

int fv_recording_reader_open(struct fv_recording_reader *r, const char *path)
{
    int err, saved;

    *r = (struct fv_recording_reader){ 0 };
    if ((size_t)snprintf(r->path, sizeof(r->path), "%s", path) >= sizeof(r->path)) {
        errno = ENAMETOOLONG;
        return -FV_EIO;
    }
    if ((err = open_file(r)) != 0) {
        saved = errno;
        fv_recording_reader_close(r);
        errno = saved;
    }
    return err;
}

void fv_recording_reader_close(struct fv_recording_reader *r)
{
    if (r->file)
        fclose(r->file);
    json_decref(r->header);
    json_decref(r->line);
    json_decref(r->first);
    free(r->labels);
    free(r->values);
    free(r->text);
    *r = (struct fv_recording_reader){ 0 };
}

/* Beside this one. */
static bool go_on(struct fv_recording_reader *r, const char *name)
{
    char *slash = strrchr(r->path, '/');
    size_t used = slash ? (size_t)(slash + 1 - r->path) : 0;

    if (strchr(name, '/') || used + strlen(name) >= sizeof(r->path))
        return false;
    memcpy(r->path + used, name, strlen(name) + 1);
    fclose(r->file);
    r->file = NULL;
    r->is_missing = open_file(r) != 0;
    return !r->is_missing;
}

/* ---- what it says ---- */

static bool take_values(struct fv_recording_reader *r, const json_t *list)
{
    if (json_array_size(list) != r->count)
        return false;
    for (size_t i = 0; i < r->count; i++) {
        const json_t *value = json_array_get(list, i);

        if (!json_is_number(value) && !json_is_null(value))
            return false;
        r->values[i] = json_is_null(value) ? NAN : json_number_value(value);
    }
    return true;
}

/* What is not known may be of a later version. */
static bool take_kind(struct fv_recording_reader *r, struct fv_recording_line *out)
{
    const json_t *line = r->line, *values = json_object_get(line, "values"), *paused = json_object_get(line, "paused");

    *out = (struct fv_recording_line){ .time_s = fv_recording_reader_number(line, "time_s"),
                                       .late_s = fv_recording_reader_number(line, "late_s"),
                                       .object = line };
    if (!isfinite(out->time_s) || (values && !take_values(r, values))) {
        r->damaged++;
        return false;
    }
    if (values) {
        out->kind = FV_RECORDED_SAMPLE;
        out->values = r->values;
    } else if ((out->text = text_of(line, "label"))) {
        out->kind = FV_RECORDED_LABEL;
    } else if (paused) {
        out->kind = json_is_true(paused) ? FV_RECORDED_PAUSE : FV_RECORDED_RESUME;
    } else if (json_object_get(line, "end")) {
        out->kind = FV_RECORDED_END;
        r->has_ended = true;
    } else if (json_object_get(line, "interval_s")) {
        out->kind = FV_RECORDED_INTERVAL;
    } else {
        return false;
    }
    return true;
}

bool fv_recording_reader_next(struct fv_recording_reader *r, struct fv_recording_line *out)
{
    bool is_last = false;

    while (!is_last && r->file) {
        const char *name;

        json_decref(r->line);
        if (!(r->line = load_line(r, &is_last)))
            continue;
        if ((name = text_of(r->line, "continued"))) {
            is_last = !go_on(r, name);
            continue;
        }
        if (take_kind(r, out))
            return true;
    }
    return false;
}
