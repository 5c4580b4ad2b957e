/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi stacks: what takes the speedup of threads, phase by phase, and the throughput of copies and ranks. */
#include "cmd/arguments.h"
#include "cmd/choice.h"
#include "base/shell.h"
#include "cmd/cmd.h"
#include "cmd/errors.h"
#include "cmd/output.h"
#include "cmd/stacks.h"
#include "scaling/speedup_relations.h"
#include "tool/words.h"
#include "views/views.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct fv_operands directories;
    struct fv_stacks_options view;
    const char *json, *csv, *page; /* of several runs */
    bool text;
    struct fv_choice choice;
};

static const char usage[] =
    "usage: fvmpi stacks DIR [options]\n"
    "       fvmpi stacks DIR DIR... [options]\n"
    "Says what limits the speedup of threads, from runs of `fvmpi run --threads`. It looks at phases in which threads "
    "work\n"
    "in parallel: from their creation to their join, or in a parallel region of OpenMP.\n"
    "\n"
    "One run: how much of the speedup of N threads is lost to waiting for locks, barriers and conditions.\n"
    "  --t1 SECONDS   time of the phase with one thread (all its times on a rank): the speedup is then known.\n"
    "                 Without it, bounds are shown\n"
    "  --phase N      this phase only\n"
    "\n"
    "Runs with 1, 2, 4, ... threads: the speedup by number of threads, of the whole program and of each phase.\n"
    "Also what takes the rest: serial time, waits, imbalance, few processors, and work that takes threads longer.\n"
    "If several runs have one number of threads, the shortest counts.\n"
    "  --json FILE    write everything as JSON, schema fvmpi-stacks-1; - is stdout\n"
    "  --csv DIR      write one file for each table\n"
    "  --html FILE    write a page for a browser, in one file that needs nothing else; - is stdout\n"
    "  --schema       alone: print the JSON Schema of what --json writes\n"
    "  --text         print the text, too, beside files\n"
    "\n"
    "Runs of `fvmpi run --throughput`: what sharing caches and memory of a node costs copies of a program, or its "
    "ranks.\n"
    "\n"
    "  --top N        phases, ranks or copies (10)\n"
    "  --all          all of them\n" FV_CHOICE_USAGE("stacks are") FV_OUTPUT_USAGE
    "\n"
    "Runs of `fvmpi run --stacks --solo` separate cache from memory.\n"
    "Exit status: 0 shown, 1 nothing to show, or T1 does not fit the phase, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi stacks", what, why);
}

enum { OPT_T1 = 256, OPT_PHASE, OPT_JSON, OPT_CSV, OPT_HTML, OPT_TEXT, OPT_SCHEMA };

static int print_schema(void)
{
    if (!fv_json_schema(FV_STACKS_SCHEMA, "What fvmpi stacks DIR DIR... --json FILE writes", fv_speedup_relations,
                        stdout))
        return FV_EXIT_OK;
    fv_log("stdout: %s; the schema is cut", strerror(errno));
    return FV_EXIT_FAILED;
}

static int take_t1(struct options *o, const char *argument)
{
    char *end;

    o->view.t1_s = strtod(argument, &end);
    return end == argument || *end || !isfinite(o->view.t1_s) || o->view.t1_s <= 0
               ? wrong(argument, "--t1 takes seconds, more than 0")
               : FV_GO_ON;
}

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case OPT_T1: return take_t1(o, optarg);
    case OPT_PHASE:
        return fv_output_number(optarg, 1, &o->view.phase) ? FV_GO_ON : wrong(optarg, "--phase takes a number from 1");
    case OPT_JSON: o->json = optarg; return FV_GO_ON;
    case OPT_CSV: o->csv = optarg; return FV_GO_ON;
    case OPT_HTML: o->page = optarg; return FV_GO_ON;
    case OPT_TEXT: o->text = true; return FV_GO_ON;
    case OPT_SCHEMA: return print_schema();
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    int status = fv_choice_option(option, &o->choice, wrong);

    return status == FV_UNKNOWN_OPTION ? fv_output_option(option, &o->view.text, wrong) : status;
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "t1", required_argument, NULL, OPT_T1 },
        { "phase", required_argument, NULL, OPT_PHASE },
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
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "experiment directory", false };

    *o = (struct options){ .view.text = fv_output_defaults(stdout) };
    return fv_arguments_take(&arguments, argc, argv, o, &o->directories);
}

