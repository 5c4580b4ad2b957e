/* SPDX-License-Identifier: BSD-3-Clause */
/* See graph.h: the ideal network, in windows of time from the beginning to the end.
 *
 * A clock only moves in steps that its process knows, but for events: where a call that needed something ends, and
 * where one begins that takes part in an operation of all. Each process tells its events in the order of time: how
 * far the clock moved since the line's event before, and what is needed: what the clock of a call showed, if that is
 * known, else after which event of this window, and how long after it. The first process says what clocks showed after
 * events; so each process knows them at the calls' begins, and puts that into the steps, in place of when they
 * began. One process that is alone knows all in that order, and needs no windows. */
#include "analysis/graph_parts.h"
#include "tool/heap.h"

#include <stdlib.h>
#include <string.h>

enum phase { BEGIN, END };

/* In the order of time. Behind it: the numbers of the operations of all that the call takes part in, and what it
 * needs. */
struct event {
    uint64_t time;
    uint64_t ns; /* that the clock moved since the event before */
    uint32_t line;
    uint32_t phase;
    uint32_t meetings, needs;
};

/* First a call: line << 32 | step in `ns`. */
struct need {
    uint64_t ns;      /* a clock, or how long after the event */
    uint32_t process; /* whose event; FV_NONE: a clock */
    uint32_t event;   /* which of its window */
};
struct answer {
    struct need need;
    uint64_t time; /* when the call began; UINT64_MAX: not in this window */
};

/* A call that began. While its clock is not known, the number of this is in the step, in place of when it began. */
struct begun {
    uint64_t time, after; /* after: how long after the event */
    uint64_t event;       /* its line's last one, by x->told; 0: there is none */
    uint32_t line, call;
};

struct meeting {  /* of all that take part in an operation */
    uint64_t key; /* 0: free */
    uint64_t latest;
    uint32_t in, out;
};
struct meetings {
    struct meeting *slots;
    size_t mask, count;
};

struct ideal {
    struct fv_graph *g;
    struct fv_heap heap;       /* of own lines, by their next moment */
    struct ideal_line {        /* own ones: */
        uint64_t end;          /* when the call before was over */
        uint64_t after, event; /* of struct begun: what it would have now */
        uint64_t clock;        /* after the last event that was told */
        uint32_t call, stop;   /* the present one; those before `stop` have begun */
    } * lines;
    struct fv_bytes events; /* of this process, that are not told yet */
    uint64_t told;          /* so many are, and 1 */
    size_t event_count, window, window_events, window_bytes;
    struct begun *begun; /* whose clock is not known */
    size_t begun_count, begun_room;
    uint64_t begun_known;                                         /* so many before them */
    uint64_t last_time;                                           /* of what was found */
    struct fv_bytes clocks, *out, *all, asked, replies, *answers; /* pointers: by process */
    size_t *answered;
    /* In the first process: */
    uint64_t *clock; /* by line */
    struct meetings meetings;
};

/* ---- events of this process ---- */

static uint64_t *meetings_of(const struct event *e)
{
    return (uint64_t *)(void *)(e + 1);
}

static struct need *needs_of(const struct event *e)
{
    return (struct need *)(void *)(meetings_of(e) + e->meetings);
}

static struct event *event_behind(const struct event *e)
{
    return (struct event *)(void *)(needs_of(e) + e->needs);
}

static struct event *event_at(const struct ideal *x, size_t at)
{
    return (struct event *)(void *)(x->events.data ? x->events.data + at : NULL);
}

/* The ideal network needs nobody's progress: what counts is when it was posted. */
static bool needs_clock(const struct fv_steps *steps, const struct fv_step *s)
{
    if (!(s->flags & FV_STEP_KNOWN) || s->kind == FV_WS_LATE_RECEIVER || s->kind == FV_WS_LATE_TAKER ||
        s->kind == FV_WS_NO_PROGRESS || s->flags & FV_STEP_ALL)
        return false;
    struct fv_step_post post = fv_step_post(steps, s);
    return post.line != FV_NONE && post.after <= (int64_t)fv_step_length(steps, s); /* it had begun */
}

