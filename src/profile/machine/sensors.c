/* SPDX-License-Identifier: BSD-3-Clause */
/* See sensors.h. */
#include "profile/machine/sensors.h"
#include "profile/build.h"
#include "profile/sections/section_gather.h"
#include "tool/cpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One that was read: where its values are in the file, and when. */
struct sample {
    const struct fv_sensor_sample *record;
    double at_s;
};

struct gather {
    struct fv_build *build;
    struct fv_machine *out;
    uint32_t rank;
    struct sample *samples; /* of the present file, in time */
    size_t count, room;
    struct fv_section_gather sections; /* names alone */
    struct fv_sections_view names;
};

/* From one known value of a series to the next. */
struct interval {
    const struct sample *begin, *end;
    double seconds, value; /* value: of a counter what was added, of a gauge what it was at the end */
};

/* ---- the file ---- */

/* Another rank of the same host was there before: where ranks could not find out who reads them, all did. */
static bool is_of_known_host(const struct gather *g)
{
    const struct fv_model *m = g->build->model;

    for (size_t i = 0; i < g->out->node_count; i++)
        if (fv_same_text(m->ranks[g->out->nodes[i].rank].host, m->ranks[g->rank].host))
            return true;
    return false;
}

static bool read_process(struct gather *g)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_SENSOR_PROCESS);
    const void *p = fv_cursor_next(&c);
    struct fv_sensor_process r;

    if (!p)
        return false;
    memcpy(&r, p, sizeof(r));
    if (!r.of_process && is_of_known_host(g))
        return false;
    FV_GROW(g->out->nodes, g->out->node_room, g->out->node_count + 1);
    g->out->nodes[g->out->node_count++] = (struct fv_machine_node){ .rank = g->rank,
                                                                    .interval_s = (double)r.interval_ns * 1e-9,
                                                                    .begin_s = NAN,
                                                                    .end_s = NAN,
                                                                    .samples = r.samples,
                                                                    .late = r.late,
                                                                    .missed = r.missed,
                                                                    .thinned = r.thinned,
                                                                    .left_out = r.left_out,
                                                                    .not_found = r.not_found,
                                                                    .cpu_s = (double)r.cpu_ns * 1e-9 };
    return true;
}

/* A damaged record may have nothing there. */
static const char *about_of(const struct fv_sensor_series *r)
{
    size_t at = sizeof(*r) + r->label_bytes + 1, room = at < r->bytes ? r->bytes - at : 0;

    return memchr(r->label + r->label_bytes + 1, '\0', room) ? r->label + r->label_bytes + 1 : "";
}

static void read_place(struct gather *g)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_SENSOR_PLACE);
    const struct fv_sensor_place *r = fv_cursor_next(&c);
    struct fv_machine_node *node = &g->out->nodes[g->out->node_count - 1];
    struct fv_cpus cpus = { 0 };

    if (!r || r->kind > FV_SENSOR_NONE_FREE)
        return;
    for (unsigned cpu = 0; cpu < 64 * sizeof(r->processors) / sizeof(r->processors[0]); cpu++)
        if (r->processors[cpu / 64] >> cpu % 64 & 1)
            fv_cpus_set(&cpus, cpu);
    node->place = r->kind;
    node->processors = fv_cpus_count(&cpus) ? fv_cpus_list(&cpus, &g->build->model->arena) : NULL;
}

static size_t read_series(struct gather *g)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_SENSOR_SERIES);
    struct fv_machine *out = g->out;
    size_t count = 0;

    for (const struct fv_sensor_series *r; (r = fv_cursor_next(&c)); count++) {
        FV_GROW(out->series, out->series_room, out->series_count + 1);
        out->series[out->series_count++] =
            (struct fv_machine_series){ .node = (uint32_t)(out->node_count - 1),
                                        .flags = r->flags,
                                        .label = fv_arena_string(&g->build->model->arena, r->label),
                                        .about = fv_arena_string(&g->build->model->arena, about_of(r)),
                                        .unit = fv_arena_string(&g->build->model->arena, r->unit),
                                        .total = NAN,
                                        .mean = NAN,
                                        .min = NAN,
                                        .max = NAN };
    }
    return count;
}

