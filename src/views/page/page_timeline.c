/* SPDX-License-Identifier: BSD-3-Clause */
/* See page_timeline.h. */
#include "views/page/page_timeline.h"

#include "profile/samples/cost_profile.h"
#include "profile/samples/costs.h"
#include "tool/json_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences of two are numbers, too, whatever a damaged file says. */
static int64_t ns(double seconds)
{
    const double most = 0x1p61;

    return llround(fmax(fmin(seconds * 1e9, most), -most));
}

/* ---- call paths of samples ---- */

#define FRAMES 48 /* of a path, the innermost ones */

/* Numbers of those that samples have. */
struct paths {
    const struct fv_profile *profile;
    uint8_t *code;
    uint32_t *number; /* by node; FV_NONE: not asked for yet */
    struct numbered_frame {
        const char *name;
    } * frames;
    size_t frame_count, frame_room;
    struct fv_index by_name;
    struct fv_arena arena;
    uint32_t *nodes;
    size_t count, room;
};

static void init_paths(struct paths *p, const struct fv_profile *profile)
{
    size_t nodes = profile->model->tree.node_count;

    *p = (struct paths){ .profile = profile,
                         .code = fv_cost_code(profile->model),
                         .number = fv_xcalloc(nodes + 1, sizeof(*p->number)) };
    memset(p->number, 0xff, nodes * sizeof(*p->number));
}

static void release_paths(struct paths *p)
{
    free(p->code);
    free(p->number);
    free(p->frames);
    free(p->nodes);
    fv_index_release(&p->by_name);
    fv_arena_release(&p->arena);
}

static uint32_t path_number(struct paths *p, uint32_t node)
{
    if (p->number[node] == FV_NONE) {
        FV_GROW(p->nodes, p->room, p->count + 1);
        p->nodes[p->count] = node;
        p->number[node] = (uint32_t)p->count++;
    }
    return p->number[node];
}

static uint32_t frame_number(struct paths *p, const struct fv_frame *frame)
{
    char label[512];

    return FV_INTERN_NAME(p->by_name, p->frames, p->frame_count, p->frame_room, &p->arena,
                          fv_frame_function_label(frame, p->profile->symbols, label, sizeof(label)));
}

static void put_path(struct paths *p, struct fv_path *path, uint32_t node, struct fv_json *out)
{
    fv_path_of(path, p->profile->symbols, node);
    size_t own = fv_path_own(path, p->code), count = path->count < FRAMES ? path->count : FRAMES;

    fv_json_object(out, NULL);
    if (path->count)
        fv_json_unsigned(out, "own", frame_number(p, &path->frames[own < path->count ? own : 0]));
    else
        fv_json_null(out, "own");
    fv_json_array(out, "frames");
    for (size_t i = 0; i < count; i++)
        fv_json_unsigned(out, NULL, frame_number(p, &path->frames[i]));
    fv_json_end(out);
    fv_json_unsigned(out, "more", path->count - count);
    fv_json_bool(out, "sync", fv_cost_in_sync(path, p->profile->model));
    fv_json_end(out);
}

static void put_paths(struct paths *p, struct fv_json *out)
{
    struct fv_path path = { 0 };

    fv_json_array(out, "paths");
    for (size_t i = 0; i < p->count; i++)
        put_path(p, &path, p->nodes[i], out);
    fv_json_end(out);
    fv_json_array(out, "frames");
    for (size_t i = 0; i < p->frame_count; i++)
        fv_json_string(out, NULL, p->frames[i].name);
    fv_json_end(out);
    fv_path_release(&path);
}

/* ---- rows ---- */

/* What one thread did. */
struct row {
    uint32_t rank, thread;
    const struct fv_trace_call *calls;
    const struct fv_trace_sample *samples;
    const struct fv_trace_span *spans;
    const struct fv_call_wait *waits; /* of the calls; NULL: as these have them */
    size_t call_count, sample_count, span_count;
};

/* How many items of one kind, from `at` on, are of the thread of the first of them; 0: it is not the row's. */
#define OF_ROW(items, at, count, row)                                             \
    ({                                                                            \
        size_t of_ = 0;                                                           \
        while ((at) + of_ < (count) && (items)[(at) + of_].rank == (row)->rank && \
               (items)[(at) + of_].thread == (row)->thread)                       \
            of_++;                                                                \
        of_;                                                                      \
    })

