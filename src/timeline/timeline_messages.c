/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: sends and receives of one communicator, pair of ranks and tag match in the order in which they
 * were begun. They are matched as soon as both ranks were taken; until then, and until all are put in order, they are
 * packed: of 10^8 events all at once were 2 GiB. */
#include "timeline/timeline_state.h"
#include "tool/heap.h"
#include "tool/runs.h"

#include <stdlib.h>

/* ---- ends of the rank at hand ---- */

static void add(struct fv_timeline_writer *w, uint32_t row, const struct fv_record *r, bool is_send, uint64_t order)
{
    const uint32_t own = w->rows[row].rank;

    if (r->peer == FV_NONE || fv_groups_rank(&w->groups, r->ref, own) == FV_NONE)
        return;
    const uint32_t peer = fv_groups_peer(&w->groups, r->ref, own, r->peer);
    w->header.unmatched++; /* for now */
    if (peer == FV_NONE)
        return;
    struct fv_timeline_channel *c =
        FV_INTERNED(w->channel_index, w->channels, w->channel_count, w->channel_room,
                    (uint32_t[]){ r->ref, is_send ? own : peer, is_send ? peer : own, r->tag });
    FV_GROW(w->ends, w->end_room, w->end_count + 1);
    w->ends[w->end_count++] = (struct fv_timeline_end){ .channel = (uint32_t)(c - w->channels),
                                                        .is_send = is_send,
                                                        .order = order,
                                                        .ns = r->time_ns,
                                                        .bytes = is_send ? r->sent : r->received,
                                                        .row = row };
}

void fv_timeline_message_record(struct fv_timeline_writer *w, uint32_t row, const struct fv_record *r)
{
    struct fv_pending *p;

    switch ((enum fv_record_kind)r->kind) {
    case FV_REC_SEND:
    case FV_REC_ISEND: add(w, row, r, true, w->order++); break;
    case FV_REC_RECEIVE: add(w, row, r, false, w->order++); break;
    case FV_REC_IRECEIVE:
        if (!fv_pendings_find(&w->posted, r->id + 1))
            fv_pendings_add(&w->posted, &(struct fv_pending){ .number = r->id + 1, .sent = w->order++ });
        break;
    case FV_REC_IRECEIVE_END:
        p = fv_pendings_find(&w->posted, r->id + 1);
        add(w, row, r, false, p ? p->sent : w->order++);
        if (p)
            fv_pendings_remove(&w->posted, p);
        break;
    case FV_REC_CANCEL:
        if ((p = fv_pendings_find(&w->posted, r->id + 1)))
            fv_pendings_remove(&w->posted, p);
        break;
    default: break;
    }
}

/* ---- both ends ---- */

/* One end of messages of a channel, in their order, that wait for the other end: of each, packed, its ns from that of
 * the one before, zigzag; bytes; row. */
static void wait_for_other(struct fv_timeline_channel *c, const struct fv_timeline_end *e)
{
    c->is_send = e->is_send;
    fv_bytes_varint(&c->ends, fv_zigzag((int64_t)(e->ns - c->last_ns)));
    fv_bytes_varint(&c->ends, e->bytes);
    fv_bytes_varint(&c->ends, e->row);
    c->last_ns = e->ns;
    c->waiting++;
}

static struct fv_timeline_end take_waiting(struct fv_timeline_channel *c)
{
    struct fv_bytes_reader in = { c->ends.data + c->taken, c->ends.data + c->ends.count, false };
    struct fv_timeline_end e = { .is_send = c->is_send };

    e.ns = c->taken_ns += (uint64_t)fv_unzigzag(fv_bytes_take_varint(&in));
    e.bytes = fv_bytes_take_varint(&in);
    e.row = (uint32_t)fv_bytes_take_varint(&in);
    c->taken = (size_t)(in.at - c->ends.data);
    if (!--c->waiting) {
        free(c->ends.data);
        c->ends = (struct fv_bytes){ 0 };
        c->taken = 0;
        c->taken_ns = c->last_ns = 0;
    }
    return e;
}

/* The message that it is an end of is known, or will be. */
static void match(struct fv_timeline_writer *w, struct fv_timeline_channel *c, const struct fv_timeline_end *e)
{
    if (!c->waiting || c->is_send == e->is_send) {
        wait_for_other(c, e);
        return;
    }
    const struct fv_timeline_end other = take_waiting(c), *send = e->is_send ? e : &other;
    const struct fv_timeline_end *receive = e->is_send ? &other : e;

    w->header.unmatched -= 2;
    FV_GROW(w->messages, w->message_room, w->message_count + 1);
    w->messages[w->message_count++] =
        (struct fv_timeline_message){ send->ns,     receive->ns, receive->bytes, send->row,
                                      receive->row, c->key[3],   c->key[0] };
}

/* In the order in which they were begun, sends first: a rank may send to itself. */
static bool is_begun_before(const void *a, const void *b)
{
    const struct fv_timeline_end *x = a, *y = b;

    return x->is_send != y->is_send ? x->is_send : x->order < y->order;
}

