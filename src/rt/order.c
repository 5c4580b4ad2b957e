/* SPDX-License-Identifier: BSD-3-Clause */
/* See order.h. A table of counts in private memory. The number is told where a thread's chunk has none of its kind yet
 * (enum fv_event_kind ORDER): so chunks can go, or be lost, and what is left still says its place.
 *
 * Rejected: counts in the file, updated in place. A process that is killed between an event and its count would have
 * all of that kind off by one. */
#include "rt/order.h"

#define PLACES_LEAST (UINT32_C(1) << 13)
#define PLACES_MOST  (UINT32_C(1) << 20)
#define BYTES_EACH   64u /* of the ring, for a place in the table */
#define UNKNOWN      UINT64_MAX

struct order {
    uint64_t key;
    uint64_t count; /* UNKNOWN: a send was taken back */
    uint64_t turn;  /* of the chunk that it was told in */
};

static struct fv_lock lock;
static struct fv_map orders; /* of struct order */

static uint32_t most_places(void)
{
    const uint64_t places = fv_rt.options.trace_keep / BYTES_EACH;

    return places < PLACES_LEAST ? PLACES_LEAST : places > PLACES_MOST ? PLACES_MOST : (uint32_t)places;
}

/* Two that are not alike have the same one once in 10^9 tables that are full. */
static struct order *find(uint64_t comm, uint64_t peer, uint64_t tag, bool sends)
{
    uint64_t key = fv_mix2(fv_mix2(comm << 1 | sends, peer), tag);

    return fv_map_add(&orders, sizeof(struct order), key + !key, most_places());
}

static bool count(const struct fv_events *e, uint64_t comm, uint64_t peer, uint64_t tag, bool sends, bool tell,
                  uint64_t *number)
{
    if (fv_rt.thread_multiple)
        fv_lock(&lock);
    struct order *o = find(comm, peer, tag, sends);
    *number = 0;
    if (o && o->count != UNKNOWN)
        *number = ++o->count;
    if (!o || o->turn != (uint64_t)e->turn + 1)
        tell = true;
    if (o)
        o->turn = (uint64_t)e->turn + 1; /* 0: it was never told */
    if (fv_rt.thread_multiple)
        fv_unlock(&lock);
    return tell;
}

bool fv_order_of(const struct fv_events *e, unsigned kind, const uint64_t *field, uint64_t *number)
{
    switch (kind) {
    case FV_EV_SEND: return count(e, field[0], field[1], field[2], true, false, number);
    case FV_EV_ISEND: return count(e, field[1], field[2], field[3], true, false, number);
    case FV_EV_RECV: return count(e, field[0], field[1], field[2], false, false, number);
    case FV_EV_MATCHED: return count(e, field[1], field[2], field[3], false, false, number);
    default: return false;
    }
}

bool fv_order_received(const struct fv_events *e, uint32_t comm, uint64_t request, int peer, int tag, uint64_t *number)
{
    return count(e, comm, (uint64_t)(int64_t)peer, (uint64_t)(int64_t)tag, false, request <= e->first_request, number);
}

void fv_order_unsent(uint32_t comm, int peer, int tag)
{
    if (fv_rt.thread_multiple)
        fv_lock(&lock);
    struct order *o = find(comm, (uint64_t)(int64_t)peer, (uint64_t)(int64_t)tag, true);
    if (o) {
        o->count = UNKNOWN;
        o->turn = 0;
    }
    if (fv_rt.thread_multiple)
        fv_unlock(&lock);
}
