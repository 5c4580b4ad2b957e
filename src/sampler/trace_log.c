/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: in a trace, each measured instance and each sample of the CPU clock. The first chunks are made when
 * the sampler is, waiting for the file as any call does. Later ones are made by the signal handler, because a thread
 * that computes may run nothing else of ours; trying the file's lock, because it may be the interrupted thread that
 * holds it. So it begins to try while there is room for a quarter of a chunk. What finds no room is counted.
 *
 * Samples have a log of their own, because the handler may have interrupted a call that writes its event: nothing of
 * the thread's events is touched here. */
#include "rt/events.h"
#include "sampler/sampler.h"

#include <string.h>

#define FIRST (UINT32_C(1) << 10) /* 30 instances, or 60 samples */
#define CHUNK (UINT32_C(8) << 10) /* 254 instances, or 508 samples */

static const struct kind {
    enum fv_chunk_type type;
    uint32_t bytes; /* of a record */
} kinds[FV_TRACE_LOGS] = {
    [FV_LOG_INSTANCES] = { FV_CHUNK_INSTANCE_LOG, sizeof(struct fv_logged_instance) },
    [FV_LOG_EVENTS] = { FV_CHUNK_LOGGED_EVENTS, sizeof(struct fv_logged_events) },
    [FV_LOG_SAMPLES] = { FV_CHUNK_SAMPLE_LOG, sizeof(struct fv_logged_sample) },
};

/* A ring has none: they would be those of the begin. */
static bool is_wanted(void)
{
    return fv_rt.options.trace && !fv_rt.options.trace_keep;
}

static size_t room(const struct fv_trace_log *log, const struct kind *kind)
{
    return log->chunk ? fv_chunk_room(log->chunk) / kind->bytes : 0;
}

typedef struct fv_chunk_header *new_chunk_fn(struct fv_writer *writer, enum fv_chunk_type type, uint32_t thread,
                                             uint64_t first, size_t payload);

static void prepare(struct fv_sampler *s, enum fv_log which, new_chunk_fn *new_chunk)
{
    struct fv_trace_log *log = &s->log[which];
    const struct kind *kind = &kinds[which];
    const size_t payload = (log->chunk ? CHUNK : FIRST) - sizeof(struct fv_chunk_header);

    if (!is_wanted() || log->next || (log->chunk && fv_chunk_room(log->chunk) > log->chunk->bytes / 4) ||
        !fv_events_reserve(payload))
        return;
    log->next = new_chunk(&fv_rt.writer, kind->type, s->thread->id, log->count + room(log, kind), payload);
    if (!log->next)
        fv_events_unreserve(payload);
}

void fv_trace_log_prepare(struct fv_sampler *s)
{
    prepare(s, FV_LOG_SAMPLES, fv_writer_chunk);
    if (!fv_clock_alone())
        prepare(s, FV_LOG_INSTANCES, fv_writer_chunk);
    if (!fv_clock_alone() && fv_pmu_wanted())
        prepare(s, FV_LOG_EVENTS, fv_writer_chunk);
}

/* False: there is no room. */
static bool add(struct fv_sampler *s, enum fv_log which, const void *record)
{
    struct fv_trace_log *log = &s->log[which];
    const struct kind *kind = &kinds[which];

    prepare(s, which, fv_writer_try_chunk);
    if (!room(log, kind)) {
        if (!log->next)
            return false;
        if (log->chunk)
            fv_writer_release(log->chunk);
        log->chunk = log->next;
        log->next = NULL;
    }
    memcpy(fv_chunk_next(log->chunk), record, kind->bytes);
    fv_chunk_commit(log->chunk, kind->bytes);
    log->count++;
    return true;
}

void fv_instance_log_add(struct fv_sampler *s, const struct fv_live_instance *live, uint64_t end, uint64_t cpu_ns,
                         const uint64_t counts[FV_METRIC_EVENTS])
{
    const struct fv_logged_instance record = {
        .begin = live->begin.ticks,
        .end = end,
        .cpu_ns = cpu_ns,
        .context = live->context,
        .flags = live->in_window,
    };

    if (!is_wanted())
        return;
    if (!add(s, FV_LOG_INSTANCES, &record))
        s->record->log_lost++;
    else if (fv_pmu_wanted() && !add(s, FV_LOG_EVENTS, counts))
        s->log[FV_LOG_EVENTS].count++; /* the next chunk begins with what stands beside it then */
}

void fv_sample_log_add(struct fv_sampler *s, uint32_t path, uint64_t ticks, uint64_t cpu_ns)
{
    const struct fv_logged_sample record = {
        .ticks = ticks,
        .path = path,
        .cpu_ns = cpu_ns < UINT32_MAX ? (uint32_t)cpu_ns : UINT32_MAX,
    };

    if (is_wanted() && !add(s, FV_LOG_SAMPLES, &record))
        s->record->samples_lost++;
}
