/* SPDX-License-Identifier: BSD-3-Clause */
/* See progress.h. The process of the blocked call asks that of the other rank, which knows when that was in MPI. Twice:
 * first what is the rule in this run is counted, then the steps are told. Rejected: to keep what was found between the
 * two, which is as much as there are steps. */
#include "analysis/progress.h"

#include <stdlib.h>
#include <string.h>

#define QUESTIONS       16384 /* of a process at a time: what the caches hold */
#define QUESTIONS_LEAST 64
#define LOOK            4096 /* calls of the other rank that are looked at for one question */

enum family { TO_RECEIVER, TO_SENDER, ON_WINDOW, FAMILIES };
/* MOVED: it was over while the other rank was outside of MPI. SHARP: WITHHELD, and it was over at once when that came
 * back: of transfers that go on by themselves, one in SHARPER is so by chance. */
enum outcome { UNKNOWN, WITHHELD, SHARP, MOVED, OUTCOMES };
#define SHARPER     20
#define NO_CHANCE   3 /* of all, one in so many are sharp at least, and: */
#define SHARP_LEAST 3

struct question {
    uint64_t from, end;                /* since when only the other rank's progress was missing; end of the call */
    uint32_t line, step;               /* that ask */
    uint32_t posted_line, posted_step; /* that posted it; step FV_NONE: not known */
    uint32_t family, size;
};
/* The call in which the other rank came back to MPI; ns 0: there is none. */
struct back {
    uint64_t ns;
    uint32_t line, step, site;
};
struct reply {
    struct back back;
    uint32_t line, step; /* that asked */
    uint32_t family, size, outcome;
};

struct progress {
    struct fv_steps *steps;
    const struct fv_defs *defs;
    const struct fv_transport *t;
    struct fv_bytes *out, questions, replies;            /* out: by process */
    uint32_t line, step;                                 /* the next one that is looked at */
    uint64_t seen[FAMILIES][2][FV_STEP_SIZES][OUTCOMES]; /* by family; on one host?; size; outcome */
    bool tell;                                           /* the second time */
};

/* ---- the blocked call ---- */

static bool same_host(const struct progress *p, uint32_t line, uint32_t other)
{
    const struct fv_def_rank *a = &p->defs->ranks[p->steps->lines[line].rank],
                             *b = &p->defs->ranks[p->steps->lines[other].rank];

    return !memcmp(a->boot_id, b->boot_id, sizeof(a->boot_id));
}

static int family_of(const struct fv_step *s)
{
    bool known = s->flags & FV_STEP_KNOWN;

    switch (s->kind) {
    case FV_WS_LATE_SENDER: return known ? TO_RECEIVER : FAMILIES;
    case FV_WS_NXN: return known && !(s->flags & FV_STEP_ALL) ? TO_RECEIVER : FAMILIES; /* of neighbours: as messages */
    case FV_WS_LATE_RECEIVER: return TO_SENDER;
    case FV_WS_NO_PROGRESS: return ON_WINDOW;
    default: return FAMILIES;
    }
}

/* Is there something to be explained? */
static bool make_question(const struct progress *p, const struct fv_step *s, struct question *q)
{
    const struct fv_steps *steps = p->steps;
    int family = family_of(s);

    if (family == FAMILIES || s->cause_line == FV_NONE || s->cause_line >= steps->line_count ||
        steps->lines[s->cause_line].rank == steps->lines[p->line].rank)
        return false;
    uint64_t from = fv_step_ready(steps, s), end = fv_step_end(steps, s);
    if (end < from + FV_PROGRESS_LEAST_NS) /* or it was over before */
        return false;
    *q = (struct question){ .from = from,
                            .end = end,
                            .line = p->line,
                            .posted_line = s->cause_line,
                            .posted_step = s->flags & FV_STEP_KNOWN ? s->cause_step : FV_NONE,
                            .family = (uint32_t)family,
                            .size = s->size };
    return true;
}

/* Some more of this process's. True: there may be others. */
static bool ask(struct progress *p)
{
    const struct fv_steps *steps = p->steps;
    struct question q;
    size_t asked = 0, most = QUESTIONS / (size_t)p->t->size; /* of all processes they may come to one */

    fv_bytes_clear_each(p->out, p->t->size);
    for (; p->line < steps->line_count; p->line++, p->step = 0) {
        for (; fv_steps_are_own(steps, p->line) && p->step < steps->lines[p->line].count; p->step++) {
            if (asked >= most && asked >= QUESTIONS_LEAST)
                return true;
            fv_steps_visited(steps, 1);
            if (!make_question(p, fv_step(steps, p->line, p->step), &q))
                continue;
            q.step = p->step;
            fv_bytes_put(&p->out[steps->lines[q.posted_line].process], &q, sizeof(q));
            asked++;
        }
    }
    return false;
}

