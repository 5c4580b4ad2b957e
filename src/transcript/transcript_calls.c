/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_state.h: statistics of calls, as src/rt keeps them. What a call completes that another posted goes to
 * a cell of the posting call. */
#include "transcript/transcript_state.h"
#include "merge/calls.h"

#include <stdlib.h>

/* ---- cells ---- */

struct cell_key {
    uint32_t path, comm;
    uint16_t function;
    uint8_t size_bucket, flags;
};
_Static_assert(offsetof(struct fv_cell, calls) == sizeof(struct cell_key), "a cell begins with its key");

static uint32_t cell_of(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t path, uint32_t comm,
                        uint32_t function, uint64_t bytes)
{
    size_t before = h->cell_count;
    uint32_t i = FV_INTERN(
        h->cell_index, h->cells, h->cell_count, h->cell_room,
        (struct cell_key){ path, comm, fv_transcript_function_id(t, function), (uint8_t)fv_log2_bucket(bytes), 0 });

    if (h->cell_count > before)
        h->cells[i].time_min = h->cells[i].size_min = UINT64_MAX;
    return i;
}

static void add_time(struct fv_cell *c, uint64_t ticks)
{
    unsigned __int128 squares = (unsigned __int128)c->square_high << 64 | c->square_low;
    unsigned bucket = fv_log2_bucket(ticks >> FV_TIME_SHIFT);

    squares += (unsigned __int128)ticks * ticks;
    c->square_low = (uint64_t)squares;
    c->square_high = (uint64_t)(squares >> 64);
    c->calls++;
    c->time_sum += ticks;
    c->time_min = ticks < c->time_min ? ticks : c->time_min;
    c->time_max = ticks > c->time_max ? ticks : c->time_max;
    c->time_histogram[bucket < FV_TIME_BUCKETS ? bucket : FV_TIME_BUCKETS - 1]++;
}

static void add_range(struct fv_cell *cell, const struct fv_transcript_moved *moved)
{
    if (moved->count) {
        fv_cell_add_size(cell, moved->min);
        fv_cell_add_size(cell, moved->max);
    }
}

static void add_sent(struct fv_cell *cell, const struct fv_transcript_moved *sent)
{
    cell->bytes_sent += sent->bytes;
    cell->sends += sent->count;
    add_range(cell, sent);
}

static void add_received(struct fv_cell *cell, const struct fv_transcript_moved *received)
{
    cell->bytes_received += received->bytes;
    cell->receives += received->count;
    add_range(cell, received);
}

/* The fold is not needed: the whole length is known before. */
static void add_to_bins(struct fv_transcript_thread *h, unsigned class, uint64_t begin, uint64_t end)
{
    struct fv_bin_bank *bank = &h->bins.bank;

    begin = begin > bank->origin ? begin : bank->origin;
    while (begin < end) {
        uint64_t bin = (begin - bank->origin) / bank->width, stop = bank->origin + (bin + 1) * bank->width;

        if (bin >= FV_BINS)
            return;
        stop = stop < end ? stop : end;
        bank->ticks[bin][class] += stop - begin;
        begin = stop;
    }
}

static void add_region(struct fv_transcript_thread *h, uint32_t cell)
{
    if (!h->last_end)
        return;
    struct fv_region_record *r =
        FV_INTERNED(h->region_index, h->regions, h->region_count, h->region_room, (uint32_t[]){ h->last_from, cell });

    r->count++;
    r->ticks += h->call.begin > h->last_end ? h->call.begin - h->last_end : 0;
}

/* ---- the call ---- */

void fv_transcript_enter(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                         uint64_t ticks)
{
    const char *name = t->merge->defs.functions[m->ref].name;

    h->call = (struct fv_transcript_call){ .function = m->ref, .node = m->context, .begin = ticks, .is_open = true };
    h->call.sent.min = h->call.received.min = UINT64_MAX;
    h->details.count = 0;
    fv_transcript_count_call(t, h, ticks, true);
    if (!strcmp(name, "MPI_Finalize"))
        t->header.finalize_ticks = ticks;
}

