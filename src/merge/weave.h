/* SPDX-License-Identifier: BSD-3-Clause */
/* Measured instances of functions between the records of calls: a sink that passes records on, and tells in
 * between where instances of the same thread begin and end, so that all nest. An instance that calls MPI is
 * around the call; one of a function that MPI ran itself is in it. One that neither lies in a call nor around
 * it keeps what is outside. What was counted of events in an instance is told before its end. Only the
 * archive has instances: the analysis is of calls alone. */
#ifndef FV_WEAVE_H
#define FV_WEAVE_H

#include "merge/instance_log.h"
#include "merge/replay.h"

struct fv_weave {
    struct fv_sink sink; /* first: a sink is one of these */
    struct fv_sink *to;
    const struct fv_defs *defs;
    const struct fv_clocks *clocks;
    struct fv_instance_stats stats;
    /* The rank at hand: */
    uint32_t rank;
    bool has_calls; /* all calls of functions are in the trace: instances would tell some of them again */
    bool is_counted[FV_METRIC_EVENTS];
    const struct fv_reader *reader;
    const struct fv_def_map *map;
    struct fv_location_stats *locations;
    struct fv_weave_thread *threads; /* by slot */
    size_t thread_count, room;
};

void fv_weave_init(struct fv_weave *weave, const struct fv_defs *defs, const struct fv_clocks *clocks,
                   struct fv_sink *to);
/* The records that come next are of this rank; as in fv_replay_rank(), of which `locations` are the same:
 * what is told here is counted there. */
void fv_weave_rank(struct fv_weave *weave, uint32_t rank, const struct fv_reader *reader, const struct fv_def_map *map,
                   struct fv_location_stats *locations);
void fv_weave_release(struct fv_weave *weave);

#endif
