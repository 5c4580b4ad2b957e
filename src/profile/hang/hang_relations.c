/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for whom in a run that hangs or was killed: relation hang. */
#include "profile/hang/hang.h"
#include "profile/relations.h"
#include "tool/vec.h"

static const struct fv_hang *hang_of(const void *subject)
{
    return fv_tables_model(subject)->hang;
}

/* The world ranks of indices. */
static void put_ranks(struct fv_tables *t, const uint32_t *ranks, size_t count, struct fv_value *v)
{
    FV_GROW(t->words, t->words_room, (count + 1) * sizeof(int));
    int *out = (void *)t->words;

    for (size_t i = 0; i < count; i++)
        out[i] = t->model->ranks[ranks[i]].world_rank;
    v->items = out;
    v->count = count;
}

static const char *const state_words[] = { FV_HANG_STATES(FV_LIST_WORD) NULL };

/* ---- cycles ---- */

static void get_cycle_ranks(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_hang_cycle *cycle = row;

    put_ranks(subject, cycle->order, cycle->length, v);
}

static const struct fv_column_def cycle_columns[] = {
    FV_ID_COLUMN_IN(FV_IN_HANG, struct fv_hang, "id", cycles, "Index in this list, from 0."),
    { "rank_list", "ranks", "",
      "A shortest way round: each waits for the next, the last for the first; of the first 64 cycles.",
      FV_GET(FV_TYPE_RANKS, get_cycle_ranks) },
    { "rank_count", "of", "", "Ranks that depend on each other, of which these are a part.",
      FV_FIELD(struct fv_hang_cycle, count) },
    { "lasting", "lasting", "", "Have they waited for a second or more?", FV_FIELD(struct fv_hang_cycle, lasting) },
};
static const struct fv_relation cycles = {
    .of_ranks = true,
    .name = "hang_cycles",
    .key = "cycles",
    .title = "Cycles",
    .doc = "Ranks that wait for each other.",
    FV_COLUMNS(cycle_columns),
    FV_ITEMS(struct fv_hang, cycles, cycle_count),
};

/* ---- causes ---- */

static void get_cause_state(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_hang_state_name(((const struct fv_hang_cause *)row)->state);
}

static void get_cause_ranks(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_hang_cause *cause = row;

    put_ranks(subject, cause->ranks, cause->count, v);
}

static void get_cause_text(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_hang_cause(t->model, row, t->text, sizeof(t->text));
}

#define STATE_DOC                                                                                       \
    "active: outside of MPI. waits. matched: in a call that can complete, as those it needs are in "    \
    "matching calls. recent: runs, in its call for less than a second. untold: in a call, and what it " \
    "waits for was not recorded (one-sided, files, more than 32 requests, other threads that are "      \
    "outside of MPI). ended: finalized, exited or replaced."
static const struct fv_column_def cause_columns[] = {
    { "hang_state", "state", "", STATE_DOC, FV_GET(FV_TYPE_TEXT, get_cause_state), .words = state_words },
    { "rank_list", "ranks", "", "The ranks.", FV_GET(FV_TYPE_RANKS, get_cause_ranks) },
    { "waiting_count", "waiting", "", "Ranks that wait for them, also through others.",
      FV_FIELD(struct fv_hang_cause, waiting) },
    { "text", "text", "", "In words.", FV_GET(FV_TYPE_TEXT, get_cause_text) },
};
static const struct fv_relation causes = {
    .of_ranks = true,
    .name = "hang_causes",
    .key = "causes",
    .title = "Causes",
    .doc = "Ranks that others wait for and that do not wait themselves, by how many wait, most first.",
    FV_COLUMNS(cause_columns),
    FV_ITEMS(struct fv_hang, causes, cause_count),
};

/* ---- mismatches ---- */

static void get_comm(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = fv_tables_model(subject)->comms[((const struct fv_hang_mismatch *)row)->comm].def.uid;
}

static void get_pair(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_hang_mismatch *x = row;
    const uint32_t ranks[] = { x->a, x->b };

    put_ranks(subject, ranks, 2, v);
}

static void get_mismatch_text(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_hang_mismatch(t->model, row, t->text, sizeof(t->text));
}

static const struct fv_column_def mismatch_columns[] = {
    { "communicator_uid", "communicator", "", "Its uid in communicators.", FV_GET(FV_TYPE_HEX, get_comm) },
    { "rank_list", "ranks", "", "Two of its members.", FV_GET(FV_TYPE_RANKS, get_pair) },
    { "roots_differ", "roots", "", "Do they call the same function with different roots? Else the functions differ.",
      FV_FIELD(struct fv_hang_mismatch, roots) },
    { "text", "text", "", "In words.", FV_GET(FV_TYPE_TEXT, get_mismatch_text) },
};
static const struct fv_relation mismatches = {
    .of_ranks = true,
    .name = "hang_mismatches",
    .key = "mismatches",
    .title = "Calls that do not fit together",
    .doc = "Members of a communicator that are in different collective calls, or name different roots.",
    FV_COLUMNS(mismatch_columns),
    FV_ITEMS(struct fv_hang, mismatches, mismatch_count),
};

/* ---- ranks ---- */

