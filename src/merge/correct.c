/* SPDX-License-Identifier: BSD-3-Clause */
/* See correct.h. The events are replayed to a sink that keeps what is to be matched, with times that no
 * correction has moved; each round moves and compares what was kept. */
#include "merge/correct.h"
#include "merge/groups.h"
#include "merge/requests.h"
#include "tool/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CONSTANT_ROUNDS = 8, POLYGON_ROUNDS = 24, WINDOWS = 64, PARTS_MAX = 64 };

enum item_kind { SENT, RECEIVED, TOGETHER };
struct item {
    uint64_t key, order; /* order: among those of this key and kind */
    int64_t begin_ns, end_ns;
    uint32_t line;
    uint8_t kind;
    bool gives, takes; /* of a collective call: others wait for it, it waits for others */
    bool dead;         /* a send that was cancelled */
};

struct collector {
    struct fv_merge *merge;
    const uint32_t *line_of; /* by world rank; FV_NONE: no file */
    struct fv_groups groups;
    struct item *items;
    size_t count, room, most;
    uint64_t part, parts; /* of the keys */
    bool overflow;
    /* of the rank at hand: */
    uint32_t rank, line;
    uint64_t order;
    struct fv_pendings pending;
    int64_t *coll_begin; /* by slot */
    size_t slot_room;
};

/* ---- collecting ---- */

static struct item *add_item(struct collector *c, uint64_t key, enum item_kind kind)
{
    if ((fv_mix(key) >> 8) % c->parts != c->part)
        return NULL;
    if (c->count == c->most) {
        c->overflow = true;
        return NULL;
    }
    FV_GROW(c->items, c->room, c->count + 1);
    struct item *i = &c->items[c->count++];
    *i = (struct item){ .key = key, .order = c->order++, .line = c->line, .kind = (uint8_t)kind };
    return i;
}

static struct item *add_message(struct collector *c, const struct fv_record *r, bool sent)
{
    uint32_t peer = fv_groups_peer(&c->groups, r->ref, c->rank, r->peer);

    if (peer == FV_NONE || c->line_of[peer] == FV_NONE || c->line_of[peer] == c->line)
        return NULL;
    uint64_t ends = sent ? (uint64_t)c->rank << 32 | peer : (uint64_t)peer << 32 | c->rank;
    struct item *i = add_item(c, fv_mix2(fv_mix2(r->ref, ends), r->tag), sent ? SENT : RECEIVED);
    if (i)
        i->begin_ns = i->end_ns = (int64_t)r->time_ns;
    return i;
}

/* Which calls depend on which, where it is certain: not where a rank may have had nothing to send. */
static void add_collective(struct collector *c, const struct fv_record *r, int64_t begin_ns)
{
    const struct fv_def_comm *comm = &c->merge->defs.comms[r->ref];
    bool gives = r->sent > 0, takes = r->received > 0;

    switch (r->op) {
    case FV_OP_BARRIER: gives = takes = true; break;
    case FV_OP_BCAST:
    case FV_OP_SCATTER:
    case FV_OP_GATHER:
    case FV_OP_REDUCE:
    case FV_OP_ALLGATHER:
    case FV_OP_ALLTOALL:
    case FV_OP_ALLREDUCE:
    case FV_OP_REDUCE_SCATTER_BLOCK: break;
    default: return;
    }
    if (comm->size < 2 || comm->remote_size || comm->owner != FV_NOBODY || r->aux == FV_NONE || r->tag)
        return;
    struct item *i = add_item(c, ~fv_mix2(r->ref, r->aux), TOGETHER);
    if (i) {
        i->begin_ns = begin_ns;
        i->end_ns = (int64_t)r->time_ns;
        i->gives = gives;
        i->takes = takes;
    }
}

static void begin_pending(struct collector *c, const struct fv_record *r, uint64_t what)
{
    fv_pendings_add(&c->pending, &(struct fv_pending){ .number = r->id, .sent = what });
}

static bool end_pending(struct collector *c, uint64_t id, uint64_t *what)
{
    struct fv_pending *p = fv_pendings_find(&c->pending, id);

    if (!p)
        return false;
    *what = p->sent;
    fv_pendings_remove(&c->pending, p);
    return true;
}

