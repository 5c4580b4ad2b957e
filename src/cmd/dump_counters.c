/* See dump.h: what --counters records. */
#include "cmd/dump.h"
#include "trace/format.h"

#include <inttypes.h>
#include <stdio.h>

void fv_dump_counter(const struct fv_cursor *c, const void *record)
{
    const struct fv_counter_event *e = record;
    (void)c;

    printf("counter name=%.*s processor=%.*s type=%u config=%#" PRIx64 " config1=%#" PRIx64 " config2=%#" PRIx64 " refusal=%u flags=%u group=%u", (int)sizeof(e->name), e->name,
           (int)sizeof(e->processor), e->processor, e->type, e->config, e->config1, e->config2, e->refusal, e->flags, e->group);
}

static void dump_values(const struct fv_counter_values *v)
{
    printf(" flags=%u ticks=%" PRIu64 " last=%" PRIu64 " values=", v->flags, v->ticks, v->last);
    for (int i = 0; i < FV_COUNTERS; i++)
        printf("%s%" PRIu64 "/%" PRIu64 "/%" PRIu64 "/%" PRIu64, i ? "," : "", v->at[i].count, v->at[i].in_mpi, v->at[i].enabled, v->at[i].running);
}

void fv_dump_counter_values(const struct fv_cursor *c, const void *record)
{
    const struct fv_counter_values *v = record;

    printf("counter values thread=%u section=%u", c->thread, v->section);
    dump_values(v);
}

void fv_dump_counter_phase(const struct fv_cursor *c, const void *record)
{
    const struct fv_counter_phase *p = record;

    printf("counter phase thread=%u kind=%s of=%u count=%" PRIu64, c->thread, p->kind == FV_COUNTER_LIFE ? "life" : p->kind == FV_COUNTER_REGION ? "region" : p->kind == FV_COUNTER_ALONE ? "alone" : "?", p->of, p->count);
    dump_values(&p->sum);
}
