/* SPDX-License-Identifier: BSD-3-Clause */
/* See timeline_relations.h: the columns. */
#include "timeline/timeline_scan.h"
#include "merge/defs.h"
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

/* Of a communicator's number, uint32_t at the offset `argument`. */
static void get_comm_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_timeline_comm_name(subject, *(const uint32_t *)(const void *)((const char *)row + c->argument));
    v->null = !*v->text;
}

/* Of a file's number, the same; "" is null. */
static void get_file(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_timeline_file_name(subject, *(const uint32_t *)(const void *)((const char *)row + c->argument));
    v->null = !*v->text;
}

/* ---- collective operations ---- */

/* Do its members depend on each other, and are they all there? */
static bool is_whole(void *subject, const void *row, const struct fv_column_def *c)
{
    return !(((const struct fv_timeline_operation *)row)->flags &
             (FV_TIMELINE_MEMBER_ALONE | FV_TIMELINE_MEMBER_PARTIAL));
}

static bool is_together(void *subject, const void *row, const struct fv_column_def *c)
{
    return !(((const struct fv_timeline_operation *)row)->flags & FV_TIMELINE_MEMBER_ALONE);
}

/* `argument`: 0 length, 1 spread. */
static void get_operation_time(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_timeline_operation *o = row;

    v->real = (double)((c->argument ? o->last_ns : o->end_ns) - o->begin_ns) / 1e9;
}

static void get_operation_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_timeline_file *t = subject;

    v->text = fv_timeline_text(t, t->regions[((const struct fv_timeline_operation *)row)->region].name);
}

static void get_members(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_timeline_file *t = subject;
    const uint32_t comm = ((const struct fv_timeline_operation *)row)->comm;

    v->null = comm >= t->header->comms.count;
    if (!v->null)
        v->whole = t->comms[comm];
}

static void get_complete(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = is_whole(subject, row, c);
}

/* ---- operations on files ---- */

static const char *const io_kind_words[] = { [FV_TIMELINE_IO_READ] = "read",
                                             [FV_TIMELINE_IO_WRITE] = "write",
                                             [FV_TIMELINE_IO_OPEN] = "open",
                                             [FV_TIMELINE_IO_OTHER] = "other",
                                             [FV_TIMELINE_IO_KINDS] = NULL };
static const char *const io_interface_words[] = {
    [FV_DEF_IO_MPI] = "MPI", [FV_DEF_IO_POSIX] = "POSIX", [FV_DEF_IO_STDIO] = "stdio", [FV_DEF_IO_KINDS] = NULL
};

/* What is no kind, or no interface, is null. */
static void get_io_word(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_timeline_io_operation *o = row;

    v->text = c->words == io_kind_words        ? io_kind_words[o->kind]
              : o->interface < FV_DEF_IO_KINDS ? io_interface_words[o->interface]
                                               : NULL;
}

static void get_io_end(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_timeline_io_operation *o = row;

    v->real = (double)(o->begin_ns + o->ns) / 1e9;
}

