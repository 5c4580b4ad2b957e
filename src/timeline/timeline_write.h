/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the file of a timeline of records: a sink, to which the ranks of a run come one after the other, in any order,
 * their locations together. Calls that waited say so at their ends (analysis/annotate.h). Memory: what one rank has
 * open, one row's bins, and 48 bytes for each message. */
#ifndef FV_TIMELINE_WRITE_H
#define FV_TIMELINE_WRITE_H

#include "merge/merge.h"
#include "timeline/timeline.h"

struct fv_timeline_writer;

/* A new file at `path`. NULL: logged. The definitions stay. */
struct fv_timeline_writer *fv_timeline_create(const char *path, const struct fv_merge *merge);
struct fv_sink *fv_timeline_sink(struct fv_timeline_writer *writer);
/* `good`: all ranks were there; else the file stays incomplete, and is removed. False: logged. */
bool fv_timeline_finish(struct fv_timeline_writer *writer, bool good, uint64_t source);

#endif
