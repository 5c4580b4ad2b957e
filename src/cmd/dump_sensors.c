/* See dump.h: what --sensors records, and labels. */
#include "cmd/dump.h"
#include "trace/format.h"

#include <inttypes.h>
#include <stdio.h>

void fv_dump_label(const struct fv_cursor *c, const void *record)
{
    const struct fv_label_record *l = record;
    (void)c;

    printf("label ticks=%" PRIu64 " origin=%u text=%s", l->ticks, l->origin, l->text);
}

void fv_dump_sensors(const struct fv_cursor *c, const void *record)
{
    const struct fv_sensor_process *p = record;
    (void)c;

    printf("sensors interval_ns=%" PRIu64 " samples=%" PRIu64 " late=%" PRIu64 " missed=%" PRIu64 " thinned=%" PRIu64 " left_out=%" PRIu64 " not_found=%" PRIu64
           " cpu_ns=%" PRIu64,
           p->interval_ns, p->samples, p->late, p->missed, p->thinned, p->left_out, p->not_found, p->cpu_ns);
}

void fv_dump_sensor_series(const struct fv_cursor *c, const void *record)
{
    const struct fv_sensor_series *s = record;

    printf("sensor series index=%" PRIu64 " flags=%u every=%u unit=%s label=%s", c->index, s->flags, s->every, s->unit, s->label);
}

void fv_dump_sensor_sample(const struct fv_cursor *c, const void *record)
{
    const struct fv_sensor_sample *s = record;

    printf("sensor sample ticks=%" PRIu64 " section_set=%u late_ns=%" PRIu64 " values=", s->ticks, s->section_set, s->late_ns);
    for (size_t i = 0; i < (c->bytes - sizeof(*s)) / sizeof(double); i++)
        printf("%s%.17g", i ? "," : "", s->values[i]);
}
