/* See traced.h. */
#include "experiment/chunks.h"
#include "profile/build.h"
#include "trace/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One end of a message. */
struct half {
    uint32_t comm, from, to;
    int64_t tag;
    double time_s;
    uint64_t bytes;
    uint64_t order; /* of its process */
};
struct halves {
    struct half *items;
    size_t count, room;
};

/* A rank enters a blocking collective. */
struct entry {
    uint32_t comm, rank; /* of the world */
    uint64_t sequence;
    double begin_s;
};

#define HALVES (1u << 20) /* of all ranks, sent and received each, and entries of collectives: what is in memory at once */
#define SLACK  4          /* so many times the calls that a rank may keep are in memory at once, and MORE */
#define MORE   65536

struct state {
    struct halves sent, received;
    struct entry *entries;
    size_t entry_count, entry_room;
    size_t most, most_halves; /* of a rank */
    uint64_t halves_left_out;
};

/* A thread while it is read. */
struct reading {
    struct fv_build *build;
    struct state *state;
    uint32_t rank, thread;
    struct fv_numbers sites;    /* of its events: in fv_model.sites */
    struct fv_numbers *requests; /* of non-blocking receives: the file's number of their communicator */
    size_t first, first_sent, first_received, first_entry; /* of the rank: calls, halves and entries */
    struct fv_traced_call *call; /* whose details come */
};

/* ---- communicators ---- */

/* FV_NONE: not known, or nobody. */
static uint32_t world_rank(const struct reading *r, uint32_t comm, int64_t peer)
{
    uint32_t known = fv_numbers_get(&r->build->files[r->rank].comms, comm);

    if (known == FV_NONE || peer < 0)
        return FV_NONE;
    const struct fv_def_comm *c = &r->build->model->comms[known].def;
    bool remote = c->flags & FV_COMM_INTER;
    const struct fv_rank_run *run = c->runs + (remote ? c->run_count : 0), *end = run + (remote ? c->remote_run_count : c->run_count);

    for (; run < end; peer -= run++->count)
        if (peer < run->count)
            return (uint32_t)(run->first + peer * run->stride);
    return FV_NONE;
}

static void add_half(struct reading *r, struct halves *to, uint32_t comm, int64_t peer, int64_t tag, uint64_t bytes, bool sends)
{
    uint32_t other = world_rank(r, comm, peer), own = (uint32_t)r->build->model->ranks[r->rank].world_rank;

    if (other == FV_NONE)
        return;
    if (to->count - (sends ? r->first_sent : r->first_received) == r->state->most_halves) {
        r->state->halves_left_out++;
        return;
    }
    FV_GROW(to->items, to->room, to->count + 1);
    to->items[to->count] = (struct half){ .comm = fv_numbers_get(&r->build->files[r->rank].comms, comm),
                                          .from = sends ? own : other,
                                          .to = sends ? other : own,
                                          .tag = tag,
                                          .time_s = sends ? r->call->begin_s : r->call->begin_s + r->call->duration_s,
                                          .bytes = bytes,
                                          .order = to->count };
    to->count++;
}

/* Of several collectives in a call, as where a wrapper makes two of one, the last one counts. */
static void add_collective(struct reading *r, uint32_t comm, int64_t root, uint64_t sequence)
{
    struct fv_model *m = r->build->model;
    uint32_t known = fv_numbers_get(&r->build->files[r->rank].comms, comm);
    struct state *s = r->state;

    if (known == FV_NONE || m->comms[known].def.flags & (FV_COMM_SELF | FV_COMM_INTER) || s->entry_count - r->first_entry == s->most_halves)
        return;
    r->call->comm = known;
    r->call->sequence = sequence;
    r->call->root = world_rank(r, comm, root);
    FV_GROW(s->entries, s->entry_room, s->entry_count + 1);
    s->entries[s->entry_count++] =
        (struct entry){ .comm = known, .rank = (uint32_t)m->ranks[r->rank].world_rank, .sequence = sequence, .begin_s = r->call->begin_s };
}

/* ---- no more than were asked for ---- */

/* The shortest of the `most` longest; *alike: how many of these are as short. */
static double shortest_of_longest(const struct fv_traced_call *calls, size_t count, size_t most, size_t *alike)
{
    double *durations = fv_xcalloc(count, sizeof(*durations)), least;

    for (size_t i = 0; i < count; i++)
        durations[i] = calls[i].duration_s;
    qsort(durations, count, sizeof(*durations), fv_by_real);
    least = durations[count - most];
    *alike = 0;
    for (size_t i = count - most; i < count && !(durations[i] > least); i++)
        ++*alike;
    free(durations);
    return least;
}