/* The thread of an item comes before the row's? Then the row is its. */
static void take_first(struct row *row, uint32_t rank, uint32_t thread)
{
    if (rank < row->rank || (rank == row->rank && thread < row->thread)) {
        row->rank = rank;
        row->thread = thread;
    }
}

/* The next one, behind `calls`, `samples` and `spans` of the trace. False: there is none. */
static bool next_row(const struct fv_trace_excerpt *t, size_t calls, size_t samples, size_t spans, struct row *row)
{
    *row = (struct row){ .rank = UINT32_MAX,
                         .thread = UINT32_MAX,
                         .calls = calls ? t->calls + calls : t->calls, /* NULL: there are none */
                         .samples = samples ? t->samples + samples : t->samples,
                         .spans = spans ? t->spans + spans : t->spans };
    if (calls < t->call_count)
        take_first(row, t->calls[calls].rank, t->calls[calls].thread);
    if (samples < t->sample_count)
        take_first(row, t->samples[samples].rank, t->samples[samples].thread);
    if (spans < t->span_count)
        take_first(row, t->spans[spans].rank, t->spans[spans].thread);
    row->call_count = OF_ROW(t->calls, calls, t->call_count, row);
    row->sample_count = OF_ROW(t->samples, samples, t->sample_count, row);
    row->span_count = OF_ROW(t->spans, spans, t->span_count, row);
    return row->call_count || row->sample_count || row->span_count;
}

static void put_numbers(struct fv_json *out, const char *key, const void *items, size_t bytes, size_t count,
                        int64_t (*value)(const void *item))
{
    fv_json_array(out, key);
    for (size_t i = 0; i < count; i++)
        fv_json_signed(out, NULL, value((const char *)items + i * bytes));
    fv_json_end(out);
}

static int64_t call_duration(const void *call)
{
    return ns(((const struct fv_trace_call *)call)->duration_s);
}
static int64_t call_bytes(const void *call)
{
    return (int64_t)((const struct fv_trace_call *)call)->bytes;
}

/* Which calls of collective operations are of the same one. */
static void put_meetings(const struct row *row, struct fv_json *out)
{
    const struct fv_trace_call *of = row->calls;
    size_t last = 0;
    uint64_t sequence = 0;

    fv_json_array(out, "meetings");
    for (size_t i = 0; i < row->call_count; i++)
        if (of[i].comm != FV_NONE) {
            fv_json_unsigned(out, NULL, i - last);
            fv_json_unsigned(out, NULL, of[i].comm);
            fv_json_signed(out, NULL, (int64_t)(of[i].sequence - sequence));
            last = i;
            sequence = of[i].sequence;
        }
    fv_json_end(out);
}

static struct fv_call_wait wait_of(const struct row *row, size_t i)
{
    const struct fv_trace_call *call = &row->calls[i];

    return row->waits ? row->waits[i] : (struct fv_call_wait){ call->wait_s, call->waits_for, call->waits_for_thread };
}

static void put_waits(const struct row *row, struct fv_json *out)
{
    fv_json_array(out, "waits");
    for (size_t i = 0; i < row->call_count; i++) {
        const struct fv_call_wait w = wait_of(row, i);

        if (ns(w.wait_s) > 0) {
            fv_json_unsigned(out, NULL, i);
            fv_json_signed(out, NULL, ns(w.wait_s));
            fv_json_signed(out, NULL, w.waits_for == FV_NONE ? -1 : (int64_t)w.waits_for);
            fv_json_unsigned(out, NULL, w.waits_for_thread);
        }
    }
    fv_json_end(out);
}

static void put_calls(const struct row *row, struct fv_json *out)
{
    const struct fv_trace_call *of = row->calls;
    int64_t last = 0;

    fv_json_array(out, "sites");
    for (size_t i = 0; i < row->call_count; i++)
        if (of[i].site == FV_NONE)
            fv_json_null(out, NULL);
        else
            fv_json_unsigned(out, NULL, of[i].site);
    fv_json_end(out);
    fv_json_array(out, "gaps");
    for (size_t i = 0; i < row->call_count; i++) {
        fv_json_signed(out, NULL, ns(of[i].begin_s) - last);
        last = ns(of[i].begin_s) + ns(of[i].duration_s);
    }
    fv_json_end(out);
    put_numbers(out, "durations", of, sizeof(*of), row->call_count, call_duration);
    put_numbers(out, "bytes", of, sizeof(*of), row->call_count, call_bytes);
    put_waits(row, out);
    put_meetings(row, out);
}