/* Each rank's come in the order in which they are sent. */
static bool is_sent_before(const void *a, const void *b)
{
    const struct fv_timeline_message *x = a, *y = b;

    return x->sent_ns != y->sent_ns           ? x->sent_ns < y->sent_ns
           : x->from != y->from               ? x->from < y->from
           : x->received_ns != y->received_ns ? x->received_ns < y->received_ns
           : x->to != y->to                   ? x->to < y->to
           : x->tag != y->tag                 ? x->tag < y->tag
                                              : x->comm < y->comm;
}

/* Messages in the order in which they are sent, packed as the file's columns have them. */
static void pack_messages(struct fv_timeline_writer *w)
{
    struct fv_timeline_run run = { .count = w->message_count };
    uint64_t before = 0;

    if (!w->message_count)
        return;
    w->messages = fv_runs_sort(w->messages, w->message_count, w->message_room, sizeof(*w->messages), is_sent_before);
    for (size_t i = 0; i < w->message_count; before = w->messages[i++].sent_ns) {
        uint64_t numbers[FV_TIMELINE_MESSAGE_COLUMNS];

        fv_timeline_message_numbers(&w->messages[i], before, numbers);
        for (unsigned k = 0; k < FV_TIMELINE_MESSAGE_COLUMNS; k++)
            fv_bytes_varint(&run.bytes, numbers[k]);
    }
    run.bytes.data = fv_xrealloc(run.bytes.data, run.bytes.count, 1);
    w->message_count = 0;
    FV_GROW(w->runs, w->run_room, w->run_count + 1);
    w->runs[w->run_count++] = run;
}

void fv_timeline_match(struct fv_timeline_writer *w)
{
    fv_pendings_release(&w->posted);
    w->ends = fv_runs_sort(w->ends, w->end_count, w->end_room, sizeof(*w->ends), is_begun_before);
    for (size_t i = 0; i < w->end_count; i++)
        match(w, &w->channels[w->ends[i].channel], &w->ends[i]);
    w->end_count = 0;
    pack_messages(w);
}

void fv_timeline_release_messages(struct fv_timeline_writer *w)
{
    for (size_t i = 0; i < w->channel_count; i++)
        free(w->channels[i].ends.data);
    for (size_t i = 0; i < w->run_count; i++)
        free(w->runs[i].bytes.data);
    free(w->channels);
    fv_index_release(&w->channel_index);
    free(w->runs);
    free(w->ends);
    free(w->messages);
    fv_pendings_release(&w->posted);
}

/* ---- of several processes ---- */

void fv_timeline_send_messages(struct fv_timeline_writer *w)
{
    const struct fv_transport *t = w->merge->transport;
    struct fv_bytes runs = { 0 }, waiting = { 0 };

    for (size_t i = 0; i < w->run_count; i++)
        fv_bytes_number(&runs, w->runs[i].count);
    fv_transport_put(t, 0, &runs);
    for (size_t i = 0; i < w->run_count; i++)
        fv_transport_put(t, 0, &w->runs[i].bytes);
    for (size_t i = 0; i < w->channel_count; i++) {
        struct fv_timeline_channel *c = &w->channels[i];

        for (uint32_t left = c->waiting; left; left--) {
            const struct fv_timeline_end e = take_waiting(c);

            fv_bytes_put(&waiting, c->key, sizeof(c->key));
            fv_bytes_put(&waiting, &e, sizeof(e));
        }
    }
    fv_transport_put(t, 0, &waiting);
    free(runs.data);
    free(waiting.data);
}

void fv_timeline_take_messages(struct fv_timeline_writer *w, int from)
{
    const struct fv_transport *t = w->merge->transport;
    struct fv_bytes runs = { 0 }, waiting = { 0 };
    uint32_t key[4];
    struct fv_timeline_end e;

    fv_transport_get(t, from, &runs);
    for (size_t i = 0; i < runs.count / sizeof(uint64_t); i++) {
        struct fv_timeline_run run = { .count = ((const uint64_t *)(const void *)runs.data)[i] };

        fv_transport_get(t, from, &run.bytes);
        FV_GROW(w->runs, w->run_room, w->run_count + 1);
        w->runs[w->run_count++] = run;
    }
    fv_transport_get(t, from, &waiting);
    struct fv_bytes_reader in = { waiting.data, waiting.data + waiting.count, false };
    while (in.at < in.stop) {
        fv_bytes_get(&in, key, sizeof(key));
        fv_bytes_get(&in, &e, sizeof(e));
        match(w,
              FV_INTERNED(w->channel_index, w->channels, w->channel_count, w->channel_room,
                          (uint32_t[]){ key[0], key[1], key[2], key[3] }),
              &e);
    }
    pack_messages(w);
    free(runs.data);
    free(waiting.data);
}

/* ---- the file ---- */

#define BLOCK 1024 /* messages */

