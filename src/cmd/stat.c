/* fvmpi stat: what the machine counts meanwhile, a line a sample. */
#include "base/near.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "sensors/sensors.h"
#include "tool/vec.h"

#include <errno.h>
#include <fnmatch.h>
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

struct column {
    size_t sensor, event;
    size_t source; /* ALL: of all together */
    char *label;
};
#define ALL SIZE_MAX

struct sample {
    double at_s;
    uint64_t **values; /* by sensor */
};

struct watch {
    struct fv_operands operands;
    double interval_s;
    size_t count; /* 0: without end */
    bool per_source, csv, list;
    struct fv_sensor *sensors; /* those that are there */
    size_t sensor_count, sensor_room;
    struct column *columns;
    size_t column_count, column_room;
    struct sample before, now;
};

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi stat", what, why);
}

/* ---- which ---- */

/* NULL: it is not open. */
static struct fv_sensor *sensor_of(const struct watch *s, const struct fv_sensor_kind *kind)
{
    for (size_t i = 0; i < s->sensor_count; i++)
        if (s->sensors[i].kind == kind)
            return &s->sensors[i];
    return NULL;
}

/* Those that the pattern fits, if they are there: each takes a few reads. */
static void open_sensors(struct watch *s, const char *pattern)
{
    struct fv_sensor sensor;

    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++)
        if (!fnmatch(pattern, k->name, 0) && !sensor_of(s, k) && fv_sensor_open(&sensor, k)) {
            FV_GROW(s->sensors, s->sensor_room, s->sensor_count + 1);
            s->sensors[s->sensor_count++] = sensor;
        }
}

static void add_column(struct watch *s, size_t sensor, size_t event, size_t source)
{
    const struct fv_sensor *of = &s->sensors[sensor];
    const char *name = of->events[event].name, *at = source == ALL ? "" : of->sources[source];
    size_t bytes = strlen(of->kind->name) + strlen(name) + strlen(at) + 3;
    char *label = fv_xcalloc(bytes, 1);

    snprintf(label, bytes, "%s.%s%s%s", of->kind->name, name, *at ? "@" : "", at);
    FV_GROW(s->columns, s->column_room, s->column_count + 1);
    s->columns[s->column_count++] = (struct column){ sensor, event, source, label };
}

/* Of one event. */
static void add_columns(struct watch *s, size_t sensor, size_t event, const char *source)
{
    const struct fv_sensor *of = &s->sensors[sensor];

    if (!source && !s->per_source) {
        add_column(s, sensor, event, ALL);
        return;
    }
    for (size_t i = 0; i < of->source_count; i++)
        if (!source || !fnmatch(source, of->sources[i], 0))
            add_column(s, sensor, event, i);
}

/* A word's parts: SENSOR[.NAME][@SOURCE]. */
struct word {
    char sensor[64], event[128], source[128];
};

static bool take_word(const char *text, struct word *out)
{
    size_t sensor = strcspn(text, ".@"), event = text[sensor] == '.' ? strcspn(text + sensor + 1, "@") : 0;
    const char *source = strchr(text, '@');

    if (sensor >= sizeof(out->sensor) || event >= sizeof(out->event) || (source && strlen(source) > sizeof(out->source)))
        return false;
    snprintf(out->sensor, sizeof(out->sensor), "%.*s", (int)sensor, text);
    snprintf(out->event, sizeof(out->event), "%.*s", (int)(event ? event : 1), event ? text + sensor + 1 : "*");
    snprintf(out->source, sizeof(out->source), "%s", source ? source + 1 : "");
    return true;
}

/* The event is there, the source is not. */
static void say_sources(const char *text, const struct fv_sensor *sensor)
{
    char names[300] = "";
    size_t used = 0, i = 0;

    for (; i < sensor->source_count && used + strlen(sensor->sources[i]) + 8 < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", sensor->sources[i]);
    fv_log("stat: %s: %s has no such source%s%s%s", text, sensor->kind->name, *names ? "; it has " : ", it has but one", names, i < sensor->source_count ? ", ..." : "");
}

static void say_events(const char *text, const struct fv_sensor *sensor, const struct word *w)
{
    struct fv_near near = { w->event, strlen(w->event), NULL, 0 };

    for (size_t e = 0; e < sensor->event_count; e++) {
        fv_near_try(&near, sensor->events[e].name, sensor->events[e].name);
        if (!fnmatch(w->event, sensor->events[e].name, 0)) {
            say_sources(text, sensor);
            return;
        }
    }
    const char *meant = fv_near_item(&near, 0);
    fv_log("stat: %s: %s has no such event%s%s; fvmpi stat --list lists them", text, sensor->kind->name, meant ? ", did you mean " : "", meant ? meant : "");
}

/* The exit status. */
static int say_unknown(const struct watch *s, const char *text, const struct word *w)
{
    const struct fv_sensor_kind *kind = fv_sensor_kind_of(w->sensor, strlen(w->sensor));
    struct fv_near near = { w->sensor, strlen(w->sensor), NULL, 0 };

    if (kind && sensor_of(s, kind)) {
        say_events(text, sensor_of(s, kind), w);
        return FV_EXIT_USAGE;
    }
    if (kind) {
        fv_log("stat: %s: not on this machine: there is no %s/%s", text, fv_sensors_root(), kind->path);
        return FV_EXIT_FAILED;
    }
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++)
        fv_near_try(&near, k->name, k->name);
    const char *meant = fv_near_item(&near, 0);
    fv_log("stat: %s: no such sensor%s%s; fvmpi stat --list lists them", text, meant ? ", did you mean " : "", meant ? meant : "");
    return FV_EXIT_USAGE;
}

