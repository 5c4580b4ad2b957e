/* SPDX-License-Identifier: BSD-3-Clause */
/* A ramp-up: the first trials take longer than those of the second half, until clocks and caches have settled. The
 * least of each part is compared, so that a part in which another task ran is none of it. */
#include "doctor/measure/measure.h"

#include <math.h>
#include <stdlib.h>

#define ABOVE 0.02 /* of the settled time */
enum { PARTS_LEAST = 8, RAMP_LEAST = 2 };

static double settled(const struct fv_trials *t, size_t count)
{
    size_t half = count / 2;
    double *least = fv_xcalloc(count - half, sizeof(*least)), median;

    for (size_t i = half; i < count; i++)
        least[i - half] = t[i].least;
    qsort(least, count - half, sizeof(*least), fv_by_real);
    median = least[(count - half) / 2];
    free(least);
    return median;
}

struct fv_ramp fv_trials_ramp(const struct fv_trials *t, size_t count)
{
    struct fv_ramp out = { 0, NAN, 0 };
    size_t parts = 0;

    if (count < PARTS_LEAST)
        return out;
    const double after = settled(t, count);
    while (parts < count && t[parts].least > (1 + ABOVE) * after)
        parts++;
    if (!(after > 0) || parts < RAMP_LEAST || parts > count / 2)
        return out;
    for (size_t i = 0; i < parts; i++) {
        out.samples += t[i].count;
        out.length += t[i].mean * (double)t[i].count;
    }
    out.above_share = t[0].least / after - 1;
    return out;
}
