/* SPDX-License-Identifier: BSD-3-Clause */
/* See distribution.h. */
#include "tool/distribution.h"
#include "base/histogram.h"
#include "tool/vec.h"

#include <math.h>
#include <stdlib.h>

/* Clocks that differ by less have the same buckets. A bucket's bounds differ by a sixteenth at least. */
#define ALIKE 1e-3

static void add_bucket(struct fv_distribution *to, const struct fv_bucket *b)
{
    size_t low = 0, high = to->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (to->buckets[middle].from_s < b->from_s * (1 - ALIKE))
            low = middle + 1;
        else
            high = middle;
    }
    to->total += b->count;
    if (low < to->count && to->buckets[low].from_s <= b->from_s * (1 + ALIKE)) {
        to->buckets[low].count += b->count;
        return;
    }
    FV_GROW(to->buckets, to->room, to->count + 1);
    memmove(&to->buckets[low + 1], &to->buckets[low], (to->count++ - low) * sizeof(*b));
    to->buckets[low] = *b;
}

void fv_distribution_add_octave(struct fv_distribution *to, unsigned octave, const uint64_t *counts, double unit_s)
{
    for (unsigned i = 0; octave < FV_OCTAVES && i < FV_OCTAVE_BUCKETS; i++) {
        double from = (double)fv_bucket_first(octave, i);

        if (counts[i])
            add_bucket(to, &(struct fv_bucket){ from * unit_s, (from + (double)fv_bucket_width(octave)) * unit_s,
                                                (double)counts[i] });
    }
}

void fv_distribution_add(struct fv_distribution *to, const struct fv_distribution *from)
{
    for (size_t i = 0; i < from->count; i++)
        add_bucket(to, &from->buckets[i]);
}

/* How many are below, if each bucket's are spread evenly between the shortest and the longest that it can have. */
static double below(const struct fv_distribution *of, double s, double min_s, double max_s)
{
    double sum = 0;

    for (size_t i = 0; i < of->count && of->buckets[i].from_s < s; i++) {
        const struct fv_bucket *b = &of->buckets[i];

        double from = fmax(b->from_s, min_s), to = fmin(b->to_s, max_s);

        sum += b->count * (s < to ? fmax(s - from, 0) / (to - from) : 1);
    }
    return sum;
}

double fv_distribution_quantile(const struct fv_distribution *of, double share, double min_s, double max_s)
{
    double place = ceil(share * of->total) - 0.5, low = min_s, high = max_s;

    if (!of->count)
        return NAN;
    for (unsigned i = 0; i < 48 && high - low > low * 1e-9; i++) {
        double middle = (low + high) / 2;

        if (below(of, middle, min_s, max_s) < place)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

void fv_distribution_release(struct fv_distribution *d)
{
    free(d->buckets);
    *d = (struct fv_distribution){ 0 };
}
