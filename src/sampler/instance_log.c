/* See sampler.h: in a trace, each measured instance. Room is made by the signal handler, because a thread that computes
 * may run nothing else of ours; trying the file's lock, because it may be the interrupted thread that holds it. So
 * it begins to try while there is room for a quarter of a chunk. What finds no room is counted. */
#include "rt/events.h"
#include "sampler/sampler.h"

#define CHUNK (UINT32_C(8) << 10) /* 254 instances */

static size_t room(const struct fv_sampler *s)
{
    return s->log ? fv_chunk_room(s->log) / sizeof(struct fv_logged_instance) : 0;
}

void fv_instance_log_prepare(struct fv_sampler *s)
{
    const size_t payload = CHUNK - sizeof(struct fv_chunk_header);

    if (!fv_rt.options.trace || s->next_log || room(s) > payload / sizeof(struct fv_logged_instance) / 4 ||
        !fv_events_reserve(payload))
        return;
    s->next_log = fv_writer_try_chunk(&fv_rt.writer, FV_CHUNK_INSTANCE_LOG, s->thread->id, s->logged + room(s), payload);
    if (!s->next_log)
        fv_events_unreserve(payload);
}

static bool make_room(struct fv_sampler *s)
{
    fv_instance_log_prepare(s);
    if (room(s))
        return true;
    if (!s->next_log)
        return false;
    if (s->log)
        fv_writer_release(s->log);
    s->log = s->next_log;
    s->next_log = NULL;
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
    if (!make_room(s)) {
        s->record->log_lost++;
        return;
    }
    *(struct fv_logged_instance *)fv_chunk_next(s->log) = record;
    fv_chunk_commit(s->log, sizeof(record));
    s->logged++;
}
