/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: metrics, and samples. What grows and is of a thread becomes a counter of that thread, all else a
 * series along time, of the process that recorded it. */
#include "otf2/import_state.h"
#include "transcript/transcript.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define SERIES_MOST 4096 /* of a rank */

/* A member of a metric, as a location records it. */
struct fv_import_channel {
    uint64_t key[2];       /* metric and member; location */
    uint32_t number, slot; /* number: of the counter, which is that thread's, or of the series; FV_NONE: left out */
    bool is_series, adds;  /* adds: its values are what came since the value before */
    bool is_ahead;         /* its values are of the time behind them */
    bool is_of_call;       /* its values are of a call that ends */
    bool is_known;         /* there was a value */
    uint64_t factor, whole;
    double scale, real; /* real: until now */
};

/* ---- definitions ---- */

static OTF2_CallbackCode on_member(void *data, OTF2_MetricMemberRef self, OTF2_StringRef name, OTF2_StringRef about,
                                   OTF2_MetricType metric_type, OTF2_MetricMode mode, OTF2_Type type, OTF2_Base base,
                                   int64_t exponent, OTF2_StringRef unit)
{
    (void)metric_type;
    *(struct fv_import_metric_member *)fv_import_row(data, FV_IMPORT_MEMBER, self) = (struct fv_import_metric_member){
        .name = name, .about = about, .unit = unit, .mode = mode, .type = type, .base = base, .exponent = exponent
    };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_class(void *data, OTF2_MetricRef self, uint8_t count, const OTF2_MetricMemberRef *members,
                                  OTF2_MetricOccurrence occurrence, OTF2_RecorderKind recorder)
{
    struct fv_import *import = data;
    uint32_t *copy = fv_arena_take(&import->arena, ((size_t)count + 1) * sizeof(*copy));

    (void)recorder;
    if (count)
        memcpy(copy, members, count * sizeof(*copy));
    *(struct fv_import_metric *)fv_import_row(import, FV_IMPORT_METRIC, self) =
        (struct fv_import_metric){ .members = copy, .count = count, .occurrence = occurrence };
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_instance(void *data, OTF2_MetricRef self, OTF2_MetricRef class, OTF2_LocationRef recorder,
                                     OTF2_MetricScope scope_kind, uint64_t scope)
{
    (void)recorder;
    *(struct fv_import_metric *)fv_import_row(data, FV_IMPORT_METRIC, self) =
        (struct fv_import_metric){ .is_instance = true, .class = class, .scope_kind = scope_kind, .scope = scope };
    return OTF2_CALLBACK_SUCCESS;
}

#define SAMPLE_MOST_NS UINT64_C(1000000000000) /* what stands for more is damaged */

/* Of one that counts events it is not known how much time its samples stand for. */
static OTF2_CallbackCode on_generator(void *data, OTF2_InterruptGeneratorRef self, OTF2_StringRef name,
                                      OTF2_InterruptGeneratorMode mode, OTF2_Base base, int64_t exponent,
                                      uint64_t period)
{
    double ns = 1e9 * (double)period * pow(base == OTF2_BASE_BINARY ? 2 : 10, (double)exponent);

    (void)name;
    ((struct fv_import_generator *)fv_import_row(data, FV_IMPORT_GENERATOR, self))->ns =
        mode == OTF2_INTERRUPT_GENERATOR_MODE_TIME && ns >= 1 && ns < (double)SAMPLE_MOST_NS ? (uint64_t)llround(ns)
                                                                                             : 0;
    return OTF2_CALLBACK_SUCCESS;
}

void fv_import_read_metrics(OTF2_GlobalDefReaderCallbacks *c)
{
    OTF2_GlobalDefReaderCallbacks_SetInterruptGeneratorCallback(c, on_generator);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, on_member);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, on_class);
    OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(c, on_instance);
}

/* ---- events ---- */

