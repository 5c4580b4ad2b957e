/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over what a rank did in a section, and over the ranks. */
#include "profile/sections/section_gather.h"

#include <math.h>

void fv_section_add_faults(struct fv_section_faults *to, const struct fv_section_faults *from)
{
    to->open += from->open;
    to->unended += from->unended;
    to->unbegun += from->unbegun;
    to->elsewhere += from->elsewhere;
    to->nested += from->nested;
    to->overlapped += from->overlapped;
}

void fv_section_add_instances(struct fv_section_instances *to, const struct fv_section_instances *from)
{
    double a = (double)to->count, b = (double)from->count, delta = from->mean_s - to->mean_s;

    if (!from->count)
        return;
    to->m2 += from->m2 + delta * delta * a * b / (a + b);
    to->mean_s += delta * b / (a + b);
    to->count += from->count;
}

static struct fv_section_spread spread(const struct fv_section_rank *ranks, size_t count, unsigned value)
{
    struct fv_section_spread s = { .min = INFINITY, .max = -INFINITY };
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        double v = ranks[i].value[value];

        if (!ranks[i].count || !isfinite(v))
            continue;
        n++;
        s.sum += v;
        s.min = fmin(s.min, v);
        if (v > s.max) {
            s.max = v;
            s.max_rank = ranks[i].rank;
        }
    }
    if (!n)
        return (struct fv_section_spread){ NAN, NAN, NAN, NAN, FV_NONE };
    s.mean = s.sum / (double)n;
    return s;
}

void fv_section_rank_add(struct fv_section_rank *to, const struct fv_section_rank *from)
{
    to->threads = to->threads > from->threads ? to->threads : from->threads;
    to->other_threads = to->other_threads > from->other_threads ? to->other_threads : from->other_threads;
    to->is_scaled = to->is_scaled || from->is_scaled;
    to->is_timed = to->is_timed || from->is_timed;
    to->count += from->count;
    to->shortest_s = fmin(to->shortest_s, from->shortest_s);
    to->longest_s = fmax(to->longest_s, from->longest_s);
    fv_section_add_instances(&to->instances, &from->instances);
    for (unsigned i = 0; i < FV_SECTION_VALUES; i++)
        to->value[i] += from->value[i];
    fv_section_threads_add(&to->sampled, &from->sampled);
    to->wait_kinds |= from->wait_kinds;
    to->wait_kind = (uint8_t)fv_wait_kind_of(to->wait_kinds);
    fv_section_add_faults(&to->faults, &from->faults);
}

/* Where there was no room there is no histogram. It may have an instance that is not counted yet. */
void fv_section_percentiles(double *out, const struct fv_distribution *durations, uint64_t count, double shortest_s,
                            double longest_s)
{
    static const double share[FV_SECTION_PERCENTILES] = { 0.5, 0.9, 0.99 };

    for (unsigned i = 0; i < FV_SECTION_PERCENTILES; i++)
        out[i] = count && durations->total >= (double)count
                     ? fv_distribution_quantile(durations, share[i], shortest_s, longest_s)
                     : NAN;
}

void fv_section_sum(struct fv_section_view *v, const struct fv_section_rank *ranks, size_t count)
{
    v->shortest_s = v->longest_s = NAN;
    for (size_t i = 0; i < count; i++) {
        const struct fv_section_rank *r = &ranks[i];

        v->ranks++;
        v->threads += r->threads;
        v->other_threads += r->other_threads;
        v->is_scaled = v->is_scaled || r->is_scaled;
        v->is_timed = v->is_timed || r->is_timed;
        v->count += r->count;
        v->shortest_s = fmin(v->shortest_s, r->shortest_s);
        v->longest_s = fmax(v->longest_s, r->longest_s);
        fv_section_add_instances(&v->instances, &r->instances);
        fv_section_threads_add(&v->sampled, &r->sampled);
        if (r->value[FV_SECTION_CALLS] > 0)
            v->wait_kinds |= (uint8_t)(1u << r->wait_kind);
        fv_section_add_faults(&v->faults, &r->faults);
    }
    v->wait_kind = (uint8_t)fv_wait_kind_of(v->wait_kinds);
    fv_section_percentiles(v->percentile_s, &v->durations, v->instances.count, v->shortest_s, v->longest_s);
    for (unsigned i = 0; i < FV_SECTION_VALUES; i++)
        v->value[i] = spread(ranks, count, i);
    fv_section_order_calls(v);
    fv_section_order_costs(v);
}

bool fv_section_is_short(const struct fv_section_view *v)
{
    return v->is_timed && v->instances.count && v->instances.mean_s < FV_SECTION_SHORT_S;
}
