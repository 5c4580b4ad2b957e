/* SPDX-License-Identifier: BSD-3-Clause */
/* See hang.h, from the lists on: who can go on, backwards from those who do; then the cycles among the rest,
 * as strongly connected components; and at last whom the others wait for. Each in a time that grows as ranks
 * and lists do. */
#include "profile/hang/hang.h"
#include "tool/vec.h"

#include <stdlib.h>

/* ---- who can go on ---- */

/* For each rank the lists that it is on, and for each list the ranks that wait for it. */
struct reverse {
    uint32_t *first, *lists; /* first[rank] .. first[rank + 1] of lists */
    uint32_t *user, *next;   /* user[list]: first rank + 1; next[rank] */
};

static void reverse_init(struct reverse *out, const struct fv_hang *h)
{
    out->first = fv_xcalloc((size_t)h->rank_count + 2, sizeof(*out->first));
    out->lists = fv_xcalloc(h->target_count + 1, sizeof(*out->lists));
    out->user = fv_xcalloc(h->list_count + 1, sizeof(*out->user));
    out->next = fv_xcalloc(h->rank_count, sizeof(*out->next));
    for (size_t i = 0; i < h->target_count; i++)
        out->first[h->targets[i] + 2]++;
    for (uint32_t i = 0; i < h->rank_count; i++)
        out->first[i + 2] += out->first[i + 1];
    for (uint32_t l = 0; l < h->list_count; l++)
        for (uint32_t i = 0; i < h->lists[l].count; i++)
            out->lists[out->first[h->targets[h->lists[l].first + i] + 1]++] = l;
    for (uint32_t i = h->rank_count; i-- > 0;)
        if (h->ranks[i].state == FV_HANG_WAITS) {
            out->next[i] = out->user[h->ranks[i].list];
            out->user[h->ranks[i].list] = i + 1;
        }
}

static void reverse_release(struct reverse *r)
{
    free(r->first);
    free(r->lists);
    free(r->user);
    free(r->next);
}

/* From those who go on to all whom they free. */
static void find_stuck(struct fv_hang *h, const struct reverse *r)
{
    uint32_t *queue = fv_xcalloc(h->rank_count, sizeof(*queue)), head = 0, tail = 0;
    uint32_t *needed = fv_xcalloc(h->list_count + 1, sizeof(*needed));

    for (uint32_t l = 0; l < h->list_count; l++)
        needed[l] = h->lists[l].any ? 1 : h->lists[l].count;
    for (uint32_t i = 0; i < h->rank_count; i++) {
        const struct fv_hang_rank *rank = &h->ranks[i];
        bool open = rank->state == FV_HANG_WAITS && h->lists[rank->list].open && h->lists[rank->list].any;

        h->ranks[i].stuck =
            !open && (rank->state == FV_HANG_WAITS || rank->state == FV_HANG_ENDED || rank->state == FV_HANG_DEAD);
        if (!h->ranks[i].stuck)
            queue[tail++] = i;
    }
    for (; head < tail; head++)
        for (uint32_t k = r->first[queue[head]]; k < r->first[queue[head] + 1]; k++) {
            uint32_t l = r->lists[k];

            if (!needed[l] || --needed[l])
                continue;
            for (uint32_t u = r->user[l]; u; u = r->next[u - 1])
                if (h->ranks[u - 1].stuck) {
                    h->ranks[u - 1].stuck = false;
                    queue[tail++] = u - 1;
                }
        }
    free(queue);
    free(needed);
}

/* ---- cycles ---- */

/* Tarjan's algorithm over ranks and lists, which are nodes alike: a rank's one edge leads to its list, a
 * list's edges to its ranks. With a stack of its own, because a chain may be as long as the run has ranks. */
struct search {
    const struct fv_hang *h;
    uint32_t *order, *low, *at; /* by node: number, 0 not met; lowest reached; edges done */
    uint32_t *stack, *path;
    bool *on_stack;
    uint32_t count, stack_used, path_used;
};

static uint32_t node_edge(const struct fv_hang *h, uint32_t node, uint32_t k)
{
    if (node < h->rank_count)
        return k == 0 && h->ranks[node].stuck && h->ranks[node].state == FV_HANG_WAITS
                   ? h->rank_count + h->ranks[node].list
                   : FV_NONE;
    const struct fv_hang_list *l = &h->lists[node - h->rank_count];
    return k < l->count ? h->targets[l->first + k] : FV_NONE;
}

