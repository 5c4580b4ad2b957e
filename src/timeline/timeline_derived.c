/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: series that follow from counters of one thread, which are read at the same moments. */
#include "counters/counters.h"
#include "timeline/timeline_state.h"

#include <string.h>

#define LINE_BYTES 64.0 /* of a cache */

/* Of a quantity of the thread, or of two the quotient. */
static const struct derived {
    const char *name, *unit, *of, *over;
    double factor;
    bool is_ratio; /* not a second's */
} derived[] = {
    { "IPC", "instructions a cycle", "instructions", "cycles", 1, true },
    { "memory bandwidth", "bytes", "memory_lines", NULL, LINE_BYTES, false },
};
enum { DERIVED = sizeof(derived) / sizeof(*derived) };

static bool counts(const struct fv_timeline_writer *w, const struct fv_timeline_values *v, const char *quantity)
{
    const char *name = (const char *)w->strings.data + v->series.name;
    const struct fv_quantity *q = v->series.is_rate ? fv_quantity_of_event(FV_ANY_PROCESSOR, name) : NULL;

    return q && !strcmp(q->name, quantity);
}

/* That of a row, of those from `first` to `last` - 1; `last`: there is none. */
static size_t find(const struct fv_timeline_writer *w, size_t first, size_t last, uint32_t row, const char *quantity)
{
    while (first < last && (w->values[first].series.row != row || !counts(w, &w->values[first], quantity)))
        first++;
    return first;
}

/* Where both have a value of the same stretch of time. Where no cycle was counted, nothing ran. */
static void divide(struct fv_timeline_values *to, const struct fv_timeline_values *of,
                   const struct fv_timeline_values *over)
{
    for (size_t i = 0, k = 0; i < of->count && k < over->count;) {
        const struct fv_timeline_point *a = &of->points[i], *b = &over->points[k];

        if (a->ns == b->ns && (!i || !k || a[-1].ns == b[-1].ns))
            fv_timeline_add_point(to, a->ns, b->value > 0 ? a->value / b->value : 0);
        i += a->ns <= b->ns;
        k += b->ns <= a->ns;
    }
}

static void derive(struct fv_timeline_writer *w, const struct derived *d, size_t of, size_t over)
{
    const struct fv_timeline_series series = w->values[of].series;
    struct fv_timeline_values *v = fv_timeline_derived_values(w, series.row, (uint32_t)(d - derived));

    if (v->count) /* of another counter of the same quantity */
        return;
    v->series = (struct fv_timeline_series){ .name = fv_timeline_string(w, d->name),
                                             .unit = fv_timeline_string(w, d->unit),
                                             .row = series.row,
                                             .scope = series.scope,
                                             .is_rate = 1,
                                             .is_ratio = d->is_ratio };
    if (d->over) {
        divide(v, &w->values[of], &w->values[over]);
        return;
    }
    for (size_t i = 0; i < w->values[of].count; i++)
        fv_timeline_add_point(v, w->values[of].points[i].ns, w->values[of].points[i].value * d->factor);
}

void fv_timeline_derive(struct fv_timeline_writer *w)
{
    const size_t first = w->value_written, last = w->value_count;

    for (size_t i = first; i < last; i++)
        for (const struct derived *d = derived; d < derived + DERIVED; d++) {
            size_t over = i;

            if (!counts(w, &w->values[i], d->of))
                continue;
            if (d->over)
                over = find(w, first, last, w->values[i].series.row, d->over);
            if (over < last)
                derive(w, d, i, over);
        }
}
