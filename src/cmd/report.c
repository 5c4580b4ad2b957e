/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi report: reads an experiment once, computes its profile once, and shows it as asked. */
#include "base/options.h"
#include "cmd/archives.h"
#include "cmd/arguments.h"
#include "cmd/call_waits.h"
#include "cmd/choice.h"
#include "cmd/cmd.h"
#include "cmd/conditions.h"
#include "cmd/errors.h"
#include "cmd/exports.h"
#include "cmd/newer.h"
#include "cmd/output.h"
#include "cmd/parts.h"
#include "cmd/peaks.h"
#include "cmd/tables.h"
#include "views/brief.h"
#include "profile/samples/costs.h"
#include "views/views.h"

#include <errno.h>
#include <math.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct fv_operands directories;
    const char *json, *csv, *page;
    struct fv_exports exports;
    const char *trace; /* the operand, if it is one: an archive before it became an experiment */
    bool text, brief;
    struct fv_conditions fail_if;
    struct fv_profile_options profile;
    struct fv_source_options source;
    char *old_prefix; /* source.place.old_prefix, to be freed */
    struct fv_page_options html;
    const char *ranks, *threads;
    struct fv_choice choice; /* of these, of the whole report */
    const char *json_ranks;  /* NULL: as many ranks as there are say */
    struct fv_tables_asked tables;
    struct fv_text_options view;
};

static const char usage[] =
    "usage: fvmpi report DIR... [options]\n"
    "       fvmpi report ARCHIVE.otf2 [options]\n"
    "Says where the time of a recorded run went. DIR is the experiment directory that fvmpi named when the program "
    "ran, or\n"
    "a single rank file. Give several if the rank files of one run are in several directories.\n"
    "An OTF2 archive of any tool is converted first, once: ARCHIVE.fvmpi beside it.\n"
    "The report is text on stdout, unless an option asks for a file.\n"
    "\n"
    "  --json FILE    write the whole profile as JSON, schema fvmpi-profile-2; - is stdout\n"
    "  --brief        print the verdict, the findings and what was not judged, in at most 2 KB; with --json as JSON,\n"
    "                 schema fvmpi-brief-1\n"
    "  --fail-if CONDITION  exit with status 3 if it holds, such as parallel_efficiency<0.7: a column of a table with\n"
    "                 one row, or the share of a finding (load_imbalance>0.1); repeat it for several\n"
    "  --json-ranks WHAT  values of single ranks: all, summary (mean, deviation, quartiles, ...) or none\n"
    "                 (default: all; above 512 ranks summary)\n"
    "  --csv DIR      write one file for each table\n"
    "  --html FILE    write a page for a browser, in one file that needs nothing else; - is stdout\n"
    "  --html-max SIZE  a larger page drops the last rows of its tables, and says so (20M)\n"
    "  --text         print the text, too, beside files\n"
    "  --table NAME   print only this table, with its most important columns; several times for several tables.\n"
    "                 With --csv FILE or --json FILE: in that form, with all columns; - is stdout\n"
    "  --columns      list the tables; with --table NAME its columns, their units and meanings; --json FILE: as JSON\n"
    "  --columns A,B  with --table: these columns, in this order\n"
    "  --sort COL     with --table: sort by this column; -COL: largest first\n"
    "  --where 'COL>VALUE'  with --table: only rows for which this is true. Operators: < <= = != >= > and ~ "
    "(contains);\n"
    "                 several times: rows for which all are true\n"
    "  --rank LIST    report these ranks, such as 0-3,7; with --table: its rows of these ranks; with --source: of "
    "this\n"
    "                 one rank\n"
    "  --thread LIST  report these threads; with --table: its rows of these threads\n"
    "  --function NAME  print of each table the rows of this function, and of what it called; with --table: of this "
    "one;\n"
    "                 with --html: a page of them\n" FV_CHOICE_USAGE(
        "report is") "  --schema       alone, without DIR: print the JSON Schema of what --json writes\n"
                     "  --glossary     without DIR: explain the words of the report\n"
                     "  --source FILE  after fvmpi run --sample: print this source file with the CPU time of its "
                     "lines, on stdout;\n"
                     "                 FILE is the end of its path\n"
                     "  --source-path OLD=NEW  look below NEW for source files whose paths begin with OLD\n"
                     "  --no-source    write --html without lines of the program's source files, for readers who may "
                     "not see them\n" FV_EXPORT_USAGE
                     "  --top N        rows in each table of the text (10; for call sites 5, in section Waiting 3)\n"
                     "  --all          all rows\n"
                     "  --threshold PERCENT  in tables of the text: only rows with at least this share of the time; "
                     "how many are left "
                     "out\n"
                     "                 is shown. For waiting, samples and bytes see the man page\n"
                     "  --peaks FILE   compare the bandwidth counted by --counters memory with what such a machine "
                     "reaches:\n"
                     "                 FILE is from fvmpi doctor --measure --json FILE\n"
                     "  --no-symbols   show call paths as module+offset: fast, and needs no files of the "
                     "program\n" FV_OUTPUT_USAGE "\n"
                     "FVMPI_DEBUG_PATH names directories (DIR:DIR...) with debug files (DIR/.build-id/xx/yyyy.debug,\n"
                     "DIR/path/of/the/object/NAME). They are searched before /usr/lib/debug.\n"
                     "If an option is given twice, the last one counts; --table and --where add up.\n"
                     "Exit status: 0 reported (the report says if parts are missing), 1 nothing could be reported, 2 "
                     "wrong usage, 3 a\n"
                     "condition of --fail-if holds.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi report", what, why);
}

