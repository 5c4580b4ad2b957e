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
    { "event", "event", "", "Its name, as asked for.", FV_FIELD(struct fv_sampled_event, name) },
    { "rank_count", "ranks", "", "Ranks that asked for it.", FV_FIELD(struct fv_sampled_event, ranks) },
    { "refused_rank_count", "refused", "", "Those of them that could not have it.",
      FV_FIELD(struct fv_sampled_event, refused) },
    { "refusal", "refusal", "", "Why they could not; null: all could.", FV_GET(FV_TYPE_TEXT, get_event_refusal),
      .flags = FV_NULLABLE },
    { "user_only", "user", "", "Was it counted outside of the kernel only?",
      FV_FIELD(struct fv_sampled_event, user_only) },
};
static const struct fv_relation sampling_events = {
    .recorded_by = "fvmpi run --sample --events",
    .name = "sampling_events",
    .key = "counted_events",
    .title = "Events of sampled functions",
    .doc = "Events that were counted in the instances of sampled functions (--events), by name; four at most.",
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
    OF_SAMPLING("thread_count", "threads", threads, "Threads that were sampled."),
    { "mode", "mode", "",
      "breakpoints: a clock sample arms breakpoints on functions. calls: a counter of calls samples them. "
      "costs only: no instances. clock: none were asked for (--sample=clock). mixed: threads differ.",
      FV_GET(FV_TYPE_TEXT, get_mode), .words = mode_words },
    { "refusal", "refusal", "", "Why a better mode could not be had, in the system's words; null: all threads could.",
      FV_GET(FV_TYPE_TEXT, get_refusal), .flags = FV_NULLABLE },
    OF_SAMPLING("refused_thread_count", "refused", refused_threads, "Threads that could not have it."),
    { "stopped", "stopped", "",
      "Without --sample: why threads have no clock samples, or none from some time on; null: all have.",
      FV_GET(FV_TYPE_TEXT, get_stopped), .flags = FV_NULLABLE },
    OF_SAMPLING("stopped_thread_count", "stopped", stopped_threads,
                "Threads that have none for this reason, or not to their end."),
    OF_SAMPLING("ticks", "ticks", ticks, "Clock samples."),
    { "cpu_s", "CPU", "s", "The CPU time that they stand for.", FV_FIELD(struct fv_samples, cpu_s),
      .flags = FV_ESTIMATE },
    { "computing_s", "computing", "s",
      "That of those outside of MPI in which no thread waits for threads: of which functions have shares.",
      FV_FIELD(struct fv_samples, computing_s), .flags = FV_ESTIMATE },
    OF_SAMPLING("trap_count", "traps", traps, "Breakpoints that were met."),
    OF_SAMPLING("entry_count", "entries", entries, "Calls that were followed: returns, abandoned and open."),
    OF_SAMPLING("return_count", "returns", returns, "Those of them that returned."),
    OF_SAMPLING("abandoned_count", "abandoned", abandoned,
                "Those that ended without: longjmp, exceptions, the thread's end."),
    OF_SAMPLING("open_count", "open", open, "Those that had not ended."),
    OF_SAMPLING("lost_count", "lost", lost, "Calls that were not measured: a table was full."),
    OF_SAMPLING("lost_path_ticks", "no path", lost_paths, "Clock samples without a call path."),
    OF_SAMPLING("log_lost_count", "not traced", log_lost, "Instances that are not in the trace."),
    OF_SAMPLING("samples_lost_count", "samples not traced", samples_lost, "Clock samples that are not in the trace."),
    OF_SAMPLING("skipped_count", "skipped", skipped,
                "Entries passed over at random, of functions too fast for the window, or called from several places, "
                "several times between samples."),
    OF_SAMPLING("held_back_ticks", "held back", held_back,
                "Clock samples that measured no instance, because sampling had taken more than "
                "--sample-budget of the "
                "thread's CPU time."),
    OF_SAMPLING("no_stack_ticks", "no stack", no_stack,
                "Clock samples that were lost on signal stacks of the program, too small for them."),
    OF_SAMPLING("not_followed_count", "not followed", not_followed,
                "Entries that could not be followed: on another stack, or without room."),
    OF_SAMPLING("cut_count", "cut", cut, "Call paths whose outer end is not known."),
    { "trap_s", "trap", "s", "What is subtracted from an instance for each of its traps.",
      FV_FIELD(struct fv_samples, trap_s), .flags = FV_ESTIMATE },
    { "trap_spread_s", "trap spread", "s", "Between the quartiles of that.", FV_FIELD(struct fv_samples, trap_spread_s),
      .flags = FV_ESTIMATE },
    { "resolution_s", "resolution", "s",
      "Ten times that, or half of trap_s if that is longer: how long a call must be to be told from its traps. Times "
      "of functions half of "
      "whose calls are shorter are not known: they are null, in text \"< N\", and the function is not judged, unless "
      "more calls than interrupts "
      "explain (5 %, and three standard deviations) take so long, and three times trap_s.",
      FV_FIELD(struct fv_samples, resolution_s), .flags = FV_ESTIMATE },
    { "tool_time_s", "overhead", "s", "CPU time of sampling itself, over all threads.",
      FV_FIELD(struct fv_samples, tool_s), .flags = FV_ESTIMATE },
    { "tool_time_share", "overhead", "share", "The same, of cpu_s.", FV_GET(FV_TYPE_REAL, get_overhead_share),
      .flags = FV_NULLABLE | FV_ESTIMATE },
    OF_SAMPLING("migrations_exact", "migrations exact", migrations_exact,
                "Is each change of the processor counted? Else one between two readings is."),
    OF_SAMPLING("events_estimated_count", "events estimated", events_scaled,
                "Instances whose events were counted for a part of the time."),
    OF_SAMPLING("events_unknown_count", "events unknown", events_lost,
                "Instances whose events are not known, and left out."),
    OF_SAMPLING("events_unshown_count", "events unshown", events_unshown,
                "Further events of single ranks: there is room for four."),
    { "counted_events", "events", "", "", FV_NEST(sampling_events) },
};
const struct fv_relation fv_sampling_relation = {
    .recorded_by = "fvmpi run --sample",
    .name = "sampling",
    .key = "sampling",
    .title = "Sampling",
    .doc = "How samples were taken; null with --sample=off.",
    .shape = FV_ONE,
    .nullable = true,
    FV_COLUMNS(sampling_columns),
    .base = the_samples,
};
