/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: what an instance is measured by, beside the clocks. */
#include "sampler/sampler.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

uint64_t fv_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct fv_wall wall(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (struct fv_wall){ fv_ticks(), (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec };
}

void fv_wall_begin(struct fv_sampler *s)
{
    s->begin = wall();
}

void fv_wall_measure(struct fv_sampler *s)
{
    struct fv_wall now = wall();

    if (now.ticks > s->begin.ticks)
        s->ns_per_tick = (double)(now.ns - s->begin.ns) / (double)(now.ticks - s->begin.ticks);
}

void fv_readings_see_processor(struct fv_sampler *s)
{
    int cpu = sched_getcpu();

    s->migrations += s->cpu >= 0 && cpu != s->cpu;
    s->cpu = cpu;
}

/* Counted by the kernel, or as often as another processor is met than the last time. */
static uint64_t migrations(struct fv_sampler *s)
{
    uint64_t count;

    if (s->migration_counter.fd >= 0 && fv_perf_read(&s->migration_counter, &count, sizeof(count)))
        return count;
    fv_readings_see_processor(s);
    return s->migrations;
}

void fv_readings_open(struct fv_sampler *s)
{
    s->record->migrations_exact = fv_perf_open_migrations(&s->migration_counter);
    s->cpu = -1;
    fv_pmu_open(&s->pmu);
}

void fv_readings_close(struct fv_sampler *s)
{
    fv_perf_close(&s->migration_counter);
    fv_pmu_close(&s->pmu);
}

/* With the call that the thread is in, unless that was added already. */
void fv_readings_take_mpi(const struct fv_sampler *s, struct fv_readings *out)
{
    const struct fv_thread_record *record = s->thread->record;
    uint64_t begin = record->in_call.begin;

    out->mpi_ticks = record->mpi_ticks;
    if (begin && record->last < begin && out->ticks > begin)
        out->mpi_ticks += out->ticks - begin;
    out->mpi_tool_ticks = s->tool_mpi_ticks;
}

void fv_readings_take(struct fv_sampler *s, struct fv_readings *out)
{
    struct rusage usage;

    fv_readings_take_mpi(s, out);
    out->mpi_calls = s->thread->record->calls;
    out->mpi_bytes = s->thread->record->mpi_bytes;
    out->migrations = migrations(s);
    if (getrusage(RUSAGE_THREAD, &usage))
        return;
    out->faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
    out->switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}
