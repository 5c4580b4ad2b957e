/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_relations.h: the columns. */
#include "timeline/timeline_scan.h"
#include "tool/vec.h"

#include <stdio.h>

#define PATH_DEEPEST 512

/* ---- values ---- */

/* `argument` of times: 0 begin, 1 end, 2 length, 3 waiting. */
static void get_time(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_timeline_event *s = row;
    const uint64_t ns[] = { s->seen.begin_ns, s->seen.begin_ns + s->seen.ns, s->seen.ns, s->seen.wait_ns };

    v->real = (double)ns[c->argument] / 1e9;
}

/* Of a uint64_t of ns. */
static void get_seconds(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = (double)*(const uint64_t *)(const void *)((const char *)row + c->argument) / 1e9;
}

/* Of a row's number, uint32_t at the offset `argument` / 2; odd: the thread, else the rank. */
static void get_location(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_timeline_file *t = subject;
    const uint32_t at = *(const uint32_t *)(const void *)((const char *)row + c->argument / 2);

    v->null = at >= t->header->rows.count;
    if (!v->null)
        v->number = c->argument % 2 ? t->rows[at].thread : t->rows[at].rank;
}

static const struct fv_timeline_region *region_of(const struct fv_timeline_file *t, const void *row)
{
    return &t->regions[((const struct fv_timeline_event *)row)->seen.region];
}

static void get_region(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_timeline_text(subject, region_of(subject, row)->name);
}

static const char *const class_words[] = {
#define CLASS(name, word, about) word,
    FV_TIMELINE_CLASSES(CLASS)
#undef CLASS
        NULL
};

static void get_class(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const uint32_t class = region_of(subject, row)->class;

    v->text = class_words[class < FV_TIMELINE_CLASS_COUNT ? class : 0];
}

/* A string of the file, uint32_t at the offset `argument`; "" is null. */
static void get_string(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_timeline_text(subject, *(const uint32_t *)(const void *)((const char *)row + c->argument));
    v->null = !*v->text;
}

static void get_path(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    static _Thread_local char text[4096];
    const struct fv_timeline_file *t = subject;
    uint64_t at = ((const struct fv_timeline_event *)row)->seen.context;
    size_t used = 0;

    text[0] = '\0';
    for (unsigned depth = 0; at < t->header->contexts.count && depth < PATH_DEEPEST && used < sizeof(text); depth++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " < " : "",
                                 fv_timeline_text(t, t->contexts[at].function));
        at = t->contexts[at].parent;
    }
    v->text = text;
    v->null = !used;
}

static void get_number(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_timeline_seen *s = &((const struct fv_timeline_event *)row)->seen;

    v->null = s->comm == FV_TIMELINE_NONE;
    v->whole = c->argument ? s->instance : s->comm;
}

/* ---- columns ---- */

#define TIME(k, t, d, n)                                              \
    {                                                                 \
        k, t, "s", d, FV_GET(FV_TYPE_REAL, get_time), .argument = (n) \
    }
#define SECONDS(k, t, d, S, m)                                                      \
    {                                                                               \
        k, t, "s", d, FV_GET(FV_TYPE_REAL, get_seconds), .argument = offsetof(S, m) \
    }
#define RANK(k, t, d, S, m, f)                                                                      \
    {                                                                                               \
        k, t, "", d, FV_GET(FV_TYPE_NUMBER, get_location), .flags = FV_IS_RANK | (f),               \
                                                           .argument = 2 * (intptr_t)offsetof(S, m) \
    }
#define THREAD(k, t, d, S, m, f)                                                                        \
    {                                                                                                   \
        k, t, "", d, FV_GET(FV_TYPE_NUMBER, get_location), .flags = FV_IS_THREAD | (f),                 \
                                                           .argument = 2 * (intptr_t)offsetof(S, m) + 1 \
    }
#define TEXT(k, t, d, S, m)                                                                             \
    {                                                                                                   \
        k, t, "", d, FV_GET(FV_TYPE_TEXT, get_string), .flags = FV_NULLABLE, .argument = offsetof(S, m) \
    }

static const char of_run[] = "From the run's begin.";
#define SLICE_COLUMNS                                                                                            \
    RANK("rank", "rank", "The rank in MPI_COMM_WORLD.", struct fv_timeline_event, row, 0),                       \
        THREAD("thread", "thread", "The thread of the rank, 0 is the first.", struct fv_timeline_event, row, 0), \
        TIME("begin_s", "begin", of_run, 0), TIME("end_s", "end", of_run, 1)
#define PATH_COLUMN                                                                               \
    {                                                                                             \
        "path", "path", "", "Names of the functions around it, innermost first, separated by <.", \
            FV_GET(FV_TYPE_TEXT, get_path), .flags = FV_NULLABLE                                  \
    }
#define DEPTH_COLUMN                                                     \
    {                                                                    \
        "depth", "depth", "", "In how many others of the thread it is.", \
            FV_FIELD(struct fv_timeline_event, seen.depth)               \
    }

