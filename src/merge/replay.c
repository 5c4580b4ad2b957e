/* SPDX-License-Identifier: BSD-3-Clause */
/* See replay.h. A call becomes Enter, then what it began (sends, posted receives), then what it ended
 * (receives, completions), then Leave: what it began carries the time of its beginning, what it ended the
 * time of its end, as a reader that draws messages expects it. */
#include "merge/replay_state.h"
#include "merge/threads.h"

#include <stdlib.h>
#include <string.h>

/* ---- collectives ---- */

static uint32_t root_of(int64_t root)
{
    return root == FV_ROOT_SELF ? FV_PEER_SELF
           : root < 0           ? (root == FV_ROOT_OTHERS ? FV_PEER_OURS : FV_PEER_NONE)
                                : (uint32_t)root;
}

/* `field`: comm, root, sent, received. False: there is nothing that can be told. */
static bool fill_collective(struct fv_rank_replay *r, const struct fv_call_info *call, const uint64_t *field,
                            struct fv_record *out)
{
    uint32_t comm = fv_rank_comm(r, field[0]);

    if (comm == FV_NONE) {
        r->stats->no_comm++;
        return false;
    }
    const struct fv_def_comm *c = &r->replay->defs->comms[comm];
    if (c->owner != FV_NOBODY && c->size > 1) { /* the others' part is on communicators of their own */
        r->stats->no_comm++;
        return false;
    }
    int64_t root = (int64_t)field[1];
    uint32_t rank = (uint32_t)r->map->comm_ranks.of[field[0]];
    bool is_root = root == FV_ROOT_SELF || (!c->remote_size && root >= 0 && (uint32_t)root == rank);
    struct fv_volume v = fv_notional(call, (struct fv_volume){ field[2], field[3] },
                                     c->remote_size ? c->remote_size : c->size, rank, is_root);

    *out = (struct fv_record){ .op = call->op == FV_OP_NONE ? FV_OP_BARRIER : call->op,
                               .ref = comm,
                               .peer = root_of(root),
                               /* the starts of a persistent one count in the upper half */
                               .aux = (uint32_t)field[4] ^ (uint32_t)(field[4] >> 32) * 0x9e3779b1u,
                               .tag = call->neighbour,
                               .sent = v.sent,
                               .received = v.received };
    return true;
}

/* What a non-blocking call does: its name says it, or for MPI_Start the detail behind. */
static const struct fv_call_info *operation_of(const struct fv_rank_replay *r, const struct fv_stream *s,
                                               const struct fv_event *d)
{
    const struct fv_event *next = d + 1;

    if (next == s->details + s->detail_count || next->kind != FV_EV_OPERATION || next->field[0] != d->field[0])
        return s->info;
    uint32_t function = fv_numbers_get(&r->map->functions, next->field[1]);
    return function == FV_NONE ? s->info : &r->replay->calls[function];
}

static void begin_collective(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    struct fv_record record;

    const struct fv_call_info *info = operation_of(r, s, d);
    if (info->op == FV_OP_NONE) { /* a persistent one that was made while recording was paused */
        r->stats->no_op++;
        return;
    }
    if (!fill_collective(r, info, d->field + 1, &record))
        return;
    fv_messages_began(r, &(struct fv_pending){ .number = d->field[0],
                                               .kind = FV_PENDING_COLLECTIVE,
                                               .op = record.op,
                                               .ref = record.ref,
                                               .peer = record.peer,
                                               .tag = record.aux,
                                               .neighbour = record.tag,
                                               .sent = record.sent,
                                               .received = record.received });
    fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_ICOLL_BEGIN, .id = d->field[0] }, s->begin);
}

