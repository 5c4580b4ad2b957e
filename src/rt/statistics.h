/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread adds up: cells, time bins, peers, the log of collective calls; and the names of functions. */
#ifndef FV_STATISTICS_H
#define FV_STATISTICS_H

#include "rt/thread.h"

/* Its counts have 32 bits: before one wraps, a second cell with the same key goes on. It is asked each FV_CELL_UNASKED
 * calls of a place on the stack, of which there are as many as the cache of call paths has nodes. */
#define FV_CELL_UNASKED (UINT32_C(1) << 16)
#define FV_CELL_FULL    (UINT32_MAX - (UINT32_C(1) << 28))
static inline bool fv_cell_is_full(const struct fv_cell *cell)
{
    return cell->calls >= FV_CELL_FULL || cell->receives >= FV_CELL_FULL;
}

/* Does it have this key, and room? */
static inline bool fv_cell_is(const struct fv_cell *cell, uint32_t path, uint32_t comm, unsigned function,
                              unsigned size_bucket, uint32_t section)
{
    return cell->path == path && cell->comm == comm && cell->function == function && cell->size_bucket == size_bucket &&
           cell->section == section && !fv_cell_is_full(cell);
}

/* The cell for a key; makes it when new. Never NULL. `section`: fv_thread.section_set, or what it was. */
struct fv_cell_slot fv_cell_find(struct fv_thread *thread, uint32_t path, uint32_t comm, unsigned function,
                                 unsigned size_bucket, uint32_t section);
bool fv_cells_init(struct fv_thread *thread);
extern struct fv_budget fv_cells_budget; /* of regions as well */
/* The cell of the call's path goes on with calls behind one at another path. */
void fv_region_change(const struct fv_call *call, struct fv_cell *cell, uint32_t from);
/* The thread had no processor for a part of the computing before this call, from the one at that path on. Returns the
 * ticks that recording waited, which are no computing. */
uint64_t fv_region_switched(const struct fv_call *call, uint32_t from);
/* The same of I/O (fv_thread.io_since), which is computing. */
void fv_region_with_io(const struct fv_call *call, uint32_t from);
/* The thread had no processor, in the computing that has just ended; and a blocking collective call that is in the wait
 * log ends the interval. */
void fv_noise_add(struct fv_noise *noise, const struct fv_switch_sums *sums);
void fv_noise_log(struct fv_thread *thread, uint64_t begin);
static inline void fv_noise_forget(struct fv_noise *noise)
{
    noise->since = (struct fv_switch_sums){ 0 };
    noise->any = false;
}
void fv_regions_clear(struct fv_thread *thread);
/* Where a thread begins, or has left a call without returning: computing begins now, behind a call at this path. */
void fv_region_begin(struct fv_thread *thread, uint32_t from);
void fv_bins_init(struct fv_thread *thread);
void fv_bins_clear(struct fv_thread *thread); /* they begin anew, where the measured interval does */
void fv_bins_add_across(struct fv_thread *thread, unsigned class, uint64_t begin, uint64_t end);
/* Is a call in the time bin used last? */
static inline bool fv_bins_are_at(const struct fv_thread *thread, uint64_t begin, uint64_t end)
{
    return FV_LIKELY(begin >= thread->bin_begin && end < thread->bin_end);
}
/* Of a call that began when the last one had ended, or later: so it begins in that bin, but for what processors' clocks
 * differ by. */
static inline bool fv_bins_are_still(const struct fv_thread *thread, uint64_t end)
{
    return FV_LIKELY(end < thread->bin_end);
}
static inline void fv_bins_add(struct fv_thread *thread, unsigned class, uint64_t begin, uint64_t end)
{
    if (fv_bins_are_at(thread, begin, end))
        thread->bin[class] += end - begin;
    else
        fv_bins_add_across(thread, class, begin, end);
}
void fv_peers_clear(struct fv_peers *peers);
/* Its record, `peers.last`, is there; false: no room, which is counted. */
bool fv_peer_add(struct fv_thread *thread, int world_rank, uint64_t messages, uint64_t bytes);
void fv_wait_log_clear(struct fv_wait_log *log);
void fv_wait_log_add(struct fv_thread *thread, const struct fv_coll_record *record);

#define FV_FUNCTION_REST 0xffffu /* cells of calls that fit nowhere else */
extern FV_INSIDE uint8_t fv_function_written[FV_FUNCTION_REST + 1];
void fv_function_write(unsigned function);
/* Writes the name of a function that is used for the first time. */
static inline void fv_function_used(unsigned function)
{
    if (FV_UNLIKELY(!__atomic_load_n(&fv_function_written[function], __ATOMIC_RELAXED)))
        fv_function_write(function);
}

#endif