static void push(struct search *s, uint32_t node)
{
    s->order[node] = s->low[node] = ++s->count;
    s->stack[s->stack_used++] = s->path[s->path_used++] = node;
    s->on_stack[node] = true;
}

/* The component that ends at `node`: a cycle if it holds several ranks, or one that waits for itself alone.
 * Who receives from anyone is on the list, too. */
static void pop_component(struct search *s, struct fv_hang *h, uint32_t node)
{
    uint32_t begin = s->stack_used;

    while (s->stack[--begin] != node)
        ;
    uint32_t ranks = 0, alone = 0;
    for (uint32_t i = begin; i < s->stack_used; i++)
        if (s->stack[i] < h->rank_count)
            ranks++;
        else
            alone = h->lists[s->stack[i] - h->rank_count].count == 1;
    bool cyclic = ranks > 1 || (ranks && alone);
    if (cyclic) {
        FV_GROW(h->cycles, h->cycle_room, h->cycle_count + 1);
        h->cycles[h->cycle_count] = (struct fv_hang_cycle){ 0 };
    }
    for (uint32_t i = begin; i < s->stack_used; i++) {
        s->on_stack[s->stack[i]] = false;
        if (cyclic && s->stack[i] < h->rank_count) {
            h->ranks[s->stack[i]].cycle = (uint32_t)h->cycle_count;
            h->cycles[h->cycle_count].count++;
        }
    }
    h->cycle_count += cyclic;
    s->stack_used = begin;
}

static void search_from(struct search *s, struct fv_hang *h, uint32_t start)
{
    push(s, start);
    while (s->path_used) {
        uint32_t node = s->path[s->path_used - 1], to = node_edge(h, node, s->at[node]++);

        if (to == FV_NONE) {
            if (s->low[node] == s->order[node])
                pop_component(s, h, node);
            s->path_used--;
            if (s->path_used) {
                uint32_t parent = s->path[s->path_used - 1];
                s->low[parent] = s->low[node] < s->low[parent] ? s->low[node] : s->low[parent];
            }
        } else if (!s->order[to]) {
            push(s, to);
        } else if (s->on_stack[to] && s->order[to] < s->low[node]) {
            s->low[node] = s->order[to];
        }
    }
}

/* Breadth first, from a cycle's lowest rank back to it. */
struct breadth {
    uint32_t cycle, start;
    uint32_t *from; /* by rank: where it was met from, + 1 */
    uint32_t *queue, tail;
    uint8_t *lists; /* 1: looked at; 2: and the start is on it */
};

/* Looks at a rank's list. True: it leads back to the start. One who is on a list of several waits for the
 * others. */
static bool look_at(const struct fv_hang *h, struct breadth *b, uint32_t rank)
{
    uint32_t list = h->ranks[rank].list;
    const struct fv_hang_list *l = &h->lists[list];

    for (uint32_t i = 0; !b->lists[list] && i < l->count; i++) {
        uint32_t to = h->targets[l->first + i];

        if (to != b->start && h->ranks[to].cycle == b->cycle && !b->from[to]) {
            b->from[to] = rank + 1;
            b->queue[b->tail++] = to;
        }
    }
    for (uint32_t i = 0; !b->lists[list] && i < l->count; i++)
        if (h->targets[l->first + i] == b->start)
            b->lists[list] = 2;
    if (!b->lists[list])
        b->lists[list] = 1;
    return b->lists[list] == 2 && (rank != b->start || l->count == 1);
}

