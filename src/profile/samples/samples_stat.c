/* SPDX-License-Identifier: BSD-3-Clause */
/* See samples.h: moments of instances. */
#include "profile/samples/samples_gather.h"

#include <math.h>

uint64_t fv_sampled_count(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    return metric < FV_METRIC_EVENT_0 || metric == FV_SAMPLED_COMPUTING ? s->count
                                                                        : s->event_count[metric - FV_METRIC_EVENT_0];
}

double fv_sampled_stddev(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    uint64_t count = fv_sampled_count(s, metric);

    return count > 1 && s->m2[metric] > 0 ? sqrt(s->m2[metric] / (double)(count - 1)) : 0;
}

double fv_sampled_cov(const struct fv_sampled_stat *s, enum fv_metric metric)
{
    return s->mean[metric] > 0 ? fv_sampled_stddev(s, metric) / s->mean[metric] : 0;
}

/* Chan, Golub, LeVeque (1979), as for calls in sums.c. */
void fv_sampled_add_stat(struct fv_sampled_stat *to, const struct fv_sampled_stat *from)
{
    for (unsigned i = 0; i < FV_SAMPLED_METRICS; i++) {
        double a = (double)fv_sampled_count(to, i), b = (double)fv_sampled_count(from, i);
        double delta = from->mean[i] - to->mean[i];

        if (b > 0) {
            to->m2[i] += from->m2[i] + delta * delta * a * b / (a + b);
            to->mean[i] += delta * b / (a + b);
        }
    }
    to->count += from->count;
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        to->event_count[i] += from->event_count[i];
}

void fv_sampled_add_long(struct fv_sampled_long_calls *to, const struct fv_sampled_long_calls *from)
{
    to->count += from->count;
    to->ticks += from->ticks;
    to->met_s += from->met_s;
    to->time_s += from->time_s;
    to->calls += from->calls;
}

bool fv_sampled_is_brief(const struct fv_sampled_function *s, enum fv_metric metric)
{
    return metric == FV_METRIC_TIME ? s->brief[0]
                                    : (metric == FV_METRIC_CPU || metric == FV_SAMPLED_COMPUTING) && s->brief[1];
}