/* The number of a send among the items, so that it can be taken back. */
static void add_posted_send(struct collector *c, const struct fv_record *r)
{
    struct item *i = add_message(c, r, true);

    if (i)
        begin_pending(c, r, (uint64_t)(i - c->items));
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *r)
{
    struct collector *c = sink->context;
    struct item *i;
    uint64_t what;

    switch ((enum fv_record_kind)r->kind) {
    case FV_REC_SEND: add_message(c, r, true); break;
    case FV_REC_ISEND: add_posted_send(c, r); break;
    case FV_REC_RECEIVE: add_message(c, r, false); break;
    case FV_REC_IRECEIVE: begin_pending(c, r, c->order++); break;
    case FV_REC_IRECEIVE_END: /* messages match in the order in which the receives were posted */
        if (end_pending(c, r->id, &what) && (i = add_message(c, r, false)))
            i->order = what;
        break;
    case FV_REC_ISEND_END: end_pending(c, r->id, &what); break;
    case FV_REC_CANCEL:
        if (end_pending(c, r->id, &what) && what < c->count && c->items[what].kind == SENT)
            c->items[what].dead = true;
        break;
    case FV_REC_COLL_BEGIN: c->coll_begin[slot] = (int64_t)r->time_ns; break;
    case FV_REC_COLL_END: add_collective(c, r, c->coll_begin[slot]); break;
    case FV_REC_ICOLL_BEGIN: begin_pending(c, r, r->time_ns); break;
    case FV_REC_ICOLL_END:
        if (end_pending(c, r->id, &what))
            add_collective(c, r, (int64_t)what);
        break;
    default: break;
    }
    return !c->overflow;
}

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct collector *c = sink->context;

    FV_GROW(c->coll_begin, c->slot_room, (size_t)slot + 1);
    c->coll_begin[slot] = 0;
    c->rank = (uint32_t)location;
    c->line = c->line_of[c->rank];
    return true;
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

static void collect(struct collector *c)
{
    struct fv_merge *m = c->merge;
    const struct fv_replay replay = {
        .defs = &m->defs, .clocks = &m->clocks, .calls = m->calls, .views = m->rings.views
    };
    struct fv_sink sink = { .context = c, .open = open_location, .put = put, .close = close_location };

    c->count = 0;
    c->overflow = false;
    for (size_t i = 0; i < m->file_count && !c->overflow; i++) {
        uint32_t threads = m->defs.ranks[m->files[i].rank].thread_count;
        struct fv_location_stats *locations = fv_xcalloc(threads, sizeof(*locations));
        struct fv_replay_stats stats = { 0 };

        fv_replay_rank(&replay, m->files[i].rank, m->files[i].reader, &m->files[i].map, &sink, locations, &stats);
        free(locations);
        fv_reader_forget(m->files[i].reader, NULL);
        fv_pendings_release(&c->pending);
    }
}

/* ---- matching ---- */

static int by_key(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

struct needs {
    uint64_t *of; /* ns, [line][window] */
    uint32_t windows;
    int64_t width_ns;
    const struct fv_clocks *clocks;
    struct fv_correction *result;
    uint64_t early;
};

static int64_t corrected(const struct needs *n, uint32_t line, int64_t ns)
{
    return fv_clock_shifted(&n->clocks->lines[line].shift, ns);
}

/* What ended at `end_ns` of its clock could not have ended before `begin_ns`, which is corrected. */
static void check(struct needs *n, uint32_t line, int64_t begin_ns, int64_t end_ns)
{
    n->result->checked++;
    end_ns = corrected(n, line, end_ns);
    if (end_ns >= begin_ns)
        return;
    n->early++;
    int64_t window = end_ns / n->width_ns;
    window = window < 0 ? 0 : window >= n->windows ? n->windows - 1 : window;
    uint64_t *need = &n->of[(size_t)line * n->windows + (size_t)window];
    uint64_t by = (uint64_t)(begin_ns - end_ns);
    *need = by > *need ? by : *need;
}

static void match_messages(struct needs *n, const struct item *items, size_t count)
{
    size_t sent = 0, dead = 0;

    while (sent < count && items[sent].kind == SENT)
        dead += items[sent++].dead;
    if (2 * sent - dead != count) {
        n->result->skipped += count;
        return;
    }
    for (size_t s = 0, r = sent; r < count; s++, r++) {
        while (items[s].dead)
            s++;
        check(n, items[r].line, corrected(n, items[s].line, items[s].begin_ns), items[r].end_ns);
    }
}

static void match_collective(struct needs *n, const struct item *items, size_t count)
{
    const struct item *last = NULL;
    int64_t last_ns = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t ns = corrected(n, items[i].line, items[i].begin_ns);

        if (items[i].gives && (!last || ns > last_ns)) {
            last = &items[i];
            last_ns = ns;
        }
    }
    for (size_t i = 0; last && i < count; i++)
        if (items[i].takes && items[i].line != last->line)
            check(n, items[i].line, last_ns, items[i].end_ns);
}

/* ---- what was collected ---- */

#define RESIDENT_BYTES (4 << 20) /* of the file: about so much is in memory */

