/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi view: a trace in a browser. What it shows is made once, by fvunify, of rank files or of an archive, and kept
 * beside them. */
#include "base/base.h"
#include "base/options.h"
#include "cmd/arguments.h"
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/timelines.h"
#include "tool/vec.h"
#include "viewer/viewer.h"
#include "web/browser.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: fvmpi view DIR|ARCHIVE.otf2 [DIR|ARCHIVE.otf2] [options]\n"
    "Shows the trace of a run of `fvmpi run --trace`, or an OTF2 archive of any tool, on a page whose address it "
    "prints.\n"
    "All calls and functions of all ranks are there, at any zoom. Nothing of the trace is changed.\n"
    "Two traces are compared: one below the other, with the differences of their functions.\n"
    "What the page needs is made once and kept: DIR/.fvmpi-view, ARCHIVE.fvmpi/.fvmpi-view, or the user's cache.\n"
    "Until then, the page of a large trace shows the first part of each process.\n"
    "Where there is a desktop, the browser is opened.\n"
    "The server is for this host only. The second line printed says how to reach it from another host, by ssh.\n"
    "The address contains a token, which allows to read the page.\n"
    "\n"
    "      --index-max N  bytes that the page's file may take, or with K, M, G, from 1M; then it leaves out short "
    "calls\n"
    "      --no-browser   print the address alone\n"
    "      --port N       port of the server (default: any free one)\n"
    "  -h, --help         print this help\n"
    "\n"
    "Exit status: 0 interrupted, 1 failed, 2 wrong usage.\n";

enum { STRANGERS_S = 5, LOOKS_S = 1 }; /* how often connections without the token are looked for; wishes of the page */

struct viewed {
    const char *trace;
    struct fv_trace_timeline **timelines; /* the last one is shown; those before it may be in use */
    size_t count, room;
    struct fv_trace_timeline *next; /* is being made; NULL: none is */
};
struct view_run {
    struct fv_operands operands;
    size_t port; /* 0: any */
    bool no_browser;
    uint64_t most_bytes; /* of an index; 0: any number */
    struct viewed traces[FV_VIEWER_TRACES];
    size_t count;
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi view", what, why);
}

/* ---- what is shown ---- */

/* What is not in the file is said here, and on the page. */
static void tell_left_out(const struct fv_trace_timeline *t)
{
    const struct fv_timeline_header *h = t->timeline.header;

    if (h->left_out.slices)
        fv_log("%s: --index-max: %llu calls are not in the index, all shorter than %.4g us", t->trace,
               (unsigned long long)h->left_out.slices, (double)h->left_out.least_ns / 1e3);
    if (h->left_out.messages)
        fv_log("%s: --index-max: its %llu messages are not in the index", t->trace,
               (unsigned long long)h->left_out.messages);
    if (h->left_out.members)
        fv_log("%s: --index-max: its %llu calls of collective operations are not put together", t->trace,
               (unsigned long long)h->left_out.members);
    if (h->left_out.io)
        fv_log("%s: --index-max: its %llu operations on files are not in the index", t->trace,
               (unsigned long long)h->left_out.io);
    if (h->left_out.critical)
        fv_log("%s: --index-max: the critical path is not in the index", t->trace);
    if (h->left_out.series)
        fv_log("%s: --index-max: %llu series of values are not in the index", t->trace,
               (unsigned long long)h->left_out.series);
    if (t->most_bytes && h->file_bytes > t->most_bytes)
        fv_log("%s: --index-max: the index takes %llu bytes at least", t->trace, (unsigned long long)h->file_bytes);
}

/* The latest from now on. */
static void add(struct viewed *r, struct fv_trace_timeline *t)
{
    if (!t->is_head)
        tell_left_out(t);
    FV_GROW(r->timelines, r->room, r->count + 1);
    r->timelines[r->count++] = t;
}

static void forget_next(struct viewed *r)
{
    if (r->next)
        fv_trace_timeline_close(r->next);
    free(r->next);
    r->next = NULL;
}

/* False: it cannot be begun, which was said. */
static bool begin_next(struct viewed *r, uint64_t most_bytes)
{
    r->next = fv_xcalloc(1, sizeof(*r->next));
    if (fv_trace_timeline_begin(r->next, r->trace, most_bytes))
        return true;
    forget_next(r);
    return false;
}

static bool open_trace(struct viewed *r, uint64_t most_bytes)
{
    struct fv_trace_timeline *t = fv_xcalloc(1, sizeof(*t));

    if (!fv_trace_timeline_open_soon(t, r->trace, most_bytes)) {
        free(t);
        return false;
    }
    add(r, t);
    return !t->is_head || begin_next(r, most_bytes);
}

static const struct fv_trace_timeline *latest(const struct viewed *r)
{
    return r->timelines[r->count - 1];
}

