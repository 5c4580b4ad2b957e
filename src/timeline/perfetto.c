/* SPDX-License-Identifier: BSD-3-Clause */
/* See perfetto.h. All packets are of one sequence, so names are told once: where they are used first. The reader sorts
 * events by their time; those of one time stay in the order of the file. */
#include "timeline/perfetto.h"
#include "base/base.h"
#include "tool/gzip.h"
#include "tool/protobuf.h"
#include "tool/vec.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fields of the messages, and their values, as perfetto/trace/ has them. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    FLAG_CLEARED = 1,
    FLAG_NEEDS = 2,

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_RANK = 12,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT_NAME = 6,

    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_DOUBLE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_ENDS = 48,
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
    TYPE_COUNTER = 4,

    ANNOTATION_NAME_ID = 1,
    ANNOTATION_UNSIGNED = 3,
    ANNOTATION_TEXT = 6,
    ANNOTATION_TEXT_ID = 17,

    INTERNED_CATEGORIES = 1,
    INTERNED_NAMES = 2,
    INTERNED_ANNOTATIONS = 3,
    INTERNED_TEXTS = 29,
    INTERNED_ID = 1,
    INTERNED_TEXT = 2,
};

/* Categories behind the classes of regions. */
enum { WAITING = FV_TIMELINE_CLASS_COUNT, MESSAGE, LABEL, CATEGORIES };

#define ANNOTATIONS(X)       \
    X(PATH, "called by")     \
    X(WAITED, "waited (ns)") \
    X(FOR, "waited for")     \
    X(BYTES, "bytes")        \
    X(TAG, "tag")            \
    X(PEER, "other side")    \
    X(SAMPLED, "where this is from")
enum {
#define ANNOTATION(id, name) AN_##id,
    ANNOTATIONS(ANNOTATION)
#undef ANNOTATION
        AN_COUNT
};

enum uuid_kind { UUID_PROCESS = 1, UUID_THREAD, UUID_WAITING, UUID_SERIES, UUID_CRITICAL };

struct perfetto {
    const struct fv_timeline_file *t;
    const struct fv_timeline_choice *part;
    struct fv_protobuf b;
    struct fv_gzip z;
    uint64_t packets, flows;
    bool *has_name, *has_path; /* by region, by context: it was told */
    size_t packet;
};

static uint64_t uuid(enum uuid_kind kind, uint32_t index)
{
    return (uint64_t)kind << 32 | (uint64_t)index;
}

/* ---- packets ---- */

static void begin_packet(struct perfetto *p)
{
    p->packet = fv_protobuf_begin(&p->b, TRACE_PACKET);
    fv_protobuf_unsigned(&p->b, PACKET_SEQUENCE, 1);
    fv_protobuf_unsigned(&p->b, PACKET_FLAGS, p->packets++ ? FLAG_NEEDS : FLAG_CLEARED | FLAG_NEEDS);
}

#define PIECE_BYTES ((size_t)1 << 18)

static void end_packet(struct perfetto *p)
{
    fv_protobuf_end(&p->b, p->packet);
    if (p->b.count < PIECE_BYTES)
        return;
    fv_gzip_put(&p->z, p->b.data, p->b.count);
    fv_protobuf_clear(&p->b);
}

/* Within the packet's only message of words: readers take the last one alone. */
static void intern(struct perfetto *p, uint32_t field, uint64_t id, const char *text)
{
    size_t entry = fv_protobuf_begin(&p->b, field);

    fv_protobuf_unsigned(&p->b, INTERNED_ID, id);
    fv_protobuf_text(&p->b, INTERNED_TEXT, text);
    fv_protobuf_end(&p->b, entry);
}

static size_t begin_event(struct perfetto *p, unsigned type, uint64_t track)
{
    size_t event = fv_protobuf_begin(&p->b, PACKET_EVENT);

    fv_protobuf_unsigned(&p->b, EVENT_TYPE, type);
    fv_protobuf_unsigned(&p->b, EVENT_TRACK, track);
    return event;
}

