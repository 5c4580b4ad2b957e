/* SPDX-License-Identifier: BSD-3-Clause */
/* See graph.h: the critical path. Where it goes from one rank to another says the first process, which needs
 * only what the waits were for; the time on the way is charged by the process of the rank. */
#include "analysis/graph_parts.h"
#include "analysis/samples.h"

#include <stdlib.h>
#include <string.h>

/* A wait that the path may leave through: it ended because of what another line did then. */
struct door {
    uint64_t time; /* when: the cause */
    uint32_t line, call, cause_line, cause_step;
};

/* What the path is on a line, the latest first: from a call back to the one where it leaves. */
struct stretch {
    uint64_t now;             /* when it comes there */
    uint32_t line, call, way; /* way: the call, FV_NONE: it stays until the line's beginning */
};

struct fv_critical {
    struct fv_graph *g;
    struct fv_bytes doors, stretches; /* of this process */
    struct fv_bytes *in, *out;        /* in the first process: of each */
    /* In the first process, of this window: */
    const struct door **door; /* those of a line one behind the other, the latest first */
    uint32_t *next;           /* by line: the first of them that the path has not passed; ... */
    uint32_t *stop;           /* ... behind the last */
    /* Where the path is, of which the first process knows: */
    uint64_t now, end, switches;
    uint32_t line, call; /* FV_NONE: no line; the last call */
    uint64_t paused_ns;  /* that it met in this process: no part of it */
};

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

struct fv_critical *fv_critical_begin(struct fv_graph *g)
{
    struct fv_critical *p = fv_xcalloc(1, sizeof(*p));
    size_t processes = (size_t)g->transport->size, lines = (size_t)g->steps->line_count + 1;

    p->g = g;
    p->line = g->transport->rank ? FV_NONE : last_line(g);
    p->call = FV_NONE;
    if (p->line != FV_NONE)
        p->now = p->end = g->steps->lines[p->line].end_ns;
    p->in = fv_xcalloc(processes, sizeof(*p->in));
    p->out = fv_xcalloc(processes, sizeof(*p->out));
    p->next = fv_xcalloc(lines, sizeof(*p->next));
    p->stop = fv_xcalloc(lines, sizeof(*p->stop));
    return p;
}

/* ---- which waits there are ---- */

static void find_doors(struct fv_critical *p, const struct fv_graph_wait *waits, size_t count)
{
    const struct fv_steps *steps = p->g->steps;

    p->doors.count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct fv_step *s = fv_step(steps, waits[i].line, waits[i].call);

        if (fv_step_cause_after(steps, s) > (int64_t)fv_step_length(steps, s))
            continue; /* the call did not end by that */
        struct door d = { fv_step_cause(steps, s), waits[i].line, waits[i].call, s->cause_line, s->cause_step };
        fv_bytes_put(&p->doors, &d, sizeof(d));
    }
}

/* Those of process i. */
static const struct door *doors_of(const struct fv_critical *p, int i, size_t *count)
{
    const struct fv_bytes *from = i ? &p->in[i] : &p->doors;

    *count = from->count / sizeof(struct door);
    return (const struct door *)(const void *)from->data;
}

/* By line; those of a process are in the order of time. */
static void sort_doors(struct fv_critical *p)
{
    uint32_t lines = p->g->steps->line_count, sum = 0;
    int size = p->g->transport->size;
    size_t count;

    memset(p->stop, 0, lines * sizeof(*p->stop));
    for (int i = 0; i < size; i++) {
        const struct door *d = doors_of(p, i, &count);

        for (size_t k = 0; k < count; k++)
            p->stop[d[k].line]++;
    }
    for (uint32_t i = 0; i < lines; i++) {
        p->next[i] = sum;
        sum += p->stop[i];
        p->stop[i] = p->next[i];
    }
    p->door = fv_xcalloc((size_t)sum + 1, sizeof(struct door *));
    for (int i = 0; i < size; i++) {
        const struct door *d = doors_of(p, i, &count);

        for (size_t k = 0; k < count; k++)
            p->door[p->stop[d[k].line]++] = &d[k];
    }
}

/* ---- where the path goes ---- */

/* The last wait of this window before the path's place through which it can leave. */
static const struct door *way_out(struct fv_critical *p)
{
    while (p->next[p->line] < p->stop[p->line]) {
        const struct door *d = p->door[p->next[p->line]++];

        if (d->call <= p->call && d->time <= p->now)
            return d;
    }
    return NULL;
}

static void put_stretch(struct fv_critical *p, uint32_t way)
{
    struct stretch s = { p->now, p->line, p->call, way };

    fv_bytes_put(&p->out[p->g->steps->lines[p->line].process], &s, sizeof(s));
}

static void keep_stretch(struct fv_graph *g, uint32_t line, uint64_t begin_ns, uint64_t end_ns)
{
    if (!g->only_path || end_ns <= begin_ns)
        return;
    FV_GROW(g->path, g->path_room, g->path_count + 1);
    g->path[g->path_count++] = (struct fv_graph_stretch){ begin_ns, end_ns, line };
}

