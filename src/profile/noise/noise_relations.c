/* SPDX-License-Identifier: BSD-3-Clause */
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
    { "rank_count", "ranks", "", "Number of ranks of the projected run. First row: this run.",
      FV_FIELD(struct fv_noise_projection, ranks) },
    { "expected_s", "longest", "s", "Expected longest preemption of a rank in an interval.",
      FV_FIELD(struct fv_noise_projection, expected_s), .flags = FV_ESTIMATE },
    { "share", "share", "share",
      "expected_s as a share of the interval: over the sum of expected_s and the mean interval without preemption.",
      FV_FIELD(struct fv_noise_projection, share), .flags = FV_ESTIMATE },
};
static const struct fv_column_def projection_outer[] = {
    { "callsite_id", "call site", "id", "The collective call at the end of the intervals, an index in callsites.",
      FV_FIELD(struct fv_noise_place, site) },
    { "place", "before", "", "The function that makes that call.", FV_GET(FV_TYPE_TEXT, get_place), .flags = FV_NAME },
};
static const struct fv_relation projection = {
    .name = "noise_projection",
    .key = "projection",
    .title = "Noise on more ranks",
    .doc = "Expected cost of noise on more ranks: the mean maximum of one independent draw a rank from this run's "
           "preemptions. It assumes that noise is independent, equal on all ranks, and never longer than seen here. "
           "Rare long disturbances may therefore cost more. Empty: fewer than 30 intervals, or no preemption.",
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
#define SHARE(g, t, source, what)                                                                                    \
    PLACE("variance." g "_share", t, "share", share[source].share, FV_NULLABLE | FV_ESTIMATE,                        \
          "Share of the variance of interval durations that is due to " what                                         \
          ": their covariance over the variance, each thread about its own mean. Null: fewer than 30 intervals, or " \
          "all durations are equal."),                                                                               \
        PLACE("variance." g "_low", "from", "share", share[source].low, FV_NULLABLE | FV_ESTIMATE,                   \
              "Lower bound of the 95 % confidence interval (bootstrap)."),                                           \
        PLACE("variance." g "_high", "to", "share", share[source].high, FV_NULLABLE | FV_ESTIMATE,                   \
              "Upper bound of the 95 % confidence interval (bootstrap).")
static const struct fv_column_def place_columns[] = {
    PLACE("callsite_id", "call site", "id", site, 0, "The collective call, an index in callsites."),
    { "place", "before", "", "The function that makes the call.", FV_GET(FV_TYPE_TEXT, get_place), .flags = FV_NAME },
    { "function", "call", "", "The MPI function.", FV_GET(FV_TYPE_TEXT, get_function) },
    { "callsite_number", "site", "id", "Number of the call site in the text report, from 1.",
      FV_GET(FV_TYPE_WHOLE, get_number), .flags = FV_FLAT },
    PLACE("cost_s", "cost", "s", cost_s, FV_NULLABLE | FV_ESTIMATE,
          "Time that all ranks would save without preemptions since the previous blocking collective call: number of "
          "ranks times how much earlier the last rank would enter. Null: not all ranks wait for all others in such "
          "calls."),
    FV_SHARE_COLUMN("cost_share", "share", struct fv_noise_place, cost_s, FV_OF_RANKS, FV_FLAT | FV_ESTIMATE,
                    "cost_s as a share of the time of all ranks."),
    PLACE("preempted_s", "preempted", "s", preempted_s, 0,
          "Time that other threads used the processor outside of MPI, over all ranks. From the kernel's context "
          "switches."),
    PLACE("preempted_count", "times", "", preempted, 0, "Number of preemptions."),
    PLACE("blocked_s", "blocked", "s", blocked_s, 0,
          "Time that threads waited for something, over all ranks: sleep, I/O, a page, or a signal that stopped them. "
          "It is often the program's own waiting, not noise."),
    FV_RANK_OR_NULL_COLUMN(struct fv_noise_place, max_rank, "rank", "rank",
                           "The rank with the longest preemptions. Null: none."),
    PLACE("rank_preempted_s", "rank time", "s", max_rank_s, 0, "Preempted time of that rank."),
    PLACE("interval_count", "intervals", "", intervals, 0,
          "Intervals of all ranks, each from the end of a blocking collective call to the begin of this one. 0: wait "
          "logs were thinned; preempted_s, blocked_s and the durations are not known."),
    PLACE("time_s", "time", "s", time_s, 0,
          "Total time of the intervals, including MPI calls in them that are not blocking collectives."),
    PLACE("sampled_count", "sampled", "", sampled, 0,
          "Intervals that the following columns describe: those that were kept, without warm-up."),
    PLACE("mean_s", "mean", "s", mean_s, FV_NULLABLE, "Mean duration of an interval."),
    PLACE("p50_s", "median", "s", percentile_s[0], FV_NULLABLE, "Median duration of an interval."),
    PLACE("p90_s", "p90", "s", percentile_s[1], FV_NULLABLE, "90th percentile of the durations."),
    PLACE("p99_s", "p99", "s", percentile_s[2], FV_NULLABLE, "99th percentile of the durations."),
    PLACE("warm_up_count", "warm up", "", warm, FV_BLANK,
          "Threads of ranks with warm-up: their first intervals took longer than any interval of the second half of "
          "the run."),
    PLACE("warm_up_s", "first", "s", warm_s, FV_NULLABLE, "Mean duration of these first intervals. Null: none."),
    SHARE("preempted", "by preemption", FV_NOISE_PREEMPTED, "preemption"),
    SHARE("blocked", "by blocking", FV_NOISE_BLOCKED, "being blocked"),
    SHARE("rest", "by the rest", FV_NOISE_REST, "everything else: different work, and what slows it down"),
    { "projection", "projection", "", "Expected cost of this noise on more ranks.", FV_NEST(projection) },
};
static const struct fv_relation noise_relation = {
    .name = "noise",
    .key = "noise",
    .title = "Noise before collective calls",
    .doc = "Cost of noise before blocking collective calls, by call site, largest cost first. At most 20. Empty: the "
           "kernel did not show context switches, or the run has no such calls.",
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
      "Time that its preemptions cost all ranks, in collective calls that it entered last. Null: there is no log of "
      "such calls.",
      FV_FIELD(struct fv_noise_rank, cost_s), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "preempted_s", "preempted", "s",
      "Time that other threads used its processor outside of MPI, from the kernel's context switches. Null: not known.",
      FV_GET(FV_TYPE_REAL, get_preempted), .flags = FV_NULLABLE },
    { "ready_s", "preempted, with MPI", "s",
      "Time that its main thread was runnable without a processor, in MPI and outside. Null: not known.",
      FV_GET(FV_TYPE_REAL, get_ready), .flags = FV_NULLABLE },
    { "stolen_s", "stolen", "s",
      "Time that a hypervisor took from a processor of its node during the run, mean of all processors. 0: none, or "
      "not known.",
      FV_GET(FV_TYPE_REAL, get_stolen) },
    { "throttled_s", "throttled", "s",
      "Time that CPU quotas of its control groups (cpu.max) stopped all their tasks together during the run. Null: "
      "none, or not known.",
      FV_FIELD(struct fv_noise_rank, throttled_s), .flags = FV_NULLABLE },
    { "fault_count", "page faults", "", "Page faults of the process.", FV_FIELD(struct fv_noise_rank, faults) },
    { "by", "preempted by", "",
      "The process, or name of several processes, that most likely preempted it. It had at least half of the CPU time "
      "that others used on the rank's processors, and at least half of preempted_s. Null: not known.",
      FV_GET(FV_TYPE_TEXT, get_by), .flags = FV_NULLABLE | FV_ESTIMATE },
    { "by_pid", "process", "", "Process id. Null: several processes.", FV_GET(FV_TYPE_WHOLE, get_by_pid),
      .flags = FV_NULLABLE },
    { "by_count", "processes", "", "Processes of this name that may run on the rank's processors.",
      FV_GET(FV_TYPE_WHOLE, get_by_count), .flags = FV_NULLABLE },
    { "by_cpu_s", "CPU time", "s", "CPU time of these processes, measured while the observing rank was recorded.",
      FV_GET(FV_TYPE_REAL, get_by_cpu), .flags = FV_NULLABLE },
};
static const struct fv_relation noise_ranks_relation = {
    .of_ranks = true,
    .name = "noise_ranks",
    .key = "noise_ranks",
    .title = "Noise by rank",
    .doc = "Time that each rank lost to other processes, and to which, by rank.",
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
    OTHER("host", "node", "", host, FV_NAME, "Name of the node."),
    OTHER("pid", "process", "", pid, 0, "Process id on that node. 0: the sum of all processes with less CPU time."),
    OTHER("name", "name", "", name, 0, "Name of the process as in the kernel, 15 characters."),
    OTHER("cpu_s", "CPU time", "s", cpu_s, 0, "CPU time, measured while the observing rank was recorded."),
    OTHER("processors", "may run on", "", processors, FV_NULLABLE,
          "List of processors that the process may use. Null: not known."),
    OTHER("cpu", "last on", "", cpu, 0, "The processor that the process used last."),
    OTHER("service", "service", "", service, FV_NULLABLE,
          "The service of the system that it belongs to, without .service, by its control group. Null: none."),
    FV_RANK_OR_NULL_COLUMN(struct fv_noise_other, rank, "rank", "rank",
                           "The rank, if it is a rank of this run. Otherwise null."),
    FV_RANK_OR_NULL_COLUMN(struct fv_noise_other, started_by, "started_by", "started by",
                           "The rank that started it, or one of the processes that it stems from. Null: none is known; "
                           "a process whose parent ended is not traced back."),
};
static const struct fv_relation other_processes_relation = {
    .of_ranks = true,
    .name = "other_processes",
    .key = "other_processes",
    .title = "Processes of the nodes",
    .doc = "Processes with CPU time of at least 1 % of the run, by node and CPU time, most first. Ranks are included, "
           "without the observing rank. From /proc at begin and end; processes that ended before are missing. At most "
           "256.",
    .shown = "host/2 name pid/3 cpu_s processors cpu/1 service rank started_by",
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
    .group = "Machine",
    .bytes = sizeof(struct fv_noise_view),
    .tracks = { &fv_track_noise },
    .relations = { &noise_relation, &noise_ranks_relation, &other_processes_relation },
    .renumber = renumber_noise,
    .complete = fv_build_noise,
    .release = fv_noise_release,
};
