/* SPDX-License-Identifier: BSD-3-Clause */
/* See tally.h. */
#include "analysis/tally.h"

#include <stdlib.h>
#include <string.h>

static bool same(const struct fv_tally *a, const struct fv_tally *b)
{
    return a->what == b->what && a->site == b->site && a->rank == b->rank && a->kind == b->kind &&
           a->other_site == b->other_site && a->other_rank == b->other_rank;
}

/* The index mixes it. */
static uint64_t hash(const struct fv_tally *t)
{
    return ((uint64_t)t->what << 32 | t->kind) * UINT64_C(0x9e3779b97f4a7c15) +
           ((uint64_t)t->site << 32 | t->rank) * UINT64_C(0xbf58476d1ce4e5b9) +
           ((uint64_t)t->other_site << 32 | t->other_rank) * UINT64_C(0x94d049bb133111eb);
}

void fv_tallies_add(struct fv_tallies *t, const struct fv_tally *item)
{
    uint64_t h = hash(item);
    struct fv_index_probe p = fv_index_probe(&t->index, h);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (same(&t->items[i], item)) {
            t->items[i].count += item->count;
            t->items[i].ns += item->ns;
            return;
        }
    FV_GROW(t->items, t->room, t->count + 1);
    t->items[t->count] = *item;
    fv_index_add(&t->index, h, (uint32_t)t->count++);
}

/* Up a binomial tree, so that the first process does not meet all at once. */
void fv_tallies_gather(struct fv_tallies *tallies, const struct fv_transport *t)
{
    struct fv_bytes bytes = { 0 };
    int step;

    for (step = 1; step < t->size && !(t->rank & step); step <<= 1) {
        if (t->rank + step >= t->size)
            continue;
        bytes.count = 0;
        fv_transport_get(t, t->rank + step, &bytes);
        for (size_t i = 0; i < bytes.count / sizeof(*tallies->items); i++)
            fv_tallies_add(tallies, (struct fv_tally *)(void *)bytes.data + i);
    }
    if (t->rank) {
        bytes.count = 0;
        fv_bytes_put(&bytes, tallies->items, tallies->count * sizeof(*tallies->items));
        fv_transport_put(t, t->rank & ~step, &bytes);
    }
    free(bytes.data);
}

static int by_key(const void *a, const void *b)
{
    const struct fv_tally *x = a, *y = b;
    const uint32_t p[] = { x->what, x->site, x->rank, x->kind, x->other_site, x->other_rank };
    const uint32_t q[] = { y->what, y->site, y->rank, y->kind, y->other_site, y->other_rank };

    for (unsigned i = 0; i < sizeof(p) / sizeof(*p); i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

void fv_tallies_sort(struct fv_tallies *t)
{
    if (t->count)
        qsort(t->items, t->count, sizeof(*t->items), by_key);
    fv_index_release(&t->index);
}

uint64_t fv_tallies_ns(const struct fv_tallies *t, const struct fv_tally *key)
{
    const struct fv_tally *found = t->count ? bsearch(key, t->items, t->count, sizeof(*t->items), by_key) : NULL;

    return found ? found->ns : 0;
}

void fv_tallies_release(struct fv_tallies *t)
{
    free(t->items);
    fv_index_release(&t->index);
    *t = (struct fv_tallies){ 0 };
}
