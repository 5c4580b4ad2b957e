/* See replay.h. A call becomes Enter, then what it began (sends, posted receives), then what it ended
 * (receives, completions), then Leave: what it began carries the time of its beginning, what it ended the
 * time of its end, as a reader that draws messages expects it. */
#include "merge/replay_state.h"
#include "merge/threads.h"

#include <stdlib.h>
#include <string.h>

/* ---- records ---- */

static inline void put(struct fv_rank_replay *r, struct fv_stream *s, struct fv_record *record, uint64_t time)
{
    struct fv_location_stats *l = &r->locations[s->slot];

    record->time_ns = time > s->now ? time : s->now;
    s->now = record->time_ns;
    if (!l->records) /* a matched probe is told, but no record of an archive */
        l->first_ns = record->time_ns;
    l->records += record->kind != FV_REC_MATCHED && record->kind != FV_REC_SECTIONS;
    l->last_ns = record->time_ns;
    if (!r->sink->put(r->sink, s->slot, record))
        r->failed = true;
}

void fv_rank_put(struct fv_rank_replay *r, struct fv_stream *s, struct fv_record record, uint64_t time)
{
    put(r, s, &record, time);
}

uint64_t fv_rank_time(struct fv_rank_replay *r, struct fv_stream *s, uint64_t ticks)
{
    int64_t ns = fv_clock_ns(r->line, ticks, &s->piece);

    return ns > 0 ? (uint64_t)ns : 0;
}

uint32_t fv_rank_lookup(const uint32_t *map, size_t count, uint64_t id)
{
    return id < count ? map[id] : FV_NONE;
}

static inline uint32_t comm_of(const struct fv_rank_replay *r, uint64_t id)
{
    return fv_rank_lookup(r->map->comms, r->map->comm_count, id);
}

/* ---- messages ---- */

static void begin_send(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    bool async = d->kind == FV_EV_ISEND;
    const uint64_t *f = d->field + async;
    uint32_t comm = comm_of(r, f[0]);

    if (comm == FV_NONE || (int64_t)f[1] < 0) {
        r->stats->no_comm += comm == FV_NONE;
        return;
    }
    fv_rank_put(r, s,
                (struct fv_record){ .kind = async ? FV_REC_ISEND : FV_REC_SEND,
                                    .ref = comm,
                                    .peer = (uint32_t)f[1],
                                    .tag = (uint32_t)f[2],
                                    .sent = f[3],
                                    .id = async ? d->field[0] : 0 },
                s->begin);
    if (async)
        fv_pendings_add(&r->pending, &(struct fv_pending){ .number = d->field[0], .kind = FV_PENDING_SEND });
}

static void begin_receive(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    uint32_t comm = comm_of(r, d->field[1]);

    if (comm == FV_NONE) {
        r->stats->no_comm++;
        return;
    }
    bool matched = d->kind == FV_EV_MATCHED;
    fv_pendings_add(&r->pending,
                    &(struct fv_pending){ .number = d->field[0],
                                          .ref = comm,
                                          .peer = (uint32_t)d->field[2],
                                          .tag = (uint32_t)d->field[3],
                                          .kind = matched ? FV_PENDING_MATCHED : FV_PENDING_RECEIVE });
    fv_rank_put(r, s,
                (struct fv_record){ .kind = matched ? FV_REC_MATCHED : FV_REC_IRECEIVE,
                                    .ref = comm,
                                    .peer = (uint32_t)d->field[2],
                                    .tag = (uint32_t)d->field[3],
                                    .id = d->field[0] },
                s->begin);
}

static void end_receive(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    uint32_t comm = comm_of(r, d->field[0]);

    if (comm == FV_NONE || (int64_t)d->field[1] < 0) {
        r->stats->no_comm += comm == FV_NONE;
        return;
    }
    fv_rank_put(r, s,
                (struct fv_record){ .kind = FV_REC_RECEIVE,
                                    .ref = comm,
                                    .peer = (uint32_t)d->field[1],
                                    .tag = (uint32_t)d->field[2],
                                    .received = d->field[3] },
                s->end);
}

