/* See forms.h. What the kernel prints stays in its order while it runs: so an event is looked for where it was, and only searched if it is not there. */
#include "sensors/forms.h"
#include "sensors/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOURCES = 4096, EVENTS = 1024, KIB = 1024 };

static size_t word_length(const char *at)
{
    return strcspn(at, " \t\n");
}

static const char *next_word(const char *at)
{
    at += word_length(at);
    return at + strspn(at, " \t");
}

static const char *next_line(const char *at)
{
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}

/* FV_SENSOR_NONE: there is no number. */
static uint64_t number_at(const char *at)
{
    char *end;
    bool is_negative = *at == '-';
    uint64_t value = strtoull(at + is_negative, &end, 10);

    if (end == at + is_negative)
        return FV_SENSOR_NONE;
    return is_negative ? (uint64_t)-(int64_t)value : value;
}

static bool add_event(struct fv_sensor *sensor, const char *name, size_t length)
{
    if (sensor->event_count == EVENTS)
        return false;
    struct fv_sensor_event *e = &sensor->events[sensor->event_count];
    e->name = fv_sensor_name(sensor, name, length);
    sensor->event_count += e->name != NULL;
    return e->name != NULL;
}

static bool add_source(struct fv_sensor *sensor, const char *name, size_t length)
{
    if (sensor->source_count == SOURCES)
        return false;
    const char *own = fv_sensor_name(sensor, name, length);
    sensor->sources[sensor->source_count] = own;
    sensor->source_count += own != NULL;
    return own != NULL;
}

/* Room for all; false: no memory. */
static bool make_room(struct fv_sensor *sensor)
{
    sensor->events = fv_sensor_take(sensor, EVENTS * sizeof(*sensor->events));
    sensor->sources = fv_sensor_take(sensor, SOURCES * sizeof(*sensor->sources));
    return sensor->events && sensor->sources;
}

static bool name_events(struct fv_sensor *sensor)
{
    for (const char *const *name = sensor->kind->files; *name; name++)
        if (!add_event(sensor, *name, strlen(*name)))
            return false;
    return true;
}

static bool make_files(struct fv_sensor *sensor, size_t count)
{
    struct fv_sensor_state *s = sensor->state;

    s->files = fv_sensor_take(sensor, count * sizeof(*s->files));
    s->file_count = s->files ? count : 0;
    for (size_t i = 0; i < s->file_count; i++)
        s->files[i] = -1;
    return s->files;
}

/* Sources by the pattern, each with the name that its stars stand for. NULL: there are none, or no memory. */
static struct fv_sensor_match *find_sources(struct fv_sensor *sensor, size_t *count)
{
    struct fv_sensor_match *found = make_room(sensor) ? fv_sensor_take(sensor, SOURCES * sizeof(*found)) : NULL;

    *count = found ? fv_sensor_glob(sensor->kind->path, found, SOURCES) : 0;
    for (size_t i = 0; i < *count; i++)
        add_source(sensor, found[i].source, strlen(found[i].source));
    return *count && sensor->source_count == *count ? found : NULL;
}

/* ---- keys ---- */

struct key {
    const char *name, *value;
    size_t length;
};

/* False: the line has none. */
static bool key_of(const char *line, struct key *out)
{
    if (!strncmp(line, "Node ", 5))
        line = next_word(next_word(line));
    out->name = line;
    out->length = word_length(line);
    out->value = next_word(line);
    if (out->length && line[out->length - 1] == ':')
        out->length--;
    return out->length && number_at(out->value) != FV_SENSOR_NONE;
}

/* In files of memory sizes some lines count pages. */
static bool is_in_kib(const struct key *key)
{
    return !strncmp(next_word(key->value), "kB", 2);
}

static bool open_keys(struct fv_sensor *sensor)
{
    size_t count;
    struct fv_sensor_match *found = find_sources(sensor, &count);
    struct key key;

    if (!found || !make_files(sensor, count))
        return false;
    for (size_t i = 0; i < count; i++)
        sensor->state->files[i] = fv_sensor_file(found[i].path);
    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = sensor->state->text; *line; line = next_line(line))
        if (key_of(line, &key) && add_event(sensor, key.name, key.length) && sensor->kind->scale == KIB && !is_in_kib(&key)) {
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
        for (const char *line = sensor->state->text; *line; line = next_line(line)) {
            size_t event = key_of(line, &key) ? event_of(sensor, expected, key.name, key.length) : sensor->event_count;

            if (event == sensor->event_count)
                continue;
            values[event] = number_at(key.value);
            expected = event + 1;
        }
    }
}

const struct fv_sensor_form fv_form_keys = { open_keys, read_keys };

/* ---- a file for each number ---- */

