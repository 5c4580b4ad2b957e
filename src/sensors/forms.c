/* SPDX-License-Identifier: BSD-3-Clause */
/* See forms.h. What the kernel prints stays in its order while it runs: so an event is looked for where it was, and
 * only searched if it is not there. */
#include "sensors/forms.h"
#include "sensors/form_parts.h"
#include "sensors/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KIB = 1024 };

/* ---- keys ---- */

struct key {
    const char *name, *value;
    size_t length;
};

/* False: the line has none. */
static bool key_of(const char *line, struct key *out)
{
    if (!strncmp(line, "Node ", 5))
        line = fv_form_next_word(fv_form_next_word(line));
    out->name = line;
    out->length = fv_form_word_length(line);
    out->value = fv_form_next_word(line);
    if (out->length && line[out->length - 1] == ':')
        out->length--;
    return out->length && fv_form_number_at(out->value) != FV_SENSOR_NONE;
}

/* In files of memory sizes some lines count pages. */
static bool is_in_kib(const struct key *key)
{
    return !strncmp(fv_form_next_word(key->value), "kB", 2);
}

static bool open_keys(struct fv_sensor *sensor)
{
    size_t count;
    struct fv_sensor_match *found = fv_form_find_sources(sensor, &count);
    struct key key;

    if (!found || !fv_form_make_files(sensor, count))
        return false;
    for (size_t i = 0; i < count; i++)
        sensor->state->files[i] = fv_sensor_file(found[i].path);
    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = sensor->state->text; *line; line = fv_form_next_line(line))
        if (key_of(line, &key) && fv_form_add_event(sensor, key.name, key.length) && sensor->kind->scale == KIB &&
            !is_in_kib(&key)) {
            sensor->events[sensor->event_count - 1].unit = "";
            sensor->events[sensor->event_count - 1].scale = 1;
        }
    return true;
}

static bool is_named(const struct fv_sensor_event *e, const char *name, size_t length)
{
    return !strncmp(e->name, name, length) && !e->name[length];
}

/* Its number; event_count: it is new, and has none. */
static size_t event_of(const struct fv_sensor *sensor, size_t expected, const char *name, size_t length)
{
    if (expected < sensor->event_count && is_named(&sensor->events[expected], name, length))
        return expected;
    for (size_t i = 0; i < sensor->event_count; i++)
        if (is_named(&sensor->events[i], name, length))
            return i;
    return sensor->event_count;
}

static void read_keys(struct fv_sensor *sensor, uint64_t *values)
{
    for (size_t source = 0; source < sensor->source_count; source++, values += sensor->event_count) {
        size_t expected = 0;
        struct key key;

        fv_sensor_load(sensor, sensor->state->files[source]);
        for (const char *line = sensor->state->text; *line; line = fv_form_next_line(line)) {
            size_t event = key_of(line, &key) ? event_of(sensor, expected, key.name, key.length) : sensor->event_count;

            if (event == sensor->event_count)
                continue;
            values[event] = fv_form_number_at(key.value);
            expected = event + 1;
        }
    }
}

const struct fv_sensor_form fv_form_keys = { .open = open_keys, .read = read_keys };

/* ---- a file for each number ---- */

static uint64_t number_in(struct fv_sensor *sensor, int fd)
{
    return fv_sensor_load(sensor, fd) ? fv_form_number_at(sensor->state->text) : FV_SENSOR_NONE;
}

/* Energy counters say where they wrap. */
static bool find_wraps(struct fv_sensor *sensor, const struct fv_sensor_match *found)
{
    char path[600];

    if (!(sensor->wraps = fv_sensor_take(sensor, sensor->source_count * sizeof(*sensor->wraps))))
        return false;
    for (size_t i = 0; i < sensor->source_count; i++) {
        snprintf(path, sizeof(path), "%s/max_energy_range_uj", found[i].path);
        int fd = fv_sensor_file(path);

        sensor->wraps[i] = number_in(sensor, fd); /* UINT64_MAX: it is not said */
        if (fd >= 0)
            close(fd);
    }
    return true;
}