/* Those of a list that was thinned when the process was killed come again at the end: old ones. */
static void read_samples(struct gather *g, size_t series)
{
    struct fv_cursor c = fv_cursor(g->build->files[g->rank].reader, FV_CHUNK_SENSOR_SAMPLES);
    struct fv_machine_node *node = &g->out->nodes[g->out->node_count - 1];

    g->count = 0;
    for (const struct fv_sensor_sample *r; (r = fv_cursor_next(&c));) {
        if (c.bytes != sizeof(*r) + series * sizeof(double) ||
            (g->count && r->ticks <= g->samples[g->count - 1].record->ticks))
            continue;
        FV_GROW(g->samples, g->room, g->count + 1);
        g->samples[g->count++] = (struct sample){ r, fv_build_time(g->build->model, g->rank, r->ticks) };
    }
    if (!g->count)
        return;
    node->begin_s = g->samples[0].at_s;
    node->end_s = g->samples[g->count - 1].at_s;
}

/* ---- a series ---- */

static double value_of(const struct sample *sample, size_t series)
{
    double value;

    memcpy(&value, &sample->record->values[series], sizeof(value));
    return value;
}

/* The next one from *at on, which is moved. False: there is none. */
static bool next_change(const struct gather *g, size_t series, bool is_gauge, size_t *at, struct interval *out)
{
    const struct sample *begin = NULL;

    for (; *at < g->count; (*at)++) {
        const struct sample *s = &g->samples[*at];
        double value = value_of(s, series), change;

        if (!isfinite(value))
            continue;
        if (!begin) {
            begin = s;
            continue;
        }
        change = is_gauge ? value : value - value_of(begin, series);
        if (s->at_s <= begin->at_s || (!is_gauge && change < 0)) /* of damaged ones */
            continue;
        *out = (struct interval){ begin, s, s->at_s - begin->at_s, change };
        return true;
    }
    return false;
}

/* The last sample is taken when the process ends, maybe at once after the one before. A kernel counts times in steps of
 * 10 ms: over so little a rate would be many times the truth. Such an end belongs to the interval before it. */
static bool next_interval(const struct gather *g, size_t series, bool is_gauge, size_t *at, struct interval *out)
{
    struct interval end;
    size_t behind;

    if (!next_change(g, series, is_gauge, at, out))
        return false;
    behind = *at;
    if (!is_gauge && next_change(g, series, is_gauge, &behind, &end) && behind + 1 == g->count &&
        end.seconds < out->seconds / 2) {
        *out = (struct interval){ out->begin, end.end, out->seconds + end.seconds, out->value + end.value };
        *at = behind;
    }
    return true;
}

static double rate_of(const struct interval *i, bool is_gauge)
{
    return is_gauge ? i->value : i->value / i->seconds;
}

static void sum_up(const struct gather *g, size_t index, struct fv_machine_series *s)
{
    bool is_gauge = s->flags & FV_SENSOR_GAUGE;
    double seconds = 0, sum = 0;
    struct interval i;

    for (size_t at = 0; next_interval(g, index, is_gauge, &at, &i); s->intervals++) {
        double rate = rate_of(&i, is_gauge);

        s->min = fmin(s->min, rate);
        s->max = fmax(s->max, rate);
        seconds += i.seconds;
        sum += rate * i.seconds;
    }
    if (!s->intervals)
        return;
    s->mean = sum / seconds;
    s->total = is_gauge ? NAN : sum;
}

/* So many neighbours make a point that there are not too many. */
static void add_points(const struct gather *g, size_t index, uint32_t number, const struct fv_machine_series *s)
{
    size_t each = (size_t)(s->intervals / FV_MACHINE_POINTS + 1), of_point = 0, at = 0;
    bool is_gauge = s->flags & FV_SENSOR_GAUGE;
    struct fv_machine *out = g->out;
    struct fv_machine_point *p = NULL;
    struct interval i;

    while (next_interval(g, index, is_gauge, &at, &i)) {
        double rate = rate_of(&i, is_gauge), before = p ? p->end_s - p->begin_s : 0;

        if (!p || of_point == each) {
            FV_GROW(out->points, out->point_room, out->point_count + 1);
            p = &out->points[out->point_count++];
            *p = (struct fv_machine_point){ number, i.begin->at_s, i.end->at_s, rate, rate };
            of_point = 1;
            continue;
        }
        p->end_s = i.end->at_s;
        p->mean = (p->mean * before + rate * i.seconds) / (p->end_s - p->begin_s);
        p->max = fmax(p->max, rate);
        of_point++;
    }
}

/* ---- sections ---- */

