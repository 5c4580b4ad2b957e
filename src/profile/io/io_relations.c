/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program did to files: relations io, io_files, io_ranks. */
#include "profile/build.h"
#include "profile/io/io.h"
#include "profile/relations.h"

#include <stdio.h>

FV_DATA_BASE(io)

#define RECORDED_BY "fvmpi run --io"

static const char *const operation_words[] = { "open", "close",    "read", "write",      "seek",        "stat",
                                               "sync", "truncate", "map",  "async_read", "async_write", NULL };
static const char *const kind_words[] = {
    "regular", "directory", "terminal", "device", "pipe", "socket", "other", NULL
};

static void get_file(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_model *m = fv_tables_model(subject);
    uint32_t file = ((const struct fv_io_call_view *)row)->place.file;

    v->text = file == FV_NONE ? NULL : fv_model_io(m)->files[file].path;
}

static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_io_function_name(((const struct fv_io_call_view *)row)->place.function);
}

static void get_operation(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = operation_words[fv_io_operation_of(((const struct fv_io_call_view *)row)->place.function) - 1];
}

static void get_in_mpi(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = ((const struct fv_io_call_view *)row)->place.flags & FV_IO_IN_MPI;
}

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t kind = ((const struct fv_io_file_view *)row)->kind;

    v->text = kind && kind < FV_IO_KINDS ? kind_words[kind - 1] : NULL;
}

/* By the numbers that Linux gives them (statfs(2)). */
static void get_filesystem(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    static const struct {
        uint64_t type;
        const char *name;
    } known[] = {
        { 0x01021994, "tmpfs" },  { 0xef53, "ext4" },       { 0x58465342, "xfs" },        { 0x9123683e, "btrfs" },
        { 0x6969, "nfs" },        { 0x0bd00bd0, "lustre" }, { 0x47504653, "gpfs" },       { 0x794c7630, "overlay" },
        { 0x9fa0, "proc" },       { 0x62656572, "sysfs" },  { 0x19830326, "beegfs" },     { 0x00c36400, "ceph" },
        { 0xff534d42, "cifs" },   { 0x65735546, "fuse" },   { 0x2fc12fc1, "zfs" },        { 0x50495045, "pipe" },
        { 0x534f434b, "socket" }, { 0x1cd1, "devpts" },     { 0x09041934, "anon_inode" },
    };
    struct fv_tables *t = subject;
    uint64_t type = ((const struct fv_io_file_view *)row)->filesystem;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].type == type)
            v->text = known[i].name;
    if (v->text || !type)
        return;
    snprintf(t->text, sizeof(t->text), "0x%llx", (unsigned long long)type);
    v->text = t->text;
}

#define PATTERN_COLUMNS(S, m, p)                                                                                \
    { p "consecutive",                                                                                          \
      "consecutive",                                                                                            \
      "",                                                                                                       \
      "Of those that moved bytes: it began where the one before on the open file ended.",                       \
      FV_FIELD(S, m.consecutive),                                                                               \
      .flags = FV_BLANK },                                                                                      \
        { p "forward", "forward", "", "It began further behind.", FV_FIELD(S, m.forward), .flags = FV_BLANK },  \
    {                                                                                                           \
        p "placed", "placed", "", "So many of which it can be told; placed - consecutive - forward went back.", \
            FV_FIELD(S, m.placed), .flags = FV_BLANK                                                            \
    }
#define SIZE_COLUMN(S, m, i, k, t, d)                                    \
    {                                                                    \
        "sizes." k, t, "", d, FV_FIELD(S, m.sizes[i]), .flags = FV_BLANK \
    }

/* ---- by call path ---- */

