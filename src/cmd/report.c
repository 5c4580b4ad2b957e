/* fvmpi report: reads an experiment once, computes its profile once, and shows it as asked. */
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "report/views.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *directory, *json, *csv, *folded, *speedscope;
    bool text, symbols;
    struct fv_source_options source;
    char *old_prefix; /* source.old_prefix, to be freed */
    struct fv_text_options view;
};

static const char usage[] =
    "usage: fvmpi report DIR [options]\n"
    "Says where the MPI time of a recorded run went. DIR is the experiment directory that fvmpi named when\n"
    "the program ran (a single rank file will do). Unless a file is asked for, the report is text on "
    "stdout.\n"
    "\n"
    "  --json FILE    the whole profile as JSON, schema fvmpi-profile-1; - is stdout\n"
    "  --csv DIR      one file for each table\n"
    "  --text         text too, beside files\n"
    "  --source FILE  of a sampled run (fvmpi run --sample): this source file with the CPU time of its "
    "lines,\n"
    "                 on stdout; FILE is the end of its path\n"
    "  --source-path OLD=NEW  source files whose paths begin with OLD are where NEW says\n"
    "  --rank N       with --source: of this rank alone\n"
    "  --folded FILE  of a sampled run: stacks with their samples, one a line, for flame graphs; - is "
    "stdout\n"
    "  --speedscope FILE  the same in the file format of speedscope.app\n"
    "  --top N        rows in each table of the text (10; of section Waiting 3)\n"
    "  --all          all rows\n"
    "  --no-symbols   show call paths as module+offset: quick, and needs none of the program's "
    "files\n" FV_OUTPUT_USAGE "\n"
    "FVMPI_DEBUG_PATH names a directory with debug files by build-id (DIR/.build-id/xx/yyyy.debug), "
    "searched\n"
    "before /usr/lib/debug. Exit status: 0 reported (also if parts are missing, which the report then "
    "says),\n"
    "1 nothing could be reported, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi report", what, why);
}

enum {
    OPT_JSON = 256,
    OPT_CSV,
    OPT_TEXT,
    OPT_NO_SYMBOLS,
    OPT_SOURCE,
    OPT_SOURCE_PATH,
    OPT_RANK,
    OPT_FOLDED,
    OPT_SPEEDSCOPE
};

/* OLD=NEW */
static int take_source_path(struct options *o, const char *argument)
{
    const char *equals = strchr(argument, '=');

    if (!equals || equals == argument)
        return wrong(argument, "--source-path takes OLD=NEW");
    free(o->old_prefix);
    o->old_prefix = strndup(argument, (size_t)(equals - argument));
    o->source.old_prefix = o->old_prefix;
    o->source.new_prefix = equals + 1;
    return FV_GO_ON;
}

static int take_rank(struct options *o, const char *argument)
{
    char *end;
    long rank = strtol(argument, &end, 10);

    if (end == argument || *end || rank < 0 || rank > INT_MAX)
        return wrong(argument, "--rank takes a rank in MPI_COMM_WORLD");
    o->source.rank = rank;
    return FV_GO_ON;
}

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case OPT_JSON: o->json = optarg; return FV_GO_ON;
    case OPT_CSV: o->csv = optarg; return FV_GO_ON;
    case OPT_TEXT: o->text = true; return FV_GO_ON;
    case OPT_SOURCE: o->source.file = optarg; return FV_GO_ON;
    case OPT_SOURCE_PATH: return take_source_path(o, optarg);
    case OPT_RANK: return take_rank(o, optarg);
    case OPT_FOLDED: o->folded = optarg; return FV_GO_ON;
    case OPT_SPEEDSCOPE: o->speedscope = optarg; return FV_GO_ON;
    case OPT_NO_SYMBOLS: o->symbols = false; return FV_GO_ON;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return fv_output_option(option, &o->view, wrong);
}