static uint64_t meeting_key(const struct fv_step_detail *d)
{
    return ((uint64_t)d->comm << 32 | d->instance) + 1;
}

/* The clock moves from the line's event before to this one. */
static size_t put_event(struct ideal *x, uint64_t time, uint32_t line, enum phase phase)
{
    struct ideal_line *l = &x->lines[line];
    const struct event e = { .time = time, .ns = l->after, .line = line, .phase = phase };
    size_t at = x->events.count;

    fv_bytes_put(&x->events, &e, sizeof(e));
    l->after = 0;
    l->event = x->told + x->event_count++;
    return at;
}

/* Behind the event at `at`: the operations of all that the call takes part in. Returns what is behind the call. */
static uint32_t put_meetings(struct ideal *x, size_t at, uint32_t line, uint32_t call)
{
    const struct fv_steps *steps = x->g->steps;
    uint32_t stop = fv_call_behind(steps, line, call);

    for (uint32_t i = call; i < stop; i++) {
        const struct fv_step *s = fv_step(steps, line, i);

        if (!(s->flags & FV_STEP_ALL))
            continue;
        fv_bytes_number(&x->events, meeting_key(fv_step_detail(steps, s)));
        event_at(x, at)->meetings++;
    }
    return stop;
}

static void go_on(struct ideal *x, uint32_t line, uint32_t call)
{
    const struct fv_steps *steps = x->g->steps;

    x->lines[line].call = call;
    if (call < steps->lines[line].count)
        fv_heap_replace(&x->heap, (struct fv_heap_item){ fv_step(steps, line, call)->begin, BEGIN, line });
    else
        fv_heap_pop(&x->heap);
}

static void put_begun(struct ideal *x, uint64_t time, uint32_t line, uint32_t call)
{
    const struct ideal_line *l = &x->lines[line];

    FV_GROW(x->begun, x->begun_room, x->begun_count + 1);
    fv_step(x->g->steps, line, call)->begin = x->begun_known + x->begun_count;
    x->begun[x->begun_count++] =
        (struct begun){ .time = time, .after = l->after, .event = l->event, .line = line, .call = call };
}

static void begin_call(struct ideal *x, uint64_t time, uint32_t line, uint32_t call)
{
    const struct fv_steps *steps = x->g->steps;
    const struct fv_step *s = fv_step(steps, line, call);
    struct ideal_line *l = &x->lines[line];
    uint64_t end = fv_step_end(steps, s);
    uint32_t i = call;
    bool needs = false, meets = false;

    l->after += s->begin > l->end ? s->begin - l->end : 0;
    l->end = end;
    do {
        needs = needs || needs_clock(steps, s);
        meets = meets || s->flags & FV_STEP_ALL;
    } while (++i < steps->lines[line].count && (s = fv_step(steps, line, i))->flags & FV_STEP_MORE);
    if (meets || (!needs && i == steps->lines[line].count)) /* the first process knows the clock of a line's end */
        put_meetings(x, put_event(x, time, line, BEGIN), line, call);
    put_begun(x, time, line, call);
    l->stop = call + 1;
    if (needs || meets)
        fv_heap_replace(&x->heap, (struct fv_heap_item){ end, END, line });
    else
        go_on(x, line, i);
}

static void end_call(struct ideal *x, uint64_t time, uint32_t line, uint32_t call)
{
    const struct fv_steps *steps = x->g->steps;
    size_t at = put_event(x, time, line, END);
    uint32_t stop = put_meetings(x, at, line, call);

    for (uint32_t i = call; i < stop; i++) {
        const struct fv_step *s = fv_step(steps, line, i);

        if (!needs_clock(steps, s))
            continue;
        struct fv_step_post post = fv_step_post(steps, s);
        const struct need need = { .ns = (uint64_t)post.line << 32 | post.step };
        fv_bytes_put(&x->events, &need, sizeof(need));
        event_at(x, at)->needs++;
    }
    fv_steps_visited(steps, stop - call);
    go_on(x, line, stop);
}