static void end_operation(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    struct fv_pending *p = fv_messages_pending(r, d->field[0]);

    if (!p)
        return;
    struct fv_pending was = *p;
    fv_pendings_remove(&r->pending, p);
    struct fv_record record = { .kind = FV_REC_ICOLL_END,
                                .op = was.op,
                                .ref = was.ref,
                                .peer = was.peer,
                                .aux = was.tag,
                                .tag = was.neighbour,
                                .sent = was.sent,
                                .received = was.received,
                                .error = d->error,
                                .id = was.number };
    if (was.kind == FV_PENDING_RMA)
        fv_rma_done(r, s, &was);
    else if (was.kind == FV_PENDING_IO)
        fv_io_done(r, s, &was);
    else if (was.kind == FV_PENDING_COLLECTIVE) {
        fv_rank_put(r, s, &record, s->end);
        fv_messages_ended(r, s, &was);
    }
}

static void comm_event(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    uint32_t comm = fv_rank_comm(r, d->field[0]);

    bool is_new = d->kind == FV_EV_COMM_NEW;

    if (comm == FV_NONE || !fv_def_comm_is_seen(&r->replay->defs->comms[comm]))
        return;
    if (is_new || !fv_messages_keep(r, comm))
        fv_rank_put(r, s, &(struct fv_record){ .kind = is_new ? FV_REC_COMM_CREATE : FV_REC_COMM_DESTROY, .ref = comm },
                    s->end);
}

/* Communicators come and go inside of a collective operation: of the parent, or of those that go. */
static uint32_t parent_of(const struct fv_rank_replay *r, uint32_t comm, bool is_new)
{
    const struct fv_defs *d = r->replay->defs;

    for (uint32_t i = 0; is_new && i < d->comm_count; i++)
        if (d->comms[i].uid == d->comms[comm].parent && d->comms[i].owner == FV_NOBODY &&
            fv_def_comm_is_listed(&d->comms[i]))
            return i;
    return comm;
}

#define KIND_BIT(kind) (UINT64_C(1) << FV_EV_##kind)
#define FRAME_KINDS                                                                                             \
    (KIND_BIT(COLLECTIVE) | KIND_BIT(COMM_NEW) | KIND_BIT(COMM_GONE) | KIND_BIT(WIN_NEW) | KIND_BIT(WIN_GONE) | \
     KIND_BIT(RMA_SYNC))

/* What stands around the details of a call: an operation on a window, on a communicator, or nothing. */
static void choose_frame(struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_event *made = NULL, *collective = NULL;

    for (size_t i = 0; i < s->detail_count; i++) {
        const struct fv_event *d = &s->details[i];

        if (fv_rma_frame(r, s, d, &s->frame))
            return;
        if (d->kind == FV_EV_COLLECTIVE)
            collective = d;
        else if (d->kind == FV_EV_COMM_NEW || d->kind == FV_EV_COMM_GONE)
            made = d;
        else if (d->kind == FV_EV_FILE_NEW || d->kind == FV_EV_FILE_GONE)
            return;
    }
    if (collective && s->info->role != FV_ROLE_IO && s->info->role != FV_ROLE_IO_METADATA &&
        fill_collective(r, s->info, collective->field, &s->frame)) {
        s->frame.kind = FV_REC_COLL_END;
        s->frame.error = collective->error;
        if (made && s->frame.op == FV_OP_BARRIER)
            s->frame.op = made->kind == FV_EV_COMM_NEW ? FV_OP_CREATE_HANDLE : FV_OP_DESTROY_HANDLE;
    } else if (made && fv_rank_comm(r, made->field[0]) != FV_NONE) {
        uint32_t comm = fv_rank_comm(r, made->field[0]);
        bool is_new = made->kind == FV_EV_COMM_NEW;

        if (fv_def_comm_is_seen(&r->replay->defs->comms[comm]))
            s->frame = (struct fv_record){ .kind = FV_REC_COLL_END,
                                           .op = is_new ? FV_OP_CREATE_HANDLE : FV_OP_DESTROY_HANDLE,
                                           .ref = parent_of(r, comm, is_new),
                                           .peer = FV_PEER_NONE,
                                           .aux = FV_NONE };
    }
}