static void annotate_text(struct perfetto *p, unsigned what, const char *text)
{
    size_t annotation = fv_protobuf_begin(&p->b, EVENT_ANNOTATION);

    fv_protobuf_unsigned(&p->b, ANNOTATION_NAME_ID, what + 1);
    fv_protobuf_text(&p->b, ANNOTATION_TEXT, text);
    fv_protobuf_end(&p->b, annotation);
}

static void annotate(struct perfetto *p, unsigned what, uint32_t form, uint64_t value)
{
    size_t annotation = fv_protobuf_begin(&p->b, EVENT_ANNOTATION);

    fv_protobuf_unsigned(&p->b, ANNOTATION_NAME_ID, what + 1);
    fv_protobuf_unsigned(&p->b, form, value);
    fv_protobuf_end(&p->b, annotation);
}

/* ---- who is there ---- */

static bool is_shown(const struct perfetto *p, uint32_t row)
{
    return row < p->t->header->rows.count && fv_timeline_choice_has(p->part, &p->t->rows[row]);
}

static char *name_of_row(const struct fv_timeline_file *t, uint32_t row, char *out, size_t bytes)
{
    const struct fv_timeline_row *r = &t->rows[row];

    if (r->thread)
        snprintf(out, bytes, "rank %u, thread %u", r->rank, r->thread);
    else
        snprintf(out, bytes, "rank %u", r->rank);
    return out;
}

/* The row whose rank is the process: the first of its rank. */
static uint32_t process_of(const struct fv_timeline_file *t, uint32_t row)
{
    while (row && t->rows[row - 1].rank == t->rows[row].rank)
        row--;
    return row;
}

static size_t begin_track(struct perfetto *p, uint64_t id)
{
    begin_packet(p);
    size_t track = fv_protobuf_begin(&p->b, PACKET_TRACK);
    fv_protobuf_unsigned(&p->b, TRACK_UUID, id);
    return track;
}

static void end_track(struct perfetto *p, size_t track)
{
    fv_protobuf_end(&p->b, track);
    end_packet(p);
}

/* Process 0 and thread 0 are the kernel's idle ones there: numbers are one more. */
static void put_process(struct perfetto *p, uint32_t row)
{
    const struct fv_timeline_row *r = &p->t->rows[row];
    const char *host = fv_timeline_text(p->t, r->host);
    char name[300];
    size_t track = begin_track(p, uuid(UUID_PROCESS, row)), process = fv_protobuf_begin(&p->b, TRACK_PROCESS);

    snprintf(name, sizeof(name), "rank %u%s%.200s", r->rank, *host ? " on " : "", host);
    fv_protobuf_unsigned(&p->b, PROCESS_PID, (uint64_t)r->rank + 1);
    fv_protobuf_text(&p->b, PROCESS_NAME, name);
    fv_protobuf_end(&p->b, process);
    fv_protobuf_unsigned(&p->b, TRACK_RANK, r->rank);
    end_track(p, track);
}

static void put_thread(struct perfetto *p, uint32_t row)
{
    const struct fv_timeline_row *r = &p->t->rows[row];
    char name[60];
    size_t track = begin_track(p, uuid(UUID_THREAD, row)), thread;

    fv_protobuf_unsigned(&p->b, TRACK_PARENT, uuid(UUID_PROCESS, process_of(p->t, row)));
    thread = fv_protobuf_begin(&p->b, TRACK_THREAD);
    fv_protobuf_unsigned(&p->b, THREAD_PID, (uint64_t)r->rank + 1);
    fv_protobuf_unsigned(&p->b, THREAD_TID, (uint64_t)row + 1);
    fv_protobuf_text(&p->b, THREAD_NAME, name_of_row(p->t, row, name, sizeof(name)));
    fv_protobuf_end(&p->b, thread);
    end_track(p, track);
}

