/* fvmpi stat: what the machine counts meanwhile, a line a sample. */
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "sensors/watch.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: fvmpi stat [EVENT...] [options]\n"
    "What the kernel and the hardware of this machine count, a line a sample: counters as what they count in a second of true time, gauges as they\n"
    "are. EVENT is SENSOR.NAME, of all sources together (the sum; of temperatures and clocks the mean), or SENSOR.NAME@SOURCE; stars stand for\n"
    "anything, and SENSOR alone is all that it has: cpu.user, net.rx_bytes@eth0, 'vmstat.pg*', pressure. Without any: what most want to see.\n"
    "\n"
    "  -i, --interval S  seconds from sample to sample (1; 0.001 at least)\n"
    "  -n, --count N     samples; then it ends. Without: until it is interrupted\n"
    "      --per-source  a column for each source\n"
    "      --csv         time_s (from the start), late_s (behind its time), then the events' full names\n"
    "  -l, --list        the events of this machine, with their units, and what reading a sensor takes; and the sensors that it has not\n"
    "  -h, --help\n"
    "\n"
    "A value that is not known is `-`, in CSV empty. FVMPI_SENSORS_ROOT: below which /proc and /sys are. Exit status: 0 ended or interrupted,\n"
    "1 not on this machine, 2 wrong usage.\n";

struct stat_run {
    struct fv_operands operands;
    double interval_s;
    size_t count; /* 0: without end */
    bool per_source, csv, list;
    struct fv_watch watch;
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi stat", what, why);
}

/* ---- which ---- */

/* The exit status. */
static int choose_one(struct stat_run *s, const char *text)
{
    enum fv_watch_answer answer = fv_watch_add(&s->watch, text, strlen(text), s->per_source);
    char why[400];

    if (answer == FV_WATCH_FOUND)
        return FV_GO_ON;
    fv_watch_why(&s->watch, text, strlen(text), answer, why, sizeof(why));
    if (answer == FV_WATCH_TOO_LONG)
        return wrong(text, why);
    fv_log("stat: %s: %s", text, why);
    return answer == FV_WATCH_NOT_HERE ? FV_EXIT_FAILED : FV_EXIT_USAGE;
}

static int choose(struct stat_run *s)
{
    int status = FV_GO_ON;

    for (size_t i = 0; i < s->operands.count && status == FV_GO_ON; i++)
        status = choose_one(s, s->operands.items[i]);
    if (!s->operands.count)
        fv_watch_add_usual(&s->watch, s->per_source);
    if (status == FV_GO_ON && !s->watch.count) {
        fv_log("stat: this machine has no sensors that are known: is there a /proc in %s/?", fv_sensors_root());
        return FV_EXIT_FAILED;
    }
    if (s->watch.left_out)
        fv_log("stat: %zu columns are left out: there is room for %zu", s->watch.left_out, s->watch.count);
    return status;
}

/* ---- sampling ---- */

static volatile sig_atomic_t is_over;