enum {
    OPT_JSON = 256,
    OPT_JSON_RANKS,
    OPT_CSV,
    OPT_HTML,
    OPT_TEXT,
    OPT_BRIEF,
    OPT_FAIL_IF,
    OPT_NO_SYMBOLS,
    OPT_SOURCE,
    OPT_PEAKS,
    OPT_SOURCE_PATH,
    OPT_NO_SOURCE,
    OPT_HTML_MAX,
    OPT_RANK,
    OPT_FUNCTION,
    OPT_THREAD,
    OPT_TABLE,
    OPT_COLUMNS,
    OPT_SORT,
    OPT_WHERE,
    OPT_SCHEMA,
    OPT_GLOSSARY,
    OPT_THRESHOLD
};

/* OLD=NEW */
static int take_source_path(struct options *o, const char *argument)
{
    const char *equals = strchr(argument, '=');

    if (!equals || equals == argument)
        return wrong(argument, "--source-path takes OLD=NEW");
    free(o->old_prefix);
    o->old_prefix = strndup(argument, (size_t)(equals - argument));
    o->source.place.old_prefix = o->old_prefix;
    o->source.place.new_prefix = equals + 1;
    return FV_GO_ON;
}

static int print_glossary(const struct fv_text_options *view)
{
    if (!fv_view_glossary(view, stdout))
        return FV_EXIT_OK;
    fv_log("stdout: %s; the glossary is cut", strerror(errno));
    return FV_EXIT_FAILED;
}

static const char *const json_ranks_words[] = {
    [FV_JSON_RANKS_ALL] = "all", [FV_JSON_RANKS_SUMMARY] = "summary", [FV_JSON_RANKS_NONE] = "none"
};

static int take_json_ranks(struct options *o, const char *what)
{
    o->json_ranks = what;
    for (unsigned i = 0; i <= FV_JSON_RANKS_NONE; i++)
        if (!strcmp(what, json_ranks_words[i]))
            return FV_GO_ON;
    return wrong(what, "--json-ranks takes all, summary or none");
}

static int take_table(struct options *o, const char *name)
{
    if (o->tables.count == FV_TABLES_MOST)
        return wrong(name, "too many tables at a time");
    o->tables.names[o->tables.count++] = name;
    return FV_GO_ON;
}