static struct fv_pending *take_pending(struct fv_rank_replay *r, uint64_t number)
{
    struct fv_pending *p = fv_pendings_find(&r->pending, number);

    if (!p)
        r->stats->no_begin++;
    return p;
}

static void end_posted_receive(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    struct fv_pending *p = take_pending(r, d->field[0]);

    if (!p || p->kind != FV_PENDING_RECEIVE)
        return;
    struct fv_record record = { .ref = p->ref, .id = p->number };
    fv_pendings_remove(&r->pending, p);
    if ((int64_t)d->field[1] < 0) { /* from nobody: the receive ends without a message */
        record.kind = FV_REC_CANCEL;
        fv_rank_put(r, s, record, s->end);
        return;
    }
    record.kind = FV_REC_IRECEIVE_END;
    record.peer = (uint32_t)d->field[1];
    record.tag = (uint32_t)d->field[2];
    record.received = d->field[3];
    fv_rank_put(r, s, record, s->end);
}

static void end_matched(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    struct fv_pending *p = take_pending(r, d->field[0]);

    if (!p)
        return;
    struct fv_record record = {
        .kind = FV_REC_RECEIVE, .ref = p->ref, .peer = p->peer, .tag = p->tag, .received = d->field[1], .id = p->number
    };
    fv_pendings_remove(&r->pending, p);
    fv_rank_put(r, s, record, s->end);
}

static void end_request(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    struct fv_pending *p = take_pending(r, d->field[0]);

    if (!p)
        return;
    uint8_t kind = p->kind;
    struct fv_record record = {
        .id = p->number, .ref = p->ref, .peer = p->peer, .tag = p->tag, .op = d->kind == FV_EV_FREED
    };
    if (d->kind == FV_EV_TESTED) {
        if (kind == FV_PENDING_SEND || kind == FV_PENDING_RECEIVE) {
            record.kind = FV_REC_TEST;
            fv_rank_put(r, s, record, s->end);
        }
        return;
    }
    fv_pendings_remove(&r->pending, p);
    if (kind == FV_PENDING_SEND)
        record.kind = d->kind == FV_EV_CANCELLED ? FV_REC_CANCEL : FV_REC_ISEND_END;
    else if (kind == FV_PENDING_RECEIVE)
        record.kind = FV_REC_CANCEL;
    else
        return;
    fv_rank_put(r, s, record, s->end);
}

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
    uint32_t comm = comm_of(r, field[0]);

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
    uint32_t rank = (uint32_t)r->map->comm_ranks[field[0]];
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
                                               const struct fv_detail *d)
{
    const struct fv_detail *next = d + 1;

    if (next == s->details + s->detail_count || next->kind != FV_EV_OPERATION ||
        next->field[0] != d->field[0])
        return s->info;
    uint32_t function = fv_rank_lookup(r->map->functions, r->map->function_count, next->field[1]);
    return function == FV_NONE ? s->info : &r->replay->calls[function];
}

static void begin_collective(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    struct fv_record record;

    const struct fv_call_info *info = operation_of(r, s, d);
    if (info->op == FV_OP_NONE) { /* a persistent one that was made while recording was paused */
        r->stats->no_op++;
        return;
    }
    if (!fill_collective(r, info, d->field + 1, &record))
        return;
    fv_pendings_add(&r->pending, &(struct fv_pending){ .number = d->field[0],
                                                       .kind = FV_PENDING_COLLECTIVE,
                                                       .op = record.op,
                                                       .ref = record.ref,
                                                       .peer = record.peer,
                                                       .tag = record.aux,
                                                       .neighbour = record.tag,
                                                       .sent = record.sent,
                                                       .received = record.received });
    fv_rank_put(r, s, (struct fv_record){ .kind = FV_REC_ICOLL_BEGIN, .id = d->field[0] }, s->begin);
}