/* T1 is one phase's: the others must not be judged by it. */
static int check(const struct fv_model *m, struct options *o)
{
    size_t parallel = 0, only = 0;

    for (size_t i = 0; i < fv_model_phases(m)->count; i++)
        if (fv_model_phases(m)->items[i].sums.threads_max > 1) {
            parallel++;
            only = i + 1;
        }
    if (fv_model_phases(m)->alone.is) {
        fv_log("stacks: %s: its threads or ranks ran one at a time; name it together with the runs in which all ran",
               o->directories.items[0]);
        return FV_EXIT_FAILED;
    }
    if (o->view.phase > fv_model_phases(m)->count) {
        fv_log("stacks: --phase %zu: there %s %zu phase%s; %s lists them", o->view.phase,
               fv_model_phases(m)->count == 1 ? "is" : "are", fv_model_phases(m)->count,
               fv_words_s(fv_model_phases(m)->count), FV_COMMAND("fvmpi", "stacks", o->directories.items[0]));
        return FV_EXIT_USAGE;
    }
    if (!parallel && !o->view.phase) {
        fv_log("stacks: %s: no threads that work in parallel were recorded%s", o->directories.items[0],
               fv_model_locks(m)->recorded ? "" : "; run the program with fvmpi run --threads");
        return FV_EXIT_FAILED;
    }
    if (o->view.t1_s > 0 && !o->view.phase && parallel > 1)
        return wrong("--t1", "there are several phases: name one with --phase N");
    if (o->view.t1_s > 0 && !o->view.phase)
        o->view.phase = only;
    return FV_GO_ON;
}

static int show(const struct options *o, const struct fv_profile *profile)
{
    int err = fv_view_stacks(profile, &o->view, stdout);

    if (err == -FV_EIO)
        fv_log("stdout: %s; the stacks are cut", strerror(errno));
    return fv_exit_status(err);
}

/* ---- several runs ---- */

/* Each has a rank 0; of a run whose rank files are in several directories one of these has it. */
static bool are_runs(const struct fv_operands *directories)
{
    size_t first_ranks = 0;

    for (size_t i = 0; i < directories->count; i++) {
        struct fv_rank_files files;
        bool has_first = false;

        if (!fv_rank_files_list(&files, directories->items[i]))
            for (size_t k = 0; k < files.count && !has_first; k++)
                has_first = strstr(files.paths[k], "rank-000000.fvr");
        fv_rank_files_release(&files);
        first_ranks += has_first;
    }
    return first_ranks > 1;
}

static int check_several(struct options *o)
{
    const struct fv_output_file files[] = { { "--json", o->json }, { "--html", o->page } };

    if (o->view.t1_s > 0 || o->view.phase)
        return wrong(o->view.phase ? "--phase" : "--t1",
                     "it goes with one run; among several, T1 comes from the run with one thread");
    o->text = o->text || (!o->json && !o->csv && !o->page);
    if (o->csv && fv_output_holds_run(o->csv))
        return wrong(o->csv, "--csv would write into the directory of a recorded run; name another directory");
    return fv_output_check(files, 2, o->text ? "--text" : NULL, wrong);
}