static int choose_one(struct watch *s, const char *text, bool is_asked)
{
    size_t before = s->column_count;
    struct word w;

    if (!take_word(text, &w))
        return wrong(text, "is longer than the name of any event");
    open_sensors(s, w.sensor);
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++) {
        const struct fv_sensor *sensor = fnmatch(w.sensor, k->name, 0) ? NULL : sensor_of(s, k);

        for (size_t e = 0; sensor && e < sensor->event_count; e++)
            if (!fnmatch(w.event, sensor->events[e].name, 0))
                add_columns(s, (size_t)(sensor - s->sensors), e, *w.source ? w.source : NULL);
    }
    return s->column_count > before || !is_asked ? FV_GO_ON : say_unknown(s, text, &w);
}

static int choose(struct watch *s)
{
    static const char *const most_want[] = { "cpu.user", "cpu.system", "cpu.iowait", "cpu.steal", "pressure.some@cpu", "vmstat.pgfault", "vmstat.pgmajfault",
                                             "net.rx_bytes", "net.tx_bytes", "energy.energy_uj", "frequency.scaling_cur_freq" };
    int status = FV_GO_ON;

    for (size_t i = 0; i < s->operands.count && status == FV_GO_ON; i++)
        status = choose_one(s, s->operands.items[i], true);
    for (size_t i = 0; !s->operands.count && i < sizeof(most_want) / sizeof(most_want[0]); i++)
        choose_one(s, most_want[i], false);
    if (status == FV_GO_ON && !s->column_count) {
        fv_log("stat: this machine has no sensors that are known: is there a /proc in %s/?", fv_sensors_root());
        return FV_EXIT_FAILED;
    }
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

static bool is_used(const struct watch *s, size_t sensor)
{
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].sensor == sensor)
            return true;
    return false;
}

static struct sample new_sample(const struct watch *s)
{
    struct sample sample = { .values = fv_xcalloc(s->sensor_count, sizeof(*sample.values)) };

    for (size_t i = 0; i < s->sensor_count; i++)
        sample.values[i] = is_used(s, i) ? fv_xcalloc(s->sensors[i].source_count * s->sensors[i].event_count, sizeof(uint64_t)) : NULL;
    return sample;
}

static void take_sample(struct watch *s)
{
    struct sample was = s->before;

    s->before = s->now;
    s->now = was;
    s->now.at_s = now_s();
    for (size_t i = 0; i < s->sensor_count; i++)
        if (s->now.values[i])
            fv_sensor_read(&s->sensors[i], s->now.values[i]);
}

static double of_source(const struct watch *s, const struct column *c, size_t source, double seconds)
{
    const struct fv_sensor *sensor = &s->sensors[c->sensor];
    size_t at = source * sensor->event_count + c->event;
    double change = fv_sensor_change(sensor, source, c->event, s->before.values[c->sensor][at], s->now.values[c->sensor][at]);

    return sensor->events[c->event].is_gauge ? change : change / seconds;
}

/* NAN: no source knows it. */
static double value_of(const struct watch *s, const struct column *c)
{
    const struct fv_sensor *sensor = &s->sensors[c->sensor];
    double seconds = s->now.at_s - s->before.at_s, sum = 0;
    size_t known = 0;

    if (c->source != ALL)
        return of_source(s, c, c->source, seconds);
    for (size_t i = 0; i < sensor->source_count; i++) {
        double value = of_source(s, c, i, seconds);

        known += isfinite(value);
        sum += isfinite(value) ? value : 0;
    }
    return !known ? NAN : sensor->kind->is_mean ? sum / (double)known : sum;
}

/* ---- output ---- */