static size_t rank_index(const void *subject, const void *row)
{
    return (size_t)((const struct fv_hang_rank *)row - hang_of(subject)->ranks);
}

static void get_world_rank(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->number = fv_tables_model(subject)->ranks[rank_index(subject, row)].world_rank;
}

static void get_rank_state(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_hang_state_name(((const struct fv_hang_rank *)row)->state);
}

static bool waits(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_hang_rank *)row)->state == FV_HANG_WAITS;
}

static void get_rank_text(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_hang_rank(t->model, (uint32_t)rank_index(t, row), t->text, sizeof(t->text));
}

static const struct fv_column_def rank_columns[] = {
    { "rank", "rank", "", "The rank.", FV_GET(FV_TYPE_NUMBER, get_world_rank), .flags = FV_IS_RANK },
    { "hang_state", "state", "", STATE_DOC, FV_GET(FV_TYPE_TEXT, get_rank_state), .words = state_words },
    { "list_id", "list", "id", "Index in lists of those it waits for; null: it does not wait.",
      FV_FIELD(struct fv_hang_rank, list), .flags = FV_NULLABLE, .known = waits },
    { "cycle_id", "cycle", "id", "Index in cycles; null: it is in none.", FV_FIELD(struct fv_hang_rank, cycle),
      .flags = FV_UNLESS_NONE },
    { "stuck", "stuck", "",
      "Is nobody left who could free it? It waits for all of a list with a stuck or ended rank on it, or "
      "for any of a list where all are.",
      FV_FIELD(struct fv_hang_rank, stuck) },
    { "awaited_by_count", "awaited by", "", "Ranks whose list it is on.", FV_FIELD(struct fv_hang_rank, direct) },
    { "text", "text", "", "In words.", FV_GET(FV_TYPE_TEXT, get_rank_text) },
};
static const struct fv_relation ranks = {
    .name = "hang_ranks",
    .key = "per_rank",
    .title = "Whom each rank waits for",
    .doc = "Where each rank was last seen, by rank.",
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(rank_columns),
    FV_ITEMS(struct fv_hang, ranks, rank_count),
};

/* ---- lists ---- */

static void get_list_ranks(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_hang_list *list = row;

    put_ranks(subject, list->count ? hang_of(subject)->targets + list->first : NULL, list->count, v);
}

static const struct fv_column_def list_columns[] = {
    FV_ID_COLUMN_IN(FV_IN_HANG, struct fv_hang, "id", lists, "Index in this list, from 0."),
    { "any", "any", "",
      "Is one of them enough? Else all are needed. Of several requests it is not known which had "
      "completed, so one is said to be enough.",
      FV_FIELD(struct fv_hang_list, any) },
    { "others", "others", "", "Are there more, of whom nothing is known?", FV_FIELD(struct fv_hang_list, open) },
    { "rank_list", "ranks", "", "The ranks.", FV_GET(FV_TYPE_RANKS, get_list_ranks) },
};
static const struct fv_relation lists = {
    .of_ranks = true,
    .name = "hang_lists",
    .key = "lists",
    .title = "Lists of ranks that are waited for",
    .doc = "Ranks that others wait for; ranks that wait for the same ones share a list.",
    FV_COLUMNS(list_columns),
    FV_ITEMS(struct fv_hang, lists, list_count),
};

/* ---- all ---- */

static const void *the_hang(void *subject, const void *parent)
{
    return hang_of(subject);
}

static void get_headline(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_hang_headline(t->model, t->text, sizeof(t->text));
}

static const struct fv_column_def hang_columns[] = {
    { "text", "text", "", "The headline of the text report.", FV_GET(FV_TYPE_TEXT, get_headline) },
    { "waiting_count", "waiting", "", "Ranks that wait.", FV_FIELD(struct fv_hang, waiting) },
    { "stuck_count", "stuck", "", "Ranks that nobody is left to free.", FV_FIELD(struct fv_hang, stuck) },
    { "lasting", "lasting", "",
      "Have all of them waited for a second or more? False of a run that was killed as a whole: there is "
      "no later sign of life. Messages that were under way then are not seen, so that ranks may seem to "
      "wait for each other that did not.",
      FV_FIELD(struct fv_hang, lasting) },
    { "cycles", "cycles", "", "", FV_NEST(cycles) },
    { "causes", "causes", "", "", FV_NEST(causes) },
    { "mismatches", "mismatches", "", "", FV_NEST(mismatches) },
    { "per_rank", "by rank", "", "", FV_NEST(ranks) },
    { "lists", "lists", "", "", FV_NEST(lists) },
};
const struct fv_relation fv_hang_relation = {
    .name = "hang",
    .key = "hang",
    .title = "Who waits for whom",
    .doc = "Of a run that still runs or was killed: whom each rank waited for where it was last seen; null "
           "where all ranks finalized, or one called MPI_Abort. A rank that runs and has been in its call "
           "for less than a second does not count as waiting. Point to point that is read from the call's "
           "peer, tag and communicator, of MPI_Wait and its kin from up to 32 requests; collectives from "
           "how many collective calls each member has made on the communicator.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(hang_columns),
    .base = the_hang,
};
