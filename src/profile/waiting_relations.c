/* SPDX-License-Identifier: BSD-3-Clause */
/* Who made others wait: relation waiting. */
#include "profile/places.h"
#include "profile/relations.h"
#include "profile/verdict.h"

#include <math.h>
#include <stdio.h>

static const struct fv_causes *causes_of(const void *subject)
{
    return &fv_tables_model(subject)->causes;
}

static bool traced(const void *subject)
{
    return causes_of(subject)->source == FV_CAUSES_TRACE;
}

static const void *the_causes(void *subject, const void *parent)
{
    const struct fv_causes *causes = causes_of(subject);

    return causes->source == FV_CAUSES_NONE ? NULL : causes;
}

static const void *traced_causes(void *subject, const void *parent)
{
    return traced(subject) ? causes_of(subject) : NULL;
}

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_wait_kind_words[!causes_of(subject)->exact];
}
/* Of every row, as each table is read alone. */
#define KIND_COLUMN_BY(get)                                                                                \
    {                                                                                                      \
        "wait_kind", "kind", "", "Whether these times are exact or estimates.", FV_GET(FV_TYPE_TEXT, get), \
            .words = fv_wait_kind_words                                                                    \
    }
#define KIND_COLUMN KIND_COLUMN_BY(get_kind)

/* ---- culprits ---- */

static void get_culprit_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_wait_kind_words[!fv_culprit_is_exact(causes_of(subject), row)];
}

static void get_where(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_place_names[((const struct fv_culprit *)row)->where];
}

/* The part of the cost that the rank itself, or those behind it, were waited for. */
static void get_direct(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_culprit *k = row;

    v->real = c->argument ? fmax(k->cost_s - k->direct_s, 0) : fmin(k->direct_s, k->cost_s);
    v->null = !traced(subject) || !(k->direct_s >= 0);
}

static void get_culprit_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_culprit *k = row;
    struct fv_tables *t = subject;

    v->text = k->rank == FV_NONE   ? "no rank was slower before"
              : k->site == FV_NONE ? "behind the last call that ended"
                                   : fv_place_inner(t->profile, k->site, t->text, sizeof(t->text));
}

static void get_when(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_culprit *k = row;
    struct fv_tables *t = subject;

    v->text = k->site == FV_NONE ? NULL : fv_place_when(t->model, k->site, k->where, t->text);
}

/* Of a uint32_t at `offset`: as the text report counts them. */
static void get_site_number(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t site = *(const uint32_t *)(const void *)((const char *)row + c->offset);

    v->null = site == FV_NONE;
    v->whole = site + 1u;
}
#define NUMBER_COLUMN(S)                                                                                        \
    {                                                                                                           \
        "callsite_number", "site", "id", "Number of the call site in the text report, from 1.",                 \
            FV_GET(FV_TYPE_WHOLE, get_site_number), .flags = FV_FLAT | FV_NULLABLE, .offset = offsetof(S, site) \
    }

