/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI calls: relations callsites, mpi_functions, histograms, matrix, communicators, efficiency; and their row. */
#include "profile/build.h"
#include "profile/relations.h"

#include <math.h>
#include <stdio.h>

/* ---- call sites ---- */

/* Of a number in fv_model.functions, uint32_t at offset `argument`. */
static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t function = *(const uint32_t *)(const void *)((const char *)row + c->argument);

    v->text = fv_tables_model(subject)->functions[function].name;
}
#define FUNCTION_COLUMN(S)                                                                   \
    {                                                                                        \
        "function", "function", "", "The MPI function.", FV_GET(FV_TYPE_TEXT, get_function), \
            .argument = offsetof(S, function)                                                \
    }

static void get_barrier(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    if (c->argument) {
        v->real = ((const struct fv_site *)row)->barriers ? ((const struct fv_site *)row)->barrier_s : NAN;
    } else {
        const struct fv_site_more *more = fv_site_more(fv_tables_model(subject), row);

        v->real = more->barriers ? more->barrier_s : NAN;
    }
}

#define BARRIER_DOC                                                                                                 \
    "Time in barriers that fvmpi inserted (--barrier). Before a collective it equals wait_s, measured by the rank " \
    "itself. After a collective it is further waiting for late ranks. Null: no barriers."
#define SITE_WAIT_DOC                                                                                                  \
    "Time spent waiting for other ranks. Exact: from an analysed trace, or from the entry times of all ranks. "        \
    "Estimate: the log or trace is incomplete, or clocks differ. Without a trace, waiting in point-to-point calls is " \
    "the time above the fastest call that moved at least as much. For calls that complete others it is the time "      \
    "above the fastest such call, and includes transfers. Null: there is no rule for the function, or its calls were " \
    "not logged."
enum { SIZES_COUNT, SIZES_MIN, SIZES_MEAN, SIZES_MAX };

/* Of a rank's part; or of a site, with those of all its ranks together. */
static void put_size(const struct fv_site_rank *part, const struct fv_call_stat *stat, intptr_t which,
                     struct fv_value *v)
{
    uint64_t bytes = stat->bytes_sent + stat->bytes_received;

    if (which == SIZES_COUNT) {
        v->whole = part->messages;
        return;
    }
    v->null = !part->messages || (which != SIZES_MEAN && part->sizes_lost);
    if (which == SIZES_MEAN)
        v->real = v->null ? NAN : (double)bytes / (double)part->messages;
    else
        v->whole = v->null ? 0 : which == SIZES_MAX ? part->size_max : part->size_min;
}

static void get_size(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_site_rank *part = row;

    put_size(part, &part->stat, c->argument, v);
}

static void get_site_size(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_site *site = row;
    struct fv_site_rank all = fv_site_messages(fv_tables_model(subject), site);

    put_size(&all, &site->stat, c->argument, v);
}
#define SIZE_COLUMNS(get)                                                                                            \
    { "message_count",                                                                                               \
      "messages",                                                                                                    \
      "",                                                                                                            \
      "Messages, sent and received, those of 0 bytes too; of other calls those that moved data, once for each way.", \
      FV_GET(FV_TYPE_WHOLE, get),                                                                                    \
      .flags = FV_BLANK },                                                                                           \
        { "message_min_bytes",                                                                                       \
          "min message",                                                                                             \
          "bytes",                                                                                                   \
          "Size of the smallest of them. Null: there are none, or sizes were dropped (--profile-max).",              \
          FV_GET(FV_TYPE_WHOLE, get),                                                                                \
          .flags = FV_NULLABLE,                                                                                      \
          .argument = SIZES_MIN },                                                                                   \
        { "message_mean_bytes",                                                                                      \
          "mean message",                                                                                            \
          "bytes",                                                                                                   \
          "Mean size: bytes sent and received over message_count. Null: there are none.",                            \
          FV_GET(FV_TYPE_REAL, get),                                                                                 \
          .flags = FV_NULLABLE,                                                                                      \
          .argument = SIZES_MEAN },                                                                                  \
    {                                                                                                                \
        "message_max_bytes", "max message", "bytes",                                                                 \
            "Size of the largest. Null: there are none, or sizes were dropped.", FV_GET(FV_TYPE_WHOLE, get),         \
            .flags = FV_NULLABLE, .argument = SIZES_MAX                                                              \
    }