static int64_t sample_ticks(const void *sample)
{
    return ((const struct fv_trace_sample *)sample)->ticks;
}

/* CPU time that a tick of the thread stands for; 0: it has none. */
static double tick_of(const struct fv_model *m, const struct row *row)
{
    for (size_t i = 0; i < fv_model_costs(m)->thread_count; i++)
        if (fv_model_costs(m)->threads[i].rank == row->rank && fv_model_costs(m)->threads[i].thread == row->thread)
            return fv_model_costs(m)->threads[i].tick_s;
    return fv_model_costs(m)->tick_s;
}

static void put_samples(struct paths *p, const struct row *row, struct fv_json *out)
{
    const struct fv_trace_sample *of = row->samples;
    int64_t last = 0;

    fv_json_object(out, "samples");
    fv_json_signed(out, "tick", ns(tick_of(p->profile->model, row)));
    fv_json_array(out, "gaps");
    for (size_t i = 0; i < row->sample_count; i++) {
        fv_json_signed(out, NULL, ns(of[i].time_s) - last);
        last = ns(of[i].time_s);
    }
    fv_json_end(out);
    put_numbers(out, "ticks", of, sizeof(*of), row->sample_count, sample_ticks);
    fv_json_array(out, "paths");
    for (size_t i = 0; i < row->sample_count; i++)
        fv_json_unsigned(out, NULL, path_number(p, of[i].node));
    fv_json_end(out);
    fv_json_end(out);
}

static int64_t span_duration(const void *span)
{
    return ns(((const struct fv_trace_span *)span)->duration_s);
}
static int64_t span_depth(const void *span)
{
    return ((const struct fv_trace_span *)span)->depth;
}
static int64_t span_bytes(const void *span)
{
    return (int64_t)((const struct fv_trace_span *)span)->bytes;
}

/* Numbers of names, -1: none. */
static int64_t name_number(struct paths *p, const char *name)
{
    if (!name)
        return -1;
    return FV_INTERN_NAME(p->by_name, p->frames, p->frame_count, p->frame_room, &p->arena, name);
}

/* Spans of one layer. */
static void put_lane(struct paths *p, const struct fv_trace_span *of, size_t count, struct fv_json *out)
{
    int64_t last = 0;

    fv_json_object(out, NULL);
    fv_json_unsigned(out, "layer", of->layer);
    fv_json_array(out, "steps");
    for (size_t i = 0; i < count; i++) {
        fv_json_signed(out, NULL, ns(of[i].begin_s) - last);
        last = ns(of[i].begin_s);
    }
    fv_json_end(out);
    put_numbers(out, "durations", of, sizeof(*of), count, span_duration);
    put_numbers(out, "depths", of, sizeof(*of), count, span_depth);
    put_numbers(out, "bytes", of, sizeof(*of), count, span_bytes);
    fv_json_array(out, "names");
    for (size_t i = 0; i < count; i++)
        fv_json_signed(out, NULL, name_number(p, of[i].name));
    fv_json_end(out);
    fv_json_array(out, "objects");
    for (size_t i = 0; i < count; i++)
        fv_json_signed(out, NULL, name_number(p, of[i].object));
    fv_json_end(out);
    fv_json_array(out, "paths");
    for (size_t i = 0; i < count; i++)
        fv_json_signed(out, NULL, of[i].node ? (int64_t)path_number(p, of[i].node) : -1);
    fv_json_end(out);
    fv_json_end(out);
}

static void put_lanes(struct paths *p, const struct row *row, struct fv_json *out)
{
    size_t count;

    fv_json_array(out, "lanes");
    for (size_t i = 0; i < row->span_count; i += count) {
        for (count = 1; i + count < row->span_count && row->spans[i + count].layer == row->spans[i].layer;)
            count++;
        put_lane(p, row->spans + i, count, out);
    }
    fv_json_end(out);
}

