/* SPDX-License-Identifier: BSD-3-Clause */
/* See sensors.h: the most that an event can be. */
#include "sensors/forms.h"
#include "sensors/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct maximum {
    const char *sensor, *event; /* how the event begins */
    const char *file;           /* that has the number, in the source's folder; NULL: it is `scale` */
    double scale;               /* of the file's number */
} maxima[] = {
    { "cpu", "", NULL, 1 },
    { "pressure", "", NULL, 1 },
    { "idle", "time", NULL, 1 },
    { "net", "rx_bytes", "../speed", 1e6 / 8 }, /* Mbit/s */
    { "net", "tx_bytes", "../speed", 1e6 / 8 },
    { "infiniband", "port_xmit_data", "../rate", 1e9 / 8 }, /* "100 Gb/sec (4X EDR)" */
    { "infiniband", "port_rcv_data", "../rate", 1e9 / 8 },
    { "frequency", "scaling_cur_freq", "cpuinfo_max_freq", 1000 },
    { "power", "power1", "power1_cap", 1e-6 },
};

/* The pattern with the source's parts, which have slashes between, in the places of its folders with stars. */
static void fill_in(const char *pattern, const char *source, char *out, size_t room)
{
    size_t used = 0;

    out[0] = '\0';
    while (*pattern && used < room) {
        size_t folder = strcspn(pattern, "/"), part = strcspn(source, "/");
        bool is_starred = memchr(pattern, '*', folder);

        used += (size_t)snprintf(out + used, room - used, "%s%.*s", used ? "/" : "", (int)(is_starred ? part : folder),
                                 is_starred ? source : pattern);
        if (is_starred)
            source += part + (source[part] == '/');
        pattern += folder + (pattern[folder] == '/');
    }
}

static double read_number(const char *path)
{
    char text[64] = "";
    int fd = fv_sensor_file(path);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;

    if (fd >= 0)
        close(fd);
    return length > 0 && strtod(text, NULL) > 0 ? strtod(text, NULL) : NAN; /* an interface that is down says -1 */
}

double fv_sensor_maximum(const struct fv_sensor *sensor, size_t source, size_t event)
{
    char folder[600], path[700];

    if (sensor->kind->form->library)
        return fv_gpu_maximum(sensor, source, event);
    for (size_t i = 0; i < sizeof(maxima) / sizeof(*maxima); i++) {
        const struct maximum *m = &maxima[i];

        if (strcmp(m->sensor, sensor->kind->name) || strncmp(m->event, sensor->events[event].name, strlen(m->event)))
            continue;
        if (!m->file)
            return m->scale;
        fill_in(sensor->kind->path, sensor->sources[source], folder, sizeof(folder));
        snprintf(path, sizeof(path), "%s/%s", folder, m->file);
        return read_number(path) * m->scale;
    }
    return NAN;
}