/* ---- calls ---- */

static void tell_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    switch (d->kind) {
    case FV_EV_ORDER: fv_ring_order(r, s, d); return;
    case FV_EV_SEND:
    case FV_EV_ISEND:
    case FV_EV_IRECV:
    case FV_EV_MATCHED: fv_messages_begin(r, s, d); break;
    case FV_EV_ICOLLECTIVE: begin_collective(r, s, d); break;
    case FV_EV_PUT:
    case FV_EV_GET:
    case FV_EV_ATOMIC: fv_rma_begin(r, s, d); break;
    case FV_EV_READ:
    case FV_EV_WRITE: fv_io_begin(r, s, d); break;
    default: break;
    }
    s->order_comm = FV_NONE;
}

static void tell_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    switch (d->kind) {
    case FV_EV_ORDER: fv_ring_order(r, s, d); return;
    case FV_EV_RECV:
    case FV_EV_RECEIVED:
    case FV_EV_MRECV:
    case FV_EV_SENT:
    case FV_EV_CANCELLED:
    case FV_EV_FREED:
    case FV_EV_TESTED: fv_messages_end(r, s, d); break;
    case FV_EV_DONE: end_operation(r, s, d); break;
    case FV_EV_COMM_NEW:
    case FV_EV_COMM_GONE: comm_event(r, s, d); break;
    case FV_EV_WIN_NEW:
    case FV_EV_WIN_GONE:
    case FV_EV_MEMBER:
    case FV_EV_LOCK:
    case FV_EV_RMA_SYNC: fv_rma_end(r, s, d); break;
    case FV_EV_FILE_NEW:
    case FV_EV_FILE_GONE:
    case FV_EV_READ:
    case FV_EV_WRITE:
    case FV_EV_SEEK: fv_io_end(r, s, d); break;
    default: break;
    }
    s->order_comm = FV_NONE;
}

static inline void enter(struct fv_rank_replay *r, struct fv_stream *s, uint32_t function, uint32_t node)
{
    fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_ENTER, .ref = function, .context = node, .id = s->end },
                s->begin);
}

static void tell_details(struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_event *stop = s->details + s->detail_count;

    s->frame.kind = FV_REC_COUNT;
    if (s->detail_kinds & FRAME_KINDS)
        choose_frame(r, s);
    if (s->frame.kind != FV_REC_COUNT) /* the begin stands right before the end in the enumeration */
        fv_rank_put(r, s, &(struct fv_record){ .kind = (uint8_t)(s->frame.kind - 1) }, s->begin);
    for (const struct fv_event *d = s->details; d < stop; d++)
        tell_begin(r, s, d);
    for (const struct fv_event *d = s->details; d < stop; d++)
        tell_end(r, s, d);
    if (s->detail_kinds & KIND_BIT(MEMBER))
        fv_rma_end_call(r, s);
    if (s->frame.kind != FV_REC_COUNT)
        fv_rank_put(r, s, &s->frame, s->end);
}

static void tell_call(struct fv_rank_replay *r, struct fv_stream *s)
{
    uint64_t number = s->item.field[0];
    const struct fv_call_site *site = number < s->site_count ? &s->sites[number] : NULL;

    if (FV_UNLIKELY(!site || !site->info)) {
        r->stats->lost++;
        return;
    }
    s->info = site->info;
    s->function = site->function;
    s->begin = fv_rank_time(r, s, s->item.begin);
    s->begin = s->begin > s->now ? s->begin : s->now;
    s->end = s->until > s->begin ? s->until : s->begin;
    r->stats->calls++;
    enter(r, s, site->function, site->node);
    if (s->detail_count)
        tell_details(r, s);
    bool is_judged = !r->view || !r->view->judged_ns || fv_rank_time(r, s, s->item.begin) >= r->view->judged_ns;
    fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_LEAVE, .ref = site->function, .aux = !is_judged }, s->end);
}