void fv_transcript_leave(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks)
{
    struct fv_transcript_call *c = &h->call;
    uint32_t path = fv_transcript_path(t, c->node);
    const char *name = t->merge->defs.functions[c->function].name;
    uint32_t at = cell_of(t, h, path, c->comm, c->function, c->sent.bytes ? c->sent.bytes : c->received.bytes);

    const uint32_t before = at;

    fv_transcript_files_mpi(t, h, ticks);
    fv_transcript_files_between(h, at);
    fv_transcript_count_call(t, h, ticks, false);
    add_time(&h->cells[at], ticks - c->begin);
    add_sent(&h->cells[at], &c->sent);
    add_region(h, at);
    if (c->is_collective && fv_transcript_is_logged(t, c->function))
        fv_bytes_put(&h->collectives, &(struct fv_coll_record){ c->begin, ticks, c->sequence, at << 3 | c->flags },
                     sizeof(struct fv_coll_record));
    add_to_bins(h, fv_transcript_class(t, c->function), c->begin, ticks);
    h->record.calls++;
    h->record.mpi_ticks += ticks - c->begin;
    h->record.mpi_bytes += c->sent.bytes + c->received.bytes;
    h->record.last = ticks;
    fv_transcript_event_call(t, h, fv_transcript_slot(t, h), ticks);
    if (c->received.count && c->sent.bytes) /* in the class of its own size */
        at = cell_of(t, h, path, c->comm, c->function, c->received.bytes);
    add_received(&h->cells[at], &c->received);
    h->last_from = FV_FROM_CELL | before;
    h->last_end = ticks;
    c->is_open = false;
    if (!strncmp(name, "MPI_Init", 8) && !t->header.init_ticks)
        t->header.init_ticks = ticks;
}

/* ---- what moved ---- */

void fv_transcript_note_moved(struct fv_transcript_moved *moved, uint64_t bytes)
{
    moved->bytes += bytes;
    moved->count++;
    moved->min = bytes < moved->min ? bytes : moved->min;
    moved->max = bytes > moved->max ? bytes : moved->max;
}

void fv_transcript_note_peer(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t comm, uint32_t peer,
                             uint64_t bytes)
{
    uint32_t world = fv_groups_peer(t->groups, comm, t->world, peer);

    if (world == FV_NONE)
        return;
    struct fv_peer_record *p =
        FV_INTERNED(h->peer_index, h->peers, h->peer_count, h->peer_room, (int32_t[]){ (int32_t)world, 0 });
    p->messages++;
    p->bytes += bytes;
}

static uint64_t as_posted(uint32_t value)
{
    return (uint64_t)(int64_t)(int32_t)value;
}

/* A number that the trace has not used; 0: it had one already. */
static struct fv_pending *post(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                               uint32_t comm)
{
    if (fv_pendings_find(&t->requests, m->id))
        return NULL;
    fv_pendings_add(&t->requests, &(struct fv_pending){ .number = m->id,
                                                        .sent = ++t->request_count,
                                                        .ref = comm,
                                                        .peer = fv_transcript_path(t, h->call.node),
                                                        .tag = h->call.function });
    return fv_pendings_find(&t->requests, m->id);
}

/* What moved by a request goes to the call that posted it. */
static void complete(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_pending *p, uint64_t sent,
                     uint64_t received)
{
    const struct fv_transcript_moved out = { sent, sent, sent, sent > 0 }, in = { received, received, received, 1 };
    uint32_t at; /* cells move when one is added */

    if (sent) {
        at = cell_of(t, h, p->peer, p->ref, p->tag, sent);
        add_sent(&h->cells[at], &out);
    }
    if (received || !sent) {
        at = cell_of(t, h, p->peer, p->ref, p->tag, received);
        add_received(&h->cells[at], &in);
    }
    h->record.mpi_bytes += sent + received;
}

static void message(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m)
{
    struct fv_transcript_call *c = &h->call;
    uint32_t comm = fv_transcript_comm(t, m->ref);
    struct fv_pending *p;

    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_SEND:
        c->comm = c->comm ? c->comm : comm;
        fv_transcript_note_moved(&c->sent, m->sent);
        fv_transcript_note_peer(t, h, m->ref, m->peer, m->sent);
        FV_TRANSCRIPT_DETAIL(h, SEND, comm, as_posted(m->peer), as_posted(m->tag), m->sent);
        break;
    case FV_REC_RECEIVE:
        c->comm = c->comm ? c->comm : comm;
        fv_transcript_note_moved(&c->received, m->received);
        FV_TRANSCRIPT_DETAIL(h, RECV, comm, as_posted(m->peer), as_posted(m->tag), m->received);
        break;
    case FV_REC_ISEND:
        c->comm = c->comm ? c->comm : comm;
        fv_transcript_note_moved(&c->sent, m->sent);
        fv_transcript_note_peer(t, h, m->ref, m->peer, m->sent);
        if ((p = post(t, h, m, comm)))
            FV_TRANSCRIPT_DETAIL(h, ISEND, p->sent, comm, as_posted(m->peer), as_posted(m->tag), m->sent);
        break;
    default: /* a posted receive */
        c->comm = c->comm ? c->comm : comm;
        if ((p = post(t, h, m, comm)))
            FV_TRANSCRIPT_DETAIL(h, IRECV, p->sent, comm, as_posted(m->peer), as_posted(m->tag));
    }
}