static void order_cycle(const struct fv_model *m, struct fv_hang *h, uint32_t cycle)
{
    struct fv_hang_cycle *c = &h->cycles[cycle];
    struct breadth b = { .cycle = cycle };
    uint32_t head = 0, last = FV_NONE;

    b.from = fv_xcalloc(h->rank_count, sizeof(*b.from));
    b.queue = fv_xcalloc(h->rank_count, sizeof(*b.queue));
    b.lists = fv_xcalloc(h->list_count + 1, sizeof(*b.lists));
    while (h->ranks[b.start].cycle != cycle)
        b.start++;
    b.queue[b.tail++] = b.start;
    for (; head < b.tail && last == FV_NONE; head++)
        if (look_at(h, &b, b.queue[head]))
            last = b.queue[head];
    c->lasting = true;
    c->order = fv_xcalloc(c->count, sizeof(*c->order));
    for (uint32_t at = last; at != FV_NONE; at = at == b.start ? FV_NONE : b.from[at] - 1)
        c->length++;
    for (uint32_t at = last, i = c->length; at != FV_NONE; at = at == b.start ? FV_NONE : b.from[at] - 1) {
        c->order[--i] = at;
        c->lasting = c->lasting && m->ranks[at].in_call.seconds >= FV_HANG_LASTING_S;
    }
    free(b.from);
    free(b.queue);
    free(b.lists);
}

/* Ranks by the call that they wait in. */
struct alike {
    uint64_t function, comm; /* its key */
    uint32_t ranks;
};
struct calls {
    struct fv_index index;
    struct alike *items;
    size_t count, room;
};

static struct alike *alike(const struct fv_model *m, struct calls *c, uint32_t rank)
{
    const struct fv_in_call_view *in = &m->ranks[rank].in_call;

    return FV_INTERNED(c->index, c->items, c->count, c->room, (uint64_t[]){ in->function, in->comm });
}

static bool is_p2p(const struct fv_model *m, uint32_t rank)
{
    unsigned class = m->functions[m->ranks[rank].in_call.function].class;

    return class == FV_CLASS_P2P || class == FV_CLASS_COMPLETION;
}

/* Is it rather that one's fault? Of two calls that are as rare, a message is lost rather than a collective. */
static bool is_rather(const struct fv_model *m, const struct fv_hang *h, struct calls *c, uint32_t a, uint32_t b)
{
    uint32_t mine = alike(m, c, a)->ranks, other = alike(m, c, b)->ranks;

    if (mine != other)
        return mine < other;
    if (is_p2p(m, a) != is_p2p(m, b))
        return is_p2p(m, a);
    return h->ranks[a].direct > h->ranks[b].direct;
}

static void find_culprits(const struct fv_model *m, struct fv_hang *h)
{
    struct calls calls = { .count = 0 };

    for (uint32_t i = 0; i < h->rank_count; i++)
        if (h->ranks[i].state == FV_HANG_WAITS && m->ranks[i].in_call.active)
            alike(m, &calls, i)->ranks++;
    for (size_t i = 0; i < h->cycle_count; i++) {
        struct fv_hang_cycle *c = &h->cycles[i];

        c->culprit = c->length ? c->order[0] : FV_NONE;
        for (uint32_t k = 1; k < c->length; k++)
            if (is_rather(m, h, &calls, c->order[k], c->culprit))
                c->culprit = c->order[k];
    }
    free(calls.items);
    fv_index_release(&calls.index);
}

#define CYCLES_ORDERED 64u

static void find_cycles(const struct fv_model *m, struct fv_hang *h)
{
    size_t nodes = h->rank_count + h->list_count;
    struct search s = { .h = h };

    s.order = fv_xcalloc(nodes, sizeof(*s.order));
    s.low = fv_xcalloc(nodes, sizeof(*s.low));
    s.at = fv_xcalloc(nodes, sizeof(*s.at));
    s.stack = fv_xcalloc(nodes, sizeof(*s.stack));
    s.path = fv_xcalloc(nodes, sizeof(*s.path));
    s.on_stack = fv_xcalloc(nodes, sizeof(*s.on_stack));
    for (uint32_t i = 0; i < h->rank_count; i++)
        if (h->ranks[i].stuck && !s.order[i])
            search_from(&s, h, i);
    for (uint32_t i = 0; i < h->cycle_count && i < CYCLES_ORDERED; i++)
        order_cycle(m, h, i);
    free(s.order);
    free(s.low);
    free(s.at);
    free(s.stack);
    free(s.path);
    free(s.on_stack);
}

/* ---- whom the others wait for ---- */

