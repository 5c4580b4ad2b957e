/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of fvunify: what it merges and what came of it; shared by fvunify.c and unify_say.c. */
#ifndef FV_UNIFY_H
#define FV_UNIFY_H

#include "analysis/annotate.h"
#include "cmd/arguments.h"
#include "merge/merge.h"
#include "merge/weave.h"
#include "merge/weave_samples.h"

struct fv_unify_options {
    struct fv_operands directories;
    const char *directory; /* the first of them */
    const char *output, *timeline;
    uint64_t source;        /* what the timeline is of, as who looks at it says */
    uint64_t timeline_most; /* bytes; 0: any number */
    uint64_t head;          /* bytes of events that the timeline is of, the first of each rank; 0: all */
    int progress;           /* descriptor that gets a byte for each per cent, its number; 0: none */
    uint64_t memory;
    struct fv_part part;
    const char *part_of; /* what the report of it calls the run */
    bool keep, quiet, verbose, correct, symbols, analysis, compress;
    enum fv_merge_samples samples;
};

struct fv_unify_progress {
    bool on, shown; /* on a terminal */
    int to;         /* descriptor; 0: none */
    uint64_t done, all;
    double begin_s, last_s;
    uint8_t percent;
};

struct fv_unify {
    struct fv_unify_options options;
    struct fv_merge merge;
    struct fv_analysis analysis;
    bool analysed;
    int output; /* descriptor of the directory that is written to, locked; -1: none */
    int64_t clock_error_ns;
    struct fv_archive *archive;
    struct fv_unify_progress progress;
    struct fv_replay_stats stats;
    struct fv_instance_stats instances;
    struct fv_sample_counts samples;
    uint64_t unknown_sections;           /* changes of them that the file does not describe */
    struct fv_location_stats *locations; /* of this process's ranks */
    size_t location_count;
    bool incomplete;
};

/* unify_archive.c, by the first process: where the experiment of an archive goes, which is there. It has no rank files
 * but those of an earlier time, which are removed, and gets a run.json. False: it is not ours to use; logged. */
bool fv_unify_archive_begin(const char *anchor, const char *directory);

/* unify_timeline.c, after all events: the critical path; and what there is to say against the waiting and the trace. */
struct fv_timeline_writer;
void fv_unify_add_critical(const struct fv_unify *run, struct fv_timeline_writer *writer);
void fv_unify_add_doubts(struct fv_unify *run, struct fv_timeline_writer *writer);

/* unify_say.c: what it says on stderr. What is missing makes the run incomplete. */
/* Of files that are damaged or missing. */
void fv_unify_say_problems(struct fv_unify *run);
/* Are there any traces? Says where they are not. */
bool fv_unify_has_traces(struct fv_unify *run);
/* A ring that is being filled cannot be read more than once: says what to do. */
bool fv_unify_may_read(const struct fv_unify *run);
/* At the end, by the first process, whose counts are sums over all: what is missing in the archive, ... */
void fv_unify_say_missing(struct fv_unify *run);
/* ... and what is in it. */
void fv_unify_say_result(const struct fv_unify *run, double seconds);
/* Of an archive that another tool wrote. */
void fv_unify_say_analysis(const struct fv_unify *run, double seconds);

#endif