static void message_end(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m)
{
    struct fv_pending *p = fv_pendings_find(&t->requests, m->id);

    if (!p)
        return;
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_TEST: FV_TRANSCRIPT_DETAIL(h, TESTED, p->sent); return;
    case FV_REC_ISEND_END: FV_TRANSCRIPT_DETAIL(h, SENT, p->sent); break;
    case FV_REC_CANCEL: FV_TRANSCRIPT_DETAIL(h, CANCELLED, p->sent); break;
    default:
        complete(t, h, p, 0, m->received);
        FV_TRANSCRIPT_DETAIL(h, RECEIVED, p->sent, as_posted(m->peer), as_posted(m->tag), m->received);
    }
    fv_pendings_remove(&t->requests, p);
}

/* ---- collective operations ---- */

static uint64_t part(uint64_t bytes, uint64_t of)
{
    return of ? bytes / of : 0;
}

struct fv_volume fv_transcript_volume(const struct fv_record *m, uint32_t n, uint32_t rank, bool is_root)
{
    struct fv_volume v = { m->sent, m->received };

    switch ((enum fv_coll_op)m->op) {
    case FV_OP_BCAST:
        v.sent = part(v.sent, n);
        v.received = is_root ? 0 : v.received;
        break;
    case FV_OP_ALLGATHER:
    case FV_OP_ALLGATHERV: v.sent = part(v.sent, n); break;
    case FV_OP_ALLREDUCE:
        v.sent = part(v.sent, n);
        v.received = part(v.received, n);
        break;
    case FV_OP_REDUCE:
    case FV_OP_REDUCE_SCATTER:
    case FV_OP_REDUCE_SCATTER_BLOCK: v.received = part(v.received, n); break;
    case FV_OP_SCAN: v.sent = v.received = part(v.received, (uint64_t)rank + 1); break;
    case FV_OP_EXSCAN:
        v.received = part(v.received, rank);
        v.sent = rank ? v.received : part(v.sent, n > 1 ? n - 1 : 1);
        break;
    default: break;
    }
    return v;
}

static bool is_root_of(const struct fv_transcript *t, const struct fv_record *m)
{
    return m->peer == FV_PEER_SELF ||
           (!t->merge->defs.comms[m->ref].remote_size && m->peer == fv_groups_rank(t->groups, m->ref, t->world));
}

static struct fv_volume volume_of(const struct fv_transcript *t, const struct fv_record *m)
{
    const struct fv_def_comm *c = &t->merge->defs.comms[m->ref];
    uint32_t rank = fv_groups_rank(t->groups, m->ref, t->world);
    bool is_root = is_root_of(t, m);

    if (m->tag) /* of neighbours */
        return (struct fv_volume){ m->sent, m->received };
    return fv_transcript_volume(m, c->remote_size ? c->remote_size : c->size, rank == FV_NONE ? 0 : rank, is_root);
}

static uint64_t root_of(uint32_t root)
{
    int64_t r = root == FV_PEER_SELF   ? FV_ROOT_SELF
                : root == FV_PEER_OURS ? FV_ROOT_OTHERS
                : root == FV_PEER_NONE ? FV_ROOT_NONE
                                       : (int64_t)root;

    return (uint64_t)r;
}

