/* Traces that are rings: random histories of one rank that sends and one that receives, of which each has kept another
 * part. Each message has a length of its own, so that pairs which are matched by their order show what they are. */
#include "merge/rings.h"
#include "trace_builder.h"
#include "unit.h"

#include <stdlib.h>

enum { MESSAGES = 60, TAGS = 3, CALLS = 4 * MESSAGES };

/* What the rank does in one call. */
struct act {
    enum fv_event_kind kind;
    uint32_t tag, length, request;
    bool any_tag;
};

struct history {
    struct act acts[2][CALLS];
    uint32_t count[2];
};

static uint32_t below(uint32_t most)
{
    return (uint32_t)(rand() % (int)most);
}

static void do_one(struct history *h, unsigned rank, struct act act)
{
    h->acts[rank][h->count[rank]++] = act;
}

/* All messages are there before the first is received: a receive takes its message when it is posted. */
static void live(struct history *h)
{
    uint32_t tags[MESSAGES], open[MESSAGES], open_count = 0, requests = 0;
    bool taken[MESSAGES] = { false };
    struct act posted[MESSAGES];

    *h = (struct history){ .count = { 0 } };
    for (uint32_t i = 0; i < MESSAGES; i++) {
        tags[i] = below(TAGS);
        do_one(h, 0, (struct act){ below(2) ? FV_EV_SEND : FV_EV_ISEND, tags[i], i + 1, i + 1, false });
    }
    for (uint32_t left = MESSAGES; left || open_count;) {
        const uint32_t what = below(3), tag = below(TAGS + 1), at = open_count ? below(open_count) : 0;
        uint32_t i = 0;

        if (what == 2 || !left) {
            if (open_count) {
                do_one(h, 1, posted[open[at]]);
                open[at] = open[--open_count];
            }
            continue;
        }
        while (i < MESSAGES && (taken[i] || (tag < TAGS && tags[i] != tag)))
            i++;
        if (i == MESSAGES)
            continue;
        taken[i] = true;
        left--;
        struct act act = { what ? FV_EV_RECV : FV_EV_IRECV, tags[i], i + 1, 0, tag == TAGS };
        if (!what) {
            act.request = ++requests;
            posted[requests - 1] = act;
            posted[requests - 1].kind = FV_EV_RECEIVED;
            open[open_count++] = requests - 1;
        }
        do_one(h, 1, act);
    }
}

/* What a rank's library writes. */
struct writing {
    uint64_t count[TAGS], turn[TAGS], now, requests, first_request;
};

static void tell_order(struct events *e, struct writing *w, const struct act *act)
{
    const bool early = act->kind == FV_EV_RECEIVED && act->request <= w->first_request;

    if (act->kind == FV_EV_IRECV)
        return;
    w->count[act->tag]++;
    if (early || w->turn[act->tag] != w->now)
        EVENT(e, ORDER, 1, w->count[act->tag]);
    w->turn[act->tag] = w->now;
}

static void tell_act(struct events *e, const struct act *a)
{
    switch (a->kind) {
    case FV_EV_SEND: EVENT(e, SEND, 1, 1, a->tag, a->length); break;
    case FV_EV_ISEND: EVENT(e, ISEND, a->request, 1, 1, a->tag, a->length); break;
    case FV_EV_RECV: EVENT(e, RECV, 1, 0, a->tag, a->length); break;
    case FV_EV_IRECV: EVENT(e, IRECV, a->request, 1, 0, a->any_tag ? (uint64_t)-1 : a->tag); break;
    default: EVENT(e, RECEIVED, a->request, 0, a->tag, a->length);
    }
}

static unsigned site_of(enum fv_event_kind kind)
{
    return kind == FV_EV_SEND    ? SEND
           : kind == FV_EV_ISEND ? ISEND
           : kind == FV_EV_RECV  ? RECV
           : kind == FV_EV_IRECV ? IRECV
                                 : WAIT;
}

