/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks caused waiting, what kinds of waiting there are, and where computing is out of balance. */
#include "profile/findings/excess.h"
#include "profile/verdict.h"
#include "views/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_TELLING 0.001 /* of all time */
#define WORTH_A_LINE  0.01  /* of what the table is about, unless all is asked for */
#define FEW           3     /* rows of a table */
#define LITTLE        0.5   /* of the waiting: an estimate of more makes all of it one */
#define APART         0.1   /* of the larger: profile and trace, before both are said */
#define PATH_WORDS    1600
#define SENTENCE      2400

/* ---- tables ---- */

/* What the tables leave out is in one line for all of them. */
struct section {
    const struct fv_page *page;
    const struct fv_profile *view;
    char left_out[200];
    const char *shown_by; /* the option that shows it */
};

/* The section stays short unless more is asked for: of each table a few rows, those that are worth a line. */
static void begin_table(const struct section *s, struct fv_text_table *t, const char *relation)
{
    fv_text_table_begin(t, s->page, s->view, relation);
    if (s->page->brief) {
        t->sheet.top = FEW;
        t->sheet.least = WORTH_A_LINE;
    }
}

static void end_table(struct section *s, struct fv_text_table *t, const char *noun)
{
    size_t shown = t->sheet.shown_rows, more = t->sheet.all_rows - shown;
    char count[FV_WORD];

    if (more)
        fv_words_add(s->left_out, sizeof(s->left_out), "%s %s%s %s%s", *s->left_out ? "," : "...",
                     fv_words_count(more, count), shown ? " more" : "", noun, fv_words_s(more));
    if (more)
        s->shown_by = fv_page_more(s->page, shown);
    fv_text_table_end(t, NULL, NULL);
}

/* The rest of the path has a line of its own. */
static void add_callers(struct fv_text_table *t, const struct fv_places *places, uint32_t site)
{
    char outer[PATH_WORDS];

    if (site != FV_NONE && fv_place_outer(places, site, 0, outer, sizeof(outer))[0])
        fv_sheet_remark(&t->sheet, outer);
}

static void put_culprit_rows(const struct section *s, struct fv_text_table *t)
{
    const struct fv_causes *c = &s->view->model->causes;
    bool *chosen = fv_xcalloc(c->culprit_count, sizeof(*chosen));
    struct fv_places places = { .view = s->view };

    for (size_t i = 0; i < c->culprit_count; i++)
        if ((chosen[i] = fv_sheet_choose(&t->sheet, NULL, &c->culprits[i])))
            fv_places_add(&places, c->culprits[i].site);
    for (size_t i = 0; i < c->culprit_count; i++)
        if (chosen[i]) {
            fv_sheet_put(&t->sheet, NULL, &c->culprits[i], FV_PLAIN);
            add_callers(t, &places, c->culprits[i].site);
        }
    fv_places_release(&places);
    free(chosen);
}

static void put_culprits(struct section *s)
{
    const struct fv_causes *c = &s->view->model->causes;
    const struct fv_culprit nobody = { .rank = FV_NONE, .site = FV_NONE, .cost_s = c->unexplained_s, .direct_s = NAN };
    struct fv_text_table t;

    begin_table(s, &t, "culprits");
    if (s->page->brief && !fv_verdict_tells_enough(s->view->model))
        t.sheet.top = 0;
    put_culprit_rows(s, &t);
    if (c->unexplained_s >= WORTH_TELLING * c->wait_s && c->unexplained_s > 0)
        fv_sheet_put(&t.sheet, NULL, &nobody, FV_DIM); /* what is left, and no culprit: always shown, not counted */
    end_table(s, &t, "culprit");
}

static void put_kinds(struct section *s)
{
    const struct fv_causes *c = &s->view->model->causes;
    struct fv_text_table t;

    begin_table(s, &t, "wait_kinds");
    for (size_t i = 0; i < c->kind_count; i++) {
        const struct fv_wait_sum *kind = &c->kinds[i];

        if (kind->transfer && kind->wait_s < t.sheet.least * c->wait_s)
            t.sheet.all_rows++; /* it is no part of all waiting, but is no more worth a line for that */
        else
            fv_text_table_add(&t, kind, kind->transfer ? FV_DIM : FV_PLAIN);
    }
    end_table(s, &t, "kind");
}