OTF2_CallbackCode fv_import_on_metric(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *stream,
                                      OTF2_AttributeList *attributes, OTF2_MetricRef metric, uint8_t count,
                                      const OTF2_Type *types, const OTF2_MetricValue *values)
{
    struct fv_import_stream *s = stream;

    uint32_t context;

    (void)location, (void)position;
    if (!s->reads_metrics)
        return OTF2_CALLBACK_SUCCESS;
    if (count == 1 && types[0] == OTF2_TYPE_UINT64 && fv_import_has(attributes, s->import->call_path) &&
        OTF2_AttributeList_GetCallingContextRef(attributes, s->import->call_path, &context) == OTF2_SUCCESS) {
        s->ahead[s->count++] = (struct fv_record){
            .kind = FV_RAW_SAMPLE, .time_ns = time, .op = 1, .ref = context, .sent = values[0].unsigned_int
        };
        return OTF2_CALLBACK_SUCCESS;
    }
    s->ahead[s->count++] = (struct fv_record){
        .kind = FV_RAW_METRIC, .time_ns = time, .ref = metric, .aux = (uint32_t)s->value_count, .op = count
    };
    FV_GROW(s->values, s->value_room, s->value_count + count);
    for (unsigned i = 0; i < count; i++)
        s->values[s->value_count++] = (struct fv_import_value){ types[i], values[i] };
    return OTF2_CALLBACK_SUCCESS;
}

static double real_of(const struct fv_import_value *v)
{
    return v->type == OTF2_TYPE_DOUBLE  ? v->value.floating_point
           : v->type == OTF2_TYPE_INT64 ? (double)v->value.signed_int
                                        : (double)v->value.unsigned_int;
}

/* ---- what a metric becomes ---- */

static const char *unit_of(const struct fv_import *import, const struct fv_import_metric_member *m)
{
    const char *unit = fv_import_text(import, m->unit);

    return strcmp(unit, "#") ? unit : "";
}

/* 0: not a whole number that there is room for. */
static uint64_t factor_of(const struct fv_import_metric_member *m)
{
    uint64_t factor = 1;

    if (m->exponent <= 0)
        return 1;
    for (int64_t i = 0; i < m->exponent && factor; i++)
        factor = i < 63 && factor <= UINT64_MAX / 10 ? factor * (m->base == OTF2_BASE_BINARY ? 2 : 10) : 0;
    return factor;
}

/* With the unit of a count, which is whole: of a metric of 10^-6 s it is us. */
static void name_counter(const struct fv_import *import, const struct fv_import_metric_member *m, char *out,
                         size_t bytes)
{
    const char *name = fv_import_text(import, m->name), *unit = unit_of(import, m);
    bool is_decimal = m->base == OTF2_BASE_DECIMAL;

    if (m->exponent >= 0)
        snprintf(out, bytes, *unit ? "%.48s (%.12s)" : "%.48s", name, unit);
    else if (is_decimal && *unit && (m->exponent == -3 || m->exponent == -6 || m->exponent == -9))
        snprintf(out, bytes, "%.48s (%c%.11s)", name, m->exponent == -3 ? 'm' : m->exponent == -6 ? 'u' : 'n', unit);
    else
        snprintf(out, bytes, "%.28s (%s^%lld%s%.8s)", name, is_decimal ? "10" : "2", (long long)m->exponent,
                 *unit ? " " : "", unit);
}

static void name_location(const struct fv_import *import, uint32_t number, char *out, size_t bytes)
{
    const struct fv_import_location *l = fv_import_at(import, FV_IMPORT_LOCATION, number);

    if (!l)
        snprintf(out, bytes, "another location");
    else if (l->rank == FV_NONE)
        snprintf(out, bytes, "%.80s", fv_import_text(import, l->name));
    else if (import->ranks[l->rank].location_count == 1)
        snprintf(out, bytes, "rank %u", l->rank);
    else
        snprintf(out, bytes, "rank %u thread %u", l->rank, l->slot);
}