static void measure(struct fv_rank_replay *r, struct fv_stream *s, bool on, uint64_t time)
{
    if (s->off != !on)
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_MEASURE, .op = on }, time);
    r->locations[s->slot].gaps += !on && !s->off;
    s->off = !on;
}

static void tell_sections(struct fv_rank_replay *r, struct fv_stream *s, uint64_t set, uint64_t time)
{
    struct fv_record record = { .kind = FV_REC_SECTIONS, .id = set };

    s->section_set = set;
    fv_rank_stamp(s, &record, time);
    fv_rank_pass(r, s, &record); /* no record of an archive: regions are made of it */
}

/* Of one that the rank names. */
static void tell_counter(struct fv_rank_replay *r, struct fv_stream *s, uint64_t time)
{
    char name[64];

    if (s->item.field[1] < FV_COUNTERS && fv_def_event(r->rank->counters, (unsigned)s->item.field[1], name))
        fv_rank_put(
            r, s,
            &(struct fv_record){
                .kind = FV_REC_COUNTER, .ref = r->index, .op = (uint8_t)s->item.field[1], .sent = s->item.field[2] },
            time);
}

/* ---- items ---- */

/* What stands between calls. */
static void tell_of_thread(struct fv_rank_replay *r, struct fv_stream *s)
{
    if (s->off && !fv_threads_is_end(s)) /* as for calls */
        measure(r, s, true, fv_rank_time(r, s, s->item.begin));
    if (s->item.kind == FV_EV_THREAD_END) /* its functions end there, and its sections */
        fv_nested_leave(r, s, 0, fv_rank_time(r, s, s->item.begin));
    if (s->item.kind == FV_EV_SECTIONS)
        tell_sections(r, s, s->item.field[1], fv_rank_time(r, s, s->item.begin));
    else if (s->item.kind == FV_EV_FUNCTION_ENTER)
        fv_nested_enter(r, s, s->item.field[1], fv_rank_time(r, s, s->item.begin));
    else if (s->item.kind == FV_EV_FUNCTION_LEAVE)
        fv_nested_leave(r, s, s->item.field[1], fv_rank_time(r, s, s->item.begin));
    else if (s->item.kind == FV_EV_COUNTER)
        tell_counter(r, s, fv_rank_time(r, s, s->item.begin));
    else if (s->item.kind == FV_EV_IO)
        fv_files_tell(r, s);
    else if (s->item.kind == FV_EV_MEMORY)
        fv_memory_tell(r, s);
    else
        fv_threads_tell(r, s);
    if (s->item.kind == FV_EV_THREAD_END)
        s->section_set = 0;
}

/* What came before is not told, and is no pause where all that is told begins later. */
static void tell_ring_begin(struct fv_rank_replay *r, struct fv_stream *s)
{
    if (r->view->begin_ticks) {
        r->stats->before += s->missing;
        s->missing = 0;
    }
    if (r->view->begin_ticks && !r->view->from_ns) {
        measure(r, s, false, s->now);
        measure(r, s, true, fv_rank_time(r, s, s->item.begin));
    }
    if (s->section_set)
        tell_sections(r, s, s->section_set, fv_rank_time(r, s, s->item.begin));
}

