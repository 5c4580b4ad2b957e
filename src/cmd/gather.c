/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi gather: moves what a job has left in node-local directories to its experiment, on the host where it is run. */
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/stage.h"
#include "base/local.h"
#include "experiment/experiment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: fvmpi gather [options] DIR...\n"
    "Moves rank files that a job left on this host's own disks (`fvmpi run --local`) to their experiment.\n"
    "DIR is the experiment directory, or the directory that --local named. Files of running processes are not moved.\n"
    "If there are several hosts, run it on each: mpiexec -ppn 1 -n HOSTS fvmpi gather DIR\n"
    "\n"
    "      --container  put them into one file for this host, as fvmpi run --container does\n"
    "  -q, --quiet      print only what could not be moved\n"
    "  -h, --help       print this help\n"
    "\n"
    "Exit status: 0 nothing is left on this host, 1 something is left, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi gather", what, why);
}

struct options {
    bool quiet;
    struct fv_stage_wish wish;
};

enum { OPT_CONTAINER = 256 };

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case OPT_CONTAINER: o->wish.container = true; return FV_GO_ON;
    case 'q': o->quiet = true; return FV_GO_ON;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return FV_UNKNOWN_OPTION;
}

static bool is_local(const char *path)
{
    char name[PATH_MAX];
    struct stat st;

    return snprintf(name, sizeof(name), "%s/" FV_LOCAL_EXPERIMENT, path) < (int)sizeof(name) && !lstat(name, &st);
}

static bool gather(const char *path, const struct options *o)
{
    struct fv_stage_counts staged = { 0 };
    struct stat st;

    if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
        fv_log("gather: %s: %s; give the experiment directory", path, strerror(S_ISREG(st.st_mode) ? ENOTDIR : errno));
        return false;
    }
    bool good = is_local(path)              ? fv_stage(path, NULL, &o->wish, &staged)
                : fv_output_holds_run(path) ? fv_stage_noted(path, &o->wish, &staged)
                                            : fv_stage_all(path, &o->wish, &staged);
    if (staged.running)
        fv_log("%s: %zu rank file%s not moved: the process still runs; gather again when it has ended", path,
               staged.running, staged.running == 1 ? " is" : "s are");
    if (!o->quiet)
        fv_log("%s: %zu rank file%s moved", path, staged.moved, staged.moved == 1 ? "" : "s");
    char *elsewhere = good && !staged.running ? fv_experiment_elsewhere(path, false) : NULL;
    if (elsewhere && !o->quiet)
        fv_log("%s: %s", path, elsewhere);
    free(elsewhere);
    return good && !staged.running;
}

int fv_cmd_gather(int argc, char **argv)
{
    static const struct option table[] = {
        { "container", no_argument, NULL, OPT_CONTAINER },
        { "quiet", no_argument, NULL, 'q' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "qh", table, take_option, wrong, NULL, false };
    struct options options = { 0 };
    bool good = true;

    int status = fv_arguments_take(&arguments, argc, argv, &options, NULL);
    if (status >= 0)
        return status;
    if (optind == argc)
        return wrong("no experiment directory", "one is needed");
    for (int i = optind; i < argc; i++)
        good = gather(argv[i], &options) && good;
    return good ? FV_EXIT_OK : FV_EXIT_FAILED;
}
