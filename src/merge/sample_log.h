/* SPDX-License-Identifier: BSD-3-Clause */
/* The samples of the CPU clock that a thread logged, in the order of time. A program may compute after MPI_Finalize,
 * where its rank's trace ends: samples of that come, too. */
#ifndef FV_SAMPLE_LOG_H
#define FV_SAMPLE_LOG_H

#include "merge/defs.h"

struct fv_logged_samples {
    uint64_t damaged; /* samples that are out of order, have no call path, or are missing; none of them comes */
    uint64_t behind;  /* after the last sign of life of the rank, which each sample is: the file is damaged, or still
                       * being written; none comes */
    /* Private: */
    const struct fv_reader *reader;
    const struct fv_def_sampled *sampled; /* NULL: there are none */
    const struct fv_chunk **chunks;
    size_t count, next; /* of chunks */
    struct fv_cursor cursor;
    uint64_t records; /* before the end of the chunk at hand */
    uint64_t ticks, last_ticks;
};

void fv_logged_samples_open(struct fv_logged_samples *log, const struct fv_reader *reader, const struct fv_def_map *map,
                            const struct fv_def_rank *rank, uint32_t thread);
/* `path` is the node. False: there are no more. */
bool fv_logged_samples_next(struct fv_logged_samples *log, struct fv_logged_sample *out);
void fv_logged_samples_close(struct fv_logged_samples *log);

#endif
