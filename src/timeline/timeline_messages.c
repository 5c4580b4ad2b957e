/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: sends and receives of one communicator, pair of ranks and tag match in the order in which they
 * were begun. */
#include "timeline/timeline_state.h"
#include "tool/runs.h"
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

/* ---- both ends ---- */

/* Receives of one communicator, pair of ranks and tag, a list. */
struct channel {
    uint32_t key[4];
    uint32_t first, last; /* FV_NONE: none */
    bool is_unsorted;     /* they did not end in the order in which they were begun */
};

struct matching {
    struct channel *channels;
    size_t count, room;
    struct fv_index index;
    uint32_t *next; /* by receive */
};

#define KEY(end) ((uint32_t[]){ (end)->comm, (end)->from, (end)->to, (end)->tag })

static int by_order(const void *a, const void *b, void *receives)
{
    const struct fv_timeline_end *all = receives;
    const uint64_t x = all[*(const uint32_t *)a].order, y = all[*(const uint32_t *)b].order;

    return (x > y) - (x < y);
}

static void sort_channel(struct matching *m, struct channel *c, struct fv_timeline_end *receives)
{
    uint32_t *all = NULL;
    size_t count = 0, room = 0;

    for (uint32_t i = c->first; i != FV_NONE; i = m->next[i]) {
        FV_GROW(all, room, count + 1);
        all[count++] = i;
    }
    qsort_r(all, count, sizeof(*all), by_order, receives);
    for (size_t i = 0; i < count; i++)
        m->next[all[i]] = i + 1 < count ? all[i + 1] : FV_NONE;
    c->first = all[0];
    free(all);
}

static void make_channels(struct matching *m, struct fv_timeline_end *receives, size_t count)
{
    m->next = fv_xcalloc(count + 1, sizeof(*m->next));
    for (uint32_t i = 0; i < count; i++) {
        const size_t before = m->count;
        struct channel *c = FV_INTERNED(m->index, m->channels, m->count, m->room, KEY(&receives[i]));

        m->next[i] = FV_NONE;
        if (m->count > before) {
            c->first = i;
        } else {
            c->is_unsorted = c->is_unsorted || receives[i].order < receives[c->last].order;
            m->next[c->last] = i;
        }
        c->last = i;
    }
    for (size_t i = 0; i < m->count; i++)
        if (m->channels[i].is_unsorted)
            sort_channel(m, &m->channels[i], receives);
}

/* The next one of a send's channel; FV_NONE: there is none. */
static uint32_t take_receive(struct matching *m, const struct fv_timeline_end *send)
{
    const uint32_t at = fv_find(&m->index, m->channels, sizeof(*m->channels), KEY(send), sizeof(uint32_t[4]));
    const uint32_t i = at == FV_NONE ? FV_NONE : m->channels[at].first;

    if (i != FV_NONE)
        m->channels[at].first = m->next[i];
    return i;
}

/* Each rank's come in the order in which they are sent. */
static bool is_sent_before(const void *a, const void *b)
{
    const struct fv_timeline_message *x = a, *y = b;

    return x->sent_ns != y->sent_ns           ? x->sent_ns < y->sent_ns
           : x->received_ns != y->received_ns ? x->received_ns < y->received_ns
                                              : x->from < y->from;
}

/* ---- the file ---- */

#define BLOCK 1024 /* messages */

static struct fv_timeline_message_block put_messages(struct fv_timeline_writer *w, const struct fv_timeline_message *m,
                                                     size_t count)
{
    struct fv_bytes *columns = w->packer.columns;
    struct fv_timeline_message_block out = { .begin_ns = m->sent_ns, .first_received_ns = UINT64_MAX };
    uint64_t before = m->sent_ns;

    for (size_t i = 0; i < count; before = m[i++].sent_ns) {
        fv_bytes_number(&columns[0], m[i].sent_ns - before);
        fv_bytes_number(&columns[1], fv_zigzag((int64_t)(m[i].received_ns - m[i].sent_ns)));
        fv_bytes_number(&columns[2], m[i].bytes);
        fv_bytes_number(&columns[3], m[i].from);
        fv_bytes_number(&columns[4], fv_zigzag((int64_t)m[i].to - (int64_t)m[i].from));
        fv_bytes_number(&columns[5], m[i].tag);
        fv_bytes_number(&columns[6], m[i].comm);
        if (m[i].received_ns < out.first_received_ns)
            out.first_received_ns = m[i].received_ns;
        out.end_ns = m[i].received_ns > out.end_ns ? m[i].received_ns : out.end_ns;
    }
    out.block =
        fv_timeline_put_block(w, fv_timeline_put, FV_TIMELINE_MESSAGE_COLUMNS, FV_TIMELINE_MESSAGE_COLUMNS, count);
    return out;
}

static void put_all(struct fv_timeline_writer *w, const struct fv_timeline_message *all, size_t count)
{
    const size_t block_count = (count + BLOCK - 1) / BLOCK;
    struct fv_timeline_message_block *blocks = fv_xcalloc(block_count + 1, sizeof(*blocks));
    const uint64_t before = w->at;

    for (size_t i = 0; i < block_count; i++)
        blocks[i] = put_messages(w, all + i * BLOCK, i + 1 < block_count ? BLOCK : count - i * BLOCK);
    if (!fv_timeline_limit_blocks(w, &w->header.message_blocks, before, blocks, block_count, sizeof(*blocks)))
        w->header.left_out.messages = count;
    free(blocks);
}

void fv_timeline_write_messages(struct fv_timeline_writer *w)
{
    struct fv_timeline_message *all = fv_xcalloc(w->send_count + 1, sizeof(*all));
    struct matching m = { 0 };
    size_t count = 0;

    make_channels(&m, w->receives, w->receive_count);
    for (size_t i = 0; i < w->send_count; i++) {
        const struct fv_timeline_end *s = &w->sends[i];
        const uint32_t k = take_receive(&m, s);

        if (k != FV_NONE)
            all[count++] = (struct fv_timeline_message){ s->ns,  w->receives[k].ns,  w->receives[k].bytes,
                                                         s->row, w->receives[k].row, s->tag,
                                                         s->comm };
    }
    w->header.unmatched = w->send_count + w->receive_count - 2 * count;
    free(m.next);
    free(m.channels);
    fv_index_release(&m.index);
    free(w->sends);
    free(w->receives);
    w->sends = w->receives = NULL;
    all = fv_runs_sort(all, count, w->send_count + 1, sizeof(*all), is_sent_before);
    w->header.messages = count;
    put_all(w, all, count);
    free(all);
}
