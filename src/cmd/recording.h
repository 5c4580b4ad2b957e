/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording of sensors: JSON, one object a line (fvmpi-record(1) has the keys). Written here, read by
 * recording_reader.h.
 *
 * Lines are kept in memory for a second at most, and go to the file whole, many by one write(), so that what is killed
 * leaves a file that can be read: what a kill costs is at most FV_RECORDING_HELD_S of data and a torn last line. A file
 * is never one that was there before, and is told from what others put in its place. Times are nanoseconds of
 * CLOCK_MONOTONIC. */
#ifndef FV_RECORDING_H
#define FV_RECORDING_H

#include "live/jsonl.h"
#include "sensors/watch.h"

#include <limits.h>
#include <sys/types.h>

#define FV_RECORDING_HELD_S 1

struct fv_recording {
    const struct fv_watch *watch;
    char *const *command; /* NULL: none */
    double interval_s;
    uint64_t rotate_bytes; /* 0: one file */
    size_t keep;           /* files; 0: all */
    int64_t start_ns, start_realtime_ns;
    bool has_failed; /* nothing is written any more; it was said why */

    char path[PATH_MAX]; /* of the first file */
    size_t number;       /* of the present one, from 0 */
    int fd;
    uint64_t bytes;        /* whole lines in the file */
    size_t samples;        /* in this file */
    int64_t oldest_ns;     /* of the lines that are held; 0: none are */
    struct fv_jsonl lines; /* that are held */
    struct fv_recording_file {
        dev_t device;
        ino_t inode;
    } * files;
    size_t file_count, file_room;
};

/* What one recording took. */
struct fv_recording_end {
    const char *reason;
    size_t samples, late, missed;
    double cpu_s;
    uint64_t memory_bytes; /* its peak */
};

/* Begins at the present. `path` NULL: fvmpi-record-HOST-TIME.jsonl. -FV_EIO: it has said why. */
int fv_recording_open(struct fv_recording *recording, const char *path);
void fv_recording_sample(struct fv_recording *recording, int64_t at_ns, int64_t late_ns, int64_t cost_ns);
void fv_recording_label(struct fv_recording *recording, int64_t at_ns, const char *text);
void fv_recording_pause(struct fv_recording *recording, int64_t at_ns, bool is_paused);
void fv_recording_interval(struct fv_recording *recording, int64_t at_ns, double interval_s);
void fv_recording_rotate(struct fv_recording *recording);
/* Writes what would be held for too long if the next line came at next_ns. */
void fv_recording_flush(struct fv_recording *recording, int64_t next_ns);
/* The files that are there. */
struct fv_recording_names {
    char first[PATH_MAX + 24], last[PATH_MAX + 24]; /* last: "" if there is one */
    bool are_some_gone;                             /* --keep */
};
void fv_recording_names(const struct fv_recording *recording, struct fv_recording_names *out);
void fv_recording_end(struct fv_recording *recording, int64_t at_ns, const struct fv_recording_end *end);
void fv_recording_close(struct fv_recording *recording);

#endif