static const struct fv_column_def culprit_columns[] = {
    FV_RANK_COLUMN(struct fv_culprit, rank, "rank", "rank", "The rank that was late."),
    { "callsite_id", "call site", "id", "Call site, an index in callsites. Null: after the last call.",
      FV_FIELD(struct fv_culprit, site), .flags = FV_UNLESS_NONE },
    { "where", "where", "", "computing: late before the call, outside of MPI. mpi: late in the call.",
      FV_GET(FV_TYPE_TEXT, get_where), .words = fv_place_names },
    { "place", "place", "", "The function that makes the call.", FV_GET(FV_TYPE_TEXT, get_culprit_place),
      .flags = FV_FLAT },
    { "when", "when", "", "Whether the rank was late before the MPI function or in it.", FV_GET(FV_TYPE_TEXT, get_when),
      .flags = FV_FLAT | FV_NULLABLE },
    NUMBER_COLUMN(struct fv_culprit),
    FV_SHARE_COLUMN("share", "share", struct fv_culprit, cost_s, FV_OF_WAITING, FV_FLAT | FV_AS_KIND,
                    "cost_s as a share of all waiting."),
    { "cost_s", "cost", "s", "Waiting attributed to this rank and place.", FV_FIELD(struct fv_culprit, cost_s),
      .flags = FV_AS_KIND },
    { "direct_s", "short-term", "s", "Waiting for this rank itself. Null without a trace.",
      FV_GET(FV_TYPE_REAL, get_direct), .flags = FV_NULLABLE | FV_AS_KIND },
    { "propagated_s", "long-term", "s", "Waiting for ranks that this rank had delayed. Null without a trace.",
      FV_GET(FV_TYPE_REAL, get_direct), .flags = FV_NULLABLE | FV_AS_KIND, .argument = 1 },
    KIND_COLUMN_BY(get_culprit_kind),
};
static const struct fv_relation culprits = {
    .of_ranks = true,
    .name = "culprits",
    .key = "culprits",
    .title = "Culprits",
    .doc = "Causes of waiting: ranks that were late and where, by waiting time, largest first. At most 1000.",
    .shown = "rank place when callsite_number/4 cost_s share/3 direct_s/2 propagated_s/1",
    .share = "share",
    FV_COLUMNS(culprit_columns),
    .base = the_causes,
    FV_ITEMS(struct fv_causes, culprits, culprit_count),
};

/* ---- procedures ---- */

static const struct fv_column_def late_columns[] = {
    FV_RANK_COLUMN(struct fv_late_procedure, rank, "rank", "rank", "The rank."),
    { "procedure", "procedure", "", "A function of the program, with what it calls.",
      FV_FIELD(struct fv_late_procedure, function), .flags = FV_NULLABLE },
    { "file", "file", "", "The source file. Null: not known.", FV_FIELD(struct fv_late_procedure, file),
      .flags = FV_NULLABLE },
    { "callsite_id", "call site", "id", "The next call, an index in callsites. Null: after the last call.",
      FV_FIELD(struct fv_late_procedure, site), .flags = FV_UNLESS_NONE },
    NUMBER_COLUMN(struct fv_late_procedure),
    { "cpu_s", "CPU time", "s", "CPU time of the function before that call.",
      FV_FIELD(struct fv_late_procedure, cpu_s) },
    { "delay_s", "delay", "s", "Waiting of other ranks that the function caused there.",
      FV_FIELD(struct fv_late_procedure, delay_s) },
    { "critical_s", "critical", "s", "CPU time of the function on the critical path.",
      FV_FIELD(struct fv_late_procedure, critical_s) },
};
static const struct fv_relation late_procedures = {
    .of_ranks = true,
    .name = "late_procedures",
    .key = "late_procedures",
    .title = "Functions that delay other ranks",
    .doc = "Functions of the program that made other ranks wait, from samples of the trace (--trace --sample, "
           "fvunify). Estimates, by delay, largest first. At most 1000.",
    .shown = "rank procedure callsite_number/2 delay_s cpu_s/3 critical_s/1",
    FV_COLUMNS(late_columns),
    .base = traced_causes,
    FV_ITEMS(struct fv_causes, late, late_count),
};

/* ---- ranks ---- */

static void get_caused(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = fv_rank_caused_s(fv_tables_model(subject), row);
}

