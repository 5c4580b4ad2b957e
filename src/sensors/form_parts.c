/* SPDX-License-Identifier: BSD-3-Clause */
/* See form_parts.h. */
#include "sensors/form_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCES = 4096, EVENTS = 16384 };

size_t fv_form_word_length(const char *at)
{
    return strcspn(at, " \t\n");
}

const char *fv_form_next_word(const char *at)
{
    at += fv_form_word_length(at);
    return at + strspn(at, " \t");
}

const char *fv_form_next_line(const char *at)
{
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

uint64_t fv_form_number_at(const char *at)
{
    char *end;
    bool is_negative = *at == '-';
    uint64_t value = strtoull(at + is_negative, &end, 10);

    if (end == at + is_negative)
        return FV_SENSOR_NONE;
    return is_negative ? (uint64_t) - (int64_t)value : value;
}

bool fv_form_add_event(struct fv_sensor *sensor, const char *name, size_t length)
{
    if (sensor->event_count == EVENTS) {
        sensor->left_out++;
        return false;
    }
    struct fv_sensor_event *e = &sensor->events[sensor->event_count];
    e->name = fv_sensor_name(sensor, name, length);
    sensor->event_count += e->name != NULL;
    return e->name != NULL;
}

bool fv_form_add_source(struct fv_sensor *sensor, const char *name, size_t length)
{
    if (sensor->source_count == SOURCES) {
        sensor->left_out++;
        return false;
    }
    const char *own = fv_sensor_name(sensor, name, length);
    sensor->sources[sensor->source_count] = own;
    sensor->source_count += own != NULL;
    return own != NULL;
}

bool fv_form_make_room(struct fv_sensor *sensor)
{
    sensor->events = fv_sensor_take(sensor, EVENTS * sizeof(*sensor->events));
    sensor->sources = fv_sensor_take(sensor, SOURCES * sizeof(*sensor->sources));
    return sensor->events && sensor->sources;
}

bool fv_form_name_events(struct fv_sensor *sensor)
{
    for (const char *const *name = sensor->kind->files; *name; name++)
        if (!fv_form_add_event(sensor, *name, strlen(*name)))
            return false;
    return true;
}

bool fv_form_make_files(struct fv_sensor *sensor, size_t count)
{
    struct fv_sensor_state *s = sensor->state;

    s->files = fv_sensor_take(sensor, count * sizeof(*s->files));
    s->file_count = s->files ? count : 0;
    for (size_t i = 0; i < s->file_count; i++)
        s->files[i] = -1;
    return s->files;
}

/* The path, to its blank if it has one, with the group of this process in the place of '@', in a tree that has groups
 * by version 2 alone. */
static void with_group(const char *path, char *out, size_t room)
{
    const char *at = strchr(path, '@');
    char text[4096] = "";
    int fd = at ? fv_sensor_file("proc/self/cgroup") : -1;
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    const char *group = length > 0 ? strstr(text, "0::/") : NULL;

    if (fd >= 0)
        close(fd);
    if (at)
        snprintf(out, room, "%.*s%.*s%s", (int)(at - path), path, group ? (int)strcspn(group + 3, "\n") : 0,
                 group ? group + 3 : "", at + 1);
    else
        snprintf(out, room, "%.*s", (int)strcspn(path, " "), path);
}

struct fv_sensor_match *fv_form_find_sources(struct fv_sensor *sensor, size_t *count)
{
    struct fv_sensor_match *found = fv_form_make_room(sensor) ? fv_sensor_take(sensor, SOURCES * sizeof(*found)) : NULL;

    char path[600];

    with_group(sensor->kind->path, path, sizeof(path));
    *count = found ? fv_sensor_glob(path, found, SOURCES) : 0;
    for (size_t i = 0; i < *count; i++)
        fv_form_add_source(sensor, found[i].source, strlen(found[i].source));
    return *count && sensor->source_count == *count ? found : NULL;
}
