/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program did to files: relations io, io_files, io_ranks. */
#include "profile/build.h"
#include "profile/io/io.h"
#include "profile/relations.h"

#include <stdio.h>

FV_DATA_BASE(io)

#define RECORDED_BY "fvmpi run --io"

static const char *const operation_words[] = { FV_IO_OPERATION_WORDS, NULL };
static const char *const kind_words[] = { FV_IO_KIND_WORDS, NULL };

static void get_file(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *m = fv_tables_model(subject);
    uint32_t file = ((const struct fv_io_call_view *)row)->place.file;

    v->text = file == FV_NONE ? NULL : fv_model_io(m)->files[file].path;
}

static struct fv_io_function_view function_of(void *subject, const void *row)
{
    return fv_io_function(fv_model_io(fv_tables_model(subject)), ((const struct fv_io_call_view *)row)->place.function);
}

static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = function_of(subject, row).name;
}

static void get_operation(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = operation_words[function_of(subject, row).operation - 1];
}

static void get_in_mpi(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = ((const struct fv_io_call_view *)row)->place.flags & FV_IO_IN_MPI;
}

static bool knows_failed(void *subject, const void *row, const struct fv_column_def *c)
{
    return !((const struct fv_io_call_view *)row)->sum.failed_unknown;
}

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t kind = ((const struct fv_io_file_view *)row)->kind;

    v->text = kind && kind < FV_IO_KINDS ? kind_words[kind - 1] : NULL;
}

/* By the numbers that Linux gives them, where they have no name. */
static void get_filesystem(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    uint64_t type = ((const struct fv_io_file_view *)row)->filesystem;

    v->text = fv_filesystem_name(type);
    if (v->text || !type)
        return;
    snprintf(t->text, sizeof(t->text), "0x%llx", (unsigned long long)type);
    v->text = t->text;
}

#define PATTERN_COLUMNS(S, m, p)                                                                      \
    { p "consecutive",                                                                                \
      "consecutive",                                                                                  \
      "",                                                                                             \
      "Operations that moved bytes and began where the previous one on the open file ended.",         \
      FV_FIELD(S, m.consecutive),                                                                     \
      .flags = FV_BLANK },                                                                            \
        { p "forward",                                                                                \
          "forward",                                                                                  \
          "",                                                                                         \
          "Operations that moved bytes and began further behind.",                                    \
          FV_FIELD(S, m.forward),                                                                     \
          .flags = FV_BLANK },                                                                        \
    {                                                                                                 \
        p "placed", "placed", "",                                                                     \
            "Operations with a known position. placed - consecutive - forward operations went back.", \
            FV_FIELD(S, m.placed), .flags = FV_BLANK                                                  \
    }
#define SIZE_COLUMN(S, m, i, k, t, d)                                    \
    {                                                                    \
        "sizes." k, t, "", d, FV_FIELD(S, m.sizes[i]), .flags = FV_BLANK \
    }

/* ---- by call path ---- */