static void end_operation(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    struct fv_pending *p = take_pending(r, d->field[0]);

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
                                .id = was.number };
    if (was.kind == FV_PENDING_RMA)
        fv_rma_done(r, s, &was);
    else if (was.kind == FV_PENDING_IO)
        fv_io_done(r, s, &was);
    else if (was.kind == FV_PENDING_COLLECTIVE)
        fv_rank_put(r, s, record, s->end);
}

static void comm_event(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    uint32_t comm = comm_of(r, d->field[0]);

    if (comm != FV_NONE && fv_def_comm_is_seen(&r->replay->defs->comms[comm]))
        fv_rank_put(
            r, s,
            (struct fv_record){ .kind = d->kind == FV_EV_COMM_NEW ? FV_REC_COMM_CREATE : FV_REC_COMM_DESTROY,
                                .ref = comm },
            s->end);
}

/* Communicators come and go inside of a collective operation: of the parent, or of those that go. */
static uint32_t parent_of(const struct fv_rank_replay *r, uint32_t comm, bool is_new)
{
    const struct fv_defs *d = r->replay->defs;

    for (uint32_t i = 0; is_new && i < d->comm_count; i++)
        if (d->comms[i].uid == d->comms[comm].parent && d->comms[i].owner == FV_NOBODY)
            return i;
    return comm;
}

