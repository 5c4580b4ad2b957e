/* What noise of the machine cost: relations noise, noise_projection, noise_ranks, other_processes. */
#include "profile/places.h"
#include "profile/build.h"
#include "profile/noise/noise.h"
#include "profile/noise/shares.h"
#include "profile/relations.h"

#include <math.h>

FV_DATA_BASE(noise)

/* ---- before collective calls ---- */

static void get_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_place_inner(t->profile, ((const struct fv_noise_place *)row)->site, t->text, sizeof(t->text));
}

static void get_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_place_function(fv_tables_model(subject), ((const struct fv_noise_place *)row)->site);
}

static void get_number(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = ((const struct fv_noise_place *)row)->site + 1u;
}

static const struct fv_column_def projection_columns[] = {
    { "rank_count", "ranks", "", "Ranks of that run; the first row: of this one.",
      FV_FIELD(struct fv_noise_projection, ranks) },
    { "expected_s", "longest", "s", "Expected: the longest time that one of the ranks is preempted in an interval.",
      FV_FIELD(struct fv_noise_projection, expected_s), .flags = FV_ESTIMATE },
    { "share", "share", "share", "The same of the interval, which is without it as long as one is here on average.",
      FV_FIELD(struct fv_noise_projection, share), .flags = FV_ESTIMATE },
};
static const struct fv_column_def projection_outer[] = {
    { "callsite_id", "call site", "id", "Index in callsites of the call behind the intervals.",
      FV_FIELD(struct fv_noise_place, site) },
    { "place", "before", "", "The function that makes that call.", FV_GET(FV_TYPE_TEXT, get_place), .flags = FV_NAME },
};
static const struct fv_relation projection = {
    .name = "noise_projection",
    .key = "projection",
    .title = "Noise on more ranks",
    .doc = "What noise would cost on more ranks: the expected longest of so many independent draws, one a rank, of the "
           "preemptions of this run's intervals. It assumes that ranks are "
           "disturbed independently, alike, and never for longer than was seen here; so it is no more than an "
           "estimate, and a lower bound for rare long disturbances. Empty: fewer than 30 "
           "intervals, or nobody was preempted.",
    FV_COLUMNS(projection_columns),
    FV_OUTER(projection_outer),
    .base = noise_base,
    FV_SLICE(struct fv_noise_view, projections, struct fv_noise_place, first_projection, projections),
};

#define PLACE(k, t, u, m, f, d)                                      \
    {                                                                \
        k, t, u, d, FV_FIELD(struct fv_noise_place, m), .flags = (f) \
    }
/* A share and its bounds. */
#define SHARE(g, t, source, what)                                                                              \
    PLACE("variance." g "_share", t, "share", share[source].share, FV_NULLABLE | FV_ESTIMATE,                  \
          "Part of the variance of the intervals' times that is due to " what                                  \
          ": covariance of the two over the variance, each thread about its own mean; null: of fewer than 30 " \
          "intervals, or they do not differ."),                                                                \
        PLACE("variance." g "_low", "from", "share", share[source].low, FV_NULLABLE | FV_ESTIMATE,             \
              "Of its 95 % interval, by bootstrap, the lower bound."),                                         \
        PLACE("variance." g "_high", "to", "share", share[source].high, FV_NULLABLE | FV_ESTIMATE, "The upper one.")