/* ---- the other rank ---- */

/* How many steps of the line began by then. */
static uint32_t begun_by(const struct fv_steps *steps, uint32_t line, uint64_t ns)
{
    const struct fv_step_line *l = &steps->lines[line];
    size_t blocks = FV_COUNT_BEFORE(i, l->block_count, l->blocks[i][0].begin <= ns);
    uint32_t first = blocks ? (uint32_t)(blocks - 1) * FV_STEPS_A_BLOCK : 0,
             stop = (uint32_t)blocks * FV_STEPS_A_BLOCK < l->count ? (uint32_t)blocks * FV_STEPS_A_BLOCK : l->count;
    uint32_t begun =
        first + (uint32_t)FV_COUNT_BEFORE(i, stop - first, fv_step(steps, line, first + (uint32_t)i)->begin <= ns);

    fv_steps_visited(steps, 4);
    return begun;
}

#define THREADS 64 /* of a rank that are looked at; of one with more nothing is said */

/* The calls of a rank, of all its threads, in the order of time. */
struct walk {
    const struct fv_steps *steps;
    uint32_t first_line, lines;
    uint32_t next[THREADS];
};

/* False: it has too many threads. busy: until when those are in MPI that are there at `from`; 0: none. */
static bool begin_walk(struct walk *w, const struct fv_steps *steps, uint32_t line, uint64_t from, uint64_t *busy)
{
    uint32_t rank = steps->lines[line].rank;

    *w = (struct walk){ .steps = steps, .first_line = steps->first_line[rank] };
    w->lines = steps->first_line[rank + 1] - w->first_line;
    *busy = 0;
    for (uint32_t i = 0; i < w->lines && w->lines <= THREADS; i++) {
        uint32_t at = w->first_line + i, next = w->next[i] = begun_by(steps, at, from);

        if (!next)
            continue;
        uint64_t end = fv_step_end(steps, fv_step(steps, at, next - 1));
        *busy = end > *busy ? end : *busy;
    }
    return w->lines <= THREADS;
}

/* The next call; NULL: there is none. */
static const struct fv_step *next_call(struct walk *w, uint32_t *line, uint32_t *step)
{
    const struct fv_step *first = NULL;

    for (uint32_t i = 0; i < w->lines; i++) {
        uint32_t at = w->first_line + i;

        while (w->next[i] < w->steps->lines[at].count && fv_step(w->steps, at, w->next[i])->flags & FV_STEP_MORE)
            w->next[i]++;
        if (w->next[i] >= w->steps->lines[at].count)
            continue;
        const struct fv_step *s = fv_step(w->steps, at, w->next[i]);
        if (first && first->begin <= s->begin)
            continue;
        first = s;
        *line = at;
        *step = w->next[i];
    }
    if (first)
        w->next[*line - w->first_line]++;
    return first;
}

/* Walks along the rank's calls until the blocked call's end, and says how long the rank was outside of MPI before the
 * last of those until which it was hardly ever inside. back: the first call by which it had been outside for
 * `enough`. */
static uint64_t go_along(struct walk w, const struct question *q, uint64_t busy, uint64_t enough, struct back *back)
{
    uint64_t now = busy > q->from ? busy : q->from, inside = now - q->from, outside = 0, most = 0;
    uint32_t line = 0, step = 0;
    const struct fv_step *s;

    back->ns = 0;
    for (int looked = 0;
         looked < LOOK && now < q->end && inside <= (q->end - q->from) / 10 && (s = next_call(&w, &line, &step));
         looked++) {
        if (s->begin >= q->end || s->site == FV_STEP_NO_SITE)
            break;
        outside += s->begin > now ? s->begin - now : 0;
        if (s->begin > now && !(s->flags & FV_STEP_PAUSE) && inside <= (s->begin - q->from) / 10) {
            most = outside;
            if (!back->ns && outside >= enough)
                *back = (struct back){ s->begin, line, step, s->site };
        }
        uint64_t begin = s->begin > now ? s->begin : now, end = fv_step_end(w.steps, s);
        inside += end > begin ? end - begin : 0;
        now = end > now ? end : now;
    }
    return most;
}

/* Where the rank came back before the call's end: what it was outside for a moment after that does not matter. */
static void look(const struct walk *w, const struct question *q, uint64_t busy, struct reply *r)
{
    struct back back;
    uint64_t most = go_along(*w, q, busy, UINT64_MAX, &back);

    if (!most)
        return;
    go_along(*w, q, busy, most - most / 20, &back);
    if (!fv_progress_is_wait(q->from, back.ns, q->end))
        return;
    r->back = back;
    r->outcome = q->end - back.ns <= (back.ns - q->from) / SHARPER ? SHARP : WITHHELD;
}