/* As many as a window has, and all of the same time as the last of them. Says when that is; UINT64_MAX: all.
 */
static uint64_t fill(struct ideal *x)
{
    while (x->heap.count) {
        struct fv_heap_item next = x->heap.items[0];

        if (x->event_count + x->begun_count >= x->window && x->last_time < next.time)
            return x->last_time;
        x->last_time = next.time > x->last_time ? next.time : x->last_time; /* of a damaged trace it may go back */
        if (next.phase == BEGIN)
            begin_call(x, x->last_time, next.number, x->lines[next.number].call);
        else
            end_call(x, x->last_time, next.number, x->lines[next.number].call);
    }
    return UINT64_MAX;
}

/* Those of the window are the first ones. */
static void find_window(struct ideal *x, uint64_t until)
{
    const struct event *e = event_at(x, 0), *stop = event_at(x, x->events.count);

    for (x->window_events = 0; e < stop && e->time <= until; e = event_behind(e))
        x->window_events++;
    x->window_bytes = e ? (size_t)((const uint8_t *)e - x->events.data) : 0;
}

/* ---- what they need of calls ---- */

/* Of a line of this process. */
static struct answer clock_of(const struct ideal *x, uint64_t call)
{
    uint32_t line = (uint32_t)(call >> 32), number = (uint32_t)call;
    const struct fv_step *s = fv_step(x->g->steps, line, number);
    const struct answer none = { .time = UINT64_MAX };

    if (s->flags & FV_STEP_IDEAL)
        return (struct answer){ .need = { s->begin, FV_NONE, 0 } };
    if (number >= x->lines[line].stop || s->flags & FV_STEP_MORE)
        return none;
    const struct begun *b = &x->begun[s->begin - x->begun_known];
    if (b->event < x->told)
        return (struct answer){ { x->lines[line].clock + b->after, FV_NONE, 0 }, b->time };
    if (b->event - x->told >= x->window_events)
        return none;
    return (struct answer){ { b->after, x->g->steps->own, (uint32_t)(b->event - x->told) }, b->time };
}

/* Others say what their clocks showed. */
static void ask(struct ideal *x)
{
    const struct fv_steps *steps = x->g->steps;
    const struct event *e = event_at(x, 0), *stop = event_at(x, x->window_bytes);

    fv_graph_clear(x->g, x->out);
    for (; e < stop; e = event_behind(e))
        for (const struct need *n = needs_of(e); n < needs_of(e) + e->needs; n++)
            if (!fv_steps_are_own(steps, (uint32_t)(n->ns >> 32)))
                fv_bytes_number(&x->out[steps->lines[n->ns >> 32].process], n->ns);
}

static void exchange(const struct fv_transport *t, int with, const struct fv_bytes *out, struct fv_bytes *in)
{
    if (with > t->rank)
        fv_transport_put(t, with, out);
    fv_transport_get(t, with, in);
    if (with < t->rank)
        fv_transport_put(t, with, out);
}

static void answer_others(struct ideal *x)
{
    const struct fv_transport *t = x->g->transport;

    for (int i = 0; i < t->size; i++) {
        if (i == t->rank)
            continue;
        x->asked.count = x->replies.count = x->answers[i].count = x->answered[i] = 0;
        exchange(t, i, &x->out[i], &x->asked);
        const uint64_t *calls = (const uint64_t *)(const void *)x->asked.data;
        for (size_t k = 0; k < x->asked.count / sizeof(*calls); k++) {
            const struct answer a = clock_of(x, calls[k]);

            fv_bytes_put(&x->replies, &a, sizeof(a));
        }
        exchange(t, i, &x->replies, &x->answers[i]);
    }
}

