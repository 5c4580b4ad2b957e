/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the file of a timeline of records: a sink, to which the ranks of a run come one after the other, in any order,
 * their locations together. Calls that waited say so at their ends (analysis/annotate.h). Memory: what one rank has
 * open, one row's bins, 48 bytes for each message, 72 for each call of a collective operation. All functions are
 * collective: each process writes what its ranks did, and the first one puts that together. */
#ifndef FV_TIMELINE_WRITE_H
#define FV_TIMELINE_WRITE_H

#include "merge/merge.h"
#include "timeline/timeline.h"

struct fv_timeline_writer;

/* A new file at `path`, of `most_bytes` at most, as far as that can be; 0: of any size. NULL: logged. The definitions
 * stay. */
struct fv_timeline_writer *fv_timeline_create(const char *path, const struct fv_merge *merge, uint64_t most_bytes);
struct fv_sink *fv_timeline_sink(struct fv_timeline_writer *writer);
/* For what a rank file has of its process and its node (merge/sensors.h, memory.h), behind the rank's threads. */
struct fv_sink *fv_timeline_metrics(struct fv_timeline_writer *writer);
/* A series of an archive, of a thread or of its process (otf2/import.h): the id of its SENSOR records. */
uint32_t fv_timeline_name_series(void *writer, uint64_t location, bool of_thread, const char *name, const char *unit,
                                 bool grows);
/* A location that is a stream of an accelerator. */
void fv_timeline_name_row(void *writer, uint64_t location, const char *name);
/* A moment that was marked, in an archive; those of rank files are known. To the first process. */
void fv_timeline_add_label(void *writer, uint64_t time_ns, uint64_t location, const char *text);
/* A stretch of the critical path, the latest first. rank: index in the definitions. */
void fv_timeline_add_critical(struct fv_timeline_writer *writer, uint32_t rank, uint32_t slot, uint64_t begin_ns,
                              uint64_t end_ns);
/* `good`: all ranks were there, the same in all processes; else the file stays incomplete, and is removed. False:
 * logged.
 */
/* Before it is finished. */
void fv_timeline_doubt(struct fv_timeline_writer *writer, const struct fv_timeline_doubts *doubts);
bool fv_timeline_finish(struct fv_timeline_writer *writer, bool good, uint64_t source);

#endif
