/* SPDX-License-Identifier: BSD-3-Clause */
/* Where each thread was when somebody looked: relation looks. */
#include "profile/looks/looks_relations.h"
#include "look/system_calls.h"
#include "profile/build.h"
#include "profile/looks/looks_tree.h"

/* ---- threads ---- */

static void get_how(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_looked_name(((const struct fv_looks_thread *)row)->how);
}

static bool is_called(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_looks_thread *)row)->system_call >= 0;
}

static void get_system_call(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_system_call_name(((const struct fv_looks_thread *)row)->system_call, t->text);
}

static void get_words(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_looked_words(t->profile, row, t->text, sizeof(t->text));
}

#define HOW_WORD(name, number, word, why) word,
static const char *const how_words[] = { FV_LOOKED_HOWS(HOW_WORD) NULL };

#define OF(k, t, m, f, d)                                              \
    {                                                                  \
        k, t, "", d, FV_FIELD(struct fv_looks_thread, m), .flags = (f) \
    }
static const struct fv_column_def thread_columns[] = {
    FV_RANK_COLUMN(struct fv_looks_thread, rank, "rank", "rank", "The rank."),
    OF("thread", "thread", thread, FV_UNLESS_NONE | FV_IS_THREAD,
       "The thread, as in table threads. Null: it called no MPI."),
    OF("tid", "tid", tid, FV_UNLESS_0, "The kernel's number of the thread. Null: the rank was not looked at."),
    OF("main", "main", is_main, FV_BLANK, "True: the main thread."),
    { "how", "how", "",
      "looked_at: it was interrupted and unwound itself. dead, ended: the rank's process has gone. The others say why "
      "it was not interrupted, and its path is that of the MPI call that it is in.",
      FV_GET(FV_TYPE_TEXT, get_how), .words = how_words },
    OF("mpi_function", "in MPI", function, FV_NULLABLE, "The MPI function that it is in. Null: none."),
    { "system_call", "system call", "", "The system call that it is in. Null: none, or not known.",
      FV_GET(FV_TYPE_TEXT, get_system_call), .flags = FV_NULLABLE, .known = is_called },
    OF("call_file", "file", file, FV_NULLABLE | FV_FILE, "File of the system call. Null: none."),
    OF("holder_tid", "held by", holder, FV_UNLESS_0, "Thread that has the mutex that it waits for. Null: none."),
    OF("look_count", "looks", looks, 0, "Looks that met it."),
    OF("answer_count", "answers", places, 0, "Looks that it answered."),
    { "text", "text", "", "In words: whom it holds up, what it waits for, and whether it moves from look to look.",
      FV_GET(FV_TYPE_TEXT, get_words) },
    FV_PATH_COLUMNS(struct fv_looks_thread, node),
};
static const struct fv_relation threads = {
    .of_ranks = true,
    .name = "looked_threads",
    .key = "looked_threads",
    .title = "Where each thread was",
    .doc = "Threads of all ranks, by rank, the main thread first. Of a rank that could not be looked at there is one "
           "row.",
    .shown = "rank tid/2 mpi_function system_call/3 text path/1",
    FV_COLUMNS(thread_columns),
    FV_ITEMS(struct fv_looks, items, count),
};

/* ---- all ---- */

static const void *looks_base(void *subject, const void *parent)
{
    const struct fv_looks *l = fv_model_looks(fv_tables_model(subject));

    return l->request ? l : NULL;
}

static const struct fv_column_def looks_columns[] = {
    { "at_s", "at", "s", "Time of the last look that a thread answered. Null: none did.",
      FV_FIELD(struct fv_looks, at_s), .flags = FV_NULLABLE },
    { "look_count", "looks", "", "Looks that were taken.", FV_FIELD(struct fv_looks, looks) },
    { "looked_threads", "threads", "", "", FV_NEST(threads) },
};
const struct fv_relation fv_looks_relation = {
    .name = "looks",
    .key = "looks",
    .title = "Where everybody is",
    .doc = "Call paths of all threads when fvmpi where, or --hang-after, looked last. Null: nobody looked.",
    .shape = FV_ONE,
    .nullable = true,
    .recorded_by = "fvmpi where DIR, or fvmpi run --hang-after TIME",
    FV_COLUMNS(looks_columns),
    .base = looks_base,
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_looks;

const struct fv_subject fv_looks_subject = {
    .bytes = sizeof(struct fv_looks),
    .tracks = { &fv_track_looks },
    .relations = { &fv_looks_relation },
    .fold = fv_looks_fold,
    .release = fv_looks_release,
};
