/* SPDX-License-Identifier: BSD-3-Clause */
/* See graph.h: delay costs.
 *
 * What explains a wait does not depend on what other waits cost: the process of the waiter says what that
 * line spent since the two were last in step, and the process of the one it waited for compares. What a wait
 * costs does: its own length, and its part of the waits that it explains, all of which end later. These sums
 * the last process makes, from one number for each wait and one for each pair of waits; then what a wait
 * cost others is known, and charged.
 *
 * A wait may have thousands of shares and reasons. So a window is asked, and judged, in parts of so many
 * bytes: each process goes on until it has them, and all that ended at the time where the first one stopped,
 * or later, is a part.
 */
#include "analysis/graph_costs.h"
#include "analysis/graph_parts.h"
#include "analysis/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_BACK  4096 /* steps: a bound on the work for one wait */
#define PART_LEAST 32768

/* From the waiter to the one it waited for; then its shares. */
struct question {
    uint64_t key, wait, from, to;
    uint32_t line, call, cause_line, cause_step;
    uint32_t share_count, sampled_count;
};
struct sent_share {
    uint64_t ns, index;
};
/* CPU time before calls of a site, by samples: of the delayer, less that of the waiter. */
struct sampled {
    uint32_t site, node; /* site: the last one is none */
    int64_t ns;
};

/* From there to the last process; then the waits of the delayer that are a part of the reason. */
struct verdict {
    uint64_t key;
    double direct, total; /* of a ns of the reason: waiting; all of the reason, 0: there is none */
    double cost;          /* what falls on it: by the last process */
    uint32_t line, call, delayer, reason_count;
};
struct reason {
    uint64_t ns;
    uint32_t call, unused;
};

/* What is charged to a line when the cost of the wait is known. */
struct blame {
    double total;
    uint32_t line, count, sampled; /* of shares, and of samples, one behind the other */
};
struct blamed_share {
    uint64_t ns;
    uint32_t index;
};

struct share {
    uint64_t wait; /* to which wait it belongs */
    uint64_t ns[2];
};
enum side { WAITER, DELAYER };

struct fv_delays {
    struct fv_graph *g;
    struct share *shares; /* by site and where */
    uint32_t *touched;
    size_t touched_count, touched_room;
    uint64_t waits_done;
    struct blame *blames;
    size_t blame_count, blame_room;
    struct blamed_share *blamed;
    size_t blamed_count, blamed_room;
    struct sampled *sampled; /* of the wait at hand */
    size_t sampled_count, sampled_room;
    struct sampled *blamed_samples;
    size_t blamed_sample_count, blamed_sample_room;
    struct fv_bytes *out, *all; /* by process */
    size_t part; /* bytes: so many there are, and those of one time more, of `asked` and of `verdicts` with
                  * blames */
    struct fv_bytes asked, questions, verdicts, costs; /* asked: by this process; questions: to it, of others */
    size_t asked_now;                                  /* bytes of `asked` that are judged now */
    bool summed;                                       /* costs are due */
    struct fv_graph_costs cost;                        /* in the last process: of waits to come */
};

/* ---- shares ---- */

static struct share *share_at(struct fv_delays *d, uint32_t i)
{
    struct share *s = &d->shares[i];

    if (s->wait != d->waits_done) {
        *s = (struct share){ .wait = d->waits_done };
        FV_GROW(d->touched, d->touched_room, d->touched_count + 1);
        d->touched[d->touched_count++] = i;
    }
    return s;
}

static uint32_t site_index(const struct fv_delays *d, uint32_t site)
{
    return site < d->g->site_count ? site : d->g->site_count;
}

static struct share *share_of(struct fv_delays *d, uint32_t site, enum fv_where where)
{
    return share_at(d, FV_WHERES * site_index(d, site) + where);
}

static void next_wait(struct fv_delays *d)
{
    d->waits_done++;
    d->touched_count = d->sampled_count = 0;
}

static void put_sampled(struct fv_delays *d, uint32_t site, uint32_t node, int64_t ns)
{
    FV_GROW(d->sampled, d->sampled_room, d->sampled_count + 1);
    d->sampled[d->sampled_count++] = (struct sampled){ site, node, ns };
}