static int compare(struct options *o)
{
    struct fv_speedup speedup = { 0 };
    int status = check_several(o), err = 0;

    if (status >= 0)
        return status;
    for (size_t i = 0; i < o->directories.count && !err; i++)
        err = fv_speedup_load(&speedup, o->directories.items[i], &o->choice);
    if (!err)
        err = fv_speedup_compute(&speedup);
    if (!err)
        err = FV_OUTPUT_WRITE(o->json, "--json", fv_speedup_json, &speedup);
    if (!err)
        err = FV_OUTPUT_WRITE(o->page, "--html", fv_speedup_page, &speedup);
    if (!err && o->csv)
        err = fv_speedup_csv(&speedup, o->csv);
    if (!err && o->text && (err = fv_speedup_text(&speedup, &o->view.text, stdout)))
        fv_log("stdout: %s; the stacks are cut", strerror(errno));
    fv_speedup_release(&speedup);
    return fv_exit_status(err);
}

/* ---- runs of fvmpi run --stacks ---- */

static bool has_threads(const struct fv_speedup *speedup)
{
    for (size_t i = 0; i < speedup->run_count; i++)
        if (speedup->runs[i].threads > 1)
            return true;
    fv_log("stacks: no threads that work in parallel were recorded");
    return false;
}

/* Who asks for four threads and gets two should know it before he reads the graph. */
static void say_others(const struct fv_speedup *speedup, const size_t *asked, bool is_replaced)
{
    for (size_t i = 0; i < speedup->run_count; i++)
        if (speedup->runs[i].threads != asked[i]) {
            fv_log("stacks: %zu thread%s asked for, %zu worked in parallel: %s", asked[i],
                   asked[i] == 1 ? " was" : "s were", speedup->runs[i].threads,
                   is_replaced
                       ? "the program chose so"
                       : "if the program does not read OMP_NUM_THREADS, write {N} for the number in its arguments");
            return;
        }
}

/* `asked` NULL: these are no numbers of threads. */
static int load_and_show(const struct fv_operands *directories, const size_t *asked, bool is_replaced, FILE *out)
{
    struct fv_speedup speedup = { 0 };
    struct fv_text_options view = fv_output_defaults(stdout);
    int err = 0;

    for (size_t i = 0; i < directories->count && !err; i++)
        err = fv_speedup_load(&speedup, directories->items[i], NULL);
    if (!err && asked && !has_threads(&speedup))
        err = -FV_EFORMAT;
    if (!err && asked)
        say_others(&speedup, asked, is_replaced);
    if (!err)
        err = fv_speedup_compute(&speedup);
    if (!err && out && (err = fv_speedup_text(&speedup, &view, out)))
        fv_log("stacks: %s; they are cut", strerror(errno));
    fv_speedup_release(&speedup);
    return fv_exit_status(err);
}

int fv_stacks_of_runs(const struct fv_operands *directories, const size_t *asked, bool is_replaced, FILE *out)
{
    return load_and_show(directories, asked, is_replaced, out);
}

int fv_stacks_of_copies(const struct fv_operands *directories, FILE *out)
{
    return load_and_show(directories, NULL, false, out);
}

static int show_one(struct options *o)
{
    struct fv_profile *profile;

    if (o->json || o->csv || o->page || o->text)
        return wrong(o->json   ? "--json"
                     : o->csv  ? "--csv"
                     : o->page ? "--html"
                               : "--text",
                     "it needs runs with several numbers of threads; for one run use fvmpi report");
    if (fv_profile_open(o->directories.items, o->directories.count,
                        &(struct fv_profile_options){ .choice = &o->choice }, &profile))
        return FV_EXIT_FAILED;
    if (profile->model->passed_by)
        fv_log("stacks: %s: the files of %zu of %d ranks were read: phases are of these", o->directories.items[0],
               profile->model->rank_count, profile->model->world_size);
    int status = check(profile->model, o);
    if (status < 0)
        status = show(o, profile);
    fv_profile_close(profile);
    return status;
}

int fv_cmd_stacks(int argc, char **argv)
{
    struct options options;
    int status = parse(argc, argv, &options);

    if (status < 0)
        status = are_runs(&options.directories) ? compare(&options) : show_one(&options);
    fv_choice_release(&options.choice);
    return status;
}