#define HTML_LEAST (UINT64_C(1) << 20) /* the page without tables takes a part of it */
static int take_html_max(struct options *o, const char *size)
{
    uint64_t bytes;

    if (fv_parse_size(size, &bytes) || bytes < HTML_LEAST || bytes > SIZE_MAX / 2)
        return wrong(size, "--html-max takes a size of at least 1M, such as 20M");
    o->html.max_bytes = (size_t)bytes;
    return FV_GO_ON;
}

static int take_where(struct options *o, const char *condition)
{
    if (o->tables.query.where_count == FV_CONDITIONS_MOST)
        return wrong(condition, "too many conditions at a time");
    o->tables.where[o->tables.query.where_count++] = condition;
    return FV_GO_ON;
}

static int take_condition(struct options *o, const char *condition)
{
    if (o->fail_if.count == FV_FAIL_IF_MOST)
        return wrong(condition, "too many conditions at a time");
    o->fail_if.items[o->fail_if.count++] = condition;
    return FV_GO_ON;
}

/* All rows above it, unless --top says how many. */
static int take_threshold(struct options *o, const char *percent)
{
    char *end;

    o->view.threshold = strtod(percent, &end) / 100;
    if (end == percent || *(end + (*end == '%')) || !(o->view.threshold >= 0 && o->view.threshold <= 1))
        return wrong(percent, "--threshold takes a number of percent, from 0 to 100");
    if (o->view.brief)
        o->view.top = SIZE_MAX;
    o->view.brief = false;
    return FV_GO_ON;
}

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case OPT_JSON: o->json = optarg; return FV_GO_ON;
    case OPT_JSON_RANKS: return take_json_ranks(o, optarg);
    case OPT_CSV: o->csv = optarg; return FV_GO_ON;
    case OPT_HTML: o->page = optarg; return FV_GO_ON;
    case OPT_TEXT: o->text = true; return FV_GO_ON;
    case OPT_BRIEF: o->brief = true; return FV_GO_ON;
    case OPT_FAIL_IF: return take_condition(o, optarg);
    case OPT_SOURCE: o->source.file = optarg; return FV_GO_ON;
    case OPT_SOURCE_PATH: return take_source_path(o, optarg);
    case OPT_HTML_MAX: return take_html_max(o, optarg);
    case OPT_NO_SOURCE: o->html.no_source = true; return FV_GO_ON;
    case OPT_RANK: o->ranks = o->tables.query.ranks = optarg; return FV_GO_ON;
    case OPT_FUNCTION: o->tables.query.function = optarg; return FV_GO_ON;
    case OPT_THREAD: o->threads = o->tables.query.threads = optarg; return FV_GO_ON;
    case OPT_TABLE: return take_table(o, optarg);
    case OPT_COLUMNS: o->tables.query.columns = optarg; return FV_GO_ON;
    case OPT_SORT: o->tables.query.sort = optarg; return FV_GO_ON;
    case OPT_WHERE: return take_where(o, optarg);
    case OPT_PEAKS: return isnan(o->profile.memory_peak = fv_peaks_memory(optarg)) ? FV_EXIT_FAILED : FV_GO_ON;
    case OPT_NO_SYMBOLS: o->profile.no_symbols = true; return FV_GO_ON;
    case OPT_THRESHOLD: return take_threshold(o, optarg);
    case OPT_GLOSSARY: return print_glossary(&o->view);
    case OPT_SCHEMA: return wrong("--schema", "it goes alone: fvmpi report --schema, without DIR and other options");
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    int status = fv_export_option(option, optarg, &o->exports, wrong);

    if (status == FV_UNKNOWN_OPTION)
        status = fv_choice_option(option, &o->choice, wrong);
    return status == FV_UNKNOWN_OPTION ? fv_output_option(option, &o->view, wrong) : status;
}

static int check_files(const struct options *o)
{
    struct fv_output_file files[2 + FV_EXPORT_COUNT] = { { "--json", o->json }, { "--html", o->page } };
    size_t count = 2 + fv_exports_files(&o->exports, files + 2);

    return fv_output_check(files, count, o->source.file ? "--source" : o->text ? "--text" : NULL, wrong);
}