static struct fv_machine_section *section_of(struct fv_machine *out, size_t first, uint32_t series,
                                             const struct fv_section_view *v)
{
    for (size_t i = first; i < out->section_count; i++)
        if (out->sections[i].name == v->name && out->sections[i].number == v->number)
            return &out->sections[i];
    FV_GROW(out->sections, out->section_room, out->section_count + 1);
    out->sections[out->section_count] =
        (struct fv_machine_section){ .series = series, .name = v->name, .number = v->number };
    return &out->sections[out->section_count++];
}

/* The part of an interval that was in the sections of a set, by one of its ends. */
static void add_half(struct gather *g, size_t first, uint32_t series, uint32_t set, double seconds, double rate)
{
    uint32_t chain[FV_SECTION_CHAIN];
    unsigned count;

    fv_section_chain(&g->sections, set, chain, &count);
    for (unsigned k = 0; k < count; k++) {
        struct fv_machine_section *s = section_of(g->out, first, series, &g->names.items[chain[k]]);

        s->mean += rate * seconds / 2; /* the sum, until all are there */
        s->seconds += seconds / 2;
    }
}

static void add_sections(struct gather *g, size_t index, uint32_t number, const struct fv_machine_series *series)
{
    size_t first = g->out->section_count, at = 0;
    bool is_gauge = series->flags & FV_SENSOR_GAUGE;
    struct interval i;

    while (next_interval(g, index, is_gauge, &at, &i)) {
        double rate = rate_of(&i, is_gauge);

        add_half(g, first, number, i.begin->record->section_set, i.seconds, rate);
        add_half(g, first, number, i.end->record->section_set, i.seconds, rate);
    }
    for (size_t k = first; k < g->out->section_count; k++)
        g->out->sections[k].mean /= g->out->sections[k].seconds;
}

/* ---- instances of sections ---- */

#define ENERGY "J"
static void keep_readings(struct gather *g, size_t index, struct fv_machine_series *series)
{
    bool is_gauge = series->flags & FV_SENSOR_GAUGE;
    struct interval i;

    if (is_gauge || strcmp(series->unit, ENERGY))
        return;
    for (size_t at = 0; next_change(g, index, is_gauge, &at, &i);) {
        if (!series->reading_count)
            fv_machine_keep_reading(g->out, series, i.begin->at_s, value_of(i.begin, index));
        fv_machine_keep_reading(g->out, series, i.end->at_s, value_of(i.end, index));
    }
}

/* ---- the track ---- */

static void *begin_machine(struct fv_build *b)
{
    struct gather *g = fv_xcalloc(1, sizeof(*g));

    g->build = b;
    g->out = fv_model_sensors(b->model);
    g->sections.build = b;
    g->sections.out = &g->names;
    return g;
}

static void read_machine(struct fv_build *b, void *state, uint32_t rank)
{
    struct gather *g = state;
    size_t first = g->out->series_count, count;

    g->rank = rank;
    if (!read_process(g))
        return;
    read_place(g);
    count = read_series(g);
    read_samples(g, count);
    fv_section_read_names(&g->sections, &b->files[rank]);
    for (size_t i = 0; i < count; i++) {
        struct fv_machine_series *s = &g->out->series[first + i];

        sum_up(g, i, s);
        add_points(g, i, (uint32_t)(first + i), s);
        add_sections(g, i, (uint32_t)(first + i), s);
        keep_readings(g, i, s);
    }
}

static void finish_machine(struct fv_build *b, void *state)
{
    struct gather *g = state;

    fv_machine_measure_instances(g->out, b->model);
    free(g->samples);
    free(g->sections.section);
    free(g->sections.sets);
    fv_index_release(&g->sections.names);
    free(g->names.items);
    free(g);
}

const struct fv_track fv_track_sensors = {
    .name = "sensors",
    .of_process = true,
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_SENSOR_PROCESS, FV_CHUNK_SENSOR_PLACE, FV_CHUNK_SENSOR_SERIES, FV_CHUNK_SENSOR_SAMPLES,
               FV_CHUNK_SECTIONS, FV_CHUNK_SECTION_SETS },
    .begin = begin_machine,
    .read = read_machine,
    .finish = finish_machine,
};

void fv_machine_release(void *data)
{
    struct fv_machine *m = data;

    free(m->nodes);
    free(m->series);
    free(m->points);
    free(m->sections);
    free(m->readings);
    free(m->instances);
}
