/* SPDX-License-Identifier: BSD-3-Clause */
/* See forms.h: what devices of perf events count, over all programs. The kernel describes them below
 * sys/bus/event_source/devices/DEVICE: type, events/NAME ("event=0x04,umask=0x03", with NAME.scale and NAME.unit),
 * format/TERM (the bits of attr.config that the term is: "config:0-7,32-35"), and cpumask (one processor of each socket
 * that it has counters of). */
#include "base/older.h"
#include "base/perf_events.h"
#include "sensors/form_parts.h"
#include "sensors/forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER = 512, CONFIGS = 3, MASK_CPUS = 256, EVENTS = 8 };

/* Into state->text, whose line it is then. False: there is no such file. */
static bool load(struct fv_sensor *sensor, const char *folder, const char *name)
{
    char path[FOLDER + 200];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = fv_sensor_file(path);
    if (fd < 0)
        return false;
    sensor->state->text[0] = '\0';
    fv_sensor_load(sensor, fd);
    close(fd);
    sensor->state->text[strcspn(sensor->state->text, "\n")] = '\0';
    return sensor->state->text[0];
}

/* ---- an event ---- */

/* "config1:0-7,32-35": the lowest bits of the value go into the first range. False: it is not understood. */
static bool set_bits(const char *format, uint64_t value, uint64_t configs[CONFIGS])
{
    static const char config[] = "config";
    size_t word = 0;

    if (strncmp(format, config, sizeof(config) - 1))
        return false;
    format += sizeof(config) - 1;
    if (*format >= '1' && *format < '0' + CONFIGS)
        word = (size_t)(*format++ - '0');
    if (*format != ':')
        return false;
    do {
        char *end;
        unsigned long first = strtoul(format + 1, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        if (first > last || last > 63)
            return false;
        uint64_t bits = last - first == 63 ? UINT64_MAX : (UINT64_C(1) << (last - first + 1)) - 1;
        configs[word] |= (value & bits) << first;
        value = last - first == 63 ? 0 : value >> (last - first + 1);
        format = end;
    } while (*format == ',');
    return !*format;
}

/* "event=0x04,umask=0x03,edge" */
static bool encode(struct fv_sensor *sensor, const char *folder, const char *terms, uint64_t configs[CONFIGS])
{
    while (*terms) {
        size_t name = strcspn(terms, "=,"), all = strcspn(terms, ",");
        uint64_t value = terms[name] == '=' ? strtoull(terms + name + 1, NULL, 0) : 1;
        char format[160];

        snprintf(format, sizeof(format), "format/%.*s", (int)(name < 100 ? name : 100), terms);
        if (!load(sensor, folder, format) || !set_bits(sensor->state->text, value, configs))
            return false;
        terms += all + (terms[all] == ',');
    }
    return true;
}

/* With a tree of another machine the numbers of devices are that one's: those of software are everywhere the same. */
static bool find_type(struct fv_sensor *sensor, const char *folder, uint32_t *type)
{
    if (!load(sensor, folder, "type"))
        return false;
    *type = (uint32_t)strtoul(sensor->state->text, NULL, 10);
    return !*fv_sensors_root() || *type == PERF_TYPE_SOFTWARE;
}

/* Those of software have no files. */
static bool describe_software(const char *event, struct perf_event_attr *attr)
{
    struct fv_perf_event known;

    if (fv_perf_event_parse(event, strlen(event), &known) || known.type != PERF_TYPE_SOFTWARE)
        return false;
    *attr = (struct perf_event_attr){ .size = sizeof(*attr), .type = known.type, .config = known.config };
    return true;
}

/* Events that the kernel has no name for. Of AMD's the numbers are of processors whose events have 12 bits in these
 * places. */
static const struct {
    const char *sensor, *event, *terms, *format;
} numbered[] = {
    { "upi", "data_sent", "event=0x02,umask=0x0f", "" },
    { "upi", "data_received", "event=0x03,umask=0x0f", "" },
    { "xgmi", "link0_data_sent", "event=0x7c7,umask=0x02", "0-7,32-35," },
    { "xgmi", "link1_data_sent", "event=0x807,umask=0x02", "0-7,32-35," },
    { "xgmi", "link2_data_sent", "event=0x847,umask=0x02", "0-7,32-35," },
    { "xgmi", "link3_data_sent", "event=0x887,umask=0x02", "0-7,32-35," },
};

static const char *terms_of(struct fv_sensor *sensor, const char *folder, const char *event)
{
    for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++)
        if (!strcmp(numbered[i].sensor, sensor->kind->name) && !strcmp(numbered[i].event, event))
            return load(sensor, folder, "format/event") && strstr(sensor->state->text, numbered[i].format)
                       ? numbered[i].terms
                       : NULL;
    return NULL;
}

