/* SPDX-License-Identifier: BSD-3-Clause */
/* Which phases are measured one thread at a time (fvmpi run --stacks --solo), and what comes of it in the rank file:
 * the parking is gate.h's, the cache's other part is held by a process of fvmpi run (base/solo.h), so that nothing is
 * added to the application but waiting.
 *
 * A phase that is not separable is tried once: it is let go, and not parked again. Of a phase with many instances those
 * that are measured become rarer, 32 for each doubling. */
#ifndef FV_THREADS_SOLO_H
#define FV_THREADS_SOLO_H

#include "threads/gate.h"
#include "threads/state.h"

extern bool fv_solo_on; /* in this process, and not ended yet */

static inline bool fv_solo_is_on(void)
{
    return FV_UNLIKELY(__atomic_load_n(&fv_solo_on, __ATOMIC_RELAXED));
}

/* Is the n-th instance of a phase measured, from 0? */
static inline bool fv_solo_is_turn(uint64_t n)
{
    unsigned bits = fv_log2_bucket(n);

    return bits <= 6 || !(n & ((UINT64_C(1) << (bits - 6)) - 1));
}

/* Which thread runs alone next, modulo their number: they take turns in what is measured. (By the instance's number it
 * were the same few, as those are multiples of powers of two.) */
static inline uint32_t fv_solo_pick(const struct fv_solo_record *phase)
{
    return (uint32_t)(__atomic_load_n(&phase->measured, __ATOMIC_RELAXED) +
                      __atomic_load_n(&phase->let_go, __ATOMIC_RELAXED));
}

/* Recording begins. */
void fv_solo_start(void);
void fv_solo_forget(void);

/* A parallel region of OpenMP begins: its number for its threads, 0: it is not measured. And is over. */
uint32_t fv_solo_fork(struct fv_sync *s, const struct fv_omp_region *region);
void fv_solo_join(uint32_t phase);

/* A thread will be made by this one: the phase that it is of (0: none), and its seat. */
uint32_t fv_solo_create(struct fv_sync *s, uintptr_t routine, uint32_t path, int *seat);
/* It was not made, or is not recorded. */
void fv_solo_not_made(uint32_t phase, int seat);

/* The thread, or the one that makes threads, waits for something that is no barrier of the phase; no more. */
void fv_solo_waits(void);
static inline void fv_solo_works(void)
{
    if (fv_solo_is_on())
        fv_gate_works();
}
/* The thread's part is over. */
void fv_solo_exit(void);

#endif
