/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi scaling: one program on several numbers of ranks. */
#include "cmd/archives.h"
#include "cmd/arguments.h"
#include "cmd/choice.h"
#include "cmd/cmd.h"
#include "cmd/errors.h"
#include "cmd/output.h"
#include "scaling/scaling_relations.h"
#include "views/views.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct options {
    enum fv_scaling_kind kind;
    const char *json, *csv, *page;
    bool text;
    struct fv_choice choice;
    struct fv_text_options view;
    char **directories;
    size_t count;
};

static const char usage[] =
    "usage: fvmpi scaling [options] DIR DIR...\n"
    "Says how a program scales, from its runs on several numbers of ranks: speedup, POP's efficiencies by size, and "
    "which of\n"
    "them fell most. It names the parts of the program that take longer than they would if they scaled: sections,\n"
    "procedures, computing between calls, MPI functions. If several runs have one size, their mean counts.\n"
    "\n"
    "  --strong       the same problem was solved on more ranks\n"
    "  --weak         the problem grew with the ranks\n"
    "  --json FILE    write everything as JSON, schema fvmpi-scaling-1; - is stdout\n"
    "  --csv DIR      write one file for each table\n"
    "  --html FILE    write a page for a browser, in one file that needs nothing else; - is stdout\n"
    "  --schema       print the JSON Schema of what --json writes\n"
    "  --text         print the text, too, beside files\n"
    "  --top N        rows in each table of parts (10)\n"
    "  --all          all rows\n" FV_CHOICE_USAGE("comparison is") FV_OUTPUT_USAGE
    "\n"
    "Exit status: 0 compared, 1 could not be compared, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi scaling", what, why);
}

enum { OPT_STRONG = 256, OPT_WEAK, OPT_JSON, OPT_CSV, OPT_HTML, OPT_TEXT, OPT_SCHEMA };

static int print_schema(void)
{
    if (!fv_json_schema(FV_SCALING_SCHEMA, "What fvmpi scaling DIR... --json FILE writes", fv_scaling_relations,
                        stdout))
        return FV_EXIT_OK;
    fv_log("stdout: %s; the schema is cut", strerror(errno));
    return FV_EXIT_FAILED;
}

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case OPT_STRONG:
    case OPT_WEAK:
        if (o->kind != FV_SCALING_UNTOLD && (o->kind == FV_SCALING_WEAK) != (option == OPT_WEAK))
            return wrong("--strong and --weak", "runs are one or the other");
        o->kind = option == OPT_WEAK ? FV_SCALING_WEAK : FV_SCALING_STRONG;
        return FV_GO_ON;
    case OPT_JSON: o->json = optarg; return FV_GO_ON;
    case OPT_CSV: o->csv = optarg; return FV_GO_ON;
    case OPT_HTML: o->page = optarg; return FV_GO_ON;
    case OPT_TEXT: o->text = true; return FV_GO_ON;
    case OPT_SCHEMA: return print_schema();
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    int status = fv_choice_option(option, &o->choice, wrong);

    return status == FV_UNKNOWN_OPTION ? fv_output_option(option, &o->view, wrong) : status;
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "strong", no_argument, NULL, OPT_STRONG },
        { "weak", no_argument, NULL, OPT_WEAK },
        { "json", required_argument, NULL, OPT_JSON },
        { "csv", required_argument, NULL, OPT_CSV },
        { "html", required_argument, NULL, OPT_HTML },
        { "text", no_argument, NULL, OPT_TEXT },
        { "schema", no_argument, NULL, OPT_SCHEMA },
        FV_CHOICE_OPTIONS,
        FV_OUTPUT_OPTIONS,
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, NULL, false };

    *o = (struct options){ .view = fv_output_defaults(stdout) };
    int status = fv_arguments_take(&arguments, argc, argv, o, NULL);
    if (status >= 0)
        return status;
    o->directories = argv + optind;
    o->count = (size_t)(argc - optind);
    if (o->count < 2)
        return wrong(o->count ? o->directories[0] : "no experiment",
                     "runs on at least two numbers of ranks are needed");
    o->text = o->text || (!o->json && !o->csv && !o->page);
    if (o->csv && fv_output_holds_run(o->csv))
        return wrong(o->csv, "--csv would write into the directory of a recorded run; name another directory");
    const struct fv_output_file files[] = { { "--json", o->json }, { "--html", o->page } };
    status = fv_output_check(files, 2, o->text ? "--text" : NULL, wrong);
    return status < 0 ? fv_archives_become_experiments(o->directories, o->count) : status;
}

static int compare(const struct options *o)
{
    struct fv_scaling scaling = { 0 };
    int err = 0;

    for (size_t i = 0; i < o->count && !err; i++)
        err = fv_scaling_load(&scaling, o->directories[i], &o->choice);
    if (!err)
        err = fv_scaling_compute(&scaling, o->kind);
    if (!err)
        err = FV_OUTPUT_WRITE(o->json, "--json", fv_scaling_json, &scaling);
    if (!err)
        err = FV_OUTPUT_WRITE(o->page, "--html", fv_scaling_page, &scaling);
    if (!err && o->csv)
        err = fv_scaling_csv(&scaling, o->csv);
    if (!err && o->text && (err = fv_scaling_text(&scaling, &o->view, stdout)))
        fv_log("stdout: %s; the report is cut", strerror(errno));
    fv_scaling_release(&scaling);
    return fv_exit_status(err);
}

int fv_cmd_scaling(int argc, char **argv)
{
    struct options options;
    int status = parse(argc, argv, &options);

    if (status < 0)
        status = compare(&options);
    fv_choice_release(&options.choice);
    return status;
}
