/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls, messages and samples of a trace, and what threads did beside, for the page's timeline. */
#ifndef FV_PAGE_TIMELINE_H
#define FV_PAGE_TIMELINE_H

#include "profile/profile.h"
#include "views/views.h"

#include <stdbool.h>
#include <stdio.h>

/* As JSON, times in ns from the model's origin:
 *
 *     { "end": of the run, "left_out": calls that are not here, "messages_left_out", "unmatched", "samples_left_out":
 *     that others stand for, "spans_left_out": [ of each layer ],
 *       "analysed": fvunify was there, "waits_analysed": waits are those of the analysis, and none is unknown;
 *       "waits_unknown": collective calls that are here whose waiting nobody knows, "waits_cut": that for the last
 *       messages is not known, "rows": [ { "rank", "thread": its id, "sites": [ of each call: id of callsites, or null
 *       ], "gaps": [ from the end of the call before ],
 *                   "durations": [...], "bytes": [...], "waits": [ of calls that waited: index, how long, for which
 *                   (-1: not known) rank, for which of its threads, ... ], "meetings": [ of calls of collective
 *                   operations: index, since the one before; communicator; sequence there, since the one before, ... ],
 *                   "samples": { "tick": CPU time that a tick stands for, "gaps": [ from the one before ], "ticks": [
 *                   that it stands for ], "paths": [ index of paths ] }, "lanes": [ { "layer": enum fv_trace_layer,
 *                   "steps": [ from the begin of the span before ], "durations": [...], "depths": [ how many it is in
 *                   ], "bytes": [...], "names": [ index in frames, -1: the first frame of its path ], "objects": [
 *                   file, or thread that was waited for: index in frames, -1: none ], "paths": [ index of paths, -1:
 *                   not known ] } ] } ],
 *       "frames": [ names ], "paths": [ { "own": index in frames of the innermost function of the program, "frames": [
 *       indices, innermost first ], "more": that are
 *                   left out, "sync": it waits for threads } ],
 *       "comms": [ [ name, how many ranks ] ],
 *       "messages": { "from": [...], "to": [...], "from_thread": [ ids ], "to_thread": [...], "sent": [...],
 *                     "flight": [ from then to the end of the call that received ], "bytes": [...] } }
 *
 * waits: as struct fv_page_options has them. False: it could not be written. */
bool fv_page_timeline_put(const struct fv_profile *profile, const struct fv_call_wait *waits, FILE *out);

#endif
