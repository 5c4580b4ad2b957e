/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: calls of collective operations. They belong together by their communicator and the number that
 * they have there. Rejected: to find them in the slices when they are asked for, all of which would have to be read. */
#include "timeline/timeline_state.h"
#include "trace/events.h"

#include <stdlib.h>

void fv_timeline_forget_rank(struct fv_timeline_writer *w)
{
    w->begun_member_count = w->begun_io_count = 0;
    free(w->window_counts);
    w->window_counts = NULL;
}

/* The last one is most often asked for. */
struct fv_timeline_begun *fv_timeline_find_begun(struct fv_timeline_begun *begun, size_t count, uint32_t ref,
                                                 uint64_t id)
{
    for (size_t i = count; i--;)
        if (begun[i].id == id && (ref == FV_NONE || begun[i].ref == ref))
            return &begun[i];
    return NULL;
}

static void add(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r,
                uint64_t begin_ns, uint32_t region)
{
    struct fv_timeline_open *o = t->depth ? &t->open[t->depth - 1] : NULL;
    const struct fv_defs *d = &w->merge->defs;
    const bool is_alone = r->ref >= d->comm_count || fv_def_comm_is_own(&d->comms[r->ref]);

    FV_GROW(w->members, w->member_room, w->member_count + 1);
    w->members[w->member_count++] =
        (struct fv_timeline_member_call){ .begin_ns = begin_ns,
                                          .ns = r->time_ns > begin_ns ? r->time_ns - begin_ns : 0,
                                          .sent = r->sent,
                                          .received = r->received,
                                          .row = t->row,
                                          .region = region,
                                          .comm = r->ref,
                                          .instance = r->tag || is_alone ? FV_NONE : r->aux,
                                          .is_on_window = r->kind == FV_REC_RMA_COLL_END };
    if (o && !o->first_member)
        o->first_member = w->member_count;
}

void fv_timeline_member_record(struct fv_timeline_writer *w, struct fv_timeline_thread *t, const struct fv_record *r)
{
    const struct fv_timeline_open *o = t->depth ? &t->open[t->depth - 1] : NULL;
    struct fv_timeline_begun *b;

    if (r->kind == FV_REC_ICOLL_BEGIN && o) {
        FV_GROW(w->begun_members, w->begun_member_room, w->begun_member_count + 1);
        w->begun_members[w->begun_member_count++] =
            (struct fv_timeline_begun){ .id = r->id, .begin_ns = o->begin_ns, .ref = o->region };
    } else if (r->kind == FV_REC_ICOLL_END) {
        b = fv_timeline_find_begun(w->begun_members, w->begun_member_count, FV_NONE, r->id);
        if (!b)
            return;
        add(w, t, r, b->begin_ns, b->ref);
        *b = w->begun_members[--w->begun_member_count];
    } else if (o) {
        add(w, t, r, o->begin_ns, o->region);
    }
}

/* A call that completes several waited for the first of them. Threads of the rank may have added some between. */
void fv_timeline_member_leave(struct fv_timeline_writer *w, const struct fv_timeline_thread *t,
                              const struct fv_timeline_open *call, uint64_t now, uint64_t wait_ns)
{
    for (size_t i = call->first_member - 1; i < w->member_count; i++) {
        struct fv_timeline_member_call *m = &w->members[i];

        if (m->row != t->row || m->is_whole)
            continue;
        m->is_whole = true;
        if (m->begin_ns == call->begin_ns && now > m->begin_ns)
            m->ns = now - m->begin_ns;
        m->wait_ns = wait_ns;
        m->wait_begin_ns = call->begin_ns;
        wait_ns = 0;
    }
}

/* ---- windows ---- */

#define ON_WINDOW (UINT32_C(1) << 31) /* beyond what is counted on a communicator */

/* As the analysis: the n-th on a window on one rank is the n-th on another. A communicator may have several windows:
 * numbers are of all windows of the run. */
uint32_t fv_timeline_window_number(struct fv_timeline_writer *w, const struct fv_record *r)
{
    const struct fv_defs *d = &w->merge->defs;
    const size_t at = 2 * (size_t)r->ref + (r->op == FV_OP_BARRIER);

    if (w->merge->rings.any || d->windows[r->ref].owner != FV_NOBODY) /* the first are gone; a window of one rank */
        return FV_NONE;
    if (!w->window_counts)
        w->window_counts = fv_xcalloc(2 * d->window_count, sizeof(*w->window_counts));
    const uint64_t number = (uint64_t)w->window_counts[at]++ * 2 * d->window_count + at;

    return number < ON_WINDOW - 1 ? ON_WINDOW + (uint32_t)number : FV_NONE;
}

/* ---- operations ---- */

struct operation {
    uint32_t key[3]; /* communicator; number in it; if that is not known the call, + 1; on a window all bits */
    uint32_t count;  /* calls */
    uint64_t first_ns, end_ns;
    size_t at; /* of its calls, in their order */
};

struct placing {
    const struct fv_timeline_member_call *members;
    struct operation *operations;
    size_t count, room;
    struct fv_index index;
    uint32_t *of;    /* by call: operation */
    uint32_t *order; /* calls */
};