static const struct fv_column_def call_columns[] = {
    SLICE_COLUMNS,
    TIME("duration_s", "time", "Its length.", 2),
    { "function", "function", "", "What was called.", FV_GET(FV_TYPE_TEXT, get_region), .flags = FV_NAME },
    { "class", "class", "", "What kind of function it is.", FV_GET(FV_TYPE_TEXT, get_class), .words = class_words },
    DEPTH_COLUMN,
    TIME("wait_s", "waiting", "Time of it spent waiting for another rank or thread, by the analysis of the trace.", 3),
    RANK("late_rank", "late rank", "For which rank it waited. Null: it did not wait, or it is not known.",
         struct fv_timeline_event, seen.cause, FV_NULLABLE),
    THREAD("late_thread", "late thread", "For which thread of that rank.", struct fv_timeline_event, seen.cause,
           FV_NULLABLE),
    { "comm", "comm", "id", "The communicator of a collective operation. Null: it is none.",
      FV_GET(FV_TYPE_WHOLE, get_number), .flags = FV_NULLABLE },
    { "instance", "instance", "id", "A number that the calls of all members have. Null: it is no collective operation.",
      FV_GET(FV_TYPE_WHOLE, get_number), .flags = FV_NULLABLE, .argument = 1 },
    PATH_COLUMN,
};
static const struct fv_column_def wait_columns[] = {
    SLICE_COLUMNS,
    TIME("wait_s", "waiting", "How long it waited.", 3),
    { "function", "function", "", "In which call.", FV_GET(FV_TYPE_TEXT, get_region), .flags = FV_NAME },
    RANK("late_rank", "late rank", "For which rank. Null: it is not known.", struct fv_timeline_event, seen.cause,
         FV_NULLABLE),
    THREAD("late_thread", "late thread", "For which thread of that rank.", struct fv_timeline_event, seen.cause,
           FV_NULLABLE),
    PATH_COLUMN,
};
static const struct fv_column_def sample_columns[] = {
    SLICE_COLUMNS,
    TIME("duration_s", "time", "Its length. Neighbouring samples that found the same are one row.", 2),
    { "function", "function", "", "The function that samples found.", FV_GET(FV_TYPE_TEXT, get_region),
      .flags = FV_NAME },
    DEPTH_COLUMN,
    PATH_COLUMN,
};
static const struct fv_column_def message_columns[] = {
    RANK("from_rank", "from", "The rank that sent.", struct fv_timeline_message, from, 0),
    THREAD("from_thread", "thread", "Its thread.", struct fv_timeline_message, from, 0),
    RANK("to_rank", "to", "The rank that received.", struct fv_timeline_message, to, 0),
    THREAD("to_thread", "thread", "Its thread.", struct fv_timeline_message, to, 0),
    SECONDS("sent_s", "sent", "Begin of the call that sent, from the run's begin.", struct fv_timeline_message,
            sent_ns),
    SECONDS("received_s", "received", "End of the call that received, from the run's begin.",
            struct fv_timeline_message, received_ns),
    { "bytes", "bytes", "bytes", "Its size.", FV_FIELD(struct fv_timeline_message, bytes) },
    { "tag", "tag", "id", "Its tag.", FV_FIELD(struct fv_timeline_message, tag) },
    { "comm", "comm", "id", "A number of its communicator.", FV_FIELD(struct fv_timeline_message, comm) },
};
static const struct fv_column_def label_columns[] = {
    SECONDS("time_s", "time", of_run, struct fv_timeline_label, ns),
    RANK("rank", "rank", "The rank that it is of.", struct fv_timeline_label, row, 0),
    TEXT("text", "text", "What it says.", struct fv_timeline_label, text),
};
static const struct fv_column_def critical_columns[] = {
    SECONDS("begin_s", "begin", of_run, struct fv_timeline_stretch, begin_ns),
    SECONDS("end_s", "end", of_run, struct fv_timeline_stretch, end_ns),
    RANK("rank", "rank", "The rank that it is on.", struct fv_timeline_stretch, row, 0),
    THREAD("thread", "thread", "The thread of the rank.", struct fv_timeline_stretch, row, 0),
};
static const struct fv_column_def value_columns[] = {
    SECONDS("time_s", "time", of_run, struct fv_timeline_measured, ns),
    TEXT("name", "name", "The sensor, counter or metric.", struct fv_timeline_measured, series.name),
    TEXT("unit", "unit", "Its unit.", struct fv_timeline_measured, series.unit),
    RANK("rank", "rank", "The rank that recorded it.", struct fv_timeline_measured, series.row, 0),
    { "value", "value", "", "It, or of what is counted a second's, since the value before.",
      FV_FIELD(struct fv_timeline_measured, value), .flags = FV_NULLABLE },
};

/* ---- relations ---- */

#define RELATION(id, n, k, t, d)                                                                 \
    const struct fv_relation fv_timeline_##id##_relation = { .name = (n),                        \
                                                             .key = (k),                         \
                                                             .title = (t),                       \
                                                             .doc = (d),                         \
                                                             .recorded_by = "fvmpi run --trace", \
                                                             FV_COLUMNS(id##_columns) }

RELATION(call, "trace_calls", "trace_calls", "Calls",
         "Calls of a trace one by one, and functions whose begin and end were recorded. In no order.");
RELATION(wait, "trace_waits", "trace_waits", "Waits", "Calls of a trace that waited for another rank. In no order.");
RELATION(sample, "trace_samples", "trace_samples", "Samples",
         "What samples of a trace (--trace --sample) found a thread in, outside of recorded calls, and in sections. In "
         "no order.");
RELATION(message, "trace_messages", "trace_messages", "Messages", "Messages of a trace, by the time sent.");
RELATION(label, "trace_labels", "trace_labels", "Labels", "Moments of a trace that were marked, by time.");
RELATION(critical, "trace_critical_path", "trace_critical_path", "Critical path",
         "Where the critical path of a trace is, by time.");
RELATION(value, "trace_values", "trace_values", "Values",
         "Values of sensors, counters and metrics of a trace, each by time.");

const struct fv_relation *const fv_timeline_relations[] = {
    &fv_timeline_call_relation,   &fv_timeline_wait_relation,
    &fv_timeline_sample_relation, &fv_timeline_message_relation,
    &fv_timeline_label_relation,  &fv_timeline_critical_relation,
    &fv_timeline_value_relation,  NULL
};
