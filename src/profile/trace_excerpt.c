/* SPDX-License-Identifier: BSD-3-Clause */
/* See trace_excerpt.h. */
#include "experiment/chunks.h"
#include "profile/build.h"
#include "profile/trace_spans.h"
#include "trace/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One end of a message. */
struct half {
    uint32_t comm, from, to;
    uint32_t rank, thread; /* its own: index in fv_model.ranks */
    int64_t tag;
    double time_s, begin_s, posted_s; /* begin_s: of the call. posted_s: when it was sent, or the receive was posted:
                                       * their order */
    int64_t peer;                     /* rank in the communicator */
    bool blocks;                      /* a send: until the receive is posted, perhaps */
    uint64_t request;                 /* that it completes; its communicator is known when all threads of the rank were
                                       * read. 0: none */
    uint64_t bytes;
    uint64_t order; /* of its process */
};
struct halves {
    struct half *items;
    size_t count, room;
};

/* A thread enters a blocking collective. */
struct entry {
    uint32_t comm, comm_rank;
    uint64_t sequence;
    double begin_s;
    uint32_t rank, thread; /* rank: index in fv_model.ranks */
    bool sends;
    size_t late; /* of its gathering's entries up to this one: the last by time */
};

#define HALVES  (1u << 20) /* of all ranks, sent and received each: what is in memory at once */
#define ENTRIES (1u << 22) /* likewise, of collectives */
#define SLACK   4          /* so many times the calls that a rank may keep are in memory at once, and MORE */
#define MORE    65536

struct state {
    struct halves sent, received;
    struct entry *entries;
    size_t entry_count, entry_room;
    size_t most, most_halves, most_entries; /* of a rank */
    uint64_t halves_left_out;
    bool ring; /* some rank's trace has lost its begin: which send a receive is of does not follow from their order */
};

/* Non-blocking receives, and messages that a matched probe took, by the file's number of their request. */
struct requests {
    struct fv_numbers places; /* in: */
    struct posted {
        uint32_t comm; /* the file's number */
        int64_t peer, tag;
        double begin_s;
    } * items;
    size_t count, room;
};

/* A thread while it is read. */
struct reading {
    struct fv_build *build;
    struct state *state;
    uint32_t rank, thread;
    struct fv_numbers sites;                               /* of its events: in fv_model.sites */
    struct requests *requests;                             /* of the rank */
    size_t first, first_sent, first_received, first_entry; /* of the rank: calls, halves and entries */
    uint64_t calls;                                        /* of the thread */
    struct fv_trace_call *call;                            /* whose details come */
    struct fv_trace_spans *spans;                          /* of the rank */
};

/* ---- communicators ---- */

/* FV_NONE: not known, or nobody. Of an intercommunicator, which all ranks have in common, peers are those of the other
 * group. */
static uint32_t world_rank(const struct reading *r, uint32_t comm, int64_t peer)
{
    uint32_t known = fv_numbers_get(&r->build->files[r->rank].comms, comm);

    if (known == FV_NONE || peer < 0)
        return FV_NONE;
    const struct fv_def_comm *c = &r->build->model->comms[known].def;
    bool remote = c->flags & FV_COMM_INTER &&
                  fv_rank_runs_find(c->runs, c->run_count, r->build->model->ranks[r->rank].world_rank) != FV_NONE;
    const struct fv_rank_run *run = c->runs + (remote ? c->run_count : 0),
                             *end = run + (remote ? c->remote_run_count : c->run_count);

    for (; run < end; peer -= run++->count)
        if (peer < run->count)
            return (uint32_t)(run->first + peer * run->stride);
    return FV_NONE;
}

static void post(struct reading *r, uint64_t request, uint32_t comm, int64_t peer, int64_t tag)
{
    struct requests *q = r->requests;

    if (!fv_number_is_id(r->build->files[r->rank].reader, request))
        return;
    FV_GROW(q->items, q->room, q->count + 1);
    fv_numbers_set(&q->places, request, (uint32_t)q->count);
    q->items[q->count++] = (struct posted){ comm, peer, tag, r->call->begin_s };
}