/* Sources that have none of the files are left out. */
static bool open_files(struct fv_sensor *sensor)
{
    size_t count, kept = 0;
    struct fv_sensor_match *found = fv_form_find_sources(sensor, &count);
    char path[800];

    if (!found || !fv_form_name_events(sensor) || !fv_form_make_files(sensor, count * sensor->event_count))
        return false;
    for (size_t i = 0; i < count; i++) {
        int *files = sensor->state->files + kept * sensor->event_count;
        bool any = false;

        for (size_t e = 0; e < sensor->event_count; e++) {
            snprintf(path, sizeof(path), "%s/%s", found[i].path, sensor->events[e].name);
            files[e] = fv_sensor_file(path);
            any |= files[e] >= 0;
        }
        found[kept] = found[i];
        sensor->sources[kept] = sensor->sources[i];
        kept += any;
    }
    sensor->source_count = kept;
    return kept && find_wraps(sensor, found);
}

static void read_files(struct fv_sensor *sensor, uint64_t *values)
{
    size_t count = sensor->source_count * sensor->event_count;

    for (size_t i = 0; i < count; i++)
        values[i] = number_in(sensor, sensor->state->files[i]);
}

const struct fv_sensor_form fv_form_files = { .open = open_files, .read = read_files };

/* ---- a line for each source ---- */

/* The path is "FILE BEGIN": lines that begin so; "*": all, "=NAME": the one of that name, which has one source. The
 * name is their last word before the numbers. */
static const char *begin_of(const struct fv_sensor *sensor)
{
    return strchr(sensor->kind->path, ' ') + 1;
}

/* The first number behind the line's name; NULL: it is none of the sources' lines. */
static const char *columns_of(const char *line, const char *begin, const char **name, size_t *length)
{
    line += strspn(line, " \t");
    *name = *begin == '*' ? fv_form_next_word(fv_form_next_word(line)) : line; /* "8 0 sda 1 2 3": behind two numbers */
    *length = fv_form_word_length(*name);
    if (*begin == '=') {
        bool is_it = *length == strlen(begin + 1) && !strncmp(*name, begin + 1, *length);

        *length = 0;
        return is_it ? fv_form_next_word(*name) : NULL;
    }
    if (*begin != '*' && (strncmp(line, begin, strlen(begin)) || *length == strlen(begin)))
        return NULL;
    return *length ? fv_form_next_word(*name) : NULL;
}

static bool open_lines(struct fv_sensor *sensor)
{
    const char *begin = begin_of(sensor), *name;
    char path[256];
    size_t length;

    snprintf(path, sizeof(path), "%.*s", (int)(begin - 1 - sensor->kind->path), sensor->kind->path);
    if (!fv_form_make_room(sensor) || !fv_form_name_events(sensor) || !fv_form_make_files(sensor, 1))
        return false;
    sensor->state->files[0] = fv_sensor_file(path);
    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = sensor->state->text; *line; line = fv_form_next_line(line))
        if (columns_of(line, begin, &name, &length))
            fv_form_add_source(sensor, name, length);
    return true;
}

static size_t source_of(const struct fv_sensor *sensor, size_t expected, const char *name, size_t length)
{
    for (size_t k = 0; k < sensor->source_count; k++) {
        size_t i = (expected + k) % sensor->source_count;

        if (!strncmp(sensor->sources[i], name, length) && !sensor->sources[i][length])
            return i;
    }
    return sensor->source_count;
}

static void read_numbers(const char *at, size_t count, uint64_t *values, size_t stride)
{
    for (size_t i = 0; i < count && *at && *at != '\n' && fv_form_number_at(at) != FV_SENSOR_NONE;
         i++, at = fv_form_next_word(at))
        values[i * stride] = fv_form_number_at(at);
}

