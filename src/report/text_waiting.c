/* Who is to blame for waiting, what kinds of waiting there are, and where computing is out of balance. */
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_TELLING 0.001 /* of all time */
#define WORTH_A_LINE  0.01  /* of what the table is about, unless all is asked for */
#define ONE_PLACE     0.9   /* of what a rank is charged: then there is nothing else to tell */
#define STANDS_OUT    1.5   /* times what each rank had if all were alike */
#define ENOUGH        0.25  /* of all waiting: then collectives may speak for it */
#define BALANCED      0.8   /* load balance that is called acceptable */
#define FEW           3     /* rows of a table */
#define ALL_COLUMNS   120   /* of a page that has room for what is the difference of two columns */
#define TOLD_APART    10    /* culprits, in the headline */
#define PATH_WORDS    1600
#define SENTENCE      2400

/* ---- words ---- */

/* "before MPI_Allreduce" */
static const char *when(const struct fv_model *m, uint32_t site, enum fv_place where, char out[160])
{
    snprintf(out, 160, "%s %.140s", where == FV_PLACE_MPI ? "in" : "before",
             m->functions[m->sites[site].function].name);
    return out;
}

/* For sentences: "solve() at cg.c:212 <- step() at cg.c:80, before MPI_Allreduce (#3)". */
static const char *place(const struct fv_places *p, uint32_t site, enum fv_place where, char *out,
                         size_t bytes)
{
    char inner[600], outer[PATH_WORDS], call[160];

    if (site == FV_NONE) {
        snprintf(out, bytes, "behind the last call that ended");
        return out;
    }
    fv_place_outer(p, site, 1, outer, sizeof(outer));
    snprintf(out, bytes, "%s%s%s, %s (#%u)", fv_place_inner(p->view, site, inner, sizeof(inner)),
             outer[0] ? " " : "", outer, when(p->view->model, site, where, call), site + 1);
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

/* The rank that is charged most; how much all are, in *all. */
static uint32_t most_charged(const struct fv_model *m, double *all)
{
    uint32_t most = 0;

    *all = 0;
    for (uint32_t i = 0; i < m->rank_count; i++) {
        double here = charged(m, i);

        *all += here > 0 ? here : 0; /* NAN: not in the analysis */
        if (here > 0 && !(charged(m, most) >= here))
            most = i;
    }
    return most;
}

/* "rank 3 is to blame for most: 57.0 % of all waiting, in ..."; "" where nobody is. */
static char *blame(const struct fv_view *v, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    const struct fv_causes *c = &m->causes;
    char share[FV_WORD], part[FV_WORD], where[SENTENCE];
    bool traced = c->source == FV_CAUSES_TRACE;
    struct fv_places places = { .view = v };
    double all;
    uint32_t most = most_charged(m, &all);
    const struct fv_culprit *top = largest_of(c, most);

    out[0] = '\0';
    if (!(all > 0) || !top)
        return out;
    for (size_t i = 0; i < c->culprit_count && i < TOLD_APART; i++)
        fv_places_add(&places, c->culprits[i].site);
    double cost = charged(m, most);
    bool stands_out = m->rank_count < 2 || cost * (double)m->rank_count >= STANDS_OUT * all;
    place(&places, top->site, top->where, where, sizeof(where));
    snprintf(out, bytes, "%srank %d %s for most: %s of %s, ", stands_out ? "" : "no rank stands out; ",
             m->ranks[most].world_rank, traced ? "is to blame" : "came last",
             fv_words_percent(cost, c->wait_s, share), traced ? "all waiting" : "it");
    size_t used = strlen(out);
    if (used < bytes && top->cost_s < ONE_PLACE * cost)
        used += (size_t)snprintf(out + used, bytes - used, "above all (%s) ",
                                 fv_words_percent(top->cost_s, c->wait_s, part));
    if (used < bytes)
        snprintf(out + used, bytes - used, "%s%s", top->site == FV_NONE ? "" : "in ", where);
    fv_places_release(&places);
    return out;
}

/* Of a profile: the part of all waiting that the collectives are. */
static double share_of_all(const struct fv_model *m, double *all)
{
    *all = 0;
    for (size_t i = 0; i < m->rank_count; i++)
        *all += m->ranks[i].wait_time_s;
    *all = fmax(*all, m->causes.wait_s);
    return *all > 0 ? m->causes.wait_s / *all : 0;
}

/* May a profile's collectives speak for all waiting? */
static bool tells_enough(const struct fv_model *m)
{
    double all;

    return m->causes.source == FV_CAUSES_TRACE || share_of_all(m, &all) >= ENOUGH;
}

static bool is_unbalanced(const struct fv_model *m)
{
    return m->efficiency.load_balance < BALANCED;
}

/* "load balance is 62.0 %: rank 3 computes longest, 4.20 s; a rank 2.60 s on average" */
static size_t longest_computing(const struct fv_model *m, char *out, size_t bytes)
{
    char balance[FV_WORD], most[FV_WORD], mean[FV_WORD];
    double longest = -1;
    int rank = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        double computing = m->ranks[i].app_time_s - m->ranks[i].mpi_time_s;

        if (computing <= longest)
            continue;
        longest = computing;
        rank = m->ranks[i].world_rank;
    }
    return (size_t)snprintf(out, bytes, "load balance is %s: rank %d computes longest, %s, the mean is %s",
                            fv_words_percent(m->efficiency.load_balance, 1, balance), rank,
                            fv_words_seconds(longest, most),
                            fv_words_seconds(m->efficiency.compute_s / (double)m->rank_count, mean));
}