enum { LEAST_WIDTH = 9, HEADING_EACH = 24 };

static int width_of(const struct column *c)
{
    int width = (int)strlen(c->label);

    return width > LEAST_WIDTH ? width : LEAST_WIDTH;
}

static void put_heading(const struct watch *s)
{
    fputs(s->csv ? "time_s,late_s" : "", stdout);
    for (size_t i = 0; i < s->column_count; i++)
        if (s->csv)
            printf(",%s", s->columns[i].label);
        else
            printf("%s%*s", i ? " " : "", width_of(&s->columns[i]), s->columns[i].label);
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

static void put_sample(const struct watch *s, double since_s, double late_s)
{
    if (s->csv)
        printf("%.6f,%.6f", since_s, late_s);
    for (size_t i = 0; i < s->column_count; i++) {
        double value = value_of(s, &s->columns[i]);

        if (!s->csv) {
            fputs(i ? " " : "", stdout);
            put_value(value, width_of(&s->columns[i]));
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
static void warn_of_cost(const struct watch *s)
{
    double cost = 0;

    for (size_t i = 0; i < s->sensor_count; i++)
        cost += is_used(s, i) ? s->sensors[i].cost_s : 0;
    if (cost > 0.1 * s->interval_s)
        fv_log("stat: to read these takes %.2g ms, %.0f %% of a processor at this interval", 1e3 * cost, 100 * fmin(cost / s->interval_s, 1));
}

static int sample(struct watch *s)
{
    double start, next;

    s->before = new_sample(s);
    s->now = new_sample(s);
    signal(SIGINT, end);
    signal(SIGTERM, end);
    warn_of_cost(s);
    take_sample(s);
    start = s->now.at_s;
    next = start + s->interval_s;
    for (size_t i = 0; (!s->count || i < s->count) && !ferror(stdout); i++) {
        wait_until(next);
        if (is_over)
            break;
        take_sample(s);
        if (i % HEADING_EACH == 0 && (!i || !s->csv))
            put_heading(s);
        put_sample(s, s->now.at_s - start, s->now.at_s - next);
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

static int list(struct watch *s)
{
    open_sensors(s, "*");
    for (size_t i = 0; i < s->sensor_count; i++) {
        const struct fv_sensor *sensor = &s->sensors[i];

        printf("%s: %s. %zu source%s, %.3g us to read\n", sensor->kind->name, sensor->kind->about, sensor->source_count, sensor->source_count == 1 ? "" : "s",
               1e6 * sensor->cost_s);
        for (size_t k = 0; k < sensor->source_count && *sensor->sources[k]; k++)
            printf("%s@%s%s", k ? " " : "  ", sensor->sources[k], k + 1 == sensor->source_count ? "\n" : "");
        for (size_t e = 0; e < sensor->event_count; e++)
            printf("  %s.%s%s%s%s\n", sensor->kind->name, sensor->events[e].name, *sensor->events[e].unit ? "  " : "", sensor->events[e].unit,
                   sensor->events[e].is_gauge ? "  gauge" : *sensor->events[e].unit ? "/s" : "  /s");
    }
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++)
        if (!sensor_of(s, k))
            printf("%s: not on this machine (%s/%s)\n", k->name, fv_sensors_root(), k->path);
    return FV_EXIT_OK;
}

/* ---- the command ---- */

enum { OPT_PER_SOURCE = 256, OPT_CSV };

static int take_interval(struct watch *s, const char *text)
{
    char *behind;

    s->interval_s = strtod(text, &behind);
    return behind == text || *behind || !(s->interval_s >= 0.001 && s->interval_s <= 86400) ? wrong(text, "--interval takes seconds, from 0.001 to 86400")
                                                                                             : FV_GO_ON;
}

static int take_option(void *options, int option)
{
    struct watch *s = options;

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

static void release(struct watch *s)
{
    for (size_t i = 0; i < s->sensor_count; i++) {
        if (s->now.values)
            free(s->now.values[i]);
        if (s->before.values)
            free(s->before.values[i]);
        fv_sensor_close(&s->sensors[i]);
    }
    for (size_t i = 0; i < s->column_count; i++)
        free(s->columns[i].label);
    free(s->now.values);
    free(s->before.values);
    free(s->columns);
    free(s->sensors);
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
    struct watch s = { .interval_s = 1 };
    int status = fv_arguments_take(&arguments, argc, argv, &s, &s.operands);

    if (status != FV_GO_ON)
        return status;
    s.operands = (struct fv_operands){ argv + optind, (size_t)(argc - optind) };
    status = s.list ? list(&s) : choose(&s);
    if (status == FV_GO_ON)
        status = sample(&s);
    release(&s);
    return status;
}