/* "5.30 s in react(), others 12.0 ms; " */
static void add_procedure(struct section *s, const struct fv_region *r, char line[SENTENCE])
{
    size_t count;
    const struct fv_region_procedure *p = fv_region_procedures(s->view, r, &count);
    char name[300], seconds[FV_WORD], others[FV_WORD];

    if (!count || p->seconds < WORTH_A_LINE * r->max_s ||
        fv_excess_is_interpreter(&s->view->costs->procedures[p->procedure]))
        return;
    fv_words_short(s->view->costs->procedures[p->procedure].name, name, sizeof(name));
    fv_words_add(line, SENTENCE, "%s in %s, others %s; ", fv_words_seconds(p->seconds, seconds), name,
                 fv_words_seconds(p->others_s, others));
}

/* "blocked for 1.20 s; " */
static void add_off(const struct fv_region *r, const char *how, double off_s, char line[SENTENCE])
{
    char seconds[FV_WORD];

    if (off_s >= WORTH_A_LINE * r->max_s && off_s > 0)
        fv_words_add(line, SENTENCE, "%s for %s%s; ", how, r->off.unseen ? "more than " : "",
                     fv_words_seconds(off_s, seconds));
}

/* What its longest rank did: "rank 1: 5.30 s in react(), others 12.0 ms; blocked for 1.20 s"; of the longest region,
 * and with --all of each. */
static void add_doing(struct section *s, struct fv_text_table *t, const struct fv_region *r)
{
    char line[SENTENCE] = "", said[SENTENCE + 30];

    add_procedure(s, r, line);
    add_off(r, "blocked", r->off.blocked_s, line);
    add_off(r, "preempted", r->off.preempted_s, line);
    if (!*line)
        return;
    line[strlen(line) - 2] = '\0';
    snprintf(said, sizeof(said), "rank %d: %s", s->view->model->ranks[r->max_rank].world_rank, line);
    fv_sheet_remark(&t->sheet, said);
}

static void put_regions(struct section *s)
{
    const struct fv_causes *c = &s->view->model->causes;
    struct fv_text_table t;

    begin_table(s, &t, "regions");
    fv_sheet_hide(&t.sheet, "place"); /* "computing between" says most of it */
    if (c->source != FV_CAUSES_TRACE)
        fv_sheet_hide(&t.sheet, "critical_share");
    for (size_t i = 0; i < c->region_count; i++)
        if (fv_sheet_add(&t.sheet, NULL, &c->regions[i], FV_PLAIN) && (!i || fv_page_all(s->page)))
            add_doing(s, &t, &c->regions[i]);
    end_table(s, &t, "region");
}

/* ---- the critical path ---- */

struct stretch {
    double seconds;
    uint32_t site;
    enum fv_place where;
};

static void keep_longest(struct stretch longest[3], struct stretch s)
{
    for (unsigned i = 0; i < 3; i++)
        if (s.seconds > longest[i].seconds) {
            struct stretch shorter = longest[i];

            longest[i] = s;
            s = shorter;
        }
}

static void put_critical_path(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_causes *c = &v->model->causes;
    struct stretch longest[3] = { { 0 } };
    struct fv_places places = { .view = v };
    char text[3 * SENTENCE], where[SENTENCE], a[FV_WORD], b[FV_WORD], n[FV_WORD];

    if (!(c->critical_path_s > 0))
        return;
    for (size_t i = 0; i < c->region_count; i++)
        for (unsigned k = 0; k < FV_PLACES; k++)
            keep_longest(longest, (struct stretch){ c->regions[i].critical_s[k], c->regions[i].site, k });
    for (unsigned i = 0; i < 3 && longest[i].seconds > 0; i++)
        fv_places_add(&places, longest[i].site);
    snprintf(text, sizeof(text), "critical path: %s of %s, with %s change%s of rank",
             fv_words_seconds(c->critical_path_s, a), fv_words_seconds(v->model->elapsed_s, b),
             fv_words_count(c->switches, n), fv_words_s(c->switches));
    for (unsigned i = 0; i < 3 && longest[i].seconds > 0; i++)
        fv_words_add(text, sizeof(text), "%s %s in %s",
                     i ? ";" : ". Its parts:", fv_words_percent(longest[i].seconds, c->critical_path_s, a),
                     fv_place_words(&places, longest[i].site, longest[i].where, where, sizeof(where)));
    fv_page_item(p, FV_PLAIN, 2, "%s", text);
    fv_places_release(&places);
}

