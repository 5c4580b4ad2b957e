/* SPDX-License-Identifier: BSD-3-Clause */
/* See graph.h: the ideal network, in windows of time from the beginning to the end.
 *
 * Each process says, in the order of time, when its calls began (how long after the call before) and when
 * those ended that needed something: from a call that began in an earlier window, what that one's clock
 * showed, else which call; and which operations of all. The first process moves the clocks, and says what
 * they showed when calls began: that is in the steps from then on, in place of when they began. One process
 * that is alone knows all in that order, and needs no windows. */
#include "analysis/graph_parts.h"
#include "tool/heap.h"

#include <stdlib.h>
#include <string.h>

enum phase { BEGIN, END };

/* In the order of time. Behind it: the numbers of the operations of all that the call takes part in, and,
 * END, the calls that it needs. */
struct event {
    uint64_t time;
    uint64_t ns; /* BEGIN: since the call before; END: a clock that it needs */
    uint32_t line, call;
    uint32_t meetings, causes : 31, phase : 1;
};
#define NO_CAUSE UINT64_MAX /* of those, else line << 32 | step: its clock is known, and in `ns` */

/* A call that began in the window, in the first process. Of each line they make a list with jumps, in which
 * any is found in as many steps as the logarithm of its distance (Myers: An Applicative Random-Access Stack,
 * 1983).
 */
struct begun {
    uint64_t clock;
    uint32_t before, jump; /* of the same line: their numbers, from 1; 0: there is none */
    uint32_t depth;        /* how many of the line there are until here */
    uint32_t call;
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
    struct fv_heap heap;                                 /* of own lines, by their next moment */
    uint32_t *call;                                      /* by line: the present one */
    uint64_t *end;                                       /* ... and when the one before was over */
    struct fv_bytes events;                              /* of this process, that are not told yet */
    size_t count, window, window_bytes;                  /* of events; of those of the window */
    uint64_t last_time;                                  /* of the events */
    struct fv_bytes clocks, *out, *all, asked, *answers; /* pointers: by process */
    size_t *answered;
    /* In the first process: */
    uint64_t *clock;     /* by line */
    uint64_t *last;      /* by line: the last that began, its number and `base`; up to `base`: an earlier window's */
    struct begun *begun; /* [0]: there is none */
    size_t begun_count, begun_room;
    uint64_t base;
    struct meetings meetings;
};

/* ---- events of this process ---- */

static uint64_t *numbers_of(const struct event *e)
{
    return (uint64_t *)(void *)(e + 1);
}

