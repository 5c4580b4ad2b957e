/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples_shape.h. */
#include "profile/samples/samples_shape.h"
#include "tool/vec.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_time(enum fv_metric metric)
{
    return metric == FV_METRIC_TIME || metric == FV_METRIC_CPU;
}

/* NAN: it is not kept, or not known. */
static double value_of(const struct fv_sampled_instance *i, enum fv_metric metric)
{
    return metric == FV_METRIC_TIME                                  ? i->time_s
           : metric == FV_METRIC_CPU                                 ? i->cpu_s
           : metric >= FV_METRIC_EVENT_0 && metric < FV_METRIC_COUNT ? i->event[metric - FV_METRIC_EVENT_0]
                                                                     : NAN;
}

size_t fv_sampled_values(const struct fv_samples *samples, const struct fv_sampled_function *s, enum fv_metric metric,
                         double **values, size_t *room)
{
    const struct fv_sampled_instance *kept = samples->instances + s->first_instance;
    size_t count = 0;

    FV_GROW(*values, *room, s->instances + 1);
    for (size_t i = 0; i < s->instances; i++)
        if (!isnan(value_of(&kept[i], metric)))
            (*values)[count++] = value_of(&kept[i], metric);
    qsort(*values, count, sizeof(**values), fv_by_real);
    return count;
}

/* ---- histogram ---- */

double fv_sampled_bucket_begin(enum fv_metric metric, unsigned bucket)
{
    double unit = is_time(metric) ? 1e-9 : 1;

    return bucket ? ldexp(unit, (int)bucket - 1) : 0;
}

size_t fv_sampled_bucket(const double *sorted, size_t count, enum fv_metric metric, unsigned bucket)
{
    double begin = fv_sampled_bucket_begin(metric, bucket), end = fv_sampled_bucket_begin(metric, bucket + 1);
    size_t before = FV_COUNT_BEFORE(i, count, sorted[i] < begin);

    return (bucket + 1 < FV_SAMPLED_BUCKETS ? FV_COUNT_BEFORE(i, count, sorted[i] < end) : count) - before;
}

/* ---- trend ---- */

struct regression {
    double xx, xy, yy, first, last;
    size_t count, groups;
};

/* Of calls of one context and thread: how many know the metric; 0: too few. */
static size_t means_of(const struct fv_sampled_instance *kept, size_t count, enum fv_metric metric, double *x,
                       double *y)
{
    size_t known = 0;

    *x = *y = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(value_of(&kept[i], metric)))
            continue;
        *x += kept[i].begin_s;
        *y += value_of(&kept[i], metric);
        known++;
    }
    if (known < 2 || !(*y > 0))
        return 0;
    *x /= (double)known;
    *y /= (double)known;
    return known;
}

/* Calls of one context and thread. */
static void add_group(struct regression *r, const struct fv_sampled_instance *kept, size_t count, enum fv_metric metric)
{
    double x, y;
    size_t known = means_of(kept, count, metric, &x, &y);

    if (!known)
        return;
    for (size_t i = 0; i < count; i++) {
        double dx = kept[i].begin_s - x, dy = value_of(&kept[i], metric) / y - 1;

        if (isnan(dy))
            continue;
        r->xx += dx * dx;
        r->xy += dx * dy;
        r->yy += dy * dy;
        r->first = fmin(r->first, kept[i].begin_s);
        r->last = fmax(r->last, kept[i].begin_s);
    }
    r->count += known;
    r->groups++;
}

static bool same_group(const struct fv_sampled_instance *x, const struct fv_sampled_instance *y)
{
    return x->sampled == y->sampled && x->rank == y->rank && x->thread == y->thread;
}

/* What runs of neighbouring calls add to the error: a machine that is slower for a while makes many calls longer, which
 * are one observation then. */
struct runs {
    double squares;
    size_t count, groups;
};

enum { RUNS = 12, RUN_LEAST = 4 }; /* of a group; calls of a run */

static void add_runs(struct runs *r, const struct fv_sampled_instance *kept, size_t count, enum fv_metric metric,
                     double slope)
{
    double x, y, sum = 0;
    size_t known = means_of(kept, count, metric, &x, &y), runs, seen = 0;

    if (!known)
        return;
    runs = known / RUN_LEAST < RUNS ? known / RUN_LEAST : RUNS;
    runs = runs ? runs : 1;
    for (size_t i = 0; i < count; i++) {
        double dx = kept[i].begin_s - x, dy = value_of(&kept[i], metric) / y - 1;

        if (isnan(dy))
            continue;
        sum += dx * (dy - slope * dx);
        seen++;
        if (seen * runs / known == (seen - 1) * runs / known)
            continue;
        r->squares += sum * sum;
        sum = 0;
    }
    r->count += runs;
    r->groups++;
}

