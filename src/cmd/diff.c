/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi diff: what changed between two experiments, or two sets of runs. */
#include "cmd/archives.h"
#include "cmd/arguments.h"
#include "cmd/choice.h"
#include "cmd/cmd.h"
#include "cmd/errors.h"
#include "cmd/output.h"
#include "diff/diff_relations.h"
#include "views/relations.h"
#include "views/views.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *json, *csv, *page;
    bool text;
    struct fv_choice choice;
    struct fv_text_options view;
    char **directories[2];
    size_t count[2];
};

static const char usage[] =
    "usage: fvmpi diff [options] A B\n"
    "       fvmpi diff [options] A1 A2 A3 -- B1 B2 B3\n"
    "Says what changed from experiment A to experiment B: elapsed time, efficiency, the largest changes and where they "
    "are,\n"
    "new findings and findings that are gone. Then it lists findings, functions, procedures, computing between calls,\n"
    "sections, locks, MPI functions and call paths, the largest changes first.\n"
    "With several runs on each side of --, changes are compared with the differences between runs of one side.\n"
    "All amounts are means per rank, so runs with different numbers of ranks can be compared.\n"
    "\n"
    "  --json FILE    write the whole comparison as JSON, schema fvmpi-diff-2; - is stdout\n"
    "  --csv DIR      write one file for each table\n"
    "  --html FILE    write a page for a browser, in one file that needs nothing else; - is stdout\n"
    "  --schema       print the JSON Schema of what --json writes\n"
    "  --text         print the text, too, beside files\n"
    "  --top N        rows in each list of the text (10)\n"
    "  --all          all rows\n" FV_CHOICE_USAGE("comparison is") FV_OUTPUT_USAGE
    "\n"
    "Call paths are joined by function, file and line. If the program was built again and lines have moved, they are "
    "joined\n"
    "by function names. This needs the program of A, or its debug file in a directory that FVMPI_DEBUG_PATH names\n"
    "(DIR/.build-id/xx/yyyy.debug): keep it when you build again.\n"
    "Exit status: 0 compared, 1 could not be compared, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi diff", what, why);
}

enum { OPT_JSON = 256, OPT_CSV, OPT_HTML, OPT_TEXT, OPT_SCHEMA };

static int print_schema(void)
{
    if (!fv_json_schema(FV_DIFF_SCHEMA, "What fvmpi diff A B --json FILE writes", fv_diff_relations, stdout))
        return FV_EXIT_OK;
    fv_log("stdout: %s; the schema is cut", strerror(errno));
    return FV_EXIT_FAILED;
}

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
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

/* Options and directories up to the argument list's end; argv[0] is skipped. */
static int take_arguments(struct options *o, int argc, char **argv, unsigned side)
{
    static const struct option table[] = {
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

    int status = fv_arguments_take(&arguments, argc, argv, o, NULL);

    if (status >= 0)
        return status;
    o->directories[side] = argv + optind;
    o->count[side] = (size_t)(argc - optind);
    return FV_GO_ON;
}

/* A run given twice on a side would make its noise too small. */
static int check_twice(char *const *paths, size_t count)
{
    char one[PATH_MAX], other[PATH_MAX];

    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++)
            if (realpath(paths[i], one) && realpath(paths[k], other) && !strcmp(one, other))
                return wrong(paths[k], "given twice on one side; name different runs");
    return FV_GO_ON;
}

static int parse_sides(struct options *o, int argc, char **argv)
{
    int dashes = 1, status;

    while (dashes < argc && strcmp(argv[dashes], "--"))
        dashes++;
    if ((status = take_arguments(o, dashes, argv, 0)) >= 0)
        return status;
    if (dashes < argc) {
        if ((status = take_arguments(o, argc - dashes, argv + dashes, 1)) >= 0)
            return status;
    } else if (o->count[0] == 2) {
        o->directories[1] = o->directories[0] + 1;
        o->count[0] = o->count[1] = 1;
    } else if (o->count[0] > 2) {
        return wrong(o->directories[0][2], "several runs need -- between those of A and those of B");
    }
    if (!o->count[0] || !o->count[1])
        return wrong(o->count[0] ? o->directories[0][0] : "no experiment", "two experiments are needed");
    for (unsigned s = 0; s < 2; s++)
        if ((status = check_twice(o->directories[s], o->count[s])) >= 0)
            return status;
    return FV_GO_ON;
}

static int parse(int argc, char **argv, struct options *o)
{
    *o = (struct options){ .view = fv_output_defaults(stdout) };
    int status = parse_sides(o, argc, argv);

    if (status >= 0)
        return status;
    o->text = o->text || (!o->json && !o->csv && !o->page);
    if (o->csv && fv_output_holds_run(o->csv))
        return wrong(o->csv, "--csv would write into the directory of a recorded run; name another directory");
    const struct fv_output_file files[] = { { "--json", o->json }, { "--html", o->page } };
    status = fv_output_check(files, 2, o->text ? "--text" : NULL, wrong);
    for (unsigned s = 0; s < 2 && status < 0; s++)
        status = fv_archives_become_experiments(o->directories[s], o->count[s]);
    return status;
}

static int compare(const struct options *o)
{
    struct fv_diff diff = { 0 };
    int err = 0;

    for (unsigned s = 0; s < 2; s++)
        for (size_t i = 0; i < o->count[s] && !err; i++)
            err = fv_diff_load(&diff, s, o->directories[s][i], &o->choice);
    if (!err)
        fv_diff_compute(&diff);
    if (!err)
        err = FV_OUTPUT_WRITE(o->json, "--json", fv_diff_json, &diff);
    if (!err)
        err = FV_OUTPUT_WRITE(o->page, "--html", fv_diff_page, &diff);
    if (!err && o->csv)
        err = fv_diff_csv(&diff, o->csv);
    if (!err && o->text && (err = fv_diff_text(&diff, &o->view, stdout)))
        fv_log("stdout: %s; the comparison is cut", strerror(errno));
    fv_diff_release(&diff);
    return fv_exit_status(err);
}

int fv_cmd_diff(int argc, char **argv)
{
    struct options options;
    int status = parse(argc, argv, &options);

    if (status < 0)
        status = compare(&options);
    fv_choice_release(&options.choice);
    return status;
}