static void put_named_track(struct perfetto *p, uint64_t id, uint64_t parent, const char *name)
{
    size_t track = begin_track(p, id);

    if (parent)
        fv_protobuf_unsigned(&p->b, TRACK_PARENT, parent);
    fv_protobuf_text(&p->b, TRACK_NAME, name);
    end_track(p, track);
}

/* Categories and the names of annotations, once. */
static void put_words(struct perfetto *p)
{
    static const char *const annotations[] = {
#define ANNOTATION(id, name) [AN_##id] = (name),
        ANNOTATIONS(ANNOTATION)
#undef ANNOTATION
    };
    static const char *const categories[CATEGORIES] = {
#define CLASS(id, word, about) [FV_TIMELINE_##id] = (word),
        FV_TIMELINE_CLASSES(CLASS)
#undef CLASS
            [WAITING] = "waiting",
        [MESSAGE] = "message",
        [LABEL] = "label",
    };

    begin_packet(p);
    size_t words = fv_protobuf_begin(&p->b, PACKET_INTERNED);
    for (unsigned i = 0; i < CATEGORIES; i++)
        intern(p, INTERNED_CATEGORIES, i + 1, categories[i]);
    for (unsigned i = 0; i < AN_COUNT; i++)
        intern(p, INTERNED_ANNOTATIONS, i + 1, annotations[i]);
    fv_protobuf_end(&p->b, words);
    end_packet(p);
}

/* ---- slices ---- */

#define PATH_BYTES 2000

static char *path_text(const struct fv_timeline_file *t, uint32_t context, char *out, size_t bytes)
{
    size_t used = 0;

    *out = '\0';
    for (uint64_t depth = 0; context < t->header->contexts.count && depth < t->header->contexts.count;
         context = t->contexts[context].parent, depth++) {
        const struct fv_timeline_context *c = &t->contexts[context];
        const char *file = fv_timeline_text(t, c->file), *name = strrchr(file, '/');
        int more = snprintf(out + used, bytes - used, c->line ? "%s%s %s:%u" : "%s%s %s", used ? " <- " : "",
                            fv_timeline_text(t, c->function), name ? name + 1 : file, c->line);

        if (more < 0 || (size_t)more >= bytes - used)
            break;
        used += (size_t)more;
    }
    return out;
}

static void tell_words(struct perfetto *p, const struct fv_timeline_seen *s)
{
    const bool new_path = s->context != FV_TIMELINE_NONE && !p->has_path[s->context];
    char path[PATH_BYTES];

    if (p->has_name[s->region] && !new_path)
        return;
    size_t words = fv_protobuf_begin(&p->b, PACKET_INTERNED);
    if (!p->has_name[s->region])
        intern(p, INTERNED_NAMES, (uint64_t)s->region + 1, fv_timeline_text(p->t, p->t->regions[s->region].name));
    if (new_path)
        intern(p, INTERNED_TEXTS, (uint64_t)s->context + 1, path_text(p->t, s->context, path, sizeof(path)));
    fv_protobuf_end(&p->b, words);
    p->has_name[s->region] = true;
    if (new_path)
        p->has_path[s->context] = true;
}

static void put_begin(struct perfetto *p, uint32_t row, const struct fv_timeline_seen *s)
{
    const uint32_t class = p->t->regions[s->region].class;
    char name[60];

    begin_packet(p);
    tell_words(p, s);
    fv_protobuf_unsigned(&p->b, PACKET_TIMESTAMP, s->begin_ns);
    size_t event = begin_event(p, TYPE_BEGIN, uuid(UUID_THREAD, row));
    fv_protobuf_unsigned(&p->b, EVENT_CATEGORY, class < FV_TIMELINE_CLASS_COUNT ? class + 1 : 1);
    fv_protobuf_unsigned(&p->b, EVENT_NAME_ID, (uint64_t)s->region + 1);
    if (s->context != FV_TIMELINE_NONE)
        annotate(p, AN_PATH, ANNOTATION_TEXT_ID, (uint64_t)s->context + 1);
    if (s->wait_ns)
        annotate(p, AN_WAITED, ANNOTATION_UNSIGNED, s->wait_ns);
    if (s->cause != FV_TIMELINE_NONE)
        annotate_text(p, AN_FOR, name_of_row(p->t, s->cause, name, sizeof(name)));
    if (s->is_sampled)
        annotate_text(p, AN_SAMPLED, "samples: an estimate");
    fv_protobuf_end(&p->b, event);
    end_packet(p);
}