static void close_trace(struct viewed *r)
{
    forget_next(r);
    while (r->count) {
        fv_trace_timeline_close(r->timelines[--r->count]);
        free(r->timelines[r->count]);
    }
    free(r->timelines);
}

/* ---- until it is interrupted ---- */

static struct fv_viewer_trace shown(const struct viewed *r)
{
    const struct fv_trace_timeline *t = latest(r);

    return (struct fv_viewer_trace){ &t->timeline, t->trace, t->place, t->is_head };
}

/* A trace that is still written is shown as far as it was when somebody asked for it. */
static void renew(struct viewed *r, uint64_t most_bytes)
{
    if (!r->next && fv_trace_timeline_is_old(latest(r)))
        begin_next(r, most_bytes);
}

static void look_at_next(struct view_run *r, struct fv_viewer *viewer, size_t i)
{
    struct viewed *v = &r->traces[i];

    if (!fv_trace_timeline_is_made(v->next)) {
        fv_viewer_tell_progress(viewer, i, v->next->percent);
        return;
    }
    if (!fv_trace_timeline_open_made(v->next)) {
        fv_viewer_tell_failure(viewer, i);
        forget_next(v);
        return;
    }
    add(v, v->next);
    v->next = NULL;
    const struct fv_viewer_trace with = shown(v);
    fv_viewer_renew(viewer, i, &with);
}

static void look(struct view_run *r, struct fv_viewer *viewer, unsigned seconds)
{
    const bool is_asked = fv_viewer_is_asked(viewer);

    for (size_t i = 0; i < r->count; i++) {
        if (is_asked)
            renew(&r->traces[i], r->most_bytes);
        if (r->traces[i].next)
            look_at_next(r, viewer, i);
    }
    if (seconds % STRANGERS_S)
        return;
    fv_web_close_strangers(fv_viewer_web(viewer));
    for (size_t i = 0; i < r->count; i++)
        if (!r->traces[i].next && fv_trace_timeline_is_old(latest(&r->traces[i])))
            fv_viewer_tell_more(viewer, i);
}

static int serve(struct view_run *r)
{
    const struct timespec looks = { .tv_sec = LOOKS_S };
    struct fv_viewer_trace traces[FV_VIEWER_TRACES];
    struct fv_browser browser = { 0 };
    struct fv_viewer *viewer;
    sigset_t ends;

    for (size_t i = 0; i < r->count; i++)
        traces[i] = shown(&r->traces[i]);
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, NULL); /* for the server's threads as well */
    signal(SIGPIPE, SIG_IGN);
    viewer = fv_viewer_open(traces, r->count, (unsigned)r->port);
    if (!viewer)
        return FV_EXIT_FAILED;
    fv_web_say_address(fv_viewer_web(viewer));
    if (!r->no_browser)
        fv_browser_open(&browser, fv_web_port(fv_viewer_web(viewer)), fv_web_token(fv_viewer_web(viewer)));
    for (unsigned seconds = LOOKS_S; !fv_spawn_is_to_end() && sigtimedwait(&ends, NULL, &looks) < 0; seconds += LOOKS_S)
        look(r, viewer, seconds);
    fv_browser_close(&browser);
    fv_viewer_close(viewer);
    return FV_EXIT_OK;
}

static int view(struct view_run *r)
{
    size_t open = 0;
    int status = FV_EXIT_FAILED;

    while (open < r->count && open_trace(&r->traces[open], r->most_bytes))
        open++;
    if (fv_spawn_is_to_end())
        status = FV_EXIT_OK;
    else if (open == r->count)
        status = serve(r);
    for (size_t i = 0; i < r->count; i++)
        close_trace(&r->traces[i]);
    return status;
}

/* ---- the command ---- */

enum { OPT_PORT = 256, OPT_INDEX_MAX, OPT_NO_BROWSER, INDEX_LEAST = 1 << 20 };

static int take_option(void *options, int option)
{
    struct view_run *r = options;

    switch (option) {
    case OPT_INDEX_MAX:
        return fv_parse_size(optarg, &r->most_bytes) || r->most_bytes < INDEX_LEAST
                   ? wrong(optarg, "--index-max takes a size from 1M, like 512M")
                   : FV_GO_ON;
    case OPT_NO_BROWSER: r->no_browser = true; return FV_GO_ON;
    case OPT_PORT: return fv_output_port(optarg, &r->port, wrong);
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    default: return FV_UNKNOWN_OPTION;
    }
}

int fv_cmd_view(int argc, char **argv)
{
    static const struct option table[] = {
        { "index-max", required_argument, NULL, OPT_INDEX_MAX },
        { "no-browser", no_argument, NULL, OPT_NO_BROWSER },
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
    if (r.operands.count > FV_VIEWER_TRACES)
        return wrong(r.operands.items[FV_VIEWER_TRACES], "two traces at most are compared");
    for (; r.count < r.operands.count; r.count++)
        r.traces[r.count].trace = r.operands.items[r.count];
    return view(&r);
}
