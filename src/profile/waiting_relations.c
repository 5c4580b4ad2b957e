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
#define KIND_COLUMN_BY(get)                                                                    \
    {                                                                                          \
        "wait_kind", "kind", "", "How well these times are known.", FV_GET(FV_TYPE_TEXT, get), \
            .words = fv_wait_kind_words                                                        \
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
        "callsite_number", "site", "id", "Its number in the text report, from 1.",                              \
            FV_GET(FV_TYPE_WHOLE, get_site_number), .flags = FV_FLAT | FV_NULLABLE, .offset = offsetof(S, site) \
    }

static const struct fv_column_def culprit_columns[] = {
    FV_RANK_COLUMN(struct fv_culprit, rank, "rank", "rank", "The rank that was slow."),
    { "callsite_id", "call site", "id", "Index in callsites; null: behind the last call that ended.",
      FV_FIELD(struct fv_culprit, site), .flags = FV_UNLESS_NONE },
    { "where", "where", "", "computing: outside of MPI, before that call; mpi: in it.", FV_GET(FV_TYPE_TEXT, get_where),
      .words = fv_place_names },
    { "place", "place", "", "The function that makes the call; of nobody: that no rank was slower before.",
      FV_GET(FV_TYPE_TEXT, get_culprit_place), .flags = FV_FLAT },
    { "when", "when", "", "Before the MPI function or in it.", FV_GET(FV_TYPE_TEXT, get_when),
      .flags = FV_FLAT | FV_NULLABLE },
    NUMBER_COLUMN(struct fv_culprit),
    FV_SHARE_COLUMN("share", "share", struct fv_culprit, cost_s, FV_OF_WAITING, FV_FLAT | FV_AS_KIND,
                    "cost_s of all waiting."),
    { "cost_s", "cost", "s", "Waiting that is put down to it.", FV_FIELD(struct fv_culprit, cost_s),
      .flags = FV_AS_KIND },
    { "direct_s", "short-term", "s", "Of those who waited for this rank itself; null of a profile.",
      FV_GET(FV_TYPE_REAL, get_direct), .flags = FV_NULLABLE | FV_AS_KIND },
    { "propagated_s", "long-term", "s", "Of others behind them; null of a profile.", FV_GET(FV_TYPE_REAL, get_direct),
      .flags = FV_NULLABLE | FV_AS_KIND, .argument = 1 },
    KIND_COLUMN_BY(get_culprit_kind),
};
static const struct fv_relation culprits = {
    .of_ranks = true,
    .name = "culprits",
    .key = "culprits",
    .title = "Culprits",
    .doc = "Who is to blame for waiting, by its cost, largest first; at most 1000.",
    .shown = "rank place when callsite_number/4 cost_s share/3 direct_s/2 propagated_s/1",
    .share = "share",
    FV_COLUMNS(culprit_columns),
    .base = the_causes,
    FV_ITEMS(struct fv_causes, culprits, culprit_count),
};

/* ---- procedures ---- */