/* A call that has not begun when the event is gives nothing. */
static void take_answers(struct ideal *x)
{
    const struct fv_steps *steps = x->g->steps;
    struct event *e = event_at(x, 0), *stop = event_at(x, x->window_bytes);

    for (; e < stop; e = event_behind(e))
        for (struct need *n = needs_of(e); n < needs_of(e) + e->needs; n++) {
            uint32_t owner = steps->lines[n->ns >> 32].process;
            const struct answer a = owner == steps->own
                                        ? clock_of(x, n->ns)
                                        : ((const struct answer *)(void *)x->answers[owner].data)[x->answered[owner]++];

            *n = a.time <= e->time ? a.need : (struct need){ .process = FV_NONE };
        }
}

/* ---- the first process: operations of all ---- */

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

/* A call whose clock shows this takes part in it. */
static void come(struct meetings *m, uint64_t key, uint64_t clock)
{
    struct meeting *at = meet(m, key);

    at->latest = clock > at->latest ? clock : at->latest;
    at->in++;
}

/* Its part ends; not before all came that came until now. */
static uint64_t go(struct meetings *m, uint64_t key, uint64_t clock)
{
    struct meeting *at = meet(m, key);

    at->out++;
    return at->latest > clock ? at->latest : clock;
}

/* ---- the first process: clocks ---- */

/* After an event of this window, if that has come. */
static uint64_t needed(const struct ideal *x, const struct need *n)
{
    if (n->process == FV_NONE)
        return n->ns;
    const uint64_t *clocks = (const uint64_t *)(const void *)x->out[n->process].data;
    return n->event < x->out[n->process].count / sizeof(*clocks) ? clocks[n->event] + n->ns : 0;
}

static uint64_t move_clock(struct ideal *x, const struct event *e)
{
    uint64_t clock = x->clock[e->line] + e->ns;
    const uint64_t *meetings = meetings_of(e);
    const struct need *needs = needs_of(e);

    for (uint32_t i = 0; i < e->meetings && e->phase == BEGIN; i++)
        come(&x->meetings, meetings[i], clock);
    for (uint32_t i = 0; i < e->meetings && e->phase == END; i++)
        clock = go(&x->meetings, meetings[i], clock);
    for (uint32_t i = 0; i < e->needs; i++) {
        uint64_t least = needed(x, &needs[i]);

        clock = least > clock ? least : clock;
    }
    return x->clock[e->line] = clock;
}

/* The processes' events, in one order; each process gets the clocks after its own. */
static void move_clocks(struct ideal *x)
{
    const struct fv_transport *t = x->g->transport;
    const struct event **at = fv_xcalloc((size_t)t->size, sizeof(*at));
    const struct event **stop = fv_xcalloc((size_t)t->size, sizeof(*stop));
    struct fv_heap heap = { 0 }; /* by line, which says whose it is */

    for (int i = 0; i < t->size; i++) {
        at[i] = i ? (const struct event *)(const void *)x->all[i].data : event_at(x, 0);
        stop[i] =
            i ? (const struct event *)(const void *)(x->all[i].data + x->all[i].count) : event_at(x, x->window_bytes);
        if (at[i] != stop[i])
            fv_heap_push(&heap, (struct fv_heap_item){ at[i]->time, at[i]->phase, at[i]->line });
    }
    while (heap.count) {
        uint32_t source = x->g->steps->lines[heap.items[0].number].process;
        const struct event *e = at[source];

        fv_bytes_number(&x->out[source], move_clock(x, e));
        e = at[source] = event_behind(e);
        if (e < stop[source])
            fv_heap_replace(&heap, (struct fv_heap_item){ e->time, e->phase, e->line });
        else
            fv_heap_pop(&heap);
    }
    fv_heap_release(&heap);
    free(at);
    free(stop);
}

