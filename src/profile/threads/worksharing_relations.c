/* SPDX-License-Identifier: BSD-3-Clause */
/* Worksharing of OpenMP: relation worksharing. */
#include "profile/build.h"
#include "profile/relations.h"
#include "profile/threads/worksharing.h"

FV_DATA_BASE(worksharing)

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_work_kind_names[((const struct fv_work *)row)->kind - 1];
}

static bool is_timed(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_work *)row)->timed;
}

static void get_balance(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = fv_work_balance(row);
}

#define W struct fv_work
#define TIMED(k, t, u, m, d)                                                \
    {                                                                       \
        k, t, u, d, FV_FIELD(W, m), .flags = FV_NULLABLE, .known = is_timed \
    }
static const struct fv_column_def columns[] = {
    { "construct", "construct", "", "OpenMP's directive.", FV_GET(FV_TYPE_TEXT, get_kind),
      .words = fv_work_kind_names },
    { "function", "in", "", "The program's function that it stands in; null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_path_function), .flags = FV_FLAT | FV_NULLABLE, .argument = offsetof(W, node) },
    { "place", "at", "", "File and line, without directories; null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_path_place), .flags = FV_FLAT | FV_NULLABLE, .argument = offsetof(W, node) },
    FV_PATH_COLUMNS(W, node),
    { "times", "times", "",
      "How often it was met: of each rank by the thread that came there most often; of tasks, all that ran.",
      FV_FIELD(W, times) },
    { "thread_count", "threads", "", "Threads of all ranks that came there.", FV_FIELD(W, threads) },
    { "executed", "parts", "", "Parts that threads did; of single and masked, one a time; tasks.",
      FV_FIELD(W, executed) },
    { "timed", "timed", "",
      "Of them, those whose end was told. libgomp does not say when a single ends, unless it has copyprivate.",
      FV_FIELD(W, timed), .flags = FV_BLANK },
    TIMED("time_s", "time", "s", seconds,
          "Of the timed parts, over all threads, without the barrier at the construct's end; of tasks with those that "
          "ran meanwhile. Null: none was timed."),
    TIMED("max_s", "max", "s", max_s, "The longest part."),
    TIMED("wait_s", "wait", "s", wait_s, "Of time_s, waiting for other threads inside of it: criticals, locks, turns."),
    TIMED("thread_max_s", "busiest", "s", thread_max_s, "time_s of the thread with most."),
    { "balance", "balance", "ratio",
      "time_s of a thread, the mean, over that of the thread with most: 1 is even. What is missing to 1 waits at the "
      "barrier behind it.",
      FV_GET(FV_TYPE_REAL, get_balance), .flags = FV_NULLABLE },
    FV_RANK_OR_NULL_COLUMN(W, max_rank, "max_rank", "rank", "The rank of the thread with most; null: none was timed."),
    TIMED("max_thread", "thread", "", max_thread, "That thread, as in the table of threads."),
};
static const struct fv_relation works_relation = {
    .name = "worksharing",
    .key = "worksharing",
    .title = "Worksharing",
    .doc = "OpenMP's loops, sections, singles, tasks, target regions and the like (fvmpi run --threads), by the place "
           "where they stand (of tasks made by GCC their function), over all ranks and threads; by time_s, longest "
           "first. Exact. libgomp tells of loops that are not scheduled statically, of sections and singles; run-time "
           "libraries with OMPT (LLVM's, Intel's, AMD's) of all. A target region lasts as long as the thread that "
           "meets it waits for "
           "the device, or until it was started, with nowait.",
    .shown = "construct place function time_s balance times thread_count/2 thread_max_s/3 wait_s/3 max_rank/1",
    .recorded_by = "fvmpi run --threads",
    FV_COLUMNS(columns),
    .base = worksharing_base,
    FV_ITEMS(struct fv_works, items, count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_worksharing;

const struct fv_subject fv_worksharing_subject = {
    .name = "worksharing",
    .bytes = sizeof(struct fv_works),
    .tracks = { &fv_track_worksharing },
    .relations = { &works_relation },
    .release = fv_works_release,
};