#define C struct fv_io_call_view
static const struct fv_column_def call_columns[] = {
    { "io_file", "file", "",
      "The file; null: by its name alone (stat(), or an open() that failed), or there was no room.",
      FV_GET(FV_TYPE_TEXT, get_file), .flags = FV_NULLABLE | FV_FILE },
    { "function", "function", "", "The function that was called.", FV_GET(FV_TYPE_TEXT, get_function) },
    { "operation", "operation", "", "What it does.", FV_GET(FV_TYPE_TEXT, get_operation), .words = operation_words },
    { "in_mpi", "in MPI", "",
      "By MPI's own functions for files; the path is that of the MPI call, which holds the time.",
      FV_GET(FV_TYPE_TRUTH, get_in_mpi), .flags = FV_BLANK },
    FV_PATH_COLUMNS(C, place.node),
    { "called_by", "called by", "",
      "The innermost of the program's own functions on the path, or of all if none is, or only a main() of unknown "
      "line, and where it stands; null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_path_own), .flags = FV_NULLABLE, .argument = offsetof(C, place.node) },
    FV_SHARE_COLUMN("share", "of all", C, sum.seconds, FV_OF_RANKS, 0,
                    "time_s of the time of all ranks; of several threads more than 1."),
    { "calls", "calls", "", "Calls of all ranks and threads: exact.", FV_FIELD(C, sum.calls) },
    { "failed", "failed", "", "Of them, those that failed.", FV_FIELD(C, sum.failed), .flags = FV_BLANK },
    { "bytes", "bytes", "bytes", "Read, written or mapped; of asynchronous ones asked for.", FV_FIELD(C, sum.bytes),
      .flags = FV_BLANK },
    { "time_s", "time", "s", "In them, outside of MPI.", FV_FIELD(C, sum.seconds) },
    { "max_s", "max", "s", "The longest one, in MPI too.", FV_FIELD(C, sum.max_s) },
    { "in_mpi_s", "in MPI", "s", "Time of those in MPI: part of the MPI call's time.", FV_FIELD(C, sum.in_mpi_s),
      .flags = FV_BLANK },
    { "untimed", "untimed", "",
      "Calls that moved a character from or into a buffer, which are counted alone: some ns each.",
      FV_FIELD(C, sum.untimed), .flags = FV_BLANK },
    { "unsized", "unsized", "", "Calls whose bytes cannot be told, as of fscanf().", FV_FIELD(C, sum.unsized),
      .flags = FV_BLANK },
    { "empty", "empty", "", "Reads that found nothing, as at the file's end.", FV_FIELD(C, sum.empty),
      .flags = FV_BLANK },
    PATTERN_COLUMNS(C, sum, ""),
    SIZE_COLUMN(C, sum, 0, "100", "<= 100", "Reads and writes of up to 100 bytes that moved some; ..."),
    SIZE_COLUMN(C, sum, 1, "1K", "<= 1K", "... to 1,000; ..."),
    SIZE_COLUMN(C, sum, 2, "10K", "<= 10K", "... to 10,000; ..."),
    SIZE_COLUMN(C, sum, 3, "100K", "<= 100K", "... to 100,000; ..."),
    SIZE_COLUMN(C, sum, 4, "1M", "<= 1M", "... to 1,000,000; ..."),
    SIZE_COLUMN(C, sum, 5, "4M", "<= 4M", "... to 4,000,000; ..."),
    SIZE_COLUMN(C, sum, 6, "10M", "<= 10M", "... to 10,000,000; ..."),
    SIZE_COLUMN(C, sum, 7, "100M", "<= 100M", "... to 100,000,000; ..."),
    SIZE_COLUMN(C, sum, 8, "1G", "<= 1G", "... to 1,000,000,000; ..."),
    SIZE_COLUMN(C, sum, 9, "more", "> 1G", "... above."),
    { "rank_count", "ranks", "", "Ranks that called it there.", FV_FIELD(C, ranks.count) },
    { "rank_max_s", "max rank", "s", "Time of the rank with most, in MPI too.", FV_FIELD(C, ranks.max_s) },
    FV_RANK_COLUMN(C, ranks.max_rank, "max_rank", "rank", "That rank."),
};
static const struct fv_relation io_relation = {
    .name = "io",
    .key = "io",
    .title = "I/O by call path",
    .doc = "Functions for files by call path and file, over all ranks and threads; by time_s and in_mpi_s together, "
           "longest first. Exact. Functions of stdio have the time in them, "
           "whatever they ask of the system.",
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
    { "io_file", "file", "", "Its name; of pipes, sockets and such one for all.", FV_FIELD(F, path), .flags = FV_FILE },
    { "kind", "kind", "", "What it is; null: not known.", FV_GET(FV_TYPE_TEXT, get_kind), .flags = FV_NULLABLE,
      .words = kind_words },
    { "filesystem", "file system", "", "Where it is; null: not known.", FV_GET(FV_TYPE_TEXT, get_filesystem),
      .flags = FV_NULLABLE },
    FV_SHARE_COLUMN("share", "of all", F, seconds, FV_OF_RANKS, 0,
                    "time_s of the time of all ranks; of several threads more than 1."),
    { "time_s", "time", "s", "In all calls that are about it, outside of MPI.", FV_FIELD(F, seconds) },
    { "in_mpi_s", "in MPI", "s",
      "In those that MPI's own functions for files make about it: part of the MPI calls' time.", FV_FIELD(F, in_mpi_s),
      .flags = FV_BLANK },
    { "opens", "opens", "", "Calls that opened it.", FV_FIELD(F, opens), .flags = FV_BLANK },
    { "reads.calls", "reads", "", "Calls that read from it.", FV_FIELD(F, read.calls), .flags = FV_BLANK },
    { "reads.bytes", "read", "bytes", "Bytes that they read.", FV_FIELD(F, read.bytes), .flags = FV_BLANK },
    { "reads.time_s", "reading", "s", "Time in them.", FV_FIELD(F, read.seconds), .flags = FV_BLANK },
    { "reads.in_mpi_s", "in MPI", "s", "Time of those in MPI.", FV_FIELD(F, read.in_mpi_s), .flags = FV_BLANK },
    PATTERN_COLUMNS(F, read, "reads."),
    { "writes.calls", "writes", "", "Calls that wrote to it.", FV_FIELD(F, write.calls), .flags = FV_BLANK },
    { "writes.bytes", "written", "bytes", "Bytes that they wrote.", FV_FIELD(F, write.bytes), .flags = FV_BLANK },
    { "writes.time_s", "writing", "s", "Time in them.", FV_FIELD(F, write.seconds), .flags = FV_BLANK },
    { "writes.in_mpi_s", "in MPI", "s", "Time of those in MPI.", FV_FIELD(F, write.in_mpi_s), .flags = FV_BLANK },
    PATTERN_COLUMNS(F, write, "writes."),
    { "other_calls", "others", "", "Other calls.", FV_FIELD(F, other.calls), .flags = FV_BLANK },
    { "other_s", "others", "s", "Time in them.", FV_FIELD(F, other.seconds), .flags = FV_BLANK },
    { "seeks", "seeks", "", "Of them, those that move the position.", FV_FIELD(F, seeks), .flags = FV_BLANK },
    { "syncs", "syncs", "", "... that write out what is buffered.", FV_FIELD(F, syncs), .flags = FV_BLANK },
    { "stats", "stats", "", "... that ask for its state.", FV_FIELD(F, states), .flags = FV_BLANK },
    { "rank_count", "ranks", "", "Ranks that used it.", FV_FIELD(F, ranks.count) },
    { "rank_min_s", "min rank", "s", "Time of the fastest of them, in MPI too.", FV_FIELD(F, ranks.min_s) },
    FV_RANK_COLUMN(F, ranks.min_rank, "min_rank", "rank", "That rank."),
    { "rank_max_s", "max rank", "s", "That of the slowest.", FV_FIELD(F, ranks.max_s) },
    FV_RANK_COLUMN(F, ranks.max_rank, "max_rank", "rank", "That rank."),
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
    .doc = "Files, over all ranks that used them; by time_s and in_mpi_s together, longest first. A file that several "
           "ranks use is one.",
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
    { "time_s", "time", "s", "In functions for files, of all its threads, outside of MPI.", FV_FIELD(R, seconds) },
    { "read_bytes", "read", "bytes", "Bytes that they read, from files, pipes and all else.", FV_FIELD(R, read) },
    { "written_bytes", "written", "bytes", "Bytes that they wrote.", FV_FIELD(R, written) },
    COUNTED(
        "system_read_bytes", "asked", "bytes", asked_read,
        "What the whole process read by system calls, MPI's and fvmpi's, too, by the kernel; null: it is not known."),
    COUNTED("system_written_bytes", "asked", "bytes", asked_written, "Likewise written."),
    COUNTED("system_reads", "calls", "", reads, "The system calls that read."),
    COUNTED("system_writes", "calls", "", writes, "Those that wrote."),
    COUNTED("device_read_bytes", "from disk", "bytes", device_read,
            "Bytes that storage moved for it: what the page cache had is not in it, nor network file systems."),
    COUNTED("device_written_bytes", "to disk", "bytes", device_written, "Likewise, or that storage will move."),
};
static const struct fv_relation io_ranks_relation = {
    .name = "io_ranks",
    .key = "io_ranks",
    .title = "I/O by rank",
    .doc = "What each rank read and wrote, by rank.",
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
    .name = "files",
    .bytes = sizeof(struct fv_io_view),
    .tracks = { &fv_track_io },
    .relations = { &io_relation, &io_files_relation, &io_ranks_relation },
    .fold = fold_files,
    .release = fv_io_view_release,
};
