/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_state.h: values along time. What grows is kept as its rate. */
#include "merge/memory.h"
#include "merge/sensors.h"
#include "timeline/timeline_state.h"

#include <stdlib.h>
#include <string.h>

enum { OF_COUNTERS, OF_SENSORS, OF_MEMORY, OF_ARCHIVE, OF_FILES, DERIVED }; /* key[1] */

/* ---- values ---- */

void fv_timeline_add_point(struct fv_timeline_values *v, uint64_t ns, double value)
{
    if (v->count && ns < v->points[v->count - 1].ns)
        ns = v->points[v->count - 1].ns;
    FV_GROW(v->points, v->room, v->count + 1);
    v->points[v->count++] = (struct fv_timeline_point){ ns, value };
}

/* What is told more than once at a time, or is less than before, is no rate. */
static void add_value(struct fv_timeline_values *v, uint64_t ns, double value)
{
    if (!v->series.is_rate) {
        fv_timeline_add_point(v, ns, value);
        return;
    }
    if (v->is_known && ns <= v->since_ns && value >= v->before)
        return;
    if (v->is_known && value >= v->before)
        fv_timeline_add_point(v, ns, (value - v->before) * 1e9 / (double)(ns - v->since_ns));
    v->is_known = true;
    v->since_ns = ns;
    v->before = value;
}

static struct fv_timeline_values *values_of(struct fv_timeline_writer *w, uint32_t row, uint32_t of, uint32_t number)
{
    return FV_INTERNED(w->value_index, w->values, w->value_count, w->value_room, (uint32_t[]){ row, of, number });
}

struct fv_timeline_values *fv_timeline_derived_values(struct fv_timeline_writer *w, uint32_t row, uint32_t number)
{
    return values_of(w, row, DERIVED, number);
}

/* Names are needed where there is a value. */
static void name(struct fv_timeline_writer *w, struct fv_timeline_values *v, const char *text, const char *unit,
                 enum fv_timeline_scope scope, bool grows)
{
    v->series = (struct fv_timeline_series){ .name = fv_timeline_string(w, text),
                                             .unit = fv_timeline_string(w, unit),
                                             .row = v->key[0],
                                             .scope = scope,
                                             .is_rate = grows };
}

struct fv_timeline_values *fv_timeline_io_values(struct fv_timeline_writer *w, uint32_t row, uint32_t number,
                                                 const char *text)
{
    struct fv_timeline_values *v = values_of(w, row, OF_FILES, number);

    if (!v->series.name)
        name(w, v, text, "bytes", FV_TIMELINE_OF_THREAD, true);
    return v;
}

/* Of a thread what it counted; or of an archive a series. */
void fv_timeline_count_record(struct fv_timeline_writer *w, uint32_t row, const struct fv_record *r)
{
    const struct fv_defs *d = &w->merge->defs;
    char text[64];
    double value;

    if (r->kind == FV_REC_SENSOR) {
        memcpy(&value, &r->sent, sizeof(value));
        if (r->id < w->value_count && !w->values[r->id].is_written)
            add_value(&w->values[r->id], r->time_ns, value);
        return;
    }
    if (r->ref >= d->rank_count || !fv_def_event(d->ranks[r->ref].counters, r->op, text))
        return;
    struct fv_timeline_values *v = values_of(w, row, OF_COUNTERS, r->op);
    if (!v->series.name)
        name(w, v, text, "", FV_TIMELINE_OF_THREAD, true);
    add_value(v, r->time_ns, (double)r->sent);
}

uint32_t fv_timeline_name_series(void *writer, uint64_t location, bool of_thread, const char *text, const char *unit,
                                 bool grows)
{
    struct fv_timeline_writer *w = writer;
    const uint32_t row = fv_timeline_row_of(w, location);

    if (row == FV_TIMELINE_NONE)
        return FV_NONE;
    struct fv_timeline_values *v = values_of(w, row, OF_ARCHIVE, (uint32_t)w->value_count);

    name(w, v, text, unit, of_thread ? FV_TIMELINE_OF_THREAD : FV_TIMELINE_OF_PROCESS, grows);
    return (uint32_t)(v - w->values);
}

/* ---- what a rank file has of its process and node ---- */

static struct fv_timeline_writer *writer_of(struct fv_sink *sink)
{
    return sink->context;
}

static bool open_metrics(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct fv_timeline_writer *w = writer_of(sink);

    (void)slot;
    w->metrics_row = fv_timeline_row_of(w, (uint32_t)location); /* of the rank's first thread */
    return w->metrics_row != FV_TIMELINE_NONE;
}

static void name_sensor(struct fv_timeline_writer *w, struct fv_timeline_values *v, const struct fv_record *r)
{
    const char *at = w->merge->defs.ranks[r->ref].sensors;
    struct fv_def_sensor sensor = { 0 };

    for (uint64_t i = 0; i <= r->id && fv_def_sensor_next(&at, &sensor); i++)
        ;
    name(w, v, sensor.label, sensor.unit, FV_TIMELINE_OF_NODE, !sensor.is_gauge);
}

