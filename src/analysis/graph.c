/* See graph.h. */
#include "analysis/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t call_before(const struct fv_steps *s, uint32_t line, uint32_t number)
{
    do
        number--;
    while (number && fv_step(s, line, number)->flags & FV_STEP_MORE);
    return number;
}

static uint32_t call_behind(const struct fv_steps *s, uint32_t line, uint32_t number)
{
    do
        number++;
    while (number < s->lines[line].count && fv_step(s, line, number)->flags & FV_STEP_MORE);
    return number;
}

/* When the call before ended, or the line began. */
static uint64_t end_before(const struct fv_steps *s, uint32_t line, uint32_t number)
{
    return number ? fv_step(s, line, number - 1)->end : s->lines[line].begin_ns;
}

/* ---- the heap: which line is next ---- */

struct next {
    uint64_t time;
    uint32_t line, phase;
};
struct heap {
    struct next *items;
    size_t count, room;
};

static bool comes_first(const struct next *a, const struct next *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->phase != b->phase ? a->phase < b->phase : a->line < b->line;
}

static void sink_down(struct heap *h, size_t i, struct next item)
{
    for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
        child += child + 1 < h->count && comes_first(&h->items[child + 1], &h->items[child]);
        if (comes_first(&item, &h->items[child]))
            break;
        h->items[i] = h->items[child];
    }
    h->items[i] = item;
}