/* Without a trace: the collectives' part of all waiting first, so that nobody takes it for the whole. */
static char *profile_headline(const struct fv_view *v, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    char all_word[FV_WORD], word[FV_WORD], part[FV_WORD], who[SENTENCE];
    double all, share = share_of_all(m, &all);
    size_t used = 0;

    out[0] = '\0';
    if (blame(v, who, sizeof(who))[0])
        used = (size_t)snprintf(out, bytes, "of %s%s waiting, %s (%s) is in collectives, ",
                                m->efficiency.wait_exact ? "" : "about ", fv_words_seconds(all, all_word),
                                fv_words_seconds(m->causes.wait_s, word), fv_words_percent(share, 1, part));
    if (used && used < bytes)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", share >= ENOUGH ? "where " : "",
                                 share >= ENOUGH ? who : "too little to name a rank");
    if (is_unbalanced(m) && used < bytes) {
        if (used)
            used += (size_t)snprintf(out + used, bytes - used, "; ");
        if (used < bytes)
            longest_computing(m, out + used, bytes - used);
    }
    return out;
}

char *fv_view_culprit(const struct fv_view *v, char *out, size_t bytes)
{
    return v->model->causes.source == FV_CAUSES_TRACE ? blame(v, out, bytes)
                                                      : profile_headline(v, out, bytes);
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

/* The section stays short unless more is asked for: of each table a few rows, those that are worth a line. */
static size_t rows_of(const struct fv_page *p, size_t all)
{
    size_t rows = p->brief ? FEW : p->top;

    return rows < all ? rows : all;
}

static size_t culprit_rows(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_causes *c = &m->causes;
    size_t rows = rows_of(p, c->culprit_count);

    if (p->brief && !tells_enough(m))
        return 0;
    while (p->brief && rows && c->culprits[rows - 1].cost_s < WORTH_A_LINE * c->wait_s)
        rows--;
    return rows;
}

static size_t kind_rows(const struct fv_page *p, const struct fv_causes *c)
{
    size_t rows = rows_of(p, c->kind_count);

    while (p->brief && rows && c->kinds[rows - 1].wait_s < WORTH_A_LINE * c->wait_s)
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
static void add_callers(struct fv_table *t, unsigned column, const struct fv_places *places, uint32_t site)
{
    char outer[PATH_WORDS];

    if (site == FV_NONE || !fv_place_outer(places, site, 0, outer, sizeof(outer))[0])
        return;
    fv_table_row(t, FV_DIM);
    fv_table_set(t, column, "  %s", outer);
}

static void add_cost(struct fv_table *t, const struct fv_causes *c, double cost_s, double direct_s)
{
    char word[FV_WORD];

    fv_table_set(t, 4, "%s", fv_words_seconds(cost_s, word));
    fv_table_set(t, 5, "%s", fv_words_percent(cost_s, c->wait_s, word));
    if (c->source != FV_CAUSES_TRACE || !(direct_s >= 0))
        return;
    fv_table_set(t, 6, "%s", fv_words_seconds(direct_s, word));
    if (t->column_count > 7)
        fv_table_set(t, 7, "%s", fv_words_seconds(fmax(cost_s - direct_s, 0), word));
}

static void add_culprit(struct fv_table *t, const struct fv_places *places, const struct fv_culprit *k)
{
    const struct fv_model *m = places->view->model;
    char inner[600], call[160];

    fv_table_row(t, FV_PLAIN);
    fv_table_set(t, 0, "%d", m->ranks[k->rank].world_rank);
    if (k->site == FV_NONE) {
        fv_table_set(t, 1, "behind the last call that ended");
    } else {
        fv_table_set(t, 1, "%s", fv_place_inner(places->view, k->site, inner, sizeof(inner)));
        fv_table_set(t, 2, "%s", when(m, k->site, k->where, call));
        fv_table_set(t, 3, "#%u", k->site + 1);
    }
    add_cost(t, &m->causes, k->cost_s, k->direct_s);
    add_callers(t, 1, places, k->site);
}

static void put_culprits(const struct fv_page *p, const struct fv_view *v)
{
    struct fv_column columns[] = {
        { "rank", false, false, 0 },   { "delayed others in", true, true, 0 },
        { "when", true, false, 0 },    { "site", false, false, 4 },
        { "cost", false, false, 0 },   { "share", false, false, 3 },
        { "direct", false, false, 2 }, { "passed on", false, false, 1 },
    };
    const struct fv_causes *c = &v->model->causes;
    size_t rows = culprit_rows(p, v->model);
    struct fv_places places = { .view = v };
    bool traced = c->source == FV_CAUSES_TRACE;
    struct fv_table t;

    if (!traced)
        columns[1].title = "came last in";
    for (size_t i = 0; i < rows; i++)
        fv_places_add(&places, c->culprits[i].site);
    fv_table_init(&t, columns, !traced ? 6 : p->width >= ALL_COLUMNS ? 8 : 7);
    for (size_t i = 0; i < rows; i++)
        add_culprit(&t, &places, &c->culprits[i]);
    if (c->unexplained_s >= WORTH_TELLING * c->wait_s && c->unexplained_s > 0) {
        fv_table_row(&t, FV_DIM);
        fv_table_set(&t, 1, "nobody: no rank was slower before");
        add_cost(&t, c, c->unexplained_s, NAN);
    }
    if (t.rows)
        fv_table_print(&t, p);
    fv_table_release(&t);
    fv_places_release(&places);
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
    struct fv_places places = { .view = v };
    char text[3 * SENTENCE], where[SENTENCE], a[FV_WORD], b[FV_WORD], n[FV_WORD];

    if (!(c->critical_path_s > 0))
        return;
    for (size_t i = 0; i < c->region_count; i++)
        for (unsigned k = 0; k < FV_PLACES; k++)
            keep_longest(longest, (struct stretch){ c->regions[i].critical_s[k], c->regions[i].site, k });
    for (unsigned i = 0; i < 3 && longest[i].seconds > 0; i++)
        fv_places_add(&places, longest[i].site);
    size_t used = (size_t)snprintf(text, sizeof(text), "critical path: %s of %s, from rank to rank %s times",
                                   fv_words_seconds(c->critical_path_s, a),
                                   fv_words_seconds(v->model->elapsed_s, b), fv_words_count(c->switches, n));
    for (unsigned i = 0; i < 3 && longest[i].seconds > 0 && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s in %s", i ? ";" : "; of it",
                                 fv_words_percent(longest[i].seconds, c->critical_path_s, a),
                                 place(&places, longest[i].site, longest[i].where, where, sizeof(where)));
    fputs("  ", p->out);
    fv_page_words(p, text, 4);
    fv_places_release(&places);
}

static void add_region(struct fv_table *t, const struct fv_places *places, const struct fv_region *r)
{
    const struct fv_model *m = places->view->model;
    char inner[600], word[FV_WORD];

    fv_table_row(t, FV_PLAIN);
    fv_table_set(t, 0, "%s in %s", m->functions[m->sites[r->site].function].name,
                 fv_place_inner(places->view, r->site, inner, sizeof(inner)));
    fv_table_set(t, 1, "#%u", r->site + 1);
    fv_table_set(t, 2, "%s", fv_words_seconds(r->mean_s, word));
    fv_table_set(t, 3, "%s", fv_words_seconds(r->max_s, word));
    fv_table_set(t, 4, "%d", m->ranks[r->max_rank].world_rank);
    fv_table_set(t, 5, "%s", fv_words_percent(r->mean_s, r->max_s, word));
    if (m->causes.critical_path_s > 0)
        fv_table_set(t, 6, "%s",
                     fv_words_percent(r->critical_s[FV_PLACE_COMPUTING], m->causes.critical_path_s, word));
    add_callers(t, 0, places, r->site);
}

static void put_regions(const struct fv_page *p, const struct fv_view *v)
{
    static const struct fv_column columns[] = {
        { "computing before", true, true, 0 }, { "site", false, false, 3 },    { "mean", false, false, 1 },
        { "longest", false, false, 0 },        { "on rank", false, false, 0 }, { "balance", false, false, 0 },
        { "critical path", false, false, 2 },
    };
    const struct fv_causes *c = &v->model->causes;
    size_t rows = region_rows(p, c);
    struct fv_places places = { .view = v };
    struct fv_table t;

    for (size_t i = 0; i < rows; i++)
        fv_places_add(&places, c->regions[i].site);
    fv_table_init(&t, columns, c->critical_path_s > 0 ? 7 : 6);
    for (size_t i = 0; i < rows; i++)
        add_region(&t, &places, &c->regions[i]);
    if (t.rows)
        fv_table_print(&t, p);
    fv_table_release(&t);
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
    char text[200], count[FV_WORD];
    size_t used = 0;

    for (unsigned i = 0; i < 3; i++) {
        size_t more = lists[i].more;

        if (more)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s%s %s%s", used ? "," : "...",
                                     fv_words_count(more, count), lists[i].shown ? " more" : "",
                                     lists[i].noun, fv_words_s(more));
    }
    if (!used || p->top == SIZE_MAX)
        return;
    snprintf(text + used, sizeof(text) - used, "; --all shows them");
    fprintf(p->out, "  %s", fv_page_on(p, FV_DIM));
    fv_page_words(p, text, 2);
    fputs(fv_page_off(p), p->out);
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
    int used = snprintf(remark, sizeof(remark), "%s, by the trace (%s%s), ", total(m, all),
                        c->exact ? "exact" : "estimate", unmatched);
    if (c->coverage < FV_CAUSES_WHOLE)
        snprintf(remark + used, sizeof(remark) - (size_t)used, "which holds %s of the MPI time",
                 fv_words_percent(c->coverage, 1, word));
    else
        snprintf(remark + used, sizeof(remark) - (size_t)used, "charged to who began the delay");
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

void fv_text_waiting(const struct fv_page *p, const struct fv_view *v)
{
    const struct fv_model *m = v->model;
    const struct fv_causes *c = &m->causes;
    bool traced = c->source == FV_CAUSES_TRACE, worth = c->wait_s >= WORTH_TELLING * m->efficiency.thread_s;
    char headline[2 * SENTENCE];

    if (!c->source || (!worth && (traced || !is_unbalanced(m))))
        return;
    if (traced)
        put_trace_heading(p, m);
    else
        put_profile_heading(p, m);
    put_open_calls(p, m);
    if (fv_view_culprit(v, headline, sizeof(headline))[0]) {
        fprintf(p->out, "  %s", fv_page_on(p, FV_BOLD));
        fv_page_words(p, headline, 2);
        fputs(fv_page_off(p), p->out);
    }
    if (!worth)
        return;
    put_culprits(p, v);
    put_kinds(p, c);
    put_regions(p, v);
    put_critical_path(p, v);
    put_cut(p, m);
}