static int check_source_rank(struct options *o)
{
    char *end;
    long rank = strtol(o->ranks, &end, 10);

    if (end == o->ranks || *end || rank < 0 || rank > INT_MAX)
        return wrong(o->ranks, "with --source, --rank takes one rank in MPI_COMM_WORLD");
    o->source.rank = rank;
    return FV_GO_ON;
}

/* Of a whole report; --table chooses rows of its table, --source a rank. */
static int check_choice(struct options *o)
{
    const bool whole = !o->tables.count && !o->source.file;
    int status = whole ? fv_choice_list(&o->choice.ranks, o->ranks, "--rank", "ranks", wrong) : FV_GO_ON;

    if (status == FV_GO_ON && whole)
        status = fv_choice_list(&o->choice.threads, o->threads, "--thread", "threads", wrong);
    o->profile.choice = &o->choice;
    return status;
}

/* An option that says something of a table; NULL: there is none. */
static const char *of_tables(const struct fv_query *q)
{
    return q->columns ? "--columns" : q->sort ? "--sort" : q->where_count ? "--where" : NULL;
}

/* What --table prints goes to one place. */
static int check_tables(const struct options *o)
{
    const char *file = o->json ? o->json : o->csv;

    if (o->page || fv_exports_any(&o->exports) || o->source.file || o->text || (o->json && o->csv))
        return wrong("--table", "it prints tables alone, in one form");
    if (file && o->tables.count > 1)
        return wrong("--table", "a file takes one table");
    if (file && fv_output_is_recorded(file))
        return wrong(file, "--table would overwrite a file of a recorded run; name another");
    return FV_GO_ON;
}

/* Of the whole report. */
static int check_function(struct options *o)
{
    if (o->csv || fv_exports_any(&o->exports) || o->source.file || o->text)
        return wrong("--function", "it goes with text, --json, --html or --table");
    o->html.function = o->tables.query.function;
    return check_files(o);
}

static int check(struct options *o)
{
    static const char of_text[] = "it goes with the text; for --table, --where compares shares";
    bool files = o->json || o->csv || o->page || fv_exports_any(&o->exports) || o->source.file;
    const char *option;
    int status;

    if ((status = check_choice(o)) != FV_GO_ON)
        return status;
    if (o->ranks && o->source.file && (status = check_source_rank(o)) != FV_GO_ON)
        return status;
    if ((status = fv_conditions_check(&o->fail_if)) != FV_GO_ON ||
        (status = fv_exports_check(&o->exports, wrong)) != FV_GO_ON)
        return status;
    if (!fv_part_is_all(&o->exports.part) && o->directories.count > 1)
        return wrong("--from and --to", "they take one experiment directory, or an archive");
    if (o->brief && (o->tables.count || o->tables.query.function || o->csv || o->page || o->source.file || o->text ||
                     fv_exports_any(&o->exports)))
        return wrong("--brief", "it goes alone, or with --json");
    if (!o->tables.count && (option = of_tables(&o->tables.query)))
        return wrong(option, "it goes with --table");
    if (o->tables.count && o->view.threshold > 0)
        return wrong("--threshold", of_text);
    if (o->tables.count)
        return (status = check_tables(o)) == FV_GO_ON ? fv_tables_check(&o->tables) : status;
    if (o->tables.query.function)
        return check_function(o);
    if (o->source.file && o->threads)
        return wrong("--thread", "--source shows all threads; --rank chooses one rank");
    if (o->source.file && o->text)
        return wrong("--text", "stdout already takes what --source writes");
    o->text = o->text || !files;
    if (o->view.threshold > 0 && !o->text)
        return wrong("--threshold", of_text);
    if (o->html.no_source && !o->page)
        return wrong("--no-source", "it goes with --html");
    if (o->html.max_bytes && !o->page)
        return wrong("--html-max", "it goes with --html");
    if (o->exports.paths[FV_EXPORT_PERFETTO] && o->directories.count > 1)
        return wrong("--perfetto", "it takes one experiment directory");
    if (fv_same_text(o->exports.paths[FV_EXPORT_SQLITE], "-"))
        return wrong("--sqlite -", "a database is a file of its own; name one");
    if (o->csv && !strcmp(o->csv, "-"))
        return wrong("--csv -", "stdout can take one table (--table NAME); --csv DIR writes all of them");
    if (o->csv && fv_output_holds_run(o->csv))
        return wrong(o->csv, "--csv would write into the directory of a recorded run; name another directory");
    return check_files(o);
}