static const struct posted *posted(const struct reading *r, uint64_t request)
{
    uint32_t place = fv_number_is_id(r->build->files[r->rank].reader, request)
                         ? fv_numbers_get(&r->requests->places, request)
                         : FV_NONE;

    return place == FV_NONE ? NULL : &r->requests->items[place];
}

static bool has_room(struct reading *r, const struct halves *of, size_t first)
{
    bool has = of->count - first < r->state->most_halves;

    r->state->halves_left_out += !has;
    return has;
}

/* By its own rank; `of` has what is its own. */
static void add_half(struct reading *r, struct halves *to, size_t first, uint32_t comm, int64_t peer, bool sends,
                     struct half of)
{
    uint32_t other = of.request ? 0 : world_rank(r, comm, peer),
             own = (uint32_t)r->build->model->ranks[r->rank].world_rank;

    if (other == FV_NONE || !has_room(r, to, first))
        return;
    of.comm = fv_numbers_get(&r->build->files[r->rank].comms, comm);
    of.from = sends ? own : other;
    of.to = sends ? other : own;
    of.peer = peer;
    of.rank = r->rank;
    of.thread = r->thread;
    of.begin_s = r->call->begin_s;
    of.time_s = sends ? r->call->begin_s : r->call->begin_s + r->call->duration_s;
    of.order = to->count;
    FV_GROW(to->items, to->room, to->count + 1);
    to->items[to->count++] = of;
}

static void add_sent(struct reading *r, uint64_t comm, uint64_t peer, uint64_t tag, uint64_t bytes, bool blocks)
{
    r->call->bytes += bytes;
    add_half(r, &r->state->sent, r->first_sent, (uint32_t)comm, (int64_t)peer, true,
             (struct half){ .tag = (int64_t)tag, .bytes = bytes, .blocks = blocks, .posted_s = r->call->begin_s });
}

static void add_received(struct reading *r, const struct posted *by, int64_t peer, int64_t tag, uint64_t bytes,
                         uint64_t request)
{
    r->call->bytes += bytes;
    add_half(r, &r->state->received, r->first_received, by ? by->comm : 0, peer, false,
             (struct half){ .tag = tag, .bytes = bytes, .posted_s = by ? by->begin_s : 0, .request = request });
}

/* When all threads were read: one that was posted by a thread which is read later. Receives without their begin are
 * none. */
static void resolve_received(struct reading *r)
{
    struct halves *h = &r->state->received;
    size_t kept = r->first_received;

    for (size_t i = kept; i < h->count; i++) {
        struct half *of = &h->items[i];
        const struct posted *p = of->request ? posted(r, of->request) : NULL;

        if (p) {
            of->comm = fv_numbers_get(&r->build->files[r->rank].comms, p->comm);
            of->from = world_rank(r, p->comm, of->peer);
            of->posted_s = p->begin_s;
        }
        if (of->request ? p && of->from != FV_NONE : true)
            h->items[kept++] = *of;
    }
    h->count = kept;
}

/* Of several collectives in a call, as where a wrapper makes two of one, the last one counts. */
static void add_collective(struct reading *r, uint32_t comm, int64_t root, bool sends, uint64_t sequence)
{
    struct fv_model *m = r->build->model;
    const struct fv_build_file *f = &r->build->files[r->rank];
    uint32_t known = fv_numbers_get(&f->comms, comm), comm_rank = fv_numbers_get(&f->comm_ranks, comm);
    struct state *s = r->state;

    if (known == FV_NONE || comm_rank == FV_NONE || m->comms[known].def.flags & (FV_COMM_SELF | FV_COMM_INTER))
        return;
    r->call->comm = known;
    r->call->comm_rank = comm_rank;
    r->call->root = root >= 0 && root < FV_NONE ? (uint32_t)root : FV_NONE;
    r->call->sequence = sequence;
    if (s->entry_count - r->first_entry == s->most_entries)
        return;
    FV_GROW(s->entries, s->entry_room, s->entry_count + 1);
    s->entries[s->entry_count++] = (struct entry){ .comm = known,
                                                   .comm_rank = comm_rank,
                                                   .sequence = sequence,
                                                   .begin_s = r->call->begin_s,
                                                   .rank = r->rank,
                                                   .thread = r->thread,
                                                   .sends = sends };
}

