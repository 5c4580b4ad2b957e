/* SPDX-License-Identifier: BSD-3-Clause */
/* Where each thread was when somebody looked: relation looks. */
#include "profile/looks/looks_relations.h"
#include "look/system_calls.h"
#include "profile/build.h"
#include "profile/looks/looks_words.h"
#include "tool/vec.h"
#include "tool/words.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- places, and the tree of them ---- */

struct look_rows {
    struct fv_look_tree tree;
    uint32_t *shown, *ids; /* nodes in the order in which they are shown; where each one is there */
    size_t count;
};

static void free_rows(void *rows)
{
    struct look_rows *r = rows;

    fv_look_tree_release(&r->tree);
    free(r->shown);
    free(r->ids);
    free(r);
}

static const struct look_rows *rows_of(struct fv_tables *t)
{
    if (t->look_rows)
        return t->look_rows;
    struct look_rows *r = fv_xcalloc(1, sizeof(*r));

    fv_look_tree_init(&r->tree, t->profile);
    r->shown = fv_xcalloc(r->tree.count + 1, sizeof(*r->shown));
    r->ids = fv_xcalloc(r->tree.count + 1, sizeof(*r->ids));
    for (uint32_t n = r->tree.root; n != FV_NONE; n = fv_look_next(&r->tree, n)) {
        r->ids[n] = (uint32_t)r->count;
        r->shown[r->count++] = n;
    }
    t->look_rows = r;
    t->free_look_rows = free_rows;
    return r;
}

static uint32_t node_of(const struct look_rows *r, const void *row)
{
    return (uint32_t)((const struct fv_look_node *)row - r->tree.nodes);
}

static void get_node(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct look_rows *r = rows_of(subject);
    uint32_t node = node_of(r, row);

    if (c->argument)
        node = r->tree.nodes[node].parent;
    v->null = node == FV_NONE;
    v->whole = v->null ? 0 : r->ids[node];
}

static void get_suspect(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->truth = ((const struct fv_look_node *)row)->guilt != 0;
}

static void get_branch_who(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_look_branch_words(row, t->text, sizeof(t->text));
}

static void get_branch_count(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = ((const struct fv_look_node *)row)->rank_count;
}

static void get_branch_ranks(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_look_node *n = row;

    v->items = n->ranks;
    v->count = n->rank_count;
}

static const struct fv_column_def tree_columns[] = {
    { "id", "id", "id", "Index in this list, from 0.", FV_GET(FV_TYPE_WHOLE, get_node) },
    { "parent_id", "caller", "id", "The caller. Null: none.", FV_GET(FV_TYPE_WHOLE, get_node), .flags = FV_NULLABLE,
      .argument = 1 },
    { "rank_text", "ranks", "", "Ranks and threads that are there, or further in, in words.",
      FV_GET(FV_TYPE_TEXT, get_branch_who) },
    { "label", "where", "", "The function with its line, the MPI function, or the system call.",
      FV_FIELD(struct fv_look_node, label) },
    { "suspect", "suspect", "",
      "True: threads whose path ends there hold others up, or they and others wait for each other.",
      FV_GET(FV_TYPE_TRUTH, get_suspect), .flags = FV_BLANK },
    { "rank_count", "count", "", "Number of these ranks.", FV_GET(FV_TYPE_WHOLE, get_branch_count) },
    { "rank_list", "which", "", "These ranks.", FV_GET(FV_TYPE_RANKS, get_branch_ranks) },
    { "thread_count", "threads", "", "Number of these threads.", FV_FIELD(struct fv_look_node, threads) },
    { "end_count", "ends", "", "Threads whose path ends there.", FV_FIELD(struct fv_look_node, ends) },
    { "function", "function", "", "Name of the function.", FV_FIELD(struct fv_look_node, function),
      .flags = FV_NULLABLE | FV_NAME },
    { "file", "file", "", "Source file. Null: not known.", FV_FIELD(struct fv_look_node, file),
      .flags = FV_NULLABLE | FV_FILE },
    { "line", "line", "", "Line. Null: not known.", FV_FIELD(struct fv_look_node, line), .flags = FV_UNLESS_0 },
};

static size_t tree_count(void *subject, const void *parent)
{
    return rows_of(subject)->count;
}

