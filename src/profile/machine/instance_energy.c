/* SPDX-License-Identifier: BSD-3-Clause */
/* Energy of instances of sections that were recorded one by one (--section-instances), of the node's counters, where
 * readings are fine enough. An instance begins and ends between two readings: what the counter grew from the first
 * reading in it to the last one is the least that it used, and from the last one before it to the first one behind it
 * the most. */
#include "profile/build.h"
#include "profile/machine/sensors.h"
#include "profile/sections/sections.h"

#include <string.h>

#define FINE 0.25 /* of the energy: further apart the two bounds say too little */

void fv_machine_keep_reading(struct fv_machine *m, struct fv_machine_series *s, double at_s, double value)
{
    if (!s->reading_count)
        s->first_reading = m->reading_count;
    FV_GROW(m->readings, m->reading_room, m->reading_count + 1);
    m->readings[m->reading_count++] = (struct fv_machine_reading){ at_s, value };
    s->reading_count++;
}

/* How many readings are before that time, or at it. */
static size_t readings_until(const struct fv_machine_reading *r, size_t count, double at_s)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (r[middle].at_s <= at_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Between two readings by time. `behind`: readings until then, neither none nor all. */
static double value_at(const struct fv_machine_reading *r, size_t behind, double at_s)
{
    const struct fv_machine_reading *a = &r[behind - 1], *b = &r[behind];

    return a->value + (b->value - a->value) * (at_s - a->at_s) / (b->at_s - a->at_s);
}

/* False: the readings do not cover it, or are too far apart. */
static bool measure(const struct fv_machine *m, const struct fv_machine_series *s, double begin_s, double end_s,
                    struct fv_machine_instance *out)
{
    const struct fv_machine_reading *r = &m->readings[s->first_reading];
    const size_t begin = readings_until(r, s->reading_count, begin_s), end = readings_until(r, s->reading_count, end_s);

    if (!begin || end == s->reading_count || end <= begin)
        return false;
    out->least = r[end - 1].value - r[begin].value;
    out->most = r[end].value - r[begin - 1].value;
    out->value = value_at(r, end, end_s) - value_at(r, begin, begin_s);
    out->readings = end - begin;
    return out->most - out->least <= FINE * out->value;
}

void fv_machine_measure_instances(struct fv_machine *m, const struct fv_model *model)
{
    const struct fv_sections_view *sections = fv_model_sections(model);

    for (size_t i = 0; i < sections->instance_count; i++) {
        const struct fv_section_instance_view *of = &sections->instances[i];

        for (size_t k = 0; k < m->series_count; k++) {
            const struct fv_machine_series *s = &m->series[k];
            const struct fv_rank *reader = &model->ranks[m->nodes[s->node].rank];
            struct fv_machine_instance found = { .series = (uint32_t)k,
                                                 .name = of->name,
                                                 .section_number = of->section_number,
                                                 .rank = of->rank,
                                                 .thread = of->thread,
                                                 .number = of->number };

            if (!s->reading_count || strcmp(reader->host, model->ranks[of->rank].host) ||
                !measure(m, s, of->begin_s, of->end_s, &found))
                continue;
            FV_GROW(m->instances, m->instance_room, m->instance_count + 1);
            m->instances[m->instance_count++] = found;
        }
    }
}