/* ---- no more than were asked for ---- */

/* Of the calls from `first` on the longest. */
static void keep_longest(struct fv_trace_excerpt *t, size_t first, size_t most)
{
    size_t count = t->call_count - first, kept = first, alike;

    if (count <= most || !most)
        return;
    double *durations = fv_xcalloc(count, sizeof(*durations));
    for (size_t i = 0; i < count; i++)
        durations[i] = t->calls[first + i].duration_s;
    double least = fv_trace_least(durations, count, most, &alike);
    free(durations);
    for (size_t i = first; i < t->call_count; i++)
        if (t->calls[i].duration_s > least || (t->calls[i].duration_s >= least && alike && alike--))
            t->calls[kept++] = t->calls[i];
    t->calls_left_out += t->call_count - kept;
    t->call_count = kept;
}

/* ---- events ---- */

static void begin_call(struct reading *r, const struct fv_event *e)
{
    struct fv_model *m = r->build->model;
    struct fv_trace_excerpt *t = &m->excerpt;
    double begin_s = fv_build_time(m, r->rank, e->begin);

    if (t->call_count - r->first > SLACK * r->state->most + MORE)
        keep_longest(t, r->first, r->state->most);
    FV_GROW(t->calls, t->call_room, t->call_count + 1);
    r->call = &t->calls[t->call_count++];
    *r->call = (struct fv_trace_call){ .rank = r->rank,
                                       .thread = r->thread,
                                       .site = fv_numbers_get(&r->sites, e->field[0]),
                                       .comm = FV_NONE,
                                       .root = FV_NONE,
                                       .begin_s = begin_s,
                                       .number = r->calls++,
                                       .duration_s = fv_build_time(m, r->rank, e->end) - begin_s };
}

static void add_detail(struct reading *r, const struct fv_event *e)
{
    const uint64_t *f = e->field;
    const struct posted *p;

    switch (e->kind) {
    case FV_EV_SEND: add_sent(r, f[0], f[1], f[2], f[3], true); break;
    case FV_EV_ISEND: add_sent(r, f[1], f[2], f[3], f[4], false); break;
    case FV_EV_RECV:
        r->call->receives = true;
        add_received(r, &(struct posted){ .comm = (uint32_t)f[0], .begin_s = r->call->begin_s }, (int64_t)f[1],
                     (int64_t)f[2], f[3], 0);
        break;
    case FV_EV_IRECV: post(r, f[0], (uint32_t)f[1], 0, 0); break;
    case FV_EV_RECEIVED:
        p = posted(r, f[0]);
        add_received(r, p, (int64_t)f[1], (int64_t)f[2], f[3], p ? 0 : f[0]);
        break;
    case FV_EV_MATCHED: post(r, f[0], (uint32_t)f[1], (int64_t)f[2], (int64_t)f[3]); break;
    case FV_EV_MRECV:
        if ((p = posted(r, f[0])))
            add_received(r, p, p->peer, p->tag, f[1], 0);
        break;
    case FV_EV_COLLECTIVE:
        r->call->bytes += f[2] + f[3];
        add_collective(r, (uint32_t)f[0], (int64_t)f[1], f[2] > 0, f[4]);
        break;
    case FV_EV_ICOLLECTIVE: r->call->bytes += f[3] + f[4]; break;
    default: break;
    }
}

static bool has_events(const struct fv_chunk *chunk)
{
    return fv_chunk_has_events(chunk);
}

static void read_thread(struct reading *r)
{
    struct fv_reader *reader = r->build->files[r->rank].reader;
    struct fv_unpacked_events unpacked = { 0 };
    size_t count;
    const struct fv_chunk **chunks = fv_thread_chunks(reader, r->thread, has_events, &count);
    struct fv_event e;

    r->calls = 0;
    if (count)
        fv_build_event_sites(r->build, r->rank, r->thread, &r->sites);
    for (size_t i = 0; i < count; i++) {
        if (i && chunks[i]->first == chunks[i - 1]->first &&
            chunks[i - 1]->used > sizeof(struct fv_event_base)) /* the same calls, compressed */
            continue;
        struct fv_event_cursor c = fv_reader_events(reader, chunks[i], &unpacked);

        r->call = NULL;
        while (fv_event_next(&c, &e)) {
            if (e.kind == FV_EV_CALL)
                begin_call(r, &e);
            else if (r->call && !fv_event_is_of_thread(e.kind))
                add_detail(r, &e);
            if (e.kind == FV_EV_CALL || fv_event_is_of_thread(e.kind))
                fv_trace_spans_event(r->spans, &e);
        }
        fv_reader_forget(reader, chunks[i]);
    }
    free(chunks);
    fv_unpacked_events_release(&unpacked);
    fv_numbers_release(&r->sites);
}