/* What stands around the details of a call: an operation on a window, on a communicator, or nothing. */
static void choose_frame(struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_detail *made = NULL, *collective = NULL;

    s->frame = (struct fv_record){ .kind = FV_REC_COUNT };
    for (size_t i = 0; i < s->detail_count; i++) {
        const struct fv_detail *d = &s->details[i];

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
        if (made && s->frame.op == FV_OP_BARRIER)
            s->frame.op = made->kind == FV_EV_COMM_NEW ? FV_OP_CREATE_HANDLE : FV_OP_DESTROY_HANDLE;
    } else if (made && comm_of(r, made->field[0]) != FV_NONE) {
        uint32_t comm = comm_of(r, made->field[0]);
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

static void tell_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    switch (d->kind) {
    case FV_EV_SEND:
    case FV_EV_ISEND: begin_send(r, s, d); break;
    case FV_EV_IRECV:
    case FV_EV_MATCHED: begin_receive(r, s, d); break;
    case FV_EV_ICOLLECTIVE: begin_collective(r, s, d); break;
    case FV_EV_PUT:
    case FV_EV_GET:
    case FV_EV_ATOMIC: fv_rma_begin(r, s, d); break;
    case FV_EV_READ:
    case FV_EV_WRITE: fv_io_begin(r, s, d); break;
    default: break;
    }
}

static void tell_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_detail *d)
{
    switch (d->kind) {
    case FV_EV_RECV: end_receive(r, s, d); break;
    case FV_EV_RECEIVED: end_posted_receive(r, s, d); break;
    case FV_EV_MRECV: end_matched(r, s, d); break;
    case FV_EV_SENT:
    case FV_EV_CANCELLED:
    case FV_EV_FREED:
    case FV_EV_TESTED: end_request(r, s, d); break;
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
}

static void enter(struct fv_rank_replay *r, struct fv_stream *s, uint32_t function, uint64_t path)
{
    uint32_t node = fv_rank_lookup(r->map->nodes, r->map->node_count, path);

    fv_rank_put(
        r, s,
        (struct fv_record){
            .kind = FV_REC_ENTER, .ref = function, .context = node == FV_NONE ? 0 : node, .id = s->end },
        s->begin);
}

static void tell_call(struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_site_record *site = s->site < s->site_count ? &s->sites[s->site] : NULL;
    uint32_t function =
        site ? fv_rank_lookup(r->map->functions, r->map->function_count, site->function) : FV_NONE;

    if (function == FV_NONE) {
        r->stats->lost++;
        return;
    }
    s->info = &r->replay->calls[function];
    s->begin = fv_rank_time(r, s, s->begin_ticks);
    s->begin = s->begin > s->now ? s->begin : s->now;
    s->end = fv_rank_time(r, s, s->end_ticks);
    s->end = s->end > s->begin ? s->end : s->begin;
    r->stats->calls++;
    enter(r, s, function, site->path);
    if (s->detail_count) {
        choose_frame(r, s);
        if (s->frame.kind != FV_REC_COUNT) /* the begin stands right before the end in the enumeration */
            fv_rank_put(r, s, (struct fv_record){ .kind = (uint8_t)(s->frame.kind - 1) }, s->begin);
        for (size_t i = 0; i < s->detail_count; i++)
            tell_begin(r, s, &s->details[i]);
        for (size_t i = 0; i < s->detail_count; i++)
            tell_end(r, s, &s->details[i]);
        fv_rma_end_call(r, s);
        if (s->frame.kind != FV_REC_COUNT)
            put(r, s, &s->frame, s->end);
    }
    fv_rank_put(r, s, (struct fv_record){ .kind = FV_REC_LEAVE, .ref = function }, s->end);
}

static void measure(struct fv_rank_replay *r, struct fv_stream *s, bool on, uint64_t time)
{
    if (s->off != !on)
        fv_rank_put(r, s, (struct fv_record){ .kind = FV_REC_MEASURE, .op = on }, time);
    r->locations[s->slot].gaps += !on && !s->off;
    s->off = !on;
}

static void tell_sections(struct fv_rank_replay *r, struct fv_stream *s, uint64_t set, uint64_t time)
{
    s->section_set = set;
    fv_rank_put(r, s, (struct fv_record){ .kind = FV_REC_SECTIONS, .id = set }, time);
}

/* ---- streams ---- */

/* The next event of the thread, over its chunks. */
static bool next_event(struct fv_rank_replay *r, struct fv_stream *s)
{
    while (!fv_event_next(&s->cursor, &s->ahead)) {
        if (s->cursor.damaged)
            r->stats->damaged++;
        s->cursor.damaged = false;
        if (s->next_chunk == s->chunk_count)
            return s->has_ahead = false;
        if (s->next_chunk)
            fv_reader_forget(r->reader, s->chunks[s->next_chunk - 1]);
        const struct fv_chunk *chunk = s->chunks[s->next_chunk++];
        if (chunk->first < s->calls) /* met before, compressed */
            continue;
        s->cursor = fv_reader_events(r->reader, chunk, &s->unpacked);
        if (chunk->first > s->calls) { /* a damaged part of the file */
            s->missing_ahead += chunk->first - s->calls;
            s->calls = chunk->first;
        }
        if (r->replay->progress)
            r->replay->progress(r->replay->progress_context, chunk->used);
    }
    return s->has_ahead = true;
}

static void add_detail(struct fv_stream *s)
{
    FV_GROW(s->details, s->detail_room, s->detail_count + 1);
    s->details[s->detail_count].kind = s->ahead.kind;
    memcpy(s->details[s->detail_count].field, s->ahead.field, sizeof(s->ahead.field));
    s->detail_count++;
}

/* Takes a call with its details, or what stands between calls. False: the thread has no more. */
static bool load(struct fv_rank_replay *r, struct fv_stream *s)
{
    s->detail_count = 0;
    s->missing = s->missing_ahead;
    s->missing_ahead = 0;
    if (!s->has_ahead)
        return false;
    s->item = s->ahead.kind;
    s->site = s->ahead.field[0];
    s->begin_ticks = s->ahead.begin;
    s->end_ticks = s->ahead.end;
    memcpy(s->field, s->ahead.field, sizeof(s->field));
    s->calls += s->item == FV_EV_CALL || fv_event_is_of_thread(s->item); /* before looking ahead, maybe into the next chunk, which counts it */
    next_event(r, s);
    if (s->item != FV_EV_CALL)
        return true;
    while (s->has_ahead && s->ahead.kind != FV_EV_CALL && s->ahead.kind != FV_EV_PAUSE &&
           s->ahead.kind != FV_EV_RESUME && s->ahead.kind != FV_EV_LOST &&
           !fv_event_is_of_thread(s->ahead.kind)) {
        add_detail(s);
        next_event(r, s);
    }
    return true;
}

static void tell(struct fv_rank_replay *r, struct fv_stream *s)
{
    if (s->missing) { /* where the file is damaged, nothing is known from the last call to this one */
        r->stats->lost += s->missing;
        s->missing = 0;
        measure(r, s, false, s->now);
        if (s->item == FV_EV_CALL || fv_event_is_of_thread(s->item))
            measure(r, s, true, fv_rank_time(r, s, s->begin_ticks));
    }
    switch (s->item) {
    case FV_EV_CALL:
        if (s->off) /* calls were lost; or another thread switched on again */
            measure(r, s, true, fv_rank_time(r, s, s->begin_ticks));
        tell_call(r, s);
        break;
    case FV_EV_PAUSE: measure(r, s, false, fv_rank_time(r, s, s->begin_ticks)); break;
    case FV_EV_RESUME:
        measure(r, s, false, s->now); /* unless the pause was here: from the start, or another thread's */
        measure(r, s, true, fv_rank_time(r, s, s->begin_ticks));
        break;
    case FV_EV_LOST:
        r->stats->lost += s->site;
        measure(r, s, false, s->now);
        break;
    default: /* a detail without its call was in a damaged part */
        if (!fv_event_is_of_thread(s->item))
            break;
        if (s->off && !fv_threads_is_end(s)) /* as for calls */
            measure(r, s, true, fv_rank_time(r, s, s->begin_ticks));
        if (s->item == FV_EV_SECTIONS)
            tell_sections(r, s, s->field[1], fv_rank_time(r, s, s->begin_ticks));
        else
            fv_threads_tell(r, s);
        break;
    }
}

static int by_first(const void *a, const void *b)
{
    const struct fv_chunk *x = *(const struct fv_chunk *const *)a, *y = *(const struct fv_chunk *const *)b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void find_chunks(struct fv_stream *s, const struct fv_reader *reader)
{
    size_t count, room = 0;
    const struct fv_chunk *all = fv_reader_chunks(reader, &count);

    for (size_t i = 0; i < count; i++) {
        if (all[i].thread != s->thread || !fv_chunk_has_events(&all[i]))
            continue;
        s->chunks = fv_grow(s->chunks, &room, s->chunk_count + 1, sizeof(*s->chunks));
        s->chunks[s->chunk_count++] = &all[i];
    }
    if (s->chunk_count)
        qsort(s->chunks, s->chunk_count, sizeof(*s->chunks), by_first);
}

static void find_sites(struct fv_stream *s, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SITES);
    size_t room = 0;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != s->thread)
            continue;
        if (c.index >= s->site_count) {
            s->sites = fv_grow(s->sites, &room, c.index + 1, sizeof(*s->sites));
            memset(s->sites + s->site_count, 0xff, (c.index + 1 - s->site_count) * sizeof(*s->sites));
            s->site_count = c.index + 1;
        }
        memcpy(&s->sites[c.index], p, sizeof(*s->sites));
    }
}

