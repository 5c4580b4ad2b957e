/* SPDX-License-Identifier: BSD-3-Clause */
/* See match.h. A hash table of keys, each with a list of items that wait for others; nodes are reused. */
#include "analysis/match.h"
#include "analysis/progress.h"

#include <stdlib.h>
#include <string.h>

#define NOTHING 0u /* of node and key numbers */

struct node {
    struct fv_item item;
    uint32_t next;
};
struct keyed {
    uint64_t key;
    uint32_t next;                    /* of the same bucket, or free */
    uint32_t first, last;             /* nodes */
    uint32_t count : 31, doubled : 1; /* doubled: see match_group() */
};

struct fv_match {
    uint32_t *buckets;
    uint32_t mask;
    struct keyed *keys; /* [0] is not used; so of nodes */
    size_t key_count, key_room;
    struct node *nodes;
    size_t node_count, node_room;
    uint32_t free_key, free_node;
    size_t used;   /* keys */
    uint32_t *met; /* by world rank: in which of the groups that were looked at it was last */
    uint32_t looked_at;
    uint64_t early;    /* as in struct fv_unmatched_counts */
    uint64_t given_up; /* receives whose sends are not in the trace */
    bool is_later_part;
    struct fv_bytes *answers;
    struct fv_item *locks; /* until the end */
    size_t lock_count, lock_room;
};

struct fv_match *fv_match_new(uint32_t world_size, bool is_later_part)
{
    struct fv_match *m = fv_xcalloc(1, sizeof(*m));

    m->is_later_part = is_later_part;
    m->mask = 1023;
    m->buckets = fv_xcalloc(m->mask + 1, sizeof(*m->buckets));
    m->key_count = m->node_count = 1;
    m->met = fv_xcalloc((size_t)world_size + 1, sizeof(*m->met));
    FV_GROW(m->keys, m->key_room, 1);
    FV_GROW(m->nodes, m->node_room, 1);
    return m;
}

void fv_match_free(struct fv_match *m)
{
    if (!m)
        return;
    free(m->buckets);
    free(m->keys);
    free(m->nodes);
    free(m->met);
    free(m->locks);
    free(m);
}

/* ---- the table ---- */

static uint32_t *bucket_of(struct fv_match *m, uint64_t key)
{
    return &m->buckets[(uint32_t)(key >> 32) & m->mask];
}

static void grow(struct fv_match *m)
{
    uint32_t *old = m->buckets, count = m->mask + 1;

    m->mask = m->mask * 2 + 1;
    m->buckets = fv_xcalloc((size_t)m->mask + 1, sizeof(*m->buckets));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = old[i], next; k; k = next) {
            uint32_t *bucket = bucket_of(m, m->keys[k].key);

            next = m->keys[k].next;
            m->keys[k].next = *bucket;
            *bucket = k;
        }
    free(old);
}

static struct keyed *find(struct fv_match *m, uint64_t key)
{
    uint32_t k = *bucket_of(m, key);

    while (k && m->keys[k].key != key)
        k = m->keys[k].next;
    return k ? &m->keys[k] : NULL;
}

static struct keyed *find_or_add(struct fv_match *m, uint64_t key)
{
    struct keyed *found = find(m, key);
    uint32_t k = m->free_key;

    if (found)
        return found;
    if (m->used++ > m->mask)
        grow(m);
    if (k) {
        m->free_key = m->keys[k].next;
    } else {
        FV_GROW(m->keys, m->key_room, m->key_count + 1);
        k = (uint32_t)m->key_count++;
    }
    uint32_t *bucket = bucket_of(m, key);
    m->keys[k] = (struct keyed){ .key = key, .next = *bucket };
    *bucket = k;
    return &m->keys[k];
}

static void drop(struct fv_match *m, struct keyed *keyed)
{
    uint32_t k = (uint32_t)(keyed - m->keys), *link = bucket_of(m, keyed->key);

    while (*link != k)
        link = &m->keys[*link].next;
    *link = keyed->next;
    keyed->next = m->free_key;
    m->free_key = k;
    m->used--;
}

