/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi where: the call paths of all threads of a job that runs. */
#include "base/base.h"
#include "base/shell.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/errors.h"
#include "cmd/output.h"
#include "experiment/experiment.h"
#include "profile/looks/looking.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const char usage[] =
    "usage: fvmpi where DIR [options]\n"
    "Shows where all threads of a running job are, and what they wait for: call paths of all ranks, those that hold\n"
    "others up first, then all as one tree. DIR is the job's experiment directory.\n"
    "Each process unwinds its threads itself, when a signal asks it. No debugger is needed, and nothing is disturbed:\n"
    "system calls go on. A thread whose system call would fail with EINTR is not interrupted, and the answer says so.\n"
    "Ranks on other hosts are looked at if they run with --hang-after; else their MPI call is shown.\n"
    "\n"
    "  -n, --looks N     look N times, which shows what moves (3; from 1 to 16)\n"
    "  -i, --interval S  seconds from look to look (0.5; from 0.01 to 60)\n"
    "  --json FILE       write everything as JSON, schema fvmpi-where-1; - is stdout\n"
    "  --schema          alone, without DIR: print the JSON Schema of what --json writes\n"
    "  --top N           places that are shown (10)\n"
    "  --all             all places\n" FV_OUTPUT_USAGE "\n"
    "Exit status: 0 shown, 1 failed, or no rank runs, 2 wrong usage.\n";

struct options {
    struct fv_looking looking;
    struct fv_text_options text;
    const char *json;
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi where", what, why);
}

enum { OPT_JSON = 256, OPT_SCHEMA };

static int take_looks(struct options *o, const char *text)
{
    if (!fv_output_number(text, 1, &o->looking.looks) || o->looking.looks > FV_LOOK_MOST)
        return wrong(text, "--looks takes a number from 1 to 16");
    return FV_GO_ON;
}

static int take_interval(struct options *o, const char *text)
{
    char *end;

    o->looking.interval_s = strtod(text, &end);
    if (end == text || *end || !(o->looking.interval_s >= 0.01 && o->looking.interval_s <= 60))
        return wrong(text, "--interval takes seconds from 0.01 to 60");
    return FV_GO_ON;
}

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case 'n': return take_looks(o, optarg);
    case 'i': return take_interval(o, optarg);
    case OPT_JSON: o->json = optarg; return FV_GO_ON;
    case OPT_SCHEMA: return wrong("--schema", "it goes alone: fvmpi where --schema, without DIR and other options");
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return fv_output_option(option, &o->text, wrong);
}

/* Ranks of another host may run: nothing is known of that here. */
static bool may_run(const struct fv_rank *r)
{
    struct utsname own;

    return r->state == FV_RANK_RUNNING || (r->state == FV_RANK_KILLED && !r->signal.number && !r->aborted &&
                                           !uname(&own) && strcmp(r->host, own.nodename) != 0);
}

static bool is_over(const struct fv_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++)
        if (may_run(&m->ranks[i]))
            return false;
    return true;
}

static int write_answer(const struct fv_profile *profile, const struct options *o)
{
    if (o->json)
        return FV_OUTPUT_WRITE(o->json, "--json", fv_view_where_json, profile);
    int err = fv_view_where(profile, &o->text, stdout);
    if (err)
        fv_log("stdout: %s; the answer is cut", strerror(errno));
    return err;
}

/* `any`: there are rank files that this host sees. */
static int show(const struct options *o, bool any)
{
    const struct fv_profile_options options = { .seen = &o->looking.seen };
    struct fv_experiment_places places;
    struct fv_profile *profile = NULL;

    fv_experiment_places(&places, o->looking.directory);
    if (places.elsewhere[0])
        fv_log("%s: ranks on %s write to their nodes' own disks (--local); to see them, run fvmpi where there",
               o->looking.directory, places.elsewhere);
    int err = !any && places.elsewhere[0]
                  ? -FV_ENOENT
                  : fv_profile_open((char *const[]){ (char *)(uintptr_t)o->looking.directory }, 1, &options, &profile);
    fv_experiment_places_release(&places);
    if (!err && is_over(profile->model)) {
        fv_log("%s: no rank of it runs: they have ended; see %s", o->looking.directory,
               FV_COMMAND("fvmpi", "report", o->looking.directory));
        err = -FV_ENOENT;
    }
    if (!err)
        err = write_answer(profile, o);
    fv_profile_close(profile);
    return err;
}

static int look(struct options *o)
{
    int err = fv_looking_look(&o->looking);

    if (!err || err == -FV_ENOENT) /* which is said there */
        err = show(o, !err);
    else
        fv_experiment_say_unreadable(o->looking.directory);
    fv_looking_release(&o->looking);
    return fv_exit_status(err);
}

int fv_cmd_where(int argc, char **argv)
{
    static const struct option table[] = { { "looks", required_argument, NULL, 'n' },
                                           { "interval", required_argument, NULL, 'i' },
                                           { "json", required_argument, NULL, OPT_JSON },
                                           { "schema", no_argument, NULL, OPT_SCHEMA },
                                           FV_OUTPUT_OPTIONS,
                                           { "help", no_argument, NULL, 'h' },
                                           { 0 } };
    static const struct fv_arguments arguments = { "n:i:h", table, take_option, wrong, "experiment directory", true };
    struct options o = { .looking = { .looks = 3, .interval_s = 0.5 }, .text = fv_output_defaults(stdout) };
    struct fv_operands operands;

    if (argc == 2 && !strcmp(argv[1], "--schema"))
        return fv_exit_status(fv_view_where_schema(stdout));
    int status = fv_arguments_take(&arguments, argc, argv, &o, &operands);
    if (status != FV_GO_ON)
        return status;
    o.looking.directory = operands.items[0];
    const struct fv_output_file files[] = { { "--json", o.json } };
    status = fv_output_check(files, 1, NULL, wrong);
    return status == FV_GO_ON ? look(&o) : status;
}
