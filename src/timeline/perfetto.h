/* SPDX-License-Identifier: BSD-3-Clause */
/* A stretch of a timeline as a file for ui.perfetto.dev and its trace processor: a trace of packets in protocol buffers
 * (https://perfetto.dev/docs/reference/synthetic-track-event), compressed as gzip does. */
#ifndef FV_TIMELINE_PERFETTO_H
#define FV_TIMELINE_PERFETTO_H

#include "timeline/timeline_read.h"

#include <stdio.h>

/* Ranks are processes, threads are threads; waiting has a track of its own below its thread. -FV_EIO: errno tells. */
int fv_timeline_perfetto(const struct fv_timeline_file *timeline, const struct fv_timeline_choice *part, FILE *out);

#endif
