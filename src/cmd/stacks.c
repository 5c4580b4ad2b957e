/* fvmpi stacks: what waiting takes from the speedup of threads, phase by phase. */
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
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
};

static const char usage[] =
    "usage: fvmpi stacks DIR... [options]\n"
    "Speedup stacks of the phases of a run under fvmpi run --threads, in which threads work in parallel, "
    "from their\n"
    "creation to their join, or in a parallel region of OpenMP: how much of the speedup of N threads waiting "
    "for locks,\n"
    "barriers and conditions takes.\n"
    "\n"
    "  --t1 SECONDS   what the phase takes with one thread (all its times on a rank): then the speedup is "
    "known,\n"
    "                 else bounds of it are shown\n"
    "  --phase N      this phase only\n"
    "  --top N        phases (10)\n"
    "  --all          all phases\n" FV_OUTPUT_USAGE "\n"
    "The components for cache and memory are not measured. Exit status: 0 shown, 1 nothing to show, or T1 "
    "does not "
    "fit\n"
    "the phase, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi stacks", what, why);
}

enum { OPT_T1 = 256, OPT_PHASE };

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
        return fv_output_number(optarg, 1, &o->view.phase) ? FV_GO_ON
                                                           : wrong(optarg, "--phase takes a number from 1");
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return fv_output_option(option, &o->view.text, wrong);
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "t1", required_argument, NULL, OPT_T1 },
        { "phase", required_argument, NULL, OPT_PHASE },
        FV_OUTPUT_OPTIONS,
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "experiment directory", false };

    *o = (struct options){ .view.text = fv_output_defaults() };
    return fv_arguments_take(&arguments, argc, argv, o, &o->directories);
}

/* T1 is one phase's: the others must not be judged by it. */
static int check(const struct fv_model *m, struct options *o)
{
    size_t parallel = 0, only = 0;

    for (size_t i = 0; i < m->phases.count; i++)
        if (m->phases.items[i].sums.threads_max > 1) {
            parallel++;
            only = i + 1;
        }
    if (o->view.phase > m->phases.count) {
        fv_log("stacks: --phase %zu: there %s %zu phase%s; fvmpi stacks %s lists them", o->view.phase,
               m->phases.count == 1 ? "is" : "are", m->phases.count, fv_words_s(m->phases.count),
               o->directories.items[0]);
        return FV_EXIT_USAGE;
    }
    if (!parallel && !o->view.phase) {
        fv_log("stacks: %s: no threads that work in parallel were recorded%s", o->directories.items[0],
               m->locks.recorded ? "" : "; run the program with fvmpi run --threads");
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
    return err ? FV_EXIT_FAILED : FV_EXIT_OK;
}

int fv_cmd_stacks(int argc, char **argv)
{
    struct fv_profile *profile;
    struct options options;
    int status = parse(argc, argv, &options);

    if (status >= 0)
        return status;
    if (fv_profile_open(options.directories.items, options.directories.count, &(struct fv_profile_options){ 0 }, &profile))
        return FV_EXIT_FAILED;
    status = check(profile->model, &options);
    if (status < 0)
        status = show(&options, profile);
    fv_profile_close(profile);
    return status;
}
