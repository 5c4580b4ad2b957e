/* SPDX-License-Identifier: BSD-3-Clause */
/* See tables.h. */
#include "cmd/tables.h"

#include "base/options.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/errors.h"
#include "cmd/output.h"
#include "profile/relations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fv_page fv_tables_page(const struct fv_text_options *text, FILE *out)
{
    return (struct fv_page){ out, text->width, text->top, text->brief, text->color, text->utf8, 0 };
}

/* --columns without a value is a question of its own: last, or before another option. */
static bool asks_columns(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--columns") && (i + 1 == argc || argv[i + 1][0] == '-'))
            return true;
    return false;
}

/* The value that word *i gives an option, behind it or behind =; NULL: none. */
static const char *value_of(const char *option, int argc, char **argv, int *i)
{
    const size_t bytes = strlen(option);

    if (!strcmp(argv[*i], option) && *i + 1 < argc)
        return argv[++*i];
    return !strncmp(argv[*i], option, bytes) && argv[*i][bytes] == '=' ? argv[*i] + bytes + 1 : NULL;
}

static const char *last_value(const char *option, int argc, char **argv)
{
    const char *last = NULL;

    for (int i = 1; i < argc; i++) {
        const char *value = value_of(option, argc, argv, &i);

        last = value ? value : last;
    }
    return last;
}

/* Of each table that --table names, or of none the list of tables. */
static int describe(int argc, char **argv, const struct fv_page *page)
{
    size_t count = 0;
    int err = 0;

    for (int i = 1; i < argc && !err; i++) {
        const char *table = value_of("--table", argc, argv, &i);

        if (table && count++)
            putc('\n', page->out);
        if (table)
            err = fv_query_columns(table, fv_profile_relations, page, page->out);
    }
    return count ? err : fv_query_columns(NULL, fv_profile_relations, page, page->out);
}

static int put_json(const char *table, FILE *out)
{
    return fv_json_tables(table, fv_profile_relations, out);
}

/* The same as JSON, of all tables or the last that --table names. */
static int describe_json(int argc, char **argv, const char *path, const struct fv_page *page)
{
    const char *table = last_value("--table", argc, argv);
    struct fv_relation_place place;

    if (table && !fv_relations_find(fv_profile_relations, table, &place))
        return fv_query_columns(table, fv_profile_relations, page, page->out); /* which says so */
    return FV_OUTPUT_WRITE(path, "--json", put_json, table);
}

int fv_tables_describe(int argc, char **argv, const struct fv_text_options *text)
{
    const char *json = last_value("--json", argc, argv);
    struct fv_page page = fv_tables_page(text, stdout);
    int err;

    if (argc == 2 && !strcmp(argv[1], "--schema"))
        err =
            fv_json_schema(FV_PROFILE_SCHEMA, "What fvmpi report DIR --json FILE writes", fv_profile_relations, stdout);
    else if (asks_columns(argc, argv) && json)
        return (err = describe_json(argc, argv, json, &page)) == -FV_EFORMAT ? FV_EXIT_USAGE : fv_exit_status(err);
    else if (asks_columns(argc, argv))
        err = describe(argc, argv, &page);
    else
        return FV_GO_ON;
    if (err == -FV_EIO)
        fv_log("stdout: %s; the list is cut", strerror(errno));
    return err == -FV_EFORMAT ? FV_EXIT_USAGE : err ? FV_EXIT_FAILED : FV_EXIT_OK;
}

bool fv_tables_asked_for(const void *subject, const char *flag, size_t bytes)
{
    const struct fv_tables *tables = subject;
    const struct fv_option *option = fv_option_by_flag(flag, bytes);

    return option && option->variable && fv_model_option(tables->model, option->variable);
}

/* Each query, with what applies to all of them. */
static int each(struct fv_tables_asked *asked, int (*take)(const struct fv_query *query, void *context), void *context)
{
    int err = 0;

    asked->query.where = asked->where;
    asked->query.asked_for = fv_tables_asked_for;
    for (size_t i = 0; i < asked->count && !err; i++) {
        asked->query.table = asked->names[i];
        err = take(&asked->query, context);
    }
    return err == -FV_EFORMAT ? FV_EXIT_USAGE : err ? FV_EXIT_FAILED : FV_EXIT_OK;
}

static int check(const struct fv_query *query, void *context)
{
    (void)context;
    return fv_query_check(query, fv_profile_relations);
}

int fv_tables_check(struct fv_tables_asked *asked)
{
    int status = each(asked, check, NULL);

    return status == FV_EXIT_OK ? FV_GO_ON : status;
}

struct printing {
    struct fv_tables tables;
    const struct fv_text_options *text;
    const char *csv, *json;
};

static int print(const struct fv_query *query, void *context)
{
    struct printing *to = context;
    enum fv_query_form form = to->csv ? FV_QUERY_CSV : to->json ? FV_QUERY_JSON : FV_QUERY_TEXT;
    const char *path = to->csv    ? to->csv
                       : to->json ? to->json
                                  : "-",
               *option = to->csv    ? "--csv"
                         : to->json ? "--json"
                                    : "--table";
    struct fv_whole_file file;
    int err = fv_output_open(&file, path, option);

    if (err)
        return err;
    struct fv_page page = fv_tables_page(to->text, file.stream);
    return fv_output_close(&file, path, option,
                           fv_query_print(query, fv_profile_relations, &to->tables, form, &page, file.stream));
}

void fv_tables_say_losses(const struct fv_problems *problems)
{
    size_t losses = 0;
    const struct fv_problem *first = NULL;

    for (size_t i = 0; i < problems->count; i++) {
        if (!fv_problem_is_loss(problems->items[i].kind))
            continue;
        first = losses++ ? first : &problems->items[i];
    }
    if (losses)
        fv_log("report: the recording is incomplete: %s%s%s%s; --table problems lists all",
               first->file ? first->file : "", first->file ? ": " : "", first->text, losses > 1 ? ", ..." : "");
}

int fv_tables_print(struct fv_tables_asked *asked, const struct fv_profile *profile, const struct fv_text_options *text,
                    const char *csv, const char *json)
{
    struct printing to = { .text = text, .csv = csv, .json = json };

    fv_tables_say_losses(&profile->model->problems);
    fv_tables_init(&to.tables, profile);
    asked->query.top = text->brief ? SIZE_MAX : text->top;
    int status = each(asked, print, &to);
    fv_tables_release(&to.tables);
    return status;
}
