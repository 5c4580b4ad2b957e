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
    { "construct", "construct", "", "The OpenMP directive.", FV_GET(FV_TYPE_TEXT, get_kind),
      .words = fv_work_kind_names },
    { "function", "in", "", "The function of the program that contains it. Null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_path_function), .flags = FV_FLAT | FV_NULLABLE, .argument = offsetof(W, node) },
    { "place", "at", "", "File and line, without directories. Null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_path_place), .flags = FV_FLAT | FV_NULLABLE, .argument = offsetof(W, node) },
    FV_PATH_COLUMNS(W, node),
    { "times", "times", "",
      "How often it was executed: on each rank, by the thread that came most often. Tasks: all that ran.",
      FV_FIELD(W, times) },
    { "thread_count", "threads", "", "Threads of all ranks that executed it.", FV_FIELD(W, threads) },
    { "executed", "parts", "",
      "Parts that threads executed; for single and masked, one each time; for tasks, their number.",
      FV_FIELD(W, executed) },
    { "timed", "timed", "",
      "Parts whose end is known. libgomp does not report the end of a single without copyprivate.", FV_FIELD(W, timed),
      .flags = FV_BLANK },
    TIMED("time_s", "time", "s", seconds,
          "Total time of the timed parts, over all threads, without the barrier at the end of the construct. For "
          "tasks, it includes tasks that ran inside. Null: none was timed."),
    TIMED("max_s", "max", "s", max_s, "Longest part."),
    TIMED("wait_s", "wait", "s", wait_s,
          "The part of time_s spent waiting for other threads inside of it: criticals, locks, ordered."),
    TIMED("thread_max_s", "busiest", "s", thread_max_s, "time_s of the thread with the most."),
    { "balance", "balance", "ratio",
      "Mean over maximum of the threads' time_s; 1 is balanced. The other threads wait at the barrier that follows.",
      FV_GET(FV_TYPE_REAL, get_balance), .flags = FV_NULLABLE },
    FV_RANK_OR_NULL_COLUMN(W, max_rank, "max_rank", "rank",
                           "Rank of the thread with the most time_s. Null: none was timed."),
    TIMED("max_thread", "thread", "", max_thread, "That thread, as in table threads."),
};
static const struct fv_relation works_relation = {
    .name = "worksharing",
    .key = "worksharing",
    .title = "Worksharing",
    .doc = "OpenMP loops, sections, singles, tasks, target regions and similar (fvmpi run --threads), over all ranks "
           "and threads, longest time_s first. By source place; tasks made by GCC by their function. Exact. libgomp "
           "reports loops with a schedule other than static, sections and singles. Run-time libraries with OMPT (LLVM, "
           "Intel, AMD) report all. A target region lasts while its thread waits for the device; with nowait, until it "
           "was started.",
    .shown = "construct place function time_s balance times thread_count/2 thread_max_s/3 wait_s/3 max_rank/1",
    .recorded_by = "fvmpi run --threads",
    .unseen = FV_WORKS_UNSEEN,
    FV_COLUMNS(columns),
    .base = worksharing_base,
    FV_ITEMS(struct fv_works, items, count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_worksharing;

const struct fv_subject fv_worksharing_subject = {
    .group = "Threads and locks",
    .bytes = sizeof(struct fv_works),
    .tracks = { &fv_track_worksharing },
    .relations = { &works_relation },
    .release = fv_works_release,
};