static const struct fv_column_def rank_columns[] = {
    { "rank", "rank", "", "The rank.", FV_FIELD(struct fv_rank, world_rank), .flags = FV_IS_RANK },
    { "caused_s", "caused", "s", "Time that other ranks waited for this one.", FV_GET(FV_TYPE_REAL, get_caused),
      .flags = FV_NULLABLE | FV_AS_KIND },
    { "charged_s", "charged", "s",
      "Waiting attributed to this rank in the end, along chains of waits. Null without a trace.",
      FV_FIELD(struct fv_rank, charged_s), .flags = FV_NULLABLE | FV_AS_KIND },
    { "critical_s", "critical", "s", "The rank's part of the critical path. Null without a trace.",
      FV_FIELD(struct fv_rank, critical_s), .flags = FV_NULLABLE | FV_AS_KIND },
    KIND_COLUMN,
};
static const struct fv_relation ranks = {
    .name = "waiting_by_rank",
    .key = "per_rank",
    .title = "Waiting by rank",
    .doc = "For which ranks others waited, by rank.",
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(rank_columns),
    .base = fv_tables_base,
    FV_ITEMS(struct fv_model, ranks, rank_count),
};

/* ---- kinds, regions ---- */

static void get_kind_label(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_wait_words(((const struct fv_wait_sum *)row)->kind, t->text);
}

static bool is_wait(void *subject, const void *row, const struct fv_column_def *c)
{
    return !((const struct fv_wait_sum *)row)->transfer;
}

static void get_kind_of_sum(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_causes *causes = causes_of(subject);

    v->text = fv_wait_kind_words[!causes->is_whole || fv_kind_is_estimate(((const struct fv_wait_sum *)row)->kind)];
}

static const struct fv_column_def kind_columns[] = {
    { "kind", "kind", "", "The wait state. share/analysis.md defines the names.", FV_FIELD(struct fv_wait_sum, kind) },
    { "label", "kind of waiting", "", "The wait state in words.", FV_GET(FV_TYPE_TEXT, get_kind_label),
      .flags = FV_FLAT },
    { "count", "times", "", "Number of waits.", FV_FIELD(struct fv_wait_sum, count) },
    { "share", "share", "share", "wait_s as a share of all waiting. Null: this kind is not part of all waiting.",
      FV_GET(FV_TYPE_REAL, fv_get_share), .known = is_wait, .flags = FV_FLAT | FV_NULLABLE | FV_AS_KIND,
      .offset = offsetof(struct fv_wait_sum, wait_s),
      .argument = FV_OF_WAITING << 4 | FV_STORED_AS(struct fv_wait_sum, wait_s) },
    { "wait_s", "cost", "s", "Total time, over all ranks.", FV_FIELD(struct fv_wait_sum, wait_s), .flags = FV_AS_KIND },
    KIND_COLUMN_BY(get_kind_of_sum),
    { "is_transfer", "transfer", "",
      "True: the end of a collective, where ranks no longer wait for others. It is listed, but `waiting.wait_s` does "
      "not include it.",
      FV_FIELD(struct fv_wait_sum, transfer) },
};
static const struct fv_relation kinds = {
    .name = "wait_kinds",
    .key = "kinds",
    .title = "Kinds of waiting",
    .doc = "Waiting by kind, largest first.",
    .shown = "label count/1 wait_s share",
    .share = "share",
    FV_COLUMNS(kind_columns),
    .base = the_causes,
    FV_ITEMS(struct fv_causes, kinds, kind_count),
};

static void get_balance(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_region *r = row;

    v->real = r->max_s > 0 ? r->mean_s / r->max_s : NAN;
}

static void get_region_label(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_region *r = row;
    struct fv_tables *t = subject;

    v->text = fv_place_calls(t->profile, r->from, r->site, t->text, sizeof(t->text));
}

static void get_region_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_region *r = row;
    struct fv_tables *t = subject;

    v->text = fv_place_between(t->profile, r->from, r->site, t->text, sizeof(t->text));
}

/* Times of computing are exact, by the rank files; the critical path is as the trace. */
static void get_region_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_wait_kind_words[traced(subject) && !causes_of(subject)->exact];
}
#define REGION_KIND_COLUMN                                                                                             \
    {                                                                                                                  \
        "wait_kind", "kind", "", "Whether these times are exact or estimates.", FV_GET(FV_TYPE_TEXT, get_region_kind), \
            .words = fv_wait_kind_words                                                                                \
    }