static void push(struct fv_match *m, struct keyed *k, const struct fv_item *item)
{
    uint32_t n = m->free_node;

    if (n) {
        m->free_node = m->nodes[n].next;
    } else {
        FV_GROW(m->nodes, m->node_room, m->node_count + 1);
        n = (uint32_t)m->node_count++;
    }
    m->nodes[n].item = *item;
    m->nodes[n].next = NOTHING;
    if (k->last)
        m->nodes[k->last].next = n;
    else
        k->first = n;
    k->last = n;
    k->count++;
}

/* Takes the node behind `before`, or the first. The key is gone with its last node. */
static void take(struct fv_match *m, struct keyed *k, uint32_t before)
{
    uint32_t *link = before ? &m->nodes[before].next : &k->first, n = *link;

    *link = m->nodes[n].next;
    if (k->last == n)
        k->last = before;
    m->nodes[n].next = m->free_node;
    m->free_node = n;
    if (!--k->count)
        drop(m, k);
}

/* ---- messages ---- */

static uint32_t clip(uint64_t ns)
{
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* One more answer, to be filled in. */
static struct fv_answer *answer(struct fv_match *m, const struct fv_item *by)
{
    struct fv_answer *a = fv_bytes_add(m->answers, sizeof(*a));

    *a = (struct fv_answer){ .ns = by->ns, .cause_line = by->line, .cause_site = by->site, .cause_step = by->step };
    return a;
}

/* It was received before it was sent? */
static bool is_early(const struct fv_item *receive, const struct fv_item *send)
{
    return receive->end && receive->end < send->ns;
}

static void meet(struct fv_match *m, const struct fv_item *send, const struct fv_item *receive)
{
    bool later = send->flags & FV_ITEM_LATER;

    m->early += is_early(receive, send);
    if (receive->reply != FV_NONE) { /* it was not given up */
        struct fv_answer *a = answer(m, send);

        a->line = (uint32_t)receive->extra;
        a->reply = receive->reply;
        a->part_ns = send->extra && send->extra < send->ns ? clip(send->ns - send->extra) : 0;
    }
    /* a blocking one knows its receiver; when that was there before, it has no more to know */
    if (send->reply != FV_NONE && (later || receive->ns > send->ns)) {
        struct fv_answer *a = answer(m, receive);

        a->line = send->line;
        a->reply = send->reply;
        a->later = later;
    }
}

/* What begins in the run has receives of messages that were sent before. By order each would take the next send, and so
 * would all behind it; by times it is seen that it came before. */
static bool comes_before(const struct fv_match *m, const struct fv_item *receive, const struct fv_item *send)
{
    return m->is_later_part && is_early(receive, send);
}

static void match_message(struct fv_match *m, const struct fv_item *item)
{
    struct keyed *k = find_or_add(m, item->key);
    const struct fv_item *first = k->count ? &m->nodes[k->first].item : NULL;

    if (first && first->kind == FV_ITEM_SEND && item->kind == FV_ITEM_RECEIVE && comes_before(m, item, first)) {
        m->given_up++;
        return;
    }
    while (k->count && item->kind == FV_ITEM_SEND && m->nodes[k->first].item.kind == FV_ITEM_RECEIVE &&
           comes_before(m, &m->nodes[k->first].item, item)) {
        m->given_up++;
        take(m, k, 0);
        k = find_or_add(m, item->key);
    }
    if (!k->count || m->nodes[k->first].item.kind == item->kind) {
        push(m, k, item);
        return;
    }
    const struct fv_item *other = &m->nodes[k->first].item;
    bool sends = item->kind == FV_ITEM_SEND;
    meet(m, sends ? item : other, sends ? other : item);
    take(m, k, 0);
}

/* ---- groups ---- */

/* What the members of a group have in common. */
struct summary {
    const struct fv_item *last, *first, *root; /* last, first: of those that give, the root not among them in TO_ROOT */
    uint64_t first_end, last_begin;
    bool lower; /* some depend on those below them */
};

static bool is_later(const struct fv_item *a, const struct fv_item *b)
{
    return a->ns != b->ns ? a->ns > b->ns : a->line < b->line;
}

static struct summary summarise(const struct fv_match *m, const struct keyed *k)
{
    struct summary s = { .first_end = UINT64_MAX };

    for (uint32_t n = k->first; n; n = m->nodes[n].next) {
        const struct fv_item *i = &m->nodes[n].item;

        if (i->flags & FV_ITEM_ROOT && (!s.root || i->line < s.root->line))
            s.root = i;
        s.lower = s.lower || i->form == FV_FORM_LOWER;
        s.first_end = i->end < s.first_end ? i->end : s.first_end;
        s.last_begin = i->ns > s.last_begin ? i->ns : s.last_begin;
        if (!(i->flags & FV_ITEM_GIVES) || (i->form == FV_FORM_TO_ROOT && i->flags & FV_ITEM_ROOT))
            continue;
        if (!s.last || is_later(i, s.last))
            s.last = i;
        if (!s.first || is_later(s.first, i))
            s.first = i;
    }
    return s;
}

static void answer_member(struct fv_match *m, const struct fv_item *to, const struct fv_item *by, uint32_t part_ns)
{
    struct fv_answer *a = answer(m, by);

    a->line = (uint32_t)to->extra;
    a->reply = to->reply;
    a->part_ns = part_ns;
}

/* A call that is over when the last has come may still take its time: from when the first was out, or the
 * last in. */
static uint32_t completion(const struct summary *s, const struct fv_item *i)
{
    uint64_t from = s->first_end > s->last_begin ? s->first_end : s->last_begin;

    return i->flags & FV_ITEM_BLOCKING && i->end > from && i->end != UINT64_MAX ? clip(i->end - from) : 0;
}

/* Of those that a damaged trace has in one place, the first in the world. */
static int by_rank(const void *a, const void *b)
{
    const struct fv_item *x = a, *y = b;

    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

/* A scan: each depends on those below. */
static void answer_lower(struct fv_match *m, const struct keyed *k)
{
    struct fv_item *items = fv_xcalloc(k->count, sizeof(*items));
    const struct fv_item *last = NULL;
    uint32_t count = 0;

    for (uint32_t n = k->first; n; n = m->nodes[n].next)
        items[count++] = m->nodes[n].item;
    qsort(items, count, sizeof(*items), by_rank);
    for (uint32_t i = 0; i < count; i++) {
        if (last && items[i].form == FV_FORM_LOWER)
            answer_member(m, &items[i], last, 0);
        if (!last || is_later(&items[i], last))
            last = &items[i];
    }
    free(items);
}

/* The last of those who take that came before the root had given. */
static const struct fv_item *last_taker(const struct fv_match *m, const struct keyed *k, const struct fv_item *root)
{
    const struct fv_item *last = NULL;

    for (uint32_t n = k->first; n; n = m->nodes[n].next) {
        const struct fv_item *i = &m->nodes[n].item;

        if (i->flags & FV_ITEM_TAKES && !(i->flags & FV_ITEM_ROOT) && i->ns < root->end && (!last || is_later(i, last)))
            last = i;
    }
    return last;
}

/* Who gives in an operation with a root need not wait: messages may be buffered. If it was still in the call when one
 * who takes came, and left soon after, it waited for that one. */
static void answer_giver(struct fv_match *m, const struct keyed *k, const struct fv_item *giver,
                         const struct fv_item *root)
{
    if (!(giver->flags & FV_ITEM_BLOCKING) || giver->end == UINT64_MAX)
        return;
    const struct fv_item *by = giver->form == FV_FORM_FROM_ROOT ? last_taker(m, k, giver) : root;

    if (by && fv_progress_is_wait(giver->ns, by->ns, giver->end))
        answer_member(m, giver, by, 0);
}

static void answer_group(struct fv_match *m, const struct keyed *k)
{
    struct summary s = summarise(m, k);

    for (uint32_t n = k->first; n; n = m->nodes[n].next) {
        const struct fv_item *i = &m->nodes[n].item;
        bool root = i->flags & FV_ITEM_ROOT;

        if (fv_form_gives(i->form, root))
            answer_giver(m, k, i, s.root);
        if (!(i->flags & FV_ITEM_TAKES))
            continue;
        if (i->form == FV_FORM_ALL && s.last)
            answer_member(m, i, s.last, completion(&s, i));
        else if (i->form == FV_FORM_FROM_ROOT && !root && s.root)
            answer_member(m, i, s.root, 0);
        else if (i->form == FV_FORM_TO_ROOT && root && s.last)
            answer_member(m, i, s.last, clip(s.last->ns - s.first->ns));
    }
    if (s.lower)
        answer_lower(m, k);
}

/* ---- completions ---- */

static int by_begin(const void *a, const void *b)
{
    const struct fv_item *x = *(const struct fv_item *const *)a, *y = *(const struct fv_item *const *)b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Who was the last to come back to MPI before this one's call was over? */
static const struct fv_item *last_back(const struct fv_item *const *items, uint32_t count, const struct fv_item *to)
{
    size_t before = FV_COUNT_BEFORE(i, count, items[i]->ns < to->end);

    before -= before && items[before - 1]->line == to->line;
    return before ? items[before - 1] : NULL;
}

static void answer_completions(struct fv_match *m, const struct keyed *k)
{
    const struct fv_item **items = fv_xcalloc(k->count, sizeof(*items));
    uint32_t count = 0;

    for (uint32_t n = k->first; n; n = m->nodes[n].next)
        items[count++] = &m->nodes[n].item;
    qsort(items, count, sizeof(*items), by_begin);
    for (uint32_t i = 0; i < count; i++) {
        const struct fv_item *to = items[i], *by = last_back(items, count, to);

        if (!by || !(to->flags & FV_ITEM_TAKES) || !fv_progress_is_wait(to->ns, by->ns, to->end))
            continue;
        struct fv_answer *a = answer(m, by);
        a->line = to->line;
        a->reply = to->reply;
        a->withheld = true;
        a->outside = by->extra;
        a->part_ns = clip(to->end - by->ns);
    }
    free(items);
}

static bool has_each_once(struct fv_match *m, const struct keyed *k)
{
    m->looked_at++;
    for (uint32_t n = k->first; n; n = m->nodes[n].next) {
        uint32_t *met = &m->met[m->nodes[n].item.member];

        if (*met == m->looked_at)
            return false;
        *met = m->looked_at;
    }
    return true;
}

static void take_all(struct fv_match *m, struct keyed *k)
{
    for (uint32_t left = k->count; left; left--)
        take(m, k, 0);
}

/* In a damaged trace a member may come twice before others come once, or what is one group may say that it is
 * several things. Which comes first must not matter: the first of each member are a group, the second ones
 * another. That is decided when all are there. */
static void match_group(struct fv_match *m, const struct fv_item *item)
{
    struct keyed *k = find_or_add(m, item->key);

    push(m, k, item);
    if (k->doubled || k->count < item->expected)
        return;
    k->doubled = !has_each_once(m, k);
    if (k->doubled)
        return;
    if (item->kind == FV_ITEM_COMPLETION)
        answer_completions(m, k);
    else
        answer_group(m, k);
    take_all(m, k);
}

/* ---- groups of damaged traces ---- */

struct doubled {
    struct fv_item item;
    uint32_t turn; /* the first of its member, the second, ... */
};

static int by_place(const void *a, const void *b)
{
    const struct fv_item *x = &((const struct doubled *)a)->item, *y = &((const struct doubled *)b)->item;

    if (x->kind != y->kind) /* groups, then their completions */
        return x->kind < y->kind ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

static int by_turn(const void *a, const void *b)
{
    const struct doubled *x = a, *y = b;

    if (x->item.key == y->item.key && x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return by_place(a, b);
}

static struct doubled *take_doubled(struct fv_match *m, size_t *count)
{
    struct doubled *out = NULL;
    size_t room = 0;

    *count = 0;
    for (size_t i = 1; i < m->key_count; i++) {
        struct keyed *k = &m->keys[i];

        if (!k->count || !k->doubled)
            continue;
        for (uint32_t n = k->first; n; n = m->nodes[n].next) {
            FV_GROW(out, room, *count + 1);
            out[(*count)++] = (struct doubled){ .item = m->nodes[n].item };
        }
        take_all(m, k);
    }
    return out;
}

static void match_doubled(struct fv_match *m)
{
    size_t count;
    struct doubled *all = take_doubled(m, &count);

    if (count)
        qsort(all, count, sizeof(*all), by_place);
    for (size_t i = 1; i < count; i++)
        if (all[i].item.key == all[i - 1].item.key && all[i].item.member == all[i - 1].item.member)
            all[i].turn = all[i - 1].turn + 1;
    if (count)
        qsort(all, count, sizeof(*all), by_turn);
    for (size_t i = 0; i < count; i++)
        match_group(m, &all[i].item);
    free(all);
}

/* ---- locks ---- */

static int by_release(const void *a, const void *b)
{
    const struct fv_item *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* MPI may lock only when there is something to do, in the unlocking call: of two that overlap, and whose
 * locking calls tell nothing, the one that was over first had the lock first. */
static bool is_behind(const struct fv_item *x, const struct fv_item *y)
{
    return x->key == y->key && x->extra <= y->end && y->extra <= x->end && x->reply > y->end && x->reply > y->reply;
}

/* The one before it had the lock when it was asked for: the locking call waited until it was given back, or,
 * if it was over by then, the unlocking one. */
static void contend(struct fv_match *m, const struct fv_item *before, const struct fv_item *i)
{
    if (before->key != i->key || before->line == i->line || before->flags & i->flags & FV_ITEM_SHARED ||
        before->end <= i->ns)
        return;
    bool locking = before->end < i->extra;
    struct fv_answer *a = answer(m, before);
    a->ns = before->end;
    a->lock = true;
    a->line = locking ? i->member : i->line;
    a->reply = locking ? i->expected : i->step;
}

static void match_locks(struct fv_match *m)
{
    if (m->lock_count)
        qsort(m->locks, m->lock_count, sizeof(*m->locks), by_release);
    for (size_t i = 1; i < m->lock_count; i++)
        if (is_behind(&m->locks[i - 1], &m->locks[i])) {
            struct fv_item was = m->locks[i];

            m->locks[i] = m->locks[i - 1];
            m->locks[i - 1] = was;
        }
    for (size_t i = 1; i < m->lock_count; i++)
        contend(m, &m->locks[i - 1], &m->locks[i]);
    m->lock_count = 0;
}

/* ---- items ---- */

void fv_match_items(struct fv_match *m, const struct fv_item *items, size_t count, struct fv_bytes *answers)
{
    m->answers = answers;
    for (size_t i = 0; i < count; i++)
        switch ((enum fv_item_kind)items[i].kind) {
        case FV_ITEM_SEND:
        case FV_ITEM_RECEIVE: match_message(m, &items[i]); break;
        case FV_ITEM_GROUP:
        case FV_ITEM_COMPLETION: match_group(m, &items[i]); break;
        case FV_ITEM_LOCK:
            FV_GROW(m->locks, m->lock_room, m->lock_count + 1);
            m->locks[m->lock_count++] = items[i];
            break;
        }
}

void fv_match_end(struct fv_match *m, struct fv_bytes *answers)
{
    m->answers = answers;
    match_doubled(m);
    match_locks(m);
}

struct fv_unmatched_counts fv_match_rest(const struct fv_match *m)
{
    struct fv_unmatched_counts u = { .early = m->early, .receives = m->given_up };

    for (uint32_t i = 0; i <= m->mask; i++)
        for (uint32_t k = m->buckets[i]; k; k = m->keys[k].next) {
            const struct keyed *keyed = &m->keys[k];

            switch ((enum fv_item_kind)m->nodes[keyed->first].item.kind) {
            case FV_ITEM_SEND: u.sends += keyed->count; break;
            case FV_ITEM_RECEIVE: u.receives += keyed->count; break;
            case FV_ITEM_GROUP: u.groups++; break;
            default: break;
            }
        }
    return u;
}
