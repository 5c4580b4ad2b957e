/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi live: what the machine counts, in a browser, while it does. */
#include "base/base.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "cmd/watching.h"
#include "live/job.h"
#include "live/live.h"
#include "live/nodes.h"
#include "live/server.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: fvmpi live [DIR] [EVENT...] [options]\n"
    "Shows live charts of what the kernel and the hardware of this machine count, on a page whose address it prints.\n"
    "More events can be chosen on the page; all its readers get the same samples.\n"
    "EVENT is as for `fvmpi stat`; without any, the usual events are shown.\n"
    "The server is for this host only. The second line printed says how to reach it from another host, by ssh.\n"
    "The address contains a token, which allows to read the page, to add labels and to choose events.\n"
    "\n"
    "DIR is the experiment directory of a job that runs or will start: its name has a slash (./exp), or it exists.\n"
    "Then the page also follows the job: the ranks' time in MPI, which rank waits for which now, and what took time so "
    "far.\n"
    "The job does not change. Reading its files takes at most a twentieth of a processor.\n"
    "If it hangs, the page shows where all its threads are, as `fvmpi where` does, which looks at them after 5 s.\n"
    "\n"
    "  -i, --interval S      seconds from sample to sample (0.1; from 0.01 to 60); the page can change it\n"
    "      --per-source      one line for each source\n"
    "      --budget PERCENT  of a processor, for reading sensors (1); expensive ones are read less often\n"
    "      --nodes PATH      show other nodes, too: what `fvmpi record` writes there while this runs;\n"
    "                        PATH is one recording, or a directory of *.jsonl files\n"
    "      --port N          port of the server (default: any free one)\n"
    "  -h, --help            print this help\n"
    "\n"
    "/metrics below the address has the events for Prometheus (OpenMetrics).\n"
    "It also takes the token as \"Authorization: Bearer TOKEN\".\n"
    "The last samples, 6 MiB, are kept; the page can save them as `fvmpi record` does.\n"
    "FVMPI_SENSORS_ROOT: directory that contains /proc and /sys.\n"
    "Exit status: 0 interrupted, 1 failed, 2 wrong usage.\n";

struct live_run {
    struct fv_operands operands;
    bool per_source;
    size_t port;       /* 0: any */
    char *job;         /* an experiment directory; NULL: none */
    const char *nodes; /* where other nodes' recordings come; NULL: nowhere */
    struct fv_live live;
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi live", what, why);
}

/* ---- until it is interrupted ---- */

static volatile sig_atomic_t is_over;

static void end(int signal_number)
{
    (void)signal_number;
    is_over = 1;
}

/* They come while we wait, and to no thread of the server. Who ignores SIGHUP (nohup) means it. */
static void take_signals(sigset_t *open)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction hangup;
    sigset_t ours;

    sigaction(SIGHUP, NULL, &hangup);
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        if (signals[i] == SIGHUP && hangup.sa_handler == SIG_IGN)
            continue;
        sigaddset(&ours, signals[i]);
        sigaction(signals[i], &(struct sigaction){ .sa_handler = end }, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &ours, open);
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        sigdelset(open, signals[i]);
}

/* Once it is to end, what is under way may take a while: a second signal ends that, too. */
static void give_back_signals(const sigset_t *open)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, open, NULL);
}

static void go_on(struct fv_live *live, struct fv_server *server, const sigset_t *open)
{
    while (!is_over) {
        int64_t sample = fv_live_sample(live), tell = fv_server_tell(server);

        fv_live_wait(live, sample < tell ? sample : tell, open);
    }
}

static void say_end(const struct fv_live *live)
{
    double seconds = 1e-9 * (double)(fv_live_now_ns() - live->start_ns);

    fv_log("live: %zu sample%s, %zu late, %zu missed, %.2g %% of a processor", live->samples, fv_words_s(live->samples),
           live->late, live->missed, 100 * fv_live_cpu_s(live) / fmax(seconds, 1e-3));
}

