/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_state.h: counters of threads, as --counters has them, and series along time, as --sensors has them. */
#include "transcript/transcript_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MOST (1u << 20) /* that are kept; with more, the last of each span of time stays */
#define VALUES_MOST (1u << 21) /* of all samples together: 16 MiB */

/* ---- counters ---- */

uint32_t fv_transcript_counter(struct fv_transcript *t, const char *name, bool at_each_call)
{
    for (uint32_t i = 0; i < t->counter_count; i++)
        if (!strncmp(t->counters[i].name, name, sizeof(t->counters[i].name)))
            return i;
    if (t->counter_count == FV_COUNTERS)
        return FV_NONE;
    struct fv_counter_event *e = &t->counters[t->counter_count];
    strncpy(e->name, name, sizeof(e->name) - 1);
    e->flags = FV_COUNTER_ANY_MODE | (at_each_call ? 0u : (unsigned)FV_COUNTER_NO_MPI);
    return t->counter_count++;
}

void fv_transcript_count(struct fv_transcript_thread *h, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_count *c = &h->counts[m->op];

    if (m->aux == FV_TRANSCRIPT_OF_CALL) {
        fv_transcript_instance_count(h, m);
        return;
    }
    if (c->from && c->from != m->id + 1)
        return; /* the same, from elsewhere */
    if (!c->first_at) {
        c->from = m->id + 1;
        c->first_at = m->aux && h->record.begin ? h->record.begin : ticks;
        c->first = m->aux ? 0 : m->sent;
        c->last = c->first;
    }
    c->is_bad = c->is_bad || m->sent < c->last;
    c->last = m->sent;
    c->last_at = ticks;
}

/* What was counted in it is known where it was counted when it began and when it ended. */
void fv_transcript_count_call(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks, bool begins)
{
    for (uint32_t i = 0; i < t->counter_count; i++) {
        struct fv_transcript_count *c = &h->counts[i];

        if (begins) {
            c->is_entered = c->last_at == ticks;
            c->entered = c->last;
        } else if (c->is_entered && c->last_at == ticks) {
            c->in_mpi += c->last - c->entered;
            fv_transcript_function_mpi(h, i, c->last - c->entered);
        } else if (c->last_at) {
            t->counters[i].flags |= FV_COUNTER_NO_MPI;
            c->is_outside_mpi = true;
        }
    }
}

/* Of one value nothing is known. */
static bool is_known(const struct fv_transcript_count *c)
{
    return c->last_at > c->first_at && !c->is_bad;
}

void fv_transcript_counts(struct fv_transcript *t, struct fv_transcript_thread *h, uint32_t slot)
{
    struct fv_counter_values r = { 0 };
    uint64_t first = UINT64_MAX;

    for (uint32_t i = 0; i < t->counter_count; i++) {
        const struct fv_transcript_count *c = &h->counts[i];

        if (!is_known(c)) {
            r.flags |= FV_COUNTERS_PART;
            continue;
        }
        r.at[i] = (struct fv_counter_value){ c->last - c->first, c->in_mpi, 1, 1 };
        first = c->first_at < first ? c->first_at : first;
        r.last = c->last_at > r.last ? c->last_at : r.last;
    }
    if (!r.last)
        return;
    r.ticks = r.last - first;
    fv_transcript_chunk(t, FV_CHUNK_COUNTER_VALUES, slot, 0, &r, sizeof(r));
}

/* ---- series ---- */

uint32_t fv_transcript_series(struct fv_transcript *t, const char *label, const char *unit, const char *about,
                              uint32_t flags)
{
    size_t length = strlen(label), about_length = strlen(about);
    size_t bytes = fv_round_up(sizeof(struct fv_sensor_series) + length + 1 + about_length + 1, 8);
    struct fv_sensor_series *r = fv_xcalloc(1, bytes);

    *r = (struct fv_sensor_series){
        .bytes = (uint32_t)bytes, .flags = flags, .every = 1, .label_bytes = (uint32_t)length
    };
    snprintf(r->unit, sizeof(r->unit), "%s", unit);
    memcpy(r->label, label, length);
    memcpy(r->label + length + 1, about, about_length);
    fv_bytes_put(&t->series_records, r, bytes);
    free(r);
    return t->series_count++;
}