static void put_end(struct perfetto *p, uint64_t track, uint64_t ns)
{
    begin_packet(p);
    fv_protobuf_unsigned(&p->b, PACKET_TIMESTAMP, ns);
    fv_protobuf_end(&p->b, begin_event(p, TYPE_END, track));
    end_packet(p);
}

/* Without a duration, and at one end of a flow; 0: of none. */
struct instant {
    uint64_t track, ns, flow, flow_ends;
    unsigned category;
    const char *name;
};

static size_t begin_instant(struct perfetto *p, const struct instant *i)
{
    begin_packet(p);
    fv_protobuf_unsigned(&p->b, PACKET_TIMESTAMP, i->ns);
    size_t event = begin_event(p, TYPE_INSTANT, i->track);
    fv_protobuf_unsigned(&p->b, EVENT_CATEGORY, i->category + 1);
    fv_protobuf_text(&p->b, EVENT_NAME, i->name);
    if (i->flow)
        fv_protobuf_fixed64(&p->b, EVENT_FLOW, i->flow);
    if (i->flow_ends)
        fv_protobuf_fixed64(&p->b, EVENT_FLOW_ENDS, i->flow_ends);
    return event;
}

static void put_instant(struct perfetto *p, const struct instant *i)
{
    fv_protobuf_end(&p->b, begin_instant(p, i));
    end_packet(p);
}

/* It waits at its beginning; a flow leads from who was waited for, when that began, to its end. */
static void put_wait(struct perfetto *p, uint32_t row, const struct fv_timeline_seen *s)
{
    const uint64_t ns = s->wait_ns < s->ns ? s->wait_ns : s->ns, track = uuid(UUID_WAITING, row);
    const bool has_cause = s->cause != FV_TIMELINE_NONE;
    char of[60], text[100];

    begin_packet(p);
    fv_protobuf_unsigned(&p->b, PACKET_TIMESTAMP, s->begin_ns);
    size_t event = begin_event(p, TYPE_BEGIN, track);
    fv_protobuf_unsigned(&p->b, EVENT_CATEGORY, WAITING + 1);
    if (has_cause)
        snprintf(text, sizeof(text), "waiting for %s", name_of_row(p->t, s->cause, of, sizeof(of)));
    fv_protobuf_text(&p->b, EVENT_NAME, has_cause ? text : "waiting");
    annotate(p, AN_WAITED, ANNOTATION_UNSIGNED, s->wait_ns);
    fv_protobuf_end(&p->b, event);
    end_packet(p);
    if (is_shown(p, s->cause)) {
        p->flows++;
        put_instant(p, &(struct instant){ track, s->begin_ns + ns, 0, p->flows, WAITING, "goes on" });
        snprintf(text, sizeof(text), "%s waits for it", name_of_row(p->t, row, of, sizeof(of)));
        put_instant(p, &(struct instant){ uuid(UUID_THREAD, s->cause), s->begin_ns, p->flows, 0, WAITING, text });
    }
    put_end(p, track, s->begin_ns + ns);
}

/* Ends that are at or before `ns`, inner ones first. */
static size_t put_ends(struct perfetto *p, uint32_t row, const uint64_t *ends, size_t depth, uint64_t ns)
{
    while (depth && ends[depth - 1] <= ns)
        put_end(p, uuid(UUID_THREAD, row), ends[--depth]);
    return depth;
}

