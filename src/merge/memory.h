/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes that a process had allocated along time (--memory): a location of its own behind its rank's threads and
 * sensors, with them as a metric; and calls of the allocator. */
#ifndef FV_MERGE_MEMORY_H
#define FV_MERGE_MEMORY_H

#include "merge/clocks.h"
#include "merge/record.h"
#include "merge/replay.h"

bool fv_memory_is_in(const struct fv_reader *reader);
static inline uint64_t fv_memory_location(const struct fv_def_rank *rank)
{
    return fv_location(rank, rank->thread_count + 1);
}

/* Calls of the allocator in the trace (--memory=calls; trace/events.h, MEMORY): as fv_files_used() and its
 * neighbours. */
void fv_memory_used(const struct fv_reader *reader, void (*mark)(void *context, uint32_t path), void *context);
void fv_memory_define(struct fv_defs *defs, const struct fv_reader *reader, struct fv_def_map *map);
uint64_t fv_memory_lost(const struct fv_reader *reader);

/* Of each interval of the series in which it changed, as MEMORY records of the location, which is opened and closed: at
 * its begin the most that was allocated in it, at its end what was allocated last. False: the sink failed. */
bool fv_memory_replay(const struct fv_defs *defs, const struct fv_clocks *clocks, uint32_t rank,
                      const struct fv_reader *reader, struct fv_sink *sink, struct fv_location_stats *location);

#endif