static const struct fv_column_def site_rank_columns[] = {
    FV_RANK_COLUMN(struct fv_site_rank, rank, "rank", "rank", "A rank that called this call site."),
    { "count", "calls", "", "Calls.", FV_FIELD(struct fv_site_rank, stat.calls) },
    FV_CALL_STAT_COLUMNS(struct fv_site_rank, stat),
    FV_WAIT_COLUMNS(struct fv_site_rank, SITE_WAIT_DOC),
    { "barrier_s", "barrier", "s", BARRIER_DOC, FV_GET(FV_TYPE_REAL, get_barrier), .flags = FV_NULLABLE },
    FV_BYTES_COLUMNS(struct fv_site_rank, stat),
    SIZE_COLUMNS(get_size),
};
static const struct fv_column_def site_outer[] = {
    FV_ID_COLUMN("callsite_id", sites, "Index in callsites, from 0."),
    FUNCTION_COLUMN(struct fv_site),
};
static const struct fv_relation site_ranks = {
    .name = "callsites_by_rank",
    .key = "per_rank",
    .title = "Call sites by rank",
    .doc = "The numbers of a call site on each rank that called it, by rank.",
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(site_rank_columns),
    FV_OUTER(site_outer),
    .base = fv_tables_base,
    FV_SLICE(struct fv_model, site_ranks, struct fv_site, first, ranks),
};

static void get_number(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = (uint64_t)((const struct fv_site *)row - fv_tables_model(subject)->sites) + 1;
}

#define MOVED(S, k, t, u, m, d)                       \
    {                                                 \
        k, t, u, d, FV_FIELD(S, m), .flags = FV_BLANK \
    }
/* Of a struct with both buckets. */
#define MOVED_COLUMNS(S)                                                                              \
    MOVED(S, "sent_count", "sent", "", sent.count, "Calls or messages that sent data of this size."), \
        MOVED(S, "bytes_sent", "bytes", "bytes", sent.bytes, "Bytes that they sent."),                \
        MOVED(S, "received_count", "received", "", received.count,                                    \
              "Calls or messages that received data of this size."),                                  \
        MOVED(S, "bytes_received", "bytes", "bytes", received.bytes, "Bytes that they received.")
/* A bucket's smallest size, or with an argument what its sizes are below: of the bucket's number at `offset`. */
static void get_bound(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t bucket = *(const uint32_t *)(const void *)((const char *)row + c->offset);

    v->null = c->argument && bucket + 1 == FV_SIZE_BUCKETS;
    v->whole = v->null ? 0 : fv_size_bucket_low(bucket + (unsigned)c->argument);
}
#define BOUND_COLUMNS(S)                                                                                         \
    { "low_bytes",                                                                                               \
      "from",                                                                                                    \
      "bytes",                                                                                                   \
      "The smallest size of the bucket. The bucket of 0 bytes includes messages of unknown size.",               \
      FV_GET(FV_TYPE_WHOLE, get_bound),                                                                          \
      .offset = offsetof(S, bucket) },                                                                           \
    {                                                                                                            \
        "below_bytes", "below", "bytes", "Sizes are below this. Null: no upper limit.",                          \
            FV_GET(FV_TYPE_WHOLE, get_bound), .flags = FV_NULLABLE, .offset = offsetof(S, bucket), .argument = 1 \
    }

static void get_site_size_time(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_site_size *of = row;

    v->real = of->sent.seconds + of->received.seconds;
}

static bool has_sizes(void *subject, const void *row, const struct fv_column_def *c)
{
    return !((const struct fv_site_size *)row)->lost;
}

