/* Sections that the program marks, and the whole program. */
#include "report/cost_profile.h"
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void set_seconds(struct fv_table *t, size_t column, double seconds)
{
    char word[FV_WORD];

    if (isfinite(seconds))
        fv_table_set(t, column, "%s", fv_words_seconds(seconds, word));
}

static void set_part(struct fv_table *t, size_t column, const char *mark, double part, double whole)
{
    char word[FV_WORD];

    if (isfinite(part) && whole > 0)
        fv_table_set(t, column, "%s%s", mark, fv_words_percent(part, whole, word));
}

static void set_count(struct fv_table *t, size_t column, double count)
{
    char word[FV_WORD];

    if (count >= 0 && count < 1e18)
        fv_table_set(t, column, "%s", fv_words_count((uint64_t)count, word));
}

/* The number is told where it is one, or tells sections apart. */
static void section_name(const struct fv_sections_view *all, const struct fv_section_view *s, char *out,
                         size_t bytes)
{
    char clean[4 * FV_SECTION_NAME + 1];
    size_t alike = 0;

    for (size_t i = 0; i < all->count; i++)
        alike += !all->items[i].whole && !strcmp(all->items[i].name, s->name);
    fv_words_clean(s->name, clean, sizeof(clean));
    if (s->whole)
        snprintf(out, bytes, "all (the whole program)");
    else if (s->number || alike > 1)
        snprintf(out, bytes, "%s %d", clean, s->number);
    else
        snprintf(out, bytes, "%s", clean);
}

static void put_row(struct fv_table *t, const struct fv_sections_view *all, const struct fv_section_view *s)
{
    const struct fv_section_spread *elapsed = &s->value[FV_SECTION_ELAPSED],
                                   *threads = &s->value[FV_SECTION_THREADS_TIME];
    bool uneven = elapsed->max > 0 && elapsed->mean < 0.8 * elapsed->max;
    char name[4 * FV_SECTION_NAME + 40];

    section_name(all, s, name, sizeof(name));
    fv_table_row(t, uneven ? FV_YELLOW : FV_PLAIN);
    fv_table_set(t, 0, "%s", name);
    set_count(t, 1, (double)s->count);
    set_seconds(t, 2, elapsed->mean);
    set_seconds(t, 3, elapsed->min);
    set_seconds(t, 4, elapsed->max);
    set_seconds(t, 5, s->value[FV_SECTION_USER].mean);
    set_seconds(t, 6, s->value[FV_SECTION_SYSTEM].mean);
    set_part(t, 7, "", s->value[FV_SECTION_MPI].sum, threads->sum);
    if (s->wait_kind)
        set_part(t, 8, s->wait_kind == FV_WAIT_ESTIMATE ? "~" : "", s->value[FV_SECTION_WAIT].sum,
                 threads->sum);
    set_count(t, 9, s->value[FV_SECTION_CALLS].sum);
    for (unsigned i = 0; i < FV_SECTION_CLASSES; i++)
        set_count(t, 10 + i, s->value[FV_SECTION_SENT + i].sum + s->value[FV_SECTION_RECEIVED + i].sum);
    set_seconds(t, 14, s->value[FV_SECTION_LOCK].mean);
    set_seconds(t, 15, s->value[FV_SECTION_SAMPLED].mean);
}

/* One line of what is unbalanced in a section. */
static void put_faults(const struct fv_page *p, const struct fv_sections_view *all,
                       const struct fv_section_view *s)
{
    const struct fv_section_faults *f = &s->faults;
    const struct {
        uint64_t count;
        const char *what;
    } rows[] = {
        { f->open, "begun and not ended (counted up to the end of the rank)" },
        { f->unended, "ended by the end of their thread" },
        { f->unbegun, "ended without a begin (left out)" },
        { f->elsewhere, "ended by another thread than the one that began it (left out)" },
    };
    char name[4 * FV_SECTION_NAME + 40], word[FV_WORD], text[700];

    section_name(all, s, name, sizeof(name));
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (!rows[i].count)
            continue;
        snprintf(text, sizeof(text), "section %s: %s time%s %s", name, fv_words_count(rows[i].count, word),
                 fv_words_s(rows[i].count), rows[i].what);
        fprintf(p->out, "  %s-%s ", fv_page_on(p, FV_YELLOW), fv_page_off(p));
        fv_page_words(p, text, 4);
    }
}

static void put_losses(const struct fv_page *p, const struct fv_section_losses *l)
{
    const struct {
        uint64_t count;
        const char *what;
    } rows[] = {
        { l->above_level, "above --section-level: not measured" },
        { l->too_deep, "with 64 sections open on its thread already: not measured" },
        { l->others, "beyond 1,023 different sections of a rank: all in \"(others)\"" },
        { l->sets,
          "in more combinations of sections than can be told apart: MPI calls inside are not listed" },
        { l->interrupted, "in a signal handler that interrupted another: not measured" },
        { l->unmeasured, "without room in the rank file: not measured" },
        { l->untraced, "and ends in MPI calls, or without room: the trace has them too late, or not" },
    };
    char word[FV_WORD], text[200];

    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (!rows[i].count)
            continue;
        snprintf(text, sizeof(text), "%s begin%s of sections %s", fv_words_count(rows[i].count, word),
                 fv_words_s(rows[i].count), rows[i].what);
        fprintf(p->out, "  %s-%s ", fv_page_on(p, FV_YELLOW), fv_page_off(p));
        fv_page_words(p, text, 4);
    }
}