static const struct fv_column_def place_columns[] = {
    PLACE("callsite_id", "call site", "id", site, 0, "Index in callsites of the call."),
    { "place", "before", "", "The function that makes the call.", FV_GET(FV_TYPE_TEXT, get_place), .flags = FV_NAME },
    { "function", "call", "", "The MPI function.", FV_GET(FV_TYPE_TEXT, get_function) },
    { "callsite_number", "site", "id", "Its number in the text report, from 1.", FV_GET(FV_TYPE_WHOLE, get_number),
      .flags = FV_FLAT },
    PLACE("cost_s", "cost", "s", cost_s, FV_NULLABLE | FV_ESTIMATE,
          "Over all ranks, what they would have been spared if nobody had been preempted since the blocking collective "
          "call before: ranks times how much earlier the last one would have come; null: not "
          "all ranks wait for all in such calls."),
    FV_SHARE_COLUMN("cost_share", "share", struct fv_noise_place, cost_s, FV_OF_RANKS, FV_FLAT | FV_ESTIMATE,
                    "cost_s of the time of all ranks."),
    PLACE("preempted_s", "preempted", "s", preempted_s, 0,
          "Other threads had the processor, by the kernel's context switches, outside of MPI; over all ranks."),
    PLACE("preempted_count", "times", "", preempted, 0, "How often."),
    PLACE("blocked_s", "blocked", "s", blocked_s, 0,
          "The thread waited for something: a sleep, I/O, a page, a signal that stopped it; over all ranks. It is the "
          "program's own more often than noise."),
    FV_RANK_OR_NULL_COLUMN(struct fv_noise_place, max_rank, "rank", "rank",
                           "The rank that was preempted longest; null: none was."),
    PLACE("rank_preempted_s", "of it", "s", max_rank_s, 0, "How long."),
    PLACE("interval_count", "intervals", "", intervals, 0,
          "Intervals of all ranks, from the end of a blocking collective call to the begin of this one. 0: wait logs "
          "were thinned, and preempted_s, blocked_s and times are not known."),
    PLACE("time_s", "time", "s", time_s, 0,
          "How long, together, with MPI calls between them that are no blocking collective ones."),
    PLACE("sampled_count", "sampled", "", sampled, 0,
          "Intervals that the columns behind are of: those that were kept, without those of warm-up."),
    PLACE("mean_s", "mean", "s", mean_s, FV_NULLABLE, "Of one of them."),
    PLACE("p50_s", "median", "s", percentile_s[0], FV_NULLABLE, "Half of them take no longer."),
    PLACE("p90_s", "p90", "s", percentile_s[1], FV_NULLABLE, "90 % of them take no longer."),
    PLACE("p99_s", "p99", "s", percentile_s[2], FV_NULLABLE, "99 % of them take no longer."),
    PLACE("warm_up_count", "warm up", "", warm, FV_BLANK,
          "Threads of ranks whose first intervals, at least one, took longer than any of their second half."),
    PLACE("warm_up_s", "first", "s", warm_s, FV_NULLABLE, "Mean of these first intervals; null: there are none."),
    SHARE("preempted", "by preemption", FV_NOISE_PREEMPTED, "preemption"),
    SHARE("blocked", "by blocking", FV_NOISE_BLOCKED, "being blocked"),
    SHARE("rest", "by the rest", FV_NOISE_REST, "the rest: different work, and what slows it"),
    { "projection", "projection", "", "What this noise would cost on more ranks.", FV_NEST(projection) },
};
static const struct fv_relation noise_relation = {
    .name = "noise",
    .key = "noise",
    .title = "Noise before collective calls",
    .doc = "What noise of the machine cost before blocking collective calls, by call site and cost, largest first; at "
           "most 20. Empty where the kernel did not tell context switches, in runs without "
           "such calls, and in experiments of versions that did not record it.",
    .shown = "place function/9 callsite_number/4 cost_s cost_share/5 preempted_s/8 rank/7 mean_s/3 p99_s/3 "
             "variance_preempted_share/6 variance_preempted_low/2 variance_preempted_high/2",
    FV_COLUMNS(place_columns),
    .base = noise_base,
    FV_ITEMS(struct fv_noise_view, places, place_count),
};

/* ---- by rank ---- */

static const struct fv_rank *rank_at(void *subject, const void *row)
{
    return &fv_tables_model(subject)->ranks[((const struct fv_noise_rank *)row)->rank];
}

static const struct fv_noise_other *by_at(void *subject, const void *row)
{
    const struct fv_noise_rank *r = row;

    return r->by == FV_NONE ? NULL : &fv_model_noise(fv_tables_model(subject))->others[r->by];
}

static void get_preempted(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = fv_noise_preempted_of(fv_tables_model(subject), ((const struct fv_noise_rank *)row)->rank);
}

static void get_ready(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = rank_at(subject, row)->ready_s;
}

static void get_stolen(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = rank_at(subject, row)->stolen_s;
}

static void get_by(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_noise_other *by = by_at(subject, row);

    v->text = by ? by->name : NULL;
}

static void get_by_pid(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_noise_other *by = by_at(subject, row);

    v->null = !by || ((const struct fv_noise_rank *)row)->by_count > 1;
    v->whole = by ? by->pid : 0;
}

static void get_by_count(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_noise_rank *r = row;

    v->null = r->by == FV_NONE;
    v->whole = r->by_count;
}

static void get_by_cpu(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_noise_other *by = by_at(subject, row);

    v->real = by ? ((const struct fv_noise_rank *)row)->by_cpu_s : NAN;
}