/* Files that are written, by their options; at most one of them is stdout. */
static int check_files(const struct options *o)
{
    const struct {
        const char *option, *path;
    } files[] = { { "--json", o->json }, { "--folded", o->folded }, { "--speedscope", o->speedscope } };
    const char *on_stdout = o->source.file ? "--source" : o->text ? "--text" : NULL;
    char why[160];

    for (unsigned i = 0; i < sizeof(files) / sizeof(*files); i++) {
        if (files[i].path && fv_output_is_recorded(files[i].path)) {
            snprintf(why, sizeof(why), "%s would write over a file of a recorded run; name another",
                     files[i].option);
            return wrong(files[i].path, why);
        }
        if (!files[i].path || strcmp(files[i].path, "-"))
            continue;
        if (on_stdout) {
            snprintf(why, sizeof(why), "stdout holds what %s writes already", files[i].option);
            return wrong(on_stdout, why);
        }
        on_stdout = files[i].option;
    }
    return FV_GO_ON;
}

static int check(struct options *o)
{
    bool files = o->json || o->csv || o->folded || o->speedscope || o->source.file;

    if (o->source.rank >= 0 && !o->source.file)
        return wrong("--rank", "it goes with --source");
    if (o->source.file && o->text)
        return wrong("--text", "stdout holds what --source writes already");
    o->text = o->text || !files;
    if (o->csv && fv_output_holds_run(o->csv))
        return wrong(o->csv,
                     "--csv would put tables among the files of a recorded run; name another directory");
    return check_files(o);
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "json", required_argument, NULL, OPT_JSON },
        { "csv", required_argument, NULL, OPT_CSV },
        { "text", no_argument, NULL, OPT_TEXT },
        { "source", required_argument, NULL, OPT_SOURCE },
        { "source-path", required_argument, NULL, OPT_SOURCE_PATH },
        { "rank", required_argument, NULL, OPT_RANK },
        { "folded", required_argument, NULL, OPT_FOLDED },
        { "speedscope", required_argument, NULL, OPT_SPEEDSCOPE },
        FV_OUTPUT_OPTIONS,
        { "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "experiment directory" };

    *o = (struct options){ .symbols = true, .source.rank = -1 };
    o->view = fv_output_defaults();

    int status = fv_arguments_take(&arguments, argc, argv, o, &o->directory);
    if (status >= 0)
        return status;
    return check(o);
}

static int write_file(const struct fv_view *view, const char *path, const char *option,
                      int (*write)(const struct fv_view *, FILE *))
{
    FILE *out = path ? fv_output_open(path) : NULL;

    return path ? fv_output_close(out, path, option, out ? write(view, out) : -FV_EIO) : 0;
}

static int write_all(const struct fv_view *view, const struct options *o)
{
    bool samples = o->folded || o->speedscope;
    int err = 0;

    if (samples && !view->model->costs.ticks)
        fv_log("report: no samples in it: %s stays empty; record with fvmpi run --sample",
               o->folded ? "--folded" : "--speedscope");
    if (o->csv)
        err = fv_view_csv(view, o->csv);
    if (!err)
        err = write_file(view, o->json, "--json", fv_view_json);
    if (!err)
        err = write_file(view, o->folded, "--folded", fv_view_folded);
    if (!err)
        err = write_file(view, o->speedscope, "--speedscope", fv_view_speedscope);
    if (!err && o->source.file)
        err = fv_view_source(view, &o->source, &o->view, stdout);
    if (!err && o->text && (err = fv_view_text(view, &o->view, stdout)))
        fv_log("stdout: %s; the report is cut", strerror(errno));
    return err;
}

int fv_cmd_report(int argc, char **argv)
{
    struct fv_symbols symbols;
    struct options options;
    struct fv_model model;
    int status = parse(argc, argv, &options), err;

    if (status < 0 && fv_model_load_analysed(&model, options.directory))
        status = FV_EXIT_FAILED;
    if (status < 0) {
        struct fv_view view = { &model, &symbols };

        fv_symbols_resolve(&symbols, &model, options.symbols);
        fv_sites_merge(&model, &symbols);
        err = write_all(&view, &options);
        status = err ? FV_EXIT_FAILED : FV_EXIT_OK;
        fv_symbols_release(&symbols);
        fv_model_release(&model);
    }
    free(options.old_prefix);
    return status;
}
