/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what recording.h writes, line by line; trusts nothing. Where a recording goes on in further files these are
 * read, too. */
#ifndef FV_RECORDING_READER_H
#define FV_RECORDING_READER_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fv_recording_reader {
    char path[PATH_MAX]; /* of the file that is read just now */
    FILE *file;
    json_t *header, *line; /* of this file; the last line */
    long number;           /* of this file among those of the recording */
    const char **labels;   /* of the series; in the first header, which stays */
    json_t *first;
    size_t count;
    double *values;
    char *text;
    size_t room;
    size_t damaged;  /* lines that are left out */
    bool is_torn;    /* the last one is not whole */
    bool has_ended;  /* its last line was there */
    bool is_missing; /* `path` is where it goes on, but it cannot be read */
};

enum fv_recording_line_kind {
    FV_RECORDED_SAMPLE,
    FV_RECORDED_LABEL,
    FV_RECORDED_PAUSE,
    FV_RECORDED_RESUME,
    FV_RECORDED_INTERVAL,
    FV_RECORDED_END
};

struct fv_recording_line {
    enum fv_recording_line_kind kind;
    double time_s, late_s;
    const double *values; /* of a sample: one a series, NAN where it is not known. Until the next line */
    const char *text;     /* of a label */
    const json_t *object; /* all of it */
};

/* -FV_EIO: errno tells; -FV_EFORMAT, -FV_EVERSION: what it is not. Then there is nothing to close. */
int fv_recording_reader_open(struct fv_recording_reader *recorded, const char *path);
bool fv_recording_reader_next(struct fv_recording_reader *recorded, struct fv_recording_line *out);
void fv_recording_reader_close(struct fv_recording_reader *recorded);

/* Of a series. */
const char *fv_recording_reader_unit(const struct fv_recording_reader *recorded, size_t series);
bool fv_recording_reader_is_gauge(const struct fv_recording_reader *recorded, size_t series);
/* NAN: the object has no such number. */
double fv_recording_reader_number(const json_t *object, const char *key);

#endif