/* Is the profile of a part? What is of the trace alone is taken from the whole. */
static bool is_of_part(const struct options *o)
{
    const bool is_trace_alone = fv_exports_of_trace_alone(&o->exports) && !o->json && !o->csv && !o->page && !o->text;

    return !fv_part_is_all(&o->exports.part) && !is_trace_alone;
}

static int take_part(struct options *o)
{
    o->profile.part_of = o->trace;
    o->profile.is_later_part = o->exports.part.from_s > 0;
    o->profile.operands = fv_part_operands(o->trace, &o->exports.part);
    return fv_part_becomes_experiment((char **)&o->directories.items[0], &o->exports.part);
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "json", required_argument, NULL, OPT_JSON },
        { "json-ranks", required_argument, NULL, OPT_JSON_RANKS },
        { "csv", required_argument, NULL, OPT_CSV },
        { "html", required_argument, NULL, OPT_HTML },
        { "text", no_argument, NULL, OPT_TEXT },
        { "brief", no_argument, NULL, OPT_BRIEF },
        { "fail-if", required_argument, NULL, OPT_FAIL_IF },
        { "source", required_argument, NULL, OPT_SOURCE },
        { "peaks", required_argument, NULL, OPT_PEAKS },
        { "source-path", required_argument, NULL, OPT_SOURCE_PATH },
        { "html-max", required_argument, NULL, OPT_HTML_MAX },
        { "no-source", no_argument, NULL, OPT_NO_SOURCE },
        { "rank", required_argument, NULL, OPT_RANK },
        { "function", required_argument, NULL, OPT_FUNCTION },
        FV_CHOICE_OPTIONS,
        { "thread", required_argument, NULL, OPT_THREAD },
        { "table", required_argument, NULL, OPT_TABLE },
        { "columns", required_argument, NULL, OPT_COLUMNS },
        { "sort", required_argument, NULL, OPT_SORT },
        { "where", required_argument, NULL, OPT_WHERE },
        FV_EXPORT_OPTIONS,
        FV_OUTPUT_OPTIONS,
        { "schema", no_argument, NULL, OPT_SCHEMA },
        { "glossary", no_argument, NULL, OPT_GLOSSARY },
        { "threshold", required_argument, NULL, OPT_THRESHOLD },
        { "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "experiment directory", false };

    *o = (struct options){ .source.rank = -1 };
    o->view = fv_output_defaults(stdout);

    int status = fv_tables_describe(argc, argv, &o->view);

    if (status == FV_GO_ON)
        status = fv_arguments_take(&arguments, argc, argv, o, &o->directories);
    if (status == FV_GO_ON)
        status = check(o);
    o->trace = status == FV_GO_ON ? o->directories.items[0] : NULL;
    if (status == FV_GO_ON && is_of_part(o))
        return take_part(o);
    return status == FV_GO_ON ? fv_archives_become_experiments((char **)o->directories.items, o->directories.count)
                              : status;
}

static int write_json(const struct fv_profile *view, const struct options *o)
{
    enum fv_json_ranks ranks = fv_json_ranks_default(view);
    struct fv_whole_file file;
    int err = o->json ? fv_output_open(&file, o->json, "--json") : 0;

    for (unsigned i = 0; o->json_ranks && i <= FV_JSON_RANKS_NONE; i++)
        if (!strcmp(o->json_ranks, json_ranks_words[i]))
            ranks = i;
    return o->json && !err ? fv_output_close(&file, o->json, "--json", fv_view_json(view, ranks, file.stream)) : err;
}

static int put_brief(const struct fv_profile *view, bool is_json, FILE *out)
{
    return fv_view_brief(view, &(struct fv_brief_options){ fv_tables_asked_for, is_json }, out);
}

