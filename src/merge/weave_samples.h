/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of the CPU clock between the records of a thread: a sink that passes records on, and tells in between where
 * the clock found the thread, and how much CPU time it had since the sample before. Samples of a pause of the recording
 * are left out. Behind weave.h and weave_sections.h, so that a sample has the regions around it that are entered by
 * then. Only the archive has them so; the analysis joins the same samples with its steps (analysis/samples.h). */
#ifndef FV_WEAVE_SAMPLES_H
#define FV_WEAVE_SAMPLES_H

#include "merge/replay.h"
#include "merge/sample_log.h"

struct fv_sample_counts {
    uint64_t told;
    uint64_t off;     /* not told: taken while recording was switched off */
    uint64_t damaged; /* as in struct fv_logged_samples */
    uint64_t behind;  /* likewise */
};

struct fv_weave_samples {
    struct fv_sink sink; /* first: a sink is one of these */
    struct fv_sink *to;
    const struct fv_defs *defs;
    const struct fv_clocks *clocks;
    struct fv_sample_counts counts;
    /* The rank at hand: */
    uint32_t rank;
    const struct fv_reader *reader;
    const struct fv_def_map *map;
    struct fv_location_stats *locations;
    struct fv_sample_thread *threads; /* by slot */
    size_t thread_count, room;
};

void fv_weave_samples_init(struct fv_weave_samples *weave, const struct fv_defs *defs, const struct fv_clocks *clocks,
                           struct fv_sink *to);
/* The records that come next are of this rank; `locations` as in fv_weave_rank(). */
void fv_weave_samples_rank(struct fv_weave_samples *weave, uint32_t rank, const struct fv_reader *reader,
                           const struct fv_def_map *map, struct fv_location_stats *locations);
void fv_weave_samples_release(struct fv_weave_samples *weave);

#endif
