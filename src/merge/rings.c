/* SPDX-License-Identifier: BSD-3-Clause */
/* See rings.h. Two passes over the events of each rank: the first finds where its kinds of messages begin, the second,
 * when the other ranks' begins are known, which messages are left out. Only kinds are held in memory in between. */
#include "merge/rings.h"
#include "experiment/chunks.h"
#include "merge/groups.h"
#include "merge/merge.h"
#include "merge/replay_state.h"

#include <stdlib.h>
#include <string.h>

/* Sends or receives of a kind, on one rank. */
struct kind {
    uint64_t key;
    uint64_t first, next; /* numbers that are there, one behind the other, are from first to next - 1; 0: none yet */
    uint64_t before;      /* receives of them that were posted before what is told */
    uint64_t begin;       /* from here on both ends are there */
    bool sends, broken;   /* broken: numbers are missing */
};

/* A receive that was posted in what is told. */
struct receive {
    size_t kind;
    uint64_t place;
};

struct begin {
    uint64_t key, begin;
};

/* The kinds of one rank, between the passes. */
struct kinds {
    struct kind *items;
    size_t count, room;
    struct fv_pendings index; /* by key and direction: item */
    bool unsent;              /* a send was taken back, of which nothing else is known */
};

struct pass {
    struct fv_merge *merge;
    const struct fv_groups *groups;
    struct kinds *kinds; /* of the rank at hand */
    uint32_t world;
    bool second;
    struct fv_pendings posted; /* second: places of receives, by request */
    struct receive *receives;  /* second: of kinds that leave out some */
    size_t receive_count, receive_room;
    uint8_t *bits;
    size_t bits_room;
    uint64_t messages;
};

/* ---- kinds ---- */

static struct kind *kind_of(struct pass *p, const struct fv_record *m, bool sends)
{
    uint32_t peer = fv_groups_peer(p->groups, m->ref, p->world, m->peer);

    if (peer == FV_NONE)
        return NULL;
    const uint64_t ends = sends ? (uint64_t)p->world << 32 | peer : (uint64_t)peer << 32 | p->world,
                   key = fv_mix2(fv_mix2(m->ref, ends), m->tag), own = (key & ~UINT64_C(3)) | 2 | sends;
    struct kinds *k = p->kinds;
    const struct fv_pending *known = fv_pendings_find(&k->index, own);

    if (known)
        return &k->items[known->sent];
    FV_GROW(k->items, k->room, k->count + 1);
    k->items[k->count] = (struct kind){ .key = key, .sends = sends };
    fv_pendings_add(&k->index, &(struct fv_pending){ .number = own, .sent = k->count });
    return &k->items[k->count++];
}

/* The first pass. What has no number before the first that has one is left out; it is counted in that number. */
static void note(struct kind *k, uint64_t number)
{
    if (!number && !k->next)
        return;
    if (!k->next)
        k->first = k->next = number;
    k->broken = k->broken || number != k->next || number == FV_RING_UNKNOWN;
    k->next++;
}

static void break_kind(struct kind *k)
{
    if (k)
        k->broken = true;
}

/* ---- places ---- */

static void leave_out(struct pass *p, uint64_t place)
{
    const size_t byte = place / 8, had = p->bits_room;

    FV_GROW(p->bits, p->bits_room, byte + 1);
    memset(p->bits + had, 0, p->bits_room - had);
    p->bits[byte] |= (uint8_t)(1u << place % 8);
    p->messages = place >= p->messages ? place + 1 : p->messages;
}

static void choose_send(struct pass *p, const struct kind *k, uint64_t number, uint64_t place)
{
    if (k->broken || number < k->begin || number == FV_RING_UNKNOWN)
        leave_out(p, place);
}

static void choose_receive(struct pass *p, const struct kind *k, uint64_t number, uint64_t place)
{
    if (k->broken || !number || k->begin == UINT64_MAX) {
        leave_out(p, place);
    } else if (k->begin > k->first + k->before) {
        FV_GROW(p->receives, p->receive_room, p->receive_count + 1);
        p->receives[p->receive_count++] = (struct receive){ (size_t)(k - p->kinds->items), place };
    }
}

