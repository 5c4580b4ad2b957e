/* SPDX-License-Identifier: BSD-3-Clause */
/* See over_time.h. */
#include "analysis/over_time.h"

#include "tool/vec.h"

#include <stdlib.h>

struct fv_over_time fv_over_time(uint64_t length_ns, uint32_t ranks)
{
    struct fv_over_time o = { .ranks = ranks };
    const uint64_t share = ranks ? FV_OVER_TIME_NUMBERS / ranks : 0,
                   most = share < FV_OVER_TIME_BINS ? share : FV_OVER_TIME_BINS;

    if (!length_ns || most < FV_OVER_TIME_LEAST)
        return o;
    while (length_ns >> o.shift >= most)
        o.shift++;
    o.bins = (uint32_t)(length_ns >> o.shift) + 1;
    o.wait_ns = fv_xcalloc((size_t)ranks * o.bins, sizeof(*o.wait_ns));
    return o;
}

void fv_over_time_add(struct fv_over_time *o, uint32_t rank, uint64_t begin_ns, uint64_t wait_ns)
{
    const uint64_t end_ns = begin_ns + wait_ns;
    uint64_t *bins = o->bins ? o->wait_ns + (size_t)rank * o->bins : NULL;

    for (uint64_t bin = begin_ns >> o->shift; wait_ns && bin < o->bins; bin++) {
        const uint64_t edge_ns = (bin + 1) << o->shift, part_ns = (end_ns < edge_ns ? end_ns : edge_ns) - begin_ns;

        bins[bin] += part_ns;
        begin_ns += part_ns;
        wait_ns -= part_ns;
    }
}

void fv_over_time_gather(struct fv_over_time *o, const struct fv_transport *t)
{
    if (o->bins) /* as in all processes */
        fv_transport_sum(t, o->wait_ns, (size_t)o->ranks * o->bins);
}

void fv_over_time_release(struct fv_over_time *o)
{
    free(o->wait_ns);
    *o = (struct fv_over_time){ .bins = 0 };
}
