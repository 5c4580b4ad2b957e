/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline of a trace (timeline/timeline.h): made once, by fvunify, of rank files or of an archive, and kept beside
 * them. */
#ifndef FV_CMD_TIMELINES_H
#define FV_CMD_TIMELINES_H

#include "timeline/timeline_read.h"

#include <limits.h>

struct fv_trace_timeline {
    const char *trace;      /* experiment directory or archive */
    char archive[PATH_MAX]; /* the archive of a directory without rank files, which `trace` is then */
    uint64_t source;        /* what the trace is, by its files */
    uint64_t most_bytes;    /* that the timeline may have; 0: any number */
    char place[PATH_MAX], file[PATH_MAX + 16];
    struct fv_timeline_file timeline;
};

/* Has logged when it fails. Of 0 bytes at most nothing is left out. */
bool fv_trace_timeline_open(struct fv_trace_timeline *t, const char *trace, uint64_t most_bytes);
/* The same, but the file is the caller's, for fv_timeline_close(). */
bool fv_trace_timeline_of(const char *trace, struct fv_timeline_file *out);
/* The trace is another one now, such as while it is written. */
bool fv_trace_timeline_is_old(const struct fv_trace_timeline *t);
void fv_trace_timeline_close(struct fv_trace_timeline *t);

#endif
