/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi query: runs asked by SQL. */
#include "query/query.h"
#include "cmd/archives.h"
#include "cmd/arguments.h"
#include "cmd/choice.h"
#include "cmd/cmd.h"
#include "cmd/database.h"
#include "cmd/errors.h"
#include "cmd/output.h"
#include "cmd/tables.h"
#include "cmd/timelines.h"
#include "query/questions.h"
#include "tool/vec.h"
#include "views/relations.h"
#include "views/sheet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_S 60
#define TOP       1000 /* rows of text */

struct options {
    struct fv_operands operands;
    struct fv_text_options view;
    struct fv_choice choice;
    struct fv_profile_options profile;
    enum fv_sql_form form;
    double timeout_s;
    bool tables, examples;
    const char *columns;
};

static const char usage[] =
    "usage: fvmpi query DIR|ARCHIVE.otf2... \"SELECT ...\" [options]\n"
    "       fvmpi query --tables | --columns TABLE | --examples\n"
    "Asks recorded runs by SQL (SQLite's). All tables of fvmpi report are there, and those of a trace. Several runs "
    "are\n"
    "asked at once; the column `run` says of which a row is. Nothing can be changed.\n"
    "\n"
    "      --tables         list the tables\n"
    "      --columns TABLE  list the columns of a table, with their units and meanings\n"
    "      --examples       print statements that answer what is asked first; they are views, too\n"
    "      --csv            print comma-separated fields, also of these lists\n"
    "      --json           print JSON: columns, rows, complete; also of these lists\n"
    "      --timeout S      seconds that a statement may take (60); 0: any\n" FV_CHOICE_USAGE(
        "answers are") "      --no-symbols     leave call paths as module+offset\n"
                       "      --top N          rows of text (1000)\n"
                       "      --all            all rows\n" FV_OUTPUT_USAGE "\n"
                       "Exit status: 0 answered, 1 failed or over a limit, 2 wrong usage, or a statement that is wrong "
                       "or not allowed.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi query", what, why);
}

/* ---- what there is ---- */

static const struct fv_relation *relation_of(const char *name)
{
    struct fv_relation_place place;

    return fv_relations_find(fv_sql_relations, name, &place) ? place.chain[0] : NULL;
}

/* Rows of the catalogue's table of that name; `of`: those that begin with it alone. */
static void list(const struct options *o, const char *table, const char *keys, const char *of)
{
    const struct fv_relation *r = relation_of(table);
    const struct fv_page page = { stdout, o->view.width, SIZE_MAX, false, o->view.color, o->view.utf8, 0 };
    struct fv_sql_catalogue catalogue;
    struct fv_sheet sheet;

    fv_sql_catalogue_init(&catalogue);
    fv_sheet_init(&sheet, &page, r, keys, &catalogue);
    for (size_t i = 0; i < fv_relation_count(r, &catalogue, NULL); i++) {
        const void *row = fv_relation_row(r, &catalogue, NULL, i);

        if (of && strcmp(fv_column_value(&r->columns[0], &catalogue, row).text, of))
            continue;
        fv_sheet_add(&sheet, NULL, row, FV_PLAIN);
        fv_sheet_remark(&sheet, fv_column_value(&r->columns[r->column_count - 1], &catalogue, row).text);
    }
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
    fv_sql_catalogue_release(&catalogue);
}

/* The same as JSON, or CSV. */
static int put_list(const struct options *o, const char *table, const char *condition)
{
    const struct fv_query query = {
        .table = table, .where = &condition, .where_count = condition != NULL, .top = SIZE_MAX
    };
    const struct fv_page page = { .out = stdout };
    struct fv_sql_catalogue catalogue;

    fv_sql_catalogue_init(&catalogue);
    const int err = fv_query_print(&query, fv_sql_relations, &catalogue,
                                   o->form == FV_SQL_CSV ? FV_QUERY_CSV : FV_QUERY_JSON, &page, stdout);
    fv_sql_catalogue_release(&catalogue);
    return err;
}

static bool is_table(const char *name)
{
    struct fv_sql_catalogue catalogue;

    fv_sql_catalogue_init(&catalogue);
    const bool is = fv_sql_table(&catalogue, name);
    fv_sql_catalogue_release(&catalogue);
    return is;
}

static void describe_columns(const struct options *o)
{
    char condition[200];

    snprintf(condition, sizeof(condition), "of_table=%s", o->columns);
    if (o->form == FV_SQL_TEXT)
        list(o, "about_columns", "name,type,unit,exactness,may_be_null", o->columns);
    else
        put_list(o, "about_columns", condition);
}

static void describe_examples(const struct options *o)
{
    if (o->form != FV_SQL_TEXT)
        put_list(o, "about_views", NULL);
    for (size_t i = 0; o->form == FV_SQL_TEXT && i < fv_question_count; i++)
        printf("-- %s (%s)\n%s;\n\n", fv_questions[i].question, fv_questions[i].name, fv_questions[i].sql);
}

static int describe(const struct options *o)
{
    if (o->columns && !is_table(o->columns))
        return wrong(o->columns, "there is no such table; --tables lists them");
    if (o->tables && o->form == FV_SQL_TEXT)
        list(o, "about_tables", "name,lies_within,recorded_by", NULL);
    else if (o->tables)
        put_list(o, "about_tables", NULL);
    if (o->columns)
        describe_columns(o);
    if (o->examples)
        describe_examples(o);
    if (!fflush(stdout) && !ferror(stdout))
        return FV_EXIT_OK;
    fv_log("stdout: %s; the list is cut", strerror(errno));
    return FV_EXIT_FAILED;
}

/* ---- runs ---- */