static struct event *event_behind(const struct event *e)
{
    return (struct event *)(void *)(numbers_of(e) + e->meetings + e->causes);
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

/* Puts the number behind the event at `at`. */
static void put_number(struct ideal *x, size_t at, uint64_t number, bool meeting)
{
    fv_bytes_number(&x->events, number);
    if (meeting)
        event_at(x, at)->meetings++;
    else
        event_at(x, at)->causes++;
}

static size_t put_event(struct ideal *x, const struct event *e)
{
    size_t at = x->events.count;

    fv_bytes_put(&x->events, e, sizeof(*e));
    x->last_time = e->time;
    x->count++;
    return at;
}

static void go_on(struct ideal *x, uint32_t line, uint32_t call)
{
    const struct fv_steps *steps = x->g->steps;

    x->call[line] = call;
    if (call < steps->lines[line].count)
        fv_heap_replace(&x->heap, (struct fv_heap_item){ fv_step(steps, line, call)->begin, BEGIN, line });
    else
        fv_heap_pop(&x->heap);
}

/* What ends without having needed anything is not told. */
static void begin_event(struct ideal *x, uint64_t time, uint32_t line, uint32_t call)
{
    const struct fv_steps *steps = x->g->steps;
    const struct fv_step *s = fv_step(steps, line, call);
    uint64_t before = x->end[line], end = fv_step_end(steps, s);
    uint32_t i = call;
    bool needs = false;
    size_t at = put_event(x, &(struct event){ .time = time,
                                              .ns = s->begin > before ? s->begin - before : 0,
                                              .line = line,
                                              .call = call,
                                              .phase = BEGIN });

    do {
        needs = needs || needs_clock(steps, s);
        if (s->flags & FV_STEP_ALL)
            put_number(x, at, meeting_key(fv_step_detail(steps, s)), true);
    } while (++i < steps->lines[line].count && (s = fv_step(steps, line, i))->flags & FV_STEP_MORE);
    x->end[line] = end;
    if (needs || event_at(x, at)->meetings)
        fv_heap_replace(&x->heap, (struct fv_heap_item){ end, END, line });
    else
        go_on(x, line, i);
}

static void end_event(struct ideal *x, uint64_t time, uint32_t line, uint32_t call)
{
    const struct fv_steps *steps = x->g->steps;
    uint32_t stop = fv_call_behind(steps, line, call);
    size_t at = put_event(x, &(struct event){ .time = time, .line = line, .call = call, .phase = END });

    for (uint32_t i = call; i < stop; i++) {
        const struct fv_step *s = fv_step(steps, line, i);

        if (s->flags & FV_STEP_ALL)
            put_number(x, at, meeting_key(fv_step_detail(steps, s)), true);
    }
    for (uint32_t i = call; i < stop; i++) {
        const struct fv_step *s = fv_step(steps, line, i);

        if (needs_clock(steps, s)) {
            struct fv_step_post post = fv_step_post(steps, s);

            put_number(x, at, (uint64_t)post.line << 32 | post.step, false);
        }
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

        if (x->count >= x->window && x->last_time != next.time)
            return x->last_time;
        if (next.phase == BEGIN)
            begin_event(x, next.time, next.number, x->call[next.number]);
        else
            end_event(x, next.time, next.number, x->call[next.number]);
    }
    return UINT64_MAX;
}

/* Those of the window are the first ones. */
static void find_window(struct ideal *x, uint64_t until)
{
    const struct event *e = event_at(x, 0), *stop = event_at(x, x->events.count);

    for (; e < stop && e->time <= until; e = event_behind(e))
        x->count--;
    x->window_bytes = e ? (size_t)((const uint8_t *)e - x->events.data) : 0;
}

/* ---- what they need of calls that began in earlier windows ---- */

/* NO_CAUSE: it began in this window. */
static uint64_t clock_of(const struct ideal *x, uint64_t cause)
{
    const struct fv_step *s = fv_step(x->g->steps, (uint32_t)(cause >> 32), (uint32_t)cause);

    return s->flags & FV_STEP_IDEAL ? s->begin : NO_CAUSE;
}

/* Others tell what their clocks showed. */
static void ask(struct ideal *x)
{
    const struct fv_steps *steps = x->g->steps;
    const struct event *e = event_at(x, 0), *stop = event_at(x, x->window_bytes);

    fv_graph_clear(x->g, x->out);
    for (; e < stop; e = event_behind(e))
        for (const uint64_t *n = numbers_of(e) + e->meetings; n < (uint64_t *)(void *)event_behind(e); n++)
            if (!fv_steps_are_own(steps, (uint32_t)(*n >> 32)))
                fv_bytes_number(&x->out[steps->lines[*n >> 32].process], *n);
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
        x->asked.count = x->answers[i].count = x->answered[i] = 0;
        exchange(t, i, &x->out[i], &x->asked);
        uint64_t *numbers = (uint64_t *)(void *)x->asked.data;
        for (size_t k = 0; k < x->asked.count / sizeof(*numbers); k++)
            numbers[k] = clock_of(x, numbers[k]);
        exchange(t, i, &x->asked, &x->answers[i]);
    }
}

