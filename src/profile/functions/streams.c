/* SPDX-License-Identifier: BSD-3-Clause */
/* See streams.h. */
#include "profile/functions/streams.h"
#include "base/list.h"
#include "profile/build.h"
#include "profile/relations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

FV_DATA_BASE(instrumentation)

static bool find_stream(struct fv_reader *reader, uint32_t thread, struct fv_stream_record *out)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_STREAMS);

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(out, p, sizeof(*out));
        out->device[sizeof(out->device) - 1] = out->name[sizeof(out->name) - 1] = '\0';
        if (out->thread == thread)
            return true;
    }
    return false;
}

bool fv_is_stream(struct fv_reader *reader, uint32_t thread)
{
    struct fv_stream_record r;

    return find_stream(reader, thread, &r);
}

/* ---- the track ---- */

struct gather {
    struct fv_instrumentation *out;
    struct fv_index index;
    double tick_s;
};

static void add(struct gather *g, struct fv_build *b, uint32_t rank, const struct fv_stream_record *stream,
                const struct fv_function_calls *c)
{
    struct fv_instrumentation *out = g->out;
    const uint32_t module = fv_numbers_module(&b->files[rank].modules, c->module),
                   node = fv_call_tree_node(&b->model->tree, 0, module, c->offset + 1);
    const size_t before = out->stream_count;
    struct fv_stream_function *f = FV_INTERNED(g->index, out->streams, out->stream_count, out->stream_room,
                                               (uint32_t[]){ rank, stream->thread, node });

    if (out->stream_count > before) {
        memcpy(f->device, stream->device, sizeof(f->device));
        memcpy(f->name, stream->name, sizeof(f->name));
        f->flags = c->flags;
        f->min_s = INFINITY;
    }
    f->calls += c->calls;
    f->self_s += (double)c->self_ticks * g->tick_s;
    if (!c->ended)
        return;
    f->min_s = fmin(f->min_s, (double)c->ticks_min * g->tick_s);
    f->max_s = fmax(f->max_s, (double)(c->ticks_first > c->ticks_later ? c->ticks_first : c->ticks_later) * g->tick_s);
}

static void *begin_streams(struct fv_build *b)
{
    struct gather *g = fv_xcalloc(1, sizeof(*g));

    g->out = fv_model_instrumentation(b->model);
    return g;
}

static void read_streams(struct fv_build *b, void *state, uint32_t rank)
{
    struct gather *g = state;
    struct fv_reader *reader = b->files[rank].reader;
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_FUNCTION_CALLS);
    struct fv_stream_record stream;
    struct fv_function_calls calls;

    g->tick_s = fv_build_seconds(b->model, rank, 1u << 20) / (1u << 20);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&calls, p, sizeof(calls));
        if (find_stream(reader, c.thread, &stream))
            add(g, b, rank, &stream, &calls);
    }
}

/* By rank and stream, what took longest first. */
static int by_stream(const void *a, const void *b)
{
    const struct fv_stream_function *x = a, *y = b;

    return x->rank != y->rank       ? (x->rank > y->rank) - (x->rank < y->rank)
           : x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
           : x->self_s != y->self_s ? (x->self_s < y->self_s ? 1 : -1)
                                    : (x->node > y->node) - (x->node < y->node);
}

static void finish_streams(struct fv_build *b, void *state)
{
    struct gather *g = state;

    (void)b;
    if (g->out->stream_count)
        qsort(g->out->streams, g->out->stream_count, sizeof(*g->out->streams), by_stream);
    fv_index_release(&g->index);
    free(g);
}

const struct fv_track fv_track_streams = {
    .name = "streams",
    .visit = FV_VISIT_REST,
    .types = { FV_CHUNK_FUNCTION_CALLS, FV_CHUNK_STREAMS },
    .begin = begin_streams,
    .read = read_streams,
    .finish = finish_streams,
};

/* ---- the relation ---- */

static void get_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const char *text = (const char *)row + c->argument;

    v->text = *text ? text : NULL;
}

static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_path *path = fv_tables_path(t, ((const struct fv_stream_function *)row)->node);

    v->text = path->count ? fv_frame_label(&path->frames[0], t->profile->symbols, t->text, sizeof(t->text)) : NULL;
}

#define KINDS(X)         X(KERNEL, "kernel") X(COPY, "copy") X(OTHER, "other")
#define KIND(name, word) name,
enum { KINDS(KIND) };
static const char *const kinds[] = { KINDS(FV_LIST_WORD) NULL };
static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const uint32_t flags = ((const struct fv_stream_function *)row)->flags;

    v->text = kinds[flags & FV_CALLS_KERNEL ? KERNEL : flags & FV_CALLS_COPY ? COPY : OTHER];
}

static void get_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_stream_function *f = row;
    const struct fv_rank *r = &fv_tables_model(subject)->ranks[f->rank];
    const double all = r->end_s - r->begin_s;

    v->real = all > 0 ? f->self_s / all : NAN;
}

static void get_mean(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_stream_function *f = row;

    v->real = f->calls ? f->self_s / (double)f->calls : NAN;
}

static bool has_ended(void *subject, const void *row, const struct fv_column_def *c)
{
    return isfinite(((const struct fv_stream_function *)row)->min_s);
}

#define OF_STREAM(member) FV_FIELD(struct fv_stream_function, member)
static const struct fv_column_def columns[] = {
    FV_RANK_COLUMN(struct fv_stream_function, rank, "rank", "rank", "The rank that used the accelerator."),
    { "device", "device", "", "The accelerator. Null: the archive does not say.", FV_GET(FV_TYPE_TEXT, get_name),
      .flags = FV_NULLABLE, .argument = offsetof(struct fv_stream_function, device) },
    { "stream", "stream", "", "The stream's name in the archive.", FV_GET(FV_TYPE_TEXT, get_name), .flags = FV_NULLABLE,
      .argument = offsetof(struct fv_stream_function, name) },
    { "function", "function", "", "The kernel, or what else ran.", FV_GET(FV_TYPE_TEXT, get_function),
      .flags = FV_NULLABLE | FV_NAME },
    { "kind", "kind", "", "kernel: it computed. copy: it moved data.", FV_GET(FV_TYPE_TEXT, get_kind), .words = kinds },
    { "calls", "calls", "", "How often it ran.", OF_STREAM(calls) },
    { "time_s", "time", "s", "Time on the stream, without what ran within it.", OF_STREAM(self_s) },
    { "share", "of the rank", "share", "time_s as a share of the rank's time.", FV_GET(FV_TYPE_REAL, get_share),
      .flags = FV_NULLABLE },
    { "mean_s", "a call", "s", "time_s divided by calls.", FV_GET(FV_TYPE_REAL, get_mean), .flags = FV_NULLABLE },
    { "min_s", "min", "s", "The shortest one that ended.", OF_STREAM(min_s), .flags = FV_NULLABLE, .known = has_ended },
    { "max_s", "max", "s", "The longest one that ended.", OF_STREAM(max_s), .flags = FV_NULLABLE, .known = has_ended },
};
const struct fv_relation fv_streams_relation = {
    .name = "streams",
    .key = "streams",
    .title = "Streams of accelerators",
    .doc = "What ran on each stream of an accelerator, by rank and stream, longest first. Exact.",
    .shown = "rank device/4 stream function kind/1 time_s share calls mean_s/2 max_s/3",
    .recorded_by = "an archive with accelerators",
    .by_rank = true,
    FV_COLUMNS(columns),
    .base = instrumentation_base,
    FV_ITEMS(struct fv_instrumentation, streams, stream_count),
};