static void tell(struct fv_rank_replay *r, struct fv_stream *s)
{
    if (r->view && fv_ring_is_before(r, s)) {
        fv_ring_skip(r, s);
        return;
    }
    if (r->view && !s->begun)
        tell_ring_begin(r, s);
    s->begun = true;
    if (s->missing) { /* where the file is damaged, nothing is known from the last call to this one */
        r->stats->lost += s->missing;
        s->missing = 0;
        fv_pendings_release(&s->orders);
        measure(r, s, false, s->now);
        if (s->item.kind == FV_EV_CALL || fv_event_is_of_thread(s->item.kind))
            measure(r, s, true, fv_rank_time(r, s, s->item.begin));
    }
    switch (s->item.kind) {
    case FV_EV_CALL:
        if (s->off) /* calls were lost; or another thread switched on again */
            measure(r, s, true, fv_rank_time(r, s, s->item.begin));
        tell_call(r, s);
        break;
    case FV_EV_PAUSE: measure(r, s, false, fv_rank_time(r, s, s->item.begin)); break;
    case FV_EV_RESUME:
        measure(r, s, false, s->now); /* unless the pause was here: from the start, or another thread's */
        measure(r, s, true, fv_rank_time(r, s, s->item.begin));
        break;
    case FV_EV_LOST:
        r->stats->lost += s->item.field[0];
        measure(r, s, false, s->now);
        break;
    default: /* a detail without its call was in a damaged part */
        if (!fv_event_is_of_thread(s->item.kind))
            break;
        tell_of_thread(r, s);
        break;
    }
}

/* A call that never returned: it is open from its begin to the last that is known of the rank. */
static void tell_open_call(struct fv_rank_replay *r, struct fv_stream *s, uint64_t end)
{
    uint32_t function = fv_numbers_get(&r->map->functions, s->in_call.function);

    if (!s->in_call.begin || function == FV_NONE || !r->is_open)
        return;
    s->begin = fv_rank_time(r, s, s->in_call.begin);
    s->begin = s->begin > s->now ? s->begin : s->now;
    s->end = end > s->begin ? end : s->begin;
    r->stats->open_calls++;
    if (s->off) /* calls before it are missing */
        measure(r, s, true, s->begin);
    uint32_t node = fv_numbers_get(&r->map->nodes, s->in_call.path);
    enter(r, s, function, node == FV_NONE ? 0 : node);
    fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_LEAVE, .ref = function }, end);
}

/* ---- the rank ---- */

/* Ticks may pass their largest value: they count from the rank's first, which all else is less than half the
 * range away from. */
static struct fv_heap_item next_of(const struct fv_rank_replay *r, const struct fv_stream *s)
{
    return (struct fv_heap_item){ s->item.end - r->rank->first_ticks + (UINT64_C(1) << 63), 0, s->slot };
}

static void begin_stream(struct fv_rank_replay *r, uint32_t slot)
{
    struct fv_stream *s = &r->streams[slot];

    s->slot = slot;
    s->thread = r->rank->threads[slot];
    r->locations[slot] = (struct fv_location_stats){ .location = fv_location(r->rank, slot) };
    r->failed = !r->sink->open(r->sink, slot, r->locations[slot].location);
    if (r->failed)
        return;
    s->order_comm = FV_NONE;
    s->now = fv_rank_time(r, s, r->rank->first_ticks);
    if (r->view && r->view->from_ns > s->now)
        s->now = r->view->from_ns;
    if (!slot)
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_PROGRAM_BEGIN, .ref = r->index }, s->now);
    fv_stream_open(r, s);
    if (s->loaded)
        fv_heap_push(&r->next, next_of(r, s));
}

struct fv_rank_replay *fv_replay_open(const struct fv_replay *replay, uint32_t rank, const struct fv_reader *reader,
                                      const struct fv_def_map *map, struct fv_sink *sink,
                                      struct fv_location_stats *locations, struct fv_replay_stats *stats)
{
    struct fv_rank_replay *r = fv_xcalloc(1, sizeof(*r));

    *r = (struct fv_rank_replay){ .replay = replay,
                                  .rank = &replay->defs->ranks[rank],
                                  .index = rank,
                                  .reader = reader,
                                  .map = map,
                                  .sink = sink,
                                  .locations = locations,
                                  .stats = stats,
                                  .line = &replay->clocks->lines[replay->clocks->of_rank[rank]],
                                  .view = replay->views ? &replay->views[rank] : NULL };
    fv_threads_open(r);
    r->is_open = !fv_state_is_end(r->rank->state);
    r->streams = fv_xcalloc(r->rank->thread_count, sizeof(*r->streams));
    for (uint32_t i = 0; i < r->rank->thread_count && !r->failed; i++)
        begin_stream(r, i);
    return r;
}

