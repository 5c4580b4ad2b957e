/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_links.h: values along time. */
#include "timeline/timeline_links.h"
#include "tool/vec.h"

#include <math.h>

struct values {
    const struct fv_timeline_point *points;
    const struct fv_timeline_extremes *extremes;
    uint64_t count;
};

static void widen(struct fv_timeline_value *v, double least, double most)
{
    v->least = least < v->least || isnan(v->least) ? least : v->least;
    v->most = most > v->most || isnan(v->most) ? most : v->most;
}

/* Items first to last - 1 of a level; level 0 is the points. */
static void gather(const struct values *s, uint64_t first, uint64_t last, struct fv_timeline_value *v)
{
    const struct fv_timeline_extremes *level = NULL;

    for (uint64_t n = s->count; first < last; n = (n + FV_TIMELINE_FAN - 1) / FV_TIMELINE_FAN) {
        const bool is_few = last - first < 2 * FV_TIMELINE_FAN;

        for (; first < last && (is_few || first % FV_TIMELINE_FAN); first++)
            widen(v, level ? level[first].least : s->points[first].value,
                  level ? level[first].most : s->points[first].value);
        for (; first < last && last % FV_TIMELINE_FAN; last--)
            widen(v, level ? level[last - 1].least : s->points[last - 1].value,
                  level ? level[last - 1].most : s->points[last - 1].value);
        first /= FV_TIMELINE_FAN;
        last /= FV_TIMELINE_FAN;
        level = level ? level + n : s->extremes;
    }
}

/* A value that holds is that of the last point at or before a moment; a rate that of the first one at or behind it. */
void fv_timeline_values(const struct fv_timeline_file *t, uint32_t series, double from, double to,
                        struct fv_timeline_value *out, size_t count)
{
    const struct fv_timeline_series *of = &t->series[series];
    const struct values s = { (const struct fv_timeline_point *)(const void *)(t->map + of->points),
                              (const struct fv_timeline_extremes *)(const void *)(t->map + of->extremes), of->count };
    const double step = (to - from) / (double)(count ? count : 1);

    for (size_t i = 0; i < count; i++) {
        const double begin = from + step * (double)i, end = from + step * (double)(i + 1);
        uint64_t first = FV_COUNT_BEFORE(k, s.count, (double)s.points[k].ns <= begin),
                 last = FV_COUNT_BEFORE(k, s.count, (double)s.points[k].ns < end);

        if (of->is_rate)
            last = last < s.count ? last + 1 : s.count;
        else
            first = first ? first - 1 : 0;
        out[i] = (struct fv_timeline_value){ NAN, NAN, NAN };
        if (first >= last)
            continue;
        gather(&s, first, last, &out[i]);
        out[i].last = s.points[last - 1].value;
    }
}
