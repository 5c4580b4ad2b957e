/* See sampler.h: in a trace, each measured instance. Room is made by the handler when the last chunk is full:
 * in the signal handler, because a thread that computes may run nothing else of ours; trying the file's lock,
 * because it may be the interrupted thread that holds it. What finds no room is counted. */
#include "rt/events.h"
#include "sampler/sampler.h"

#define CHUNK (UINT32_C(8) << 10) /* 254 instances */

static bool make_room(struct fv_sampler *s)
{
    const size_t payload = CHUNK - sizeof(struct fv_chunk_header);
    struct fv_chunk_header *chunk = NULL;

    if (fv_events_reserve(payload)) {
        chunk = fv_writer_try_chunk(&fv_rt.writer, FV_CHUNK_INSTANCE_LOG, s->thread->id, s->logged, payload);
        if (!chunk)
            fv_events_unreserve(payload);
    }
    if (!chunk)
        return false;
    if (s->log)
        fv_writer_release(s->log);
    s->log = chunk;
    return true;
}

void fv_instance_log_add(struct fv_sampler *s, const struct fv_live *live, uint64_t end, uint64_t cpu_ns)
{
    const struct fv_logged_instance record = {
        .begin = live->begin.ticks,
        .end = end,
        .cpu_ns = cpu_ns,
        .context = live->context,
        .flags = live->in_window,
    };

    if (!fv_rt.options.trace)
        return;
    if ((!s->log || fv_chunk_room(s->log) < sizeof(record)) && !make_room(s)) {
        s->record->log_lost++;
        return;
    }
    *(struct fv_logged_instance *)fv_chunk_next(s->log) = record;
    fv_chunk_commit(s->log, sizeof(record));
    s->logged++;
}