static void collective(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m)
{
    uint32_t comm = fv_transcript_comm(t, m->ref);
    struct fv_volume v = volume_of(t, m);
    struct fv_pending *p = m->kind == FV_REC_ICOLL_END ? fv_pendings_find(&t->requests, m->id) : NULL;

    if (m->kind == FV_REC_COLL_END) {
        h->call.comm = h->call.comm ? h->call.comm : comm;
        if (v.sent)
            fv_transcript_note_moved(&h->call.sent, v.sent);
        if (v.received)
            fv_transcript_note_moved(&h->call.received, v.received);
        if (m->aux == FV_NONE)
            return;
        FV_TRANSCRIPT_DETAIL(h, COLLECTIVE, comm, root_of(m->peer), v.sent, v.received, m->aux);
        fv_transcript_count_collective(t, comm);
        h->call.is_collective = true;
        h->call.sequence = m->aux;
        h->call.flags = (is_root_of(t, m) ? FV_COLL_ROOT : 0u) | (v.sent ? FV_COLL_SENDS : 0u) |
                        (v.received ? FV_COLL_RECEIVES : 0u);
        return;
    }
    if (!p)
        return;
    p->ref = comm;
    if (v.sent || v.received)
        complete(t, h, p, v.sent, v.received);
    FV_TRANSCRIPT_DETAIL(h, DONE, p->sent);
    fv_pendings_remove(&t->requests, p);
}

/* Of a file of MPI: what is written counts as sent, what is read as received. */
static void file(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m)
{
    const struct fv_def_handle *f = &t->merge->defs.handles[m->ref];

    if (f->comm != FV_NONE && !h->call.comm)
        h->call.comm = fv_transcript_comm(t, f->comm);
    if (m->kind == FV_REC_IO_BEGIN) {
        h->call.reads = !(m->op & (FV_IO_WRITE | FV_IO_FLUSH));
        if (m->op & FV_IO_WRITE && m->sent != FV_IO_BYTES_UNKNOWN)
            fv_transcript_note_moved(&h->call.sent, m->sent);
    } else if (m->kind == FV_REC_IO_END && h->call.reads && m->sent != FV_IO_BYTES_UNKNOWN) {
        fv_transcript_note_moved(&h->call.received, m->sent);
    }
}

void fv_transcript_moved(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m)
{
    if (m->kind >= FV_REC_IO_OPEN && m->kind <= FV_REC_IO_LOCK)
        fv_transcript_files_done(t, h, m);
    if (!h->call.is_open)
        return;
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_SEND:
    case FV_REC_RECEIVE:
    case FV_REC_ISEND:
    case FV_REC_IRECEIVE: message(t, h, m); break;
    case FV_REC_ISEND_END:
    case FV_REC_IRECEIVE_END:
    case FV_REC_TEST:
    case FV_REC_CANCEL: message_end(t, h, m); break;
    case FV_REC_ICOLL_BEGIN: post(t, h, m, 0); break;
    case FV_REC_COLL_END:
    case FV_REC_ICOLL_END: collective(t, h, m); break;
    case FV_REC_IO_OPEN:
    case FV_REC_IO_CLOSE:
    case FV_REC_IO_BEGIN:
    case FV_REC_IO_END: file(t, h, m); break;
    default: break;
    }
}

/* ---- the end ---- */

void fv_transcript_statistics(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot)
{
    fv_transcript_chunk(t, FV_CHUNK_CELLS, slot, 0, h->cells, h->cell_count * sizeof(*h->cells));
    fv_transcript_chunk(t, FV_CHUNK_COLLECTIVES, slot, 0, h->collectives.data, h->collectives.count);
    fv_transcript_chunk(t, FV_CHUNK_REGIONS, slot, 0, h->regions, h->region_count * sizeof(*h->regions));
    fv_transcript_chunk(t, FV_CHUNK_PEERS, slot, 0, h->peers, h->peer_count * sizeof(*h->peers));
    fv_transcript_chunk(t, FV_CHUNK_SITES, slot, 0, h->sites, h->site_count * sizeof(*h->sites));
    fv_transcript_chunk(t, FV_CHUNK_TIME_BINS, slot, 0, &h->bins, sizeof(h->bins));
    fv_transcript_chunk(t, FV_CHUNK_THREADS, slot, 0, &h->record, sizeof(h->record));
    free(h->cells);
    free(h->regions);
    free(h->peers);
    free(h->sites);
    free(h->events.data);
    free(h->details.data);
    free(h->collectives.data);
    fv_index_release(&h->cell_index);
    fv_index_release(&h->region_index);
    fv_index_release(&h->peer_index);
    fv_index_release(&h->site_index);
}