static bool put_metric(struct fv_sink *sink, uint32_t slot, const struct fv_record *r)
{
    struct fv_timeline_writer *w = writer_of(sink);
    const bool is_sensor = r->kind == FV_REC_SENSOR;
    struct fv_timeline_values *v =
        values_of(w, w->metrics_row, is_sensor ? OF_SENSORS : OF_MEMORY, is_sensor ? (uint32_t)r->id : 0);
    double value = (double)r->sent;

    (void)slot;
    if (is_sensor)
        memcpy(&value, &r->sent, sizeof(value));
    if (!v->series.name && is_sensor)
        name_sensor(w, v, r);
    else if (!v->series.name)
        name(w, v, "memory allocated", "bytes", FV_TIMELINE_OF_PROCESS, false);
    w->header.span_ns = r->time_ns > w->header.span_ns ? r->time_ns : w->header.span_ns;
    add_value(v, r->time_ns, value);
    return !w->failed;
}

static bool close_metrics(struct fv_sink *sink, uint32_t slot)
{
    (void)slot;
    return !writer_of(sink)->failed;
}

struct fv_sink *fv_timeline_metrics(struct fv_timeline_writer *w)
{
    w->metrics = (struct fv_sink){ .context = w, .open = open_metrics, .put = put_metric, .close = close_metrics };
    return &w->metrics;
}

/* ---- the file ---- */

static void widen(struct fv_timeline_extremes *e, double least, double most)
{
    e->least = least < e->least ? least : e->least;
    e->most = most > e->most ? most : e->most;
}

/* Of so many each, one level behind the other. */
static uint64_t put_extremes(struct fv_timeline_writer *w, const struct fv_timeline_values *v)
{
    struct fv_timeline_extremes *all = fv_xcalloc(fv_timeline_extremes_of(v->count) + 1, sizeof(*all));
    size_t count = (v->count + FV_TIMELINE_FAN - 1) / FV_TIMELINE_FAN, at = 0;

    for (size_t i = 0; i < v->count; i++) {
        const double value = v->points[i].value;

        if (i % FV_TIMELINE_FAN)
            widen(&all[i / FV_TIMELINE_FAN], value, value);
        else
            all[i / FV_TIMELINE_FAN] = (struct fv_timeline_extremes){ value, value };
    }
    for (size_t end = count; count > 1; at = end, end += count) {
        const size_t above = (count + FV_TIMELINE_FAN - 1) / FV_TIMELINE_FAN;

        for (size_t i = 0; i < count; i++)
            if (i % FV_TIMELINE_FAN)
                widen(&all[end + i / FV_TIMELINE_FAN], all[at + i].least, all[at + i].most);
            else
                all[end + i / FV_TIMELINE_FAN] = all[at + i];
        count = above;
    }
    const uint64_t where = fv_timeline_put(w, all, (at + count) * sizeof(*all));
    free(all);
    return where;
}

/* See next_interval() of profile/machine/sensors.c: an end of a sensor's series that is too short for a rate. */
static void join_short_end(struct fv_timeline_values *v)
{
    struct fv_timeline_point *end = v->points + v->count;

    if (v->series.scope == FV_TIMELINE_OF_THREAD || !v->series.is_rate || v->count < 3)
        return;
    const double before = (double)(end[-2].ns - end[-3].ns), last = (double)(end[-1].ns - end[-2].ns);

    if (last >= before / 2)
        return;
    end[-2] =
        (struct fv_timeline_point){ end[-1].ns, (end[-2].value * before + end[-1].value * last) / (before + last) };
    v->count--;
}

void fv_timeline_write_values(struct fv_timeline_writer *w)
{
    for (; w->value_written < w->value_count; w->value_written++) {
        struct fv_timeline_values *v = &w->values[w->value_written];

        join_short_end(v);
        if (!fv_timeline_limit_has_room(w, v->count * sizeof(*v->points))) {
            w->header.left_out.series++;
            v->count = 0; /* so that it has no row in the table */
        }
        v->series.count = v->count;
        v->series.points = fv_timeline_put(w, v->points, v->count * sizeof(*v->points));
        v->series.extremes = put_extremes(w, v);
        free(v->points);
        v->points = NULL;
        v->is_written = true;
    }
}

void fv_timeline_write_series(struct fv_timeline_writer *w)
{
    struct fv_timeline_series *all = fv_xcalloc(w->value_count + 1, sizeof(*all));
    size_t count = 0;

    for (size_t i = 0; i < w->value_count; i++)
        if (w->values[i].series.count)
            all[count++] = w->values[i].series;
    w->header.series.count = count;
    w->header.series.offset = fv_timeline_put(w, all, count * sizeof(*all));
    free(all);
}

void fv_timeline_add_critical(struct fv_timeline_writer *w, uint32_t rank, uint32_t slot, uint64_t begin_ns,
                              uint64_t end_ns)
{
    if (end_ns <= begin_ns)
        return;
    FV_GROW(w->critical, w->critical_room, w->critical_count + 1);
    w->critical[w->critical_count++] = (struct fv_timeline_stretch){ begin_ns, end_ns, w->first_row[rank] + slot, 0 };
}
