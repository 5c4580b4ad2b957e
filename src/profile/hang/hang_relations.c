/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for whom in a run that hangs or was killed: relation hang. */
#include "profile/hang/hang.h"
#include "profile/relations.h"
#include "tool/vec.h"

static const struct fv_hang *hang_of(const void *subject)
{
    return fv_model_hang(fv_tables_model(subject));
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
    FV_DATA_ID_COLUMN(unfinished, struct fv_hang, "id", cycles, "Index in this list, from 0."),
    { "rank_list", "ranks", "",
      "Ranks of a shortest cycle: each waits for the next, and the last for the first. Only the first 64 cycles have "
      "it.",
      FV_GET(FV_TYPE_RANKS, get_cycle_ranks) },
    { "rank_count", "of", "", "Number of ranks that depend on each other; rank_list is a part of them.",
      FV_FIELD(struct fv_hang_cycle, count) },
    { "lasting", "lasting", "", "True: all have waited for at least one second.",
      FV_FIELD(struct fv_hang_cycle, lasting) },
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

#define STATE_DOC                                                                                                 \
    "active: outside of MPI. waits: in a call that cannot complete yet. matched: in a call that can complete, "   \
    "because the ranks it needs are in matching calls. recent: running, and in its call for less than a second. " \
    "untold: in a call whose partners were not recorded (one-sided, files, more than 32 requests, other threads " \
    "outside of MPI). asks: it polls, as with MPI_Test, and nothing has come for ten seconds or more. ended: "    \
    "finalized, exited or replaced. stopped: by a signal or a debugger, where it does not "                       \
    "wait. dead: killed, and others run on."
static const struct fv_column_def cause_columns[] = {
    { "hang_state", "state", "", STATE_DOC, FV_GET(FV_TYPE_TEXT, get_cause_state), .words = state_words },
    { "rank_list", "ranks", "", "The ranks.", FV_GET(FV_TYPE_RANKS, get_cause_ranks) },
    { "waiting_count", "waiting", "", "Number of ranks that wait for these, directly or through others.",
      FV_FIELD(struct fv_hang_cause, waiting) },
    { "text", "text", "", "The cause in words.", FV_GET(FV_TYPE_TEXT, get_cause_text) },
};
static const struct fv_relation causes = {
    .of_ranks = true,
    .name = "hang_causes",
    .key = "causes",
    .title = "Causes",
    .doc = "Ranks that others wait for and that do not wait themselves. Sorted by the number of waiting ranks, most "
           "first.",
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
    { "communicator_uid", "communicator", "", "uid of the communicator in communicators.",
      FV_GET(FV_TYPE_HEX, get_comm) },
    { "rank_list", "ranks", "", "Two of the communicator's members.", FV_GET(FV_TYPE_RANKS, get_pair) },
    { "roots_differ", "roots", "",
      "True: they call the same function with different roots. False: they call different functions.",
      FV_FIELD(struct fv_hang_mismatch, roots) },
    { "text", "text", "", "The mismatch in words.", FV_GET(FV_TYPE_TEXT, get_mismatch_text) },
};
static const struct fv_relation mismatches = {
    .of_ranks = true,
    .name = "hang_mismatches",
    .key = "mismatches",
    .title = "Calls that do not fit together",
    .doc = "Members of a communicator that are in different collective calls, or that name different roots.",
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
    { "list_id", "list", "id", "The ranks it waits for, an index in lists. Null: it does not wait.",
      FV_FIELD(struct fv_hang_rank, list), .flags = FV_NULLABLE, .known = waits },
    { "cycle_id", "cycle", "id", "The cycle that it belongs to, an index in cycles. Null: none.",
      FV_FIELD(struct fv_hang_rank, cycle), .flags = FV_UNLESS_NONE },
    { "stuck", "stuck", "",
      "True: no rank can free it. It waits for all ranks of a list with a stuck or ended rank, or for any rank of a "
      "list with stuck or ended ranks only.",
      FV_FIELD(struct fv_hang_rank, stuck) },
    { "awaited_by_count", "awaited by", "", "Number of ranks that wait for this one.",
      FV_FIELD(struct fv_hang_rank, direct) },
    { "text", "text", "", "State of the rank in words.", FV_GET(FV_TYPE_TEXT, get_rank_text) },
};
static const struct fv_relation ranks = {
    .name = "hang_ranks",
    .key = "per_rank",
    .title = "Which ranks each rank waits for",
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
    FV_DATA_ID_COLUMN(unfinished, struct fv_hang, "id", lists, "Index in this list, from 0."),
    { "any", "any", "",
      "True: one of these ranks is enough. False: all are needed. fvmpi does not know which of several requests had "
      "completed, so it assumes that one is enough.",
      FV_FIELD(struct fv_hang_list, any) },
    { "others", "others", "", "True: there are further, unknown ranks.", FV_FIELD(struct fv_hang_list, open) },
    { "rank_list", "ranks", "", "The ranks.", FV_GET(FV_TYPE_RANKS, get_list_ranks) },
};
static const struct fv_relation lists = {
    .of_ranks = true,
    .name = "hang_lists",
    .key = "lists",
    .title = "Lists of ranks that are waited for",
    .doc = "Ranks that others wait for. Ranks that wait for the same ranks share a list.",
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
    { "text", "text", "", "Headline of the text report.", FV_GET(FV_TYPE_TEXT, get_headline) },
    { "waiting_count", "waiting", "", "Number of ranks that wait.", FV_FIELD(struct fv_hang, waiting) },
    { "stuck_count", "stuck", "", "Number of ranks that no rank can free.", FV_FIELD(struct fv_hang, stuck) },
    { "lasting", "lasting", "",
      "True: all of them have waited for at least one second. False if the run was killed as a whole, because there is "
      "no later sign of life. Messages in flight at that time are not seen, so ranks may seem to wait for each other "
      "although they did not.",
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
    .title = "Which rank waits for which",
    .doc = "For which ranks each rank waits where it was last seen, in a run that still runs or was killed. Null: all "
           "ranks finalized, or one called MPI_Abort. A running rank does not wait if it is in its call for less than "
           "a second. Point-to-point waits are derived from peer, tag and communicator of the call, for MPI_Wait and "
           "similar from up to 32 requests. Collective waits are derived from the number of collective calls of each "
           "member on the communicator.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(hang_columns),
    .base = the_hang,
};
