/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi view: a trace in a browser. What it shows is made once, by fvunify, of rank files or of an archive, and kept
 * beside them. */
#include "base/base.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/timelines.h"
#include "viewer/viewer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: fvmpi view DIR|ARCHIVE.otf2 [options]\n"
    "Shows the trace of a run of `fvmpi run --trace`, or an OTF2 archive of any tool, on a page whose address it "
    "prints.\n"
    "All calls and functions of all ranks are there, at any zoom. Nothing of the trace is changed.\n"
    "What the page needs is made once and kept: DIR/.fvmpi-view, ARCHIVE.fvmpi/.fvmpi-view, or the user's cache.\n"
    "The server is for this host only. The printed line says how to reach it from another host, by ssh.\n"
    "The address contains a token, which allows to read the page.\n"
    "\n"
    "      --port N  port of the server (default: any free one)\n"
    "  -h, --help    print this help\n"
    "\n"
    "Exit status: 0 interrupted, 1 failed, 2 wrong usage.\n";

enum { STRANGERS_S = 5 }; /* how often connections without the token are looked for */

struct view_run {
    struct fv_operands operands;
    size_t port; /* 0: any */
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi view", what, why);
}

/* ---- until it is interrupted ---- */

static int serve(const struct view_run *r, const struct fv_trace_timeline *t)
{
    const struct timespec strangers = { .tv_sec = STRANGERS_S };
    struct fv_viewer *viewer;
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, NULL); /* for the server's threads as well */
    signal(SIGPIPE, SIG_IGN);
    viewer = fv_viewer_open(&t->timeline, t->trace, t->place, (unsigned)r->port);
    if (!viewer)
        return FV_EXIT_FAILED;
    fv_web_say_address(fv_viewer_web(viewer));
    while (sigtimedwait(&ends, NULL, &strangers) < 0)
        fv_web_close_strangers(fv_viewer_web(viewer));
    fv_viewer_close(viewer);
    return FV_EXIT_OK;
}

static int view(const struct view_run *r)
{
    struct fv_trace_timeline t;
    int status = FV_EXIT_FAILED;

    if (fv_trace_timeline_open(&t, r->operands.items[0])) {
        status = serve(r, &t);
        fv_trace_timeline_close(&t);
    }
    return status;
}

/* ---- the command ---- */

enum { OPT_PORT = 256 };

static int take_option(void *options, int option)
{
    struct view_run *r = options;

    switch (option) {
    case OPT_PORT: return fv_output_port(optarg, &r->port, wrong);
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    default: return FV_UNKNOWN_OPTION;
    }
}

int fv_cmd_view(int argc, char **argv)
{
    static const struct option table[] = {
        { "port", required_argument, NULL, OPT_PORT },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "h",  table, take_option, wrong, "experiment directory or archive",
                                                   false };
    struct view_run r = { 0 };
    int status = fv_arguments_take(&arguments, argc, argv, &r, &r.operands);

    if (status != FV_GO_ON)
        return status;
    if (r.operands.count > 1)
        return wrong(r.operands.items[1], "one trace is shown at a time");
    return view(&r);
}