static uint64_t number_in(struct fv_sensor *sensor, int fd)
{
    return fv_sensor_load(sensor, fd) ? number_at(sensor->state->text) : FV_SENSOR_NONE;
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
    struct fv_sensor_match *found = find_sources(sensor, &count);
    char path[800];

    if (!found || !name_events(sensor) || !make_files(sensor, count * sensor->event_count))
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

const struct fv_sensor_form fv_form_files = { open_files, read_files };

/* ---- a line for each source ---- */

/* The path is "FILE BEGIN": lines that begin so, a star stands for all. The name is their last word before the numbers. */
static const char *begin_of(const struct fv_sensor *sensor)
{
    return strchr(sensor->kind->path, ' ') + 1;
}

/* The first number behind the line's name; NULL: it is none of the sources' lines. */
static const char *columns_of(const char *line, const char *begin, const char **name, size_t *length)
{
    line += strspn(line, " \t");
    if (*begin == '*') { /* "8 0 sda 1 2 3": behind two numbers */
        *name = next_word(next_word(line));
    } else {
        *name = line;
        if (strncmp(line, begin, strlen(begin)))
            return NULL;
    }
    *length = word_length(*name);
    return *length > (*begin == '*' ? 0 : strlen(begin)) ? next_word(*name) : NULL;
}

static bool open_lines(struct fv_sensor *sensor)
{
    const char *begin = begin_of(sensor), *name;
    char path[256];
    size_t length;

    snprintf(path, sizeof(path), "%.*s", (int)(begin - 1 - sensor->kind->path), sensor->kind->path);
    if (!make_room(sensor) || !name_events(sensor) || !make_files(sensor, 1))
        return false;
    sensor->state->files[0] = fv_sensor_file(path);
    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = sensor->state->text; *line; line = next_line(line))
        if (columns_of(line, begin, &name, &length))
            add_source(sensor, name, length);
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
    for (size_t i = 0; i < count && *at && *at != '\n' && number_at(at) != FV_SENSOR_NONE; i++, at = next_word(at))
        values[i * stride] = number_at(at);
}

static void read_lines(struct fv_sensor *sensor, uint64_t *values)
{
    const char *begin = begin_of(sensor), *name, *columns;
    size_t length, expected = 0;

    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = sensor->state->text; *line; line = next_line(line)) {
        if (!(columns = columns_of(line, begin, &name, &length)))
            continue;
        size_t source = source_of(sensor, expected, name, length);
        if (source == sensor->source_count)
            continue;
        read_numbers(columns, sensor->event_count, values + source * sensor->event_count, 1);
        expected = source + 1;
    }
}

const struct fv_sensor_form fv_form_lines = { open_lines, read_lines };

/* ---- a line for each event, a column for each processor ---- */

static bool open_grid(struct fv_sensor *sensor)
{
    if (!make_room(sensor) || !make_files(sensor, 1))
        return false;
    sensor->state->files[0] = fv_sensor_file(sensor->kind->path);
    fv_sensor_load(sensor, sensor->state->files[0]);
    const char *at = sensor->state->text + strspn(sensor->state->text, " \t");
    for (; *at && *at != '\n'; at = next_word(at))
        add_source(sensor, at, word_length(at));
    for (const char *line = next_line(sensor->state->text); *line; line = next_line(line)) {
        line += strspn(line, " \t");
        size_t length = word_length(line);
        if (length > 1 && line[length - 1] == ':')
            add_event(sensor, line, length - 1);
    }
    return true;
}

static void read_grid(struct fv_sensor *sensor, uint64_t *values)
{
    size_t expected = 0;

    fv_sensor_load(sensor, sensor->state->files[0]);
    for (const char *line = next_line(sensor->state->text); *line; line = next_line(line)) {
        line += strspn(line, " \t");
        size_t length = word_length(line), event = length > 1 ? event_of(sensor, expected, line, length - 1) : sensor->event_count;

        if (event == sensor->event_count)
            continue;
        read_numbers(next_word(line), sensor->source_count, values + event, sensor->event_count);
        expected = event + 1;
    }
}

const struct fv_sensor_form fv_form_grid = { open_grid, read_grid };

/* ---- pressure ---- */

static bool open_pressure(struct fv_sensor *sensor)
{
    size_t count;
    struct fv_sensor_match *found = find_sources(sensor, &count);

    if (!found || !make_files(sensor, count))
        return false;
    for (size_t i = 0; i < count; i++)
        sensor->state->files[i] = fv_sensor_file(found[i].path);
    return add_event(sensor, "some", 4) && add_event(sensor, "full", 4);
}

static void read_pressure(struct fv_sensor *sensor, uint64_t *values)
{
    for (size_t source = 0; source < sensor->source_count; source++, values += sensor->event_count) {
        fv_sensor_load(sensor, sensor->state->files[source]);
        for (const char *line = sensor->state->text; *line; line = next_line(line)) {
            const char *total = strstr(line, "total=");
            size_t event = event_of(sensor, 0, line, word_length(line));

            if (total && event < sensor->event_count)
                values[event] = number_at(total + strlen("total="));
        }
    }
}

const struct fv_sensor_form fv_form_pressure = { open_pressure, read_pressure };