/* A thread computes, or is not there, before its first call and after its last one. */
static const struct fv_step_line *program_of(const struct fv_steps *s, uint32_t line)
{
    return &s->lines[s->first_line[s->lines[line].rank]];
}

static uint64_t longest(const struct ideal *x)
{
    const struct fv_graph *g = x->g;
    uint64_t most = 0;

    for (uint32_t i = 0; i < g->rank_count; i++) {
        uint32_t line = g->main_line[i];

        if (line == FV_NONE || !g->steps->lines[line].count)
            continue;
        uint64_t ns = x->clock[line] + program_of(g->steps, line)->end_ns - g->steps->lines[line].end_ns;
        most = ns > most ? ns : most;
    }
    return most;
}

/* ---- one process alone ---- */

static void begin_alone(struct ideal *x, uint32_t line, uint32_t call)
{
    const struct fv_steps *steps = x->g->steps;
    struct fv_step *first = fv_step(steps, line, call);
    const struct fv_step *s = first;
    uint64_t before = x->lines[line].end, end = fv_step_end(steps, first),
             clock = x->clock[line] += first->begin > before ? first->begin - before : 0;
    bool needs = false;
    uint32_t i = call;

    do {
        needs = needs || s->flags & FV_STEP_ALL || needs_clock(steps, s);
        if (s->flags & FV_STEP_ALL)
            come(&x->meetings, meeting_key(fv_step_detail(steps, s)), clock);
    } while (++i < steps->lines[line].count && (s = fv_step(steps, line, i))->flags & FV_STEP_MORE);
    x->lines[line].end = end;
    first->begin = clock & FV_STEP_TIME_MAX;
    first->flags |= FV_STEP_IDEAL;
    fv_steps_visited(steps, i - call);
    if (needs)
        fv_heap_replace(&x->heap, (struct fv_heap_item){ end, END, line });
    else
        go_on(x, line, i);
}

static void end_alone(struct ideal *x, uint32_t line, uint32_t call)
{
    const struct fv_steps *steps = x->g->steps;
    uint64_t clock = x->clock[line];
    uint32_t i = call;
    const struct fv_step *s = fv_step(steps, line, i);

    do {
        if (s->flags & FV_STEP_ALL)
            clock = go(&x->meetings, meeting_key(fv_step_detail(steps, s)), clock);
        if (!needs_clock(steps, s))
            continue;
        struct fv_step_post post = fv_step_post(steps, s);
        const struct fv_step *cause = fv_step(steps, post.line, post.step);
        if (cause->flags & FV_STEP_IDEAL && cause->begin > clock) /* else it has not begun */
            clock = cause->begin;
    } while (++i < steps->lines[line].count && (s = fv_step(steps, line, i))->flags & FV_STEP_MORE);
    x->clock[line] = clock;
    go_on(x, line, i);
}

static void follow_alone(struct ideal *x)
{
    while (x->heap.count) {
        struct fv_heap_item next = x->heap.items[0];

        if (next.phase == BEGIN)
            begin_alone(x, next.number, x->lines[next.number].call);
        else
            end_alone(x, next.number, x->lines[next.number].call);
    }
}

/* ---- all ---- */

static void set_up(struct ideal *x)
{
    const struct fv_steps *steps = x->g->steps;
    size_t lines = (size_t)steps->line_count + 1, processes = steps->processes;

    x->lines = fv_xcalloc(lines, sizeof(*x->lines));
    x->out = fv_xcalloc(processes, sizeof(*x->out));
    x->all = fv_xcalloc(processes, sizeof(*x->all));
    x->answers = fv_xcalloc(processes, sizeof(*x->answers));
    x->answered = fv_xcalloc(processes, sizeof(*x->answered));
    x->told = 1;
    if (!steps->own)
        x->clock = fv_xcalloc(lines, sizeof(*x->clock));
    for (uint32_t i = 0; i < steps->line_count; i++) {
        if (!steps->lines[i].count)
            continue;
        if (x->clock)
            x->clock[i] = steps->lines[i].begin_ns - program_of(steps, i)->begin_ns;
        if (!fv_steps_are_own(steps, i))
            continue;
        x->lines[i].end = steps->lines[i].begin_ns;
        x->lines[i].clock = steps->lines[i].begin_ns - program_of(steps, i)->begin_ns;
        fv_heap_push(&x->heap, (struct fv_heap_item){ fv_step(steps, i, 0)->begin, BEGIN, i });
    }
}

