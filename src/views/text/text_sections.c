/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections that the program marks, and the whole program. */
#include "profile/counters/counters.h"
#include "profile/samples/cost_profile.h"
#include "profile/sections/sections.h"
#include "views/text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number is told where it is one, or tells sections apart. */
static void section_name(const struct fv_sections_view *all, const struct fv_section_view *s, char *out, size_t bytes)
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

/* Where no section has one, none is told. */
static void hide_numbers(struct fv_text_table *t, const struct fv_sections_view *all, const bool *in_table)
{
    bool any = false;

    for (size_t i = 0; i < all->count; i++)
        any |= in_table[i] && all->items[i].number != 0;
    if (!any)
        fv_sheet_hide(&t->sheet, "number");
}

static void hide_short(struct fv_text_table *t, const struct fv_sections_view *all, const bool *in_table)
{
    bool any = false;

    for (size_t i = 0; i < all->count; i++)
        any |= in_table[i] && fv_section_is_short(&all->items[i]);
    if (!any)
        fv_sheet_hide(&t->sheet, "too_short");
}

/* One line of what is unbalanced in a section. */
static void put_faults(const struct fv_page *p, const struct fv_sections_view *all, const struct fv_section_view *s)
{
    const struct fv_section_faults *f = &s->faults;
    const struct fv_text_loss rows[] = {
        { f->open, "time", "begun and not ended (counted up to the end of the rank)" },
        { f->unended, "time", "ended by the end of their thread" },
        { f->unbegun, "time", "ended without a begin (left out)" },
        { f->elsewhere, "time", "ended by another thread than the one that began it (left out)" },
    };
    char name[4 * FV_SECTION_NAME + 40], of[sizeof(name) + 12];

    section_name(all, s, name, sizeof(name));
    snprintf(of, sizeof(of), "section %s: ", name);
    fv_text_losses(p, of, rows, sizeof(rows) / sizeof(*rows));
}

static void put_losses(const struct fv_page *p, const struct fv_section_losses *l)
{
    const struct fv_text_loss rows[] = {
        { l->above_level, "begin", "of sections above --section-level: not measured" },
        { l->too_deep, "begin", "of sections with 64 sections open on its thread already: not measured" },
        { l->others, "begin", "of sections beyond 1,023 different sections of a rank: all in \"(others)\"" },
        { l->sets, "begin",
          "of sections in too many combinations of sections: MPI calls inside are not "
          "listed" },
        { l->interrupted, "begin", "of sections in a signal handler that interrupted another: not measured" },
        { l->apart, "instance",
          "of sections without room for one of their own (--section-instances): see --profile-max" },
        { l->unmeasured, "begin", "of sections without room in the rank file: not measured" },
        { l->untraced, "begin",
          "of sections and ends in MPI calls, or without room: the trace has them too late, or not" },
    };

    fv_text_losses(p, "", rows, sizeof(rows) / sizeof(*rows));
}

/* One line for all. */
static void put_short(const struct fv_page *p, const struct fv_sections_view *s, const bool *in_table)
{
    const struct fv_section_view *first = NULL;
    char name[4 * FV_SECTION_NAME + 40], mean[FV_WORD], more[60] = "";
    size_t count = 0;

    for (size_t i = 0; i < s->count; i++)
        if (in_table[i] && fv_section_is_short(&s->items[i])) {
            first = count++ ? first : &s->items[i];
        }
    if (!first)
        return;
    section_name(s, first, name, sizeof(name));
    if (count > 1)
        snprintf(more, sizeof(more), " (and %zu more, marked short)", count - 1);
    fv_text_note(p, FV_YELLOW,
                 "section %s%s: an instance takes %s, less than " FV_SECTION_SHORT_WORDS
                 ". Its CPU times and counters include what reading "
                 "them takes; its elapsed time does not. Put begin and end around more work, such as the whole loop",
                 name, more, fv_words_seconds(first->instances.mean_s, mean));
}

/* ---- threads ---- */

/* Of the rank that was longest in the section. */
static void add_members(struct fv_text_table *t, const struct fv_sections_view *s, const struct fv_section_view *of)
{
    for (uint32_t k = 0; k < of->members; k++)
        if (s->members[of->first_member + k].rank == of->value[FV_SECTION_ELAPSED].max_rank)
            fv_sheet_add(&t->sheet, of, &s->members[of->first_member + k], FV_PLAIN);
}

/* Of the rank that was longest in each section, where there are several. */
static void put_threads(const struct fv_page *p, const struct fv_profile *v, const bool *in_table)
{
    const struct fv_sections_view *s = fv_model_sections(v->model);
    struct fv_text_table t;
    bool is_scaled = false;

    fv_text_table_begin(&t, p, v, "section_threads");
    hide_numbers(&t, s, in_table);
    for (size_t i = 0; i < s->count; i++) {
        const struct fv_section_view *of = &s->items[i];

        if (of->whole || !in_table[i] || of->threads + of->other_threads <= of->ranks)
            continue;
        is_scaled = is_scaled || of->is_scaled;
        add_members(&t, s, of);
    }
    if (t.sheet.table.rows)
        fv_page_heading(p, "Threads of sections",
                        is_scaled
                            ? "of the rank that was longest in it; *: it opened the section. Others were measured "
                              "while it was open; ~: for part of the time, as reading all would cost over 1 %"
                            : "of the rank that was longest in it; *: it opened the section. Others were measured "
                              "while it was open");
    fv_text_table_end(&t, "thread", " of sections");
}