static void go_through(struct fv_critical *p, const struct door *d)
{
    put_stretch(p, d->call);
    keep_stretch(p->g, p->line, d->time, p->now);
    p->now = d->time;
    p->line = d->cause_line;
    p->call = d->cause_step;
    p->switches++;
}

static void finish(struct fv_critical *p)
{
    uint64_t begin = p->g->steps->lines[p->line].begin_ns;

    put_stretch(p, FV_NONE);
    keep_stretch(p->g, p->line, begin, p->now);
    p->g->critical_ns = p->end - (p->now < begin ? p->now : begin);
    p->g->switches = p->switches;
}

static void lead(struct fv_critical *p, bool last)
{
    const struct door *d;

    if (p->line == FV_NONE)
        return;
    sort_doors(p);
    while ((d = way_out(p)))
        go_through(p, d);
    if (last)
        finish(p);
    free(p->door);
}

/* ---- what it meets there ---- */

static uint32_t first_call(const struct fv_steps *steps, const struct stretch *s)
{
    if (s->call >= steps->lines[s->line].count)
        return fv_call_before(steps, s->line, steps->lines[s->line].count);
    return fv_call_before(steps, s->line, s->call + 1);
}

static void charge_samples(struct fv_graph *g, uint32_t line, uint32_t call, uint64_t now)
{
    struct fv_sample_cursor c = fv_samples_before(g->steps, line, call);
    uint32_t site = fv_step_site(fv_step(g->steps, line, call));

    for (const struct fv_sample *s; (s = fv_sample_next(&c)) && s->ns < now;)
        fv_tallies_add(g->out, &(struct fv_tally){ .what = FV_TALLY_CRITICAL_AT,
                                                   .site = site,
                                                   .rank = g->steps->lines[line].rank,
                                                   .kind = s->node,
                                                   .count = 1,
                                                   .ns = s->cpu_ns });
}

/* Over the time before the call. Says what time it is then. */
static uint64_t go_before(struct fv_graph *g, uint32_t line, uint32_t call, uint64_t now)
{
    const struct fv_step *s = fv_step(g->steps, line, call);
    uint64_t before = fv_step_end_before(g->steps, line, call), gap = now > before ? now - before : 0,
             locked = fv_step_locked(g->steps, s, gap);

    fv_graph_charge(g, FV_TALLY_CRITICAL, line, fv_step_site(s), FV_COMPUTING, gap - locked);
    fv_graph_charge(g, FV_TALLY_CRITICAL, line, fv_step_site(s), FV_FOR_LOCKS, locked);
    if (gap)
        charge_samples(g, line, call, now);
    return now - gap;
}

static void walk(struct fv_critical *p, const struct stretch *stretch)
{
    struct fv_graph *g = p->g;
    uint32_t line = stretch->line, call = first_call(g->steps, stretch);
    uint64_t now = stretch->now;

    for (;; call = fv_call_before(g->steps, line, call)) {
        const struct fv_step *s = fv_step(g->steps, line, call);
        uint64_t from = call == stretch->way ? fv_step_cause(g->steps, s) : s->begin,
                 in_call = now > from ? now - from : 0;

        fv_steps_visited(g->steps, 1);
        if (s->flags & FV_STEP_PAUSE)
            p->paused_ns += in_call;
        else
            fv_graph_charge(g, FV_TALLY_CRITICAL, line, fv_step_site(s),
                            s->site == FV_STEP_NO_SITE ? FV_COMPUTING : FV_IN_MPI, in_call);
        if (call == stretch->way)
            return;
        now = go_before(g, line, call, now - in_call);
        if (!call)
            return;
    }
}

static void walk_all(struct fv_critical *p)
{
    const struct stretch *s = (const struct stretch *)(const void *)p->stretches.data;
    size_t count = p->stretches.count / sizeof(*s);

    for (size_t i = 0; i < count; i++)
        walk(p, &s[i]);
}

/* ---- all ---- */

void fv_critical_window(struct fv_critical *p, const struct fv_graph_wait *waits, size_t count)
{
    find_doors(p, waits, count);
    fv_graph_clear(p->g, p->in);
    fv_graph_gather(p->g, 0, &p->doors, p->in);
}

void fv_critical_follow(struct fv_critical *p, bool last)
{
    const struct fv_graph *g = p->g;

    fv_graph_clear(g, p->out);
    if (!g->transport->rank)
        lead(p, last);
    p->stretches.count = 0;
    fv_graph_scatter(g, 0, p->out, &p->stretches);
    walk_all(p);
}

void fv_critical_end(struct fv_critical *p)
{
    fv_transport_sum(p->g->transport, &p->paused_ns, 1);
    p->g->critical_ns -= p->g->transport->rank ? 0 : p->paused_ns;
    fv_graph_free(p->g, p->in);
    fv_graph_free(p->g, p->out);
    free(p->doors.data);
    free(p->stretches.data);
    free(p->next);
    free(p->stop);
    free(p);
}