/* ---- clock samples ---- */

#define PROCEDURES 3    /* of a section, ... */
#define LEAST      0.01 /* ... if they have so much of it */

static void put_cost_rows(struct fv_table *t, const struct fv_sections_view *all,
                          const struct fv_cost_profile *c, uint32_t section, size_t *next)
{
    char name[4 * FV_SECTION_NAME + 40], procedure[512];
    uint64_t sum = 0;
    size_t end = *next, first = *next;

    for (; end < c->section_part_count && c->section_parts[end].owner == section; end++)
        sum += c->section_parts[end].sum.self.ticks;
    *next = end;
    section_name(all, &all->items[section], name, sizeof(name));
    for (size_t i = first; i < end && i < first + PROCEDURES; i++) {
        const struct fv_cost_part *p = &c->section_parts[i];
        const struct fv_cost_sum *total = &p->sum.total;

        if ((double)p->sum.self.ticks < LEAST * (double)sum)
            break;
        fv_table_row(t, FV_PLAIN);
        if (i == first)
            fv_table_set(t, 0, "%s", name);
        fv_table_set(t, 1, "%s",
                     fv_words_short(c->procedures[p->procedure].name, procedure, sizeof(procedure)));
        set_part(t, 2, "", (double)p->sum.self.ticks, (double)sum);
        set_seconds(t, 3, (double)p->sum.self.ticks * c->tick_s);
        set_seconds(t, 4, fv_cost_error(p->sum.self.ticks) * c->tick_s);
        set_part(t, 5, "", (double)total->ticks, (double)sum);
        set_part(t, 6, "", (double)total->in_mpi, (double)total->ticks);
        set_part(t, 7, "", (double)total->in_sync, (double)total->ticks);
    }
}

/* Where the CPU time of sections goes. */
static void put_costs(const struct fv_page *p, const struct fv_view *v)
{
    const struct fv_column columns[] = {
        { "section", true, true, 0 },   { "procedure", true, true, 0 }, { "self", false, false, 0 },
        { "seconds", false, false, 0 }, { "+-", false, false, 2 },      { "total", false, false, 0 },
        { "in MPI", false, false, 4 },  { "sync", false, false, 3 },
    };
    const struct fv_sections_view *s = &v->model->sections;
    size_t rows = s->count < p->top ? s->count : p->top, next = 0;
    struct fv_cost_profile profile;
    struct fv_table t;

    if (!fv_sections_are_sampled(s))
        return;
    fv_cost_profile_init_sections(&profile, v->model, v->symbols);
    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (uint32_t i = 0; i < rows; i++)
        put_cost_rows(&t, s, &profile, i, &next);
    fv_page_heading(
        p, "CPU time of sections",
        "clock samples of all threads: the procedures with most of each section's; self and total as "
        "part of the section's samples; +- 95 %");
    fv_table_print(&t, p);
    fv_table_release(&t);
    fv_cost_profile_release(&profile);
}

/* Without sections of its own, a program's whole is in the first lines of the report already. */
void fv_text_sections(const struct fv_page *p, const struct fv_view *v)
{
    static const struct fv_column columns[] = {
        { "section", true, true, 0 },   { "count", false, false, 0 }, { "elapsed", false, false, 0 },
        { "min", false, false, 8 },     { "max", false, false, 9 },   { "user", false, false, 7 },
        { "system", false, false, 6 },  { "MPI", false, false, 0 },   { "wait", false, false, 0 },
        { "calls", false, false, 5 },   { "< 4K", false, false, 3 },  { "< 64K", false, false, 3 },
        { "< 1M", false, false, 3 },    { ">= 1M", false, false, 3 }, { "locks", false, false, 4 },
        { "sampled", false, false, 2 },
    };
    const struct fv_sections_view *s = &v->model->sections;
    const struct fv_section_losses *l = &s->losses;
    size_t rows = s->count < p->top ? s->count : p->top;
    struct fv_table t;

    if (s->count < 2 && !(l->above_level || l->too_deep || l->others || l->sets || l->interrupted ||
                          l->unmeasured || l->untraced))
        return;
    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < rows; i++)
        put_row(&t, s, &s->items[i]);
    static const char heading[] =
        "marked by the program: mean, minimum and maximum over ranks; MPI and waiting as part of the time; "
        "messages by length; user and system CPU time of the threads that are in the section, of \"all\" of "
        "the whole "
        "process. ~ marks waiting that is partly estimated";
    char remark[500];
    snprintf(remark, sizeof(remark), "%s%s", heading,
             p->color ? ". Yellow: the ranks' mean is under 80 % of the maximum" : "");
    fv_page_heading(p, "Sections", remark);
    fv_table_print(&t, p);
    fv_page_cut(p, rows, s->count, "section", "");
    for (size_t i = 0; i < s->count; i++)
        put_faults(p, s, &s->items[i]);
    put_losses(p, l);
    fv_table_release(&t);
    put_costs(p, v);
}