static const struct fv_column_def site_size_columns[] = {
    BOUND_COLUMNS(struct fv_site_size),
    { "smallest_bytes", "min", "bytes", "The smallest size that occurred. Null: sizes were dropped (--profile-max).",
      FV_FIELD(struct fv_site_size, min), .flags = FV_NULLABLE, .known = has_sizes },
    { "largest_bytes", "max", "bytes", "The largest size that occurred. Null: sizes were dropped.",
      FV_FIELD(struct fv_site_size, max), .flags = FV_NULLABLE, .known = has_sizes },
    MOVED_COLUMNS(struct fv_site_size),
    { "time_s", "time", "s", "Total time of these calls, as in `histograms`.",
      FV_GET(FV_TYPE_REAL, get_site_size_time) },
};
static const struct fv_column_def site_size_outer[] = {
    FV_ID_COLUMN("callsite_id", sites, "Index in callsites, from 0."),
    { "number", "#", "id", "Number of the call site in the text report, from 1.", FV_GET(FV_TYPE_WHOLE, get_number) },
    FUNCTION_COLUMN(struct fv_site),
    { "called_by", "called by", "",
      "The innermost function of the program on the path, with file and line. Null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_path_own), .flags = FV_NULLABLE, .argument = offsetof(struct fv_site, node) },
};
static const struct fv_relation site_sizes = {
    .name = "site_sizes",
    .key = "site_sizes",
    .title = "Message sizes by call site",
    .doc = "The message-size histogram of a call site: calls and messages by size, in powers of two, over all ranks. "
           "The smallest first; empty buckets are left out.",
    .shown = "number function smallest_bytes largest_bytes sent_count/5 received_count/5 time_s/6 bytes_sent/4 "
             "bytes_received/4 "
             "called_by/3 low_bytes/2 below_bytes/2",
    FV_COLUMNS(site_size_columns),
    FV_OUTER(site_size_outer),
    .base = fv_tables_base,
    FV_SLICE(struct fv_model, site_sizes, struct fv_site, first_size, sizes),
};

static void get_site_key(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = ((const struct fv_site *)row)->key;
}

static const struct fv_column_def site_columns[] = {
    FV_ID_COLUMN("id", sites, "Index in this list, from 0."),
    { "number", "#", "id", "Number of the call site in the text report, from 1.", FV_GET(FV_TYPE_WHOLE, get_number) },
    { "key", "key", "", "Identifies the call site in all reports of the same program, on any run.",
      FV_GET(FV_TYPE_HEX, get_site_key) },
    FUNCTION_COLUMN(struct fv_site),
    FV_PATH_COLUMNS(struct fv_site, node),
    { "count", "calls", "", "Calls.", FV_FIELD(struct fv_site, stat.calls) },
    FV_CALL_STAT_COLUMNS(struct fv_site, stat),
    FV_SHARE_COLUMN("share", "of all", struct fv_site, stat.sum_s, FV_OF_THREADS, 0,
                    "Time in these calls as a share of the time of all threads that call MPI."),
    FV_WAIT_COLUMNS(struct fv_site, SITE_WAIT_DOC),
    { "barrier_s", "barrier", "s", BARRIER_DOC, FV_GET(FV_TYPE_REAL, get_barrier), .flags = FV_NULLABLE,
      .argument = 1 },
    FV_BYTES_COLUMNS(struct fv_site, stat),
    SIZE_COLUMNS(get_site_size),
    { "rank_count", "ranks", "", "Number of ranks that called this call site.", FV_FIELD(struct fv_site, ranks) },
    { "over_ranks.min_s", "min rank", "s", "Time of the rank with the least, among ranks that called it.",
      FV_FIELD(struct fv_site, rank_min), .flags = FV_NULLABLE },
    { "over_ranks.mean_s", "mean rank", "s", "Mean time of these ranks.", FV_FIELD(struct fv_site, rank_mean),
      .flags = FV_NULLABLE },
    { "over_ranks.max_s", "max rank", "s", "Time of the rank with the most.", FV_FIELD(struct fv_site, rank_max),
      .flags = FV_NULLABLE },
    { "cov", "cov", "ratio",
      "Coefficient of variation of these ranks' times: standard deviation (of the population) over mean.",
      FV_FIELD(struct fv_site, cov), .flags = FV_NULLABLE },
    { "site_sizes", "sizes", "", "", FV_NEST(site_sizes) },
    { "per_rank", "by rank", "", "", FV_NEST(site_ranks) },
};
static const struct fv_relation callsites_relation = {
    .name = "callsites",
    .key = "callsites",
    .title = "Call sites",
    .group = "Call sites and MPI functions",
    .doc = "MPI functions with the call paths that lead to them, longest time first. Call paths that look the same are "
           "merged: equal module, function, file and line in each frame. If a line is not known, the offset must be "
           "equal too.",
    .shown = "number function time_sum_s share wait_s/9 count time_mean_s/5 time_max_s/3 bytes_sent/6 "
             "bytes_received/6 "
             "cov/4 rank_count/7 path/8 line/10",
    .share = "share",
    FV_COLUMNS(site_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, sites, site_count),
};

/* ---- functions ---- */

static size_t function_count(void *subject, const void *parent)
{
    return fv_tables_model(subject)->function_count;
}

static const void *function_at(void *subject, const void *parent, size_t i)
{
    const struct fv_func *f = &fv_tables_model(subject)->functions[i];

    return f->sites ? f : NULL;
}

static void get_class(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_class_name(((const struct fv_func *)row)->class);
}

static const struct fv_column_def function_columns[] = {
    { "function", "function", "", "The MPI function.", FV_FIELD(struct fv_func, name) },
    { "class", "class", "", "Class of the MPI function.", FV_GET(FV_TYPE_TEXT, get_class), .words = fv_class_words },
    { "count", "calls", "", "Calls.", FV_FIELD(struct fv_func, stat.calls) },
    FV_CALL_STAT_COLUMNS(struct fv_func, stat),
    FV_SHARE_COLUMN("share", "of all", struct fv_func, stat.sum_s, FV_OF_THREADS, FV_FLAT,
                    "Time in these calls as a share of the time of all threads that call MPI."),
    FV_WAIT_COLUMNS(struct fv_func, "Time spent waiting for other ranks, over the call sites of the function."),
    FV_BYTES_COLUMNS(struct fv_func, stat),
    { "callsite_count", "sites", "", "Number of call sites of the function.", FV_FIELD(struct fv_func, sites) },
    { "rank_count", "ranks", "", "Number of ranks that called the function.", FV_FIELD(struct fv_func, ranks) },
};
static const struct fv_relation mpi_functions_relation = {
    .name = "mpi_functions",
    .key = "mpi_functions",
    .title = "MPI functions",
    .group = "Call sites and MPI functions",
    .doc = "MPI functions, summed over their call sites, longest time first.",
    .shown = "function time_sum_s share wait_s/6 count time_mean_s/5 time_min_s/2 time_max_s/3 bytes_sent/4 "
             "bytes_received/4 callsite_count/2 rank_count/1",
    .share = "share",
    FV_COLUMNS(function_columns),
    .count = function_count,
    .row = function_at,
};

/* ---- histograms ---- */

/* A bucket of sizes, or of times, as it is shown. */
struct size_row {
    uint64_t low, high, count, bytes;
    double seconds;
};
struct time_row {
    double low_s, high_s;
    uint64_t count;
};

static size_t size_bucket_count(void *subject, const void *parent)
{
    return FV_SIZE_BUCKETS;
}

static const void *size_bucket_at(void *subject, const void *parent, size_t i)
{
    const struct fv_size_bucket *b = (const struct fv_size_bucket *)parent + i;
    struct size_row *row = (void *)((struct fv_tables *)subject)->inner;

    *row = (struct size_row){ fv_size_bucket_low((unsigned)i), fv_size_bucket_high((unsigned)i), b->count, b->bytes,
                              b->seconds };
    return b->count || b->bytes ? row : NULL;
}

static const struct fv_column_def size_columns[] = {
    { "low_bytes", "from", "bytes", "The smallest size of the bucket.", FV_FIELD(struct size_row, low) },
    { "high_bytes", "to", "bytes", "The largest size of the bucket.", FV_FIELD(struct size_row, high) },
    { "count", "count", "", "Calls or messages in the bucket.", FV_FIELD(struct size_row, count) },
    { "bytes", "bytes", "bytes", "Sum of their bytes.", FV_FIELD(struct size_row, bytes) },
    { "time_s", "time", "s",
      "Total time of these calls. For a call that sends and receives, it is under `sent`. A non-blocking receive has "
      "no time here.",
      FV_FIELD(struct size_row, seconds) },
};
static const struct fv_column_def function_outer[] = {
    { "function", "function", "", "The MPI function.", FV_FIELD(struct fv_func, name) },
};
#define SIZES(variable, n, k, t, d)              \
    static const struct fv_relation variable = { \
        .name = n,                               \
        .key = k,                                \
        .title = t,                              \
        .doc = d,                                \
        FV_COLUMNS(size_columns),                \
        FV_OUTER(function_outer),                \
        .count = size_bucket_count,              \
        .row = size_bucket_at,                   \
    }
SIZES(sizes_sent, "sizes_sent", "sent", "Sizes sent by function",
      "Sizes that were sent, in powers of two. Empty buckets are left out.");
SIZES(sizes_received, "sizes_received", "received", "Sizes received by function",
      "Sizes that were received, in powers of two. Empty buckets are left out.");

/* The same of all functions, for which the rows are added up. */
struct message_row {
    uint64_t low, below;
    struct fv_size_bucket sent, received;
    double seconds;
    const char *most;
};
_Static_assert(sizeof(struct message_row) <= sizeof(((struct fv_tables *)0)->row), "a row that is made");

static void add_bucket(struct fv_size_bucket *to, const struct fv_size_bucket *b)
{
    to->count += b->count;
    to->bytes += b->bytes;
    to->seconds += b->seconds;
}

static const void *message_at(void *subject, const void *parent, size_t i)
{
    struct message_row *row = (void *)((struct fv_tables *)subject)->row;
    const struct fv_model *m = fv_tables_model(subject);
    double most_s = 0;

    *row = (struct message_row){ .low = fv_size_bucket_low((unsigned)i),
                                 .below = i < 64 ? fv_size_bucket_low((unsigned)i + 1) : 0 };
    for (size_t k = 0; k < m->function_count; k++) {
        const struct fv_func *f = &m->functions[k];
        const struct fv_size_bucket *sent = i ? &f->sent[i] : &f->empty_sent,
                                    *received = i ? &f->received[i] : &f->empty_received;
        double seconds = sent->seconds + received->seconds;

        add_bucket(&row->sent, sent);
        add_bucket(&row->received, received);
        row->seconds += seconds;
        if (seconds > most_s) {
            most_s = seconds;
            row->most = f->name;
        }
    }
    return row->sent.count || row->received.count ? row : NULL;
}

static const struct fv_column_def message_columns[] = {
    { "low_bytes", "from", "bytes", "The smallest size of the bucket.", FV_FIELD(struct message_row, low) },
    { "below_bytes", "below", "bytes", "Sizes are below this. Null: no upper limit.",
      FV_FIELD(struct message_row, below), .flags = FV_UNLESS_0 },
    MOVED_COLUMNS(struct message_row),
    { "time_s", "time", "s", "Total time of these calls, as in `histograms`.", FV_FIELD(struct message_row, seconds) },
    { "function", "top function", "", "The MPI function with most of this time. Null: it took no time.",
      FV_FIELD(struct message_row, most), .flags = FV_NULLABLE },
};
static const struct fv_relation message_sizes_relation = {
    .name = "message_sizes",
    .key = "message_sizes",
    .title = "Message sizes",
    .group = "Call sites and MPI functions",
    .doc = "Message sizes in powers of two, over all MPI functions and ranks. Empty buckets are left out. The first "
           "bucket is for 0 bytes, point to point.",
    .shown = "low_bytes below_bytes sent_count bytes_sent received_count/2 bytes_received/2 time_s/3 function/1",
    FV_COLUMNS(message_columns),
    .count = size_bucket_count,
    .row = message_at,
};

static void get_class_time(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_size_class *of = row;

    v->real = of->sent.seconds + of->received.seconds;
}

static const struct fv_column_def class_columns[] = {
    FUNCTION_COLUMN(struct fv_size_class),
    { "comm_size", "ranks", "",
      "Number of ranks in the communicator's local group. Null: no communicator, or not known.",
      FV_FIELD(struct fv_size_class, comm_size), .flags = FV_UNLESS_0 },
    BOUND_COLUMNS(struct fv_size_class),
    MOVED_COLUMNS(struct fv_size_class),
    { "time_s", "time", "s", "Total time of these calls, as in `histograms`.", FV_GET(FV_TYPE_REAL, get_class_time) },
};
static const struct fv_relation size_classes_relation = {
    .name = "size_classes",
    .key = "size_classes",
    .title = "Message sizes by function and size of communicator",
    .group = "Communication",
    .doc = "Calls and messages of an MPI function by size of the communicator and message size, in powers of two. "
           "Sorted by function, longest time first, then by these sizes.",
    .shown =
        "function comm_size low_bytes below_bytes sent_count bytes_sent received_count/2 bytes_received/2 time_s/3",
    FV_COLUMNS(class_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, size_classes, size_class_count),
};

size_t fv_time_bucket_count(void *subject, const void *parent)
{
    return FV_TIME_BUCKETS;
}

const void *fv_time_bucket_at(void *subject, const void *parent, size_t i)
{
    struct time_row *row = (void *)((struct fv_tables *)subject)->inner;
    double unit_s = fv_tables_model(subject)->duration_unit_s;

    *row = (struct time_row){ i ? ldexp(unit_s, (int)i - 1) : 0, i + 1 < FV_TIME_BUCKETS ? ldexp(unit_s, (int)i) : NAN,
                              ((const uint64_t *)parent)[i] };
    return row->count ? row : NULL;
}

const struct fv_column_def fv_time_bucket_columns[FV_TIME_BUCKET_COLUMNS] = {
    { "low_s", "from", "s", "The shortest duration of the bucket.", FV_FIELD(struct time_row, low_s) },
    { "high_s", "to", "s", "The longest duration of the bucket. Null: no upper limit.",
      FV_FIELD(struct time_row, high_s), .flags = FV_NULLABLE },
    { "count", "count", "", "Number of calls with this duration.", FV_FIELD(struct time_row, count) },
};
static const struct fv_relation durations = {
    .name = "durations",
    .key = "durations",
    .title = "Durations",
    .doc = "Durations of calls, in powers of two. Empty buckets are left out.",
    FV_COLUMNS(fv_time_bucket_columns),
    FV_OUTER(function_outer),
    .count = fv_time_bucket_count,
    .row = fv_time_bucket_at,
};
static const struct fv_column_def histogram_columns[] = {
    { "function", "function", "", "The MPI function.", FV_FIELD(struct fv_func, name) },
    { "sent", "sent", "", "", FV_NEST_IN(sizes_sent, struct fv_func, sent) },
    { "received", "received", "", "", FV_NEST_IN(sizes_received, struct fv_func, received) },
    { "durations", "durations", "", "", FV_NEST_IN(durations, struct fv_func, durations) },
};
static const struct fv_relation histograms_relation = {
    .group = "Communication",
    .key = "histograms",
    .title = "Message sizes and durations",
    .doc = "Message sizes and durations of each MPI function that was called, longest time first.",
    FV_COLUMNS(histogram_columns),
    .count = function_count,
    .row = function_at,
};

/* ---- communication ---- */

static const struct fv_column_def matrix_columns[] = {
    { "from", "from", "", "The sending rank in MPI_COMM_WORLD.", FV_FIELD(struct fv_edge, from), .flags = FV_IS_RANK },
    { "to", "to", "", "The receiving rank. -1: a process of another MPI_COMM_WORLD (spawned, connected).",
      FV_FIELD(struct fv_edge, to), .flags = FV_IS_RANK },
    { "messages", "messages", "", "Number of messages, point to point and by MPI_Put.",
      FV_FIELD(struct fv_edge, messages) },
    { "bytes", "bytes", "bytes", "Sum of their bytes.", FV_FIELD(struct fv_edge, bytes) },
    FV_SHARE_COLUMN("share", "of all", struct fv_edge, bytes, FV_OF_MESSAGE_BYTES, FV_FLAT,
                    "Share of all bytes that were sent."),
    FV_QUOTIENT_COLUMN("mean_bytes", "mean", "bytes", struct fv_edge, bytes, messages, FV_FLAT,
                       "Mean size of a message."),
};
static const struct fv_relation matrix_relation = {
    .of_ranks = true,
    .name = "matrix",
    .key = "matrix",
    .title = "Communication matrix",
    .group = "Communication",
    .doc = "Messages and bytes between each pair of ranks, by sender and receiver.",
    .shown = "from to messages bytes share/1 mean_bytes/2",
    .shape = FV_ROWS,
    .share = "share",
    FV_COLUMNS(matrix_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, edges, edge_count),
};

enum { COMM_UID, COMM_PARENT };
static void get_uid(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_def_comm *comm = row;

    v->whole = c->argument == COMM_UID ? comm->uid : comm->parent;
    v->null = c->argument == COMM_PARENT && !comm->parent;
}

static void get_comm_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_def_comm *comm = row;

    v->text = comm->name[0] ? comm->name : NULL;
}