static const struct fv_column_def rank_columns[] = {
    FV_RANK_COLUMN(struct fv_noise_rank, rank, "rank", "rank", "The rank."),
    { "cost_s", "cost", "s",
      "What its preemption cost all ranks in collective calls to which it came last, as in noise; null: no log tells.",
      FV_FIELD(struct fv_noise_rank, cost_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "preempted_s", "preempted", "s",
      "Other threads had its processor, outside of MPI, by the kernel's context switches; null: not known.",
      FV_GET(FV_TYPE_REAL, get_preempted), .flags = FV_NULLABLE },
    { "ready_s", "preempted, with MPI", "s",
      "Its main thread was ready to run and had no processor, in MPI as well; null: not known.",
      FV_GET(FV_TYPE_REAL, get_ready), .flags = FV_NULLABLE },
    { "stolen_s", "stolen", "s",
      "A hypervisor took from a processor of its node meanwhile, the mean of all; 0: none, or not known.",
      FV_GET(FV_TYPE_REAL, get_stolen) },
    { "throttled_s", "throttled", "s",
      "The quotas of its control groups (cpu.max) kept their tasks, together, from processors meanwhile; null: "
      "nothing, or not known.",
      FV_FIELD(struct fv_noise_rank, throttled_s), .flags = FV_NULLABLE },
    { "fault_count", "page faults", "", "Of the process.", FV_FIELD(struct fv_noise_rank, faults) },
    { "by", "by", "",
      "The process that most likely preempted it, or the name of several: of the CPU time that others had on "
      "processors that it may run on, it had half at least, and as much as half of preempted_s; null: not known.",
      FV_GET(FV_TYPE_TEXT, get_by), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "by_pid", "process", "", "Its number; null: there are several.", FV_GET(FV_TYPE_WHOLE, get_by_pid),
      .flags = FV_NULLABLE },
    { "by_count", "processes", "", "Processes of that name that may run on processors that it may run on.",
      FV_GET(FV_TYPE_WHOLE, get_by_count), .flags = FV_NULLABLE },
    { "by_cpu_s", "their CPU time", "s", "Of them all, while the rank that looked was recorded.",
      FV_GET(FV_TYPE_REAL, get_by_cpu), .flags = FV_NULLABLE },
};
static const struct fv_relation noise_ranks_relation = {
    .of_ranks = true,
    .name = "noise_ranks",
    .key = "noise_ranks",
    .title = "Noise by rank",
    .doc = "What each rank lost to others, and to whom, by rank.",
    FV_COLUMNS(rank_columns),
    .base = noise_base,
    FV_ITEMS(struct fv_noise_view, ranks, rank_count),
};

/* ---- who ran ---- */

#define OTHER(k, t, u, m, f, d)                                      \
    {                                                                \
        k, t, u, d, FV_FIELD(struct fv_noise_other, m), .flags = (f) \
    }
static const struct fv_column_def other_columns[] = {
    OTHER("host", "node", "", host, FV_NAME, "The node."),
    OTHER("pid", "process", "", pid, 0, "Its number there; 0: all that had less, together."),
    OTHER("name", "name", "", name, 0, "As the kernel has it, 15 characters."),
    OTHER("cpu_s", "CPU time", "s", cpu_s, 0, "While the rank that looked was recorded."),
    OTHER("processors", "may run on", "", processors, FV_NULLABLE, "Processors: a list; null: not known."),
    OTHER("cpu", "last on", "", cpu, 0, "The processor that it was on last."),
    FV_RANK_OR_NULL_COLUMN(struct fv_noise_other, rank, "rank", "rank", "The rank that it is; null: none of this run."),
};
static const struct fv_relation other_processes_relation = {
    .of_ranks = true,
    .name = "other_processes",
    .key = "other_processes",
    .title = "Processes of the nodes",
    .doc = "Processes of each node that had CPU time for a hundredth of the run at least, by node and CPU time, most "
           "first: ranks and others, without the rank that looked. By /proc, at the begin and the end; "
           "those that ended before are not known. At most 256.",
    .shown = "host/2 name pid/3 cpu_s processors cpu/1 rank",
    FV_COLUMNS(other_columns),
    .base = noise_base,
    FV_ITEMS(struct fv_noise_view, others, other_count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_noise;

static void renumber_noise(struct fv_model *m, const uint32_t *sites)
{
    struct fv_noise_view *noise = fv_model_noise(m);

    for (size_t i = 0; i < noise->series_count; i++) {
        struct fv_noise_series *s = &noise->series[i];

        s->site = sites[s->site];
        s->from = s->from == FV_NONE ? FV_NONE : sites[s->from];
    }
}

const struct fv_subject fv_noise_subject = {
    .name = "noise",
    .bytes = sizeof(struct fv_noise_view),
    .tracks = { &fv_track_noise },
    .relations = { &noise_relation, &noise_ranks_relation, &other_processes_relation },
    .renumber = renumber_noise,
    .release = fv_noise_release,
};
