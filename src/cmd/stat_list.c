/* SPDX-License-Identifier: BSD-3-Clause */
/* See stat_list.h. */
#include "cmd/stat_list.h"
#include "sensors/watch.h"

#include <stdio.h>

static void list_event(const struct fv_sensor *sensor, size_t event)
{
    const struct fv_sensor_event *e = &sensor->events[event];
    const char *about = fv_sensor_event_about(sensor, event);

    printf("  %s.%s%s%s%s%s%s\n", sensor->kind->name, e->name, *e->unit ? "  " : "", e->unit,
           e->is_gauge ? "  gauge"
           : *e->unit  ? "/s"
                       : "  /s",
           *about ? "  " : "", about);
}

static void list_sensor(const struct fv_sensor *sensor)
{
    printf("%s: %s. %zu source%s, %.3g us to read\n", sensor->kind->name, sensor->kind->about, sensor->source_count,
           sensor->source_count == 1 ? "" : "s", 1e6 * sensor->cost_s);
    for (size_t k = 0; k < sensor->source_count && *sensor->sources[k]; k++)
        printf("%s@%s%s", k ? " " : "  ", sensor->sources[k], k + 1 == sensor->source_count ? "\n" : "");
    for (size_t e = 0; e < sensor->event_count; e++)
        list_event(sensor, e);
}

void fv_stat_list(void)
{
    struct fv_watch watch = { 0 };

    fv_watch_open_all(&watch);
    for (size_t i = 0; i < watch.sensor_count; i++)
        list_sensor(&watch.sensors[i].sensor);
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++) {
        const char *why = fv_sensor_library_why(k);

        if (!fv_watch_has(&watch, k) && why)
            printf("%s: %s\n", k->name, why);
        else if (!fv_watch_has(&watch, k))
            printf("%s: not on this machine (%s/%s)\n", k->name, fv_sensors_root(), k->path);
    }
    fv_watch_close(&watch);
}

void fv_stat_glossary(void)
{
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++) {
        const char *name = NULL, *about = NULL;

        printf("%s%s: %s\n", k == fv_sensor_kinds ? "" : "\n", k->name, k->about);
        while (fv_sensor_next_known(k, &name, &about))
            printf("  %s: %s\n", name, about);
    }
}