/* All who wait, directly or through others, for ranks in `state` that somebody waits for. */
static void find_cause(struct fv_hang *h, const struct reverse *r, enum fv_hang_state state)
{
    struct fv_hang_cause cause = { .state = state };
    uint32_t *queue = fv_xcalloc((size_t)h->rank_count * 2, sizeof(*queue)), head = 0, tail = 0;
    bool *met = fv_xcalloc(h->rank_count, sizeof(*met)), *list_met = fv_xcalloc(h->list_count + 1, sizeof(*list_met));

    cause.ranks = fv_xcalloc(h->rank_count, sizeof(*cause.ranks));
    for (uint32_t i = 0; i < h->rank_count; i++)
        if (h->ranks[i].state == state && h->ranks[i].direct) {
            cause.ranks[cause.count++] = queue[tail++] = i;
            met[i] = true;
        }
    for (; head < tail; head++)
        for (uint32_t k = r->first[queue[head]]; k < r->first[queue[head] + 1]; k++) {
            uint32_t l = r->lists[k];

            for (uint32_t u = list_met[l] ? 0 : r->user[l]; u; u = r->next[u - 1])
                if (!met[u - 1]) {
                    met[u - 1] = true;
                    queue[tail++] = u - 1;
                    cause.first_waiting = cause.waiting++ ? cause.first_waiting : u - 1;
                }
            list_met[l] = true;
        }
    free(queue);
    free(met);
    free(list_met);
    if (!cause.waiting) {
        free(cause.ranks);
        return;
    }
    FV_GROW(h->causes, h->cause_room, h->cause_count + 1);
    h->causes[h->cause_count++] = cause;
}

/* Of causes that as many wait for, those first that do not go away by themselves. */
static const enum fv_hang_state cause_states[] = { FV_HANG_DEAD, FV_HANG_STOPPED, FV_HANG_ACTIVE,  FV_HANG_ENDED,
                                                   FV_HANG_ASKS, FV_HANG_UNTOLD,  FV_HANG_MATCHED, FV_HANG_RECENT };
enum { CAUSE_STATES = sizeof(cause_states) / sizeof(*cause_states) };

static unsigned place_of(enum fv_hang_state state)
{
    unsigned i = 0;

    while (i < CAUSE_STATES && cause_states[i] != state)
        i++;
    return i;
}

static int by_waiting(const void *a, const void *b)
{
    const struct fv_hang_cause *x = a, *y = b;

    if (x->waiting != y->waiting)
        return x->waiting > y->waiting ? -1 : 1;
    return (int)place_of(x->state) - (int)place_of(y->state);
}

static void find_causes(struct fv_hang *h, const struct reverse *r)
{
    uint32_t *users = fv_xcalloc(h->list_count + 1, sizeof(*users));

    for (uint32_t i = 0; i < h->rank_count; i++)
        if (h->ranks[i].state == FV_HANG_WAITS)
            users[h->ranks[i].list]++;
    for (uint32_t i = 0; i < h->rank_count; i++)
        for (uint32_t k = r->first[i]; k < r->first[i + 1]; k++)
            h->ranks[i].direct +=
                users[r->lists[k]] - (h->ranks[i].state == FV_HANG_WAITS && h->ranks[i].list == r->lists[k]);
    free(users);
    for (size_t i = 0; i < CAUSE_STATES; i++)
        find_cause(h, r, cause_states[i]);
    if (h->cause_count)
        qsort(h->causes, h->cause_count, sizeof(*h->causes), by_waiting);
}

void fv_hang_solve(const struct fv_model *m, struct fv_hang *h)
{
    struct reverse r;

    reverse_init(&r, h);
    find_stuck(h, &r);
    find_cycles(m, h);
    find_causes(h, &r);
    find_culprits(m, h);
    reverse_release(&r);
    h->lasting = true;
    bool goes_on = false;
    for (uint32_t i = 0; i < h->rank_count; i++) {
        const enum fv_hang_state state = h->ranks[i].state;

        h->asking += state == FV_HANG_ASKS;
        goes_on |= state != FV_HANG_ASKS && state != FV_HANG_WAITS && state != FV_HANG_ENDED && state != FV_HANG_DEAD;
        if (state != FV_HANG_WAITS)
            continue;
        h->waiting++;
        h->stuck += h->ranks[i].stuck;
        h->lasting = h->lasting && m->ranks[i].in_call.seconds >= FV_HANG_LASTING_S;
    }
    h->lasting = h->lasting && h->waiting;
    h->asking = goes_on ? 0 : h->asking;
}
