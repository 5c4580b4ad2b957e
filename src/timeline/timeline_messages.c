/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: sends and receives of one communicator, pair of ranks and tag match in the order in which they
 * were begun. */
#include "timeline/timeline_state.h"
#include "trace/events.h"

#include <stdlib.h>

static void add(struct fv_timeline_writer *w, uint32_t row, const struct fv_record *r, bool is_send, uint64_t order)
{
    struct fv_timeline_end **ends = is_send ? &w->sends : &w->receives;
    size_t *count = is_send ? &w->send_count : &w->receive_count;
    const uint32_t own = fv_groups_rank(&w->groups, r->ref, w->rows[row].rank);

    if (r->peer == FV_NONE || own == FV_NONE)
        return;
    *ends = fv_grow(*ends, is_send ? &w->send_room : &w->receive_room, *count + 1, sizeof(**ends));
    (*ends)[(*count)++] = (struct fv_timeline_end){ .comm = r->ref,
                                                    .from = is_send ? own : r->peer,
                                                    .to = is_send ? r->peer : own,
                                                    .tag = r->tag,
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

static int by_key(const void *a, const void *b)
{
    const struct fv_timeline_end *x = a, *y = b;

    return x->comm != y->comm   ? (x->comm > y->comm) - (x->comm < y->comm)
           : x->from != y->from ? (x->from > y->from) - (x->from < y->from)
           : x->to != y->to     ? (x->to > y->to) - (x->to < y->to)
                                : (x->tag > y->tag) - (x->tag < y->tag);
}

static int by_key_and_order(const void *a, const void *b)
{
    const struct fv_timeline_end *x = a, *y = b;
    int order = by_key(a, b);

    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_sent(const void *a, const void *b)
{
    const struct fv_timeline_message *x = a, *y = b;

    return x->sent_ns != y->sent_ns           ? (x->sent_ns > y->sent_ns) - (x->sent_ns < y->sent_ns)
           : x->received_ns != y->received_ns ? (x->received_ns > y->received_ns) - (x->received_ns < y->received_ns)
                                              : (x->from > y->from) - (x->from < y->from);
}

#define BLOCK 1024 /* messages */

static struct fv_timeline_message_block put_messages(struct fv_timeline_writer *w, const struct fv_timeline_message *m,
                                                     size_t count)
{
    struct fv_bytes columns[FV_TIMELINE_MESSAGE_COLUMNS] = { 0 };
    struct fv_timeline_message_block out = { .begin_ns = m->sent_ns };
    uint64_t before = 0;

    for (size_t i = 0; i < count; before = m[i++].sent_ns) {
        fv_timeline_add_number(&columns[0], m[i].sent_ns - before);
        fv_timeline_add_number(&columns[1], fv_zigzag((int64_t)(m[i].received_ns - m[i].sent_ns)));
        fv_timeline_add_number(&columns[2], m[i].bytes);
        fv_timeline_add_number(&columns[3], m[i].from);
        fv_timeline_add_number(&columns[4], fv_zigzag((int64_t)m[i].to - (int64_t)m[i].from));
        fv_timeline_add_number(&columns[5], m[i].tag);
        fv_timeline_add_number(&columns[6], m[i].comm);
        out.end_ns = m[i].received_ns > out.end_ns ? m[i].received_ns : out.end_ns;
    }
    out.block = fv_timeline_put_block(w, columns, FV_TIMELINE_MESSAGE_COLUMNS, count);
    return out;
}

static void put_all(struct fv_timeline_writer *w, const struct fv_timeline_message *all, size_t count)
{
    const size_t block_count = (count + BLOCK - 1) / BLOCK;
    struct fv_timeline_message_block *blocks = fv_xcalloc(block_count + 1, sizeof(*blocks));

    for (size_t i = 0; i < block_count; i++)
        blocks[i] = put_messages(w, all + i * BLOCK, i + 1 < block_count ? BLOCK : count - i * BLOCK);
    w->header.message_blocks =
        (struct fv_timeline_part){ fv_timeline_put(w, blocks, block_count * sizeof(*blocks)), block_count };
    free(blocks);
}

void fv_timeline_write_messages(struct fv_timeline_writer *w)
{
    struct fv_timeline_message *all = fv_xcalloc(w->send_count + 1, sizeof(*all));
    size_t count = 0, k = 0;

    if (w->send_count)
        qsort(w->sends, w->send_count, sizeof(*w->sends), by_key_and_order);
    if (w->receive_count)
        qsort(w->receives, w->receive_count, sizeof(*w->receives), by_key_and_order);
    for (size_t i = 0; i < w->send_count && k < w->receive_count; i++) {
        const struct fv_timeline_end *s = &w->sends[i];

        while (k < w->receive_count && by_key(&w->receives[k], s) < 0)
            k++;
        if (k == w->receive_count || by_key(&w->receives[k], s))
            continue;
        const struct fv_timeline_end *r = &w->receives[k++];
        all[count++] = (struct fv_timeline_message){ s->ns, r->ns, r->bytes, s->row, r->row, s->tag, s->comm };
    }
    if (count)
        qsort(all, count, sizeof(*all), by_sent);
    w->header.unmatched = w->send_count + w->receive_count - 2 * count;
    w->header.messages = count;
    put_all(w, all, count);
    free(all);
}