static void put_row(struct perfetto *p, uint32_t row, struct fv_timeline_gathering *g)
{
    uint64_t *ends = NULL, waits = 0;
    size_t depth = 0, room = 0;

    fv_timeline_gather(p->t, row, p->part->from_ns, p->part->to_ns, g);
    for (size_t i = 0; i < g->count; i++) {
        const struct fv_timeline_seen *s = &g->items[i];
        uint64_t end = s->begin_ns + s->ns;

        depth = put_ends(p, row, ends, depth, s->begin_ns);
        put_begin(p, row, s);
        FV_GROW(ends, room, depth + 1);
        ends[depth] = depth && end > ends[depth - 1] ? ends[depth - 1] : end; /* else the file is damaged */
        depth++;
        waits += s->wait_ns != 0;
    }
    put_ends(p, row, ends, depth, UINT64_MAX);
    free(ends);
    if (waits)
        put_named_track(p, uuid(UUID_WAITING, row), uuid(UUID_THREAD, row), "waiting");
    for (size_t i = 0; i < g->count && waits; i++)
        if (g->items[i].wait_ns)
            put_wait(p, row, &g->items[i]);
}

/* ---- the rest ---- */

static void put_side(struct perfetto *p, const struct fv_timeline_message *m, uint64_t flow, bool is_send)
{
    const uint32_t row = is_send ? m->from : m->to, other = is_send ? m->to : m->from;
    char name[60];
    size_t event = begin_instant(p, &(struct instant){ uuid(UUID_THREAD, row), is_send ? m->sent_ns : m->received_ns,
                                                       is_send ? flow : 0, is_send ? 0 : flow, MESSAGE,
                                                       is_send ? "message sent" : "message received" });

    annotate_text(p, AN_PEER, name_of_row(p->t, other, name, sizeof(name)));
    annotate(p, AN_BYTES, ANNOTATION_UNSIGNED, m->bytes);
    annotate(p, AN_TAG, ANNOTATION_UNSIGNED, m->tag);
    fv_protobuf_end(&p->b, event);
    end_packet(p);
}

static void put_message(void *context, const struct fv_timeline_message *m)
{
    struct perfetto *p = context;
    const uint64_t rows = p->t->header->rows.count;

    if (m->from >= rows || m->to >= rows)
        return;
    const bool is_sent = is_shown(p, m->from), is_received = is_shown(p, m->to);
    /* None goes back in time, where clocks were not in step. */
    const uint64_t flow = is_sent && is_received && m->received_ns >= m->sent_ns ? ++p->flows : 0;
    if (is_sent)
        put_side(p, m, flow, true);
    if (is_received)
        put_side(p, m, flow, false);
}

static void put_value(struct perfetto *p, uint32_t series, uint64_t ns, double value)
{
    begin_packet(p);
    fv_protobuf_unsigned(&p->b, PACKET_TIMESTAMP, ns);
    size_t event = begin_event(p, TYPE_COUNTER, uuid(UUID_SERIES, series));
    fv_protobuf_double(&p->b, EVENT_DOUBLE, value);
    fv_protobuf_end(&p->b, event);
    end_packet(p);
}

static void put_series(struct perfetto *p, uint32_t index)
{
    const struct fv_timeline_series *s = &p->t->series[index];
    const struct fv_timeline_point *points = (const void *)(p->t->map + s->points);
    const char *unit = fv_timeline_text(p->t, s->unit);
    size_t track = begin_track(p, uuid(UUID_SERIES, index)), counter;

    if (s->row < p->t->header->rows.count)
        fv_protobuf_unsigned(&p->b, TRACK_PARENT,
                             s->scope == FV_TIMELINE_OF_THREAD ? uuid(UUID_THREAD, s->row)
                                                               : uuid(UUID_PROCESS, process_of(p->t, s->row)));
    fv_protobuf_text(&p->b, TRACK_NAME, fv_timeline_text(p->t, s->name));
    counter = fv_protobuf_begin(&p->b, TRACK_COUNTER);
    if (*unit)
        fv_protobuf_text(&p->b, COUNTER_UNIT_NAME, unit);
    fv_protobuf_end(&p->b, counter);
    end_track(p, track);
    for (uint64_t i = s->is_rate; i < s->count; i++) { /* a rate is of the time before its point */
        const uint64_t ns = points[i - s->is_rate].ns;

        if (ns >= p->part->from_ns && ns < p->part->to_ns && isfinite(points[i].value))
            put_value(p, index, ns, points[i].value);
    }
}