static void get_comm_label(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_def_comm *comm = row;
    struct fv_tables *t = subject;

    if (comm->name[0])
        snprintf(t->text, sizeof(t->text), "%s", comm->name);
    else
        snprintf(t->text, sizeof(t->text), "(unnamed %08x)", (unsigned)comm->uid);
    v->text = t->text;
}

static void get_comm_flag(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = ((const struct fv_def_comm *)row)->flags & (uint32_t)c->argument;
}

static void get_periodic(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = ((const struct fv_grid_dimension *)row)->periodic;
}

static size_t count_dimensions(void *subject, const void *parent)
{
    return ((const struct fv_comm_view *)parent)->def.grid_dimensions;
}

static const void *dimension(void *subject, const void *parent, size_t index)
{
    return &((const struct fv_comm_view *)parent)->def.grid[index];
}

static void get_members(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_def_comm *comm = row;

    v->null = !fv_def_comm_is_listed(comm);
    v->items = comm->runs + (c->argument ? comm->run_count : 0);
    v->count = c->argument ? comm->remote_run_count : comm->run_count;
}

static const struct fv_column_def grid_columns[] = {
    { "size", "places", "", "Number of places in this dimension.", FV_FIELD(struct fv_grid_dimension, size) },
    { "periodic", "periodic", "", "True: the last place is a neighbour of the first.",
      FV_GET(FV_TYPE_TRUTH, get_periodic) },
};
/* Of struct fv_def_comm, with which a fv_comm_view begins. */
static const struct fv_column_def comm_outer[] = {
    { "uid", "uid", "", "Identifies the communicator.", FV_GET(FV_TYPE_HEX, get_uid), .argument = COMM_UID },
    { "label", "communicator", "", "Name of the communicator, or part of its uid if it has none.",
      FV_GET(FV_TYPE_TEXT, get_comm_label) },
};
static const struct fv_relation grid_relation = {
    .name = "grids",
    .key = "grid",
    .title = "Process grids",
    .doc = "The dimensions of a communicator's Cartesian topology. The last dimension varies fastest with the rank. "
           "Empty: no such topology.",
    .shape = FV_LIST,
    FV_COLUMNS(grid_columns),
    FV_OUTER(comm_outer),
    .count = count_dimensions,
    .row = dimension,
};