/* ---- messages ---- */

static int by_order(const void *a, const void *b)
{
    const struct half *x = a, *y = b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    if (x->posted_s != y->posted_s)
        return x->posted_s < y->posted_s ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Of two halves in order, without what tells messages of one stream apart. */
static int by_stream(const struct half *x, const struct half *y)
{
    struct half a = *x, b = *y;

    a.posted_s = b.posted_s = 0;
    a.order = b.order = 0;
    return by_order(&a, &b);
}

static int by_size(const void *a, const void *b)
{
    const struct fv_trace_message *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->sent_s > y->sent_s) - (x->sent_s < y->sent_s);
}

/* The call of a thread that began then; NULL: it is left out. */
static struct fv_trace_call *call_of(struct fv_trace_excerpt *t, const struct half *h)
{
    size_t at = FV_COUNT_BEFORE(i, t->call_count,
                                t->calls[i].rank != h->rank       ? t->calls[i].rank < h->rank
                                : t->calls[i].thread != h->thread ? t->calls[i].thread < h->thread
                                                                  : t->calls[i].begin_s < h->begin_s);
    struct fv_trace_call *call = &t->calls[at];

    return at < t->call_count && call->rank == h->rank && call->thread == h->thread && call->begin_s <= h->begin_s
               ? call
               : NULL;
}

static void wait_for(struct fv_trace_call *call, double until_s, uint32_t rank, uint32_t thread)
{
    double wait_s = fmin(until_s - call->begin_s, call->duration_s);

    if (wait_s <= call->wait_s)
        return;
    call->wait_s = wait_s;
    call->waits_for = rank;
    call->waits_for_thread = thread;
}

/* A late sender, or a late receiver of a send that did not return before. Of clocks that differ nobody knows. */
static void find_late_end(const struct fv_model *m, struct fv_trace_excerpt *t, const struct half *s,
                          const struct half *r)
{
    struct fv_trace_call *call;

    if (m->ranks[s->rank].clock != m->ranks[r->rank].clock || (s->rank == r->rank && s->thread == r->thread))
        return;
    if (s->begin_s > r->begin_s && (call = call_of(t, r)))
        wait_for(call, s->begin_s, s->from, s->thread);
    if (s->blocks && r->posted_s > s->begin_s && (call = call_of(t, s)) && !call->receives &&
        call->begin_s + call->duration_s >= r->posted_s)
        wait_for(call, r->posted_s, r->to, r->thread);
}

static size_t stream_end(const struct halves *h, size_t begin)
{
    size_t end = begin;

    while (end < h->count && !by_stream(&h->items[begin], &h->items[end]))
        end++;
    return end;
}

/* In the order in which they were posted. Where a run ended well and all of them are here, but a stream has not as many
 * sends as receives, some were cancelled, or freed: nobody knows which. */
static void match(const struct fv_model *m, struct fv_trace_excerpt *t, struct halves *sent, struct halves *received,
                  bool is_whole, bool is_later_part)
{
    if (sent->count)
        qsort(sent->items, sent->count, sizeof(*sent->items), by_order);
    if (received->count)
        qsort(received->items, received->count, sizeof(*received->items), by_order);
    for (size_t i = 0, k = 0; i < sent->count && k < received->count;) {
        int order = by_stream(&sent->items[i], &received->items[k]);
        const size_t i_first = i;
        size_t i_end = order <= 0 ? stream_end(sent, i) : i, k_end = order >= 0 ? stream_end(received, k) : k;

        for (; !order && i < i_end && k < k_end && (!is_whole || i_end - i == k_end - k); i++, k++) {
            const struct half *s = &sent->items[i], *r = &received->items[k];

            if (is_later_part && i == i_first && r->time_s < s->begin_s) {
                i--; /* it was sent before the part begins */
                continue;
            }
            FV_GROW(t->messages, t->message_room, t->message_count + 1);
            t->messages[t->message_count++] =
                (struct fv_trace_message){ s->from, s->to, s->thread, r->thread, s->time_s, r->time_s, r->bytes };
            find_late_end(m, t, s, r);
        }
        i = i_end;
        k = k_end;
    }
    t->unmatched = sent->count + received->count - 2 * t->message_count;
}

