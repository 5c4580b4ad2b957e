/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: what a measured instance adds to the statistics of its context. */
#include "sampler/sampler.h"

static void add_moment(struct fv_moments *m, uint64_t count, double value)
{
    double delta = value - m->mean;

    m->mean += delta / (double)count;
    m->m2 += delta * (value - m->mean);
}

static void forget(uint64_t value[FV_METRIC_EVENTS])
{
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        value[i] = FV_COUNT_UNKNOWN;
}

/* By counts of their own: of some instances they are not known, of which `value` says so. */
static void add_events(struct fv_sampler *s, const struct fv_live_instance *live, struct fv_instances *r,
                       struct fv_event_counts *counts, uint64_t value[FV_METRIC_EVENTS])
{
    enum fv_pmu_quality quality = fv_pmu_since(&s->pmu, &live->pmu, value);

    if (quality != FV_PMU_EXACT)
        r->flags |= FV_INSTANCES_SCALED;
    s->record->events_scaled += quality == FV_PMU_SCALED;
    s->record->events_lost += quality == FV_PMU_LOST;
    if (quality == FV_PMU_LOST) {
        r->flags |= counts->all ? 0 : FV_INSTANCES_UNCOUNTED;
        forget(value);
        return;
    }
    r->flags &= ~(uint32_t)FV_INSTANCES_UNCOUNTED;
    counts->all++;
    counts->in_window += live->in_window;
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++) {
        add_moment(&r->all[FV_METRIC_EVENT_0 + i], counts->all, (double)value[i]);
        if (live->in_window)
            add_moment(&r->in_window[FV_METRIC_EVENT_0 + i], counts->in_window, (double)value[i]);
    }
}

/* CPU time outside of MPI, which spins or sleeps there: the CPU time, or the time outside where that is less. */
static uint64_t outside_of_mpi_ns(const struct fv_sampler *s, const uint64_t *value)
{
    double outside_ns = (double)(value[FV_METRIC_TIME] - value[FV_METRIC_MPI]) * s->ns_per_tick;

    return value[FV_METRIC_MPI] && outside_ns < (double)value[FV_METRIC_CPU] ? (uint64_t)outside_ns
                                                                             : value[FV_METRIC_CPU];
}

static void add_computing(struct fv_sampler *s, const struct fv_live_instance *live, const struct fv_instances *r,
                          const uint64_t *value)
{
    struct fv_instance_computing *c = fv_context_computing(s, live->context);
    double ns = (double)outside_of_mpi_ns(s, value);

    add_moment(&c->all, r->returns, ns);
    if (live->in_window)
        add_moment(&c->in_window, r->window, ns);
}

/* Single instances: `place` in the reservoir, if it is one, and the place of what is measured last. */
static void keep(struct fv_sampler *s, uint32_t context, struct fv_instances *r, uint64_t place,
                 const struct fv_instance *instance, const uint64_t counts[FV_METRIC_EVENTS])
{
    struct fv_instance_events *events = fv_context_event_values(s, context);
    uint64_t recent = (r->returns - 1) % FV_RECENT;

    fv_context_recent(s, context)->at[recent] = *instance;
    if (place < FV_RESERVOIR)
        r->reservoir[place] = *instance;
    for (unsigned i = 0; events && i < FV_METRIC_EVENTS; i++) {
        events->recent[recent][i] = counts[i];
        if (place < FV_RESERVOIR)
            events->reservoir[place][i] = counts[i];
    }
}

/* Of those that are there always; as of the clocks, but for what the sampler took. */
static void take_values(const struct fv_sampler *s, const struct fv_live_instance *live, const struct fv_readings *end,
                        uint64_t *value)
{
    const struct fv_readings *begin = &live->begin;
    uint64_t tool = s->tool_ticks - live->tool_ticks + fv_sampler_calibration.trap_ticks;
    uint64_t tool_ns = s->tool_ns - live->tool_ns + fv_sampler_calibration.trap_ns;

    value[FV_METRIC_TIME] = fv_minus(end->ticks - begin->ticks, tool);
    value[FV_METRIC_CPU] = fv_minus(end->cpu_ns - begin->cpu_ns, tool_ns);
    value[FV_METRIC_MPI] = fv_minus(end->mpi_ticks - begin->mpi_ticks, end->mpi_tool_ticks - begin->mpi_tool_ticks);
    value[FV_METRIC_MPI_CALLS] = end->mpi_calls - begin->mpi_calls;
    value[FV_METRIC_FAULTS] = end->faults - begin->faults;
    value[FV_METRIC_SWITCHES] = end->switches - begin->switches;
    value[FV_METRIC_MIGRATIONS] = end->migrations - begin->migrations;
    value[FV_METRIC_MPI_BYTES] = end->mpi_bytes - begin->mpi_bytes;
    if (value[FV_METRIC_MPI] > value[FV_METRIC_TIME]) /* it lies inside of a call, as do its traps */
        value[FV_METRIC_MPI] = value[FV_METRIC_TIME];
}

uint64_t fv_live_computing_ns(const struct fv_sampler *s, const struct fv_live_instance *live,
                              const struct fv_readings *end)
{
    uint64_t value[FV_METRIC_EVENT_0];

    take_values(s, live, end, value);
    return outside_of_mpi_ns(s, value);
}

uint64_t fv_context_add(struct fv_sampler *s, const struct fv_live_instance *live, const struct fv_readings *end)
{
    struct fv_instances *r = fv_context_record(s, live->context);
    struct fv_event_counts *events = fv_context_events(s, live->context);
    uint64_t value[FV_METRIC_EVENT_0], counts[FV_METRIC_EVENTS];
    uint64_t place = r->returns < FV_RESERVOIR ? r->returns : fv_sampler_random(s) % (r->returns + 1);

    take_values(s, live, end, value);
    r->returns++;
    r->window += live->in_window;
    for (unsigned i = 0; i < FV_METRIC_EVENT_0; i++) {
        add_moment(&r->all[i], r->returns, (double)value[i]);
        if (live->in_window)
            add_moment(&r->in_window[i], r->window, (double)value[i]);
    }
    add_computing(s, live, r, value);
    forget(counts);
    if (events)
        add_events(s, live, r, events, counts);
    keep(s, live->context, r, place,
         &(struct fv_instance){ live->begin.ticks, value[FV_METRIC_TIME], value[FV_METRIC_CPU] }, counts);
    if (value[FV_METRIC_TIME] < r->time_min)
        r->time_min = value[FV_METRIC_TIME];
    if (value[FV_METRIC_TIME] > r->time_max)
        r->time_max = value[FV_METRIC_TIME];
    fv_instance_log_add(s, live, end->ticks, value[FV_METRIC_CPU], counts);
    fv_window_refresh(s, live->context);
    return value[FV_METRIC_CPU];
}