/* What a metric is of, if not of the rank's node. */
static void name_source(const struct fv_import_rank *r, const struct fv_import_stream *s,
                        const struct fv_import_metric *m, char *out, size_t bytes)
{
    const struct fv_import *import = r->import;
    const struct fv_import_process *p = fv_import_at(import, FV_IMPORT_PROCESS, import->ranks[r->rank].process);
    const struct fv_import_process *of = fv_import_get(import, FV_IMPORT_PROCESS, m->scope);
    const struct fv_import_node *node = fv_import_get(import, FV_IMPORT_NODE, m->scope);
    const char *name = node ? fv_import_text(import, node->name) : "";

    *out = '\0';
    if (!m->is_instance)
        name_location(import, s->location, out, bytes);
    else if (m->scope_kind == OTF2_SCOPE_LOCATION)
        name_location(import, fv_import_number(import, FV_IMPORT_LOCATION, m->scope), out, bytes);
    else if (m->scope_kind == OTF2_SCOPE_LOCATION_GROUP && of && of->rank != FV_NONE)
        snprintf(out, bytes, "rank %u", of->rank);
    else if (m->scope_kind == OTF2_SCOPE_LOCATION_GROUP)
        snprintf(out, bytes, "%.80s", of ? fv_import_text(import, of->name) : "another process");
    else if (m->scope_kind == OTF2_SCOPE_SYSTEM_TREE_NODE && strcmp(name, fv_import_host(import, p)))
        snprintf(out, bytes, "%.80s", name);
    else if (m->scope_kind == OTF2_SCOPE_GROUP)
        snprintf(out, bytes, "group %llu", (unsigned long long)m->scope);
}

/* The thread of this rank that it is of; FV_NONE: none alone. */
static uint32_t thread_of(const struct fv_import_rank *r, const struct fv_import_stream *s,
                          const struct fv_import_metric *m)
{
    const struct fv_import_process *p = fv_import_get(r->import, FV_IMPORT_PROCESS, m->scope);
    const struct fv_import_location *l = m->is_instance && m->scope_kind == OTF2_SCOPE_LOCATION
                                             ? fv_import_get(r->import, FV_IMPORT_LOCATION, m->scope)
                                             : fv_import_at(r->import, FV_IMPORT_LOCATION, s->location);

    if (m->is_instance && m->scope_kind == OTF2_SCOPE_LOCATION_GROUP)
        return p && p->rank == r->rank && r->import->ranks[r->rank].location_count == 1 ? 0 : FV_NONE;
    if (m->is_instance && m->scope_kind != OTF2_SCOPE_LOCATION)
        return FV_NONE;
    return l && l->rank == r->rank ? l->slot : FV_NONE;
}

static void make_series(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_import_metric *m,
                        const struct fv_import_metric_member *member, struct fv_import_channel *c)
{
    const char *name = fv_import_text(r->import, member->name);
    uint32_t value = member->mode & OTF2_METRIC_VALUE_MASK;
    bool grows = value == OTF2_METRIC_VALUE_ACCUMULATED || (c->adds && member->type == OTF2_TYPE_UINT64);
    char source[100], label[300];

    name_source(r, s, m, source, sizeof(source));
    snprintf(label, sizeof(label), *source ? "%.180s@%s" : "%.180s", name, source);
    c->is_series = true;
    c->is_ahead = (member->mode & OTF2_METRIC_TIMING_MASK) == OTF2_METRIC_TIMING_NEXT;
    c->scale = pow(member->base == OTF2_BASE_BINARY ? 2 : 10, fabs((double)member->exponent));
    c->scale = member->exponent < 0 ? -c->scale : c->scale;
    if (!r->transcript) { /* who takes it knows the thread */
        const uint32_t slot = thread_of(r, s, m);

        const uint64_t location = fv_location_of(r->rank, slot == FV_NONE ? 0 : slot);

        c->number = r->import->series->name(r->import->series->context, location, slot != FV_NONE,
                                            slot == FV_NONE ? label : name, unit_of(r->import, member), grows);
        return;
    }
    if (r->series_count++ < SERIES_MOST)
        c->number = fv_transcript_series(
            r->transcript, label, unit_of(r->import, member), fv_import_text(r->import, member->about),
            (grows ? 0u : (unsigned)FV_SENSOR_GAUGE) | (*source ? (unsigned)FV_SENSOR_SOURCE : 0u));
}

