/* What follows from how calls of different ranks depend on each other: the passes of the first process over
 * all steps. Where a pass charges something to a rank, it is that of the line. */
#ifndef FV_GRAPH_H
#define FV_GRAPH_H

#include "analysis/sites.h"
#include "analysis/steps.h"
#include "analysis/tally.h"
#include "merge/groups.h"

struct fv_graph {
    const struct fv_steps *steps;
    const struct fv_groups *groups;
    uint32_t site_count;
    const uint32_t *main_line; /* by index in fv_defs.ranks */
    uint32_t rank_count;
    struct fv_tallies *out;
    /* Results: */
    uint64_t ideal_ns; /* the run would take this long if messages took no time */
    uint64_t critical_ns, switches;
    uint64_t cut; /* waits whose common past was longer than what was looked at */
};

/* Each rank has a clock of its own that its computation moves forward. A receive is not over before its send
 * began, a collective operation not before its last rank began. */
void fv_graph_ideal(struct fv_graph *graph);

/* From the end of the run backwards: where the path meets a wait, it goes on with the one that was waited
 * for. */
void fv_graph_critical(struct fv_graph *graph);

/* Delay costs (Boehme, Wolf, Geimer: Characterizing Load and Communication Imbalance in Large-Scale Parallel
 * Applications, 2012). Since the waiter and the one it waits for were last in step, the latter spent more
 * time somewhere, or waited itself: the waiting is shared out among these in proportion. What falls on its
 * waits goes on to those whom it waited for. */
void fv_graph_delays(struct fv_graph *graph);

#endif