static void gather(struct placing *p, size_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct fv_timeline_member_call *m = &p->members[i];
        const uint32_t more = m->instance == FV_NONE ? i + 1 : m->is_on_window ? UINT32_MAX : 0;
        struct operation *o =
            FV_INTERNED(p->index, p->operations, p->count, p->room, (uint32_t[]){ m->comm, m->instance, more });
        const uint64_t end = m->begin_ns + m->ns;

        o->first_ns = !o->count || m->begin_ns < o->first_ns ? m->begin_ns : o->first_ns;
        o->end_ns = end > o->end_ns ? end : o->end_ns;
        o->count++;
        p->of[i] = (uint32_t)(o - p->operations);
    }
}

static int by_first(const void *a, const void *b, void *operations)
{
    const struct operation *all = operations, *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];

    for (int i = 0; x->first_ns == y->first_ns && i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

/* Calls by their operations, the earliest first. */
static void place(struct placing *p, size_t count)
{
    uint32_t *sorted = fv_xcalloc(p->count + 1, sizeof(*sorted));
    size_t at = 0;

    for (uint32_t i = 0; i < p->count; i++)
        sorted[i] = i;
    qsort_r(sorted, p->count, sizeof(*sorted), by_first, p->operations);
    for (size_t i = 0; i < p->count; i++) {
        p->operations[sorted[i]].at = at;
        at += p->operations[sorted[i]].count;
    }
    for (uint32_t i = 0; i < count; i++)
        p->order[p->operations[p->of[i]].at++] = i;
    for (size_t i = 0; i < p->count; i++)
        p->operations[i].at -= p->operations[i].count;
    free(sorted);
}

/* ---- the file ---- */

#define BLOCK 1024 /* calls */

static void add_call(struct fv_bytes *columns, const struct fv_timeline_member_call *m, uint64_t first_ns, uint32_t row,
                     unsigned flags)
{
    flags |= m->wait_ns ? FV_TIMELINE_MEMBER_WAITED : 0;
    fv_bytes_number(&columns[1], m->begin_ns - first_ns);
    fv_bytes_number(&columns[2], m->ns);
    fv_bytes_number(&columns[3], fv_zigzag((int64_t)m->row - (int64_t)row));
    fv_bytes_number(&columns[4], (uint64_t)m->region << 4 | flags);
    fv_bytes_number(&columns[5], m->sent);
    fv_bytes_number(&columns[6], m->received);
    if (m->wait_ns) {
        fv_bytes_number(&columns[7], m->wait_ns);
        fv_bytes_number(&columns[8], fv_zigzag((int64_t)(m->wait_begin_ns - m->begin_ns)));
    }
}

static struct fv_timeline_span_block put_calls(struct fv_timeline_writer *w, const struct placing *p, size_t from,
                                               size_t count)
{
    struct fv_bytes *columns = w->packer.columns;
    struct fv_timeline_span_block out = { .begin_ns = p->operations[p->of[p->order[from]]].first_ns };
    uint64_t before = out.begin_ns;
    uint32_t row = 0, number = 0;

    for (size_t i = from; i < from + count; i++) {
        const struct fv_timeline_member_call *m = &p->members[p->order[i]];
        const struct operation *o = &p->operations[p->of[p->order[i]]];
        const bool begins = o->at == i;

        if (i == from || begins) {
            fv_bytes_number(&columns[0], o->first_ns - before);
            fv_bytes_number(&columns[9], m->comm);
            fv_bytes_number(&columns[10], fv_zigzag((int64_t)(m->instance + 1) - (int64_t)number));
            before = o->first_ns;
            number = m->instance + 1;
        }
        add_call(columns, m, o->first_ns, row,
                 (begins ? FV_TIMELINE_MEMBER_BEGINS : 0) | (m->instance == FV_NONE ? FV_TIMELINE_MEMBER_ALONE : 0) |
                     (o->count == fv_groups_traced(&w->groups, m->comm) ? 0 : FV_TIMELINE_MEMBER_PARTIAL));
        row = m->row;
        out.end_ns = o->end_ns > out.end_ns ? o->end_ns : out.end_ns;
    }
    out.block =
        fv_timeline_put_block(w, fv_timeline_put, FV_TIMELINE_MEMBER_COLUMNS, FV_TIMELINE_MEMBER_COLUMNS, count);
    return out;
}

void fv_timeline_write_members(struct fv_timeline_writer *w)
{
    const size_t count = w->member_count, block_count = (count + BLOCK - 1) / BLOCK;
    struct fv_timeline_span_block *blocks = fv_xcalloc(block_count + 1, sizeof(*blocks));
    struct placing p = { .members = w->members,
                         .of = fv_xcalloc(count + 1, sizeof(*p.of)),
                         .order = fv_xcalloc(count + 1, sizeof(*p.order)) };
    const uint64_t before = w->at;

    gather(&p, count);
    place(&p, count);
    for (size_t i = 0; i < block_count; i++)
        blocks[i] = put_calls(w, &p, i * BLOCK, i + 1 < block_count ? BLOCK : count - i * BLOCK);
    w->header.members = count;
    if (!fv_timeline_limit_blocks(w, &w->header.member_blocks, before, blocks, block_count, sizeof(*blocks)))
        w->header.left_out.members = count;
    fv_index_release(&p.index);
    free(p.operations);
    free(p.of);
    free(p.order);
    free(blocks);
    free(w->members);
    w->members = NULL;
}
