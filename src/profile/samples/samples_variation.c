/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples_variation.h. */
#include "profile/samples/samples_variation.h"
#include "tool/vec.h"

#include <math.h>
#include <stdlib.h>

#define FEW 2u /* instances of a group, for it to count at all */

/* Sums over the groups of one thread, or of one context. */
struct sums {
    double weight, mean, value, noise;
    uint64_t count, free; /* instances; degrees of freedom */
};

/* Of a metric with that mean and squared coefficient of variation: what is not chance. */
static double beyond_poisson(double squared, double mean, enum fv_metric metric)
{
    if (metric < FV_METRIC_EVENT_0 || metric >= FV_METRIC_COUNT)
        return squared;
    return mean < 1 ? 0 : fmax(squared - 1 / mean, 0);
}

static double cov_squared(const struct fv_sampled_stat *stat, enum fv_metric metric)
{
    double cov = fv_sampled_cov(stat, metric);

    return beyond_poisson(cov * cov, stat->mean[metric], metric);
}

/* What has few instances has seen little of the variation: it counts in proportion. */
static double weight_of(double weight, uint64_t instances)
{
    return weight * fmin((double)instances / FV_SAMPLED_ENOUGH, 1);
}

/* From the squared coefficient of variation of the means of so many groups to that of what the groups are, beyond what
 * the deviations within make likely (`noise`): 0 if these may make as much by chance in one case of 20. That bound is
 * of the chi-squared distribution, by the approximation of Wilson and Hilferty (PNAS 17, 1931). */
static double beyond_chance(double variance, double noise, double groups)
{
    double k = 2 / (9 * (groups - 1)), most = 1 - k + 1.645 * sqrt(k);

    return variance > most * most * most * noise ? sqrt(variance - noise) : 0;
}

static bool counts(const struct fv_variation_group *g, enum fv_metric metric)
{
    return fv_sampled_count(g->stat, metric) >= FEW && g->weight > 0;
}

static int by_thread(const void *a, const void *b)
{
    const struct fv_variation_group *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->context > y->context) - (x->context < y->context);
}

static bool same_thread(const struct fv_variation_group *x, const struct fv_variation_group *y)
{
    return x->rank == y->rank && x->thread == y->thread;
}

static bool same_context(const struct fv_variation_group *x, const struct fv_variation_group *y)
{
    return x->context == y->context;
}

/* How many groups from the first on are of one thread, or context. */
static size_t run_of(const struct fv_variation_group *groups, size_t count,
                     bool (*same)(const struct fv_variation_group *, const struct fv_variation_group *))
{
    size_t n = 1;

    while (n < count && same(groups, groups + n))
        n++;
    return n;
}

/* ---- within ---- */

static void judge_within(struct fv_variation *out, const struct fv_variation_group *groups, size_t count,
                         enum fv_metric metric)
{
    for (size_t i = 0, next; i < count; i = next) {
        struct sums s = { 0 };

        next = i + run_of(groups + i, count - i, same_thread);
        for (size_t k = i; k < next; k++) {
            if (!counts(&groups[k], metric))
                continue;
            double weight = weight_of(groups[k].weight, fv_sampled_count(groups[k].stat, metric));
            s.weight += weight;
            s.value += weight * cov_squared(groups[k].stat, metric);
            s.free += fv_sampled_count(groups[k].stat, metric) - 1;
        }
        if (s.free + 1 < FV_SAMPLED_ENOUGH)
            continue;
        out->judged = true;
        out->within = fmax(out->within, sqrt(s.value / s.weight));
    }
}

/* All threads of a context, each about its own mean; `value`: the square of the coefficient of variation. */
static struct sums pool(const struct fv_variation_group *groups, size_t count, enum fv_metric metric)
{
    struct sums s = { .weight = groups->weight };
    double m2 = 0, total = 0;

    for (size_t i = 0; i < count; i++) {
        const struct fv_sampled_stat *stat = groups[i].stat;
        uint64_t n = fv_sampled_count(stat, metric);

        m2 += stat->m2[metric];
        total += stat->mean[metric] * (double)n;
        s.count += n;
        s.free += n ? n - 1 : 0;
    }
    s.mean = s.count ? total / (double)s.count : 0;
    s.value = s.free && s.mean > 0 ? beyond_poisson(m2 / (double)s.free / (s.mean * s.mean), s.mean, metric) : 0;
    return s;
}

/* Of all contexts: the squared coefficient of variation within. */
static struct sums pool_all(const struct fv_variation_group *groups, size_t count, enum fv_metric metric)
{
    struct sums all = { 0 };

    for (size_t i = 0, next; i < count; i = next) {
        next = i + run_of(groups + i, count - i, same_context);
        struct sums s = pool(groups + i, next - i, metric);

        if (!s.free)
            continue;
        all.weight += weight_of(s.weight, s.free + 1);
        all.value += weight_of(s.weight, s.free + 1) * s.value;
        all.free += s.free;
    }
    all.value = all.weight > 0 ? all.value / all.weight : 0;
    return all;
}

