/* SPDX-License-Identifier: BSD-3-Clause */
/* See collect.h: which part takes which record. The parts do not know this file. */
#include "analysis/collect_state.h"

#include <stdlib.h>

void fv_collect_init(struct fv_collect *c, const struct fv_merge *m, const struct fv_sites *sites,
                     const struct fv_groups *groups, struct fv_steps *steps, struct fv_tallies *tallies)
{
    *c = (struct fv_collect){ .merge = m, .sites = sites, .groups = groups, .steps = steps, .tallies = tallies };
    c->traits = fv_xcalloc(m->defs.function_count + 1, 1);
    for (size_t i = 0; i < m->defs.function_count; i++)
        c->traits[i] = (uint8_t)fv_call_traits(m->defs.functions[i].name);
    for (uint32_t i = 0; i < m->defs.rank_count; i++)
        c->traced += m->defs.ranks[i].traced != 0;
}

void fv_collect_release(struct fv_collect *c)
{
    free(c->traits);
    free(c->items);
}

/* ---- records ---- */

static void enter(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    t->function = m->ref;
    t->traits = r->all->traits[m->ref];
    fv_collect_begin_step(r, t, m->time_ns, fv_sites_find(r->all->sites, m->ref, m->context));
    if (t->traits & FV_CALL_PROBE && !r->all->steps->failed)
        fv_step(r->all->steps, t->line, t->first)->flags |= FV_STEP_PROBE;
    if (t->traits & FV_CALL_READY)
        fv_collect_ready(r, t);
}

static void measure(struct fv_rank_collect *r, struct fv_call_thread *t, bool on, uint64_t ns)
{
    if (!on) {
        t->off = ns + !ns;
        return;
    }
    if (!t->off)
        return;
    fv_collect_begin_step(r, t, t->off, FV_NONE);
    if (!r->all->steps->failed) {
        fv_step(r->all->steps, t->line, t->first)->flags = FV_STEP_PAUSE;
        fv_collect_end_step(r, t, ns);
    }
    t->off = 0;
}

static void end_program(struct fv_rank_collect *r, struct fv_call_thread *t, uint64_t ns)
{
    measure(r, t, true, ns);
    r->all->steps->lines[t->line].end_ns = fv_step_time(ns);
    fv_collect_begin_step(r, t, ns, FV_NONE);
}

/* What ranks do together without a number: the n-th of one is the n-th of another, unless the first are gone. */
static bool is_counted(const struct fv_rank_collect *r, const struct fv_record *m)
{
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_RMA_COLL_END: return r->all->merge->defs.windows[m->ref].owner == FV_NOBODY;
    case FV_REC_RMA_GROUP:
    case FV_REC_RMA_LOCK: return true;
    case FV_REC_IO_OPEN:
    case FV_REC_IO_CLOSE: return r->all->merge->defs.handles[m->ref].owner == FV_NOBODY;
    case FV_REC_IO_BEGIN: return m->op & FV_IO_COLLECTIVE;
    default: return false;
    }
}

static void put_of_window_or_file(struct fv_rank_collect *r, struct fv_call_thread *t, const struct fv_record *m)
{
    if (r->all->partial && is_counted(r, m)) {
        r->all->unknown++;
        return;
    }
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_RMA_COLL_END: fv_collect_window(r, t, m); break;
    case FV_REC_RMA_GROUP: fv_collect_epoch(r, t, m); break;
    case FV_REC_RMA_LOCK: fv_collect_lock(r, t, m); break;
    case FV_REC_RMA_UNLOCK:
        fv_collect_unlock(r, t, m);
        fv_collect_flush(r, t, m);
        break;
    case FV_REC_RMA_PUT:
    case FV_REC_RMA_GET:
    case FV_REC_RMA_ATOMIC: fv_collect_operation(r, m); break;
    case FV_REC_RMA_END: fv_collect_operation_end(r, t, m); break;
    case FV_REC_RMA_SYNC: /* of MPI_Win_sync, too, which waits for nothing */
        if (r->all->merge->calls[t->function].sync != FV_RMA_OTHER)
            fv_collect_flush(r, t, m);
        break;
    case FV_REC_IO_OPEN:
    case FV_REC_IO_CLOSE:
    case FV_REC_IO_BEGIN: fv_collect_file(r, t, m); break;
    case FV_REC_IO_END: fv_collect_file_end(r, t, m); break;
    default: break;
    }
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct fv_rank_collect *r = (struct fv_rank_collect *)(void *)sink;
    struct fv_call_thread *t = &r->threads[slot];
    struct fv_step_line *l = &r->all->steps->lines[t->line];

    if (r->all->steps->failed) /* the rest of the call whose step had no room comes here all the same */
        return false;
    if (slot) { /* a thread is there from its first event to its last */
        /* Where it took over the slot of one that made no calls, from its own first one. */
        if (!t->met || (m->kind == FV_REC_THREAD_BEGIN && !l->count))
            l->begin_ns = fv_step_time(m->time_ns);
        l->end_ns = fv_step_time(m->time_ns);
        t->met = true;
    }
    if (FV_RECORD_IS_OF_THREAD(m->kind)) { /* steps are of calls of MPI */
        fv_collect_of_thread(r, t, m);
        return true;
    }
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_PROGRAM_BEGIN: l->begin_ns = fv_step_time(m->time_ns); break;
    case FV_REC_PROGRAM_END: end_program(r, t, m->time_ns); break;
    case FV_REC_MEASURE: measure(r, t, m->op, m->time_ns); break;
    case FV_REC_ENTER: enter(r, t, m); break;
    case FV_REC_LEAVE:
        fv_collect_whole(r, t, m->time_ns);
        fv_collect_end_step(r, t, m->time_ns);
        break;
    case FV_REC_SEND:
    case FV_REC_ISEND: fv_collect_send(r, t, m); break;
    case FV_REC_RECEIVE: fv_collect_receive(r, t, m); break;
    case FV_REC_MATCHED: fv_collect_matched(r, t, m); break;
    case FV_REC_IRECEIVE: fv_collect_posted(r, t, m); break;
    case FV_REC_ISEND_END: fv_collect_send_end(r, t, m->id); break;
    case FV_REC_IRECEIVE_END: fv_collect_receive_end(r, t, m); break;
    case FV_REC_CANCEL: fv_collect_cancel(r, m); break;
    case FV_REC_COLL_END: fv_collect_collective(r, t, m, NULL); break;
    case FV_REC_ICOLL_BEGIN: fv_collect_request(r, t, m->id, 0); break;
    case FV_REC_ICOLL_END: fv_collect_request_end(r, t, m); break;
    default: put_of_window_or_file(r, t, m);
    }
    return !r->all->steps->failed;
}

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static bool close_look_ahead(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct fv_rank_collect *r = (struct fv_rank_collect *)(void *)sink;
    struct fv_call_thread *t = &r->threads[slot];

    if (slot && t->off)
        measure(r, t, true, r->all->steps->lines[t->line].end_ns);
    return !r->all->steps->failed;
}

