/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline of a trace (timeline/timeline.h): made once, by fvunify, of rank files or of an archive, and kept beside
 * them. */
#ifndef FV_CMD_TIMELINES_H
#define FV_CMD_TIMELINES_H

#include "timeline/timeline_read.h"

#include <limits.h>
#include <sys/types.h>

struct fv_trace_timeline {
    const char *trace;      /* experiment directory or archive */
    char archive[PATH_MAX]; /* the archive of a directory without rank files, which `trace` is then */
    uint64_t source;        /* what the trace is, by its files */
    uint64_t bytes;         /* of its files */
    uint64_t most_bytes;    /* that the timeline may have; 0: any number */
    char place[PATH_MAX], file[PATH_MAX + 16];
    struct fv_timeline_file timeline;
    bool is_head; /* it is of the trace's first part */
    pid_t maker;  /* while it is made in the background; else 0 */
    int progress;
    unsigned percent; /* that is made */
};

/* Has logged when it fails. Of 0 bytes at most nothing is left out. */
bool fv_trace_timeline_open(struct fv_trace_timeline *t, const char *trace, uint64_t most_bytes);
/* The same, but of a trace that takes longer it opens the first part alone. */
bool fv_trace_timeline_open_soon(struct fv_trace_timeline *t, const char *trace, uint64_t most_bytes);
/* Begins to make it in the background, of the trace as it is now. */
bool fv_trace_timeline_begin(struct fv_trace_timeline *t, const char *trace, uint64_t most_bytes);
/* Is it made, or has it failed? Else percent is set. */
bool fv_trace_timeline_is_made(struct fv_trace_timeline *t);
/* Then opens it. False: it could not be made, which was said. */
bool fv_trace_timeline_open_made(struct fv_trace_timeline *t);
/* The same, but the file is the caller's, for fv_timeline_close(). */
bool fv_trace_timeline_of(const char *trace, struct fv_timeline_file *out);
/* One that is there and leaves nothing out; or, of a trace of so many bytes at most, one that is made for this once and
 * leaves no file. */
bool fv_trace_timeline_once(const char *trace, uint64_t most_bytes, struct fv_timeline_file *out);
/* The trace is another one now, such as while it is written. */
bool fv_trace_timeline_is_old(const struct fv_trace_timeline *t);
/* What makes it is ended. */
void fv_trace_timeline_close(struct fv_trace_timeline *t);

#endif