static void put_rows(const struct fv_model *m, const struct fv_call_wait *waits, struct paths *paths,
                     struct fv_json *out)
{
    struct row row = { 0 };

    fv_json_array(out, "rows");
    for (size_t calls = 0, samples = 0, spans = 0; next_row(&m->excerpt, calls, samples, spans, &row);
         calls += row.call_count, samples += row.sample_count, spans += row.span_count) {
        fv_json_object(out, NULL);
        fv_json_signed(out, "rank", m->ranks[row.rank].world_rank);
        fv_json_unsigned(out, "thread", row.thread);
        row.waits = waits ? waits + calls : NULL;
        put_calls(&row, out);
        put_samples(paths, &row, out);
        put_lanes(paths, &row, out);
        fv_json_end(out);
    }
    fv_json_end(out);
}

static void put_comms(const struct fv_model *m, struct fv_json *out)
{
    fv_json_array(out, "comms");
    for (size_t i = 0; i < m->comm_count; i++) {
        fv_json_array(out, NULL);
        fv_json_string(out, NULL, m->comms[i].def.name);
        fv_json_unsigned(out, NULL, m->comms[i].def.size);
        fv_json_end(out);
    }
    fv_json_end(out);
}

static int64_t message_from(const void *message)
{
    const struct fv_trace_message *m = message;

    return (int64_t)m->from;
}
static int64_t message_to(const void *message)
{
    const struct fv_trace_message *m = message;

    return (int64_t)m->to;
}
static int64_t message_from_thread(const void *message)
{
    return ((const struct fv_trace_message *)message)->from_thread;
}
static int64_t message_to_thread(const void *message)
{
    return ((const struct fv_trace_message *)message)->to_thread;
}
static int64_t message_sent(const void *message)
{
    const struct fv_trace_message *m = message;

    return ns(m->sent_s);
}
static int64_t message_flight(const void *message)
{
    const struct fv_trace_message *m = message;

    return ns(m->received_s) - ns(m->sent_s);
}
static int64_t message_bytes(const void *message)
{
    const struct fv_trace_message *m = message;

    return (int64_t)m->bytes;
}

static void put_messages(const struct fv_trace_excerpt *t, struct fv_json *out)
{
    static const struct {
        const char *key;
        int64_t (*value)(const void *message);
    } keys[] = { { "from", message_from },           { "to", message_to },     { "from_thread", message_from_thread },
                 { "to_thread", message_to_thread }, { "sent", message_sent }, { "flight", message_flight },
                 { "bytes", message_bytes } };

    fv_json_object(out, "messages");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        put_numbers(out, keys[i].key, t->messages, sizeof(*t->messages), t->message_count, keys[i].value);
    fv_json_end(out);
}

bool fv_page_timeline_put(const struct fv_profile *profile, const struct fv_call_wait *waits, FILE *stream)
{
    const struct fv_trace_excerpt *t = &profile->model->excerpt;
    struct fv_json json = { .out = stream }, *out = &json;
    struct paths paths;

    init_paths(&paths, profile);
    fv_json_object(out, NULL);
    fv_json_signed(out, "end", ns(profile->model->elapsed_s));
    fv_json_unsigned(out, "left_out", t->calls_left_out);
    fv_json_unsigned(out, "messages_left_out", t->messages_left_out);
    fv_json_unsigned(out, "unmatched", t->unmatched);
    fv_json_unsigned(out, "samples_left_out", t->samples_left_out);
    fv_json_array(out, "spans_left_out");
    for (unsigned layer = 0; layer < FV_TRACE_LAYERS; layer++)
        fv_json_unsigned(out, NULL, t->spans_left_out[layer]);
    fv_json_end(out);
    fv_json_bool(out, "analysed", fv_is_analysed(profile->model));
    fv_json_bool(out, "waits_analysed", waits);
    fv_json_unsigned(out, "waits_unknown", waits ? 0 : t->waits_unknown);
    fv_json_bool(out, "waits_cut", !waits && t->waits_cut);
    put_rows(profile->model, waits, &paths, out);
    put_messages(t, out);
    put_comms(profile->model, out);
    put_paths(&paths, out);
    fv_json_end(out);
    release_paths(&paths);
    return !json.failed;
}