static const struct fv_column_def comm_columns[] = {
    { "uid", "uid", "", "Identifies the communicator, equal on all ranks.", FV_GET(FV_TYPE_HEX, get_uid),
      .argument = COMM_UID },
    { "parent_uid", "parent", "", "uid of the communicator from which it was made. Null: none.",
      FV_GET(FV_TYPE_HEX, get_uid), .flags = FV_NULLABLE, .argument = COMM_PARENT },
    { "name", "name", "", "Name given by MPI_Comm_set_name. Null: none.", FV_GET(FV_TYPE_TEXT, get_comm_name),
      .flags = FV_NULLABLE },
    { "label", "communicator", "", "Name of the communicator, or part of its uid if it has none.",
      FV_GET(FV_TYPE_TEXT, get_comm_label), .flags = FV_FLAT },
    { "size", "ranks", "", "Number of ranks in the communicator.", FV_FIELD(struct fv_comm_view, def.size) },
    { "remote_size", "remote", "", "Number of ranks in the remote group of an intercommunicator.",
      FV_FIELD(struct fv_comm_view, def.remote_size), .flags = FV_BLANK },
    { "inferred", "inferred", "", "True: fvmpi did not see how the communicator was created.",
      FV_GET(FV_TYPE_TRUTH, get_comm_flag), .argument = FV_COMM_INFERRED },
    { "freed", "freed", "", "True: the communicator was freed.", FV_GET(FV_TYPE_TRUTH, get_comm_flag),
      .argument = FV_COMM_FREED },
    { "rank_count", "recorded by", "", "Number of ranks that recorded it.", FV_FIELD(struct fv_comm_view, ranks) },
    { "members", "members", "",
      "World ranks of the local group. -1: a rank of another MPI_COMM_WORLD. Null: not known, because rank files are "
      "missing.",
      FV_GET(FV_TYPE_RUNS, get_members), .flags = FV_NULLABLE },
    { "remote_members", "remote", "", "World ranks of the remote group. -1: a rank of another MPI_COMM_WORLD.",
      FV_GET(FV_TYPE_RUNS, get_members), .flags = FV_NULLABLE, .argument = 1 },
    { "grid", "grid", "", "The Cartesian topology of the communicator.", FV_NEST(grid_relation) },
    { "collective_count", "collectives a rank", "", "Number of collective calls on it, of the rank with the most.",
      FV_FIELD(struct fv_comm_view, collectives) },
    { "count", "calls", "", "Number of all MPI calls on it.", FV_FIELD(struct fv_comm_view, stat.calls) },
    { "time_s", "time", "s", "Total time in these calls.", FV_FIELD(struct fv_comm_view, stat.sum_s) },
    FV_SHARE_COLUMN("share", "of all", struct fv_comm_view, stat.sum_s, FV_OF_THREADS, FV_FLAT,
                    "Time in these calls as a share of the time of all threads that call MPI."),
    { "wait_s", "waiting, logged", "s",
      "Time spent waiting in logged collectives of this communicator, not extrapolated to others.",
      FV_FIELD(struct fv_comm_view, wait_s), .flags = FV_ESTIMATE | FV_BLANK },
    FV_BYTES_COLUMNS(struct fv_comm_view, stat),
};
static const struct fv_relation communicators_relation = {
    .name = "communicators",
    .key = "communicators",
    .title = "Communicators",
    .group = "Communication",
    .doc = "All communicators. MPI_COMM_SELF of all ranks is one of them.",
    .shown = "label size remote_size/4 time_s wait_s/1 count collective_count/2 bytes_sent/3",
    .share = "share",
    FV_COLUMNS(comm_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, comms, comm_count),
};

