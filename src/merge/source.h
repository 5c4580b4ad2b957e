/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the records of a run come from: rank files (source.c), or an archive of any tool (otf2/import.h). What takes
 * records does not know which. A process has a share of the run's ranks: fv_merge.files, one for each. */
#ifndef FV_SOURCE_H
#define FV_SOURCE_H

#include "merge/replay.h"

struct fv_merge;

/* What a rank does is told to a sink, in pieces, as fv_replay_open() and the functions behind it say. */
struct fv_source_rank {
    const struct fv_replay *replay; /* the definitions and the clocks; progress */
    size_t file;                    /* of fv_merge.files */
    struct fv_sink *sink;
    struct fv_location_stats *locations; /* one for each thread */
    struct fv_replay_stats *stats;
};

typedef void fv_source_site_fn(void *context, uint32_t function, uint32_t node);
/* A moment of computing in a thread: time that was spent on a call path. */
struct fv_source_sample {
    uint32_t slot, node;
    uint64_t time_ns;
    uint64_t cpu_ns; /* of a piece of a region: time */
    bool is_behind;  /* MPI_Finalize; a piece is not asked */
};
typedef void fv_source_sample_fn(void *context, const struct fv_source_sample *sample);
/* What threads wait for: its number in the run, its kind, and the module that names it. */
typedef void fv_source_lock_fn(void *context, uint32_t number, unsigned kind, uint32_t module);

struct fv_record_source {
    /* Adds to `own` what the events of this process's share refer to. False: failed, which was logged. */
    bool (*define)(struct fv_merge *merge, struct fv_defs *own);
    /* The numbers of `own` in fv_merge.defs; both may be taken over. Sets each file's rank. */
    void (*number)(struct fv_merge *merge, struct fv_defs *own, struct fv_def_map *numbers);
    /* Call sites of a file, in the numbers of fv_merge.defs; some more than once. */
    void (*sites)(const struct fv_merge *merge, size_t file, fv_source_site_fn *take, void *context);
    void *(*open)(const struct fv_merge *merge, const struct fv_source_rank *rank);
    bool (*until)(void *records, uint64_t time_ns);
    bool (*close)(void *records);
    /* Then: how many calls of the file go on behind an edge of the part that is taken. NULL: none. */
    uint64_t (*cut)(const struct fv_merge *merge, size_t file);
    /* Of each thread in the order of time. False: they are no samples, but pieces of regions. NULL: they are in the
     * rank files (sample_log.h). */
    bool (*samples)(const struct fv_merge *merge, size_t file, fv_source_sample_fn *take, void *context);
    /* Those of a rank that have names. NULL: the rank files say more of them (lock_names.h). */
    void (*locks)(const struct fv_merge *merge, size_t file, fv_source_lock_fn *take, void *context);
};

extern const struct fv_record_source fv_rank_file_source;

#endif
