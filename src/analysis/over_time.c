/* SPDX-License-Identifier: BSD-3-Clause */
/* See over_time.h. */
#include "analysis/over_time.h"

#include "base/list.h"
#include "tool/vec.h"

#include <stdlib.h>
#include <string.h>

struct fv_over_time fv_over_time(uint64_t length_ns)
{
    struct fv_over_time o = { .shift = 0 };

    while (length_ns >> o.shift >= FV_OVER_TIME_BINS)
        o.shift++;
    o.bins = length_ns ? (uint32_t)(length_ns >> o.shift) + 1 : 0;
    if (o.bins) {
        o.wait_ns = fv_xcalloc(o.bins, sizeof(*o.wait_ns));
        o.line_ns = fv_xcalloc(o.bins, sizeof(*o.line_ns));
        o.most_ns = fv_xcalloc(o.bins, sizeof(*o.most_ns));
    }
    return o;
}

void fv_over_time_add(struct fv_over_time *o, uint64_t begin_ns, uint64_t wait_ns)
{
    const uint64_t end_ns = begin_ns + wait_ns;

    for (uint64_t bin = begin_ns >> o->shift; wait_ns && bin < o->bins; bin++) {
        const uint64_t edge_ns = (bin + 1) << o->shift, part_ns = (end_ns < edge_ns ? end_ns : edge_ns) - begin_ns;

        o->line_ns[bin] += part_ns;
        begin_ns += part_ns;
        wait_ns -= part_ns;
    }
}

void fv_over_time_end_line(struct fv_over_time *o, uint64_t calls)
{
    if (calls > o->most_calls) {
        uint64_t *was = o->most_ns;

        o->most_ns = o->line_ns;
        o->line_ns = was;
        o->most_calls = calls;
    }
    if (o->bins)
        memset(o->line_ns, 0, o->bins * sizeof(*o->line_ns));
}

void fv_over_time_end_rank(struct fv_over_time *o)
{
    o->ranks += o->most_calls > 0;
    for (uint32_t i = 0; o->most_calls && i < o->bins; i++)
        o->wait_ns[i] += o->most_ns[i];
    if (o->bins)
        memset(o->most_ns, 0, o->bins * sizeof(*o->most_ns));
    o->most_calls = 0;
}

void fv_over_time_gather(struct fv_over_time *o, const struct fv_transport *t)
{
    fv_transport_sum(t, &o->ranks, 1);
    fv_transport_sum(t, o->wait_ns, o->bins);
}

void fv_over_time_release(struct fv_over_time *o)
{
    free(o->wait_ns);
    free(o->line_ns);
    free(o->most_ns);
    *o = (struct fv_over_time){ .bins = 0 };
}
