/* See sampler.h: what a measured instance adds to the statistics of its context. */
#include "sampler/sampler.h"

static void add_moment(struct fv_moments *m, uint64_t count, double value)
{
    double delta = value - m->mean;

    m->mean += delta / (double)count;
    m->m2 += delta * (value - m->mean);
}

/* By counts of their own: of some instances they are not known. */
static void add_events(struct fv_sampler *s, const struct fv_live *live, struct fv_instances *r,
                       struct fv_event_counts *counts)
{
    uint64_t value[FV_METRIC_EVENTS];
    enum fv_pmu_quality quality = fv_pmu_since(&s->pmu, &live->pmu, value);

    if (quality != FV_PMU_EXACT)
        r->flags |= FV_INSTANCES_SCALED;
    s->record->events_scaled += quality == FV_PMU_SCALED;
    s->record->events_lost += quality == FV_PMU_LOST;
    if (quality == FV_PMU_LOST) {
        r->flags |= counts->all ? 0 : FV_INSTANCES_UNCOUNTED;
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
static uint64_t computing_ns(const struct fv_sampler *s, const uint64_t *value)
{
    double outside_ns = (double)(value[FV_METRIC_TIME] - value[FV_METRIC_MPI]) * s->ns_per_tick;

    return value[FV_METRIC_MPI] && outside_ns < (double)value[FV_METRIC_CPU] ? (uint64_t)outside_ns : value[FV_METRIC_CPU];
}

static void add_computing(struct fv_sampler *s, const struct fv_live *live, const struct fv_instances *r, const uint64_t *value)
{
    struct fv_instance_computing *c = fv_context_computing(s, live->context);
    double ns = (double)computing_ns(s, value);

    add_moment(&c->all, r->returns, ns);
    if (live->in_window)
        add_moment(&c->in_window, r->window, ns);
}

void fv_context_add(struct fv_sampler *s, const struct fv_live *live, const struct fv_readings *end)
{
    struct fv_instances *r = fv_context_record(s, live->context);
    struct fv_event_counts *events = fv_context_events(s, live->context);
    const struct fv_readings *begin = &live->begin;
    uint64_t tool = s->tool_ticks - live->tool_ticks + fv_sampler_calibration.trap_ticks;
    uint64_t tool_ns = s->tool_ns - live->tool_ns + fv_sampler_calibration.trap_ns;
    uint64_t value[FV_METRIC_EVENT_0] = {
        [FV_METRIC_TIME] = fv_minus(end->ticks - begin->ticks, tool),
        [FV_METRIC_CPU] = fv_minus(end->cpu_ns - begin->cpu_ns, tool_ns),
        [FV_METRIC_MPI] =
            fv_minus(end->mpi_ticks - begin->mpi_ticks, end->mpi_tool_ticks - begin->mpi_tool_ticks),
        [FV_METRIC_MPI_CALLS] = end->mpi_calls - begin->mpi_calls,
        [FV_METRIC_FAULTS] = end->faults - begin->faults,
        [FV_METRIC_SWITCHES] = end->switches - begin->switches,
        [FV_METRIC_MIGRATIONS] = end->migrations - begin->migrations,
        [FV_METRIC_MPI_BYTES] = end->mpi_bytes - begin->mpi_bytes,
    };
    if (value[FV_METRIC_MPI] > value[FV_METRIC_TIME]) /* it lies inside of a call, as do its traps */
        value[FV_METRIC_MPI] = value[FV_METRIC_TIME];
    uint64_t place = r->returns < FV_RESERVOIR ? r->returns : fv_sampler_random(s) % (r->returns + 1);

    r->returns++;
    r->window += live->in_window;
    for (unsigned i = 0; i < FV_METRIC_EVENT_0; i++) {
        add_moment(&r->all[i], r->returns, (double)value[i]);
        if (live->in_window)
            add_moment(&r->in_window[i], r->window, (double)value[i]);
    }
    add_computing(s, live, r, value);
    if (events)
        add_events(s, live, r, events);
    if (place < FV_RESERVOIR)
        r->reservoir[place] =
            (struct fv_instance){ begin->ticks, value[FV_METRIC_TIME], value[FV_METRIC_CPU] };
    if (value[FV_METRIC_TIME] < r->time_min)
        r->time_min = value[FV_METRIC_TIME];
    if (value[FV_METRIC_TIME] > r->time_max)
        r->time_max = value[FV_METRIC_TIME];
    fv_instance_log_add(s, live, end->ticks, value[FV_METRIC_CPU]);
    fv_window_refresh(s, live->context);
}