/* Each process, where there are several or threads in them; as far as causes of stalls are known. */
static void put_processes(const struct fv_page *p, const struct fv_profile *v, const bool *in_table)
{
    const struct fv_sections_view *s = fv_model_sections(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "section_sheet_processes");
    hide_numbers(&t, s, in_table);
    for (size_t i = 0; i < s->count; i++)
        for (uint32_t k = 0; in_table[i] && s->items[i].members > 1 && k < s->items[i].ranks; k++) {
            const struct fv_section_rank *r = &s->ranks[s->items[i].first + k];

            fv_sheet_add(&t.sheet, &s->items[i], r, FV_PLAIN);
        }
    if (t.sheet.table.rows)
        fv_page_heading(
            p, "Sheets of sections by process",
            "the time of all threads of each process, by cause of stall, in seconds that add up, as far as counted");
    fv_text_table_end(&t, "process", " of sections");
}

/* Of the rank that was longest in each section. */
static void put_sheets(const struct fv_page *p, const struct fv_profile *v, const bool *in_table)
{
    const struct fv_sections_view *s = fv_model_sections(v->model);
    struct fv_text_table t;

    if (!fv_counts_fill_sheets(fv_model_counts(v->model)))
        return;
    put_processes(p, v, in_table);
    fv_text_table_begin(&t, p, v, "section_sheet");
    hide_numbers(&t, s, in_table);
    for (size_t i = 0; i < s->count; i++)
        for (uint32_t k = 0; in_table[i] && k < s->items[i].members; k++) {
            const struct fv_section_member *m = &s->members[s->items[i].first_member + k];

            if (m->rank == s->items[i].value[FV_SECTION_ELAPSED].max_rank)
                fv_sheet_add(&t.sheet, &s->items[i], m, FV_PLAIN);
        }
    if (t.sheet.table.rows)
        fv_page_heading(p, "Sheets of sections",
                        "of the rank that was longest in the section: where the time of each thread went, in seconds "
                        "that add up; and the mix of instructions, as far as counted");
    fv_text_table_end(&t, "thread", " of sections");
}

/* ---- clock samples ---- */

#define PROCEDURES 3    /* of a section, ... */
#define FUNCTIONS  3    /* the same of MPI, ... */
#define LEAST      0.01 /* ... if they have so much of it */

/* Where the CPU time of the sections goes that the table shows. */
static void put_costs(const struct fv_page *p, const struct fv_profile *v, const bool *in_table)
{
    const struct fv_sections_view *s = fv_model_sections(v->model);
    const struct fv_cost_profile *c = v->costs;
    struct fv_text_table t;

    if (!fv_sections_are_sampled(s))
        return;
    fv_page_heading(p, "CPU time of sections",
                    "clock samples of all threads: the procedures with most in each section; self and total as part "
                    "of the section's samples; +- 95 %");
    fv_text_table_begin(&t, p, v, "section_procedures");
    t.sheet.top = SIZE_MAX;
    if (!(p->threshold > 0))
        t.sheet.least = LEAST;
    hide_numbers(&t, s, in_table);
    for (size_t i = 0, before = 0; i < c->section_part_count; i++) {
        const struct fv_cost_part *part = &c->section_parts[i];

        before = i && part[-1].owner == part->owner ? before + 1 : 0;
        if (in_table[part->owner] && before < PROCEDURES)
            fv_sheet_add(&t.sheet, &s->items[part->owner], part, FV_PLAIN);
    }
    fv_text_table_end(&t, p->threshold > 0 ? "procedure" : NULL, "");
}

/* ---- MPI calls ---- */

/* By function, of the sections that the table shows. */
static void put_calls(const struct fv_page *p, const struct fv_profile *v, const bool *in_table)
{
    const struct fv_sections_view *s = fv_model_sections(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "section_functions");
    t.sheet.top = SIZE_MAX;
    hide_numbers(&t, s, in_table);
    for (size_t i = 0; i < s->count; i++) {
        const struct fv_section_view *of = &s->items[i];

        for (size_t k = 0; in_table[i] && !of->whole && k < of->function_count && k < FUNCTIONS; k++)
            if (of->functions[k].time_s >= LEAST * of->value[FV_SECTION_THREADS_TIME].sum)
                fv_sheet_add(&t.sheet, of, &of->functions[k], FV_PLAIN);
    }
    if (t.sheet.table.rows)
        fv_page_heading(
            p, "MPI calls of sections",
            "the functions with most time in each section: in all, then mean, least and most of the ranks that call "
            "them; length: mean of a message");
    fv_text_table_end(&t, NULL, NULL);
}

/* ---- sections ---- */