/* Of the calls from `first` on the longest. */
static void keep_longest(struct fv_traced *t, size_t first, size_t most)
{
    size_t count = t->call_count - first, kept = first, alike;

    if (count <= most || !most)
        return;
    double least = shortest_of_longest(t->calls + first, count, most, &alike);
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
    struct fv_traced *t = &m->traced;
    double begin_s = fv_build_time(m, r->rank, e->begin);

    if (t->call_count - r->first > SLACK * r->state->most + MORE)
        keep_longest(t, r->first, r->state->most);
    FV_GROW(t->calls, t->call_room, t->call_count + 1);
    r->call = &t->calls[t->call_count++];
    *r->call = (struct fv_traced_call){ .rank = r->rank,
                                        .thread = r->thread,
                                        .site = fv_numbers_get(&r->sites, e->field[0]),
                                        .comm = FV_NONE,
                                        .root = FV_NONE,
                                        .begin_s = begin_s,
                                        .duration_s = fv_build_time(m, r->rank, e->end) - begin_s };
}

static void add_detail(struct reading *r, const struct fv_event *e)
{
    const uint64_t *f = e->field;
    struct state *s = r->state;

    switch (e->kind) {
    case FV_EV_SEND:
        r->call->bytes += f[3];
        add_half(r, &s->sent, (uint32_t)f[0], (int64_t)f[1], (int64_t)f[2], f[3], true);
        break;
    case FV_EV_ISEND:
        r->call->bytes += f[4];
        add_half(r, &s->sent, (uint32_t)f[1], (int64_t)f[2], (int64_t)f[3], f[4], true);
        break;
    case FV_EV_RECV:
        r->call->bytes += f[3];
        add_half(r, &s->received, (uint32_t)f[0], (int64_t)f[1], (int64_t)f[2], f[3], false);
        break;
    case FV_EV_IRECV:
        if (fv_number_is_id(r->build->files[r->rank].reader, f[0]))
            fv_numbers_set(r->requests, f[0], (uint32_t)f[1]);
        break;
    case FV_EV_RECEIVED:
        r->call->bytes += f[3];
        add_half(r, &s->received, fv_numbers_get(r->requests, f[0]), (int64_t)f[1], (int64_t)f[2], f[3], false);
        break;
    case FV_EV_COLLECTIVE:
        r->call->bytes += f[2] + f[3];
        add_collective(r, (uint32_t)f[0], (int64_t)f[1], f[4]);
        break;
    case FV_EV_ICOLLECTIVE: r->call->bytes += f[3] + f[4]; break;
    default: break;
    }
}

static void read_sites(struct reading *r)
{
    struct fv_build_file *f = &r->build->files[r->rank];
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SITES);
    struct fv_site_record site;

    for (const void *p; (p = fv_cursor_next(&c));) {
        if (c.thread != r->thread)
            continue;
        memcpy(&site, p, sizeof(site));
        uint32_t key[] = { fv_build_function_of(r->build, f, site.function), fv_build_node_of(r->build, f, site.path) };
        fv_numbers_set(&r->sites, c.index, fv_find(&r->build->sites, r->build->model->sites, sizeof(*r->build->model->sites), key, sizeof(key)));
    }
}

static bool has_events(const struct fv_chunk *chunk)
{
    return fv_chunk_has_events(chunk);
}

