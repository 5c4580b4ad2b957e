/* SPDX-License-Identifier: BSD-3-Clause */
/* See sensors.h. */
#include "merge/sensors.h"
#include "trace/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t take_part(const char *at, char *out, size_t room)
{
    size_t length = strcspn(at, "\t\n");

    snprintf(out, room, "%.*s", (int)length, at);
    return length + (at[length] == '\t');
}

bool fv_def_sensor_next(const char **at, struct fv_def_sensor *out)
{
    char kind[16];

    if (!**at)
        return false;
    *at += take_part(*at, out->label, sizeof(out->label));
    *at += take_part(*at, out->unit, sizeof(out->unit));
    *at += take_part(*at, kind, sizeof(kind));
    *at += strcspn(*at, "\n");
    *at += **at == '\n';
    out->is_gauge = !strcmp(kind, "gauge");
    return true;
}

/* A name of the kernel's, without what parts the names here. */
static void put_name(char *out, size_t *used, const char *name, size_t most)
{
    for (size_t i = 0; i < most && name[i]; i++)
        out[(*used)++] = strchr("\t\n", name[i]) ? ' ' : name[i];
}

char *fv_sensors_names(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SENSOR_SERIES);
    size_t used = 0, room = 0;
    char *out = NULL;

    FV_GROW(out, room, 1);
    for (const struct fv_sensor_series *s; (s = fv_cursor_next(&c));) {
        FV_GROW(out, room, used + s->label_bytes + sizeof(s->unit) + 16);
        put_name(out, &used, s->label, s->label_bytes);
        out[used++] = '\t';
        put_name(out, &used, s->unit, sizeof(s->unit));
        used += (size_t)sprintf(out + used, "\t%s\n", s->flags & FV_SENSOR_GAUGE ? "gauge" : "counter");
    }
    out[used] = '\0';
    return out;
}

bool fv_sensors_of_host(const struct fv_defs *d, uint32_t rank)
{
    if (!*d->ranks[rank].sensors)
        return false;
    for (uint32_t i = 0; i < rank; i++)
        if (*d->ranks[i].sensors && !strcmp(d->ranks[i].host, d->ranks[rank].host))
            return false;
    return true;
}

struct replay {
    struct fv_sink *sink;
    struct fv_location_stats *location;
    uint32_t rank;
};

static bool put_values(const struct replay *r, const struct fv_sensor_sample *sample, size_t count, uint64_t time_ns)
{
    bool good = true;

    for (size_t i = 0; i < count && good; i++) {
        struct fv_record record = { .kind = FV_REC_SENSOR, .ref = r->rank, .id = i, .time_ns = time_ns };
        double value;

        memcpy(&value, &sample->values[i], sizeof(value));
        if (!isfinite(value))
            continue;
        memcpy(&record.sent, &value, sizeof(value));
        good = r->sink->put(r->sink, 0, &record);
        r->location->first_ns = r->location->records++ ? r->location->first_ns : time_ns;
        r->location->last_ns = time_ns;
    }
    return good;
}

bool fv_sensors_replay(const struct fv_defs *d, const struct fv_clocks *clocks, uint32_t rank,
                       const struct fv_reader *reader, struct fv_sink *sink, struct fv_location_stats *location)
{
    const struct replay r = { sink, location, rank };
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SENSOR_SAMPLES);
    const char *names = d->ranks[rank].sensors;
    struct fv_def_sensor sensor;
    uint64_t last_ticks = 0;
    uint32_t piece = 0;
    size_t count = 0;

    while (fv_def_sensor_next(&names, &sensor))
        count++;
    *location = (struct fv_location_stats){ .location = fv_sensors_location(&d->ranks[rank]) };
    bool good = sink->open(sink, 0, location->location);
    for (const struct fv_sensor_sample *s; good && (s = fv_cursor_next(&c));) {
        int64_t ns = fv_clock_ns(&clocks->lines[clocks->of_rank[rank]], s->ticks, &piece);
        uint64_t time_ns = ns > 0 ? (uint64_t)ns : 0;

        if (c.bytes != sizeof(*s) + count * sizeof(double) || s->ticks <= last_ticks) /* an old one: format_sensors.h */
            continue;
        last_ticks = s->ticks;
        good = put_values(&r, s, count, time_ns > location->last_ns ? time_ns : location->last_ns);
    }
    return sink->close(sink, 0) && good;
}
