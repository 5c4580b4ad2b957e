/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread's log is in a rank file: chunks, each after the records of the one before. */
#ifndef FV_CHUNKS_H
#define FV_CHUNKS_H

#include "trace/reader.h"

/* Those of a thread, or with FV_NONE of all, one thread behind the other, that `is_wanted` says yes to, by the records
 * before them; to be freed. NULL: none. */
const struct fv_chunk **fv_thread_chunks(const struct fv_reader *reader, uint32_t thread,
                                         bool (*is_wanted)(const struct fv_chunk *chunk), size_t *count);

/* Of a trace that keeps its end, when its begin is gone: from these ticks on all threads are in it. 0: all is there.
 * *lost: how many calls, and what stood between them, are gone. */
uint64_t fv_ring_begin(const struct fv_reader *reader, uint64_t *lost);

#endif