static const struct fv_column_def region_outer[] = {
    { "from_callsite_id", "from", "id", "The call before, an index in callsites. Null: none, or not known.",
      FV_FIELD(struct fv_region, from), .flags = FV_UNLESS_NONE },
    { "callsite_id", "call site", "id", "The call after, an index in callsites.", FV_FIELD(struct fv_region, site) },
};
/* Of `at`, a struct fv_off_processor. */
#define OFF_COLUMNS(type, at, of)                                                                                \
    { "blocked_s",                                                                                               \
      "blocked",                                                                                                 \
      "s",                                                                                                       \
      of "the thread waited for something: sleep, I/O, a page or a lock, until it ran again. From the kernel's " \
         "context switches. Null: the kernel did not allow to read them.",                                       \
      FV_FIELD(type, at.blocked_s),                                                                              \
      .flags = FV_NULLABLE },                                                                                    \
        { "blocked_count", "times", "", "Number of such intervals.", FV_FIELD(type, at.blocked) },               \
        { "preempted_s",                                                                                         \
          "preempted",                                                                                           \
          "s",                                                                                                   \
          of "another thread used its processor. Null as in blocked_s.",                                         \
          FV_FIELD(type, at.preempted_s),                                                                        \
          .flags = FV_NULLABLE },                                                                                \
        { "preempted_count", "times", "", "Number of such intervals.", FV_FIELD(type, at.preempted) },           \
    {                                                                                                            \
        "unseen_count", "unseen", "",                                                                            \
            "Lower bound of context switches that were too many to record. blocked_s and preempted_s cover the " \
            "others.",                                                                                           \
            FV_FIELD(type, at.unseen)                                                                            \
    }
static const struct fv_column_def region_rank_columns[] = {
    FV_RANK_COLUMN(struct fv_region_rank, rank, "rank", "rank", "A rank that computed there."),
    { "count", "times", "", "How often the rank computed there.", FV_FIELD(struct fv_region_rank, count) },
    { "time_s", "time", "s", "Total time that the rank computed there.", FV_FIELD(struct fv_region_rank, seconds) },
    OFF_COLUMNS(struct fv_region_rank, off, "Part of time_s in which "),
    REGION_KIND_COLUMN,
};
static const struct fv_relation region_ranks = {
    .name = "regions_by_rank",
    .key = "per_rank",
    .title = "Computing between calls by rank",
    .doc = "Time that each rank computed there, by rank.",
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(region_rank_columns),
    FV_OUTER(region_outer),
    .base = fv_tables_base,
    FV_SLICE(struct fv_model, region_ranks, struct fv_region, first, ranks),
};

static size_t procedure_count(void *subject, const void *parent)
{
    size_t count;

    fv_region_procedures(((const struct fv_tables *)subject)->profile, parent, &count);
    return count;
}

static const void *procedure_at(void *subject, const void *parent, size_t i)
{
    size_t count;

    return fv_region_procedures(((const struct fv_tables *)subject)->profile, parent, &count) + i;
}

static void get_procedure(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = ((const struct fv_tables *)subject)
                  ->profile->costs->procedures[((const struct fv_region_procedure *)row)->procedure]
                  .name;
}

static const char *const source_words[] = { "trace", "profile", NULL };
static void get_procedure_source(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = ((const struct fv_tables *)subject)->profile->costs->regions_traced ? source_words[0] : source_words[1];
}