/* A row of the table: a section, or all that differ in their number alone, which are one unless all rows are asked
 * for. */
struct row {
    const struct fv_section_view *section;
    bool is_name, chosen;
};
struct rows {
    struct row *items;
    size_t count;
};

static const struct fv_section_view *name_of(const struct fv_sections_view *s, const struct fv_section_view *of)
{
    for (size_t i = 0; !of->whole && !of->others && i < s->name_count; i++)
        if (!strcmp(s->names[i].name, of->name))
            return &s->names[i];
    return NULL;
}

/* The whole program, then by elapsed time, longest first. */
static struct rows rows_of(const struct fv_page *p, const struct fv_sections_view *s)
{
    struct rows rows = { fv_xcalloc(s->count + s->name_count, sizeof(struct row)), 0 };
    size_t names = p->brief ? s->name_count : 0;

    for (size_t i = 0, name = 0; i < s->count; i++) {
        const struct fv_section_view *section = &s->items[i];
        double elapsed_s = section->value[FV_SECTION_ELAPSED].sum;

        for (; name < names && !section->whole && s->names[name].value[FV_SECTION_ELAPSED].sum >= elapsed_s; name++)
            rows.items[rows.count++] = (struct row){ .section = &s->names[name], .is_name = true };
        if (!names || !name_of(s, section))
            rows.items[rows.count++] = (struct row){ .section = section };
    }
    return rows;
}

static void put_row(struct fv_text_table *t, const struct row *row)
{
    const struct fv_section_spread *elapsed = &row->section->value[FV_SECTION_ELAPSED];
    struct fv_section_view told = *row->section;
    char words[4 * FV_SECTION_NAME + 80];

    if (row->is_name) {
        snprintf(words, sizeof(words), "%s (%u, longest %d)", told.name, told.numbers, told.longest_number);
        told.name = words;
    }
    fv_sheet_put(&t->sheet, NULL, &told,
                 elapsed->max > 0 && elapsed->mean < FV_POP_GOOD * elapsed->max ? FV_YELLOW : FV_PLAIN);
}

/* Of which sections more is told: those that have a row, and the longest of those that share one. */
static bool *told_of(const struct fv_sections_view *s, const struct rows *rows)
{
    bool *told = fv_xcalloc(s->count, sizeof(*told));

    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];

        for (size_t k = 0; row->chosen && k < s->count; k++)
            if (row->is_name
                    ? name_of(s, &s->items[k]) == row->section && s->items[k].number == row->section->longest_number
                    : &s->items[k] == row->section)
                told[k] = true;
    }
    return told;
}

/* Of those that warm up. */
static void put_first_instances(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_sections_view *s = fv_model_sections(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "section_warm_up");
    for (size_t i = 0; i < s->warm_up_count; i++)
        if (s->warm_ups[i].threads)
            fv_text_table_add(&t, &s->warm_ups[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_page_heading(p, t.sheet.relation->title, "the first instances took longer: leave them out of a measurement");
    fv_text_table_end(&t, "section", "");
}

/* Without sections of its own, a program's whole is in the first lines of the report already. */
FV_TEXT_SECTION(sections)
{
    const struct fv_sections_view *s = fv_model_sections(v->model);
    const struct fv_section_losses *l = &s->losses;
    struct fv_text_table t;

    if (s->count < 2 &&
        !(l->above_level || l->too_deep || l->others || l->sets || l->interrupted || l->unmeasured || l->untraced))
        return;
    struct rows rows = rows_of(p, s);
    fv_text_table_begin(&t, p, v, "sections");
    for (size_t i = 0; i < rows.count; i++)
        rows.items[i].chosen = fv_sheet_choose(&t.sheet, NULL, rows.items[i].section);
    bool *in_table = told_of(s, &rows);
    hide_numbers(&t, s, in_table);
    hide_short(&t, s, in_table);
    for (size_t i = 0; i < rows.count; i++)
        if (rows.items[i].chosen)
            put_row(&t, &rows.items[i]);
    static const char heading[] =
        "marked by the program: mean, minimum and maximum over ranks; median and p99 of the instances (estimates). MPI "
        "and waiting are parts of the time (~: partly an estimate). Messages are by length. User and system CPU time "
        "are of all threads of the process that are recorded";
    char remark[500];
    snprintf(remark, sizeof(remark), "%s%s", heading,
             p->color ? ". Yellow: the ranks' mean is under " FV_POP_GOOD_PART " of the maximum" : "");
    fv_page_heading(p, "Sections", remark);
    fv_text_table_end(&t, "section", "");
    for (size_t i = 0; i < s->count; i++)
        put_faults(p, s, &s->items[i]);
    put_short(p, s, in_table);
    put_losses(p, l);
    put_threads(p, v, in_table);
    put_sheets(p, v, in_table);
    put_calls(p, v, in_table);
    put_costs(p, v, in_table);
    fv_text_relation(p, v, "section_instances", "instance",
                     "the first of each section and thread; see --section-instances");
    put_first_instances(p, v);
    free(in_table);
    free(rows.items);
}
