/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi stat: what the machine counts meanwhile, a line a sample. */
#include "cmd/arguments.h"
#include "base/now.h"
#include "cmd/cmd.h"
#include "cmd/columns.h"
#include "cmd/output.h"
#include "cmd/stat_list.h"
#include "cmd/stat_recording.h"
#include "cmd/watching.h"
#include "sensors/watch.h"
#include "tool/vec.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: fvmpi stat [EVENT...] [options]\n"
    "Prints what the kernel and the hardware of this machine count, one line per sample.\n"
    "A counter is shown as its count per second, a gauge as it is.\n"
    "EVENT is SENSOR.NAME, for all sources together (the sum; for temperatures, clocks and percentages the mean),\n"
    "or SENSOR.NAME@SOURCE.\n"
    "A star matches anything. SENSOR alone means all its events: cpu.user, net.rx_bytes@eth0, 'vmstat.pg*', pressure.\n"
    "Without EVENT, the usual events are shown.\n"
    "\n"
    "  -i, --interval S  seconds from sample to sample (1; at least 0.001)\n"
    "  -n, --count N     end after N samples (default: when interrupted)\n"
    "      --per-source  one column for each source\n"
    "      --share       percent of the maximum, where the machine reports it: links, clocks, processors\n"
    "      --csv         write CSV: time_s (from the start), late_s (how late the sample is), then the events by full "
    "names\n"
    "      --from FILE   print a file of `fvmpi record`, with its labels and pauses (in CSV: the last column, "
    "`label`)\n"
    "      --summary     with --from: mean, minimum, median, 99th percentile and maximum of each series\n"
    "  -l, --list        list this machine's events with their units and what they count, the cost of reading each "
    "sensor,\n"
    "                    and missing sensors\n"
    "      --glossary    explain the events of all sensors, also of those that this machine does not have\n"
    "  -h, --help        print this help\n"
    "\n"
    "An unknown value is `-`, in CSV empty. FVMPI_SENSORS_ROOT: directory that contains /proc and /sys.\n"
    "Exit status: 0 ended or interrupted, 1 not on this machine, 2 wrong usage.\n";

struct stat_run {
    struct fv_operands operands;
    double interval_s;
    size_t count; /* 0: without end */
    bool has_interval, per_source, share, csv, list, summary;
    const char *from; /* a recording; NULL: this machine */
    struct fv_watch watch;
    double *factors; /* of each series, from its rate to what is shown; NULL: 1 */
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi stat", what, why);
}

/* ---- sampling ---- */

static volatile sig_atomic_t is_over;

static void end(int signal)
{
    (void)signal;
    is_over = 1;
}

