/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank file made of records (merge/record.h), as fvmpi would have written it: what reads an experiment, the profile
 * and all that is made of it, reads an archive of another tool so. It has the calls of MPI with their call paths, what
 * they moved and between whom, the program's functions, computing between calls, counters and series of metrics, and
 * the events of a trace.
 *
 * What records do not have is missing as in any rank file: samples, the machine, what was not recorded. */
#ifndef FV_TRANSCRIPT_H
#define FV_TRANSCRIPT_H

#include "merge/groups.h"
#include "merge/merge.h"

struct fv_transcript;

/* A rank's; its records go to the sink, from its beginning to its end. `header`: what is known of the process; the
 * times and counts are filled in. The files of a run are in one directory, which is there. NULL: it cannot be written;
 * one line was logged. */
struct fv_transcript *fv_transcript_open(const struct fv_merge *merge, const struct fv_groups *groups, uint32_t rank,
                                         const struct fv_file_header *header, const char *directory);
struct fv_sink *fv_transcript_sink(struct fv_transcript *transcript);
/* What FV_REC_COUNTER and FV_REC_SENSOR of it are: their op, and their id. Names may come again, of another thread. Of
 * a counter `id` is where it comes from, and aux 1 if it begins with 0 with the thread. FV_NONE: there is no room. */
uint32_t fv_transcript_counter(struct fv_transcript *transcript, const char *name, bool at_each_call);
/* Of one that was counted in a single call of a function: with aux FV_TRANSCRIPT_OF_CALL. */
#define FV_TRANSCRIPT_OF_CALL 2
uint32_t fv_transcript_instance_event(struct fv_transcript *transcript, const char *name);
uint32_t fv_transcript_series(struct fv_transcript *transcript, const char *label, const char *unit, const char *about,
                              uint32_t flags);
/* A slot is a stream of an accelerator. */
void fv_transcript_stream(struct fv_transcript *transcript, uint32_t slot, const char *device, const char *name);
/* False: the file could not be written; logged. */
bool fv_transcript_close(struct fv_transcript *transcript);

/* What is not as it should be in what the records came from. */
void fv_transcript_remark(struct fv_transcript *transcript, const char *text);

/* Is it a function of MPI? As C has it: "MPI_Send". Its enum fv_function_class; FV_CLASS_OTHER: it is none. */
bool fv_transcript_knows(const char *name);
unsigned fv_transcript_class_of(const char *name);

/* Ticks of such files are nanoseconds; that of time 0. */
#define FV_TRANSCRIPT_FIRST UINT64_C(1000000000)

/* Of what only rank files have: the volume that a rank's own buffers held, from the notional one of an archive
 * (fv_notional()). */
struct fv_volume fv_transcript_volume(const struct fv_record *record, uint32_t ranks, uint32_t rank, bool is_root);

#endif