#define C struct fv_io_call_view
static const struct fv_column_def call_columns[] = {
    { "io_file", "file", "",
      "The file. Null: the call had only a name (stat(), or a failed open()), or there was no room.",
      FV_GET(FV_TYPE_TEXT, get_file), .flags = FV_NULLABLE | FV_FILE },
    { "function", "function", "", "The function that was called.", FV_GET(FV_TYPE_TEXT, get_function) },
    { "operation", "operation", "", "Class of the operation.", FV_GET(FV_TYPE_TEXT, get_operation),
      .words = operation_words },
    { "in_mpi", "in MPI", "",
      "True: called by MPI's own file functions. The call path is that of the MPI call, whose time includes it.",
      FV_GET(FV_TYPE_TRUTH, get_in_mpi), .flags = FV_BLANK },
    FV_PATH_COLUMNS(C, place.node),
    { "called_by", "called by", "",
      "The innermost function of the program on the path, with file and line. Null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_path_own), .flags = FV_NULLABLE, .argument = offsetof(C, place.node) },
    FV_SHARE_COLUMN("share", "of all", C, sum.seconds, FV_OF_RANKS, 0,
                    "time_s as a share of the time of all ranks. With several threads it can exceed 1."),
    { "calls", "calls", "", "Calls of all ranks and threads. Exact.", FV_FIELD(C, sum.calls) },
    { "failed", "failed", "", "Calls that failed. Null: an archive does not say it.", FV_FIELD(C, sum.failed),
      .flags = FV_BLANK | FV_NULLABLE, .known = knows_failed },
    { "bytes", "bytes", "bytes", "Bytes read, written or mapped. For asynchronous operations: bytes requested.",
      FV_FIELD(C, sum.bytes), .flags = FV_BLANK },
    { "time_s", "time", "s", "Time in these calls outside of MPI.", FV_FIELD(C, sum.seconds) },
    { "max_s", "max", "s", "The longest call, in MPI or outside.", FV_FIELD(C, sum.max_s) },
    { "in_mpi_s", "in MPI", "s", "Time in these calls within MPI; part of the time of MPI calls.",
      FV_FIELD(C, sum.in_mpi_s), .flags = FV_BLANK },
    { "untimed", "untimed", "",
      "Calls that moved one character from or to a buffer. They are counted but not timed (a few ns each).",
      FV_FIELD(C, sum.untimed), .flags = FV_BLANK },
    { "unsized", "unsized", "", "Calls whose number of bytes is not known, such as fscanf().", FV_FIELD(C, sum.unsized),
      .flags = FV_BLANK },
    { "empty", "empty", "", "Reads that returned nothing, such as at the end of a file.", FV_FIELD(C, sum.empty),
      .flags = FV_BLANK },
    PATTERN_COLUMNS(C, sum, ""),
    SIZE_COLUMN(C, sum, 0, "100", "<= 100", "Reads and writes of 1 to 100 bytes."),
    SIZE_COLUMN(C, sum, 1, "1K", "<= 1K", "Reads and writes of 101 to 1,000 bytes."),
    SIZE_COLUMN(C, sum, 2, "10K", "<= 10K", "Reads and writes of 1,001 to 10,000 bytes."),
    SIZE_COLUMN(C, sum, 3, "100K", "<= 100K", "Reads and writes of 10,001 to 100,000 bytes."),
    SIZE_COLUMN(C, sum, 4, "1M", "<= 1M", "Reads and writes of 100,001 to 1,000,000 bytes."),
    SIZE_COLUMN(C, sum, 5, "4M", "<= 4M", "Reads and writes of 1,000,001 to 4,000,000 bytes."),
    SIZE_COLUMN(C, sum, 6, "10M", "<= 10M", "Reads and writes of 4,000,001 to 10,000,000 bytes."),
    SIZE_COLUMN(C, sum, 7, "100M", "<= 100M", "Reads and writes of 10,000,001 to 100,000,000 bytes."),
    SIZE_COLUMN(C, sum, 8, "1G", "<= 1G", "Reads and writes of 100,000,001 to 1,000,000,000 bytes."),
    SIZE_COLUMN(C, sum, 9, "more", "> 1G", "Reads and writes of more than 1,000,000,000 bytes."),
    { "rank_count", "ranks", "", "Number of ranks that called it there.", FV_FIELD(C, ranks.count) },
    { "rank_max_s", "max rank", "s", "Time of the rank with the most, in MPI and outside.", FV_FIELD(C, ranks.max_s) },
    FV_RANK_COLUMN(C, ranks.max_rank, "max_rank", "rank", "The rank with the most time."),
};
static const struct fv_relation io_relation = {
    .name = "io",
    .key = "io",
    .title = "I/O by call path",
    .doc = "File functions by call path and file, over all ranks and threads, longest time first (time_s + in_mpi_s). "
           "Exact. For stdio functions it is the time in the function, whether or not it makes system calls.",
    .shown =
        "function io_file time_s share/3 in_mpi_s/3 calls bytes max_s/2 failed/4 consecutive/1 max_rank/1 called_by",
    .share = "share",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(call_columns),
    .base = io_base,
    FV_ITEMS(struct fv_io_view, calls, call_count),
};

/* ---- files ---- */

#define F struct fv_io_file_view
static const struct fv_column_def file_columns[] = {
    { "io_file", "file", "", "Name of the file. Pipes, sockets and similar have one name for all.", FV_FIELD(F, path),
      .flags = FV_FILE },
    { "kind", "kind", "", "Type of the file. Null: not known.", FV_GET(FV_TYPE_TEXT, get_kind), .flags = FV_NULLABLE,
      .words = kind_words },
    { "filesystem", "file system", "", "File system of the file. Null: not known.",
      FV_GET(FV_TYPE_TEXT, get_filesystem), .flags = FV_NULLABLE },
    FV_SHARE_COLUMN("share", "of all", F, seconds, FV_OF_RANKS, 0,
                    "time_s as a share of the time of all ranks. With several threads it can exceed 1."),
    { "time_s", "time", "s", "Time in all calls on this file outside of MPI.", FV_FIELD(F, seconds) },
    { "in_mpi_s", "in MPI", "s",
      "Time in calls on this file by MPI's own file functions; part of the time of MPI calls.", FV_FIELD(F, in_mpi_s),
      .flags = FV_BLANK },
    { "opens", "opens", "", "Calls that opened the file.", FV_FIELD(F, opens), .flags = FV_BLANK },
    { "reads.calls", "reads", "", "Calls that read from the file.", FV_FIELD(F, read.calls), .flags = FV_BLANK },
    { "reads.bytes", "read", "bytes", "Bytes that these calls read.", FV_FIELD(F, read.bytes), .flags = FV_BLANK },
    { "reads.time_s", "reading", "s", "Time in these calls outside of MPI.", FV_FIELD(F, read.seconds),
      .flags = FV_BLANK },
    { "reads.in_mpi_s", "in MPI", "s", "Time in these calls within MPI.", FV_FIELD(F, read.in_mpi_s),
      .flags = FV_BLANK },
    PATTERN_COLUMNS(F, read, "reads."),
    { "writes.calls", "writes", "", "Calls that wrote to the file.", FV_FIELD(F, write.calls), .flags = FV_BLANK },
    { "writes.bytes", "written", "bytes", "Bytes that these calls wrote.", FV_FIELD(F, write.bytes),
      .flags = FV_BLANK },
    { "writes.time_s", "writing", "s", "Time in these calls outside of MPI.", FV_FIELD(F, write.seconds),
      .flags = FV_BLANK },
    { "writes.in_mpi_s", "in MPI", "s", "Time in these calls within MPI.", FV_FIELD(F, write.in_mpi_s),
      .flags = FV_BLANK },
    PATTERN_COLUMNS(F, write, "writes."),
    { "other_calls", "others", "", "Other calls on the file.", FV_FIELD(F, other.calls), .flags = FV_BLANK },
    { "other_s", "others", "s", "Time in these calls.", FV_FIELD(F, other.seconds), .flags = FV_BLANK },
    { "seeks", "seeks", "", "Other calls that move the file position.", FV_FIELD(F, seeks), .flags = FV_BLANK },
    { "syncs", "syncs", "", "Other calls that write out buffers, such as fsync().", FV_FIELD(F, syncs),
      .flags = FV_BLANK },
    { "stats", "stats", "", "Other calls that ask for the file's state, such as stat().", FV_FIELD(F, states),
      .flags = FV_BLANK },
    { "rank_count", "ranks", "", "Number of ranks that used the file.", FV_FIELD(F, ranks.count) },
    { "rank_min_s", "min rank", "s", "Time of the rank with the least, in MPI and outside.", FV_FIELD(F, ranks.min_s) },
    FV_RANK_COLUMN(F, ranks.min_rank, "min_rank", "rank", "The rank with the least time."),
    { "rank_max_s", "max rank", "s", "Time of the rank with the most, in MPI and outside.", FV_FIELD(F, ranks.max_s) },
    FV_RANK_COLUMN(F, ranks.max_rank, "max_rank", "rank", "The rank with the most time."),
};

static size_t count_files(void *subject, const void *parent)
{
    return fv_model_io(fv_tables_model(subject))->file_count;
}

/* What was opened for nothing that is recorded is left out. */
static const void *file_at(void *subject, const void *parent, size_t index)
{
    const struct fv_io_file_view *f = &fv_model_io(fv_tables_model(subject))->files[index];

    return f->ranks.count ? f : NULL;
}
static const struct fv_relation io_files_relation = {
    .name = "io_files",
    .key = "io_files",
    .title = "Files",
    .doc = "Files over all ranks that used them, longest time first (time_s + in_mpi_s). A file that several ranks use "
           "is one row.",
    .shown = "io_file time_s share/6 in_mpi_s opens/2 reads_calls reads_bytes writes_calls writes_bytes seeks/1 "
             "syncs/1 rank_count/4 rank_max_s/3 max_rank/3 filesystem/5",
    .share = "share",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(file_columns),
    .base = fv_tables_base,
    .count = count_files,
    .row = file_at,
};

/* ---- ranks ---- */

#define R struct fv_io_rank_view
static bool is_counted(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const R *)row)->is_known;
}
#define COUNTED(k, t, u, m, d)                                                       \
    {                                                                                \
        k, t, u, d, FV_FIELD(R, counts.m), .flags = FV_NULLABLE, .known = is_counted \
    }