struct runs {
    const struct options *options;
    char **names; /* as they are on the command line */
    struct fv_sql_run *items;
    size_t count;
};

static bool open_timeline(void *context, size_t run, struct fv_timeline_file *out)
{
    const struct runs *r = context;

    if (r->items[run].traced)
        return fv_trace_timeline_of(r->names[run], out);
    fv_log("query: %s has no trace; record with fvmpi run --trace", r->names[run]);
    return false;
}

static int open_runs(struct runs *r, char **operands)
{
    int err = 0;

    r->items = fv_xcalloc(r->count, sizeof(*r->items));
    r->names = fv_xcalloc(r->count, sizeof(*r->names));
    memcpy(r->names, operands, r->count * sizeof(*r->names));
    int status = fv_archives_become_experiments(operands, r->count);
    for (size_t i = 0; i < r->count && !err && status == FV_GO_ON; i++) {
        struct fv_sql_run *run = &r->items[i];

        run->name = r->names[i];
        err = fv_profile_open(&operands[i], 1, &r->options->profile, &run->profile);
        if (!err)
            fv_tables_say_losses(&run->profile->model->problems);
        run->traced = !err && (operands[i] != r->names[i] || fv_is_traced(run->profile->model));
    }
    return err ? fv_exit_status(err) : status;
}

static void close_runs(struct runs *r)
{
    for (size_t i = 0; r->items && i < r->count; i++)
        fv_profile_close(r->items[i].profile);
    free(r->items);
    free(r->names);
}

static int answer(const struct options *o, char **operands, size_t count)
{
    const struct fv_page page = { stdout, o->view.width, o->view.top, o->view.brief, o->view.color, o->view.utf8, 0 };
    const struct fv_sql_asked asked = { operands[count - 1], o->form, o->timeout_s, fv_errors_end, &page };
    struct runs runs = { .options = o, .count = count - 1 };
    int status = open_runs(&runs, operands), err = 0;
    struct fv_sql *sql = status == FV_GO_ON ? fv_sql_open("query", runs.items, runs.count, open_timeline, &runs) : NULL;

    if (status == FV_GO_ON)
        status = FV_EXIT_FAILED;
    if (sql) {
        err = fv_sql_print(sql, &asked, stdout);
        status = err == -FV_EFORMAT ? FV_EXIT_USAGE : fv_exit_status(err);
    }
    if (err == -FV_EIO)
        fv_log("stdout: %s; the answer is cut", strerror(errno));
    fv_sql_close(sql);
    close_runs(&runs);
    return status;
}

/* ---- the command ---- */

enum { OPT_TABLES = 256, OPT_COLUMNS, OPT_EXAMPLES, OPT_CSV, OPT_JSON, OPT_TIMEOUT, OPT_NO_SYMBOLS };

static int take_timeout(struct options *o, const char *seconds)
{
    char *end;

    o->timeout_s = strtod(seconds, &end);
    return end == seconds || *end || !(o->timeout_s >= 0 && o->timeout_s <= 1e6)
               ? wrong(seconds, "--timeout takes seconds, from 0 to 1000000")
               : FV_GO_ON;
}

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case OPT_TABLES: o->tables = true; return FV_GO_ON;
    case OPT_COLUMNS: o->columns = optarg; return FV_GO_ON;
    case OPT_EXAMPLES: o->examples = true; return FV_GO_ON;
    case OPT_CSV: o->form = FV_SQL_CSV; return FV_GO_ON;
    case OPT_JSON: o->form = FV_SQL_JSON; return FV_GO_ON;
    case OPT_TIMEOUT: return take_timeout(o, optarg);
    case OPT_NO_SYMBOLS: o->profile.no_symbols = true; return FV_GO_ON;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    int status = fv_choice_option(option, &o->choice, wrong);

    return status == FV_UNKNOWN_OPTION ? fv_output_option(option, &o->view, wrong) : status;
}

static int check(const struct options *o)
{
    const bool lists = o->tables || o->columns || o->examples;
    char *const *items = o->operands.items;

    if (lists)
        return o->operands.count ? wrong(items[0], "--tables, --columns and --examples go alone") : FV_GO_ON;
    if (!o->operands.count)
        return wrong("no experiment directory", "one is needed");
    if (o->operands.count < 2)
        return wrong(items[0], "behind the directories, a statement is needed");
    for (size_t i = 0; i + 1 < o->operands.count; i++)
        for (size_t k = 0; k < i; k++)
            if (!strcmp(items[i], items[k]))
                return wrong(items[i], "it is named twice");
    return FV_GO_ON;
}

int fv_cmd_query(int argc, char **argv)
{
    static const struct option table[] = {
        { "tables", no_argument, NULL, OPT_TABLES },
        { "columns", required_argument, NULL, OPT_COLUMNS },
        { "examples", no_argument, NULL, OPT_EXAMPLES },
        { "csv", no_argument, NULL, OPT_CSV },
        { "json", no_argument, NULL, OPT_JSON },
        { "timeout", required_argument, NULL, OPT_TIMEOUT },
        FV_CHOICE_OPTIONS,
        FV_OUTPUT_OPTIONS,
        { "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, NULL, false };
    struct options o = { .view = fv_output_defaults(stdout), .timeout_s = TIMEOUT_S };

    o.view.top = TOP;
    int status = fv_arguments_take(&arguments, argc, argv, &o, NULL);

    o.operands = (struct fv_operands){ argv + optind, (size_t)(argc - optind) };
    if (status == FV_GO_ON)
        status = check(&o);
    o.profile.choice = &o.choice;
    if (status == FV_GO_ON)
        status = o.operands.count ? answer(&o, (char **)o.operands.items, o.operands.count) : describe(&o);
    fv_choice_release(&o.choice);
    return status;
}
