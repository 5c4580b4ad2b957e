/* SPDX-License-Identifier: BSD-3-Clause */
/* The last lines of text that there were, in bounded memory: a new one takes the place of the oldest. Each has a
 * number, from 1 on, so that who reads them knows where he is, and what he missed. One thread at a time. */
#ifndef FV_RING_H
#define FV_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FV_RING_BYTES ((size_t)6 << 20)
#define FV_RING_LINES ((size_t)1 << 16)
#define FV_RING_LINE  (FV_RING_BYTES / 8) /* longer ones are not taken */

struct fv_ring_place {
    uint32_t at, length;
    uint32_t count, first; /* the caller's */
};
struct fv_ring {
    char *text;
    struct fv_ring_place *places; /* by number, the last FV_RING_LINES of them */
    uint64_t first, end;          /* numbers: of the oldest line that is there, and of the next to come */
    size_t at;                    /* where that will be */
};

void fv_ring_init(struct fv_ring *ring);
/* `count`, `first`: what the caller wants to know of it later. False: it is too long. */
bool fv_ring_add(struct fv_ring *ring, const char *text, size_t length, uint32_t count, uint32_t first);
/* first <= number < end. */
static inline const struct fv_ring_place *fv_ring_place(const struct fv_ring *ring, uint64_t number)
{
    return &ring->places[number % FV_RING_LINES];
}
void fv_ring_release(struct fv_ring *ring);

#endif