/* ---- waiting in collectives ---- */

static int by_collective(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return (x->comm_rank > y->comm_rank) - (x->comm_rank < y->comm_rank);
}

/* What entered one collective. */
struct gathering {
    size_t first, count;      /* of the entries, by rank in the communicator */
    size_t last, last_sender; /* of them, by time; SIZE_MAX: none sends */
    bool one_clock;
};

static bool is_later(const struct state *s, size_t a, size_t b)
{
    return b == SIZE_MAX || s->entries[a].begin_s > s->entries[b].begin_s;
}

/* By communicator and sequence. Returns how many; *out is to be freed. */
static size_t gather(const struct fv_model *m, struct state *s, struct gathering **out)
{
    size_t n = 0, room = 0;

    *out = NULL;
    for (size_t i = 0; i < s->entry_count; i++) {
        struct entry *e = &s->entries[i];

        if (!i || e->comm != e[-1].comm || e->sequence != e[-1].sequence) {
            FV_GROW(*out, room, n + 1);
            (*out)[n++] =
                (struct gathering){ .first = i, .last = SIZE_MAX, .last_sender = SIZE_MAX, .one_clock = true };
        }
        struct gathering *g = &(*out)[n - 1];
        g->count++;
        g->one_clock &= m->ranks[e->rank].clock == m->ranks[s->entries[g->first].rank].clock;
        g->last = is_later(s, i, g->last) ? i : g->last;
        g->last_sender = e->sends && is_later(s, i, g->last_sender) ? i : g->last_sender;
        e->late = g->last;
    }
    return n;
}

/* Of a gathering with all ranks, the entry that it waits for by the function's rule, as in waits.c; but in a reduction
 * the root waits for the last that gives something. SIZE_MAX: for none. */
static size_t waited_for(const struct fv_func *f, bool is_parted, const struct fv_trace_call *call,
                         const struct state *s, const struct gathering *g)
{
    switch (is_parted ? FV_RULE_BARRIER : f->wait) {
    case FV_RULE_NXN: return f->class == FV_CLASS_COLLECTIVE ? g->last_sender : g->last;
    case FV_RULE_BARRIER: return g->last;
    case FV_RULE_TO_ROOT: return call->comm_rank == call->root ? g->last_sender : SIZE_MAX;
    case FV_RULE_FROM_ROOT: return call->root < g->count ? g->first + call->root : SIZE_MAX;
    case FV_RULE_SCAN:
        return call->comm_rank && call->comm_rank < g->count ? s->entries[g->first + call->comm_rank - 1].late
                                                             : SIZE_MAX;
    default: return SIZE_MAX;
    }
}

static void find_wait(struct fv_model *m, const struct state *s, const struct gathering *gatherings, size_t count,
                      struct fv_trace_call *call)
{
    const struct entry key = { .comm = call->comm, .sequence = call->sequence };
    size_t at = FV_COUNT_BEFORE(k, count, by_collective(&s->entries[gatherings[k].first], &key) < 0), late;
    const struct gathering *g = &gatherings[at];

    if (at == count || s->entries[g->first].comm != call->comm || s->entries[g->first].sequence != call->sequence ||
        g->count != m->comms[call->comm].def.size || !g->one_clock) {
        m->excerpt.waits_unknown++;
        return;
    }
    late = waited_for(&m->functions[m->sites[call->site].function], m->barrier == FV_BARRIER_BEFORE, call, s, g);
    if (late == SIZE_MAX || s->entries[late].comm_rank == call->comm_rank || s->entries[late].begin_s <= call->begin_s)
        return;
    wait_for(call, s->entries[late].begin_s, (uint32_t)m->ranks[s->entries[late].rank].world_rank,
             s->entries[late].thread);
}