static void release(struct ideal *x)
{
    fv_graph_free(x->g, x->out);
    fv_graph_free(x->g, x->all);
    fv_graph_free(x->g, x->answers);
    fv_heap_release(&x->heap);
    free(x->answered);
    free(x->lines);
    free(x->events.data);
    free(x->clocks.data);
    free(x->asked.data);
    free(x->replies.data);
    free(x->clock);
    free(x->begun);
    free(x->meetings.slots);
}

/* The clocks of the calls that began until then go to the steps. */
static void set_clocks(struct ideal *x, uint64_t until)
{
    const uint64_t *clocks = (const uint64_t *)(const void *)x->clocks.data;
    size_t i = 0;

    for (; i < x->begun_count && x->begun[i].time <= until; i++) {
        const struct begun *b = &x->begun[i];
        struct fv_step *s = fv_step(x->g->steps, b->line, b->call);
        uint64_t clock = b->event < x->told ? x->lines[b->line].clock : clocks[b->event - x->told];

        s->begin = (clock + b->after) & FV_STEP_TIME_MAX;
        s->flags |= FV_STEP_IDEAL;
    }
    x->begun_count -= i;
    x->begun_known += i;
    if (x->begun_count)
        memmove(x->begun, x->begun + i, x->begun_count * sizeof(*x->begun));
}

/* What stands for a window's events is over. */
static void forget_events(struct ideal *x)
{
    const struct event *e = event_at(x, 0), *stop = event_at(x, x->window_bytes);
    const uint64_t *clock = (const uint64_t *)(const void *)x->clocks.data;

    for (; e < stop; e = event_behind(e))
        x->lines[e->line].clock = *clock++;
    x->told += x->window_events;
    x->event_count -= x->window_events;
    x->events.count -= x->window_bytes;
    if (x->events.count)
        memmove(x->events.data, x->events.data + x->window_bytes, x->events.count);
}

static void do_window(struct ideal *x, uint64_t until)
{
    const struct fv_graph *g = x->g;

    if (g->transport->size > 1) {
        ask(x);
        answer_others(x);
    }
    take_answers(x);
    fv_graph_clear(g, x->all);
    fv_graph_gather(g, 0, &(struct fv_bytes){ .data = x->events.data, .count = x->window_bytes }, x->all);
    fv_graph_clear(g, x->out);
    if (!g->transport->rank)
        move_clocks(x);
    x->clocks.count = 0;
    fv_graph_scatter(g, 0, x->out, &x->clocks);
    set_clocks(x, until);
    forget_events(x);
}

static void follow_windows(struct ideal *x)
{
    const struct fv_transport *t = x->g->transport;
    uint64_t until;

    do {
        until = ~fill(x);
        fv_transport_max(t, &until, 1);
        until = ~until; /* the earliest of all */
        find_window(x, until);
        do_window(x, until);
    } while (until != UINT64_MAX);
}

void fv_graph_ideal(struct fv_graph *g)
{
    struct ideal x = { .g = g, .window = fv_graph_window(g, 128) };

    set_up(&x);
    if (g->transport->size == 1)
        follow_alone(&x);
    else
        follow_windows(&x);
    if (!g->transport->rank)
        g->ideal_ns = longest(&x);
    release(&x);
}
