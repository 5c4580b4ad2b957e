/* SPDX-License-Identifier: BSD-3-Clause */
/* See receives.h. Open receives of the same envelope are in a chain, in the order of posting, so that what
 * holds a message back is found among the heads of four chains. What is held back is with the first of them,
 * and looked at again when that is over: what comes costs the same however many are open. */
#include "analysis/receives.h"

#include <stdlib.h>
#include <string.h>

enum state { OVER, OPEN, HELD };
struct fv_receive {
    uint64_t number;             /* in the order of posting */
    struct fv_envelope envelope; /* as posted; HELD: of the message */
    uint32_t before, next;       /* of its chain; next: of those that are over, or that are held by one */
    uint32_t holds;              /* the first of those that this one holds back */
    enum state state;
    struct fv_item item;
};

void fv_receives_init(struct fv_receives *r, void (*tell)(void *context, const struct fv_item *item), void *context)
{
    *r = (struct fv_receives){ .tell = tell, .context = context, .free = FV_NONE };
}

void fv_receives_release(struct fv_receives *r)
{
    fv_pendings_release(&r->chains);
    free(r->items);
    free(r->order);
}

static uint32_t new_receive(struct fv_receives *r, struct fv_envelope envelope, const struct fv_item *item)
{
    uint32_t at = r->free;

    if (at != FV_NONE) {
        r->free = r->items[at].next;
    } else {
        FV_GROW(r->items, r->room, r->count + 1);
        at = (uint32_t)r->count++;
    }
    r->items[at] = (struct fv_receive){
        .number = ++r->posted, .envelope = envelope, .before = FV_NONE, .next = FV_NONE, .holds = FV_NONE, .item = *item
    };
    return at;
}

static void end_receive(struct fv_receives *r, uint32_t at)
{
    r->items[at].state = OVER;
    r->items[at].next = r->free;
    r->free = at;
}

/* ---- chains ---- */

static uint64_t key_of(struct fv_envelope e)
{
    return fv_mix2(e.comm, (uint64_t)e.peer << 32 | e.tag) | 1; /* 0 would be none */
}

static void chain(struct fv_receives *r, uint32_t at)
{
    uint64_t key = key_of(r->items[at].envelope);
    struct fv_pending *c = fv_pendings_find(&r->chains, key);

    r->items[at].state = OPEN;
    if (!c) {
        fv_pendings_add(&r->chains, &(struct fv_pending){ .number = key, .sent = at, .received = at });
        return;
    }
    r->items[at].before = (uint32_t)c->received;
    r->items[c->received].next = at;
    c->received = at;
}

static void unchain(struct fv_receives *r, uint32_t at)
{
    struct fv_receive *p = &r->items[at];
    struct fv_pending *c = fv_pendings_find(&r->chains, key_of(p->envelope));

    if (p->before != FV_NONE)
        r->items[p->before].next = p->next;
    if (p->next != FV_NONE)
        r->items[p->next].before = p->before;
    if (p->before == FV_NONE && p->next == FV_NONE)
        fv_pendings_remove(&r->chains, c);
    else if (p->before == FV_NONE)
        c->sent = p->next;
    else if (p->next == FV_NONE)
        c->received = p->before;
    p->before = p->next = FV_NONE;
}

/* ---- holding back ---- */

/* The first open receive that was posted before this one and could have taken its message. */
static uint32_t holder_of(struct fv_receives *r, const struct fv_receive *p)
{
    const struct fv_envelope e = p->envelope;
    const struct fv_envelope as_posted[] = { e,
                                             { e.comm, (uint32_t)FV_ANY_PEER, e.tag },
                                             { e.comm, e.peer, FV_ANY_TAG },
                                             { e.comm, (uint32_t)FV_ANY_PEER, FV_ANY_TAG } };
    uint64_t first = p->number;
    uint32_t holder = FV_NONE;

    for (unsigned i = 0; i < 4 && r->chains.count; i++) {
        const struct fv_pending *c = fv_pendings_find(&r->chains, key_of(as_posted[i]));

        if (c && r->items[c->sent].number < first) {
            holder = (uint32_t)c->sent;
            first = r->items[holder].number;
        }
    }
    return holder;
}

/* Those of the same envelope that came and were posted before are told before: they are held by the same. */
static void tell_or_hold(struct fv_receives *r, uint32_t at)
{
    struct fv_receive *p = &r->items[at];
    uint32_t holder = holder_of(r, p);

    if (holder == FV_NONE) {
        r->tell(r->context, &p->item);
        end_receive(r, at);
        return;
    }
    p->state = HELD;
    p->next = r->items[holder].holds;
    r->items[holder].holds = at;
}

static const struct fv_receive *order_items; /* of qsort */

static int by_posting(const void *a, const void *b)
{
    uint64_t x = order_items[*(const uint32_t *)a].number, y = order_items[*(const uint32_t *)b].number;

    return (x > y) - (x < y);
}

static void sort(struct fv_receives *r, size_t count)
{
    order_items = r->items;
    if (count > 1)
        qsort(r->order, count, sizeof(*r->order), by_posting);
}

static void let_go(struct fv_receives *r, uint32_t held)
{
    size_t count = 0;

    for (; held != FV_NONE; held = r->items[held].next) {
        FV_GROW(r->order, r->order_room, count + 1);
        r->order[count++] = held;
    }
    sort(r, count);
    for (size_t i = 0; i < count; i++)
        tell_or_hold(r, r->order[i]);
}

/* ---- from the rank ---- */

uint32_t fv_receives_post(struct fv_receives *r, struct fv_envelope as_posted, const struct fv_item *item)
{
    uint32_t at = new_receive(r, as_posted, item);

    chain(r, at);
    return at;
}

struct fv_item *fv_receives_item(struct fv_receives *r, uint32_t at)
{
    return &r->items[at].item;
}

void fv_receives_come(struct fv_receives *r, uint32_t at, struct fv_envelope message)
{
    uint32_t held = r->items[at].holds;

    unchain(r, at);
    r->items[at].holds = FV_NONE;
    r->items[at].envelope = message;
    tell_or_hold(r, at);
    let_go(r, held);
}

void fv_receives_cancel(struct fv_receives *r, uint32_t at)
{
    uint32_t held = r->items[at].holds;

    unchain(r, at);
    end_receive(r, at);
    let_go(r, held);
}

void fv_receives_now(struct fv_receives *r, struct fv_envelope message, const struct fv_item *item)
{
    if (r->chains.count)
        tell_or_hold(r, new_receive(r, message, item));
    else
        r->tell(r->context, item);
}

void fv_receives_rest(struct fv_receives *r)
{
    size_t count = 0;

    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].state == HELD) {
            FV_GROW(r->order, r->order_room, count + 1);
            r->order[count++] = (uint32_t)i;
        }
    sort(r, count);
    for (size_t i = 0; i < count; i++)
        r->tell(r->context, &r->items[r->order[i]].item);
    r->count = 0;
    r->free = FV_NONE;
    fv_pendings_release(&r->chains);
}
