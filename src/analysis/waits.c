/* SPDX-License-Identifier: BSD-3-Clause */
/* See waits.h. Each line is read from its end, because whether a message was late "in the wrong order"
 * depends on what is received later. */
#include "analysis/waits.h"

#include <stdlib.h>
#include <string.h>

/* Sums over one line, by call site; the last one is for no site. */
struct site_sum {
    uint64_t calls, ns, before_ns, locked_ns;
};

/* When the message of a receive was there, and who sent it. */
struct arrival {
    uint64_t ns;
    struct fv_step_post post;
    uint8_t kind;
    bool known;
};

struct pass {
    struct fv_steps *steps;
    struct fv_tallies *out;
    struct fv_over_time *over_time;
    struct site_sum *sums;
    uint32_t site_count, line, rank;
    bool name_ranks;
    uint64_t earliest_ns; /* send of a message that is received later */
    struct arrival next;  /* of the next receive, if no MPI_Probe stands before it */
    uint64_t mpi_ns, calls, wait_ns, paused_ns;
};

static bool is_receive(const struct fv_step *s)
{
    return s->flags & FV_STEP_KNOWN && (s->kind == FV_WS_LATE_SENDER || s->kind == FV_WS_WRONG_ORDER);
}

/* A send that need not have waited for its receiver (its message may have been buffered) is the cause only
 * where nothing else in the call took about as long. */
static bool is_longer(const struct fv_step *a, uint64_t wait_a, const struct fv_step *b, uint64_t wait_b)
{
    if (a->kind == FV_WS_LATE_RECEIVER && b->kind != FV_WS_LATE_RECEIVER)
        return wait_b < wait_a - wait_a / 10;
    if (b->kind == FV_WS_LATE_RECEIVER && a->kind != FV_WS_LATE_RECEIVER)
        return wait_a >= wait_b - wait_b / 10 && wait_a;
    return wait_a > wait_b;
}

static void swap_dependencies(struct fv_steps *steps, struct fv_step *a, struct fv_step *b)
{
    struct fv_step was = *a;

    *a = *b;
    *b = was;
    b->flags = (uint8_t)(was.flags | FV_STEP_MORE);
    a->flags &= (uint8_t)~FV_STEP_MORE;
    if (b->has_detail && fv_step_detail(steps, b)->locked) { /* is of the call, not of what it depends on */
        struct fv_step_detail *d = fv_step_need_detail(steps, a);

        if (d)
            d->locked = fv_step_detail(steps, b)->locked;
    }
    if (was.flags & FV_STEP_PROBE)
        a->flags |= FV_STEP_PROBE;
}

/* Puts the longest wait first. */
static struct fv_step *sort_call(struct pass *p, uint32_t first, uint32_t stop)
{
    struct fv_step *call = fv_step(p->steps, p->line, first), *best = call;
    uint64_t earliest = p->earliest_ns;

    for (uint32_t i = first; i < stop; i++) {
        struct fv_step *s = fv_step(p->steps, p->line, i);

        if (!is_receive(s))
            continue;
        uint64_t sent_ns = s->begin + (uint64_t)fv_step_post(p->steps, s).after;
        earliest = sent_ns < earliest ? sent_ns : earliest;
        if (p->earliest_ns < sent_ns)
            s->kind = FV_WS_WRONG_ORDER;
    }
    p->earliest_ns = earliest;
    uint64_t longest = first + 1 < stop ? fv_step_wait(p->steps, best) : 0;
    for (uint32_t i = first + 1; i < stop; i++) {
        struct fv_step *s = fv_step(p->steps, p->line, i);
        uint64_t wait = fv_step_wait(p->steps, s);

        if (is_longer(s, wait, best, longest)) {
            best = s;
            longest = wait;
        }
    }
    if (best != call)
        swap_dependencies(p->steps, call, best);
    return call;
}

/* The next receive behind an MPI_Probe finds its message there: it was the probe that waited for it to be there, not
 * for all of it. A message that came later was not the probe's. */
static void tell_probe(struct pass *p, struct fv_step *call)
{
    const struct arrival next = p->next;

    if (is_receive(call)) {
        p->next = (struct arrival){ .post = fv_step_post(p->steps, call), .kind = call->kind, .known = true };
        p->next.ns = call->begin + (uint64_t)p->next.post.after;
    }
    if (!(call->flags & FV_STEP_PROBE))
        return;
    p->next.known = false;
    if (!next.known || (int64_t)(next.ns - fv_step_end(p->steps, call)) > 0)
        return;
    call->kind = next.kind;
    fv_step_set_cause(p->steps, call, next.ns);
    call->cause_line = next.post.line;
    call->cause_site = next.post.site & FV_STEP_NO_SITE;
    call->cause_step = next.post.step;
    call->flags |= FV_STEP_KNOWN;
}

static void add_kind(struct pass *p, const struct fv_step *s, enum fv_wait_state kind, uint64_t ns)
{
    if (ns)
        fv_tallies_add(p->out, &(struct fv_tally){ FV_TALLY_WAIT, fv_step_site(s), p->rank, kind, 0, 0, 1, ns });
}

static void add_wait_for(struct pass *p, const struct fv_step *s, enum fv_wait_state kind, uint64_t ns, uint32_t site,
                         uint32_t line)
{
    if (!ns)
        return;
    add_kind(p, s, kind, ns);
    fv_tallies_add(p->out, &(struct fv_tally){ FV_TALLY_CAUSE, fv_step_site(s), p->name_ranks ? p->rank : FV_NONE, kind,
                                               fv_step_site_of(site), p->steps->lines[line].rank, 1, ns });
    p->wait_ns += ns;
}