/* Ours: what was counted in one instance of a function says nothing along time. */
static bool is_of_instances(const struct fv_import *import, const struct fv_import_metric_member *m)
{
    return import->call_path != FV_NONE &&
           !strcmp(fv_import_text(import, m->about), "counted in this instance of the function");
}

/* Ours: samples are no metric. */
static bool is_of_samples(const struct fv_import *import, const struct fv_import_metric_member *m)
{
    return import->call_path != FV_NONE && !strcmp(fv_import_text(import, m->name), "CPU time");
}

bool fv_import_defines_samples(const struct fv_import *import)
{
    const struct fv_import_metric_member *member;
    const struct fv_import_generator *generator;

    for (uint32_t i = 0; (member = fv_import_at(import, FV_IMPORT_MEMBER, i)) != NULL; i++)
        if (is_of_samples(import, member))
            return true;
    for (uint32_t i = 0; (generator = fv_import_at(import, FV_IMPORT_GENERATOR, i)) != NULL; i++)
        if (generator->ns)
            return true;
    return false;
}

static void make_channel(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_import_metric *m,
                         uint32_t ref, struct fv_import_channel *c)
{
    const struct fv_import_metric *class = m->is_instance ? fv_import_get(r->import, FV_IMPORT_METRIC, m->class) : m;
    const struct fv_import_metric_member *member = fv_import_get(r->import, FV_IMPORT_MEMBER, ref);
    char name[64];

    c->number = FV_NONE;
    if (!member || !class || is_of_samples(r->import, member))
        return;
    if (is_of_instances(r->import, member)) {
        c->is_of_call = r->transcript && member->type == OTF2_TYPE_UINT64;
        c->slot = thread_of(r, s, m);
        if (c->is_of_call && c->slot != FV_NONE)
            c->number = fv_transcript_instance_event(r->transcript, fv_import_text(r->import, member->name));
        return;
    }
    uint32_t value = member->mode & OTF2_METRIC_VALUE_MASK;
    bool is_whole =
        member->type == OTF2_TYPE_UINT64 || (member->type == OTF2_TYPE_INT64 && value == OTF2_METRIC_VALUE_ACCUMULATED);
    c->adds = value == OTF2_METRIC_VALUE_RELATIVE;
    c->slot = thread_of(r, s, m);
    c->factor = factor_of(member);
    if (r->transcript && is_whole && value != OTF2_METRIC_VALUE_ABSOLUTE && c->slot != FV_NONE && c->factor &&
        class->occurrence != OTF2_METRIC_ASYNCHRONOUS) {
        name_counter(r->import, member, name, sizeof(name));
        c->number = fv_transcript_counter(r->transcript, name, class->occurrence == OTF2_METRIC_SYNCHRONOUS_STRICT);
    }
    if (c->number == FV_NONE)
        make_series(r, s, m, member, c);
}

/* ---- values ---- */

static void put(struct fv_import_rank *r, const struct fv_import_stream *s, uint32_t slot, struct fv_record m)
{
    if (!r->is_in)
        return;
    m.time_ns = fv_import_in_run(r, s->now);
    r->failed = !r->sink->put(r->sink, slot, &m) || r->failed;
}

static void put_real(struct fv_import_rank *r, const struct fv_import_stream *s, const struct fv_import_channel *c)
{
    struct fv_record m = { .kind = FV_REC_SENSOR, .ref = r->rank, .id = c->number };
    double value = c->scale < 0 ? c->real / -c->scale : c->real * c->scale;

    memcpy(&m.sent, &value, sizeof(value));
    put(r, s, 0, m);
}