static void find_in_call(struct fv_stream *s, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.id == s->thread)
            s->in_call = t.in_call;
    }
}

/* A call that never returned: it is open from its begin to the last that is known of the rank. */
static void tell_open_call(struct fv_rank_replay *r, struct fv_stream *s, uint64_t end)
{
    uint32_t function = fv_rank_lookup(r->map->functions, r->map->function_count, s->in_call.function);

    if (!s->in_call.begin || function == FV_NONE || !r->is_open)
        return;
    s->begin = fv_rank_time(r, s, s->in_call.begin);
    s->begin = s->begin > s->now ? s->begin : s->now;
    s->end = end > s->begin ? end : s->begin;
    r->stats->open_calls++;
    enter(r, s, function, s->in_call.path);
    fv_rank_put(r, s, (struct fv_record){ .kind = FV_REC_LEAVE, .ref = function }, end);
}

/* ---- the rank ---- */

static void begin_stream(struct fv_rank_replay *r, uint32_t slot)
{
    struct fv_stream *s = &r->streams[slot];

    s->slot = slot;
    s->thread = r->rank->threads[slot];
    find_chunks(s, r->reader);
    find_sites(s, r->reader);
    find_in_call(s, r->reader);
    r->locations[slot] = (struct fv_location_stats){ .location = fv_location(r->rank, slot) };
    r->failed = !r->sink->open(r->sink, slot, r->locations[slot].location);
    if (r->failed)
        return;
    if (!slot)
        fv_rank_put(r, s, (struct fv_record){ .kind = FV_REC_PROGRAM_BEGIN, .ref = r->index },
                    fv_rank_time(r, s, r->rank->first_ticks));
    next_event(r, s);
    s->loaded = load(r, s);
}