static int by_place(const void *a, const void *b)
{
    const struct receive *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* The first that were posted. */
static void choose_receives(struct pass *p)
{
    uint64_t left = 0;

    if (p->receive_count)
        qsort(p->receives, p->receive_count, sizeof(*p->receives), by_place);
    for (size_t i = 0; i < p->receive_count; i++) {
        const struct kind *k = &p->kinds->items[p->receives[i].kind];

        if (!i || p->receives[i].kind != p->receives[i - 1].kind)
            left = k->begin - (k->first + k->before);
        if (left) {
            leave_out(p, p->receives[i].place);
            left--;
        }
    }
}

/* ---- records ---- */

static void met(struct pass *p, const struct fv_record *m, bool sends, uint64_t number, uint64_t place)
{
    struct kind *k = kind_of(p, m, sends);

    if (!k)
        return;
    if (!p->second)
        note(k, number);
    else if (sends)
        choose_send(p, k, number, place);
    else
        choose_receive(p, k, number, place);
}

/* Of MPI_Imrecv, which does not say which probe's message it takes: nothing of the kind is told. */
static void met_posted(struct pass *p, const struct fv_record *m)
{
    if (m->op && !p->second)
        break_kind(kind_of(p, m, false));
    else if (m->op)
        leave_out(p, m->aux);
    else if (p->second)
        fv_pendings_add(&p->posted, &(struct fv_pending){ .number = m->id, .sent = m->aux });
}

static void met_received(struct pass *p, const struct fv_record *m)
{
    struct kind *k = m->op && !p->second ? kind_of(p, m, false) : NULL;

    if (k) {
        note(k, m->sent);
        k->before += k->next != 0;
    } else if (!m->op && !p->second) {
        met(p, m, false, m->sent, 0);
    } else if (!m->op) {
        struct fv_pending *posted = fv_pendings_find(&p->posted, m->id);

        if (!posted)
            return;
        met(p, m, false, m->sent, posted->sent);
        fv_pendings_remove(&p->posted, posted);
    }
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *m)
{
    struct pass *p = sink->context;

    (void)slot;
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_SEND:
    case FV_REC_ISEND: met(p, m, true, m->received, m->aux); break;
    case FV_REC_RECEIVE:
        if (!m->id) /* else a probe told it */
            met(p, m, false, m->sent, m->aux);
        break;
    case FV_REC_MATCHED: met(p, m, false, m->sent, m->aux); break;
    case FV_REC_IRECEIVE: met_posted(p, m); break;
    case FV_REC_IRECEIVE_END: met_received(p, m); break;
    case FV_REC_CANCEL:
        if (m->aux == 1 && !p->second)
            break_kind(kind_of(p, m, true));
        else if (m->aux == 2 && !p->second)
            p->kinds->unsent = true;
        break;
    default: break;
    }
    return true;
}

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

static void look(struct pass *p, const struct fv_rings *rings, size_t file)
{
    struct fv_merge *m = p->merge;
    const uint32_t rank = m->files[file].rank;
    const struct fv_replay replay = {
        .defs = &m->defs, .clocks = &m->clocks, .calls = m->calls, .views = rings->views
    };
    struct fv_sink sink = { .context = p, .open = open_location, .put = put, .close = close_location };
    struct fv_location_stats *locations = fv_xcalloc(m->defs.ranks[rank].thread_count + 1, sizeof(*locations));
    struct fv_replay_stats stats = { 0 };

    p->world = m->defs.ranks[rank].world_rank;
    rings->views[rank].numbered = true;
    fv_replay_rank(&replay, rank, m->files[file].reader, &m->files[file].map, &sink, locations, &stats);
    rings->views[rank].numbered = false;
    fv_reader_forget(m->files[file].reader, NULL);
    free(locations);
}

/* ---- begins ---- */

static void find_begins(struct fv_rings *r, struct fv_merge *m)
{
    for (size_t i = 0; i < m->file_count; i++) {
        const uint32_t rank = m->files[i].rank;
        uint32_t piece = 0;
        struct fv_ring_view *v = &r->views[rank];
        uint64_t lost;

        v->begin_ticks = m->files[i].reader ? fv_ring_begin(m->files[i].reader, &lost) : 0;
        if (!v->begin_ticks)
            continue;
        const int64_t ns = fv_clock_ns(&m->clocks.lines[m->clocks.of_rank[rank]], v->begin_ticks, &piece);
        r->any = true;
        r->from_ns = ns > 0 && (uint64_t)ns > r->from_ns ? (uint64_t)ns : r->from_ns;
    }
    r->any = fv_transport_any(m->transport, r->any);
    fv_transport_max(m->transport, &r->from_ns, 1);
}

/* ---- what the other ranks have ---- */