static void take_real(struct fv_import_rank *r, struct fv_import_stream *s, struct fv_import_channel *c,
                      const struct fv_import_value *v)
{
    double before = c->real;

    c->real = c->adds ? before + real_of(v) : real_of(v);
    if (c->is_ahead && c->is_known) { /* until now it was as before */
        double now = c->real;

        c->real = before;
        put_real(r, s, c);
        c->real = now;
        return;
    }
    c->is_known = true;
    put_real(r, s, c);
}

static void take_whole(struct fv_import_rank *r, struct fv_import_stream *s, struct fv_import_channel *c,
                       const struct fv_import_value *v, uint32_t channel)
{
    uint64_t value = v->value.unsigned_int * c->factor;

    c->whole = c->adds ? c->whole + value : value;
    put(r, s, c->slot,
        (struct fv_record){ .kind = FV_REC_COUNTER,
                            .ref = r->rank,
                            .op = (uint8_t)c->number,
                            .aux = c->is_of_call ? FV_TRANSCRIPT_OF_CALL : c->adds && !r->from_ns,
                            .id = channel,
                            .sent = c->whole });
}

void fv_import_metric(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *event)
{
    const struct fv_import_metric *m = fv_import_get(r->import, FV_IMPORT_METRIC, event->ref);
    const struct fv_import_metric *class =
        m && m->is_instance ? fv_import_get(r->import, FV_IMPORT_METRIC, m->class) : m;

    for (uint32_t i = 0; r->takes_metrics && class && i < event->op && i < class->count && !r->failed; i++) {
        size_t before = r->channel_count;
        uint32_t at = FV_INTERN(r->channel_index, r->channels, r->channel_count, r->channel_room,
                                (uint64_t[]){ (uint64_t)event->ref << 8 | i, s->id });
        struct fv_import_channel *c = &r->channels[at];

        if (r->channel_count > before)
            make_channel(r, s, m, class->members[i], c);
        if (c->number == FV_NONE)
            continue;
        if (c->is_series)
            take_real(r, s, c, &s->values[event->aux + i]);
        else
            take_whole(r, s, c, &s->values[event->aux + i], at);
    }
}

void fv_import_sample(struct fv_import_rank *r, struct fv_import_stream *s, const struct fv_record *event)
{
    const struct fv_import_context *c = fv_import_get(r->import, FV_IMPORT_CONTEXT, event->ref);

    if ((r->takes_metrics || r->takes_samples) && c && event->sent && event->sent < SAMPLE_MOST_NS)
        fv_import_put(r, s,
                      (struct fv_record){ .kind = FV_REC_SAMPLE,
                                          .ref = r->rank,
                                          .op = s->call != 0,
                                          .context = fv_import_path_in_all(r, c->node),
                                          .sent = event->sent });
}

/* A location that is defined twice, or not any more, is passed over. */
static const struct fv_import_stream *stream_of(const struct fv_import_rank *r, uint64_t id)
{
    for (uint32_t i = 0; i < r->stream_count; i++)
        if (r->streams[i].id == id)
            return &r->streams[i];
    return NULL;
}

void fv_import_begin_metrics(struct fv_import_rank *r)
{
    for (size_t i = 0; i < r->channel_count && !r->failed; i++) {
        const struct fv_import_channel *c = &r->channels[i];
        const struct fv_import_stream *s = stream_of(r, c->key[1]);

        if (s && c->is_series && !c->is_ahead && c->is_known && c->number != FV_NONE)
            put_real(r, &(struct fv_import_stream){ .now = r->from_ns }, c);
    }
}

void fv_import_end_metrics(struct fv_import_rank *r)
{
    for (size_t i = 0; i < r->channel_count && !r->failed; i++) {
        const struct fv_import_stream *s = stream_of(r, r->channels[i].key[1]);

        if (s && r->channels[i].is_ahead && r->channels[i].is_known && r->channels[i].number != FV_NONE)
            put_real(r, s, &r->channels[i]);
    }
    fv_index_release(&r->channel_index);
    free(r->channels);
    r->channels = NULL;
    r->channel_count = 0;
}
