/* SPDX-License-Identifier: BSD-3-Clause */
/* See requests.h. Open addressing with linear probing, in the order of homes (Robin Hood hashing): a removal
 * shifts back what follows, up to the next that is at home. So there are no tombstones. */
#include "merge/requests.h"
#include "tool/vec.h"

#include <stdlib.h>

/* Numbers that follow on each other, as those of requests do, are neighbours by eight, and the eights are
 * spread evenly (Fibonacci hashing): most are at home, however many stay. */
static size_t home(const struct fv_pendings *p, uint64_t number)
{
    uint64_t spread = (number >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> __builtin_clzll(p->mask);

    return (size_t)((spread & ~UINT64_C(7)) | (number & 7));
}

static size_t from_home(const struct fv_pendings *p, size_t at)
{
    return (at - home(p, p->slots[at].number)) & p->mask;
}

static void grow(struct fv_pendings *p)
{
    struct fv_pendings old = *p;

    p->mask = old.slots ? old.mask * 2 + 1 : 63;
    p->slots = fv_xcalloc(p->mask + 1, sizeof(*p->slots));
    p->count = 0;
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].number)
            fv_pendings_add(p, &old.slots[i]);
    free(old.slots);
}

void fv_pendings_add(struct fv_pendings *p, const struct fv_pending *item)
{
    if (!item->number)
        return;
    if (!p->slots || p->count * 2 > p->mask)
        grow(p);
    struct fv_pending next = *item;
    size_t at = home(p, item->number);
    for (size_t away = 0; p->slots[at].number && p->slots[at].number != next.number; away++) {
        size_t other = from_home(p, at);

        if (other < away) { /* it gives way, and goes on from here */
            struct fv_pending was = p->slots[at];

            p->slots[at] = next;
            next = was;
            away = other;
        }
        at = (at + 1) & p->mask;
    }
    p->count += !p->slots[at].number;
    p->slots[at] = next;
}

struct fv_pending *fv_pendings_find(struct fv_pendings *p, uint64_t number)
{
    if (!p->slots || !number)
        return NULL;
    for (size_t at = home(p, number); p->slots[at].number; at = (at + 1) & p->mask)
        if (p->slots[at].number == number)
            return &p->slots[at];
    return NULL;
}

void fv_pendings_remove(struct fv_pendings *p, struct fv_pending *item)
{
    size_t hole = (size_t)(item - p->slots);

    for (size_t at; at = (hole + 1) & p->mask, p->slots[at].number && from_home(p, at); hole = at)
        p->slots[hole] = p->slots[at];
    p->slots[hole].number = 0;
    p->count--;
}

void fv_pendings_release(struct fv_pendings *p)
{
    free(p->slots);
    *p = (struct fv_pendings){ 0 };
}