/* The chunks from the `lost`-th on. A call is put together before it is known that the next chunk has to begin. */
static void write_rank(struct fvr *f, const struct history *h, unsigned rank, unsigned lost)
{
    struct writing w = { .now = 1 };
    uint64_t first = 0, ticks = 1000000000;
    struct events e;

    rank_file(f, (int)rank, 2);
    f->header.trace_keep = 65536;
    fvr_thread(f, 0, true, h->count[rank], 1, NULL);
    begin_events(&e, ticks);
    for (uint32_t i = 0; i < h->count[rank]; i++) {
        const struct act *act = &h->acts[rank][i];
        struct events details = { .count = 0 };

        tell_order(&details, &w, act);
        tell_act(&details, act);
        w.requests += act->kind == FV_EV_IRECV;
        if (i && !below(12)) {
            if (w.now > lost)
                fvr_chunk(f, FV_CHUNK_EVENTS, 0, first, e.bytes, e.count);
            w.now++;
            w.first_request = w.requests;
            first = i;
            begin_events(&e, ticks);
        }
        call(&e, site_of(act->kind), ticks + 5, ticks + 10);
        memcpy(e.bytes + e.count, details.bytes, details.count);
        e.count += details.count;
        ticks += 10;
    }
    fvr_chunk(f, FV_CHUNK_EVENTS, 0, first, e.bytes, e.count);
}

/* ---- what is told ---- */

struct told {
    uint32_t lengths[TAGS][CALLS], count[TAGS];
    uint32_t posted[CALLS], posted_count; /* requests and lengths, in the order of posting: length << 8 | tag */
    uint32_t place[MESSAGES + 1];         /* by request: among these + 1 */
};

static bool open_told(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    (void)sink, (void)slot, (void)location;
    return true;
}

static bool put_told(struct fv_sink *sink, uint32_t slot, const struct fv_record *r)
{
    struct told *t = sink->context;

    (void)slot;
    switch (r->kind) {
    case FV_REC_SEND:
    case FV_REC_ISEND: t->lengths[r->tag][t->count[r->tag]++] = (uint32_t)r->sent; break;
    case FV_REC_RECEIVE: t->posted[t->posted_count++] = (uint32_t)r->received << 8 | r->tag; break;
    case FV_REC_IRECEIVE: t->place[r->id] = ++t->posted_count; break;
    case FV_REC_IRECEIVE_END:
        assert_that(t->place[r->id], >, 0);
        t->posted[t->place[r->id] - 1] = (uint32_t)r->received << 8 | r->tag;
        break;
    }
    return true;
}

static bool close_told(struct fv_sink *sink, uint32_t slot)
{
    (void)sink, (void)slot;
    return true;
}

static void tell(struct fv_merge *m, const struct fv_rings *rings, uint32_t file, struct told *out)
{
    const struct fv_replay r = { .defs = &m->defs, .clocks = &m->clocks, .calls = m->calls, .views = rings->views };
    struct fv_sink sink = { .context = out, .open = open_told, .put = put_told, .close = close_told };
    struct fv_location_stats locations[2] = { 0 };
    struct fv_replay_stats stats = { 0 };

    *out = (struct told){ .posted_count = 0 };
    assert_true(
        fv_replay_rank(&r, m->files[file].rank, m->files[file].reader, &m->files[file].map, &sink, locations, &stats));
    assert_int_equal(stats.lost, 0);
}

/* Returns how many pairs there are; each of one length. */
static unsigned match(struct fv_merge *m, const struct fv_rings *rings)
{
    uint32_t next[TAGS] = { 0 };
    struct told sent, received;
    unsigned pairs = 0;

    tell(m, rings, 0, &sent);
    tell(m, rings, 1, &received);
    for (uint32_t i = 0; i < received.posted_count; i++) {
        const uint32_t tag = received.posted[i] & 0xff, length = received.posted[i] >> 8;

        if (!length || next[tag] >= sent.count[tag])
            continue;
        assert_int_equal(sent.lengths[tag][next[tag]++], length);
        pairs++;
    }
    return pairs;
}

static void random_histories(void **state)
{
    unsigned pairs = 0, common_pairs = 0;

    (void)state;
    srand(1);
    for (unsigned i = 0; i < 3000; i++) {
        struct fv_rings common;
        struct history h;
        struct fv_merge m;
        struct fvr f[2];

        live(&h);
        for (unsigned rank = 0; rank < 2; rank++)
            write_rank(&f[rank], &h, rank, below(rank ? 6 : 4));
        merge_files(&m, f, 2);
        pairs += match(&m, &m.rings);
        fv_rings_find(&common, &m, true);
        assert_int_equal(common.any, m.rings.any);
        common_pairs += match(&m, &common);
        assert_that(common.unknown, ==, 0);
        fv_rings_release(&common);
        fv_merge_close(&m);
        fvr_release(&f[0]);
        fvr_release(&f[1]);
    }
    assert_that(pairs, >, 3000 * MESSAGES / 4); /* most is kept */
    assert_that(common_pairs, >, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_histories),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