static const struct fv_column_def procedure_columns[] = {
    { "procedure_id", "procedure id", "id", "The procedure, an index in costs.procedures.",
      FV_FIELD(struct fv_region_procedure, procedure) },
    { "procedure", "procedure", "", "Name of the procedure.", FV_GET(FV_TYPE_TEXT, get_procedure), .flags = FV_NAME },
    FV_RANK_COLUMN(struct fv_region_procedure, rank, "rank", "rank", "max_rank of the region."),
    { "ticks", "samples", "", "Number of its clock samples.", FV_FIELD(struct fv_region_procedure, samples) },
    { "time_s", "CPU", "s", "The CPU time that these samples stand for.", FV_FIELD(struct fv_region_procedure, seconds),
      .flags = FV_ESTIMATE },
    { "others_s", "others", "s", "Mean CPU time of the other ranks.", FV_FIELD(struct fv_region_procedure, others_s),
      .flags = FV_ESTIMATE },
    { "source", "source", "",
      "trace: samples taken between these two calls. profile: all samples after the first call, whatever call came "
      "next.",
      FV_GET(FV_TYPE_TEXT, get_procedure_source), .words = source_words },
};
static const struct fv_relation region_procedures = {
    .of_ranks = true,
    .recorded_by = "fvmpi run --sample",
    .name = "region_procedures",
    .key = "region_procedures",
    .title = "Computing between calls by procedure",
    .doc = "Functions that took the time of the region on its max_rank, by clock samples, longest first. At most 20. "
           "With an analysed trace that has all samples: samples of this region. Otherwise: samples of all regions "
           "after the same call. A sample counts for the innermost function of the program. If that is only main(): "
           "for that of the libraries that call MPI. Threads without MPI calls are left out.",
    FV_COLUMNS(procedure_columns),
    FV_OUTER(region_outer),
    .count = procedure_count,
    .row = procedure_at,
};

static const struct fv_column_def region_columns[] = {
    { "from_callsite_id", "from", "id", "The call before, an index in callsites. Null: none, or not known.",
      FV_FIELD(struct fv_region, from), .flags = FV_UNLESS_NONE },
    { "callsite_id", "call site", "id", "The call after, an index in callsites.", FV_FIELD(struct fv_region, site) },
    { "label", "computing between", "", "Both calls in short: function, MPI function, line.",
      FV_GET(FV_TYPE_TEXT, get_region_label), .flags = FV_FLAT },
    { "place", "place", "", "Function, file and line of both calls.", FV_GET(FV_TYPE_TEXT, get_region_place),
      .flags = FV_FLAT },
    NUMBER_COLUMN(struct fv_region),
    { "count", "times", "", "How often a thread computed there.", FV_FIELD(struct fv_region, count) },
    { "rank_count", "ranks", "", "Ranks that computed there.", FV_FIELD(struct fv_region, ranks) },
    { "mean_s", "mean", "s", "Mean time of a rank, over all ranks.", FV_FIELD(struct fv_region, mean_s) },
    { "max_s", "longest", "s", "Time of the rank with the most.", FV_FIELD(struct fv_region, max_s) },
    FV_SHARE_COLUMN("share", "of the run", struct fv_region, max_s, FV_OF_RUN, FV_FLAT,
                    "max_s as a share of the run's elapsed time."),
    FV_RANK_COLUMN(struct fv_region, max_rank, "max_rank", "on rank", "The rank with the longest time."),
    OFF_COLUMNS(struct fv_region, off, "Part of max_s in which "),
    { "balance", "balance", "share", "Mean over maximum of the ranks' times.", FV_GET(FV_TYPE_REAL, get_balance),
      .flags = FV_NULLABLE },
    { "imbalance_s", "imbalance", "s", "(max_s - mean_s) x ranks: time that all ranks lose by the imbalance.",
      FV_FIELD(struct fv_region, imbalance_s) },
    { "critical.computing_s", "critical", "s",
      "Part of the critical path in computing before the second call, whichever call was before. For each second call, "
      "only one region has it; the others are 0.",
      FV_FIELD(struct fv_region, critical_s[FV_PLACE_COMPUTING]), .flags = FV_AS_KIND },
    { "critical.mpi_s", "critical MPI", "s",
      "Part of the critical path in the second call. For each second call, only one region has it; the others are 0.",
      FV_FIELD(struct fv_region, critical_s[FV_PLACE_MPI]), .flags = FV_AS_KIND },
    FV_SHARE_COLUMN("critical_share", "critical path", struct fv_region, critical_s[FV_PLACE_COMPUTING],
                    FV_OF_CRITICAL_PATH, FV_FLAT | FV_AS_KIND, "critical.computing_s as a share of the critical path."),
    REGION_KIND_COLUMN,
    { "per_rank", "by rank", "", "", FV_NEST(region_ranks) },
    { "region_procedures", "procedures", "", "", FV_NEST(region_procedures) },
};
static const struct fv_relation regions = {
    .name = "regions",
    .key = "regions",
    .title = "Computing between calls",
    .doc = "Computing between two MPI calls of a thread. Sorted by the longest time of a rank, longest first.",
    .shown = "label place callsite_number/3 mean_s/1 max_s max_rank imbalance_s critical_share/2",
    .share = "share",
    FV_COLUMNS(region_columns),
    .base = the_causes,
    FV_ITEMS(struct fv_causes, regions, region_count),
};