static void take_clocks(struct ideal *x)
{
    const struct fv_steps *steps = x->g->steps;
    struct event *e = event_at(x, 0), *stop = event_at(x, x->window_bytes);

    for (; e < stop; e = event_behind(e))
        for (uint64_t *n = numbers_of(e) + e->meetings; n < (uint64_t *)(void *)event_behind(e); n++) {
            uint32_t owner = steps->lines[*n >> 32].process;
            uint64_t clock = owner == steps->own ? clock_of(x, *n)
                                                 : ((uint64_t *)(void *)x->answers[owner].data)[x->answered[owner]++];

            if (clock == NO_CAUSE)
                continue;
            e->ns = clock > e->ns ? clock : e->ns;
            *n = NO_CAUSE;
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

static void forget_begun(struct ideal *x)
{
    x->base += x->begun_count;
    x->begun_count = 0;
    FV_GROW(x->begun, x->begun_room, 1);
    x->begun[0] = (struct begun){ 0 };
}

/* The last call of a line that began in this window, or 0. */
static uint32_t last_begun(const struct ideal *x, uint32_t line)
{
    return x->last[line] > x->base ? (uint32_t)(x->last[line] - x->base) : 0;
}

static void add_begun(struct ideal *x, uint32_t line, uint32_t call, uint64_t clock)
{
    FV_GROW(x->begun, x->begun_room, x->begun_count + 2);
    uint32_t before = last_begun(x, line);
    const struct begun *b = x->begun, *at = &b[before], *jump = &b[at->jump];
    bool as_far = at->depth - jump->depth == jump->depth - b[jump->jump].depth;

    x->begun[++x->begun_count] = (struct begun){
        .clock = clock, .before = before, .jump = as_far ? jump->jump : before, .depth = at->depth + 1, .call = call
    };
    x->last[line] = x->base + x->begun_count;
}

/* What the clock of a call showed that began in this window; 0: it did not. */
static uint64_t clock_in_window(const struct ideal *x, uint64_t cause)
{
    const struct begun *b = x->begun;
    uint32_t i = last_begun(x, (uint32_t)(cause >> 32)), call = (uint32_t)cause;

    while (i && b[i].call > call)
        i = b[i].jump && b[b[i].jump].call >= call ? b[i].jump : b[i].before;
    return i && b[i].call == call ? b[i].clock : 0;
}

static void begin_call(struct ideal *x, const struct event *e, const uint64_t *meetings)
{
    uint64_t clock = x->clock[e->line] += e->ns;

    for (uint32_t i = 0; i < e->meetings; i++)
        come(&x->meetings, meetings[i], clock);
    add_begun(x, e->line, e->call, clock);
}

static void end_call(struct ideal *x, const struct event *e, const uint64_t *numbers)
{
    uint64_t clock = x->clock[e->line] > e->ns ? x->clock[e->line] : e->ns;

    for (uint32_t i = 0; i < e->meetings; i++)
        clock = go(&x->meetings, numbers[i], clock);
    for (uint32_t i = e->meetings; i < e->meetings + e->causes; i++) {
        uint64_t needed = numbers[i] != NO_CAUSE ? clock_in_window(x, numbers[i]) : 0;

        clock = needed > clock ? needed : clock;
    }
    x->clock[e->line] = clock;
}

/* The processes' events, in one order; each process gets the clocks of the calls that began. */
static void move_clocks(struct ideal *x)
{
    const struct fv_transport *t = x->g->transport;
    const struct event **at = fv_xcalloc((size_t)t->size, sizeof(*at));
    const struct event **stop = fv_xcalloc((size_t)t->size, sizeof(*stop));
    struct fv_heap heap = { 0 }; /* by line, which says whose it is */

    forget_begun(x);
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

        if (e->phase == BEGIN) {
            begin_call(x, e, numbers_of(e));
            fv_bytes_number(&x->out[source], x->clock[e->line]);
        } else {
            end_call(x, e, numbers_of(e));
        }
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
    uint64_t before = x->end[line], end = fv_step_end(steps, first),
             clock = x->clock[line] += first->begin > before ? first->begin - before : 0;
    bool needs = false;
    uint32_t i = call;

    do {
        needs = needs || s->flags & FV_STEP_ALL || needs_clock(steps, s);
        if (s->flags & FV_STEP_ALL)
            come(&x->meetings, meeting_key(fv_step_detail(steps, s)), clock);
    } while (++i < steps->lines[line].count && (s = fv_step(steps, line, i))->flags & FV_STEP_MORE);
    x->end[line] = end;
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
            begin_alone(x, next.number, x->call[next.number]);
        else
            end_alone(x, next.number, x->call[next.number]);
    }
}

/* ---- all ---- */

static void set_up(struct ideal *x)
{
    const struct fv_steps *steps = x->g->steps;
    size_t lines = (size_t)steps->line_count + 1, processes = steps->processes;

    x->call = fv_xcalloc(lines, sizeof(*x->call));
    x->end = fv_xcalloc(lines, sizeof(*x->end));
    x->out = fv_xcalloc(processes, sizeof(*x->out));
    x->all = fv_xcalloc(processes, sizeof(*x->all));
    x->answers = fv_xcalloc(processes, sizeof(*x->answers));
    x->answered = fv_xcalloc(processes, sizeof(*x->answered));
    if (!steps->own) {
        x->clock = fv_xcalloc(lines, sizeof(*x->clock));
        x->last = fv_xcalloc(lines, sizeof(*x->last));
    }
    for (uint32_t i = 0; i < steps->line_count; i++) {
        if (!steps->lines[i].count)
            continue;
        if (x->clock)
            x->clock[i] = steps->lines[i].begin_ns - program_of(steps, i)->begin_ns;
        if (!fv_steps_are_own(steps, i))
            continue;
        x->end[i] = steps->lines[i].begin_ns;
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
    free(x->call);
    free(x->end);
    free(x->events.data);
    free(x->clocks.data);
    free(x->asked.data);
    free(x->clock);
    free(x->last);
    free(x->begun);
    free(x->meetings.slots);
}

/* What stands for a window's events is over: the clocks go to the steps. */
static void set_clocks(struct ideal *x)
{
    const struct event *e = event_at(x, 0), *stop = event_at(x, x->window_bytes);
    const uint64_t *clock = (const uint64_t *)(const void *)x->clocks.data;

    for (; e < stop; e = event_behind(e)) {
        if (e->phase != BEGIN)
            continue;
        struct fv_step *s = fv_step(x->g->steps, e->line, e->call);

        s->begin = *clock++ & FV_STEP_TIME_MAX;
        s->flags |= FV_STEP_IDEAL;
    }
    x->events.count -= x->window_bytes;
    if (x->events.count)
        memmove(x->events.data, x->events.data + x->window_bytes, x->events.count);
}

static void do_window(struct ideal *x)
{
    const struct fv_graph *g = x->g;

    if (g->transport->size > 1) {
        ask(x);
        answer_others(x);
    }
    take_clocks(x);
    fv_graph_clear(g, x->all);
    fv_graph_gather(g, 0, &(struct fv_bytes){ .data = x->events.data, .count = x->window_bytes }, x->all);
    fv_graph_clear(g, x->out);
    if (!g->transport->rank)
        move_clocks(x);
    x->clocks.count = 0;
    fv_graph_scatter(g, 0, x->out, &x->clocks);
    set_clocks(x);
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
        do_window(x);
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