static int serve(struct live_run *r)
{
    struct fv_server *server;
    sigset_t open;
    int status = FV_EXIT_FAILED;

    take_signals(&open);
    if (!fv_live_open(&r->live))
        return status;
    struct fv_nodes *nodes = r->nodes ? fv_nodes_start(&r->live, r->nodes) : NULL;

    if ((!r->nodes || nodes) && (server = fv_server_open(&r->live, (unsigned)r->port))) {
        struct fv_job *job = r->job ? fv_job_start(&r->live, r->job) : NULL;

        fv_web_say_address(fv_server_web(server));
        go_on(&r->live, server, &open);
        give_back_signals(&open);
        fv_job_stop(job);
        fv_server_close(server);
        say_end(&r->live);
        status = FV_EXIT_OK;
    }
    fv_nodes_stop(nodes);
    fv_live_close(&r->live);
    return status;
}

/* ---- the command ---- */

enum { OPT_PER_SOURCE = 256, OPT_BUDGET, OPT_NODES, OPT_PORT };

static int take_number(const char *text, double least, double most, double *out)
{
    char *behind;

    *out = strtod(text, &behind);
    return behind == text || *behind || !(*out >= least && *out <= most) ? -1 : 0;
}

static int take_option(void *options, int option)
{
    struct live_run *r = options;

    switch (option) {
    case 'i':
        return take_number(optarg, FV_LIVE_LEAST_S, FV_LIVE_MOST_S, &r->live.interval_s)
                   ? wrong(optarg, "--interval takes " FV_LIVE_INTERVAL)
                   : FV_GO_ON;
    case OPT_PER_SOURCE: r->per_source = true; return FV_GO_ON;
    case OPT_BUDGET:
        if (take_number(optarg, 1e-4, 100, &r->live.budget))
            return wrong(optarg, "--budget takes a percentage of a processor, up to 100");
        r->live.budget /= 100;
        return FV_GO_ON;
    case OPT_NODES: r->nodes = optarg; return FV_GO_ON;
    case OPT_PORT: return fv_output_port(optarg, &r->port, wrong);
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    default: return FV_UNKNOWN_OPTION;
    }
}

/* Events have no slashes in their names. */
static bool is_directory(const char *operand)
{
    struct stat status;

    return strchr(operand, '/') || (!stat(operand, &status) && S_ISDIR(status.st_mode));
}

static int take_operands(struct live_run *r, char **operands, size_t count)
{
    if (count && is_directory(operands[0])) {
        r->live.job = r->job = operands[0];
        operands++;
        count--;
    }
    r->operands = (struct fv_operands){ operands, count };
    return count && strchr(operands[0], '/') ? wrong(operands[0], "one experiment directory can be followed")
                                             : FV_GO_ON;
}

int fv_cmd_live(int argc, char **argv)
{
    static const struct option table[] = {
        { "interval", required_argument, NULL, 'i' },
        { "per-source", no_argument, NULL, OPT_PER_SOURCE },
        { "budget", required_argument, NULL, OPT_BUDGET },
        { "nodes", required_argument, NULL, OPT_NODES },
        { "port", required_argument, NULL, OPT_PORT },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "i:h", table, take_option, wrong, NULL, false };
    struct live_run r = { .live = { .interval_s = 0.1, .budget = 0.01, .wake = -1 } };
    int status = fv_arguments_take(&arguments, argc, argv, &r, &r.operands);

    if (status != FV_GO_ON)
        return status;
    status = take_operands(&r, argv + optind, (size_t)(argc - optind));
    if (status == FV_GO_ON)
        status = fv_watching_choose(&r.live.watch, &r.operands, r.per_source, "fvmpi live");
    if (status == FV_GO_ON)
        status = serve(&r);
    fv_watch_close(&r.live.watch);
    return status;
}
