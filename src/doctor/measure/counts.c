/* SPDX-License-Identifier: BSD-3-Clause */
/* See counts.h. */
#include "doctor/measure/counts.h"

#include <math.h>

void fv_counts_try(struct fv_measurement *m)
{
    struct fv_event_fd opened[FV_MEASURE_EVENTS];
    int leader = -1;

    for (size_t i = 0; i < m->event_count; i++) {
        m->events[i].refusal = fv_perf_try_counter(&opened[i], &m->events[i].what, leader);
        if (!m->events[i].refusal && leader < 0)
            leader = opened[i].fd;
    }
    for (size_t i = 0; i < m->event_count; i++)
        fv_perf_close(&opened[i]);
}

size_t fv_counts_known(const struct fv_measurement *m)
{
    size_t count = 0;

    for (size_t i = 0; i < m->event_count; i++)
        count += !m->events[i].refusal;
    return count;
}

void fv_counts_close(struct fv_sample_counter *c)
{
    while (c->count)
        fv_perf_close(&c->events[--c->count]);
}

/* All of them, or none: their numbers stand side by side. */
void fv_counts_open(struct fv_sample_counter *c, const struct fv_measurement *m)
{
    double first[FV_MEASURE_EVENTS];

    *c = (struct fv_sample_counter){ 0 };
    for (size_t i = 0; i < m->event_count; i++) {
        if (m->events[i].refusal)
            continue;
        bool is_open = fv_perf_open_counter(&c->events[c->count], &m->events[i].what, c->count ? c->events[0].fd : -1);
        c->count++;
        if (!is_open) {
            fv_counts_close(c);
            return;
        }
    }
    if (c->count)
        fv_perf_enable(&c->events[0]);
    fv_counts_take(c, first);
}

void fv_counts_take(struct fv_sample_counter *c, double *out)
{
    struct {
        struct fv_perf_group group;
        uint64_t value[FV_MEASURE_EVENTS];
    } now;
    bool is_read = c->count && fv_perf_read(&c->events[0], &now, sizeof(now.group) + c->count * sizeof(now.value[0]));

    for (size_t i = 0; i < c->count; i++)
        out[i] = NAN;
    if (!is_read)
        return;
    for (size_t i = 0; i < c->count; i++) {
        if (now.group.running - c->running == now.group.enabled - c->enabled)
            out[i] = (double)(now.value[i] - c->last[i]);
        c->last[i] = now.value[i];
    }
    c->enabled = now.group.enabled;
    c->running = now.group.running;
}