static bool describe(struct fv_sensor *sensor, const char *folder, const char *event, struct perf_event_attr *attr)
{
    char name[120], terms[400];
    uint64_t configs[CONFIGS] = { 0 };
    uint32_t type;

    snprintf(name, sizeof(name), "events/%s", event);
    if (!find_type(sensor, folder, &type))
        return false;
    const char *given = load(sensor, folder, name) ? sensor->state->text : terms_of(sensor, folder, event);
    if (!given)
        return type == PERF_TYPE_SOFTWARE && describe_software(event, attr);
    snprintf(terms, sizeof(terms), "%s", given);
    if (!encode(sensor, folder, terms, configs))
        return false;
    *attr = (struct perf_event_attr){
        .size = sizeof(*attr), .type = type, .config = configs[0], .config1 = configs[1], .config2 = configs[2]
    };
    return true;
}

/* ---- sources: a device, on one processor of each socket ---- */

/* "0,18" or "0-3"; without a file all that are online. Those that there is no room for are told. */
static size_t processors_of(struct fv_sensor *sensor, const char *folder, int out[MASK_CPUS])
{
    const char *at =
        load(sensor, folder, "cpumask") || load(sensor, "sys/devices/system/cpu", "online") ? sensor->state->text : "0";
    size_t count = 0;

    while (*at) {
        char *end;
        long first = strtol(at, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;

        if (end == at)
            break;
        for (; first <= last && count < MASK_CPUS; first++)
            out[count++] = (int)first;
        sensor->left_out += first <= last ? (uint32_t)(last - first + 1) : 0;
        at = end + (*end == ',');
    }
    return count;
}

/* As one group: to read a counter of another processor is to interrupt that. True: one of its events can be counted
 * here. */
static bool open_source(struct fv_sensor *sensor, const char *folder, int cpu, int *files)
{
    int leader = -1;

    for (size_t e = 0; e < sensor->event_count; e++) {
        struct perf_event_attr attr;

        files[e] = -1;
        if (!describe(sensor, folder, sensor->events[e].name, &attr))
            continue;
        attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        files[e] = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);
        if (leader < 0)
            leader = files[e];
    }
    return leader >= 0;
}

static void set_unit(struct fv_sensor *sensor, const char *folder, struct fv_sensor_event *event)
{
    char name[120];
    double scale = sensor->kind->scale;

    snprintf(name, sizeof(name), "events/%s.scale", event->name);
    if (load(sensor, folder, name))
        scale = strtod(sensor->state->text, NULL);
    snprintf(name, sizeof(name), "events/%s.unit", event->name);
    bool is_mib = load(sensor, folder, name) && !strcmp(sensor->state->text, "MiB");
    event->unit = is_mib ? "bytes" : sensor->kind->unit;
    event->scale = scale * (is_mib ? 1024 * 1024 : 1);
}

static bool open_perf(struct fv_sensor *sensor)
{
    size_t count, kept = 0, used = 0;
    struct fv_sensor_match *found = fv_form_find_sources(sensor, &count);
    int processors[MASK_CPUS];

    if (!found || !fv_form_name_events(sensor) || sensor->event_count > EVENTS ||
        !fv_form_make_files(sensor, count * MASK_CPUS * sensor->event_count))
        return false;
    sensor->source_count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t here = processors_of(sensor, found[i].path, processors);

        for (size_t k = 0; k < here; k++, used = kept * sensor->event_count) {
            char name[160];

            if (!open_source(sensor, found[i].path, processors[k], sensor->state->files + used))
                continue;
            snprintf(name, sizeof(name), "%s%scpu%d", found[i].source, *found[i].source ? "/" : "", processors[k]);
            kept += fv_form_add_source(sensor, name, strlen(name));
        }
    }
    for (size_t e = 0; e < sensor->event_count; e++)
        set_unit(sensor, found[0].path, &sensor->events[e]);
    return kept;
}

/* The first of a group that is open tells all: their number, for how long they were wanted and counted, and their
 * values in the order in which they were opened. A group that others kept from the device for a while is not known:
 * what it missed is no rate. */
static void read_source(const int *files, size_t count, uint64_t *values)
{
    enum { NUMBER, WANTED, COUNTED, VALUES };
    uint64_t told[VALUES + EVENTS];
    size_t first = 0, next = VALUES;

    while (first < count && files[first] < 0)
        first++;
    if (first == count || read(files[first], told, sizeof(told)) < (ssize_t)(VALUES * sizeof(*told)) ||
        told[COUNTED] < told[WANTED])
        return;
    for (size_t e = first; e < count && next < VALUES + told[NUMBER]; e++)
        if (files[e] >= 0)
            values[e] = told[next++];
}

static void read_perf(struct fv_sensor *sensor, uint64_t *values)
{
    for (size_t i = 0; i < sensor->source_count; i++)
        read_source(sensor->state->files + i * sensor->event_count, sensor->event_count,
                    values + i * sensor->event_count);
}

const struct fv_sensor_form fv_form_perf = { .open = open_perf, .read = read_perf };
