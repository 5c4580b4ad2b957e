/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the allocator in the trace (--memory=calls). What MPI allocates, and what functions for files and waits do
 * while their own event is to come, is left out: events of a thread do not overlap. */
#include "memory/memory.h"
#include "rt/events.h"

static FV_COLD bool with_room(struct fv_thread *t, uint64_t begin, uint64_t end, uint64_t *field)
{
    if (fv_lock_is_free(&fv_rt.writer.lock))
        fv_events_make_room(t);
    return fv_events_between(t, FV_EV_MEMORY, begin, end, field);
}

static bool is_within(const uint64_t *begin)
{
    return begin && *begin;
}

void fv_memory_trace(struct fv_memory *m, const struct fv_front_call *call)
{
    struct fv_thread *t = m->thread;
    uint64_t end = call->end ? call->end : fv_ticks(), begin = call->begin ? call->begin : end;
    uint32_t path;

    if (!__atomic_load_n(&fv_rt.tracing, __ATOMIC_RELAXED) || fv_rt_paused() || is_within(t->io_begin) ||
        is_within(t->wait_begin) || !fv_is_between() || !fv_memory_path(m, call->site, &path))
        return;
    fv_allocator_of(m, path); /* the merge defines its call paths */
    uint64_t field[] = { 0, 0, path, call->function, call->bytes + 1, call->freed + 1 };
    bool done = !__atomic_load_n(&fv_rt.trace_stopped, __ATOMIC_RELAXED) &&
                (fv_events_between(t, FV_EV_MEMORY, begin, end, field) || with_room(t, begin, end, field));
    m->sums->functions |= (uint64_t)done << call->function;
    m->sums->untraced += !done;
}