/* "12.0 ms over all ranks" */
static const char *total(const struct fv_model *m, char out[128])
{
    bool some = m->rank_count < (size_t)m->world_size, missing = some && !m->unshown;
    char seconds[FV_WORD], ranks[64] = "all ranks";

    if (some)
        snprintf(ranks, sizeof(ranks), "%zu of %d ranks", m->rank_count, m->world_size);
    snprintf(out, 128, "%s%s over %s", missing || m->causes.unmatched ? "at least " : "",
             fv_words_seconds(m->causes.wait_s, seconds), ranks);
    return out;
}

/* Of a profile. What else would show it is said only where it is to be had. */
static void put_profile_heading(const struct fv_page *p, const struct fv_model *m)
{
    char remark[400], all[128];

    snprintf(remark, sizeof(remark), "%s, by when each rank entered (%s). The last rank to enter is named; %s",
             total(m, all), m->causes.exact ? "exact" : "estimate",
             m->causes.left_out ? "a trace of the whole run would show what delayed it"
             : m->ranks[0].traced
                 ? "fvunify shows what delayed it (after fvunify -o, copy its analysis.json to the rank files)"
                 : "a trace shows what delayed it: fvmpi run --trace, then fvunify");
    fv_page_heading(p, "Waiting in collectives", remark);
}

/* "exact but for 12.3 ms": kinds of waiting that are estimates by themselves. */
static const char *exactness(const struct fv_causes *c, char out[80])
{
    char word[FV_WORD];
    double estimated_s = 0;

    for (size_t i = 0; i < c->kind_count; i++)
        estimated_s += fv_kind_is_estimate(c->kinds[i].kind) ? c->kinds[i].wait_s : 0;
    if (!c->is_whole || estimated_s > LITTLE * c->wait_s)
        return "estimate";
    snprintf(out, 80, "exact but for %s", fv_words_seconds(estimated_s, word));
    return c->exact ? "exact" : out;
}

static void put_trace_heading(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_causes *c = &m->causes;
    char remark[500], all[128], unmatched[256] = "", word[FV_WORD], how[80];

    if (c->unmatched)
        snprintf(unmatched, sizeof(unmatched), "; one side is missing of %s message%s or collectives",
                 fv_words_count(c->unmatched, word), fv_words_s(c->unmatched));
    if (c->early)
        fv_words_add(unmatched, sizeof(unmatched), "; %s message%s came before %s sent: clocks differ",
                     fv_words_count(c->early, word), fv_words_s(c->early), c->early == 1 ? "it was" : "they were");
    snprintf(remark, sizeof(remark), "%s, by the trace (%s%s), ", total(m, all), exactness(c, how), unmatched);
    if (c->coverage < FV_CAUSES_WHOLE)
        fv_words_add(remark, sizeof(remark), "which has %s of the MPI time", fv_words_percent(c->coverage, 1, word));
    else
        fv_words_add(remark, sizeof(remark), "charged to the rank that began the delay");
    fv_page_heading(p, "Waiting", remark);
}

/* What waits there is not counted: the calls have no end. */
static void put_open_calls(const struct fv_page *p, const struct fv_model *m)
{
    unsigned open = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        open += m->ranks[i].in_call.active;
    if (open)
        fprintf(p->out, "  without the call%s of %u rank%s that did not return\n", fv_words_s(open), open,
                fv_words_s(open));
}

