/* SPDX-License-Identifier: BSD-3-Clause */
/* See metrics.h. */
#include "live/metrics.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The units that OpenMetrics wants, of ours. */
static const char *unit_of(const struct fv_sensor_event *event)
{
    static const char *const units[][2] = { { "s", "seconds" },  { "J", "joules" }, { "W", "watts" },
                                            { "C", "celsius" },  { "Hz", "hertz" }, { "bytes", "bytes" },
                                            { "pages", "pages" } };

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (!strcmp(event->unit, units[i][0]))
            return units[i][1];
    return "";
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), other = strlen(end);

    return length >= other && !strcmp(text + length - other, end);
}

/* Other characters than those that names may have become _. _total is said of counters only, and once. */
static void name_of(const struct fv_sensor_kind *kind, const struct fv_sensor_event *event, char out[256])
{
    const char *unit = unit_of(event);
    char *end;

    snprintf(out, 200, "fvmpi_%s_%s", kind->name, event->name);
    if (ends_with(out, "_total"))
        out[strlen(out) - strlen("_total")] = '\0';
    for (char *c = out; *c; c++)
        if (!isalnum((unsigned char)*c) || (unsigned char)*c >= 128)
            *c = '_';
    end = out + strlen(out);
    if (*unit && !(ends_with(out, unit) && end[-(long)strlen(unit) - 1] == '_'))
        snprintf(end, 256 - (size_t)(end - out), "_%s", unit);
}

static void put_escaped(struct fv_jsonl *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\n')
            fv_jsonl_text(out, "\\n");
        else if (*text == '"' || *text == '\\')
            fv_jsonl_put(out, (char[]){ '\\', *text }, 2);
        else
            fv_jsonl_put(out, text, 1);
}

static void put_family(struct fv_jsonl *out, const char *name, const char *type, const char *unit, const char *help)
{
    fv_jsonl_text(out, "# TYPE ");
    fv_jsonl_text(out, name);
    fv_jsonl_text(out, type);
    if (*unit) {
        fv_jsonl_text(out, "# UNIT ");
        fv_jsonl_text(out, name);
        fv_jsonl_text(out, " ");
        fv_jsonl_text(out, unit);
        fv_jsonl_text(out, "\n");
    }
    fv_jsonl_text(out, "# HELP ");
    fv_jsonl_text(out, name);
    fv_jsonl_text(out, " ");
    put_escaped(out, help);
    fv_jsonl_text(out, "\n");
}

/* Exactly, as far as a double is. */
static void put_value(struct fv_jsonl *out, double value)
{
    char text[40];

    fv_jsonl_put(out, text, (size_t)snprintf(text, sizeof(text), " %.15g\n", value));
}

static void put_source(struct fv_jsonl *out, const struct fv_watched_sensor *of, const char *name, size_t event,
                       size_t source)
{
    const struct fv_sensor_event *e = &of->sensor.events[event];
    uint64_t value = of->now[source * of->sensor.event_count + event];

    if (value == FV_SENSOR_NONE)
        return;
    fv_jsonl_text(out, name);
    if (!e->is_gauge)
        fv_jsonl_text(out, "_total");
    if (*of->sensor.sources[source]) {
        fv_jsonl_text(out, "{source=\"");
        put_escaped(out, of->sensor.sources[source]);
        fv_jsonl_text(out, "\"}");
    }
    put_value(out, e->scale * (e->is_gauge ? (double)(int64_t)value : (double)value));
}

static bool is_watched(const struct fv_watch *watch, size_t sensor, size_t event, size_t source)
{
    for (size_t i = 0; i < watch->count; i++) {
        const struct fv_watched_series *one = &watch->series[i];

        if (one->sensor == sensor && one->event == event &&
            (one->source == source || one->source == FV_WATCH_ALL || source == FV_WATCH_ALL))
            return true;
    }
    return false;
}

/* Names that become the same are one family: the first is told. */
static bool was_told(const struct fv_watch *watch, size_t of, size_t event, const char *name)
{
    const struct fv_sensor *sensor = &watch->sensors[of].sensor;
    char other[256];

    for (size_t e = 0; e < event; e++) {
        if (!is_watched(watch, of, e, FV_WATCH_ALL))
            continue;
        name_of(sensor->kind, &sensor->events[e], other);
        if (!strcmp(name, other))
            return true;
    }
    return false;
}

static void put_event(struct fv_live *live, size_t sensor, size_t event, struct fv_jsonl *out)
{
    const struct fv_watched_sensor *of = &live->watch.sensors[sensor];
    const struct fv_sensor_event *e = &of->sensor.events[event];
    char name[256], help[400];

    if (!of->reads)
        return;
    name_of(of->sensor.kind, e, name);
    if (was_told(&live->watch, sensor, event, name))
        return;
    const char *about = fv_sensor_event_about(&of->sensor, event);
    snprintf(help, sizeof(help), "%s.%s: %s", of->sensor.kind->name, e->name, *about ? about : of->sensor.kind->about);
    put_family(out, name, e->is_gauge ? " gauge\n" : " counter\n", unit_of(e), help);
    for (size_t i = 0; i < of->sensor.source_count; i++)
        if (is_watched(&live->watch, sensor, event, i))
            put_source(out, of, name, event, i);
}

static void put_own(struct fv_jsonl *out, const char *name, const char *type, const char *unit, const char *help,
                    double value)
{
    put_family(out, name, type, unit, help);
    fv_jsonl_text(out, name);
    if (!strcmp(type, " counter\n"))
        fv_jsonl_text(out, "_total");
    put_value(out, value);
}

void fv_metrics(struct fv_live *live, size_t clients, struct fv_jsonl *out)
{
    for (size_t s = 0; s < live->watch.sensor_count; s++)
        for (size_t e = 0; live->watch.sensors[s].is_used && e < live->watch.sensors[s].sensor.event_count; e++)
            if (is_watched(&live->watch, s, e, FV_WATCH_ALL))
                put_event(live, s, e, out);
    put_own(out, "fvmpi_live_samples", " counter\n", "", "samples taken", (double)live->samples);
    put_own(out, "fvmpi_live_late", " counter\n", "", "samples more than half an interval late", (double)live->late);
    put_own(out, "fvmpi_live_missed", " counter\n", "", "samples left out because they were late",
            (double)live->missed);
    put_own(out, "fvmpi_live_cpu_seconds", " counter\n", "seconds", "processor time that fvmpi live took",
            fv_live_cpu_s(live));
    put_own(out, "fvmpi_live_interval_seconds", " gauge\n", "seconds", "from sample to sample", live->interval_s);
    put_own(out, "fvmpi_live_clients", " gauge\n", "", "that get samples now", (double)clients);
    fv_jsonl_text(out, "# EOF\n");
}
