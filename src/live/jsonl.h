/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of JSON of what is watched, as recordings have them (fvmpi-record(1)): `fvmpi record` writes them to a file,
 * `fvmpi live` keeps them and sends them to browsers. They are put behind each other in memory. printf() would take
 * longer than to read the sensors. Times are nanoseconds since the start. */
#ifndef FV_JSONL_H
#define FV_JSONL_H

#include "sensors/watch.h"

#define FV_RECORDING_SCHEMA "fvmpi-record-1"

struct fv_jsonl {
    char *text;
    size_t used, room;
};

void fv_jsonl_put(struct fv_jsonl *lines, const char *text, size_t bytes);
void fv_jsonl_text(struct fv_jsonl *lines, const char *text);
void fv_jsonl_whole(struct fv_jsonl *lines, uint64_t value);
void fv_jsonl_real(struct fv_jsonl *lines, double value); /* 7 digits; null, if it is no number */
/* With its quotes; whatever its bytes are, it is UTF-8 without control characters then. */
void fv_jsonl_string(struct fv_jsonl *lines, const char *text);
/* `key` with what stands before it, and its colon. */
void fv_jsonl_key_string(struct fv_jsonl *lines, const char *key, const char *value);
void fv_jsonl_key_real(struct fv_jsonl *lines, const char *key, double value);

void fv_jsonl_time(struct fv_jsonl *lines, int64_t since_ns); /* "time_s":1.5 */
/* These begin with a comma: host, kernel, boot_id; interval_s, sensors; series. */
void fv_jsonl_machine(struct fv_jsonl *lines);
void fv_jsonl_sensors(struct fv_jsonl *lines, const struct fv_watch *watch, double interval_s);
void fv_jsonl_series(struct fv_jsonl *lines, const struct fv_watch *watch);
/* A list of the series from the `first` on. */
void fv_jsonl_series_list(struct fv_jsonl *lines, const struct fv_watch *watch, size_t first);
/* A sample but its last brace. */
void fv_jsonl_sample(struct fv_jsonl *lines, const struct fv_watch *watch, int64_t since_ns, int64_t late_ns,
                     int64_t cost_ns);
void fv_jsonl_release(struct fv_jsonl *lines);

#endif