static const struct fv_column_def rank_columns[] = {
    FV_RANK_COLUMN(R, rank, "rank", "rank", "The rank."),
    { "time_s", "time", "s", "Time in file functions of all its threads, outside of MPI.", FV_FIELD(R, seconds) },
    { "read_bytes", "read", "bytes", "Bytes read by these calls, from files, pipes and everything else.",
      FV_FIELD(R, read) },
    { "written_bytes", "written", "bytes", "Bytes written by these calls.", FV_FIELD(R, written) },
    COUNTED("system_read_bytes", "system read", "bytes", asked_read,
            "Bytes that the whole process read by system calls, including MPI and fvmpi. From the kernel. Null: not "
            "known."),
    COUNTED("system_written_bytes", "system written", "bytes", asked_written,
            "Bytes that the whole process wrote by system calls, including MPI and fvmpi. Null: not known."),
    COUNTED("system_reads", "read calls", "", reads, "Number of system calls that read."),
    COUNTED("system_writes", "write calls", "", writes, "Number of system calls that wrote."),
    COUNTED("device_read_bytes", "from disk", "bytes", device_read,
            "Bytes read from storage. The page cache and network file systems are not included."),
    COUNTED("device_written_bytes", "to disk", "bytes", device_written,
            "Bytes written to storage, now or later. Network file systems are not included."),
};
static const struct fv_relation io_ranks_relation = {
    .name = "io_ranks",
    .key = "io_ranks",
    .title = "I/O by rank",
    .doc = "Bytes read and written by each rank, by rank.",
    .by_rank = true,
    .shown = "rank time_s read_bytes written_bytes device_read_bytes/2 device_written_bytes/2",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(rank_columns),
    .base = io_base,
    FV_ITEMS(struct fv_io_view, ranks, rank_count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_io;

static void fold_files(struct fv_model *m, struct fv_alikes *alikes)
{
    struct fv_io_view *io = fv_model_io(m);

    for (size_t i = 0; i < io->part_count; i++)
        io->parts[i].place.node = fv_alike(alikes, io->parts[i].place.node);
    fv_io_fold(io);
}

const struct fv_subject fv_io_subject = {
    .group = "Files",
    .bytes = sizeof(struct fv_io_view),
    .tracks = { &fv_track_io },
    .relations = { &io_relation, &io_files_relation, &io_ranks_relation },
    .fold = fold_files,
    .release = fv_io_view_release,
};
