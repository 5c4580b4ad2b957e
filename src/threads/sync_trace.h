/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads do between their calls, for the trace (--threads --trace): creation, begin, end and join;
 * locks acquired and released, in which order; waiting, as regions, and for whom. Each is a record among
 * those of the thread's calls (trace/events.h), written by the thread itself outside of MPI: what MPI's own
 * locks do inside of a call is not there. Acquisitions are numbered as they become records, so that a lock's
 * orders have no gaps.
 *
 * All are called by the thread that they are about, with FV_SYNC_TRACED set in fv_sync_mode. Times in ticks.
 */
#ifndef FV_SYNC_TRACE_H
#define FV_SYNC_TRACE_H

#include "threads/state.h"

/* A thread will be made: the creation's number; 0: it is not in the trace. */
uint64_t fv_sync_trace_create(struct fv_sync *s);
/* It was not made. */
void fv_sync_trace_failed(struct fv_sync *s, uint64_t sequence);
void fv_sync_trace_begin(struct fv_sync *s, uint64_t sequence);
/* False: it is not in the trace, nor must be its join. */
bool fv_sync_trace_end(struct fv_sync *s);
void fv_sync_trace_join(struct fv_sync *s, uint64_t sequence, uint64_t now);

void fv_sync_trace_acquired(struct fv_sync *s, uintptr_t address, const struct fv_sync_record *record,
                            struct fv_sync_thing *thing);
void fv_sync_trace_released(struct fv_sync *s, uintptr_t address, uint64_t now);
/* A condition's mutex, while the condition is waited for. */
void fv_sync_trace_pause(struct fv_sync *s, const volatile void *lock, uint64_t now, struct fv_sync_trace_hold *out);
void fv_sync_trace_again(struct fv_sync *s, const struct fv_sync_trace_hold *hold);

/* A parallel region of OpenMP: its number for the others; 0: it is not in the trace. */
uint64_t fv_sync_trace_fork(struct fv_sync *s, uint64_t now, unsigned threads, uint32_t path);
void fv_sync_trace_team_begin(struct fv_sync *s, uint64_t region, uint64_t now);
/* It came to the barrier at the region's end, or has run a task there. */
void fv_sync_trace_team_end(struct fv_sync *s, uint64_t region, uint64_t now);
/* All had come `ago` ticks before; last: fv_thread_record.id + 1 of who came last, 0 not known. */
void fv_sync_trace_omp_join(struct fv_sync *s, uint64_t region, uint64_t now, uint64_t ago, uint32_t last,
                            const struct fv_omp_region *record);

/* A part in worksharing (omp_work.h). False: it is not in the trace, nor must be its end. */
bool fv_sync_trace_work_begin(struct fv_sync *s, unsigned kind, uint32_t path, uint64_t now);
void fv_sync_trace_work_end(struct fv_sync *s, unsigned kind, uint64_t now);

/* A wait ended. */
void fv_sync_trace_waited(const struct fv_sync_wait *wait, const struct fv_sync_record *record, uint64_t now,
                          unsigned outcome);

#endif
