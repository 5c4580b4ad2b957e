/* Who is to blame for waiting, what kinds of waiting there are, and where computing is out of balance. */
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_TELLING 0.001 /* of all time */
#define WORTH_A_LINE  0.01  /* of what the table is about, unless all is asked for */
#define ONE_PLACE     0.9   /* of what a rank is charged: then there is nothing else to tell */
#define STANDS_OUT    1.5   /* times what each rank had if all were alike */

/* ---- words ---- */

/* "solve() at cg.c:212": the function that calls MPI. */
static void caller(const struct fv_view *v, uint32_t site, char *out, size_t bytes)
{
    struct fv_path path = { 0 };
    char label[512], clean[256], where[300];

    fv_path_of(&path, v->symbols, v->model, v->model->sites[site].node);
    snprintf(out, bytes, "a call path that was not recorded");
    if (path.count) {
        const struct fv_frame *f = &path.frames[0];

        fv_words_clean(fv_frame_label(f, v->model, label, sizeof(label)), clean, sizeof(clean));
        fv_words_fit(clean, 60);
        where[0] = '\0';
        if (f->file)
            fv_text_location(f, v->model, where, sizeof(where));
        snprintf(out, bytes, "%s%s%s%s", clean, f->function && !strchr(clean, '(') ? "()" : "",
                 where[0] ? " at " : "", where);
    }
    fv_path_release(&path);
}

/* For tables: "solve() at cg.c:212, before MPI_Allreduce". */
static const char *place(const struct fv_view *v, uint32_t site, enum fv_place where, char *out, size_t bytes)
{
    char text[600];

    if (site == FV_NONE) {
        snprintf(out, bytes, "behind the last call that ended");
        return out;
    }
    const char *function = v->model->functions[v->model->sites[site].function].name;
    caller(v, site, text, sizeof(text));
    if (where == FV_PLACE_MPI)
        snprintf(out, bytes, "%s, in %s", text, function);
    else
        snprintf(out, bytes, "%s, before %s", text, function);
    return out;
}

/* What a rank is charged in all. */
static double charged(const struct fv_model *m, size_t rank)
{
    return m->causes.source == FV_CAUSES_TRACE ? m->ranks[rank].charged_s : m->ranks[rank].delay_s;
}

static const struct fv_culprit *largest_of(const struct fv_causes *c, uint32_t rank)
{
    for (size_t i = 0; i < c->culprit_count; i++)
        if (c->culprits[i].rank == rank)
            return &c->culprits[i];
    return NULL;
}

char *fv_view_culprit(const struct fv_view *v, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    const struct fv_causes *c = &m->causes;
    char share[FV_WORD], part[FV_WORD], where[700];
    bool traced = c->source == FV_CAUSES_TRACE;
    uint32_t most = 0;
    double all = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < m->rank_count; i++) {
        double here = charged(m, i);

        all += here > 0 ? here : 0; /* NAN: not in the analysis */
        if (here > 0 && !(charged(m, most) >= here))
            most = i;
    }
    const struct fv_culprit *top = largest_of(c, most);
    if (!(all > 0) || !top)
        return out;
    double cost = charged(m, most);
    bool stands_out = m->rank_count < 2 || cost * (double)m->rank_count >= STANDS_OUT * all;
    place(v, top->site, top->where, where, sizeof(where));
    snprintf(out, bytes, "%srank %d was waited for most%s: %s of %s, ",
             stands_out ? "" : "no rank stands out; ", m->ranks[most].world_rank,
             traced ? "" : " in collectives", fv_words_percent(cost, c->wait_s, share),
             traced ? "all waiting" : "the waiting there");
    size_t used = strlen(out);
    if (used < bytes && top->cost_s < ONE_PLACE * cost)
        used += (size_t)snprintf(out + used, bytes - used, "above all (%s) ",
                                 fv_words_percent(top->cost_s, c->wait_s, part));
    if (used < bytes)
        snprintf(out + used, bytes - used, "%s%s", top->site == FV_NONE ? "" : "in ", where);
    return out;
}

/* "late sender", "wait at N x N" */
static const char *kind_word(const char *kind, char out[64])
{
    static const struct {
        const char *kind, *word;
    } words[] = {
        { "late_sender_wrong_order", "late sender, messages in wrong order" },
        { "wait_at_nxn", "late rank in an N x N collective" },
        { "nxn_completion", "(no waiting: end of an N x N collective)" },
        { "wait_at_barrier", "late rank at a barrier" },
        { "barrier_completion", "(no waiting: end of a barrier)" },
        { "init_completion", "(no waiting: end of MPI_Init)" },
        { "late_broadcast", "late root of a broadcast or scatter" },
        { "early_reduce", "late sender of a reduce or gather" },
        { "late_reduce", "late root of a reduce or gather" },
        { "early_scan", "late lower rank in a scan" },
        { "wait_at_create", "late rank in a joint creation" },
        { "wait_at_init", "late rank in MPI_Init" },
        { "wait_at_finalize", "late rank in MPI_Finalize" },
        { "wait_at_io", "late rank in collective I/O" },
        { "wait_at_fence", "late rank at a fence" },
        { "early_wait", "late complete of an RMA epoch" },
        { "late_complete", "complete long after the last operation" },
    };

    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (!strcmp(kind, words[i].kind))
            return words[i].word;
    snprintf(out, 64, "%s", kind);
    for (char *p = out; (p = strchr(p, '_'));)
        *p = ' ';
    return out;
}

