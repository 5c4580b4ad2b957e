/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from how calls of different ranks depend on each other. All functions are collective, and the
 * same comes of them for any number of processes.
 *
 * Steps stay in the process of their rank. What is to be found are ways and sums along time over all ranks:
 * each process turns a window of time of its steps into what matters for the order, the first or last one goes
 * through that in its order and answers, and forgets it. So no process holds more than its share and a
 * window. Rejected: processes that go on as soon as what they need has come, which is as many rounds as the
 * program sent messages one after the other. Where a pass charges something to a rank, it is that of the
 * line. */
#ifndef FV_GRAPH_H
#define FV_GRAPH_H

#include "analysis/sites.h"
#include "analysis/steps.h"
#include "analysis/tally.h"
#include "merge/groups.h"

struct fv_graph {
    struct fv_steps *steps;
    const struct fv_groups *groups;
    const struct fv_transport *transport;
    uint64_t memory; /* bytes that a window may take */
    uint32_t site_count;
    const uint32_t *main_line; /* by index in fv_defs.ranks */
    uint32_t rank_count;
    struct fv_tallies *out; /* of each process: its part */
    /* Results, in the first process: */
    uint64_t ideal_ns; /* the run would take this long if messages took no time */
    uint64_t critical_ns, switches;
    uint64_t cut;   /* waits whose common past was longer than what was looked at */
    bool only_path; /* is wanted: where the critical path was, the latest first */
    struct fv_graph_stretch {
        uint64_t begin_ns, end_ns;
        uint32_t line;
    } * path;
    size_t path_count, path_room;
};

/* From the end of the run backwards:
 *
 * The critical path. Where it meets a wait, it goes on with the one that was waited for.
 *
 * Delay costs (Boehme, Wolf, Geimer: Characterizing Load and Communication Imbalance in Large-Scale Parallel
 * Applications, 2012). Since the waiter and the one it waits for were last in step, the latter spent more
 * time somewhere, or waited itself: the waiting is shared out among these in proportion. What falls on its
 * waits goes on to those whom it waited for. */
void fv_graph_backwards(struct fv_graph *graph);

/* Each rank has a clock of its own that its computation moves forward. A receive is not over before its send
 * began, a collective operation not before its last rank began. Comes last: steps then begin at that clock's
 * time. */
void fv_graph_ideal(struct fv_graph *graph);

#endif
