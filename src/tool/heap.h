/* SPDX-License-Identifier: BSD-3-Clause */
/* A heap of numbered things (threads, lines, processes), each with the time of what it does next: the
 * earliest first; of equal times that of the lower phase, then of the lower number, so that the order is the
 * same in every run. */
#ifndef FV_HEAP_H
#define FV_HEAP_H

#include "tool/vec.h"

#include <stdlib.h>

struct fv_heap_item {
    uint64_t time;
    uint32_t phase, number;
};

struct fv_heap {
    struct fv_heap_item *items; /* items[0] is the first, where count > 0 */
    size_t count, room;
};

static inline bool fv_next_is_before(const struct fv_heap_item *a, const struct fv_heap_item *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->phase != b->phase ? a->phase < b->phase : a->number < b->number;
}

static inline void fv_heap_push(struct fv_heap *h, struct fv_heap_item item)
{
    FV_GROW(h->items, h->room, h->count + 1);
    size_t i = h->count++;

    for (; i && fv_next_is_before(&item, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
        h->items[i] = h->items[(i - 1) / 2];
    h->items[i] = item;
}

/* Puts another in the place of the first. */
static inline void fv_heap_replace(struct fv_heap *h, struct fv_heap_item item)
{
    size_t i = 0;

    for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
        child += child + 1 < h->count && fv_next_is_before(&h->items[child + 1], &h->items[child]);
        if (fv_next_is_before(&item, &h->items[child]))
            break;
        h->items[i] = h->items[child];
    }
    h->items[i] = item;
}

static inline void fv_heap_pop(struct fv_heap *h)
{
    if (--h->count)
        fv_heap_replace(h, h->items[h->count]);
}

static inline void fv_heap_release(struct fv_heap *h)
{
    free(h->items);
    *h = (struct fv_heap){ 0 };
}

#endif