static void read_thread(struct reading *r)
{
    struct fv_reader *reader = r->build->files[r->rank].reader;
    struct fv_unpacked unpacked = { 0 };
    size_t count;
    const struct fv_chunk **chunks = fv_thread_chunks(reader, r->thread, has_events, &count);
    struct fv_event e;

    if (count)
        read_sites(r);
    for (size_t i = 0; i < count; i++) {
        if (i && chunks[i]->first == chunks[i - 1]->first) /* the same calls, compressed */
            continue;
        struct fv_event_cursor c = fv_reader_events(reader, chunks[i], &unpacked);

        r->call = NULL;
        while (fv_event_next(&c, &e)) {
            if (e.kind == FV_EV_CALL)
                begin_call(r, &e);
            else if (r->call && !fv_event_is_of_thread(e.kind))
                add_detail(r, &e);
        }
        fv_reader_forget(reader, chunks[i]);
    }
    free(chunks);
    fv_unpacked_release(&unpacked);
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
    if (x->time_s != y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Of two halves in order, without what tells messages of one stream apart. */
static int by_stream(const struct half *x, const struct half *y)
{
    struct half a = *x, b = *y;

    a.time_s = b.time_s = 0;
    a.order = b.order = 0;
    return by_order(&a, &b);
}

static int by_size(const void *a, const void *b)
{
    const struct fv_traced_message *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->sent_s > y->sent_s) - (x->sent_s < y->sent_s);
}

static void match(struct fv_traced *t, struct halves *sent, struct halves *received)
{
    size_t i = 0, k = 0;

    if (sent->count)
        qsort(sent->items, sent->count, sizeof(*sent->items), by_order);
    if (received->count)
        qsort(received->items, received->count, sizeof(*received->items), by_order);
    while (i < sent->count && k < received->count) {
        const struct half *s = &sent->items[i], *r = &received->items[k];
        int order = by_stream(s, r);

        if (!order) {
            FV_GROW(t->messages, t->message_room, t->message_count + 1);
            t->messages[t->message_count++] = (struct fv_traced_message){ s->from, s->to, s->time_s, r->time_s, r->bytes };
        }
        i += order <= 0;
        k += order >= 0;
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
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Ranks that entered one collective. */
struct gathering {
    size_t first, count; /* of the entries, by rank */
    size_t last;         /* of them, by time */
};

/* By communicator and sequence. Returns how many; *out is to be freed. */
static size_t gather(const struct state *s, struct gathering **out)
{
    size_t n = 0, room = 0;

    *out = NULL;
    for (size_t i = 0; i < s->entry_count; i++) {
        const struct entry *e = &s->entries[i];

        if (!i || e->comm != e[-1].comm || e->sequence != e[-1].sequence) {
            FV_GROW(*out, room, n + 1);
            (*out)[n++] = (struct gathering){ .first = i, .last = i };
        }
        struct gathering *g = &(*out)[n - 1];
        g->count++;
        if (e->begin_s > s->entries[g->last].begin_s)
            g->last = i;
    }
    return n;
}

/* The rank that it waits for by the function's rule. NULL: none. */
static const struct entry *waited_for(unsigned rule, const struct fv_traced_call *call, uint32_t rank, const struct entry *entries, const struct gathering *g)
{
    const struct entry *late = NULL;

    switch (rule) {
    case FV_RULE_NXN:
    case FV_RULE_BARRIER: return entries + g->last;
    case FV_RULE_TO_ROOT: return rank == call->root ? entries + g->last : NULL;
    case FV_RULE_FROM_ROOT:
    case FV_RULE_SCAN:
        for (const struct entry *e = entries + g->first, *end = e + g->count; e < end; e++)
            if ((rule == FV_RULE_SCAN ? e->rank < rank : e->rank == call->root) && (!late || e->begin_s > late->begin_s))
                late = e;
        return late;
    default: return NULL;
    }
}

/* Where all ranks of the communicator are known to have entered, and when. */
static void find_waits(struct fv_model *m, struct state *s)
{
    struct gathering *gatherings;

    if (s->entry_count)
        qsort(s->entries, s->entry_count, sizeof(*s->entries), by_collective);
    size_t count = gather(s, &gatherings);
    for (size_t i = 0; i < m->traced.call_count; i++) {
        struct fv_traced_call *call = &m->traced.calls[i];
        const struct entry key = { .comm = call->comm, .sequence = call->sequence }, *late;
        size_t at = call->comm == FV_NONE ? count : FV_COUNT_BEFORE(k, count, by_collective(&s->entries[gatherings[k].first], &key) < 0);
        uint32_t rank = (uint32_t)m->ranks[call->rank].world_rank;

        if (at == count || call->site == FV_NONE || gatherings[at].count != m->comms[call->comm].def.size)
            continue;
        late = waited_for(m->functions[m->sites[call->site].function].wait, call, rank, s->entries, &gatherings[at]);
        if (!late || late->rank == rank || late->begin_s <= call->begin_s)
            continue;
        call->wait_s = fmin(late->begin_s - call->begin_s, call->duration_s);
        call->waits_for = late->rank;
    }
    free(gatherings);
}

/* ---- the track ---- */

static void *begin_traced(struct fv_build *b)
{
    struct state *s = fv_xcalloc(1, sizeof(*s));

    s->most = b->traced_calls / (b->model->rank_count ? b->model->rank_count : 1);
    s->most_halves = HALVES / (b->model->rank_count ? b->model->rank_count : 1) + 1;
    return s;
}

static void read_traced(struct fv_build *b, void *state, uint32_t rank)
{
    const struct fv_rank *of = &b->model->ranks[rank];
    size_t first = b->model->traced.call_count;
    struct fv_numbers requests = { 0 };
    struct state *s = state;
    size_t first_sent = s->sent.count, first_received = s->received.count, first_entry = s->entry_count;

    for (uint32_t i = 0; s->most && i < of->threads; i++) {
        struct reading r = { .build = b, .state = s, .rank = rank, .thread = b->model->threads[of->first_thread + i].id, .requests = &requests, .first = first,
                             .first_sent = first_sent, .first_received = first_received, .first_entry = first_entry };

        read_thread(&r);
    }
    keep_longest(&b->model->traced, first, s->most);
    fv_numbers_release(&requests);
}

static void finish_traced(struct fv_build *b, void *state)
{
    struct fv_traced *t = &b->model->traced;
    struct state *s = state;

    match(t, &s->sent, &s->received);
    find_waits(b->model, s);
    if (t->message_count > b->traced_calls) {
        qsort(t->messages, t->message_count, sizeof(*t->messages), by_size);
        t->messages_left_out = t->message_count - b->traced_calls;
        t->message_count = b->traced_calls;
    }
    t->messages_left_out += (s->halves_left_out + 1) / 2;
    if (s->halves_left_out) /* their other ends were, perhaps */
        t->unmatched = 0;
    free(s->sent.items);
    free(s->received.items);
    free(s->entries);
    free(s);
}

const struct fv_track fv_track_traced = {
    "traced", FV_VISIT_REST, { FV_CHUNK_EVENTS, FV_CHUNK_PACKED }, begin_traced, read_traced, finish_traced,
};
