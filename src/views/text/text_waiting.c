/* Who is to blame for waiting, what kinds of waiting there are, and where computing is out of balance. */
#include "profile/verdict.h"
#include "views/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_TELLING 0.001 /* of all time */
#define WORTH_A_LINE  0.01  /* of what the table is about, unless all is asked for */
#define FEW           3     /* rows of a table */
#define PATH_WORDS    1600
#define SENTENCE      2400

/* ---- tables ---- */

/* The section stays short unless more is asked for: of each table a few rows, those that are worth a line. */
static size_t rows_of(const struct fv_page *p, size_t all)
{
    size_t rows = p->brief ? FEW : p->top;

    return rows < all ? rows : all;
}

static double worth(const struct fv_page *p)
{
    return p->brief ? WORTH_A_LINE : p->threshold;
}

static size_t culprit_rows(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_causes *c = &m->causes;
    size_t rows = rows_of(p, c->culprit_count);

    if (p->brief && !fv_verdict_tells_enough(m))
        return 0;
    while (rows && c->culprits[rows - 1].cost_s < worth(p) * c->wait_s)
        rows--;
    return rows;
}

static size_t kind_rows(const struct fv_page *p, const struct fv_causes *c)
{
    size_t rows = rows_of(p, c->kind_count);

    while (rows && c->kinds[rows - 1].wait_s < worth(p) * c->wait_s)
        rows--;
    return rows;
}

static size_t region_rows(const struct fv_page *p, const struct fv_causes *c)
{
    size_t rows = rows_of(p, c->region_count);

    while (rows && c->regions[rows - 1].max_s < (p->brief ? WORTH_A_LINE * c->regions[0].max_s : 1e-9))
        rows--;
    return rows;
}

/* The rest of the path has a line of its own. */
static void add_callers(struct fv_text_table *t, const struct fv_places *places, uint32_t site)
{
    char outer[PATH_WORDS];

    if (site != FV_NONE && fv_place_outer(places, site, 0, outer, sizeof(outer))[0])
        fv_sheet_remark(&t->sheet, outer);
}

static void put_culprits(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_causes *c = &v->model->causes;
    const struct fv_culprit nobody = {
        .rank = FV_NONE, .site = FV_NONE, .cost_s = c->unexplained_s, .direct_s = NAN
    };
    size_t rows = culprit_rows(p, v->model);
    struct fv_places places = { .view = v };
    struct fv_text_table t;

    for (size_t i = 0; i < rows; i++)
        fv_places_add(&places, c->culprits[i].site);
    fv_text_table_begin(&t, p, v, "culprits");
    t.sheet.top = SIZE_MAX; /* nobody comes as well */
    for (size_t i = 0; i < rows; i++) {
        fv_text_table_add(&t, &c->culprits[i], FV_PLAIN);
        add_callers(&t, &places, c->culprits[i].site);
    }
    if (c->unexplained_s >= WORTH_TELLING * c->wait_s && c->unexplained_s > 0)
        fv_text_table_add(&t, &nobody, FV_DIM);
    t.sheet.all_rows += c->culprit_count - rows;
    fv_text_table_end(&t, p->threshold > 0 ? "row" : NULL, " of who made others wait");
    fv_places_release(&places);
}

static void put_kinds(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_causes *c = &v->model->causes;
    size_t rows = kind_rows(p, c);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "wait_kinds");
    for (size_t i = 0; i < rows; i++)
        fv_text_table_add(&t, &c->kinds[i], c->kinds[i].transfer ? FV_DIM : FV_PLAIN);
    fv_text_table_end(&t, NULL, NULL);
}

/* ---- the critical path, and balance ---- */

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
    snprintf(text, sizeof(text), "critical path: %s of %s, from rank to rank %s times",
             fv_words_seconds(c->critical_path_s, a), fv_words_seconds(v->model->elapsed_s, b),
             fv_words_count(c->switches, n));
    for (unsigned i = 0; i < 3 && longest[i].seconds > 0; i++)
        fv_words_add(text, sizeof(text), "%s %s in %s", i ? ";" : "; of it",
                     fv_words_percent(longest[i].seconds, c->critical_path_s, a),
                     fv_place_words(&places, longest[i].site, longest[i].where, where, sizeof(where)));
    fv_page_item(p, FV_PLAIN, 2, "%s", text);
    fv_places_release(&places);
}