static const struct fv_column_def late_columns[] = {
    FV_RANK_COLUMN(struct fv_late_procedure, rank, "rank", "rank", "The rank."),
    { "procedure", "procedure", "", "Of the program; with what it calls.", FV_FIELD(struct fv_late_procedure, function),
      .flags = FV_NULLABLE },
    { "file", "file", "", "Its source file.", FV_FIELD(struct fv_late_procedure, file), .flags = FV_NULLABLE },
    { "callsite_id", "call site", "id", "The next call: index in callsites; null: behind the last call.",
      FV_FIELD(struct fv_late_procedure, site), .flags = FV_UNLESS_NONE },
    NUMBER_COLUMN(struct fv_late_procedure),
    { "cpu_s", "CPU time", "s", "Before that call.", FV_FIELD(struct fv_late_procedure, cpu_s) },
    { "delay_s", "delay", "s", "Waiting of others that it made there.", FV_FIELD(struct fv_late_procedure, delay_s) },
    { "critical_s", "critical", "s", "CPU time there on the critical path.",
      FV_FIELD(struct fv_late_procedure, critical_s) },
};
static const struct fv_relation late_procedures = {
    .of_ranks = true,
    .name = "late_procedures",
    .key = "late_procedures",
    .title = "Procedures of delays",
    .doc = "Which procedures were slow, by samples of the trace (--trace --sample, fvunify): estimates. By delay, "
           "largest first; at most 1000.",
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
    { "caused_s", "caused", "s", "Others waited for this rank.", FV_GET(FV_TYPE_REAL, get_caused),
      .flags = FV_NULLABLE | FV_AS_KIND },
    { "charged_s", "charged", "s", "Put down to it in the end, along chains of waits; null of a profile.",
      FV_FIELD(struct fv_rank, charged_s), .flags = FV_NULLABLE | FV_AS_KIND },
    { "critical_s", "critical", "s", "Its part of the critical path; null of a profile.",
      FV_FIELD(struct fv_rank, critical_s), .flags = FV_NULLABLE | FV_AS_KIND },
    KIND_COLUMN,
};
static const struct fv_relation ranks = {
    .name = "waiting_by_rank",
    .key = "per_rank",
    .title = "Waiting by rank",
    .doc = "For whom others waited, by rank.",
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
    { "kind", "kind", "", "The wait state; share/analysis.md says what the names mean.",
      FV_FIELD(struct fv_wait_sum, kind) },
    { "label", "kind of waiting", "", "The same in words.", FV_GET(FV_TYPE_TEXT, get_kind_label), .flags = FV_FLAT },
    { "count", "times", "", "How often.", FV_FIELD(struct fv_wait_sum, count) },
    { "share", "share", "share", "wait_s of all waiting; null of what is no part of it.",
      FV_GET(FV_TYPE_REAL, fv_get_share), .known = is_wait, .flags = FV_FLAT | FV_NULLABLE | FV_AS_KIND,
      .offset = offsetof(struct fv_wait_sum, wait_s),
      .argument = FV_OF_WAITING << 4 | FV_STORED_AS(struct fv_wait_sum, wait_s) },
    { "wait_s", "cost", "s", "How long, over all ranks.", FV_FIELD(struct fv_wait_sum, wait_s), .flags = FV_AS_KIND },
    KIND_COLUMN_BY(get_kind_of_sum),
    { "is_transfer", "transfer", "",
      "Is it the end of a collective, in which nobody is waited for any more? It is told, but is no part of "
      "wait_s of waiting.",
      FV_FIELD(struct fv_wait_sum, transfer) },
};
static const struct fv_relation kinds = {
    .name = "wait_kinds",
    .key = "kinds",
    .title = "Kinds of waiting",
    .doc = "Waiting by its kind, largest first.",
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
#define REGION_KIND_COLUMN                                                                                 \
    {                                                                                                      \
        "wait_kind", "kind", "", "How well these times are known.", FV_GET(FV_TYPE_TEXT, get_region_kind), \
            .words = fv_wait_kind_words                                                                    \
    }

static const struct fv_column_def region_outer[] = {
    { "from_callsite_id", "from", "id",
      "Index in callsites of the call before it; null: there was none, or it is not known.",
      FV_FIELD(struct fv_region, from), .flags = FV_UNLESS_NONE },
    { "callsite_id", "call site", "id", "Index in callsites of the call behind it.", FV_FIELD(struct fv_region, site) },
};
/* Of `at`, a struct fv_off_processor. */
#define OFF_COLUMNS(type, at, of)                                                                                      \
    { "blocked_s",                                                                                                     \
      "blocked",                                                                                                       \
      "s",                                                                                                             \
      of                                                                                                               \
      "it had no processor because it waited for something: a sleep, I/O, a page, a lock; until it ran again. By the " \
      "kernel's context switches; null: the kernel did not let us.",                                                   \
      FV_FIELD(type, at.blocked_s),                                                                                    \
      .flags = FV_NULLABLE },                                                                                          \
        { "blocked_count", "times", "", "How often.", FV_FIELD(type, at.blocked) },                                    \
        { "preempted_s",                                                                                               \
          "preempted",                                                                                                 \
          "s",                                                                                                         \
          of "another thread was given its processor; null as in blocked_s.",                                          \
          FV_FIELD(type, at.preempted_s),                                                                              \
          .flags = FV_NULLABLE },                                                                                      \
        { "preempted_count", "times", "", "How often.", FV_FIELD(type, at.preempted) },                                \
    {                                                                                                                  \
        "unseen_count", "unseen", "",                                                                                  \
            "Switches that were too many to be recorded, at least so many: blocked_s and preempted_s hold the "        \
            "others.",                                                                                                 \
            FV_FIELD(type, at.unseen)                                                                                  \
    }
static const struct fv_column_def region_rank_columns[] = {
    FV_RANK_COLUMN(struct fv_region_rank, rank, "rank", "rank", "A rank that computed there."),
    { "count", "times", "", "How often.", FV_FIELD(struct fv_region_rank, count) },
    { "time_s", "time", "s", "How long, together.", FV_FIELD(struct fv_region_rank, seconds) },
    OFF_COLUMNS(struct fv_region_rank, off, "Of it, "),
    REGION_KIND_COLUMN,
};
static const struct fv_relation region_ranks = {
    .name = "regions_by_rank",
    .key = "per_rank",
    .title = "Computing between calls by rank",
    .doc = "How long each rank computed there, by rank.",
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
    { "procedure_id", "procedure id", "id", "Index in costs.procedures.",
      FV_FIELD(struct fv_region_procedure, procedure) },
    { "procedure", "procedure", "", "Its name.", FV_GET(FV_TYPE_TEXT, get_procedure), .flags = FV_NAME },
    FV_RANK_COLUMN(struct fv_region_procedure, rank, "rank", "rank", "The region's max_rank."),
    { "ticks", "samples", "", "Clock samples of it.", FV_FIELD(struct fv_region_procedure, samples) },
    { "time_s", "CPU", "s", "The CPU time that they stand for.", FV_FIELD(struct fv_region_procedure, seconds),
      .flags = FV_ESTIMATE },
    { "others_s", "others", "s", "Mean of the other ranks.", FV_FIELD(struct fv_region_procedure, others_s),
      .flags = FV_ESTIMATE },
    { "source", "source", "",
      "trace: samples that were taken between these two calls, by time; profile: those behind the call before it, "
      "whichever came next.",
      FV_GET(FV_TYPE_TEXT, get_procedure_source), .words = source_words },
};
static const struct fv_relation region_procedures = {
    .of_ranks = true,
    .recorded_by = "fvmpi run --sample",
    .name = "region_procedures",
    .key = "region_procedures",
    .title = "Computing between calls by procedure",
    .doc = "What took the region on its max_rank, by clock samples, longest first; at most 20. By the samples of a "
           "trace that fvunify analysed "
           "and that has all of them; else by those of the profile, which regions that begin behind one call share. A "
           "sample counts for the "
           "innermost procedure of the program; where that is main() alone, of the libraries that call MPI. Threads "
           "that make no MPI calls are not in it.",
    FV_COLUMNS(procedure_columns),
    FV_OUTER(region_outer),
    .count = procedure_count,
    .row = procedure_at,
};

static const struct fv_column_def region_columns[] = {
    { "from_callsite_id", "from", "id",
      "Index in callsites of the call before it; null: there was none, or it is not known.",
      FV_FIELD(struct fv_region, from), .flags = FV_UNLESS_NONE },
    { "callsite_id", "call site", "id", "Index in callsites of the call behind it.", FV_FIELD(struct fv_region, site) },
    { "label", "computing between", "", "Both calls in short: function, MPI function, line.",
      FV_GET(FV_TYPE_TEXT, get_region_label), .flags = FV_FLAT },
    { "place", "place", "", "Function, file and line of both.", FV_GET(FV_TYPE_TEXT, get_region_place),
      .flags = FV_FLAT },
    NUMBER_COLUMN(struct fv_region),
    { "count", "times", "", "How often a thread computed there.", FV_FIELD(struct fv_region, count) },
    { "rank_count", "ranks", "", "Ranks that computed there.", FV_FIELD(struct fv_region, ranks) },
    { "mean_s", "mean", "s", "Mean time over all ranks.", FV_FIELD(struct fv_region, mean_s) },
    { "max_s", "longest", "s", "The longest time of a rank.", FV_FIELD(struct fv_region, max_s) },
    FV_SHARE_COLUMN("share", "of the run", struct fv_region, max_s, FV_OF_RUN, FV_FLAT,
                    "max_s of the run's elapsed time."),
    FV_RANK_COLUMN(struct fv_region, max_rank, "max_rank", "on rank", "The rank that took longest."),
    OFF_COLUMNS(struct fv_region, off, "Of max_s, "),
    { "balance", "balance", "share", "Mean over longest.", FV_GET(FV_TYPE_REAL, get_balance), .flags = FV_NULLABLE },
    { "imbalance_s", "imbalance", "s", "Longest less mean, times the number of ranks: what the others cannot use.",
      FV_FIELD(struct fv_region, imbalance_s) },
    { "critical.computing_s", "critical", "s",
      "Part of the critical path before the calls behind it, whatever was before them: 0 in all but one region of the "
      "call site.",
      FV_FIELD(struct fv_region, critical_s[FV_PLACE_COMPUTING]), .flags = FV_AS_KIND },
    { "critical.mpi_s", "critical MPI", "s", "Part of the critical path in them; likewise.",
      FV_FIELD(struct fv_region, critical_s[FV_PLACE_MPI]), .flags = FV_AS_KIND },
    FV_SHARE_COLUMN("critical_share", "critical path", struct fv_region, critical_s[FV_PLACE_COMPUTING],
                    FV_OF_CRITICAL_PATH, FV_FLAT | FV_AS_KIND, "critical.computing_s of the critical path."),
    REGION_KIND_COLUMN,
    { "per_rank", "by rank", "", "", FV_NEST(region_ranks) },
    { "region_procedures", "procedures", "", "", FV_NEST(region_procedures) },
};
static const struct fv_relation regions = {
    .name = "regions",
    .key = "regions",
    .title = "Computing between calls",
    .doc = "Computing between two calls of a thread, outside of MPI, by its longest rank, longest first.",
    .shown = "label place callsite_number/3 mean_s/1 max_s max_rank imbalance_s critical_share/2",
    .share = "share",
    FV_COLUMNS(region_columns),
    .base = the_causes,
    FV_ITEMS(struct fv_causes, regions, region_count),
};

/* ---- all ---- */

static const struct fv_column_def path_columns[] = {
    { "length_s", "length", "s", "Its length.", FV_FIELD(struct fv_causes, critical_path_s), .flags = FV_AS_KIND },
    KIND_COLUMN,
    { "switch_count", "switches", "", "How often it goes from one rank to another.",
      FV_FIELD(struct fv_causes, switches) },
};
static const struct fv_relation critical_path = {
    .key = "critical_path",
    .doc = "The critical path of the trace; null of a profile.",
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
      "trace: fvunify's analysis of these rank files. profile: when each rank entered blocking collectives; a "
      "culprit is then the "
      "last rank to come to a collective, which may itself have been delayed.",
      FV_GET(FV_TYPE_TEXT, get_source), .words = source_words },
    { "wait_s", "wait", "s",
      "All waiting, of which the following are parts: over all ranks; of a profile, in logged collectives.",
      FV_FIELD(struct fv_causes, wait_s), .flags = FV_AS_KIND },
    FV_EXACT_COLUMN("wait_kind", struct fv_causes, exact),
    { "text", "text", "", "Who is to blame for most, in one sentence. Empty: nothing to tell.",
      FV_GET(FV_TYPE_TEXT, get_text) },
    { "coverage", "coverage", "share", "Part of the MPI time that the trace holds; null of a profile.",
      FV_GET(FV_TYPE_REAL, get_of_trace), .flags = FV_NULLABLE, .argument = offsetof(struct fv_causes, coverage) },
    { "unexplained_s", "unexplained", "s", "Waiting for ranks that had not been slower before; null of a profile.",
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
    .doc = "Who made others wait; null: nothing is known of that.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(waiting_columns),
    .base = the_causes,
};
