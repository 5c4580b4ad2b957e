/* SPDX-License-Identifier: BSD-3-Clause */
/* How samples were taken: relation sampling. */
#include "base/perf_events.h"
#include "profile/relations.h"
#include "profile/samples/samples.h"

#include <math.h>
#include <string.h>

static const void *the_samples(void *subject, const void *parent)
{
    const struct fv_samples *samples = fv_model_samples(fv_tables_model(subject));

    return samples->threads || samples->stopped_threads ? samples : NULL;
}

static const char *const mode_words[] = { "breakpoints", "calls", "costs only", "clock", "mixed", NULL };
static void get_mode(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_samples *s = row;
    unsigned used = 0, last = FV_SAMPLER_CLOCK;

    for (unsigned i = 0; i < FV_SAMPLER_MODES; i++)
        if (s->modes[i]) {
            used++;
            last = i;
        }
    v->text = mode_words[used <= 1 ? last : FV_SAMPLER_MODES];
}

static void get_refusal(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_samples *s = row;

    v->text = s->refusal ? strerror(s->refusal) : NULL;
}

static void get_stopped(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_sampled_stopped(row);
}

static void get_overhead_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_samples *s = row;

    v->real = s->cpu_s > 0 ? s->tool_s / s->cpu_s : NAN;
}

static size_t event_count(void *subject, const void *parent)
{
    return FV_METRIC_EVENTS;
}

static const void *event_at(void *subject, const void *parent, size_t i)
{
    const struct fv_sampled_event *e = &((const struct fv_samples *)parent)->events[i];

    return e->name ? e : NULL;
}

static void get_event_refusal(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_sampled_event *e = row;

    v->text = e->refused ? fv_perf_event_refusal((uint32_t)e->refusal, e->user_only) : NULL;
}

static const struct fv_column_def event_columns[] = {
    { "event", "event", "", "Name of the event, as given to --events.", FV_FIELD(struct fv_sampled_event, name) },
    { "rank_count", "ranks", "", "Ranks that requested the event.", FV_FIELD(struct fv_sampled_event, ranks) },
    { "refused_rank_count", "refused", "", "Ranks that could not count it.",
      FV_FIELD(struct fv_sampled_event, refused) },
    { "refusal", "refusal", "", "Why they could not count it. Null: all could.",
      FV_GET(FV_TYPE_TEXT, get_event_refusal), .flags = FV_NULLABLE },
    { "user_only", "user", "", "True: it was counted in user mode only.",
      FV_FIELD(struct fv_sampled_event, user_only) },
};
static const struct fv_relation sampling_events = {
    .recorded_by = "fvmpi run --sample --events",
    .name = "sampling_events",
    .key = "counted_events",
    .title = "Events of sampled functions",
    .doc = "Events counted in calls of sampled functions (--events), by name. At most four.",
    FV_COLUMNS(event_columns),
    .count = event_count,
    .row = event_at,
};

#define OF_SAMPLING(k, t, m, d)                     \
    {                                               \
        k, t, "", d, FV_FIELD(struct fv_samples, m) \
    }