static void judge_pooled(struct fv_variation *out, const struct sums *all)
{
    if (all->free + 1 < FV_SAMPLED_ENOUGH)
        return;
    out->judged = out->pooled = true;
    out->within = sqrt(all->value);
}

/* ---- between ---- */

/* Keeps the groups of threads that have enough instances, by thread. */
static size_t of_enough(struct fv_variation_group *groups, size_t count, enum fv_metric metric)
{
    size_t kept = 0;

    for (size_t i = 0, next; i < count; i = next) {
        uint64_t n = 0;

        next = i + run_of(groups + i, count - i, same_thread);
        for (size_t k = i; k < next; k++)
            n += counts(&groups[k], metric) ? fv_sampled_count(groups[k].stat, metric) : 0;
        for (size_t k = i; k < next && n >= FV_SAMPLED_ENOUGH; k++)
            if (counts(&groups[k], metric))
                groups[kept++] = groups[k];
    }
    return kept;
}

/* The mean of the threads' means, by context; 0 where there are no two threads to compare. */
static double *means_of(const struct fv_variation_group *groups, size_t count, enum fv_metric metric)
{
    uint32_t contexts = 0;

    for (size_t i = 0; i < count; i++)
        contexts = groups[i].context >= contexts ? groups[i].context + 1 : contexts;
    double *means = fv_xcalloc(contexts + 1, sizeof(*means));
    uint32_t *threads = fv_xcalloc(contexts + 1, sizeof(*threads));
    for (size_t i = 0; i < count; i++) {
        means[groups[i].context] += groups[i].stat->mean[metric];
        threads[groups[i].context]++;
    }
    for (uint32_t c = 0; c < contexts; c++)
        means[c] = threads[c] > 1 ? means[c] / threads[c] : 0;
    free(threads);
    return means;
}

/* A thread's mean over those of all, which is 1 on average; `noise`: what deviations within make of that. Few instances
 * may all be alike by chance: the deviation is that of all contexts and threads at least. */
static struct sums relative(const struct fv_variation_group *groups, size_t count, const double *means,
                            enum fv_metric metric, double pooled)
{
    struct sums s = { 0 };

    for (size_t i = 0; i < count; i++) {
        const struct fv_sampled_stat *stat = groups[i].stat;
        double mean = means[groups[i].context], cov = cov_squared(stat, metric);
        uint64_t n = fv_sampled_count(stat, metric);

        if (!(mean > 0))
            continue;
        double weight = weight_of(groups[i].weight, n), value = weight * stat->mean[metric] / mean;
        s.weight += weight;
        s.value += value;
        s.noise += value * value * fmax(cov, pooled) / (double)n;
    }
    return s;
}

/* `groups` by thread; they are changed. */
static double between(struct fv_variation_group *groups, size_t count, enum fv_metric metric, double pooled)
{
    double n = 0, sum = 0, squares = 0, noise = 0;

    count = of_enough(groups, count, metric);
    double *means = means_of(groups, count, metric);
    for (size_t i = 0, next; i < count; i = next) {
        next = i + run_of(groups + i, count - i, same_thread);
        struct sums s = relative(groups + i, next - i, means, metric, pooled);

        if (!(s.weight > 0))
            continue;
        n++;
        sum += s.value / s.weight;
        squares += s.value / s.weight * (s.value / s.weight);
        noise += s.noise / (s.weight * s.weight);
    }
    free(means);
    if (n < 2 || !(sum > 0))
        return NAN;
    double mean = sum / n;
    return beyond_chance((squares - sum * mean) / (n - 1), noise / n, n) / mean;
}

/* ---- by caller ---- */

static double by_caller(const struct fv_variation_group *groups, size_t count, enum fv_metric metric, double pooled)
{
    double weight = 0, calls = 0, squares = 0, noise = 0, contexts = 0;

    for (size_t i = 0, next; i < count; i = next) {
        next = i + run_of(groups + i, count - i, same_context);
        struct sums s = pool(groups + i, next - i, metric);

        if (s.count < FEW || !(s.mean > 0) || !(s.weight > 0))
            continue;
        contexts++;
        weight += s.weight;
        calls += s.weight / s.mean;
        squares += s.weight * s.mean;
        noise += s.weight * s.mean * fmax(s.value, pooled) / (double)s.count;
    }
    if (contexts < 2)
        return NAN;
    double mean = weight / calls;
    return beyond_chance(squares / calls - mean * mean, noise / calls, contexts) / mean;
}

struct fv_variation fv_variation_of(const struct fv_variation_group *groups, size_t count, enum fv_metric metric)
{
    struct fv_variation v = { .between = NAN };
    struct fv_variation_group *threads = fv_xcalloc(count + 1, sizeof(*threads));

    if (count)
        memcpy(threads, groups, count * sizeof(*threads));
    qsort(threads, count, sizeof(*threads), by_thread);
    judge_within(&v, threads, count, metric);
    const struct sums all = pool_all(groups, count, metric);
    if (!v.judged)
        judge_pooled(&v, &all);
    v.between = between(threads, count, metric, all.value);
    v.by_caller = by_caller(groups, count, metric, all.value);
    free(threads);
    return v;
}
