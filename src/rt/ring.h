/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace that keeps its end (--trace-keep): chunks of events that are full wait in a queue, from which the oldest is
 * taken to be filled again. One queue for all threads, so that the busy ones get the room. */
#ifndef FV_RING_H
#define FV_RING_H

#include "rt/thread.h"

/* The thread's next chunk, in place of the one that is full, if there is one: for `need` bytes of records. NULL: there
 * is no memory, or no disk for the first ones. */
struct fv_chunk_header *fv_ring_next(struct fv_thread *thread, size_t need);
/* So many new chunks, and uses of old ones, so far. */
uint32_t fv_ring_turns(void);
/* No chunk is filled again until _let_go(): for a copy of the file. */
uint64_t fv_ring_hold(void);
void fv_ring_let_go(uint64_t held);

#endif
