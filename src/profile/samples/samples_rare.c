/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples_gather.h: rare long calls, which clock samples met (src/sampler/long_calls.c); and how often functions
 * are called. */
#include "profile/samples/samples_gather.h"

#include <math.h>
#include <stdlib.h>

#define TIMES_LONGER 10 /* than the median of those that were measured: long */
/* calls: one of so many at most is long, of all and of those measured, which are a random choice */
#define RARE_OF  8
#define LEFT_OF  8   /* calls that return soon, and traps: TIMES_LONGER and TRAPS_LONGER of long_calls.c */
#define LEAST_OF 0.1 /* of its function's time they have: with less it may be the machine that took it */
#define MOST_OF  0.8 /* of its long calls' time is a callee's long calls: they are the callee's */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double fv_sampled_median(const struct fv_samples *s, const struct fv_sampled_function *k)
{
    double *times = fv_xcalloc(k->instances + 1, sizeof(*times)), median;

    for (size_t i = 0; i < k->instances; i++)
        times[i] = s->instances[k->first_instance + i].cpu_s;
    if (k->instances)
        qsort(times, k->instances, sizeof(*times), by_size);
    median = k->instances ? (times[(k->instances - 1) / 2] + times[k->instances / 2]) / 2 : NAN;
    free(times);
    return median;
}

/* On all threads; *rank: that has most of it, and *rank_s of the time. */
static struct fv_sampled_long_calls sum_of(const struct fv_samples *s, const struct fv_sampled_function *f,
                                           uint32_t *rank, double *rank_s)
{
    struct fv_sampled_long_calls sum = { 0 };
    double of_rank = 0;

    for (const struct fv_sampled_part *p = s->parts + f->first_part, *end = p + f->parts; p < end; p++) {
        of_rank = (p > s->parts + f->first_part && p[-1].rank == p->rank ? of_rank : 0) + p->rare.time_s;
        if (of_rank > *rank_s) {
            *rank = p->rank;
            *rank_s = of_rank;
        }
        fv_sampled_add_long(&sum, &p->rare);
    }
    return sum;
}

static bool is_rare(const struct fv_samples *s, const struct fv_sampled_function *f, const struct fv_rare_calls *rare)
{
    size_t measured = 0;

    if (rare->time_s < LEAST_OF * f->share * s->computing_s)
        return false;
    for (size_t i = 0; i < f->instances; i++)
        measured += s->instances[f->first_instance + i].cpu_s > rare->length_s / 2;
    return measured * RARE_OF <= f->instances && !(rare->calls < RARE_OF * (double)rare->count);
}

/* What had to be left of a call behind the sample that met it, or long_calls.c did not take it for long: eight times
 * the mean of those that were measured and are shorter than half of what was left of the long ones, and eight traps. */
static double least_left(const struct fv_samples *s, const struct fv_sampled_function *f, double left_s)
{
    double sum = 0, count = 0;

    for (size_t i = 0; i < f->instances; i++) {
        double cpu_s = s->instances[f->first_instance + i].cpu_s;

        sum += cpu_s < left_s / 2 ? cpu_s : 0;
        count += cpu_s < left_s / 2;
    }
    return LEFT_OF * fmax(s->trap_s, count > 0 ? sum / count : 0);
}

/* Samples that are further apart than a call is long miss some, and those shortly before a call's end do not count. How
 * much was left of those that each met one, which is anything from `least_s` to the whole call, tells how long it is on
 * average; and that, which part of the calls was met. Each stands for a period at least. */
static void of_some_met(struct fv_rare_calls *rare, const struct fv_sampled_long_calls *sum, double least_s,
                        double period_s)
{
    double met = (double)sum->count, length_s = fmin(sum->time_s / met, 2 * sum->met_s / met - least_s);
    double all_of_met = length_s > least_s ? fmax(1, fmin(length_s, period_s) / (length_s - least_s)) : 0;

    rare->time_s *= all_of_met;
    rare->rank_s *= all_of_met;
    rare->length_s = all_of_met > 0 ? length_s : 0;
    rare->count = all_of_met > 0 ? (uint64_t)round(rare->time_s / length_s) : 0;
}

static void find_rare(const struct fv_samples *s, struct fv_sampled_function *f)
{
    struct fv_rare_calls rare = { .rank = FV_NONE, .typical_s = fv_sampled_median(s, f) };
    struct fv_sampled_long_calls sum = sum_of(s, f, &rare.rank, &rare.rank_s);

    if (sum.count < 2 || f->instances < FV_SAMPLED_ENOUGH)
        return;
    rare.exact = sum.ticks >= 2 * sum.count;
    rare.time_s = sum.time_s;
    rare.count = sum.count;
    rare.length_s = sum.time_s / (double)sum.count;
    if (!rare.exact)
        of_some_met(&rare, &sum, least_left(s, f, sum.met_s / (double)sum.count), 1.0 / s->rate);
    rare.calls = sum.calls > 0 ? round(sum.calls) : NAN;
    if (rare.length_s > TIMES_LONGER * rare.typical_s && is_rare(s, f, &rare))
        f->rare = rare;
}

/* By the CPU time of a call; where there are rare long ones, of threads that have them, by entries. */
static double calls_of(const struct fv_samples *s, const struct fv_sampled_function *f)
{
    const struct fv_sampled_stat *stat = f->window.count >= FV_SAMPLED_ENOUGH ? &f->window : &f->all;
    bool is_known = stat->count >= FV_SAMPLED_ENOUGH && s->ticks && !f->loops && !fv_sampled_is_brief(f, FV_METRIC_CPU);

    if (f->rare.count)
        return f->rare.calls;
    return is_known
               ? round((double)(f->ticks - f->lent_ticks) * s->cpu_s / (double)s->ticks / stat->mean[FV_METRIC_CPU])
               : NAN;
}

/* Callers of the context, but the function itself: rare long calls of theirs are these. */
static void take_from_callers(const struct fv_sampled_contexts *contexts, struct fv_samples *s,
                              const struct fv_sampled_function *context)
{
    const struct fv_node *nodes = contexts->model->tree.nodes;
    const struct fv_rare_calls *rare = &s->functions[context->function].rare;

    for (uint32_t at = nodes[context->node].parent; at; at = nodes[at].parent) {
        uint32_t caller = fv_sampled_contexts_of(contexts, &nodes[at]);
        struct fv_sampled_function *f = caller == FV_NONE ? NULL : &s->functions[s->items[caller].function];

        if (f && s->items[caller].function != context->function && rare->time_s >= MOST_OF * f->rare.time_s)
            f->rare.is_callees = true;
    }
}

void fv_sampled_find_rare(const struct fv_sampled_contexts *contexts, struct fv_samples *s)
{
    for (size_t i = 0; i < s->function_count; i++) {
        find_rare(s, &s->functions[i]);
        s->functions[i].calls = calls_of(s, &s->functions[i]);
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->functions[s->items[i].function].rare.count)
            take_from_callers(contexts, s, &s->items[i]);
}