static void heap_push(struct heap *h, struct next item)
{
    FV_GROW(h->items, h->room, h->count + 1);
    size_t i = h->count++;

    for (; i && comes_first(&item, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
        h->items[i] = h->items[(i - 1) / 2];
    h->items[i] = item;
}

/* Puts another in the place of the first. */
static void heap_replace(struct heap *h, struct next item)
{
    sink_down(h, 0, item);
}

static void heap_pop(struct heap *h)
{
    h->count--;
    if (h->count)
        sink_down(h, 0, h->items[h->count]);
}

/* ---- the ideal network ---- */

enum { BEGIN, END };

struct meeting {  /* of all that take part in an operation */
    uint64_t key; /* 0: free */
    double latest;
    uint32_t in, out;
};
struct meetings {
    struct meeting *slots;
    size_t mask, count;
};

static struct meeting *meeting_of(struct meetings *m, uint64_t key)
{
    size_t at = fv_mix(key) & m->mask;

    while (m->slots[at].key && m->slots[at].key != key)
        at = (at + 1) & m->mask;
    return &m->slots[at];
}

/* Leaves out those that are over; the table grows with those that are not. */
static void tidy(struct meetings *m)
{
    struct meetings old = *m;
    size_t live = 0;

    for (size_t i = 0; old.slots && i <= old.mask; i++)
        live += old.slots[i].key && old.slots[i].out < old.slots[i].in;
    for (m->mask = 255; live * 4 >= m->mask;)
        m->mask = m->mask * 2 + 1;
    m->count = live;
    m->slots = fv_xcalloc(m->mask + 1, sizeof(*m->slots));
    for (size_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].key && old.slots[i].out < old.slots[i].in)
            *meeting_of(m, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

static struct meeting *meet(struct meetings *m, uint64_t key)
{
    if (m->count * 2 >= m->mask)
        tidy(m);
    struct meeting *at = meeting_of(m, key);
    if (!at->key) {
        *at = (struct meeting){ .key = key };
        m->count++;
    }
    return at;
}

static uint64_t meeting_key(const struct fv_step *s)
{
    return ((uint64_t)s->comm << 32 | s->instance) + 1;
}

struct ideal {
    struct fv_graph *g;
    struct heap heap;
    struct meetings meetings;
    double *clock;  /* by line */
    uint32_t *call; /* ... the present one */
    struct fv_steps_visit visit;
};

static void begin_call(struct ideal *x, uint32_t line)
{
    const struct fv_steps *steps = x->g->steps;
    uint32_t first = x->call[line], stop = call_behind(steps, line, first);
    struct fv_step *s = fv_step(steps, line, first);
    uint64_t before = end_before(steps, line, first);

    x->clock[line] += s->begin > before ? (double)(s->begin - before) : 0;
    s->cost = x->clock[line];
    for (uint32_t i = first; i < stop; i++) {
        const struct fv_step *d = fv_step(steps, line, i);

        if (!(d->flags & FV_STEP_ALL))
            continue;
        struct meeting *m = meet(&x->meetings, meeting_key(d));
        m->latest = fmax(m->latest, x->clock[line]);
        m->in++;
    }
    heap_replace(&x->heap, (struct next){ s->end, line, END });
}

/* What the call needed, by the sender's clock when it began. */
static double needed(struct ideal *x, const struct fv_step *d)
{
    if (d->flags & FV_STEP_ALL) {
        struct meeting *m = meet(&x->meetings, meeting_key(d));

        m->out++;
        return m->latest;
    }
    return d->flags & FV_STEP_KNOWN && d->kind != FV_WS_LATE_RECEIVER &&
                   d->cause_ns <= d->end /* it has begun */
               ? fv_step(x->g->steps, d->cause_line, d->cause_step)->cost
               : 0;
}

static void end_call(struct ideal *x, uint32_t line)
{
    const struct fv_steps *steps = x->g->steps;
    uint32_t first = x->call[line], stop = call_behind(steps, line, first);

    for (uint32_t i = first; i < stop; i++)
        x->clock[line] = fmax(x->clock[line], needed(x, fv_step(steps, line, i)));
    x->call[line] = stop;
    fv_steps_visited(steps, &x->visit, stop - first);
    if (stop < steps->lines[line].count)
        heap_replace(&x->heap, (struct next){ fv_step(steps, line, stop)->begin, line, BEGIN });
    else
        heap_pop(&x->heap);
}

/* A thread computes, or is not there, before its first call and after its last one. */
static const struct fv_line *program_of(const struct fv_steps *s, uint32_t line)
{
    return &s->lines[s->first_line[s->lines[line].rank]];
}

void fv_graph_ideal(struct fv_graph *g)
{
    struct ideal x = { .g = g };
    double longest = 0;

    x.clock = fv_xcalloc((size_t)g->steps->line_count + 1, sizeof(*x.clock));
    x.call = fv_xcalloc((size_t)g->steps->line_count + 1, sizeof(*x.call));
    for (uint32_t i = 0; i < g->steps->line_count; i++) {
        if (!g->steps->lines[i].count)
            continue;
        x.clock[i] = (double)(g->steps->lines[i].begin_ns - program_of(g->steps, i)->begin_ns);
        heap_push(&x.heap, (struct next){ fv_step(g->steps, i, 0)->begin, i, BEGIN });
    }
    while (x.heap.count) {
        if (x.heap.items[0].phase == BEGIN)
            begin_call(&x, x.heap.items[0].line);
        else
            end_call(&x, x.heap.items[0].line);
    }
    for (uint32_t i = 0; i < g->rank_count; i++) {
        uint32_t line = g->main_line[i];

        if (line != FV_NONE && g->steps->lines[line].count)
            longest = fmax(longest, x.clock[line] + (double)(program_of(g->steps, line)->end_ns -
                                                             g->steps->lines[line].end_ns));
    }
    g->ideal_ns = (uint64_t)longest;
    free(x.meetings.slots);
    free(x.heap.items);
    free(x.clock);
    free(x.call);
}

/* ---- the critical path ---- */

static void charge(struct fv_graph *g, enum fv_tally_what what, uint32_t line, uint32_t site,
                   enum fv_where where, uint64_t ns)
{
    if (ns)
        fv_tallies_add(g->out,
                       &(struct fv_tally){ what, site, g->steps->lines[line].rank, where, 0, 0, 1, ns });
}

/* The wait of a call, if it is one for another line that came before `until`. */
static bool leads_away(const struct fv_step *s, uint32_t line, uint64_t until)
{
    uint64_t wait = fv_step_wait(s);

    return wait && s->cause_line != line && s->cause_ns <= s->end && s->cause_ns <= until;
}

static uint32_t last_line(const struct fv_graph *g)
{
    uint32_t last = FV_NONE;

    for (uint32_t i = 0; i < g->rank_count; i++) {
        uint32_t line = g->main_line[i];

        if (line != FV_NONE && g->steps->lines[line].count &&
            (last == FV_NONE || g->steps->lines[line].end_ns > g->steps->lines[last].end_ns))
            last = line;
    }
    return last;
}

void fv_graph_critical(struct fv_graph *g)
{
    uint32_t line = last_line(g), call;

    if (line == FV_NONE)
        return;
    struct fv_steps_visit visit = { 0 };
    call = call_before(g->steps, line, g->steps->lines[line].count);
    for (uint64_t now = g->steps->lines[line].end_ns, start = now;;) {
        const struct fv_step *s = fv_step(g->steps, line, call);
        bool away = leads_away(s, line, now);
        fv_steps_visited(g->steps, &visit, 1);
        uint64_t from = away ? s->cause_ns : s->begin, before = end_before(g->steps, line, call);

        charge(g, FV_TALLY_CRITICAL, line, s->site, s->site == FV_NONE ? FV_COMPUTING : FV_IN_MPI,
               now > from ? now - from : 0);
        now = from < now ? from : now;
        if (away) {
            call = s->cause_step;
            line = s->cause_line;
            g->switches++;
            continue;
        }
        uint64_t gap = now > before ? now - before : 0, locked = fv_step_locked(s, gap);
        charge(g, FV_TALLY_CRITICAL, line, s->site, FV_COMPUTING, gap - locked);
        charge(g, FV_TALLY_CRITICAL, line, s->site, FV_FOR_LOCKS, locked);
        now = before < now ? before : now;
        g->critical_ns = start - now;
        if (!call)
            return;
        call = call_before(g->steps, line, call);
    }
}

/* ---- delays ---- */

#define LOOK_BACK 4096 /* steps: a bound on the work for one wait */

struct share {
    uint64_t wait; /* to which wait it belongs */
    uint64_t ns[2];
};
enum side { WAITER, DELAYER };
struct own_wait {
    struct fv_step *step;
    uint64_t ns;
};

struct delays {
    struct fv_graph *g;
    struct heap heap;
    uint32_t *call;       /* by line: those from here on are done */
    struct share *shares; /* by site and where */
    uint32_t *touched;
    size_t touched_count, touched_room;
    struct own_wait *waits; /* of the delayer */
    size_t wait_count, wait_room;
    uint64_t waits_done;
    struct fv_steps_visit visit;
};

static struct share *share_of(struct delays *d, uint32_t site, enum fv_where where)
{
    uint32_t i = FV_WHERES * (site < d->g->site_count ? site : d->g->site_count) + where;
    struct share *s = &d->shares[i];

    if (s->wait != d->waits_done) {
        *s = (struct share){ .wait = d->waits_done };
        FV_GROW(d->touched, d->touched_room, d->touched_count + 1);
        d->touched[d->touched_count++] = i;
    }
    return s;
}

/* Time before a call goes to who computed, or waited for locks of its rank's threads. */
static void take_gap(struct delays *d, enum side side, const struct fv_step *s, uint64_t ns)
{
    uint64_t locked = fv_step_locked(s, ns);

    share_of(d, s->site, FV_COMPUTING)->ns[side] += ns - locked;
    if (locked)
        share_of(d, s->site, FV_FOR_LOCKS)->ns[side] += locked;
}

static uint64_t overlap(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
    begin = begin > from ? begin : from;
    end = end < to ? end : to;
    return end > begin ? end - begin : 0;
}

/* Were the two in step here? */
static bool in_step(const struct delays *d, const struct fv_step *s, uint32_t other)
{
    const struct fv_defs *defs = d->g->groups->defs;
    uint32_t rank = d->g->steps->lines[other].rank;

    if (s->cause_line == FV_NONE)
        return false;
    if (d->g->steps->lines[s->cause_line].rank == rank)
        return true;
    return s->flags & FV_STEP_ALL &&
           (s->comm == FV_NONE || fv_groups_has(d->g->groups, s->comm, defs->ranks[rank].world_rank));
}

/* The time since which the line of a wait, and the line that it waited for, go different ways; on the way
 * there, what the waiter spent. */
static uint64_t look_back(struct delays *d, uint32_t line, uint32_t call, uint32_t other)
{
    const struct fv_steps *steps = d->g->steps;
    uint64_t from = end_before(steps, line, call);

    take_gap(d, WAITER, fv_step(steps, line, call), fv_step(steps, line, call)->begin - from);
    for (uint32_t i = call, looked = 0; i; looked++) {
        uint32_t stop = i;

        i = call_before(steps, line, i);
        for (uint32_t k = i; k < stop; k++)
            if (in_step(d, fv_step(steps, line, k), other))
                return from;
        if (looked == LOOK_BACK) {
            d->g->cut++;
            return from;
        }
        const struct fv_step *s = fv_step(steps, line, i);
        uint64_t before = end_before(steps, line, i), wait = fv_step_wait(s);
        if (s->site != FV_NONE)
            share_of(d, s->site, FV_IN_MPI)->ns[WAITER] += s->end - s->begin - wait;
        take_gap(d, WAITER, s, s->begin - before);
        from = before;
    }
    return from;
}

/* What the delayer spent from then on until the cause, and how long it waited itself. */
static uint64_t look_at_delayer(struct delays *d, uint32_t line, uint32_t call, uint64_t from, uint64_t to)
{
    const struct fv_steps *steps = d->g->steps;
    uint64_t waited = 0;

    d->wait_count = 0;
    for (uint32_t looked = 0;; looked++) {
        struct fv_step *s = fv_step(steps, line, call);
        uint64_t before = end_before(steps, line, call), own = s->begin + fv_step_wait(s);
        uint64_t wait = overlap(s->begin, own, from, to);

        if (wait) {
            FV_GROW(d->waits, d->wait_room, d->wait_count + 1);
            d->waits[d->wait_count++] = (struct own_wait){ s, wait };
            waited += wait;
        }
        if (s->site != FV_NONE)
            share_of(d, s->site, FV_IN_MPI)->ns[DELAYER] += overlap(own, s->end, from, to);
        take_gap(d, DELAYER, s, overlap(before, s->begin, from, to));
        if (before <= from || !call)
            return waited;
        if (looked == LOOK_BACK) {
            d->g->cut++;
            return waited;
        }
        call = call_before(steps, line, call);
    }
}

static uint64_t more_than_waiter(const struct share *s)
{
    return s->ns[DELAYER] > s->ns[WAITER] ? s->ns[DELAYER] - s->ns[WAITER] : 0;
}

static void charge_share(struct delays *d, uint32_t line, uint32_t i, double direct, double propagated)
{
    uint32_t site = i / FV_WHERES < d->g->site_count ? i / FV_WHERES : FV_NONE;
    enum fv_where where = i % FV_WHERES;
    double ns = (double)more_than_waiter(&d->shares[i]);

    charge(d->g, FV_TALLY_DIRECT, line, site, where, (uint64_t)llround(ns * direct));
    charge(d->g, FV_TALLY_PROPAGATED, line, site, where, (uint64_t)llround(ns * propagated));
}

/* The part of one wait that locks of the delayer's threads are to blame for. */
static void charge_for_locks(struct delays *d, uint32_t line, uint32_t delayer, double direct)
{
    const struct fv_line *lines = d->g->steps->lines;
    double ns = 0;

    for (size_t i = 0; i < d->touched_count; i++)
        if (d->touched[i] % FV_WHERES == FV_FOR_LOCKS)
            ns += (double)more_than_waiter(&d->shares[d->touched[i]]) * direct;
    if (ns >= 0.5)
        fv_tallies_add(d->g->out, &(struct fv_tally){ .what = FV_TALLY_FOR_LOCKS,
                                                      .rank = lines[line].rank,
                                                      .other_rank = lines[delayer].rank,
                                                      .count = 1,
                                                      .ns = (uint64_t)llround(ns) });
}

/* Shares out a wait, and what fell on it from those who waited for this line. */
static void share_out(struct delays *d, uint32_t line, uint32_t call)
{
    struct fv_step *s = fv_step(d->g->steps, line, call);
    uint64_t wait = fv_step_wait(s), excess = 0;

    d->waits_done++;
    d->touched_count = 0;
    uint64_t from = look_back(d, line, call, s->cause_line);
    uint64_t waited =
        look_at_delayer(d, s->cause_line, s->cause_step, from, s->cause_ns < s->end ? s->cause_ns : s->end);
    for (size_t i = 0; i < d->touched_count; i++)
        excess += more_than_waiter(&d->shares[d->touched[i]]);
    double total = (double)excess + (double)waited;
    if (total == 0) /* nothing explains it */
        return;
    double direct = fmin((double)wait / total, 1), propagated = s->cost / total;
    for (size_t i = 0; i < d->touched_count; i++)
        charge_share(d, s->cause_line, d->touched[i], direct, propagated);
    charge_for_locks(d, line, s->cause_line, direct);
    for (size_t i = 0; i < d->wait_count; i++)
        d->waits[i].step->cost += (double)d->waits[i].ns * (direct + propagated);
}

/* The next wait of a line, going back; waits are taken from the last to the first, in time, so that all that
 * falls on a wait is known when it is its turn. */
static bool find_wait(struct delays *d, uint32_t line, struct next *out)
{
    while (d->call[line]) {
        d->call[line] = call_before(d->g->steps, line, d->call[line]);
        fv_steps_visited(d->g->steps, &d->visit, 1);
        const struct fv_step *s = fv_step(d->g->steps, line, d->call[line]);
        uint64_t wait = fv_step_wait(s);

        if (!wait || s->cause_line == line)
            continue;
        *out = (struct next){ UINT64_MAX - (s->begin + wait), line, 0 };
        return true;
    }
    return false;
}

void fv_graph_delays(struct fv_graph *g)
{
    struct delays d = { .g = g };
    struct next next;

    d.call = fv_xcalloc((size_t)g->steps->line_count + 1, sizeof(*d.call));
    d.shares = fv_xcalloc(FV_WHERES * ((size_t)g->site_count + 1), sizeof(*d.shares));
    for (uint32_t i = 0; i < g->steps->line_count; i++) {
        d.call[i] = g->steps->lines[i].count;
        if (find_wait(&d, i, &next))
            heap_push(&d.heap, next);
    }
    while (d.heap.count) {
        uint32_t line = d.heap.items[0].line;

        share_out(&d, line, d.call[line]);
        if (find_wait(&d, line, &next))
            heap_replace(&d.heap, next);
        else
            heap_pop(&d.heap);
    }
    free(d.call);
    free(d.shares);
    free(d.touched);
    free(d.waits);
    free(d.heap.items);
}
