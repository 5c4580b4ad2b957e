/* SPDX-License-Identifier: BSD-3-Clause */
/* See transport.h. */
#include "merge/transport.h"

#include <stdlib.h>

static void nobody_to(const struct fv_transport *t, int to, const void *data, size_t bytes)
{
    (void)t, (void)to, (void)data, (void)bytes;
    abort();
}

static void nobody_from(const struct fv_transport *t, int from, void *data, size_t bytes)
{
    (void)t, (void)from, (void)data, (void)bytes;
    abort();
}

const struct fv_transport fv_transport_alone = { .rank = 0, .size = 1, .send = nobody_to, .receive = nobody_from };

void fv_transport_put(const struct fv_transport *t, int to, const struct fv_bytes *bytes)
{
    uint64_t count = bytes->count;

    t->send(t, to, &count, sizeof(count));
    if (count)
        t->send(t, to, bytes->data, count);
}

void fv_transport_get(const struct fv_transport *t, int from, struct fv_bytes *bytes)
{
    uint64_t count;

    t->receive(t, from, &count, sizeof(count));
    FV_GROW(bytes->data, bytes->room, bytes->count + count);
    if (count)
        t->receive(t, from, bytes->data + bytes->count, count);
    bytes->count += count;
}

void fv_transport_share(const struct fv_transport *t, struct fv_bytes *bytes)
{
    int step = 1;

    while (step < t->size && !(t->rank & step))
        step <<= 1;
    if (t->rank) {
        bytes->count = 0;
        fv_transport_get(t, t->rank & ~step, bytes);
    }
    for (step >>= 1; step; step >>= 1)
        if (t->rank + step < t->size)
            fv_transport_put(t, t->rank + step, bytes);
}

static void combine(const struct fv_transport *t, uint64_t *values, size_t count, bool largest)
{
    struct fv_bytes bytes = { 0 };
    uint64_t *other = fv_xcalloc(count, sizeof(*other));
    int step;

    for (step = 1; step < t->size && !(t->rank & step); step <<= 1) {
        if (t->rank + step >= t->size)
            continue;
        t->receive(t, t->rank + step, other, count * sizeof(*other));
        for (size_t i = 0; i < count; i++)
            values[i] = !largest ? values[i] + other[i] : values[i] > other[i] ? values[i] : other[i];
    }
    if (t->rank)
        t->send(t, t->rank & ~step, values, count * sizeof(*values));
    else
        fv_bytes_put(&bytes, values, count * sizeof(*values));
    fv_transport_share(t, &bytes);
    memcpy(values, bytes.data, count * sizeof(*values));
    free(bytes.data);
    free(other);
}

void fv_transport_sum(const struct fv_transport *t, uint64_t *values, size_t count)
{
    combine(t, values, count, false);
}

void fv_transport_max(const struct fv_transport *t, uint64_t *values, size_t count)
{
    combine(t, values, count, true);
}

/* The pairs of processes come one after the other in one order for all, so none waits in a circle. */
size_t fv_transport_exchange(const struct fv_transport *t, struct fv_bytes *out, struct fv_bytes *in)
{
    size_t begin = in->count, before = 0;

    for (int i = 0; i < t->size; i++) {
        if (i == t->rank) {
            before = in->count - begin;
            fv_bytes_put(in, out[i].data, out[i].count);
            continue;
        }
        if (i > t->rank)
            fv_transport_put(t, i, &out[i]);
        fv_transport_get(t, i, in);
        if (i < t->rank)
            fv_transport_put(t, i, &out[i]);
    }
    return before;
}

bool fv_transport_any(const struct fv_transport *t, bool yes)
{
    uint64_t value = yes;

    fv_transport_sum(t, &value, 1);
    return value != 0;
}