struct fv_rank_replay *fv_replay_open(const struct fv_replay *replay, uint32_t rank,
                                      const struct fv_reader *reader, const struct fv_def_map *map,
                                      struct fv_sink *sink, struct fv_location_stats *locations,
                                      struct fv_replay_stats *stats)
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
                                  .first_object = fv_threads_first_object(replay->defs, rank),
                                  .line = &replay->clocks->lines[replay->clocks->of_rank[rank]] };
    fv_threads_open(r);
    r->is_open = r->rank->state != FV_STATE_FINALIZED && r->rank->state != FV_STATE_EXITED;
    r->streams = fv_xcalloc(r->rank->thread_count, sizeof(*r->streams));
    for (uint32_t i = 0; i < r->rank->thread_count && !r->failed; i++)
        begin_stream(r, i);
    return r;
}

static void end_stream(struct fv_rank_replay *r, struct fv_stream *s)
{
    const struct fv_def_rank *rank = r->rank;
    uint64_t end = fv_rank_time(r, s, rank->last_ticks);

    if (!r->failed) {
        if (rank->stop_ticks) /* a call that is open began after it */
            measure(r, s, false, fv_rank_time(r, s, rank->stop_ticks));
        else if (s->in_call.begin)
            tell_open_call(r, s, end);
        else
            fv_threads_tell_open(r, s, end);
        fv_threads_close(r, s);
        if (s->section_set) /* they are open until the rank's end */
            tell_sections(r, s, 0, end);
        if (fv_reader_header(r->reader)->paused_since && r->locations[s->slot].records)
            measure(r, s, false, s->now);
        if (!s->slot)
            fv_rank_put(
                r, s,
                (struct fv_record){ .kind = FV_REC_PROGRAM_END, .id = (uint64_t)(int64_t)rank->exit_code },
                end);
        r->failed = !r->sink->close(r->sink, s->slot) || r->failed;
    }
    free(s->chunks);
    fv_unpacked_release(&s->unpacked);
    free(s->sites);
    free(s->details);
    free(s->teams);
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
    fv_rma_release(r);
    fv_io_release(r);
    free(r->streams);
    free(r->object_kinds);
    good = !r->failed;
    free(r);
    return good;
}

/* The thread whose next call ended first. */
static struct fv_stream *earliest(struct fv_rank_replay *r)
{
    struct fv_stream *first = NULL;

    for (uint32_t i = 0; i < r->rank->thread_count; i++) {
        struct fv_stream *s = &r->streams[i];

        if (s->loaded && (!first || (int64_t)(s->end_ticks - first->end_ticks) < 0))
            first = s;
    }
    return first;
}

bool fv_replay_until(struct fv_rank_replay *r, uint64_t time_ns)
{
    struct fv_stream *s;

    while (!r->failed && (s = earliest(r)) && fv_rank_time(r, s, s->end_ticks) <= time_ns) {
        do {
            tell(r, s);
            s->loaded = load(r, s);
        } while (r->rank->thread_count == 1 && s->loaded && !r->failed &&
                 (time_ns == UINT64_MAX || fv_rank_time(r, s, s->end_ticks) <= time_ns));
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
