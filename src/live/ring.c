/* SPDX-License-Identifier: BSD-3-Clause */
/* See ring.h. Lines stand behind each other; one that would not fit before the end begins at the front. So the oldest
 * are those behind the next place, and then those at the front. */
#include "live/ring.h"
#include "tool/vec.h"

#include <stdlib.h>

void fv_ring_init(struct fv_ring *r)
{
    *r = (struct fv_ring){ .text = fv_xcalloc(FV_RING_BYTES, 1),
                           .places = fv_xcalloc(FV_RING_LINES, sizeof(*r->places)),
                           .first = 1,
                           .end = 1 };
}

/* Those that begin in [from, to) go, as far as they are the oldest. */
static void drop(struct fv_ring *r, size_t from, size_t to)
{
    for (; r->first < r->end; r->first++) {
        size_t at = fv_ring_place(r, r->first)->at;

        if (at < from || at >= to)
            return;
    }
}

bool fv_ring_add(struct fv_ring *r, const char *text, size_t length, uint32_t count, uint32_t first)
{
    if (!length || length > FV_RING_LINE)
        return false;
    if (r->at + length > FV_RING_BYTES) {
        drop(r, r->at, FV_RING_BYTES);
        r->at = 0;
    }
    drop(r, r->at, r->at + length);
    if (r->end - r->first == FV_RING_LINES)
        r->first++;
    memcpy(r->text + r->at, text, length);
    r->places[r->end % FV_RING_LINES] = (struct fv_ring_place){ (uint32_t)r->at, (uint32_t)length, count, first };
    r->end++;
    r->at += length;
    return true;
}

void fv_ring_release(struct fv_ring *r)
{
    free(r->text);
    free(r->places);
    *r = (struct fv_ring){ 0 };
}