static int by_place(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;

    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static void add_ns(void *to, const void *from)
{
    ((struct sampled *)to)->ns += ((const struct sampled *)from)->ns;
}

static void fold_sampled(struct fv_delays *d)
{
    if (d->sampled_count)
        d->sampled_count = fv_fold(d->sampled, d->sampled_count, sizeof(*d->sampled), by_place, add_ns);
}

/* Samples of the time before a call, from then to then. */
static void take_samples(struct fv_delays *d, enum side side, uint32_t line, uint32_t call, uint64_t from, uint64_t to)
{
    struct fv_sample_cursor c = fv_samples_before(d->g->steps, line, call);
    uint32_t site = site_index(d, fv_step(d->g->steps, line, call)->site);

    for (const struct fv_sample *s; (s = fv_sample_next(&c)) && s->ns < to;)
        if (s->ns >= from)
            put_sampled(d, site, s->node, side == DELAYER ? (int64_t)s->cpu_ns : -(int64_t)s->cpu_ns);
}

/* Time before a call, from then to then, goes to who computed, or waited for locks of its rank's threads. */
static void take_gap(struct fv_delays *d, enum side side, uint32_t line, uint32_t call, uint64_t from, uint64_t to)
{
    const struct fv_step *s = fv_step(d->g->steps, line, call);
    uint64_t ns = to > from ? to - from : 0;
    uint64_t locked = fv_step_locked(d->g->steps, s, ns);

    share_of(d, s->site, FV_COMPUTING)->ns[side] += ns - locked;
    if (locked)
        share_of(d, s->site, FV_FOR_LOCKS)->ns[side] += locked;
    if (s->flags & FV_STEP_SAMPLED)
        take_samples(d, side, line, call, from, to);
}

/* ---- the waiter ---- */

/* Were the two in step here? */
static bool in_step(const struct fv_delays *d, const struct fv_step *s, uint32_t other)
{
    const struct fv_defs *defs = d->g->groups->defs;
    uint32_t rank = d->g->steps->lines[other].rank;

    if (s->cause_line == FV_NONE || (s->kind == FV_WS_NO_PROGRESS && !(s->flags & FV_STEP_KNOWN)))
        return false;
    if (d->g->steps->lines[s->cause_line].rank == rank)
        return true;
    if (!(s->flags & FV_STEP_ALL))
        return false;
    uint32_t comm = fv_step_detail(d->g->steps, s)->comm;
    return comm == FV_NONE || fv_groups_rank(d->g->groups, comm, defs->ranks[rank].world_rank) != FV_NONE;
}

/* The time since which the line of a wait, and the line that it waited for, go different ways; on the way
 * there, what the waiter spent. */
static uint64_t look_back(struct fv_delays *d, uint32_t line, uint32_t call, uint32_t other)
{
    const struct fv_steps *steps = d->g->steps;
    uint64_t from = fv_step_end_before(steps, line, call);

    take_gap(d, WAITER, line, call, from, fv_step(steps, line, call)->begin);
    for (uint32_t i = call, looked = 0; i; looked++) {
        uint32_t stop = i;

        i = fv_call_before(steps, line, i);
        for (uint32_t k = i; k < stop; k++)
            if (in_step(d, fv_step(steps, line, k), other))
                return from;
        if (looked == LOOK_BACK) {
            d->g->cut++;
            return from;
        }
        const struct fv_step *s = fv_step(steps, line, i);
        uint64_t before = fv_step_end_before(steps, line, i), wait = fv_step_wait(steps, s);
        if (s->site != FV_STEP_NO_SITE)
            share_of(d, s->site, FV_IN_MPI)->ns[WAITER] += fv_step_length(steps, s) - wait;
        take_gap(d, WAITER, line, i, before, s->begin);
        from = before;
    }
    return from;
}

static void ask(struct fv_delays *d, const struct fv_graph_wait *w)
{
    const struct fv_steps *steps = d->g->steps;
    const struct fv_step *s = fv_step(steps, w->line, w->call);

    next_wait(d);
    uint64_t from = look_back(d, w->line, w->call, s->cause_line);
    fold_sampled(d);
    struct question q = { .key = w->end,
                          .wait = fv_step_wait(steps, s),
                          .from = from,
                          .to = w->end, /* the cause, or the call's end if that was before */
                          .line = w->line,
                          .call = w->call,
                          .cause_line = s->cause_line,
                          .cause_step = s->cause_step,
                          .share_count = (uint32_t)d->touched_count,
                          .sampled_count = (uint32_t)d->sampled_count };
    fv_bytes_put(&d->asked, &q, sizeof(q));
    for (size_t i = 0; i < d->touched_count; i++)
        fv_bytes_put(&d->asked, &(struct sent_share){ d->shares[d->touched[i]].ns[WAITER], d->touched[i] },
                     sizeof(struct sent_share));
    fv_bytes_put(&d->asked, d->sampled, d->sampled_count * sizeof(*d->sampled));
}

/* From `next` on, a part. Returns what is next then. */
static size_t ask_some(struct fv_delays *d, const struct fv_graph_wait *waits, size_t count, size_t next)
{
    while (next < count && (d->asked.count < d->part || (next && waits[next].end == waits[next - 1].end)))
        ask(d, &waits[next++]);
    return next;
}

static const struct sent_share *shares_of(const struct question *q)
{
    return (const struct sent_share *)(const void *)(q + 1);
}

static const void *end_of(const struct fv_bytes *bytes)
{
    return bytes->data ? bytes->data + bytes->count : NULL;
}

static const struct sampled *sampled_of(const struct question *q)
{
    return (const struct sampled *)(const void *)(shares_of(q) + q->share_count);
}

static const struct question *question_behind(const struct question *q)
{
    return (const struct question *)(const void *)(sampled_of(q) + q->sampled_count);
}

/* The first so many bytes are done. */
static void forget(struct fv_bytes *bytes, size_t done)
{
    bytes->count -= done;
    if (bytes->count)
        memmove(bytes->data, bytes->data + done, bytes->count);
}

/* About waits that ended at `until` or later. Those to this process stay where they are. */
static void send_questions(struct fv_delays *d, uint64_t until)
{
    const struct fv_step_line *lines = d->g->steps->lines;
    const struct question *first = (const struct question *)(const void *)d->asked.data, *q = first, *next,
                          *stop = end_of(&d->asked);

    fv_graph_clear(d->g, d->out);
    for (; q < stop && q->key >= until; q = next) {
        next = question_behind(q);
        if (!fv_steps_are_own(d->g->steps, q->cause_line))
            fv_bytes_put(&d->out[lines[q->cause_line].process], q, (size_t)((const char *)next - (const char *)q));
    }
    d->asked_now = (size_t)((const char *)q - (const char *)first);
    d->questions.count = 0;
    fv_transport_exchange(d->g->transport, d->out, &d->questions);
}

/* ---- the one that was waited for ---- */

static uint64_t overlap(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
    begin = begin > from ? begin : from;
    end = end < to ? end : to;
    return end > begin ? end - begin : 0;
}

/* In the order in which waits are looked at: the latest first, then by line. */
static bool is_behind(uint64_t key, uint32_t line, uint64_t than_key, uint32_t than_line)
{
    return key != than_key ? key < than_key : line > than_line;
}

/* What the delayer spent from then on until the cause; its own waits in that time, whose sum this is, are put
 * behind the verdict. */
static uint64_t look_at_delayer(struct fv_delays *d, const struct question *q)
{
    const struct fv_steps *steps = d->g->steps;
    uint32_t line = q->cause_line, call = q->cause_step;
    uint64_t waited = 0, from = q->from, to = q->to;

    for (uint32_t looked = 0;; looked++) {
        const struct fv_step *s = fv_step(steps, line, call);
        uint64_t before = fv_step_end_before(steps, line, call), own = s->begin + fv_step_wait(steps, s);
        uint64_t wait = overlap(s->begin, own, from, to);

        if (wait && is_behind(own, line, q->key, q->line)) /* where clocks differ it may not be */
            fv_bytes_put(&d->verdicts, &(struct reason){ .ns = wait, .call = call }, sizeof(struct reason));
        waited += wait;
        if (s->site != FV_STEP_NO_SITE)
            share_of(d, s->site, FV_IN_MPI)->ns[DELAYER] += overlap(own, fv_step_end(steps, s), from, to);
        take_gap(d, DELAYER, line, call, before > from ? before : from, s->begin < to ? s->begin : to);
        if (before <= from || !call)
            return waited;
        if (looked == LOOK_BACK) { /* what it did before that is taken for computing */
            share_of(d, s->site, FV_COMPUTING)->ns[DELAYER] += overlap(from, before, from, to);
            d->g->cut++;
            return waited;
        }
        call = fv_call_before(steps, line, call);
    }
}

static uint64_t more_than_waiter(const struct share *s)
{
    return s->ns[DELAYER] > s->ns[WAITER] ? s->ns[DELAYER] - s->ns[WAITER] : 0;
}

static void charge(struct fv_delays *d, enum fv_tally_what what, uint32_t line, uint32_t i, double ns)
{
    uint32_t site = i / FV_WHERES < d->g->site_count ? i / FV_WHERES : FV_NONE;

    fv_graph_charge(d->g, what, line, site, i % FV_WHERES, (uint64_t)llround(ns));
}

/* The part of one wait that locks of the delayer's threads are to blame for. */
static void charge_for_locks(struct fv_delays *d, uint32_t line, uint32_t delayer, double direct)
{
    const struct fv_step_line *lines = d->g->steps->lines;
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

static void charge_sampled(struct fv_delays *d, uint32_t line, const struct sampled *s, double part)
{
    fv_tallies_add(d->g->out, &(struct fv_tally){ .what = FV_TALLY_DELAY_AT,
                                                  .site = s->site < d->g->site_count ? s->site : FV_NONE,
                                                  .rank = d->g->steps->lines[line].rank,
                                                  .kind = s->node,
                                                  .count = 1,
                                                  .ns = (uint64_t)llround((double)s->ns * part) });
}

/* Which call paths took what the delayer computed longer: where that is a reason. How many there are. */
static uint32_t blame_sampled(struct fv_delays *d, const struct question *q, double direct)
{
    uint32_t count = 0;

    fold_sampled(d);
    for (size_t i = 0; i < d->sampled_count; i++) {
        const struct sampled *s = &d->sampled[i];
        const struct share *share = &d->shares[FV_WHERES * s->site + FV_COMPUTING];

        if (!s->ns || share->wait != d->waits_done || !more_than_waiter(share))
            continue;
        charge_sampled(d, q->cause_line, s, direct);
        FV_GROW(d->blamed_samples, d->blamed_sample_room, d->blamed_sample_count + 1);
        d->blamed_samples[d->blamed_sample_count++] = *s;
        count++;
    }
    return count;
}

/* What the delayer is blamed for directly, and what is to be remembered for what comes along chains of waits.
 */
static void blame(struct fv_delays *d, const struct question *q, double direct, double total)
{
    uint32_t shares = 0, sampled = blame_sampled(d, q, direct);

    for (size_t i = 0; i < d->touched_count; i++) {
        uint64_t ns = more_than_waiter(&d->shares[d->touched[i]]);

        if (!ns)
            continue;
        charge(d, FV_TALLY_DIRECT, q->cause_line, d->touched[i], (double)ns * direct);
        FV_GROW(d->blamed, d->blamed_room, d->blamed_count + 1);
        d->blamed[d->blamed_count++] = (struct blamed_share){ ns, d->touched[i] };
        shares++;
    }
    charge_for_locks(d, q->line, q->cause_line, direct);
    FV_GROW(d->blames, d->blame_room, d->blame_count + 1);
    d->blames[d->blame_count++] = (struct blame){ total, q->cause_line, shares, sampled };
}

static void judge(struct fv_delays *d, const struct question *q)
{
    const struct sent_share *shares = shares_of(q);
    size_t at = d->verdicts.count;
    struct verdict v = { .key = q->key, .line = q->line, .call = q->call, .delayer = q->cause_line };
    uint64_t excess = 0;

    next_wait(d);
    for (uint32_t i = 0; i < q->share_count; i++)
        share_at(d, (uint32_t)shares[i].index)->ns[WAITER] = shares[i].ns;
    for (uint32_t i = 0; i < q->sampled_count; i++)
        put_sampled(d, sampled_of(q)[i].site, sampled_of(q)[i].node, sampled_of(q)[i].ns);
    fv_bytes_put(&d->verdicts, &v, sizeof(v));
    uint64_t waited = look_at_delayer(d, q);
    for (size_t i = 0; i < d->touched_count; i++)
        excess += more_than_waiter(&d->shares[d->touched[i]]);
    v.total = (double)excess + (double)waited; /* 0: nothing explains it */
    if (v.total > 0)
        v.direct = fmin((double)q->wait / v.total, 1);
    v.reason_count = (uint32_t)((d->verdicts.count - at - sizeof(v)) / sizeof(struct reason));
    memcpy(d->verdicts.data + at, &v, sizeof(v));
    blame(d, q, v.direct, v.total);
    fv_steps_visited(d->g->steps, 2);
}

/* The latest first, then by line; of a line, the last call. */
static int by_end(const void *a, const void *b)
{
    const struct question *x = a, *y = b;

    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->call < y->call) - (x->call > y->call);
}

static const void **questions_in_order(const struct fv_delays *d, size_t *count)
{
    const struct question *q = (const struct question *)(const void *)d->asked.data, *stop = q;
    const void **order = NULL;
    size_t room = 0;

    if (q)
        stop = (const struct question *)(const void *)(d->asked.data + d->asked_now);
    for (*count = 0; q < stop; q = question_behind(q)) {
        if (!fv_steps_are_own(d->g->steps, q->cause_line))
            continue;
        FV_GROW(order, room, *count + 1);
        order[(*count)++] = q;
    }
    stop = end_of(&d->questions);
    for (q = (const struct question *)(const void *)d->questions.data; q < stop; q = question_behind(q)) {
        FV_GROW(order, room, *count + 1);
        order[(*count)++] = q;
    }
    fv_sort_pieces(order, *count, by_end);
    return order;
}

static size_t judged_bytes(const struct fv_delays *d)
{
    return d->verdicts.count + d->blame_count * sizeof(*d->blames) + d->blamed_count * sizeof(*d->blamed) +
           d->blamed_sample_count * sizeof(*d->blamed_samples);
}

/* From `next` on, a part. Returns what is next then. */
static size_t judge_some(struct fv_delays *d, const void **order, size_t count, size_t next)
{
    for (uint64_t last = 0; next < count; next++) {
        const struct question *q = order[next];

        if (judged_bytes(d) >= d->part && (!next || q->key != last))
            break;
        judge(d, q);
        last = q->key;
    }
    return next;
}

/* ---- the last process: what falls on waits ---- */

static int by_order(const void *a, const void *b)
{
    const struct verdict *x = a, *y = b;
    int order = is_behind(x->key, x->line, y->key, y->line) - is_behind(y->key, y->line, x->key, x->line);

    return order ? order : (x->call < y->call) - (x->call > y->call);
}

/* All that falls on the wait is known; it goes on to those that explain it. */
static void pass_on(struct fv_delays *d, struct verdict *v)
{
    const struct reason *reasons = (const struct reason *)(const void *)(v + 1);

    v->cost = fv_graph_costs_take(&d->cost, v->line, v->call);
    for (uint32_t i = 0; i < v->reason_count && v->total > 0; i++)
        fv_graph_costs_add(&d->cost, v->delayer, reasons[i].call,
                           (double)reasons[i].ns * (v->direct + v->cost / v->total));
}

static const struct verdict *verdict_behind(const struct verdict *v)
{
    return (const struct verdict *)(const void *)((const struct reason *)(const void *)(v + 1) + v->reason_count);
}

/* Of process i, where `own` are this one's. */
static struct verdict *verdicts_of(const struct fv_delays *d, const struct fv_bytes *own, int i,
                                   const struct verdict **stop)
{
    const struct fv_bytes *from = i == d->g->transport->rank ? own : &d->all[i];

    *stop = end_of(from);
    return (struct verdict *)(void *)from->data;
}

static const void **in_order(const struct fv_delays *d, const struct fv_bytes *own, size_t *count)
{
    const struct verdict *stop;
    const void **order = NULL;
    size_t room = 0;

    *count = 0;
    for (int i = 0; i < d->g->transport->size; i++)
        for (const struct verdict *v = verdicts_of(d, own, i, &stop); v < stop; v = verdict_behind(v)) {
            FV_GROW(order, room, *count + 1);
            order[(*count)++] = v;
        }
    fv_sort_pieces(order, *count, by_order);
    return order;
}

/* Bytes of the verdicts about waits that ended at `until` or later. */
static size_t verdicts_until(const struct fv_delays *d, uint64_t until)
{
    const struct verdict *first = (const struct verdict *)(const void *)d->verdicts.data, *v = first,
                         *stop = end_of(&d->verdicts);

    while (v < stop && v->key >= until)
        v = verdict_behind(v);
    return (size_t)((const char *)v - (const char *)first);
}

/* What falls on each wait of these verdicts is in `out` then, in the order of those of each process. */
static void sum_up(struct fv_delays *d, const struct fv_bytes *own)
{
    const struct fv_graph *g = d->g;
    const struct verdict *stop;
    const void **order;
    size_t count;
    int last = g->transport->size - 1;

    fv_graph_clear(g, d->all);
    fv_graph_gather(g, last, own, d->all);
    d->summed = true;
    if (g->transport->rank != last)
        return;
    order = in_order(d, own, &count);
    for (size_t i = 0; i < count; i++)
        pass_on(d, (struct verdict *)order[i]);
    free(order);
    fv_graph_clear(g, d->out);
    for (int i = 0; i <= last; i++)
        for (const struct verdict *v = verdicts_of(d, own, i, &stop); v < stop; v = verdict_behind(v))
            fv_bytes_put(&d->out[i], &v->cost, sizeof(v->cost));
}

/* Of the waits whose costs are known; they are done then. */
static void charge_chains(struct fv_delays *d)
{
    const double *cost = (const double *)(const void *)d->costs.data;
    const struct blamed_share *share = d->blamed;
    const struct sampled *sampled = d->blamed_samples;
    size_t count = d->costs.count / sizeof(*cost);

    for (size_t i = 0; i < count; i++) {
        const struct blame *b = &d->blames[i];
        double propagated = b->total > 0 ? cost[i] / b->total : 0;

        for (size_t left = b->count; left; left--, share++)
            charge(d, FV_TALLY_PROPAGATED, b->line, share->index, (double)share->ns * propagated);
        for (size_t left = b->sampled; left; left--, sampled++)
            charge_sampled(d, b->line, sampled, propagated);
    }
    size_t shares = (size_t)(share - d->blamed), samples = (size_t)(sampled - d->blamed_samples);
    d->blame_count -= count;
    d->blamed_count -= shares;
    d->blamed_sample_count -= samples;
    if (d->blame_count)
        memmove(d->blames, d->blames + count, d->blame_count * sizeof(*d->blames));
    if (d->blamed_count)
        memmove(d->blamed, d->blamed + shares, d->blamed_count * sizeof(*d->blamed));
    if (d->blamed_sample_count)
        memmove(d->blamed_samples, d->blamed_samples + samples, d->blamed_sample_count * sizeof(*d->blamed_samples));
}

void fv_delays_follow(struct fv_delays *d)
{
    if (!d->summed)
        return;
    d->summed = false;
    d->costs.count = 0;
    fv_graph_scatter(d->g, d->g->transport->size - 1, d->out, &d->costs);
    charge_chains(d);
}

static void judge_all(struct fv_delays *d)
{
    size_t count, next = 0;
    const void **order = questions_in_order(d, &count);
    uint64_t until;

    do {
        fv_delays_follow(d);
        next = judge_some(d, order, count, next);
        until = next < count ? ((const struct question *)order[next - 1])->key : 0;
        fv_transport_max(d->g->transport, &until, 1);
        struct fv_bytes part = { .data = d->verdicts.data, .count = verdicts_until(d, until) };
        sum_up(d, &part);
        forget(&d->verdicts, part.count);
    } while (until);
    free(order);
    forget(&d->asked, d->asked_now);
}

/* ---- all ---- */

struct fv_delays *fv_delays_begin(struct fv_graph *g)
{
    size_t processes = (size_t)g->transport->size;
    struct fv_delays *d = fv_xcalloc(1, sizeof(*d));

    d->g = g;
    d->shares = fv_xcalloc(FV_WHERES * ((size_t)g->site_count + 1), sizeof(*d->shares));
    d->out = fv_xcalloc(processes, sizeof(*d->out));
    d->all = fv_xcalloc(processes, sizeof(*d->all));
    if (g->transport->rank == g->transport->size - 1)
        fv_graph_costs_init(&d->cost, g->steps->line_count);
    d->part = g->memory / (4 * (processes + 1)); /* the last process may get that of each, twice */
    d->part = d->part > PART_LEAST ? d->part : PART_LEAST;
    return d;
}

void fv_delays_window(struct fv_delays *d, const struct fv_graph_wait *waits, size_t count)
{
    uint64_t until;
    size_t next = 0;

    do {
        next = ask_some(d, waits, count, next);
        until = next < count ? waits[next - 1].end : 0;
        fv_transport_max(d->g->transport, &until, 1);
        fv_delays_follow(d);
        send_questions(d, until);
        judge_all(d);
    } while (until);
}

void fv_delays_end(struct fv_delays *d)
{
    fv_transport_sum(d->g->transport, &d->g->cut, 1);
    fv_graph_costs_release(&d->cost);
    fv_graph_free(d->g, d->out);
    fv_graph_free(d->g, d->all);
    free(d->shares);
    free(d->touched);
    free(d->blames);
    free(d->blamed);
    free(d->sampled);
    free(d->blamed_samples);
    free(d->asked.data);
    free(d->questions.data);
    free(d->verdicts.data);
    free(d->costs.data);
    free(d);
}