/* ---- tables ---- */

/* The section stays short: of each table a few rows, those that are worth a line. */
static size_t rows_of(const struct fv_page *p, size_t all)
{
    size_t rows = p->top == SIZE_MAX ? SIZE_MAX : p->top / 4 + 1;

    return rows < all ? rows : all;
}

static size_t culprit_rows(const struct fv_page *p, const struct fv_causes *c)
{
    size_t rows = rows_of(p, c->culprit_count);

    while (p->top != SIZE_MAX && rows && c->culprits[rows - 1].cost_s < WORTH_A_LINE * c->wait_s)
        rows--;
    return rows;
}

static size_t kind_rows(const struct fv_page *p, const struct fv_causes *c)
{
    size_t rows = rows_of(p, c->kind_count);

    while (p->top != SIZE_MAX && rows && c->kinds[rows - 1].wait_s < WORTH_A_LINE * c->wait_s)
        rows--;
    return rows;
}

static size_t region_rows(const struct fv_page *p, const struct fv_causes *c)
{
    size_t rows = rows_of(p, c->region_count);

    while (rows &&
           c->regions[rows - 1].max_s < (p->top == SIZE_MAX ? 1e-9 : WORTH_A_LINE * c->regions[0].max_s))
        rows--;
    return rows;
}

static void add_cost(struct fv_table *t, const struct fv_causes *c, double cost_s, double direct_s)
{
    char word[FV_WORD];

    fv_table_set(t, 2, "%s", fv_words_seconds(cost_s, word));
    fv_table_set(t, 3, "%s", fv_words_percent(cost_s, c->wait_s, word));
    if (c->source != FV_CAUSES_TRACE || !(direct_s >= 0))
        return;
    fv_table_set(t, 4, "%s", fv_words_seconds(direct_s, word));
    fv_table_set(t, 5, "%s", fv_words_seconds(fmax(cost_s - direct_s, 0), word));
}

static void put_culprits(const struct fv_page *p, const struct fv_view *v)
{
    static const struct fv_column columns[] = {
        { "rank", false, false, 0 },  { "waited for in", true, true, 0 }, { "cost", false, false, 0 },
        { "share", false, false, 3 }, { "direct", false, false, 2 },      { "passed on", false, false, 1 },
    };
    const struct fv_causes *c = &v->model->causes;
    size_t rows = culprit_rows(p, c);
    struct fv_table t;
    char where[700];

    fv_table_init(&t, columns, c->source == FV_CAUSES_TRACE ? 6 : 4);
    for (size_t i = 0; i < rows; i++) {
        const struct fv_culprit *k = &c->culprits[i];

        fv_table_row(&t, FV_PLAIN);
        fv_table_set(&t, 0, "%d", v->model->ranks[k->rank].world_rank);
        fv_table_set(&t, 1, "%s", place(v, k->site, k->where, where, sizeof(where)));
        add_cost(&t, c, k->cost_s, k->direct_s);
    }
    if (c->unexplained_s >= WORTH_TELLING * c->wait_s && c->unexplained_s > 0) {
        fv_table_row(&t, FV_DIM);
        fv_table_set(&t, 1, "nobody: no rank was slower before");
        add_cost(&t, c, c->unexplained_s, NAN);
    }
    if (t.rows)
        fv_table_print(&t, p);
    fv_table_release(&t);
}

static void put_kinds(const struct fv_page *p, const struct fv_causes *c)
{
    static const struct fv_column columns[] = { { "kind of waiting", true, true, 0 },
                                                { "times", false, false, 1 },
                                                { "cost", false, false, 0 },
                                                { "share", false, false, 0 } };
    size_t rows = kind_rows(p, c);
    char word[FV_WORD], kind[64];
    struct fv_table t;

    fv_table_init(&t, columns, 4);
    for (size_t i = 0; i < rows; i++) {
        fv_table_row(&t, c->kinds[i].transfer ? FV_DIM : FV_PLAIN);
        fv_table_set(&t, 0, "%s", kind_word(c->kinds[i].kind, kind));
        fv_table_set(&t, 1, "%s", fv_words_count(c->kinds[i].count, word));
        fv_table_set(&t, 2, "%s", fv_words_seconds(c->kinds[i].wait_s, word));
        if (!c->kinds[i].transfer)
            fv_table_set(&t, 3, "%s", fv_words_percent(c->kinds[i].wait_s, c->wait_s, word));
    }
    if (t.rows)
        fv_table_print(&t, p);
    fv_table_release(&t);
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

static void put_critical_path(const struct fv_page *p, const struct fv_view *v)
{
    const struct fv_causes *c = &v->model->causes;
    struct stretch longest[3] = { { 0 } };
    char text[2600], where[700], a[FV_WORD], b[FV_WORD], n[FV_WORD];

    if (!(c->critical_path_s > 0))
        return;
    for (size_t i = 0; i < c->region_count; i++)
        for (unsigned k = 0; k < FV_PLACES; k++)
            keep_longest(longest, (struct stretch){ c->regions[i].critical_s[k], c->regions[i].site, k });
    int used = snprintf(text, sizeof(text), "critical path: %s of %s, from rank to rank %s times",
                        fv_words_seconds(c->critical_path_s, a), fv_words_seconds(v->model->elapsed_s, b),
                        fv_words_count(c->switches, n));
    for (unsigned i = 0; i < 3 && longest[i].seconds > 0; i++)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s %s in %s", i ? ";" : "; of it",
                         fv_words_percent(longest[i].seconds, c->critical_path_s, a),
                         place(v, longest[i].site, longest[i].where, where, sizeof(where)));
    fputs("  ", p->out);
    fv_page_words(p, text, 4);
}