static void get_io_host(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_timeline_file *t = subject;

    v->text = fv_timeline_text(t, t->files[((const struct fv_timeline_io_operation *)row)->file].host);
    v->null = !*v->text;
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

#define COMM_NAME(S)                                                                                 \
    {                                                                                                \
        "comm_name", "communicator", "", "The communicator's name. Null: it has none.",              \
            FV_GET(FV_TYPE_TEXT, get_comm_name), .flags = FV_NULLABLE, .argument = offsetof(S, comm) \
    }
#define FILE_NAME(d, S, m)                                                                     \
    {                                                                                          \
        "file", "file", "", d, FV_GET(FV_TYPE_TEXT, get_file), .flags = FV_NULLABLE | FV_FILE, \
                                                               .argument = offsetof(S, m)      \
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
    { "root_rank", "root rank", "", "The root of a collective operation. Null: it has none, or the call is of none.",
      FV_FIELD(struct fv_timeline_event, seen.root), .flags = FV_UNLESS_NONE | FV_IS_RANK },
    FILE_NAME("The file that it is for. Null: none, or it is not known.", struct fv_timeline_event, seen.file),
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
    COMM_NAME(struct fv_timeline_message),
};
static const struct fv_column_def collective_columns[] = {
    SECONDS("begin_s", "begin", "Begin of the first member's call, from the run's begin.", struct fv_timeline_operation,
            begin_ns),
    SECONDS("end_s", "end", "End of the last member's call; of a non-blocking one, when it is complete.",
            struct fv_timeline_operation, end_ns),
    { "duration_s", "time", "s", "From begin_s to end_s.", FV_GET(FV_TYPE_REAL, get_operation_time) },
    { "function", "function", "", "What was called.", FV_GET(FV_TYPE_TEXT, get_operation_function), .flags = FV_NAME },
    { "comm", "comm", "id", "A number of its communicator. Null: it is not known.",
      FV_FIELD(struct fv_timeline_operation, comm), .flags = FV_UNLESS_NONE },
    COMM_NAME(struct fv_timeline_operation),
    { "instance", "instance", "id",
      "A number that the calls of all members have in trace_calls, with comm; of a non-blocking one, calls that "
      "complete "
      "it. Null: which calls belong together is not known, or not all members depend on each other. Then each call is "
      "a "
      "row.",
      FV_FIELD(struct fv_timeline_operation, instance), .flags = FV_UNLESS_NONE },
    { "members", "members", "", "Members of the communicator that have a trace. Null: they are not known.",
      FV_GET(FV_TYPE_WHOLE, get_members), .flags = FV_NULLABLE },
    { "calls", "calls", "", "Calls of members that are in the trace: all else is of these.",
      FV_FIELD(struct fv_timeline_operation, calls) },
    { "complete", "complete", "", "1: these are the calls of all members. Null: instance is.",
      FV_GET(FV_TYPE_TRUTH, get_complete), .known = is_together, .flags = FV_NULLABLE },
    { "spread_s", "spread", "s", "From the first member's begin to the last one's. Null: it is not complete.",
      FV_GET(FV_TYPE_REAL, get_operation_time), .known = is_whole, .flags = FV_NULLABLE, .argument = 1 },
    { "last_rank", "last rank", "", "The rank that began last. Null: it is not complete.",
      FV_GET(FV_TYPE_NUMBER, get_location), .known = is_whole, .flags = FV_NULLABLE | FV_IS_RANK,
      .argument = 2 * (intptr_t)offsetof(struct fv_timeline_operation, last_row) },
    SECONDS("wait_s", "waiting", "Time that all calls spent waiting, by the analysis of the trace.",
            struct fv_timeline_operation, wait_ns),
    { "bytes_sent", "sent", "bytes", "Bytes that members sent, together.",
      FV_FIELD(struct fv_timeline_operation, sent) },
    { "bytes_received", "received", "bytes", "Bytes that members received, together.",
      FV_FIELD(struct fv_timeline_operation, received) },
};
static const struct fv_column_def io_columns[] = {
    RANK("rank", "rank", "The rank in MPI_COMM_WORLD.", struct fv_timeline_io_operation, row, 0),
    THREAD("thread", "thread", "The thread of the rank, 0 is the first.", struct fv_timeline_io_operation, row, 0),
    SECONDS("begin_s", "begin", of_run, struct fv_timeline_io_operation, begin_ns),
    { "end_s", "end", "s", "From the run's begin; of an asynchronous one, when it is complete.",
      FV_GET(FV_TYPE_REAL, get_io_end) },
    SECONDS("duration_s", "time", "Its length.", struct fv_timeline_io_operation, ns),
    { "kind", "kind", "", "What it does. Other: closes, moves or synchronises.", FV_GET(FV_TYPE_TEXT, get_io_word),
      .words = io_kind_words },
    { "interface", "interface", "", "By what it is called. Null: it is not known.", FV_GET(FV_TYPE_TEXT, get_io_word),
      .flags = FV_NULLABLE, .words = io_interface_words },
    { "bytes", "bytes", "bytes", "Bytes that it moved. Null: none, or it is not known how many.",
      FV_FIELD(struct fv_timeline_io_operation, bytes), .flags = FV_UNLESS_NONE },
    FILE_NAME("The file.", struct fv_timeline_io_operation, file),
    { "host", "host", "", "The host that opened it. Null: ranks opened it together, or it is not known.",
      FV_GET(FV_TYPE_TEXT, get_io_host), .flags = FV_NULLABLE },
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
RELATION(collective, "trace_collectives", "trace_collectives", "Collective operations",
         "Collective operations of a trace, each with the calls of all members, by begin.");
RELATION(io, "trace_io", "trace_io", "Operations on files",
         "Operations of a trace on files, by begin. Those of the C library need --io.");
RELATION(label, "trace_labels", "trace_labels", "Labels", "Moments of a trace that were marked, by time.");
RELATION(critical, "trace_critical_path", "trace_critical_path", "Critical path",
         "Where the critical path of a trace is, by time.");
RELATION(value, "trace_values", "trace_values", "Values",
         "Values of sensors, counters and metrics of a trace, each by time.");

const struct fv_relation *const fv_timeline_relations[] = {
    &fv_timeline_call_relation,       &fv_timeline_wait_relation,
    &fv_timeline_sample_relation,     &fv_timeline_message_relation,
    &fv_timeline_collective_relation, &fv_timeline_io_relation,
    &fv_timeline_label_relation,      &fv_timeline_critical_relation,
    &fv_timeline_value_relation,      NULL
};
