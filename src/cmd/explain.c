/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi explain: the numbers behind one finding, and how it was concluded. */
#include "base/base.h"
#include "cmd/archives.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/tables.h"
#include "profile/relations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: fvmpi explain FINDING DIR|ARCHIVE.otf2 [options]\n"
    "Shows what a finding of the run rests on: what it means, how its seconds are counted, and rows of the tables\n"
    "that have its numbers. FINDING is as fvmpi report --brief and the column finding_id of --table findings have it.\n"
    "\n"
    "  --top N        rows of each table (default: 5)\n" FV_OUTPUT_USAGE "\n"
    "Exit status: 0 shown, 1 failed, or the run has no such finding, 2 wrong usage.\n";

struct explaining {
    struct fv_operands operands;
    struct fv_text_options text;
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi explain", what, why);
}

static const struct fv_finding *find(const struct fv_findings *f, const char *id)
{
    char own[FV_FINDING_ID];

    for (size_t i = 0; i < f->count; i++)
        if (!strcmp(fv_finding_id(f, &f->items[i], own), id))
            return &f->items[i];
    return NULL;
}

static int say_none(const struct fv_findings *f, const char *id)
{
    char list[2000] = "", own[FV_FINDING_ID];

    for (size_t i = 0; i < f->count; i++)
        fv_words_add(list, sizeof(list), "%s%s", i ? ", " : "", fv_finding_id(f, &f->items[i], own));
    fv_log("explain: %s: the run has no such finding; it has %s", id, *list ? list : "none");
    return FV_EXIT_FAILED;
}

/* ---- the text ---- */

static void put_words(const struct fv_page *p, const struct fv_profile *v, const struct fv_finding *f)
{
    char lost[FV_WORD], part[FV_WORD], cost[100] = "";

    if (isfinite(f->lost_s))
        snprintf(cost, sizeof(cost), ", %.6g s, %s of the time of all ranks (%s)", f->lost_s,
                 fv_words_percent(f->lost_s, v->model->efficiency.total_s, part), fv_words_seconds(f->lost_s, lost));
    fv_page_item(p, FV_BOLD, 0, "%s%s", f->title, cost);
    fv_page_item(p, FV_PLAIN, 0, "%s", f->text);
    fv_page_item(p, FV_DIM, 0, "evidence: %s", fv_evidence_words[f->evidence]);
    fv_page_item(p, FV_DIM, 0, "what it is: %s", f->def->doc);
    if (*f->next)
        fv_page_item(p, FV_DIM, 0, "next: %s", f->next);
}

static bool has_ranks(const struct fv_relation_place *place)
{
    const struct fv_relation *r = place->chain[place->depth - 1];
    bool has = false;

    for (size_t i = 0; i < fv_relation_flat_count(r); i++)
        has = has || (fv_relation_flat_column(r, i)->flags & FV_IS_RANK);
    return has;
}

/* Are all ranks shown, to be compared with the finding's? They have a row each, and are few. */
static bool are_compared(const struct fv_relation_place *place, struct fv_tables *tables, size_t top)
{
    return place->depth == 1 && tables->model->rank_count <= top &&
           fv_relation_count(place->chain[0], tables, NULL) <= tables->model->rank_count;
}

/* Rows of its function, else of its rank, else the first ones; a table without any is left out. */
static int put_table(const char *table, struct fv_tables *tables, const struct fv_finding *f,
                     const struct fv_page *page)
{
    struct fv_relation_place place;
    char rank[16];
    size_t met = 0;
    struct fv_query q = { .table = table, .top = page->top, .asked_for = fv_tables_asked_for, .met = &met };

    if (f->function) {
        struct fv_query of = q;

        of.function = f->function;
        if (fv_query_print(&of, fv_profile_relations, tables, FV_QUERY_TEXT, page, page->out))
            return -FV_EIO;
    }
    if (met)
        return 0;
    if (f->rank != FV_NONE && fv_relations_find(fv_profile_relations, table, &place) && has_ranks(&place) &&
        !are_compared(&place, tables, page->top)) {
        snprintf(rank, sizeof(rank), "%d", tables->model->ranks[f->rank].world_rank);
        q.ranks = rank;
    }
    return fv_query_print(&q, fv_profile_relations, tables, FV_QUERY_TEXT, page, page->out);
}

static int put(const struct fv_profile *v, const struct fv_finding *f, const struct fv_text_options *text)
{
    const struct fv_page page = fv_tables_page(text, stdout);
    struct fv_tables tables;
    char names[300], *rest = names;
    int err = 0;

    put_words(&page, v, f);
    snprintf(names, sizeof(names), "%s", f->def->tables);
    fv_tables_init(&tables, v);
    for (char *table; !err && (table = strsep(&rest, " "));) {
        err = put_table(table, &tables, f, &page);
    }
    fv_tables_release(&tables);
    return err || fflush(stdout) || ferror(stdout) ? FV_EXIT_FAILED : FV_EXIT_OK;
}

static int explain(const struct explaining *e)
{
    const struct fv_profile_options options = { 0 };
    struct fv_profile *profile = NULL;
    int status = FV_EXIT_FAILED;

    if (fv_profile_open(e->operands.items + 1, e->operands.count - 1, &options, &profile))
        return status;
    const struct fv_finding *f = find(profile->findings, e->operands.items[0]);
    status = f ? put(profile, f, &e->text) : say_none(profile->findings, e->operands.items[0]);
    fv_profile_close(profile);
    return status;
}

/* ---- the command ---- */

static int take_option(void *options, int option)
{
    struct explaining *e = options;

    if (option == 'h') {
        fputs(usage, stdout);
        return FV_EXIT_OK;
    }
    return fv_output_option(option, &e->text, wrong);
}

int fv_cmd_explain(int argc, char **argv)
{
    static const struct option table[] = { FV_OUTPUT_OPTIONS, { "help", no_argument, NULL, 'h' }, { 0 } };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "finding", false };
    struct explaining e = { .text = fv_output_defaults(stdout) };
    int status;

    e.text.top = 5;
    status = fv_arguments_take(&arguments, argc, argv, &e, &e.operands);
    if (status != FV_GO_ON)
        return status;
    if (e.operands.count < 2)
        return wrong(e.operands.items[0], "behind it there is the experiment directory");
    status = fv_archives_become_experiments((char **)e.operands.items + 1, e.operands.count - 1);
    return status == FV_GO_ON ? explain(&e) : status;
}
