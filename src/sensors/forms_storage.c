/* SPDX-License-Identifier: BSD-3-Clause */
/* See forms.h: values by hwmon, and what clients of file systems tell. */
#include "sensors/form_parts.h"
#include "sensors/forms.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- a file for each source ---- */

/* What "energy1_label" says beside "energy1_input"; "": there is none. */
static const char *label_of(struct fv_sensor *sensor, const char *path)
{
    static const char input[] = "_input";
    size_t length = strlen(path), end = sizeof(input) - 1;
    char label[600];

    if (length < end || strcmp(path + length - end, input))
        return "";
    snprintf(label, sizeof(label), "%.*s_label", (int)(length - end), path);
    int fd = fv_sensor_file(label);
    if (fd < 0)
        return "";
    sensor->state->text[0] = '\0';
    fv_sensor_load(sensor, fd);
    close(fd);
    sensor->state->text[strcspn(sensor->state->text, "\n")] = '\0';
    return sensor->state->text;
}

static bool open_values(struct fv_sensor *sensor)
{
    size_t count, kept = 0;
    struct fv_sensor_match *found = fv_form_find_sources(sensor, &count);
    const char *wanted = strchr(sensor->kind->path, ' ');

    if (!found || !fv_form_name_events(sensor) || !fv_form_make_files(sensor, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *label = label_of(sensor, found[i].path);

        if (wanted && strncmp(label, wanted + 1, strlen(wanted + 1)))
            continue;
        sensor->sources[kept] = *label ? fv_sensor_name(sensor, label, strlen(label)) : sensor->sources[i];
        sensor->state->files[kept] = fv_sensor_file(found[i].path);
        kept += sensor->sources[kept] && sensor->state->files[kept] >= 0;
    }
    sensor->source_count = kept;
    return kept;
}

static void read_values(struct fv_sensor *sensor, uint64_t *values)
{
    for (size_t i = 0; i < sensor->source_count; i++)
        values[i] =
            fv_sensor_load(sensor, sensor->state->files[i]) ? fv_form_number_at(sensor->state->text) : FV_SENSOR_NONE;
}

const struct fv_sensor_form fv_form_values = { .open = open_values, .read = read_values };

/* ---- NFS ---- */

struct mount {
    const char *name, *numbers; /* where it is mounted; behind "bytes:" */
    size_t length;
};

/* The next mount by NFS from a line on, which is set behind it. False: there is none. */
static bool next_mount(const char **line, struct mount *out)
{
    static const char on[] = " mounted on ", with[] = " with fstype nfs", bytes[] = "bytes:";
    bool is_nfs = false;

    for (; **line; *line = fv_form_next_line(*line)) {
        const char *end = *line + strcspn(*line, "\n"), *at = *line + strspn(*line, " \t");

        if (!strncmp(at, "device ", 7)) {
            const char *name = strstr(at, on), *type = name ? strstr(name, with) : NULL;

            is_nfs = type && type < end;
            out->name = is_nfs ? name + sizeof(on) - 1 : NULL;
            out->length = is_nfs ? (size_t)(type - out->name) : 0;
        } else if (is_nfs && !strncmp(at, bytes, sizeof(bytes) - 1)) {
            out->numbers = fv_form_next_word(at);
            *line = fv_form_next_line(*line);
            return true;
        }
    }
    return false;
}

static bool open_mounts(struct fv_sensor *sensor)
{
    struct mount mount;

    if (!fv_form_make_room(sensor) || !fv_form_name_events(sensor) || !fv_form_make_files(sensor, 1))
        return false;
    sensor->state->files[0] = fv_sensor_file(sensor->kind->path);
    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = sensor->state->text; next_mount(&line, &mount);)
        fv_form_add_source(sensor, mount.name, mount.length);
    return true;
}

/* Mounts come and go: each is looked for by its name. */
static void read_mounts(struct fv_sensor *sensor, uint64_t *values)
{
    struct mount mount;

    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = sensor->state->text; next_mount(&line, &mount);)
        for (size_t i = 0; i < sensor->source_count; i++) {
            const char *at = mount.numbers;

            if (strncmp(sensor->sources[i], mount.name, mount.length) || sensor->sources[i][mount.length])
                continue;
            for (size_t e = 0; e < sensor->event_count; e++, at = fv_form_next_word(at))
                values[i * sensor->event_count + e] = fv_form_number_at(at);
        }
}

const struct fv_sensor_form fv_form_mounts = { .open = open_mounts, .read = read_mounts };

/* ---- Lustre ---- */

/* "read_bytes  12 samples [bytes] 4096 1048576 5242880": the sum of what has a size, else the count. False: no such
 * line. */
static bool total_of(const char *line, size_t *length, uint64_t *value, bool *has_size)
{
    const char *count = fv_form_next_word(line), *samples = fv_form_next_word(count),
               *unit = fv_form_next_word(samples);

    *length = fv_form_word_length(line);
    *has_size = !strncmp(unit, "[bytes]", 7);
    if (!*length || strncmp(samples, "samples", 7))
        return false;
    for (int i = 0; *has_size && i < 3; i++) /* least, most, sum */
        unit = fv_form_next_word(unit);
    *value = fv_form_number_at(*has_size ? unit : count);
    return true;
}

static bool open_totals(struct fv_sensor *sensor)
{
    size_t count, length;
    struct fv_sensor_match *found = fv_form_find_sources(sensor, &count);
    uint64_t value;
    bool has_size;

    if (!found || !fv_form_make_files(sensor, count))
        return false;
    for (size_t i = 0; i < count; i++)
        sensor->state->files[i] = fv_sensor_file(found[i].path);
    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = sensor->state->text; *line; line = fv_form_next_line(line))
        if (total_of(line, &length, &value, &has_size))
            fv_form_add_event(sensor, line, length);
    return true;
}

static void read_totals(struct fv_sensor *sensor, uint64_t *values)
{
    size_t length;
    uint64_t value;
    bool has_size;

    for (size_t source = 0; source < sensor->source_count; source++, values += sensor->event_count) {
        fv_sensor_load(sensor, sensor->state->files[source]);
        for (const char *line = sensor->state->text; *line; line = fv_form_next_line(line))
            for (size_t e = 0; total_of(line, &length, &value, &has_size) && e < sensor->event_count; e++)
                if (!strncmp(sensor->events[e].name, line, length) && !sensor->events[e].name[length])
                    values[e] = value;
    }
}

const struct fv_sensor_form fv_form_totals = { .open = open_totals, .read = read_totals };