static void find_waits(struct fv_model *m, struct state *s)
{
    struct gathering *gatherings;

    if (s->entry_count)
        qsort(s->entries, s->entry_count, sizeof(*s->entries), by_collective);
    size_t count = gather(m, s, &gatherings);
    for (size_t i = 0; i < m->excerpt.call_count; i++)
        if (m->excerpt.calls[i].comm != FV_NONE && m->excerpt.calls[i].site != FV_NONE &&
            m->comms[m->excerpt.calls[i].comm].def.size > 1)
            find_wait(m, s, gatherings, count, &m->excerpt.calls[i]);
    free(gatherings);
}

/* ---- the track ---- */

static void *begin_traced(struct fv_build *b)
{
    struct state *s = fv_xcalloc(1, sizeof(*s));

    s->most = b->traced_calls / (b->model->rank_count ? b->model->rank_count : 1);
    s->most_halves = HALVES / (b->model->rank_count ? b->model->rank_count : 1) + 1;
    s->most_entries = ENTRIES / (b->model->rank_count ? b->model->rank_count : 1) + 1;
    return s;
}

static void read_traced(struct fv_build *b, void *state, uint32_t rank)
{
    const struct fv_rank *of = &b->model->ranks[rank];
    size_t first = b->model->excerpt.call_count;
    struct requests requests = { 0 };
    struct state *s = state;
    struct reading r = { .build = b,
                         .state = s,
                         .rank = rank,
                         .requests = &requests,
                         .first = first,
                         .first_sent = s->sent.count,
                         .first_received = s->received.count,
                         .first_entry = s->entry_count };

    if (!s->most)
        return;
    s->ring = s->ring || isfinite(of->trace_from_s);
    r.spans = fv_trace_spans_begin(b, rank, s->most / FV_TRACE_LAYERS + 1);
    for (uint32_t i = 0; i < of->threads; i++) {
        r.thread = b->model->threads[of->first_thread + i].id;
        fv_trace_spans_thread(r.spans, r.thread);
        read_thread(&r);
    }
    fv_trace_spans_end(r.spans);
    resolve_received(&r);
    keep_longest(&b->model->excerpt, first, s->most);
    fv_numbers_release(&requests.places);
    free(requests.items);
}

/* The traces of all ranks, to their ends. */
static bool is_whole(const struct fv_model *m)
{
    bool whole = m->rank_count == (size_t)(m->world_size > 0 ? m->world_size : 1);

    for (size_t i = 0; i < m->rank_count && whole; i++)
        whole = m->ranks[i].state == FV_RANK_FINALIZED && !m->ranks[i].dropped[FV_DROP_EVENTS];
    return whole;
}

static void finish_traced(struct fv_build *b, void *state)
{
    struct fv_trace_excerpt *t = &b->model->excerpt;
    struct state *s = state;

    if (s->ring) {
        s->halves_left_out += s->sent.count + s->received.count;
        s->sent.count = s->received.count = 0;
    }
    match(b->model, t, &s->sent, &s->received, is_whole(b->model) && !b->is_part && !s->halves_left_out,
          b->is_later_part);
    find_waits(b->model, s);
    if (t->message_count > b->traced_calls) {
        qsort(t->messages, t->message_count, sizeof(*t->messages), by_size);
        t->messages_left_out = t->message_count - b->traced_calls;
        t->message_count = b->traced_calls;
    }
    t->messages_left_out += (s->halves_left_out + 1) / 2;
    t->waits_cut = s->halves_left_out > 0;
    if (s->halves_left_out) /* their other ends were, perhaps */
        t->unmatched = 0;
    free(s->sent.items);
    free(s->received.items);
    free(s->entries);
    free(s);
}

const struct fv_track fv_track_trace_excerpt = {
    .name = "excerpt",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_EVENTS, FV_CHUNK_PACKED },
    .begin = begin_traced,
    .read = read_traced,
    .finish = finish_traced,
};
