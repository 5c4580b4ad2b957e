/* Open addressing with linear probing; removal shifts back what follows, so that there are no tombstones and
 * the table stays as small as what is pending. See requests.h. */
#include "merge/requests.h"
#include "tool/vec.h"

#include <stdlib.h>

/* Numbers that follow on each other, as those of requests do, are neighbours. */
static size_t home(const struct fv_pendings *p, uint64_t number)
{
    return (number + fv_mix(number >> 6)) & p->mask;
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
    size_t at = home(p, item->number);
    while (p->slots[at].number && p->slots[at].number != item->number)
        at = (at + 1) & p->mask;
    p->count += !p->slots[at].number;
    p->slots[at] = *item;
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

    for (size_t at = (hole + 1) & p->mask; p->slots[at].number; at = (at + 1) & p->mask) {
        size_t from = home(p, p->slots[at].number);

        /* May it move to the hole? Not if its home lies behind the hole. */
        if (((at - from) & p->mask) >= ((at - hole) & p->mask)) {
            p->slots[hole] = p->slots[at];
            hole = at;
        }
    }
    p->slots[hole].number = 0;
    p->count--;
}

void fv_pendings_release(struct fv_pendings *p)
{
    free(p->slots);
    *p = (struct fv_pendings){ 0 };
}