/* ---- do stretches of the run rise, or fall, one after the other? ---- */

enum { STRETCHES = 10 };

struct ranks {
    double sum, variance;
};

/* Medians of stretches with equally many calls. */
static size_t medians_of(const struct fv_sampled_instance *kept, size_t count, enum fv_metric metric,
                         double out[STRETCHES])
{
    double *values = fv_xcalloc(count, sizeof(*values));
    size_t known = 0, stretches;

    for (size_t i = 0; i < count; i++)
        if (!isnan(value_of(&kept[i], metric)))
            values[known++] = value_of(&kept[i], metric);
    stretches = known / 2 < STRETCHES ? known / 2 : STRETCHES;
    for (size_t i = 0; i < stretches; i++) {
        size_t begin = i * known / stretches, end = (i + 1) * known / stretches;

        qsort(values + begin, end - begin, sizeof(*values), fv_by_real);
        out[i] = fv_quantile(values + begin, sizeof(*values), end - begin, 0.5);
    }
    free(values);
    return stretches;
}

static void add_ranks(struct ranks *r, const struct fv_sampled_instance *kept, size_t count, enum fv_metric metric)
{
    double median[STRETCHES];
    size_t n = medians_of(kept, count, metric, median);

    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            r->sum += (median[k] > median[i]) - (median[k] < median[i]);
    r->variance += (double)(n * (n ? n - 1 : 0) * (2 * n + 5)) / 18;
}

static bool is_steady_change(const struct ranks *r)
{
    const double limit = 3;

    return r->variance > 0 && fabs(r->sum) - 1 > limit * sqrt(r->variance);
}

/* Leaves out 1 % on both sides together. */
static double student(double free)
{
    const double z = 2.5758;

    return z + (z * z * z + z) / (4 * free) + (5 * pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * free * free);
}

struct fv_trend fv_sampled_trend(const struct fv_samples *samples, const struct fv_sampled_function *s,
                                 enum fv_metric metric)
{
    const struct fv_sampled_instance *kept = samples->instances + s->first_instance;
    struct regression r = { .first = INFINITY, .last = -INFINITY };

    for (size_t i = 0, next; !fv_sampled_is_brief(s, metric) && i < s->instances; i = next) {
        for (next = i + 1; next < s->instances && same_group(&kept[i], &kept[next]);)
            next++;
        add_group(&r, kept + i, next - i, metric);
    }
    if (r.count < r.groups + 1 + FV_SAMPLED_ENOUGH || !(r.xx > 0))
        return (struct fv_trend){ NAN, NAN, false };
    double slope = r.xy / r.xx, span = r.last - r.first, free = (double)(r.count - r.groups - 1);
    double error = student(free) * sqrt(fmax(r.yy - slope * r.xy, 0) / free / r.xx);
    struct runs runs = { .count = 0 };
    struct ranks ranks = { 0 };
    for (size_t i = 0, next; i < s->instances; i = next) {
        for (next = i + 1; next < s->instances && same_group(&kept[i], &kept[next]);)
            next++;
        add_runs(&runs, kept + i, next - i, metric, slope);
        add_ranks(&ranks, kept + i, next - i, metric);
    }
    double of_runs = runs.count > runs.groups + 2 ? (double)(runs.count - runs.groups - 1) : 1;
    error = fmax(error, student(of_runs) * sqrt(runs.squares * (double)runs.count / of_runs) / r.xx);
    return (struct fv_trend){ slope * span, error * span, fabs(slope) > error && is_steady_change(&ranks) };
}

char *fv_sampled_trend_words(const struct fv_samples *samples, const struct fv_sampled_function *s, char *out,
                             size_t bytes)
{
    const struct fv_trend t = fv_sampled_trend(samples, s, FV_METRIC_CPU);
    char change[FV_WORD], error[FV_WORD];

    out[0] = '\0';
    if (t.significant && fabs(t.change) >= FV_SAMPLED_TREND)
        snprintf(out, bytes, "%s by %s of its mean over the run (+- %s)", t.change > 0 ? "grows" : "shrinks",
                 fv_words_percent(fabs(t.change), 1, change), fv_words_percent(t.error, 1, error));
    return out;
}