static void put_regions(const struct fv_page *p, const struct fv_view *v)
{
    static const struct fv_column columns[] = {
        { "computing before", true, true, 0 }, { "mean", false, false, 1 },
        { "longest", false, false, 0 },        { "on rank", false, false, 0 },
        { "balance", false, false, 0 },        { "critical path", false, false, 2 },
    };
    const struct fv_causes *c = &v->model->causes;
    size_t rows = region_rows(p, c);
    char where[700], word[FV_WORD];
    struct fv_table t;

    fv_table_init(&t, columns, c->critical_path_s > 0 ? 6 : 5);
    for (size_t i = 0; i < rows; i++) {
        const struct fv_region *r = &c->regions[i];

        fv_table_row(&t, FV_PLAIN);
        caller(v, r->site, where, sizeof(where));
        fv_table_set(&t, 0, "%s in %s", v->model->functions[v->model->sites[r->site].function].name, where);
        fv_table_set(&t, 1, "%s", fv_words_seconds(r->mean_s, word));
        fv_table_set(&t, 2, "%s", fv_words_seconds(r->max_s, word));
        fv_table_set(&t, 3, "%d", v->model->ranks[r->max_rank].world_rank);
        fv_table_set(&t, 4, "%s", fv_words_percent(r->mean_s, r->max_s, word));
        if (c->critical_path_s > 0)
            fv_table_set(&t, 5, "%s",
                         fv_words_percent(r->critical_s[FV_PLACE_COMPUTING], c->critical_path_s, word));
    }
    if (t.rows)
        fv_table_print(&t, p);
    fv_table_release(&t);
}

/* One line for all tables. */
static void put_cut(const struct fv_page *p, const struct fv_causes *c)
{
    const struct {
        size_t more;
        const char *noun;
    } lists[] = { { c->culprit_count - culprit_rows(p, c), "culprit" },
                  { c->kind_count - kind_rows(p, c), "kind" },
                  { c->region_count - region_rows(p, c), "region" } };
    char text[200], count[FV_WORD];
    size_t used = 0;

    for (unsigned i = 0; i < 3; i++) {
        size_t more = lists[i].more;

        if (more)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s more %s%s", used ? "," : "...",
                                     fv_words_count(more, count), lists[i].noun, fv_words_s(more));
    }
    if (!used || p->top == SIZE_MAX)
        return;
    snprintf(text + used, sizeof(text) - used, "; --all shows them");
    fprintf(p->out, "  %s", fv_page_on(p, FV_DIM));
    fv_page_words(p, text, 2);
    fputs(fv_page_off(p), p->out);
}

void fv_text_waiting(const struct fv_page *p, const struct fv_view *v)
{
    const struct fv_causes *c = &v->model->causes;
    bool traced = c->source == FV_CAUSES_TRACE;
    char headline[1200], remark[300], all[FV_WORD], part[FV_WORD];
    const char *known = c->exact ? "exact" : "estimate";

    if (!c->source || c->wait_s < WORTH_TELLING * v->model->efficiency.thread_s)
        return;
    fv_words_seconds(c->wait_s, all);
    if (!traced)
        snprintf(
            remark, sizeof(remark),
            "%s over all ranks, by the wait log (%s): the last rank to come is named, whoever delayed it; "
            "%sfvunify tells that",
            all, known, v->model->ranks[0].traced ? "" : "--trace and then ");
    else if (c->coverage < FV_CAUSES_WHOLE)
        snprintf(remark, sizeof(remark),
                 "%s over all ranks, by the trace (%s), which holds %s of the MPI time", all, known,
                 fv_words_percent(c->coverage, 1, part));
    else
        snprintf(remark, sizeof(remark),
                 "%s over all ranks, by the trace (%s), charged to who began the delay", all, known);
    fv_page_heading(p, traced ? "Waiting" : "Waiting in collectives", remark);
    if (fv_view_culprit(v, headline, sizeof(headline))[0]) {
        fprintf(p->out, "  %s", fv_page_on(p, FV_BOLD));
        fv_page_words(p, headline, 2);
        fputs(fv_page_off(p), p->out);
    }
    put_culprits(p, v);
    put_kinds(p, c);
    put_regions(p, v);
    put_critical_path(p, v);
    put_cut(p, c);
}