static void put_cut_short(const struct fv_page *p, const struct fv_causes *c)
{
    char word[FV_WORD];

    if (c->cut_short)
        fv_page_paragraph(
            p, FV_DIM, 2,
            "for %s wait%s, only the last 4096 calls of a rank were searched for what made it late. What it did before "
            "them counts as computing before the first of them",
            fv_words_count(c->cut_short, word), fv_words_s(c->cut_short));
}

/* ---- what the rank files alone tell ---- */

/* Why they tell of more or less waiting than the trace, in calls of such a function. */
static const char *why_apart(const struct fv_func *function, enum fv_wait_kind kind, bool is_more)
{
    if (kind == FV_WAIT_UNKNOWN)
        return "only a trace knows what waits there";
    if (function->wait != FV_RULE_P2P)
        return "without the trace, waiting there follows from when ranks entered, as far as that was logged";
    if (!is_more)
        return "without the trace, a call waits for what it takes more than the fastest one like it";
    return function->class == FV_CLASS_COMPLETION
               ? "without the trace, the time in which data are under way counts as waiting there"
               : "without the trace, all that a call takes more than the fastest one like it counts as waiting";
}

/* The call site with most of the difference. */
static uint32_t most_apart(const struct fv_model *m, double sign)
{
    uint32_t most = 0;

    for (uint32_t i = 1; i < m->site_count; i++)
        if (sign * (m->sites[i].own_wait_s - m->sites[i].wait_s) >
            sign * (m->sites[most].own_wait_s - m->sites[most].wait_s))
            most = i;
    return most;
}

/* Both figures, where they are further apart than estimates are. */
static void put_own_waiting(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_model *m = v->model;
    double own_s = 0, traced_s = 0;
    char own[FV_WORD], part[FV_WORD], where[SENTENCE];

    for (size_t i = 0; i < m->site_count; i++) {
        own_s += m->sites[i].own_wait_s;
        traced_s += m->sites[i].wait_s;
    }
    const double apart_s = fabs(own_s - traced_s);
    if (m->causes.coverage < FV_CAUSES_WHOLE || !(apart_s > APART * fmax(own_s, traced_s)) ||
        !(apart_s > WORTH_A_LINE * m->efficiency.mpi_s))
        return;
    const uint32_t site = most_apart(m, own_s > traced_s ? 1 : -1);
    const struct fv_func *function = &m->functions[m->sites[site].function];
    fv_page_paragraph(
        p, FV_DIM, 2, "the profile alone says %s, %s than the trace. %s of the difference is in %s of %s: %s",
        fv_words_seconds(own_s, own), own_s > traced_s ? "more" : "less",
        fv_words_percent(fmin(fabs(m->sites[site].own_wait_s - m->sites[site].wait_s), apart_s), apart_s, part),
        function->name, fv_place_inner(v, site, where, sizeof(where)),
        why_apart(function, m->sites[site].own_wait_kind, own_s > traced_s));
}

FV_TEXT_SECTION(waiting)
{
    const struct fv_model *m = v->model;
    const struct fv_causes *c = &m->causes;
    bool traced = c->source == FV_CAUSES_TRACE, worth = c->wait_s >= WORTH_TELLING * m->efficiency.thread_s;
    struct section s = { .page = p, .view = v };
    char headline[2 * SENTENCE];

    if (!c->source || (!worth && (traced || !fv_verdict_unbalanced(m))))
        return;
    if (traced)
        put_trace_heading(p, m);
    else
        put_profile_heading(p, m);
    put_open_calls(p, m);
    if (fv_verdict_waiting(v, headline, sizeof(headline))[0])
        fv_page_paragraph(p, FV_BOLD, 2, "%s", headline);
    if (!worth)
        return;
    put_culprits(&s);
    put_cut_short(p, c);
    put_kinds(&s);
    put_regions(&s);
    put_critical_path(p, v);
    if (traced)
        put_own_waiting(p, v);
    if (*s.left_out)
        fv_page_paragraph(p, FV_DIM, 2, "%s; %s shows them", s.left_out, s.shown_by);
}