/* All items of this process's keys, those of a key one behind the other. */
struct store {
    const char *directory;
    struct fv_bytes items; /* in memory, or ... */
    char *path;            /* ... in a file without a name; path: for messages */
    int file;              /* -1: none */
    size_t count;
    struct item *map;
};

static bool store_failed(const struct store *s, int error)
{
    fv_log(
        "%s: %s; clocks cannot be corrected without this file. Give more --memory, or name another directory with -o",
        s->path, strerror(error));
    return false;
}

static bool open_file(struct store *s, int rank)
{
    size_t room = strlen(s->directory) + 60;

    s->path = fv_xcalloc(room, 1);
    snprintf(s->path, room, "%s/.fvunify-clocks-%d", s->directory, rank);
    s->file = fv_new_file(s->path, O_RDWR, 0600);
    if (s->file < 0)
        return store_failed(s, errno);
    unlink(s->path); /* nothing is ever left behind */
    return true;
}

static bool write_items(struct store *s, const struct fv_bytes *in)
{
    for (size_t at = 0; at < in->count;) {
        ssize_t n = write(s->file, in->data + at, in->count - at);

        if (n < 0 && errno != EINTR)
            return store_failed(s, errno);
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* In memory if these are all. */
static bool keep(struct store *s, const struct fv_bytes *in, bool all, int rank)
{
    s->count += in->count / sizeof(struct item);
    if (all) {
        fv_bytes_put(&s->items, in->data, in->count);
        return true;
    }
    return (s->file >= 0 || open_file(s, rank)) && write_items(s, in);
}

static bool keep_nothing(struct store *s)
{
    s->count = s->items.count = 0;
    return s->file < 0 || (!ftruncate(s->file, 0) && !lseek(s->file, 0, SEEK_SET)) || store_failed(s, errno);
}

static bool map_items(struct store *s)
{
    void *map = s->items.data;

    if (s->count && s->file >= 0)
        map = mmap(NULL, s->count * sizeof(struct item), PROT_READ, MAP_SHARED, s->file, 0);
    if (map == MAP_FAILED)
        return store_failed(s, errno);
    s->map = map;
    return true;
}

static void release_store(struct store *s)
{
    if (s->map && s->file >= 0)
        munmap(s->map, s->count * sizeof(struct item));
    if (s->file >= 0)
        close(s->file);
    free(s->items.data);
    free(s->path);
}

static void match(struct needs *n, const struct store *s)
{
    const struct item *items = s->map;
    size_t looked_at = 0;

    for (size_t i = 0, end; i < s->count; i = end) {
        for (end = i + 1; end < s->count && items[end].key == items[i].key; end++)
            ;
        if (items[i].kind == TOGETHER)
            match_collective(n, items + i, end - i);
        else
            match_messages(n, items + i, end - i);
        looked_at += (end - i) * sizeof(*items);
        if (s->file >= 0 && looked_at > RESIDENT_BYTES) {
            madvise(s->map, s->count * sizeof(*items), MADV_DONTNEED);
            looked_at = 0;
        }
    }
}

/* Each key has one process where all that belongs to it meets. */
static void exchange(struct collector *c, struct fv_bytes *in)
{
    const struct fv_transport *t = c->merge->transport;
    struct fv_bytes *out = fv_xcalloc((size_t)t->size, sizeof(*out));

    for (size_t i = 0; i < c->count; i++)
        fv_bytes_put(&out[(fv_mix(~c->items[i].key) >> 8) % (uint64_t)t->size], &c->items[i], sizeof(*c->items));
    in->count = 0;
    fv_transport_exchange(t, out, in);
    for (int i = 0; i < t->size; i++)
        free(out[i].data);
    free(out);
}

/* Collective: all items, by as few replays of all events as the memory allows. */
static bool collect_all(struct collector *c, struct store *s)
{
    const struct fv_transport *t = c->merge->transport;
    struct fv_bytes in = { 0 };
    bool good = true;

    for (c->part = 0; c->part < c->parts && good;) {
        collect(c);
        if (fv_transport_any(t, c->overflow)) { /* smaller shares, from the first key on */
            if (c->parts < PARTS_MAX)
                c->parts *= 2;
            else
                c->most *= 2; /* one channel alone is too much: it cannot be shared out */
            c->part = 0;
            good = keep_nothing(s);
        } else {
            exchange(c, &in);
            if (in.count)
                qsort(in.data, in.count / sizeof(struct item), sizeof(struct item), by_key);
            good = keep(s, &in, c->parts == 1, t->rank);
            c->part++;
        }
        good = !fv_transport_any(t, !good);
    }
    free(in.data);
    free(c->items);
    c->items = NULL;
    return !fv_transport_any(t, !good || !map_items(s));
}

/* One look at all messages; how many are early. */
static uint64_t look(const struct store *s, struct needs *n, const struct fv_transport *t)
{
    n->early = 0;
    n->result->checked = n->result->skipped = 0;
    memset(n->of, 0, (size_t)n->clocks->line_count * n->windows * sizeof(*n->of));
    match(n, s);
    fv_transport_sum(t, &n->early, 1);
    fv_transport_max(t, n->of, (size_t)n->clocks->line_count * n->windows);
    return n->early;
}

/* ---- moving ---- */

static void set_windows(struct fv_clocks *clocks, struct needs *n, uint32_t windows, int64_t length_ns)
{
    n->windows = windows;
    n->width_ns = length_ns / windows + 1;
    free(n->of);
    n->of = fv_xcalloc((size_t)clocks->line_count * windows, sizeof(*n->of));
    for (uint32_t k = 0; k < clocks->line_count; k++) {
        struct fv_clock_shift *s = &clocks->lines[k].shift;

        free(s->at_knot);
        *s = (struct fv_clock_shift){ .at_knot = fv_xcalloc(windows + 1, sizeof(int64_t)),
                                      .knots = windows + 1,
                                      .width_ns = n->width_ns };
    }
}

/* Both ends of a window rise by what it needs; no slope may turn time around. */
static void move(struct fv_clocks *clocks, const struct needs *n)
{
    for (uint32_t k = 0; k < clocks->line_count; k++) {
        struct fv_clock_shift *s = &clocks->lines[k].shift;
        const uint64_t *need = n->of + (size_t)k * n->windows;

        for (uint32_t i = 0; i < s->knots; i++) {
            uint64_t before = i ? need[i - 1] : 0, after = i < n->windows ? need[i] : 0;
            uint64_t more = before > after ? before : after;

            more = more < (uint64_t)FV_CLOCK_LONGEST ? more : (uint64_t)FV_CLOCK_LONGEST;
            s->at_knot[i] += more ? (int64_t)more + (n->windows > 1) : 0; /* 1 ns for rounding */
            if (s->at_knot[i] > FV_CLOCK_LONGEST)
                s->at_knot[i] = FV_CLOCK_LONGEST;
        }
        for (uint32_t i = 1; i < s->knots; i++)
            if (s->at_knot[i] < s->at_knot[i - 1] - s->width_ns / 2)
                s->at_knot[i] = s->at_knot[i - 1] - s->width_ns / 2;
    }
}

static uint64_t repeat(struct fv_merge *m, const struct store *s, struct needs *n, unsigned rounds)
{
    uint64_t early = look(s, n, m->transport);

    if (!n->result->rounds)
        n->result->early = early;
    for (unsigned i = 0; i < rounds && early; i++) {
        n->result->rounds++;
        move(&m->clocks, n);
        early = look(s, n, m->transport);
    }
    return early;
}

static void correct(struct fv_merge *m, const struct store *s, struct fv_correction *out)
{
    struct needs n = { .clocks = &m->clocks, .result = out };
    int64_t length = fv_clocks_length(&m->clocks, &m->defs);

    set_windows(&m->clocks, &n, 1, length);
    out->left = repeat(m, s, &n, CONSTANT_ROUNDS);
    if (out->left) {
        set_windows(&m->clocks, &n, WINDOWS, length);
        out->left = repeat(m, s, &n, POLYGON_ROUNDS);
    }
    for (uint32_t k = 0; k < m->clocks.line_count; k++)
        for (uint32_t i = 0; i < m->clocks.lines[k].shift.knots; i++)
            if (m->clocks.lines[k].shift.at_knot[i] > out->largest_ns)
                out->largest_ns = m->clocks.lines[k].shift.at_knot[i];
    fv_transport_sum(m->transport, &out->checked, 1);
    fv_transport_sum(m->transport, &out->skipped, 1);
    free(n.of);
}

bool fv_correct(struct fv_merge *m, const char *directory, uint64_t memory, struct fv_correction *out)
{
    uint32_t *line_of = fv_xcalloc((size_t)m->defs.world_size + 1, sizeof(*line_of));
    struct collector c = { .merge = m, .line_of = line_of, .parts = 1, .most = memory / (3 * sizeof(struct item)) };
    struct store s = { .directory = directory, .file = -1 };

    *out = (struct fv_correction){ 0 };
    fv_groups_init(&c.groups, &m->defs);
    for (uint32_t i = 0; i < m->defs.world_size; i++)
        line_of[i] = FV_NONE;
    for (uint32_t i = 0; i < m->defs.rank_count; i++)
        line_of[m->defs.ranks[i].world_rank] = m->clocks.of_rank[i];
    bool good = collect_all(&c, &s);
    if (good)
        correct(m, &s, out);
    release_store(&s);
    fv_groups_release(&c.groups);
    free(c.coll_begin);
    free(line_of);
    return good;
}