static const struct fv_column_def sampling_columns[] = {
    OF_SAMPLING("rate_hz", "rate", rate, "Clock samples a second of CPU time."),
    OF_SAMPLING("thread_count", "threads", threads, "Number of sampled threads."),
    { "mode", "mode", "",
      "breakpoints: a clock sample sets breakpoints on functions. calls: a counter of calls samples them. costs only: "
      "no calls were measured. clock: none were requested (--sample=clock). mixed: threads differ.",
      FV_GET(FV_TYPE_TEXT, get_mode), .words = mode_words },
    { "refusal", "refusal", "", "Why a better mode was not available, in the system's words. Null: all threads had it.",
      FV_GET(FV_TYPE_TEXT, get_refusal), .flags = FV_NULLABLE },
    OF_SAMPLING("refused_thread_count", "refused", refused_threads, "Threads without the better mode."),
    { "stopped", "stopped", "",
      "Why threads have no clock samples, or none from some time on; only without --sample. Null: all threads have "
      "them.",
      FV_GET(FV_TYPE_TEXT, get_stopped), .flags = FV_NULLABLE },
    OF_SAMPLING("stopped_thread_count", "stopped", stopped_threads,
                "Threads without clock samples for this reason, for all or part of the run."),
    OF_SAMPLING("ticks", "ticks", ticks, "Number of clock samples."),
    { "cpu_s", "CPU", "s", "The CPU time that clock samples stand for.", FV_FIELD(struct fv_samples, cpu_s),
      .flags = FV_ESTIMATE },
    { "computing_s", "computing", "s",
      "The part of it outside of MPI in which threads do not wait for threads. Shares of functions refer to it.",
      FV_FIELD(struct fv_samples, computing_s), .flags = FV_ESTIMATE },
    OF_SAMPLING("trap_count", "traps", traps, "Breakpoints that were hit."),
    OF_SAMPLING("entry_count", "entries", entries, "Calls that were followed: returned, abandoned or still open."),
    OF_SAMPLING("return_count", "returns", returns, "Followed calls that returned."),
    OF_SAMPLING("abandoned_count", "abandoned", abandoned,
                "Followed calls that ended without a return: longjmp, exceptions, or the thread's end."),
    OF_SAMPLING("open_count", "open", open, "Followed calls that had not ended."),
    OF_SAMPLING("lost_count", "lost", lost, "Calls that were not measured because a table was full."),
    OF_SAMPLING("lost_path_ticks", "no path", lost_paths, "Clock samples without a call path."),
    OF_SAMPLING("log_lost_count", "not traced", log_lost, "Measured calls that are missing in the trace."),
    OF_SAMPLING("samples_lost_count", "samples not traced", samples_lost,
                "Clock samples that are missing in the trace."),
    OF_SAMPLING("skipped_count", "skipped", skipped,
                "Calls skipped at random: calls of functions that are too fast for the window, or that several places "
                "call several times between samples."),
    OF_SAMPLING("held_back_ticks", "held back", held_back,
                "Clock samples that measured no call, because sampling had used more than --sample-budget of the "
                "thread's CPU time."),
    OF_SAMPLING("no_stack_ticks", "no stack", no_stack,
                "Clock samples lost because the program's signal stack is too small."),
    OF_SAMPLING("not_followed_count", "not followed", not_followed,
                "Calls that could not be followed: they run on another stack, or there was no room."),
    OF_SAMPLING("cut_count", "cut", cut, "Call paths that end before main."),
    { "trap_s", "trap", "s", "Cost that is subtracted from a call for each of its traps.",
      FV_FIELD(struct fv_samples, trap_s), .flags = FV_ESTIMATE },
    { "trap_spread_s", "trap spread", "s", "Interquartile range of the cost of a trap.",
      FV_FIELD(struct fv_samples, trap_spread_s), .flags = FV_ESTIMATE },
    { "resolution_s", "resolution", "s",
      "Shortest duration that is distinguishable from the cost of traps: ten times trap_spread_s, or half of trap_s if "
      "that "
      "is longer. If half of a function's calls are shorter, its times are null (in text \"< N\") and it is not "
      "judged. Exception: more calls than interrupts explain (5 % and three standard deviations) take that long and "
      "three times trap_s.",
      FV_FIELD(struct fv_samples, resolution_s), .flags = FV_ESTIMATE },
    { "tool_time_s", "overhead", "s", "CPU time of sampling itself, over all threads.",
      FV_FIELD(struct fv_samples, tool_s), .flags = FV_ESTIMATE },
    { "tool_time_share", "overhead", "share", "tool_time_s as a share of cpu_s.",
      FV_GET(FV_TYPE_REAL, get_overhead_share), .flags = FV_NULLABLE | FV_ESTIMATE },
    OF_SAMPLING(
        "migrations_exact", "migrations exact", migrations_exact,
        "True: each migration to another processor is counted. False: one is counted between two readings at most."),
    OF_SAMPLING("events_estimated_count", "events estimated", events_scaled,
                "Measured calls whose events were counted for part of the time."),
    OF_SAMPLING("events_unknown_count", "events unknown", events_lost,
                "Measured calls whose events are not known. They are left out."),
    OF_SAMPLING("events_unshown_count", "events unshown", events_unshown,
                "Events of single ranks that are not shown: there is room for four."),
    { "counted_events", "events", "", "", FV_NEST(sampling_events) },
};
const struct fv_relation fv_sampling_relation = {
    .recorded_by = "fvmpi run --sample",
    .name = "sampling",
    .key = "sampling",
    .title = "Sampling",
    .group = "CPU time by samples", /* also of a run that measured no calls */
    .doc = "How samples were taken. Null with --sample=off.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(sampling_columns),
    .base = the_samples,
};
