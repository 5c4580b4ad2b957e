/* SPDX-License-Identifier: BSD-3-Clause */
/* The analysis of waiting, from the traces of a run: how much, where, and who is the cause. The definitions
 * of the patterns are those of Scalasca, see share/analysis.md.
 *
 * All ranks are replayed together, in pieces of time: calls become steps (steps.h), what belongs together is
 * sent to where it meets (collect.h, match.h), and the answers go into the steps. Then each process adds up
 * the waiting of its ranks (waits.h), and together they follow the dependencies over all ranks (graph.h). */
#ifndef FV_ANALYSIS_H
#define FV_ANALYSIS_H

#include "analysis/graph.h"
#include "analysis/match.h"
#include "analysis/progress.h"
#include "analysis/samples.h"
#include "analysis/waits.h"

struct fv_analysis_options {
    const char *directory; /* where there is room for the steps */
    uint64_t memory;       /* bytes that this process may use for what is to be matched; what never is stays besides */
    void (*progress)(void *context, uint64_t bytes);
    void *progress_context;
    volatile const int *stop; /* set from outside: give up */
    bool for_timeline;        /* who waited for whom, and fv_graph.path, are wanted, and no sums of them */
};

struct fv_analysis {
    struct fv_merge *merge;
    struct fv_sites sites;
    struct fv_groups groups;
    struct fv_steps steps;
    struct fv_tallies tallies;     /* in the first process: of all, sorted */
    struct fv_graph graph;         /* in the first process */
    struct fv_rings rings;         /* only what all ranks have kept is judged: from rings.from_ns on */
    struct fv_over_time over_time; /* gathered */
    struct fv_unmatched_counts unmatched;
    struct fv_sample_stats samples; /* of all processes */
    uint32_t *main_line;            /* by index in fv_defs.ranks: the thread that made most calls; FV_NONE */
    uint64_t spill_bytes;           /* of all processes */
    double seconds;                 /* of it collecting and matching, adding up waits, and following the graph: */
    double collect_s, waits_s, graph_s;
};

/* Collective. False: failed, which was logged. To be released in either case. */
bool fv_analyse(struct fv_analysis *analysis, struct fv_merge *merge, const struct fv_analysis_options *options);
void fv_analysis_release(struct fv_analysis *analysis);

/* The first process writes analysis.json into a directory. clock_error_ns: the largest shift of a clock.
 * False: logged. */
bool fv_analysis_write(struct fv_analysis *analysis, const char *directory, int64_t clock_error_ns);
/* Removes the one that an earlier merge wrote: it is of another archive. */
void fv_analysis_forget(const char *directory);

#endif