static struct fv_timeline_message_block put_messages(struct fv_timeline_writer *w, const struct fv_timeline_message *m,
                                                     size_t count)
{
    struct fv_timeline_message_block out = { .begin_ns = m->sent_ns, .first_received_ns = UINT64_MAX };
    uint64_t before = m->sent_ns;

    for (size_t i = 0; i < count; before = m[i++].sent_ns) {
        uint64_t numbers[FV_TIMELINE_MESSAGE_COLUMNS];

        fv_timeline_message_numbers(&m[i], before, numbers);
        for (unsigned k = 0; k < FV_TIMELINE_MESSAGE_COLUMNS; k++)
            fv_bytes_number(&w->packer.columns[k], numbers[k]);
        if (m[i].received_ns < out.first_received_ns)
            out.first_received_ns = m[i].received_ns;
        out.end_ns = m[i].received_ns > out.end_ns ? m[i].received_ns : out.end_ns;
    }
    out.block =
        fv_timeline_put_block(w, fv_timeline_put, FV_TIMELINE_MESSAGE_COLUMNS, FV_TIMELINE_MESSAGE_COLUMNS, count);
    return out;
}

/* All runs as one. */
struct merging {
    struct fv_heap heap; /* of runs, by the time that their next message is sent */
    struct fv_timeline_run *runs;
    struct fv_bytes_reader *in; /* of each run */
    struct fv_timeline_message *next;
    struct fv_timeline_message *tied; /* that are sent at the same time, of all runs */
    size_t tied_count, tied_room, tied_at;
};

static void read_next(struct merging *m, size_t run)
{
    uint64_t numbers[FV_TIMELINE_MESSAGE_COLUMNS];

    for (unsigned i = 0; i < FV_TIMELINE_MESSAGE_COLUMNS; i++)
        numbers[i] = fv_bytes_take_varint(&m->in[run]);
    m->next[run] = fv_timeline_message_of(numbers, m->next[run].sent_ns);
    m->runs[run].count--;
}

static struct fv_heap_item item_of(const struct merging *m, uint32_t run)
{
    return (struct fv_heap_item){ .time = m->next[run].sent_ns, .number = run };
}

static struct fv_timeline_message take_of_run(struct merging *m)
{
    const uint32_t run = m->heap.items[0].number;
    const struct fv_timeline_message first = m->next[run];

    if (m->runs[run].count) {
        read_next(m, run);
        fv_heap_replace(&m->heap, item_of(m, run));
    } else {
        fv_heap_pop(&m->heap);
    }
    return first;
}

/* Those that are sent at the same time stand in one order, whatever runs they are in. */
static struct fv_timeline_message take_first(struct merging *m)
{
    if (m->tied_at == m->tied_count) {
        m->tied_at = m->tied_count = 0;
        do {
            FV_GROW(m->tied, m->tied_room, m->tied_count + 1);
            m->tied[m->tied_count++] = take_of_run(m);
        } while (m->heap.count && m->heap.items[0].time == m->tied[0].sent_ns);
        m->tied = fv_runs_sort(m->tied, m->tied_count, m->tied_room, sizeof(*m->tied), is_sent_before);
    }
    return m->tied[m->tied_at++];
}

static struct merging begin_merging(struct fv_timeline_writer *w)
{
    struct merging m = { .runs = w->runs,
                         .in = fv_xcalloc(w->run_count + 1, sizeof(*m.in)),
                         .next = fv_xcalloc(w->run_count + 1, sizeof(*m.next)) };

    for (uint32_t i = 0; i < w->run_count; i++) {
        const struct fv_bytes *bytes = &w->runs[i].bytes;

        m.in[i] = (struct fv_bytes_reader){ bytes->data, bytes->data + bytes->count, false };
        read_next(&m, i);
        fv_heap_push(&m.heap, item_of(&m, i));
    }
    return m;
}

static void end_merging(struct merging *m)
{
    fv_heap_release(&m->heap);
    free(m->in);
    free(m->next);
    free(m->tied);
}

void fv_timeline_write_messages(struct fv_timeline_writer *w)
{
    uint64_t count = 0;

    for (size_t i = 0; i < w->run_count; i++)
        count += w->runs[i].count;
    const size_t block_count = (count + BLOCK - 1) / BLOCK;
    struct fv_timeline_message_block *blocks = fv_xcalloc(block_count + 1, sizeof(*blocks));
    struct fv_timeline_message *of_block = fv_xcalloc(BLOCK, sizeof(*of_block));
    struct merging merging = begin_merging(w);
    const uint64_t before = w->at;

    for (size_t i = 0; i < block_count; i++) {
        const size_t most = i + 1 < block_count ? BLOCK : count - i * BLOCK;

        for (size_t k = 0; k < most; k++)
            of_block[k] = take_first(&merging);
        blocks[i] = put_messages(w, of_block, most);
    }
    if (!fv_timeline_limit_blocks(w, &w->header.message_blocks, before, blocks, block_count, sizeof(*blocks)))
        w->header.left_out.messages = count;
    w->header.messages = count;
    end_merging(&merging);
    free(of_block);
    free(blocks);
}
