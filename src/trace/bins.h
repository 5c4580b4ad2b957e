/* SPDX-License-Identifier: BSD-3-Clause */
/* Doubling the width of time bins in place, so that a kill at any moment loses nothing. Pair i is added up into bin i,
 * which pair i / 2 has used before; but for the first one, which waits in a place of its own until all others are done.
 * Then the width says that the fold is over, by one store. Rejected: a second bank to fold into, which takes as much
 * disk again of every thread. */
#ifndef FV_TRACE_BINS_H
#define FV_TRACE_BINS_H

#include "trace/format.h"

#include <string.h>

/* Only the compiler could change the order: a process that is killed has done all stores up to one, and none behind
 * it. */
static inline void fv_bins_store(uint64_t *to, uint64_t value)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void fv_bins_fold_begin(struct fv_time_bins *b)
{
    fv_bins_store(&b->folded, 0);
    fv_bins_store(&b->folding, b->bank.width);
}

static inline void fv_bins_fold_pair(struct fv_time_bins *b, unsigned i)
{
    uint64_t *to = i ? b->bank.ticks[i] : b->first;

    for (unsigned c = 0; c < FV_CLASS_COUNT; c++)
        to[c] = b->bank.ticks[2 * i][c] + b->bank.ticks[2 * i + 1][c];
    fv_bins_store(&b->folded, i + 1);
}

static inline void fv_bins_fold_end(struct fv_time_bins *b)
{
    memcpy(b->bank.ticks[0], b->first, sizeof(b->first));
    memset(b->bank.ticks[FV_BINS / 2], 0, sizeof(b->bank.ticks) / 2);
    fv_bins_store(&b->bank.width, b->bank.width * 2);
}

/* What is in them, with a fold that was begun finished. */
static inline void fv_bins_read(const struct fv_time_bins *b, struct fv_bin_bank *out)
{
    *out = b->bank;
    if (!b->folding || b->folding != b->bank.width)
        return;
    out->width = b->bank.width * 2;
    memset(out->ticks, 0, sizeof(out->ticks));
    for (unsigned i = 0; i < FV_BINS / 2; i++)
        for (unsigned c = 0; c < FV_CLASS_COUNT; c++)
            out->ticks[i][c] = i >= b->folded ? b->bank.ticks[2 * i][c] + b->bank.ticks[2 * i + 1][c]
                               : i            ? b->bank.ticks[i][c]
                                              : b->first[c];
}

#endif