static int by_key(const void *a, const void *b)
{
    const struct begin *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

static void take_later(void *to, const void *from)
{
    struct begin *a = to;
    const struct begin *b = from;

    a->begin = b->begin > a->begin ? b->begin : a->begin;
}

static uint64_t begin_of_kind(const struct kind *k)
{
    return k->broken ? UINT64_MAX : k->first + k->before;
}

/* Those that begin with their first message need not be told. */
static void put_begins(const struct kinds *kinds, size_t count, struct fv_bytes *out)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < kinds[i].count; k++) {
            const struct begin b = { kinds[i].items[k].key, begin_of_kind(&kinds[i].items[k]) };

            if (b.begin > 1)
                fv_bytes_put(out, &b, sizeof(b));
        }
}

static void share_begins(const struct fv_transport *t, struct fv_bytes *bytes)
{
    if (t->rank)
        fv_transport_put(t, 0, bytes);
    for (int i = 1; !t->rank && i < t->size; i++)
        fv_transport_get(t, i, bytes);
    if (!t->rank)
        bytes->count = sizeof(struct begin) * fv_fold(bytes->data, bytes->count / sizeof(struct begin),
                                                      sizeof(struct begin), by_key, take_later);
    fv_transport_share(t, bytes);
}

static void set_begins(struct kinds *kinds, size_t count, const struct fv_bytes *bytes)
{
    const struct begin *all = (const struct begin *)(const void *)bytes->data;
    const size_t all_count = bytes->count / sizeof(*all);

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < kinds[i].count; k++) {
            struct kind *kind = &kinds[i].items[k];
            size_t at = FV_COUNT_BEFORE(n, all_count, all[n].key < kind->key);

            kind->begin = at < all_count && all[at].key == kind->key ? all[at].begin : 1;
        }
}

/* ---- all of it ---- */

static void first_pass(struct fv_rings *r, struct pass *p, struct kinds *kinds, size_t file)
{
    p->kinds = &kinds[file];
    p->second = false;
    look(p, r, file);
    for (size_t i = 0; i < p->kinds->count; i++) {
        struct kind *k = &p->kinds->items[i];

        k->broken = k->broken || (k->sends && p->kinds->unsent);
        r->unknown += k->broken;
    }
}

static void second_pass(struct fv_rings *r, struct pass *p, struct kinds *kinds, size_t file)
{
    struct fv_ring_view *v = &r->views[p->merge->files[file].rank];

    p->kinds = &kinds[file];
    p->second = true;
    p->bits = NULL;
    p->bits_room = 0;
    p->messages = 0;
    p->receive_count = 0;
    look(p, r, file);
    choose_receives(p);
    fv_pendings_release(&p->posted);
    v->left_out = p->bits;
    v->messages = p->messages;
}

static void release_kinds(struct kinds *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(kinds[i].items);
        fv_pendings_release(&kinds[i].index);
    }
    free(kinds);
}

static void choose(struct fv_rings *r, struct fv_merge *m)
{
    struct kinds *kinds = fv_xcalloc(m->file_count + 1, sizeof(*kinds));
    struct fv_bytes begins = { 0 };
    struct fv_groups groups;
    struct pass pass = { .merge = m, .groups = &groups };

    fv_groups_init(&groups, &m->defs);
    for (size_t i = 0; i < m->file_count; i++)
        first_pass(r, &pass, kinds, i);
    put_begins(kinds, m->file_count, &begins);
    share_begins(m->transport, &begins);
    set_begins(kinds, m->file_count, &begins);
    for (size_t i = 0; i < m->file_count; i++)
        second_pass(r, &pass, kinds, i);
    free(pass.receives);
    free(begins.data);
    fv_groups_release(&groups);
    release_kinds(kinds, m->file_count);
}

void fv_rings_find(struct fv_rings *r, struct fv_merge *m, bool common)
{
    *r = (struct fv_rings){ .count = m->defs.rank_count };
    r->views = fv_xcalloc(r->count + 1, sizeof(*r->views));
    find_begins(r, m);
    if (!r->any) {
        fv_rings_release(r);
        return;
    }
    for (size_t i = 0; common && i < r->count; i++)
        r->views[i].from_ns = r->from_ns;
    choose(r, m);
}

void fv_rings_release(struct fv_rings *r)
{
    for (size_t i = 0; r->views && i < r->count; i++)
        free((void *)(uintptr_t)r->views[i].left_out);
    free(r->views);
    *r = (struct fv_rings){ 0 };
}