/* ---- efficiency ---- */

static const void *the_efficiency(void *subject, const void *parent)
{
    return &fv_tables_model(subject)->efficiency;
}

/* What stands before the colon is shown as text beside the number. */
#define SHARE(k, t, more, d)                                                                \
    {                                                                                       \
#k, t, "share", d, FV_FIELD(struct fv_efficiency, k), .flags = FV_NULLABLE | (more) \
    }
static const struct fv_column_def efficiency_columns[] = {
    SHARE(parallel, "parallel efficiency", 0,
          "Share of time in which all ranks compute: load_balance x communication = sum U / (P T). U: time of a rank "
          "outside of MPI, without polling. T: longest time of a rank. P: number of ranks."),
    SHARE(load_balance, "load balance", 0, "Mean over maximum of the ranks' computing time: sum U / (P max U)."),
    SHARE(communication, "communication", 0, "Longest computing time over the longest time of a rank: max U / T."),
    SHARE(serialization, "serialization", FV_ESTIMATE,
          "Efficiency that dependencies between ranks leave: max U / T_ideal. T_ideal is the time of the run on an "
          "ideal network, computed from the trace. Null without a trace of 99 % of the MPI time."),
    SHARE(transfer, "transfer", FV_ESTIMATE,
          "Efficiency that data transfer leaves: T_ideal / T. serialization x transfer = communication. Null without a "
          "trace of 99 % of the MPI time."),
};
static const struct fv_relation efficiency_relation = {
    .name = "efficiency",
    .key = "efficiency",
    .title = "Efficiency",
    .doc = "The efficiency metrics of the POP project. Null with --rank of one rank, and with --thread.",
    .shape = FV_ONE,
    FV_COLUMNS(efficiency_columns),
    .base = the_efficiency,
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_calls, fv_track_in_calls, fv_track_bounds, fv_track_notes, fv_track_charges,
    fv_track_timeline, fv_track_trace_excerpt, fv_track_regions;
extern const struct fv_relation fv_ranks_relation, fv_hybrid_efficiency_relation, fv_waiting_relation,
    fv_timeline_relation;

const struct fv_subject fv_calls_subject = {
    .tracks = { &fv_track_calls, &fv_track_in_calls, &fv_track_bounds, &fv_track_notes, &fv_track_charges,
                &fv_track_timeline, &fv_track_trace_excerpt, &fv_track_regions },
    .relations = { &fv_ranks_relation, &callsites_relation, &mpi_functions_relation, &histograms_relation,
                   &message_sizes_relation, &size_classes_relation, &matrix_relation, &communicators_relation,
                   &efficiency_relation, &fv_hybrid_efficiency_relation, &fv_waiting_relation, &fv_timeline_relation },
};