/* ---- all ---- */

static const struct fv_column_def path_columns[] = {
    { "length_s", "length", "s", "Length of the critical path.", FV_FIELD(struct fv_causes, critical_path_s),
      .flags = FV_AS_KIND },
    KIND_COLUMN,
    { "switch_count", "switches", "", "How often it moves from one rank to another.",
      FV_FIELD(struct fv_causes, switches) },
};
static const struct fv_relation critical_path = {
    .key = "critical_path",
    .doc = "The critical path of the trace. Null without a trace.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(path_columns),
    .base = traced_causes,
};

static void get_source(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = traced(subject) ? "trace" : "profile";
}

static void get_text(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_verdict_waiting(t->profile, t->text, sizeof(t->text));
}

static void get_of_trace(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = *(const double *)(const void *)((const char *)row + c->argument);
    v->null = !traced(subject);
}

static const struct fv_column_def waiting_columns[] = {
    { "source", "source", "",
      "trace: fvunify's analysis of these rank files. profile: entry times of ranks into blocking collectives. A "
      "culprit is then the last rank to enter, which may itself have been delayed.",
      FV_GET(FV_TYPE_TEXT, get_source), .words = source_words },
    { "wait_s", "wait", "s",
      "Total waiting, over all ranks. The following are parts of it. Without a trace: waiting in logged collectives.",
      FV_FIELD(struct fv_causes, wait_s), .flags = FV_AS_KIND },
    FV_EXACT_COLUMN("wait_kind", struct fv_causes, exact),
    { "text", "text", "", "The rank that causes most waiting, in one sentence. Empty: there is nothing to report.",
      FV_GET(FV_TYPE_TEXT, get_text) },
    { "coverage", "coverage", "share", "Share of the MPI time that the trace covers. Null without a trace.",
      FV_GET(FV_TYPE_REAL, get_of_trace), .flags = FV_NULLABLE, .argument = offsetof(struct fv_causes, coverage) },
    { "unexplained_s", "unexplained", "s", "Waiting for ranks that had not been slower before. Null without a trace.",
      FV_GET(FV_TYPE_REAL, get_of_trace), .flags = FV_NULLABLE | FV_AS_KIND,
      .argument = offsetof(struct fv_causes, unexplained_s) },
    { "culprits", "culprits", "", "", FV_NEST(culprits) },
    { "late_procedures", "late procedures", "", "", FV_NEST(late_procedures) },
    { "per_rank", "by rank", "", "", FV_NEST(ranks) },
    { "kinds", "kinds", "", "", FV_NEST(kinds) },
    { "regions", "regions", "", "", FV_NEST(regions) },
    { "critical_path", "critical path", "", "", FV_NEST(critical_path) },
};
const struct fv_relation fv_waiting_relation = {
    .name = "waiting",
    .key = "waiting",
    .title = "Waiting",
    .group = "Waiting and computing",
    .doc = "Which ranks made others wait. Null: not known.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(waiting_columns),
    .base = the_causes,
};