static void read_lines(struct fv_sensor *sensor, uint64_t *values)
{
    const char *begin = begin_of(sensor), *name, *columns;
    size_t length, expected = 0;

    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = sensor->state->text; *line; line = fv_form_next_line(line)) {
        if (!(columns = columns_of(line, begin, &name, &length)))
            continue;
        size_t source = source_of(sensor, expected, name, length);
        if (source == sensor->source_count)
            continue;
        read_numbers(columns, sensor->event_count, values + source * sensor->event_count, 1);
        expected = source + 1;
    }
}

const struct fv_sensor_form fv_form_lines = { .open = open_lines, .read = read_lines };

/* ---- a line for each event, a column for each processor ---- */

/* Behind the numbers the kernel says what the line is of: "IO-APIC 2-edge timer". NULL: it does not. */
static const char *about_of_line(struct fv_sensor *sensor, const char *at)
{
    for (size_t i = 0; i < sensor->source_count && fv_form_number_at(at) != FV_SENSOR_NONE; i++)
        at = fv_form_next_word(at);
    size_t length = strcspn(at, "\n"), used = 0;
    char *about = length ? fv_sensor_name(sensor, at, length) : NULL;

    for (size_t i = 0; about && i < length; i++) /* with one blank between words */
        if (about[i] != ' ' || (used && about[used - 1] != ' '))
            about[used++] = about[i];
    if (about)
        about[used] = '\0';
    return about;
}

static bool open_grid(struct fv_sensor *sensor)
{
    if (!fv_form_make_room(sensor) || !fv_form_make_files(sensor, 1))
        return false;
    sensor->state->files[0] = fv_sensor_file(sensor->kind->path);
    fv_sensor_load(sensor, sensor->state->files[0]);
    const char *at = sensor->state->text + strspn(sensor->state->text, " \t");
    for (; *at && *at != '\n'; at = fv_form_next_word(at))
        fv_form_add_source(sensor, at, fv_form_word_length(at));
    for (const char *line = fv_form_next_line(sensor->state->text); *line; line = fv_form_next_line(line)) {
        line += strspn(line, " \t");
        size_t length = fv_form_word_length(line);
        if (length > 1 && line[length - 1] == ':' && fv_form_add_event(sensor, line, length - 1))
            sensor->events[sensor->event_count - 1].about = about_of_line(sensor, fv_form_next_word(line));
    }
    return true;
}

static void read_grid(struct fv_sensor *sensor, uint64_t *values)
{
    size_t expected = 0;

    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = fv_form_next_line(sensor->state->text); *line; line = fv_form_next_line(line)) {
        line += strspn(line, " \t");
        size_t length = fv_form_word_length(line),
               event = length > 1 ? event_of(sensor, expected, line, length - 1) : sensor->event_count;

        if (event == sensor->event_count)
            continue;
        read_numbers(fv_form_next_word(line), sensor->source_count, values + event, sensor->event_count);
        expected = event + 1;
    }
}

const struct fv_sensor_form fv_form_grid = { .open = open_grid, .read = read_grid };

/* ---- pressure ---- */

static bool open_pressure(struct fv_sensor *sensor)
{
    size_t count;
    struct fv_sensor_match *found = fv_form_find_sources(sensor, &count);

    if (!found || !fv_form_make_files(sensor, count))
        return false;
    for (size_t i = 0; i < count; i++)
        sensor->state->files[i] = fv_sensor_file(found[i].path);
    return fv_form_add_event(sensor, "some", 4) && fv_form_add_event(sensor, "full", 4);
}

static void read_pressure(struct fv_sensor *sensor, uint64_t *values)
{
    for (size_t source = 0; source < sensor->source_count; source++, values += sensor->event_count) {
        fv_sensor_load(sensor, sensor->state->files[source]);
        for (const char *line = sensor->state->text; *line; line = fv_form_next_line(line)) {
            const char *total = strstr(line, "total=");
            size_t event = event_of(sensor, 0, line, fv_form_word_length(line));

            if (total && event < sensor->event_count)
                values[event] = fv_form_number_at(total + strlen("total="));
        }
    }
}

const struct fv_sensor_form fv_form_pressure = { .open = open_pressure, .read = read_pressure };
