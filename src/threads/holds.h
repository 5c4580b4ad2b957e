/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks that a thread holds: for how long (--threads=hold), who held them before (owner), and what of that the
 * trace is told. */
#ifndef FV_THREADS_HOLDS_H
#define FV_THREADS_HOLDS_H

#include "threads/state.h"

/* The lock is the thread's now: called if FV_SYNC_HOLDING is asked for. */
void fv_sync_held(struct fv_sync *s, uintptr_t address, struct fv_sync_record *record, struct fv_sync_thing *thing);
/* A lock will be released: ticks, 0: nobody asks. */
static inline uint64_t fv_sync_releasing(void)
{
    return FV_UNLIKELY(fv_sync_wants(FV_THREADS_HOLD | FV_SYNC_TRACED)) ? fv_ticks() : 0;
}
/* It was, at `now`. */
void fv_sync_released(const volatile void *lock, uint64_t now);

/* Waiting for a condition releases its mutex: what held it comes back as *out, to be given to _again. */
void fv_sync_hold_pause(struct fv_sync *s, const volatile void *lock, struct fv_sync_hold *out);
void fv_sync_hold_again(struct fv_sync *s, const struct fv_sync_hold *hold);

#endif