/* Did the rank make no call from when it posted its part until the end? What it did between, with other requests, may
 * have moved this one. */
static bool made_no_call(const struct fv_steps *steps, const struct question *q, uint64_t posted_end)
{
    uint32_t rank = steps->lines[q->posted_line].rank;

    for (uint32_t line = steps->first_line[rank]; line < steps->first_line[rank + 1]; line++) {
        uint32_t last = begun_by(steps, line, q->end);

        if (last && fv_step_end(steps, fv_step(steps, line, last - 1)) > posted_end)
            return false;
    }
    return true;
}

/* From the end of the call that posted it on. */
static void answer(struct progress *p, struct question *q)
{
    const struct fv_steps *steps = p->steps;
    struct reply r = {
        .line = q->line, .step = q->step, .back = { .line = q->posted_line }, .family = q->family, .size = q->size
    };
    struct walk w;
    /* Where it is not known when the other rank posted its part, that is an operation on a window, or a blocking send:
     * it began here. */
    uint64_t busy, posted_end = q->posted_step == FV_NONE ? q->from : 0;

    if (q->posted_step != FV_NONE && q->posted_step < steps->lines[q->posted_line].count) {
        posted_end = fv_step_end(steps, fv_step(steps, q->posted_line, q->posted_step));
        q->from = posted_end > q->from ? posted_end : q->from;
    }
    if (q->from + FV_PROGRESS_LEAST_NS > q->end || !begin_walk(&w, steps, q->posted_line, q->from, &busy))
        return;
    look(&w, q, busy, &r);
    if (r.outcome == UNKNOWN && posted_end && made_no_call(steps, q, posted_end))
        r.outcome = MOVED;
    if (r.outcome != UNKNOWN)
        fv_bytes_put(&p->out[steps->lines[q->line].process], &r, sizeof(r));
}

static void answer_all(struct progress *p)
{
    p->questions.count = 0;
    fv_transport_exchange(p->t, p->out, &p->questions);
    struct question *q = (struct question *)(void *)p->questions.data;
    fv_bytes_clear_each(p->out, p->t->size);
    for (size_t i = 0; i < p->questions.count / sizeof(*q); i++)
        answer(p, &q[i]);
    p->replies.count = 0;
    fv_transport_exchange(p->t, p->out, &p->replies);
}

/* ---- what follows ---- */

/* Messages that were matched before the ranks left MPI go on by themselves, others of that size do not: what ends as
 * soon as the other rank comes back, again and again, waited for that. */
static bool was_withheld(const uint64_t seen[OUTCOMES], uint32_t outcome)
{
    const uint64_t withheld = seen[WITHHELD] + seen[SHARP];

    if (outcome == MOVED)
        return false;
    return withheld > 10 * seen[MOVED] ||
           (outcome == SHARP && seen[SHARP] >= SHARP_LEAST && NO_CHANCE * seen[SHARP] >= withheld + seen[MOVED]);
}

static void take_replies(struct progress *p)
{
    const struct reply *r = (const struct reply *)(const void *)p->replies.data;

    for (size_t i = 0; i < p->replies.count / sizeof(*r); i++) {
        uint64_t *seen = p->seen[r[i].family][same_host(p, r[i].line, r[i].back.line)][r[i].size];

        if (!p->tell)
            seen[r[i].outcome]++;
        else if (was_withheld(seen, r[i].outcome))
            fv_step_withhold(p->steps, fv_step(p->steps, r[i].line, r[i].step), r[i].back.ns, r[i].back.line,
                             r[i].back.step, r[i].back.site);
    }
}

static void pass(struct progress *p, bool tell)
{
    bool more;

    p->tell = tell;
    p->line = p->step = 0;
    do {
        more = ask(p);
        answer_all(p);
        take_replies(p);
    } while (fv_transport_any(p->t, more));
}

void fv_progress(struct fv_steps *steps, const struct fv_defs *defs, const struct fv_transport *t)
{
    struct progress p = { .steps = steps, .defs = defs, .t = t };
    uint64_t withheld = 0;

    p.out = fv_xcalloc((size_t)t->size, sizeof(*p.out));
    pass(&p, false);
    fv_transport_sum(t, &p.seen[0][0][0][0], sizeof(p.seen) / sizeof(uint64_t));
    for (size_t i = 0; i < sizeof(p.seen) / sizeof(p.seen[0][0][0]); i++)
        withheld += (&p.seen[0][0][0])[i][WITHHELD] + (&p.seen[0][0][0])[i][SHARP];
    if (withheld)
        pass(&p, true);
    fv_bytes_free_each(p.out, t->size);
    free(p.questions.data);
    free(p.replies.data);
}