static void put_labels(struct perfetto *p)
{
    for (uint64_t i = 0; i < p->t->header->labels.count; i++) {
        const struct fv_timeline_label *l = &p->t->labels[i];

        if (l->ns >= p->part->from_ns && l->ns < p->part->to_ns && is_shown(p, l->row))
            put_instant(
                p, &(struct instant){ uuid(UUID_THREAD, l->row), l->ns, 0, 0, LABEL, fv_timeline_text(p->t, l->text) });
    }
}

static void put_critical(struct perfetto *p)
{
    const uint64_t track = uuid(UUID_CRITICAL, 0);
    char name[60];

    if (p->t->header->critical.count)
        put_named_track(p, track, 0, "critical path");
    for (uint64_t i = 0; i < p->t->header->critical.count; i++) {
        const struct fv_timeline_stretch *s = &p->t->critical[i];

        if (s->begin_ns >= p->part->to_ns || s->end_ns <= p->part->from_ns || !is_shown(p, s->row))
            continue;
        begin_packet(p);
        fv_protobuf_unsigned(&p->b, PACKET_TIMESTAMP, s->begin_ns);
        size_t event = begin_event(p, TYPE_BEGIN, track);
        fv_protobuf_text(&p->b, EVENT_NAME, name_of_row(p->t, s->row, name, sizeof(name)));
        fv_protobuf_end(&p->b, event);
        end_packet(p);
        put_end(p, track, s->end_ns);
    }
}

/* A process stands before its first thread that is shown. */
static void put_tracks(struct perfetto *p)
{
    uint32_t last = FV_TIMELINE_NONE;

    for (uint32_t row = 0; row < p->t->header->rows.count; row++) {
        const uint32_t process = process_of(p->t, row);

        if (!is_shown(p, row))
            continue;
        if (process != last)
            put_process(p, process);
        last = process;
        put_thread(p, row);
    }
}

static void put_all(struct perfetto *p)
{
    const struct fv_timeline_header *h = p->t->header;
    struct fv_timeline_gathering g = { .has_all = true };

    put_words(p);
    put_tracks(p);
    for (uint32_t row = 0; row < h->rows.count; row++)
        if (is_shown(p, row))
            put_row(p, row, &g);
    free(g.items);
    fv_timeline_messages(p->t, p->part->from_ns, p->part->to_ns, put_message, p);
    for (uint32_t i = 0; i < h->series.count; i++)
        if (p->t->series[i].row >= h->rows.count || is_shown(p, p->t->series[i].row))
            put_series(p, i);
    put_labels(p);
    put_critical(p);
}

int fv_timeline_perfetto(const struct fv_timeline_file *t, const struct fv_timeline_choice *part, FILE *out)
{
    struct perfetto *p = fv_xcalloc(1, sizeof(*p));

    p->t = t;
    p->part = part;
    p->has_name = fv_xcalloc(t->header->regions.count + 1, sizeof(*p->has_name));
    p->has_path = fv_xcalloc(t->header->contexts.count + 1, sizeof(*p->has_path));
    fv_gzip_open(&p->z, out);
    put_all(p);
    fv_gzip_put(&p->z, p->b.data, p->b.count);
    bool good = fv_gzip_close(&p->z);
    fv_protobuf_release(&p->b);
    free(p->has_name);
    free(p->has_path);
    free(p);
    return good ? 0 : -FV_EIO;
}