/* Where the file is damaged, nothing is known from the last call on. */
static void tell_missing_end(struct fv_rank_replay *r, struct fv_stream *s)
{
    uint64_t missing = r->rank->stop_ticks ? 0 : fv_stream_missing_at_end(r, s);

    if (!missing)
        return;
    r->stats->lost += missing;
    measure(r, s, false, s->now);
}

static void end_stream(struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_def_rank *rank = r->rank;
    uint64_t end = fv_rank_time(r, s, rank->last_ticks);

    if (!r->failed) {
        tell_missing_end(r, s);
        if (rank->stop_ticks) /* a call that is open began after it */
            measure(r, s, false, fv_rank_time(r, s, rank->stop_ticks));
        else if (s->in_call.begin)
            tell_open_call(r, s, end);
        else {
            fv_files_tell_open(r, s, end);
            fv_threads_tell_open(r, s, end);
        }
        fv_threads_close(r, s);
        fv_nested_leave(r, s, 0, rank->stop_ticks ? s->now : end);
        if (s->section_set) /* they are open until the rank's end */
            tell_sections(r, s, 0, end);
        if (fv_reader_header(r->reader)->paused_since && r->locations[s->slot].records)
            measure(r, s, false, s->now);
        if (!s->slot)
            fv_rank_put(
                r, s, &(struct fv_record){ .kind = FV_REC_PROGRAM_END, .id = (uint64_t)(int64_t)rank->exit_code }, end);
        r->failed = !r->sink->close(r->sink, s->slot) || r->failed;
    }
    fv_stream_release(s);
    fv_pendings_release(&s->orders);
    free(s->functions);
    free(s->teams);
    free(s->works);
}

bool fv_replay_close(struct fv_rank_replay *r)
{
    bool good;

    for (uint32_t i = 0; i < r->rank->thread_count; i++) {
        end_stream(r, &r->streams[i]);
        r->stats->records += r->locations[i].records;
    }
    r->stats->unfinished += r->pending.count;
    fv_pendings_release(&r->pending);
    fv_pendings_release(&r->uses);
    fv_rma_release(r);
    fv_io_release(r);
    fv_files_release(r);
    free(r->streams);
    fv_heap_release(&r->next);
    free(r->object_kinds);
    good = !r->failed;
    free(r);
    return good;
}

/* Tells what the thread does until some other is first. */
static void tell_thread(struct fv_rank_replay *r, struct fv_stream *s, uint64_t until_ns)
{
    struct fv_heap_item next;

    do {
        tell(r, s);
        fv_stream_load(r, s);
        next = next_of(r, s);
    } while (r->next.count == 1 && s->loaded && !r->failed && (until_ns == UINT64_MAX || s->until <= until_ns));
    if (s->loaded)
        fv_heap_replace(&r->next, next);
    else
        fv_heap_pop(&r->next);
}

bool fv_replay_until(struct fv_rank_replay *r, uint64_t time_ns)
{
    while (!r->failed && r->next.count) {
        struct fv_stream *s = &r->streams[r->next.items[0].number];

        if (s->until > time_ns)
            break;
        tell_thread(r, s, time_ns);
    }
    return !r->failed;
}

bool fv_replay_rank(const struct fv_replay *replay, uint32_t rank, const struct fv_reader *reader,
                    const struct fv_def_map *map, struct fv_sink *sink, struct fv_location_stats *locations,
                    struct fv_replay_stats *stats)
{
    struct fv_rank_replay *r = fv_replay_open(replay, rank, reader, map, sink, locations, stats);

    fv_replay_until(r, UINT64_MAX);
    return fv_replay_close(r);
}