static void put_regions(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_causes *c = &v->model->causes;
    size_t rows = region_rows(p, c);
    struct fv_places places = { .view = v };
    struct fv_text_table t;

    for (size_t i = 0; i < rows; i++)
        fv_places_add(&places, c->regions[i].site);
    fv_text_table_begin(&t, p, v, "regions");
    for (size_t i = 0; i < rows; i++) {
        fv_text_table_add(&t, &c->regions[i], FV_PLAIN);
        add_callers(&t, &places, c->regions[i].site);
    }
    fv_text_table_end(&t, NULL, NULL);
    fv_places_release(&places);
}

/* One line for all tables. */
static void put_cut(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_causes *c = &m->causes;
    const struct {
        size_t shown, more;
        const char *noun;
    } lists[] = { { culprit_rows(p, m), c->culprit_count - culprit_rows(p, m), "culprit" },
                  { kind_rows(p, c), c->kind_count - kind_rows(p, c), "kind" },
                  { region_rows(p, c), c->region_count - region_rows(p, c), "region" } };
    char text[200] = "", count[FV_WORD];

    for (unsigned i = 0; i < 3; i++)
        if (lists[i].more)
            fv_words_add(text, sizeof(text), "%s %s%s %s%s", *text ? "," : "...",
                         fv_words_count(lists[i].more, count), lists[i].shown ? " more" : "", lists[i].noun,
                         fv_words_s(lists[i].more));
    if (*text && p->top != SIZE_MAX)
        fv_page_paragraph(p, FV_DIM, 2, "%s; --all shows them", text);
}

/* "12.0 ms over all ranks" */
static const char *total(const struct fv_model *m, char out[128])
{
    bool missing = m->rank_count < (size_t)m->world_size;
    char seconds[FV_WORD], ranks[64] = "all ranks";

    if (missing)
        snprintf(ranks, sizeof(ranks), "%zu of %d ranks", m->rank_count, m->world_size);
    snprintf(out, 128, "%s%s over %s", missing || m->causes.unmatched ? "at least " : "",
             fv_words_seconds(m->causes.wait_s, seconds), ranks);
    return out;
}

/* Of a profile. What else would tell is said only where it is to be had. */
static void put_profile_heading(const struct fv_page *p, const struct fv_model *m)
{
    char remark[400], all[128];

    snprintf(remark, sizeof(remark),
             "%s, by the wait log (%s): the last rank to come is named, whoever delayed it; %s",
             total(m, all), m->causes.exact ? "exact" : "estimate",
             m->causes.left_out ? "a trace of the whole run would tell that"
             : m->ranks[0].traced
                 ? "fvunify tells that (after fvunify -o, copy its analysis.json to the rank files)"
                 : "--trace and then fvunify tell that");
    fv_page_heading(p, "Waiting in collectives", remark);
}

static void put_trace_heading(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_causes *c = &m->causes;
    char remark[400], all[128], unmatched[128] = "", word[FV_WORD];

    if (c->unmatched)
        snprintf(unmatched, sizeof(unmatched), "; of %s message%s or collectives one side is missing",
                 fv_words_count(c->unmatched, word), fv_words_s(c->unmatched));
    snprintf(remark, sizeof(remark), "%s, by the trace (%s%s), ", total(m, all),
             c->exact ? "exact" : "estimate", unmatched);
    if (c->coverage < FV_CAUSES_WHOLE)
        fv_words_add(remark, sizeof(remark), "which holds %s of the MPI time",
                     fv_words_percent(c->coverage, 1, word));
    else
        fv_words_add(remark, sizeof(remark), "charged to who began the delay");
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

void fv_text_waiting(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_model *m = v->model;
    const struct fv_causes *c = &m->causes;
    bool traced = c->source == FV_CAUSES_TRACE, worth = c->wait_s >= WORTH_TELLING * m->efficiency.thread_s;
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
    put_culprits(p, v);
    put_kinds(p, v);
    put_regions(p, v);
    put_critical_path(p, v);
    put_cut(p, m);
}