static void wait_until(double at)
{
    const struct timespec t = { (time_t)at, (long)(1e9 * (at - floor(at))) };

    while (!is_over && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* ---- output ---- */

enum { HEADING_EACH = 24 };

static void put_sample(const struct stat_run *s, const struct fv_columns *columns, double *values, double since_s,
                       double late_s)
{
    for (size_t i = 0; i < s->watch.count; i++)
        values[i] = fv_watch_rate(&s->watch, i) * (s->factors ? s->factors[i] : 1);
    fv_columns_sample(columns, since_s, late_s, values);
    fflush(stdout);
}

/* A processor's tenth for reading is more than most want to give. */
static void warn_of_cost(const struct stat_run *s)
{
    double cost = fv_watch_cost(&s->watch);

    if (cost > 0.1 * s->interval_s)
        fv_log("stat: reading these takes %.2g ms, %.0f %% of a processor at this interval", 1e3 * cost,
               100 * fmin(cost / s->interval_s, 1));
}

static int sample(struct stat_run *s, const struct fv_columns *columns, double *values)
{
    double start, next, now;

    signal(SIGINT, end);
    signal(SIGTERM, end);
    warn_of_cost(s);
    start = fv_now_s();
    fv_watch_sample(&s->watch, start);
    next = start + s->interval_s;
    for (size_t i = 0; (!s->count || i < s->count) && !ferror(stdout); i++) {
        wait_until(next);
        if (is_over)
            break;
        now = fv_now_s();
        fv_watch_sample(&s->watch, now);
        if (i % HEADING_EACH == 0 && (!i || !s->csv))
            fv_columns_heading(columns);
        put_sample(s, columns, values, now - start, now - next);
        do /* what is missed is not made up for */
            next += s->interval_s;
        while (next < fv_now_s());
    }
    if (ferror(stdout)) {
        fv_log("stat: standard output: %s", fv_strerror(-FV_EIO));
        return FV_EXIT_FAILED;
    }
    return FV_EXIT_OK;
}

static int sample_columns(struct stat_run *s)
{
    const char **labels = fv_xcalloc(s->watch.count, sizeof(*labels));
    double *values = fv_xcalloc(s->watch.count, sizeof(*values));
    const struct fv_columns columns = { labels, s->watch.count, s->csv, false };
    int status;

    s->factors = s->share ? fv_xcalloc(s->watch.count, sizeof(*s->factors)) : NULL;
    for (size_t i = 0; i < s->watch.count; i++) {
        labels[i] = s->watch.series[i].label;
        if (s->share)
            s->factors[i] = 100 / fv_watch_maximum(&s->watch, i);
    }
    status = sample(s, &columns, values);
    free(s->factors);
    free(labels);
    free(values);
    return status;
}

/* ---- the command ---- */

enum { OPT_PER_SOURCE = 256, OPT_SHARE, OPT_CSV, OPT_FROM, OPT_SUMMARY, OPT_GLOSSARY };

static int take_option(void *options, int option)
{
    struct stat_run *s = options;

    switch (option) {
    case 'i':
        s->has_interval = true;
        return fv_watching_interval(optarg, &s->interval_s) ? FV_GO_ON : wrong(optarg, FV_WATCHING_INTERVAL);
    case 'n': return fv_output_number(optarg, 1, &s->count) ? FV_GO_ON : wrong(optarg, "--count takes a number from 1");
    case 'l': s->list = true; return FV_GO_ON;
    case OPT_PER_SOURCE: s->per_source = true; return FV_GO_ON;
    case OPT_SHARE: s->share = true; return FV_GO_ON;
    case OPT_CSV: s->csv = true; return FV_GO_ON;
    case OPT_FROM: s->from = optarg; return FV_GO_ON;
    case OPT_SUMMARY: s->summary = true; return FV_GO_ON;
    case OPT_GLOSSARY: fv_stat_glossary(); return FV_EXIT_OK;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    default: return FV_UNKNOWN_OPTION;
    }
}

static int print_recorded(const struct stat_run *s)
{
    if (s->has_interval || s->per_source || s->share || s->list)
        return wrong(
            "--from",
            "a recording has its own interval and series; leave out --interval, --per-source, --share and --list");
    return fv_stat_recording(&(struct fv_stat_recording){ s->from, s->operands, s->count, s->csv, s->summary });
}

int fv_cmd_stat(int argc, char **argv)
{
    static const struct option table[] = {
        { "interval", required_argument, NULL, 'i' },
        { "count", required_argument, NULL, 'n' },
        { "per-source", no_argument, NULL, OPT_PER_SOURCE },
        { "csv", no_argument, NULL, OPT_CSV },
        { "share", no_argument, NULL, OPT_SHARE },
        { "from", required_argument, NULL, OPT_FROM },
        { "summary", no_argument, NULL, OPT_SUMMARY },
        { "list", no_argument, NULL, 'l' },
        { "glossary", no_argument, NULL, OPT_GLOSSARY },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "i:n:lh", table, take_option, wrong, NULL, false };
    struct stat_run s = { .interval_s = 1 };
    int status = fv_arguments_take(&arguments, argc, argv, &s, &s.operands);

    if (status != FV_GO_ON)
        return status;
    s.operands = (struct fv_operands){ argv + optind, (size_t)(argc - optind) };
    if (s.from)
        return print_recorded(&s);
    if (s.summary)
        return wrong("--summary", "it goes with a recording: --from FILE");
    if (s.list) {
        fv_stat_list();
        return FV_EXIT_OK;
    }
    status = fv_watching_choose(&s.watch, &s.operands, s.per_source, "fvmpi stat");
    if (status == FV_GO_ON)
        status = sample_columns(&s);
    fv_watch_close(&s.watch);
    return status;
}