static void find_neighbours(struct fv_rank_collect *r, const struct fv_merge_file *file)
{
    if (!file->reader)
        return; /* an archive does not say */
    struct fv_cursor c = fv_cursor(file->reader, FV_CHUNK_NEIGHBOURS);
    for (const struct fv_neighbours *n; (n = fv_cursor_next(&c));) {
        uint32_t comm = fv_numbers_get(&file->map.comms, n->comm);

        if (comm == FV_NONE)
            continue;
        FV_GROW(r->neighbours, r->neighbour_room, r->neighbour_count + 1);
        r->neighbours[r->neighbour_count++] = (struct neighbours){ comm, n };
    }
}

struct fv_rank_collect *fv_collect_rank(struct fv_collect *c, const struct fv_merge_file *file)
{
    const struct fv_defs *d = &c->merge->defs;
    struct fv_rank_collect *r = fv_xcalloc(1, sizeof(*r));
    uint32_t rank = file->rank;

    r->all = c;
    r->world = d->ranks[rank].world_rank;
    r->thread_count = d->ranks[rank].thread_count;
    r->threads = fv_xcalloc(r->thread_count + 1, sizeof(*r->threads));
    for (uint32_t i = 0; i < r->thread_count; i++)
        r->threads[i] = (struct fv_call_thread){ .line = c->steps->first_line[rank] + i, .site = FV_NONE };
    fv_receives_init(&r->posted, fv_collect_tell_receive, r);
    find_neighbours(r, file);
    r->sink = (struct fv_sink){ .context = r, .open = open_location, .put = put, .close = close_location };
    return r;
}

static bool put_cancelled(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct fv_rank_collect *r = sink->context;

    (void)slot;
    if (m->kind == FV_REC_CANCEL && !m->op)
        fv_pendings_add(&r->cancelled, &(struct fv_pending){ .number = m->id });
    return true;
}

struct fv_sink fv_collect_look_ahead(struct fv_rank_collect *r)
{
    return (struct fv_sink){ .context = r, .open = open_location, .put = put_cancelled, .close = close_look_ahead };
}

struct fv_sink *fv_collect_sink(struct fv_rank_collect *r)
{
    return &r->sink;
}

void fv_collect_rest(struct fv_rank_collect *r)
{
    fv_receives_rest(&r->posted);
    fv_collect_rest_of_parts(r);
}

void fv_collect_answer(struct fv_rank_collect *r, const struct fv_answer *a)
{
    if (a->later)
        fv_collect_send_answer(r, a);
    else if (a->withheld)
        fv_collect_withheld(r->all->steps, fv_step(r->all->steps, a->line, (uint32_t)a->reply), a);
    else
        fv_collect_cause(r->all->steps, fv_step(r->all->steps, a->line, (uint32_t)a->reply), a);
}

void fv_collect_rank_release(struct fv_rank_collect *r)
{
    fv_pendings_release(&r->receives);
    fv_pendings_release(&r->begun);
    fv_pendings_release(&r->sends);
    fv_pendings_release(&r->send_numbers);
    fv_pendings_release(&r->matched);
    fv_pendings_release(&r->cancelled);
    fv_pendings_release(&r->births);
    fv_pendings_release(&r->forks);
    fv_index_release(&r->counter_index);
    free(r->counters);
    free(r->neighbours);
    free(r->parts);
    free(r->locks);
    fv_receives_release(&r->posted);
    free(r->threads);
    free(r);
}
