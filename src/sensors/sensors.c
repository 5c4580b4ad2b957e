/* SPDX-License-Identifier: BSD-3-Clause */
/* See sensors.h: one sensor, whatever its form. */
#include "sensors/sensors.h"
#include "base/now.h"
#include "sensors/forms.h"
#include "sensors/memory.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_gauge(const struct fv_sensor_kind *k, const char *name)
{
    return k->is_gauge || (k->gauges && !strncmp(name, k->gauges, strlen(k->gauges)));
}

/* What reading it takes at best: what it costs without disturbance. */
static void time_it(struct fv_sensor *sensor)
{
    uint64_t *values = fv_sensor_take(sensor, sensor->source_count * sensor->event_count * sizeof(*values));

    sensor->cost_s = INFINITY;
    for (int i = 0; values && i < 3; i++) {
        double begin = fv_now_s(), took;

        fv_sensor_read(sensor, values);
        took = fv_now_s() - begin;
        sensor->cost_s = took < sensor->cost_s ? took : sensor->cost_s;
    }
}

bool fv_sensor_open(struct fv_sensor *sensor, const struct fv_sensor_kind *kind)
{
    struct fv_sensor_state first = { 0 };

    *sensor = (struct fv_sensor){ .kind = kind, .state = &first };
    struct fv_sensor_state *state = fv_sensor_take(sensor, sizeof(*state));
    if (!state)
        return false;
    *state = first;
    sensor->state = state;
    state->text = fv_sensor_take(sensor, FV_SENSOR_TEXT);
    if (!state->text || !kind->form->open(sensor) || !sensor->source_count || !sensor->event_count) {
        fv_sensor_close(sensor);
        return false;
    }
    for (size_t i = 0; i < sensor->event_count; i++) {
        struct fv_sensor_event *e = &sensor->events[i];

        e->is_gauge |= is_gauge(kind, e->name);
        e->is_mean |= kind->is_mean;
        if (e->unit)
            continue;
        e->unit = kind->unit;
        e->scale = kind->scale;
        if (!*e->unit)
            fv_sensor_unit(e->name, &e->unit, &e->scale);
    }
    time_it(sensor);
    return true;
}

void fv_sensor_read(struct fv_sensor *sensor, uint64_t *values)
{
    memset(values, -1, sensor->source_count * sensor->event_count * sizeof(*values));
    sensor->kind->form->read(sensor, values);
}

void fv_sensor_close(struct fv_sensor *sensor)
{
    struct fv_sensor_state *s = sensor->state;

    for (size_t i = 0; s && i < s->file_count; i++)
        if (s->files[i] >= 0)
            close(s->files[i]);
    if (s)
        fv_sensor_give_back(s->arena);
    *sensor = (struct fv_sensor){ .kind = sensor->kind };
}

double fv_sensor_change(const struct fv_sensor *sensor, size_t source, size_t event, uint64_t before, uint64_t after)
{
    const struct fv_sensor_event *e = &sensor->events[event];
    uint64_t wrap = sensor->wraps ? sensor->wraps[source] : UINT64_MAX;

    if (after == FV_SENSOR_NONE || (before == FV_SENSOR_NONE && !e->is_gauge))
        return NAN;
    if (e->is_gauge)
        return (double)(int64_t)after * e->scale;
    if (after >= before)
        return (double)(after - before) * e->scale;
    if (before > wrap / 2)
        return (double)(wrap - before + after) * e->scale;
    return (double)after * e->scale;
}