static void end(int signal)
{
    (void)signal;
    is_over = 1;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_until(double at)
{
    const struct timespec t = { (time_t)at, (long)(1e9 * (at - floor(at))) };

    while (!is_over && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* ---- output ---- */

enum { LEAST_WIDTH = 9, HEADING_EACH = 24 };

static int width_of(const struct fv_watched *one)
{
    int width = (int)strlen(one->label);

    return width > LEAST_WIDTH ? width : LEAST_WIDTH;
}

static void put_heading(const struct stat_run *s)
{
    fputs(s->csv ? "time_s,late_s" : "", stdout);
    for (size_t i = 0; i < s->watch.count; i++)
        if (s->csv)
            printf(",%s", s->watch.series[i].label);
        else
            printf("%s%*s", i ? " " : "", width_of(&s->watch.series[i]), s->watch.series[i].label);
    putchar('\n');
}

/* Four digits at least; whole where it is large. */
static void put_value(double value, int width)
{
    double size = fabs(value);

    if (!isfinite(value))
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, value == floor(value) || size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3, value);
}

static void put_sample(const struct stat_run *s, double since_s, double late_s)
{
    if (s->csv)
        printf("%.6f,%.6f", since_s, late_s);
    for (size_t i = 0; i < s->watch.count; i++) {
        double value = fv_watch_rate(&s->watch, i);

        if (!s->csv) {
            fputs(i ? " " : "", stdout);
            put_value(value, width_of(&s->watch.series[i]));
        } else if (isfinite(value)) {
            printf(",%.9g", value);
        } else {
            putchar(',');
        }
    }
    putchar('\n');
    fflush(stdout);
}

/* A processor's tenth for reading is more than most want to give. */
static void warn_of_cost(const struct stat_run *s)
{
    double cost = fv_watch_cost(&s->watch);

    if (cost > 0.1 * s->interval_s)
        fv_log("stat: to read these takes %.2g ms, %.0f %% of a processor at this interval", 1e3 * cost, 100 * fmin(cost / s->interval_s, 1));
}

static int sample(struct stat_run *s)
{
    double start, next, now;

    signal(SIGINT, end);
    signal(SIGTERM, end);
    warn_of_cost(s);
    start = now_s();
    fv_watch_sample(&s->watch, start);
    next = start + s->interval_s;
    for (size_t i = 0; (!s->count || i < s->count) && !ferror(stdout); i++) {
        wait_until(next);
        if (is_over)
            break;
        now = now_s();
        fv_watch_sample(&s->watch, now);
        if (i % HEADING_EACH == 0 && (!i || !s->csv))
            put_heading(s);
        put_sample(s, now - start, now - next);
        do /* what is missed is not made up for */
            next += s->interval_s;
        while (next < now_s());
    }
    if (ferror(stdout)) {
        fv_log("stat: standard output: %s", fv_strerror(-FV_EIO));
        return FV_EXIT_FAILED;
    }
    return FV_EXIT_OK;
}

static void list_sensor(const struct fv_sensor *sensor)
{
    printf("%s: %s. %zu source%s, %.3g us to read\n", sensor->kind->name, sensor->kind->about, sensor->source_count, sensor->source_count == 1 ? "" : "s",
           1e6 * sensor->cost_s);
    for (size_t k = 0; k < sensor->source_count && *sensor->sources[k]; k++)
        printf("%s@%s%s", k ? " " : "  ", sensor->sources[k], k + 1 == sensor->source_count ? "\n" : "");
    for (size_t e = 0; e < sensor->event_count; e++)
        printf("  %s.%s%s%s%s\n", sensor->kind->name, sensor->events[e].name, *sensor->events[e].unit ? "  " : "", sensor->events[e].unit,
               sensor->events[e].is_gauge ? "  gauge" : *sensor->events[e].unit ? "/s" : "  /s");
}

static int list(struct stat_run *s)
{
    fv_watch_open_all(&s->watch);
    for (size_t i = 0; i < s->watch.sensor_count; i++)
        list_sensor(&s->watch.sensors[i].sensor);
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++)
        if (!fv_watch_has(&s->watch, k))
            printf("%s: not on this machine (%s/%s)\n", k->name, fv_sensors_root(), k->path);
    return FV_EXIT_OK;
}

/* ---- the command ---- */

enum { OPT_PER_SOURCE = 256, OPT_CSV };

static int take_interval(struct stat_run *s, const char *text)
{
    char *behind;

    s->interval_s = strtod(text, &behind);
    return behind == text || *behind || !(s->interval_s >= 0.001 && s->interval_s <= 86400) ? wrong(text, "--interval takes seconds, from 0.001 to 86400")
                                                                                             : FV_GO_ON;
}

static int take_option(void *options, int option)
{
    struct stat_run *s = options;

    switch (option) {
    case 'i': return take_interval(s, optarg);
    case 'n': return fv_output_number(optarg, 1, &s->count) ? FV_GO_ON : wrong(optarg, "--count takes a number from 1");
    case 'l': s->list = true; return FV_GO_ON;
    case OPT_PER_SOURCE: s->per_source = true; return FV_GO_ON;
    case OPT_CSV: s->csv = true; return FV_GO_ON;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    default: return FV_UNKNOWN_OPTION;
    }
}

int fv_cmd_stat(int argc, char **argv)
{
    static const struct option table[] = {
        { "interval", required_argument, NULL, 'i' }, { "count", required_argument, NULL, 'n' },
        { "per-source", no_argument, NULL, OPT_PER_SOURCE }, { "csv", no_argument, NULL, OPT_CSV },
        { "list", no_argument, NULL, 'l' },           { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "i:n:lh", table, take_option, wrong, NULL, false };
    struct stat_run s = { .interval_s = 1 };
    int status = fv_arguments_take(&arguments, argc, argv, &s, &s.operands);

    if (status != FV_GO_ON)
        return status;
    s.operands = (struct fv_operands){ argv + optind, (size_t)(argc - optind) };
    status = s.list ? list(&s) : choose(&s);
    if (status == FV_GO_ON)
        status = sample(&s);
    fv_watch_close(&s.watch);
    return status;
}
