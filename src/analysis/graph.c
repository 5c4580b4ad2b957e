/* See graph.h: the critical path. There is one at a time, so one process is at work, and the first one knows
 * which. */
#include "analysis/graph_parts.h"

/* Where the path is. */
struct path {
    uint64_t now, end, switches;
    uint32_t line, call;
    uint64_t over; /* it has come to its beginning */
};

/* The wait of a call, if it is one for another line that came before `until`. */
static bool leads_away(const struct fv_steps *steps, const struct fv_step *s, uint32_t line, uint64_t until)
{
    if (!fv_step_wait(steps, s) || s->cause_line == line)
        return false;
    return fv_step_cause_after(steps, s) <= (int64_t)fv_step_length(steps, s) &&
           fv_step_cause(steps, s) <= until;
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

/* Over the time before the call, if the path does not leave in it. */
static void go_before(struct fv_graph *g, struct path *p, const struct fv_step *s)
{
    uint64_t before = fv_step_end_before(g->steps, p->line, p->call);
    uint64_t gap = p->now > before ? p->now - before : 0, locked = fv_step_locked(g->steps, s, gap);

    fv_graph_charge(g, FV_TALLY_CRITICAL, p->line, fv_step_site(s), FV_COMPUTING, gap - locked);
    fv_graph_charge(g, FV_TALLY_CRITICAL, p->line, fv_step_site(s), FV_FOR_LOCKS, locked);
    p->now = before < p->now ? before : p->now;
    p->over = !p->call;
    if (p->call)
        p->call = fv_call_before(g->steps, p->line, p->call);
}

/* As far as it stays with this process. */
static void follow(struct fv_graph *g, struct path *p)
{

    while (!p->over && fv_steps_are_own(g->steps, p->line)) {
        if (p->call >= g->steps->lines[p->line].count) /* it begins with the last */
            p->call = fv_call_before(g->steps, p->line, g->steps->lines[p->line].count);
        const struct fv_step *s = fv_step(g->steps, p->line, p->call);
        bool away = leads_away(g->steps, s, p->line, p->now);
        uint64_t from = away ? fv_step_cause(g->steps, s) : s->begin;

        fv_steps_visited(g->steps, 1);
        fv_graph_charge(g, FV_TALLY_CRITICAL, p->line, fv_step_site(s),
                        s->site == FV_STEP_NO_SITE ? FV_COMPUTING : FV_IN_MPI,
                        p->now > from ? p->now - from : 0);
        p->now = from < p->now ? from : p->now;
        if (!away) {
            go_before(g, p, s);
            continue;
        }
        p->call = s->cause_step;
        p->line = s->cause_line;
        p->switches++;
    }
}

/* The first process has the path back whenever it leaves another. */
static void lead(struct fv_graph *g)
{
    const struct fv_transport *t = g->transport;
    struct path p = { .line = last_line(g), .call = FV_NONE };

    p.over = p.line == FV_NONE;
    if (!p.over)
        p.now = p.end = g->steps->lines[p.line].end_ns;
    while (!p.over) {
        int owner = (int)g->steps->lines[p.line].process;

        if (!owner) {
            follow(g, &p);
        } else {
            t->send(t, owner, &p, sizeof(p));
            t->receive(t, owner, &p, sizeof(p));
        }
    }
    for (int i = 1; i < t->size; i++)
        t->send(t, i, &p, sizeof(p));
    g->critical_ns = p.end - p.now;
    g->switches = p.switches;
}

void fv_graph_critical(struct fv_graph *g)
{
    const struct fv_transport *t = g->transport;
    struct path p = { 0 };

    if (!t->rank) {
        lead(g);
        return;
    }
    for (t->receive(t, 0, &p, sizeof(p)); !p.over; t->receive(t, 0, &p, sizeof(p))) {
        follow(g, &p);
        t->send(t, 0, &p, sizeof(p));
    }
}