static void add_wait(struct pass *p, const struct fv_step *s, enum fv_wait_state kind, uint64_t ns)
{
    add_wait_for(p, s, kind, ns, s->cause_site, s->cause_line);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The waiting of a call by kinds: some are a part of another. */
static void count_wait(struct pass *p, const struct fv_step *s)
{
    uint64_t wait = fv_step_wait(p->steps, s), part = fv_step_part(p->steps, s);
    uint64_t after = least(part, fv_step_length(p->steps, s) - wait);

    if (s->withheld) {
        struct fv_step_post post = fv_step_post(p->steps, s);
        uint64_t late = post.after > 0 ? least((uint64_t)post.after, wait) : 0;

        add_wait_for(p, s, s->kind, late, post.site, post.line);
        add_wait(p, s, FV_WS_NO_PROGRESS, wait - late);
        return;
    }
    if (s->kind == FV_WS_LATE_REDUCE || s->kind == FV_WS_EARLY_WAIT) {
        bool reduce = s->kind == FV_WS_LATE_REDUCE;

        part = least(part, wait);
        add_wait(p, s, reduce ? FV_WS_EARLY_REDUCE : FV_WS_EARLY_WAIT, wait - part);
        add_wait(p, s, reduce ? FV_WS_LATE_REDUCE : FV_WS_LATE_COMPLETE, part);
        return;
    }
    add_wait(p, s, s->kind, wait);
    if (s->kind == FV_WS_NXN)
        add_kind(p, s, FV_WS_NXN_COMPLETION, after);
    else if (s->kind == FV_WS_BARRIER)
        add_kind(p, s, FV_WS_BARRIER_COMPLETION, after);
    else if (s->kind == FV_WS_INIT)
        add_kind(p, s, FV_WS_INIT_COMPLETION, after);
}

static void count_call(struct pass *p, uint32_t first, const struct fv_step *s)
{
    struct site_sum *sum = &p->sums[s->site < p->site_count ? s->site : p->site_count];
    uint64_t before = fv_step_end_before(p->steps, p->line, first), gap = s->begin > before ? s->begin - before : 0,
             length = fv_step_length(p->steps, s);

    sum->before_ns += gap;
    sum->locked_ns += fv_step_locked(p->steps, s, gap);
    if (s->flags & FV_STEP_PAUSE) {
        p->paused_ns += length;
        return;
    }
    if (s->site == FV_STEP_NO_SITE) /* the end of the program */
        return;
    sum->calls++;
    sum->ns += length;
    p->calls++;
    p->mpi_ns += length;
    uint64_t had_ns = p->wait_ns;
    count_wait(p, s);
    if (!p->steps->lines[p->line].slot) /* the main thread */
        fv_over_time_add(p->over_time, p->rank, s->begin, p->wait_ns - had_ns);
}

static void tell_sums(struct pass *p)
{
    for (uint32_t i = 0; i <= p->site_count; i++) {
        struct site_sum *sum = &p->sums[i];
        uint32_t site = i < p->site_count ? i : FV_NONE;

        if (sum->calls)
            fv_tallies_add(p->out, &(struct fv_tally){ FV_TALLY_CALLS, site, p->rank, 0, 0, 0, sum->calls, sum->ns });
        if (sum->before_ns)
            fv_tallies_add(p->out, &(struct fv_tally){ FV_TALLY_BEFORE, site, p->rank, 0, 0, 0, 1, sum->before_ns });
        if (sum->locked_ns)
            fv_tallies_add(p->out, &(struct fv_tally){ FV_TALLY_LOCKED, site, p->rank, 0, 0, 0, 1, sum->locked_ns });
        *sum = (struct site_sum){ 0 };
    }
    fv_tallies_add(p->out, &(struct fv_tally){ FV_TALLY_LINE_MPI, 0, p->line, 0, 0, 0, p->calls, p->mpi_ns });
    fv_tallies_add(p->out, &(struct fv_tally){ FV_TALLY_LINE_WAIT, 0, p->line, 0, 0, 0, 1, p->wait_ns });
    fv_tallies_add(p->out, &(struct fv_tally){ FV_TALLY_LINE_PAUSED, 0, p->line, 0, 0, 0, 1, p->paused_ns });
}

static void do_line(struct pass *p)
{
    p->earliest_ns = UINT64_MAX;
    p->next.known = false;
    p->mpi_ns = p->calls = p->wait_ns = p->paused_ns = 0;
    for (uint32_t i = p->steps->lines[p->line].count, stop; i;) {
        stop = i;
        do
            i--;
        while (i && fv_step(p->steps, p->line, i)->flags & FV_STEP_MORE);
        struct fv_step *call = sort_call(p, i, stop);
        tell_probe(p, call);
        count_call(p, i, call);
        fv_steps_visited(p->steps, stop - i);
    }
    tell_sums(p);
}

void fv_waits(struct fv_steps *steps, const struct fv_sites *sites, bool name_ranks, struct fv_tallies *out,
              struct fv_over_time *over_time)
{
    struct pass p = {
        .steps = steps, .out = out, .over_time = over_time, .site_count = sites->count, .name_ranks = name_ranks
    };

    p.sums = fv_xcalloc((size_t)sites->count + 1, sizeof(*p.sums));
    for (p.line = 0; p.line < steps->line_count; p.line++) {
        if (!fv_steps_are_own(steps, p.line) || !steps->lines[p.line].count)
            continue;
        p.rank = steps->lines[p.line].rank;
        do_line(&p);
    }
    free(p.sums);
}