static int by_time(const void *a, const void *b)
{
    const struct fv_transcript_point *x = a, *y = b;

    if (x->grain != y->grain)
        return x->grain < y->grain ? -1 : 1;
    if (x->series != y->series)
        return x->series < y->series ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

/* Sorted; of each span of time the last of each series. How many spans there are. */
static size_t settle(struct fv_transcript *t)
{
    size_t kept = 0, spans = 0;

    for (size_t i = 0; i < t->point_count; i++)
        t->points[i].grain = t->points[i].ticks / t->grain;
    if (t->point_count)
        qsort(t->points, t->point_count, sizeof(*t->points), by_time);
    for (size_t i = 0; i < t->point_count; i++) {
        const struct fv_transcript_point *p = &t->points[i];

        if (i + 1 < t->point_count && p[1].grain == p->grain && p[1].series == p->series)
            continue;
        spans += !kept || t->points[kept - 1].grain != p->grain;
        t->points[kept++] = *p;
    }
    t->point_count = kept;
    return spans;
}

static size_t thin(struct fv_transcript *t)
{
    t->grain *= 2;
    t->thinned++;
    return settle(t);
}

void fv_transcript_sensor(struct fv_transcript *t, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_point p = { .ticks = ticks, .series = (uint32_t)m->id };

    if (t->point_count == POINTS_MOST) {
        settle(t);
        while (t->point_count > POINTS_MOST / 2 && t->grain < UINT64_C(1) << 60)
            thin(t);
        if (t->point_count == POINTS_MOST)
            return;
    }
    memcpy(&p.value, &m->sent, sizeof(p.value));
    FV_GROW(t->points, t->point_room, t->point_count + 1);
    t->points[t->point_count++] = p;
}

/* Of a span of time, at its last value's. */
static size_t put_sample(const struct fv_transcript *t, struct fv_bytes *out, struct fv_sensor_sample *r, size_t i)
{
    const uint64_t grain = t->points[i].grain;

    r->ticks = 0;
    for (uint32_t k = 0; k < t->series_count; k++)
        r->values[k] = NAN;
    for (; i < t->point_count && t->points[i].grain == grain; i++) {
        r->values[t->points[i].series] = t->points[i].value;
        r->ticks = t->points[i].ticks > r->ticks ? t->points[i].ticks : r->ticks;
    }
    fv_bytes_put(out, r, r->bytes);
    return i;
}

static void put_series(struct fv_transcript *t)
{
    size_t spans = settle(t), bytes = sizeof(struct fv_sensor_sample) + t->series_count * sizeof(double);
    struct fv_sensor_sample *r = fv_xcalloc(1, bytes);
    struct fv_bytes out = { 0 };

    while (spans > 2 && spans * t->series_count > VALUES_MOST)
        spans = thin(t);
    r->bytes = (uint32_t)bytes;
    for (size_t i = 0; i < t->point_count;)
        i = put_sample(t, &out, r, i);
    const struct fv_sensor_process process = { .samples = spans, .thinned = t->thinned, .of_process = 1 };
    fv_transcript_chunk(t, FV_CHUNK_SENSOR_PROCESS, FV_NO_THREAD, 0, &process, sizeof(process));
    fv_transcript_chunk(t, FV_CHUNK_SENSOR_SERIES, FV_NO_THREAD, 0, t->series_records.data, t->series_records.count);
    fv_transcript_chunk(t, FV_CHUNK_SENSOR_SAMPLES, FV_NO_THREAD, 0, out.data, out.count);
    free(out.data);
    free(r);
}

void fv_transcript_metrics(struct fv_transcript *t)
{
    fv_transcript_chunk(t, FV_CHUNK_COUNTER_EVENTS, FV_NO_THREAD, 0, t->counters,
                        t->counter_count * sizeof(*t->counters));
    fv_transcript_function_events(t);
    if (t->series_count)
        put_series(t);
    free(t->series_records.data);
    free(t->points);
}