static int write_brief(const struct fv_profile *view, const struct options *o)
{
    const char *path = o->json ? o->json : "-", *option = o->json ? "--json" : "--brief";
    struct fv_whole_file file;
    int err = fv_output_open(&file, path, option);

    return err ? err : fv_output_close(&file, path, option, put_brief(view, o->json != NULL, file.stream));
}

static int write_page(const struct fv_profile *view, const struct options *o)
{
    struct fv_page_options page = o->html;
    struct fv_call_wait *waits;
    struct fv_whole_file file;
    int err = o->page ? fv_output_open(&file, o->page, "--html") : 0;

    if (!o->page || err)
        return err;
    page.place = o->source.place;
    page.waits = waits = o->directories.count == 1 ? fv_call_waits_of(view->model, o->directories.items[0]) : NULL;
    err = fv_output_close(&file, o->page, "--html", fv_view_page(view, &page, file.stream));
    free(waits);
    return err;
}

static int write_function(const struct fv_profile *view, const struct options *o)
{
    const char *function = o->tables.query.function, *json = o->json ? o->json : "-";
    struct fv_whole_file file;
    int err = 0;

    fv_tables_say_losses(&view->model->problems);
    if (!fv_view_has_function(view, function)) {
        fv_log("report: --function %s: nothing was recorded of a function of this name; --table mpi_functions, "
               "--table cpu_procedures and --table sampled_functions list names",
               function);
        return -FV_ENOENT;
    }
    if (o->json || !o->page) {
        const char *option = o->json ? "--json" : "--function";

        err = fv_output_open(&file, json, option);
        if (!err)
            err =
                fv_output_close(&file, json, option, fv_view_function(view, function, &o->view, o->json, file.stream));
    }
    return err ? err : write_page(view, o);
}

static int write_all(const struct fv_profile *view, const struct options *o)
{
    const struct fv_exported exported = { view, o->trace, o->directories.count == 1, &o->choice };
    int err = 0;

    if (o->csv)
        err = fv_view_csv(view, o->csv);
    if (!err)
        err = write_json(view, o);
    if (!err)
        err = write_page(view, o);
    if (!err)
        err = fv_exports_write(&o->exports, view);
    if (!err)
        err = fv_exports_write_trace(&o->exports, &exported);
    if (!err)
        err = fv_exports_write_database(&o->exports, &exported);
    if (!err && o->source.file)
        err = fv_view_source(view, &o->source, &o->view, stdout);
    if (!err && o->text && (err = fv_view_text(view, &o->view, stdout)))
        fv_log("stdout: %s; the report is cut", strerror(errno));
    return err;
}

#define CALL_BYTES 100 /* of the page's limit for each call of its timeline: it takes a tenth of that */

int fv_cmd_report(int argc, char **argv)
{
    struct fv_profile *profile = NULL;
    struct options options;
    int status = parse(argc, argv, &options), err;

    if (status < 0) {
        if (options.page)
            options.profile.traced_calls =
                (options.html.max_bytes ? options.html.max_bytes : FV_PAGE_BYTES) / CALL_BYTES;
        err = fv_profile_open(options.directories.items, options.directories.count, &options.profile, &profile);
        if (!err && options.tables.count)
            status = fv_tables_print(&options.tables, profile, &options.view, options.csv, options.json);
        else if (!err && options.brief)
            err = write_brief(profile, &options);
        else if (!err && options.tables.query.function)
            err = write_function(profile, &options);
        else if (!err)
            err = write_all(profile, &options);
        if (!err && options.directories.count == 1 && !options.profile.part_of)
            fv_newer_say(options.directories.items[0]);
        if (status < 0)
            status = err ? fv_exit_status(err) : fv_conditions_judge(&options.fail_if, profile);
        status = status < 0 ? FV_EXIT_OK : status;
        fv_profile_close(profile);
    }
    fv_parts_remove();
    free(options.old_prefix);
    fv_choice_release(&options.choice);
    return status;
}