static const void *tree_row(void *subject, const void *parent, size_t i)
{
    const struct look_rows *r = rows_of(subject);

    return &r->tree.nodes[r->shown[i]];
}

static const struct fv_relation tree = {
    .of_ranks = true,
    .name = "looked_tree",
    .key = "tree",
    .title = "Call paths of all threads as a tree",
    .doc = "From main inwards, each function behind its caller; branches with those that hold others up first. A "
           "thread that moves from look to look ends at what its places have in common.",
    .shown = "rank_text label suspect",
    FV_COLUMNS(tree_columns),
    .count = tree_count,
    .row = tree_row,
};

/* ---- where paths end ---- */

static void get_end_who(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_look_ends_words(t->model, &rows_of(t)->tree, row, t->text, sizeof(t->text));
}

static void get_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct look_rows *r = rows_of(t);

    v->text = fv_look_node_words(&r->tree, node_of(r, row), t->text, sizeof(t->text));
}

static void add_remark(void *context, const char *remark)
{
    struct fv_tables *t = context;

    fv_words_add(t->text, sizeof(t->text), "%s%s", t->text[0] ? "\n" : "", remark);
}

static void get_remarks(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    t->text[0] = '\0';
    fv_look_remarks(t->profile, &rows_of(t)->tree, row, FV_LOOK_ALIKE, add_remark, t);
    v->text = t->text;
}

/* Its ends are by rank. */
static void get_end_ranks(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_look_node *n = row;
    struct fv_tables *t = subject;
    const struct fv_looks *l = fv_model_looks(t->model);
    size_t count = 0;

    FV_GROW(t->words, t->words_room, (n->ends + 1) * sizeof(int));
    int *out = (void *)t->words;
    for (uint32_t i = 0; i < n->ends; i++) {
        int rank = t->model->ranks[l->items[rows_of(t)->tree.ends[n->first_end + i]].rank].world_rank;

        if (!count || out[count - 1] != rank)
            out[count++] = rank;
    }
    v->items = out;
    v->count = count;
}

static const struct fv_column_def place_columns[] = {
    { "rank_text", "ranks", "", "Ranks and threads that are there, in words.", FV_GET(FV_TYPE_TEXT, get_end_who) },
    { "place", "where", "", "The call path in words, innermost first.", FV_GET(FV_TYPE_TEXT, get_place) },
    { "text", "text", "",
      "What else there is to say of them, as in looked_threads: a line if it is the same of all, else one of each of "
      "the first. Empty: nothing.",
      FV_GET(FV_TYPE_TEXT, get_remarks) },
    { "suspect", "suspect", "", "True: some of them hold others up, or they and others wait for each other.",
      FV_GET(FV_TYPE_TRUTH, get_suspect), .flags = FV_BLANK },
    { "rank_list", "which", "", "These ranks.", FV_GET(FV_TYPE_RANKS, get_end_ranks) },
    { "thread_count", "threads", "", "Number of these threads.", FV_FIELD(struct fv_look_node, ends) },
    { "node_id", "node", "id", "The end of the path, an index in tree.", FV_GET(FV_TYPE_WHOLE, get_node) },
    { "function", "function", "", "Name of the innermost function.", FV_FIELD(struct fv_look_node, function),
      .flags = FV_NULLABLE | FV_NAME },
};

static size_t place_count(void *subject, const void *parent)
{
    return rows_of(subject)->tree.order_count;
}

static const void *place_row(void *subject, const void *parent, size_t i)
{
    const struct fv_look_tree *t = &rows_of(subject)->tree;

    return &t->nodes[t->order[i]];
}

static const struct fv_relation places = {
    .of_ranks = true,
    .name = "looked_places",
    .key = "places",
    .title = "Places where threads are",
    .doc = "Ends of call paths: those that hold others up first, then by number of ranks, most first.",
    .shown = "rank_text place text/1 suspect/2",
    FV_COLUMNS(place_columns),
    .count = place_count,
    .row = place_row,
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
    { "places", "places", "", "", FV_NEST(places) },
    { "tree", "tree", "", "", FV_NEST(tree) },
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
    .group = "Where everybody is",
    .bytes = sizeof(struct fv_looks),
    .tracks = { &fv_track_looks },
    .relations = { &fv_looks_relation },
    .fold = fv_looks_fold,
    .release = fv_looks_release,
};
