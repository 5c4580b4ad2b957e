/* fvmpi report: reads an experiment once, computes its profile once, and shows it as asked. */
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "report/views.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct options {
    const char *directory, *json, *csv;
    bool text, symbols;
    struct fv_text_options view;
};

static const char usage[] =
    "usage: fvmpi report DIR [options]\n"
    "Says where the MPI time of a recorded run went. DIR is the experiment directory that fvmpi named when\n"
    "the program ran (a single rank file will do). Without --json and --csv the report is text on stdout.\n"
    "\n"
    "  --json FILE    the whole profile as JSON, schema fvmpi-profile-1; - is stdout\n"
    "  --csv DIR      one file for each table\n"
    "  --text         text too, beside --json or --csv\n"
    "  --top N        rows in each table of the text (10; of section Waiting 3)\n"
    "  --all          all rows\n"
    "  --width N      columns of the text (the terminal's; 100 where there is none)\n"
    "  --color WHEN   auto, always or never (auto: on a terminal, unless NO_COLOR is set)\n"
    "  --no-symbols   show call paths as module+offset: quick, and needs none of the program's files\n"
    "  -h, --help     this text\n"
    "\n"
    "FVMPI_DEBUG_PATH names a directory with debug files by build-id (DIR/.build-id/xx/yyyy.debug), "
    "searched\n"
    "before /usr/lib/debug. Exit status: 0 reported (also if parts are missing, which the report then "
    "says),\n"
    "1 nothing could be reported, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    fv_log("report: %s: %s; see fvmpi report --help", what, why);
    return FV_EXIT_USAGE;
}

enum { OPT_JSON = 256, OPT_CSV, OPT_TEXT, OPT_TOP, OPT_ALL, OPT_WIDTH, OPT_COLOR, OPT_NO_SYMBOLS };

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case OPT_JSON: o->json = optarg; return FV_GO_ON;
    case OPT_CSV: o->csv = optarg; return FV_GO_ON;
    case OPT_TEXT: o->text = true; return FV_GO_ON;
    case OPT_ALL:
        o->view.top = SIZE_MAX;
        o->view.brief = false;
        return FV_GO_ON;
    case OPT_NO_SYMBOLS: o->symbols = false; return FV_GO_ON;
    case OPT_TOP:
        o->view.brief = false;
        return fv_output_number(optarg, 1, &o->view.top) ? FV_GO_ON
                                                         : wrong(optarg, "--top takes a number from 1");
    case OPT_WIDTH:
        return fv_output_number(optarg, 20, &o->view.width) ? FV_GO_ON
                                                            : wrong(optarg, "--width takes a number from 20");
    case OPT_COLOR:
        return fv_output_color(optarg, &o->view.color) ? FV_GO_ON
                                                       : wrong(optarg, "--color takes auto, always or never");
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return FV_UNKNOWN_OPTION;
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "json", required_argument, NULL, OPT_JSON },
        { "csv", required_argument, NULL, OPT_CSV },
        { "text", no_argument, NULL, OPT_TEXT },
        { "top", required_argument, NULL, OPT_TOP },
        { "all", no_argument, NULL, OPT_ALL },
        { "width", required_argument, NULL, OPT_WIDTH },
        { "color", required_argument, NULL, OPT_COLOR },
        { "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "experiment directory" };

    *o = (struct options){ .symbols = true };
    o->view = fv_output_defaults();

    int status = fv_arguments_take(&arguments, argc, argv, o, &o->directory);
    if (status >= 0)
        return status;
    o->text = o->text || (!o->json && !o->csv);
    if (o->json && fv_output_is_recorded(o->json))
        return wrong(o->json, "--json would write over a file of a recorded run; name another");
    if (o->csv && fv_output_holds_run(o->csv))
        return wrong(o->csv,
                     "--csv would put tables among the files of a recorded run; name another directory");
    if (o->text && o->json && !strcmp(o->json, "-"))
        return wrong("--text", "stdout holds the JSON already");
    return FV_GO_ON;
}

static int write_json(const struct fv_view *view, const char *path)
{
    FILE *out = fv_output_open(path);

    return fv_output_close(out, path, out ? fv_view_json(view, out) : -FV_EIO);
}

int fv_cmd_report(int argc, char **argv)
{
    struct fv_symbols symbols;
    struct options options;
    struct fv_model model;
    int status = parse(argc, argv, &options), err = 0;

    if (status >= 0)
        return status;
    if (fv_model_load_analysed(&model, options.directory))
        return FV_EXIT_FAILED;
    fv_symbols_resolve(&symbols, &model, options.symbols);
    fv_sites_merge(&model, &symbols);
    struct fv_view view = { &model, &symbols };
    if (options.csv)
        err = fv_view_csv(&view, options.csv);
    if (!err && options.json)
        err = write_json(&view, options.json);
    if (!err && options.text && (err = fv_view_text(&view, &options.view, stdout)))
        fv_log("stdout: %s; the report is cut", strerror(errno));
    fv_symbols_release(&symbols);
    fv_model_release(&model);
    return err ? FV_EXIT_FAILED : FV_EXIT_OK;
}
